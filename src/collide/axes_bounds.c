// SPDX-License-Identifier: Apache-2.0
#include "collide/axes_bounds.h"

static const double BAND = 1e-9; // of the sizes: far above rounding

bool tb_are_boxes(const tbCore* a, const tbCore* b, tbTwoBoxes* out)
{
  if (!a->shape || !b->shape || a->shape->type != TB_SHAPE_BOX || b->shape->type != TB_SHAPE_BOX)
    return false;
  if (a->moved || !b->moved) return false;
  tb_store3(out->t, b->x);
  tb_store3(out->a, a->shape->box.half);
  tb_store3(out->b, b->shape->box.half);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out->C[i][j] = b->R.m[i][j];
  out->band = BAND * (tb_maxabs3(b->x) + tb_maxabs3(a->shape->box.half) + tb_maxabs3(b->shape->box.half));
  return true;
}

double tb_box_face_gaps(const tbTwoBoxes* p, double gap[12])
{
  double widest = -INFINITY;
  for (int i = 0; i < 3; i++) {
    double reach_b = 0, reach_a = 0, t = 0;
    for (int j = 0; j < 3; j++) {
      reach_b += fabs(p->C[i][j]) * p->b[j];
      reach_a += fabs(p->C[j][i]) * p->a[j];
      t += p->t[j] * p->C[j][i];
    }
    gap[2 * i] = -p->t[i] - p->a[i] - reach_b;
    gap[2 * i + 1] = p->t[i] - p->a[i] - reach_b;
    gap[6 + 2 * i] = t - p->b[i] - reach_a;
    gap[6 + 2 * i + 1] = -t - p->b[i] - reach_a;
  }
  for (int f = 0; f < 12; f++) widest = gap[f] > widest ? gap[f] : widest;
  return widest;
}

double tb_box_edge_gaps(const tbTwoBoxes* p, double gap[3][3])
{
  double widest = -INFINITY;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      double s = 1 - p->C[i][j] * p->C[i][j];
      double room = fabs(p->t[i2] * p->C[i1][j] - p->t[i1] * p->C[i2][j]) -
                    (p->a[i1] * fabs(p->C[i2][j]) + p->a[i2] * fabs(p->C[i1][j])) -
                    (p->b[j1] * fabs(p->C[i][j2]) + p->b[j2] * fabs(p->C[i][j1]));
      gap[i][j] = s > 1e-6 ? room / sqrt(s) : INFINITY;
      if (s > 1e-6 && gap[i][j] > widest) widest = gap[i][j];
    }
  return widest;
}

static tbVec3 turn(const tbCore* c, tbVec3 d) { return c->moved ? tb_mat3_mulv(c->R, d) : d; }

int tb_core_ways(const tbCore* c, tbVec3 way[3])
{
  int n = c->shape->type == TB_SHAPE_BOX ? 3 : c->shape->type == TB_SHAPE_CAPSULE ? 1 : 0;
  for (int i = 0; i < n; i++) way[i] = turn(c, n == 1 ? tb_vec3(0, 0, 1) : tb_vec3(i == 0, i == 1, i == 2));
  return n;
}

tbBars tb_bars_in(const tbCore* plain, const tbCore* other)
{
  tbVec3 way[3], centre = tb_core_middle(plain);
  const tbShape* shape = plain->shape;
  double half[3] = {0};
  if (shape->type == TB_SHAPE_BOX) tb_store3(half, shape->box.half);
  else half[0] = shape->capsule.half;
  tbBars bars = {.n = tb_core_ways(plain, way)};
  if (other->moved) centre = tb_mat3_tmulv(other->R, tb_sub3(centre, other->x));
  bars.centre = centre;
  for (int i = 0; i < bars.n; i++) {
    tbVec3 local = other->moved ? tb_mat3_tmulv(other->R, way[i]) : way[i];
    bars.half[i] = tb_scale3(half[i], local);
  }
  bars.band = BAND * (tb_maxabs3(centre) + tb_core_reach(plain->shape) + tb_core_reach(other->shape));
  return bars;
}

double tb_bars_face_gap(const tbHull* hull, int f, const tbBars* bars)
{
  tbVec3 n = hull->face_normal[f];
  double gap = tb_dot3(n, bars->centre) - hull->face_offset[f];
  for (int i = 0; i < bars->n; i++) gap -= fabs(tb_dot3(n, bars->half[i]));
  return gap;
}

bool tb_bars_may_lead(const tbBars* bars, const tbHull* hull, int edge, tbVec3 way, double lead)
{
  const tbHullEdge* e = &hull->edge[edge];
  tbVec3 p = hull->vertex[e->vertex[0]], d = tb_sub3(hull->vertex[e->vertex[1]], p), out = tb_cross3(way, d);
  double length = sqrt(tb_dot3(out, out)), room = tb_dot3(out, tb_sub3(bars->centre, p));
  if (!(length * length > 1e-6 * tb_dot3(d, d))) return true; // all but parallel
  if (tb_dot3(out, tb_add3(hull->face_normal[e->face[0]], hull->face_normal[e->face[1]])) < 0) room = -room;
  for (int i = 0; i < bars->n; i++) room -= fabs(tb_dot3(out, bars->half[i]));
  return room > (lead - bars->band) * length;
}
