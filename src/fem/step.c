// SPDX-License-Identifier: Apache-2.0
// The linear system of one implicit step, and the momentum of a node.
#include "base/threads.h"
#include "fem/body.h"

#include <string.h>

tbVec3 tb_fem_momentum(const tbFemBody* body, const tbVec3* v, int i)
{
  const tbFemAssembly* s = &body->assembly;
  if (!body->mass_block) return tb_scale3(body->mass[i], v[i]);
  tbVec3 sum = tb_zero3();
  for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++) sum = tb_madd3(sum, body->mass_block[b], v[s->col[b]]);
  return sum;
}

typedef struct {
  const tbFemBody* body;
  double h;
  tbVec3 gravity;
  const double* f;
  const tbVec3 *v, *pin;
  double *A, *packed, *rhs;
} Job;

// The upper block of the stiffness that block b of the row of node i is, or is the transpose of.
static inline void put(const tbFemBody* body, int i, int b, double scale, double* row, int stride)
{
  const tbFemAssembly* s = &body->assembly;
  const double* K = body->upper[tb_fem_assembly_upper(s, i, b)];
  bool lower = b < s->diag[i];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) row[r * stride + c] = scale * (lower ? K[3 * c + r] : K[3 * r + c]);
}

// A = (1 + hα) M + h drag + (h² + hβ) K, the three rows of a node.
static void fill(const Job* job, int i)
{
  const tbFemBody* body = job->body;
  const tbFemAssembly* s = &body->assembly;
  double h = job->h, stiff = h * h + h * body->stiffness_damping, heavy = 1 + h * body->mass_damping;
  for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
    put(body, i, b, stiff, job->A + tb_fem_assembly_row(s, i, 0) + 3 * (b - s->ptr[i]),
        3 * (s->ptr[i + 1] - s->ptr[i]));
  for (int axis = 0; axis < 3; axis++) {
    double* row = job->A + tb_fem_assembly_row(s, i, axis);
    double* diag = row + 3 * (s->diag[i] - s->ptr[i]) + axis;
    if (!body->mass_block) *diag += heavy * body->mass[i];
    else
      for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
        row[3 * (b - s->ptr[i]) + axis] += heavy * body->mass_block[b];
    if (body->drag) *diag += h * body->drag[i];
  }
}

// M (v + h g) + h f
static tbVec3 impulse(const Job* job, int i)
{
  const tbFemBody* body = job->body;
  const tbFemAssembly* s = &body->assembly;
  tbVec3 sum = tb_scale3(job->h, tb_load3(job->f + 3 * (size_t)i));
  if (!body->mass_block) return tb_madd3(sum, body->mass[i], tb_madd3(job->v[i], job->h, job->gravity));
  for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
    sum = tb_madd3(sum, body->mass_block[b], tb_madd3(job->v[s->col[b]], job->h, job->gravity));
  return sum;
}

// What pinned columns contribute is known: it moves to the right-hand side.
static void eliminate(const Job* job, int i)
{
  const tbFemBody* body = job->body;
  const tbFemAssembly* s = &body->assembly;
  for (int axis = 0; axis < 3; axis++) {
    double *row = job->A + tb_fem_assembly_row(s, i, axis), *r = job->rhs + 3 * (size_t)i + axis;
    double* diag = row + 3 * (s->diag[i] - s->ptr[i]) + axis;
    double fixed = TB_FEM_PIN * *diag;
    for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++) {
      int j = s->col[b];
      if (!body->pinned[i] && !body->pinned[j]) continue;
      double* entry = row + 3 * (b - s->ptr[i]);
      if (job->pin && !body->pinned[i]) *r -= tb_dot3(tb_load3(entry), job->pin[j]);
      entry[0] = entry[1] = entry[2] = 0;
    }
    if (!body->pinned[i]) continue;
    *diag = fixed;
    *r = job->pin ? fixed * (&job->pin[i].x)[axis] : 0;
  }
}

static void pack(const Job* job, int i)
{
  const tbFemAssembly* s = &job->body->assembly;
  int above = s->ptr[i + 1] - s->diag[i], stride = 3 * (s->ptr[i + 1] - s->ptr[i]);
  const double* row = job->A + tb_fem_assembly_row(s, i, 0) + 3 * (s->diag[i] - s->ptr[i]);
  double* to = job->packed + 9 * (size_t)s->upper_adr[i];
  for (int b = 0; b < above; b++, row += 3, to += 9)
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) to[3 * r + c] = row[r * stride + c];
}

static void rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  for (int i = begin; i < end; i++) {
    fill(job, i);
    tb_store3(job->rhs + 3 * (size_t)i, impulse(job, i));
    eliminate(job, i);
    if (job->packed) pack(job, i);
  }
}

void tb_fem_step(const tbFemBody* body, tbThreads* threads, double h, tbVec3 gravity, const double* f,
                 const tbVec3* v, const tbVec3* pin, double* A, double* packed, double* rhs)
{
  Job job = {body, h, gravity, f, v, pin, A, packed, rhs};
  tb_parallel_for(threads, body->nnode, 128, rows, &job);
  if (packed) memset(packed + 9 * (size_t)body->assembly.upper_adr[body->nnode], 0, 3 * sizeof *packed);
}

static void stiffness(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemAssembly* s = &job->body->assembly;
  for (int i = begin; i < end; i++)
    for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
      put(job->body, i, b, 1, job->A + tb_fem_assembly_row(s, i, 0) + 3 * (b - s->ptr[i]),
          3 * (s->ptr[i + 1] - s->ptr[i]));
}

void tb_fem_stiffness(const tbFemBody* body, tbThreads* threads, double* val)
{
  Job job = {.body = body, .A = val};
  tb_parallel_for(threads, body->nnode, 128, stiffness, &job);
}
