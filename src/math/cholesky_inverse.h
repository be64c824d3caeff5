// SPDX-License-Identifier: Apache-2.0
// The entries of A⁻¹ where its Cholesky factor L has entries (Takahashi, Fagan and Chin 1973; Erisman and
// Tinney 1975).
//
// From A⁻¹ = L⁻ᵀL⁻¹ the entries follow supernode by supernode from the last to the first, each from those of
// later ones. With columns C, the rows R below them, and B = L_RC L_CC⁻¹:
//
//   Z_RC = −Z_RR B        Z_CC = (L_CC L_CCᵀ)⁻¹ − Bᵀ Z_RC
//
// and all of Z_RR is known, as R's rows and columns are among L's entries. Between rows of different
// elimination trees, such as the axes of a matrix that acts on each alike, A⁻¹ is zero.
//
// Cost      about twice that of the factor, while one column of A⁻¹ by itself takes a solve.
// Memory    that of L.
#ifndef TB_MATH_CHOLESKY_INVERSE_H
#define TB_MATH_CHOLESKY_INVERSE_H

#include "math/cholesky.h"

typedef struct tbSelectedInverse {
  const tbCholesky* factor;
  const double* Z;      // in the panels of L; diagonal blocks whole
  const int* place;     // the column of L of a row of A         (n)
  const int* supernode; // of a column of L                       (n)
  const int* tree;      // of a supernode: the last one of its elimination tree  (supernodes)
} tbSelectedInverse;

// The factor must have been computed, and must stay as it is. What is interrupted is of no use.
tbStatus tb_selected_inverse(tbContext* ctx, tbArena* arena, const tbCholesky* factor,
                             tbSelectedInverse* out);

// (A⁻¹)_ij; false: L has no entry there, though i and j are of one tree.
bool tb_selected_inverse_at(const tbSelectedInverse* inverse, int i, int j, double* value);

#endif
