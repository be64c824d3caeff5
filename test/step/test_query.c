// SPDX-License-Identifier: Apache-2.0
// Rays, nearest points, boxes and distances against closed forms, on every shape, at any pose.
#include "step/joints.h"
#include "tribo/change.h"
#include "tribo/query.h"

static const tbVec3 corner[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                 {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const int face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

typedef struct {
  tbContext ctx;
  tbWorld* w;
  tbHull* hull;
  tbMesh* mesh;
  tbSdf* sdf;
} Setting;

static Setting begin(void)
{
  Setting s = {.ctx = tb_default_context()};
  tbWorldDef def = tb_default_world_def();
  CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.w));
  CHECK_OK(&s.ctx, tb_hull_create(&s.ctx, corner, 8, &s.hull));
  CHECK_OK(&s.ctx, tb_world_keep_hull(&s.ctx, s.w, s.hull));
  CHECK_OK(&s.ctx, tb_mesh_create(&s.ctx, corner, 8, face[0], 12, &s.mesh));
  CHECK_OK(&s.ctx, tb_world_keep_mesh(&s.ctx, s.w, s.mesh));
  CHECK_OK(&s.ctx, tb_sdf_create(&s.ctx, s.mesh, 4, &s.sdf));
  CHECK_OK(&s.ctx, tb_world_keep_sdf(&s.ctx, s.w, s.sdf));
  return s;
}

static tbBodyId put(Setting* s, tbShape shape, tbTransform T)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.kind = TB_BODY_FIXED, def.shapes = &shape, def.shape_count = 1, def.position = T.x,
  def.orientation = T.q;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->w, &def, &id));
  return id;
}

// A cube of tetrahedra, ±1, unturned.
static tbBodyId put_soft(Setting* s, tbTransform T)
{
  tbTetMesh* mesh;
  int cells[3] = {2, 2, 2};
  tbDeformableDef def = tb_default_deformable_def();
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_tet_box(&s->ctx, tb_vec3(2, 2, 2), cells, 5, &mesh));
  def.solid = mesh, def.position = T.x, def.orientation = T.q;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->w, &def, &id));
  tb_tet_mesh_free(&s->ctx, mesh);
  return id;
}

enum { SPHERE, BOX, CAPSULE, CYLINDER, HULL, MESH, SDF, SOFT, KINDS };
static const char* const names[KINDS] = {"sphere", "box",  "capsule", "cylinder",
                                         "hull",   "mesh", "sdf",     "soft"};

static tbBodyId put_kind(Setting* s, int kind, tbTransform T)
{
  switch (kind) {
  case SPHERE: return put(s, tb_shape_sphere(1), T);
  case BOX: return put(s, tb_shape_box(tb_vec3(2, 2, 2)), T);
  case CAPSULE: return put(s, tb_shape_capsule(1, 2), T);
  case CYLINDER: return put(s, tb_shape_cylinder(1, 2), T);
  case HULL: return put(s, tb_shape_convex(s->hull), T);
  case MESH: return put(s, tb_shape_mesh(s->mesh), T);
  case SDF: return put(s, tb_shape_sdf(s->sdf), T);
  default: return put_soft(s, T);
  }
}

// The distance of a point in the thing's own frame, negative inside.
static double distance_of(int kind, tbVec3 p)
{
  if (kind == SPHERE) return tb_norm3(p) - 1;
  if (kind == CAPSULE) {
    p.z = p.z > 1 ? p.z - 1 : p.z < -1 ? p.z + 1 : 0;
    return tb_norm3(p) - 1;
  }
  if (kind == CYLINDER) {
    double r = sqrt(p.x * p.x + p.y * p.y) - 1, z = fabs(p.z) - 1;
    return r <= 0 || z <= 0 ? fmax(r, z) : sqrt(r * r + z * z);
  }
  tbVec3 q = tb_vec3(fabs(p.x) - 1, fabs(p.y) - 1, fabs(p.z) - 1), out = tb_max3(q, tb_zero3());
  double inside = fmax(q.x, fmax(q.y, q.z));
  return inside <= 0 ? inside : tb_norm3(out);
}

static tbVec3 anywhere(tbRandom* r, double size)
{
  double x = test_uniform(r, -size, size), y = test_uniform(r, -size, size);
  return tb_vec3(x, y, test_uniform(r, -size, size));
}

// A point and a direction: nearest points have the distance of the closed form, and lie at it; rays end where
// that distance is zero, and walk there by steps that it allows (sphere tracing).
TEST(nearest_points_and_rays_are_those_of_closed_forms)
{
  tbRandom r = test_random(11);
  for (int kind = 0; kind < KINDS; kind++) {
    Setting s = begin();
    tbTransform T = {tb_quat_normalize(tb_quat_exp(anywhere(&r, 2))), anywhere(&r, 3)};
    tbBodyId id = put_kind(&s, kind, T);
    int missed = 0;
    for (int i = 0; i < 300; i++) {
      tbVec3 p = anywhere(&r, 2.2), d = tb_normalize3(anywhere(&r, 1)), from = tb_transform_point(T, p);
      double want = distance_of(kind, p);
      tbHit hit;
      bool found = tb_world_nearest(s.w, from, INFINITY, TB_ALL_CATEGORIES, &hit);
      bool right = found && hit.body.index == id.index && fabs(hit.distance - want) < 1e-9 &&
                   fabs(distance_of(kind, tb_transform_unpoint(T, hit.point))) < 1e-9 &&
                   fabs(tb_distance3(hit.point, from) - fabs(want)) < 1e-9 &&
                   fabs(tb_norm3(hit.normal) - 1) < 1e-9;
      if (!right)
        test_failed(__FILE__, __LINE__, "%s: %.17g, not %.17g, at %g %g %g", names[kind], hit.distance, want,
                    p.x, p.y, p.z);
      CHECK(tb_world_nearest(s.w, from, fabs(want) * 0.99, TB_ALL_CATEGORIES, &hit) == (want < 0));
      if (want < 0) continue;
      double t = 0;
      while (t < 20 && distance_of(kind, tb_madd3(p, t, d)) > 1e-10)
        t += distance_of(kind, tb_madd3(p, t, d));
      tbRay ray = tb_ray(from, tb_scale3(3, tb_quat_rotate(T.q, d)));
      found = tb_world_ray(s.w, &ray, &hit);
      missed += t >= 20;
      if (found != (t < 20) ||
          (found && (fabs(hit.distance - t) > 1e-4 || tb_dot3(hit.normal, ray.direction) > 0 ||
                     fabs(distance_of(kind, tb_transform_unpoint(T, hit.point))) > 1e-9)))
        test_failed(__FILE__, __LINE__, "%s: ray %g, not %g", names[kind], found ? hit.distance : -1, t);
    }
    CHECK(missed > 20 && missed < 280);
    tb_world_free(&s.ctx, s.w);
  }
}

TEST(rays_from_inside_from_afar_and_along_faces)
{
  Setting s = begin();
  tbBodyId ball = put(&s, tb_shape_sphere(1), tb_transform_identity());
  tbHit hit;
  tbRay ray = tb_ray(tb_vec3(0.2, 0, 0), tb_vec3(1, 0, 0));
  CHECK(tb_world_ray(s.w, &ray, &hit) && hit.distance == 0 && hit.normal.x == -1 &&
        hit.body.index == ball.index);
  ray = tb_ray(tb_vec3(-1e9, 0.6, 0), tb_vec3(1, 0, 0));
  CHECK(tb_world_ray(s.w, &ray, &hit));
  CHECK_NEAR(hit.normal.y, 0.6, 1e-9); // a far origin costs no digits
  ray.length = 1e9 - 0.81;
  CHECK(!tb_world_ray(s.w, &ray, &hit) && hit.body.index == -1);
  tbBodyId floor = put(&s, tb_shape_plane(tb_vec3(0, 0, 2), -1), tb_transform_identity());
  ray = tb_ray(tb_vec3(5, 0, 3), tb_vec3(0, 0, -2));
  CHECK(tb_world_ray(s.w, &ray, &hit) && hit.body.index == floor.index && fabs(hit.distance - 3.5) < 1e-12 &&
        hit.normal.z == 1);
  ray.direction = tb_vec3(1, 0, 0);
  CHECK(!tb_world_ray(s.w, &ray, &hit));
  ray.direction = tb_zero3();
  CHECK(!tb_world_ray(s.w, &ray, &hit));
  ray.direction = tb_vec3(NAN, 0, 0);
  CHECK(!tb_world_ray(s.w, &ray, &hit));
  tb_world_free(&s.ctx, s.w);
}

// Rays through the edges between triangles meet one of the two.
TEST(no_ray_slips_between_two_triangles)
{
  tbRandom r = test_random(5);
  Setting s = begin();
  put(&s, tb_shape_mesh(s.mesh), tb_transform_identity());
  for (int i = 0; i < 2000; i++) {
    double k = test_uniform(&r, -1, 1);
    tbVec3 from = anywhere(&r, 5), to = tb_vec3(k, k, 1); // on the diagonal of a face
    from.z = 2 + fabs(from.z);
    tbRay ray = tb_ray(from, tb_sub3(to, from));
    tbHit hit;
    if (!tb_world_ray(s.w, &ray, &hit)) test_failed(__FILE__, __LINE__, "missed at %.17g", k);
  }
  tb_world_free(&s.ctx, s.w);
}

TEST(all_hits_come_in_order_and_categories_are_asked_for)
{
  Setting s = begin();
  tbBodyId id[5];
  const double at[5] = {3, 1, 5, 2, 4}; // places of balls along x
  for (int i = 0; i < 5; i++) {
    id[i] = put(&s, tb_shape_sphere(0.25), tb_transform(tb_quat_identity(), tb_vec3(at[i], 0, 0)));
    CHECK_OK(&s.ctx, tb_body_set_filter(&s.ctx, s.w, id[i], 1u << i, UINT32_MAX));
  }
  tbHit hits[3], one;
  tbRay ray = tb_ray(tb_zero3(), tb_vec3(1, 0, 0));
  CHECK(tb_world_ray_all(s.w, &ray, hits, 3) == 5);
  for (int i = 0; i < 3; i++) CHECK(fabs(hits[i].distance - (i + 0.75)) < 1e-12);
  CHECK(hits[0].body.index == id[1].index && hits[1].body.index == id[3].index &&
        hits[2].body.index == id[0].index);
  CHECK(tb_world_ray_all(s.w, &ray, NULL, 0) == 5);
  ray.categories = 1u << 2 | 1u << 4;
  CHECK(tb_world_ray(s.w, &ray, &one) && one.body.index == id[4].index);
  CHECK(tb_world_nearest(s.w, tb_zero3(), INFINITY, 1u << 2, &one) && one.body.index == id[2].index);
  tbBodyId found[4];
  tbBox box = {{1.5, -1, -1}, {3.5, 1, 1}};
  CHECK(tb_world_overlap(s.w, box, TB_ALL_CATEGORIES, found, 4) == 2 && found[0].index == id[0].index &&
        found[1].index == id[3].index);
  CHECK(tb_world_overlap(s.w, box, 1u << 3, found, 4) == 1 && found[0].index == id[3].index);
  CHECK_OK(&s.ctx, tb_world_remove_body(&s.ctx, s.w, id[1])); // hits are of what is there
  ray.categories = TB_ALL_CATEGORIES;
  CHECK(tb_world_ray(s.w, &ray, &one) && one.body.index == id[3].index &&
        !tb_body_nearest(s.w, id[1], tb_zero3(), 9, &one));
  tb_world_free(&s.ctx, s.w);
}

// Boxes that come near and boxes inside, by the distance of the box's nearest point.
TEST(boxes_meet_what_they_touch_and_what_holds_them)
{
  for (int kind = 0; kind < KINDS; kind++) {
    Setting s = begin();
    put_kind(&s, kind, tb_transform_identity());
    tbBodyId out[1];
    tbBox beside = {{1.001, -0.1, -0.1}, {2, 0.1, 0.1}}, touches = {{0.999, -0.1, -0.1}, {2, 0.1, 0.1}},
          inside = {{-0.1, -0.1, -0.1}, {0.1, 0.1, 0.1}}, around = {{-9, -9, -9}, {9, 9, 9}};
    int n[4] = {tb_world_overlap(s.w, beside, TB_ALL_CATEGORIES, out, 1),
                tb_world_overlap(s.w, touches, TB_ALL_CATEGORIES, out, 1),
                tb_world_overlap(s.w, inside, TB_ALL_CATEGORIES, out, 1),
                tb_world_overlap(s.w, around, TB_ALL_CATEGORIES, out, 1)};
    if (n[0] || !n[1] || !n[2] || !n[3])
      test_failed(__FILE__, __LINE__, "%s: %d %d %d %d", names[kind], n[0], n[1], n[2], n[3]);
    tb_world_free(&s.ctx, s.w);
  }
}

// Any two, side by side along x at any turn about it: every one of them reaches to ±1 there (ends of the
// capsule's and cylinder's axes lie across).
TEST(bodies_are_as_far_apart_as_closed_forms_say)
{
  tbRandom r = test_random(3);
  for (int a = 0; a < KINDS; a++)
    for (int b = 0; b < KINDS; b++) {
      Setting s = begin();
      tbTransform A = {tb_quat_identity(), tb_vec3(0.3, 0, 0)},
                  B = {tb_quat_exp(tb_vec3(test_uniform(&r, 0, 3), 0, 0)), tb_vec3(4.3, 0.1, 0)};
      tbBodyId x = put_kind(&s, a, A), y = put_kind(&s, b, B);
      tbVec3 on_a, on_b;
      double want = a == SPHERE && b == SPHERE ? sqrt(16 + 0.01) - 2 : NAN,
             got = tb_body_distance(s.w, x, y, &on_a, &on_b);
      bool flat_a = a != SPHERE && a != CAPSULE && a != CYLINDER,
           flat_b = b != SPHERE && b != CAPSULE && b != CYLINDER;
      if (flat_a || flat_b) want = 2; // a face, square to x
      if (!isnan(want) && fabs(got - want) > 1e-9)
        test_failed(__FILE__, __LINE__, "%s, %s: %.17g", names[a], names[b], got);
      CHECK_NEAR(tb_distance3(on_a, on_b), got, 1e-9);
      CHECK_NEAR(distance_of(a, tb_transform_unpoint(A, on_a)), 0, 1e-9);
      CHECK_NEAR(distance_of(b, tb_transform_unpoint(B, on_b)), 0, 1e-9);
      tbBodyId floor =
          put(&s, tb_shape_plane(tb_vec3(-1, 0, 0), -9), tb_transform_identity()); // x ≥ 9 is solid
      CHECK_NEAR(tb_body_distance(s.w, floor, y, NULL, NULL), 9 - 5.3, 1e-9);
      CHECK_NEAR(tb_body_distance(s.w, y, floor, NULL, NULL), 9 - 5.3, 1e-9);
      tbBodyId within = put(&s, tb_shape_sphere(0.1), B);
      CHECK(tb_body_distance(s.w, within, y, NULL, NULL) == 0 &&
            tb_body_distance(s.w, y, within, NULL, NULL) == 0);
      CHECK_OK(&s.ctx, tb_world_remove_body(&s.ctx, s.w, y));
      CHECK(tb_body_distance(s.w, x, y, NULL, NULL) == INFINITY);
      tb_world_free(&s.ctx, s.w);
    }
}
