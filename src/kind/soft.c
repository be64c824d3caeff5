// SPDX-License-Identifier: Apache-2.0
// Solids of tetrahedra.
#include "kind/deformable_step.h"

#include <stdio.h>

static const double FLAT = 1e-4; // height of a tetrahedron, of its longest edge

// The least height of a tetrahedron, and its longest edge.
static double flatness(const tbVec3 x[4])
{
  double longest = 0, base = 0;
  for (int i = 0; i < 4; i++) {
    tbVec3 p = x[(i + 1) % 4], q = x[(i + 2) % 4], r = x[(i + 3) % 4];
    base = fmax(base, tb_norm3(tb_cross3(tb_sub3(q, p), tb_sub3(r, p))));
    for (int k = 0; k < i; k++) longest = fmax(longest, tb_distance3(x[i], x[k]));
  }
  double volume = tb_dot3(tb_sub3(x[1], x[0]), tb_cross3(tb_sub3(x[2], x[0]), tb_sub3(x[3], x[0])));
  return fabs(volume) / (base * longest);
}

static bool doubt(const tbBody* b, char* what, size_t room)
{
  const tbDeformable* d = b->own;
  const tbFemBody* fem = d->fem;
  double worst = INFINITY;
  int at = 0;
  for (int e = 0; e < fem->nelement[0]; e++) {
    tbVec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = fem->rest[fem->corner[0][4 * e + k]];
    double flat = flatness(x);
    if (flat < worst) worst = flat, at = e;
  }
  snprintf(what, room, "has flat elements: the height of tetrahedron %d is %.3g of its longest edge", at,
           worst);
  return worst < FLAT;
}

const tbKind tb_kind_soft = {.name = "soft", .doubt = doubt, TB_DEFORMABLE_ROW};
