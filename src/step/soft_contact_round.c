// SPDX-License-Identifier: Apache-2.0
#include "step/soft_contact_round.h"

#include "base/sort.h"
#include "geometry/round.h"

static tbVec3 mean(const tbVec3* x, const int* vertex, const double* weight, int count)
{
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < count; k++) sum = tb_madd3(sum, weight[k], x[vertex[k]]);
  return sum;
}

int tb_soft_contact_round_side(const tbWorld* w, const tbSurfaces* s, const tbSurfaceFeatures* of)
{
  if (of->kind == TB_SURFACE_PLANE_VERTEX) return -1;
  int a = s->shape[of->surface_a], b = s->shape[of->surface_b];
  if (a >= 0 && tb_shape_is_round(&tb_shapes(w)[a])) return 0;
  return b >= 0 && tb_shape_is_round(&tb_shapes(w)[b]) ? 1 : -1;
}

void tb_soft_contact_round_off(const tbWorld* w, const tbSurfaces* s, const tbTransform* pose,
                               tbSoftContact* p)
{
  tbSurfaceContact* c = &p->contact;
  int side = tb_soft_contact_round_side(w, s, &c->of);
  if (side < 0) return;
  const tbMovingSurface *a = &s->surface[c->of.surface_a], *b = &s->surface[c->of.surface_b],
                        *rigid = side ? b : a;
  tbVec3 from[2] = {mean(a->start, c->vertex_a, c->weight_a, c->count_a),
                    mean(b->start, c->vertex_b, c->weight_b, c->count_b)};
  tbVec3 to[2] = {mean(a->end, c->vertex_a, c->weight_a, c->count_a),
                  mean(b->end, c->vertex_b, c->weight_b, c->count_b)};
  tbVec3 way = tb_sub3(tb_sub3(to[!side], from[!side]), tb_sub3(to[side], from[side]));
  tbVec3 point = tb_madd3(from[!side], c->t, way), gradient;
  const tbShape* shape = &tb_shapes(w)[s->shape[side ? c->of.surface_b : c->of.surface_a]];
  tbTransform T = tb_transform_mul(pose[rigid->body], shape->pose);
  double distance = tb_round_distance(shape, tb_transform_unpoint(T, point), &gradient);
  tbVec3 out = tb_quat_rotate(T.q, gradient);
  p->at = tb_madd3(point, -distance, out);
  c->normal = side ? tb_neg3(out) : out;
  c->gap = tb_dot3(out, tb_sub3(from[!side], p->at));
}

// A feature of a deformable body, and a surface that it touches in one place.
typedef struct {
  int shape, surface, kind,
      feature; // shape: or, of sheets, less than 0; kind: of the feature, by its vertices
  double gap;
  int at; // in the soft contacts
} Tangent;

static int by_tangent(const void* x, const void* y)
{
  const Tangent *a = x, *b = y;
  int order[4] = {a->shape - b->shape, a->surface - b->surface, a->kind - b->kind, a->feature - b->feature};
  for (int k = 0; k < 4; k++)
    if (order[k]) return order[k];
  if (a->gap != b->gap) return a->gap < b->gap ? -1 : 1;
  return a->at - b->at;
}

// Whether the contact is with a round shape, or of a vertex with another sheet thicker than its cells.
static bool is_tangent(const tbWorld* w, const tbSurfaces* s, const tbSurfaceContact* c, Tangent* out)
{
  const tbSurfaceFeatures* of = &c->of;
  int side = tb_soft_contact_round_side(w, s, of);
  *out = (Tangent){.gap = c->gap};
  if (side >= 0) {
    out->shape = s->shape[side ? of->surface_b : of->surface_a],
    out->surface = side ? of->surface_a : of->surface_b;
    out->kind = side ? c->count_a : c->count_b, out->feature = side ? of->feature_a : of->feature_b;
    return true;
  }
  if (of->kind != TB_SURFACE_FACE_VERTEX || of->surface_a == of->surface_b) return false;
  if (!tb_soft_contact_is_thick(&s->surface[of->surface_a]) &&
      !tb_soft_contact_is_thick(&s->surface[of->surface_b]))
    return false;
  out->shape = -1 - of->surface_a, out->surface = of->surface_b, out->kind = 1, out->feature = of->feature_b;
  return true;
}

tbStatus tb_soft_contact_thin(tbContext* ctx, const tbWorld* w, const tbSurfaces* s, tbArray* soft_contacts)
{
  tbSoftContact* p = soft_contacts->data;
  Tangent* t = TB_NEW(ctx, Tangent, soft_contacts->count);
  if (!t) return TB_ERROR_MEMORY;
  size_t count = 0, kept = 0;
  for (size_t i = 0; i < soft_contacts->count; i++) {
    if (!is_tangent(w, s, &p[i].contact, &t[count])) continue;
    t[count++].at = (int)i;
  }
  tb_sort(t, count, sizeof *t, by_tangent);
  for (size_t i = 1; i < count; i++) {
    Tangent* before = &t[i - 1];
    if (t[i].shape != before->shape || t[i].surface != before->surface || t[i].kind != before->kind ||
        t[i].feature != before->feature)
      continue;
    p[t[i].at].contact.count_b = 0; // to go
  }
  for (size_t i = 0; i < soft_contacts->count; i++)
    if (p[i].contact.count_b > 0) p[kept++] = p[i];
  soft_contacts->count = kept;
  tb_free(ctx, t);
  return TB_OK;
}
