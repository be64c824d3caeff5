// SPDX-License-Identifier: Apache-2.0
// Shapes as values: names, checks, boxes.
#include "shapes.h"

TEST(shape_names_go_both_ways)
{
  for (int type = 0; type < TB_SHAPE_COUNT; type++) {
    tbShapeType back = TB_SHAPE_COUNT;
    CHECK(tb_shape_type_from_name(tb_shape_type_name((tbShapeType)type), &back) && back == (tbShapeType)type);
  }
  tbShapeType untouched = TB_SHAPE_BOX;
  CHECK(!tb_shape_type_from_name("cube", &untouched) && untouched == TB_SHAPE_BOX);
  CHECK(strcmp(tb_shape_type_name((tbShapeType)-1), "unknown") == 0);
}

TEST(shape_check_refuses_what_has_no_size)
{
  tbContext ctx = tb_default_context();
  const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 5; k++) {
    tbShape shapes[] = {tb_shape_sphere(bad[k]),
                        tb_shape_box(tb_vec3(bad[k], 1, 1)),
                        tb_shape_box(tb_vec3(1, bad[k], 1)),
                        tb_shape_box(tb_vec3(1, 1, bad[k])),
                        tb_shape_capsule(bad[k], 1),
                        tb_shape_cylinder(bad[k], 1),
                        tb_shape_cylinder(1, bad[k])};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      CHECK(tb_shape_check(&ctx, &shapes[i]) == TB_ERROR_INPUT);
    tbShape capsule = tb_shape_capsule(1, bad[k]), plane = tb_shape_plane(tb_vec3(0, 0, bad[k]), 0);
    CHECK((tb_shape_check(&ctx, &capsule) == TB_OK) == (k == 0));
    CHECK((tb_shape_check(&ctx, &plane) == TB_OK) == (k == 1));
    tbShape moved = tb_shape_sphere(1), turned = moved;
    moved.pose.x.y = bad[k];
    turned.pose.q.w = bad[k];
    CHECK((tb_shape_check(&ctx, &moved) == TB_OK) == (k < 2));
    CHECK((tb_shape_check(&ctx, &turned) == TB_OK) == (k == 1));
  }
  tbShape empty[] = {
      tb_shape_convex(NULL), tb_shape_mesh(NULL), tb_shape_sdf(NULL), {.type = TB_SHAPE_COUNT}};
  for (int i = 0; i < 4; i++) CHECK(tb_shape_check(&ctx, &empty[i]) == TB_ERROR_ARGUMENT);
  CHECK(tb_shape_check(&ctx, NULL) == TB_ERROR_ARGUMENT);
}

// The support of each shape in direction d, by its definition.
static double reach(const tbShape* s, tbVec3 d, const tbVec3* corner, int ncorner)
{
  double best = -INFINITY;
  for (int i = 0; i < ncorner; i++) best = fmax(best, tb_dot3(d, corner[i]));
  switch (s->type) {
  case TB_SHAPE_SPHERE: return s->sphere.radius;
  case TB_SHAPE_BOX: return fabs(d.x) * s->box.half.x + fabs(d.y) * s->box.half.y + fabs(d.z) * s->box.half.z;
  case TB_SHAPE_CAPSULE: return s->capsule.radius + s->capsule.half * fabs(d.z);
  case TB_SHAPE_CYLINDER:
    return s->cylinder.radius * sqrt(d.x * d.x + d.y * d.y) + s->cylinder.half * fabs(d.z);
  default: return best;
  }
}

TEST(shape_boxes_touch_the_shape_on_all_six_sides)
{
  enum { N = 60 };
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(21);
  tbVec3 corner[N];
  int loose[3 * (N / 3)];
  tbHull* hull = NULL;
  tbMesh* mesh = NULL;
  for (int i = 0; i < N; i++) {
    corner[i] = shapes_in_cube(&r);
    loose[i] = i;
  }
  CHECK_OK(&ctx, tb_hull_create(&ctx, corner, N, &hull));
  CHECK_OK(&ctx, tb_mesh_create(&ctx, corner, N, loose, N / 3, &mesh));
  REQUIRE(hull && mesh);
  tbShape shapes[] = {tb_shape_sphere(0.5),        tb_shape_box(tb_vec3(1, 2, 3)), tb_shape_capsule(0.2, 3),
                      tb_shape_cylinder(0.7, 0.1), tb_shape_convex(hull),          tb_shape_mesh(mesh)};
  for (int k = 0; k < 300; k++) {
    tbShape s = shapes[k % 6];
    tbTransform body = shapes_pose(&r, 1);
    s.pose = shapes_pose(&r, 1);
    if (k < 6) body.q = s.pose.q = tb_quat_identity();
    tbTransform T = tb_transform_mul(body, s.pose);
    tbBox box = tb_shape_box_of(&s, body);
    double lo[3], hi[3], x[3];
    tb_store3(lo, box.lo), tb_store3(hi, box.hi), tb_store3(x, T.x);
    for (int axis = 0; axis < 3; axis++) {
      tbVec3 d = tb_quat_unrotate(T.q, tb_vec3(axis == 0, axis == 1, axis == 2));
      CHECK_NEAR(hi[axis], x[axis] + reach(&s, d, corner, N), 1e-14);
      CHECK_NEAR(lo[axis], x[axis] - reach(&s, tb_neg3(d), corner, N), 1e-14);
    }
  }
  tbShape plane = tb_shape_plane(tb_vec3(0, 0, 1), 0);
  tbBox all = tb_shape_box_of(&plane, tb_transform_identity());
  CHECK(all.lo.z == -INFINITY && all.hi.z == INFINITY && all.hi.x == INFINITY);
  tb_hull_free(&ctx, hull);
  tb_mesh_free(&ctx, mesh);
}
