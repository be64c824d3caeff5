// SPDX-License-Identifier: Apache-2.0
// Soft blocks on the ground, as one implicit step of finite elements: what each method makes of it, on one
// core.
//
//   build-bench/bench_cr_soft [scene [young [solver…]]]
//
// Scenes: one block of 10 000, 60 000 or 150 000 tetrahedra on the floor, and towers of many small blocks, as
// many and as fine as in Verschoor and Jalba's tables. Contacts sit at the lowest nodes. h = 1e-3 s, ν = 0.2,
// ρ = 1000 kg/m³, μ = 0.5, everything falls at 0.3 m/s and slides. "warm" starts from the answer of a step
// whose velocities were a twentieth different.
#include "bench.h"
#include "tribo/tools/random.h"
#include "fem/body.h"
#include "problem/borrowed.h"
#include "problem/metric.h"
#include "tribo/solver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

// Of this process: other work on the machine does not show. s
static double cpu(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(tbContext* ctx, tbStatus status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "bench_cr_soft: %s\n", ctx->error.message);
  exit(1);
}

typedef struct {
  const char* name;
  int cells[3];
  double edge;        // of a cell, m
  int towers, height; // bodies: as many towers, each so high
} Scene;

static const Scene scenes[] = {
    {"10k", {13, 13, 12}, 0.025, 1, 1},  {"60k", {23, 23, 23}, 0.025, 1, 1},
    {"150k", {44, 44, 16}, 0.025, 1, 1}, {"rings", {3, 3, 3}, 0.03, 30, 4},
    {"pyramid", {4, 4, 5}, 0.03, 35, 4}, {"bunnies", {6, 6, 7}, 0.02, 60, 2},
};

typedef struct {
  tbFemBody* body;
  double *A, *rhs;     // of the bodies, one after the other
  tbCholesky** factor; // (bodies)
  int n, bodies;
  int *bottom, *top, nbottom; // nodes on the lower and the upper face, in the same order
} Soft;

static void make_soft(tbContext* ctx, const Scene* scene, double young, Soft* s)
{
  tbTetMesh* mesh = NULL;
  tbSoftDef def = tb_soft_def();
  def.young = young, def.poisson = 0.2;
  tbVec3 size =
      tb_vec3(scene->edge * scene->cells[0], scene->edge * scene->cells[1], scene->edge * scene->cells[2]);
  check(ctx, tb_tet_box(ctx, size, scene->cells, 5, &mesh));
  check(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, &s->body));
  tb_tet_mesh_free(ctx, mesh);
  s->n = 3 * s->body->nnode;
  s->bodies = scene->towers * scene->height;
  size_t n = (size_t)s->n;
  s->A = malloc((size_t)s->body->K.ptr[n] * (size_t)s->bodies * sizeof *s->A);
  s->factor = calloc((size_t)s->bodies, sizeof *s->factor);
  s->rhs = malloc(n * (size_t)s->bodies * sizeof *s->rhs);
  s->bottom = malloc(n * sizeof *s->bottom), s->top = malloc(n * sizeof *s->top);
  int nb = 0, nt = 0;
  for (int i = 0; i < s->body->nnode; i++) {
    double z = s->body->rest[i].z;
    if (z < -0.4999 * size.z) s->bottom[nb++] = i;
    if (z > 0.4999 * size.z) s->top[nt++] = i;
  }
  s->nbottom = nb;
}

static double* matrix(const Soft* s, int b) { return s->A + (size_t)b * (size_t)s->body->K.ptr[s->n]; }

// Every body a little different: random velocities.
static void step(Soft* s, double shake, uint64_t seed)
{
  size_t n = (size_t)s->n, nodes = n / 3;
  double* f = malloc(n * sizeof *f);
  tbVec3 *x = malloc(nodes * sizeof *x), *v = malloc(nodes * sizeof *v);
  for (int b = 0; b < s->bodies; b++) {
    uint64_t random = seed + (uint64_t)b;
    for (size_t i = 0; i < nodes; i++) {
      double t[3];
      for (int a = 0; a < 3; a++) t[a] = tb_random_uniform(&random, -1, 1);
      x[i] = s->body->rest[i];
      x[i].z *= 0.99;
      v[i] = tb_vec3(0.2 + shake * t[0], 0.1 + shake * t[1], -0.3 + shake * t[2]);
    }
    tb_fem_evaluate(s->body, NULL, x, TB_TANGENT_POSITIVE, f);
    tb_fem_step(s->body, NULL, 1e-3, tb_vec3(0, 0, -9.81), f, v, NULL, matrix(s, b), NULL,
                s->rhs + (size_t)b * n);
  }
  free(f), free(x), free(v);
}

static void factor(tbContext* ctx, Soft* s)
{
  double start = cpu();
  for (int b = 0; b < s->bodies; b++)
    check(ctx, tb_cholesky_analyze(ctx, s->n, s->body->K.ptr, s->body->K.idx, NULL, &s->factor[b]));
  double analyzed = cpu();
  for (int b = 0; b < s->bodies; b++) check(ctx, tb_cholesky_factor(ctx, s->factor[b], matrix(s, b)));
  double factored = cpu();
  tbCholeskyStats stats = tb_cholesky_stats(s->factor[0]);
  double* x = calloc((size_t)s->n, sizeof *x);
  double* room = calloc(tb_cholesky_scratch(s->factor[0], 1), sizeof *room);
  double solving = cpu();
  check(ctx, tb_cholesky_solve(ctx, s->factor[0], 1, s->rhs, x, room));
  double solved = cpu();
  tbMetricBlock b = {
      .kind = TB_METRIC_SPARSE, .size = s->n, .value = s->A, .ptr = s->body->K.ptr, .col = s->body->K.idx};
  tb_metric_measure(&b);
  double* cg_room = calloc(tb_metric_workspace(&b), sizeof *cg_room);
  double multiplying = cpu();
  for (int i = 0; i < 10; i++) tb_metric_rows(&b, 0, s->n, s->rhs, x);
  double multiplied = cpu();
  memcpy(x, s->rhs, (size_t)s->n * sizeof *x);
  double cg = cpu();
  tb_metric_solve(&b, NULL, x, cg_room);
  double cg_done = cpu();
  double gigabytes = 8e-9 * (double)b.ptr[s->n] * (1 + 1.0 / 6);
  printf("  factor: analysis %.1f ms, %.1f ms (%.1f GFlop/s, %.1f MB), solve %.2f ms; conjugate gradients "
         "%.2f ms; "
         "product %.3f ms (%.1f GB/s)\n",
         1e3 * (analyzed - start), 1e3 * (factored - analyzed),
         1e-9 * s->bodies * stats.flops / (factored - analyzed), 1e-6 * s->bodies * (double)stats.bytes,
         1e3 * (solved - solving), 1e3 * (cg_done - cg), 1e2 * (multiplied - multiplying),
         10 * gigabytes / (multiplied - multiplying));
  free(x), free(room), free(cg_room);
}

static tbProblem* make_problem(tbContext* ctx, const Scene* scene, const Soft* s, bool factored)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  size_t n = (size_t)s->n;
  double *v = malloc(n * sizeof *v), *room = calloc(tb_cholesky_scratch(s->factor[0], 1), sizeof *room);
  check(ctx, tb_builder_create(ctx, scene->name, &b));
  for (int i = 0; i < s->bodies; i++) {
    check(ctx, tb_cholesky_solve(ctx, s->factor[i], 1, s->rhs + (size_t)i * n, v, room));
    check(ctx, tb_builder_borrowed(b, s->n, s->body->K.ptr, s->body->K.idx, matrix(s, i), v,
                                   factored ? s->factor[i] : NULL, NULL, NULL, NULL));
  }
  double mu = 0.5, J[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}, minus[9];
  for (int i = 0; i < 9; i++) minus[i] = -J[i];
  for (int i = 0; i < s->bodies; i++)
    for (int k = 0; k < s->nbottom; k++) {
      tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, NULL, NULL);
      tb_builder_jacobian(b, i * s->n + 3 * s->bottom[k], 3, J);
      if (i % scene->height) tb_builder_jacobian(b, (i - 1) * s->n + 3 * s->top[k], 3, minus);
    }
  double start = bench_now();
  check(ctx, tb_builder_finish(b, &p));
  printf("%s %s: %d tetrahedra, %d degrees of freedom, %d contacts; assembled in %.2f ms\n", scene->name,
         factored ? "factored" : "without factors", s->bodies * s->body->nelement[0], p->ndof, p->ncontact,
         1e3 * (bench_now() - start));
  free(v), free(room);
  return p;
}

static void solve(tbContext* ctx, const tbProblem* p, const char* name, tbPreconditioner kind,
                  const double* start)
{
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbSolveResult r;
  tbSolveOptions o = tb_default_solve_options();
  o.solver = name, o.preconditioner = kind;
  o.tolerance = 1e-6, o.max_iterations = 20000, o.time_budget_s = 10;
  if (start) memcpy(lambda, start, (size_t)p->nrow * sizeof *lambda);
  double before = cpu();
  check(ctx, tb_solve(ctx, p, &o, lambda, &r));
  double seconds = cpu() - before;
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("  %-12s %-8s %s %-14s %6d iterations %9.2f ms  residual %.1e  by %s, peak %.0f MB\n", name,
         strcmp(name, "cr") ? "" : tb_preconditioner_name(kind), start ? "warm" : "cold",
         tb_outcome_name(r.outcome), r.iterations, 1e3 * seconds, r.residual.fclib, r.used,
         (double)usage.ru_maxrss / 1024);
  free(lambda);
}

static void run(const Scene* scene, double young, int solvers, char** solver)
{
  tbContext ctx = tb_default_context();
  Soft s = {0};
  static char* usual[] = {"cr", "ica", "staggered", "bgs", "prox-newton", "auto"};
  if (!solvers) solvers = sizeof usual / sizeof *usual, solver = usual;
  printf("\nE = %g Pa\n", young);
  make_soft(&ctx, scene, young, &s);
  step(&s, 0.05, 2);
  factor(&ctx, &s);
  for (int factored = 1; factored >= 0; factored--) {
    step(&s, 0.05 * 1.05, 1);
    tbProblem* before = make_problem(&ctx, scene, &s, true);
    double* start = calloc((size_t)before->nrow, sizeof *start);
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r;
    o.solver = "cr", o.tolerance = 1e-6, o.time_budget_s = 10;
    check(&ctx, tb_solve(&ctx, before, &o, start, &r));
    tb_problem_free(before);
    step(&s, 0.05, 1);
    tbProblem* p = make_problem(&ctx, scene, &s, factored);
    for (int i = 0; i < solvers; i++)
      for (int warm = 0; warm < 2; warm++) {
        const double* from = warm ? start : NULL;
        if (strcmp(solver[i], "cr")) solve(&ctx, p, solver[i], TB_PRECONDITIONER_FULL, from);
        else
          for (int kind = 0; kind < TB_PRECONDITIONER_COUNT; kind++)
            solve(&ctx, p, "cr", (tbPreconditioner)kind, from);
      }
    free(start);
    tb_problem_free(p);
  }
  for (int b = 0; b < s.bodies; b++) tb_cholesky_free(&ctx, s.factor[b]);
  tb_fem_free(&ctx, s.body);
  free(s.factor), free(s.A), free(s.rhs), free(s.bottom), free(s.top);
}

int main(int argc, char** argv)
{
  double young = argc > 2 ? atof(argv[2]) : 0;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    if (argc > 1 && strcmp(argv[1], scenes[i].name)) continue;
    for (double E = 5e5; E <= 5e6; E *= 10)
      if (young == 0 || E == young) run(&scenes[i], E, argc > 3 ? argc - 3 : 0, argv + 3);
  }
  return 0;
}
