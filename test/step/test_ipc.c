// SPDX-License-Identifier: Apache-2.0
// The scheme ipc: nothing crosses, friction holds what it should to its threshold, nothing gains energy.
#include "io/checkpoint/checkpoint.h"
#include "scene/kind.h"
#include "test.h"
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PLANE "{\"name\": \"ground\", \"fixed\": true, \"shape\": {\"type\": \"plane\"}}"
#define CUBE(at, moves)                                                                                      \
  "{\"name\": \"cube\", \"mesh\": {\"box\": {\"size\": [0.4, 0.4, 0.4], \"cells\": [2, 2, 2]}}, \"model\": " \
  "\"neo-hookean\", \"young\": 1e5, \"poisson\": 0.4, \"density\": 1000, \"position\": " at moves "}"

#define SLAB(at, heading)                                                                                 \
  "{\"fixed\": true, \"position\": " at ", \"orientation_euler_deg\": [0, -45, " heading "], \"shape\": " \
  "{\"type\": \"box\", \"size\": [0.5, 0.7, 0.02]}}"

typedef struct {
  tbContext ctx;
  tbScene scene;
  tbStepReport report;
  int64_t crossed;
  int missed;
  double gained; // the most that energy has grown by in a step, J
} Run;

static Run open_run(const char* text)
{
  Run r = {.ctx = tb_default_context()};
  CHECK_OK(&r.ctx, tb_scene_parse(&r.ctx, "test", text, strlen(text), NULL, &r.scene));
  r.scene.step.scheme = "ipc";
  return r;
}

static void close_run(Run* r) { tb_scene_free(&r->ctx, &r->scene); }

static double energy_of(const tbWorld* w)
{
  tbEnergy e = tb_world_energy(w);
  return e.kinetic + e.potential + e.elastic;
}

static void go(Run* r, int steps)
{
  for (int i = 0; i < steps; i++) {
    double before = energy_of(r->scene.world);
    CHECK_OK(&r->ctx, tb_world_step(&r->ctx, r->scene.world, &r->scene.step, &r->report));
    r->crossed += r->report.intersections;
    r->missed += r->report.newton_missed;
    r->gained = fmax(r->gained, energy_of(r->scene.world) - before);
  }
}

static const tbBody* body_of(const Run* r, const char* name)
{
  for (size_t i = 0; i < r->scene.world->body.count; i++)
    if (strcmp(tb_bodies(r->scene.world)[i].name, name) == 0) return &tb_bodies(r->scene.world)[i];
  return NULL;
}

// A block on a slope of tan θ = 1/2. Less friction than that lets it slide as Coulomb's law says; more holds
// it, but for a creep slower than the threshold.
TEST(ipc_sticks_above_tan_theta_and_slides_below)
{
  static const double mu[] = {0.3, 0.49, 0.501, 0.8};
  const double theta = tb_atan2(0.5, 1), g = 9.81;
  double s, c;
  tb_sin_cos(theta, &s, &c);
  for (int i = 0; i < 4; i++) {
    Run r = open_run("{\"tribo\": 1, \"bodies\": ["
                     "{\"name\": \"ground\", \"fixed\": true, \"shape\": {\"type\": \"plane\"}},"
                     "{\"name\": \"block\", \"mass\": 2, \"position\": [0, 0, 0.2], "
                     "\"shape\": {\"type\": \"box\", \"size\": [1, 1, 0.4]}}]}");
    tbWorld* w = r.scene.world;
    w->gravity = tb_vec3(g * s, 0, -g * c);
    for (int b = 0; b < 2; b++)
      ((tbMaterial*)w->material.data)[tb_bodies(w)[b].material].contact_material.friction.mu = mu[i];
    go(&r, 100);
    double a = fmax(g * (s - mu[i] * c), 0), way = body_of(&r, "block")->x.x;
    if (a > 0) CHECK_NEAR(way, 0.5 * a, 0.02 * a + 2e-3);
    else CHECK(way <= 1.02 * r.scene.step.velocity_threshold);
    CHECK(r.crossed == 0 && r.missed == 0);
    close_run(&r);
  }
}

TEST(ipc_stops_a_solid_at_forty_metres_per_second)
{
  Run r = open_run("{\"tribo\": 1, \"bodies\": [" PLANE
                   "], \"soft\": [" CUBE("[0, 0, 0.6]", ", \"velocity\": [0, 3, -40]") "]}");
  go(&r, 25);
  CHECK(r.crossed == 0 && r.missed == 0);
  CHECK(r.gained <= 1e-6);
  CHECK(body_of(&r, "cube")->x.z > 0.05);
  close_run(&r);
}

// A soft ball that falls 9 cm a step past the edge of a tilted plate: the barrier that it ends behind would
// push it on, and has not pushed on the way (1.2 J).
TEST(ipc_gives_no_energy_to_what_goes_past_an_edge)
{
  Run r = open_run(
      "{\"tribo\": 1, \"dt\": 0.016666666666666666, \"bodies\": [" SLAB("[0.3, 0, 0]", "0") ", " SLAB(
          "[0, 0.3, 0]",
          "90") ", " SLAB("[-0.3, 0, 0]",
                          "180") ", " SLAB("[0, -0.3, 0]",
                                           "270") "], \"soft\": [{\"mesh\": {\"sphere\": {\"radius\": 0.1, "
                                                  "\"cells\": 3}}, "
                                                  "\"model\": \"linear\", \"young\": 355692, \"poisson\": "
                                                  "0.401659, \"density\": 1000, \"position\": "
                                                  "[0.0083242, -0.0835531, 1.05], \"orientation\": "
                                                  "[0.412735, 0.395645, 0.0766570, 0.816847], "
                                                  "\"velocity\": [0.0602082, 0.492342, -3]}]}");
  double slowed = 0, stored = 0, gained = 0;
  for (int i = 0; i < 18; i++) {
    double before = energy_of(r.scene.world) + stored;
    go(&r, 1);
    stored = r.report.stored, slowed = fmax(slowed, r.report.changes.slowed);
    gained = fmax(gained, energy_of(r.scene.world) + stored - before);
  }
  CHECK(r.crossed == 0 && r.missed == 0);
  CHECK(gained <= 1e-9 && slowed > 0.01);
  close_run(&r);
}

// A stone that strikes the ground edge on: what its Newton's steps leave out of the turning makes them two
// and a half times too long, and the potential is too coarse to tell (1,000 iterations, and missed).
TEST(ipc_converges_where_rounding_hides_the_potential)
{
  Run r = open_run(
      "{\"tribo\": 1, \"dt\": 0.016666666666666666, \"materials\": {\"m\": {\"friction\": 0}}, \"bodies\": "
      "[{\"fixed\": true, \"shape\": {\"type\": \"plane\"}, \"material\": \"m\"}, {\"shape\": {\"type\": "
      "\"convex\", \"vertices\": [[0.0286178, -0.0608101, 0.00273714], [-0.023473, -0.0251771, -0.0627042], "
      "[-0.0569603, 0.0926539, 0.0817391], [-0.0691454, -0.078995, -0.0692956], [-0.0257283, 0.0498019, "
      "0.0425942], [-0.0352759, -0.0177924, 0.0694653], [-0.07565, 0.0353103, 0.0650118], [-0.0513989, "
      "-0.0842081, -0.0502101], [0.0216884, -0.0816402, -0.00141913], [0.00159959, 0.00506721, 0.0314268]]}, "
      "\"density\": 2547.17, \"position\": [0.012413, 0.0967965, 1.1], \"orientation\": [0.534231, "
      "-0.536011, "
      "-0.645766, -0.101368], \"velocity\": [0.135287, 0.645864, -2], \"angular_velocity\": [-0.868096, "
      "2.80725, -2.05213], \"material\": \"m\"}], \"soft\": [{\"mesh\": {\"sphere\": {\"radius\": 0.1, "
      "\"cells\": 3}}, \"model\": \"corotated\", \"young\": 222054, \"poisson\": 0.3586, \"density\": 1000, "
      "\"position\": [-0.0662903, -0.0390432, 1.85], \"orientation\": [-0.293867, -0.108379, -0.664158, "
      "-0.678816], \"velocity\": [0.132105, -0.396076, -2], \"material\": \"m\"}]}");
  int most = 0;
  for (int i = 0; i < 22; i++) {
    go(&r, 1);
    most = r.report.iterations > most ? r.report.iterations : most;
  }
  CHECK(r.crossed == 0 && r.missed == 0 && most < 100);
  close_run(&r);
}

// A soft cube thrown so hard onto a slab that it crumples: friction that never settles is not asked for again
// and again (1,691 iterations where it is).
LONG_TEST(ipc_ends_soon_where_friction_does_not_settle)
{
  Run r = open_run(
      "{\"tribo\": 1, \"dt\": 0.005, \"bodies\": [" PLANE
      ", {\"name\": \"slab\", \"shape\": {\"type\": \"box\", \"size\": [0.1733, 0.1733, 0.0347]}, "
      "\"position\": [0, 0, 0.0176], \"density\": 2000}], \"soft\": [{\"name\": \"cube\", \"mesh\": "
      "{\"box\": "
      "{\"size\": 0.11554, \"cells\": 4}}, \"model\": \"corotated\", \"young\": 3e4, \"poisson\": 0.3, "
      "\"position\": [0, 0, 0.15825], \"orientation\": [0.9, 0.2, 0.3, 0.1], "
      "\"velocity\": [1.1, 0, -31.76], \"density\": 1000}]}");
  int iterations = 0;
  for (int i = 0; i < 3; i++) go(&r, 1), iterations += r.report.iterations;
  CHECK(r.crossed == 0 && r.missed == 0);
  CHECK(iterations < 1100);
  CHECK(r.gained <= 1e-6);
  close_run(&r);
}

// Between the ground and a plate that comes down to 40 % of its height.
static const char pressed[] =
    "{\"tribo\": 1, \"bodies\": [" PLANE ", {\"name\": \"plate\", \"shape\": {\"type\": \"box\", "
    "\"size\": [1, 1, 0.1]}, \"position\": [0, 0, 0.46], "
    "\"kinematic\": {\"velocity\": [0, 0, -1]}}], \"soft\": [" CUBE("[0, 0, 0.202]", "") "]}";

LONG_TEST(ipc_presses_a_solid_flat_between_plates)
{
  Run r = open_run(pressed);
  go(&r, 25);
  CHECK_NEAR(body_of(&r, "plate")->x.z - 0.05, 0.16, 1e-9);
  CHECK(r.crossed == 0 && r.missed == 0);
  const tbNodes nodes = tb_nodes_of(body_of(&r, "cube"));
  for (int i = 0; i < nodes.count; i++) CHECK(nodes.x[i].z > 0 && nodes.x[i].z < 0.16);
  for (int e = 0; e < nodes.nelement; e++) { // none is turned inside out
    const int* c = nodes.element + 4 * e;
    tbVec3 x = nodes.x[c[0]];
    CHECK(tb_dot3(tb_sub3(nodes.x[c[1]], x),
                  tb_cross3(tb_sub3(nodes.x[c[2]], x), tb_sub3(nodes.x[c[3]], x))) > 0);
  }
  close_run(&r);
}

// What is driven goes its whole way, and nothing is where it comes, however few iterations there are.
TEST(ipc_cut_short_lets_nothing_through_what_is_driven)
{
  Run r = open_run(pressed);
  r.scene.step.newton_iterations = 1;
  go(&r, 25);
  CHECK_NEAR(body_of(&r, "plate")->x.z - 0.05, 0.16, 1e-9);
  CHECK(r.crossed == 0 && r.missed > 0);
  close_run(&r);
}

static const char mixed[] =
    "{\"tribo\": 1, \"bodies\": [" PLANE
    ", {\"name\": \"box\", \"density\": 500, \"position\": [0.05, 0, 0.62], "
    "\"orientation\": [0.9, 0.3, 0.2, 0.1], \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}}], "
    "\"soft\": [" CUBE("[0, 0, 0.21]",
                       "") "], \"cloth\": [{\"name\": \"sheet\", \"mesh\": {\"grid\": {\"size\": [0.8, "
                           "0.8], \"cells\": [5, 5]}}, \"area_density\": 0.2, \"stretch\": 100, \"shear\": "
                           "30, \"bend\": 1e-4, \"thickness\": "
                           "0.002, \"position\": [0, 0, 0.85]}]}";

// A rigid body, a solid and cloth on each other.
LONG_TEST(ipc_moves_all_kinds_in_one_solve_and_gains_no_energy)
{
  Run r = open_run(mixed);
  go(&r, 40);
  CHECK(r.crossed == 0 && r.missed == 0);
  CHECK(r.gained <= 1e-6);
  CHECK(r.report.contacts > 0);
  close_run(&r);
}

LONG_TEST(ipc_has_the_same_bits_for_any_number_of_threads)
{
  uint64_t hash[3];
  for (int t = 0; t < 3; t++) {
    Run r = open_run(mixed);
    CHECK_OK(&r.ctx, tb_threads_create(&r.ctx, 1 + 2 * t, &r.ctx.threads));
    go(&r, 12);
    hash[t] = tb_world_hash(r.scene.world);
    tb_threads_destroy(&r.ctx, r.ctx.threads);
    r.ctx.threads = NULL;
    close_run(&r);
  }
  CHECK(hash[0] == hash[1] && hash[0] == hash[2]);
}

// A checkpoint in mid-run goes on to the same bits: with the energy of the barriers in it.
TEST(ipc_resumes)
{
  Run r = open_run(mixed), other = open_run(mixed);
  tbOut bytes = tb_out_memory(&r.ctx);
  tbScene read = {0};
  go(&r, 8), go(&other, 5);
  CHECK_OK(&r.ctx, tb_checkpoint_print(&r.ctx, &bytes, &other.scene));
  CHECK_OK(&r.ctx, tb_checkpoint_parse(&r.ctx, "checkpoint", bytes.bytes, bytes.length, &read));
  REQUIRE(read.world);
  for (int i = 0; i < 3; i++) CHECK_OK(&r.ctx, tb_world_step(&r.ctx, read.world, &read.step, NULL));
  CHECK(tb_world_hash(read.world) == tb_world_hash(r.scene.world));
  tb_out_free(&bytes);
  tb_scene_free(&r.ctx, &read);
  close_run(&r), close_run(&other);
}

// Blocks that touch exactly where they start are moved apart by less than the barrier's reach, and stand.
LONG_TEST(ipc_parts_what_touches_and_says_so)
{
  Run r = open_run(
      "{\"tribo\": 1, \"bodies\": [" PLANE
      ", {\"name\": \"b\", \"density\": 1000, \"position\": [0, 0, 0.5], \"shape\": {\"type\": \"box\", "
      "\"size\": [1, 1, 1]}, \"repeat\": {\"count\": [1, 1, 3], \"spacing\": [1, 1, 1]}}]}");
  go(&r, 1);
  CHECK(r.report.changes.projected > 0 && r.report.changes.projected < 0.01);
  go(&r, 19);
  CHECK(r.report.changes.projected == 0);
  CHECK(r.crossed == 0 && r.missed == 0);
  for (int i = 1; i < 4; i++) CHECK(tb_norm3(tb_bodies(r.scene.world)[i].v) < 1e-4);
  close_run(&r);
}

// Barriers are stiffer where bodies are fast. What they hold is no energy that a body has gained: one that
// slides without friction keeps its speed, one that spins on its tip its spin.
TEST(ipc_slows_nothing_that_slides_or_spins_on_barriers)
{
  static const char slides[] =
      "{\"tribo\": 1, \"bodies\": [" PLANE
      ", {\"name\": \"it\", \"mass\": 2, \"position\": [0, 0, 0.2], \"velocity\": [20, "
      "0, 0], \"shape\": {\"type\": \"box\", \"size\": [1, 1, 0.4]}}]}";
  static const char spins[] =
      "{\"tribo\": 1, \"dt\": 0.002, \"bodies\": [" PLANE
      ", {\"name\": \"it\", \"mass\": 2, \"position\": [0, 0, 0.3], \"angular_velocity\": [0, 0, 8], "
      "\"shape\": "
      "{\"type\": \"convex\", \"vertices\": [[0, 0, -0.3], [0.2, 0, 0.1], [-0.1, 0.1732050807568877, 0.1], "
      "[-0.1, -0.1732050807568877, 0.1]]}}]}";
  for (int k = 0; k < 2; k++) {
    Run r = open_run(k ? spins : slides);
    tbWorld* w = r.scene.world;
    for (size_t i = 0; i < w->material.count; i++)
      ((tbMaterial*)w->material.data)[i].contact_material.friction.mu = 0;
    go(&r, 40);
    CHECK(r.report.contacts > 0 && r.crossed == 0 && r.missed == 0);
    if (k) CHECK_NEAR(body_of(&r, "it")->w.z, 8, 8e-5);
    else CHECK_NEAR(body_of(&r, "it")->v.x, 20, 2e-5);
    close_run(&r);
  }
}

// The problem that is published has the impulses in it that carried the block; the judge, not the scheme,
// says how good they are: no better than the distance that the barrier leaves.
TEST(ipc_publishes_what_its_barriers_did)
{
  Run r = open_run(
      "{\"tribo\": 1, \"bodies\": [" PLANE
      ", {\"name\": \"block\", \"mass\": 2, \"position\": [0, 0, 0.2], \"shape\": {\"type\": \"box\", "
      "\"size\": [1, 1, 0.4]}}]}");
  go(&r, 5);
  CHECK(r.report.outcome == TB_MAX_ITERATIONS && r.report.residual.velocity > 1e-3);
  CHECK(r.report.residual.cone < 1e-9);
  double* lambda = NULL;
  tbProblem* problem = NULL;
  CHECK_OK(&r.ctx, tb_world_problem(&r.ctx, r.scene.world, &r.scene.step, &problem, &lambda));
  REQUIRE(problem);
  double sum = 0;
  for (int i = 0; i < problem->ncontact; i++) sum += lambda[problem->row_adr[i]];
  CHECK(problem->ncontact == 4);
  CHECK_NEAR(sum, 2 * 9.81 * 0.01, 1e-6);
  tb_guess_free(&r.ctx, lambda);
  tb_problem_free(problem);
  close_run(&r);
}

// Where nothing touches, rows of joints ask for the same velocities of every scheme: those of semi-implicit.
// Bodies that are joined to each other do not touch, though the second one reaches into the first.
TEST(ipc_moves_joints_as_semi_implicit_does)
{
  static const char* const joints[] = {
      "{\"type\": \"ball\", \"b\": \"a\", \"anchor\": [0.3, 0, 1]}, {\"type\": \"ball\", \"a\": \"a\", "
      "\"b\": "
      "\"b\", \"anchor\": [-0.2, 0, 1]}",
      "{\"type\": \"hinge\", \"b\": \"a\", \"anchor\": [0.3, 0, 1], \"axis\": [0, 1, 0], \"limits_deg\": "
      "[-20, "
      "20]}, {\"type\": \"weld\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [-0.2, 0, 1]}",
      "{\"type\": \"slider\", \"b\": \"a\", \"anchor\": [0, 0, 1], \"axis\": [1, 0, 0.3]}, {\"type\": "
      "\"distance\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [0, 0, 1], \"anchor_b\": [-0.5, 0, 1.1]}",
      "{\"type\": \"hinge\", \"b\": \"a\", \"anchor\": [0, 0, 1], \"axis\": [0, 0, 1], \"motor\": "
      "{\"speed\": 3, "
      "\"force\": 0.5}}, {\"type\": \"hinge\", \"a\": \"a\", \"b\": \"b\", \"anchor\": [-0.2, 0, 1], "
      "\"axis\": "
      "[0, 0, 1], \"compliance\": 1e-4}"};
  for (int k = 0; k < 8; k++) {
    char text[2048];
    snprintf(text, sizeof text,
             "{\"tribo\": 1, \"bodies\": [{\"name\": \"a\", \"mass\": 2, \"position\": [0, 0, 1], \"shape\": "
             "{\"type\": \"box\", \"size\": [0.3, 0.1, 0.1]}}, {\"name\": \"b\", \"mass\": 1, \"position\": "
             "[-0.5, 0, 1.1], \"shape\": {\"type\": \"box\", \"size\": [%g, 0.1, 0.1]}}], \"joints\": [%s], "
             "\"solver\": {\"velocity_tolerance\": 1e-11}}",
             k < 4 ? 0.2 : 0.8, joints[k % 4]);
    Run r[2] = {open_run(text), open_run(text)};
    r[0].scene.step.scheme = "semi-implicit";
    for (int i = 0; i < 20; i++) {
      go(&r[0], 1), go(&r[1], 1);
      for (int b = 0; b < 2; b++) {
        const tbBody *one = &tb_bodies(r[0].scene.world)[b], *other = &tb_bodies(r[1].scene.world)[b];
        CHECK_NEAR(tb_distance3(one->v, other->v), 0, 2e-5);
        CHECK_NEAR(tb_distance3(one->w, other->w), 0, 2e-4);
      }
    }
    CHECK(r[1].missed == 0 && r[1].report.residual.velocity < 1e-5);
    close_run(&r[0]), close_run(&r[1]);
  }
}

// A chain that swings onto a block: joints hold within what a step of Baumgarte's leaves, nothing crosses.
LONG_TEST(ipc_holds_a_chain_that_lands_on_a_block)
{
  Run r = open_run(
      "{\"tribo\": 1, \"bodies\": [" PLANE
      ", {\"name\": \"block\", \"fixed\": true, \"position\": [0.4, 0, 0.7], "
      "\"shape\": {\"type\": \"box\", \"size\": [0.2, 0.4, 0.2]}}, {\"name\": \"link\", \"mass\": 1, "
      "\"position\": [0.1, 0, 1], \"shape\": {\"type\": \"box\", \"size\": [0.05, 0.05, 0.16]}, "
      "\"orientation_euler_deg\": [0, 90, 0], \"repeat\": {\"count\": [5, 1, 1], \"spacing\": [0.2, 1, "
      "1]}}], "
      "\"joints\": [{\"type\": \"ball\", \"b\": \"link/0\", \"anchor\": [0, 0, 1]}, {\"type\": \"ball\", "
      "\"a\": \"link/0\", \"b\": \"link/1\", \"anchor\": [0.2, 0, 1]}, {\"type\": \"ball\", \"a\": "
      "\"link/1\", "
      "\"b\": \"link/2\", \"anchor\": [0.4, 0, 1]}, {\"type\": \"ball\", \"a\": \"link/2\", \"b\": "
      "\"link/3\", "
      "\"anchor\": [0.6, 0, 1]}, {\"type\": \"ball\", \"a\": \"link/3\", \"b\": \"link/4\", \"anchor\": "
      "[0.8, 0, "
      "1]}]}");
  double most = 0;
  for (int i = 0; i < 60; i++) {
    go(&r, 1);
    for (int k = 2; k < 6; k++) {
      const tbBody *a = &tb_bodies(r.scene.world)[k], *b = &tb_bodies(r.scene.world)[k + 1];
      tbVec3 end = tb_transform_point(tb_transform(a->q, a->x), tb_vec3(0, 0, 0.1));
      most = fmax(most, tb_distance3(end, tb_transform_point(tb_transform(b->q, b->x), tb_vec3(0, 0, -0.1))));
    }
  }
  CHECK(r.crossed == 0 && r.missed == 0);
  CHECK(most < 0.02);
  CHECK(r.report.contacts > 0);
  close_run(&r);
}

TEST(ipc_survives_every_failed_allocation)
{
  tbFailingAllocator state = {.countdown = -1};
  Run r = {.ctx = test_failing_context(&state)};
  CHECK_OK(&r.ctx, tb_scene_parse(&r.ctx, "test", mixed, strlen(mixed), NULL, &r.scene));
  r.scene.step.scheme = "ipc";
  go(&r, 9);
  r.scene.world->cache->pool.off = true;
  uint64_t before = tb_world_hash(r.scene.world);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; status != TB_OK && k < 100000; k += k < 60 ? 1 : k / 12) {
    state.countdown = k, state.for_good = k % 2;
    status = tb_world_step(&r.ctx, r.scene.world, &r.scene.step, NULL);
    state.countdown = -1;
    if (status != TB_OK) CHECK(status == TB_ERROR_MEMORY && tb_world_hash(r.scene.world) == before);
  }
  CHECK(status == TB_OK);
  close_run(&r);
  CHECK(state.alive == 0);
}

// Its time is the step's: out of it, the step ends where nothing crosses, and says so.
TEST(ipc_keeps_to_its_budget)
{
  Run r = open_run(mixed);
  r.scene.step.newton_tolerance = 1e-15, r.scene.step.newton_iterations = 1000000;
  r.scene.step.budget_s = 0.01;
  go(&r, 3);
  CHECK(r.report.outcome == TB_TIME && r.report.newton_missed);
  CHECK(r.crossed == 0);
  close_run(&r);
}
