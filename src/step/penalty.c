// Penalty contact: springs and dampers (Cundall and Strack 1979; course, section on penalty methods).
//
//   f_n = max(0, −k φ − b u_n)             while φ < 0
//   f_T = −k ξ − b u_T, cut to μ f_n        ξ: how far the contact has slid since it began, held by an anchor
//   that
//                                          follows when friction gives way
//
// Explicit in the positions, so k is bounded by the step: without one given, k = m/(10 h²) with the mass m
// that the contact feels along its normal, shared among the points of the pair. The impulses h f are put to
// the same judge as every solver's: its number says how far springs are from the contact law. Joints stay
// rigid: their rows are solved with the contact forces known.
#include "step/count.h"

#include "base/clock.h"

#include <string.h>

typedef struct {
  const tbWorld* world;
  const tbStepOptions* options;
  const tbUnconstrained* unconstrained;
} Model;

// The inverse mass felt at the touch along d.
static double inverse_mass(const tbWorld* w, const tbContactConstraint* t, tbVec3 d)
{
  double sum = 0;
  int body[2] = {t->body_a, t->body_b};
  for (int side = 0; side < 2; side++) {
    const tbBody* b = &tb_bodies(w)[body[side]];
    if (b->kind != TB_BODY_DYNAMIC) continue;
    tbVec3 lever = tb_quat_unrotate(b->q, tb_cross3(tb_sub3(t->position, b->x), d));
    sum += 1 / b->mass + tb_dot3(lever, tb_mat3_mulv(b->inertia_inv, lever));
  }
  return sum;
}

// The anchor's stretch so far, from the last step's record at the same features.
static tbVec3 stretch_before(const tbWorld* w, const tbContactConstraint* t)
{
  const tbContactRecord* r = w->contact.data;
  size_t lo = 0, hi = w->contact.count;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    bool before =
        r[mid].shape_a < t->shape_a || (r[mid].shape_a == t->shape_a && r[mid].shape_b < t->shape_b);
    if (before) lo = mid + 1;
    else hi = mid;
  }
  for (; lo < w->contact.count && r[lo].shape_a == t->shape_a && r[lo].shape_b == t->shape_b; lo++)
    if (r[lo].feature == t->point.feature) return r[lo].anchor;
  return tb_zero3();
}

// The force of one contact in its frame; *stretch is brought up to date (world axes).
static tbVec3 force_at(const Model* m, const tbContactConstraint* t, int points, tbVec3* stretch)
{
  const tbStepOptions* o = m->options;
  const tbBody *a = &tb_bodies(m->world)[t->body_a], *b = &tb_bodies(m->world)[t->body_b];
  double h = o->dt, mass = 1 / inverse_mass(m->world, t, tb_mat3_row(t->frame, 0)) / points;
  double k = o->penalty_stiffness > 0 ? o->penalty_stiffness : 0.1 * mass / (h * h);
  double damping = 2 * o->penalty_damping * sqrt(k * mass);
  *stretch = tb_zero3();
  if (!(t->point.gap < 0)) return tb_zero3();
  tbVec3 u = tb_constraint_velocity(t, a->x, a->v, a->w, b->x, b->v, b->w);
  double fn = fmax(0, -k * t->point.gap - damping * u.x), mu = t->rows >= 3 ? t->param[0] : 0;
  tbVec3 T = tb_mat3_row(t->frame, 1), B = tb_mat3_row(t->frame, 2), old = stretch_before(m->world, t);
  double xt = tb_dot3(old, T) + h * u.y, xb = tb_dot3(old, B) + h * u.z;
  double ft = -k * xt - damping * u.y, fb = -k * xb - damping * u.z, size = sqrt(ft * ft + fb * fb);
  if (size > mu * fn) { // friction gives way: the anchor follows
    double s = size > 0 ? mu * fn / size : 0;
    ft *= s, fb *= s;
    xt = -(ft + damping * u.y) / k, xb = -(fb + damping * u.z) / k;
  }
  *stretch = tb_add3(tb_scale3(xt, T), tb_scale3(xb, B));
  return tb_vec3(fn, ft, fb);
}

static int points_of_pair(const tbContactConstraint* t, int count, int i)
{
  int n = 0;
  for (int k = i; k >= 0 && t[k].shape_a == t[i].shape_a && t[k].shape_b == t[i].shape_b; k--)
    n += t[k].point.gap < 0;
  for (int k = i + 1; k < count && t[k].shape_a == t[i].shape_a && t[k].shape_b == t[i].shape_b; k++)
    n += t[k].point.gap < 0;
  return n > 1 ? n : 1;
}

// Adds the contact impulses to the free velocities.
static void push_bodies(const tbWorld* w, const tbStepWork* work, tbUnconstrained* unconstrained)
{
  const tbAssembly* a = &work->assembly;
  for (int i = 0; i < a->nconstraint; i++) {
    const tbContactConstraint* t = &a->constraint[i];
    const double* lambda = a->lambda + a->problem->row_adr[i];
    tbVec3 local = tb_vec3(lambda[0], t->rows > 1 ? lambda[1] : 0, t->rows > 1 ? lambda[2] : 0);
    tbVec3 impulse = tb_mat3_tmulv(t->frame, local);
    for (int side = 0; side < 2; side++) {
      int k = side ? t->body_b : t->body_a;
      const tbBody* b = &tb_bodies(w)[k];
      if (b->kind != TB_BODY_DYNAMIC) continue;
      tbVec3 p = side ? impulse : tb_neg3(impulse);
      tbVec3 spin = tb_cross3(tb_sub3(t->position, work->centre[k].x), p);
      tbQuat q = work->centre[k].q;
      unconstrained[k].v = tb_madd3(unconstrained[k].v, 1 / b->mass, p);
      unconstrained[k].w = tb_add3(
          unconstrained[k].w, tb_quat_rotate(q, tb_mat3_mulv(b->inertia_inv, tb_quat_unrotate(q, spin))));
    }
  }
}

// Impulses of the joints, the contacts' being known.
static tbStatus solve_joints(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                             tbStepReport* report)
{
  tbAssembly* all = &work->assembly;
  if (all->problem->ncontact == all->nconstraint) return TB_OK;
  tbUnconstrained* unconstrained = TB_TAKE(work->arena, tbUnconstrained, w->body.count);
  if (!unconstrained) return TB_ERROR_MEMORY;
  memcpy(unconstrained, work->unconstrained, w->body.count * sizeof *unconstrained);
  push_bodies(w, work, unconstrained);
  tbAssembly joints;
  TB_TRY(tb_assemble(ctx, work->arena, w, o, false, unconstrained, work->centre, NULL, NULL, 0, &joints));
  tbSolveResult result;
  tbSolveOptions solver = o->solver;
  tb_step_budget(o, work->begun, &solver);
  tbStatus status = tb_solve(ctx, joints.problem, &solver, joints.lambda, &result);
  if (status == TB_OK)
    memcpy(all->lambda + all->problem->row_adr[all->nconstraint], joints.lambda,
           (size_t)joints.problem->nrow * sizeof(double));
  if (status == TB_OK && result.outcome != TB_CONVERGED) report->outcome = result.outcome;
  if (status == TB_OK) report->iterations += result.iterations;
  tb_assembly_free(&joints);
  return status;
}

tbStatus tb_penalty_step(tbContext* ctx, tbWorld* w, const tbStepOptions* o, tbStepReport* report)
{
  tbStepWork work = {0};
  tbStatus status = tb_semi_implicit_problem(ctx, &w->scratch, w, o, &work, report);
  int count = work.assembly.nconstraint;
  tbVec3* stretch = status == TB_OK ? TB_TAKE(&w->scratch, tbVec3, (size_t)count) : NULL;
  if (status == TB_OK && !stretch) status = TB_ERROR_MEMORY;
  if (status == TB_OK) {
    double clock = tb_seconds();
    Model model = {w, o, work.unconstrained};
    const tbContactConstraint* t = work.constraints.data;
    for (int i = 0; i < count; i++) {
      double* lambda = work.assembly.lambda + work.assembly.problem->row_adr[i];
      tbVec3 f = force_at(&model, &t[i], points_of_pair(t, count, i), &stretch[i]);
      for (int r = 0; r < t[i].rows; r++)
        lambda[r] = r == 0 ? o->dt * f.x : r == 1 ? o->dt * f.y : r == 2 ? o->dt * f.z : 0;
    }
    status = solve_joints(ctx, w, o, &work, report);
    tb_step_clock(report, TB_PHASE_SOLVE, &clock);
    if (status == TB_OK) status = tb_assembly_judge(ctx, o, NULL, &work.assembly);
    tb_step_clock(report, TB_PHASE_JUDGE, &clock);
  }
  if (status == TB_OK) status = tb_array_push(ctx, &work.records, NULL, (size_t)count);
  if (status == TB_OK) {
    double clock = tb_seconds();
    tbOutcome solved = report->outcome;
    tb_step_confirm(o, &work, report);
    if (solved == TB_CONVERGED && report->outcome != TB_CONVERGED) report->outcome = TB_MAX_ITERATIONS;
    report->residual = tb_worse_residual(&report->residual, &work.assembly.residual);
    report->used = "penalty";
    tb_integrate(ctx, o, work.unconstrained, &work.assembly, w, report);
    tb_step_keep(&work, w);
    for (int i = 0; i < count; i++) ((tbContactRecord*)w->contact.data)[i].anchor = stretch[i];
    tb_step_clock(report, TB_PHASE_INTEGRATE, &clock);
  }
  tb_step_end(ctx, &work);
  return status;
}
