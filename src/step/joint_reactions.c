// SPDX-License-Identifier: Apache-2.0
// What joints do to their bodies, to be looked at: impulses of the step's problem through the rows they act
// by, and springs that acted as forces.
#include "step/assemble.h"

#include "scene/kind.h"

// Adds what the rows of one block do to a body, as a force and a torque about `at` from its centre of mass.
static void add_block(const tbProblem* p, int block, const double* lambda, int dof, double scale, tbVec3 at,
                      tbVec3* force, tbVec3* torque)
{
  int rows = p->row_adr[block + 1] - p->row_adr[block];
  for (int c = p->jac_adr[block]; c < p->jac_adr[block + 1]; c++) {
    if (p->jac_dof[c] != dof) continue;
    const double* row = p->jac + p->jac_val_adr[c];
    for (int i = 0; i < rows; i++, row += 6) {
      double s = scale * lambda[p->row_adr[block] + i];
      tbVec3 f = tb_scale3(s, tb_load3(row)), moment = tb_scale3(s, tb_load3(row + 3));
      *force = tb_add3(*force, f);
      *torque = tb_add3(*torque, tb_sub3(moment, tb_cross3(at, f)));
    }
  }
}

static bool deforms(const tbWorld* w, int body)
{
  return body >= 0 && tb_bodies(w)[body].kind->material_rows;
}

// Of a joint to a body that deforms, by its rows on b where the bodies are now.
static void add_rows(const tbAssembly* a, const tbStepOptions* o, const tbWorld* w, int block, int count,
                     tbVec3 at, tbJoint* j)
{
  tbJointBlock rows[TB_JOINT_BLOCKS];
  int found = tb_joint_blocks(w, o, TB_JOINT_VELOCITIES, NULL, a->view.centre, j, rows);
  for (int k = 0; k < count && k < found; k++)
    for (int i = 0; i < rows[k].rows; i++) {
      double s = a->lambda[a->problem->row_adr[block + k] + i] / o->dt;
      tbVec3 f = tb_scale3(s, tb_load3(rows[k].b[i])), moment = tb_scale3(s, tb_load3(rows[k].b[i] + 3));
      j->force = tb_add3(j->force, f);
      j->torque = tb_add3(j->torque, tb_sub3(moment, tb_cross3(at, f)));
    }
}

// No body of it is part of the problem: it keeps what it had.
static bool is_left_out(const tbAssembly* a, const tbJoint* j)
{
  return (j->a < 0 || a->place[j->a].dof < 0) && (j->b < 0 || a->place[j->b].dof < 0);
}

void tb_joint_reactions(const tbAssembly* a, const tbStepOptions* o, tbWorld* w)
{
  int block = a->nconstraint;
  for (size_t i = 0; i < w->joint.count; i++) {
    tbJoint* j = &tb_joints(w)[i];
    if (is_left_out(a, j)) continue;
    tbJointPlace place = tb_joint_placed(w, a->view.centre, j);
    bool on_b = j->b >= 0 && a->place[j->b].dof >= 0; // else through the other, which must have a place then
    int dof = a->place[on_b ? j->b : j->a].dof;
    tbVec3 at = on_b ? place.arm_b : tb_add3(place.arm_a, place.apart);
    tb_joint_forces_keep(w, o, a->view.centre, w->time - 0.5 * o->dt, j);
    bool soft = deforms(w, j->a) || deforms(w, j->b);
    if (soft) add_rows(a, o, w, block, a->nblock[i], place.arm_b, j);
    for (int k = 0; k < a->nblock[i] && !soft; k++)
      add_block(a->problem, block + k, a->lambda, dof, (on_b ? 1 : -1) / o->dt, at, &j->force, &j->torque);
    block += a->nblock[i];
  }
}
