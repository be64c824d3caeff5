// SPDX-License-Identifier: Apache-2.0
// Descent cell by cell: vertex block descent (Chen, Liu, Yang and Yuksel 2024) and its augmented variant
// (Giles, Diaz and Yuksel 2025).
//
//   v_c ← v_c − α (A_cc + Σ J_kcᵀ D_k J_kc)⁻¹ ∇_c g        one cell after the other, colour by colour
//
// α: the options' relaxation; 1, as published, where that is 0: contacts may then open and close for ever.
//
// Augmented, contacts and joints have multipliers as well, λ = Π(λ₀ − κ u): after each pass λ₀ ← λ, and κ
// grows where a row is not at a bound, so that constraints end hard at a finite κ.
#ifndef TB_DESCENT_COORDINATE_H
#define TB_DESCENT_COORDINATE_H

#include "descent/descend.h"

// d->iterations passes from d->v on; d->u, lambda and D are those of the potentials at the last iterate.
// multipliers: null, or λ₀ to start from (nrow, overwritten); a few passes on the potentials alone follow.
tbStatus tb_coordinate_run(tbContext* ctx, tbArena* arena, tbDescent* descent, double* multipliers);

#endif
