// SPDX-License-Identifier: Apache-2.0
#include "ccd_big.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 Wide;

static void copy(Big* r, const Big* a)
{
  r->sign = a->sign, r->n = a->n;
  memmove(r->limb, a->limb, (size_t)a->n * sizeof *a->limb);
}

static void trim(Big* r)
{
  while (r->n > 0 && r->limb[r->n - 1] == 0) r->n--;
  if (r->n == 0) r->sign = 0;
}

static void need(int limbs) // the oracle must not answer wrongly
{
  if (limbs > BIG_LIMBS) abort();
}

void big_set(Big* r, int64_t x)
{
  r->sign = (x > 0) - (x < 0);
  r->n = x != 0;
  r->limb[0] = x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static int compare_size(const Big* a, const Big* b)
{
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  for (int i = a->n - 1; i >= 0; i--)
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  return 0;
}

static void add_size(Big* r, const Big* a, const Big* b)
{
  int n = a->n > b->n ? a->n : b->n;
  Wide carry = 0;
  need(n + 1);
  for (int i = 0; i < n; i++) {
    carry += (Wide)(i < a->n ? a->limb[i] : 0) + (i < b->n ? b->limb[i] : 0);
    r->limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  r->limb[n] = (uint64_t)carry;
  r->n = n + 1;
}

static void sub_size(Big* r, const Big* a, const Big* b) // |a| ≥ |b|
{
  uint64_t borrow = 0;
  int n = a->n;
  for (int i = 0; i < n; i++) {
    Wide y = (Wide)(i < b->n ? b->limb[i] : 0) + borrow;
    uint64_t x = a->limb[i];
    borrow = x < y;
    r->limb[i] = x - (uint64_t)y;
  }
  r->n = n;
}

static void big_add(Big* r, const Big* a, const Big* b, int sign) // a + sign·b; r may be either
{
  int bs = b->sign * sign;
  if (bs == 0) {
    copy(r, a);
  } else if (a->sign == 0 || a->sign == bs) {
    add_size(r, a, b);
    r->sign = bs;
  } else {
    int order = compare_size(a, b), s = order >= 0 ? a->sign : bs;
    if (order >= 0) sub_size(r, a, b);
    else sub_size(r, b, a);
    r->sign = s;
  }
  trim(r);
}

static void big_mul(Big* r, const Big* a, const Big* b) // r is neither
{
  r->n = a->n + b->n;
  r->sign = a->sign * b->sign;
  if (r->sign == 0) {
    r->n = 0;
    return;
  }
  need(r->n);
  memset(r->limb, 0, (size_t)r->n * sizeof *r->limb);
  for (int i = 0; i < a->n; i++) {
    Wide carry = 0;
    for (int j = 0; j < b->n; j++) {
      carry += (Wide)a->limb[i] * b->limb[j] + r->limb[i + j];
      r->limb[i + j] = (uint64_t)carry;
      carry >>= 64;
    }
    r->limb[i + b->n] = (uint64_t)carry;
  }
  trim(r);
}

void poly_linear(Poly* r, int64_t at_start, int64_t at_end)
{
  r->degree = 1;
  big_set(&r->a[0], at_start);
  big_set(&r->a[1], at_end);
}

void poly_add(Poly* r, const Poly* a, const Poly* b, int sign)
{
  if (a->degree >= 0 && b->degree >= 0 && a->degree != b->degree) abort();
  int degree = a->degree > b->degree ? a->degree : b->degree;
  Big zero = {0};
  for (int i = 0; i <= degree; i++)
    big_add(&r->a[i], a->degree < 0 ? &zero : &a->a[i], b->degree < 0 ? &zero : &b->a[i], sign);
  r->degree = degree;
}

void poly_mul(Poly* r, const Poly* a, const Poly* b)
{
  if (a->degree < 0 || b->degree < 0) {
    r->degree = -1;
    return;
  }
  r->degree = a->degree + b->degree;
  if (r->degree > POLY_DEGREE) abort();
  for (int i = 0; i <= r->degree; i++) big_set(&r->a[i], 0);
  for (int i = 0; i <= a->degree; i++)
    for (int j = 0; j <= b->degree; j++) {
      Big product;
      big_mul(&product, &a->a[i], &b->a[j]);
      big_add(&r->a[i + j], &r->a[i + j], &product, 1);
    }
}

bool poly_is_zero(const Poly* p)
{
  for (int i = 0; i <= p->degree; i++)
    if (p->a[i].sign) return false;
  return true;
}

int poly_changes(const Poly* p)
{
  int changes = 0, last = 0;
  for (int i = 0; i <= p->degree; i++) {
    if (p->a[i].sign && last && p->a[i].sign != last) changes++;
    if (p->a[i].sign) last = p->a[i].sign;
  }
  return changes;
}

void poly_open(Poly* p)
{
  while (p->degree >= 0 && p->a[p->degree].sign == 0) p->degree--;
  int low = 0;
  while (low <= p->degree && p->a[low].sign == 0) low++;
  if (low == 0) return;
  for (int i = low; i <= p->degree; i++) copy(&p->a[i - low], &p->a[i]);
  p->degree -= low;
}

// Left: (x, y) → (x, x + 2y). Right: (x, y) → (2x + y, y). By Horner's rule on the homogeneous form.
void poly_half(const Poly* p, int right, Poly* r)
{
  int n = p->degree;
  r->degree = n;
  for (int i = 0; i <= n; i++) big_set(&r->a[i], 0);
  if (n < 0) return;
  Big power[POLY_DEGREE + 1][POLY_DEGREE + 1]; // of the binomial, by coefficients in x
  for (int k = 0; k <= n; k++)
    for (int i = 0; i <= k; i++) {
      static const int choose[5][5] = {{1}, {1, 1}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
      big_set(&power[k][i], (int64_t)choose[k][i] << (right ? i : k - i)); // (2x + y)^k or (x + 2y)^k
    }
  for (int i = 0; i <= n; i++) { // a_i xⁱ yⁿ⁻ⁱ
    int k = right ? i : n - i;
    for (int j = 0; j <= k; j++) {
      Big term;
      big_mul(&term, &p->a[i], &power[k][j]);
      int to = right ? j : i + j;
      big_add(&r->a[to], &r->a[to], &term, 1);
    }
  }
}

// r = a mod b times a constant; quotient, which may be null, times the same one up to sign.
static void pseudo_remainder(const Poly* a, const Poly* b, Poly* r, Poly* quotient)
{
  *r = *a;
  if (quotient) {
    quotient->degree = a->degree - b->degree;
    for (int i = 0; i <= quotient->degree; i++) big_set(&quotient->a[i], 0);
  }
  const Big* lead = &b->a[b->degree];
  for (int k = a->degree - b->degree; k >= 0; k--) { // r ← lead(b) r − r_top x^k b, k times and once
    Big top, left, right;
    copy(&top, &r->a[k + b->degree]);
    if (quotient) {
      for (int i = 0; i <= quotient->degree; i++) {
        copy(&left, &quotient->a[i]);
        big_mul(&quotient->a[i], &left, lead);
      }
      copy(&quotient->a[k], &top);
    }
    for (int i = 0; i <= r->degree; i++) {
      big_mul(&left, lead, &r->a[i]);
      if (i >= k && i - k <= b->degree) {
        big_mul(&right, &top, &b->a[i - k]);
        big_add(&left, &left, &right, -1);
      }
      copy(&r->a[i], &left);
    }
  }
  while (r->degree >= 0 && r->a[r->degree].sign == 0) r->degree--;
}

void poly_gcd(const Poly* a, const Poly* b, Poly* r)
{
  Poly x = *a, y = *b, rest;
  if (x.degree < y.degree) {
    Poly t = x;
    x = y, y = t;
  }
  while (y.degree > 0) {
    pseudo_remainder(&x, &y, &rest, NULL);
    x = y, y = rest;
  }
  *r = y.degree < 0 ? x : y; // a constant remainder: no common factor
}

void poly_divide(const Poly* a, const Poly* b, Poly* r)
{
  Poly rest;
  pseudo_remainder(a, b, &rest, r);
  if (rest.degree >= 0) abort();
}
