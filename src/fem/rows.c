// SPDX-License-Identifier: Apache-2.0
#include "fem/rows.h"

#include <math.h>
#include <string.h>

// Pivots below this share of the largest entry are rounding, or as good as: what they would carry of the
// forces acts as it is.
static const double NOTHING = 1e-10;

// Forces and stiffness of an element; K: blocks (a, b), a ≤ b, row by row. Returns its corners.
static int evaluate(const tbFemBody* b, int e, const tbVec3* at, const int** node, double f[12],
                    double K[TB_TET_BLOCKS][9])
{
  int kind = 0, own = e;
  for (; own >= b->nelement[kind]; kind++) own -= b->nelement[kind];
  int corners = kind == 2 ? 2 : b->cloth && kind == 0 ? 3 : 4;
  tbVec3 x[4];
  *node = b->corner[kind] + (size_t)own * (size_t)corners;
  for (int a = 0; a < corners; a++) x[a] = at[(*node)[a]];
  if (kind == 2) {
    tb_spring_evaluate(&b->spring[own], x, TB_TANGENT_POSITIVE, f, K);
  } else if (kind == 1) {
    tb_hinge_evaluate(b->sheet.bend, &b->hinge[own], x, TB_TANGENT_POSITIVE, f, K);
  } else if (b->cloth) {
    tbMembraneStiffness stiffness = tb_membrane_stiffness(&b->sheet);
    tb_membrane_evaluate(&stiffness, &b->membrane[own], x, TB_TANGENT_POSITIVE, f, K);
  } else {
    tb_tet_evaluate(&b->material, &b->tet[own], x, TB_TANGENT_POSITIVE, f, K);
  }
  return corners;
}

static void spread(int corners, double (*block)[9], double K[12][12])
{
  for (int a = 0, at = 0; a < corners; a++)
    for (int b = a; b < corners; b++, at++)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) K[3 * a + i][3 * b + j] = K[3 * b + j][3 * a + i] = block[at][3 * i + j];
}

// K = Σ lᵀl, column by column at the largest diagonal that is left, and with it f = Σ y l + rest.
static int factor(int n, double K[12][12], double f[12], double l[12][12], double y[12])
{
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, K[i][i]);
  for (int m = 0; m < n; m++) {
    int p = 0;
    for (int i = 1; i < n; i++)
      if (K[i][i] > K[p][p]) p = i;
    double pivot = K[p][p];
    if (!(pivot > NOTHING * most)) return m;
    double root = sqrt(pivot);
    for (int i = 0; i < n; i++) l[m][i] = K[i][p] / root;
    y[m] = f[p] / root;
    for (int i = 0; i < n; i++) f[i] -= y[m] * l[m][i];
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) K[i][j] -= l[m][i] * l[m][j];
    for (int i = 0; i < n; i++) K[i][p] = K[p][i] = 0;
    f[p] = 0;
  }
  return n;
}

void tb_fem_element_rows(const tbFemBody* b, int e, double h, const tbVec3* x, const tbVec3* V,
                         tbElementRows* out)
{
  double block[TB_TET_BLOCKS][9], K[12][12], l[12][12], y[12], stiff = h * h + h * b->stiffness_damping;
  memset(out->rest, 0, sizeof out->rest);
  out->corners = evaluate(b, e, x, &out->node, out->rest, block), out->width = 3 * out->corners;
  spread(out->corners, block, K);
  out->count = factor(out->width, K, out->rest, l, y);
  for (int m = 0; m < out->count; m++) {
    double kappa = 0, along = 0;
    for (int i = 0; i < out->width; i++) kappa += l[m][i] * l[m][i];
    double length = sqrt(kappa);
    for (int i = 3; i < out->width; i++) out->row[m][i] = l[m][i] / length;
    for (int i = 0; i < 3; i++) { // what adds up to nothing, to rounding
      out->row[m][i] = 0;
      for (int a = 1; a < out->corners; a++) out->row[m][i] -= out->row[m][3 * a + i];
    }
    for (int i = 0; i < out->width; i++) {
      if (V) along += out->row[m][i] * (&V[out->node[i / 3]].x)[i % 3];
    }
    out->compliance[m] = 1 / (stiff * kappa);
    out->bias[m] = -out->compliance[m] * h * (y[m] * length + h * kappa * along);
  }
}
