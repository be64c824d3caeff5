// SPDX-License-Identifier: Apache-2.0
// How far two things are apart: the least over pairs of their convex pieces, a convex shape or a triangle
// each, by GJK; boxes that are farther apart than the best so far are passed over. A half-space by the
// farthest points into it.
//
// Cost    one box test per pair of pieces: of meshes with n and m triangles, n·m.
#include "collide/query.h"

#include "geometry/box.h"

enum { PIECE_POINTS = 3 };

typedef struct {
  tbCore core;
  tbVec3 corner[PIECE_POINTS];
  tbBox box;
  double radius;
} Piece;

static int piece_count(const tbSubject* s)
{
  const tbMesh* mesh = tb_subject_mesh(s);
  return mesh ? mesh->ntriangle : s->shape ? 1 : s->ntriangle;
}

static void take_piece(const tbSubject* s, int i, Piece* p)
{
  const tbMesh* mesh = tb_subject_mesh(s);
  if (s->shape && !mesh) {
    tbShape own = *s->shape;
    own.pose = tb_transform_identity();
    p->box = tb_shape_box_of(&own, s->T);
    p->core = tb_core_moved(s->shape, s->T), p->radius = tb_core_radius(s->shape);
    return;
  }
  const int* c = mesh ? mesh->triangle[i] : s->triangle[i];
  const tbVec3* x = mesh ? mesh->vertex : s->point;
  p->box = tb_box_empty(), p->radius = 0;
  for (int k = 0; k < 3; k++) {
    p->corner[k] = tb_transform_point(s->T, x[c[k]]);
    p->box = tb_box_add(p->box, p->corner[k]);
  }
  p->core = tb_core_of_points(p->corner, 3);
}

static double gap(double lo, double hi, double other_lo, double other_hi)
{
  return fmax(0, fmax(other_lo - hi, lo - other_hi));
}

static double box_distance(const tbBox* a, const tbBox* b)
{
  return tb_norm3(tb_vec3(gap(a->lo.x, a->hi.x, b->lo.x, b->hi.x), gap(a->lo.y, a->hi.y, b->lo.y, b->hi.y),
                          gap(a->lo.z, a->hi.z, b->lo.z, b->hi.z)));
}

// A point of it, in the world.
static tbVec3 any_point(const tbSubject* s)
{
  Piece p;
  take_piece(s, 0, &p);
  return tb_core_middle(&p.core);
}

static bool holds(const tbSubject* s, tbVec3 p)
{
  const tbMesh* mesh = tb_subject_mesh(s);
  tbVec3 o = tb_transform_unpoint(s->T, p);
  if (mesh) return tb_mesh_is_solid(mesh) && tb_mesh_signed_distance(mesh, o, NULL) < 0;
  return !s->shape && s->closed && tb_inside_triangles(s->point, s->triangle, s->ntriangle, o);
}

// `best` is what was found before; the points are those of where it was.
static double pieces_distance(const Piece* a, const Piece* b, double best, tbVec3* on_a, tbVec3* on_b)
{
  tbGjk g;
  tb_gjk(&a->core, &b->core, best + a->radius + b->radius, &g);
  double distance = g.overlap ? 0 : fmax(0, g.distance - a->radius - b->radius);
  if (!(distance < best) && best < INFINITY) return best;
  tbVec3 n = g.overlap ? tb_zero3() : g.normal;
  *on_a = tb_madd3(g.a, a->radius, n), *on_b = tb_madd3(g.b, -b->radius, n);
  return distance;
}

static double apart(const tbSubject* a, const tbSubject* b, double reach, tbVec3* on_a, tbVec3* on_b)
{
  double best = INFINITY, limit = reach;
  int n = piece_count(a), m = piece_count(b);
  for (int i = 0; i < n && best > 0; i++) {
    Piece p, q;
    take_piece(a, i, &p);
    for (int k = 0; k < m && best > 0; k++) {
      take_piece(b, k, &q);
      if (box_distance(&p.box, &q.box) > fmin(best, limit)) continue;
      double found = pieces_distance(&p, &q, best, on_a, on_b);
      if (found <= limit) best = found;
    }
  }
  return best;
}

// The half-space a, and the point of b that is lowest over it.
static double over_plane(const tbSubject* a, const tbSubject* b, tbVec3* on_a, tbVec3* on_b)
{
  tbVec3 up = tb_quat_rotate(a->T.q, a->shape->plane.normal);
  double offset = a->shape->plane.offset + tb_dot3(up, a->T.x), low = INFINITY;
  if (b->shape && b->shape->type == TB_SHAPE_PLANE) return 0; // two half-spaces meet unless they are parallel
  for (int i = 0; i < piece_count(b); i++) {
    Piece p;
    take_piece(b, i, &p);
    tbVec3 x = tb_madd3(tb_core_farthest(&p.core, tb_neg3(up), NULL, NULL), -p.radius, up);
    double height = tb_dot3(up, x) - offset;
    if (height < low) low = height, *on_b = x, *on_a = tb_madd3(x, -height, up);
  }
  return fmax(low, 0);
}

double tb_subject_distance(const tbSubject* a, const tbSubject* b, double reach, tbVec3* on_a, tbVec3* on_b)
{
  double distance;
  *on_a = *on_b = tb_zero3();
  if (a->shape && a->shape->type == TB_SHAPE_PLANE) distance = over_plane(a, b, on_a, on_b);
  else if (b->shape && b->shape->type == TB_SHAPE_PLANE) distance = over_plane(b, a, on_b, on_a);
  else {
    if (piece_count(a) == 0 || piece_count(b) == 0) return INFINITY;
    tbVec3 of_a = any_point(a), of_b = any_point(b);
    bool within = holds(a, of_b), around = holds(b, of_a);
    if (within || around) {
      *on_a = *on_b = within ? of_b : of_a;
      return 0;
    }
    distance = apart(a, b, reach, on_a, on_b);
  }
  return distance <= reach ? distance : INFINITY;
}
