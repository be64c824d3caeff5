// Contacts between features that are close at the start of a step.
//
// Every place of closest approach should come up once. A vertex that is closest to a side or a corner of a
// face is as close to the face beyond: the one that owns the side or corner reports it. Edges report only
// where both are closest inside; at their ends, and where they are parallel, a vertex is as close.
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

static bool near(const tbSkinScene* scene, const tbSkinFeatures* f, double reach, tbSkinContact* out)
{
  if (f->kind == TB_SKIN_PLANE_VERTEX) return near_plane(scene, f, reach, out);
  bool face = f->kind == TB_SKIN_FACE_VERTEX;
  const tbMovingSkin *a = &scene->skin[f->skin_a], *b = &scene->skin[f->skin_b];
  tbVec3 x[4];
  *out = tb_skin_corners(scene, f);
  tb_skin_places(scene, out, false, x);
  tbClosest closest = tb_closest_features(face, x);
  if (!(tb_norm3(closest.way) <= reach + a->radius + b->radius)) return false;
  if (face ? !reports(scene, f, closest.weight + 1) : !closest.inside) return false;
  tb_skin_weigh(out, closest.weight);
  if (!tb_skin_normal(scene, out, x, closest.way, &out->normal)) return false;
  out->gap = tb_dot3(out->normal, closest.way);
  return true;
}

tbStatus tb_skin_near(tbContext* ctx, const tbSkinScene* scene, const tbSkinCandidates* candidates,
                      double reach, tbArray* contacts)
{
  return tb_skin_gather(ctx, scene, candidates, near, reach, contacts);
}
