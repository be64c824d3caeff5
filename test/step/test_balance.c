// SPDX-License-Identifier: Apache-2.0
// The impulses that are published are those that moved the bodies.
#include "step/soft_worlds.h"
#include "step/tumbles.h"

#include <string.h>

static tbVec3 spin_of(const tbBody* b)
{
  return tb_quat_rotate(b->q, tb_mat3_mulv(b->inertia, tb_quat_unrotate(b->q, b->w)));
}

typedef struct {
  tbVec3 momentum, spin; // that a body should have won
  double scale, arms;    // of the numbers that were added up
} Balance;

static void add_contacts(const tbWorld* w, int body, tbVec3 centre, Balance* sum)
{
  for (int i = 0; i < tb_world_contact_count(w); i++) {
    tbContactView c = tb_world_contact(w, i);
    if ((c.a.index == body) == (c.b.index == body)) continue; // not its own, or within it
    tbVec3 p = contact_impulse(&c), arm = tb_sub3(c.position, centre);
    if (c.a.index == body) p = tb_neg3(p);
    sum->momentum = tb_add3(sum->momentum, p);
    sum->spin = tb_add3(sum->spin, tb_cross3(arm, p));
    sum->scale += tb_norm3(p), sum->arms += tb_norm3(p) * (tb_norm3(arm) + tb_norm3(c.position));
  }
}

// m Δv = h (m g + f) + Σ ± impulses, of every body; and ΔL = h τ + Σ (p − x) × impulses about its centre x at
// the moment when they act. Returns how many bodies contacts pressed.
static int check_balance(Stage* s, const Before* before, tbVec3 force, tbVec3 torque, bool spins,
                         const char* what)
{
  const tbWorld* w = s->world;
  double h = s->step.dt;
  int pressed = 0;
  for (int i = 0; i < before->count; i++) {
    const tbBody *b = &before->body[i], *now = &tb_bodies(w)[i];
    if (b->mass == 0 || is_held(w, i)) continue;
    bool rigid = b->kind->framed, pushed = is_pushed(w, i);
    Path path = {b->x, b->v, now->x, now->v, tb_madd3(w->gravity, 1 / b->mass, force), h};
    PathFit fit = path_fit(&path, s->step.scheme, pushed, pushed);
    Balance sum = {.momentum = tb_scale3(h * b->mass, w->gravity)};
    if (rigid) sum.momentum = tb_madd3(sum.momentum, h, force), sum.spin = tb_scale3(h, torque);
    sum.scale = b->mass * (tb_norm3(b->v) + tb_norm3(now->v)) + tb_norm3(sum.momentum);
    sum.arms = tb_norm3(spin_of(b)) + tb_norm3(spin_of(now)) + tb_norm3(sum.spin);
    double first = sum.scale;
    add_contacts(w, i, fit.centre, &sum);
    pressed += sum.scale > first;
    double miss = tb_distance3(tb_scale3(b->mass, tb_sub3(now->v, b->v)), sum.momentum);
    double off = rigid && spins ? tb_distance3(tb_sub3(spin_of(now), spin_of(b)), sum.spin) : 0;
    double slowed = rigid ? 0 : s->report.changes.slowed;
    if (!(miss <= (rigid ? 1e-11 : 1e-9) * sum.scale + slowed) || !(off <= 1e-10 * sum.arms))
      test_failed(__FILE__, __LINE__, "%s, %s, body %d at t %g: %g N·s of %g unaccounted, %g of %g turning",
                  what, s->step.scheme, i, w->time, miss, sum.scale, off, sum.arms);
  }
  return pressed;
}

// Impacts with restitution, friction, swept bodies, springs, projection; forces from outside as well.
TEST(published_impulses_balance_the_momentum_of_every_rigid_body)
{
  int most = 0, missed = 0;
  for (int k = 0; k < tb_scheme_count(); k++) {
    bool is_ipc = strcmp(tb_scheme_at(k)->name, "ipc") == 0; // ten times all others together
    for (int seed = 0; seed < (is_ipc ? 1 : 12); seed += test_quick() ? 5 : 1) {
      if (test_quick() && is_ipc) continue;
      Stage s = tumble(seed, tb_scheme_at(k)->name);
      tbRandom r = test_random((uint64_t)seed);
      int pressed = 0;
      for (int i = 0; i < (is_ipc ? 8 : 25); i++) {
        Before before = tumble_before(s.world);
        tbVec3 force = tumble_vec(&r, 2), torque = tumble_vec(&r, 0.01);
        for (int b = 0; b < before.count; b++)
          if (before.body[b].mass > 0)
            CHECK_OK(&s.ctx, tb_body_apply(&s.ctx, s.world, tb_world_body_at(s.world, b), force, torque));
        stage_run(&s, 1);
        // where bodies were struck; one that stopped short of its way does not say, and ipc's torques are
        // those of its potential, at the end of the step
        bool known = s.step.stabilization != TB_STABILIZE_PROJECTION && s.report.changes.stopped == 0 &&
                     strcmp(s.step.scheme, "ipc") != 0;
        missed += s.report.newton_missed; // its velocities are not those of its impulses, and it says so
        if (!s.report.newton_missed) pressed += check_balance(&s, &before, force, torque, known, "tumble");
      }
      CHECK(!is_ipc || pressed > 10);
      most = pressed < most ? most : pressed;
      stage_close(&s);
    }
  }
  CHECK(most > (test_quick() ? 50 : 100) && missed < 10);
}

// Solids, cloth and rigid bodies: of a deformable one, the momentum of all its nodes.
LONG_TEST(published_impulses_balance_the_momentum_of_every_deformable_body)
{
  int pressed = 0;
  for (uint64_t seed = 3; seed <= (test_quick() ? 6 : 19); seed++) {
    Stage s = {.ctx = tb_default_context()};
    CHECK_OK(&s.ctx, soft_storm(&s.ctx, seed, &s.world, &s.step));
    s.step.solver.tolerance = 1e-6;
    for (int i = 0; i < 10; i++) {
      Before before = tumble_before(s.world);
      stage_run(&s, 1);
      pressed += check_balance(&s, &before, tb_zero3(), tb_zero3(), false, "storm");
    }
    tb_world_free(&s.ctx, s.world);
  }
  CHECK(pressed > (test_quick() ? 5 : 30));
}

// Steps that are short of rounds: bodies go, and are slowed to, a share of it, and the report says by how
// much.
LONG_TEST(what_trimmed_steps_take_is_told)
{
  int trimmed = 0;
  for (uint64_t seed = 3; seed <= 11; seed++) {
    Stage s = {.ctx = tb_default_context()};
    CHECK_OK(&s.ctx, soft_storm(&s.ctx, seed, &s.world, &s.step));
    s.step.solver.tolerance = 1e-6, s.step.rounds = 1;
    for (int i = 0; i < 10; i++) {
      Before before = tumble_before(s.world);
      stage_run(&s, 1);
      check_balance(&s, &before, tb_zero3(), tb_zero3(), false, "a short storm");
      CHECK(s.report.trimmed > 0 || s.report.changes.slowed == 0);
      CHECK(s.report.trimmed == 0 || s.report.outcome != TB_CONVERGED);
      trimmed += s.report.changes.slowed > 0;
    }
    tb_world_free(&s.ctx, s.world);
  }
  CHECK(trimmed > 3);
}

// A torque turns a body whether or not it bounces in the same step.
TEST(a_torque_turns_what_bounces_as_well)
{
  for (int k = 0; k < tb_scheme_count(); k++) {
    if (strcmp(tb_scheme_at(k)->name, "ipc") == 0) continue; // its ball is a mesh, pressed beside its centre
    Stage s = stage_open(0, 0.5);
    s.step.scheme = tb_scheme_at(k)->name;
    stage_floor(&s, 0, 0);
    tbBodyId ball = stage_throw(&s, tb_shape_sphere(0.5), 1, tb_vec3(0, 0, 0.5 + 1e-3), tb_vec3(0, 0, -1));
    tbVec3 torque = tb_vec3(0.3, -0.2, 0.1);
    CHECK_OK(&s.ctx, tb_body_apply(&s.ctx, s.world, ball, tb_zero3(), torque));
    stage_run(&s, 1);
    tbVec3 w = tb_scale3(s.step.dt / 0.1, torque); // I = 2/5 m r²
    CHECK_NEAR(tb_distance3(stage_state(&s, ball).angular_velocity, w), 0, 1e-14);
    stage_close(&s);
  }
}
