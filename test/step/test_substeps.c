// SPDX-License-Identifier: Apache-2.0
// From outside a step of several substeps is one step.
#include "step/soft_stage.h"
#include "step/soft_worlds.h"
#include "step/tumbles.h"

#include "tribo/change.h"

static const char* const schemes[] = {"primal", "xpbd", "vbd", "avbd"};
enum { SCHEMES = 4, PARTS = 4 };

// A box that slides and lands on another one, a pendulum, and a force on the box.
static Stage open_world(const char* scheme, double dt, int substeps, tbBodyId body[2])
{
  Stage s = stage_open(0.4, 0);
  tbShape cube = tb_shape_box(tb_vec3(0.4, 0.4, 0.4));
  s.step.scheme = scheme, s.step.dt = dt, s.step.substeps = substeps, s.step.iterations = 1000;
  stage_floor(&s, 0, 0);
  stage_throw(&s, cube, 3, tb_vec3(0, 0, 0.2), tb_zero3());
  body[0] = stage_throw(&s, cube, 2, tb_vec3(0.05, 0, 0.61), tb_vec3(0.8, 0.3, 0));
  body[1] = stage_throw(&s, tb_shape_sphere(0.1), 1, tb_vec3(3, 0, 2), tb_zero3());
  tbJointDef ball = tb_default_joint_def(TB_JOINT_BALL);
  ball.a.index = -1, ball.b = body[1], ball.anchor = tb_vec3(2.5, 0, 2);
  CHECK_OK(&s.ctx, tb_world_add_joint(&s.ctx, s.world, &ball, NULL));
  return s;
}

static void push_on(Stage* s, tbBodyId body)
{
  CHECK_OK(&s->ctx, tb_body_apply(&s->ctx, s->world, body, tb_vec3(3, -1, 2), tb_vec3(0, 0, 0.1)));
}

TEST(substeps_are_steps_of_a_part_of_dt)
{
  for (int k = 0; k < SCHEMES; k++) {
    tbBodyId in_parts[2], one_by_one[2];
    Stage a = open_world(schemes[k], 0.02, PARTS, in_parts),
          b = open_world(schemes[k], 0.02 / PARTS, 1, one_by_one);
    for (int i = 0; i < 6; i++) {
      push_on(&a, in_parts[0]);
      stage_run(&a, 1);
      for (int part = 0; part < PARTS; part++) {
        push_on(&b, one_by_one[0]);
        stage_run(&b, 1);
      }
    }
    for (int i = 0; i < 2; i++) {
      tbBodyState x = stage_state(&a, in_parts[i]), y = stage_state(&b, one_by_one[i]);
      CHECK_NEAR(tb_distance3(x.position, y.position), 0, 2e-7);
      CHECK_NEAR(tb_distance3(x.velocity, y.velocity), 0, 2e-6);
    }
    CHECK(tb_world_step_count(a.world) == 6 && tb_world_step_count(b.world) == 6 * PARTS);
    CHECK(tb_world_time(a.world) == 6 * 0.02);
    CHECK(a.report.iterations > b.report.iterations);
    stage_close(&a);
    stage_close(&b);
  }
}

// m Δv = h (m g + f) + Σ impulses of contacts, or of the joint.
TEST(impulses_of_substeps_add_up_to_those_of_the_step)
{
  for (int k = 0; k < SCHEMES; k++) {
    tbBodyId body[2];
    Stage s = open_world(schemes[k], 0.02, PARTS, body);
    for (int i = 0; i < 6; i++) {
      tbVec3 before[2] = {stage_state(&s, body[0]).velocity, stage_state(&s, body[1]).velocity};
      push_on(&s, body[0]);
      stage_run(&s, 1);
      tbVec3 sum = tb_scale3(2 * 0.02, s.world->gravity);
      sum = tb_madd3(sum, 0.02, tb_vec3(3, -1, 2));
      for (int c = 0; c < tb_world_contact_count(s.world); c++) {
        tbContactView view = tb_world_contact(s.world, c);
        if (view.b.index == body[0].index) sum = tb_add3(sum, contact_impulse(&view));
      }
      tbVec3 gained = tb_scale3(2, tb_sub3(stage_state(&s, body[0]).velocity, before[0]));
      CHECK_NEAR(tb_distance3(gained, sum), 0, 1e-9);
      tbVec3 pull = tb_madd3(tb_scale3(0.02, s.world->gravity), 0.02, tb_joints(s.world)[0].force);
      CHECK_NEAR(tb_distance3(tb_sub3(stage_state(&s, body[1]).velocity, before[1]), pull), 0, 1e-9);
    }
    stage_close(&s);
  }
}

// A step of several parts ends where their velocities take it; the report says how far that is from where the
// last one, which is published, would: nothing in flight, and no more than velocities changed.
TEST(substeps_tell_how_far_from_their_last_velocities_bodies_go)
{
  for (int k = 0; k < SCHEMES; k++) {
    tbBodyId body[2];
    Stage s = open_world(schemes[k], 0.02, PARTS, body);
    double most = 0, turned = 0;
    for (int i = 0; i < 12; i++) {
      Before before = tumble_before(s.world);
      stage_run(&s, 1);
      double way = 0, turn = 0, changed = 0;
      for (int b = 0; b < before.count; b++) {
        const tbBody *was = &before.body[b], *now = &tb_bodies(s.world)[b];
        if (now->motion != TB_BODY_DYNAMIC) continue;
        Path path = {was->x, was->v, now->x, now->v, s.world->gravity, 0.02};
        way = fmax(way, path_fit(&path, "semi-implicit", is_pushed(s.world, b), false).miss);
        tbQuat q = tb_quat_mul(tb_quat_exp(tb_scale3(0.02, now->w)), was->q);
        if (is_pushed(s.world, b))
          turn = fmax(turn, tb_norm3(tb_quat_log(tb_quat_mul(now->q, tb_quat_conj(q)))));
        changed = fmax(changed, tb_distance3(was->v, now->v));
      }
      const tbStepChanges* c = &s.report.changes;
      if (!(way <= c->projected + 1e-12) || !(turn <= c->turned + 1e-9) || !(c->projected <= 0.02 * changed))
        test_failed(__FILE__, __LINE__, "%s, step %d: %g m and %g rad astray, %g and %g told", schemes[k], i,
                    way, turn, c->projected, c->turned);
      most = fmax(most, way), turned = fmax(turned, turn);
    }
    CHECK(most > 1e-4 && turned > 1e-4);
    stage_close(&s);
  }
}

TEST(substeps_in_flight_go_where_one_step_does)
{
  for (int k = 0; k < SCHEMES; k++) {
    Stage s = stage_open(0.4, 0);
    s.step.scheme = schemes[k], s.step.dt = 0.02, s.step.substeps = PARTS;
    tbBodyId body = stage_throw(&s, tb_shape_box(tb_vec3(0.3, 0.4, 0.5)), 2, tb_zero3(), tb_vec3(2, 1, 3));
    for (int i = 0; i < 10; i++) {
      push_on(&s, body);
      stage_run(&s, 1);
      CHECK(s.report.changes.projected == 0 && s.report.changes.turned == 0);
    }
    stage_close(&s);
  }
}

// Contacts that were there before the step and after it neither begin nor end in it.
TEST(events_of_substeps_are_those_of_the_step)
{
  Stage s = stage_open(0.4, 0);
  s.step.scheme = "primal", s.step.substeps = PARTS, s.step.dt = 0.04;
  stage_floor(&s, 0, 0);
  stage_throw(&s, tb_shape_box(tb_vec3(1, 1, 1)), 1, tb_vec3(0, 0, 0.5 + 0.02), tb_zero3());
  int began = 0, ended = 0;
  for (int i = 0; i < 6; i++) {
    stage_run(&s, 1);
    for (int e = 0; e < tb_world_event_count(s.world); e++)
      if (tb_world_event(s.world, e).begins) began++;
      else ended++;
  }
  CHECK(began == 1 && ended == 0);
  stage_close(&s);
}
