// SPDX-License-Identifier: Apache-2.0
#include "barrier/barrier.h"

enum { LAYERS = 200 }; // beyond it nothing is left of d̂ in numbers

static tbJet layers(int most, double d, double dhat)
{
  tbJet sum = {0};
  double thick = dhat, stiff = 1;
  for (int l = 0; l < most && d < thick; l++, thick /= 2, stiff *= 8) {
    double in = thick - d;
    sum.value += stiff * in * in / (2 * dhat), sum.first -= stiff * in / dhat, sum.second += stiff / dhat;
  }
  return sum;
}

tbJet tb_barrier(tbBarrierKind kind, double d, double dhat)
{
  if (!(d < dhat)) return (tbJet){0};
  if (kind != TB_BARRIER_LOG) return layers(kind == TB_BARRIER_LAYERS ? LAYERS : 1, d, dhat);
  double x = d / dhat, y = (dhat - d) / dhat, log = tb_ln(x);
  return (tbJet){.value = -dhat * y * y * log,
                 .first = 2 * y * log - y * y / x,
                 .second = (-2 * log + 4 * y / x + y * y / (x * x)) / dhat};
}

tbJet tb_barrier_of_square(tbBarrierKind kind, double s, double dhat)
{
  double d = sqrt(s);
  tbJet b = tb_barrier(kind, d, dhat);
  b.second = (b.second - b.first / d) / (4 * s);
  b.first /= 2 * d;
  return b;
}

tbJet tb_smooth_friction(double y, double reach)
{
  if (y >= reach) return (tbJet){.value = y, .first = 1 / y, .second = 0};
  double x = y / reach;
  return (tbJet){.value = reach * (x * x * (1 - x / 3) + 1.0 / 3),
                 .first = (2 - x) / reach,
                 .second = 2 * (1 - x) / reach};
}
