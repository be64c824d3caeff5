// SPDX-License-Identifier: Apache-2.0
// Scene and contacts become a problem: the one place where they meet.
#ifndef TB_STEP_ASSEMBLE_H
#define TB_STEP_ASSEMBLE_H

#include "kind/step.h"
#include "step/joint_rows.h"

// A step's problem and how it belongs to the world. Contacts come first, in the order of the constraints,
// then the blocks of the joints, of attached nodes, and of elements that are rows. Bodies that nothing
// touches are left out.
typedef struct tbAssembly {
  tbProblem* problem;
  double* lambda; // in: warm start; out: impulses                     (nrow)
  double *u, *v;  // what the judge finds                              (nrow), (ndof)
  double* w;      // a guess of v − v_free, where it is expensive to find; null: none   (ndof)
  double* part;   // of the judge's number, that is each contact's             (ncontact)
  tbPlace* place; // of every body                                     (bodies)
  bool* pushed;   // whether any impulse acts on a body                (bodies)
  int nconstraint;
  const tbContactConstraint* constraint;
  tbStepView view;        // of what it was assembled from, and v
  uint8_t *nblock, *slot; // of every joint: its blocks, and where their impulses go   (joints), (5·joints)
  tbResidual residual;
} tbAssembly;

// What the unknowns are.
typedef enum tbAssembleWay {
  TB_ASSEMBLE_VELOCITIES, // with what tight joints add to the metric (geometric.h)
  TB_ASSEMBLE_PLAIN,      // velocities, and masses alone in the metric
  TB_ASSEMBLE_IMPACT,     // velocities after an impact
  TB_ASSEMBLE_POSITIONS,  // displacements (tb_joint_blocks), and masses alone
} tbAssembleWay;

// Arrays live in the arena; the problem is freed by tb_assembly_free. centre: poses of the centres of mass;
// step: of bodies that solve for their free
// motion; null: they take no part.
tbStatus tb_assemble(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                     tbAssembleWay way, const tbUnconstrained* unconstrained, const tbTransform* centre,
                     const tbBodyStep* step, const tbContactConstraint* constraints, int count,
                     tbAssembly* out);
void tb_assembly_free(tbAssembly* assembly);

// Judges λ: fills u, v, the residual and its parts. `judge`: of this problem, which has seen a λ like it;
// null: a new one.
tbStatus tb_assembly_judge(tbContext* ctx, const tbStepOptions* options, tbJudge* judge,
                           tbAssembly* assembly);

// Velocities of a frame after the step: the solved ones, or the free ones where nothing touched it.
static inline void tb_assembly_velocity(const tbAssembly* a, const tbUnconstrained* unconstrained, int body,
                                        tbVec3* v, tbVec3* w)
{
  tbStepView view = a->view;
  view.unconstrained = unconstrained;
  tb_view_frame_velocity(&view, body, v, w);
}

// Keeps impulses and contacts in the world: warm start and what users look at. `record` has room for every
// constraint.
void tb_assembly_record(const tbAssembly* assembly, tbWorld* world, tbContactRecord* record);

#endif
