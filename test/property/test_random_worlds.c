// SPDX-License-Identifier: Apache-2.0
// What holds for every world, tried on worlds drawn from seeds.
#include "property/random_worlds.h"

#include <math.h>

static const Units SI = {1, 1, 1};

static void run(MadeWorld* m, int steps, tbOutcome* outcome)
{
  for (int i = 0; i < steps; i++) {
    tbStepReport report = {0};
    CHECK_OK(&m->ctx, tb_world_step(&m->ctx, m->world, &m->step, &report));
    if (outcome) outcome[i] = report.outcome;
  }
}

// The largest difference of places, in metres, and of velocities, in m/s, of two worlds in units of their
// own.
static double difference(const MadeWorld* a, Units ua, const MadeWorld* b, Units ub)
{
  double worst = 0;
  for (int i = 0; i < RANDOM_BODIES; i++) {
    tbBodyState s = tb_body_state(a->world, a->id[i]), t = tb_body_state(b->world, b->id[i]);
    tbVec3 x = tb_sub3(tb_scale3(1 / ua.length, s.position), tb_scale3(1 / ub.length, t.position));
    tbVec3 v =
        tb_sub3(tb_scale3(ua.time / ua.length, s.velocity), tb_scale3(ub.time / ub.length, t.velocity));
    worst = fmax(worst, fmax(tb_norm3(x), tb_norm3(v)));
  }
  return worst;
}

// Units are a convention: a world in grams, kilometres or minutes goes the way it goes in SI, step by step,
// and the same steps converge. By powers of two, so that nothing is rounded but by constants that have a
// unit.
TEST(worlds_move_alike_in_any_units)
{
  static const Units units[] = {{1024, 1, 1}, {1, 1.0 / 1024, 1}, {1, 1, 64}, {1.0 / 4096, 512, 1.0 / 256}};
  enum { STEPS = 60 };
  for (int k = 0; k < 4; k++)
    for (uint64_t seed = 1; seed <= (test_quick() ? 1 : 3); seed++) {
      RandomWorld r = random_world(RANDOM_HEAP, seed);
      MadeWorld a = make_world(&r, "semi-implicit", SI, NULL, true),
                b = make_world(&r, "semi-implicit", units[k], NULL, true);
      tbOutcome first[STEPS], second[STEPS];
      int other = 0;
      run(&a, STEPS, first), run(&b, STEPS, second);
      for (int i = 0; i < STEPS; i++) other += first[i] != second[i];
      double far = difference(&a, SI, &b, units[k]);
      if (!(far < 1e-6) || other)
        test_failed(__FILE__, __LINE__, "seed %d, units %d: %g apart, %d steps end otherwise", (int)seed, k,
                    far, other);
      drop_world(&a), drop_world(&b);
    }
}

static void shuffle(uint64_t seed, int* order)
{
  tbRandom random = test_random(seed);
  for (int i = 0; i < RANDOM_BODIES; i++) order[i] = i;
  for (int i = RANDOM_BODIES - 1; i > 0; i--) {
    int k = test_below(&random, i + 1), kept = order[i];
    order[i] = order[k], order[k] = kept;
  }
}

// The order in which bodies were added decides the order of pairs, which of two is first, and the order of
// sums; not where they go, where impulses are unique.
TEST(the_order_of_bodies_does_not_matter)
{
  static const char* const schemes[] = {"semi-implicit", "moreau", "penalty"};
  for (int k = 0; k < 3; k++)
    for (uint64_t seed = 1; seed <= (test_quick() ? 2 : 8); seed++) {
      int order[RANDOM_BODIES];
      RandomWorld r = random_world(RANDOM_SPHERES, seed);
      shuffle(seed, order);
      MadeWorld a = make_world(&r, schemes[k], SI, NULL, true),
                b = make_world(&r, schemes[k], SI, order, false);
      a.step.solver.tolerance = b.step.solver.tolerance = 1e-12;
      run(&a, 40, NULL), run(&b, 40, NULL);
      double far = difference(&a, SI, &b, SI);
      if (!(far < 1e-6)) test_failed(__FILE__, __LINE__, "%s, seed %d: %g apart", schemes[k], (int)seed, far);
      drop_world(&a), drop_world(&b);
    }
}

// Momentum, and the sum of masses times places.
static void momenta(const MadeWorld* m, const RandomWorld* r, tbVec3* p, tbVec3* moved)
{
  *p = *moved = tb_zero3();
  for (int i = 0; i < RANDOM_BODIES; i++) {
    tbBodyState s = tb_body_state(m->world, m->id[i]);
    *p = tb_madd3(*p, r->body[i].mass, s.velocity);
    *moved = tb_madd3(*moved, r->body[i].mass, s.position);
  }
}

// What nothing acts on from outside keeps its momentum, and its centre of mass goes on as it went. A bounce
// bends paths within a step, at its own moment, which moves the centre by a part of a step's way: only the
// momentum is exact then.
TEST(clusters_keep_their_momentum_under_every_scheme)
{
  static const char* const schemes[] = {"semi-implicit", "moreau", "penalty", "implicit", "pd"};
  enum { STEPS = 40 };
  for (int k = 0; k < 5; k++)
    for (uint64_t seed = 1; seed <= (test_quick() ? 2 : 6); seed++) {
      RandomWorld r = random_world(RANDOM_CLUSTER, seed);
      MadeWorld m = make_world(&r, schemes[k], SI, NULL, true);
      tbVec3 before, from, after, to;
      momenta(&m, &r, &before, &from);
      run(&m, STEPS, NULL);
      momenta(&m, &r, &after, &to);
      double lost = tb_norm3(tb_sub3(after, before));
      double off = tb_norm3(tb_sub3(to, tb_madd3(from, STEPS * r.dt, before)));
      if (!(lost < 1e-10) || !(off < 1e-10 || r.restitution > 0))
        test_failed(__FILE__, __LINE__,
                    "%s, seed %d: momentum changes by %g kg m/s, the way of the centre by %g kg m",
                    schemes[k], (int)seed, lost, off);
      drop_world(&m);
    }
}
