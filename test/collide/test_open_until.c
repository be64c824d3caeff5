// SPDX-License-Identifier: Apache-2.0
// How long a gap surely stays open: never past the moment it closes, and close to it where paths are
// straight.
#include "collide/open_until.h"

#include "base/random.h"
#include "test.h"

#include <math.h>

// A gap with a bounded second derivative: a parabola and a wave.
typedef struct {
  double g, v, a, wave, frequency, phase;
  int calls;
} Path;

static double path_at(const void* user, double t)
{
  const Path* p = user;
  ((Path*)user)->calls++;
  return p->g + p->v * t + 0.5 * p->a * t * t + p->wave * (sin(p->frequency * t + p->phase) - sin(p->phase));
}

static double bend_of(const Path* p) { return fabs(p->a) + fabs(p->wave) * p->frequency * p->frequency; }

static Path random_path(uint64_t* r)
{
  return (Path){.g = tb_random_uniform(r, 1e-4, 1),
                .v = tb_random_uniform(r, -3, 1),
                .a = tb_random_uniform(r, -4, 4),
                .wave = tb_random_uniform(r, 0, 0.05),
                .frequency = tb_random_uniform(r, 1, 20),
                .phase = tb_random_uniform(r, 0, 6)};
}

TEST(a_gap_that_is_said_to_stay_open_does)
{
  uint64_t r = 7;
  int ends = 0, early = 0;
  for (int k = 0; k < 2000; k++) {
    Path p = random_path(&r);
    double end = 1, target = 1e-5, until = tb_open_until(path_at, &p, 0, p.g, end, target, bend_of(&p));
    CHECK(until >= 0 && until <= end);
    ends += until == end, early += until < end;
    for (int i = 0; i <= 1000; i++) {
      double t = until * i / 1000;
      if (path_at(&p, t) < target - 1e-12)
        test_failed(__FILE__, __LINE__, "path %d: shut at %g of %g", k, t, until);
    }
  }
  CHECK(ends > 100 && early > 100);
}

TEST(straight_paths_are_followed_to_their_end_in_a_few_looks)
{
  uint64_t r = 8;
  for (int k = 0; k < 200; k++) {
    Path p = {.g = tb_random_uniform(&r, 0.01, 1), .v = tb_random_uniform(&r, -5, -1.1)};
    double meets = (p.g - 1e-6) / -p.v, until = tb_open_until(path_at, &p, 0, p.g, 1, 1e-6, 0);
    CHECK(until <= meets && until >= 0.98 * meets);
    CHECK(p.calls <= 8);
  }
}

// Rounds of following and looking anew close in on the impact of a bent path much faster than a bound on the
// speed.
TEST(a_few_rounds_lead_to_the_impact)
{
  uint64_t r = 9;
  for (int k = 0; k < 200; k++) {
    Path p = {.g = tb_random_uniform(&r, 0.01, 0.1), .v = -2, .a = tb_random_uniform(&r, -40, 40) / 10};
    double t = 0, target = 1e-6, gap = p.g;
    int rounds = 0;
    for (; gap > 1.001 * target && t < 1 && rounds < 50; rounds++) {
      t = tb_open_until(path_at, &p, t, gap, 1, target, fabs(p.a));
      gap = path_at(&p, t);
    }
    CHECK(t == 1 || (gap >= target && rounds <= 8));
  }
}
