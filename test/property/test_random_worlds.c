// SPDX-License-Identifier: Apache-2.0
// What holds for every world, tried on worlds drawn from seeds.
#include "property/random_worlds.h"

#include <math.h>
#include <string.h>

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

// Seeds and steps of a scheme: barriers between meshes take longer than the other schemes together.
static int seeds_of(const tbScheme* scheme, int many)
{
  return strcmp(scheme->name, "ipc") == 0 ? 1 : test_quick() ? (many + 3) / 4 : many;
}
static int steps_of(const tbScheme* scheme, int many) { return strcmp(scheme->name, "ipc") == 0 ? 8 : many; }

// Units are a convention: a world in grams, kilometres or minutes goes the way it goes in SI, step by step,
// and the same steps converge. By powers of two, so that nothing is rounded but by constants that have a
// unit.
LONG_TEST(worlds_move_alike_in_any_units)
{
  static const Units units[] = {{1024, 1, 1}, {1, 1.0 / 1024, 1}, {1, 1, 64}, {1.0 / 4096, 512, 1.0 / 256}};
  enum { STEPS = 60 };
  for (int scheme = 0; scheme < tb_scheme_count(); scheme++)
    for (int k = scheme == 0 ? 0 : 3; k < 4; k++)
      for (int seed = 1; seed <= seeds_of(tb_scheme_at(scheme), scheme == 0 ? 3 : 1); seed++) {
        const char* name = tb_scheme_at(scheme)->name;
        int steps = steps_of(tb_scheme_at(scheme), STEPS), other = 0;
        RandomWorld r = random_world(RANDOM_HEAP, (uint64_t)seed);
        MadeWorld a = make_world(&r, name, SI, NULL, true), b = make_world(&r, name, units[k], NULL, true);
        tbOutcome first[STEPS], second[STEPS];
        run(&a, steps, first), run(&b, steps, second);
        for (int i = 0; i < steps; i++) other += first[i] != second[i];
        double far = difference(&a, SI, &b, units[k]);
        if (!(far < 1e-6) || other > 0)
          test_failed(__FILE__, __LINE__, "%s, seed %d, units %d: %g apart, %d steps end otherwise", name,
                      seed, k, far, other);
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

// Ends after a few sweeps, which go from body to body or from pair to pair in their order.
static const char* const swept[] = {"soft-step", "xpbd", "avbd"};
static bool is_swept(const tbScheme* scheme)
{
  for (int i = 0; i < 3; i++)
    if (strcmp(scheme->name, swept[i]) == 0) return true;
  return false;
}

// The order in which bodies were added decides the order of pairs, which of two is first, and the order of
// sums; not where they go, where impulses are unique and found.
LONG_TEST(the_order_of_bodies_does_not_matter)
{
  for (int k = 0; k < tb_scheme_count(); k++)
    for (int seed = 1; seed <= seeds_of(tb_scheme_at(k), 8); seed++) {
      if (is_swept(tb_scheme_at(k))) continue;
      int order[RANDOM_BODIES], steps = steps_of(tb_scheme_at(k), 40);
      RandomWorld r = random_world(RANDOM_SPHERES, (uint64_t)seed);
      shuffle((uint64_t)seed, order);
      MadeWorld a = make_world(&r, tb_scheme_at(k)->name, SI, NULL, true),
                b = make_world(&r, tb_scheme_at(k)->name, SI, order, false);
      a.step.solver.tolerance = b.step.solver.tolerance = 1e-12;
      run(&a, steps, NULL), run(&b, steps, NULL);
      double far = difference(&a, SI, &b, SI);
      if (!(far < 1e-6))
        test_failed(__FILE__, __LINE__, "%s, seed %d: %g apart", tb_scheme_at(k)->name, seed, far);
      drop_world(&a), drop_world(&b);
    }
}

// Where sweeps go on until they change nothing any more, their order does not matter either.
LONG_TEST(the_order_of_bodies_does_not_matter_to_enough_sweeps)
{
  static const char* const enough[] = {"xpbd", "avbd"};
  for (int k = 0; k < 2; k++)
    for (int seed = 1; seed <= (test_quick() ? 1 : 2); seed++) {
      int order[RANDOM_BODIES];
      RandomWorld r = random_world(RANDOM_SPHERES, (uint64_t)seed);
      shuffle((uint64_t)seed, order);
      MadeWorld a = make_world(&r, enough[k], SI, NULL, true),
                b = make_world(&r, enough[k], SI, order, false);
      a.step.solver.velocity_tolerance = b.step.solver.velocity_tolerance = 1e-12;
      a.step.iterations = b.step.iterations = 20000;
      run(&a, 20, NULL), run(&b, 20, NULL);
      double far = difference(&a, SI, &b, SI);
      if (!(far < 1e-6)) test_failed(__FILE__, __LINE__, "%s, seed %d: %g apart", enough[k], seed, far);
      drop_world(&a), drop_world(&b);
    }
}

// Puts the bodies where those of a made world are now.
static void take_states(RandomWorld* r, const MadeWorld* m)
{
  for (int i = 0; i < RANDOM_BODIES; i++) {
    tbBodyState s = tb_body_state(m->world, m->id[i]);
    r->body[i].x = s.position, r->body[i].v = s.velocity;
    r->body[i].q = s.orientation, r->body[i].w = s.angular_velocity;
  }
}

// What a few sweeps leave is what the judge says, and their order changes no more than that: one step from
// the same state is held to three times the residuals of both orders together (1.7 times were seen).
LONG_TEST(the_order_of_bodies_changes_what_sweeps_leave_and_no_more)
{
  for (int k = 0; k < 3; k++)
    for (int seed = 1; seed <= (test_quick() ? 2 : 8); seed++) {
      int order[RANDOM_BODIES];
      RandomWorld r = random_world(RANDOM_SPHERES, (uint64_t)seed);
      shuffle((uint64_t)seed, order);
      MadeWorld whole = make_world(&r, swept[k], SI, NULL, true);
      for (int moment = 0; moment < 12; moment++) {
        run(&whole, 5, NULL), take_states(&r, &whole);
        MadeWorld m[] = {make_world(&r, swept[k], SI, NULL, true),
                         make_world(&r, swept[k], SI, order, false)};
        double off = 1e-6;
        for (int i = 0; i < 2; i++) {
          tbStepReport report = {0};
          m[i].step.certify = true;
          CHECK_OK(&m[i].ctx, tb_world_step(&m[i].ctx, m[i].world, &m[i].step, &report));
          off += report.residual.velocity;
        }
        double far = difference(&m[0], SI, &m[1], SI);
        if (!(far < 3 * off))
          test_failed(__FILE__, __LINE__, "%s, seed %d: %g apart, and %g off", swept[k], seed, far, off);
        drop_world(&m[0]), drop_world(&m[1]);
      }
      drop_world(&whole);
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

static void join_two(MadeWorld* m, const RandomWorld* r)
{
  tbJointDef def = tb_default_joint_def(TB_JOINT_BALL);
  def.a = m->id[0], def.b = m->id[1], def.anchor = tb_lerp3(r->body[0].x, r->body[1].x, 0.5);
  CHECK_OK(&m->ctx, tb_world_add_joint(&m->ctx, m->world, &def, NULL));
}

// What nothing acts on from outside keeps its momentum, and its centre of mass goes on as it went. A bounce
// bends paths within a step, at its own moment, which moves the centre by a part of a step's way: only the
// momentum is exact then.
LONG_TEST(clusters_keep_their_momentum_under_every_scheme)
{
  for (int k = 0; k < tb_scheme_count(); k++)
    for (int seed = 1; seed <= seeds_of(tb_scheme_at(k), 6); seed++) {
      const char* name = tb_scheme_at(k)->name;
      int steps = steps_of(tb_scheme_at(k), 40);
      RandomWorld r = random_world(RANDOM_CLUSTER, (uint64_t)seed);
      MadeWorld m = make_world(&r, name, SI, NULL, true);
      if (seed % 2 == 0) join_two(&m, &r);
      tbVec3 before, from, after, to;
      momenta(&m, &r, &before, &from);
      run(&m, steps, NULL);
      momenta(&m, &r, &after, &to);
      double lost = tb_norm3(tb_sub3(after, before));
      double off = tb_norm3(tb_sub3(to, tb_madd3(from, steps * r.dt, before)));
      double path = strcmp(name, "soft-step") == 0 ? 1e-3 : 1e-10; // its pushes are floats
      if (!(lost < 1e-10) || !(off < path || r.restitution > 0))
        test_failed(__FILE__, __LINE__,
                    "%s, seed %d: momentum changes by %g kg m/s, the way of the centre by %g kg m", name,
                    seed, lost, off);
      drop_world(&m);
    }
}
