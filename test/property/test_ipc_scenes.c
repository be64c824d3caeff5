// SPDX-License-Identifier: Apache-2.0
// What the scheme ipc promises, on scenes of all sorts: nothing crosses, no element turns inside out,
// Newton's method ends in every step, and no step gains energy that nothing has brought.
//
// With the exact law of friction at the end (exact_friction), the judge confirms every step, too.
//
// TRIBO_IPC_SCENES=SEEDS runs every scene, or the one that TRIBO_IPC_SCENE numbers, with so many seeds from
// TRIBO_IPC_SEED (0) on, and says what each took.
#include "property/ipc_scenes.h"
#include "scene/kind.h"
#include "tribo/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t crossed;
  int missed, inverted, iterations, worst; // steps, elements, Newton's iterations, and the most of a step
  double gained;           // the most that energy has grown by in a step, of the most there was in motion
  int unsolved;            // steps that the judge does not confirm
  double residual;         // the largest, m/s
  double seconds, longest; // of all steps, of one
} Outcome;

static double energy_of(const tbWorld* w)
{
  tbEnergy e = tb_world_energy(w);
  return e.kinetic + e.potential + e.elastic;
}

// Volumes of tetrahedra that are not above 0.
static int inverted(const tbWorld* w)
{
  int count = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbNodes n = tb_nodes_of(&tb_bodies(w)[i]);
    for (int e = 0; n.corners == 4 && e < n.nelement; e++) {
      const int* c = n.element + 4 * e;
      tbVec3 a = tb_sub3(n.x[c[1]], n.x[c[0]]), b = tb_sub3(n.x[c[2]], n.x[c[0]]);
      count += !(tb_dot3(a, tb_cross3(b, tb_sub3(n.x[c[3]], n.x[c[0]]))) > 0);
    }
  }
  return count;
}

static Outcome run(const IpcScene* s, bool exact, tbBarrierKind barrier)
{
  Outcome out = {0};
  tbContext ctx = tb_default_context();
  tbScene scene;
  CHECK_OK(&ctx, tb_scene_parse(&ctx, s->name, s->text, strlen(s->text), NULL, &scene));
  tbWorld* w = scene.world;
  scene.step.exact_friction = exact, scene.step.barrier = barrier;
  for (size_t i = 0; i < w->material.count; i++)
    ((tbMaterial*)w->material.data)[i].contact_material.friction.mu = s->mu;
  double size = 1e-3, before = INFINITY; // J; of motion so far
  for (int i = 0; i < s->steps; i++) {
    size = fmax(size, tb_world_energy(w).kinetic);
    tbStepReport report;
    CHECK_OK(&ctx, tb_world_step(&ctx, w, &scene.step, &report));
    out.crossed += report.intersections, out.missed += report.newton_missed;
    out.unsolved += report.outcome != TB_CONVERGED;
    out.residual = fmax(out.residual, report.residual.velocity);
    out.inverted += inverted(w), out.iterations += report.iterations;
    if (report.iterations > out.worst) out.worst = report.iterations;
    double after = energy_of(w) + report.stored;
    if (!s->driven) out.gained = fmax(out.gained, (after - before) / size);
    before = after;
    double took = 0;
    for (int k = 0; k < TB_PHASE_COUNT; k++) took += report.phase_s[k];
    out.seconds += took, out.longest = fmax(out.longest, took);
  }
  tb_scene_free(&ctx, &scene);
  return out;
}

static void check(int index, uint64_t seed, bool exact, tbBarrierKind barrier, bool tell)
{
  IpcScene s;
  ipc_scene(index, seed, &s);
  Outcome o = run(&s, exact, barrier);
  bool good =
      o.crossed == 0 && o.missed == 0 && o.inverted == 0 && o.gained <= 1e-5 && !(exact && o.unsolved > 0);
  if (tell)
    printf("%2d %-18s seed %d: %.2f s, a step %.2f, %4d iterations, at most %3d; %d missed, %d crossed, %d "
           "inverted, %.1e gained, %d unsolved, %.1e m/s%s\n",
           index, s.name, (int)seed, o.seconds, o.longest, o.iterations, o.worst, o.missed, (int)o.crossed,
           o.inverted, o.gained, o.unsolved, o.residual, good ? "" : "  <--");
  if (!good)
    test_failed(__FILE__, __LINE__,
                "%s, seed %d: %d crossings, %d steps missed, %d inversions, %.1e gained, %d unsolved", s.name,
                (int)seed, (int)o.crossed, o.missed, o.inverted, o.gained, o.unsolved);
}

// Those that take no more than a moment, with one seed; or all, with as many as are asked for.
static void check_all(bool exact)
{
  static const uint64_t expensive =
      1ull << 14 | 1ull << 20 | 1ull << 22 | 1ull << 23 | 1ull << 28 | 1ull << 35;
  const char *asked = getenv("TRIBO_IPC_SCENES"), *only = getenv("TRIBO_IPC_SCENE");
  const char* from = getenv("TRIBO_IPC_SEED");
  int seeds = asked ? atoi(asked) : 1, first = asked && from ? atoi(from) : 0;
  for (int k = 0; k < IPC_SCENES; k++) {
    if (asked ? only && atoi(only) != k : (expensive >> k & 1) || (test_quick() && k % 4)) continue;
    for (int seed = first; seed < first + seeds; seed++)
      check(k, (uint64_t)seed, exact, TB_BARRIER_LOG, asked != NULL);
  }
}

LONG_TEST(ipc_holds_in_forty_scenes) { check_all(false); }

TEST(ipc_with_exact_friction_holds_in_forty_scenes) { check_all(true); }

// The implicit penalty, and layers of springs.
LONG_TEST(ipc_holds_with_other_barriers)
{
  static const int some[] = {1, 10, 11, 19, 21, 29, 33};
  for (int kind = TB_BARRIER_LOG + 1; kind < TB_BARRIER_COUNT; kind++)
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
      check(some[i], 0, kind == TB_BARRIER_LAYERS, (tbBarrierKind)kind, false);
}
