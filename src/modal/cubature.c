// SPDX-License-Identifier: Apache-2.0
#include "modal/cubature.h"

#include "math/ldu.h"

#include <string.h>

enum { SHARE = 5 }; // elements for every field

static int most_elements(int elements, int r) { return elements < SHARE * r ? elements : SHARE * r; }

bool tb_cubature_pays(int elements, int r)
{
  const double patience = 6e10; // operations to make the polynomial: some ten seconds of one core
  const double stream = 2;      // what a number costs that is read once, of a table larger than caches
  double n = r, pairs = n * (n + 1) / 2, count = most_elements(elements, r);
  return stream * pairs * pairs > count * (4.5 * n * n + 99 * n) ||
         0.75 * n * n * n * n * elements > patience;
}

void tb_cubature_gradients(const tbFemBody* fem, int e, int r, const double* field, double* G)
{
  const tbTetRest* rest = &fem->tet[e];
  tbVec3 g[4] = {tb_zero3(), rest->g[0], rest->g[1], rest->g[2]};
  size_t R = (size_t)r;
  g[0] = tb_neg3(tb_add3(g[1], tb_add3(g[2], g[3])));
  memset(G, 0, 9 * R * sizeof *G);
  for (int corner = 0; corner < 4; corner++) {
    const double* at = field + 3 * (size_t)fem->corner[0][4 * e + corner] * R;
    for (size_t a = 0; a < 3; a++)
      for (size_t b = 0; b < 3; b++) {
        double slope = (&g[corner].x)[b], *to = G + (3 * a + b) * R;
        for (size_t k = 0; k < R; k++) to[k] += slope * at[a * R + k];
      }
  }
}

// With F = 1 + H: e = ½ (FᵀF − 1), S = 2μ e + λ tr e, P = F S.
double tb_stvk_density(double mu, double lambda, const double H[9], double P[9])
{
  double e[9], S[9], trace = 0, square = 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      double product = H[a] * H[b] + H[3 + a] * H[3 + b] + H[6 + a] * H[6 + b];
      e[3 * a + b] = 0.5 * (H[3 * a + b] + H[3 * b + a] + product);
      square += e[3 * a + b] * e[3 * a + b];
    }
  trace = e[0] + e[4] + e[8];
  if (P) {
    for (int i = 0; i < 9; i++) S[i] = 2 * mu * e[i] + (i % 4 == 0 ? lambda * trace : 0);
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        P[3 * a + b] = S[3 * a + b] + (H[3 * a] * S[b] + H[3 * a + 1] * S[3 + b] + H[3 * a + 2] * S[6 + b]);
  }
  return mu * square + 0.5 * lambda * trace * trace;
}

// ∂P_ab/∂H_cd = δ_ac S_db + μ ((FFᵀ)_ac δ_bd + F_ad F_cb) + λ F_ab F_cd
static void tangent(double mu, double lambda, const double H[9], double D[81])
{
  double F[9], S[9], B[9], trace = 0;
  for (int i = 0; i < 9; i++) F[i] = H[i] + (i % 4 == 0);
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      double product = H[a] * H[b] + H[3 + a] * H[3 + b] + H[6 + a] * H[6 + b];
      S[3 * a + b] = mu * (H[3 * a + b] + H[3 * b + a] + product);
      B[3 * a + b] = F[3 * a] * F[3 * b] + F[3 * a + 1] * F[3 * b + 1] + F[3 * a + 2] * F[3 * b + 2];
      if (a == b) trace += H[4 * a] + 0.5 * product;
    }
  for (int a = 0; a < 3; a++) S[4 * a] += lambda * trace;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++)
      for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++)
          D[9 * (3 * a + b) + 3 * c + d] = (a == c ? S[3 * d + b] : 0) + (b == d ? mu * B[3 * a + c] : 0) +
                                           mu * F[3 * a + d] * F[3 * c + b] +
                                           lambda * F[3 * a + b] * F[3 * c + d];
}

// The upper triangle of K += w GᵀDG. DG: room for 9 r.
static void stiffen(const double* G, const double D[81], double w, int r, double* DG, double* K)
{
  size_t R = (size_t)r;
  memset(DG, 0, 9 * R * sizeof *DG);
  for (size_t i = 0; i < 9; i++)
    for (size_t j = 0; j < 9; j++) {
      double d = w * D[9 * i + j];
      for (size_t k = 0; k < R; k++) DG[i * R + k] += d * G[j * R + k];
    }
  for (size_t k = 0; k < R; k++) {
    double g[9], *row = K + k * R;
    for (size_t i = 0; i < 9; i++) g[i] = G[i * R + k];
    for (size_t l = k; l < R; l++)
      row[l] += ((g[0] * DG[l] + g[1] * DG[R + l] + g[2] * DG[2 * R + l]) +
                 (g[3] * DG[3 * R + l] + g[4] * DG[4 * R + l] + g[5] * DG[5 * R + l])) +
                (g[6] * DG[6 * R + l] + g[7] * DG[7 * R + l] + g[8] * DG[8 * R + l]);
  }
}

double tb_cubature_evaluate(const tbCubature* c, const double* q, double* force, double* stiffness,
                            double* work)
{
  size_t R = (size_t)c->r;
  double energy = 0;
  if (force) memset(force, 0, R * sizeof *force);
  if (stiffness) memset(stiffness, 0, R * R * sizeof *stiffness);
  for (int i = 0; i < c->count; i++) {
    const double *G = c->G + 9 * (size_t)i * R, w = c->weight[i];
    double H[9], P[9], D[81];
    for (size_t a = 0; a < 9; a++) H[a] = tb_dot(c->r, G + a * R, q);
    energy += w * tb_stvk_density(c->mu, c->lambda, H, P);
    for (size_t a = 0; force && a < 9; a++)
      for (size_t k = 0; k < R; k++) force[k] -= w * P[a] * G[a * R + k];
    if (!stiffness) continue;
    tangent(c->mu, c->lambda, H, D);
    stiffen(G, D, w, c->r, work, stiffness);
  }
  for (size_t k = 0; stiffness && k < R; k++)
    for (size_t l = 0; l < k; l++) stiffness[k * R + l] = stiffness[l * R + k];
  return energy;
}

// ---- making one ----

tbStatus tb_cubature_make(tbContext* ctx, int r, int count, tbCubature** out)
{
  *out = NULL;
  tbCubature* c = TB_NEW(ctx, tbCubature, 1);
  if (!c) return TB_ERROR_MEMORY;
  tb_arena_init(&c->arena, ctx);
  c->r = r, c->count = count;
  c->element = TB_TAKE(&c->arena, int, (size_t)count);
  c->weight = TB_TAKE(&c->arena, double, (size_t)count);
  c->G = TB_TAKE(&c->arena, double, 9 * (size_t)count * (size_t)r);
  if (c->element && c->weight && c->G) return *out = c, TB_OK;
  tb_cubature_free(ctx, c);
  return TB_ERROR_MEMORY;
}

void tb_cubature_fill(const tbFemBody* fem, const double* field, tbCubature* c)
{
  c->mu = fem->material.mu, c->lambda = fem->material.lambda;
  for (int i = 0; i < c->count; i++)
    tb_cubature_gradients(fem, c->element[i], c->r, field, c->G + 9 * (size_t)i * (size_t)c->r);
}

void tb_cubature_free(tbContext* ctx, tbCubature* c)
{
  if (!c) return;
  c->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&c->arena);
  tb_free(ctx, c);
}

tbStatus tb_cubature_create(tbContext* ctx, const tbFemBody* fem, int r, const double* field,
                            const double* omega2, tbCubature** out)
{
  *out = NULL;
  int most = most_elements(fem->nelement[0], r), count = most;
  bool whole = most == fem->nelement[0];
  double miss = 0;
  int* element = TB_NEW(ctx, int, (size_t)most);
  double* weight = TB_NEW(ctx, double, (size_t)most);
  tbStatus status = element && weight ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK && !whole)
    status = tb_cubature_train(ctx, fem, r, field, omega2, most, &count, element, weight, &miss);
  for (int i = 0; status == TB_OK && whole && i < most; i++) element[i] = i, weight[i] = fem->tet[i].volume;
  if (status == TB_OK) status = tb_cubature_make(ctx, r, count, out);
  if (status == TB_OK) {
    memcpy((*out)->element, element, (size_t)count * sizeof *element);
    memcpy((*out)->weight, weight, (size_t)count * sizeof *weight);
    (*out)->miss = miss;
    tb_cubature_fill(fem, field, *out);
  }
  tb_free(ctx, element), tb_free(ctx, weight);
  return status;
}
