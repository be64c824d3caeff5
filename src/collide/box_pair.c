// SPDX-License-Identifier: Apache-2.0
// Two boxes as a pair: which comes first, what the last look at them knew, and the two steps to their points.
#include "collide/box_box.h"

#include <math.h>

static const double SLACK = 1e-12; // of the coordinates: a hint decides nothing that rounding could

static int order(const double* a, const double* b, int n)
{
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

// The smaller box first; of equal ones, by where they are along the axis on which they are farthest apart.
static bool in_order(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d)
{
  int o = order(a->half, b->half, 3);
  if (o) return o < 0;
  double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z), most = x >= y && x >= z ? d.x : y >= z ? d.y : d.z;
  if (most != 0) return most > 0;
  return order(a->R.m[0], b->R.m[0], 9) <= 0;
}

static tbVec3 axis_of(const tbPlacedBox* a, int i) { return tb_mat3_col(a->R, i); }

// Half the width of a box along n (any length).
static double reach(const tbPlacedBox* a, tbVec3 n)
{
  return a->half[0] * fabs(tb_dot3(axis_of(a, 0), n)) + a->half[1] * fabs(tb_dot3(axis_of(a, 1), n)) +
         a->half[2] * fabs(tb_dot3(axis_of(a, 2), n));
}

bool tb_box_hint_holds(const tbPlacedBox* a, const tbPlacedBox* b, double margin, tbBoxHint hint)
{
  if (hint == 0 || hint > 15) return false;
  tbVec3 d = tb_sub3(b->x, a->x);
  tbVec3 n = hint <= 3   ? axis_of(a, hint - 1)
             : hint <= 6 ? axis_of(b, hint - 4)
                         : tb_cross3(axis_of(a, (hint - 7) / 3), axis_of(b, (hint - 7) % 3));
  double way = fabs(tb_dot3(d, n)), room = way - reach(a, n) - reach(b, n) - SLACK * (way + tb_maxabs3(d));
  if (hint <= 6) return room > margin;
  return room > 0 && room * room > margin * margin * tb_dot3(n, n) * (1 + SLACK);
}

static void put(tbBoxPairs* p, int lane, const tbPlacedBox* a, const tbPlacedBox* b, double margin)
{
  tbVec3 way = tb_sub3(b->x, a->x);
  const double d[3] = {way.x, way.y, way.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) p->A[i][j][lane] = a->R.m[i][j], p->B[i][j][lane] = b->R.m[i][j];
    p->half_a[i][lane] = a->half[i], p->half_b[i][lane] = b->half[i], p->d[i][lane] = d[i];
  }
  p->margin[lane] = margin;
}

bool tb_box_pairs_put(tbBoxPairs* pairs, int lane, const tbPlacedBox* a, const tbPlacedBox* b, double margin)
{
  bool swapped = !in_order(a, b, tb_sub3(b->x, a->x)); // no branches on it: which it is cannot be foreseen
  put(pairs, lane, swapped ? b : a, swapped ? a : b, margin);
  return swapped;
}

tbBoxHint tb_box_apart(const tbBoxAxis* axis, bool swapped)
{
  int k = axis->apart;
  if (k == 0 || !swapped) return (tbBoxHint)k;
  if (k <= 6) return (tbBoxHint)(k <= 3 ? k + 3 : k - 3);
  return (tbBoxHint)(7 + (k - 7) % 3 * 3 + (k - 7) / 3);
}

bool tb_box_box(const tbPlacedBox* a, const tbPlacedBox* b, double margin, int most, tbBoxHint* hint,
                tbNarrowManifold* out)
{
  tbBoxPairs pairs;
  tbBoxAxis axis;
  out->n = 0;
  if (tb_box_hint_holds(a, b, margin, *hint)) return true;
  tb_box_pairs_begin(&pairs);
  bool swapped = tb_box_pairs_put(&pairs, 0, a, b, margin);
  tb_box_axes(&pairs, 1, &axis);
  *hint = tb_box_apart(&axis, swapped);
  return *hint || tb_box_points(a, b, margin, most, swapped, &axis, out);
}

bool tb_boxes_apart(const tbPlacedBox* a, const tbPlacedBox* b, double margin, tbBoxHint* hint)
{
  tbBoxPairs pairs;
  tbBoxAxis axis;
  if (tb_box_hint_holds(a, b, margin, *hint)) return true;
  tb_box_pairs_begin(&pairs);
  put(&pairs, 0, a, b, margin);
  tb_box_axes(&pairs, 1, &axis);
  double size =
      tb_maxabs3(tb_sub3(b->x, a->x)) + tb_maxabs3(tb_load3(a->half)) + tb_maxabs3(tb_load3(b->half));
  bool apart = axis.apart && axis.gap > margin + SLACK * size;
  *hint = apart ? axis.apart : 0;
  return apart;
}
