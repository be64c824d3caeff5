// SPDX-License-Identifier: Apache-2.0
#include "peers/siconos.h"
#include "bench.h"

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/NumericsSparseMatrix.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/SparseBlockMatrix.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char* const siconos_names[SICONOS_SOLVERS] = {"NSGS",   "NSGS-q", "PROX", "NSN-AC",
                                                    "NSN-FB", "VI-EG",  "ADMM"};

static int solver_id(int solver)
{
  static const int ids[SICONOS_SOLVERS] = {SICONOS_FRICTION_3D_NSGS,   SICONOS_FRICTION_3D_NSGS,
                                           SICONOS_FRICTION_3D_PROX,   SICONOS_FRICTION_3D_NSN_AC,
                                           SICONOS_FRICTION_3D_NSN_FB, SICONOS_FRICTION_3D_VI_EG,
                                           SICONOS_FRICTION_3D_ADMM};
  return ids[solver];
}

// Gauss–Seidel walks blocks of W; the others factor or multiply it.
static NumericsMatrix* matrix(const tbDelassus* W, int dim, bool blocks)
{
  const tbProblem* p = W->problem;
  NumericsMatrix* sparse = NM_create(NM_SPARSE, p->nrow, p->nrow);
  NM_triplet_alloc(sparse, W->ptr[p->ncontact] * dim * dim);
  for (int k = 0; k < p->ncontact; k++)
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++)
      for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++)
          NM_entry(sparse, k * dim + i, W->col[e] * dim + j, W->val[W->val_adr[e] + (size_t)(i * dim + j)]);
  if (!blocks) return sparse;
  NumericsMatrix* M = NM_create(NM_SPARSE_BLOCK, p->nrow, p->nrow);
  SBM_from_csparse(dim, NM_csc(sparse), M->matrix1);
  return M;
}

typedef struct {
  double time_s, residual;
} Answer;

static Answer solve_here(const tbProblem* p, int solver, double tolerance)
{
  tbContext ctx = tb_default_context();
  tbDelassus* W = NULL;
  tbJudge* judge = NULL;
  Answer best = {INFINITY, INFINITY};
  if (tb_delassus_create(&ctx, p, TB_FORM_BLOCKS, &W) != TB_OK || tb_judge_create(&ctx, p, &judge) != TB_OK)
    return best;
  int dim = p->row_adr[1] - p->row_adr[0];
  double *q = malloc(sizeof(double) * (size_t)p->nrow), *mu = malloc(sizeof(double) * (size_t)p->ncontact);
  double *r = malloc(sizeof(double) * (size_t)p->nrow), *u = malloc(sizeof(double) * (size_t)p->nrow);
  // The planar solver stops by an absolute test, so it gets q at size one; λ is as large as q, whatever the
  // size.
  double size = 0;
  for (int i = 0; i < p->nrow && dim == 2; i++) size = fmax(size, fabs(W->q[i]));
  if (!(size > 0)) size = 1;
  for (int i = 0; i < p->nrow; i++) q[i] = W->q[i] / size;
  for (int k = 0; k < p->ncontact; k++) mu[k] = p->param[p->param_adr[k]];
  numerics_set_verbose(0);

  double spent = 0;
  for (int repeat = 0; repeat < 20 && spent < 0.05; repeat++) {
    FrictionContactProblem* problem =
        frictionContactProblem_new_with_data(dim, p->ncontact, matrix(W, dim, solver < 2), q, mu);
    SolverOptions* o = solver_options_create(dim == 2 ? SICONOS_FRICTION_2D_NSGS : solver_id(solver));
    o->dparam[SICONOS_DPARAM_TOL] = tolerance;
    o->iparam[SICONOS_IPARAM_MAX_ITER] = 1000000;
    if (solver == 1 && dim == 3) solver_options_update_internal(o, 0, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC);
    memset(r, 0, sizeof(double) * (size_t)p->nrow);
    memset(u, 0, sizeof(double) * (size_t)p->nrow);
    double start = bench_now();
    if (dim == 2) fc2d_driver(problem, r, u, o);
    else fc3d_driver(problem, r, u, o);
    double elapsed = bench_now() - start;
    spent += elapsed;
    for (int i = 0; i < p->nrow; i++) r[i] *= size;
    tbResidual judged;
    tb_judge_measure(judge, r, TB_MODEL_CONE, 8, &judged, NULL, NULL);
    best.residual = judged.fclib;
    if (elapsed < best.time_s) best.time_s = elapsed;
  }
  return best;
}

void siconos_solve(const tbProblem* p, int solver, double tolerance, double seconds, double* time_s,
                   double* residual)
{
  *time_s = *residual = INFINITY;
  int ends[2];
  if (pipe(ends) != 0) return;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm((unsigned)ceil(seconds) + 1);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    Answer answer = solve_here(p, solver, tolerance);
    _exit(write(ends[1], &answer, sizeof answer) != sizeof answer);
  }
  close(ends[1]);
  Answer answer;
  if (child > 0 && read(ends[0], &answer, sizeof answer) == sizeof answer)
    *time_s = answer.time_s, *residual = answer.residual;
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
}
