// SPDX-License-Identifier: Apache-2.0
// The check every problem passes before anyone may look at it.
#include "problem/owner.h"

#include <math.h>

// Invertible to 1e-9 of its size, and no sliding gains energy: the symmetric part is not negative.
static tbStatus check_tensor(tbContext* ctx, int k, const double* L)
{
  double size = 0;
  for (int i = 0; i < 4; i++) size = fmax(size, fabs(L[i]));
  if (!(size < 1e100))
    return tb_fail(ctx, TB_ERROR_INPUT, "contact %d: its friction tensor holds %g", k, size);
  double mean = (L[0] + L[3]) / 2, apart = (L[0] - L[3]) / 2, off = (L[1] + L[2]) / 2;
  double least = mean - sqrt(apart * apart + off * off);
  if (!(least >= -1e-12 * size))
    return tb_fail(
        ctx, TB_ERROR_INPUT,
        "contact %d: its friction tensor would add energy: its symmetric part has the eigenvalue %g", k,
        least);
  if (!(L[0] * L[3] - L[1] * L[2] >= 1e-9 * size * size) || !(size > 0))
    return tb_fail(ctx, TB_ERROR_INPUT, "contact %d: its friction tensor is singular", k);
  return TB_OK;
}

static tbStatus check_params(tbContext* ctx, const tbProblem* p, int k)
{
  const double* param = p->param + p->param_adr[k];
  int count = p->param_adr[k + 1] - p->param_adr[k], rows = p->row_adr[k + 1] - p->row_adr[k];
  tbLaw law = (tbLaw)p->law[k];
  if (law == TB_LAW_BOX) {
    for (int i = 0; i < rows; i++)
      if (!(param[i] <= param[rows + i]) || param[i] == INFINITY || param[rows + i] == -INFINITY)
        return tb_fail(ctx, TB_ERROR_INPUT, "contact %d, row %d: box bounds [%g, %g] are empty", k, i,
                       param[i], param[rows + i]);
    return TB_OK;
  }
  if (law == TB_LAW_TENSOR) return check_tensor(ctx, k, param);
  for (int i = 0; i < count; i++)
    if (!(param[i] >= 0 && param[i] < INFINITY))
      return tb_fail(ctx, TB_ERROR_INPUT,
                     "contact %d: parameter %d of law %s is %g; it must be finite and not negative", k, i,
                     tb_law_name(law), param[i]);
  if (law == TB_LAW_POLYHEDRAL &&
      (param[1] != floor(param[1]) || param[1] < 3 || param[1] > TB_MAX_DIRECTIONS))
    return tb_fail(ctx, TB_ERROR_INPUT, "contact %d: %g directions; a polyhedral cone has 3 to %d", k,
                   param[1], TB_MAX_DIRECTIONS);
  if (law == TB_LAW_POLYGON && (fmod(param[0], 2) != 0 || param[0] < 4 || param[0] > TB_MAX_SIDES))
    return tb_fail(ctx, TB_ERROR_INPUT, "contact %d: %g directions; a polygon has an even number, 4 to %d", k,
                   param[0], TB_MAX_SIDES);
  return TB_OK;
}

static tbStatus check_finite(tbContext* ctx, const char* what, size_t count, const double* x)
{
  for (size_t i = 0; i < count; i++)
    if (!isfinite(x[i]))
      return tb_fail(ctx, TB_ERROR_INPUT, "%s[%zu] is %g; it must be finite", what, i, x[i]);
  return TB_OK;
}

static tbStatus check_W(tbContext* ctx, const tbProblem* p)
{
  for (int i = 0; i < p->nrow; i++)
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) {
      int j = p->W_col[e];
      if (j < 0 || j >= p->nrow)
        return tb_fail(ctx, TB_ERROR_INPUT, "W, row %d: column %d is out of range (%d rows)", i, j, p->nrow);
      if (e > p->W_ptr[i] && j <= p->W_col[e - 1])
        return tb_fail(ctx, TB_ERROR_INPUT, "W, row %d: column %d after column %d (unsorted or duplicate)", i,
                       j, p->W_col[e - 1]);
      if (!isfinite(p->W_val[e]))
        return tb_fail(ctx, TB_ERROR_INPUT, "W[%d][%d] is %g; it must be finite", i, j, p->W_val[e]);
    }
  return TB_OK;
}

tbStatus tb_problem_validate(tbContext* ctx, const tbProblem* p)
{
  for (int k = 0; k < p->ncontact; k++) TB_TRY(check_params(ctx, p, k));
  for (int i = 0; i < p->nrow; i++)
    if (!(p->compliance[i] >= 0 && p->compliance[i] < INFINITY))
      return tb_fail(ctx, TB_ERROR_INPUT, "compliance[%d] is %g; it must be finite and not negative", i,
                     p->compliance[i]);
  TB_TRY(check_finite(ctx, p->W_ptr ? "q" : "bias", (size_t)p->nrow, p->bias));
  TB_TRY(check_finite(ctx, "v_free", (size_t)p->ndof, p->v_free));
  for (int k = 0; k < p->ncontact; k++)
    for (size_t e = p->jac_val_adr[p->jac_adr[k]]; e < p->jac_val_adr[p->jac_adr[k + 1]]; e++)
      if (!isfinite(p->jac[e]))
        return tb_fail(ctx, TB_ERROR_INPUT, "contact %d: its Jacobian holds %g; it must be finite", k,
                       p->jac[e]);
  return p->W_ptr ? check_W(ctx, p) : TB_OK;
}
