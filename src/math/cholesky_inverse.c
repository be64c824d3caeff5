// SPDX-License-Identifier: Apache-2.0
#include "math/cholesky_inverse.h"

#include "base/stop.h"
#include "math/cholesky_factor.h"
#include "math/ldu.h"
#include "math/lu_dense.h"

#include <string.h>

typedef struct {
  const tbCholesky* f;
  tbThreads* threads;
  double* Z;
  const int* supernode;
  double *S, *B, *X; // Z_RR, L_RC L_CC⁻¹, L_CC⁻¹
  int* at;           // where rows of R are in an earlier panel
} Work;

// B = L_RC L_CC⁻¹, column by column from the last; rows × cols, columns `rows` apart.
static void multiply_inverse(const Work* w, int s)
{
  const tbCholesky* f = w->f;
  int cols = tb_cholesky_cols(f, s), rows = tb_cholesky_rows(f, s), lead = f->lead[s];
  const double* L = f->L + f->panel[s];
  for (int k = cols - 1; k >= 0; k--) {
    double* b = w->B + (size_t)k * (size_t)rows;
    memcpy(b, L + (size_t)k * (size_t)lead + cols, (size_t)rows * sizeof *b);
    for (int j = k + 1; j < cols; j++) {
      double l = L[(size_t)k * (size_t)lead + j];
      const double* other = w->B + (size_t)j * (size_t)rows;
      for (int i = 0; i < rows; i++) b[i] -= l * other[i];
    }
    double inverse = f->inverse_diagonal[f->start[s] + k];
    for (int i = 0; i < rows; i++) b[i] *= inverse;
  }
}

// S = Z_RR, of which the lower triangle is read from the panels of R's columns.
static void gather(const Work* w, int s)
{
  const tbCholesky* f = w->f;
  int rows = tb_cholesky_rows(f, s);
  const int* R = f->rows + f->below[s];
  for (int j = 0; j < rows;) {
    int t = w->supernode[R[j]], end = f->start[t + 1], cols = tb_cholesky_cols(f, t);
    const int* below = f->rows + f->below[t];
    for (int i = j, next = 0; i < rows; i++) { // both lists ascend
      if (R[i] < end) {
        w->at[i] = R[i] - f->start[t];
        continue;
      }
      while (below[next] != R[i]) next++;
      w->at[i] = cols + next;
    }
    for (; j < rows && R[j] < end; j++) {
      const double* z = w->Z + f->panel[t] + (size_t)(R[j] - f->start[t]) * (size_t)f->lead[t];
      for (int i = j; i < rows; i++)
        w->S[(size_t)j * (size_t)rows + i] = w->S[(size_t)i * (size_t)rows + j] = z[w->at[i]];
    }
  }
}

// Z_CC = XᵀX − Bᵀ Z_RC with X = L_CC⁻¹, by columns.
static void diagonal_block(const Work* w, int s)
{
  const tbCholesky* f = w->f;
  int cols = tb_cholesky_cols(f, s), rows = tb_cholesky_rows(f, s), lead = f->lead[s];
  const double* L = f->L + f->panel[s];
  double *Z = w->Z + f->panel[s], *X = w->X;
  for (int k = 0; k < cols; k++) {
    double* x = X + (size_t)k * (size_t)cols;
    for (int i = 0; i < cols; i++) x[i] = i == k;
    for (int j = k; j < cols; j++) {
      x[j] *= f->inverse_diagonal[f->start[s] + j];
      for (int i = j + 1; i < cols; i++) x[i] -= L[(size_t)j * (size_t)lead + i] * x[j];
    }
  }
  for (int k = 0; k < cols; k++)
    for (int j = 0; j <= k; j++) {
      double sum = tb_dot(cols - k, X + (size_t)j * (size_t)cols + k, X + (size_t)k * (size_t)cols + k);
      sum -= tb_dot(rows, w->B + (size_t)j * (size_t)rows, Z + (size_t)k * (size_t)lead + cols);
      Z[(size_t)k * (size_t)lead + j] = Z[(size_t)j * (size_t)lead + k] = sum;
    }
}

static void invert(const Work* w, int s)
{
  const tbCholesky* f = w->f;
  int cols = tb_cholesky_cols(f, s), rows = tb_cholesky_rows(f, s), lead = f->lead[s];
  multiply_inverse(w, s);
  gather(w, s);
  // Z_RCᵀ −= Bᵀ S: columns of Z and B are rows there, and S is symmetric
  tb_dense_multiply_subtract(w->threads, cols, rows, rows, w->B, rows, w->S, rows, w->Z + f->panel[s] + cols,
                             lead);
  diagonal_block(w, s);
}

tbStatus tb_selected_inverse(tbContext* ctx, tbArena* arena, const tbCholesky* f, tbSelectedInverse* out)
{
  size_t entries = 0, n = (size_t)f->n, widest = 0, rows = (size_t)f->max_rows;
  for (int s = 0; s < f->supernodes; s++) {
    size_t cols = (size_t)tb_cholesky_cols(f, s), end = f->panel[s] + cols * (size_t)f->lead[s];
    if (end > entries) entries = end;
    if (cols > widest) widest = cols;
  }
  double* Z = TB_TAKE(arena, double, entries);
  int *place = TB_TAKE(arena, int, n), *supernode = TB_TAKE(arena, int, n);
  int* tree = TB_TAKE(arena, int, (size_t)f->supernodes);
  tbArena temporary;
  tb_arena_init(&temporary, ctx);
  Work w = {.f = f,
            .threads = ctx->threads,
            .Z = Z,
            .supernode = supernode,
            .S = TB_TAKE(&temporary, double, rows* rows),
            .B = TB_TAKE(&temporary, double, rows* widest),
            .X = TB_TAKE(&temporary, double, widest* widest),
            .at = TB_TAKE(&temporary, int, rows)};
  bool enough = Z && place && supernode && tree && w.S && w.B && w.X && w.at;
  for (int s = 0; enough && s < f->supernodes; s++)
    for (int k = f->start[s]; k < f->start[s + 1]; k++) supernode[k] = s, place[f->perm[k]] = k;
  for (int s = f->supernodes - 1; enough && s >= 0; s--)
    tree[s] = tb_cholesky_rows(f, s) > 0 ? tree[supernode[f->rows[f->below[s]]]] : s;
  for (int s = f->supernodes - 1; enough && s >= 0 && !tb_asked(ctx->interrupt); s--) invert(&w, s);
  tb_arena_free(&temporary);
  *out = (tbSelectedInverse){f, Z, place, supernode, tree};
  return enough ? tb_check_interrupt(ctx) : TB_ERROR_MEMORY;
}

bool tb_selected_inverse_at(const tbSelectedInverse* inverse, int i, int j, double* value)
{
  const tbCholesky* f = inverse->factor;
  int a = inverse->place[i], b = inverse->place[j], row = a > b ? a : b, column = a > b ? b : a;
  int s = inverse->supernode[column], at = row - f->start[s];
  if (inverse->tree[s] != inverse->tree[inverse->supernode[row]]) {
    *value = 0;
    return true;
  }
  if (row >= f->start[s + 1]) {
    const int* R = f->rows + f->below[s];
    int low = 0, high = tb_cholesky_rows(f, s);
    while (low < high) {
      int middle = (low + high) / 2;
      if (R[middle] < row) low = middle + 1;
      else high = middle;
    }
    if (low == tb_cholesky_rows(f, s) || R[low] != row) return false;
    at = tb_cholesky_cols(f, s) + low;
  }
  *value = inverse->Z[f->panel[s] + (size_t)(column - f->start[s]) * (size_t)f->lead[s] + (size_t)at];
  return true;
}
