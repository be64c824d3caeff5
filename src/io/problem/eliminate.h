// SPDX-License-Identifier: Apache-2.0
// Velocities eliminated from a global problem: M v = Jᵀ λ + f, u = J v + b becomes u = W λ + q with
//
//   W = J M⁻¹ Jᵀ,   q = b + J M⁻¹ f
//
// for files whose M is not symmetric (inertias written in frames that do not fit), which no metric block can
// hold. W is then not symmetric either, and is used as it is.
#ifndef TB_IO_PROBLEM_ELIMINATE_H
#define TB_IO_PROBLEM_ELIMINATE_H

#include "math/sparse.h"

// Whether velocities have to be eliminated, and can be: M is not symmetric beyond rounding, its connected
// components are small enough for dense factors, and W for its memory.
tbStatus tb_eliminates(tbArena* arena, const tbCsr* M, const tbCsr* J, bool* yes);

// W and, in place of b, q. Fails where a component of M is singular.
tbStatus tb_eliminate(tbArena* arena, const tbCsr* M, const tbCsr* J, const double* f, double* b, tbCsr* W);

#endif
