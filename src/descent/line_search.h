// SPDX-License-Identifier: Apache-2.0
// How far to go along a direction: to the minimum of the quadratic model, halved until g, with friction's
// limits held, has fallen by a share of what its slope promises (Armijo).
//
// Inertia is a parabola along the line, so that a trial costs no product with A, only the contacts.
#ifndef TB_DESCENT_LINE_SEARCH_H
#define TB_DESCENT_LINE_SEARCH_H

#include "descent/descend.h"

typedef struct tbLineSearch {
  double* product;             // (ndof)
  double *turn, *at, *impulse; // (nrow)
} tbLineSearch;

tbStatus tb_line_search_begin(tbArena* arena, const tbProblem* problem, tbLineSearch* out);

// From descent->v, where u, λ and D were evaluated and g has this gradient; 0: the direction leads nowhere.
double tb_line_search(const tbDescent* descent, tbThreads* threads, const double* gradient,
                      const double* direction, tbLineSearch* search);

// The same to the minimum along the direction, where potentials stop growing or start: a step of Newton's
// method that crosses many of these ends between them.
double tb_line_minimum(const tbDescent* descent, tbThreads* threads, const double* gradient,
                       const double* direction, tbLineSearch* search);

#endif
