// SPDX-License-Identifier: Apache-2.0
// One contact whose friction set is a ball or an ellipsoid: Coulomb, elliptic, Contensou.
#ifndef TB_SOLVE_LOCAL_BALL_H
#define TB_SOLVE_LOCAL_BALL_H

#include "solve/friction.h"

// What of the contact does not change from visit to visit.
typedef struct tbBall {
  int m;                               // friction rows, at most 3
  double scale[3];                     // half axes of F: friction row i is measured in multiples of them
  double nn, size;                     // D_nn; largest diagonal of the scaled D_FF
  double down[3];                      // D_Fn / D_nn, scaled
  double nF[3];                        // Vᵀ D_nF, scaled
  double inverse_nn, inverse_sigma[3]; // of what is positive; else 0
  double sigma[3];                     // S = D_FF − D_Fn D_nF / D_nn = V diag(σ) Vᵀ, scaled
  double V[9];                         // eigenvectors in columns
} tbBall;

void tb_ball_prepare(const tbFrictionSet* f, const double* D, tbBall* out);

// λ in: the current impulse, where the search for the slip begins; u: the velocity there. q: the velocity
// without the contact's own impulse. False, and λ as it was, when no consistent state was found.
bool tb_ball_solve(const tbBall* ball, const double* q, const double* u, double* lambda);

#endif
