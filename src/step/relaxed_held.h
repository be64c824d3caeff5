// SPDX-License-Identifier: Apache-2.0
// A step of primal, vbd or avbd taken apart for adjoints (src/gradient/adjoint_local.c).
//
// Its velocities solve v = Φ(s, v) = v_free + A⁻¹Jᵀλ(J v + b), and with them s⁺ = H(s, v). So
//   ds⁺ = H_s ds + H_v (1 − Φ_v)⁻¹ Φ_s ds,    1 − Φ_v = A⁻¹K   (descent/coupled.h)
// A step is first recorded. Held, a step from a state next to it does not solve: it finds Φ with the recorded
// v and impulses that are linear in u = J v + b, and moves bodies by v.
#ifndef TB_STEP_RELAXED_HELD_H
#define TB_STEP_RELAXED_HELD_H

#include "step/relaxed.h"

typedef struct tbRelaxedHeld {
  bool hold;            // else record
  const double* offset; // of velocities that bodies are moved by; null: none                  (ndof)
  const double* w; // null, or to be put through (1 − Φ_v)⁻ᵀ = A K⁻ᵀ                      (ndof)
  // Recorded.
  int ndof, rows, solves;
  bool impacts;         // or joints: it is more than the one minimum; or a contact is about to slip or stick
  tbArray v, u, lambda; // double: of the minimum
  tbArray curvature, slope; // double: D and E there
  tbArray dof;              // int: the first of every body; −1: nothing touches it
  // Of a step that was held.
  tbArray phi;    // double: Φ
  tbArray pulled; // double: A K⁻ᵀ w
  bool strayed;   // its contacts are not the recorded ones
} tbRelaxedHeld;

void tb_relaxed_held_init(tbRelaxedHeld* held);
void tb_relaxed_held_free(tbContext* ctx, tbRelaxedHeld* held);

// In the place of a solve: impulses of a step that is held.
tbStatus tb_relaxed_held_impulses(tbContext* ctx, tbRelaxedHeld* held, const tbRelaxedRun* run);
// After it was judged.
tbStatus tb_relaxed_held_keep(tbContext* ctx, const tbWorld* world, tbRelaxedHeld* held,
                              const tbRelaxedRun* run, tbAssembly* assembly);

#endif
