// SPDX-License-Identifier: Apache-2.0
// Kane's paradox: where friction reverses or stops the slip of an oblique impact, u_n⁺ = −e u_n⁻ may take
// more energy than the bodies had (Kane and Levinson 1985). Without restitution impulses only take: with u⁺ =
// J v⁺,
//
//   T(v⁺) − T(v) = λᵀu⁺ − ½ λᵀWλ ≤ 0.
//
// So a group of bodies that would gain is solved again with the restitution s e, where the share s lies
// between 0, which gains nothing, and 1, which does. Regula falsi narrows that interval from both sides, and
// the share taken is one that was solved for and gained nothing: the velocities are a solution of the contact
// law at that restitution, and the judge has seen them.
//
// Cost    a sum over the bodies; three to ten more problems when a group gains, which is rare.
#include "step/impact_energy.h"

#include "step/count.h"

enum { TRIES = 12 };
static const double ROUNDING = 1e-12; // of the energy: gains below it are none
static const double CLOSE = 1e-3;     // of the energy, and of the share: closer need no share be

typedef struct {
  double before, after; // kinetic energy
  bool driven;          // a moving obstacle does work on it
  bool gains;           // with all of its restitution
  bool settled;         // its share is `safe`
  double share;         // of its restitution, in the problem at hand
  double safe, loss;    // the largest share known to gain nothing, and what is lost with it
  double unsafe, gain;  // the smallest share known to gain, and how much
  int moved;            // which end moved last: −1 safe, 1 unsafe
} Group;

typedef struct {
  tbContext* ctx;
  tbArena* arena;
  const tbWorld* world;
  const tbStepOptions* options;
  double begun;
  const tbUnconstrained* before;
  const tbTransform* centre;
  tbContactConstraint* constraint;
  int count;
  double* bias; // of every constraint with all of its restitution
  int* parent;  // of a body, in the forest of groups
  Group* group; // of a body that is the root of its tree
  tbSolveResult result;
} Impacts;

static int find(int* parent, int i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static bool takes_part(const tbAssembly* a, int body) { return body >= 0 && a->place[body].dof >= 0; }

static void join(int* parent, const tbAssembly* a, int x, int y)
{
  if (!takes_part(a, x) || !takes_part(a, y)) return;
  x = find(parent, x), y = find(parent, y);
  if (x < y) parent[y] = x;
  else parent[x] = y;
}

static double kinetic(const tbBody* b, tbQuat q, tbVec3 v, tbVec3 w)
{
  tbVec3 own = tb_quat_unrotate(q, w);
  return 0.5 * (b->mass * tb_dot3(v, v) + tb_dot3(own, tb_mat3_mulv(b->inertia, own)));
}

static void driven_by(const Impacts* p, int driver, int body)
{
  if (tb_bodies(p->world)[driver].motion != TB_BODY_KINEMATIC) return;
  const tbUnconstrained* f = &p->before[driver];
  if (tb_norm3(f->v) + tb_norm3(f->w) > 0) p->group[find(p->parent, body)].driven = true;
}

// Which bodies make a group: those that touch each other, or that a joint holds together.
static void find_groups(const Impacts* p, const tbAssembly* a)
{
  const tbWorld* w = p->world;
  for (size_t i = 0; i < w->body.count; i++) p->parent[i] = (int)i, p->group[i] = (Group){.share = 1};
  for (int k = 0; k < p->count; k++) join(p->parent, a, p->constraint[k].body_a, p->constraint[k].body_b);
  for (size_t k = 0; k < w->joint.count; k++) join(p->parent, a, tb_joints(w)[k].a, tb_joints(w)[k].b);
  for (int k = 0; k < p->count; k++) {
    driven_by(p, p->constraint[k].body_a, p->constraint[k].body_b);
    driven_by(p, p->constraint[k].body_b, p->constraint[k].body_a);
  }
}

// Energy of a joint's rotor, before and after.
static void measure_rotor(const Impacts* p, const tbAssembly* a, const tbJoint* j)
{
  int body[2] = {j->a, j->b}, of = takes_part(a, j->a) ? j->a : j->b;
  tbVec3 v[2][2] = {{{0}}}, spin[2][2] = {{{0}}}; // before and after, of a and b
  if (!(j->def.armature > 0) || !takes_part(a, of)) return;
  for (int side = 0; side < 2; side++) {
    int i = body[side];
    if (i < 0) continue;
    v[0][side] = v[1][side] = p->before[i].v, spin[0][side] = spin[1][side] = p->before[i].w;
    if (takes_part(a, i)) tb_assembly_velocity(a, p->before, i, &v[1][side], &spin[1][side]);
  }
  tbJointPlace place = tb_joint_placed(p->world, p->centre, j);
  double before = tb_joint_rate(j, &place, v[0], spin[0]), after = tb_joint_rate(j, &place, v[1], spin[1]);
  Group* g = &p->group[find(p->parent, of)];
  g->before += 0.5 * j->def.armature * before * before;
  g->after += 0.5 * j->def.armature * after * after;
}

static void measure_energies(const Impacts* p, const tbAssembly* a)
{
  const tbWorld* w = p->world;
  for (size_t i = 0; i < w->body.count; i++) p->group[i].before = p->group[i].after = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    if (!takes_part(a, (int)i)) continue;
    tbVec3 v, spin;
    tb_assembly_velocity(a, p->before, (int)i, &v, &spin);
    const tbBody* b = &tb_bodies(w)[i];
    Group* g = &p->group[find(p->parent, (int)i)];
    g->before += kinetic(b, p->centre[i].q, p->before[i].v, p->before[i].w);
    g->after += kinetic(b, p->centre[i].q, v, spin);
  }
  for (size_t k = 0; k < w->joint.count; k++) measure_rotor(p, a, &tb_joints(w)[k]);
}

static bool gained(const Group* g) { return !g->driven && g->after > g->before * (1 + ROUNDING); }

static Group* group_of(const Impacts* p, const tbAssembly* a, int constraint)
{
  const tbContactConstraint* t = &p->constraint[constraint];
  return &p->group[find(p->parent, takes_part(a, t->body_a) ? t->body_a : t->body_b)];
}

// Solves the problem with every group's share of its restitution. `a`: the last one, freed.
static tbStatus solve(Impacts* p, tbAssembly* a, tbStepReport* report)
{
  if (a->problem)
    for (int k = 0; k < p->count; k++)
      p->constraint[k].bias[0] = p->bias[k] < 0 ? group_of(p, a, k)->share * p->bias[k] : p->bias[k];
  tb_assembly_free(a);
  TB_TRY(tb_assemble(p->ctx, p->arena, p->world, p->options, TB_ASSEMBLE_IMPACT, p->before, p->centre, NULL,
                     p->constraint, p->count, a));
  tbSolveOptions solver = p->options->solver;
  tb_step_budget(p->options, p->begun, &solver);
  tbStatus status =
      tb_step_answer(p->ctx, p->world->cache, a->problem, &solver, a->lambda, NULL, &p->result, NULL);
  if (status == TB_OK) status = tb_assembly_judge(p->ctx, p->options, NULL, a);
  if (status == TB_OK) report->iterations += p->result.iterations;
  if (status != TB_OK) tb_assembly_free(a);
  return status;
}

// What a problem that was solved says of a group.
static void learn(Group* g)
{
  double gain = g->after - g->before;
  if (gained(g)) {
    if (g->moved > 0)
      g->loss *= 0.5; // Illinois: the other end has stood, so the next share goes nearer to it
    g->unsafe = g->share, g->gain = gain, g->moved = 1;
  } else {
    if (g->moved < 0) g->gain *= 0.5;
    g->safe = g->share, g->loss = fmax(-gain, 0), g->moved = -1;
    g->settled = g->loss <= CLOSE * g->before;
  }
  g->settled |= g->unsafe - g->safe <= CLOSE; // also at share 0, should a solver that was stopped gain there
}

static double next_share(const Group* g)
{
  if (g->settled) return g->safe;
  double sum = g->loss + g->gain, part = sum > 0 ? g->loss / sum : 0.5;
  return g->safe + fmin(fmax(part, 0.05), 0.95) * (g->unsafe - g->safe);
}

// Groups that gain, each with about the largest share of its restitution that gains nothing.
static tbStatus limit(Impacts* p, tbAssembly* a, tbStepReport* report)
{
  size_t n = p->world->body.count;
  for (size_t i = 0; i < n; i++) {
    Group* g = &p->group[i];
    if (!(g->gains = gained(g))) continue;
    g->unsafe = 1, g->gain = g->after - g->before, g->share = 0;
  }
  for (int k = 0, open = 1; open; k++) {
    TB_TRY(solve(p, a, report));
    measure_energies(p, a);
    open = 0;
    for (size_t i = 0; i < n; i++) {
      Group* g = &p->group[i];
      if (!g->gains) continue;
      if (!g->settled) learn(g);
      if (k >= TRIES) g->settled = true;
      double share = next_share(g);
      open |= share != g->share;
      g->share = share;
    }
  }
  return TB_OK;
}

static void note_damping(const Impacts* p, const tbAssembly* a, tbStepReport* report)
{
  for (int k = 0; k < p->count; k++) {
    double taken = p->bias[k] < 0 ? 1 - group_of(p, a, k)->share : 0;
    if (taken > 0) report->changes.damped++;
    report->changes.damping = fmax(report->changes.damping, taken);
  }
}

tbStatus tb_solve_impacts(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                          double begun, const tbUnconstrained* before, const tbTransform* centre,
                          tbContactConstraint* constraints, int count, tbAssembly* out, tbStepReport* report)
{
  Impacts p = {.ctx = ctx,
               .arena = arena,
               .world = w,
               .options = o,
               .begun = begun,
               .before = before,
               .centre = centre,
               .constraint = constraints,
               .count = count,
               .bias = TB_TAKE(arena, double, (size_t)count),
               .parent = TB_TAKE(arena, int, w->body.count),
               .group = TB_TAKE(arena, Group, w->body.count)};
  *out = (tbAssembly){0};
  if (!p.bias || !p.parent || !p.group) return TB_ERROR_MEMORY;
  for (int k = 0; k < count; k++) p.bias[k] = constraints[k].bias[0];
  TB_TRY(solve(&p, out, report));
  find_groups(&p, out);
  measure_energies(&p, out);
  bool any = false;
  for (size_t i = 0; i < w->body.count; i++) any |= gained(&p.group[i]);
  if (any) TB_TRY(limit(&p, out, report));
  note_damping(&p, out, report);
  tb_count_solve(o, &p.result, out, report);
  return TB_OK;
}
