// SPDX-License-Identifier: Apache-2.0
#include "math/ordering.h"
#include "base/memory.h"
#include "math/cholesky_tree.h"

#ifdef TB_HAVE_AMD
#include <amd.h>
#endif
#ifdef TB_HAVE_METIS
#include <metis.h>
#endif

#include <string.h>

const char* tb_ordering_name(tbOrdering method)
{
  switch (method) {
  case TB_ORDERING_AUTO: return "auto";
  case TB_ORDERING_NATURAL: return "natural";
  case TB_ORDERING_DEGREE: return "degree";
  case TB_ORDERING_AMD: return "amd";
  case TB_ORDERING_METIS: return "metis";
  case TB_ORDERING_COUNT: break;
  }
  return "unknown";
}

const char* tb_orderings_present(void)
{
#if defined(TB_HAVE_AMD) && defined(TB_HAVE_METIS)
  return "natural degree amd metis";
#elif defined(TB_HAVE_AMD)
  return "natural degree amd";
#elif defined(TB_HAVE_METIS)
  return "natural degree metis";
#else
  return "natural degree";
#endif
}

bool tb_ordering_present(tbOrdering method)
{
#ifndef TB_HAVE_AMD
  if (method == TB_ORDERING_AMD) return false;
#endif
#ifndef TB_HAVE_METIS
  if (method == TB_ORDERING_METIS) return false;
#endif
  return method >= TB_ORDERING_AUTO && method < TB_ORDERING_COUNT;
}

#ifdef TB_HAVE_AMD
static tbStatus order_by_amd(tbContext* ctx, int n, const int* ptr, const int* idx, int* perm)
{
  int result = amd_order(n, ptr, idx, perm, NULL, NULL);
  if (result == AMD_OUT_OF_MEMORY) return tb_fail(ctx, TB_ERROR_MEMORY, "AMD ran out of memory");
  if (result != AMD_OK && result != AMD_OK_BUT_JUMBLED)
    return tb_fail(ctx, TB_ERROR_INPUT, "AMD refused the pattern (code %d)", result);
  return TB_OK;
}
#endif

#ifdef TB_HAVE_METIS
_Static_assert(sizeof(idx_t) == sizeof(int), "METIS must be built with 32-bit indices");

static tbStatus order_by_metis(tbContext* ctx, int n, const int* ptr, const int* idx, int* perm)
{
  // METIS wants a graph: no loops.
  idx_t* xadj = TB_NEW(ctx, idx_t, (size_t)n + 1);
  idx_t* adjncy = TB_NEW(ctx, idx_t, (size_t)ptr[n]);
  idx_t* inverse = TB_NEW(ctx, idx_t, (size_t)n);
  tbStatus status = xadj && adjncy && inverse ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    idx_t edges = 0, options[METIS_NOPTIONS], vertices = n;
    for (int i = 0; i < n; i++) {
      for (int p = ptr[i]; p < ptr[i + 1]; p++)
        if (idx[p] != i) adjncy[edges++] = idx[p];
      xadj[i + 1] = edges;
    }
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    int result = edges ? METIS_NodeND(&vertices, xadj, adjncy, NULL, options, perm, inverse) : METIS_OK;
    for (int i = 0; edges == 0 && i < n; i++) perm[i] = i;
    if (result == METIS_ERROR_MEMORY) status = tb_fail(ctx, TB_ERROR_MEMORY, "METIS ran out of memory");
    else if (result != METIS_OK)
      status = tb_fail(ctx, TB_ERROR_INPUT, "METIS refused the pattern (code %d)", result);
  }
  tb_free(ctx, xadj);
  tb_free(ctx, adjncy);
  tb_free(ctx, inverse);
  return status;
}
#endif

static tbStatus order_naturally(int n, int* perm)
{
  for (int i = 0; i < n; i++) perm[i] = i;
  return TB_OK;
}

// Entries of L and operations to compute it, in a given order. work: 8 n ints.
static void predict(const tbPattern* A, const int* perm, int* work, double* entries, double* flops)
{
  size_t n = (size_t)A->n;
  int *order = work + 4 * n, *inverse = work + 5 * n, *parent = work + 6 * n, *count = work + 7 * n;
  tbEliminationTree tree = {parent, count};
  memcpy(order, perm, n * sizeof *order);
  for (size_t k = 0; k < n; k++) inverse[order[k]] = (int)k;
  tb_elimination_tree(A, order, inverse, &tree, work);
  *entries = *flops = 0;
  for (size_t k = 0; k < n; k++) {
    *entries += count[k];
    *flops += (double)count[k] * count[k];
  }
}

// Minimum degree is found fast and is hard to beat on small problems and on surfaces. Where its factor turns
// out to take many operations per entry, as for big solids, nested dissection is tried as well (CHOLMOD's
// rule of thumb), and the better of the two kept.
static tbStatus order_automatically(tbContext* ctx, int n, const int* ptr, const int* idx, int* perm)
{
  enum { MANY = 500 };
  tbOrdering degree = tb_ordering_present(TB_ORDERING_AMD) ? TB_ORDERING_AMD : TB_ORDERING_DEGREE;
  TB_TRY(tb_order(ctx, n, ptr, idx, degree, perm));
  if (!tb_ordering_present(TB_ORDERING_METIS)) return TB_OK;

  tbPattern A = {n, ptr, idx};
  double entries, flops, other_flops;
  int *other = TB_NEW(ctx, int, (size_t)n), *work = TB_NEW(ctx, int, 8 * (size_t)n);
  tbStatus status = other && work ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    predict(&A, perm, work, &entries, &flops);
    if (flops > MANY * entries) {
      status = tb_order(ctx, n, ptr, idx, TB_ORDERING_METIS, other);
      if (status == TB_OK) {
        predict(&A, other, work, &entries, &other_flops);
        if (other_flops < flops) memcpy(perm, other, (size_t)n * sizeof *perm);
      }
    }
  }
  tb_free(ctx, other);
  tb_free(ctx, work);
  return status;
}

tbStatus tb_order(tbContext* ctx, int n, const int* ptr, const int* idx, tbOrdering method, int* perm)
{
  if (n < 0 || method < 0 || method >= TB_ORDERING_COUNT)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "no ordering %d for %d rows", (int)method, n);
  if (n == 0) return TB_OK;
  switch (method) {
  case TB_ORDERING_AUTO: return order_automatically(ctx, n, ptr, idx, perm);
  case TB_ORDERING_NATURAL: return order_naturally(n, perm);
  case TB_ORDERING_DEGREE: return tb_order_by_degree(ctx, n, ptr, idx, perm);
#ifdef TB_HAVE_AMD
  case TB_ORDERING_AMD: return order_by_amd(ctx, n, ptr, idx, perm);
#endif
#ifdef TB_HAVE_METIS
  case TB_ORDERING_METIS: return order_by_metis(ctx, n, ptr, idx, perm);
#endif
  default:
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "the ordering %s is not in this build",
                   tb_ordering_name(method));
  }
}
