// Contacts between features that are close at the start of a step.
//
// Every place of closest approach should come up once. A vertex that is closest to a side or a corner of a
// face is as close to the face beyond: the one that owns the side or corner reports it. Edges report only
// where both are closest inside; at their ends, and where they are parallel, a vertex is as close. Edges
// inside a flat piece of surface do not report at all: vertices of the one or the other surface are as close,
// and a contact at every crossing of two meshes that lie flat on each other would say the same many times.
#include "collide/skins_pair.h"

// Whether the vertex and the face are the ones to report their closest points.
static bool reports(const tbSkinScene* scene, const tbSkinFeatures* f, const double weight[3])
{
  const tbSkin* skin = scene->skin[f->skin_a].skin;
  int zeros = 0, zero = 0, corner = 0, owns = skin->owns[f->feature_a];
  for (int k = 0; k < 3; k++)
    if (weight[k] == 0) zeros++, zero = k;
    else corner = k;
  if (zeros == 0) return true;
  if (zeros == 1) return owns & TB_SKIN_OWNS_EDGE << (zero + 1) % 3;
  int vertex = skin->triangle[f->feature_a][corner];
  bool later = f->skin_b > f->skin_a || (f->skin_b == f->skin_a && f->feature_b > vertex);
  return later && owns & TB_SKIN_OWNS_VERTEX << corner;
}

// Whether an edge stands out towards d: one of the faces beside it falls away, or there is but one.
static bool stands_out(const tbMovingSkin* m, int edge, tbVec3 d)
{
  const double flat = 2e-3; // sine of the angle by which it does
  const int* ends = m->skin->edge[edge];
  for (int side = 0; side < 2; side++) {
    int t = m->skin->edge_triangle[edge][side];
    if (t < 0) return true;
    for (int k = 0; k < 3; k++) {
      int corner = m->skin->triangle[t][k];
      if (corner == ends[0] || corner == ends[1]) continue;
      tbVec3 away = tb_sub3(m->start[corner], m->start[ends[0]]);
      if (tb_dot3(away, d) < -flat * tb_norm3(away)) return true;
    }
  }
  return false;
}

static bool near_plane(const tbSkinScene* scene, const tbSkinFeatures* f, double reach, tbSkinContact* out)
{
  double height = tb_skin_height(scene, f, false);
  if (!(height <= reach + scene->skin[f->skin_b].radius)) return false;
  *out = tb_skin_corners(scene, f);
  out->weight_b[0] = 1;
  out->normal = scene->plane[f->skin_a].normal[0];
  out->gap = height;
  return true;
}

static bool near(const tbSkinScene* scene, const tbSkinFeatures* f, const tbSkinWay* way, double reach,
                 tbSkinContact* out)
{
  if (f->kind == TB_SKIN_PLANE_VERTEX) return near_plane(scene, f, reach, out);
  bool face = f->kind == TB_SKIN_FACE_VERTEX;
  const tbMovingSkin *a = &scene->skin[f->skin_a], *b = &scene->skin[f->skin_b];
  if (!(way->distance <= reach + a->radius + b->radius)) return false;
  tbVec3 x[4];
  *out = tb_skin_corners(scene, f);
  tb_skin_places(scene, out, false, x);
  tbClosest closest = tb_closest_features(face, x);
  if (face ? !reports(scene, f, closest.weight + 1) : !closest.inside) return false;
  tb_skin_weigh(out, closest.weight);
  if (!tb_skin_normal(scene, out, x, closest.way, &out->normal)) return false;
  if (!face &&
      !(stands_out(a, f->feature_a, out->normal) && stands_out(b, f->feature_b, tb_neg3(out->normal))))
    return false;
  out->gap = tb_dot3(out->normal, closest.way);
  return true;
}

tbStatus tb_skin_near(tbContext* ctx, const tbSkinScene* scene, const tbSkinCandidates* candidates,
                      double reach, tbArray* contacts)
{
  return tb_skin_gather(ctx, scene, candidates, near, reach, contacts);
}
