// SPDX-License-Identifier: Apache-2.0
// The width g of a slab is the least, over pairs of points, of a distance along n. Such a distance h stays
// close to the chord between its values at two times: with |h″| ≤ c and s from 0 to 1 over a time Δ,
//
//   h ≥ h₀ + (h₁ − h₀) s − c Δ² s (1 − s)/2
//
// and since h₀ ≥ g₀ and h₁ ≥ g₁ for every pair, so is g with g₀ and g₁. The least of the right-hand side is
// known in closed form; the largest Δ for which it stays above the target is searched by false position. With
// Δ shrinks c Δ²: a few rounds lead to the moment of impact, where steps by a bound on the speed take dozens.
#include "collide/open_until.h"

#include <math.h>

enum { TRIES = 24 };
static const double CLOSE = 0.01; // of the time found, that is left undecided

// The least of g₀ + (g₁ − g₀) s − a s (1 − s) for s from 0 to 1.
static double least(double g0, double g1, double a)
{
  double b = g1 - g0 - a, s = a > 0 ? -b / (2 * a) : 0;
  if (!(s > 0 && s < 1)) return fmin(g0, g1);
  return g0 + b * s + a * s * s;
}

double tb_open_until(tbGapAt* gap_at, const void* user, double from, double gap, double end, double target,
                     double bend)
{
  double span = end - from, open = 0, open_by = gap - target; // what is known to stay open, and by how much
  double shut = span;                                         // and what is not
  double shut_by = least(gap, gap_at(user, end), 0.5 * bend * span * span) - target;
  if (shut_by >= 0) return end;
  for (int k = 0; k < TRIES; k++) {
    double root = open + open_by / (open_by - shut_by) * (shut - open);
    if (!(root - open > CLOSE * root)) break;
    double d = root - 0.5 * CLOSE * (root - open); // a little before, so as to end on the open side
    if (k % 4 == 3) d = 0.5 * (open + shut);       // where the secant keeps to one side
    double by = least(gap, gap_at(user, from + d), 0.5 * bend * d * d) - target;
    if (by >= 0) open = d, open_by = by;
    else shut = d, shut_by = by;
  }
  return from + open;
}
