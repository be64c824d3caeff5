// SPDX-License-Identifier: Apache-2.0
// Thinning a polygon of contact points.
//
// Corners are taken out one at a time, always the one whose triangle with its two neighbours is smallest
// (Visvalingam & Whyatt 1993): the support polygon loses as little area as it can at each step. The deepest
// point is never taken out.
#include "collide/manifold.h"

#include <string.h>

static const double DEPTH =
    1e-6; // points at one place within `near` are as deep as each other within this share of it

static bool is_corner(uint32_t feature) { return feature >> 30 == 0; }

// Of two points at one place the deeper stays; of two as deep, the one at a corner of a shape, which
// keeps its name longer.
static bool better(const tbClipPoint* p, const tbClipPoint* q, double near)
{
  if (fabs(p->gap - q->gap) > DEPTH * near) return p->gap < q->gap;
  return (is_corner(p->fa) || is_corner(p->fb)) && !(is_corner(q->fa) || is_corner(q->fb));
}

static int merge(tbClipPoint* point, int count, double near)
{
  int kept = 0;
  for (int i = 0; i < count; i++) {
    int k = 0;
    for (; k < kept; k++)
      if ((point[k].fa == point[i].fa && point[k].fb == point[i].fb) ||
          tb_distance3(point[k].a, point[i].a) <= near)
        break;
    if (k == kept) point[kept++] = point[i];
    else if (better(&point[i], &point[k], near)) point[k] = point[i];
  }
  return kept;
}

static double triangle(const tbClipPoint* point, int count, int i, tbVec3 n)
{
  tbVec3 p = point[(i + count - 1) % count].a, q = point[i].a, r = point[(i + 1) % count].a;
  return fabs(tb_dot3(n, tb_cross3(tb_sub3(q, p), tb_sub3(r, p))));
}

// Whether a corner lies on the line between its neighbours, and no deeper than they: edges that nearly
// coincide cross anywhere along each other, and such a crossing carries nothing its neighbours do not.
static bool idle(const tbClipPoint* point, int count, int i, tbVec3 n, double near)
{
  const tbClipPoint *p = &point[(i + count - 1) % count], *q = &point[i], *r = &point[(i + 1) % count];
  tbVec3 way = tb_sub3(r->a, p->a);
  double length = tb_norm3(way), along = tb_dot3(tb_sub3(q->a, p->a), way);
  if (!(length > near) || along <= 0 || along >= length * length) return false;
  double t = along / (length * length), on_line = p->gap + t * (r->gap - p->gap);
  return triangle(point, count, i, n) <= near * length && q->gap >= on_line - DEPTH * near;
}

static int drop_idle(tbClipPoint* point, int count, tbVec3 n, double near)
{
  for (int i = 0; i < count && count > 2;) {
    if (!idle(point, count, i, n, near)) {
      i++;
      continue;
    }
    count--;
    memmove(&point[i], &point[i + 1], (size_t)(count - i) * sizeof *point);
  }
  return count;
}

static int thin(tbClipPoint* point, int count, tbVec3 n)
{
  while (count > TB_MANIFOLD_POINTS) {
    int deepest = 0, least = -1;
    double area = INFINITY;
    for (int i = 1; i < count; i++)
      if (point[i].gap < point[deepest].gap) deepest = i;
    for (int i = 0; i < count; i++) {
      double t = triangle(point, count, i, n);
      if (i == deepest || t >= area) continue;
      area = t;
      least = i;
    }
    count--;
    memmove(&point[least], &point[least + 1], (size_t)(count - least) * sizeof *point);
  }
  return count;
}

static bool before(const tbClipPoint* p, const tbClipPoint* q)
{
  return tb_feature_pair(p->fa, p->fb) < tb_feature_pair(q->fa, q->fb);
}

// By name: where clipping happened to begin does not show.
static void sort(tbClipPoint* point, int count)
{
  for (int i = 1; i < count; i++) {
    tbClipPoint p = point[i];
    int k = i;
    for (; k > 0 && before(&p, &point[k - 1]); k--) point[k] = point[k - 1];
    point[k] = p;
  }
}

void tb_manifold_from(tbClipPoint* point, int count, tbVec3 normal, double near, tbManifold* out)
{
  count = merge(point, count, near);
  count = drop_idle(point, count, normal, near);
  count = thin(point, count, normal);
  sort(point, count);
  out->n = count;
  for (int i = 0; i < out->n; i++)
    out->point[i] = (tbContactPoint){.a = point[i].a,
                                     .b = point[i].b,
                                     .normal = normal,
                                     .gap = point[i].gap,
                                     .feature = tb_feature_pair(point[i].fa, point[i].fb)};
}
