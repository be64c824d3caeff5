// SPDX-License-Identifier: Apache-2.0
// Pairs of shapes by tb_narrow, with and without a hint, beside tb_collide: nanoseconds per pair, and how
// many times as long tb_collide takes.
//
//   bench_narrow
#include "bench.h"
#include "tribo/tools/random.h"
#include "collide/contact.h"
#include "collide/narrow.h"

#include <stdlib.h>

enum { PAIRS = 2048 };
static const double MARGIN = 0.02;

typedef struct {
  tbContext ctx;
  tbShape a, b;
  tbTransform Ta[PAIRS], Tb[PAIRS];
  tbNarrowShape placed[PAIRS][2];
  tbPairHint hint[PAIRS];
  tbArray points;
} Case;

static tbQuat rotation(uint64_t* r)
{
  tbQuat q = {tb_random_uniform(r, -1, 1), tb_random_uniform(r, -1, 1), tb_random_uniform(r, -1, 1),
              tb_random_uniform(r, -1, 1)};
  return tb_quat_normalize(q);
}

static size_t collide(Case* c, int i, double margin)
{
  c->points.count = 0;
  if (tb_collide(&c->ctx, &c->a, c->Ta[i], &c->b, c->Tb[i], margin, &c->points) != TB_OK) exit(1);
  return c->points.count;
}

// Brings each pair to the gap asked for, along a random direction.
static void bring(Case* c, double gap)
{
  uint64_t r = 1;
  for (int i = 0; i < PAIRS; i++) {
    tbVec3 d = tb_quat_rotate(rotation(&r), tb_vec3(0, 0, 1));
    double lo = 0, hi = 4;
    c->Ta[i] = tb_transform(rotation(&r), tb_zero3());
    c->Tb[i] = tb_transform(rotation(&r), tb_zero3());
    for (int k = 0; k < 40; k++) {
      double x = 0.5 * (lo + hi);
      c->Tb[i].x = tb_scale3(x, d);
      if (collide(c, i, gap) > 0) lo = x;
      else hi = x;
    }
    tb_narrow_shape(&c->a, c->Ta[i], &c->placed[i][0]);
    tb_narrow_shape(&c->b, c->Tb[i], &c->placed[i][1]);
    c->hint[i] = (tbPairHint){0};
  }
}

static void by_collide(void* user)
{
  for (int i = 0; i < PAIRS; i++) collide(user, i, MARGIN);
}

static void cold(void* user)
{
  Case* c = user;
  tbNarrowManifold m;
  for (int i = 0; i < PAIRS; i++)
    tb_narrow(&c->placed[i][0], &c->placed[i][1], MARGIN, TB_NARROW_POINTS, &(tbPairHint){0}, &m);
}

static void with_hint(void* user)
{
  Case* c = user;
  tbNarrowManifold m;
  for (int i = 0; i < PAIRS; i++)
    tb_narrow(&c->placed[i][0], &c->placed[i][1], MARGIN, TB_NARROW_POINTS, &c->hint[i], &m);
}

int main(void)
{
  static const double gaps[3] = {0.1, 0.01, -0.02};
  static const char* const names[3] = {"near", "about to touch", "overlapping"};
  tbContext ctx = tb_default_context();
  uint64_t r = 2;
  tbVec3 cloud[30];
  tbHull* hull;
  for (int i = 0; i < 30; i++) cloud[i] = tb_scale3(0.6, tb_quat_rotate(rotation(&r), tb_vec3(0, 0, 1)));
  if (tb_hull_create(&ctx, cloud, 30, &hull) != TB_OK) return 1;
  const tbShape shape[] = {tb_shape_box(tb_vec3(1, 1, 1)), tb_shape_convex(hull), tb_shape_capsule(0.4, 0.8),
                           tb_shape_sphere(0.5)};
  for (int s = 0; s < 4; s++)
    for (int g = 0; g < 3; g++) {
      static Case c;
      c = (Case){
          .ctx = tb_default_context(), .a = shape[0], .b = shape[s], .points = TB_ARRAY(tbContactPoint)};
      bring(&c, gaps[g]);
      BenchEntry entry[3] = {{by_collide, &c, 0}, {cold, &c, 0}, {with_hint, &c, 0}};
      bench_race(entry, 3, 10, 0.2);
      printf("box %-8s %-15s tb_collide %7.0f ns   tb_narrow %6.0f ns   with a hint %6.0f ns   ratio %5.1f\n",
             tb_shape_type_name(shape[s].type), names[g], 1e9 * entry[0].best / PAIRS,
             1e9 * entry[1].best / PAIRS, 1e9 * entry[2].best / PAIRS, entry[0].best / entry[2].best);
      tb_array_free(&c.ctx, &c.points);
    }
  tb_hull_free(&ctx, hull);
  return 0;
}
