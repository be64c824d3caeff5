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

const tbKind tb_kind_soft = {.name = "soft",
                             .dofs = tb_deformable_dofs,
                             .release = tb_deformable_release,
                             .place = tb_deformable_place,
                             .energy = tb_deformable_energy,
                             .angular_momentum = tb_deformable_angular_momentum,
                             .hash = tb_deformable_hash,
                             .code = tb_deformable_code,
                             .pull = tb_deformable_pull,
                             .nodes = tb_deformable_nodes,
                             .set_nodes = tb_deformable_set_nodes,
                             .pin = tb_deformable_pin,
                             .unpin = tb_deformable_unpin,
                             .push = tb_deformable_push,
                             .motion_of = tb_deformable_motion,
                             .lose = tb_deformable_lose,
                             .doubt = doubt,
                             .begin = tb_deformable_begin,
                             .prepare = tb_deformable_prepare,
                             .project = tb_deformable_project,
                             .potential = tb_deformable_potential,
                             .linearise = tb_deformable_linearise,
                             .metric = tb_deformable_metric,
                             .contact = tb_deformable_contact,
                             .attached = tb_deformable_attached,
                             .attach = tb_deformable_attach,
                             .detach = tb_deformable_detach,
                             .advance = tb_deformable_advance,
                             .note = tb_deformable_note,
                             .surface = tb_deformable_surface,
                             .expect = tb_deformable_expect,
                             .move_surface = tb_deformable_move_surface,
                             .moves_at = tb_deformable_moves_at,
                             .direction = tb_deformable_direction};
