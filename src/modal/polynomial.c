// SPDX-License-Identifier: Apache-2.0
// Green's strain of Σ q_k u_k in an element, with G_k the gradient of u_k, is
//
//   e = Σ_k q_k B_k + ½ Σ_kl q_k q_l N_kl,    B_k = sym G_k,   N_kl = sym(G_kᵀ G_l)
//
// and the energy V/2 e:C:e. So all derivatives are sums of products B:C:B, B:C:N and N:C:N over elements, one
// Gram matrix of the strains B and N; each derivative adds the products of all ways to pair its indices.
#include "modal/polynomial.h"

#include "base/stop.h"
#include "base/threads.h"

#include <string.h>

enum { STRAINS = 6, ROWS = 16, BATCH = 8 };

// Strains as six numbers of which products are e:e; then C e likewise.
static void strain(tbMat3 S, double e[STRAINS])
{
  const double root = 1.4142135623730951;
  e[0] = S.m[0][0], e[1] = S.m[1][1], e[2] = S.m[2][2];
  e[3] = root * S.m[0][1], e[4] = root * S.m[0][2], e[5] = root * S.m[1][2];
}

static tbMat3 symmetric(tbMat3 A) { return tb_mat3_scale(0.5, tb_mat3_add(A, tb_mat3_transpose(A))); }

// The gradient in an element of a field with so many components side by side at each node.
static tbMat3 gradient(const tbFemBody* fem, int e, const double* field, int stride, int k)
{
  const tbTetRest* rest = &fem->tet[e];
  tbVec3 g[4] = {tb_zero3(), rest->g[0], rest->g[1], rest->g[2]};
  g[0] = tb_neg3(tb_add3(g[1], tb_add3(g[2], g[3])));
  tbMat3 G = tb_mat3_zero();
  for (int a = 0; a < 4; a++) {
    const double* at = field + 3 * (size_t)fem->corner[0][4 * e + a] * (size_t)stride + k;
    G = tb_mat3_add(G, tb_mat3_outer(tb_vec3(at[0], at[stride], at[2 * (size_t)stride]), g[a]));
  }
  return G;
}

typedef struct {
  int n;                  // strains of an element: r + pairs
  double *plain, *scaled; // of the elements of a batch: e, and V C e     (BATCH · STRAINS · n)
  double* gram;           // (n · n), the upper triangle
} Job;

static void strains(const tbFemBody* fem, int e, int r, const double* field, tbMat3* G, double* plain,
                    double* scaled)
{
  size_t n = (size_t)r + (size_t)r * ((size_t)r + 1) / 2, at = 0;
  for (int k = 0; k < r; k++) G[k] = gradient(fem, e, field, r, k);
  for (int k = -1; k < r; k++)
    for (int l = k < 0 ? 0 : k; l < r; l++, at++) {
      double s[STRAINS];
      strain(symmetric(k < 0 ? G[l] : tb_mat3_tmul(G[k], G[l])), s);
      double trace = s[0] + s[1] + s[2];
      for (int c = 0; c < STRAINS; c++) {
        plain[(size_t)c * n + at] = s[c];
        scaled[(size_t)c * n + at] =
            fem->tet[e].volume * (2 * fem->material.mu * s[c] + (c < 3 ? fem->material.lambda * trace : 0));
      }
    }
}

// Rows of the Gram matrix, of all elements of a batch in turn.
static void add_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  size_t n = (size_t)job->n;
  for (int e = 0; e < BATCH; e++) {
    const double *p = job->plain + (size_t)e * STRAINS * n, *s = job->scaled + (size_t)e * STRAINS * n;
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
      double* row = job->gram + i * n;
      const double p0 = p[i], p1 = p[n + i], p2 = p[2 * n + i], p3 = p[3 * n + i], p4 = p[4 * n + i],
                   p5 = p[5 * n + i];
      for (size_t j = i; j < n; j++)
        row[j] += (p0 * s[j] + p1 * s[n + j]) + (p2 * s[2 * n + j] + p3 * s[3 * n + j]) +
                  (p4 * s[4 * n + j] + p5 * s[5 * n + j]);
    }
  }
}

static tbStatus make_gram(tbContext* ctx, tbArena* arena, const tbFemBody* fem, int r, const double* field,
                          Job* job)
{
  size_t n = (size_t)job->n;
  tbMat3* G = TB_TAKE(arena, tbMat3, (size_t)r);
  job->plain = TB_TAKE(arena, double, BATCH* STRAINS* n);
  job->scaled = TB_TAKE(arena, double, BATCH* STRAINS* n);
  job->gram = TB_TAKE(arena, double, n* n);
  if (!G || !job->plain || !job->scaled || !job->gram) return TB_ERROR_MEMORY;
  for (int e = 0; e < fem->nelement[0]; e += BATCH) {
    memset(job->plain, 0, BATCH * STRAINS * n * sizeof *job->plain);
    for (int k = 0; k < BATCH && e + k < fem->nelement[0]; k++)
      strains(fem, e + k, r, field, G, job->plain + (size_t)k * STRAINS * n,
              job->scaled + (size_t)k * STRAINS * n);
    tb_parallel_for(ctx->threads, job->n, ROWS, add_rows, job);
    TB_TRY(tb_check_interrupt(ctx));
  }
  return TB_OK;
}

static size_t pair_of(int r, int i, int j)
{
  int low = i < j ? i : j, high = i < j ? j : i;
  return (size_t)low * (size_t)r - (size_t)low * ((size_t)low - 1) / 2 + (size_t)(high - low);
}

// The entry of two strains; fields are r of them, pairs follow.
static double entry(const Job* job, size_t i, size_t j)
{
  return i < j ? job->gram[i * (size_t)job->n + j] : job->gram[j * (size_t)job->n + i];
}

static void sum_up(const Job* job, tbPolynomial* p)
{
  int r = p->r;
  size_t R = (size_t)r, P = (size_t)p->pairs;
  for (int i = 0; i < r; i++)
    for (int j = 0; j < r; j++) p->K[(size_t)i * R + (size_t)j] = entry(job, (size_t)i, (size_t)j);
  for (int i = 0; i < r; i++)
    for (int j = i; j < r; j++)
      for (int k = 0; k < r; k++)
        p->A[pair_of(r, i, j) * R + (size_t)k] = entry(job, (size_t)k, R + pair_of(r, i, j)) +
                                                 entry(job, (size_t)i, R + pair_of(r, j, k)) +
                                                 entry(job, (size_t)j, R + pair_of(r, i, k));
  for (int i = 0; i < r; i++)
    for (int j = i; j < r; j++)
      for (int k = 0; k < r; k++)
        for (int l = k; l < r; l++)
          p->B[pair_of(r, i, j) * P + pair_of(r, k, l)] =
              entry(job, R + pair_of(r, i, j), R + pair_of(r, k, l)) +
              entry(job, R + pair_of(r, i, k), R + pair_of(r, j, l)) +
              entry(job, R + pair_of(r, i, l), R + pair_of(r, j, k));
}

tbStatus tb_polynomial_make(tbContext* ctx, int r, tbPolynomial** out)
{
  *out = NULL;
  if (r > TB_POLYNOMIAL_MAX)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d modes of a St. Venant–Kirchhoff body; at most %d", r,
                   TB_POLYNOMIAL_MAX);
  tbPolynomial* p = TB_NEW(ctx, tbPolynomial, 1);
  if (!p) return TB_ERROR_MEMORY;
  tb_arena_init(&p->arena, ctx);
  p->r = r, p->pairs = r * (r + 1) / 2;
  size_t R = (size_t)r, P = (size_t)p->pairs;
  p->K = TB_TAKE(&p->arena, double, R* R);
  p->A = TB_TAKE(&p->arena, double, P* R);
  p->B = TB_TAKE(&p->arena, double, P* P);
  if (p->K && p->A && p->B) return *out = p, TB_OK;
  tb_polynomial_free(ctx, p);
  return TB_ERROR_MEMORY;
}

tbStatus tb_polynomial_create(tbContext* ctx, const tbFemBody* fem, int r, const double* field,
                              tbPolynomial** out)
{
  tbPolynomial* p;
  tbArena scratch;
  *out = NULL;
  TB_TRY(tb_polynomial_make(ctx, r, &p));
  tb_arena_init(&scratch, ctx);
  Job job = {.n = r + p->pairs};
  tbStatus status = make_gram(ctx, &scratch, fem, r, field, &job);
  if (status == TB_OK) sum_up(&job, p), *out = p;
  else tb_polynomial_free(ctx, p);
  tb_arena_free(&scratch);
  return status;
}

void tb_polynomial_free(tbContext* ctx, tbPolynomial* p)
{
  if (!p) return;
  p->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&p->arena);
  tb_free(ctx, p);
}

size_t tb_polynomial_work(const tbPolynomial* p) { return 3 * (size_t)p->pairs; }

// b = B z, z_kl = q_k q_l for k = l, twice that for k < l; four rows of B at a time.
static void multiply(const tbPolynomial* p, const double* q, double* z, double* b)
{
  size_t P = (size_t)p->pairs, at = 0;
  for (int k = 0; k < p->r; k++)
    for (int l = k; l < p->r; l++) z[at++] = (k == l ? 1 : 2) * q[k] * q[l];
  memset(b, 0, P * sizeof *b);
  for (size_t i = 0; i < P; i++) { // B is symmetric: by columns
    if (z[i] == 0) continue;
    const double *row = p->B + i * P, s = z[i];
    for (size_t j = 0; j < P; j++) b[j] += s * row[j];
  }
}

double tb_polynomial_evaluate(const tbPolynomial* p, const double* q, double* force, double* stiffness,
                              double* work)
{
  int r = p->r;
  size_t R = (size_t)r, P = (size_t)p->pairs, at = 0;
  double *z = work, *b = work + P, energy = 0;
  multiply(p, q, z, b);
  if (force) memset(force, 0, R * sizeof *force);
  for (int i = 0; i < r; i++)
    for (int j = i; j < r; j++, at++) {
      const double* A = p->A + at * R;
      double a = 0, K = p->K[(size_t)i * R + (size_t)j];
      for (int k = 0; k < r; k++) a += A[k] * q[k];
      energy += z[at] * (K / 2 + a / 6 + b[at] / 24);
      double secant = K + a / 2 + b[at] / 6;
      if (force) force[i] -= secant * q[j];
      if (force && i != j) force[j] -= secant * q[i];
      if (stiffness)
        stiffness[(size_t)i * R + (size_t)j] = stiffness[(size_t)j * R + (size_t)i] = K + a + b[at] / 2;
    }
  return energy;
}

static tbMat3 stress(const tbFemBody* fem, tbMat3 E)
{
  double trace = fem->material.lambda * tb_mat3_trace(E);
  return tb_mat3_add(tb_mat3_scale(2 * fem->material.mu, E), tb_mat3_diag(trace, trace, trace));
}

void tb_stvk_second(const tbFemBody* fem, const double* u, const double* w, double* out)
{
  memset(out, 0, 3 * (size_t)fem->nnode * sizeof *out);
  for (int e = 0; e < fem->nelement[0]; e++) {
    const tbTetRest* rest = &fem->tet[e];
    tbMat3 Gu = gradient(fem, e, u, 1, 0), Gw = gradient(fem, e, w, 1, 0);
    tbMat3 P = stress(fem, symmetric(tb_mat3_tmul(Gu, Gw)));
    P = tb_mat3_add(P, tb_mat3_mul(Gw, stress(fem, symmetric(Gu))));
    P = tb_mat3_add(P, tb_mat3_mul(Gu, stress(fem, symmetric(Gw))));
    tbVec3 sum = tb_zero3();
    for (int a = 0; a < 3; a++) {
      int node = fem->corner[0][4 * e + a + 1];
      tbVec3 f = tb_scale3(-rest->volume, tb_mat3_mulv(P, rest->g[a]));
      if (!fem->pinned[node]) tb_store3(out + 3 * (size_t)node, tb_add3(tb_load3(out + 3 * (size_t)node), f));
      sum = tb_add3(sum, f);
    }
    int node = fem->corner[0][4 * e];
    if (!fem->pinned[node]) tb_store3(out + 3 * (size_t)node, tb_sub3(tb_load3(out + 3 * (size_t)node), sum));
  }
}
