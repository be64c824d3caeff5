// SPDX-License-Identifier: Apache-2.0
// The search for contacts among deformable surfaces, one step: candidates, what is near, what meets, and
// whether anything crosses.
//
//   bench_surfaces [THREADS]
//
//   rings   120 elastic rings of 144 triangles in stacks, a hair apart, that sag and slide (Verschoor and
//   Jalba) ring    one of 73,600 triangles that may touch itself, swinging cloth   a square of 20,000
//   triangles, flat, on a fixed floor of 20,000
#include "bench.h"
#include "tribo/tools/random.h"
#include "collide/intersect.h"
#include "collide/surfaces.h"
#include "fem/tets.h"
#include "geometry/mesh.h"

#include <stdlib.h>

enum { MOST = 128 };

typedef struct {
  const char* name;
  tbSurfaceMesh* surface[MOST];
  tbMovingSurface moving[MOST];
  tbTriangles triangles[MOST];
  tbVec3 *start[MOST], *end[MOST];
  tbSurfaceScene scene;
  int ntriangle;
  double reach, clearance;
} Scene;

typedef struct {
  tbContext* ctx;
  Scene* scene;
  tbSurfaceCandidates candidates;
  tbArray near, meet;
  tbIntersections crossing;
} Step;

static void need(tbContext* ctx, tbStatus status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "%s\n", ctx->error.message);
  exit(1);
}

static tbMovingSurface* add(tbContext* ctx, Scene* s, const tbVec3* x, int n, const int (*triangle)[3],
                            int count)
{
  int i = s->scene.nsurface++;
  need(ctx, tb_surface_mesh_create(ctx, x, n, triangle, count, &s->surface[i]));
  s->start[i] = malloc(sizeof(tbVec3) * (size_t)s->surface[i]->nvertex);
  s->end[i] = malloc(sizeof(tbVec3) * (size_t)s->surface[i]->nvertex);
  if (!s->start[i] || !s->end[i]) exit(1);
  s->moving[i] =
      (tbMovingSurface){.surface = s->surface[i], .start = s->start[i], .end = s->end[i], .body = i};
  s->triangles[i] = (tbTriangles){.vertex = s->start[i],
                                  .nvertex = s->surface[i]->nvertex,
                                  .triangle = (const int(*)[3])s->surface[i]->triangle,
                                  .ntriangle = count,
                                  .body = i};
  s->ntriangle += count;
  s->scene.surface = s->moving;
  return &s->moving[i];
}

// Every vertex goes where the transforms take it, and a little aside.
static void move(Scene* s, int i, tbTransform from, tbTransform to, double jitter, uint64_t* random)
{
  for (int v = 0; v < s->surface[i]->nvertex; v++) {
    s->start[i][v] = tb_transform_point(from, s->surface[i]->rest[v]);
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = tb_random_uniform(random, -jitter, jitter);
    s->end[i][v] = tb_add3(tb_transform_point(to, s->surface[i]->rest[v]), tb_load3(d));
  }
}

static void make_rings(tbContext* ctx, Scene* s)
{
  tbTetMesh* ring = NULL;
  uint64_t random = 1;
  need(ctx, tb_tet_ring(ctx, 0.03, 0.05, 0.02, (int[]){1, 18, 1}, &ring));
  for (int k = 0; k < 120; k++) {
    add(ctx, s, ring->node, ring->nnode, (const int(*)[3])ring->triangle, ring->ntriangle)->self = true;
    tbVec3 x = tb_vec3(0.11 * (k / 10 % 4), 0.11 * (k / 40), 0.02002 * (k % 10));
    tbTransform from = tb_transform(tb_quat_exp(tb_vec3(0, 0, 0.3 * k)), x), to = from;
    to.x = tb_add3(x, tb_vec3(tb_random_uniform(&random, -3e-4, 3e-4), 0, -2e-5 * (k % 10)));
    move(s, k, from, to, 2e-5, &random);
  }
  s->name = "rings", s->clearance = 1e-5, s->reach = 7e-5;
  tb_tet_mesh_free(ctx, ring);
}

static void make_ring(tbContext* ctx, Scene* s)
{
  tbTetMesh* ring = NULL;
  uint64_t random = 1;
  need(ctx, tb_tet_ring(ctx, 0.9, 1, 1, (int[]){4, 460, 36}, &ring));
  add(ctx, s, ring->node, ring->nnode, (const int(*)[3])ring->triangle, ring->ntriangle)->self = true;
  tbTransform to = tb_transform(tb_quat_exp(tb_vec3(1e-3, 0, 0)), tb_vec3(1e-3, 0, -1e-3));
  move(s, 0, tb_transform_identity(), to, 1e-4, &random);
  s->name = "ring", s->clearance = 1e-5, s->reach = 7e-5;
  tb_tet_mesh_free(ctx, ring);
}

static void make_cloth(tbContext* ctx, Scene* s)
{
  tbMesh* grid = NULL;
  uint64_t random = 1;
  need(ctx, tb_cloth_grid(ctx, 1, 1, 100, 100, &grid));
  for (int k = 0; k < 2; k++)
    add(ctx, s, grid->vertex, grid->nvertex, (const int(*)[3])grid->triangle, grid->ntriangle);
  s->moving[0].self = true, s->moving[0].radius = 5e-4;
  s->moving[1].fixed = s->moving[1].rigid = s->triangles[1].rigid = true;
  tbTransform tilt = tb_transform(tb_quat_exp(tb_vec3(0.1, 0.2, 0.3)), tb_zero3()), over = tilt, to;
  over.x = tb_quat_rotate(tilt.q, tb_vec3(0.0031, 0.0017, 5.1e-4));
  to = over, to.x.z -= 1e-5;
  move(s, 0, over, to, 0, &random);
  move(s, 1, tilt, tilt, 0, &random);
  s->name = "cloth", s->clearance = 1e-5, s->reach = 7e-5;
  tb_mesh_free(ctx, grid);
}

static void find(void* user)
{
  Step* s = user;
  need(s->ctx, tb_surface_find(s->ctx, &s->scene->scene, s->scene->reach, 3, &s->candidates));
}

static void near(void* user)
{
  Step* s = user;
  s->near.count = 0;
  need(s->ctx, tb_surface_near(s->ctx, &s->scene->scene, &s->candidates, 3 * s->scene->clearance, &s->near));
}

static void meet(void* user)
{
  Step* s = user;
  s->meet.count = 0;
  need(s->ctx,
       tb_surface_meet(s->ctx, &s->scene->scene, &s->candidates, 0.05 * s->scene->clearance, &s->meet));
}

static void cross(void* user)
{
  Step* s = user;
  need(s->ctx, tb_count_intersections(s->ctx, s->scene->triangles, s->scene->scene.nsurface, &s->crossing));
}

static void measure(tbContext* ctx, Scene* scene)
{
  Step s = {
      .ctx = ctx, .scene = scene, .near = TB_ARRAY(tbSurfaceContact), .meet = TB_ARRAY(tbSurfaceContact)};
  tb_surface_candidates_init(&s.candidates);
  find(&s);
  BenchEntry e[4] = {{find, &s, 0}, {near, &s, 0}, {meet, &s, 0}, {cross, &s, 0}};
  bench_race(e, 4, 4, 2);
  size_t count = s.candidates.face_vertex.count + s.candidates.edge_edge.count;
  printf("%s: %d triangles, %zu + %zu candidates, %zu near, %zu meet, %lld cross\n", scene->name,
         scene->ntriangle, s.candidates.face_vertex.count, s.candidates.edge_edge.count, s.near.count,
         s.meet.count, (long long)s.crossing.crossing);
  static const char* const name[] = {"candidates", "near", "meet", "crossings"};
  for (int k = 0; k < 4; k++) {
    printf("  %-12s %9.3f ms  %7.3f µs per triangle", name[k], 1e3 * e[k].best,
           1e6 * e[k].best / scene->ntriangle);
    if (k == 1 || k == 2) printf("  %7.3f µs per candidate", 1e6 * e[k].best / (double)(count + 1));
    printf("\n");
  }
  tb_surface_candidates_free(ctx, &s.candidates);
  tb_array_free(ctx, &s.near);
  tb_array_free(ctx, &s.meet);
}

int main(int argc, char** argv)
{
  tbContext ctx = tb_default_context();
  void (*make[])(tbContext*, Scene*) = {make_rings, make_ring, make_cloth};
  if (argc > 1) need(&ctx, tb_threads_create(&ctx, atoi(argv[1]), &ctx.threads));
  for (int k = 0; k < 3; k++) {
    Scene* s = calloc(1, sizeof *s);
    if (!s) return 1;
    make[k](&ctx, s);
    measure(&ctx, s);
    for (int i = 0; i < s->scene.nsurface; i++) {
      tb_surface_mesh_free(&ctx, s->surface[i]);
      free(s->start[i]);
      free(s->end[i]);
    }
    free(s);
  }
  tb_threads_destroy(&ctx, ctx.threads);
  return 0;
}
