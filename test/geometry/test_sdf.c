// SPDX-License-Identifier: Apache-2.0
// Distance grids: exact at their nodes, the same bits for any number of threads.
#include "shapes.h"

static tbSdf* box_sdf(tbContext* ctx, tbVec3 size, tbTransform T, int resolution)
{
  tbMesh* mesh = shapes_box_mesh(ctx, size, T);
  tbSdf* sdf = NULL;
  if (mesh) CHECK_OK(ctx, tb_sdf_create(ctx, mesh, resolution, &sdf));
  tb_mesh_free(ctx, mesh);
  return sdf;
}

static double box_distance(tbVec3 size, tbVec3 x)
{
  tbVec3 q = tb_sub3(tb_vec3(fabs(x.x), fabs(x.y), fabs(x.z)), tb_scale3(0.5, size));
  return tb_norm3(tb_max3(q, tb_zero3())) + fmin(0, fmax(q.x, fmax(q.y, q.z)));
}

TEST(sdf_is_exact_at_every_node)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(41);
  tbVec3 size = tb_vec3(1, 2, 0.5);
  tbTransform T = {shapes_turn(&r), tb_vec3(10, -4, 3)};
  tbSdf* s = box_sdf(&ctx, size, T, 20);
  REQUIRE(s);
  for (int k = 0; k < s->n[2]; k++)
    for (int j = 0; j < s->n[1]; j++)
      for (int i = 0; i < s->n[0]; i++) {
        tbVec3 p = tb_madd3(s->origin, s->cell, tb_vec3(i, j, k));
        double exact = box_distance(size, tb_transform_unpoint(T, p));
        CHECK_NEAR(s->distance[(k * s->n[1] + j) * s->n[0] + i], exact, 1e-13);
      }
  CHECK(s->thickness > 0.2 && s->thickness <= 0.25 + 1e-14);
  tbShape shape = tb_shape_sdf(s), box = tb_shape_box(size);
  CHECK_NEAR(tb_shape_mass(&shape, 2).mass, tb_shape_mass(&box, 2).mass, 1e-12);
  box.pose = T;
  CHECK_NEAR(tb_shape_box_of(&shape, tb_transform_identity()).hi.x,
             tb_shape_box_of(&box, tb_transform_identity()).hi.x, 1e-14);
  tb_sdf_free(&ctx, s);
}

TEST(sdf_slope_is_the_derivative_inside_and_outside_the_grid)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(42);
  tbSdf* s = box_sdf(&ctx, tb_vec3(1, 1, 1), tb_transform_identity(), 8);
  REQUIRE(s);
  for (int k = 0; k < 500; k++) {
    double h = 1e-6;
    tbVec3 p = tb_scale3(k % 2 ? 0.7 : 3, shapes_in_cube(&r)), g, x = tb_vec3(h, 0, 0), y = tb_vec3(0, h, 0),
           z = tb_vec3(0, 0, h);
    tb_sdf_distance(s, p, &g);
    // Central differences are right unless they straddle two cells; those points are left out.
    double e = 2 * h, dx = tb_sdf_distance(s, tb_add3(p, x), NULL) - tb_sdf_distance(s, tb_sub3(p, x), NULL),
           dy = tb_sdf_distance(s, tb_add3(p, y), NULL) - tb_sdf_distance(s, tb_sub3(p, y), NULL),
           dz = tb_sdf_distance(s, tb_add3(p, z), NULL) - tb_sdf_distance(s, tb_sub3(p, z), NULL);
    tbVec3 cell = tb_scale3(1 / s->cell, tb_sub3(p, s->origin));
    double near_wall =
        fmin(fabs(cell.x - rint(cell.x)), fmin(fabs(cell.y - rint(cell.y)), fabs(cell.z - rint(cell.z))));
    if (near_wall < 1e-4) continue;
    CHECK_NEAR(g.x, dx / e, 1e-6);
    CHECK_NEAR(g.y, dy / e, 1e-6);
    CHECK_NEAR(g.z, dz / e, 1e-6);
  }
  CHECK_NEAR(tb_sdf_distance(s, tb_vec3(100, 0, 0), NULL), 99.5, 1e-12);
  CHECK(isfinite(tb_sdf_distance(s, tb_vec3(1e300, -1e300, 0), NULL)));
  tb_sdf_free(&ctx, s);
}

TEST(sdf_has_the_same_bits_for_any_number_of_threads)
{
  uint64_t expected = 0;
  for (int threads = 1; threads <= 4; threads++) {
    tbContext ctx = tb_default_context();
    CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
    tbSdf* s =
        box_sdf(&ctx, tb_vec3(1, 2, 3), tb_transform(tb_quat(0.5, 0.5, 0.5, 0.5), tb_vec3(1, 2, 3)), 24);
    REQUIRE(s);
    uint64_t hash = test_hash(s->distance, (size_t)(s->n[0] * s->n[1] * s->n[2]) * sizeof(double));
    if (threads == 1) expected = hash;
    CHECK(hash == expected);
    tb_sdf_free(&ctx, s);
    tb_threads_destroy(&ctx, ctx.threads);
  }
}

TEST(sdf_refuses_open_meshes_and_absurd_resolutions)
{
  tbContext ctx = tb_default_context();
  tbVec3 vertex[8];
  int triangle[36];
  tbMesh *open = NULL, *box = NULL;
  tbSdf* s = NULL;
  shapes_box(tb_vec3(1, 1, 1), tb_transform_identity(), vertex, triangle);
  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 8, triangle, 11, &open));
  CHECK_OK(&ctx, tb_mesh_create(&ctx, vertex, 8, triangle, 12, &box));
  REQUIRE(open && box);
  CHECK(tb_sdf_create(&ctx, open, 10, &s) == TB_ERROR_INPUT && !s);
  CHECK(tb_sdf_create(&ctx, NULL, 10, &s) == TB_ERROR_INPUT && !s);
  const int bad[] = {0, -1, 600, 4096, 2147483647};
  for (int i = 0; i < 5; i++) CHECK(tb_sdf_create(&ctx, box, bad[i], &s) == TB_ERROR_ARGUMENT && !s);
  CHECK_OK(&ctx, tb_sdf_create(&ctx, box, 2, &s));
  if (s) CHECK(tb_sdf_distance(s, tb_zero3(), NULL) < 0);
  tb_sdf_free(&ctx, s);
  tb_mesh_free(&ctx, open);
  tb_mesh_free(&ctx, box);
}

TEST(sdf_survives_every_failed_allocation)
{
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = -1};
    tbContext ctx = test_failing_context(&memory);
    tbMesh* mesh = shapes_box_mesh(&ctx, tb_vec3(1, 1, 1), tb_transform_identity());
    tbSdf* s = NULL;
    REQUIRE(mesh);
    memory.countdown = k;
    status = tb_sdf_create(&ctx, mesh, 6, &s);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !s));
    tb_sdf_free(&ctx, s);
    tb_mesh_free(&ctx, mesh);
    CHECK(memory.alive == 0);
    REQUIRE(k < 1000);
  }
  CHECK(k > 3);
}
