#include "step/pinch.h"

#include "collide/features.h"
#include "geometry/round.h"

#include <stdlib.h>
#include <string.h>

static const double GIVE = 0.2;    // share of the distance kept, or of the depth, that is won back per step
static const double TURNED = 0.99; // cosine of an angle that a contact's normal may be wrong by: 8°
enum { MOST = 9 };                 // misses that double the clearance of a contact

static int body_of(const tbSurfaces* s, const tbSkinFeatures* of, int side)
{
  if (side) return s->skin[of->skin_b].body;
  return of->kind == TB_SKIN_PLANE_VERTEX ? s->plane[of->skin_a].body : s->skin[of->skin_a].body;
}

static int shape_of(const tbSurfaces* s, const tbSkinFeatures* of, int side)
{
  if (side) return s->shape[of->skin_b];
  return of->kind == TB_SKIN_PLANE_VERTEX ? s->plane_shape[of->skin_a] : s->shape[of->skin_a];
}

// A name for the two features that the next step can find them by.
static uint64_t name_of(const tbSkinFeatures* of)
{
  return (uint64_t)of->kind << 62 | (uint64_t)of->feature_a << 31 | (uint64_t)of->feature_b;
}

static tbSkinFeatures features_of(const tbWorld* w, const tbSurfaces* s, const tbContactRecord* r)
{
  tbSkinFeatures of = {.kind = (tbSkinPair)(r->feature >> 62),
                       .feature_a = (int)(r->feature >> 31 & 0x7fffffff),
                       .feature_b = (int)(r->feature & 0x7fffffff)};
  of.skin_a = r->shape_a < 0 ? tb_bodies(w)[r->body_a].deformable : s->of_shape[r->shape_a];
  of.skin_b = r->shape_b < 0 ? tb_bodies(w)[r->body_b].deformable : s->of_shape[r->shape_b];
  return of;
}

static bool side_moves(const tbWorld* w, int body, const int* vertex, int count)
{
  const tbBody* b = &tb_bodies(w)[body];
  if (b->deformable < 0) return b->kind == TB_BODY_DYNAMIC;
  const tbDeformable* d = &tb_deformables(w)[b->deformable];
  for (int k = 0; k < count; k++)
    if (!d->fem->pinned[d->skin->node[vertex[k]]]) return true;
  return false;
}

// Whether an impulse can move one of the two.
static bool movable(const tbWorld* w, const tbSurfaces* s, const tbSkinContact* c)
{
  return side_moves(w, body_of(s, &c->of, 0), c->vertex_a, c->count_a) ||
         side_moves(w, body_of(s, &c->of, 1), c->vertex_b, c->count_b);
}

// What the surfaces keep from each other beyond the clearance. A round shape's radius is only how far its
// skin lies within it.
static double radius_of(const tbSurfaces* s, const tbSkinFeatures* of)
{
  double sum = s->skin[of->skin_b].rigid ? 0 : s->skin[of->skin_b].radius;
  if (of->kind != TB_SKIN_PLANE_VERTEX && !s->skin[of->skin_a].rigid) sum += s->skin[of->skin_a].radius;
  return sum;
}

static tbVec3 mean(const tbVec3* x, const int* vertex, const double* weight, int count)
{
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < count; k++) sum = tb_madd3(sum, weight[k], x[vertex[k]]);
  return sum;
}

// The side of a contact that is a round shape; −1: none.
static int round_side(const tbWorld* w, const tbSurfaces* s, const tbSkinFeatures* of)
{
  if (of->kind == TB_SKIN_PLANE_VERTEX) return -1;
  int a = s->shape[of->skin_a], b = s->shape[of->skin_b];
  if (a >= 0 && tb_shape_is_round(&tb_shapes(w)[a])) return 0;
  return b >= 0 && tb_shape_is_round(&tb_shapes(w)[b]) ? 1 : -1;
}

// Normal, gap and place of a contact with a round shape: those of the shape itself, at the other side's point
// at the moment of the contact.
static void round_off(const tbWorld* w, const tbSurfaces* s, const tbTransform* pose, tbPinch* p)
{
  tbSkinContact* c = &p->contact;
  int side = round_side(w, s, &c->of);
  if (side < 0) return;
  const tbMovingSkin *a = &s->skin[c->of.skin_a], *b = &s->skin[c->of.skin_b], *rigid = side ? b : a;
  tbVec3 from[2] = {mean(a->start, c->vertex_a, c->weight_a, c->count_a),
                    mean(b->start, c->vertex_b, c->weight_b, c->count_b)};
  tbVec3 to[2] = {mean(a->end, c->vertex_a, c->weight_a, c->count_a),
                  mean(b->end, c->vertex_b, c->weight_b, c->count_b)};
  tbVec3 way = tb_sub3(tb_sub3(to[!side], from[!side]), tb_sub3(to[side], from[side]));
  tbVec3 point = tb_madd3(from[!side], c->t, way), gradient;
  const tbShape* shape = &tb_shapes(w)[s->shape[side ? c->of.skin_b : c->of.skin_a]];
  tbTransform T = tb_transform_mul(pose[rigid->body], shape->pose);
  double distance = tb_round_distance(shape, tb_transform_unpoint(T, point), &gradient);
  tbVec3 out = tb_quat_rotate(T.q, gradient);
  p->at = tb_madd3(point, -distance, out);
  c->normal = side ? tb_neg3(out) : out;
  c->gap = tb_dot3(out, tb_sub3(from[!side], p->at));
}

// How far two features stay apart: their radii; of one surface, no more than half of what they are at rest,
// lest a thick sheet of small triangles swells.
static double thickness_of(const tbSurfaces* s, const tbSkinContact* c)
{
  double radius = radius_of(s, &c->of);
  if (c->of.kind == TB_SKIN_PLANE_VERTEX || c->of.skin_a != c->of.skin_b || radius == 0) return radius;
  const tbVec3* rest = s->skin[c->of.skin_a].skin->rest;
  tbVec3 x[4];
  int n = 0;
  for (int k = 0; k < c->count_b; k++) x[n++] = rest[c->vertex_b[k]];
  for (int k = 0; k < c->count_a; k++) x[n++] = rest[c->vertex_a[k]];
  return fmin(radius, 0.5 * tb_norm3(tb_closest_features(c->of.kind == TB_SKIN_FACE_VERTEX, x).way));
}

static int count_of(const tbMovingSkin* m, tbSkinPair kind, int side)
{
  if (kind == TB_SKIN_EDGE_EDGE) return m->skin->nedge;
  return side ? m->skin->nvertex : m->skin->ntriangle;
}

// Whether a record names features of this world: it may come from a file.
static bool known(const tbSurfaces* s, const tbSkinFeatures* of)
{
  if (of->kind > TB_SKIN_PLANE_VERTEX || of->skin_b < 0 || of->skin_b >= s->scene.nskin) return false;
  if (of->feature_b >= count_of(&s->skin[of->skin_b], of->kind, 1)) return false;
  if (of->kind == TB_SKIN_PLANE_VERTEX) return of->skin_a >= 0 && of->skin_a < s->scene.nplane;
  if (of->skin_a < 0 || of->skin_a >= s->scene.nskin) return false;
  return of->feature_a < count_of(&s->skin[of->skin_a], of->kind, 0);
}

static void take_impulse(const tbContactRecord* r, tbPinch* p)
{
  if (tb_dot3(r->normal, p->contact.normal) < 0.7) return;
  tbVec3 b = tb_cross3(r->normal, r->tangent);
  p->push = r->impulse[0];
  p->drag = tb_add3(tb_scale3(r->impulse[1], r->tangent), tb_scale3(r->impulse[2], b));
}

// A contact that pushed in the last step stands still, unless its features have parted.
static bool stands(const tbSurfaces* s, const tbContactRecord* r, const tbSkinFeatures* of, double reach,
                   tbSkinContact* out)
{
  if (!(r->impulse[0] > 0) || of->kind == TB_SKIN_PLANE_VERTEX) return false;
  return tb_skin_contact_at(&s->scene, of, 0, out) &&
         out->gap <= reach + s->skin[of->skin_a].radius + s->skin[of->skin_b].radius;
}

// The features that are close, with the impulses they had, and those that still push: records and `near` are
// both in order of features, and one walk over both merges them.
static tbStatus merge(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s,
                      const tbTransform* pose, const tbArray* near, double reach, tbArray* pinches)
{
  const tbContactRecord *r = w->contact.data, *end = r + (o->warm_start ? w->contact.count : 0);
  const tbSkinContact *c = near->data, *last = c + near->count;
  while (c < last || r < end) {
    if (r < end && r->shape_a >= 0 && r->shape_b >= 0) {
      r++;
      continue;
    }
    tbPinch p = {0};
    tbSkinFeatures of = {0};
    if (r < end) of = features_of(w, s, r);
    int order = c == last ? -1 : r == end ? 1 : tb_skin_features_order(&of, &c->of);
    bool there = true;
    if (order >= 0) p.contact = *c++;
    else there = known(s, &of) && stands(s, r, &of, reach, &p.contact);
    if (there) round_off(w, s, pose, &p);
    if (order <= 0) take_impulse(r++, &p);
    if (!there || !movable(w, s, &p.contact) || p.contact.gap > reach + radius_of(s, &p.contact.of)) continue;
    TB_TRY(tb_array_push(ctx, pinches, &p, 1));
  }
  return TB_OK;
}

// A feature of a deformable body that touches a round shape.
typedef struct {
  int shape, skin, kind, feature; // kind: of the feature, by its vertices
  double gap;
  int at; // in the pinches
} Tangent;

static int by_tangent(const void* x, const void* y)
{
  const Tangent *a = x, *b = y;
  int order[4] = {a->shape - b->shape, a->skin - b->skin, a->kind - b->kind, a->feature - b->feature};
  for (int k = 0; k < 4; k++)
    if (order[k]) return order[k];
  if (a->gap != b->gap) return a->gap < b->gap ? -1 : 1;
  return a->at - b->at;
}

// An edge that lies along a round shape crosses many edges of its skin. One contact will do: the closest.
static tbStatus thin_out(tbContext* ctx, const tbWorld* w, const tbSurfaces* s, tbArray* pinches)
{
  tbPinch* p = pinches->data;
  Tangent* t = TB_NEW(ctx, Tangent, pinches->count);
  if (!t) return TB_ERROR_MEMORY;
  size_t count = 0, kept = 0;
  for (size_t i = 0; i < pinches->count; i++) {
    const tbSkinFeatures* of = &p[i].contact.of;
    int side = round_side(w, s, of);
    if (side < 0) continue;
    t[count++] = (Tangent){s->shape[side ? of->skin_b : of->skin_a],
                           side ? of->skin_a : of->skin_b,
                           side ? p[i].contact.count_a : p[i].contact.count_b,
                           side ? of->feature_a : of->feature_b,
                           p[i].contact.gap,
                           (int)i};
  }
  qsort(t, count, sizeof *t, by_tangent);
  for (size_t i = 1; i < count; i++) {
    Tangent* before = &t[i - 1];
    if (t[i].shape != before->shape || t[i].skin != before->skin || t[i].kind != before->kind ||
        t[i].feature != before->feature)
      continue;
    p[t[i].at].contact.count_b = 0; // to go
  }
  for (size_t i = 0; i < pinches->count; i++)
    if (p[i].contact.count_b > 0) p[kept++] = p[i];
  pinches->count = kept;
  tb_free(ctx, t);
  return TB_OK;
}

tbStatus tb_pinch_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s,
                        const tbTransform* pose, const tbSkinCandidates* candidates, double clearance,
                        tbArray* pinches)
{
  tbArray near = TB_ARRAY(tbSkinContact);
  tbStatus status = tb_skin_near(ctx, &s->scene, candidates, 3 * clearance, &near);
  if (status == TB_OK) status = merge(ctx, w, o, s, pose, &near, 3 * clearance, pinches);
  if (status == TB_OK) status = thin_out(ctx, w, s, pinches);
  tb_array_free(ctx, &near);
  return status;
}

typedef struct {
  tbVec3 at, drift; // at the start; and the velocity it is known to have
} Side;

static Side side_of(const tbWorld* w, const tbSurfaces* s, const tbSkinContact* c, int side, double h)
{
  Side out = {tb_zero3(), tb_zero3()};
  if (side == 0 && c->of.kind == TB_SKIN_PLANE_VERTEX) { // under the vertex, and as fast as the plane comes
    const tbMovingPlane* p = &s->plane[c->of.skin_a];
    tbVec3 x = s->skin[c->of.skin_b].start[c->vertex_b[0]];
    double height = tb_dot3(p->normal[0], x) - p->offset[0];
    const tbBody* b = &tb_bodies(w)[p->body];
    out.at = tb_madd3(x, -height, p->normal[0]);
    if (b->kind == TB_BODY_KINEMATIC) {
      tbTransform now = tb_motion_at(w, b, w->time), then = tb_motion_at(w, b, w->time + h);
      tbVec3 moved = tb_transform_point(then, tb_transform_unpoint(now, out.at));
      out.drift = tb_scale3(1 / h, tb_sub3(moved, out.at));
    }
    return out;
  }
  const tbMovingSkin* m = &s->skin[side ? c->of.skin_b : c->of.skin_a];
  const int* vertex = side ? c->vertex_b : c->vertex_a;
  const double* weight = side ? c->weight_b : c->weight_a;
  for (int k = 0; k < (side ? c->count_b : c->count_a); k++) {
    tbVec3 x = m->start[vertex[k]];
    out.at = tb_madd3(out.at, weight[k], x);
    if (m->fixed) out.drift = tb_madd3(out.drift, weight[k] / h, tb_sub3(m->end[vertex[k]], x));
  }
  return out;
}

static tbTouch touch_of(const tbWorld* w, const tbSurfaces* s, const tbPinch* p, double clearance, double h)
{
  const tbSkinContact* c = &p->contact;
  Side a = side_of(w, s, c, 0, h), b = side_of(w, s, c, 1, h);
  int round = round_side(w, s, &c->of);
  if (round >= 0) *(round ? &b.at : &a.at) = p->at;
  tbTouch t = {.shape_a = shape_of(s, &c->of, 0),
               .shape_b = shape_of(s, &c->of, 1),
               .body_a = body_of(s, &c->of, 0),
               .body_b = body_of(s, &c->of, 1),
               .point = {a.at, b.at, c->normal, c->gap, name_of(&c->of)},
               .position = tb_scale3(0.5, tb_add3(a.at, b.at)),
               .impact = -1,
               .skin = c,
               .drift = tb_sub3(b.drift, a.drift)};
  tb_touch_law(w, &t);
  if (t.rows > 3) t.law = TB_LAW_COULOMB, t.rows = 3, t.param[0] = t.surface.friction.mu; // nodes do not turn
  double keep = thickness_of(s, c) + ldexp(clearance, p->misses < MOST ? p->misses : MOST),
         slack = c->gap - keep;
  t.bias[0] = fmax(slack, -GIVE * fmax(keep, -slack)) / h;
  t.guess[0] = p->push;
  for (int k = 1; k < t.rows; k++) t.guess[k] = tb_dot3(p->drag, tb_mat3_row(t.frame, k));
  return t;
}

tbStatus tb_pinch_touches(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s,
                          double clearance, const tbArray* pinches, tbArray* touches)
{
  size_t first = touches->count;
  TB_TRY(tb_array_push(ctx, touches, NULL, pinches->count));
  for (size_t i = 0; i < pinches->count; i++)
    ((tbTouch*)touches->data)[first + i] =
        touch_of(w, s, (const tbPinch*)pinches->data + i, clearance, o->dt);
  return TB_OK;
}

void tb_pinch_learn(const tbAssembly* a, int first, tbArray* pinches)
{
  for (size_t i = 0; i < pinches->count; i++) {
    tbPinch* p = (tbPinch*)pinches->data + i;
    const tbTouch* t = &a->touch[first + (int)i];
    const double* lambda = a->lambda + a->problem->row_adr[first + (int)i];
    p->push = lambda[0];
    p->drag = tb_zero3();
    for (int k = 1; k < t->rows; k++) p->drag = tb_madd3(p->drag, lambda[k], tb_mat3_row(t->frame, k));
  }
}

// How far the places that meet move against each other in the step.
static double moved(const tbSurfaces* s, const tbSkinContact* c)
{
  tbVec3 way = tb_zero3();
  for (int side = 0; side < 2; side++) {
    if (side == 0 && c->of.kind == TB_SKIN_PLANE_VERTEX) continue;
    const tbMovingSkin* m = &s->skin[side ? c->of.skin_b : c->of.skin_a];
    const int* vertex = side ? c->vertex_b : c->vertex_a;
    const double* weight = side ? c->weight_b : c->weight_a;
    for (int k = 0; k < (side ? c->count_b : c->count_a); k++)
      way = tb_madd3(way, side ? weight[k] : -weight[k], tb_sub3(m->end[vertex[k]], m->start[vertex[k]]));
  }
  return tb_norm3(way);
}

static double edge_of(const tbSurfaces* s, const tbSkinFeatures* of)
{
  double edge = s->skin[of->skin_b].skin->edge_length;
  return of->kind == TB_SKIN_PLANE_VERTEX ? edge : fmin(edge, s->skin[of->skin_a].skin->edge_length);
}

// Takes out what no impulse acts on, and what would not meet but for bodies that went through others before:
// what comes after the first impact of both its bodies, by more of the way than an edge is long. In order.
static tbStatus choose(tbContext* ctx, const tbWorld* w, const tbSurfaces* s, tbArray* met, bool* any)
{
  double* first = TB_NEW(ctx, double, w->body.count);
  if (!first) return TB_ERROR_MEMORY;
  tbSkinContact* hit = met->data;
  size_t count = 0;
  for (size_t k = 0; k < met->count; k++)
    if (movable(w, s, &hit[k])) hit[count++] = hit[k];
  for (size_t i = 0; i < w->body.count; i++) first[i] = 1;
  for (size_t k = 0; k < count; k++)
    for (int side = 0; side < 2; side++) {
      double* f = &first[body_of(s, &hit[k].of, side)];
      *f = fmin(*f, hit[k].t);
    }
  *any = count > 0;
  if (*any) met->count = 0;
  for (size_t k = 0; k < count; k++) {
    double after = hit[k].t - fmax(first[body_of(s, &hit[k].of, 0)], first[body_of(s, &hit[k].of, 1)]);
    if (after * moved(s, &hit[k]) <= edge_of(s, &hit[k].of)) hit[met->count++] = hit[k];
  }
  tb_free(ctx, first);
  return TB_OK;
}

tbStatus tb_pinch_absorb(tbContext* ctx, const tbWorld* w, const tbSurfaces* s, const tbTransform* pose,
                         tbArray* met, tbArray* pinches, bool* changed)
{
  TB_TRY(choose(ctx, w, s, met, changed));
  if (!*changed) return TB_OK;
  tbArray all = TB_ARRAY(tbPinch);
  TB_TRY(tb_array_push(ctx, &all, NULL, pinches->count + met->count));
  tbPinch *out = all.data, *old = pinches->data;
  const tbSkinContact* hit = met->data;
  size_t i = 0, k = 0, n = 0;
  while (i < pinches->count || k < met->count) { // two sorted lists become one
    int order = i == pinches->count ? 1
                : k == met->count   ? -1
                                    : tb_skin_features_order(&old[i].contact.of, &hit[k].of);
    if (order < 0) {
      out[n++] = old[i++];
      continue;
    }
    out[n] = order == 0 ? old[i++] : (tbPinch){0};
    if (order == 0) out[n].misses++;
    out[n].contact = hit[k++];
    round_off(w, s, pose, &out[n++]);
  }
  all.count = n;
  tb_array_free(ctx, pinches);
  *pinches = all;
  return TB_OK;
}

static bool inside(const tbSkinContact* c)
{
  for (int k = 0; k < c->count_a; k++)
    if (!(c->weight_a[k] > 1e-9)) return false;
  for (int k = 0; k < c->count_b; k++)
    if (!(c->weight_b[k] > 1e-9)) return false;
  return true;
}

bool tb_pinch_turn(const tbWorld* w, const tbSurfaces* s, tbArray* pinches)
{
  bool any = false;
  for (size_t i = 0; i < pinches->count; i++) {
    tbPinch* p = (tbPinch*)pinches->data + i;
    tbSkinContact at_end;
    if (!(p->push > 0) || p->contact.of.kind == TB_SKIN_PLANE_VERTEX) continue;
    if (round_side(w, s, &p->contact.of) >= 0) continue; // whose normal is the shape's
    if (!tb_skin_contact_at(&s->scene, &p->contact.of, 1, &at_end) || !inside(&at_end)) continue;
    if (tb_dot3(at_end.normal, p->contact.normal) >= TURNED || !(at_end.gap > 0)) continue;
    p->contact = at_end;
    any = true;
  }
  return any;
}
