// SPDX-License-Identifier: Apache-2.0
// Drawn shapes: closed, facing out, of the right size; shared where they are alike.
#include "io/record/drawing.h"
#include "scene/world.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static tbVec3 at(const tbDrawShape* s, const tbDrawMesh* m, int v) { return tb_draw_point(s, m->vertex[v]); }

static double volume(const tbDrawShape* s, const tbDrawMesh* m) // by the divergence theorem
{
  double sum = 0;
  for (int t = 0; t < m->ntriangle; t++) {
    const int* c = m->triangle[t];
    sum += tb_dot3(at(s, m, c[0]), tb_cross3(at(s, m, c[1]), at(s, m, c[2]))) / 6;
  }
  return sum;
}

// Every edge between two places is run along once each way.
static bool closed(const tbDrawMesh* m)
{
  for (int t = 0; t < m->ntriangle; t++)
    for (int k = 0; k < 3; k++) {
      tbVec3 a = m->vertex[m->triangle[t][k]], b = m->vertex[m->triangle[t][(k + 1) % 3]];
      int back = 0;
      for (int u = 0; u < m->ntriangle; u++)
        for (int l = 0; l < 3; l++)
          back += tb_distance3(m->vertex[m->triangle[u][l]], b) < 1e-12 &&
                  tb_distance3(m->vertex[m->triangle[u][(l + 1) % 3]], a) < 1e-12;
      if (back != 1) return false;
    }
  return true;
}

static double facing(const tbDrawMesh* m) // the least cosine between a triangle's normal and its corners'
{
  double least = 1;
  for (int t = 0; t < m->ntriangle; t++) {
    tbVec3 a = m->vertex[m->triangle[t][0]], b = m->vertex[m->triangle[t][1]],
           c = m->vertex[m->triangle[t][2]];
    tbVec3 n = tb_normalize3(tb_cross3(tb_sub3(b, a), tb_sub3(c, a)));
    for (int k = 0; k < 3; k++) least = fmin(least, tb_dot3(n, m->normal[m->triangle[t][k]]));
  }
  return least;
}

static tbWorld* world_of(tbContext* ctx, const tbShape* shapes, int count)
{
  tbWorldDef world_def = tb_default_world_def();
  tbWorld* w = NULL;
  CHECK_OK(ctx, tb_world_create(ctx, &world_def, &w));
  for (int i = 0; i < count; i++) {
    tbBodyDef def = tb_default_body_def();
    def.shapes = &shapes[i], def.shape_count = 1, def.position = tb_vec3(3 * i, 0, 2);
    if (shapes[i].type == TB_SHAPE_PLANE) def.kind = TB_BODY_FIXED;
    CHECK_OK(ctx, tb_world_add_body(ctx, w, &def, NULL));
  }
  return w;
}

TEST(drawn_shapes_are_closed_and_of_their_size)
{
  tbContext ctx = tb_default_context();
  const tbVec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                           {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  tbHull* hull = NULL;
  CHECK_OK(&ctx, tb_hull_create(&ctx, points, 8, &hull));
  tbShape shapes[] = {tb_shape_sphere(0.7), tb_shape_box(tb_vec3(1, 2, 3)), tb_shape_capsule(0.4, 1.5),
                      tb_shape_cylinder(0.6, 0.9), tb_shape_convex(hull)};
  shapes[2].pose = tb_transform(tb_quat_exp(tb_vec3(0.3, -1, 0.2)), tb_vec3(0.1, 0.2, 0.3));
  tbWorld* w = world_of(&ctx, shapes, 5);
  CHECK_OK(&ctx, tb_world_keep_hull(&ctx, w, hull));
  tbDrawing d = {0};
  CHECK_OK(&ctx, tb_drawing_create(&ctx, w, &d));
  CHECK(d.shape.count == 5 && d.mesh.count == 5 && d.ngiven == 1);
  for (int i = 0; i < (int)d.shape.count; i++) {
    const tbDrawShape* s = &tb_draw_shapes(&d)[i];
    const tbDrawMesh* m = &tb_draw_meshes(&d)[s->mesh];
    double exact = tb_shape_mass(&shapes[i], 1).mass, drawn = volume(s, m);
    bool flat = shapes[i].type == TB_SHAPE_BOX || shapes[i].type == TB_SHAPE_CONVEX;
    CHECK(closed(m));
    CHECK(drawn <= exact * (1 + 1e-12) && drawn >= exact * (flat ? 1 - 1e-12 : 0.96));
    CHECK(flat == !m->normal);
    if (!flat) CHECK(facing(m) > 0.96);
    tbBox box = tb_shape_box_of(&shapes[i], tb_transform_identity());
    for (int v = 0; v < m->nvertex; v++) {
      tbVec3 p = at(s, m, v), low = tb_sub3(p, box.lo), high = tb_sub3(box.hi, p);
      CHECK(fmin(fmin(low.x, low.y), low.z) > -1e-12 && fmin(fmin(high.x, high.y), high.z) > -1e-12);
      if (m->normal) CHECK_NEAR(tb_norm3(m->normal[v]), 1, 1e-12);
    }
  }
  tb_drawing_free(&ctx, &d);
  tb_world_free(&ctx, w);
}

TEST(shapes_that_are_alike_share_their_triangles)
{
  tbContext ctx = tb_default_context();
  const tbShape shapes[] = {
      tb_shape_sphere(0.7),      tb_shape_sphere(1.1),       tb_shape_box(tb_vec3(1, 2, 3)),
      tb_shape_capsule(0.4, 1),  tb_shape_capsule(0.8, 2),   tb_shape_capsule(0.8, 3),
      tb_shape_cylinder(0.6, 1), tb_shape_cylinder(0.1, 99), tb_shape_box(tb_vec3(4, 4, 4))};
  tbWorld* w = world_of(&ctx, shapes, 9);
  tbDrawing d = {0};
  CHECK_OK(&ctx, tb_drawing_create(&ctx, w, &d));
  CHECK(d.shape.count == 9 && d.mesh.count == 5); // two proportions of capsules
  tb_drawing_free(&ctx, &d);
  tb_world_free(&ctx, w);
}

// The square that stands for a plane lies in it, faces out of the solid and reaches under everything.
TEST(planes_are_drawn_under_everything)
{
  tbContext ctx = tb_default_context();
  const tbShape shapes[] = {tb_shape_plane(tb_vec3(0.6, 0, 0.8), -0.5), tb_shape_sphere(0.5),
                            tb_shape_sphere(0.5)};
  tbWorld* w = world_of(&ctx, shapes, 3);
  tbDrawing d = {0};
  CHECK_OK(&ctx, tb_drawing_create(&ctx, w, &d));
  const tbDrawShape* s = &tb_draw_shapes(&d)[0];
  const tbDrawMesh* m = &tb_draw_meshes(&d)[s->mesh];
  tbVec3 n = shapes[0].plane.normal, lo = tb_vec3(1e9, 1e9, 1e9), hi = tb_neg3(lo);
  for (int v = 0; v < m->nvertex; v++) {
    CHECK_NEAR(tb_dot3(n, at(s, m, v)), -0.5, 1e-12);
    lo = tb_min3(lo, at(s, m, v)), hi = tb_max3(hi, at(s, m, v));
  }
  for (int t = 0; t < 2; t++) {
    const int* c = m->triangle[t];
    tbVec3 a = at(s, m, c[0]);
    CHECK(tb_dot3(n, tb_cross3(tb_sub3(at(s, m, c[1]), a), tb_sub3(at(s, m, c[2]), a))) > 0);
  }
  CHECK(lo.x < 2.5 - 0 && hi.x > 6.5 && lo.y < -0.5 && hi.y > 0.5);
  tb_drawing_free(&ctx, &d);
  tb_world_free(&ctx, w);
}
