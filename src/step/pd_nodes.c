// SPDX-License-Identifier: Apache-2.0
#include "step/pd_nodes.h"

#include <float.h>
#include <math.h>

static const double SAME = 16 * DBL_EPSILON; // of the frame: what products round

static tbVec3 row_of(const tbProblem* p, int column, int row)
{
  return tb_load3(p->jac + p->jac_val_adr[column] + (size_t)(3 * row));
}

static bool are_nodes(const tbProblem* p, int k)
{
  int row = p->row_adr[k], columns = p->jac_adr[k + 1] - p->jac_adr[k];
  if (p->row_adr[k + 1] - row != 3 || columns < 1 || columns > TB_PD_NODES) return false;
  for (int i = 0; i < 3; i++)
    if (p->compliance[row + i] != 0) return false;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
    if (p->jac_width[c] != 3 || p->block[p->dof_block[p->jac_dof[c]]].kind != TB_METRIC_SPARSE) return false;
  return true;
}

// The frame, from the column with the largest weight.
static bool take_frame(const tbProblem* p, int k, tbVec3 frame[3])
{
  int largest = p->jac_adr[k];
  for (int c = largest + 1; c < p->jac_adr[k + 1]; c++)
    if (tb_dot3(row_of(p, c, 0), row_of(p, c, 0)) > tb_dot3(row_of(p, largest, 0), row_of(p, largest, 0)))
      largest = c;
  double size = tb_norm3(row_of(p, largest, 0));
  for (int i = 0; i < 3; i++) frame[i] = tb_scale3(1 / size, row_of(p, largest, i));
  return isfinite(1 / size);
}

bool tb_pd_node_contact(const tbProblem* p, int k, const double* lump, tbPdNodeContact* out)
{
  *out = (tbPdNodeContact){.contact = k, .row = p->row_adr[k]};
  if (!are_nodes(p, k) || !take_frame(p, k, out->frame)) return false;
  out->bias = tb_load3(p->bias + out->row);
  for (int c = p->jac_adr[k], i = 0; c < p->jac_adr[k + 1]; c++, i++) {
    double w = out->weight[i] = tb_dot3(out->frame[0], row_of(p, c, 0));
    for (int r = 0; r < 3; r++)
      if (!(tb_maxabs3(tb_madd3(row_of(p, c, r), -w, out->frame[r])) <= SAME)) return false;
    out->dof[i] = p->jac_dof[c];
    out->answer[i] = w / lump[p->jac_dof[c]];
    out->response += w * out->answer[i];
  }
  out->count = p->jac_adr[k + 1] - p->jac_adr[k];
  return true;
}
