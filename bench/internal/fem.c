// SPDX-License-Identifier: Apache-2.0
// Finite elements on one thread: elements per second for energy, force and stiffness, assembly included, and
// memory.
//
//   build-bench/bench_fem
#include "bench.h"
#include "fem/body.h"

#include <malloc.h>
#include <stdlib.h>

static void check(tbContext* ctx, tbStatus status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "bench_fem: %s\n", ctx->error.message);
  exit(1);
}

typedef struct {
  tbFemBody* body;
  tbVec3 *x, *v;
  double *f, *A, *rhs;
} Case;

static void run_energy(void* user)
{
  Case* c = user;
  tb_fem_energy(c->body, c->x);
}

static void run_force(void* user)
{
  Case* c = user;
  tb_fem_evaluate(c->body, NULL, c->x, TB_TANGENT_NONE, c->f);
}

static void run_stiffness(void* user)
{
  Case* c = user;
  tb_fem_evaluate(c->body, NULL, c->x, TB_TANGENT_POSITIVE, c->f);
}

static void run_gather(void* user)
{
  Case* c = user;
  for (int g = 0; g < c->body->assembly.ngroup; g++)
    tb_fem_assembly_add(&c->body->assembly, NULL, g, c->body->upper);
}

static void run_step(void* user)
{
  Case* c = user;
  tb_fem_step(c->body, NULL, 0.01, tb_vec3(0, 0, -9.81), c->f, c->v, NULL, c->A, NULL, c->rhs);
}

// What a body holds, counted by its allocator.
static void* counting_alloc(void* user, size_t size, size_t alignment)
{
  void* pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  *(size_t*)user += malloc_usable_size(pointer);
  return pointer;
}

static void counting_free(void* user, void* pointer)
{
  *(size_t*)user -= malloc_usable_size(pointer);
  free(pointer);
}

static void run_case(tbContext* ctx, const char* name, tbFemBody* body, size_t bytes, double noise)
{
  size_t n = (size_t)body->nnode, entries = (size_t)body->K.ptr[3 * n];
  Case c = {body,
            TB_NEW(ctx, tbVec3, n),
            TB_NEW(ctx, tbVec3, n),
            TB_NEW(ctx, double, 3 * n),
            TB_NEW(ctx, double, entries),
            TB_NEW(ctx, double, 3 * n)};
  for (size_t i = 0; i < n; i++) {
    double t = (double)i;
    c.x[i] = tb_add3(body->rest[i], tb_scale3(noise, tb_vec3(sin(t), sin(2.3 * t), sin(3.7 * t))));
  }
  BenchEntry energy = {run_energy, &c, 0}, force = {run_force, &c, 0}, stiffness = {run_stiffness, &c, 0},
             gather = {run_gather, &c, 0}, step = {run_step, &c, 0};
  BenchEntry all[5] = {energy, force, stiffness, gather, step};
  bench_race(all, 5, 4, 1.0);
  int elements = body->nelement[0] + body->nelement[1];
  double scale = 1e-6 * elements;
  printf("%-12s %8d elements %7d nodes: energy %5.2f M/s, force %5.2f M/s, force and stiffness %5.2f M/s "
         "(gathering %4.1f %%), step %6.2f ms, %5.0f bytes per element\n",
         name, elements, body->nnode, scale / all[0].best, scale / all[1].best, scale / all[2].best,
         100 * all[3].best / all[2].best, 1e3 * all[4].best, (double)bytes / elements);
  tb_free(ctx, c.x);
  tb_free(ctx, c.v);
  tb_free(ctx, c.f);
  tb_free(ctx, c.A);
  tb_free(ctx, c.rhs);
}

int main(void)
{
  tbContext ctx = tb_default_context();
  tbTetMesh* mesh = NULL;
  tbMesh* grid = NULL;
  check(&ctx, tb_tet_box(&ctx, tb_vec3(1, 1, 1), (const int[3]){20, 20, 20}, 5, &mesh));
  tbTetQuality q = tb_tet_mesh_quality(mesh);
  printf("box: radius ratio %.2f at worst, %.2f on average\n", q.worst, q.mean);
  for (int model = 0; model < TB_ELASTIC_COUNT; model++) {
    size_t bytes = 0;
    tbContext counting = ctx;
    counting.allocator = (tbAllocator){counting_alloc, counting_free, &bytes};
    tbSoftDef def = tb_soft_def();
    def.model = (tbElasticModel)model;
    tbFemBody* body = NULL;
    check(&counting, tb_fem_soft_create(&counting, mesh, &def, (tbFemSprings){0}, &body));
    run_case(&ctx, tb_elastic_name(def.model), body, bytes, 0.005);
    tb_fem_free(&counting, body);
  }
  check(&ctx, tb_cloth_grid(&ctx, 1, 1, 77, 77, &grid));
  size_t bytes = 0;
  tbContext counting = ctx;
  counting.allocator = (tbAllocator){counting_alloc, counting_free, &bytes};
  tbClothDef def = tb_cloth_def();
  tbFemBody* body = NULL;
  check(&counting, tb_fem_cloth_create(&counting, grid, &def, (tbFemSprings){0}, &body));
  run_case(&ctx, "cloth", body, bytes, 0.002);
  tb_fem_free(&counting, body);
  tb_mesh_free(&ctx, grid);
  tb_tet_mesh_free(&ctx, mesh);
  return 0;
}
