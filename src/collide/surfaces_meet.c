// SPDX-License-Identifier: Apache-2.0
// Features that meet within a step.
//
// Most candidates do not, and are done with by one plane: with n the direction between the closest points at
// the start (tbSurfaceWay), n·(x_b − x_a) is linear in time for any two corners, so that it stays above the
// clearance if all of them are above it at both ends. What is left goes to continuous collision detection
// (ccd.h), which never misses.
//
// Features that touch at the start, to what rounding can tell, do not meet if they part: if some plane has
// them on either side at the start, and apart at the end, on the side they started on. Otherwise, if they are
// seen to stay apart for a little while, they are looked at from then on; if not, they meet at once. Where
// nothing tells the side they are on, as of two sheets in the same place, they are let go: contacts that ask
// for either side at once would only fight each other.
//
// Cost      some 10 ns for what the plane parts; about a microsecond for the rest.
#include "collide/ccd.h"
#include "collide/surfaces_pair.h"

#include <string.h>

static const double LATER = 1.0 / 64; // of the step

static bool meet_plane(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, double clearance,
                       tbSurfaceContact* out)
{
  double from = tb_surface_height(scene, f, false), to = tb_surface_height(scene, f, true);
  double least = from > 0 ? fmin(clearance, 0.5 * from) : from; // what is behind it goes no deeper
  if (!(to < least)) return false;
  double t = from > least ? (from - least) / (from - to) : 0;
  const tbMovingPlane* plane = &scene->plane[f->surface_a];
  *out = tb_surface_corners(scene, f);
  out->weight_b[0] = 1;
  out->normal = tb_normalize3(tb_lerp3(plane->normal[0], plane->normal[1], t));
  out->gap = from;
  out->t = t;
  return true;
}

// Distances that are none.
static double touching(const tbVec3 x[4])
{
  double size = 0;
  for (int k = 1; k < 4; k++) size += tb_maxabs3(tb_sub3(x[k], x[0]));
  return 1e-12 * size;
}

static bool part_along(const tbCcdQuery* query, int nb, tbVec3 n)
{
  return tb_surface_parted(query->start, nb, n) > -touching(query->start) &&
         tb_surface_parted(query->end, nb, n) > 0;
}

// Whether the corners, which lie in one plane at the start, lie in none from there on: features that meet do.
// The volume they span is cubic in time; the last three of its Bernstein coefficients have one sign.
static bool leave_their_plane(const tbCcdQuery* query)
{
  tbVec3 s[3], e[3];
  double size = 0;
  for (int k = 0; k < 3; k++) {
    s[k] = tb_sub3(query->start[k + 1], query->start[0]), e[k] = tb_sub3(query->end[k + 1], query->end[0]);
    size = fmax(size, fmax(tb_maxabs3(s[k]), tb_maxabs3(e[k])));
  }
  tbVec3 ss = tb_cross3(s[1], s[2]), se = tb_cross3(s[1], e[2]), es = tb_cross3(e[1], s[2]),
         ee = tb_cross3(e[1], e[2]);
  double first = tb_dot3(e[0], ss) + tb_dot3(s[0], tb_add3(es, se)),
         second = tb_dot3(s[0], ee) + tb_dot3(e[0], tb_add3(es, se)), last = tb_dot3(e[0], ee),
         none = 1e-14 * size * size * size;
  return (first > none && second > none && last > none) || (first < -none && second < -none && last < -none);
}

typedef enum { PART, GO_ON, MEET } Fate;

// Features that touch at the start, with the contact's weights. They part along their normal, or along the
// way between their closest points at the end; or they are apart until a little later, and the query goes on
// from there; or they meet as they are, along their normal.
static Fate fate_of(const tbSurfaceScene* scene, tbSurfaceContact* c, tbVec3 way, tbCcdQuery* query,
                    double* distance)
{
  bool face = query->kind == TB_CCD_VERTEX_FACE;
  tbVec3 n = tb_normalize3(tb_closest_features(face, query->end).way), from;
  if (!tb_surface_normal(scene, c, query->start, way, &from)) return PART;
  if (part_along(query, c->count_b, from)) return PART;
  if (tb_dot3(n, from) >= -1e-3 && part_along(query, c->count_b, n)) return PART;
  tbCcdQuery first = *query;
  for (int k = 0; k < 4; k++) first.end[k] = tb_lerp3(query->start[k], query->end[k], LATER);
  tbVec3 later = tb_closest_features(face, first.end).way;
  bool apart = tb_norm3(later) > touching(first.end) && tb_dot3(later, from) > 0 &&
               (leave_their_plane(&first) || part_along(&first, c->count_b, from) ||
                part_along(&first, c->count_b, tb_normalize3(later)));
  c->normal = from;
  c->gap = tb_dot3(from, way);
  if (!apart) return MEET;
  memcpy(query->start, first.end, sizeof first.end);
  *distance = tb_norm3(later);
  return GO_ON;
}

// Whether along n the corners of b end farther than this beyond those of a.
static bool ends_parted(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, tbVec3 n, double least)
{
  const tbMovingSurface *a = &scene->surface[f->surface_a], *b = &scene->surface[f->surface_b];
  tbVec3 x[4];
  if (f->kind == TB_SURFACE_FACE_VERTEX) {
    const int* v = a->surface->triangle[f->feature_a];
    x[0] = b->end[f->feature_b];
    for (int k = 0; k < 3; k++) x[1 + k] = a->end[v[k]];
    return tb_surface_parted(x, 1, n) > least;
  }
  const int *v = a->surface->edge[f->feature_a], *u = b->surface->edge[f->feature_b];
  for (int k = 0; k < 2; k++) x[k] = b->end[u[k]], x[2 + k] = a->end[v[k]];
  return tb_surface_parted(x, 2, n) > least;
}

// What meets a face at a side or a corner, but is closer to a face beyond by then, meets it along the normal
// of that: the way from the side leans over surfaces that go on flat. It may have gone through the face
// beyond before; out of what is solid, or on the side it started on, is where it is kept.
static void turn_to_closer(const tbSurfaceScene* scene, tbSurfaceContact* c, const tbCcdQuery* query,
                           double at, const tbVec3 start[4])
{
  const tbMovingSurface* a = &scene->surface[c->of.surface_a];
  tbVec3 x[4];
  for (int k = 0; k < 4; k++) x[k] = tb_lerp3(query->start[k], query->end[k], at);
  tbClosest closest = tb_closest_features(true, x);
  tbVec3 way = closest.way;
  int beyond = tb_surface_closer_beyond(a, c->of.feature_a, closest.weight + 1, x[0], c->t, &way);
  if (beyond < 0 || tb_maxabs3(way) == 0) return;
  c->normal = tb_normalize3(way);
  tbVec3 side = tb_surface_way(start, c);
  if (a->surface->closed) {
    for (int k = 0; k < 3; k++) {
      int v = a->surface->triangle[beyond][k];
      x[k + 1] = tb_lerp3(a->start[v], a->end[v], c->t);
    }
    side = tb_normal_of_features(true, x);
  }
  if (tb_dot3(side, c->normal) < 0) c->normal = tb_neg3(c->normal);
}

static bool meet(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, const tbSurfaceWay* way,
                 double clearance, tbSurfaceContact* out)
{
  if (f->kind == TB_SURFACE_PLANE_VERTEX) return meet_plane(scene, f, clearance, out);
  bool face = f->kind == TB_SURFACE_FACE_VERTEX;
  tbCcdQuery query = {.kind = face ? TB_CCD_VERTEX_FACE : TB_CCD_EDGE_EDGE};
  double distance = way->distance, least = fmin(clearance, 0.5 * distance), from = 0;
  if (way->parted > least && ends_parted(scene, f, way->normal, least)) return false;
  *out = tb_surface_corners(scene, f);
  tb_surface_places(scene, out, false, query.start);
  tb_surface_places(scene, out, true, query.end);
  tbClosest closest = tb_closest_features(face, query.start);
  tbVec3 start[4];
  tb_surface_weigh(out, closest.weight);
  memcpy(start, query.start, sizeof start);
  if (distance <= touching(start)) {
    Fate fate = fate_of(scene, out, closest.way, &query, &distance);
    if (fate != GO_ON) return fate == MEET;
    least = fmin(clearance, 0.5 * distance), from = LATER;
  }
  tbCcdOptions options = tb_default_ccd_options();
  options.method = scene->ccd;
  options.separation = least;
  options.delta = least / 64;
  options.time_tolerance = 1e-4;
  tbCcdHit hit;
  if (!tb_ccd(&query, &options, &hit)) return false;
  tb_surface_weigh(out, hit.weight);
  out->normal = hit.normal;
  out->t = from + (1 - from) * hit.t;
  if (face) turn_to_closer(scene, out, &query, hit.t, start);
  out->gap = tb_dot3(out->normal, tb_surface_way(start, out));
  return true;
}

tbStatus tb_surface_meet(tbContext* ctx, const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates,
                         double clearance, tbArray* contacts)
{
  return tb_surface_gather(ctx, scene, candidates, meet, clearance, contacts);
}
