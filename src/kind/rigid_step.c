// SPDX-License-Identifier: Apache-2.0
// A rigid body in a step. Its block of the metric is diag(m 1, R I Rᵀ), its degrees of freedom the velocity
// of its centre of mass and its angular velocity in world axes.
//
// Contacts change the velocities where the body is at the start of the step, or at the moment an impact
// struck it; for the rest r of the step it drifts:
//
//   in flight     nothing acted on it: a parabola that ends with the velocity v⁺,  x⁺ = x + r v⁺ − a r²/2
//   in contact    x⁺ = x + r v⁺: semi-implicit Euler, whose velocity is the one the contact law holds for
//   turning       as a free body does, from the angular velocity of the contact law (rigid_motion.c)
//
// An impulse at one point of two bodies keeps their momentum and angular momentum about any point, and so
// does the drift: x⁺ × m v⁺ = x × m v⁺, and free rotation. Nor does the drift add energy.
#include "kind/rigid.h"

static tbMat3 symmetric(tbMat3 A) // to the bit
{
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < r; c++) A.m[r][c] = A.m[c][r];
  return A;
}

// A body whose joints pull hard: (M + h²K) v⁺ = M v_free + …
static void add_stiffened(tbBuilder* b, double mass, tbMat3 I, const tbGeometric* g, const double v[6],
                          int* dof)
{
  tbMat3 own[2] = {tb_mat3_diag(mass, mass, mass), I};
  tbMat3 whole[2] = {symmetric(tb_mat3_add(own[0], g->mass)), symmetric(tb_mat3_add(own[1], g->inertia))};
  double A[36] = {0}, slowed[6];
  for (int k = 0; k < 2; k++) {
    tbVec3 momentum = tb_mat3_mulv(own[k], tb_load3(v + 3 * k));
    tb_store3(slowed + 3 * k, tb_mat3_mulv(tb_mat3_inverse(whole[k]), momentum));
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) A[6 * (3 * k + r) + 3 * k + c] = whole[k].m[r][c];
  }
  tb_builder_dense(b, 6, A, slowed, dof);
}

void tb_rigid_metric(const tbStepView* view, int body, tbBuilder* b, int* dof)
{
  const tbBody* own = &tb_bodies(view->world)[body];
  const tbGeometric* stiff = view->stiff ? &view->stiff[body] : NULL;
  double v[6];
  tb_store3(v, view->unconstrained[body].v);
  tb_store3(v + 3, view->unconstrained[body].w);
  tbMat3 R = tb_quat_mat3(view->centre[body].q), I = symmetric(tb_mat3_mul(R, tb_mat3_mult(own->inertia, R)));
  bool slack = !stiff || (tb_mat3_trace(stiff->mass) == 0 && tb_mat3_trace(stiff->inertia) == 0);
  if (slack) tb_builder_rigid(b, own->mass, (const double*)&I, v, dof);
  else add_stiffened(b, own->mass, I, stiff, v, dof);
}

void tb_rigid_frame_rows(int rows, const double* jac, int dof, tbBuilder* b)
{
  (void)rows;
  tb_builder_jacobian(b, dof, 6, jac);
}

void tb_frame_contact(const tbStepView* view, int body, const tbContactSide* side, int dof, tbBuilder* b)
{
  double jac[TB_MAX_ROWS * 6];
  tb_frame_jacobian(side, view->centre[body].x, jac);
  tb_bodies(view->world)[body].kind->frame_rows(side->rows, jac, dof, b);
}

void tb_rigid_frame_velocity(const double* velocity, tbVec3* v, tbVec3* w)
{
  *v = tb_load3(velocity), *w = tb_load3(velocity + 3);
}

static void drift(const tbStepView* view, int index, tbBody* b)
{
  const tbUnconstrained* f = &view->unconstrained[index];
  bool carried = f->held || view->pushed[index];
  double rest = f->struck >= 0 ? view->h - f->struck : view->h;
  rest -= f->lost;
  tb_view_frame_velocity(view, index, &b->v, &b->w);
  b->x = tb_madd3(f->at.x, rest, b->v), b->q = f->at.q;
  if (!carried) b->x = tb_madd3(b->x, -0.5 * rest * rest, f->a);
  if (f->pieces > 0) tb_turn_in_pieces(b, rest, f->pieces, &b->q, &b->w);
  else tb_turn_freely(b, rest, &b->q, &b->w);
}

void tb_frame_advance(const tbStepView* view, int index, tbBody* b)
{
  if (b->motion == TB_BODY_DYNAMIC) drift(view, index, b);
  if (b->motion == TB_BODY_KINEMATIC) tb_follow(view->world, b, &view->unconstrained[index], view->h);
}

// One that loses time of the step, and the way that it does not go for it.
void tb_frame_note(const tbStepView* view, int index, tbStepReport* report)
{
  double lost = view->unconstrained[index].lost;
  if (!(lost > 0)) return;
  tbVec3 v, spin;
  tb_view_frame_velocity(view, index, &v, &spin);
  report->changes.stopped++;
  report->changes.short_of = fmax(report->changes.short_of, lost * tb_norm3(v));
}
