// SPDX-License-Identifier: Apache-2.0
// Sheets of triangles.
#include "kind/deformable_step.h"

#include <stdio.h>

static bool doubt(const tbBody* b, char* what, size_t room)
{
  const tbDeformable* d = b->own;
  double edge = d->surface->edge_length;
  snprintf(
      what, room,
      "is %.3g m thick, more than twice its cells of %.3g m: it keeps no more than two cells from itself",
      2 * d->radius, edge);
  return d->radius > edge;
}

const tbKind tb_kind_cloth = {.name = "cloth",
                              .sheet = true,
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
