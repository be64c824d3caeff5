// SPDX-License-Identifier: Apache-2.0
// A contact between surfaces as a row of the problem: what it keeps apart, where, and how fast that changes.
#include "collide/features.h"
#include "step/friction_state.h"
#include "step/soft_contact_round.h"

// Share of the distance kept, or of the depth, that is won back per step; and the shortest time a step counts
// as here, so that features too close part no faster the shorter the steps are.
static const double GIVE = 0.2, UNHURRIED = 0.01; // s
enum { MOST = 9 };                                // misses that double the clearance of a contact

// How far apart two features of one surface are at rest.
static double rest_distance(const tbSurfaces* s, const tbSurfaceContact* c)
{
  const tbVec3* rest = s->surface[c->of.surface_a].surface->rest;
  tbVec3 x[4];
  int n = 0;
  for (int k = 0; k < c->count_b; k++) x[n++] = rest[c->vertex_b[k]];
  for (int k = 0; k < c->count_a; k++) x[n++] = rest[c->vertex_a[k]];
  return tb_norm3(tb_closest_features(c->of.kind == TB_SURFACE_FACE_VERTEX, x).way);
}

tbSoftContactDistance tb_soft_contact_distance(const tbSurfaces* s, const tbSurfaceContact* c,
                                               double clearance)
{
  tbSoftContactDistance keep = {tb_surfaces_radius(s, &c->of), clearance};
  if (c->of.kind == TB_SURFACE_PLANE_VERTEX || c->of.surface_a != c->of.surface_b) return keep;
  const tbMovingSurface* m = &s->surface[c->of.surface_a];
  double rest = rest_distance(s, c);
  keep.radius = fmin(2 * tb_surface_self_radius(m), 0.5 * rest);
  keep.clearance = fmin(clearance, 0.25 * rest);
  return keep;
}

static const double COAT = 0.1; // of a mean edge, where a material does not say

tbContactSpring tb_soft_contact_coated(tbContactSpring spring, double edge)
{
  if (spring.stiffness > 0 && !(spring.coat > 0)) spring.coat = COAT * edge;
  return spring;
}

tbContactSpring tb_soft_contact_spring(const tbWorld* w, const tbSurfaces* s, const tbSurfaceContact* c)
{
  const tbBody *a = &tb_bodies(w)[tb_surfaces_body(s, &c->of, 0)],
               *b = &tb_bodies(w)[tb_surfaces_body(s, &c->of, 1)];
  tbContactSpring spring = tb_world_friction_pair(w, a, b).spring;
  if (!(spring.stiffness > 0)) return spring;
  spring = tb_soft_contact_coated(spring, tb_soft_contact_edge(s, &c->of));
  if (c->of.kind != TB_SURFACE_PLANE_VERTEX && c->of.surface_a == c->of.surface_b)
    spring.coat = fmin(spring.coat, 0.25 * rest_distance(s, c));
  return spring;
}

double tb_soft_contact_coat(const tbWorld* w, const tbSurfaces* s)
{
  double edge = 0, widest = 0;
  for (int i = 0; i < s->scene.nsurface; i++) edge = fmax(edge, s->surface[i].surface->edge_length);
  for (size_t i = 0; i < w->material.count + w->pair.count; i++) {
    const tbContactSpring* spring =
        i < w->material.count
            ? &tb_materials(w)[i].contact_material.spring
            : &((const tbPairRule*)w->pair.data)[i - w->material.count].contact_material.spring;
    if (spring->stiffness > 0) widest = fmax(widest, fmax(2 * spring->coat, COAT * edge));
  }
  return widest;
}

typedef struct {
  tbVec3 at, drift; // at the start; and the velocity it is known to have
} Side;

static Side side_of(const tbWorld* w, const tbSurfaces* s, const tbSurfaceContact* c, int side, double h)
{
  Side out = {tb_zero3(), tb_zero3()};
  if (side == 0 &&
      c->of.kind == TB_SURFACE_PLANE_VERTEX) { // under the vertex, and as fast as the plane comes
    const tbMovingPlane* p = &s->plane[c->of.surface_a];
    tbVec3 x = s->surface[c->of.surface_b].start[c->vertex_b[0]];
    double height = tb_dot3(p->normal[0], x) - p->offset[0];
    const tbBody* b = &tb_bodies(w)[p->body];
    out.at = tb_madd3(x, -height, p->normal[0]);
    if (b->motion == TB_BODY_KINEMATIC) {
      tbTransform now = tb_motion_at(w, b, w->time), then = tb_motion_at(w, b, w->time + h);
      tbVec3 moved = tb_transform_point(then, tb_transform_unpoint(now, out.at));
      out.drift = tb_scale3(1 / h, tb_sub3(moved, out.at));
    }
    return out;
  }
  const tbMovingSurface* m = &s->surface[side ? c->of.surface_b : c->of.surface_a];
  const int* vertex = side ? c->vertex_b : c->vertex_a;
  const double* weight = side ? c->weight_b : c->weight_a;
  for (int k = 0; k < (side ? c->count_b : c->count_a); k++) {
    tbVec3 x = m->start[vertex[k]];
    out.at = tb_madd3(out.at, weight[k], x);
    if (m->fixed) out.drift = tb_madd3(out.drift, weight[k] / h, tb_sub3(m->end[vertex[k]], x));
  }
  return out;
}

double tb_soft_contact_bias(double slack, double keep, double edge, double h)
{
  double back = GIVE * fmin(fmax(keep, -slack), edge) / fmax(h, UNHURRIED);
  return fmax(slack / h, -back);
}

// Friction sees motion from the first moment of impact on (Verschoor and Jalba 2019, §3.2: c_t): what the two
// had moved against each other by then is no sliding. Sticking contacts end the step where they met.
static void slide_from_impact(const tbSoftContact* p, tbVec3 plane_drift, double h, tbContactConstraint* t)
{
  tbVec3 before = tb_madd3(p->slid, -p->met * h, plane_drift);
  for (int k = 1; k < t->rows && k < 3; k++)
    t->bias[k] -= tb_constraint_stretch(t, k) * tb_dot3(tb_mat3_row(t->frame, k), before) / h;
}

void tb_soft_contact_give_way(tbContactSpring spring, double slack, double h, tbContactConstraint* t)
{
  if (!(spring.stiffness > 0)) return;
  tbSoftRow soft = tb_soft_row(h, spring.stiffness, spring.damping, slack - spring.coat);
  t->bias[0] = slack > spring.coat ? (slack - spring.coat) / h : soft.bias;
  t->compliance[0] = soft.compliance;
}

// The distance kept after so many misses; of a contact with a spring the first one is the spring's.
static double distance_kept(tbSoftContactDistance apart, bool springs, int misses)
{
  misses -= springs && misses > 0;
  return apart.radius + ldexp(apart.clearance, misses < MOST ? misses : MOST);
}

int tb_soft_contact_next_miss(const tbWorld* w, const tbSurfaces* s, const tbSoftContact* p,
                              tbSoftContactMet how)
{
  int next = p->misses + 1;
  tbSoftContactDistance apart = tb_soft_contact_distance(s, &p->contact, how.clearance);
  bool springs = tb_soft_contact_spring(w, s, &p->contact).stiffness > 0;
  if (!(how.slip > 0) || (springs && next == 1)) return next; // a spring gives way to a rigid row at once
  double edge = tb_soft_contact_edge(s, &p->contact.of), gap = p->contact.gap, asked[2];
  for (; next < MOST; next++) {
    for (int i = 0; i < 2; i++) {
      double keep = distance_kept(apart, springs, i ? next : p->misses);
      asked[i] = tb_soft_contact_bias(gap - keep, keep, edge, how.h);
    }
    if (asked[0] - asked[1] > how.slip) break;
  }
  return next;
}

static tbContactConstraint touch_of(const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s,
                                    const tbSoftContact* p, double clearance)
{
  double h = o->dt;
  const tbSurfaceContact* c = &p->contact;
  Side a = side_of(w, s, c, 0, h), b = side_of(w, s, c, 1, h);
  int round = tb_soft_contact_round_side(w, s, &c->of);
  if (round >= 0) *(round ? &b.at : &a.at) = p->at;
  tbContactConstraint t = {.shape_a = tb_surfaces_shape(s, &c->of, 0),
                           .shape_b = tb_surfaces_shape(s, &c->of, 1),
                           .body_a = tb_surfaces_body(s, &c->of, 0),
                           .body_b = tb_surfaces_body(s, &c->of, 1),
                           .point = {a.at, b.at, c->normal, c->gap, tb_soft_contact_name(&c->of)},
                           .position = tb_scale3(0.5, tb_add3(a.at, b.at)),
                           .impact = -1,
                           .surface = c,
                           .rest = s->rest,
                           .drift = tb_sub3(b.drift, a.drift)};
  tb_constraint_law(w, &t);
  tb_friction_rows(w, o, &t);
  tbSoftContactDistance apart = tb_soft_contact_distance(s, c, clearance);
  tbContactSpring spring = tb_soft_contact_spring(w, s, c);
  double keep = distance_kept(apart, spring.stiffness > 0, p->misses);
  t.bias[0] = tb_soft_contact_bias(c->gap - keep, keep, tb_soft_contact_edge(s, &c->of), h);
  if (p->anew) t.bias[0] = (c->gap - keep) / h; // no overlap to be won back
  if (p->misses == 0) tb_soft_contact_give_way(spring, c->gap - keep, h, &t);
  bool plane = c->of.kind == TB_SURFACE_PLANE_VERTEX;
  slide_from_impact(p, plane ? a.drift : tb_zero3(), h, &t);
  t.guess[0] = p->push;
  for (int k = 1; k < t.rows && k < 3; k++) {
    double stretch = tb_constraint_stretch(&t, k);
    t.guess[k] = stretch > 0 ? tb_dot3(p->drag, tb_mat3_row(t.frame, k)) / stretch : 0;
  }
  for (int k = 3; k < t.rows; k++) t.guess[k] = p->torque[k - 3];
  return t;
}

tbStatus tb_soft_contact_constraints(tbContext* ctx, const tbWorld* w, const tbStepOptions* o,
                                     const tbSurfaces* s, double clearance, const tbArray* soft_contacts,
                                     tbArray* constraints)
{
  size_t first = constraints->count;
  TB_TRY(tb_array_push(ctx, constraints, NULL, soft_contacts->count));
  for (size_t i = 0; i < soft_contacts->count; i++)
    ((tbContactConstraint*)constraints->data)[first + i] =
        touch_of(w, o, s, (const tbSoftContact*)soft_contacts->data + i, clearance);
  return TB_OK;
}
