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

// Whose nodes these are, if it moves as one.
static double join(const tbPdStiff* stiff, int dof, double w, tbPdNodeContact* c)
{
  int body = stiff ? stiff->of[dof] : -1;
  if (body < 0) return 1;
  int at = c->stiff[0] < 0 || c->stiff[0] == body ? 0 : 1;
  c->stiff[at] = body, c->sum[at] += w;
  return stiff->share[body];
}

bool tb_pd_node_contact(const tbProblem* p, int k, const double* lump, const tbPdStiff* stiff,
                        tbPdNodeContact* out)
{
  *out = (tbPdNodeContact){.contact = k, .row = p->row_adr[k], .stiff = {-1, -1}};
  if (!are_nodes(p, k) || !take_frame(p, k, out->frame)) return false;
  out->bias = tb_load3(p->bias + out->row);
  for (int c = p->jac_adr[k], i = 0; c < p->jac_adr[k + 1]; c++, i++) {
    double w = out->weight[i] = tb_dot3(out->frame[0], row_of(p, c, 0));
    for (int r = 0; r < 3; r++)
      if (!(tb_maxabs3(tb_madd3(row_of(p, c, r), -w, out->frame[r])) <= SAME)) return false;
    out->dof[i] = p->jac_dof[c];
    out->answer[i] = join(stiff, p->jac_dof[c], w, out) * w / lump[p->jac_dof[c]];
    out->response += w * out->answer[i];
  }
  for (int i = 0; i < 2 && out->stiff[i] >= 0; i++) {
    out->lift[i] = out->sum[i] * stiff->inverse[out->stiff[i]];
    out->response += out->sum[i] * out->lift[i];
  }
  out->count = p->jac_adr[k + 1] - p->jac_adr[k];
  return true;
}
