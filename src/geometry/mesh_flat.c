// SPDX-License-Identifier: Apache-2.0
// Triangles without area, as CAD programs leave them along seams.
//
// Three corners a, b, c on a line, b in the middle: on one side the flat triangle has a neighbour along a–c,
// on the other two along a–b and b–c. To drop it would leave a slit: an edge that faces two others. Instead
// the edge a–c is flipped: with the neighbour (a, c, d), the two become (a, b, d) and (b, c, d), and the
// surface is as it was, closed if it was.
//
// Where flat triangles lie side by side each pass takes away the one next to a triangle with area; PASSES
// bounds their number. Sides are looked up in a sorted list, anew for each pass.
//
// Cost      O(n log n) for each pass, of which there is none without flat triangles.
#include "geometry/mesh_flat.h"
#include "base/sort.h"
#include "geometry/exact.h"

enum { PASSES = 64 };

typedef struct {
  int from, to, triangle;
} Side;

static int compare_sides(const void* a, const void* b)
{
  const Side *s = a, *t = b;
  if (s->from != t->from) return s->from < t->from ? -1 : 1;
  if (s->to != t->to) return s->to < t->to ? -1 : 1;
  return (s->triangle > t->triangle) - (s->triangle < t->triangle);
}

bool tb_triangle_is_flat(const tbVec3* vertex, const int v[3])
{
  return v[0] == v[1] || v[1] == v[2] || v[2] == v[0] ||
         tb_maxabs3(tb_triangle_normal(vertex[v[0]], vertex[v[1]], vertex[v[2]])) == 0;
}

// The only triangle that runs from → to; −1: none, or several.
static int find_side(const Side* side, int count, int from, int to)
{
  Side wanted = {from, to, -1};
  int lo = 0, hi = count;
  while (lo < hi) {
    int middle = lo + (hi - lo) / 2;
    if (compare_sides(&side[middle], &wanted) < 0) lo = middle + 1;
    else hi = middle;
  }
  bool here = lo < count && side[lo].from == from && side[lo].to == to;
  bool more = lo + 1 < count && side[lo + 1].from == from && side[lo + 1].to == to;
  return here && !more ? side[lo].triangle : -1;
}

static int sort_sides(const int (*triangle)[3], int count, Side* side)
{
  int n = 0;
  for (int t = 0; t < count; t++) {
    const int* v = triangle[t];
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue; // a mere point or edge
    for (int i = 0; i < 3; i++) side[n++] = (Side){v[i], v[(i + 1) % 3], t};
  }
  tb_sort(side, (size_t)n, sizeof *side, compare_sides);
  return n;
}

// The corner between the two others.
static int middle_corner(const tbVec3* vertex, const int v[3])
{
  for (int i = 0; i < 3; i++) {
    tbVec3 b = vertex[v[i]], to_a = tb_sub3(vertex[v[(i + 2) % 3]], b),
           to_c = tb_sub3(vertex[v[(i + 1) % 3]], b);
    if (tb_dot3(to_a, to_c) < 0) return i;
  }
  return 0;
}

static bool flip(const tbVec3* vertex, int (*triangle)[3], int t, const Side* side, int sides, bool* touched)
{
  int* v = triangle[t];
  int i = middle_corner(vertex, v), a = v[(i + 2) % 3], b = v[i], c = v[(i + 1) % 3];
  int other = find_side(side, sides, a, c);
  if (other < 0 || touched[t] || touched[other] || tb_triangle_is_flat(vertex, triangle[other])) return false;
  int *w = triangle[other], k = 0;
  while (w[k] != a) k++;
  int d = w[(k + 2) % 3];
  v[0] = a, v[1] = b, v[2] = d;
  w[0] = b, w[1] = c, w[2] = d;
  touched[t] = touched[other] = true;
  return true;
}

tbStatus tb_mesh_flip_flat(tbArena* scratch, const tbVec3* vertex, int (*triangle)[3], int count)
{
  int *flat = TB_TAKE(scratch, int, (size_t)count), nflat = 0;
  if (!flat) return TB_ERROR_MEMORY;
  for (int t = 0; t < count; t++) {
    const int* v = triangle[t];
    bool apart = v[0] != v[1] && v[1] != v[2] && v[2] != v[0];
    if (apart && tb_triangle_is_flat(vertex, v)) flat[nflat++] = t;
  }
  if (nflat == 0) return TB_OK;
  Side* side = TB_TAKE(scratch, Side, 3 * (size_t)count);
  bool* touched = TB_TAKE(scratch, bool, (size_t)count);
  if (!side || !touched) return TB_ERROR_MEMORY;
  for (int pass = 0, before = -1; pass < PASSES && nflat > 0 && nflat != before; pass++) {
    int sides = sort_sides((const int(*)[3])triangle, count, side), left = 0;
    for (int t = 0; t < count; t++) touched[t] = false;
    for (int k = 0; k < nflat; k++)
      if (!flip(vertex, triangle, flat[k], side, sides, touched)) flat[left++] = flat[k];
    before = nflat;
    nflat = left;
  }
  return TB_OK;
}
