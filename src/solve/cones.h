// SPDX-License-Identifier: Apache-2.0
// All the cones of a problem at once, in a diagonal metric.
//
// R holds one number for the normal row and one for all friction rows of a contact, about the size of W's
// diagonal there, so that steps of one length suit light and heavy contacts alike:
//
//   P(v) = argmin ‖x − v‖_R over x ∈ K
//
// In the coordinates √R x the metric is Euclidean and the cone has the same shape over a scaled friction set.
#ifndef TB_SOLVE_CONES_H
#define TB_SOLVE_CONES_H

#include "solve/friction.h"
#include "solve/run.h"

typedef struct tbCones {
  const tbProblem* p;
  tbThreads* threads;
  tbFrictionSet* friction; // as the model has them                   (ncontact)
  tbFrictionSet* scaled;   // for √R x                                (ncontact)
  double* R;               // positive                                (nrow)
} tbCones;

void tb_cones_layout(tbCones* c, tbScratch* scratch, const tbProblem* p);
void tb_cones_begin(tbCones* c, tbRun* run);

void tb_cones_project(const tbCones* c, const double* v, double* x); // x = P(v); may be v

// lift_n = σ_F(−u_F), the De Saxcé correction, into the normal rows of contacts with friction; other entries
// of lift are left alone. Nothing in associated models.
void tb_cones_lift(const tbCones* c, const double* u, double* lift);

#endif
