// SPDX-License-Identifier: Apache-2.0
#include "solve/joint_block.h"

#include "math/dense.h"

#include <string.h>

enum { MOST = 2000 };
static const double EPSILON = 1e-10;

static int count_rows(const tbProblem* p, int* row)
{
  int n = 0;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; p->law[k] == TB_LAW_BILATERAL && i < p->row_adr[k + 1]; i++, n++)
      if (row) row[n] = i;
  return n;
}

void tb_joint_solve_layout(tbJointSolve* j, tbScratch* s, const tbDelassus* W, const tbSolveOptions* o)
{
  int n = o->blocks == TB_BLOCKS_JOINTS ? count_rows(W->problem, NULL) : 0;
  j->n = n <= MOST ? n : 0;
  size_t size = (size_t)j->n;
  j->row = TB_SCRATCH(s, int, size);
  j->swap = TB_SCRATCH(s, int, size);
  j->factor = TB_SCRATCH(s, double, size* size);
  j->x = TB_SCRATCH(s, double, size);
  j->u = TB_SCRATCH(s, double, j->n ? 2 * (size_t)W->problem->nrow : 0);
  j->workspace = TB_SCRATCH(s, double, j->n ? tb_delassus_workspace(W) : 0);
}

void tb_joint_solve_begin(tbJointSolve* j, tbRun* run)
{
  size_t n = (size_t)j->n, rows = (size_t)run->p->nrow;
  double sum = 0;
  j->run = run;
  if (!j->n) return;
  double* unit = j->u + rows;
  count_rows(run->p, j->row);
  memset(unit, 0, rows * sizeof *unit);
  for (size_t c = 0; c < n && !tb_run_stops(run); c++) {
    unit[j->row[c]] = 1;
    tb_delassus_apply(run->W, run->threads, unit, j->u, j->workspace);
    unit[j->row[c]] = 0;
    for (size_t r = 0; r < n; r++) j->factor[r * n + c] = j->u[j->row[r]];
    sum += j->factor[c * n + c];
  }
  for (size_t r = 0; r < n; r++) j->factor[r * n + r] += EPSILON * sum / (double)n;
  if (!(sum > 0) || tb_run_stops(run) || tb_dense_lu(j->n, j->factor, j->n, j->swap) < j->n) j->n = 0;
}

bool tb_joint_solve(tbJointSolve* j, double* lambda)
{
  if (!j->n) return false;
  const tbDelassus* W = j->run->W;
  tb_delassus_apply(W, j->run->threads, lambda, j->u, j->workspace);
  for (int i = 0; i < j->n; i++) j->x[i] = -j->u[j->row[i]] - W->q[j->row[i]];
  tb_dense_lu_solve(j->n, j->factor, j->n, j->swap, j->x);
  for (int i = 0; i < j->n; i++) lambda[j->row[i]] += j->x[i];
  j->run->operations += 2.0 * j->n * j->n;
  return true;
}

const char* tb_sweep_blocks_name(tbSweepBlocks blocks)
{
  static const char* const names[TB_BLOCKS_COUNT] = {"contacts", "joints", "layers"};
  return (unsigned)blocks < TB_BLOCKS_COUNT ? names[blocks] : "unknown";
}
