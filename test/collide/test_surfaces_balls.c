// SPDX-License-Identifier: Apache-2.0
#include "collide/surfaces_balls.h"
#include "collide/surfaces_pair.h"
#include "surface_scenes.h"

// Crumpled sheets in one place, drifting together.
static SurfaceScene* sheets(uint64_t seed, int count)
{
  tbRandom r = test_random(seed);
  SurfaceScene* s = scene_new();
  for (int i = 0; i < count; i++) {
    int k = scene_add_cloth(s, 1, 6);
    s->surface[k].self = i != 2, s->surface[k].radius = 0.01 + 0.01 * i;
    tbQuat q = tb_quat_normalize(tb_quat(1.5, test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), 0));
    tbTransform T = tb_transform(q, tb_vec3(0, 0.05 * i, 0.1 * i)), U = T;
    U.x = tb_add3(U.x, tb_vec3(3, -0.04 * i, -2));
    scene_place(s, k, T, U);
    scene_shake(s, k, &r, count == 1 ? 0.3 : 0.15, 0.02); // alone it meets itself
  }
  return s;
}

// Whether a face that shares what the closest point lies on has a point that is closer.
static bool is_closer_beside(const tbMovingSurface* m, int triangle, const double weight[3], tbVec3 x,
                             double distance)
{
  const tbSurfaceMesh* mesh = m->surface;
  for (int t = 0; t < mesh->ntriangle; t++) {
    int shared = 0, wanted = 0;
    for (int k = 0; k < 3; k++) {
      wanted += weight[k] != 0;
      for (int i = 0; weight[k] != 0 && i < 3; i++)
        shared += mesh->triangle[t][i] == mesh->triangle[triangle][k];
    }
    tbVec3 at[4] = {x};
    for (int k = 0; k < 3; k++) at[1 + k] = m->start[mesh->triangle[t][k]];
    if (shared == wanted && tb_norm3(tb_closest_features(true, at).way) < distance * (1 - 1e-9)) return true;
  }
  return false;
}

// What is close or comes there along the normal, by trying every vertex with every face. Of these, what
// passes by sideways need not be found.
static int count_close(const tbSurfaceScene* s, double reach, double ahead, const tbArray* found,
                       int* missing, int* others)
{
  int count = 0;
  *missing = *others = 0;
  for (int a = 0; a < s->nsurface; a++)
    for (int t = 0; t < s->surface[a].surface->ntriangle; t++)
      for (int b = 0; b < s->nsurface; b++)
        for (int v = 0; v < s->surface[b].surface->nvertex; v++) {
          const int* c = s->surface[a].surface->triangle[t];
          if (a == b && (!s->surface[a].self || c[0] == v || c[1] == v || c[2] == v)) continue;
          tbSurfaceFeatures of = {TB_SURFACE_FACE_VERTEX, a, b, t, v};
          tbSurfaceContact k = tb_surface_corners(s, &of);
          tbVec3 x[4], y[4], way = tb_zero3();
          tb_surface_places(s, &k, false, x);
          tb_surface_places(s, &k, true, y);
          tbClosest closest = tb_closest_features(true, x);
          if (!tb_surface_reports(s, &of, closest.weight + 1)) continue;
          way = tb_sub3(y[0], x[0]);
          for (int i = 1; i < 4; i++) way = tb_madd3(way, -closest.weight[i], tb_sub3(y[i], x[i]));
          if (is_closer_beside(&s->surface[a], t, closest.weight + 1, x[0], tb_norm3(closest.way))) continue;
          double gap = tb_norm3(closest.way), comes = -tb_dot3(way, closest.way) / gap;
          double keep = reach + s->surface[a].radius + s->surface[b].radius;
          if (gap - ahead * fmax(comes, 0) > keep) continue;
          count++;
          bool there = false, comes_there = false;
          for (int i = 0; i <= 8; i++)
            comes_there = comes_there || tb_norm3(tb_madd3(closest.way, ahead * i / 8, way)) <= keep;
          for (size_t i = 0; i < found->count && !there; i++)
            there = tb_surface_features_order(&((const tbSurfaceContact*)found->data)[i].of, &of) == 0;
          *missing += comes_there && !there;
          *others += !there;
        }
  return count;
}

TEST(balls_find_all_vertices_that_are_close_to_faces_and_no_others)
{
  tbContext ctx = tb_default_context();
  int all[2] = {0}; // of three sheets, of one
  for (uint64_t seed = 1; seed <= 16; seed++) {
    bool alone = seed > 12;
    SurfaceScene* s = sheets(seed, alone ? 1 : 3);
    tbArena arena;
    tbArray found = TB_ARRAY(tbSurfaceContact);
    tb_arena_init(&arena, &ctx);
    double ahead = seed % 3 ? 2 : 1;
    CHECK_OK(&ctx, tb_surface_balls_near(&ctx, &arena, &s->scene, 0.005, ahead, &found));
    int missing, others, wanted = count_close(&s->scene, 0.005, ahead, &found, &missing, &others);
    if (missing > 0 || (int)found.count + others != wanted)
      test_failed(__FILE__, __LINE__, "seed %d: %d are close, %zu were found, %d are missing", (int)seed,
                  wanted, found.count, missing);
    for (size_t i = 1; i < found.count; i++) {
      const tbSurfaceContact* c = (const tbSurfaceContact*)found.data + i;
      CHECK(tb_surface_features_order(&c[-1].of, &c->of) < 0);
    }
    all[alone] += wanted;
    tb_array_free(&ctx, &found);
    tb_arena_free(&arena);
    scene_free(s);
  }
  CHECK(all[0] > 200 && all[1] > 10);
}
