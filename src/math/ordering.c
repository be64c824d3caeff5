#include "math/ordering.h"
#include "base/memory.h"

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
  case TB_ORDER_AUTO: return "auto";
  case TB_ORDER_NATURAL: return "natural";
  case TB_ORDER_DEGREE: return "degree";
  case TB_ORDER_AMD: return "amd";
  case TB_ORDER_METIS: return "metis";
  case TB_ORDERING_COUNT: break;
  }
  return "unknown";
}

bool tb_ordering_present(tbOrdering method)
{
#ifndef TB_HAVE_AMD
  if (method == TB_ORDER_AMD) return false;
#endif
#ifndef TB_HAVE_METIS
  if (method == TB_ORDER_METIS) return false;
#endif
  return method >= TB_ORDER_AUTO && method < TB_ORDERING_COUNT;
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
    if (result == METIS_ERROR_MEMORY)
      status = tb_fail(ctx, TB_ERROR_MEMORY, "METIS ran out of memory");
    else if (result != METIS_OK)
      status = tb_fail(ctx, TB_ERROR_INPUT, "METIS refused the pattern (code %d)", result);
  }
  tb_free(ctx, xadj);
  tb_free(ctx, adjncy);
  tb_free(ctx, inverse);
  return status;
}
#endif

// Nested dissection pays for itself on big meshes, where minimum degree fills more and leaves a tree with
// little parallelism; on small ones the two factor alike and minimum degree is found faster.
static tbOrdering choose(int n)
{
  enum { BIG = 2000 };
  if (n >= BIG && tb_ordering_present(TB_ORDER_METIS)) return TB_ORDER_METIS;
  return tb_ordering_present(TB_ORDER_AMD) ? TB_ORDER_AMD : TB_ORDER_DEGREE;
}

tbStatus tb_order(tbContext* ctx, int n, const int* ptr, const int* idx, tbOrdering method, int* perm)
{
  if (n < 0 || method < 0 || method >= TB_ORDERING_COUNT)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "no ordering %d for %d rows", (int)method, n);
  if (n == 0) return TB_OK;
  switch (method == TB_ORDER_AUTO ? choose(n) : method) {
  case TB_ORDER_DEGREE: return tb_order_by_degree(ctx, n, ptr, idx, perm);
#ifdef TB_HAVE_AMD
  case TB_ORDER_AMD: return order_by_amd(ctx, n, ptr, idx, perm);
#endif
#ifdef TB_HAVE_METIS
  case TB_ORDER_METIS: return order_by_metis(ctx, n, ptr, idx, perm);
#endif
  case TB_ORDER_NATURAL:
    for (int i = 0; i < n; i++) perm[i] = i;
    return TB_OK;
  default:
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "the ordering %s is not in this build", tb_ordering_name(method));
  }
}
