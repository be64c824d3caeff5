// SPDX-License-Identifier: Apache-2.0
// With g(V) what the momentum equation of a body leaves at velocities V without contacts (node_base.h), a
// step of Newton's method from V_k solves
//
//   g(V_k) + A_k (V − V_k) = Jᵀλ,    law(J V + b, λ),    A_k = M + hB + h²K(x + h V_k)
//
// which is the contact problem of the linearised step, with v_free = V_k − A_k⁻¹ g(V_k). Its answer satisfies
// the contact law; what is left is g(V) − Jᵀλ, which vanishes quadratically. Impulses, contact law and
// certificate are those of the last problem. Where all of the way p = V − V_k is too far, A_k+1 is taken at a
// share of it. What too far is depends on what the step is (course, chapter 4.2):
//
//   a minimum   of E(V) − V·Jᵀλ, E the incremental potential of the body with ∇E = g. Its slope along p is
//               −pᵀA_k p, so that it falls, if A_k has a positive part of K in the place of K.
//   a root      of F = (g(V) − Jᵀλ, law). The contact law holds at every V_k; |g(V) − Jᵀλ| has to fall while
//               V and λ go the same share. A_k has K itself, as long as it can be factored.
//
// With contacts as forces of a potential (primal), λ follows from V, and the root is that of the first kind.
//
// A body whose elasticity is linear, or changes little, has nothing left after one step and keeps its factor.
#include "step/implicit_newton.h"

#include "step/node_base.h"

#include <string.h>

static const double ENOUGH = 1e-4;    // of the fall that the slope promises
static const double ROUNDING = 1e-13; // of energies

enum { CUTS = 12 };

typedef struct tbNewtonBody {
  int body;
  tbNodePotential of;
  double (*base)[9];
  tbVec3 *rhs, *v, *trial, *x;    // v: V_k                                             (nodes)
  tbVec3 *miss, *way, *push;      // g(V_k), p, Jᵀλ as A_k has it                       (nodes)
  tbVec3 *pushed, *left;          // Jᵀλ_k; of a trial, g(V)                            (nodes)
  double* force;                  // (3 nodes)
  double (*stiffness)[9];         // K(x + h V_k), upper blocks
  double energy, size, curvature; // E(V_k), the size of its terms, pᵀA_k p
} Body;

// (B V)_i of upper blocks.
static tbVec3 row_of(const tbFemAssembly* s, double (*upper)[9], const tbVec3* v, int i)
{
  tbVec3 sum = tb_zero3();
  for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
    sum = tb_add3(sum, tb_block_mul(upper[tb_fem_assembly_upper(s, i, b)], v[s->col[b]], b < s->diag[i]));
  return sum;
}

// E(V) and, unless it is null, g(V).
static double evaluate(tbContext* ctx, double h, Body* n, const tbVec3* v, tbVec3* g, double* size)
{
  tbFemBody* fem = n->of.fem;
  for (int i = 0; i < fem->nnode; i++) n->x[i] = tb_madd3(n->of.x[i], h, v[i]);
  double sum = tb_fem_evaluate(fem, ctx->threads, n->x, TB_TANGENT_NONE, g ? n->force : NULL);
  *size = fabs(sum);
  for (int i = 0; i < fem->nnode; i++) {
    tbVec3 row = row_of(&fem->assembly, n->base, v, i);
    double quadratic = 0.5 * tb_dot3(v[i], row), linear = tb_dot3(v[i], n->rhs[i]);
    sum += quadratic - linear, *size += fabs(quadratic) + fabs(linear);
    if (g) g[i] = tb_madd3(tb_sub3(row, n->rhs[i]), -h, tb_load3(n->force + 3 * (size_t)i));
  }
  return sum;
}

static void keep_stiffness(tbContext* ctx, Body* n, const tbVec3* x, bool exact)
{
  tbFemBody* fem = n->of.fem;
  tb_fem_evaluate(fem, ctx->threads, x, exact ? TB_TANGENT_EXACT : TB_TANGENT_POSITIVE, n->force);
  memcpy(n->stiffness, fem->upper, (size_t)fem->assembly.upper_adr[fem->nnode] * sizeof *n->stiffness);
}

static tbStatus begin_body(tbContext* ctx, tbArena* arena, const tbBodyFactor* kept, const tbWorld* w,
                           double h, int body, Body* n)
{
  const tbBody* b = &tb_bodies(w)[body];
  n->body = body;
  TB_TRY(b->kind->potential(arena, kept, w, b, h, &n->of));
  tbFemBody* fem = n->of.fem;
  size_t count = (size_t)fem->nnode, upper = (size_t)fem->assembly.upper_adr[count];
  tbVec3** vector[] = {&n->rhs, &n->v, &n->trial, &n->x, &n->miss, &n->way, &n->push, &n->pushed, &n->left};
  for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
    *vector[i] = TB_TAKE(arena, tbVec3, count);
    if (!*vector[i]) return TB_ERROR_MEMORY;
  }
  n->force = TB_TAKE(arena, double, 3 * count);
  n->base = (double(*)[9])TB_TAKE(arena, double, 9 * upper);
  n->stiffness = (double(*)[9])TB_TAKE(arena, double, 9 * upper);
  if (!n->force || !n->base || !n->stiffness) return TB_ERROR_MEMORY;
  keep_stiffness(ctx, n, n->of.x, false);
  tb_node_base(ctx, h, &n->of, n->force, n->base, n->rhs);
  n->energy = evaluate(ctx, h, n, n->v, n->miss, &n->size); // V_0 = 0
  return TB_OK;
}

tbStatus tb_implicit_newton_begin(tbContext* ctx, const tbStepWork* work, const tbWorld* w,
                                  tbFormulation form, double h, const tbBodyStep* step, tbImplicitNewton* out)
{
  *out = (tbImplicitNewton){.h = h, .form = form, .body = TB_TAKE(work->arena, Body, w->body.count)};
  if (!out->body) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion != TB_BODY_DYNAMIC || step[i].size == 0 || !b->kind->potential || !b->kind->linearise)
      continue;
    TB_TRY(begin_body(ctx, work->arena, (const tbBodyFactor*)work->cache->factor.data + i, w, h, (int)i,
                      &out->body[out->count++]));
  }
  return TB_OK;
}

// p, pᵀA_k p and Jᵀλ = g(V_k) + A_k p.
static void measure_way(double h, Body* n, const double* velocity)
{
  const tbFemBody* fem = n->of.fem;
  n->curvature = 0;
  for (int i = 0; i < fem->nnode; i++) n->way[i] = tb_sub3(tb_load3(velocity + 3 * (size_t)i), n->v[i]);
  for (int i = 0; i < fem->nnode; i++) {
    tbVec3 A = tb_madd3(row_of(&fem->assembly, n->base, n->way, i), h * h,
                        row_of(&fem->assembly, n->stiffness, n->way, i));
    n->push[i] = tb_add3(n->miss[i], A);
    n->curvature += tb_dot3(n->way[i], A);
  }
}

// |g(V) − Jᵀλ|² of nodes that are not held, over their masses.
static double imbalance(const Body* n, const tbVec3* g, double share)
{
  double sum = 0;
  for (int i = 0; i < n->of.fem->nnode; i++) {
    if (n->of.fem->pinned[i]) continue;
    tbVec3 left = tb_sub3(g[i], tb_lerp3(n->pushed[i], n->push[i], share));
    sum += tb_dot3(left, left) / n->of.fem->mass[i];
  }
  return sum;
}

// Whether a share of the way leaves less of the equations of motion.
static bool balances(tbContext* ctx, double h, Body* n, double share)
{
  double size;
  evaluate(ctx, h, n, n->trial, n->left, &size);
  double before = imbalance(n, n->miss, 0), noise = ROUNDING * size;
  return sqrt(imbalance(n, n->left, share)) <= (1 - ENOUGH * share) * sqrt(before) + sqrt(noise);
}

// Whether on a share of the way E(V) − V·Jᵀλ falls enough.
static bool falls(tbContext* ctx, double h, Body* n, double share, double along)
{
  double size, fall = evaluate(ctx, h, n, n->trial, NULL, &size) - n->energy - share * along;
  double noise = ROUNDING * (size + n->size + fabs(along));
  return fall <= -ENOUGH * share * n->curvature + noise;
}

// V_k+1 and Jᵀλ_k+1, of which all is taken unless that is too far.
static void search(tbContext* ctx, const tbImplicitNewton* newton, Body* n, double* share)
{
  int count = n->of.fem->nnode;
  double h = newton->h, along = 0;
  for (int i = 0; i < count; i++) along += tb_dot3(n->push[i], n->way[i]);
  *share = 1;
  for (int cut = 0;; cut++, *share *= 0.5) {
    for (int i = 0; i < count; i++) n->trial[i] = tb_madd3(n->v[i], *share, n->way[i]);
    bool good = newton->form == TB_FORM_DUAL ? balances(ctx, h, n, *share) : falls(ctx, h, n, *share, along);
    if (good || cut == CUTS) break;
  }
  for (int i = 0; i < count; i++) { // what is held goes where it is told
    n->v[i] = n->of.fem->pinned[i] ? n->of.pin[i] : n->trial[i];
    n->pushed[i] = tb_lerp3(n->pushed[i], n->push[i], *share);
  }
}

// A_k at the velocities reached.
static tbStatus linearise(tbContext* ctx, const tbImplicitNewton* newton, const tbWorld* w, Body* n,
                          tbBodyStep* step)
{
  const tbBody* b = &tb_bodies(w)[n->body];
  bool exact = newton->form == TB_FORM_DUAL && !step->expensive;
  for (int k = 0; k < n->of.fem->nnode; k++) {
    n->trial[k] = n->of.fem->pinned[k] ? tb_zero3() : n->miss[k];
    n->x[k] = tb_madd3(n->of.x[k], newton->h, n->v[k]);
  }
  tbStatus status = b->kind->linearise(ctx, b, newton->h, n->x, n->v, n->trial, exact, step);
  if (exact && status == TB_ERROR_NUMERIC) {
    exact = false;
    status = b->kind->linearise(ctx, b, newton->h, n->x, n->v, n->trial, exact, step);
  }
  keep_stiffness(ctx, n, n->x, exact);
  return status;
}

// The largest |g(V) − Jᵀλ| over the mass of its node.
static double unbalanced(const Body* n)
{
  double most = 0;
  for (int i = 0; i < n->of.fem->nnode; i++) {
    if (n->of.fem->pinned[i]) continue;
    double miss = tb_maxabs3(tb_sub3(n->miss[i], n->push[i])) / n->of.fem->mass[i];
    most = miss <= most ? most : miss; // a NaN stays
  }
  return most;
}

tbStatus tb_implicit_newton_next(tbContext* ctx, tbImplicitNewton* newton, const tbStepView* view,
                                 double tolerance, bool last, tbBodyStep* step, double* change)
{
  double h = newton->h;
  *change = 0;
  for (int i = 0; i < newton->count; i++) {
    Body* n = &newton->body[i];
    double share;
    measure_way(h, n, tb_view_velocity(view, n->body));
    search(ctx, newton, n, &share);
    n->energy = evaluate(ctx, h, n, n->v, n->miss, &n->size);
    double left = share < 1 ? INFINITY : unbalanced(n);
    *change = left <= *change ? *change : left;
    if (left <= tolerance || last) continue;
    TB_TRY(linearise(ctx, newton, view->world, n, &step[n->body]));
  }
  return TB_OK;
}
