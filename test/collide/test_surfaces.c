// SPDX-License-Identifier: Apache-2.0
#include "collide/surfaces.h"
#include "ccd_oracle.h"
#include "collide/intersect.h"
#include "geometry/box.h"
#include "surface_scenes.h"

#include <stdlib.h>
#include <string.h>

static tbTransform moved(double x, double y, double z)
{
  return tb_transform(tb_quat_identity(), tb_vec3(x, y, z));
}

static tbTransform turned(tbRandom* r, tbVec3 x)
{
  double q[3];
  for (int k = 0; k < 3; k++) q[k] = test_uniform(r, -1, 1);
  return tb_transform(tb_quat_normalize(tb_quat(q[0], q[1], q[2], 1.5)), x);
}

// Corners at a moment, of b before those of a.
static void places(const tbSurfaceScene* s, const tbSurfaceFeatures* f, double t, tbVec3 x[4])
{
  const tbSurfaceMesh *a = s->surface[f->surface_a].surface, *b = s->surface[f->surface_b].surface;
  int n = 0;
  if (f->kind == TB_SURFACE_FACE_VERTEX) {
    x[n++] = scene_vertex(s, f->surface_b, f->feature_b, t);
    for (int k = 0; k < 3; k++) x[n++] = scene_vertex(s, f->surface_a, a->triangle[f->feature_a][k], t);
  } else {
    for (int k = 0; k < 2; k++) x[n++] = scene_vertex(s, f->surface_b, b->edge[f->feature_b][k], t);
    for (int k = 0; k < 2; k++) x[n++] = scene_vertex(s, f->surface_a, a->edge[f->feature_a][k], t);
  }
}

// Four small surfaces: a cloth that may touch itself and is held here and there, a box it lies on, a fixed
// box and a rigid one.
static SurfaceScene* crowd(uint64_t seed)
{
  tbRandom r = test_random(seed);
  SurfaceScene* s = scene_new();
  tbShape box = tb_shape_box(tb_vec3(0.5, 0.6, 0.4)), ball = tb_shape_box(tb_vec3(0.3, 0.3, 0.3));
  int cloth = scene_add_cloth(s, 1, 5), soft = scene_add_shape(s, &box), fixed = scene_add_shape(s, &ball),
      rigid = scene_add_shape(s, &ball);
  s->surface[cloth].self = true, s->surface[cloth].radius = 0.01, s->surface[cloth].holder = s->holder[cloth];
  for (int k = 0; k < s->surface[cloth].surface->nvertex; k++)
    s->holder[cloth][k] = test_below(&r, 4)   ? TB_HELD_NOT
                          : test_below(&r, 2) ? TB_HELD_FAST
                                              : test_below(&r, 4);
  s->surface[soft].self = true;
  s->surface[fixed].fixed = s->surface[fixed].rigid = s->surface[rigid].rigid = true;
  for (int i = 0; i < 4; i++) {
    tbVec3 x = tb_vec3(test_uniform(&r, -0.4, 0.4), test_uniform(&r, -0.4, 0.4), 0.3 * i);
    tbTransform T = turned(&r, x), U = T;
    U.x = tb_add3(U.x, tb_vec3(test_uniform(&r, -0.1, 0.1), test_uniform(&r, -0.1, 0.1), -0.05 * i));
    scene_place(s, i, T, U);
    scene_shake(s, i, &r, 0.05, 0.03);
  }
  return s;
}

typedef struct {
  const SurfaceScene* s;
  double reach;
  tbRandom random;
  int wanted, missing, forbidden;
  bool own; // two features of one surface, beside its drift
} Brute;

// In the box of a vertex: anywhere, at a corner, or as near to a point as can be.
static tbVec3 somewhere(Brute* w, int surface, int vertex, const tbVec3* near)
{
  const tbBox* box = w->own ? w->s->candidates.own.data : w->s->candidates.box.data;
  for (int i = 0; i < surface; i++) box += w->s->surface[i].surface->nvertex;
  box += vertex;
  if (near) return tb_max3(box->lo, tb_min3(box->hi, *near));
  double f[3];
  for (int k = 0; k < 3; k++)
    f[k] = test_below(&w->random, 2) ? test_below(&w->random, 2) : test_uniform(&w->random, 0, 1);
  return tb_vec3(box->lo.x + f[0] * (box->hi.x - box->lo.x), box->lo.y + f[1] * (box->hi.y - box->lo.y),
                 box->lo.z + f[2] * (box->hi.z - box->lo.z));
}

// Do they come within reach, for some places of their vertices in their boxes?
static void expect_candidate(void* user, const tbSurfaceFeatures* f)
{
  Brute* w = user;
  const tbSurfaceScene* s = &w->s->scene;
  bool face = f->kind == TB_SURFACE_FACE_VERTEX;
  const tbArray* list = face ? &w->s->candidates.face_vertex : &w->s->candidates.edge_edge;
  if (!scene_allowed(s, f)) {
    w->forbidden += scene_lists(list, f);
    return;
  }
  if (scene_lists(list, f)) return;
  w->own = f->surface_a == f->surface_b;
  const tbSurfaceMesh *a = s->surface[f->surface_a].surface, *b = s->surface[f->surface_b].surface;
  double within = w->reach + s->surface[f->surface_a].radius + s->surface[f->surface_b].radius;
  tbVec3 at[4];
  places(s, f, 0, at);
  if (tb_distance3(at[0], at[3]) > 1) return; // boxes are smaller
  for (int trial = 0; trial < 4; trial++) {
    tbVec3 x[4];
    int nb = face ? 1 : 2;
    const int *va = face ? a->triangle[f->feature_a] : a->edge[f->feature_a],
              *vb = face ? &f->feature_b : b->edge[f->feature_b];
    for (int k = 0; k < 4; k++)
      x[k] = k < nb ? somewhere(w, f->surface_b, vb[k], NULL) : somewhere(w, f->surface_a, va[k - nb], NULL);
    for (int turn = 0; trial > 0 && turn < 3; turn++) { // towards each other
      tbVec3 at_a = tb_lerp3(x[3], x[2], test_uniform(&w->random, 0, 1));
      for (int k = 0; k < nb; k++) x[k] = somewhere(w, f->surface_b, vb[k], &at_a);
      tbVec3 at_b = tb_lerp3(x[0], x[nb - 1], test_uniform(&w->random, 0, 1));
      for (int k = nb; k < 4; k++) x[k] = somewhere(w, f->surface_a, va[k - nb], &at_b);
    }
    tbBox p = tb_box_empty(), q = p;
    for (int k = 0; k < 4; k++)
      if (k < (face ? 1 : 2)) p = tb_box_add(p, x[k]);
      else q = tb_box_add(q, x[k]);
    p = tb_box_grow(p, within);
    double weight[4];
    if (tb_box_meets(&p, &q) && scene_distance(face, x, weight) < within) w->missing++;
  }
}

TEST(no_pair_that_can_come_within_reach_is_missing_from_the_candidates)
{
  tbContext ctx = tb_default_context();
  size_t found = 0;
  for (uint64_t seed = 1; seed <= (test_quick() ? 1 : 3); seed++) {
    SurfaceScene* s = crowd(seed);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.02, 3, &s->candidates));
    CHECK(tb_surface_inside(&s->scene, &s->candidates));
    Brute w = {.s = s, .reach = 0.02, .random = test_random(seed)};
    scene_all_pairs(&s->scene, expect_candidate, &w);
    CHECK(w.missing == 0);
    CHECK(w.forbidden == 0);
    found += s->candidates.face_vertex.count + s->candidates.edge_edge.count;
    s->end[1][3].y += 0.5;
    CHECK(!tb_surface_inside(&s->scene, &s->candidates));
    s->end[1][3].y = NAN;
    CHECK(!tb_surface_inside(&s->scene, &s->candidates));
    CHECK(tb_surface_find(&ctx, &s->scene, 0.02, 3, &s->candidates) == TB_ERROR_NUMERIC);
    CHECK(tb_surface_find(&ctx, &s->scene, 0, 3, &s->candidates) == TB_ERROR_ARGUMENT);
    scene_free(s);
  }
  CHECK(found > (test_quick() ? 100 : 300));
}

// A search that finds more than it may ends, and leaves what was there; one that just may is as without a
// limit.
TEST(a_search_for_few_candidates_ends_where_there_are_many)
{
  tbContext ctx = tb_default_context();
  SurfaceScene* s = crowd(1);
  bool few;
  CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.02, 3, &s->candidates));
  size_t faces = s->candidates.face_vertex.count, edges = s->candidates.edge_edge.count;
  CHECK_OK(&ctx, tb_surface_find_few(&ctx, &s->scene, 0.02, 3, 1, &s->candidates, &few));
  CHECK(!few && s->candidates.face_vertex.count == faces && s->candidates.edge_edge.count == edges);
  CHECK_OK(&ctx, tb_surface_find_few(&ctx, &s->scene, 0.02, 3, faces + edges, &s->candidates, &few));
  CHECK(few && s->candidates.face_vertex.count == faces && s->candidates.edge_edge.count == edges);
  scene_free(s);
}

LONG_TEST(renewed_candidates_miss_nothing_where_surfaces_went_farther_than_foreseen)
{
  tbContext ctx = tb_default_context();
  for (uint64_t seed = 1; seed <= 4; seed += test_quick() ? 3 : 1) {
    SurfaceScene* s = crowd(seed);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.02, 3, &s->candidates));
    tbBox still = ((const tbBox*)s->candidates.box.data)[seed % 2 ? s->surface[0].surface->nvertex : 0];
    int far = seed % 2 ? 0 : 1; // the cloth, or the soft box: a corner of it, or all
    for (int k = 0; k<s->surface[far].surface->nvertex; k += seed> 2 ? 1 : 1000) s->end[far][k].z += 0.4;
    CHECK(!tb_surface_inside(&s->scene, &s->candidates));
    CHECK_OK(&ctx, tb_surface_mesh_renew(&ctx, &s->scene, 0.02, 3, &s->candidates));
    CHECK(tb_surface_inside(&s->scene, &s->candidates));
    tbBox after = ((const tbBox*)s->candidates.box.data)[seed % 2 ? s->surface[0].surface->nvertex : 0];
    CHECK(memcmp(&still, &after, sizeof after) == 0); // who stayed inside keeps the boxes
    Brute w = {.s = s, .reach = 0.02, .random = test_random(seed)};
    scene_all_pairs(&s->scene, expect_candidate, &w);
    CHECK(w.missing == 0 && w.forbidden == 0);
    CHECK(s->candidates.face_way.count == s->candidates.face_vertex.count &&
          s->candidates.edge_way.count == s->candidates.edge_edge.count);
    scene_free(s);
  }
}

TEST(listing_close_features_changes_no_candidate)
{
  tbContext ctx = tb_default_context();
  for (uint64_t seed = 1; seed <= 3; seed++) {
    SurfaceScene *s = crowd(seed), *t = crowd(seed);
    for (int i = 0; i < s->scene.nsurface; i++) {
      CHECK_OK(&ctx, tb_surface_mesh_link(&ctx, (tbSurfaceMesh*)s->surface[i].surface));
      ((tbSurfaceMesh*)t->surface[i].surface)->linked = false;
      ((tbSurfaceMesh*)t->surface[i].surface)->nclose_face =
          ((tbSurfaceMesh*)t->surface[i].surface)->nclose_edge = 0;
    }
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.1, 2, &s->candidates));
    CHECK_OK(&ctx, tb_surface_find(&ctx, &t->scene, 0.1, 2, &t->candidates));
    const tbArray *a[2] = {&s->candidates.face_vertex, &s->candidates.edge_edge},
                  *b[2] = {&t->candidates.face_vertex, &t->candidates.edge_edge};
    for (int k = 0; k < 2; k++) {
      CHECK(a[k]->count == b[k]->count && a[k]->count > 0);
      CHECK(a[k]->count == b[k]->count && memcmp(a[k]->data, b[k]->data, a[k]->count * a[k]->item) == 0);
    }
    scene_free(s);
    scene_free(t);
  }
}

static bool in_order(const tbArray* list)
{
  for (size_t i = 1; i < list->count; i++) {
    const char* at = (const char*)list->data + i * list->item;
    if (tb_surface_features_order((const void*)(at - list->item), (const void*)at) >= 0) return false;
  }
  return true;
}

// Whatever the positions: weights, normals and moments must make sense.
static bool sound(const tbSurfaceScene* s, const tbSurfaceContact* c)
{
  double a = 0, b = 0;
  for (int k = 0; k < c->count_a; k++) a += c->weight_a[k];
  for (int k = 0; k < c->count_b; k++) b += c->weight_b[k];
  bool fine = fabs(b - 1) < 1e-12 && (c->count_a == 0 || fabs(a - 1) < 1e-12);
  for (int k = 0; k < c->count_a; k++) fine = fine && c->weight_a[k] >= 0;
  for (int k = 0; k < c->count_b; k++) fine = fine && c->weight_b[k] >= 0;
  tbVec3 way = tb_zero3();
  for (int k = 0; k < c->count_b; k++)
    way = tb_madd3(way, c->weight_b[k], scene_vertex(s, c->of.surface_b, c->vertex_b[k], 0));
  for (int k = 0; k < c->count_a; k++)
    way = tb_madd3(way, -c->weight_a[k], scene_vertex(s, c->of.surface_a, c->vertex_a[k], 0));
  if (c->of.kind != TB_SURFACE_PLANE_VERTEX) fine = fine && fabs(tb_dot3(way, c->normal) - c->gap) < 1e-9;
  return fine && fabs(tb_norm3(c->normal) - 1) < 1e-12 && c->t >= 0 && c->t <= 1 && isfinite(c->gap);
}

typedef struct {
  const SurfaceScene* s;
  const tbArray* contacts;
  double reach;
  int wrong, missing, count;
} Close;

static const tbSurfaceContact* contact_of(const tbArray* contacts, const tbSurfaceFeatures* f)
{
  const tbSurfaceContact* c = contacts->data;
  for (size_t i = 0; i < contacts->count; i++)
    if (tb_surface_features_order(&c[i].of, f) == 0) return &c[i];
  return NULL;
}

// Whether the faces on both sides of an edge are level with it, seen along d.
static bool level(const tbMovingSurface* m, int edge, tbVec3 d)
{
  for (int side = 0; side < 2; side++) {
    int t = m->surface->edge_triangle[edge][side];
    if (t < 0) return false;
    for (int k = 0; k < 3; k++) {
      tbVec3 away = tb_sub3(m->start[m->surface->triangle[t][k]], m->start[m->surface->edge[edge][0]]);
      if (tb_dot3(away, d) < -1.9e-3 * tb_norm3(away)) return false;
    }
  }
  return true;
}

static bool hidden(const tbSurfaceScene* s, const tbSurfaceFeatures* f, const tbVec3 x[4],
                   const double weight[4])
{
  if (f->kind != TB_SURFACE_EDGE_EDGE) return false;
  tbVec3 way = tb_sub3(tb_add3(tb_scale3(weight[0], x[0]), tb_scale3(weight[1], x[1])),
                       tb_add3(tb_scale3(weight[2], x[2]), tb_scale3(weight[3], x[3])));
  tbVec3 n = tb_normalize3(way);
  return level(&s->surface[f->surface_a], f->feature_a, n) ||
         level(&s->surface[f->surface_b], f->feature_b, tb_neg3(n));
}

// Pairs within reach whose closest points are well inside must be there, as contacts of that distance.
static void expect_close(void* user, const tbSurfaceFeatures* f)
{
  Close* w = user;
  const tbSurfaceScene* s = &w->s->scene;
  if (!scene_allowed(s, f)) return;
  bool face = f->kind == TB_SURFACE_FACE_VERTEX;
  double within = w->reach + s->surface[f->surface_a].radius + s->surface[f->surface_b].radius, weight[4],
         least = 1;
  tbVec3 x[4];
  places(s, f, 0, x);
  tbBox p = tb_box_grow(tb_box_add((tbBox){x[0], x[0]}, x[face ? 0 : 1]), within), q = {x[2], x[2]};
  q = tb_box_add(tb_box_add(q, x[3]), x[face ? 1 : 2]);
  if (!tb_box_meets(&p, &q)) return;
  double distance = scene_distance(face, x, weight);
  const tbSurfaceContact* c = contact_of(w->contacts, f);
  for (int k = 0; k < 4; k++) least = fmin(least, weight[k]);
  if (c) {
    w->wrong += !(fabs(fabs(c->gap) - distance) < 1e-6) || distance > within + 1e-6;
    w->wrong += c->gap < -1e-12;
    w->count++;
  } else if (distance < within - 1e-6 && least > 1e-6 && !hidden(s, f, x, weight)) {
    w->missing++;
  }
}

LONG_TEST(what_is_near_is_what_nested_search_over_all_pairs_finds)
{
  tbContext ctx = tb_default_context();
  int count = 0;
  for (uint64_t seed = 11; seed <= 14; seed++) {
    SurfaceScene* s = crowd(seed);
    tbArray contacts = TB_ARRAY(tbSurfaceContact);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.04, 1, &s->candidates));
    CHECK_OK(&ctx, tb_surface_near(&ctx, &s->scene, &s->candidates, 0.04, &contacts));
    CHECK(in_order(&contacts) && in_order(&s->candidates.face_vertex) && in_order(&s->candidates.edge_edge));
    for (size_t i = 0; i < contacts.count; i++)
      CHECK(sound(&s->scene, (const tbSurfaceContact*)contacts.data + i));
    Close w = {.s = s, .contacts = &contacts, .reach = 0.04};
    scene_all_pairs(&s->scene, expect_close, &w);
    CHECK(w.missing == 0 && w.wrong == 0);
    count += w.count;
    tb_array_free(&ctx, &contacts);
    scene_free(s);
  }
  CHECK(count > 25);
}

// A vertex over a shared edge, a shared corner, an edge across a ridge: one contact each.
TEST(a_place_that_several_faces_share_is_reported_once)
{
  tbContext ctx = tb_default_context();
  tbShape box = tb_shape_box(tb_vec3(1, 1, 1));
  tbVec3 tip[4] = {{0, 0, 0}, {0.3, 0, 1}, {-0.3, 0.2, 1}, {0, -0.3, 1}};
  int face[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  tbVec3 over[4] = {{0.5, 0.5, 0.51}, {0.5, 0.1, 0.51}, {0.2, 0.1, 0.51}, {0.1, 0.1, 0.51}};
  for (int k = 0; k < 4; k++) {
    SurfaceScene* s = scene_new();
    int b = scene_add_shape(s, &box), t = scene_add(s, tip, 4, (const int(*)[3])face, 4);
    tbTransform T = tb_transform(tb_quat_identity(), over[k]);
    scene_place(s, t, T, T);
    tbArray contacts = TB_ARRAY(tbSurfaceContact);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.02, 1, &s->candidates));
    CHECK_OK(&ctx, tb_surface_near(&ctx, &s->scene, &s->candidates, 0.02, &contacts));
    REQUIRE(contacts.count == 1);
    const tbSurfaceContact* c = contacts.data;
    CHECK(c->of.kind == TB_SURFACE_FACE_VERTEX && c->of.surface_a == b && c->of.surface_b == t &&
          c->of.feature_b == 0);
    CHECK_NEAR(c->normal.z, 1, 1e-12);
    CHECK_NEAR(c->gap, 0.01, 1e-12);
    tb_array_free(&ctx, &contacts);
    scene_free(s);
  }
}

TEST(touching_surfaces_have_normals_out_of_the_solid)
{
  tbContext ctx = tb_default_context();
  tbShape box = tb_shape_box(tb_vec3(1, 1, 1));
  double gaps[] = {0, 0x1p-60, 1e-14, 1e-10};
  for (int k = 0; k < 8; k++) {
    SurfaceScene* s = scene_new();
    scene_add_shape(s, &box);
    int b = scene_add_shape(s, &box);
    tbTransform T = moved(0.3, 0.2, 0); // faces; or edges, that cross
    if (k >= 4) T = tb_transform(tb_quat_normalize(tb_quat(1, 0, 0, 0.3)), tb_vec3(0.3, 0.2, 0));
    scene_place(s, b, T, T);
    for (int v = 0; v < 8; v++) { // exactly so far apart
      s->start[0][v].z = s->start[0][v].z > 0 ? 0 : -1;
      s->start[b][v].z = s->start[b][v].z > 0 ? 1 : gaps[k % 4];
      s->end[0][v] = s->start[0][v], s->end[b][v] = s->start[b][v];
    }
    tbArray contacts = TB_ARRAY(tbSurfaceContact);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.01, 1, &s->candidates));
    CHECK_OK(&ctx, tb_surface_near(&ctx, &s->scene, &s->candidates, 0.01, &contacts));
    CHECK(contacts.count >= 4);
    const tbSurfaceContact* c = contacts.data;
    int level = 0;
    for (size_t i = 0; i < contacts.count; i++) {
      double up = c[i].of.surface_a == 0 ? c[i].normal.z : -c[i].normal.z;
      bool upright = c[i].of.kind == TB_SURFACE_EDGE_EDGE || fabs(c[i].normal.z) > 0.5;
      if (upright && !(up > 0.999))
        test_failed(__FILE__, __LINE__, "gap %g, contact %zu: %g", gaps[k % 4], i, up);
      level += upright;
    }
    CHECK(level >= 4);
    tb_array_free(&ctx, &contacts);
    scene_free(s);
  }
}

static int64_t crossings(SurfaceScene* s, double t)
{
  tbContext ctx = tb_default_context();
  tbTriangles all[SCENE_SKINS];
  tbVec3* x[SCENE_SKINS];
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbSurfaceMesh* surface = s->surface[i].surface;
    x[i] = malloc((size_t)surface->nvertex * sizeof(tbVec3));
    if (!x[i]) abort();
    for (int k = 0; k < surface->nvertex; k++) x[i][k] = scene_vertex(&s->scene, i, k, t);
    all[i] = (tbTriangles){.vertex = x[i],
                           .nvertex = surface->nvertex,
                           .triangle = (const int(*)[3])surface->triangle,
                           .ntriangle = surface->ntriangle};
  }
  tbIntersections found = {-1, -1, -1};
  CHECK_OK(&ctx, tb_count_intersections(&ctx, all, s->scene.nsurface, &found));
  for (int i = 0; i < s->scene.nsurface; i++) free(x[i]);
  return found.crossing;
}

// Two boxes, made of many triangles, that run into each other; exact signs look whether they have crossed.
LONG_TEST(nothing_crosses_before_the_first_meeting_nor_without_one)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(5);
  int meetings = 0, misses = 0;
  for (int trial = 0; trial < (test_quick() ? 6 : 16); trial++) {
    SurfaceScene* s = scene_new();
    tbShape box = tb_shape_box(tb_vec3(1, 1, 1)), can = tb_shape_cylinder(0.3, 0.6);
    int b = scene_add_shape(s, &box), c = scene_add_shape(s, &can);
    scene_shake(s, b, &r, 0.1, 0.1);
    tbVec3 from = tb_vec3(test_uniform(&r, -0.6, 0.6), test_uniform(&r, -0.6, 0.6), 1.6), to = from;
    to.z -= trial % 3 == 2 ? test_uniform(&r, 0, 0.3) : test_uniform(&r, 0.6, 1.4),
        to.x += test_uniform(&r, -0.5, 0.5);
    tbTransform T = turned(&r, from), U = T;
    U.x = to;
    if (trial % 2) U = turned(&r, to);
    scene_place(s, c, T, U);
    tbArray contacts = TB_ARRAY(tbSurfaceContact);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 1e-3, 1, &s->candidates));
    CHECK(tb_surface_inside(&s->scene, &s->candidates));
    CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 1e-4, &contacts));
    CHECK(in_order(&contacts));
    double first = 1;
    for (size_t i = 0; i < contacts.count; i++) {
      const tbSurfaceContact* m = (const tbSurfaceContact*)contacts.data + i;
      CHECK(sound(&s->scene, m));
      first = fmin(first, m->t);
    }
    CHECK(crossings(s, 0) == 0);
    for (int k = 0; k <= 6; k++) CHECK(crossings(s, first * k / 6) == 0);
    if (contacts.count == 0) misses++;
    else meetings++;
    tb_array_free(&ctx, &contacts);
    scene_free(s);
  }
  CHECK(meetings > 1 && misses > 0);
}

typedef struct {
  const SurfaceScene* s;
  const tbArray* met;
  int collide, missed;
} Exactly;

// Positions are whole numbers of 2⁻⁶, which exact integer arithmetic can decide.
static void expect_meeting(void* user, const tbSurfaceFeatures* f)
{
  Exactly* w = user;
  const tbSurfaceScene* s = &w->s->scene;
  if (!scene_allowed(s, f)) return;
  ExactQuery q = {.kind = f->kind == TB_SURFACE_FACE_VERTEX ? TB_CCD_VERTEX_FACE : TB_CCD_EDGE_EDGE,
                  .shift = -6};
  for (int e = 0; e < 2; e++) {
    tbVec3 x[4];
    places(s, f, e, x);
    for (int k = 0; k < 4; k++) {
      q.x[e][k][0] = (int64_t)(64 * x[k].x);
      q.x[e][k][1] = (int64_t)(64 * x[k].y);
      q.x[e][k][2] = (int64_t)(64 * x[k].z);
    }
  }
  ExactQuery still = q; // what touches at the start may part
  memcpy(still.x[1], q.x[0], sizeof q.x[0]);
  if (!exact_collides(&q, EXACT_STEPS) || exact_collides(&still, EXACT_STEPS)) return;
  w->collide++;
  w->missed += !scene_lists(w->met, f);
}

TEST(degenerate_positions_are_met_as_exact_arithmetic_says_and_give_sound_contacts)
{
  tbContext ctx = tb_default_context();
  tbRandom r = test_random(77);
  int collide = 0;
  for (int trial = 0; trial < (test_quick() ? 10 : 60); trial++) {
    SurfaceScene* s = scene_new();
    tbVec3 x[6] = {{0}};
    int t[4][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {3, 5, 4}}, side = 1 + test_below(&r, 4);
    for (int i = 0; i < 2; i++) {
      int k = scene_add(s, x, 6, (const int(*)[3])t, 4);
      s->surface[k].self = true;
      for (int v = 0; v < 6; v++)
        for (int e = 0; e < 2; e++) { // few places for many points
          double p[3];
          for (int j = 0; j < 3; j++) p[j] = (double)test_below(&r, side + 1);
          (e ? s->end : s->start)[k][v] = tb_vec3(p[0], p[1], p[2]);
        }
      if (test_below(&r, 3) == 0) memcpy(s->end[k], s->start[k], 6 * sizeof(tbVec3));
    }
    s->plane[0] = (tbMovingPlane){{{0, 0, 1}, {0, 0, 1}}, {1, 1}, 9};
    s->scene.nplane = 1;
    tbArray near = TB_ARRAY(tbSurfaceContact), met = TB_ARRAY(tbSurfaceContact);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.01, 1, &s->candidates));
    CHECK_OK(&ctx, tb_surface_near(&ctx, &s->scene, &s->candidates, 0.01, &near));
    CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 1e-3, &met));
    for (size_t i = 0; i < near.count; i++) CHECK(sound(&s->scene, (const tbSurfaceContact*)near.data + i));
    for (size_t i = 0; i < met.count; i++) {
      const tbSurfaceContact* c = (const tbSurfaceContact*)met.data + i;
      tbSurfaceContact at;
      CHECK(sound(&s->scene, c));
      for (int k = 0; k <= 2; k++)
        if (tb_surface_contact_at(&s->scene, &c->of, 0.5 * k, &at)) CHECK(sound(&s->scene, &at));
    }
    Exactly w = {.s = s, .met = &met};
    scene_all_pairs(&s->scene, expect_meeting, &w);
    CHECK(w.missed == 0);
    collide += w.collide;
    tb_array_free(&ctx, &near);
    tb_array_free(&ctx, &met);
    scene_free(s);
  }
  CHECK(collide > 300);
}

// A square of cloth with its right half folded over the left, a cell of 0.1 beyond the middle.
static SurfaceScene* folded(double gap, double drop)
{
  SurfaceScene* s = scene_new();
  int c = scene_add_cloth(s, 2, 20);
  s->surface[c].self = true;
  for (int v = 0; v < s->surface[c].surface->nvertex; v++) {
    tbVec3 x = s->surface[c].surface->rest[v];
    if (x.x > 0.05) x = tb_vec3(x.x > 0.15 ? 0.213 - x.x : 0.1, x.y + 0.017, x.x > 0.15 ? gap : 0.5 * gap);
    s->start[c][v] = s->end[c][v] = x;
    if (x.z == gap && x.x < -0.2) s->end[c][v].z -= drop;
  }
  return s;
}

TEST(folded_cloth_is_near_itself_where_layers_lie_on_each_other_and_nowhere_else)
{
  tbContext ctx = tb_default_context();
  SurfaceScene* s = folded(0.02, 0);
  tbArray contacts = TB_ARRAY(tbSurfaceContact);
  CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.021, 1, &s->candidates));
  CHECK_OK(&ctx, tb_surface_near(&ctx, &s->scene, &s->candidates, 0.021, &contacts));
  const tbSurfaceContact* c = contacts.data;
  int layers = 0;
  for (size_t i = 0; i < contacts.count; i++) {
    CHECK(sound(&s->scene, &c[i]));
    layers += fabs(c[i].normal.z) > 0.9;
  }
  CHECK(layers == (int)contacts.count);
  CHECK(layers > 200);
  s->surface[0].self = false;
  CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.021, 1, &s->candidates));
  CHECK(s->candidates.face_vertex.count + s->candidates.edge_edge.count == 0);
  tb_array_free(&ctx, &contacts);
  scene_free(s);
}

TEST(folded_cloth_meets_itself_before_layers_pass)
{
  tbContext ctx = tb_default_context();
  double drop[2] = {0.015, 0.05};
  for (int k = 0; k < 2; k++) {
    SurfaceScene* s = folded(0.02, drop[k]);
    tbArray contacts = TB_ARRAY(tbSurfaceContact);
    CHECK(crossings(s, 0) == 0);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 1e-3, 1, &s->candidates));
    CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 1e-4, &contacts));
    CHECK((contacts.count > 0) == (k == 1));
    CHECK((crossings(s, 1) > 0) == (k == 1));
    const tbSurfaceContact* c = contacts.data;
    for (size_t i = 0; i < contacts.count; i++) {
      CHECK(sound(&s->scene, &c[i]));
      CHECK(c[i].gap > 0); // on the side they came from
    }
    tb_array_free(&ctx, &contacts);
    scene_free(s);
  }
}

TEST(planes_meet_vertices_that_move_and_are_not_held)
{
  tbContext ctx = tb_default_context();
  SurfaceScene* s = scene_new();
  int c = scene_add_cloth(s, 1, 2); // nine vertices
  tbArray near = TB_ARRAY(tbSurfaceContact), met = TB_ARRAY(tbSurfaceContact);
  scene_place(s, c, moved(0, 0, 0.105), moved(0, 0, -0.4));
  s->surface[c].radius = 0.1, s->surface[c].holder = s->holder[c];
  s->holder[c][0] = TB_HELD_FAST, s->holder[c][1] = 9, s->holder[c][2] = 8;
  s->plane[0] = (tbMovingPlane){{{0, 0, 1}, {0, 0, 1}}, {0, 0.1}, 9};
  s->scene.nplane = 1;
  CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.01, 1, &s->candidates));
  CHECK_OK(&ctx, tb_surface_near(&ctx, &s->scene, &s->candidates, 0.01, &near));
  CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 0.005, &met));
  CHECK(near.count == 7 && met.count == 7);
  const tbSurfaceContact *n = near.data, *m = met.data;
  for (size_t i = 0; i < met.count; i++) {
    CHECK(n[i].count_a == 0 && n[i].count_b == 1 && n[i].vertex_b[0] > 1 && n[i].normal.z == 1);
    CHECK_NEAR(n[i].gap, 0.105, 1e-15);
    CHECK_NEAR(m[i].t, (0.105 - 0.005) / (0.105 + 0.5), 1e-12);
    CHECK(sound(&s->scene, &m[i]));
  }
  for (int v = 0; v < 9; v++) s->end[c][v].z = 0.11; // above the plane's end
  met.count = 0;
  CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 0.005, &met));
  CHECK(met.count == 0);
  s->surface[c].rigid = true;
  CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.01, 1, &s->candidates));
  CHECK(s->candidates.plane_vertex.count == 0);
  tb_array_free(&ctx, &near);
  tb_array_free(&ctx, &met);
  scene_free(s);
}

TEST(the_method_of_continuous_detection_is_the_scenes)
{
  tbContext ctx = tb_default_context();
  SurfaceScene* s = scene_new();
  int low = scene_add_cloth(s, 1, 2), high = scene_add_cloth(s, 1, 2);
  tbArray met = TB_ARRAY(tbSurfaceContact);
  scene_place(s, low, moved(0, 0, 0), moved(0, 0, 0));
  scene_place(s, high, moved(0.1, 0.05, 0.1), moved(0.1, 0.05, 0.004)); // closer than asked, never through
  CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.02, 1, &s->candidates));
  CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 0.01, &met));
  CHECK(met.count > 0);
  met.count = 0;
  s->scene.ccd = TB_CCD_CUBIC; // knows no separation
  CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 0.01, &met));
  CHECK(met.count == 0);
  tb_array_free(&ctx, &met);
  scene_free(s);
}

static bool never(const void* user, int a, int b)
{
  (void)user;
  return a == b;
}

TEST(bodies_that_may_not_touch_are_no_candidates)
{
  tbContext ctx = tb_default_context();
  SurfaceScene* s = scene_new();
  int low = scene_add_cloth(s, 1, 2), high = scene_add_cloth(s, 1, 2);
  scene_place(s, low, moved(0, 0, 0), moved(0, 0, 0));
  scene_place(s, high, moved(0, 0, 0.01), moved(0, 0, -0.4));
  s->surface[low].body = 1, s->surface[high].body = 2;
  s->plane[0] = (tbMovingPlane){{{0, 0, 1}, {0, 0, 1}}, {0, 0}, 9};
  s->scene.nplane = 1;
  for (int filtered = 0; filtered < 2; filtered++) {
    s->scene.may_touch = filtered ? never : NULL;
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.02, 1, &s->candidates));
    size_t found = s->candidates.face_vertex.count + s->candidates.edge_edge.count;
    CHECK((found > 0) == !filtered && (s->candidates.plane_vertex.count > 0) == !filtered);
  }
  scene_free(s);
}

TEST(a_contact_at_a_moment_keeps_to_the_side_the_features_started_on)
{
  SurfaceScene* s = scene_new();
  tbVec3 x[3] = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}}, y[3] = {{0, 0, 0.5}, {3, 0, 2}, {0, 3, 2}};
  int one[1][3] = {{0, 1, 2}};
  scene_add(s, x, 3, (const int(*)[3])one, 1);
  scene_add(s, y, 3, (const int(*)[3])one, 1);
  tbSurfaceFeatures f = {TB_SURFACE_FACE_VERTEX, 0, 1, 0, 0};
  tbSurfaceContact c;
  s->end[1][0] = tb_vec3(0, 0, -0.5); // through the face
  CHECK(tb_surface_contact_at(&s->scene, &f, 0.25, &c) && c.normal.z > 0.999);
  CHECK(tb_surface_contact_at(&s->scene, &f, 0.75, &c) && c.normal.z > 0.999);
  CHECK_NEAR(c.gap, 0.5, 1e-12);
  CHECK(!tb_surface_contact_at(&s->scene, &f, 0.5, &c));
  s->start[1][0] = tb_vec3(0, -5, 3), s->end[1][0] = tb_vec3(0, -0.5, -0.5); // around its edge
  CHECK(tb_surface_contact_at(&s->scene, &f, 1, &c) && c.normal.z < -0.999);
  scene_free(s);
}

// A vertex that touches a face dips below it, and would come up again before a hundredth of the step is over
// as the face tilts away: nothing parts the two, so they meet at once. Without the dip they part.
TEST(what_touches_at_the_start_meets_unless_it_parts_from_there_on)
{
  for (int dips = 0; dips < 2; dips++) {
    tbContext ctx = tb_default_context();
    SurfaceScene* s = scene_new();
    tbVec3 x[3] = {{-1, -1, 0}, {1, 0, 0}, {-1, 1, 0}}, y[3] = {{0, 0, 0}, {3, 0, 2}, {0, 3, 2}};
    int one[1][3] = {{0, 1, 2}};
    scene_add(s, x, 3, (const int(*)[3])one, 1);
    scene_add(s, y, 3, (const int(*)[3])one, 1);
    s->end[0][1].z = -1, s->end[0][0].z = s->end[0][2].z = 1; // the face is at −t x
    s->end[1][0] = tb_vec3(0.5, 0, dips ? -2e-3 : 2e-3);      // t/2, 0, ∓2e-3 t: back above at t = 4e-3
    for (int v = 1; v < 3; v++) s->end[1][v].z += 1;
    tbArray met = TB_ARRAY(tbSurfaceContact);
    tbSurfaceFeatures f = {TB_SURFACE_FACE_VERTEX, 0, 1, 0, 0};
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.01, 1, &s->candidates));
    CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 1e-6, &met));
    CHECK(scene_lists(&met, &f) == dips);
    tb_array_free(&ctx, &met);
    scene_free(s);
  }
}

// A vertex over a square of two triangles, beside the edge between them: near, and where it meets the square
// on its way, also the triangle that it is not over, also from below after going through the other, contacts
// have the normal of the square.
TEST(contacts_beside_an_edge_inside_a_flat_square_have_its_normal)
{
  for (int i = 0; i < 8; i++) {
    tbContext ctx = tb_default_context();
    SurfaceScene* s = scene_new();
    tbVec3 x[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}}, y[3];
    int square[2][3] = {{0, 1, 2}, {0, 2, 3}}, one[1][3] = {{0, 1, 2}};
    double off = (i % 2 ? 1 : -1) * (i & 2 ? 1e-3 : 0.02), slides = i & 4 ? -2.1 * off : 0;
    y[0] = tb_vec3(0.1 + off, 0.1 - off, 5e-3);
    y[1] = tb_vec3(3, 0, 4), y[2] = tb_vec3(0, 3, 4);
    scene_add(s, x, 4, (const int(*)[3])square, 2);
    scene_add(s, y, 3, (const int(*)[3])one, 1);
    s->end[1][0] = tb_vec3(y[0].x + slides, y[0].y - slides, -0.02);
    tbArray found = TB_ARRAY(tbSurfaceContact);
    CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 0.1, 1, &s->candidates));
    CHECK_OK(&ctx, tb_surface_near(&ctx, &s->scene, &s->candidates, 0.1, &found));
    int close = 0;
    for (size_t k = 0; k < found.count; k++)
      close += ((const tbSurfaceContact*)found.data)[k].of.kind == TB_SURFACE_FACE_VERTEX;
    CHECK(close == 1);
    CHECK_OK(&ctx, tb_surface_meet(&ctx, &s->scene, &s->candidates, 1e-3, &found));
    int places = 0;
    for (size_t k = 0; k < found.count; k++) {
      const tbSurfaceContact* c = (const tbSurfaceContact*)found.data + k;
      if (c->of.kind != TB_SURFACE_FACE_VERTEX) continue; // the edge is one here, and met by others
      CHECK(c->normal.z > 1 - 1e-9);
      CHECK_NEAR(c->gap, 5e-3, 1e-9);
      places++;
    }
    CHECK(places >= 2 + (i >= 6)); // close, the triangle it is over; the other, where it comes within reach
    tb_array_free(&ctx, &found);
    scene_free(s);
  }
}

// All that a search gives, as one number.
static uint64_t search_hash(tbContext* ctx, uint64_t seed)
{
  SurfaceScene* s = crowd(seed);
  s->plane[0] = (tbMovingPlane){{{0, 0, 1}, {0, 0, 1}}, {0.1, 0.1}, 9};
  s->scene.nplane = 1;
  tbArray found = TB_ARRAY(tbSurfaceContact);
  CHECK_OK(ctx, tb_surface_find(ctx, &s->scene, 0.6, 3, &s->candidates));
  CHECK_OK(ctx, tb_surface_near(ctx, &s->scene, &s->candidates, 0.6, &found));
  CHECK_OK(ctx, tb_surface_meet(ctx, &s->scene, &s->candidates, 0.01, &found));
  CHECK(s->candidates.edge_edge.count > 2500 && found.count > 150);
  uint64_t hash = test_hash(found.data, found.count * sizeof(tbSurfaceContact));
  const tbArray* list[3] = {&s->candidates.face_vertex, &s->candidates.edge_edge,
                            &s->candidates.plane_vertex};
  for (int k = 0; k < 3; k++) hash = 31 * hash + test_hash(list[k]->data, list[k]->count * list[k]->item);
  tb_array_free(ctx, &found);
  scene_free(s);
  return hash;
}

TEST(surfaces_are_searched_to_the_same_bits_by_any_number_of_threads)
{
  uint64_t hash[3];
  for (int n = 1; n <= 3; n++) {
    tbContext ctx = tb_default_context();
    REQUIRE(tb_threads_create(&ctx, n, &ctx.threads) == TB_OK);
    hash[n - 1] = search_hash(&ctx, 21);
    tb_threads_destroy(&ctx, ctx.threads);
  }
  CHECK(hash[0] == hash[1] && hash[0] == hash[2]);
}

TEST(a_search_among_skins_survives_every_failed_allocation)
{
  SurfaceScene* s = crowd(3);
  s->plane[0] = (tbMovingPlane){{{0, 0, 1}, {0, 0, 1}}, {0.1, 0.1}, 9};
  s->scene.nplane = 1;
  for (int threads = 1; threads <= 2; threads++) {
    tbStatus status = TB_ERROR_MEMORY;
    long k = 0;
    for (; k < 1000 && status != TB_OK; k += test_quick() ? 7 : 1) {
      tbFailingAllocator all = {.countdown = -1};
      tbContext ctx = test_failing_context(&all);
      tbSurfaceCandidates candidates;
      tb_surface_candidates_init(&candidates);
      tbArray found = TB_ARRAY(tbSurfaceContact);
      CHECK_OK(&ctx, tb_threads_create(&ctx, threads, &ctx.threads));
      CHECK_OK(&ctx, tb_surface_find(&ctx, &s->scene, 1e-3, 1, &candidates));
      size_t before = candidates.edge_edge.count;
      all.countdown = k;
      status = tb_surface_find(&ctx, &s->scene, 0.05, 2, &candidates);
      if (status != TB_OK) CHECK(candidates.edge_edge.count == before); // as they were
      before = candidates.edge_edge.count;
      s->end[0][0].x += 1;
      if (status == TB_OK) {
        status = tb_surface_mesh_renew(&ctx, &s->scene, 0.05, 2, &candidates);
        if (status != TB_OK) CHECK(candidates.edge_edge.count == before);
      }
      s->end[0][0].x -= 1;
      if (status == TB_OK) status = tb_surface_near(&ctx, &s->scene, &candidates, 0.05, &found);
      if (status != TB_OK) CHECK(found.count == 0);
      size_t near = found.count;
      if (status == TB_OK) status = tb_surface_meet(&ctx, &s->scene, &candidates, 1e-3, &found);
      if (status != TB_OK) CHECK(found.count == near && ctx.error.message[0]);
      CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
      all.countdown = -1;
      tb_surface_candidates_free(&ctx, &candidates);
      tb_array_free(&ctx, &found);
      tb_threads_destroy(&ctx, ctx.threads);
      CHECK(all.alive == 0);
    }
    CHECK(status == TB_OK && k > 20);
  }
  scene_free(s);
}
