// SPDX-License-Identifier: Apache-2.0
// The scheme ipc where rounding, masses and saddles are against it.
#include "base/array.h"
#include "scene/cache.h"
#include "scene/kind.h"
#include "step/ipc.h"
#include "test.h"
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Nothing crosses, Newton's method ends in every step, and energy does not grow.
static void check_run(const char* name, const char* text)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_parse(&ctx, name, text, strlen(text), NULL, &s));
  double before = INFINITY, size = 1e-3;
  for (int i = 0; i < 24; i++) {
    tbStepReport report;
    size = fmax(size, tb_world_energy(s.world).kinetic);
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
    tbEnergy e = tb_world_energy(s.world);
    double after = e.kinetic + e.potential + e.elastic + report.stored;
    if (report.intersections > 0 || report.newton_missed || !(after <= before + 1e-5 * size))
      test_failed(__FILE__, __LINE__, "%s, step %d: %d crossings, missed %d, %.2e gained", name, i,
                  (int)report.intersections, report.newton_missed, (after - before) / size);
    before = after;
  }
  tb_scene_free(&ctx, &s);
}

#define HEAVY_ON_LIGHT(mu, dt, speed, q)                                                                   \
  "{\"tribo\": 1, \"dt\": " dt ", \"scheme\": \"ipc\", \"materials\": {\"m\": {\"friction\": " mu "}}, "   \
  "\"bodies\": [{\"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\"}}, {\"material\": " \
  "\"m\", \"density\": 10, \"position\": [0, 0, 0.0505], \"shape\": {\"type\": \"box\", \"size\": [0.1, "  \
  "0.1, 0.1]}}, {\"material\": \"m\", \"density\": 1e5, \"position\": [0, 0, 0.2015], \"shape\": "         \
  "{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}}, {\"material\": \"m\", \"density\": 10, \"position\": " \
  "[0, 0, 0.45], \"velocity\": [0, 0, " speed "], \"orientation\": " q ", \"shape\": "                     \
  "{\"type\": \"box\", \"size\": [0.05, 0.05, 0.05]}}]}"

// 800 kg on 10 g, and something that strikes them from above: the light one keeps them apart. Without
// friction it stands on a saddle.
TEST(ipc_holds_heavy_bodies_on_light_ones)
{
  check_run("heavy on light", HEAVY_ON_LIGHT("1.5", "0.004", "-5", "[0.868, 0.465, -0.165, 0.052]"));
  check_run("heavy on light, without friction",
            HEAVY_ON_LIGHT("0", "0.04", "-1.2", "[0.244, 0.791, 0.227, -0.513]"));
}

// Rods of 2 mm on a stiff block: its energy rounds to more than what their turning changes.
TEST(ipc_converges_where_stiff_bodies_round)
{
  check_run(
      "rods",
      "{\"tribo\": 1, \"dt\": 0.01, \"scheme\": \"ipc\", \"materials\": {\"m\": {\"friction\": 0}}, "
      "\"bodies\": [{\"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\"}}, "
      "{\"material\": \"m\", \"density\": 8000, \"position\": [-0.0142, -0.0047, 0.5414], \"velocity\": "
      "[0, 0, -9.666], \"orientation\": [0.97655, 0.2153, 0, 0], \"shape\": {\"type\": \"box\", "
      "\"size\": [0.002, 0.002, 0.6]}}, {\"material\": \"m\", \"density\": 8000, \"position\": [0.1095, "
      "0.0159, 0.3574], \"velocity\": [0, 0, -33.4], \"orientation\": [0.99905, 0.04362, 0, 0], "
      "\"shape\": {\"type\": \"box\", \"size\": [0.002, 0.002, 0.3846]}}], \"soft\": [{\"material\": "
      "\"m\", \"mesh\": {\"box\": {\"size\": [0.4, 0.2, 0.05], \"cells\": [4, 2, 1]}}, \"model\": "
      "\"neo-hookean\", \"young\": 3.1e8, \"poisson\": 0.015, \"position\": [0.07, 0, 0.026]}]}");
}

// Boxes and a soft block stacked with a hundred nanometres between them.
TEST(ipc_parts_faces_that_nearly_touch)
{
  check_run("faces",
            "{\"tribo\": 1, \"dt\": 0.01, \"scheme\": \"ipc\", \"bodies\": [{\"fixed\": true, \"shape\": "
            "{\"type\": \"plane\"}}, {\"density\": 964, \"position\": [0, 0, 0.0500001], \"shape\": "
            "{\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}}, {\"density\": 122, \"position\": [0, 0, "
            "0.1500002], \"shape\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}}], \"soft\": "
            "[{\"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [1, 1, 1]}}, \"model\": \"stvk\", "
            "\"young\": 2.6e8, \"poisson\": 0.2, \"density\": 5000, \"position\": [0, 0, 0.2500003]}]}");
}

// Bodies that pass through each other at the start: a block between rollers, and a cloth through a block that
// sits inside of a box. Each is moved out as a whole, at rest, and the report says how far.
TEST(ipc_frees_what_passes_through_something)
{
  static const char* const scenes[] = {
      "{\"tribo\": 1, \"dt\": 0.01, \"scheme\": \"ipc\", \"bodies\": [{\"kinematic\": {\"angular_velocity\": "
      "[0, -10, 0]}, \"position\": [0, 0, -0.25], \"orientation_euler_deg\": [90, 0, 0], \"shape\": "
      "{\"type\": \"cylinder\", \"radius\": 0.2, \"length\": 0.5}}, {\"kinematic\": {\"angular_velocity\": "
      "[0, 10, 0]}, \"position\": [0, 0, 0.25], \"orientation_euler_deg\": [90, 0, 0], \"shape\": "
      "{\"type\": \"cylinder\", \"radius\": 0.2, \"length\": 0.5}}], \"soft\": [{\"mesh\": {\"box\": "
      "{\"size\": 0.25, \"cells\": 2}}, \"model\": \"neo-hookean\", \"young\": 1e6, \"poisson\": 0.1, "
      "\"density\": 1000, \"position\": [-0.28, 0, 0]}]}",
      "{\"tribo\": 1, \"dt\": 0.01, \"scheme\": \"ipc\", \"bodies\": [{\"fixed\": true, \"shape\": "
      "{\"type\": \"box\", \"size\": [0.4, 0.4, 0.1]}}], \"soft\": [{\"mesh\": {\"box\": {\"size\": 0.2, "
      "\"cells\": 1}}, \"model\": \"neo-hookean\", \"young\": 1e5, \"poisson\": 0.3, \"density\": 1000, "
      "\"position\": [0, 0, 0.1]}], \"cloth\": [{\"mesh\": {\"grid\": {\"size\": [0.5, 0.5], \"cells\": [2, "
      "2]}}, \"area_density\": 0.2, \"stretch\": 300, \"shear\": 30, \"bend\": 1e-4, \"position\": [0, 0, "
      "0.12]}]}"};
  for (int i = 0; i < 2; i++) {
    tbContext ctx = tb_default_context();
    tbScene scene;
    tbStepReport report;
    CHECK_OK(&ctx, tb_scene_parse(&ctx, "crossing", scenes[i], strlen(scenes[i]), NULL, &scene));
    scene.world->gravity = tb_zero3();
    CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, &report));
    CHECK(report.intersections == 0 && !report.newton_missed);
    CHECK(report.changes.projected > 1e-4 && report.changes.projected < 0.3);
    if (i) CHECK(tb_world_energy(scene.world).elastic < 1e-6);
    tb_scene_free(&ctx, &scene);
  }
}

// Two capsules that turn far in a step: rows are straight where they roll, and the exact law of friction at
// the end would push them up the way they turn (2 % of their energy, and more).
TEST(exact_friction_gains_no_energy_where_bodies_turn_far)
{
  check_run("rolling capsule",
            "{\"tribo\": 1, \"dt\": 0.02, \"scheme\": {\"name\": \"ipc\", \"exact_friction\": true}, "
            "\"materials\": {\"m\": {\"friction\": 0.3}}, \"bodies\": [{\"fixed\": true, \"shape\": "
            "{\"type\": \"plane\"}, \"material\": \"m\"}, {\"density\": 1612.91, \"position\": [0, 0, "
            "0.03035871], \"orientation\": [-0.7060273, -0.2694813, 0.6537429, 0.03905612], \"velocity\": "
            "[0.3243024, -0.9293984, -0.00027], \"angular_velocity\": [30.60696, 10.67993, 0], \"shape\": "
            "{\"type\": \"capsule\", \"radius\": 0.0303838, \"length\": 0.0276578}, \"material\": \"m\"}]}");
  check_run("rolling cylinder",
            "{\"tribo\": 1, \"dt\": 0.02, \"scheme\": {\"name\": \"ipc\", \"exact_friction\": true}, "
            "\"materials\": {\"m\": {\"friction\": 0.3}}, \"bodies\": [{\"fixed\": true, \"shape\": "
            "{\"type\": \"plane\"}, \"material\": \"m\"}, {\"density\": 8737.29, \"position\": [0, 0, "
            "0.04386966], \"orientation\": [0.3465818, 0.6594797, -0.2551203, 0.616345], \"velocity\": "
            "[0.8304144, 0.6845802, -0.00022], \"angular_velocity\": [-15.61339, 18.93946, 0], \"shape\": "
            "{\"type\": \"cylinder\", \"radius\": 0.0438906, \"length\": 0.0659744}, \"material\": \"m\"}]}");
}

// Steps of a run, with what is driven or joined: whether Newton's method ends in all of them, and nothing
// crosses.
static void check_steps(const char* name, const char* text, int steps)
{
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_parse(&ctx, name, text, strlen(text), NULL, &s));
  for (int i = 0; i < steps; i++) {
    tbStepReport report;
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
    if (report.intersections > 0 || report.newton_missed)
      test_failed(__FILE__, __LINE__, "%s, step %d: %d crossings, missed %d, %d iterations", name, i,
                  (int)report.intersections, report.newton_missed, report.iterations);
  }
  tb_scene_free(&ctx, &s);
}

// Joints and friction that does not settle: the joints' impulses settle once friction stands.
TEST(ipc_settles_joints_where_friction_does_not)
{
  check_steps("two links",
              "{\"tribo\": 1, \"dt\": 0.02, \"scheme\": \"ipc\", \"materials\": {\"m\": {\"friction\": 1}}, "
              "\"bodies\": [{\"fixed\": true, \"shape\": {\"type\": \"plane\"}, \"material\": \"m\"}, "
              "{\"name\": \"a\", \"density\": 2475.4279942361004, \"position\": [0.15, 0, 0.55], \"shape\": "
              "{\"type\": \"box\", \"size\": [0.25, 0.06, 0.06]}, \"velocity\": [0, -0.0495368954134896, "
              "-6.105301897227947], \"material\": \"m\"}, {\"name\": \"b\", \"density\": 258.39257764020186, "
              "\"position\": [0.44999999999999996, 0, 0.55], \"shape\": {\"type\": \"capsule\", \"radius\": "
              "0.03, \"length\": 0.18, \"orientation_euler_deg\": [0, 90, 0]}, \"velocity\": [0, "
              "-0.8955568261561921, -0.299139874022214], \"material\": \"m\"}], \"joints\": [{\"type\": "
              "\"ball\", \"b\": \"a\", \"anchor\": [0, 0, 0.55]}, {\"type\": \"ball\", \"b\": \"b\", "
              "\"anchor\": [0.3, 0, 0.55], \"a\": \"a\"}]}",
              7);
}

// Boxes and a soft block under a plate that comes down: its way in a step ends, not by halves for ever; and
// edges that lie along each other to a millionth, pressed to a hundredth of d̂, are as far apart as they are.
LONG_TEST(ipc_presses_stacks_until_plates_arrive)
{
  check_steps("plate that arrives",
              "{\"tribo\": 1, \"dt\": 0.002, \"scheme\": \"ipc\", \"bodies\": [{\"fixed\": true, "
              "\"shape\": {\"type\": \"plane\"}}, {\"density\": 1006.2911015942603, \"position\": "
              "[-0.007743015036619821, 0, 0.1005], \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, "
              "0.2]}}, {\"density\": 3010.810132353762, \"position\": [0.003590246018494645, 0, "
              "0.30100000000000005], \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}}, "
              "{\"density\": 3566.9169138528946, \"position\": [-0.0035016867916148574, 0, "
              "0.5015000000000001], \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}}, "
              "{\"shape\": {\"type\": \"box\", \"size\": [0.6, 0.6, 0.1]}, \"position\": [0, 0, "
              "0.9020000000000001], \"kinematic\": {\"velocity\": [0, 0, -0.48]}}], \"soft\": [{\"mesh\": "
              "{\"box\": {\"size\": [0.2, 0.2, 0.2], \"cells\": 2}}, \"model\": \"neo-hookean\", "
              "\"young\": 257977.15439136862, \"poisson\": 0.3797813099032662, \"position\": [0, 0, "
              "0.7030000000000001]}]}",
              56);
  check_steps(
      "light boxes",
      "{\"tribo\": 1, \"dt\": 0.005, \"scheme\": \"ipc\", \"materials\": {\"m\": "
      "{\"friction\": 1.5}}, \"bodies\": [{\"fixed\": true, \"shape\": {\"type\": \"plane\"}, "
      "\"material\": \"m\"}, {\"density\": 1623.7645746172564, \"position\": [0.004564506581572519, 0, "
      "0.1005], "
      "\"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}, \"material\": \"m\"}, "
      "{\"density\": 50.854153280127264, \"position\": [0.000281274309384974, 0, "
      "0.30100000000000005], \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}, "
      "\"material\": \"m\"}, {\"density\": 82.73195615697472, \"position\": "
      "[0.006655241600537093, 0, 0.5015000000000001], \"shape\": {\"type\": \"box\", \"size\": "
      "[0.2, 0.2, 0.2]}, \"material\": \"m\"}, {\"shape\": {\"type\": \"box\", \"size\": [0.6, 0.6, "
      "0.1]}, \"position\": [0, 0, 0.9020000000000001], \"kinematic\": {\"velocity\": [0, 0, -0.48]}, "
      "\"material\": \"m\"}], \"soft\": [{\"mesh\": {\"box\": {\"size\": [0.2, 0.2, 0.2], "
      "\"cells\": 2}}, \"model\": \"neo-hookean\", \"young\": 637875.8138019901, \"poisson\": "
      "0.42881359161036836, \"position\": [0, 0, 0.7030000000000001], \"material\": \"m\"}]}",
      48);
}

// ---- analyses across steps ----

enum { BLOCKS = 60 };

// A chain of blocks, and one coupling more unless `more` is less than 0.
static void make_chain(tbContext* ctx, int more, tbIpcMatrix* m)
{
  *m = (tbIpcMatrix){.nblock = BLOCKS, .pair = TB_ARRAY(uint64_t)};
  tb_arena_init(&m->arena, ctx);
  m->scalar.ptr = TB_TAKE(&m->arena, int, 3 * BLOCKS + 1);
  m->scalar.idx = TB_TAKE(&m->arena, int, 9 * 3 * BLOCKS);
  int at = 0;
  for (int i = 0; i < BLOCKS; i++) {
    int cols[3], n = 0;
    if (i == more) cols[n++] = 0;
    if (i > 0) cols[n++] = i - 1;
    for (int k = 0; k < n; k++) {
      uint64_t key = (uint64_t)i << 32 | (uint64_t)cols[k];
      CHECK_OK(ctx, tb_array_push(ctx, &m->pair, &key, 1));
    }
    cols[n++] = i;
    for (int r = 0; r < 3; r++) {
      m->scalar.ptr[3 * i + r] = at;
      for (int k = 0; k < n; k++)
        for (int c = 0; c < 3; c++) m->scalar.idx[at++] = 3 * cols[k] + c;
    }
  }
  m->scalar.ptr[3 * BLOCKS] = at;
}

// A pattern that comes back is not analysed again; one that has grown by a little keeps the order of
// elimination of the first, and is another than the same pattern by itself.
TEST(ipc_keeps_its_analyses_across_steps)
{
  tbContext ctx = tb_default_context();
  tbCache cache;
  tb_cache_init(&cache, &ctx);
  tbIpcMatrix first, again, grown, alone, regrown;
  make_chain(&ctx, -1, &first), make_chain(&ctx, -1, &again), make_chain(&ctx, 40, &grown);
  make_chain(&ctx, 40, &alone), make_chain(&ctx, 40, &regrown);
  CHECK_OK(&ctx, tb_ipc_analyse(&ctx, &cache, &first));
  CHECK_OK(&ctx, tb_ipc_analyse(&ctx, &cache, &again));
  CHECK(first.analyses == 1 && again.analyses == 0 && first.factor == again.factor);
  grown.factor = first.factor, grown.name = first.name, grown.analysed = first.analysed;
  regrown.factor = again.factor, regrown.name = again.name, regrown.analysed = again.analysed;
  CHECK_OK(&ctx, tb_ipc_analyse(&ctx, &cache, &grown));
  CHECK_OK(&ctx, tb_ipc_analyse(&ctx, &cache, &alone));
  CHECK_OK(&ctx, tb_ipc_analyse(&ctx, &cache, &regrown));
  CHECK(grown.analyses == 1 && alone.analyses == 1 && grown.factor != alone.factor);
  CHECK(regrown.analyses == 0 && regrown.factor == grown.factor);
  tbIpcMatrix* all[] = {&first, &again, &grown, &alone, &regrown};
  for (int i = 0; i < 5; i++) {
    tb_array_free(&ctx, &all[i]->pair);
    tb_arena_free(&all[i]->arena);
  }
  tb_cache_free(&ctx, &cache);
}

// Sheets between soft blocks that meet at 126 m/s: friction turns round within a thousandth of what they
// slide by, and directions went to and fro over that until the iterations were used up (1000 in the second
// step).
TEST(ipc_converges_where_sliding_ends)
{
  check_steps("sheets between blocks",
              "{\"tribo\": 1, \"dt\": 0.03, \"scheme\": \"ipc\", \"materials\": {\"m\": {\"friction\": "
              "0.8}}, \"bodies\": [{\"fixed\": true, \"shape\": {\"type\": \"plane\"}, \"material\": "
              "\"m\"}], \"soft\": [{\"mesh\": {\"box\": {\"size\": 10, \"cells\": 2}}, \"model\": "
              "\"neo-hookean\", \"young\": 25000.0, \"poisson\": 0.1, \"density\": 547, \"position\": "
              "[0, 0, 5.1], \"material\": \"m\"}, {\"mesh\": {\"box\": {\"size\": 10, \"cells\": 2}}, "
              "\"model\": \"corotated\", \"young\": 120000.0, \"poisson\": 0, \"density\": 3710, "
              "\"position\": [0, 0, 16.3], \"velocity\": [0, 0, -126.5], \"material\": \"m\"}], "
              "\"cloth\": [{\"mesh\": {\"grid\": {\"size\": [14, 14], \"cells\": [4, 4]}}, "
              "\"area_density\": 0.48, \"stretch\": 508, \"shear\": 153, \"bend\": 0.004, "
              "\"position\": [0, 0, 10.3], \"material\": \"m\", \"thickness\": 0.08}, {\"mesh\": "
              "{\"grid\": {\"size\": [14, 7], \"cells\": [2, 2]}}, \"area_density\": 0.51, "
              "\"stretch\": 69, \"shear\": 16.6, \"bend\": 7e-05, \"position\": [0, 0, 10.6], "
              "\"material\": \"m\", \"thickness\": 0.08}]}",
              2);
}

// A sliver of 25 mg and 0.3 GPa at 40 m/s: what changes its velocities by less than the tolerance presses its
// whole by metres per second, which were given to it at the end of the step.
TEST(ipc_balances_forces_on_what_weighs_nothing)
{
  check_run("sliver",
            "{\"tribo\": 1, \"dt\": 0.05, \"scheme\": \"ipc\", \"materials\": {\"m\": {\"friction\": "
            "0.8}}, \"bodies\": [{\"fixed\": true, \"shape\": {\"type\": \"plane\"}, \"material\": "
            "\"m\"}], \"soft\": [{\"mesh\": {\"box\": {\"size\": [0.0011, 0.0054, 0.0011], "
            "\"cells\": 2}}, \"model\": \"neo-hookean\", \"young\": 270000000.0, \"poisson\": 0.49, "
            "\"density\": 4020, \"position\": [0, 0, 0.012], \"velocity\": [8.76, 2.465, -38.95], "
            "\"material\": \"m\"}]}");
}

// A rod of a millimetre that spins at 640 rad/s strikes the ground at 38 m/s: within one step it would turn
// over on its edges, a potential with a minimum for each. Half a step, and half of that, has one.
TEST(ipc_halves_steps_that_newtons_method_does_not_end)
{
  static const char text[] =
      "{\"tribo\": 1, \"dt\": 0.004, \"scheme\": \"ipc\", \"materials\": {\"m\": {\"friction\": 0.5}}, "
      "\"bodies\": [{\"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\"}}, "
      "{\"material\": \"m\", \"density\": 8000, \"position\": [0.186207108973654, 0.09393450729000674, "
      "0.4257759206020549], \"velocity\": [-5.110096457826457, 10.96921164448503, -38.125625373103105], "
      "\"angular_velocity\": [23.767561597630973, 537.8832609084403, -338.64226832776495], "
      "\"orientation\": [0.517162051285415, 0.3477238893868457, -0.24389730262141582, "
      "-0.7430650141366798], \"shape\": {\"type\": \"box\", \"size\": [0.001, 0.001, "
      "0.1257759206020549]}}]}";
  check_run("rod", text);
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "rod", text, strlen(text), NULL, &s));
  s.step.newton_iterations = 60; // a quarter of them for all but the shortest
  int most = 0;
  for (int i = 0; i < 6; i++) {
    tbStepReport report;
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
    most = report.parts > most ? report.parts : most;
    CHECK(report.intersections == 0);
  }
  CHECK(most > 1 && fabs(tb_world_time(s.world) - 6 * s.step.dt) < 1e-15 &&
        tb_world_step_count(s.world) == 6);
  tb_scene_free(&ctx, &s);
}

// A block as flat as a millionth of its width touches itself, everywhere, when the run starts.
TEST(ipc_starts_what_touches_itself)
{
  static const char text[] = "{\"tribo\": 1, \"scheme\": \"ipc\", \"bodies\": [{\"fixed\": true, \"shape\": "
                             "{\"type\": \"plane\"}}], \"soft\": "
                             "[{\"mesh\": {\"box\": {\"size\": 0.3, \"cells\": 2}}, \"scale\": [1, 1, 1e-6], "
                             "\"young\": 1e5, \"density\": 1000, "
                             "\"position\": [0, 0, 0.15]}]}";
  tbContext ctx = tb_default_context();
  tbScene s = {0};
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "flat", text, strlen(text), NULL, &s));
  REQUIRE(s.world);
  for (int i = 0; i < 2; i++) {
    tbStepReport report;
    CHECK_OK(&ctx, tb_world_step(&ctx, s.world, &s.step, &report));
    CHECK(report.intersections == 0 && isfinite(tb_world_energy(s.world).elastic));
  }
  tb_scene_free(&ctx, &s);
}
