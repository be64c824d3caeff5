// SPDX-License-Identifier: Apache-2.0
// The elastic energy of St. Venant–Kirchhoff bodies in a subspace: a polynomial of fourth order, computed
// once.
//
//   E = ½ qᵀKq + ⅙ A(q, q, q) + ¹⁄₂₄ B(q, q, q, q)
//
// With a = A(q, ·, ·) and b = B(q, q, ·, ·), two symmetric matrices,  ∂E = (K + a/2 + b/6) q,  ∂²E = K + a +
// b/2.
//
// Cost     b: a product with a symmetric matrix of r(r+1)/2 rows. Making it: 6 products of r⁴/8 per element.
// Memory   r⁴/4 doubles: 0.3 MB for 20 fields, 6 MB for 40.
#ifndef TB_MODAL_POLYNOMIAL_H
#define TB_MODAL_POLYNOMIAL_H

#include "fem/body.h"

enum { TB_POLYNOMIAL_MAX = 64 }; // fields

typedef struct tbPolynomial {
  int r, pairs;      // pairs i ≤ j: r (r+1)/2, in the order (0,0) (0,1) … (0,r−1) (1,1) …
  double *K, *A, *B; // (r · r), (pairs · r), (pairs · pairs)
  tbArena arena;
} tbPolynomial;

// field[(3 i + a) r + k] as in tbModalBasis.
tbStatus tb_polynomial_create(tbContext* ctx, const tbFemBody* fem, int r, const double* field,
                              tbPolynomial** out);
tbStatus tb_polynomial_make(tbContext* ctx, int r, tbPolynomial** out); // all zero, to be filled
void tb_polynomial_free(tbContext* ctx, tbPolynomial* polynomial);      // takes null

// E; the forces −∂E (r) and ∂²E (r · r), unless null. work: tb_polynomial_work doubles.
double tb_polynomial_evaluate(const tbPolynomial* polynomial, const double* q, double* force,
                              double* stiffness, double* work);
size_t tb_polynomial_work(const tbPolynomial* polynomial);

// −D³E(u, w, ·) of the whole mesh at rest: the forces of second order between two displacements.
void tb_stvk_second(const tbFemBody* fem, const double* u, const double* w, double* out);

#endif
