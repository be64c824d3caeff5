// SPDX-License-Identifier: Apache-2.0
// What the files of the scheme `penalty` share.
//
//   penalty.c           phases, and the anchors of friction
//   penalty_force.c     the forces of one contact
//   penalty_soft.c      contacts of deformable surfaces
//   penalty_implicit.c  springs where a step ends
#ifndef TB_STEP_PENALTY_H
#define TB_STEP_PENALTY_H

#include "step/relaxed.h"

// A contact as its forces need it.
typedef struct tbPenaltyPoint {
  const tbContactConstraint* at;
  double depth;   // that its spring is pressed by                                       m
  tbVec3 u;       // velocity of b against a, in the frame of the contact                m/s
  double mass;    // felt along the normal: its share, where others of the pair push, too   kg
  double sliding; // along the tangents, the smaller of both                             kg
  int points;     // of its pair that push
  tbVec3 stretch; // of its anchor before the step, world axes   m
} tbPenaltyPoint;

// Whether springs are pressed as they are where the step ends.
bool tb_penalty_is_implicit(const tbWorld* world, const tbStepOptions* options);

// k of a contact that feels so much mass: its materials', the options', or chosen   N/m
double tb_penalty_stiffness(const tbStepOptions* options, const tbContactConstraint* constraint, double mass);

// Between rigid bodies. stretch: before the step.
tbPenaltyPoint tb_penalty_point(const tbWorld* world, const tbContactConstraint* constraint, int points,
                                tbVec3 stretch);

// Forces along the rows of the contact, N and N·m; *stretch: that of its anchor after the step.
void tb_penalty_force(const tbWorld* world, const tbStepOptions* options, const tbPenaltyPoint* point,
                      double force[6], tbVec3* stretch);

// tbSchemeMethod.touching: within the layer.
double tb_penalty_touching(const tbWorld* world, const tbStepOptions* options, const tbSurfaces* surfaces,
                           bool shapes);

// Contacts of deformable surfaces within the layer that springs act in, appended to the constraints.
tbStatus tb_penalty_soft_begin(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                               tbStepWork* work, tbRelaxedSoft* soft);
// Their impulses, in the assembled problem; the first of them is the constraint `first`. stretch: of their
// anchors, before the step and after.
tbStatus tb_penalty_soft_push(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, int first,
                              tbVec3* stretch, tbStepWork* work);

// The problem of the constraints so far; implicit springs: the gaps of rigid contacts, contacts of deformable
// surfaces, and the minimum. rigid: how many constraints stand before those of surfaces.
tbStatus tb_penalty_assemble(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                             tbStepWork* work);
void tb_penalty_take_gaps(const tbStepOptions* options, tbArray* constraints);
tbStatus tb_penalty_implicit_begin(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                                   tbStepWork* work);
tbStatus tb_penalty_minimise(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, int rigid,
                             tbStepWork* work, tbStepReport* report);

#endif
