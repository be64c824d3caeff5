// SPDX-License-Identifier: Apache-2.0
// Integrators of the scheme ipc (scheme.integrator): order, energy, contacts, momentum.
#include "io/checkpoint/checkpoint.h"
#include "scene/kind.h"
#include "step/tumbles.h"
#include "tribo/io.h"

typedef struct {
  tbContext ctx;
  tbScene scene;
  tbStepReport report;
} Run;

// A bar that is held at one end and falls.
static const char bar[] = "{\"tribo\": 1, \"scheme\": \"ipc\", \"soft\": [{\"mesh\": {\"box\": {\"size\": "
                          "[0.5, 0.1, 0.1], \"cells\": [4, 1, "
                          "1]}}, \"model\": \"corotated\", \"young\": 1e5, \"poisson\": 0.3, \"density\": "
                          "1000, \"pins\": [{\"box\": "
                          "[[-0.25, -1, -1], [-0.25, 1, 1]]}]}]}";

// A cube that is thrown onto the ground and lies there.
static const char thrown[] =
    "{\"tribo\": 1, \"scheme\": \"ipc\", \"bodies\": [{\"fixed\": true, \"shape\": {\"type\": \"plane\"}}], "
    "\"soft\": [{\"mesh\": {\"box\": {\"size\": 0.2, \"cells\": 2}}, \"model\": \"corotated\", \"young\": "
    "1e5, "
    "\"poisson\": 0.3, \"density\": 1000, \"position\": [0, 0, 0.2], \"orientation\": [1, 0.1, 0.2, 0], "
    "\"velocity\": [1, 0, -3]}]}";

static Run open_run(const char* text, tbIntegrator how, double dt)
{
  Run r = {.ctx = tb_default_context()};
  CHECK_OK(&r.ctx, tb_scene_parse(&r.ctx, "test", text, strlen(text), NULL, &r.scene));
  r.scene.step.integrator = how, r.scene.step.dt = dt, r.scene.step.newton_tolerance = 1e-9;
  return r;
}

static void close_run(Run* r) { tb_scene_free(&r->ctx, &r->scene); }

static void step(Run* r)
{
  CHECK_OK(&r->ctx, tb_world_step(&r->ctx, r->scene.world, &r->scene.step, &r->report));
  CHECK(!r->report.newton_missed && r->report.intersections == 0);
}

static double energy_of(const tbWorld* w)
{
  tbEnergy e = tb_world_energy(w);
  return e.kinetic + e.potential + e.elastic;
}

// By what it falls below its first value, or rises above it, in a second, of the most that moves.
TEST(newmark_keeps_the_energy_of_a_swinging_bar_and_bdf2_loses_less_than_euler)
{
  static const double least[] = {0.5, 0, 0.005}, most[] = {0.7, 0.005, 0.05};
  for (int k = 0; k < TB_INTEGRATOR_COUNT; k++) {
    Run r = open_run(bar, (tbIntegrator)k, 0.01);
    double first = energy_of(r.scene.world), moving = 0, lost = 0, gained = 0;
    for (int i = 0; i < 100; i++) {
      step(&r);
      double now = energy_of(r.scene.world);
      moving = fmax(moving, tb_world_energy(r.scene.world).kinetic);
      lost = fmax(lost, first - now), gained = fmax(gained, now - first);
    }
    CHECK(lost >= least[k] * moving && lost <= most[k] * moving && gained <= 0.001 * moving);
    close_run(&r);
  }
}

static tbVec3 tip_of(const Run* r)
{
  tbNodes n = tb_nodes_of(&tb_bodies(r->scene.world)[0]);
  return n.x[n.count - 1];
}

static tbVec3 tip_after(tbIntegrator how, int steps)
{
  Run r = open_run(bar, how, 0.16 / steps);
  for (int i = 0; i < steps; i++) step(&r);
  tbVec3 tip = tip_of(&r);
  close_run(&r);
  return tip;
}

LONG_TEST(integrators_have_the_order_they_say)
{
  tbVec3 truth = tip_after(TB_INTEGRATOR_NEWMARK, 512);
  for (int k = 0; k < TB_INTEGRATOR_COUNT; k++) {
    double coarse = tb_distance3(tip_after((tbIntegrator)k, 32), truth),
           fine = tb_distance3(tip_after((tbIntegrator)k, 64), truth);
    CHECK_NEAR(coarse / fine, k == TB_INTEGRATOR_EULER ? 2 : 4, 0.4);
  }
}

// x⁺ = x + h (v + v⁺)/2, and x + h (2 v⁺ + V)/3 with V the way of the step before: of every node.
TEST(nodes_go_where_the_rule_of_their_integrator_takes_them)
{
  for (int k = TB_INTEGRATOR_NEWMARK; k < TB_INTEGRATOR_COUNT; k++) {
    Run r = open_run(bar, (tbIntegrator)k, 0.01);
    tbVec3 x[64], v[64], way[64] = {0};
    double miss = 0;
    for (int i = 0; i < 6; i++) {
      tbNodes n = tb_nodes_of(&tb_bodies(r.scene.world)[0]);
      REQUIRE(n.count <= 64);
      memcpy(x, n.x, (size_t)n.count * sizeof *x), memcpy(v, n.v, (size_t)n.count * sizeof *v);
      step(&r);
      for (int j = 0; j < n.count; j++) {
        bool newmark = k == TB_INTEGRATOR_NEWMARK || i == 0; // the first step of BDF2 is one of Newmark's
        tbVec3 mean =
            newmark ? tb_scale3(0.5, tb_add3(v[j], n.v[j])) : tb_scale3(1.0 / 3, tb_madd3(way[j], 2, n.v[j]));
        miss = fmax(miss, tb_distance3(n.x[j], tb_madd3(x[j], 0.01, mean)));
        way[j] = tb_scale3(100, tb_sub3(n.x[j], x[j]));
      }
    }
    CHECK(miss < 1e-14);
    close_run(&r);
  }
}

// Momentum changes by weight and by the impulses that are published; and contacts give no energy. That of
// nonlinear elasticity goes to and fro a little under Newmark's rule, with nothing near.
TEST(integrators_of_second_order_balance_and_gain_nothing_in_contact)
{
  for (int k = 0; k < TB_INTEGRATOR_COUNT; k++) {
    Run r = open_run(thrown, (tbIntegrator)k, 0.01);
    const tbWorld* w = r.scene.world;
    double first = energy_of(w), before = INFINITY, miss = 0, mass = tb_bodies(w)[1].mass;
    int touched = 0;
    for (int i = 0; i < 50; i++) {
      tbVec3 v = tb_bodies(w)[1].v, sum = tb_scale3(mass * r.scene.step.dt, w->gravity);
      step(&r);
      for (int c = 0; c < tb_world_contact_count(w); c++) {
        tbContactView view = tb_world_contact(w, c);
        sum = tb_add3(sum, contact_impulse(&view));
      }
      touched += tb_world_contact_count(w) > 0;
      miss = fmax(miss, tb_norm3(tb_sub3(tb_scale3(mass, tb_sub3(tb_bodies(w)[1].v, v)), sum)));
      double now = energy_of(w) + r.report.stored, little = k == TB_INTEGRATOR_NEWMARK ? 5e-3 * first : 1e-9;
      CHECK(now <= fmin(first, before) + little);
      before = now;
    }
    CHECK(touched > 3 && miss < 1e-12 && r.report.changes.slowed == 0);
    close_run(&r);
  }
}

// What BDF2 needs of the last step is in checkpoints.
TEST(bdf2_resumes)
{
  Run r = open_run(thrown, TB_INTEGRATOR_BDF2, 0.01), other = open_run(thrown, TB_INTEGRATOR_BDF2, 0.01);
  tbOut bytes = tb_out_memory(&r.ctx);
  tbScene read = {0};
  for (int i = 0; i < 8; i++) step(&r);
  for (int i = 0; i < 5; i++) step(&other);
  CHECK_OK(&r.ctx, tb_checkpoint_print(&r.ctx, &bytes, &other.scene));
  CHECK_OK(&r.ctx, tb_checkpoint_parse(&r.ctx, "checkpoint", bytes.bytes, bytes.length, &read));
  REQUIRE(read.world);
  for (int i = 0; i < 3; i++) CHECK_OK(&r.ctx, tb_world_step(&r.ctx, read.world, &read.step, NULL));
  CHECK(tb_world_hash(read.world) == tb_world_hash(r.scene.world));
  tb_out_free(&bytes);
  tb_scene_free(&r.ctx, &read);
  close_run(&r), close_run(&other);
}

TEST(exact_friction_refuses_integrators_that_its_problem_is_not_of)
{
  Run r = open_run(thrown, TB_INTEGRATOR_BDF2, 0.01);
  r.scene.step.exact_friction = true;
  CHECK(tb_world_step(&r.ctx, r.scene.world, &r.scene.step, NULL) == TB_ERROR_UNSUPPORTED);
  close_run(&r);
}
