// SPDX-License-Identifier: Apache-2.0
// The seam: checks what it is given, keeps the factor's memory, and calls the backend.
#include "math/cholesky.h"
#include "base/stop.h"
#include "math/cholesky_factor.h"

#include <limits.h>
#include <string.h>

const char* tb_cholesky_backend_name(void)
{
#ifdef TB_USE_CHOLMOD
  return "cholmod";
#else
  return "tribo";
#endif
}

void* tb_cholesky_keep(tbCholesky* f, size_t count, size_t size)
{
  void* kept = tb_arena_take(&f->memory, count, size);
  if (kept) f->stats.bytes += count * size;
  return kept;
}

// Checks the lower triangle and counts its entries off the diagonal. seen[j] = i + 1: row i has met column j.
static tbStatus check_pattern(tbContext* ctx, int n, const int* ptr, const int* idx, int* seen, size_t* edges)
{
  if (ptr[0] != 0) return tb_fail(ctx, TB_ERROR_INPUT, "ptr[0] is %d, not 0", ptr[0]);
  for (int i = 0; i < n; i++) {
    if (ptr[i + 1] < ptr[i])
      return tb_fail(ctx, TB_ERROR_INPUT, "row %d ends at %d, before its start at %d", i, ptr[i + 1], ptr[i]);
    for (int p = ptr[i]; p < ptr[i + 1]; p++) {
      int j = idx[p];
      if (j < 0 || j >= n)
        return tb_fail(ctx, TB_ERROR_INPUT, "row %d has column %d, outside a matrix of %d rows", i, j, n);
      if (j > i) continue;
      if (seen[j] == i + 1) return tb_fail(ctx, TB_ERROR_INPUT, "row %d has column %d twice", i, j);
      seen[j] = i + 1;
      *edges += j < i;
    }
  }
  if (*edges > INT_MAX / 2)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                   "%zu entries below the diagonal are more than an int can count twice", *edges);
  return TB_OK;
}

// Both triangles, without the diagonal, of the pattern whose lower triangle is given.
static tbStatus build_pattern(tbContext* ctx, tbArena* temporary, int n, const int* ptr, const int* idx,
                              tbPattern* A)
{
  size_t edges = 0;
  int *at = TB_TAKE(temporary, int, (size_t)n), *begin = TB_TAKE(temporary, int, (size_t)n + 1);
  if (!at || !begin) return TB_ERROR_MEMORY;
  TB_TRY(check_pattern(ctx, n, ptr, idx, at, &edges));
  int* neighbour = TB_TAKE(temporary, int, 2 * edges);
  if (!neighbour) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++)
    for (int p = ptr[i]; p < ptr[i + 1]; p++)
      if (idx[p] < i) begin[i + 1]++, begin[idx[p] + 1]++;
  for (int i = 0; i < n; i++) begin[i + 1] += begin[i];
  memcpy(at, begin, (size_t)n * sizeof *at);
  for (int i = 0; i < n; i++)
    for (int p = ptr[i]; p < ptr[i + 1]; p++)
      if (idx[p] < i) {
        neighbour[at[i]++] = idx[p];
        neighbour[at[idx[p]]++] = i;
      }
  *A = (tbPattern){n, begin, neighbour};
  return TB_OK;
}

static tbStatus analyze(tbContext* ctx, tbArena* temporary, tbCholesky* f, const int* ptr, const int* idx,
                        tbOrdering ordering, const int* order)
{
  tbPattern A;
  TB_TRY(build_pattern(ctx, temporary, f->n, ptr, idx, &A));
  size_t n = (size_t)f->n;
  f->perm = TB_KEEP(f, int, n);
  f->inverse_diagonal = TB_KEEP(f, double, n);
  if (!f->perm || !f->inverse_diagonal) return TB_ERROR_MEMORY;
  if (order) memcpy(f->perm, order, n * sizeof *order);
  else TB_TRY(tb_order(ctx, f->n, A.ptr, A.idx, ordering, f->perm));
#ifdef TB_USE_CHOLMOD
  return tb_cholmod_analyze(ctx, f, ptr, idx);
#else
  int* inverse = TB_TAKE(temporary, int, n);
  if (!inverse) return TB_ERROR_MEMORY;
  for (int k = 0; k < f->n; k++) inverse[f->perm[k]] = k;
  TB_TRY(tb_cholesky_symbolic(f, temporary, &A, inverse));
  if (f->outgrown) return TB_OK;
  return tb_cholesky_place_entries(f, temporary, ptr, idx, inverse);
#endif
}

tbStatus tb_cholesky_analyze(tbContext* ctx, int n, const int* ptr, const int* idx,
                             const tbCholeskyOptions* options, tbCholesky** out)
{
  *out = NULL;
  tbOrdering ordering = options ? options->ordering : TB_ORDERING_AUTO;
  if (n < 0 || !ptr || (n > 0 && ptr[n] > 0 && !idx))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "no pattern of %d rows given", n);
  tbCholesky* f = TB_NEW(ctx, tbCholesky, 1);
  if (!f) return TB_ERROR_MEMORY;
  tb_arena_init(&f->memory, ctx);
  f->n = n;
  f->most_bytes = options ? options->most_bytes : 0;
  tbArena temporary;
  tb_arena_init(&temporary, ctx);
  tbStatus status = analyze(ctx, &temporary, f, ptr, idx, ordering, options ? options->order : NULL);
  tb_arena_free(&temporary);
  if (status != TB_OK || f->outgrown) {
    tb_cholesky_free(ctx, f);
    return status;
  }
  f->stats.rows = n;
  f->stats.supernodes = f->supernodes;
  *out = f;
  return TB_OK;
}

tbStatus tb_cholesky_factor(tbContext* ctx, tbCholesky* f, const double* values)
{
  f->factored = false;
#ifdef TB_USE_CHOLMOD
  TB_TRY(tb_cholmod_factor(ctx, f, values));
#else
  int bad = tb_cholesky_numeric(ctx->threads, ctx->interrupt, f, values);
  TB_TRY(tb_check_interrupt(ctx));
  if (bad >= 0) return tb_fail(ctx, TB_ERROR_NUMERIC, "not positive definite: pivot at row %d", f->perm[bad]);
#endif
  f->factored = true;
  return TB_OK;
}

const int* tb_cholesky_permutation(const tbCholesky* f) { return f->perm; }

tbCholeskyStats tb_cholesky_stats(const tbCholesky* f) { return f->stats; }

void tb_cholesky_free(tbContext* ctx, tbCholesky* f)
{
  if (!f) return;
#ifdef TB_USE_CHOLMOD
  tb_cholmod_free(f);
#endif
  f->memory.ctx = ctx; // the one that analysed may be gone
  tb_arena_free(&f->memory);
  tb_free(ctx, f);
}
