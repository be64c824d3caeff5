// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "render/raster.h"

#include <math.h>
#include <string.h>

enum { SIDE = 96, SAMPLES = SIDE * SIDE };

static int64_t area(int64_t ax, int64_t ay, int64_t bx, int64_t by, int64_t px, int64_t py)
{
  return (bx - ax) * (py - ay) - (by - ay) * (px - ax);
}

// Inside of all edges, or on one that is the triangle's own: to the right of it, or below where it is level.
static bool covers(const tbScreenTriangle* t, int x, int y)
{
  int64_t px = (int64_t)x * TB_RASTER_UNIT + TB_RASTER_UNIT / 2,
          py = (int64_t)y * TB_RASTER_UNIT + TB_RASTER_UNIT / 2;
  for (int k = 0; k < 3; k++) {
    int n = (k + 1) % 3;
    int64_t side = area(t->x[k], t->y[k], t->x[n], t->y[n], px, py);
    bool ours = t->y[n] > t->y[k] || (t->y[n] == t->y[k] && t->x[n] > t->x[k]);
    if (side < 0 || (side == 0 && !ours)) return false;
  }
  return true;
}

// Corners within `reach` samples of a place; every other one on samples or between two, where edges meet
// samples.
static tbScreenTriangle any_triangle(tbRandom* random, double reach, int number)
{
  tbScreenTriangle t = {.triangle = number};
  double x = test_uniform(random, -10, SIDE + 10), y = test_uniform(random, -10, SIDE + 10);
  bool even = test_below(random, 2);
  for (int k = 0; k < 3; k++) {
    double at[2] = {x + test_uniform(random, -reach, reach), y + test_uniform(random, -reach, reach)};
    t.x[k] = tb_raster_grid(even ? floor(at[0]) + 0.5 : at[0]);
    t.y[k] = tb_raster_grid(even ? floor(at[1]) + 0.5 : at[1]);
    t.z[k] = (float)test_uniform(random, 1, 2);
  }
  return t;
}

// Small triangles and long ones take different ways; both must find the samples that the definition names,
// and the nearest triangle at each.
TEST(triangles_cover_the_samples_that_their_edges_say)
{
  static float depth[SAMPLES];
  static int front[SAMPLES];
  const double reach[] = {1, 5, 12, 60, 3000, 2e6};
  tbRaster raster = {SIDE, SIDE, depth, front};
  tbRandom random = test_random(11);
  int covered = 0, wrong = 0;
  for (int i = 0; i < 600; i++) {
    tbScreenTriangle t = any_triangle(&random, reach[i % 6], i);
    memset(depth, 0, sizeof depth), memset(front, -1, sizeof front);
    if (!tb_raster_accept(&raster, &t, true)) continue;
    tb_raster_fill(&raster, &t, 0, SIDE / 2), tb_raster_fill(&raster, &t, SIDE / 2, SIDE);
    for (int k = 0; k < SAMPLES; k++) {
      bool inside = covers(&t, k % SIDE, k / SIDE);
      covered += inside;
      wrong += inside != (front[k] == i) || inside != (depth[k] > 0);
    }
  }
  CHECK(covered > 50000);
  CHECK(wrong == 0);
}

// A map without numbers has the same depths.
TEST(depths_do_not_depend_on_numbers_or_order)
{
  static float depth[3][SAMPLES];
  static int front[SAMPLES];
  enum { COUNT = 200 };
  tbScreenTriangle t[COUNT];
  tbRandom random = test_random(12);
  tbRaster raster[3] = {
      {SIDE, SIDE, depth[0], front}, {SIDE, SIDE, depth[1], NULL}, {SIDE, SIDE, depth[2], NULL}};
  int count = 0;
  for (int i = 0; i < COUNT; i++) {
    t[count] = any_triangle(&random, i % 2 ? 6 : 40, i);
    count += tb_raster_accept(&raster[0], &t[count], true);
  }
  memset(depth, 0, sizeof depth);
  for (int i = 0; i < count; i++) {
    tb_raster_fill(&raster[0], &t[i], 0, SIDE), tb_raster_fill(&raster[1], &t[i], 0, SIDE);
    tb_raster_fill(&raster[2], &t[count - 1 - i], 0, SIDE);
  }
  CHECK(count > COUNT / 2);
  CHECK(memcmp(depth[0], depth[1], sizeof depth[0]) == 0);
  CHECK(memcmp(depth[0], depth[2], sizeof depth[0]) == 0);
}
