// SPDX-License-Identifier: Apache-2.0
#include "modal/lanczos.h"

#include "math/ldu.h"

#include <string.h>

enum { LARGE = 4000 };            // nodes
static const double SHIFT = 1e-3; // of the lowest eigenvalue

void tb_modal_mass(const tbFemBody* fem, const double* u, double* out)
{
  for (int i = 0; i < fem->nnode; i++)
    tb_store3(out + 3 * (size_t)i, fem->pinned[i] ? tb_zero3() : tb_fem_momentum(fem, (const tbVec3*)u, i));
}

static bool any_pinned(const tbFemBody* fem)
{
  for (int i = 0; i < fem->nnode; i++)
    if (fem->pinned[i]) return true;
  return false;
}

// u ← u − Σ r (rᵀMu), twice.
static void deflate(const tbModalSystem* s, double* u, double* Mu)
{
  int n = 3 * s->fem->nnode;
  for (int pass = 0; pass < 2; pass++) {
    tb_modal_mass(s->fem, u, Mu);
    for (int k = 0; k < s->nrigid; k++) {
      const double* r = s->rigid + (size_t)k * (size_t)n;
      double c = tb_dot(n, r, Mu);
      for (int i = 0; i < n; i++) u[i] -= c * r[i];
    }
  }
}

// Translations and rotations about the centre of mass.
static void make_rigid(tbModalSystem* s, double* Mu)
{
  const tbFemBody* fem = s->fem;
  size_t n = 3 * (size_t)fem->nnode;
  double mass = 0;
  tbVec3 centre = tb_zero3();
  for (int i = 0; i < fem->nnode; i++) mass += fem->mass[i];
  for (int i = 0; i < fem->nnode; i++) centre = tb_madd3(centre, fem->mass[i] / mass, fem->rest[i]);
  for (int k = 0; k < 6; k++) {
    double* r = s->rigid + (size_t)k * n;
    tbVec3 axis = tb_vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
    for (int i = 0; i < fem->nnode; i++)
      tb_store3(r + 3 * (size_t)i, k < 3 ? axis : tb_cross3(axis, tb_sub3(fem->rest[i], centre)));
    s->nrigid = k;
    deflate(s, r, Mu);
    tb_modal_mass(fem, r, Mu);
    double size = 1 / sqrt(tb_dot((int)n, r, Mu));
    for (size_t i = 0; i < n; i++) r[i] *= size;
  }
  s->nrigid = 6;
}

// The least of Rayleigh's quotients of fields x_a x_b e_c, and of x_a e_c where nodes are pinned; without
// what is rigid in them, and without those that have no energy: nodes on one line leave a rotation.
static double lowest(const tbModalSystem* s, double* u, double* Mu)
{
  const tbFemBody* fem = s->fem;
  int n = 3 * fem->nnode;
  tbCsr K = fem->K;
  K.val = s->K;
  double least = INFINITY, stiff = 0; // of the stiffest node
  for (int i = 0; i < n; i++)
    for (int k = K.ptr[i]; k < K.ptr[i + 1]; k++)
      if (K.idx[k] == i) stiff = fmax(stiff, K.val[k] / fem->mass[i / 3]);
  for (int a = -1; a < 3; a++)
    for (int b = 0; b < 3; b++)
      for (int c = 0; c < 3; c++) {
        for (int i = 0; i < n; i++) {
          const double *x = &fem->rest[i / 3].x, *o = &fem->rest[0].x;
          double first = a < 0 ? 1 : x[a] - o[a];
          u[i] = i % 3 == c && !fem->pinned[i / 3] ? first * (x[b] - o[b]) : 0;
        }
        tb_modal_mass(fem, u, Mu);
        double whole = tb_dot(n, u, Mu);
        deflate(s, u, Mu);
        tb_modal_mass(fem, u, Mu);
        double size = tb_dot(n, u, Mu);
        tb_csr_multiply(&K, u, Mu);
        double energy = tb_dot(n, u, Mu);
        if (size > 1e-12 * whole && energy > 1e-12 * stiff * size) least = fmin(least, energy / size);
      }
  return least;
}

// K of pinned rows and columns: the identity, times the stiffness it had.
static void pin(const tbFemBody* fem, double* A)
{
  const tbCsr* K = &fem->K;
  for (int i = 0; i < K->rows; i++)
    for (int n = K->ptr[i]; n < K->ptr[i + 1]; n++)
      if ((fem->pinned[i / 3] || fem->pinned[K->idx[n] / 3]) && i != K->idx[n]) A[n] = 0;
}

static void add_mass(const tbFemBody* fem, double shift, double* A)
{
  const tbFemAssembly* s = &fem->assembly;
  for (int i = 0; i < fem->nnode; i++)
    for (int axis = 0; axis < 3; axis++) {
      double* row = A + tb_fem_assembly_row(s, i, axis) + axis;
      for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++) {
        if (fem->pinned[i] || fem->pinned[s->col[b]]) continue;
        double m = fem->mass_block ? fem->mass_block[b] : b == s->diag[i] ? fem->mass[i] : 0;
        row[3 * (b - s->ptr[i])] += shift * m;
      }
    }
}

static tbStatus factor(tbContext* ctx, tbArena* arena, tbModalSystem* s)
{
  const tbCsr* K = &s->fem->K;
  size_t n = (size_t)K->rows;
  double* A = TB_TAKE(arena, double, (size_t)K->ptr[n]);
  if (!A) return TB_ERROR_MEMORY;
  memcpy(A, s->K, (size_t)K->ptr[n] * sizeof *A);
  add_mass(s->fem, s->shift, A);
  tbCholeskyOptions how = {.ordering = s->fem->nnode > LARGE ? TB_ORDERING_AUTO : TB_ORDERING_DEGREE};
  TB_TRY(tb_cholesky_analyze(ctx, (int)n, K->ptr, K->idx, &how, &s->factor));
  return tb_cholesky_factor(ctx, s->factor, A);
}

tbStatus tb_modal_system(tbContext* ctx, tbArena* arena, tbFemBody* fem, tbModalSystem* out)
{
  size_t n = 3 * (size_t)fem->nnode;
  *out = (tbModalSystem){
      .fem = fem, .K = TB_TAKE(arena, double, (size_t)fem->K.ptr[n]), .rigid = TB_TAKE(arena, double, 6 * n)};
  double *u = TB_TAKE(arena, double, n), *Mu = TB_TAKE(arena, double, n);
  if (!out->K || !out->rigid || !u || !Mu) return TB_ERROR_MEMORY;
  tb_fem_evaluate(fem, ctx->threads, fem->rest, TB_TANGENT_POSITIVE, NULL);
  tb_fem_stiffness(fem, ctx->threads, out->K);
  pin(fem, out->K);
  if (!any_pinned(fem)) make_rigid(out, Mu);
  out->shift = SHIFT * lowest(out, u, Mu);
  if (!(out->shift > 0) || !isfinite(out->shift))
    return tb_fail(ctx, TB_ERROR_INPUT, "the body cannot deform: it has no modes");
  return factor(ctx, arena, out);
}

void tb_modal_system_free(tbContext* ctx, tbModalSystem* s)
{
  tb_cholesky_free(ctx, s->factor);
  s->factor = NULL;
}

tbStatus tb_modal_solve(tbContext* ctx, const tbModalSystem* s, int count, const double* b, double* out)
{
  size_t n = 3 * (size_t)s->fem->nnode, sides = (size_t)count;
  double* turned = TB_NEW(ctx, double, n* sides); // as the factor takes them: side by side
  double* scratch = TB_NEW(ctx, double, tb_cholesky_scratch(s->factor, count));
  tbStatus status = turned && scratch ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    for (size_t c = 0; c < sides; c++)
      for (size_t i = 0; i < n; i++) turned[i * sides + c] = b[c * n + i];
    status = tb_cholesky_solve(ctx, s->factor, count, turned, turned, scratch);
  }
  for (size_t c = 0; status == TB_OK && c < sides; c++)
    for (size_t i = 0; i < n; i++) out[c * n + i] = turned[i * sides + c];
  tb_free(ctx, turned);
  tb_free(ctx, scratch);
  return status;
}
