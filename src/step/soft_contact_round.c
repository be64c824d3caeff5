// SPDX-License-Identifier: Apache-2.0
#include "step/soft_contact_round.h"

#include "base/sort.h"
#include "collide/features.h"
#include "geometry/round.h"

#include <string.h>

enum { MOMENTS = 60 };
static const double SAME_MOMENT = 1e-14;
static const double LATER = 1e-3;
static const double SLACK = 1.125; // clearances: what has met came closer
enum { PATIENCE = 2 }; // misses of a contact where a face is closest: then it is taken where features meet

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

// Whether a shape is touched in one place by each feature: but by a face that turns into it beside that
// place, however hard it is pushed there, where the features met.
static bool is_ball(const tbSurfaces* s, const tbShape* shape, const tbSoftContact* p)
{
  return shape->type == TB_SHAPE_SPHERE && !s->spread && p->misses < PATIENCE;
}

// What of a deformable body touches a round shape: its corners, as the shape sees them move.
typedef struct {
  int count;
  tbVec3 corner[3], way[3];
} Feature;

static Feature feature_of(const tbMovingSurface* m, const int* vertex, int count, tbVec3 shape_way)
{
  Feature f = {.count = count};
  for (int k = 0; k < count; k++) {
    f.corner[k] = m->start[vertex[k]];
    f.way[k] = tb_sub3(tb_sub3(m->end[vertex[k]], f.corner[k]), shape_way);
  }
  return f;
}

// The distance of a feature from x at a moment of the step, and the weights of its corners at the point that
// is closest.
static double closest_to(const Feature* f, double t, tbVec3 x, double* weight)
{
  tbVec3 at[4] = {x, x, x, x}, *corner = f->count == 3 ? at + 1 : at;
  for (int k = 0; k < f->count; k++) corner[k] = tb_madd3(f->corner[k], t, f->way[k]);
  if (f->count == 1) return weight[0] = 1, tb_norm3(tb_sub3(corner[0], x));
  tbClosest closest = tb_closest_features(f->count == 3, at);
  memcpy(weight, closest.weight + (f->count == 3), (size_t)f->count * sizeof *weight);
  return tb_norm3(closest.way);
}

// When a feature that comes within a distance of x, by about the moment `late`, first does: by secants
// between bounds, every third one a bisection. The search that said so knows the moment to a ten-thousandth.
static double moment_of(const Feature* f, tbVec3 x, double distance, double late)
{
  double weight[3], early = 0, before = closest_to(f, 0, x, weight) - distance;
  double t = late, after = closest_to(f, late, x, weight) - distance;
  if (!(before > 0)) return 0;
  if (!(after < 0)) late = fmin(late + LATER, 1), after = closest_to(f, late, x, weight) - distance;
  for (int i = 0; i < MOMENTS && after < 0 && late - early > SAME_MOMENT; i++) {
    double secant = early + (late - early) * before / (before - after);
    t = i % 3 == 2 ? 0.5 * (early + late) : secant;
    double now = closest_to(f, t, x, weight) - distance;
    if (fabs(now) <= SAME_MOMENT * distance) break;
    if (now > 0) early = t, before = now;
    else late = t, after = now;
  }
  return t;
}

// A sphere is touched where the feature is closest to it, at the moment that it first is as close as they
// stay: wherever the corners of the sphere's surface are.
static void touch_sphere(const Feature* f, tbVec3 centre, double distance, double* t, double* weight)
{
  if (*t > 0) *t = moment_of(f, centre, distance, *t);
  closest_to(f, *t, centre, weight);
}

void tb_soft_contact_round_off(const tbWorld* w, const tbSurfaces* s, const tbTransform* pose,
                               double clearance, tbSoftContact* p)
{
  tbSurfaceContact* c = &p->contact;
  int side = tb_soft_contact_round_side(w, s, &c->of);
  if (side < 0) return;
  const tbMovingSurface *a = &s->surface[c->of.surface_a], *b = &s->surface[c->of.surface_b],
                        *rigid = side ? b : a, *soft = side ? a : b;
  const int *vertex = side ? c->vertex_a : c->vertex_b, *held = side ? c->vertex_b : c->vertex_a;
  double *weight = side ? c->weight_a : c->weight_b, *fixed = side ? c->weight_b : c->weight_a;
  int count = side ? c->count_a : c->count_b, others = side ? c->count_b : c->count_a;
  const tbShape* shape = &tb_shapes(w)[s->shape[side ? c->of.surface_b : c->of.surface_a]];
  tbTransform T = tb_transform_mul(pose[rigid->body], shape->pose);
  tbVec3 shape_way = tb_sub3(mean(rigid->end, held, fixed, others), mean(rigid->start, held, fixed, others));
  Feature f = feature_of(soft, vertex, count, shape_way);
  if (is_ball(s, shape, p)) {
    tbSoftContactDistance keep = tb_soft_contact_distance(s, c, clearance);
    double distance = shape->sphere.radius + keep.radius + SLACK * keep.clearance;
    touch_sphere(&f, T.x, distance, &c->t, weight);
  }
  tbVec3 from = mean(soft->start, vertex, weight, count), to = mean(soft->end, vertex, weight, count);
  tbVec3 point = tb_madd3(from, c->t, tb_sub3(tb_sub3(to, from), shape_way)), gradient;
  double distance = tb_round_distance(shape, tb_transform_unpoint(T, point), &gradient);
  tbVec3 out = tb_quat_rotate(T.q, gradient);
  p->at = tb_madd3(point, -distance, out);
  c->normal = side ? tb_neg3(out) : out;
  c->gap = tb_dot3(out, tb_sub3(from, p->at));
}

// A feature of a deformable body, and a surface that it touches in one place.
typedef struct {
  int shape, surface;       // shape: or, of sheets, less than 0
  int kind, feature, other; // kind: of the feature, by its vertices
  double gap;
  int at; // in the soft contacts
} Tangent;

static bool same_place(const Tangent* a, const Tangent* b)
{
  return a->shape == b->shape && a->surface == b->surface && a->kind == b->kind && a->feature == b->feature &&
         a->other == b->other;
}

static int by_tangent(const void* x, const void* y)
{
  const Tangent *a = x, *b = y;
  int order[5] = {a->shape - b->shape, a->surface - b->surface, a->kind - b->kind, a->feature - b->feature,
                  a->other - b->other};
  for (int k = 0; k < 5; k++)
    if (order[k]) return order[k];
  if (a->gap != b->gap) return a->gap < b->gap ? -1 : 1;
  return a->at - b->at;
}

// A sphere touches a triangle in its inside, on an edge or at a corner: then in the same place as the edge
// and as the corner, and as the triangles around them. What was there before stays.
static void name_place(const tbSoftContact* p, int side, Tangent* out)
{
  const tbSurfaceContact* c = &p->contact;
  const int* vertex = side ? c->vertex_a : c->vertex_b;
  const double* weight = side ? c->weight_a : c->weight_b;
  int touched[3] = {0}, n = 0;
  for (int k = 0; k < out->kind; k++)
    if (weight[k] != 0) touched[n++] = vertex[k];
  out->gap = p->fresh ? -p->misses : -p->push;
  if (n == 3) return;
  out->kind = n, out->feature = touched[0];
  if (n == 1) return;
  out->feature = touched[0] < touched[1] ? touched[0] : touched[1];
  out->other = touched[0] < touched[1] ? touched[1] : touched[0];
}

// Whether the contact is with a round shape, or of a vertex with another sheet thicker than its cells.
static bool is_tangent(const tbWorld* w, const tbSurfaces* s, const tbSoftContact* p, Tangent* out)
{
  const tbSurfaceContact* c = &p->contact;
  const tbSurfaceFeatures* of = &c->of;
  int side = tb_soft_contact_round_side(w, s, of);
  *out = (Tangent){.gap = c->gap};
  if (side >= 0) {
    out->shape = s->shape[side ? of->surface_b : of->surface_a],
    out->surface = side ? of->surface_a : of->surface_b;
    out->kind = side ? c->count_a : c->count_b, out->feature = side ? of->feature_a : of->feature_b;
    if (is_ball(s, &tb_shapes(w)[out->shape], p)) name_place(p, side, out);
    return true;
  }
  if (of->kind != TB_SURFACE_FACE_VERTEX || of->surface_a == of->surface_b) return false;
  if (!tb_soft_contact_is_thick(&s->surface[of->surface_a]) &&
      !tb_soft_contact_is_thick(&s->surface[of->surface_b]))
    return false;
  out->shape = -1 - of->surface_a, out->surface = of->surface_b, out->kind = 1, out->feature = of->feature_b;
  return true;
}

static bool is_fresh(const tbWorld* w, const tbSurfaces* s, const tbSoftContact* p)
{
  int side = p->fresh ? tb_soft_contact_round_side(w, s, &p->contact.of) : -1;
  if (side < 0) return false;
  int shape = s->shape[side ? p->contact.of.surface_b : p->contact.of.surface_a];
  return is_ball(s, &tb_shapes(w)[shape], p);
}

tbStatus tb_soft_contact_thin(tbContext* ctx, const tbWorld* w, const tbSurfaces* s, bool fresh,
                              tbArray* soft_contacts)
{
  tbSoftContact* p = soft_contacts->data;
  Tangent* t = TB_NEW(ctx, Tangent, soft_contacts->count);
  if (!t) return TB_ERROR_MEMORY;
  size_t count = 0, kept = 0;
  for (size_t i = 0; i < soft_contacts->count; i++) {
    if ((fresh && !is_fresh(w, s, &p[i])) || !is_tangent(w, s, &p[i], &t[count])) continue;
    t[count++].at = (int)i;
  }
  tb_sort(t, count, sizeof *t, by_tangent);
  for (size_t i = 1; i < count; i++)
    if (same_place(&t[i], &t[i - 1])) p[t[i].at].contact.count_b = 0; // to go
  for (size_t i = 0; i < soft_contacts->count; i++) {
    p[i].fresh = false;
    if (p[i].contact.count_b > 0) p[kept++] = p[i];
  }
  soft_contacts->count = kept;
  tb_free(ctx, t);
  return TB_OK;
}
