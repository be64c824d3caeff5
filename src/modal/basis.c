// SPDX-License-Identifier: Apache-2.0
#include "modal/basis.h"

#include "base/simd.h"

#include "math/eigen.h"
#include "math/ldu.h"
#include "modal/derivatives.h"
#include "modal/lanczos.h"

#include <string.h>

tbVec3 tb_modal_at(const tbModalBasis* b, int node, const double* q)
{
  const double* row = b->field + 3 * (size_t)node * (size_t)b->nmode;
  int r = b->nmode, k = 0;
  tb4d x = tb4_set1(0), y = x, z = x;
  for (; k + 4 <= r; k += 4) {
    tb4d at = tb4_load(q + k);
    x = tb4_add(x, tb4_mul(tb4_load(row + k), at));
    y = tb4_add(y, tb4_mul(tb4_load(row + r + k), at));
    z = tb4_add(z, tb4_mul(tb4_load(row + 2 * r + k), at));
  }
  double u[3] = {tb4_sum(x), tb4_sum(y), tb4_sum(z)};
  for (; k < r; k++) u[0] += row[k] * q[k], u[1] += row[r + k] * q[k], u[2] += row[2 * r + k] * q[k];
  return tb_load3(u);
}

tbStatus tb_modal_basis_make(tbContext* ctx, const tbFemBody* fem, int modes, tbModalBasis** out)
{
  tbModalBasis* b = TB_NEW(ctx, tbModalBasis, 1);
  if (!b) return TB_ERROR_MEMORY;
  b->users = 1;
  tb_arena_init(&b->arena, ctx);
  size_t r = (size_t)modes;
  b->nnode = fem->nnode, b->nmode = modes;
  for (int i = 0; i < fem->nnode; i++) b->pinned = b->pinned || fem->pinned[i];
  b->field = TB_TAKE(&b->arena, double, 3 * (size_t)fem->nnode * r);
  b->omega2 = TB_TAKE(&b->arena, double, r);
  b->moments.shift = TB_TAKE(&b->arena, tbVec3, r);
  b->moments.linear = TB_TAKE(&b->arena, tbMat3, r);
  b->moments.quadratic = TB_TAKE(&b->arena, tbMat3, r * r);
  *out = b;
  if (b->field && b->omega2 && b->moments.shift && b->moments.linear && b->moments.quadratic) return TB_OK;
  tb_modal_basis_free(ctx, b);
  *out = NULL;
  return TB_ERROR_MEMORY;
}

void tb_modal_basis_free(tbContext* ctx, tbModalBasis* b)
{
  if (!b || --b->users > 0) return;
  tb_polynomial_free(ctx, b->polynomial);
  tb_cubature_free(ctx, b->cubature);
  b->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&b->arena);
  tb_free(ctx, b);
}

static bool same(const double* a, const double* b, size_t count)
{
  return memcmp(a, b, count * sizeof *a) == 0;
}

bool tb_modal_basis_same(const tbModalBasis* a, const tbModalBasis* b)
{
  size_t r = (size_t)a->nmode, n = 3 * (size_t)a->nnode;
  if (a->nnode != b->nnode || a->nmode != b->nmode || a->pinned != b->pinned ||
      !a->polynomial != !b->polynomial || !a->cubature != !b->cubature)
    return false;
  const tbModalMoments *x = &a->moments, *y = &b->moments;
  if (x->mass != y->mass || !same(x->rest.m[0], y->rest.m[0], 9) || !same(&x->first.x, &y->first.x, 3) ||
      !same(a->omega2, b->omega2, r) || !same(a->field, b->field, n * r) ||
      !same(x->linear->m[0], y->linear->m[0], 9 * r) || !same(&x->shift->x, &y->shift->x, 3 * r) ||
      !same(x->quadratic->m[0], y->quadratic->m[0], 9 * r * r))
    return false;
  const tbPolynomial *p = a->polynomial, *q = b->polynomial;
  size_t pairs = p ? (size_t)p->pairs : 0;
  if (p && !(same(p->K, q->K, r * r) && same(p->A, q->A, pairs * r) && same(p->B, q->B, pairs * pairs)))
    return false;
  const tbCubature *c = a->cubature, *d = b->cubature;
  size_t count = c ? (size_t)c->count : 0;
  return !c || (c->count == d->count && c->mu == d->mu && c->lambda == d->lambda &&
                same(c->weight, d->weight, count) && same(c->G, d->G, 9 * count * r));
}

// The moments, of masses at nodes or of the consistent matrix: M is symmetric, so that Σ m a bᵀ = Σ a (Mb)ᵀ.
static tbStatus weigh(tbContext* ctx, const tbFemBody* fem, tbModalBasis* b)
{
  tbModalMoments* m = &b->moments;
  size_t r = (size_t)b->nmode;
  double *u = TB_NEW(ctx, double, 3 * (size_t)fem->nnode), *Mu = TB_NEW(ctx, double, 3 * (size_t)fem->nnode);
  tbStatus status = u && Mu ? TB_OK : TB_ERROR_MEMORY;
  m->mass = 0, m->first = tb_zero3(), m->rest = tb_mat3_zero();
  for (int i = 0; status == TB_OK && i < fem->nnode; i++) {
    tbVec3 Mx = tb_fem_momentum(fem, fem->rest, i);
    m->mass += fem->mass[i];
    m->first = tb_madd3(m->first, fem->mass[i], fem->rest[i]);
    m->rest = tb_mat3_add(m->rest, tb_mat3_outer(fem->rest[i], Mx));
  }
  for (size_t k = 0; status == TB_OK && k < r; k++) {
    for (size_t i = 0; i < 3 * (size_t)fem->nnode; i++) u[i] = b->field[i * r + k];
    for (int i = 0; i < fem->nnode; i++)
      tb_store3(Mu + 3 * (size_t)i, tb_fem_momentum(fem, (const tbVec3*)u, i));
    m->shift[k] = tb_zero3(), m->linear[k] = tb_mat3_zero();
    for (size_t l = 0; l < r; l++) m->quadratic[l * r + k] = tb_mat3_zero();
    for (int i = 0; i < fem->nnode; i++) {
      tbVec3 own = tb_load3(Mu + 3 * (size_t)i);
      m->shift[k] = tb_add3(m->shift[k], own);
      m->linear[k] = tb_mat3_add(m->linear[k], tb_mat3_outer(fem->rest[i], own));
      const double* row = b->field + 3 * (size_t)i * r;
      for (size_t l = 0; l < r; l++)
        for (int a = 0; a < 3; a++)
          for (int c = 0; c < 3; c++) m->quadratic[l * r + k].m[a][c] += row[(size_t)a * r + l] * (&own.x)[c];
    }
  }
  tb_free(ctx, u);
  tb_free(ctx, Mu);
  return status;
}

// What rounding leaves of moments that vanish, where nothing is pinned: momentum is then kept exactly.
static void clean(tbModalBasis* b)
{
  tbModalMoments* m = &b->moments;
  if (b->pinned) return;
  m->first = tb_zero3();
  for (int k = 0; k < b->nmode; k++) {
    m->shift[k] = tb_zero3();
    tbMat3 S = m->linear[k]; // Σ m x × u = 0: symmetric
    m->linear[k] = tb_mat3_scale(0.5, tb_mat3_add(S, tb_mat3_transpose(S)));
  }
}

tbStatus tb_modal_basis_finish(tbContext* ctx, const tbFemBody* fem, bool stvk, tbModalBasis* b)
{
  TB_TRY(weigh(ctx, fem, b));
  clean(b);
  if (!stvk || tb_modal_is_stvk(b)) return TB_OK;
  if (tb_cubature_pays(fem->nelement[0], b->nmode))
    return tb_cubature_create(ctx, fem, b->nmode, b->field, b->omega2, &b->cubature);
  return tb_polynomial_create(ctx, fem, b->nmode, b->field, &b->polynomial);
}

double tb_modal_energy(const tbModalBasis* b, const double* q, double* force, double* stiffness, double* work)
{
  if (b->polynomial) return tb_polynomial_evaluate(b->polynomial, q, force, stiffness, work);
  if (b->cubature) return tb_cubature_evaluate(b->cubature, q, force, stiffness, work);
  double energy = 0;
  for (int k = 0; k < b->nmode; k++) {
    energy += 0.5 * b->omega2[k] * q[k] * q[k];
    if (force) force[k] = -b->omega2[k] * q[k];
  }
  return energy;
}

size_t tb_modal_energy_work(const tbModalBasis* b)
{
  return b->polynomial ? tb_polynomial_work(b->polynomial) : b->cubature ? tb_cubature_work(b->cubature) : 0;
}

// ---- fields ----

// M-orthonormal vectors that span the same, in which K is diagonal: vectors ← vectors · (eigenvectors of
// VᵀKV), once V is orthonormal. Vectors come with length 1 or 0. Returns how many are left: those that depend
// on others are dropped.
static tbStatus diagonalise(tbContext* ctx, const tbModalSystem* s, int* count, double* V, double* value)
{
  int n = 3 * s->fem->nnode, kept = 0;
  size_t N = (size_t)n, c = (size_t)*count;
  double *Mx = TB_NEW(ctx, double, N), *T = TB_NEW(ctx, double, c*c), *W = TB_NEW(ctx, double, c*N);
  double* work = TB_NEW(ctx, double, c);
  tbStatus status = Mx && T && W && work ? TB_OK : TB_ERROR_MEMORY;
  tbCsr K = s->fem->K;
  K.val = s->K;
  for (int k = 0; status == TB_OK && k < *count; k++) {
    double *x = V + (size_t)k * N, size = 0; // 1, before
    for (int pass = 0; pass < 3; pass++) {
      tb_modal_mass(s->fem, x, Mx);
      size = sqrt(fmax(tb_dot(n, x, Mx), 0));
      if (pass == 2) break;
      for (int j = -s->nrigid; j < kept; j++) {
        const double* v = j < 0 ? s->rigid + (size_t)(j + s->nrigid) * N : V + (size_t)j * N;
        double along = tb_dot(n, v, Mx);
        for (int i = 0; i < n; i++) x[i] -= along * v[i];
      }
    }
    if (!(size > 1e-6)) continue;
    double* to = V + (size_t)kept++ * N;
    for (int i = 0; i < n; i++) to[i] = x[i] / size;
  }
  size_t m = (size_t)kept;
  for (size_t k = 0; status == TB_OK && k < m; k++) {
    tb_csr_multiply(&K, V + k * N, Mx);
    for (size_t j = 0; j < m; j++) T[j * m + k] = tb_dot(n, V + j * N, Mx);
  }
  if (status == TB_OK) {
    for (size_t k = 0; k < m; k++)
      for (size_t j = 0; j < k; j++) T[j * m + k] = T[k * m + j] = 0.5 * (T[j * m + k] + T[k * m + j]);
    if (!tb_dense_eigen(kept, T, value, work))
      status = tb_fail(ctx, TB_ERROR_NUMERIC, "the modes of the body are not finite");
  }
  for (size_t k = 0; status == TB_OK && k < m; k++)
    for (size_t j = 0; j < m; j++)
      for (size_t i = 0; i < N; i++) W[k * N + i] += T[k * m + j] * V[j * N + i];
  if (status == TB_OK) memcpy(V, W, m * N * sizeof *V);
  *count = kept;
  tb_free(ctx, Mx), tb_free(ctx, T), tb_free(ctx, W), tb_free(ctx, work);
  return status;
}

static tbStatus find_fields(tbContext* ctx, tbArena* arena, tbFemBody* fem, int* modes, bool derivatives,
                            double** vectors, double** value)
{
  tbModalSystem s = {0};
  size_t n = 3 * (size_t)fem->nnode, r = (size_t)*modes;
  int lowest = derivatives ? (*modes + 1) / 2 : *modes;
  *vectors = TB_TAKE(arena, double, n* r);
  *value = TB_TAKE(arena, double, r);
  if (!*vectors || !*value) return TB_ERROR_MEMORY;
  tbStatus status = tb_modal_system(ctx, arena, fem, &s);
  if (status == TB_OK && lowest > tb_modal_count(&s))
    status = tb_fail(ctx, TB_ERROR_ARGUMENT, "%d modes%s of a body that has %d", *modes,
                     derivatives ? ", half of them derivatives," : "", tb_modal_count(&s));
  if (status == TB_OK) status = tb_modal_lanczos(ctx, &s, lowest, *vectors, *value);
  if (status == TB_OK && derivatives) {
    status = tb_modal_derivatives(ctx, &s, lowest, *value, *modes - lowest, *vectors);
    if (status == TB_OK) status = diagonalise(ctx, &s, modes, *vectors, *value);
  }
  tb_modal_system_free(ctx, &s);
  return status;
}

tbStatus tb_modal_basis_create(tbContext* ctx, tbFemBody* fem, int modes, bool derivatives, bool stvk,
                               tbModalBasis** out)
{
  *out = NULL;
  if (modes < 1 || modes > TB_MODES_MAX)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d modes; a reduced body has 1 to %d", modes, TB_MODES_MAX);
  tbArena arena;
  double *vectors, *value;
  tbModalBasis* b = NULL;
  tb_arena_init(&arena, ctx);
  tbStatus status = find_fields(ctx, &arena, fem, &modes, derivatives, &vectors, &value);
  if (status == TB_OK) status = tb_modal_basis_make(ctx, fem, modes, &b);
  if (status == TB_OK) {
    size_t n = 3 * (size_t)fem->nnode, r = (size_t)modes;
    for (size_t k = 0; k < r; k++) {
      b->omega2[k] = fmax(value[k], 0);
      for (size_t i = 0; i < n; i++) b->field[i * r + k] = vectors[k * n + i];
    }
    status = tb_modal_basis_finish(ctx, fem, stvk, b);
  }
  tb_arena_free(&arena);
  if (status == TB_OK) *out = b;
  else tb_modal_basis_free(ctx, b);
  return status;
}
