// SPDX-License-Identifier: Apache-2.0
// The iterations of a projective step: elements project, contacts update their impulses, the factor gives all
// velocities (pd.c has the equations).
//
// Loops over nodes are cut into pieces whose sums are added up in order: the same bits for any number of
// threads. Contacts go one after the other.
#include "step/pd.h"

#include "base/clock.h"
#include "base/stop.h"
#include "base/threads.h"

#include <string.h>

static const double STILL = 1e-3; // of the tolerance: velocities that change by less have come to rest
static const double GROWTH = 2;   // steps that grow by more, squared, have momentum taken

enum { PIECE = 1024 }; // nodes

typedef tbPdChange Change;

// ---- what the step begins with ----

// Bodies that move freely as frames: what the iterations come to with them is the start of a solver.
static bool has_free_frames(const tbWorld* w)
{
  for (int i = 0; i < (int)w->body.count; i++)
    if (tb_bodies(w)[i].motion == TB_BODY_DYNAMIC && !tb_bodies(w)[i].kind->project) return true;
  return false;
}

tbStatus tb_pd_begin_bodies(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbPd* r)
{
  size_t n = w->body.count;
  TB_TRY(tb_cache_factors(ctx, work->cache, (size_t)n));
  r->step = TB_TAKE(work->arena, tbBodyStep, n);
  r->projected = TB_TAKE(work->arena, tbPdStep, n);
  r->first = TB_TAKE(work->arena, int, n);
  r->touched = TB_TAKE(work->arena, uint8_t*, n);
  if (!r->step || !r->projected || !r->first || !r->touched) return TB_ERROR_MEMORY;
  bool solved = o->polish || has_free_frames(w);
  for (size_t i = 0; i < n; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    r->first[i] = r->nnode;
    if (!b->kind->project) continue;
    tbBodyFactor* kept = (tbBodyFactor*)work->cache->factor.data + i;
    TB_TRY(b->kind->project(ctx, work->arena, kept, w, b, o->dt, solved, &r->step[i], &r->projected[i]));
    r->nnode += r->projected[i].body->nnode;
    if (!r->projected[i].body->fem->drag) continue;
    r->projected[i].touched = r->touched[i] =
        TB_TAKE(work->arena, uint8_t, (size_t)r->projected[i].body->nnode);
    if (!r->touched[i]) return TB_ERROR_MEMORY;
  }
  size_t nodes = (size_t)r->nnode;
  r->v = TB_TAKE(work->arena, tbVec3, nodes), r->rhs = TB_TAKE(work->arena, tbVec3, nodes);
  r->last = TB_TAKE(work->arena, tbVec3, nodes), r->sum = TB_TAKE(work->arena, tbVec3, nodes);
  r->v_before = TB_TAKE(work->arena, tbVec3, nodes), r->last_before = TB_TAKE(work->arena, tbVec3, nodes);
  r->change = TB_TAKE(work->arena, tbPdChange, (size_t)tb_piece_count(r->nnode, PIECE) + 1);
  if (!r->v || !r->rhs || !r->last || !r->sum || !r->v_before || !r->last_before || !r->change)
    return TB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++)
    if (tb_pd_moves(r, (int)i))
      memcpy(r->v + r->first[i], r->step[i].v_free, (size_t)r->step[i].size * sizeof(double));
  return TB_OK;
}

// ---- the iterations ----

// Bodies that are stiff for the time step.
static tbStatus find_stiff(const tbWorld* w, tbStepWork* work, const tbPd* r, tbPdStiff* out)
{
  const tbAssembly* a = &work->assembly;
  int* of = TB_TAKE(work->arena, int, (size_t)a->problem->ndof);
  double *share = TB_TAKE(work->arena, double, w->body.count),
         *inverse = TB_TAKE(work->arena, double, w->body.count);
  if (!of || !share || !inverse) return TB_ERROR_MEMORY;
  *out = (tbPdStiff){of, share, inverse, 0};
  for (int k = 0; k < a->problem->ndof; k++) of[k] = -1;
  for (int i = 0; i < (int)w->body.count; i++) {
    const tbPdBody* b = r->projected[i].body;
    int dof = a->place[i].dof;
    if (!b || dof < 0 || !(b->softness < 1)) continue;
    for (int k = 0; k < 3 * b->nnode; k++) of[dof + k] = out->count;
    share[out->count] = b->softness, inverse[out->count++] = (1 - b->softness) / b->mass;
  }
  return TB_OK;
}

// Vectors over the problem, and velocities of rigid bodies with the impulses that there are.
static tbStatus begin_contacts(const tbWorld* w, const tbStepOptions* o, tbStepWork* work, tbPd* r)
{
  tbAssembly* a = &work->assembly;
  size_t n = (size_t)a->problem->ndof;
  r->local = TB_TAKE(work->arena, double, n), r->lump = TB_TAKE(work->arena, double, n);
  r->push = TB_TAKE(work->arena, double, n), r->free = TB_TAKE(work->arena, double, n);
  r->r_before = TB_TAKE(work->arena, double, (size_t)a->problem->nrow);
  r->local_before = TB_TAKE(work->arena, double, n);
  if (!r->local || !r->lump || !r->push || !r->free || !r->r_before || !r->local_before)
    return TB_ERROR_MEMORY;
  r->momentum = 1;
  memcpy(r->free, a->problem->v_free, n * sizeof *r->free);
  memcpy(r->local, a->problem->v_free, n * sizeof *r->local);
  for (int i = 0; i < (int)w->body.count; i++) {
    const tbPdBody* b = r->projected[i].body;
    int dof = a->place[i].dof;
    for (int k = 0; b && dof >= 0 && k < 3 * b->nnode; k++)
      r->lump[dof + k] = b->pinned[k / 3] ? TB_FEM_PIN * b->lump[k / 3] : b->lump[k / 3];
  }
  tbPdStiff stiff;
  TB_TRY(find_stiff(w, work, r, &stiff));
  TB_TRY(tb_pd_contacts_begin(work->arena, a->problem, &o->solver, r->lump, &stiff, &r->contacts));
  tb_pd_contacts_move(&r->contacts, a->lambda, r->local);
  return TB_OK;
}

// P v = last + Jᵀr for the velocities that the iterations start from.
static void begin_iterations(tbContext* ctx, const tbWorld* w, tbStepWork* work, tbPd* r)
{
  tb_pd_contacts_push(&r->contacts, work->assembly.lambda, r->push);
  for (int i = 0; i < (int)w->body.count; i++) {
    if (!tb_pd_moves(r, i)) continue;
    tbVec3* last = r->last + r->first[i];
    int dof = work->assembly.place[i].dof;
    tb_pd_multiply(ctx->threads, &r->projected[i], r->v + r->first[i], last);
    for (int k = 0; dof >= 0 && k < r->projected[i].body->nnode; k++)
      last[k] = tb_sub3(last[k], tb_load3(r->push + dof + 3 * k));
  }
}

// What a loop over the nodes of one body reads and writes.
typedef struct {
  const tbPdStep* step;
  const tbVec3* before;
  const double* push; // of the body's nodes; null: nothing touches it
  tbVec3 *v, *rhs, *last, *sum;
  double* local;    // of the body's nodes
  uint8_t* touched; // null: the air does not hold it
  Change* change;   // per piece
  double share;     // of what masses say: of bodies that move as one
} Nodes;

static Nodes nodes_of(const tbAssembly* a, const tbPd* r, int body)
{
  int at = r->first[body], dof = a->place[body].dof;
  return (Nodes){.step = &r->projected[body],
                 .before = r->v_before + at,
                 .push = dof >= 0 ? r->push + dof : NULL,
                 .v = r->v + at,
                 .rhs = r->rhs + at,
                 .last = r->last + at,
                 .sum = r->sum + at,
                 .local = dof >= 0 ? r->local + dof : NULL,
                 .touched = r->touched[body],
                 .change = r->change,
                 .share = r->contacts.nstiff > 0 ? r->projected[body].body->softness : 1};
}

// D⁻¹(b − C v + Jᵀr) = v + D⁻¹(b − b_last), as P v = b_last + Jᵀr. Of a stiff body β D⁻¹ stands for D⁻¹: what
// its elements do to it adds up to nothing.
static void predict(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Nodes* n = user;
  const tbPdBody* b = n->step->body;
  for (int k = begin; k < end; k++) {
    tbVec3 to = n->v[k];
    if (!b->pinned[k]) to = tb_madd3(to, n->share / b->lump[k], tb_sub3(n->rhs[k], n->last[k]));
    tb_store3(n->local + 3 * k, to);
  }
}

// b + Jᵀr.
static void add_push(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Nodes* n = user;
  for (int k = begin; k < end; k++) {
    tbVec3 push = n->push ? tb_load3(n->push + 3 * k) : tb_zero3();
    n->last[k] = n->rhs[k];
    n->sum[k] = tb_add3(n->rhs[k], push);
    if (n->touched && n->push) n->touched[k] = tb_maxabs3(push) > 0;
  }
}

// v as solved for, and how far it is from what it was extrapolated to.
static void compare(void* user, int begin, int end, int piece)
{
  const Nodes* n = user;
  Change c = {0};
  for (int k = begin; k < end; k++) {
    tbVec3 step = tb_sub3(n->sum[k], n->v[k]);
    double size = tb_maxabs3(step), lump = n->step->body->lump[k];
    c.most = size <= c.most ? c.most : size; // a NaN stays
    c.size += lump * tb_dot3(step, step);
    c.along += lump * tb_dot3(step, tb_sub3(n->sum[k], n->before[k]));
    n->v[k] = n->sum[k];
  }
  n->change[piece] = c;
}

// v = P⁻¹(b + Jᵀr), from a start v that the last iteration's velocities were extrapolated to.
static Change solve_body(tbThreads* threads, Nodes* n)
{
  int count = n->step->body->nnode;
  Change all = {0};
  tb_parallel_for(threads, count, PIECE, add_push, n);
  tb_pd_solve(threads, n->step, n->sum, n->sum);
  tb_parallel_for(threads, count, PIECE, compare, n);
  for (int i = 0; i < tb_piece_count(count, PIECE); i++) {
    all.most = n->change[i].most <= all.most ? all.most : n->change[i].most;
    all.along += n->change[i].along, all.size += n->change[i].size;
  }
  return all;
}

// ---- acceleration ----

// Nesterov's momentum on all that an iteration changes, v, b and r: P v = b + Jᵀr holds for what is
// extrapolated, too. Given up, to be built anew, where the step just made points against the one before
// (O'Donoghue and Candès 2015): iterates that would overshoot begin again from the last.
static void swap_in(size_t n, double beta, double* now, double* before)
{
  for (size_t i = 0; i < n; i++) {
    double x = now[i];
    now[i] = x + beta * (x - before[i]);
    before[i] = x;
  }
}

static void extrapolate(const tbProblem* p, double* lambda, tbPd* r)
{
  double next = 0.5 * (1 + sqrt(1 + 4 * r->momentum * r->momentum)), beta = (r->momentum - 1) / next;
  size_t n = 3 * (size_t)r->nnode;
  r->momentum = next;
  swap_in(n, beta, &r->v->x, &r->v_before->x);
  swap_in(n, beta, &r->last->x, &r->last_before->x);
  swap_in((size_t)p->nrow, beta, lambda, r->r_before);
  swap_in((size_t)p->ndof, beta, r->local, r->local_before);
}

// Runs from now until the call: pd_s[part] += time since *clock; *clock = now.
static void count_part(tbStepReport* report, tbPdPart part, double* clock)
{
  double now = tb_seconds();
  report->pd_s[part] += now - *clock;
  *clock = now;
}

static Change iterate(tbContext* ctx, const tbWorld* w, tbStepWork* work, tbPd* r, tbStepReport* report)
{
  double clock = tb_seconds();
  const tbAssembly* a = &work->assembly;
  int count = (int)w->body.count;
  for (int i = 0; i < count; i++) {
    if (!tb_pd_moves(r, i)) continue;
    Nodes n = nodes_of(a, r, i);
    tb_pd_project(ctx->threads, n.step, n.v, n.rhs);
    if (n.local) tb_parallel_for(ctx->threads, n.step->body->nnode, PIECE, predict, &n);
  }
  count_part(report, TB_PD_PROJECT, &clock);
  tb_pd_contacts_sweep(&r->contacts, r->local, a->lambda, r->push);
  count_part(report, TB_PD_CONTACTS, &clock);
  Change all = {0};
  for (int i = 0; i < count; i++) {
    if (!tb_pd_moves(r, i)) continue;
    Nodes n = nodes_of(a, r, i);
    Change own = solve_body(ctx->threads, &n);
    all.most = own.most <= all.most ? all.most : own.most;
    all.along += own.along, all.size += own.size;
  }
  count_part(report, TB_PD_GLOBAL, &clock);
  return all;
}

// Without impulses the last b would give v_free; what they add is v − v_free.
static tbStatus end_iterations(tbThreads* threads, const tbWorld* w, tbStepWork* work, tbPd* r)
{
  tbAssembly* a = &work->assembly;
  if (!a->w) a->w = TB_TAKE(work->arena, double, (size_t)a->problem->ndof);
  if (!a->w) return TB_ERROR_MEMORY;
  for (int k = 0; k < a->problem->ndof; k++) a->w[k] = r->local[k] - r->free[k];
  for (int i = 0; i < (int)w->body.count; i++) {
    if (!tb_pd_moves(r, i)) continue;
    tbVec3* v_free = (tbVec3*)r->step[i].v_free;
    int dof = a->place[i].dof, size = r->step[i].size;
    r->step[i].v = &r->v[r->first[i]].x;
    if (dof >= 0) tb_pd_solve(threads, &r->projected[i], r->last + r->first[i], v_free);
    else memcpy(v_free, r->v + r->first[i], (size_t)size * sizeof(double));
    for (int k = 0; dof >= 0 && k < size; k++) {
      r->free[dof + k] = r->step[i].v_free[k];
      a->w[dof + k] = r->step[i].v[k] - r->step[i].v_free[k];
    }
  }
  a->problem->v_free = r->free;
  return TB_OK;
}

tbStatus tb_pd_iterate(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int iterations,
                       tbStepWork* work, tbPd* r, tbStepReport* report)
{
  double still =
      STILL * (o->solver.velocity_tolerance > 0 ? o->solver.velocity_tolerance : o->solver.tolerance);
  double clock = tb_seconds();
  double before = INFINITY;
  TB_TRY(begin_contacts(w, o, work, r));
  count_part(report, TB_PD_LAYERS, &clock);
  begin_iterations(ctx, w, work, r);
  for (int k = 0; k < iterations && r->nnode > 0 && !(k > 0 && tb_is_late(r->deadline)); k++) {
    TB_TRY(tb_check_interrupt(ctx));
    if (o->accelerated) extrapolate(work->assembly.problem, work->assembly.lambda, r);
    Change change = iterate(ctx, w, work, r, report);
    report->iterations++;
    if (change.most <= still) break;
    if (change.along < 0 || change.size > GROWTH * before) r->momentum = 1;
    before = change.size;
  }
  return end_iterations(ctx->threads, w, work, r);
}
