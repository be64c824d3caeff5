// SPDX-License-Identifier: Apache-2.0
// Contact and friction projections as quadratic programs.
//
//   contact    min ½ xᵀW_NN x + (q_N + W_NF f)ᵀx     x ≥ 0 (unilateral), lo ≤ x ≤ hi (box), any x (free)
//   friction   min ½ fᵀW_FF f + (q_F + W_FN x)ᵀf     f_k ∈ x_k F_k
//
// Small islands go to the dual active set: the programs' matrices never change, so they are factored once,
// and W is made definite by a speck of the unit matrix. The speck, and the skew part of an unsymmetric W, are
// taken out by solving again with what they did moved to the right-hand side. With few velocities per
// contact the contact projection is solved in the velocities, where it is strictly convex however redundant
// the contacts,
//
//   min ½ vᵀA v − (A v_free + J_Fᵀf)ᵀv     J_N v + b ≥ 0,     x: its multipliers.
//
// Where all bodies are small and contacts are many on each, W is never made: products with it go through the
// velocities, in both programs.
//
// Friction sets with corners are constraints of the same kind. Discs, and large islands, go to projected
// gradients.
#include "solve/staggered.h"

#include <math.h>
#include <string.h>

enum { PASSES = 4, PRODUCTS = 200, LAST_PRODUCTS = 20000, LAST_PASSES = 24 };
enum { QUICK = 250 }; // rows of a contact program that takes some milliseconds to solve exactly

static bool has_friction(const tbStagger* s, int k) { return s->friction[k].kind != TB_SET_NONE; }

// out = J A⁻¹Jᵀ x + R x on the island's contacts: as many products as J has entries, where W would have the
// square of the contacts on a body.
static void multiply_by_velocity(const tbStagger* s, const tbStaggerIsland* land, const double* x,
                                 double* out)
{
  const tbProblem* p = s->W->problem;
  for (int c = 0; c < land->contacts; c++)
    for (int k = land->contact[c], b = p->jac_adr[k]; b < p->jac_adr[k + 1]; b++)
      memset(s->w + p->jac_dof[b], 0, (size_t)p->jac_width[b] * sizeof *s->w);
  for (int c = 0; c < land->contacts; c++)
    for (int k = land->contact[c], b = p->jac_adr[k]; b < p->jac_adr[k + 1]; b++) {
      int width = p->jac_width[b];
      double* w = s->w + p->jac_dof[b];
      for (int i = 0; i < tb_rows(p, k); i++) {
        const double *Y = s->W->ainv_jac + p->jac_val_adr[b] + (size_t)(i * width), f = x[p->row_adr[k] + i];
        for (int j = 0; f != 0 && j < width; j++) w[j] += f * Y[j];
      }
    }
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c];
    for (int i = 0; i < tb_rows(p, k); i++)
      out[p->row_adr[k] + i] = p->compliance[p->row_adr[k] + i] * x[p->row_adr[k] + i];
    for (int b = p->jac_adr[k]; b < p->jac_adr[k + 1]; b++) {
      int width = p->jac_width[b];
      const double* w = s->w + p->jac_dof[b];
      for (int i = 0; i < tb_rows(p, k); i++) {
        const double* J = p->jac + p->jac_val_adr[b] + (size_t)(i * width);
        double sum = 0;
        for (int j = 0; j < width; j++) sum += J[j] * w[j];
        out[p->row_adr[k] + i] += sum;
      }
    }
  }
}

// out = (W x) on the island's contacts, for x in the problem's rows.
static void multiply_island(const tbStagger* s, const tbStaggerIsland* land, const double* x, double* out)
{
  const tbDelassus* W = s->W;
  const tbProblem* p = W->problem;
  if (!W->ptr) {
    multiply_by_velocity(s, land, x, out);
    return;
  }
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c], rows = tb_rows(p, k);
    for (int i = 0; i < rows; i++) out[p->row_adr[k] + i] = 0;
    for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
      int first = p->row_adr[W->col[e]], cols = tb_rows(p, W->col[e]);
      const double* block = W->val + W->val_adr[e];
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) out[p->row_adr[k] + i] += block[i * cols + j] * x[first + j];
    }
  }
}

// The island's rows in the problem's numbering: zero but for x on these.
static void spread(tbStagger* s, const tbStaggerRows* r, const double* x)
{
  const tbProblem* p = s->W->problem;
  for (int c = 0; c < s->current->contacts; c++)
    for (int k = s->current->contact[c], i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) s->expand[i] = 0;
  for (int i = 0; i < r->count; i++) s->expand[r->row[i]] = r->scale[i] * x[i];
}

void tb_stagger_apply(tbStagger* s, const tbStaggerRows* r, const double* x, double* y)
{
  if (!r->W_ptr) {
    spread(s, r, x);
    multiply_by_velocity(s, s->current, s->expand, s->product);
    for (int i = 0; i < r->count; i++) y[i] = r->scale[i] * s->product[r->row[i]];
    return;
  }
  for (int i = 0; i < r->count; i++) {
    double sum = 0;
    for (int e = r->W_ptr[i]; e < r->W_ptr[i + 1]; e++) sum += r->W_val[e] * x[r->W_col[e]];
    y[i] = sum;
  }
}

void tb_stagger_apply_normal(void* user, const double* x, double* y)
{
  tbStagger* s = user;
  tb_stagger_apply(s, &s->current->normal, x, y);
}

void tb_stagger_apply_friction(void* user, const double* x, double* y)
{
  tbStagger* s = user;
  tb_stagger_apply(s, &s->current->friction, x, y);
}

void tb_stagger_project_normal(void* user, double* x)
{
  tbStagger* s = user;
  const tbProblem* p = s->W->problem;
  const double* D = s->current->normal.scale;
  for (int c = 0; c < s->current->contacts; c++) {
    int k = s->current->contact[c], at = s->local[p->row_adr[k]], rows = tb_rows(p, k);
    if (has_friction(s, k)) {
      x[at] = fmax(0, x[at]);
      continue;
    }
    double z[TB_MAX_ROWS], impulse[TB_MAX_ROWS];
    for (int i = 0; i < rows; i++) z[i] = x[at + i] * D[at + i];
    tb_friction_clamp_rows(p, k, z, impulse);
    for (int i = 0; i < rows; i++) // a row that is left alone stays as it was to the bit
      if (impulse[i] != z[i]) x[at + i] = impulse[i] / D[at + i];
  }
}

void tb_stagger_project_friction(void* user, double* x)
{
  tbStagger* s = user;
  const tbProblem* p = s->W->problem;
  const double* D = s->current->friction.scale;
  for (int c = 0; c < s->current->contacts; c++) {
    int k = s->current->contact[c], first = p->row_adr[k], rows = tb_rows(p, k);
    if (!has_friction(s, k) || rows == 1) continue;
    int at = s->local[first + 1];
    tb_friction_closest(&s->friction[k], fmax(0, s->lambda[first]) / D[at], x + at, x + at);
  }
}

// The small program, then refined on its active set with the exact gradient, so that neither the speck, nor
// the skew part, nor the rounding of a nearly singular factor stays in the answer.
static void solve_dense(tbStagger* s, tbStaggerRows* r, const double* bound, double tolerance, double* x)
{
  double *gradient = s->y, size = 0;
  tbQpRows rows = {r->constraints, r->ptr, r->col, r->val, bound};
  tb_qp_dual_solve(&r->dual, s->g, &rows, x, s->multiplier);
  for (int i = 0; i < r->count; i++) size = fmax(size, fabs(x[i]));
  for (int pass = 0; pass < PASSES; pass++) {
    double change = 0;
    tb_stagger_apply(s, r, x, gradient);
    for (int i = 0; i < r->count; i++) gradient[i] += s->g[i], s->last[i] = x[i];
    tb_qp_dual_refine(&r->dual, gradient, &rows, x, s->multiplier);
    for (int i = 0; i < r->count; i++) change = fmax(change, fabs(x[i] - s->last[i]));
    if (change <= tolerance * size) return;
  }
}

// By how much x misses its program: the largest of |x − P(x − u)|, u = W x + g, which is left in `u`.
static double miss_of(tbStagger* s, const tbStaggerRows* r, const double* x, double* u)
{
  double worst = 0;
  tb_stagger_apply(s, r, x, u);
  for (int i = 0; i < r->count; i++) u[i] += s->g[i], s->room[i] = x[i] - u[i];
  tb_stagger_project_normal(s, s->room);
  for (int i = 0; i < r->count; i++) worst = fmax(worst, fabs(x[i] - s->room[i]));
  return worst;
}

// The contact program to rounding, from x on: proximal steps, each with what the speck and the skew part do
// at x moved to the right-hand side, then refined on its active set. Refining alone leaves the rows outside
// of the active set violated by as much as the speck; the steps alone leave the rounding of a nearly singular
// factor.
static void solve_exactly(tbStagger* s, tbStaggerRows* r, double* x)
{
  size_t n = (size_t)r->count;
  double *u = s->y, *best = s->last, least = miss_of(s, r, x, u), enough = 0;
  tbQpRows rows = {r->constraints, r->ptr, r->col, r->val, r->bound};
  for (size_t i = 0; i < n; i++) best[i] = x[i], enough = fmax(enough, 1e-15 * fabs(s->g[i]));
  for (int pass = 0; pass < LAST_PASSES && least > enough; pass++) {
    double* g = s->room;
    for (size_t i = 0; i < n; i++) {
      g[i] = u[i];
      for (size_t j = 0; j < n; j++) g[i] -= r->G[i * n + j] * x[j];
    }
    tb_qp_dual_solve(&r->dual, g, &rows, x, s->multiplier);
    for (int k = 0; k <= PASSES; k++) {
      double miss = miss_of(s, r, x, u);
      if (miss < least) least = miss, memcpy(best, x, n * sizeof *x);
      if (k < PASSES) tb_qp_dual_refine(&r->dual, u, &rows, x, s->multiplier);
    }
  }
  memcpy(x, best, n * sizeof *x);
}

// g = D (q + W λ) on these rows, λ on all the other rows of the island
static void find_linear_term(tbStagger* s, const tbStaggerRows* r, const double* lambda)
{
  const tbProblem* p = s->W->problem;
  const tbStaggerIsland* land = s->current;
  for (int c = 0; c < land->contacts; c++)
    for (int i = p->row_adr[land->contact[c]]; i < p->row_adr[land->contact[c] + 1]; i++)
      s->expand[i] = lambda[i];
  for (int i = 0; i < r->count; i++) s->expand[r->row[i]] = 0;
  multiply_island(s, land, s->expand, s->product);
  for (int i = 0; i < r->count; i++) s->g[i] = r->scale[i] * (s->product[r->row[i]] + s->W->q[r->row[i]]);
}

// The contact projection in velocities; x are the multipliers of J_N v + b ≥ 0.
static void solve_velocities(tbStagger* s, tbStaggerIsland* land, const double* lambda, double* x)
{
  const tbProblem* p = s->W->problem;
  double* g = s->room;
  for (int i = 0; i < land->dofs; i++) g[i] = -land->momentum[i];
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c];
    if (!has_friction(s, k)) continue;
    for (int b = p->jac_adr[k]; b < p->jac_adr[k + 1]; b++)
      for (int i = 1; i < tb_rows(p, k); i++)
        for (int j = 0; j < p->jac_width[b]; j++)
          g[s->place[p->jac_dof[b] + j]] -=
              p->jac[p->jac_val_adr[b] + (size_t)(i * p->jac_width[b] + j)] * lambda[p->row_adr[k] + i];
  }
  tbQpRows rows = {land->normal.count, land->ptr, land->col, land->val, land->bound};
  tb_qp_dual_solve(&land->velocity, g, &rows, s->last, x);
}

static void project_contacts(tbStagger* s, tbStaggerIsland* land, double tolerance, int products,
                             double* lambda)
{
  tbStaggerRows* r = &land->normal;
  s->current = land;
  if (land->by_velocity) {
    solve_velocities(s, land, lambda, s->x);
    for (int j = 0; j < r->count; j++) lambda[r->row[j]] = s->x[j];
    return;
  }
  for (int j = 0; j < r->count; j++) s->x[j] = lambda[r->row[j]] / r->scale[j];
  find_linear_term(s, r, lambda);
  if (r->dense) solve_dense(s, r, r->bound, tolerance, s->x);
  else tb_qp_projected_solve(&r->projected, s->g, tolerance, products, s->x);
  tb_stagger_project_normal(s, s->x); // bounds that are missed by rounding
  for (int j = 0; j < r->count; j++) lambda[r->row[j]] = s->x[j] * r->scale[j];
}

void tb_stagger_contacts(tbStagger* s, double tolerance, double* lambda)
{
  s->lambda = lambda;
  for (int i = 0; i < s->islands && !tb_asked(s->interrupt); i++)
    project_contacts(s, &s->island[i], tolerance, PRODUCTS, lambda);
}

// By the dual active set where that is possible at all; from the impulses at hand on, whether they are near
// or not.
static void settle_island(tbStagger* s, tbStaggerIsland* land, double* lambda)
{
  tbStaggerRows* r = &land->normal;
  s->current = land;
  if (!land->by_velocity && !r->filled && r->G) tb_stagger_fill_normal(s, land);
  if (land->by_velocity || !r->dense) {
    project_contacts(s, land, 1e-15, LAST_PRODUCTS, lambda);
    return;
  }
  for (int j = 0; j < r->count; j++) s->x[j] = lambda[r->row[j]] / r->scale[j];
  find_linear_term(s, r, lambda);
  solve_exactly(s, r, s->x);
  tb_stagger_project_normal(s, s->x);
  for (int j = 0; j < r->count; j++) lambda[r->row[j]] = s->x[j] * r->scale[j];
}

void tb_stagger_settle(tbStagger* s, bool late, double* lambda)
{
  s->lambda = lambda;
  for (int i = 0; i < s->islands; i++) {
    const tbStaggerRows* r = &s->island[i].normal;
    bool quick = s->island[i].by_velocity || r->dense || (!r->filled && r->G && r->count <= QUICK);
    if (late ? quick : !tb_asked(s->interrupt)) settle_island(s, &s->island[i], lambda);
  }
}

// The bounds of the friction constraints at the normal impulses at hand.
static void scale_bounds(const tbStagger* s, const tbStaggerRows* r, double* bound)
{
  const tbProblem* p = s->W->problem;
  int at = 0;
  for (int c = 0; c < s->current->contacts; c++) {
    const tbFrictionSet* f = &s->friction[s->current->contact[c]];
    int count = f->kind == TB_SET_POLYGON ? f->corners : f->kind == TB_SET_BOX ? 2 * f->dim : 0;
    double normal = fmax(0, s->lambda[p->row_adr[s->current->contact[c]]]);
    for (int i = 0; i < count; i++, at++) bound[at] = normal * r->bound[at];
  }
}

void tb_stagger_frictions(tbStagger* s, double tolerance, const double* lambda, double* out)
{
  s->lambda = lambda;
  for (int i = 0; i < s->islands && !tb_asked(s->interrupt); i++) {
    tbStaggerIsland* land = &s->island[i];
    tbStaggerRows* r = &land->friction;
    s->current = land;
    if (r->count == 0) continue;
    for (int j = 0; j < r->count; j++) s->x[j] = out[r->row[j]] / r->scale[j];
    find_linear_term(s, r, lambda);
    if (r->dense) {
      scale_bounds(s, r, s->scaled);
      solve_dense(s, r, s->scaled, tolerance, s->x);
      tb_stagger_project_friction(s, s->x);
    } else {
      tb_qp_projected_solve(&r->projected, s->g, tolerance, PRODUCTS, s->x);
    }
    for (int j = 0; j < r->count; j++) out[r->row[j]] = s->x[j] * r->scale[j];
  }
}
