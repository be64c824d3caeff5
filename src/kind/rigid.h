// SPDX-License-Identifier: Apache-2.0
// Rigid bodies: entries of their row. Those of frames serve other kinds that move as one.
#ifndef TB_KIND_RIGID_H
#define TB_KIND_RIGID_H

#include "kind/step.h"
#include "kind/table.h"

extern const tbKind tb_kind_rigid;

// rigid.c
void tb_frame_place(tbWorld* world, int body, const tbBodyState* state);
void tb_frame_pull(tbWorld* world, int body, const struct tbGrip* grip, double dt);
tbEnergy tb_rigid_energy(const tbWorld* world, const tbBody* body);
tbVec3 tb_rigid_angular_momentum(const tbBody* body);

// rigid_step.c
void tb_rigid_metric(const tbStepView* view, int body, tbBuilder* builder, int* dof);
void tb_frame_contact(const tbStepView* view, int body, const tbContactSide* side, int dof,
                      tbBuilder* builder);
void tb_rigid_frame_rows(int rows, const double* jac, int dof, tbBuilder* builder);
void tb_rigid_frame_velocity(const double* velocity, tbVec3* v, tbVec3* w);
void tb_frame_advance(const tbStepView* view, int index, tbBody* body);
void tb_frame_note(const tbStepView* view, int index, tbStepReport* report);

#endif
