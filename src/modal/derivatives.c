// SPDX-License-Identifier: Apache-2.0
// The forces of St. Venant–Kirchhoff elements are polynomials of third order in the displacements; of these
// the second order alone is wanted, f₂(u). With u, w modes,  (∂K/∂u · u) w = f₂(u + w)/2 − f₂(u − w)/2 (signs
// of forces aside), summed over elements from gradients of shape functions.
#include "modal/derivatives.h"

#include "math/ldu.h"
#include "modal/polynomial.h"

#include <string.h>

typedef struct {
  int i, j;
  double weight;
} Pair;

// The pairs i ≤ j of least λ_i λ_j, by selection.
static void choose(int modes, const double* value, int count, Pair* out)
{
  double after = -1;
  int last = -1;
  for (int k = 0; k < count; k++) {
    Pair best = {.weight = INFINITY};
    int at = -1;
    for (int i = 0; i < modes; i++)
      for (int j = i; j < modes; j++) {
        double weight = value[i] * value[j];
        int number = i * modes + j;
        bool later = weight > after || (weight == after && number > last);
        if (later && weight < best.weight) best = (Pair){i, j, weight}, at = number;
      }
    out[k] = best, after = best.weight, last = at;
  }
}

tbStatus tb_modal_derivatives(tbContext* ctx, const tbModalSystem* s, int modes, const double* value,
                              int count, double* vectors)
{
  if (count > modes * (modes + 1) / 2)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d derivatives of %d modes", count, modes);
  if (count < 1) return TB_OK;
  size_t n = 3 * (size_t)s->fem->nnode;
  Pair* pair = TB_NEW(ctx, Pair, (size_t)count);
  double *b = TB_NEW(ctx, double, n), *x = TB_NEW(ctx, double, n);
  tbStatus status = pair && b && x ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) choose(modes, value, count, pair);
  for (int k = 0; status == TB_OK && k < count; k++) {
    tb_stvk_second(s->fem, vectors + (size_t)pair[k].i * n, vectors + (size_t)pair[k].j * n, b);
    // Rigid motions carry nothing of it: b ← b − M r (rᵀ b)
    for (int r = 0; r < s->nrigid; r++) {
      const double* rigid = s->rigid + (size_t)r * n;
      double along = tb_dot((int)n, rigid, b);
      tb_modal_mass(s->fem, rigid, x);
      for (size_t i = 0; i < n; i++) b[i] -= along * x[i];
    }
    double* out = vectors + (size_t)(modes + k) * n;
    status = tb_modal_solve(ctx, s, 1, b, out);
    if (status != TB_OK) break;
    tb_modal_mass(s->fem, out, x);
    double size = sqrt(tb_dot((int)n, out, x));
    for (size_t i = 0; size > 0 && i < n; i++) out[i] /= size;
  }
  tb_free(ctx, pair), tb_free(ctx, b), tb_free(ctx, x);
  return status;
}
