// SPDX-License-Identifier: Apache-2.0
// Integers of up to 10240 bits, and polynomials over them, for the collision oracle: plain and slow.
//
// A polynomial is homogeneous in x = t and y = 1 − t:  Σ a_i xⁱ yⁿ⁻ⁱ. Sums and products are those of ordinary
// coefficients, the ends of [0, 1] are a_0 and a_n, halving the interval keeps integers, and Descartes' rule
// holds: the number of roots in the open interval is at most that of the sign changes in a, and of the same
// parity.
#ifndef TB_TEST_CCD_BIG_H
#define TB_TEST_CCD_BIG_H

#include <stdbool.h>
#include <stdint.h>

enum { BIG_LIMBS = 160, POLY_DEGREE = 4 };

typedef struct {
  int sign, n; // −1, 0, 1; limbs in use, the highest of them not zero
  uint64_t limb[BIG_LIMBS];
} Big;

typedef struct {
  int degree; // −1: zero
  Big a[POLY_DEGREE + 1];
} Poly;

void big_set(Big* r, int64_t x);

void poly_linear(Poly* r, int64_t at_start, int64_t at_end);
void poly_add(Poly* r, const Poly* a, const Poly* b,
              int sign);                              // a ± b, of one degree or zero; r may be either
void poly_mul(Poly* r, const Poly* a, const Poly* b); // r is neither
bool poly_is_zero(const Poly* p);
int poly_changes(const Poly* p);                   // sign changes among the coefficients
void poly_open(Poly* p);                           // divided by x and y as often as they divide it
void poly_half(const Poly* p, int right, Poly* r); // over the left or right half of the interval; r is not p
void poly_gcd(const Poly* a, const Poly* b, Poly* r);    // of opened, non-zero a and b, up to a constant
void poly_divide(const Poly* a, const Poly* b, Poly* r); // a / b, which divides it, up to a constant

#endif
