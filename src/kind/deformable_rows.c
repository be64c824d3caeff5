// SPDX-License-Identifier: Apache-2.0
// Touched where its surface is the mean Σ w_i x_i of some nodes, a contact has the rows ±w_i d on each of
// them. Nodes attached to a body that moves freely have three rows each that hold them there.
#include "kind/deformable_step.h"

void tb_deformable_contact(const tbStepView* view, int body, const tbContactSide* side, int dof, tbBuilder* b)
{
  const tbDeformable* d = tb_bodies(view->world)[body].own;
  double jac[TB_MAX_ROWS * 3];
  for (int k = 0; k < side->count; k++) {
    for (int i = 0; i < side->rows; i++)
      tb_store3(jac + 3 * i, tb_scale3(side->sign * side->weight[k], side->direction[i]));
    tb_builder_jacobian(b, dof + 3 * d->surface->node[side->vertex[k]], 3, jac);
  }
}

bool tb_deformable_attached(const tbBody* body, int k, int* other)
{
  const tbDeformable* d = body->own;
  if (k >= d->nhold) return false;
  *other = d->hold[k].body;
  return true;
}

static bool is_attached(const tbWorld* w, const tbDeformable* d, int node, int* body)
{
  *body = d->holder[node] < 0 ? -1 : d->hold[d->holder[node]].body;
  return *body >= 0 && tb_bodies(w)[*body].motion == TB_BODY_DYNAMIC;
}

int tb_deformable_list_attached(const tbWorld* w, const tbDeformable* d, tbAttachedNode* out)
{
  int count = 0;
  for (int n = 0, other; d->nhold > 0 && n < d->fem->nnode; n++) {
    if (!is_attached(w, d, n, &other)) continue;
    if (out) out[count] = (tbAttachedNode){n, other, d->local[n], d->pull[n]};
    count++;
  }
  return count;
}

// u = v_node − v_point, and what they are apart is closed.
tbStatus tb_deformable_attach(tbContext* ctx, const tbStepView* view, int body, tbBuilder* b, tbArray* guess)
{
  const tbWorld* w = view->world;
  const tbDeformable* d = tb_bodies(w)[body].own;
  for (int n = 0, other; d->nhold > 0 && n < d->fem->nnode; n++) {
    if (!is_attached(w, d, n, &other)) continue;
    tbTransform frame = view->centre[other];
    tbVec3 arm = tb_quat_rotate(frame.q, d->local[n]), apart = tb_sub3(d->x[n], tb_add3(frame.x, arm));
    double own[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, jac[18], bias[3];
    tb_store3(bias, tb_scale3(1 / view->h, apart));
    for (int k = 0; k < 3; k++) tb_point_row(tb_load3(own + 3 * k), arm, -1, jac + 6 * k);
    tb_builder_contact(b, TB_LAW_BILATERAL, 3, NULL, bias, NULL);
    tb_builder_jacobian(b, view->place[body].dof + 3 * n, 3, own);
    tb_bodies(w)[other].kind->frame_rows(3, jac, view->place[other].dof, b);
    TB_TRY(tb_array_push(ctx, guess, &d->pull[n], 3));
  }
  return TB_OK;
}

int tb_deformable_detach(const tbWorld* w, tbBody* body, const tbProblem* p, const double* lambda, int first)
{
  tbDeformable* d = body->own;
  int at = first;
  for (int n = 0, other; d->nhold > 0 && n < d->fem->nnode; n++)
    if (is_attached(w, d, n, &other)) d->pull[n] = tb_load3(lambda + p->row_adr[at++]);
  return at - first;
}
