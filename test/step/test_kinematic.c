// Bodies whose motion is prescribed, and what they do to others.
#include "known/worlds.h"

#include "test.h"

static tbBodyDef moving(const tbShape* shape, tbVec3 at)
{
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_KINEMATIC, def.shapes = shape, def.shape_count = 1, def.position = at;
  return def;
}

static tbBodyId add(Stage* s, const tbBodyDef* def)
{
  tbBodyId id = {-1};
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, def, &id));
  return id;
}

TEST(belt_drags_a_box_to_its_speed)
{
  for (int scheme = 0; scheme < tb_scheme_count(); scheme++) {
    Stage s = stage_open(0.4, 0);
    s.step.scheme = tb_scheme_at(scheme)->name;
    bool springs = scheme == 2; // penalty
    tbShape belt = tb_shape_box(tb_vec3(40, 2, 0.2));
    tbBodyDef def = moving(&belt, tb_vec3(0, 0, -0.1));
    def.velocity = tb_vec3(2, 0, 0);
    add(&s, &def);
    tbBodyId box =
        stage_add(&s, tb_shape_box(tb_vec3(0.5, 0.5, 0.5)), 3, tb_vec3(0, 0, 0.25), tb_quat_identity());
    double t = 0.3, a = 0.4 * 9.81;
    stage_run_for(&s, t);
    CHECK_NEAR(stage_state(&s, box).velocity.x, a * t, springs ? 0.1 : 1e-4);
    stage_run_for(&s, 3);
    CHECK_NEAR(stage_state(&s, box).velocity.x, 2, springs ? 5e-3 : 1e-5);
    CHECK_NEAR(stage_state(&s, box).position.z, 0.25, springs ? 0.05 : 1e-4);
    stage_close(&s);
  }
}

TEST(turntable_carries_a_box_round)
{
  Stage s = stage_open(0.8, 0);
  tbShape table = tb_shape_cylinder(2, 0.2);
  tbBodyDef def = moving(&table, tb_vec3(0, 0, -0.1));
  def.angular_velocity = tb_vec3(0, 0, 2); // centripetal 4 m/s² at 1 m, where friction gives 7.8
  add(&s, &def);
  tbBodyId box =
      stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 1, tb_vec3(1, 0, 0.1), tb_quat_identity());
  stage_push(&s, box, tb_vec3(0, 2, 0), tb_vec3(0, 0, 2));
  s.step.dt = 0.002;
  stage_run_for(&s, 1);
  tbBodyState b = stage_state(&s, box);
  double r = sqrt(b.position.x * b.position.x + b.position.y * b.position.y);
  CHECK_NEAR(r, 1, 0.01);
  CHECK_NEAR(atan2(b.position.y, b.position.x), 2, 0.01);
  CHECK_NEAR(b.angular_velocity.z, 2, 1e-4);
  stage_close(&s);
}

TEST(keyed_motion_is_exact_at_its_keys)
{
  tbMotionKey keys[3] = {{0.1, {0, 0, 0}, tb_quat_identity()},
                         {0.5, {1, 2, 3}, tb_quat_exp(tb_vec3(0, 0, 1.2))},
                         {1.0, {1, 2, 0}, tb_quat_exp(tb_vec3(0, -0.7, 0))}};
  for (int scheme = 0; scheme < tb_scheme_count(); scheme++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = tb_scheme_at(scheme)->name;
    tbShape shape = tb_shape_sphere(0.5);
    tbBodyDef def = moving(&shape, tb_zero3());
    def.keys = keys, def.key_count = 3;
    tbBodyId body = add(&s, &def);
    static const int at[] = {10, 50, 100, 150};
    int done = 0;
    for (int i = 0; i < 4; i++) {
      stage_run(&s, at[i] - done);
      done = at[i];
      const tbMotionKey* key = &keys[i < 3 ? i : 2];
      tbBodyState b = stage_state(&s, body);
      CHECK_NEAR(tb_distance3(b.position, key->position), 0, 1e-14);
      tbQuat off = tb_quat_mul(b.orientation, tb_quat_conj(key->orientation));
      CHECK_NEAR(tb_norm3(tb_quat_log(off)), 0, 1e-14);
    }
    CHECK_NEAR(tb_norm3(stage_state(&s, body).velocity), 0, 0);
    stage_close(&s);
  }
}

TEST(lift_with_keys_carries_what_stands_on_it)
{
  tbMotionKey keys[3] = {{0.2, {0, 0, -0.1}, tb_quat_identity()},
                         {1.2, {0, 0, 0.9}, tb_quat_identity()},
                         {2.2, {0.5, 0, 0.9}, tb_quat_identity()}};
  Stage s = stage_open(0.9, 0);
  tbShape shape = tb_shape_box(tb_vec3(4, 2, 0.2));
  tbBodyDef def = moving(&shape, tb_zero3());
  def.keys = keys, def.key_count = 3;
  add(&s, &def);
  tbBodyId box =
      stage_add(&s, tb_shape_box(tb_vec3(0.4, 0.4, 0.4)), 1, tb_vec3(0, 0, 0.2), tb_quat_identity());
  stage_run_for(&s, 1.1);
  CHECK_NEAR(stage_state(&s, box).velocity.z, 1, 1e-5);
  CHECK_NEAR(stage_state(&s, box).position.z, 1.1, 1e-5);
  stage_run_for(&s, 3);
  CHECK_NEAR(stage_state(&s, box).position.z, 1.2, 1e-3); // it hops where the lift stops, and lands again
  CHECK_NEAR(tb_norm3(stage_state(&s, box).velocity), 0, 1e-5);
  stage_close(&s);
}

// Newton: the speed of parting is e times that of approach, seen from the wall.
TEST(moving_wall_returns_a_ball_by_its_own_speed)
{
  for (int scheme = 0; scheme < 2; scheme++)
    for (int i = 0; i <= 4; i++) {
      double e = 0.25 * i;
      Stage s = stage_open_with(tb_zero3(), tb_friction(0), e);
      s.step.scheme = tb_scheme_at(scheme)->name;
      s.step.restitution_speed = 0;
      s.step.stabilization = TB_STABILIZE_NONE; // which pushes bodies out of the wall, and would be seen
      tbShape wall = tb_shape_box(tb_vec3(0.2, 2, 2));
      tbBodyDef def = moving(&wall, tb_vec3(-1, 0, 0));
      def.velocity = tb_vec3(2, 0, 0);
      add(&s, &def);
      tbBodyId ball = stage_throw(&s, tb_shape_sphere(0.1), 1, tb_vec3(1, 0, 0), tb_vec3(-3, 0, 0));
      stage_run_for(&s, 0.6);
      CHECK_NEAR(stage_state(&s, ball).velocity.x, 2 + e * 5, 1e-6);
      stage_close(&s);
    }
}

TEST(body_that_joins_late_starts_where_it_was_put)
{
  Stage s = stage_open(0.5, 0);
  stage_run_for(&s, 1);
  tbShape shape = tb_shape_sphere(0.5);
  tbBodyDef def = moving(&shape, tb_vec3(5, 0, 0));
  def.velocity = tb_vec3(1, 0, 0), def.angular_velocity = tb_vec3(0, 0, 1);
  tbBodyId body = add(&s, &def);
  stage_run_for(&s, 0.5);
  CHECK_NEAR(stage_state(&s, body).position.x, 5.5, 1e-12);
  CHECK_NEAR(2 * stage_state(&s, body).orientation.z, 2 * sin(0.25), 1e-12);
  stage_close(&s);
}
