// What a step's contacts hold are points. A fast box that comes down on a corner is stopped at the corner,
// and turns: its velocity at the corner is right, but its centre flies on, and by the end of the step it may
// have turned its way through a thin plate. So the heart of a fast body, a ball about its centre of mass that
// fits well inside and is never part of a contact, is swept once more with the velocities after the contacts.
// Where it would meet a body that this step touches, the body loses the rest of the step: it stands there,
// halfway in at most and on the right side, with the velocities it has, and the next step sees the contact.
//
// Limits    the heart of a body whose centre of mass is outside its shapes (a ring) is nothing. Bodies with
//           joints are not halted: the joints would be torn.
#include "step/halt.h"

#include "collide/advance.h"
#include "geometry/convex.h"
#include "geometry/mesh.h"

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

static double heart_of(const tbWorld* w, const tbBody* b)
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
  const tbFree* f = &work->free[body];
  tbBody b = tb_bodies(w)[body];
  b.x = f->at.x, b.q = f->at.q;
  tbSweep sweep = {.start = tb_body_pose(&b), .centre = f->at.x};
  tb_assembly_velocity(&work->assembly, work->free, body, &sweep.v, &sweep.w);
  return sweep;
}

// The time that a body loses against one shape of another.
static void halt(const tbWorld* w, const tbStepOptions* o, tbStepWork* work, int body, int other,
                 const tbShape* shape)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbFree* f = &work->free[body];
  if (b->kind != TB_BODY_DYNAMIC || f->held) return;
  double rest = f->struck >= 0 ? o->dt - f->struck : o->dt;
  tbSweep sa = sweep_after(w, work, body), sb = sweep_after(w, work, other);
  double way = rest * (tb_distance3(sa.v, sb.v) + (tb_norm3(sb.w) > 0 ? tb_norm3(sb.w) * b->radius : 0));
  if (!(way > 0.05 * b->radius)) return; // most bodies are slow: spare them the rest
  double heart = heart_of(w, b);
  if (!(heart > 0) || !(way > heart)) return;
  double t = 0;
  for (int k = 0; t == 0 && k < 3; k++, heart *= 0.1) { // a heart that is touched already has a smaller one
    tbShape core = tb_shape_sphere(heart);
    core.pose.x = b->centre;
    if (!tb_can_sweep(&core, shape)) return;
    sa.w = tb_zero3();
    t = tb_time_of_impact(&core, &sa, shape, &sb, rest, 0.1 * heart);
  }
  if (t < rest) f->lost = fmax(f->lost, rest - t);
}

void tb_halt_bodies(const tbWorld* w, const tbStepOptions* o, tbStepWork* work)
{
  const tbTouch* t = work->touches.data;
  for (int i = 0; i < (int)work->touches.count; i++) {
    if (t[i].skin) continue; // surfaces that do not pass through each other anyway
    if (i > 0 && t[i].shape_a == t[i - 1].shape_a && t[i].shape_b == t[i - 1].shape_b) continue;
    halt(w, o, work, t[i].body_a, t[i].body_b, &tb_shapes(w)[t[i].shape_b]);
    halt(w, o, work, t[i].body_b, t[i].body_a, &tb_shapes(w)[t[i].shape_a]);
  }
}
