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

const tbKind tb_kind_cloth = {.name = "cloth", .sheet = true, .doubt = doubt, TB_DEFORMABLE_ROW};
