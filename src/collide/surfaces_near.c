// SPDX-License-Identifier: Apache-2.0
// Contacts between features that are close at the start of a step.
//
// Every place of closest approach should come up once. A vertex that is closest to a side or a corner of a
// face is as close to the face beyond, and the one that owns the side or corner reports it; or it is closer
// to the face beyond, as over a flat or hollow surface, and that face does. Edges report only where both are
// closest inside; at their ends, and where they are parallel, a vertex is as close. Edges inside a flat piece
// of surface do not report at all: vertices of the one or the other surface are as close, and a contact at
// every crossing of two meshes that lie flat on each other would say the same many times.
#include "collide/surfaces_pair.h"

bool tb_surface_reports(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, const double weight[3])
{
  const tbSurfaceMesh* surface = scene->surface[f->surface_a].surface;
  int zeros = 0, zero = 0, corner = 0, owns = surface->owns[f->feature_a];
  for (int k = 0; k < 3; k++)
    if (weight[k] == 0) zeros++, zero = k;
    else corner = k;
  if (zeros == 0) return true;
  if (zeros == 1) return owns & TB_SURFACE_OWNS_EDGE << (zero + 1) % 3;
  int vertex = surface->triangle[f->feature_a][corner];
  bool later = f->surface_b > f->surface_a || (f->surface_b == f->surface_a && f->feature_b > vertex);
  return later && owns & TB_SURFACE_OWNS_VERTEX << corner;
}

// Whether an edge stands out towards d: one of the faces beside it falls away, or there is but one.
static bool stands_out(const tbMovingSurface* m, int edge, tbVec3 d)
{
  const double flat = 2e-3; // sine of the angle by which it does
  const int* ends = m->surface->edge[edge];
  for (int side = 0; side < 2; side++) {
    int t = m->surface->edge_triangle[edge][side];
    if (t < 0) return true;
    for (int k = 0; k < 3; k++) {
      int corner = m->surface->triangle[t][k];
      if (corner == ends[0] || corner == ends[1]) continue;
      tbVec3 away = tb_sub3(m->start[corner], m->start[ends[0]]);
      if (tb_dot3(away, d) < -flat * tb_norm3(away)) return true;
    }
  }
  return false;
}

static bool near_plane(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, double reach,
                       tbSurfaceContact* out)
{
  double height = tb_surface_height(scene, f, false);
  if (!(height <= reach + scene->surface[f->surface_b].radius)) return false;
  *out = tb_surface_corners(scene, f);
  out->weight_b[0] = 1;
  out->normal = scene->plane[f->surface_a].normal[0];
  out->gap = height;
  return true;
}

static bool near(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, const tbSurfaceWay* way,
                 double reach, tbSurfaceContact* out)
{
  if (f->kind == TB_SURFACE_PLANE_VERTEX) return near_plane(scene, f, reach, out);
  bool face = f->kind == TB_SURFACE_FACE_VERTEX;
  const tbMovingSurface *a = &scene->surface[f->surface_a], *b = &scene->surface[f->surface_b];
  if (!(way->distance <= reach + a->radius + b->radius)) return false;
  tbVec3 x[4];
  *out = tb_surface_corners(scene, f);
  tb_surface_places(scene, out, false, x);
  tbClosest closest = tb_closest_features(face, x);
  if (face ? !tb_surface_reports(scene, f, closest.weight + 1) : !closest.inside) return false;
  if (face && tb_surface_closer_beyond(a, f->feature_a, closest.weight + 1, x[0], 0, &closest.way) >= 0)
    return false;
  tb_surface_weigh(out, closest.weight);
  if (!tb_surface_normal(scene, out, x, closest.way, &out->normal)) return false;
  if (!face &&
      !(stands_out(a, f->feature_a, out->normal) && stands_out(b, f->feature_b, tb_neg3(out->normal))))
    return false;
  out->gap = tb_dot3(out->normal, closest.way);
  return true;
}

tbStatus tb_surface_near(tbContext* ctx, const tbSurfaceScene* scene, const tbSurfaceCandidates* candidates,
                         double reach, tbArray* contacts)
{
  return tb_surface_gather(ctx, scene, candidates, near, reach, contacts);
}
