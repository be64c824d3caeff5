// SPDX-License-Identifier: Apache-2.0
// Adhesion: contacts whose cone is moved along its axis (course, chapter 6),
//
//   ‖λ_F‖ ≤ μ (λ_n + c h),   λ_n ≥ −c h        c: the pull that a contact withstands, N
//
// With λ'_n = λ_n + c h this is an ordinary contact beside a constant pull c on both bodies. What touches at
// the start of a step is found, and its pulls are forces of the step; so every scheme applies adhesion with
// the contacts that it has anyway, and the judge sees an ordinary law with these forces.
#ifndef TB_STEP_ADHESION_H
#define TB_STEP_ADHESION_H

#include "step/find.h"

// A contact that pulls.
typedef struct tbAdhesivePull {
  int shape_a, shape_b, body_a, body_b;
  uint64_t feature;
  tbVec3 position, force; // where; and the force on b
  struct {
    int count, node[3]; // of a body of nodes, where its surface touches; 0: a frame
    double weight[3];
  } side[2];
} tbAdhesivePull;

// Whether any surface of the world has adhesion.
bool tb_adhesion_is_there(const tbWorld* world);

// The contacts that touch at the start of the step and have adhesion: an array of tbAdhesivePull.
tbStatus tb_adhesion_find(tbContext* ctx, tbCache* cache, const tbWorld* world, const tbStepOptions* options,
                          tbArray* pulls);

// Adds the pulls to the forces on bodies and their nodes. It fails without having changed any.
tbStatus tb_adhesion_pull(tbContext* ctx, const tbArray* pulls, tbWorld* world);

// Adds `time` times the pull to the normal impulses of the contacts that were recorded where it acts:
// h makes λ' of λ, −h makes λ of it again.
void tb_adhesion_shift(const tbArray* pulls, double time, tbArray* records);

#endif
