// SPDX-License-Identifier: Apache-2.0
// A step of primal, vbd or avbd taken apart for adjoints (src/gradient/adjoint_local.c).
//
// Its velocities solve
//
//   r(s, v) = A (v − v_free) − Jᵀλ(J v + b) = 0,      r_v = K = A + Jᵀ(D + E)J   (descent/coupled.h)
//
// and with them s⁺ = H(s, v), so that ds⁺ = H_s ds − H_v K⁻¹ r_s ds. A step is first recorded. Held, a step
// from a state next to it solves nothing: it finds r with the recorded v and impulses that are linear in u =
// J v + b, and moves bodies by v. What a number of the state does to r and H stays where it is: `link` says
// how far.
#ifndef TB_STEP_RELAXED_HELD_H
#define TB_STEP_RELAXED_HELD_H

#include "step/relaxed.h"

typedef struct tbRelaxedHeld {
  bool hold;            // else record
  const double* offset; // of velocities that bodies are moved by; null: none                     (ndof)
  const double* w;      // null, or for `pulled`                                                  (ndof)
  const double* push;   // with w: of the impulses                                                (rows)
  // Recorded.
  int ndof, rows, solves;
  bool more;                // it is more than the one minimum; or a contact is about to slip or stick
  tbArray v, u, lambda;     // double: of the minimum
  tbArray curvature, slope; // double: D and E there
  tbArray param;            // double: of the laws
  tbArray still;            // double: r
  tbArray dof;              // int: the first of every body; −1: nothing touches it
  tbArray joint_row;        // int: of every impulse of every joint; −1: there is none
  tbArray link; // int: pairs of degrees of freedom that act on each other; −1 − j: a joint's impulses
  // Of a step that was held.
  tbArray residual; // double: r
  tbArray pulled;   // double: K⁻ᵀ(w − Jᵀ(D + E)ᵀ push)
  bool strayed;     // its contacts, or their laws, are not the recorded ones
} tbRelaxedHeld;

void tb_relaxed_held_init(tbRelaxedHeld* held);
void tb_relaxed_held_free(tbContext* ctx, tbRelaxedHeld* held);

// In the place of a solve: impulses of a step that is held.
tbStatus tb_relaxed_held_impulses(tbContext* ctx, tbRelaxedHeld* held, const tbRelaxedRun* run);
// After it was judged.
tbStatus tb_relaxed_held_keep(tbContext* ctx, const tbWorld* world, tbRelaxedHeld* held,
                              const tbRelaxedRun* run, tbStepWork* work);

#endif
