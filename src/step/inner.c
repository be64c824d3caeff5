// SPDX-License-Identifier: Apache-2.0
// What a step's contacts hold are points. A fast box that comes down on a corner is stopped at the corner,
// and turns: its velocity at the corner is right, but its centre flies on, and by the end of the step it may
// have turned its way through a thin plate. So the inner sphere of a fast body, a ball about its centre of
// mass that fits well inside and is never part of a contact, is swept once more with the velocities after the
// contacts. Where it would meet a body that this step touches it becomes a contact itself, without friction,
// and the problem is solved again: what is published is still a solution of one contact problem.
//
// Should the sphere meet something even so, as it may when the solver was stopped on its way, the body loses
// the rest of the step: it stands there, halfway in at most and on the right side, with the velocities it
// has. The report says how many bodies did, and how far they did not go.
//
// An inner sphere that something is in already has a smaller one, a tenth of its size, and that one another.
// A body whose smallest one is in something when the step begins is left to its contacts. It must not be
// stopped: it would be every step from then on, and hang where it is while its velocity grows.
//
// Limits    the inner sphere of a body whose centre of mass is outside its shapes (a ring) is nothing. Bodies
//           with joints are not held: the joints would be torn.
#include "step/inner.h"

#include "collide/advance.h"
#include "collide/contact.h"
#include "geometry/convex.h"
#include "geometry/mesh.h"

#include <string.h>

enum { SPHERES = 3 };
static const double SMALLER = 0.1; // every sphere as a share of the one before
static const double NEAR = 0.1;    // of its radius: how near a sphere comes before it counts as meeting,
static const double KEPT = 0.15;   // and how far away a contact keeps it

// How deep a point of the shape's frame lies inside; not positive: outside.
static double depth_inside(const tbShape* s, tbVec3 p)
{
  double rho = sqrt(p.x * p.x + p.y * p.y), z = fabs(p.z), depth = INFINITY;
  switch (s->type) {
  case TB_SHAPE_SPHERE: return s->sphere.radius - tb_norm3(p);
  case TB_SHAPE_BOX:
    return fmin(s->box.half.x - fabs(p.x), fmin(s->box.half.y - fabs(p.y), s->box.half.z - z));
  case TB_SHAPE_CAPSULE: z = fmax(z - s->capsule.half, 0); return s->capsule.radius - sqrt(rho * rho + z * z);
  case TB_SHAPE_CYLINDER: return fmin(s->cylinder.radius - rho, s->cylinder.half - z);
  case TB_SHAPE_CONVEX:
    for (int f = 0; f < tb_core_face_count(s); f++) {
      double offset;
      tbVec3 n = tb_core_face_normal(s, f, &offset);
      depth = fmin(depth, offset - tb_dot3(n, p));
    }
    return depth;
  case TB_SHAPE_MESH: return tb_mesh_is_solid(s->mesh) ? -tb_mesh_signed_distance(s->mesh, p, NULL) : 0;
  default: return 0;
  }
}

static double inner_radius(const tbWorld* w, const tbBody* b)
{
  double depth = 0;
  for (int i = 0; i < b->nshape; i++) {
    const tbShape* s = &tb_shapes(w)[b->shape + i];
    depth = fmax(depth, depth_inside(s, tb_transform_unpoint(s->pose, b->centre)));
  }
  return 0.5 * depth;
}

static tbSweep sweep_after(const tbWorld* w, const tbStepWork* work, int body)
{
  const tbUnconstrained* f = &work->unconstrained[body];
  tbBody b = tb_bodies(w)[body];
  b.x = f->at.x, b.q = f->at.q;
  tbSweep sweep = {.start = tb_body_pose(&b), .centre = f->at.x};
  tb_assembly_velocity(&work->assembly, work->unconstrained, body, &sweep.v, &sweep.w);
  return sweep;
}

// An inner sphere on its way into a shape of another body.
typedef struct {
  tbSweep body, other;
  tbShape sphere;
  double radius;
  double rest, t; // time left to the body, and when the sphere comes near
} Meeting;

// Whether a body's inner sphere comes near a shape of another body within the step.
static bool meets(const tbWorld* w, const tbStepOptions* o, const tbStepWork* work, int body, int other,
                  const tbShape* shape, Meeting* m)
{
  const tbBody* b = &tb_bodies(w)[body];
  const tbUnconstrained* f = &work->unconstrained[body];
  if (b->motion != TB_BODY_DYNAMIC || f->held) return false;
  m->rest = f->struck >= 0 ? o->dt - f->struck : o->dt;
  m->body = sweep_after(w, work, body), m->other = sweep_after(w, work, other);
  double turns = tb_norm3(m->other.w) > 0 ? tb_norm3(m->other.w) * b->radius : 0;
  double way = m->rest * (tb_distance3(m->body.v, m->other.v) + turns);
  if (!(way > 0.05 * b->radius)) return false; // most bodies are slow: spare them the rest
  m->radius = inner_radius(w, b);
  if (!(m->radius > 0) || !(way > m->radius)) return false;
  m->body.w = tb_zero3();
  m->sphere = tb_shape_sphere(m->radius);
  m->sphere.pose.x = b->centre;
  if (!tb_can_sweep(&m->sphere, shape)) return false;
  m->t = tb_time_of_impact(&m->sphere, &m->body, shape, &m->other, m->rest, NEAR * m->radius);
  return m->t < m->rest;
}

// The next smaller sphere.
static void shrink(const tbShape* shape, Meeting* m)
{
  m->radius *= SMALLER, m->sphere.sphere.radius = m->radius;
  m->t = tb_time_of_impact(&m->sphere, &m->body, shape, &m->other, m->rest, NEAR * m->radius);
}

// The contact of a sphere with the shape where they meet, which keeps it a little away. Its gap is brought
// back to the start of the step, and its impulse acts on the line through the centre of mass, so that it does
// not turn the body. False: the sphere is in the shape, or the velocities are such as the contact asks for.
static bool contact_of(const Meeting* m, const tbContactConstraint* pair, bool second,
                       const tbContactPoint* p, tbContactConstraint* out)
{
  tbVec3 n = p->normal, va = second ? m->other.v : m->body.v, vb = second ? m->body.v : m->other.v;
  double u = tb_dot3(n, tb_sub3(vb, va)), gap = p->gap - fmin(m->t * u, 0), room = gap - KEPT * m->radius;
  if (!(p->gap > 0) || fmax(room, 0) + m->rest * u > -0.1 * NEAR * m->radius) return false;
  *out = (tbContactConstraint){.shape_a = pair->shape_a,
                               .shape_b = pair->shape_b,
                               .body_a = pair->body_a,
                               .body_b = pair->body_b,
                               .contact_material = pair->contact_material,
                               .law = TB_LAW_NONNEG,
                               .rows = 1,
                               .impact = -1,
                               .frame = tb_mat3_frame(n)};
  out->point = (tbContactPoint){.a = tb_madd3(p->a, -m->t, va),
                                .b = tb_madd3(p->b, -m->t, vb),
                                .normal = n,
                                .gap = gap,
                                .feature = UINT64_MAX - 1};
  out->position = second ? out->point.b : out->point.a;
  out->bias[0] = fmax(room, 0) / m->rest;
  return true;
}

// Adds the contact of one body's inner sphere with the shape of the other that the constraint is about.
static tbStatus add_contact(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, const tbStepWork* work,
                            const tbContactConstraint* pair, bool second, tbArray* points, tbArray* out)
{
  int body = second ? pair->body_b : pair->body_a, other = second ? pair->body_a : pair->body_b;
  const tbShape* shape = &tb_shapes(w)[second ? pair->shape_a : pair->shape_b];
  Meeting m;
  if (!meets(w, o, work, body, other, shape, &m)) return TB_OK;
  for (int k = 0; k < SPHERES && m.t < m.rest; k++, shrink(shape, &m)) {
    tbTransform T = tb_sweep_at(&m.body, m.t), S = tb_sweep_at(&m.other, m.t);
    double reach = 2 * NEAR * m.radius;
    points->count = 0;
    if (second) TB_TRY(tb_collide(ctx, shape, S, &m.sphere, T, reach, points));
    else TB_TRY(tb_collide(ctx, &m.sphere, T, shape, S, reach, points));
    const tbContactPoint *p = points->data, *nearest = p;
    for (size_t i = 1; i < points->count; i++)
      if (p[i].gap < nearest->gap) nearest = &p[i];
    tbContactConstraint constraint;
    if (points->count == 0 || !contact_of(&m, pair, second, nearest, &constraint)) continue;
    return tb_array_push(ctx, out, &constraint, 1);
  }
  return TB_OK;
}

static bool same_pair(const tbContactConstraint* a, const tbContactConstraint* b)
{
  return a->shape_a == b->shape_a && a->shape_b == b->shape_b;
}

tbStatus tb_inner_contacts(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                           int* added)
{
  const tbContactConstraint* t = work->constraints.data;
  const tbAssembly* a = &work->assembly;
  int count = 0;
  while (count < (int)work->constraints.count && !t[count].surface) count++;
  tbArray all = TB_ARRAY(tbContactConstraint), points = TB_ARRAY(tbContactPoint);
  tbStatus status = TB_OK;
  *added = 0;
  for (int i = 0; i < count && status == TB_OK; i++) {
    tbContactConstraint known = t[i];
    memcpy(known.guess, a->lambda + a->problem->row_adr[i], (size_t)known.rows * sizeof(double));
    status = tb_array_push(ctx, &all, &known, 1);
    if (i + 1 < count && same_pair(&t[i], &t[i + 1])) continue;
    size_t before = all.count;
    if (status == TB_OK) status = add_contact(ctx, w, o, work, &t[i], false, &points, &all);
    if (status == TB_OK) status = add_contact(ctx, w, o, work, &t[i], true, &points, &all);
    *added += (int)(all.count - before);
  }
  if (status == TB_OK && *added > 0) {
    tbArray old = work->constraints;
    work->constraints = all, all = old;
  }
  tb_array_free(ctx, &all);
  tb_array_free(ctx, &points);
  return status;
}

// The time that a body loses against one shape of another.
static void stop(const tbWorld* w, const tbStepOptions* o, tbStepWork* work, int body, int other,
                 const tbShape* shape)
{
  Meeting m;
  if (!meets(w, o, work, body, other, shape, &m)) return;
  for (int k = 1; k < SPHERES && m.t == 0; k++) shrink(shape, &m);
  if (m.t > 0 && m.t < m.rest)
    work->unconstrained[body].lost = fmax(work->unconstrained[body].lost, m.rest - m.t);
}

void tb_stop_short(const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  const tbContactConstraint* t = work->constraints.data;
  for (int i = 0; i < (int)work->constraints.count; i++) {
    if (t[i].surface) continue; // surfaces that do not pass through each other anyway
    if (i > 0 && same_pair(&t[i], &t[i - 1])) continue;
    stop(w, o, work, t[i].body_a, t[i].body_b, &tb_shapes(w)[t[i].shape_b]);
    stop(w, o, work, t[i].body_b, t[i].body_a, &tb_shapes(w)[t[i].shape_a]);
  }
}
