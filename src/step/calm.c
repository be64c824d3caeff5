// Kane's paradox: where friction reverses or stops the slip of an oblique impact, u_n⁺ = −e u_n⁻ may take
// more energy than the bodies had (Kane and Levinson 1985). Without restitution impulses only take: with u⁺ =
// J v⁺,
//
//   T(v⁺) − T(v) = λᵀu⁺ − ½ λᵀWλ ≤ 0.
//
// Both impulses lie in the friction cones, which are convex, and so does λ(θ) = (1−θ) λ_e + θ λ_0; nothing
// approaches faster for it. T is a convex parabola in θ with T(0) > T_before ≥ T(1): the smallest θ that
// gains nothing is the smaller root.
//
// Cost    a sum over the bodies; a second problem when there is something to calm, which is rare.
#include "step/calm.h"

typedef struct {
  double before, after;    // kinetic energy of a group
  double slope, curvature; // of its energy along θ: 2 T = 2 T(0) + 2 slope θ + curvature θ²
  bool driven;             // a moving obstacle does work on it
} Group;

static int find(int* parent, int i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void join(int* parent, const int* dof, int a, int b)
{
  if (a < 0 || b < 0 || dof[a] < 0 || dof[b] < 0) return;
  a = find(parent, a), b = find(parent, b);
  if (a < b) parent[b] = a;
  else parent[a] = b;
}

static double product(const tbBody* b, tbQuat q, const double v[6], const double u[6])
{
  tbVec3 w = tb_quat_unrotate(q, tb_load3(v + 3)), x = tb_quat_unrotate(q, tb_load3(u + 3));
  return b->mass * tb_dot3(tb_load3(v), tb_load3(u)) + tb_dot3(w, tb_mat3_mulv(b->inertia, x));
}

static void driven_by(const tbWorld* w, const tbFree* free, Group* group, int* parent, int driver, int body)
{
  if (driver < 0 || body < 0 || tb_bodies(w)[driver].kind != TB_BODY_KINEMATIC) return;
  if (tb_norm3(free[driver].v) + tb_norm3(free[driver].w) > 0) group[find(parent, body)].driven = true;
}

// Which bodies make a group, and its energies. Returns whether any group gains.
static bool measure(const tbWorld* w, const tbFree* before, const tbTransform* centre, const tbAssembly* a,
                    int* parent, Group* group)
{
  bool any = false;
  for (size_t i = 0; i < w->body.count; i++) parent[i] = (int)i;
  for (int k = 0; k < a->ntouch; k++) join(parent, a->dof, a->touch[k].body_a, a->touch[k].body_b);
  for (size_t k = 0; k < w->joint.count; k++)
    join(parent, a->dof, tb_joints(w)[k].def.a.index, tb_joints(w)[k].def.b.index);
  for (int k = 0; k < a->ntouch; k++) {
    driven_by(w, before, group, parent, a->touch[k].body_a, a->touch[k].body_b);
    driven_by(w, before, group, parent, a->touch[k].body_b, a->touch[k].body_a);
  }
  for (size_t i = 0; i < w->body.count; i++) {
    if (a->dof[i] < 0 || tb_bodies(w)[i].deformable >= 0) continue;
    const double* v = a->v + a->dof[i];
    double v0[6];
    tb_store3(v0, before[i].v), tb_store3(v0 + 3, before[i].w);
    Group* g = &group[find(parent, (int)i)];
    g->before += 0.5 * product(&tb_bodies(w)[i], centre[i].q, v0, v0);
    g->after += 0.5 * product(&tb_bodies(w)[i], centre[i].q, v, v);
  }
  for (size_t i = 0; i < w->body.count; i++) {
    if (group[i].driven) group[i].after = group[i].before;
    any |= group[i].after > group[i].before * (1 + 1e-12);
  }
  return any;
}

static double share(const Group* g)
{
  double c = g->after - g->before;
  if (!(c > 0)) return 0;
  double d = g->slope * g->slope - 2 * g->curvature * c, b = -g->slope + sqrt(fmax(d, 0));
  return b > 0 ? fmin(2 * c / b, 1) : 1;
}

static void mix(const tbWorld* w, const tbTransform* centre, const tbAssembly* plastic, int* parent,
                Group* group, tbAssembly* a)
{
  for (size_t i = 0; i < w->body.count; i++) {
    if (a->dof[i] < 0 || tb_bodies(w)[i].deformable >= 0) continue;
    const double *v = a->v + a->dof[i], *u = plastic->v + plastic->dof[i];
    double d[6];
    for (int k = 0; k < 6; k++) d[k] = u[k] - v[k];
    Group* g = &group[find(parent, (int)i)];
    g->slope += product(&tb_bodies(w)[i], centre[i].q, v, d);
    g->curvature += product(&tb_bodies(w)[i], centre[i].q, d, d);
  }
  for (size_t i = 0; i < w->body.count; i++) {
    if (a->dof[i] < 0 || tb_bodies(w)[i].deformable >= 0) continue;
    double s = share(&group[find(parent, (int)i)]);
    for (int k = a->dof[i]; k < a->dof[i] + 6; k++) a->v[k] += s * (plastic->v[k] - a->v[k]);
  }
  for (int k = 0; k < a->ntouch; k++) {
    int body = a->dof[a->touch[k].body_a] >= 0 ? a->touch[k].body_a : a->touch[k].body_b;
    double s = share(&group[find(parent, body)]);
    for (int r = a->problem->row_adr[k]; r < a->problem->row_adr[k + 1]; r++)
      a->lambda[r] += s * (plastic->lambda[r] - a->lambda[r]);
  }
}

tbStatus tb_calm_impacts(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                         const tbFree* before, const tbTransform* centre, tbTouch* touches, int count,
                         tbAssembly* a)
{
  int* parent = TB_TAKE(arena, int, w->body.count);
  Group* group = TB_TAKE(arena, Group, w->body.count);
  if (!parent || !group) return TB_ERROR_MEMORY;
  if (!measure(w, before, centre, a, parent, group)) return TB_OK;
  for (int k = 0; k < count; k++) touches[k].bias[0] = fmax(touches[k].bias[0], 0);
  tbAssembly plastic;
  tbSolveResult result;
  TB_TRY(tb_assemble(ctx, arena, w, o, true, before, centre, NULL, touches, count, &plastic));
  tbStatus status = tb_solve(ctx, plastic.problem, &o->solver, plastic.lambda, &result);
  if (status == TB_OK) status = tb_assembly_judge(ctx, o, NULL, &plastic);
  if (status == TB_OK) mix(w, centre, &plastic, parent, group, a);
  tb_assembly_free(&plastic);
  return status;
}
