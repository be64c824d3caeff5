// SPDX-License-Identifier: Apache-2.0
// Convex hulls, checked by brute force: every point against every face, every edge against both its faces.
#include "shapes.h"

#include <stdlib.h>

enum { MOST = 20000 };

// Rounding that a hull of these points may show.
static double rounding(const tbVec3* p, int n)
{
  tbVec3 size = tb_zero3();
  for (int i = 0; i < n; i++) size = tb_max3(size, tb_vec3(fabs(p[i].x), fabs(p[i].y), fabs(p[i].z)));
  return 2.3e-16 * (size.x + size.y + size.z);
}

static bool runs_around(const tbHull* h, int face, int u, int v)
{
  for (int k = h->face_adr[face]; k < h->face_adr[face + 1]; k++)
    if (h->face_vertex[k] == u)
      return h->face_vertex[k + 1 < h->face_adr[face + 1] ? k + 1 : h->face_adr[face]] == v;
  return false;
}

static bool is_near(const tbHull* h, int u, int v)
{
  for (int i = h->near_adr[u]; i < h->near_adr[u + 1]; i++)
    if (h->near[i] == v) return true;
  return false;
}

static bool features_agree(const tbHull* h)
{
  if (h->nvertex - h->nedge + h->nface != 2 || h->face_adr[0] != 0 || h->face_adr[h->nface] != 2 * h->nedge ||
      h->near_adr[0] != 0 || h->near_adr[h->nvertex] != 2 * h->nedge)
    return false;
  for (int f = 0; f < h->nface; f++)
    if (h->face_adr[f + 1] - h->face_adr[f] < 3) return false;
  for (int v = 0; v < h->nvertex; v++)
    if (h->near_adr[v + 1] - h->near_adr[v] < 3) return false;
  for (int e = 0; e < h->nedge; e++) {
    const tbHullEdge* d = &h->edge[e];
    int u = d->vertex[0], v = d->vertex[1];
    if (d->face[0] == d->face[1] || !runs_around(h, d->face[0], u, v) || !runs_around(h, d->face[1], v, u) ||
        !is_near(h, u, v) || !is_near(h, v, u))
      return false;
  }
  return true;
}

// Largest distance of a point beyond a face, of a corner from its face, of a corner into its polygon.
typedef struct {
  double beyond, bent, dented;
} Faults;

static Faults measure(const tbHull* h, const tbVec3* p, int n)
{
  Faults worst = {0};
  for (int f = 0; f < h->nface; f++) {
    tbVec3 normal = h->face_normal[f];
    int first = h->face_adr[f], corners = h->face_adr[f + 1] - first;
    for (int i = 0; i < n; i++) worst.beyond = fmax(worst.beyond, tb_dot3(normal, p[i]) - h->face_offset[f]);
    for (int k = 0; k < corners; k++) {
      tbVec3 a = h->vertex[h->face_vertex[first + k]],
             b = h->vertex[h->face_vertex[first + (k + 1) % corners]],
             c = h->vertex[h->face_vertex[first + (k + 2) % corners]];
      worst.bent = fmax(worst.bent, fabs(tb_dot3(normal, a) - h->face_offset[f]));
      double turn = tb_dot3(normal, tb_cross3(tb_sub3(b, a), tb_sub3(c, a)));
      worst.dented = fmax(worst.dented, -turn / tb_distance3(a, c));
    }
    if (fabs(tb_norm3(normal) - 1) > 1e-15 || tb_dot3(normal, h->centre) >= h->face_offset[f])
      worst.beyond = INFINITY;
  }
  return worst;
}

static tbHull* check_hull(const char* file, int line, const tbVec3* p, int n)
{
  tbContext ctx = tb_default_context();
  tbHull* h = NULL;
  if (tb_hull_create(&ctx, p, n, &h) != TB_OK) {
    test_failed(file, line, "hull of %d points: %s", n, ctx.error.message);
    return NULL;
  }
  Faults w = measure(h, p, n);
  double allowed = 200 * rounding(p, n);
  if (!features_agree(h)) test_failed(file, line, "%d points: the hull's features do not fit", n);
  if (!(w.beyond <= allowed && w.bent <= allowed && w.dented <= allowed))
    test_failed(file, line, "%d points: beyond %g, bent %g, dented %g roundings", n,
                w.beyond / rounding(p, n), w.bent / rounding(p, n), w.dented / rounding(p, n));
  return h;
}

#define HULL(p, n)     check_hull(__FILE__, __LINE__, p, n)
#define FREE_HULL(h)   free_hull(h)
#define SIZES(h, v, f) CHECK((h) && (h)->nvertex == (v) && (h)->nface == (f))

static void free_hull(tbHull* h)
{
  tbContext ctx = tb_default_context();
  tb_hull_free(&ctx, h);
}

static int grid_points(tbVec3* p, int n, tbVec3 size, tbTransform T)
{
  int count = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        p[count++] =
            tb_transform_point(T, tb_mul3(size, tb_vec3((double)i / (n - 1) - 0.5, (double)j / (n - 1) - 0.5,
                                                        (double)k / (n - 1) - 0.5)));
  return count;
}

static tbVec3 points[MOST];

TEST(hull_of_random_points_holds_them_all)
{
  tbRandom r = test_random(1);
  for (int n = 4; n < 400; n = n * 3 / 2)
    for (int k = 0; k < 10; k++) {
      for (int i = 0; i < n; i++) points[i] = k % 2 ? shapes_in_cube(&r) : shapes_on_sphere(&r);
      tbHull* h = HULL(points, n);
      if (h && k % 2 == 0) CHECK(h->nvertex == n && h->nface == 2 * n - 4);
      FREE_HULL(h);
    }
}

TEST(hull_of_a_gridded_box_is_a_box_at_every_scale_place_and_turn)
{
  tbRandom r = test_random(2);
  static const double scales[] = {1, 1e-9, 1e9, 0.1}, places[] = {0, 1, 1e3, 1e6};
  for (int s = 0; s < 4; s++)
    for (int o = 0; o < 4; o++)
      for (int k = 0; k < 12; k++) {
        tbQuat q = k == 0 ? tb_quat_identity() : shapes_turn(&r);
        tbVec3 x = tb_scale3(places[o] * scales[s], tb_vec3(1, -2, 0.7));
        int n = grid_points(points, 2 + k, tb_scale3(scales[s], tb_vec3(1, 2, 0.3)), tb_transform(q, x));
        tbHull* h = HULL(points, n);
        SIZES(h, 8, 6);
        if (h) CHECK(h->nedge == 12);
        FREE_HULL(h);
      }
}

TEST(hull_ignores_copies_of_points)
{
  tbRandom r = test_random(3);
  for (int k = 0; k < 20; k++) {
    int n = 8 + k;
    for (int i = 0; i < n; i++) points[i] = shapes_on_sphere(&r);
    for (int i = n; i < 20 * n; i++) points[i] = points[test_below(&r, n)];
    tbHull* h = HULL(points, 20 * n);
    SIZES(h, n, 2 * n - 4);
    FREE_HULL(h);
  }
}

TEST(hull_of_needles_and_pancakes)
{
  tbRandom r = test_random(4);
  for (int e = 0; e <= 12; e++)
    for (int k = 0; k < 8; k++) {
      double thin = pow(10, -e);
      tbVec3 size = k % 2 ? tb_vec3(1, thin, thin) : tb_vec3(1, 1, thin);
      tbTransform T = tb_transform(k < 4 ? tb_quat_identity() : shapes_turn(&r), tb_zero3());
      for (int i = 0; i < 200; i++) points[i] = tb_transform_point(T, tb_mul3(size, shapes_in_cube(&r)));
      FREE_HULL(HULL(points, 200));
      FREE_HULL(HULL(points, grid_points(points, 5, size, T)));
    }
}

TEST(hull_of_prisms_and_cones_merges_their_flat_faces)
{
  for (int sides = 3; sides <= 2000; sides = sides * 2 + 1) {
    for (int i = 0; i < sides; i++) {
      double angle = 2 * 3.141592653589793 * i / sides;
      points[2 * i] = tb_vec3(cos(angle), sin(angle), -1);
      points[2 * i + 1] = tb_vec3(cos(angle), sin(angle), 1);
    }
    tbHull* prism = HULL(points, 2 * sides);
    SIZES(prism, 2 * sides, sides + 2);
    FREE_HULL(prism);
    for (int i = 0; i < sides; i++) points[i] = points[2 * i];
    points[sides] = tb_vec3(0, 0, 1);
    tbHull* cone = HULL(points, sides + 1);
    SIZES(cone, sides + 1, sides + 1);
    FREE_HULL(cone);
  }
}

TEST(hull_of_a_sphere_of_10000_points)
{
  tbRandom r = test_random(5);
  tbContext ctx = tb_default_context();
  tbHull* h = NULL;
  for (int i = 0; i < 10000; i++) points[i] = shapes_on_sphere(&r);
  CHECK_OK(&ctx, tb_hull_create(&ctx, points, 10000, &h));
  REQUIRE(h);
  SIZES(h, 10000, 19996);
  CHECK(features_agree(h));
  CHECK_NEAR(tb_norm3(h->centre), 0, 2e-4);
  CHECK_NEAR(h->radius, 1, 2e-4);
  tb_hull_free(&ctx, h);
}

// Points moved by multiples of the tolerance, where merging has to choose: a valid polytope whatever it
// chooses.
LONG_TEST(hull_of_noise_near_the_tolerance_is_valid)
{
  tbRandom r = test_random(6);
  for (int k = 0; k < (test_quick() ? 42 : 150); k++) {
    double noise = pow(10, test_uniform(&r, -16, -11));
    tbTransform T = tb_transform(shapes_turn(&r), tb_zero3());
    int n = grid_points(points, 3 + k % 7, tb_vec3(1, 1, 1), T);
    for (int i = 0; i < n; i++) points[i] = tb_madd3(points[i], noise, shapes_in_cube(&r));
    FREE_HULL(HULL(points, n));
  }
  for (int k = 0; k < (test_quick() ? 20 : 100); k++) { // domes as flat as the tolerance
    double high = pow(10, test_uniform(&r, -16, -11));
    for (int i = 0; i < 300; i++) {
      tbVec3 p = shapes_in_cube(&r);
      points[i] = tb_vec3(p.x, p.y, high * (2 - p.x * p.x - p.y * p.y));
    }
    points[300] = tb_vec3(0, 0, -1);
    FREE_HULL(HULL(points, 301));
  }
}

TEST(hull_of_points_on_a_small_grid)
{
  tbRandom r = test_random(7);
  for (int k = 0; k < 300; k++) {
    int n = 10 + test_below(&r, 200), side = 2 + test_below(&r, 6);
    for (int i = 0; i < n; i++) points[i] = shapes_on_grid(&r, side);
    tbContext ctx = tb_default_context();
    tbHull* h = NULL;
    if (tb_hull_create(&ctx, points, n, &h) == TB_OK) FREE_HULL(HULL(points, n));
    tb_hull_free(&ctx, h);
  }
}

TEST(hull_of_less_than_a_solid_says_so)
{
  tbRandom r = test_random(8);
  static const char* const words[] = {"one place", "one line", "one plane"};
  for (int flat = 0; flat < 3; flat++)
    for (int k = 0; k < 40; k++) {
      double scale = pow(10, test_uniform(&r, -9, 9));
      tbTransform T = shapes_pose(&r, k % 2 ? 10 : 0);
      tbVec3 size = tb_vec3(flat > 0, flat > 1, 0);
      for (int i = 0; i < 50; i++)
        points[i] = tb_scale3(scale, tb_transform_point(T, tb_mul3(size, shapes_in_cube(&r))));
      tbContext ctx = tb_default_context();
      tbHull* h = NULL;
      CHECK(tb_hull_create(&ctx, points, 50, &h) == TB_ERROR_INPUT && !h);
      if (!strstr(ctx.error.message, words[flat])) test_failed(__FILE__, __LINE__, "%s", ctx.error.message);
    }
}

TEST(hull_refuses_bad_numbers)
{
  tbContext ctx = tb_default_context();
  tbHull* h = NULL;
  const double bad[] = {NAN, INFINITY, -INFINITY, 1e31};
  for (int k = 0; k < 4; k++)
    for (int axis = 0; axis < 3; axis++) {
      double p[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
      p[3][axis] = bad[k];
      for (int i = 0; i < 5; i++) points[i] = tb_load3(p[i]);
      CHECK(tb_hull_create(&ctx, points, 5, &h) == TB_ERROR_INPUT && !h);
    }
  CHECK(tb_hull_create(&ctx, points, 3, &h) == TB_ERROR_INPUT && !h);
  CHECK(tb_hull_create(&ctx, NULL, 0, &h) == TB_ERROR_INPUT && !h);
  CHECK(tb_hull_create(&ctx, points, -1, &h) == TB_ERROR_ARGUMENT && !h);
}

TEST(hull_survives_every_failed_allocation)
{
  tbRandom r = test_random(9);
  for (int i = 0; i < 500; i++) points[i] = shapes_in_cube(&r);
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext ctx = test_failing_context(&memory);
    tbHull* h = NULL;
    status = tb_hull_create(&ctx, points, 500, &h);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !h));
    tb_hull_free(&ctx, h);
    CHECK(memory.alive == 0);
    REQUIRE(k < 1000);
  }
  CHECK(k > 3);
}
