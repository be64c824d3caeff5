// SPDX-License-Identifier: Apache-2.0
#include "collide/surfaces_pair.h"
#include "step/soft_contact_round.h"

static const double NEAR = 3; // clearances: features closer than this at the start are contacts

uint64_t tb_soft_contact_name(const tbSurfaceFeatures* of)
{
  return (uint64_t)of->kind << 62 | (uint64_t)of->feature_a << 31 | (uint64_t)of->feature_b;
}

static tbSurfaceFeatures features_of(const tbSurfaces* s, const tbContactRecord* r)
{
  tbSurfaceFeatures of = {.kind = (tbSurfacePair)(r->feature >> 62),
                          .feature_a = (int)(r->feature >> 31 & 0x7fffffff),
                          .feature_b = (int)(r->feature & 0x7fffffff)};
  of.surface_a = r->shape_a < 0 ? s->of_body[r->body_a] : s->of_shape[r->shape_a];
  of.surface_b = r->shape_b < 0 ? s->of_body[r->body_b] : s->of_shape[r->shape_b];
  return of;
}

static bool side_moves(const tbWorld* w, int body, const int* vertex, int count)
{
  const tbBody* b = &tb_bodies(w)[body];
  return b->kind->moves_at ? b->kind->moves_at(b, vertex, count) : b->motion == TB_BODY_DYNAMIC;
}

// Whether an impulse can move one of the two.
static bool movable(const tbWorld* w, const tbSurfaces* s, const tbSurfaceContact* c)
{
  return side_moves(w, tb_surfaces_body(s, &c->of, 0), c->vertex_a, c->count_a) ||
         side_moves(w, tb_surfaces_body(s, &c->of, 1), c->vertex_b, c->count_b);
}

static int count_of(const tbMovingSurface* m, tbSurfacePair kind, int side)
{
  if (kind == TB_SURFACE_EDGE_EDGE) return m->surface->nedge;
  return side ? m->surface->nvertex : m->surface->ntriangle;
}

// Whether a record names features of this world: it may come from a file.
static bool known(const tbSurfaces* s, const tbSurfaceFeatures* of)
{
  if (of->kind > TB_SURFACE_PLANE_VERTEX || of->surface_b < 0 || of->surface_b >= s->scene.nsurface)
    return false;
  if (of->feature_b >= count_of(&s->surface[of->surface_b], of->kind, 1)) return false;
  if (of->kind == TB_SURFACE_PLANE_VERTEX) return of->surface_a >= 0 && of->surface_a < s->scene.nplane;
  if (of->surface_a < 0 || of->surface_a >= s->scene.nsurface) return false;
  return of->feature_a < count_of(&s->surface[of->surface_a], of->kind, 0);
}

static void take_impulse(const tbContactRecord* r, tbSoftContact* p)
{
  if (tb_dot3(r->normal, p->contact.normal) < 0.7) return;
  tbVec3 b = tb_cross3(r->normal, r->tangent);
  p->push = r->impulse[0];
  p->drag = tb_add3(tb_scale3(r->impulse[1], r->tangent), tb_scale3(r->impulse[2], b));
  for (int k = 3; k < r->rows; k++) p->torque[k - 3] = r->impulse[k];
}

// A contact that pushed in the last step stands still, unless its features have parted.
static bool stands(const tbSurfaces* s, const tbContactRecord* r, const tbSurfaceFeatures* of, double reach,
                   tbSurfaceContact* out)
{
  if (!(r->impulse[0] > 0) || of->kind == TB_SURFACE_PLANE_VERTEX) return false;
  return tb_surface_contact_at(&s->scene, of, 0, out) &&
         out->gap <= reach + s->surface[of->surface_a].radius + s->surface[of->surface_b].radius;
}

// Whether vertices stand for the contact: balls around the vertices of a sheet that is thicker than its cells
// cover its edges and faces as well.
static bool covered(const tbSurfaces* s, const tbSurfaceContact* c)
{
  if (c->of.kind == TB_SURFACE_PLANE_VERTEX) return false;
  const tbMovingSurface *a = &s->surface[c->of.surface_a], *b = &s->surface[c->of.surface_b];
  if (c->of.kind == TB_SURFACE_EDGE_EDGE) return tb_soft_contact_is_thick(a) || tb_soft_contact_is_thick(b);
  return tb_soft_contact_is_thick(a) && a != b && !tb_soft_contact_is_thick(b);
}

// Behind a surface the closest points say the wrong side: the contact would pull in what is a little way in.
static void keep_out(const tbSurfaces* s, tbSurfaceContact* c)
{
  if (!s->crossing || !tb_surface_is_behind(&s->scene, c)) return;
  c->normal = tb_neg3(c->normal), c->gap = -c->gap;
}

// The features that are close, with the impulses they had, and those that still push: records and `near` are
// both in order of features, and one walk over both merges them.
static tbStatus merge(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s,
                      const tbTransform* pose, const tbArray* near, double clearance, double beyond,
                      tbArray* soft_contacts)
{
  size_t records = o->warm_start ? w->contact.count : 0; // empty arrays have no address to count from
  const tbContactRecord *r = w->contact.data, *end = records ? r + records : r;
  const tbSurfaceContact *c = near->data, *last = near->count ? c + near->count : c;
  while (c < last || r < end) {
    if (r < end && r->shape_a >= 0 && r->shape_b >= 0) {
      r++;
      continue;
    }
    tbSoftContact p = {0};
    tbSurfaceFeatures of = {0};
    if (r < end) of = features_of(s, r);
    int order = c == last ? -1 : r == end ? 1 : tb_surface_features_order(&of, &c->of);
    bool there = true;
    if (order >= 0) p.contact = *c++;
    else there = known(s, &of) && stands(s, r, &of, NEAR * clearance, &p.contact);
    if (there) keep_out(s, &p.contact), tb_soft_contact_round_off(w, s, pose, clearance, &p);
    if (order <= 0) take_impulse(r++, &p);
    if (!there || !movable(w, s, &p.contact) || covered(s, &p.contact)) continue;
    tbSoftContactDistance keep = tb_soft_contact_distance(s, &p.contact, clearance);
    double coat = tb_soft_contact_spring(w, s, &p.contact).coat;
    if (p.contact.gap > keep.radius + NEAR * keep.clearance + coat + beyond) continue;
    TB_TRY(tb_array_push(ctx, soft_contacts, &p, 1));
  }
  return TB_OK;
}

tbStatus tb_soft_contact_begin_near(tbContext* ctx, const tbWorld* w, const tbStepOptions* o,
                                    const tbSurfaces* s, const tbTransform* pose, const tbArray* near,
                                    double clearance, double beyond, tbArray* soft_contacts)
{
  TB_TRY(merge(ctx, w, o, s, pose, near, clearance, beyond, soft_contacts));
  TB_TRY(tb_soft_contact_thin(ctx, w, s, false, soft_contacts));
  return tb_soft_contact_limit(ctx, w, s, clearance, soft_contacts);
}

tbStatus tb_soft_contact_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s,
                               const tbTransform* pose, const tbSurfaceCandidates* candidates,
                               double clearance, tbArray* soft_contacts)
{
  tbArray near = TB_ARRAY(tbSurfaceContact);
  double beyond = fmax(o->margin - NEAR * clearance, 0),
         reach = NEAR * clearance + beyond + tb_soft_contact_coat(w, s);
  if (s->crossing) reach = fmax(reach, 2 * NEAR * clearance); // what is in, farther than what is out
  tbStatus status = tb_surface_near(ctx, &s->scene, candidates, reach, &near);
  if (status == TB_OK)
    status = tb_soft_contact_begin_near(ctx, w, o, s, pose, &near, clearance, beyond, soft_contacts);
  tb_array_free(ctx, &near);
  return status;
}

void tb_soft_contact_learn(const tbAssembly* a, int first, tbArray* soft_contacts)
{
  for (size_t i = 0; i < soft_contacts->count; i++) {
    tbSoftContact* p = (tbSoftContact*)soft_contacts->data + i;
    const tbContactConstraint* t = &a->constraint[first + (int)i];
    const double* lambda = a->lambda + a->problem->row_adr[first + (int)i];
    p->push = lambda[0];
    p->drag = tb_zero3();
    for (int k = 1; k < t->rows && k < 3; k++)
      p->drag = tb_madd3(p->drag, tb_constraint_stretch(t, k) * lambda[k], tb_mat3_row(t->frame, k));
    for (int k = 3; k < t->rows; k++) p->torque[k - 3] = lambda[k];
  }
}

tbVec3 tb_soft_contact_way(const tbSurfaces* s, const tbSurfaceContact* c)
{
  tbVec3 way = tb_zero3();
  for (int side = 0; side < 2; side++) {
    if (side == 0 && c->of.kind == TB_SURFACE_PLANE_VERTEX) continue;
    const tbMovingSurface* m = &s->surface[side ? c->of.surface_b : c->of.surface_a];
    const int* vertex = side ? c->vertex_b : c->vertex_a;
    const double* weight = side ? c->weight_b : c->weight_a;
    for (int k = 0; k < (side ? c->count_b : c->count_a); k++)
      way = tb_madd3(way, side ? weight[k] : -weight[k], tb_sub3(m->end[vertex[k]], m->start[vertex[k]]));
  }
  return way;
}

double tb_soft_contact_edge(const tbSurfaces* s, const tbSurfaceFeatures* of)
{
  double edge = s->surface[of->surface_b].surface->edge_length;
  return of->kind == TB_SURFACE_PLANE_VERTEX ? edge
                                             : fmin(edge, s->surface[of->surface_a].surface->edge_length);
}

// Takes out what no impulse acts on, and what would not meet but for bodies that went through others before:
// what comes after the first impact of both its bodies, by more of the way than an edge is long. In order.
static tbStatus choose(tbContext* ctx, const tbWorld* w, const tbSurfaces* s, tbArray* met, bool* any)
{
  double* first = TB_NEW(ctx, double, w->body.count);
  if (!first) return TB_ERROR_MEMORY;
  tbSurfaceContact* hit = met->data;
  size_t count = 0;
  for (size_t k = 0; k < met->count; k++)
    if (movable(w, s, &hit[k])) hit[count++] = hit[k];
  for (size_t i = 0; i < w->body.count; i++) first[i] = 1;
  for (size_t k = 0; k < count; k++)
    for (int side = 0; side < 2; side++) {
      double* f = &first[tb_surfaces_body(s, &hit[k].of, side)];
      *f = fmin(*f, hit[k].t);
    }
  *any = count > 0;
  if (*any) met->count = 0;
  for (size_t k = 0; k < count; k++) {
    double after =
        hit[k].t - fmax(first[tb_surfaces_body(s, &hit[k].of, 0)], first[tb_surfaces_body(s, &hit[k].of, 1)]);
    if (after * tb_norm3(tb_soft_contact_way(s, &hit[k])) <= tb_soft_contact_edge(s, &hit[k].of))
      hit[met->count++] = hit[k];
  }
  tb_free(ctx, first);
  return TB_OK;
}

// When, of the step, the gap was the distance they keep, and how far b had moved against a by then: the
// moment of the search is known to a ten-thousandth of the step, its normal is good enough to say it exactly.
static void note_impact(const tbSurfaces* s, double clearance, tbSoftContact* p)
{
  const tbSurfaceContact* c = &p->contact;
  tbSoftContactDistance keep = tb_soft_contact_distance(s, c, clearance);
  tbVec3 way = tb_soft_contact_way(s, c);
  double end = c->of.kind == TB_SURFACE_PLANE_VERTEX ? tb_surface_height(&s->scene, &c->of, true)
                                                     : c->gap + tb_dot3(c->normal, way);
  double left = c->gap - keep.radius - keep.clearance;
  p->met = end < c->gap ? fmin(fmax(left / (c->gap - end), 0), 1) : c->t;
  p->slid = tb_scale3(p->met, way);
}

tbStatus tb_soft_contact_absorb(tbContext* ctx, const tbWorld* w, const tbSurfaces* s,
                                const tbTransform* pose, tbSoftContactMet how, tbArray* met,
                                tbArray* soft_contacts, bool* changed)
{
  bool rough = how.rough;
  TB_TRY(choose(ctx, w, s, met, changed));
  *changed = *changed && tb_soft_contact_has_room(w, soft_contacts);
  if (!*changed) return TB_OK; // what met is left to be told of
  TB_TRY(tb_soft_contact_limit_met(ctx, w, soft_contacts, met));
  *changed = !rough;
  tbArray all = TB_ARRAY(tbSoftContact);
  TB_TRY(tb_array_push(ctx, &all, NULL, soft_contacts->count + met->count));
  tbSoftContact *out = all.data, *old = soft_contacts->data;
  const tbSurfaceContact* hit = met->data;
  size_t i = 0, k = 0, n = 0;
  while (i < soft_contacts->count || k < met->count) { // two sorted lists become one
    int order = i == soft_contacts->count ? 1
                : k == met->count         ? -1
                                          : tb_surface_features_order(&old[i].contact.of, &hit[k].of);
    if (order < 0 || (order == 0 && rough)) {
      out[n++] = old[i++];
      k += order == 0;
      continue;
    }
    *changed = true;
    out[n] = order == 0 ? old[i++] : (tbSoftContact){0};
    out[n].contact = hit[k++], out[n].fresh = true;
    keep_out(s, &out[n].contact);
    tb_soft_contact_round_off(w, s, pose, how.clearance, &out[n]);
    if (order == 0) out[n].anew = false;
    if (order == 0 && !how.expected) out[n].misses = tb_soft_contact_next_miss(w, s, &out[n], how);
    if (how.from_impact) note_impact(s, how.clearance, &out[n]);
    n++;
  }
  all.count = n;
  tb_array_free(ctx, soft_contacts);
  *soft_contacts = all;
  return tb_soft_contact_thin(ctx, w, s, true, soft_contacts);
}
