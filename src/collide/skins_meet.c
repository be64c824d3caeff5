// Features that meet within a step.
//
// Most candidates do not, and are done with by one plane: with n the direction between the closest points at
// the start, n·(x_b − x_a) is linear in time for any two corners, so that it stays above the clearance if all
// of them are above it at both ends. What is left goes to continuous collision detection (ccd.h), which never
// misses.
//
// Features that touch at the start, to what rounding can tell, do not meet if they part: if some plane has
// them on either side at the start, and apart at the end, on the side they started on. Otherwise they are
// looked at from a little later on, if they are apart by then.
//
// Cost      some 50 ns for what the plane parts; about a microsecond for the rest.
#include "collide/ccd.h"
#include "collide/skins_pair.h"

#include <string.h>

static const double LATER = 1.0 / 64; // of the step

// The least n·(x_b − x_a) over corners, with what rounding may hide taken off. x: nb corners of b, then those
// of a; n of length 1 at most.
static double parted(const tbVec3 x[4], int nb, tbVec3 n)
{
  double b = 0, a = -INFINITY, size = 0; // along n, from the first corner of b
  for (int k = 1; k < 4; k++) {
    tbVec3 d = tb_sub3(x[k], x[0]);
    double h = tb_dot3(n, d);
    size += tb_maxabs3(d);
    if (k < nb) b = fmin(b, h);
    else a = fmax(a, h);
  }
  return b - a - 4e-15 * size;
}

static bool meet_plane(const tbSkinScene* scene, const tbSkinFeatures* f, double clearance,
                       tbSkinContact* out)
{
  double from = tb_skin_height(scene, f, false), to = tb_skin_height(scene, f, true);
  double least = from > 0 ? fmin(clearance, 0.5 * from) : from; // what is behind it goes no deeper
  if (!(to < least)) return false;
  double t = from > least ? (from - least) / (from - to) : 0;
  const tbMovingPlane* plane = &scene->plane[f->skin_a];
  *out = tb_skin_corners(scene, f);
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
  return parted(query->start, nb, n) > -touching(query->start) && parted(query->end, nb, n) > 0;
}

// Features that touch at the start, with the contact's weights. They part along their normal, or along the
// way between their closest points at the end; or they are found apart, on their side, a little later, and
// the query goes on from there.
static bool part(const tbSkinScene* scene, const tbSkinContact* c, tbVec3 way, tbCcdQuery* query,
                 double* distance)
{
  bool face = query->kind == TB_CCD_VERTEX_FACE;
  tbVec3 n = tb_normalize3(tb_closest_features(face, query->end).way), from, x[4];
  if (!tb_skin_normal(scene, c, query->start, way, &from)) return part_along(query, c->count_b, n);
  if (part_along(query, c->count_b, from)) return true;
  if (tb_dot3(n, from) >= -1e-3 && part_along(query, c->count_b, n)) return true;
  for (int k = 0; k < 4; k++) x[k] = tb_lerp3(query->start[k], query->end[k], LATER);
  tbVec3 later = tb_closest_features(face, x).way;
  if (!(tb_norm3(later) > touching(x)) || !(tb_dot3(later, from) > 0)) return false;
  for (int k = 0; k < 4; k++) query->start[k] = x[k];
  *distance = tb_norm3(later);
  return false;
}

static bool meet(const tbSkinScene* scene, const tbSkinFeatures* f, double clearance, tbSkinContact* out)
{
  if (f->kind == TB_SKIN_PLANE_VERTEX) return meet_plane(scene, f, clearance, out);
  bool face = f->kind == TB_SKIN_FACE_VERTEX;
  tbCcdQuery query = {.kind = face ? TB_CCD_VERTEX_FACE : TB_CCD_EDGE_EDGE};
  *out = tb_skin_corners(scene, f);
  tb_skin_places(scene, out, false, query.start);
  tb_skin_places(scene, out, true, query.end);
  tbClosest closest = tb_closest_features(face, query.start);
  double distance = tb_norm3(closest.way), least = fmin(clearance, 0.5 * distance);
  tbVec3 start[4], n = tb_normalize3(closest.way);
  if (parted(query.start, out->count_b, n) > least && parted(query.end, out->count_b, n) > least)
    return false;
  tb_skin_weigh(out, closest.weight);
  memcpy(start, query.start, sizeof start);
  if (distance <= touching(start)) {
    if (part(scene, out, closest.way, &query, &distance)) return false;
    least = fmin(clearance, 0.5 * distance);
  }
  tbCcdOptions options = tb_default_ccd_options();
  options.separation = least;
  options.delta = least / 64;
  options.time_tolerance = 1e-4;
  tbCcdHit hit;
  if (!tb_ccd(&query, &options, &hit)) return false;
  tb_skin_weigh(out, hit.weight);
  out->normal = hit.normal;
  out->gap = tb_dot3(hit.normal, tb_skin_way(start, out));
  out->t = hit.t;
  return true;
}

tbStatus tb_skin_meet(tbContext* ctx, const tbSkinScene* scene, const tbSkinCandidates* candidates,
                      double clearance, tbArray* contacts)
{
  return tb_skin_gather(ctx, scene, candidates, meet, clearance, contacts);
}
