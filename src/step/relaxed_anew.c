// SPDX-License-Identifier: Apache-2.0
#include "step/relaxed_anew.h"

#include "scene/kind.h"
#include "step/joint_rows.h"

#include <math.h>
#include <string.h>

enum { TWIST = 6 };

static bool turns(const tbRowsAnew* r, int body)
{
  if (body < 0 || r->assembly->place[body].dof < 0) return false;
  const tbBody* b = &tb_bodies(r->world)[body];
  return b->kind->framed && b->kind->dofs(b) == TWIST;
}

// Where v kept for the whole step leads.
static void move_centres(tbRowsAnew* r, const double* v)
{
  const tbTransform* start = r->assembly->view.centre;
  double h = r->options->dt;
  for (size_t i = 0; i < r->world->body.count; i++) {
    r->centre[i] = start[i];
    if (!turns(r, (int)i)) continue;
    const double* own = v + r->assembly->place[i].dof;
    r->centre[i].x = tb_madd3(start[i].x, h, tb_load3(own));
    r->centre[i].q = tb_quat_normalize(tb_quat_mul(tb_quat_exp(tb_scale3(h, tb_load3(own + 3))), start[i].q));
  }
}

// The rows of contact k on a body: of the step's own problem, which is not yet judged. Null: none.
static double* rows_on(const tbRowsAnew* r, int k, int body)
{
  const tbProblem* p = r->assembly->problem;
  if (!turns(r, body)) return NULL;
  for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
    if (p->jac_dof[c] == r->assembly->place[body].dof) return (double*)p->jac + p->jac_val_adr[c];
  return NULL;
}

static double product(const double* row, const double* v)
{
  double sum = 0;
  for (int i = 0; i < TWIST; i++) sum += row[i] * v[i];
  return sum;
}

// Rows of turning, behind the first three, stay linear.
static void renew_contact(const tbRowsAnew* r, int k, const double* v)
{
  const tbContactConstraint* t = &r->assembly->constraint[k];
  const tbTransform* start = r->assembly->view.centre;
  int body[2] = {t->body_a, t->body_b}, at = r->assembly->problem->row_adr[k],
      rows = t->rows < 3 ? t->rows : 3;
  double* bias = (double*)r->assembly->problem->bias + at;
  if (t->surface) return;
  memcpy(bias, r->bias + at, (size_t)rows * sizeof *bias);
  for (int side = 0; side < 2; side++) {
    double* row = rows_on(r, k, body[side]);
    if (!row) continue;
    const tbTransform *from = &start[body[side]], *to = &r->centre[body[side]];
    tbVec3 arm = tb_sub3(t->position, from->x);
    tbVec3 turned = tb_quat_rotate(to->q, tb_quat_unrotate(from->q, arm));
    tbVec3 moved = tb_add3(tb_sub3(to->x, from->x), tb_sub3(turned, arm));
    for (int i = 0; i < rows; i++, row += TWIST) {
      tbVec3 d = tb_load3(row);
      tb_store3(row + 3, tb_cross3(turned, d));
      bias[i] += tb_dot3(d, moved) / r->options->dt - product(row, v + r->assembly->place[body[side]].dof);
    }
  }
}

static bool is_rigid(const tbRowsAnew* r, int body)
{
  return body < 0 || tb_bodies(r->world)[body].motion != TB_BODY_DYNAMIC || turns(r, body);
}

// A coordinate's change; angles go the short way.
static double change(const tbJoint* j, const tbJointBlock* block, double from, double to)
{
  double round = 2 * TB_PI, by = to - from;
  bool angle = j->def.type == TB_JOINT_HINGE && block->slot != 0;
  return angle ? by - round * rint(by / round) : by;
}

static void renew_block(const tbRowsAnew* r, int k, const tbJoint* j, const tbJointBlock* block,
                        const double* v)
{
  int at = r->assembly->problem->row_adr[k], body[2] = {j->a, j->b};
  double* bias = (double*)r->assembly->problem->bias + at;
  for (int i = 0; i < block->rows; i++)
    bias[i] = r->bias[at + i] + change(j, block, r->start[at + i], block->bias[i]) / r->options->dt;
  for (int side = 0; side < 2; side++) {
    double* row = rows_on(r, k, body[side]);
    for (int i = 0; row && i < block->rows; i++, row += TWIST) {
      memcpy(row, side ? block->b[i] : block->a[i], TWIST * sizeof *row);
      bias[i] -= product(row, v + r->assembly->place[body[side]].dof);
    }
  }
}

// All joints between rigid bodies; v null: notes where their coordinates start.
static void renew_joints(const tbRowsAnew* r, const tbTransform* centre, const double* v)
{
  int k = r->assembly->nconstraint;
  for (size_t i = 0; i < r->world->joint.count; k += r->assembly->nblock[i++]) {
    const tbJoint* j = &tb_joints(r->world)[i];
    tbJointBlock block[TB_JOINT_BLOCKS];
    if (r->assembly->nblock[i] == 0 || !is_rigid(r, j->a) || !is_rigid(r, j->b)) continue;
    int count = tb_joint_blocks(r->world, r->options, TB_JOINT_COORDINATES, NULL, centre, j, block);
    for (int b = 0; b < count && count == r->assembly->nblock[i]; b++) {
      if (v) renew_block(r, k + b, j, &block[b], v);
      else
        memcpy(r->start + r->assembly->problem->row_adr[k + b], block[b].bias,
               (size_t)block[b].rows * sizeof(double));
    }
  }
}

tbStatus tb_rows_anew_begin(tbArena* arena, const tbWorld* w, const tbStepOptions* o, tbAssembly* a,
                            tbRowsAnew* out)
{
  size_t rows = (size_t)a->problem->nrow;
  *out = (tbRowsAnew){.world = w,
                      .options = o,
                      .assembly = a,
                      .centre = TB_TAKE(arena, tbTransform, w->body.count),
                      .bias = TB_TAKE(arena, double, rows),
                      .start = TB_TAKE(arena, double, rows)};
  if (!out->centre || !out->bias || !out->start) return TB_ERROR_MEMORY;
  memcpy(out->bias, a->problem->bias, rows * sizeof(double));
  renew_joints(out, a->view.centre, NULL);
  return TB_OK;
}

void tb_rows_anew(void* anew, const double* v)
{
  tbRowsAnew* r = anew;
  move_centres(r, v);
  for (int k = 0; k < r->assembly->nconstraint; k++) renew_contact(r, k, v);
  renew_joints(r, r->centre, v);
}
