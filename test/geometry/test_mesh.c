// SPDX-License-Identifier: Apache-2.0
// Meshes: cleaning, features, closest points and signs.
#include "shapes.h"

#include <stdlib.h>

static const double pi = 3.14159265358979323846;

// A torus around z with a star-shaped profile: curved both ways, with sharp ridges and valleys.
static tbMesh* torus(tbContext* ctx, int around, int across)
{
  tbVec3* vertex = calloc((size_t)(around * across), sizeof *vertex);
  int* triangle = calloc((size_t)(6 * around * across), sizeof *triangle);
  tbMesh* mesh = NULL;
  for (int i = 0; i < around; i++)
    for (int j = 0; j < across; j++) {
      double a = 2 * pi * i / around, b = 2 * pi * j / across, r = j % 2 ? 0.2 : 0.4;
      double x = 1 + r * cos(b);
      vertex[i * across + j] = tb_vec3(x * cos(a), x * sin(a), r * sin(b));
      int p = i * across + j, q = i * across + (j + 1) % across, s = (i + 1) % around * across + j,
          t = (i + 1) % around * across + (j + 1) % across;
      const int two[6] = {p, s, t, p, t, q};
      memcpy(triangle + 6 * p, two, sizeof two);
    }
  CHECK_OK(ctx, tb_mesh_create(ctx, vertex, around * across, triangle, 2 * around * across, &mesh));
  free(vertex);
  free(triangle);
  return mesh;
}

TEST(mesh_of_a_box_has_its_features)
{
  tbContext ctx = tb_default_context();
  tbMesh* m = shapes_box_mesh(&ctx, tb_vec3(1, 2, 3), tb_transform_identity());
  REQUIRE(m);
  CHECK(m->nvertex == 8 && m->ntriangle == 12 && m->nedge == 18 && m->closed && m->oriented);
  CHECK(tb_mesh_is_solid(m));
  CHECK_NEAR(m->volume, 6, 1e-14);
  CHECK(m->box.lo.z == -1.5 && m->box.hi.y == 1);
  int convex = 0;
  for (int e = 0; e < m->nedge; e++) {
    const tbMeshEdge* d = &m->edge[e];
    convex += d->convex;
    for (int k = 0; k < 2; k++) {
      int t = d->triangle[k], found = 0;
      for (int i = 0; i < 3; i++)
        found += m->triangle_edge[t][i] == e && m->triangle[t][(i + 1) % 3] == d->vertex[k] &&
                 m->triangle[t][(i + 2) % 3] == d->vertex[1 - k];
      CHECK(found == 1);
    }
  }
  CHECK(convex == 12);
  for (int v = 0; v < 8; v++) { // three right angles, however the faces are cut
    tbVec3 n = m->vertex_normal[v], c = m->vertex[v];
    CHECK_NEAR(n.x, copysign(sqrt(1.0 / 3), c.x), 1e-15);
    CHECK_NEAR(n.y, copysign(sqrt(1.0 / 3), c.y), 1e-15);
    CHECK_NEAR(n.z, copysign(sqrt(1.0 / 3), c.z), 1e-15);
  }
  tb_mesh_free(&ctx, m);
}

TEST(mesh_of_loose_triangles_is_welded)
{
  tbContext ctx = tb_default_context();
  tbVec3 corner[8], vertex[40];
  int triangle[36], loose[42];
  shapes_box(tb_vec3(2, 2, 2), tb_transform_identity(), corner, triangle);
  for (int i = 0; i < 8; i++) corner[i] = tb_add3(corner[i], tb_vec3(1, 1, 1)); // a corner at the origin
  for (int i = 0; i < 36; i++) {
    vertex[i] = corner[triangle[i]];
    if (i % 2 && vertex[i].x == 0) vertex[i].x = -0.0;
    loose[i] = i;
  }
  for (int i = 36; i < 40; i++)
    vertex[i] = tb_vec3(100 + i, 0, 0); // in use by a triangle without area, or not
  const int flat[6] = {36, 37, 38, 0, 0, 5};
  memcpy(loose + 36, flat, sizeof flat);
  tbMesh* m = NULL;
  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 40, loose, 14, &m));
  REQUIRE(m);
  CHECK(m->nvertex == 8 && m->ntriangle == 12 && tb_mesh_is_solid(m) && m->box.hi.x == 2);
  tb_mesh_free(&ctx, m);
}

// A box with points along an edge: the faces on one side know them, those on the other are joined by a chain
// of triangles without area.
TEST(mesh_with_flat_triangles_in_its_seams_stays_closed)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(33);
  for (int points = 1; points <= 12; points++)
    for (int shape = 0; shape < 3; shape++) {
      tbVec3 vertex[8 + 12];
      int triangle[3 * 12 + 6 * 12], n = 36, nvertex = 8, turns = 0;
      shapes_box(tb_vec3(2, 4, 8), tb_transform_identity(), vertex, triangle);
      for (int i = 1; i <= points; i++) // between corners 0 and 1, along x
        vertex[nvertex++] = tb_vec3(-1 + 2.0 * i / (points + 1), -2, -4);
      // The triangle with the side 0 → 1 is cut into a fan; the one with 1 → 0 stays, and a chain of flat
      // ones lies between.
      for (int t = 0; t < 12; t++)
        for (int k = 0; k < 3; k++) {
          int a = triangle[3 * t + k], b = triangle[3 * t + (k + 1) % 3], c = triangle[3 * t + (k + 2) % 3];
          if (a != 0 || b != 1 || turns++) continue;
          for (int i = 0; i <= points; i++) {
            const int fan[3] = {i ? 7 + i : 0, i < points ? 8 + i : 1, c};
            memcpy(i ? triangle + n : triangle + 3 * t, fan, sizeof fan);
            n += i ? 3 : 0;
          }
        }
      int lo = 0, hi = points + 1; // 0, 8, 9, …, 1 as places on the edge
      while (hi - lo > 1) {        // cut off from the left, from the right, or either
        bool left = shape == 0 || (shape == 2 && test_below(&r, 2));
        int cut = left ? lo + 1 : hi - 1, at[3] = {lo, hi, cut};
        for (int k = 0; k < 3; k++) triangle[n++] = at[k] == 0 ? 0 : at[k] == points + 1 ? 1 : 7 + at[k];
        if (left) lo = cut;
        else hi = cut;
      }
      tbMesh* m = NULL;
      CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, nvertex, triangle, n / 3, &m));
      REQUIRE(m);
      CHECK(turns == 1 && tb_mesh_is_solid(m) && m->nvertex == nvertex && m->ntriangle == 12 + 2 * points);
      CHECK_NEAR(m->volume, 64, 1e-13);
      tb_mesh_free(&ctx, m);
    }
}

TEST(mesh_knows_borders_wrong_turns_and_crowded_edges)
{
  tbContext ctx = tb_default_context();
  tbVec3 vertex[9];
  int triangle[39];
  tbMesh* m = NULL;
  shapes_box(tb_vec3(1, 1, 1), tb_transform_identity(), vertex, triangle);
  vertex[8] = tb_vec3(5, 5, 5);

  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 8, triangle, 11, &m));
  REQUIRE(m);
  int borders = 0;
  for (int e = 0; e < m->nedge; e++) borders += m->edge[e].triangle[1] < 0;
  CHECK(!m->closed && m->oriented && borders == 3 && !tb_mesh_is_solid(m));
  tb_mesh_free(&ctx, m);

  int swap = triangle[0];
  triangle[0] = triangle[1], triangle[1] = swap;
  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 8, triangle, 12, &m));
  REQUIRE(m);
  CHECK(m->closed && !m->oriented && !tb_mesh_is_solid(m));
  tb_mesh_free(&ctx, m);

  triangle[1] = triangle[0], triangle[0] = swap;
  triangle[36] = 0, triangle[37] = 1, triangle[38] = 8; // a fin on an edge
  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 9, triangle, 13, &m));
  REQUIRE(m);
  CHECK(!m->closed && !tb_mesh_is_solid(m));
  tb_mesh_free(&ctx, m);
}

TEST(mesh_tells_ridges_from_valleys)
{
  tbContext ctx = tb_default_context();
  tbMesh* m = torus(&ctx, 24, 8);
  REQUIRE(m);
  CHECK(tb_mesh_is_solid(m));
  for (int e = 0; e < m->nedge; e++) {
    int a = m->edge[e].vertex[0], b = m->edge[e].vertex[1];
    if (a % 8 == b % 8 && a % 8 != 0 && a % 8 != 4) // runs around the ring
      CHECK(m->edge[e].convex == (a % 2 == 0));
  }
  tb_mesh_free(&ctx, m);
}

static double segment_distance(tbVec3 p, tbVec3 a, tbVec3 b)
{
  tbVec3 d = tb_sub3(b, a);
  double t = fmin(1, fmax(0, tb_dot3(tb_sub3(p, a), d) / tb_dot3(d, d)));
  return tb_distance3(p, tb_madd3(a, t, d));
}

// By barycentric coordinates of the projection: another way than the library's.
static double triangle_distance(tbVec3 p, tbVec3 a, tbVec3 b, tbVec3 c)
{
  tbVec3 u = tb_sub3(b, a), v = tb_sub3(c, a), w = tb_sub3(p, a);
  double uu = tb_dot3(u, u), uv = tb_dot3(u, v), vv = tb_dot3(v, v), wu = tb_dot3(w, u), wv = tb_dot3(w, v);
  double det = uu * vv - uv * uv, s = (vv * wu - uv * wv) / det, t = (uu * wv - uv * wu) / det;
  if (s >= 0 && t >= 0 && s + t <= 1) return tb_norm3(tb_madd3(tb_madd3(w, -s, u), -t, v));
  return fmin(segment_distance(p, a, b), fmin(segment_distance(p, b, c), segment_distance(p, c, a)));
}

static double brute_distance(const tbMesh* m, tbVec3 p)
{
  double best = INFINITY;
  for (int t = 0; t < m->ntriangle; t++) {
    const int* v = m->triangle[t];
    best = fmin(best, triangle_distance(p, m->vertex[v[0]], m->vertex[v[1]], m->vertex[v[2]]));
  }
  return best;
}

// The solid angle of the surface seen from p (Van Oosterom & Strackee 1983): 4π inside, 0 outside.
static double winding(const tbMesh* m, tbVec3 p)
{
  double sum = 0;
  for (int t = 0; t < m->ntriangle; t++) {
    const int* v = m->triangle[t];
    tbVec3 a = tb_sub3(m->vertex[v[0]], p), b = tb_sub3(m->vertex[v[1]], p), c = tb_sub3(m->vertex[v[2]], p);
    double x = tb_norm3(a), y = tb_norm3(b), z = tb_norm3(c);
    sum += 2 * atan2(tb_dot3(a, tb_cross3(b, c)),
                     x * y * z + tb_dot3(a, b) * z + tb_dot3(b, c) * x + tb_dot3(c, a) * y);
  }
  return sum / (4 * pi);
}

// Points anywhere, and points around vertices, edges and faces, where signs are hard.
static tbVec3 probe(const tbMesh* m, tbRandom* r, int kind)
{
  const int* v = m->triangle[test_below(r, m->ntriangle)];
  double s = test_uniform(r, 0, 1), t = test_uniform(r, 0, 1 - s), away = pow(10, test_uniform(r, -6, -1));
  if (kind == 0) return tb_scale3(1.6, shapes_in_cube(r));
  if (kind == 1) s = t = 0;
  if (kind == 2) t = 0;
  tbVec3 p =
      tb_madd3(tb_madd3(tb_scale3(1 - s - t, m->vertex[v[0]]), s, m->vertex[v[1]]), t, m->vertex[v[2]]);
  return tb_madd3(p, away, shapes_in_cube(r));
}

TEST(mesh_distances_and_signs_agree_with_brute_force)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(31);
  tbMesh* m = torus(&ctx, 24, 8);
  REQUIRE(m);
  int inside = 0, tries = test_quick() ? 400 : 4000;
  for (int k = 0; k < tries; k++) {
    tbVec3 p = probe(m, &r, k % 4);
    tbMeshClosest c, from;
    double d = tb_mesh_signed_distance(m, p, &c), exact = brute_distance(m, p);
    CHECK_NEAR(fabs(d), exact, 1e-14);
    CHECK_NEAR(tb_distance3(p, c.point), exact, 1e-14);
    CHECK(c.triangle >= 0 && c.triangle < m->ntriangle && c.feature >= 0 && c.feature <= 6);
    CHECK(fabs(winding(m, p) - (d < 0)) < 0.01);
    inside += d < 0;
    tb_mesh_closest_from(m, p, test_below(&r, m->ntriangle), &from);
    CHECK_NEAR(from.distance, exact, 1e-14);
    CHECK(tb_mesh_closest(m, p, exact * 1.001, &c) && !tb_mesh_closest(m, p, exact * 0.999, &c));
  }
  CHECK(inside > tries / 10 && inside < tries * 9 / 10);
  tb_mesh_free(&ctx, m);
}

TEST(mesh_of_slivers_far_away_still_measures)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(32);
  for (int e = 0; e <= 10; e++) {
    double thin = pow(10, -e);
    tbVec3 size = tb_vec3(1, thin, 1);
    tbTransform T = {shapes_turn(&r), tb_vec3(3, -2, 5)};
    tbMesh* m = shapes_box_mesh(&ctx, size, T);
    REQUIRE(m);
    CHECK(tb_mesh_is_solid(m));
    for (int k = 0; k < 100; k++) {
      tbVec3 x = tb_mul3(shapes_in_cube(&r), tb_vec3(1, k % 2 ? 1 : thin, 1)); // in the box's frame
      tbVec3 q = tb_sub3(tb_vec3(fabs(x.x), fabs(x.y), fabs(x.z)), tb_scale3(0.5, size));
      double exact = tb_norm3(tb_max3(q, tb_zero3())) + fmin(0, fmax(q.x, fmax(q.y, q.z)));
      CHECK_NEAR(tb_mesh_signed_distance(m, tb_transform_point(T, x), NULL), exact, 1e-14);
    }
    tb_mesh_free(&ctx, m);
  }
}

TEST(mesh_distance_to_nowhere_is_not_a_number)
{
  tbContext ctx = tb_default_context();
  tbMesh* m = shapes_box_mesh(&ctx, tb_vec3(1, 1, 1), tb_transform_identity());
  REQUIRE(m);
  tbMeshClosest c;
  CHECK(isnan(tb_mesh_signed_distance(m, tb_vec3(0, NAN, 0), &c)) && c.triangle == -1);
  CHECK(tb_mesh_signed_distance(m, tb_vec3(1e200, 0, 0), &c) > 1e100 && c.triangle >= 0);
  CHECK(!tb_mesh_closest(m, tb_zero3(), -1, &c) && tb_mesh_closest(m, tb_vec3(0.5, 0, 0), 0, &c));
  tb_mesh_free(&ctx, m);
}

TEST(mesh_refuses_bad_input)
{
  tbContext ctx = tb_default_context();
  tbMesh* m = NULL;
  tbVec3 vertex[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}};
  int good[3] = {0, 1, 2}, high[3] = {0, 1, 4}, low[3] = {0, -1, 2}, line[3] = {0, 1, 3};
  CHECK(tb_mesh_create(&ctx, vertex, 4, good, 0, &m) == TB_ERROR_INPUT && !m);
  CHECK(tb_mesh_create(&ctx, vertex, 4, high, 1, &m) == TB_ERROR_INPUT && !m);
  CHECK(strstr(ctx.error.message, "triangle 0 of the mesh has the vertex 4; there are 4") != NULL);
  CHECK(tb_mesh_create(&ctx, vertex, 4, low, 1, &m) == TB_ERROR_INPUT && !m);
  CHECK(tb_mesh_create(&ctx, vertex, 4, line, 1, &m) == TB_ERROR_INPUT && !m);
  CHECK(tb_mesh_create(&ctx, NULL, 4, good, 1, &m) == TB_ERROR_ARGUMENT && !m);
  CHECK(tb_mesh_create(&ctx, vertex, -1, good, 1, &m) == TB_ERROR_ARGUMENT && !m);
  vertex[3].y = NAN;
  CHECK(tb_mesh_create(&ctx, vertex, 4, good, 1, &m) == TB_ERROR_INPUT && !m);
  vertex[3].y = 1e31;
  CHECK(tb_mesh_create(&ctx, vertex, 4, good, 1, &m) == TB_ERROR_INPUT && !m);
}

TEST(mesh_survives_every_failed_allocation)
{
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext ctx = test_failing_context(&memory);
    tbVec3 vertex[8];
    int triangle[36];
    tbMesh* m = NULL;
    shapes_box(tb_vec3(1, 1, 1), tb_transform_identity(), vertex, triangle);
    status = tb_mesh_create(&ctx, vertex, 8, triangle, 12, &m);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !m));
    tbContext other = ctx; // meshes outlive the context they were made with
    memset(&ctx, 0xee, sizeof ctx);
    tb_mesh_free(&other, m);
    CHECK(memory.alive == 0);
    REQUIRE(k < 1000);
  }
  CHECK(k > 3);
}
