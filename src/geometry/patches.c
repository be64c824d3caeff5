// SPDX-License-Identifier: Apache-2.0
#include "geometry/patches.h"

static double along(tbVec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

static bool before(const tbVec3* point, int axis, int i, int j)
{
  double x = along(point[i], axis), y = along(point[j], axis);
  return x < y || (x == y && i < j);
}

void tb_select_along(const tbVec3* point, int axis, int* items, int count, int first)
{
  int lo = 0, hi = count - 1;
  while (lo < hi) {
    int x = items[lo], y = items[lo + (hi - lo) / 2], z = items[hi];
    if (before(point, axis, y, x)) {
      int swap = x;
      x = y;
      y = swap;
    }
    int pivot = before(point, axis, z, x) ? x : before(point, axis, z, y) ? z : y;
    int i = lo, j = hi;
    while (i <= j) {
      while (before(point, axis, items[i], pivot)) i++;
      while (before(point, axis, pivot, items[j])) j--;
      if (i > j) break;
      int swap = items[i];
      items[i++] = items[j];
      items[j--] = swap;
    }
    if (first <= j) hi = j;
    else if (first >= i) lo = i;
    else return;
  }
}

static int widest_axis(const tbVec3* point, const int* items, int count)
{
  tbVec3 lo = point[items[0]], hi = lo;
  for (int i = 1; i < count; i++) {
    tbVec3 x = point[items[i]];
    lo = tb_vec3(x.x < lo.x ? x.x : lo.x, x.y < lo.y ? x.y : lo.y, x.z < lo.z ? x.z : lo.z);
    hi = tb_vec3(x.x > hi.x ? x.x : hi.x, x.y > hi.y ? x.y : hi.y, x.z > hi.z ? x.z : hi.z);
  }
  tbVec3 d = tb_sub3(hi, lo);
  return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

void tb_patches_order(const tbVec3* point, int* items, int count)
{
  if (count <= 0) return;
  int unit = 1; // of the patches that a cut goes between
  while (unit < (count + TB_PATCH - 1) / TB_PATCH) unit *= TB_PATCH;
  int patches = (count + unit - 1) / unit, first = unit * (patches / 2);
  if (first == 0) return; // of one
  tb_select_along(point, widest_axis(point, items, count), items, count, first);
  tb_patches_order(point, items, first);
  tb_patches_order(point, items + first, count - first);
}
