// SPDX-License-Identifier: Apache-2.0
// Pairs per second of the narrow phase, for each pair of convex types: apart by less than the margin,
// touching, deep.
//
//   build-bench/bench_collide
#include "bench.h"
#include "tribo/tools/random.h"
#include "collide/contact.h"

#include <stdlib.h>

enum { PAIRS = 64, TYPES = TB_SHAPE_PLANE + 1 };

static void check(tbContext* ctx, tbStatus status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "bench_collide: %s\n", ctx->error.message);
  exit(1);
}

static tbQuat rotation(uint64_t* r)
{
  tbQuat q = {tb_random_uniform(r, -1, 1), tb_random_uniform(r, -1, 1), tb_random_uniform(r, -1, 1),
              tb_random_uniform(r, -1, 1)};
  return tb_quat_normalize(q);
}

static tbVec3 direction(uint64_t* r) { return tb_quat_rotate(rotation(r), tb_vec3(0, 0, 1)); }

typedef struct {
  tbContext ctx;
  tbShape a, b;
  tbTransform Ta[PAIRS], Tb[PAIRS];
  tbArray out;
  size_t points;
} Case;

static void run(void* user)
{
  Case* c = user;
  c->points = 0;
  for (int i = 0; i < PAIRS; i++) {
    c->out.count = 0;
    check(&c->ctx, tb_collide(&c->ctx, &c->a, c->Ta[i], &c->b, c->Tb[i], 0.05, &c->out));
    c->points += c->out.count;
  }
}

// Brings the pair to the gap asked for, by bisection on what tb_collide itself says.
static void bring(Case* c, int i, double gap, uint64_t* r)
{
  tbVec3 d = c->b.type == TB_SHAPE_PLANE ? tb_vec3(0, 0, -1) : direction(r);
  double lo = 0, hi = 4;
  c->Ta[i] = tb_transform(rotation(r), tb_zero3());
  for (int k = 0; k < 40; k++) {
    double x = 0.5 * (lo + hi);
    c->Tb[i] =
        tb_transform(c->b.type == TB_SHAPE_PLANE ? tb_quat_identity() : rotation(&(uint64_t){(uint64_t)i}),
                     tb_scale3(x, d));
    c->out.count = 0;
    check(&c->ctx, tb_collide(&c->ctx, &c->a, c->Ta[i], &c->b, c->Tb[i], gap, &c->out));
    if (c->out.count) lo = x;
    else hi = x;
  }
}

int main(void)
{
  tbContext ctx = tb_default_context();
  static const double gaps[3] = {0.02, -0.005, -0.2};
  uint64_t r = 1;
  tbVec3 cloud[40];
  tbHull* hull;
  for (int i = 0; i < 40; i++) cloud[i] = direction(&r);
  check(&ctx, tb_hull_create(&ctx, cloud, 40, &hull));
  tbShape shape[TYPES] = {tb_shape_sphere(1),         tb_shape_box(tb_vec3(2, 1.6, 1.2)),
                          tb_shape_capsule(0.5, 1.5), tb_shape_cylinder(0.8, 1.6),
                          tb_shape_convex(hull),      tb_shape_plane(tb_vec3(0, 0, 1), 0)};
  printf("%-22s %12s %12s %12s   million pairs per second, points per pair\n", "", "apart", "touching",
         "deep");
  for (int i = 0; i < TYPES; i++)
    for (int j = i; j < TYPES; j++) {
      if (i == TB_SHAPE_PLANE) continue;
      printf("%-10s %-11s", tb_shape_type_name((tbShapeType)i), tb_shape_type_name((tbShapeType)j));
      for (int g = 0; g < 3; g++) {
        static Case c;
        c = (Case){
            .ctx = tb_default_context(), .a = shape[i], .b = shape[j], .out = TB_ARRAY(tbContactPoint)};
        for (int k = 0; k < PAIRS; k++) bring(&c, k, gaps[g], &r);
        BenchEntry entry = {run, &c, 0};
        bench_race(&entry, 1, 20, 0.05);
        printf(" %6.2f (%.1f)", 1e-6 * PAIRS / entry.best, (double)c.points / PAIRS);
        tb_array_free(&c.ctx, &c.out);
      }
      printf("\n");
    }
  tb_hull_free(&ctx, hull);
  return 0;
}
