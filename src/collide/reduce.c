// SPDX-License-Identifier: Apache-2.0
// Reduction of contact points by groups of similar normals.
//
// What a contact asks of two rigid bodies depends on its normal and on its place across the normal, not along
// it. Points of one normal therefore do the work of all when they include the deepest one and reach as far
// out, across the normal, as all do. Groups are taken around the deepest point left, GROUP_COSINE wide; in
// each, points are chosen farthest from those chosen so far, less a fine for lying shallower. Points that
// coincide across the normal leave the deepest one only.
//
// Ties go to the smaller feature, so that the outcome does not depend on the order of the candidates.
//
// Cost      O(candidates · (groups + points kept)); in place.
#include "collide/reduce.h"

#include <float.h>

static const double group_cosine = 0.966; // 15°
static const double fine = 2;             // metres of distance that one metre of gap is worth
static const double same = 1e-3;          // of the group's size: two points at one place

static void swap(tbContactPoint* a, tbContactPoint* b)
{
  tbContactPoint t = *a;
  *a = *b;
  *b = t;
}

static bool deeper(const tbContactPoint* a, const tbContactPoint* b)
{
  return a->gap < b->gap || (a->gap == b->gap && a->feature < b->feature);
}

// Squared distance across the normal n.
static double across(tbVec3 n, const tbContactPoint* p, const tbContactPoint* q)
{
  tbVec3 d = tb_sub3(p->a, q->a);
  d = tb_madd3(d, -tb_dot3(d, n), n);
  return tb_dot3(d, d);
}

// Brings the chosen points of a group of n to its front; returns how many they are. The first is the deepest.
static size_t choose(tbContactPoint* p, size_t n)
{
  double size2 = 0;
  for (size_t i = 1; i < n; i++) size2 = fmax(size2, across(p[0].normal, &p[0], &p[i]));
  double near2 = size2 * same * same + 1e-24 * tb_dot3(p[0].a, p[0].a) + DBL_MIN;
  size_t chosen = 1;
  for (; chosen < n && chosen < TB_MANIFOLD_POINTS; chosen++) {
    size_t best = n;
    double most = -INFINITY;
    for (size_t i = chosen; i < n; i++) {
      double d2 = INFINITY;
      for (size_t k = 0; k < chosen; k++) d2 = fmin(d2, across(p[0].normal, &p[k], &p[i]));
      if (d2 <= near2) continue;
      double score = sqrt(d2) - fine * (p[i].gap - p[0].gap);
      if (score > most || (score == most && p[i].feature < p[best].feature)) {
        most = score;
        best = i;
      }
    }
    if (best == n) break;
    swap(&p[chosen], &p[best]);
  }
  return chosen;
}

void tb_reduce_points(tbArray* points, size_t first)
{
  tbContactPoint* p = (tbContactPoint*)points->data;
  size_t kept = first, next = first;
  while (next < points->count) {
    for (size_t i = next + 1; i < points->count; i++)
      if (deeper(&p[i], &p[next])) swap(&p[i], &p[next]);
    size_t end = next + 1;
    for (size_t i = next + 1; i < points->count; i++)
      if (tb_dot3(p[i].normal, p[next].normal) > group_cosine) swap(&p[i], &p[end++]);
    size_t n = choose(p + next, end - next);
    for (size_t i = 0; i < n; i++) p[kept++] = p[next + i];
    next = end;
  }
  points->count = kept;
}
