// SPDX-License-Identifier: Apache-2.0
// Staggered projections, set up: islands, their rows, and the programs' matrices and constraints.
#include "problem/delassus.h"
#include "solve/methods.h"
#include "solve/staggered.h"
#include "tribo/math.h"

#include <string.h>

// Rows, and velocities, of a program for the dual active set; contacts that count as few; of the mixing.
enum { SMALL = 150, VELOCITIES = 600, FEW = 24, MEMORY = 5 };
enum { MOST = 600 }; // rows of a contact program that is solved exactly at the end

static const double SPECK = 1e-9;

static bool has_friction(const tbStagger* s, int k) { return s->friction[k].kind != TB_SET_NONE; }

// Constraint Σ val·x ≥ bound; bounds of friction are for λ_n = 1 and scaled when it is known.
static void add_constraint(tbStaggerRows* r, int entries, const int* col, const double* val, double bound)
{
  int at = r->ptr[r->constraints];
  memcpy(r->col + at, col, (size_t)entries * sizeof *col);
  memcpy(r->val + at, val, (size_t)entries * sizeof *val);
  r->bound[r->constraints] = bound;
  r->ptr[++r->constraints] = at + entries;
}

static void constrain_normal(const tbStagger* s, tbStaggerRows* r, int k)
{
  const tbProblem* p = s->W->problem;
  const double *param = p->param + p->param_adr[k], plus = 1, minus = -1;
  int rows = has_friction(s, k) ? 1 : tb_rows(p, k);
  for (int i = 0; i < rows && p->law[k] != TB_LAW_BILATERAL; i++) {
    int col = s->local[p->row_adr[k] + i];
    bool box = p->law[k] == TB_LAW_BOX;
    if (!box || isfinite(param[i])) add_constraint(r, 1, &col, &plus, box ? param[i] : 0);
    if (box && isfinite(param[rows + i])) add_constraint(r, 1, &col, &minus, -param[rows + i]);
  }
}

static void constrain_friction(const tbStagger* s, tbStaggerRows* r, int k)
{
  const tbFrictionSet* f = &s->friction[k];
  const double plus = 1, minus = -1;
  int first = s->local[s->W->problem->row_adr[k] + 1];
  for (int i = 0; f->kind == TB_SET_BOX && i < f->dim; i++) {
    int col = first + i;
    add_constraint(r, 1, &col, &plus, f->par[2 * i]);
    add_constraint(r, 1, &col, &minus, -f->par[2 * i + 1]);
  }
  if (f->kind != TB_SET_POLYGON) return;
  double corner[TB_MAX_DIRECTIONS][2];
  int count = tb_friction_corners(f, corner);
  for (int i = 0; i < count; i++) { // on the left of every edge
    const double *a = corner[i], *b = corner[i + 1 < count ? i + 1 : 0];
    double val[2] = {a[1] - b[1], b[0] - a[0]}, size = sqrt(val[0] * val[0] + val[1] * val[1]);
    if (!(size > 0)) { // no friction: nothing in any direction
      tb_sin_cos(2 * TB_PI * i / count, &val[1], &val[0]);
      size = 1;
    }
    for (int e = 0; e < 2; e++) val[e] /= size;
    add_constraint(r, 2, (int[2]){first, first + 1}, val, val[0] * a[0] + val[1] * a[1]);
  }
}

static bool take_dense(tbStagger* s, tbStaggerRows* r, int constraints)
{
  size_t n = (size_t)r->count, m = (size_t)constraints;
  r->G = TB_TAKE(&s->arena, double, n* n);
  r->ptr = TB_TAKE(&s->arena, int, m + 1);
  r->col = TB_TAKE(&s->arena, int, 2 * m);
  r->val = TB_TAKE(&s->arena, double, 2 * m);
  r->bound = TB_TAKE(&s->arena, double, m);
  tbScratch scratch = {0};
  tb_qp_dual_layout(&r->dual, &scratch, r->count, constraints);
  scratch = (tbScratch){.base = tb_arena_take(&s->arena, scratch.used, 1), .size = scratch.used};
  if (!r->G || !r->ptr || !r->col || !r->val || !r->bound || !scratch.base) return false;
  tb_qp_dual_layout(&r->dual, &scratch, r->count, constraints);
  return true;
}

static bool take_projected(tbStagger* s, tbStaggerRows* r)
{
  tbScratch scratch = {0};
  tb_qp_projected_layout(&r->projected, &scratch, r->count);
  scratch = (tbScratch){.base = tb_arena_take(&s->arena, scratch.used, 1), .size = scratch.used};
  if (!scratch.base) return false;
  tb_qp_projected_layout(&r->projected, &scratch, r->count);
  r->projected.n = r->count;
  r->projected.user = s;
  r->projected.interrupt = s->interrupt;
  return true;
}

static bool is_friction_row(const tbStagger* s, int k, int i) { return has_friction(s, k) && i > 0; }

// D and D W D on these rows.
static bool gather_matrix(tbStagger* s, const tbStaggerIsland* land, tbStaggerRows* r, bool is_friction)
{
  const tbDelassus* W = s->W;
  const tbProblem* p = W->problem;
  size_t entries = 0;
  r->scale = TB_TAKE(&s->arena, double, (size_t)r->count);
  if (!r->scale) return false;
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c], rows = tb_rows(p, k);
    const double* D = W->diag + W->diag_adr[k];
    double largest = 0;
    for (int i = 1; i < rows; i++) largest = fmax(largest, D[i * rows + i]);
    for (int i = 0; i < rows; i++) {
      if (is_friction_row(s, k, i) != is_friction) continue;
      double size = is_friction ? largest : D[i * rows + i];
      r->scale[s->local[p->row_adr[k] + i]] = size > 0 ? 1 / sqrt(size) : 1;
      for (int e = W->ptr ? W->ptr[k] : 0; W->ptr && e < W->ptr[k + 1]; e++)
        entries += (size_t)tb_rows(p, W->col[e]);
    }
  }
  if (!W->ptr) return true;
  r->W_ptr = TB_TAKE(&s->arena, int, (size_t)r->count + 1);
  if (!r->W_ptr) return false;
  r->W_col = TB_TAKE(&s->arena, int, entries);
  r->W_val = TB_TAKE(&s->arena, double, entries);
  if (!r->W_col || !r->W_val) return false;
  int used = 0;
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c];
    for (int i = 0; i < tb_rows(p, k); i++) {
      if (is_friction_row(s, k, i) != is_friction) continue;
      int row = s->local[p->row_adr[k] + i];
      for (int e = W->ptr[k]; e < W->ptr[k + 1]; e++) {
        int l = W->col[e], cols = tb_rows(p, l);
        if (s->home[l] != s->home[k]) continue; // an entry of W that is zero
        for (int j = 0; j < cols; j++) {
          if (is_friction_row(s, l, j) != is_friction) continue;
          int col = s->local[p->row_adr[l] + j];
          r->W_col[used] = col;
          r->W_val[used++] = r->scale[row] * W->val[W->val_adr[e] + (size_t)(i * cols + j)] * r->scale[col];
        }
      }
      r->W_ptr[row + 1] = used;
    }
  }
  return true;
}

// G = symmetric part of D W D, and a speck; factored, and the constraints for it.
static void fill_dense(tbStagger* s, const tbStaggerIsland* land, tbStaggerRows* r, bool is_friction)
{
  size_t n = (size_t)r->count;
  s->current = land;
  for (int i = 0; i < r->count; i++) {
    if (!r->W_ptr) { // a column at a time
      s->x[i] = 1;
      tb_stagger_apply(s, r, s->x, s->y);
      s->x[i] = 0;
      for (size_t j = 0; j < n; j++) {
        r->G[(size_t)i * n + j] += 0.5 * s->y[j];
        r->G[j * n + (size_t)i] += 0.5 * s->y[j];
      }
    }
    for (int e = r->W_ptr ? r->W_ptr[i] : 0; r->W_ptr && e < r->W_ptr[i + 1]; e++) {
      r->G[(size_t)i * n + (size_t)r->W_col[e]] += 0.5 * r->W_val[e];
      r->G[(size_t)r->W_col[e] * n + (size_t)i] += 0.5 * r->W_val[e];
    }
    r->G[(size_t)i * n + (size_t)i] += SPECK;
  }
  for (int c = 0; c < land->contacts; c++) {
    if (!is_friction) constrain_normal(s, r, land->contact[c]);
    else if (has_friction(s, land->contact[c])) constrain_friction(s, r, land->contact[c]);
  }
  for (int e = 0; e < r->ptr[r->constraints]; e++) r->val[e] *= r->scale[r->col[e]];
  r->dense = tb_qp_dual_factor(&r->dual, r->count, r->G, r->count);
  r->filled = true;
}

void tb_stagger_fill_normal(tbStagger* s, tbStaggerIsland* land)
{
  memset(s->x, 0, (size_t)land->normal.count * sizeof *s->x);
  fill_dense(s, land, &land->normal, false);
}

static bool set_up_rows(tbStagger* s, tbStaggerIsland* land, tbStaggerRows* r, bool is_friction)
{
  const tbProblem* p = s->W->problem;
  bool cornered = true;
  int constraints = 0;
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c];
    const tbFrictionSet* f = &s->friction[k];
    if (is_friction && has_friction(s, k)) {
      cornered = cornered && (f->kind == TB_SET_BOX || f->kind == TB_SET_POLYGON || f->dim == 0);
      constraints += f->kind == TB_SET_POLYGON ? f->corners : 2 * f->dim;
    } else if (!is_friction) {
      constraints += has_friction(s, k) ? 1 : 2 * tb_rows(p, k);
    }
  }
  if (!gather_matrix(s, land, r, is_friction) || !take_projected(s, r)) return false;
  r->projected.apply = is_friction ? tb_stagger_apply_friction : tb_stagger_apply_normal;
  r->projected.project = is_friction ? tb_stagger_project_friction : tb_stagger_project_normal;
  if (r->count == 0 || r->count > (is_friction ? SMALL : MOST) || !cornered) return true;
  if (!is_friction && r->count > SMALL && land->by_velocity) return true;
  if (!take_dense(s, r, constraints)) return false;
  if (r->count <= SMALL) fill_dense(s, land, r, is_friction);
  return true;
}

// ---- the contact projection in velocities ----

static bool suits_velocities(const tbStagger* s, const tbStaggerIsland* land)
{
  const tbProblem* p = s->W->problem;
  if (p->W_ptr) return false;
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c];
    bool one_sided = has_friction(s, k) || p->law[k] == TB_LAW_NONNEG;
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) one_sided = one_sided && p->compliance[i] == 0;
    for (int b = p->jac_adr[k]; b < p->jac_adr[k + 1]; b++)
      one_sided = one_sided && p->block[p->dof_block[p->jac_dof[b]]].kind != TB_METRIC_SPARSE;
    if (!one_sided) return false;
  }
  return true;
}

// Lists the island's degrees of freedom, block by block; stops when they are more than `limit`.
static int list_dofs(const tbStagger* s, const tbStaggerIsland* land, int limit, int* dof)
{
  const tbProblem* p = s->W->problem;
  int count = 0;
  bool* seen = s->seen;
  memset(seen, 0, (size_t)p->nblock * sizeof *seen);
  for (int c = 0; c < land->contacts; c++)
    for (int b = p->jac_adr[land->contact[c]]; b < p->jac_adr[land->contact[c] + 1]; b++)
      seen[p->dof_block[p->jac_dof[b]]] = true;
  for (int b = 0; b < p->nblock; b++)
    for (int i = 0; seen[b] && i < p->block[b].size; i++) {
      if (count == limit) return limit + 1;
      s->place[p->block[b].dof + i] = count;
      dof[count++] = p->block[b].dof + i;
    }
  return count;
}

// A and A v_free over the island's degrees of freedom.
static void fill_metric(const tbStagger* s, tbStaggerIsland* land, double* A)
{
  const tbProblem* p = s->W->problem;
  size_t n = (size_t)land->dofs;
  for (size_t i = 0; i < n;) {
    const tbMetricBlock* b = &p->block[p->dof_block[land->dof[i]]];
    for (int row = 0; row < b->size; row++)
      for (int col = 0; col < b->size; col++) {
        bool particle = b->kind == TB_METRIC_PARTICLE;
        double a = particle ? (row == col ? b->value[0] : 0) : b->value[row * b->size + col];
        A[(i + (size_t)row) * n + i + (size_t)col] = a;
        land->momentum[i + (size_t)row] += a * p->v_free[b->dof + col];
      }
    i += (size_t)b->size;
  }
}

static void fill_velocity_rows(const tbStagger* s, tbStaggerIsland* land)
{
  const tbProblem* p = s->W->problem;
  int used = 0;
  for (int i = 0, c = 0; i < land->normal.count; i++) { // rows ascend, and so do contacts
    int row = land->normal.row[i];
    while (p->row_adr[land->contact[c] + 1] <= row) c++;
    int k = land->contact[c];
    for (int b = p->jac_adr[k]; b < p->jac_adr[k + 1]; b++)
      for (int j = 0; j < p->jac_width[b]; j++) {
        land->col[used] = s->place[p->jac_dof[b] + j];
        land->val[used++] = p->jac[p->jac_val_adr[b] + (size_t)((row - p->row_adr[k]) * p->jac_width[b] + j)];
      }
    land->bound[i] = -p->bias[row];
    land->ptr[i + 1] = used;
  }
}

static bool set_up_velocities(tbStagger* s, tbStaggerIsland* land)
{
  const tbProblem* p = s->W->problem;
  int most = land->normal.count <= FEW ? 3 * land->normal.count : land->normal.count - 1, entries = 0;
  if (most > VELOCITIES) most = VELOCITIES;
  if (land->normal.count < 2 || !suits_velocities(s, land)) return true;
  land->dof = TB_TAKE(&s->arena, int, (size_t)most);
  if (!land->dof) return false;
  land->dofs = list_dofs(s, land, most, land->dof);
  if (land->dofs > most) return true;
  for (int c = 0; c < land->contacts; c++)
    for (int b = p->jac_adr[land->contact[c]]; b < p->jac_adr[land->contact[c] + 1]; b++)
      entries += p->jac_width[b] * tb_rows(p, land->contact[c]);
  size_t n = (size_t)land->dofs;
  double* A = TB_TAKE(&s->arena, double, n* n);
  land->momentum = TB_TAKE(&s->arena, double, n);
  land->ptr = TB_TAKE(&s->arena, int, (size_t)land->normal.count + 1);
  land->col = TB_TAKE(&s->arena, int, (size_t)entries);
  land->val = TB_TAKE(&s->arena, double, (size_t)entries);
  land->bound = TB_TAKE(&s->arena, double, (size_t)land->normal.count);
  tbScratch scratch = {0};
  tb_qp_dual_layout(&land->velocity, &scratch, land->dofs, land->normal.count);
  scratch = (tbScratch){.base = tb_arena_take(&s->arena, scratch.used, 1), .size = scratch.used};
  if (!A || !land->momentum || !land->ptr || !land->col || !land->val || !land->bound || !scratch.base)
    return false;
  tb_qp_dual_layout(&land->velocity, &scratch, land->dofs, land->normal.count);
  fill_metric(s, land, A);
  fill_velocity_rows(s, land);
  land->by_velocity = tb_qp_dual_factor(&land->velocity, land->dofs, A, land->dofs);
  return true;
}

// ---- islands ----

static bool list_contacts(tbStagger* s, const int* island)
{
  const tbProblem* p = s->W->problem;
  for (int k = 0; k < p->ncontact; k++) s->island[island[k]].contacts++;
  for (int i = 0; i < s->islands; i++) {
    s->island[i].contact = TB_TAKE(&s->arena, int, (size_t)s->island[i].contacts);
    if (!s->island[i].contact) return false;
    s->island[i].contacts = 0;
  }
  for (int k = 0; k < p->ncontact; k++) s->island[island[k]].contact[s->island[island[k]].contacts++] = k;
  return true;
}

static bool take_mixer(tbStagger* s, tbStaggerIsland* land)
{
  tbScratch scratch = {0};
  tb_anderson_layout(&land->mixer, &scratch, land->friction.count, MEMORY);
  scratch = (tbScratch){.base = tb_arena_take(&s->arena, scratch.used, 1), .size = scratch.used};
  if (!scratch.base) return false;
  tb_anderson_layout(&land->mixer, &scratch, land->friction.count, MEMORY);
  tb_anderson_reset(&land->mixer);
  return true;
}

static bool list_rows(tbStagger* s, tbStaggerIsland* land)
{
  const tbProblem* p = s->W->problem;
  size_t rows = 0;
  for (int c = 0; c < land->contacts; c++) rows += (size_t)tb_rows(p, land->contact[c]);
  land->normal.row = TB_TAKE(&s->arena, int, rows);
  land->friction.row = TB_TAKE(&s->arena, int, rows);
  if (!land->normal.row || !land->friction.row) return false;
  for (int c = 0; c < land->contacts; c++) {
    int k = land->contact[c];
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++) {
      tbStaggerRows* r = has_friction(s, k) && i > p->row_adr[k] ? &land->friction : &land->normal;
      s->local[i] = r->count;
      r->row[r->count++] = i;
    }
  }
  return true;
}

static bool take_room(tbStagger* s)
{
  const tbProblem* p = s->W->problem;
  size_t n = (size_t)(p->nrow > p->ndof ? p->nrow : p->ndof), constraints = 1;
  for (int k = 0; k < p->ncontact; k++) constraints += 2 * (size_t)tb_rows(p, k) + s->friction[k].corners;
  double** vectors[] = {&s->g, &s->x, &s->y, &s->room, &s->last, &s->expand, &s->product};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
    if (!(*vectors[i] = TB_TAKE(&s->arena, double, n))) return false;
  s->w = TB_TAKE(&s->arena, double, (size_t)p->ndof);
  s->multiplier = TB_TAKE(&s->arena, double, constraints);
  s->scaled = TB_TAKE(&s->arena, double, constraints);
  s->local = TB_TAKE(&s->arena, int, (size_t)p->nrow);
  s->place = TB_TAKE(&s->arena, int, (size_t)p->ndof);
  s->seen = TB_TAKE(&s->arena, bool, (size_t)p->nblock);
  return s->w && s->multiplier && s->scaled && s->local && s->place && s->seen;
}

static tbStatus build(tbContext* ctx, tbStagger* s, const tbRun* run)
{
  const tbProblem* p = run->p;
  int* island = s->home = TB_TAKE(&s->arena, int, (size_t)p->ncontact);
  s->friction = TB_TAKE(&s->arena, tbFrictionSet, (size_t)p->ncontact);
  if (!island || !s->friction) return TB_ERROR_MEMORY;
  TB_TRY(tb_problem_islands(ctx, p, island, &s->islands));
  for (int k = 0; k < p->ncontact; k++)
    tb_friction_make(p, k, run->o->model, run->o->directions, &s->friction[k]);
  s->island = TB_TAKE(&s->arena, tbStaggerIsland, (size_t)s->islands);
  if (!s->island || !take_room(s) || !list_contacts(s, island)) return TB_ERROR_MEMORY;
  for (int i = 0; i < s->islands; i++) {
    tbStaggerIsland* land = &s->island[i];
    TB_TRY(tb_check_interrupt(ctx));
    if (!list_rows(s, land) || !take_mixer(s, land) || !set_up_velocities(s, land)) return TB_ERROR_MEMORY;
    if (!set_up_rows(s, land, &land->normal, false) || !set_up_rows(s, land, &land->friction, true))
      return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

// Without W where every metric block is small and W would be some times as large as J.
tbStatus tb_staggered_form(tbContext* ctx, const tbProblem* p, const tbSolveOptions* o, tbForm* out)
{
  (void)o;
  double bytes, entries = 0;
  *out = TB_FORM_BLOCKS;
  if (p->W_ptr) return TB_OK;
  for (int b = 0; b < p->nblock; b++)
    if (p->block[b].kind == TB_METRIC_SPARSE) return TB_OK;
  for (int k = 0; k < p->ncontact; k++)
    for (int b = p->jac_adr[k]; b < p->jac_adr[k + 1]; b++) entries += p->jac_width[b] * tb_rows(p, k);
  TB_TRY(tb_delassus_bytes(ctx, p, &bytes));
  if (bytes > 4 * 8 * entries) *out = TB_FORM_FREE;
  return TB_OK;
}

tbStatus tb_stagger_create(tbContext* ctx, tbRun* run, tbStagger** out)
{
  tbStagger* s = *out = TB_NEW(ctx, tbStagger, 1);
  if (!s) return TB_ERROR_MEMORY;
  tb_arena_init(&s->arena, ctx);
  s->W = run->W;
  s->interrupt = tb_stop_interrupt(run->stop);
  return build(ctx, s, run);
}

void tb_stagger_free(tbContext* ctx, tbStagger* s)
{
  if (!s) return;
  tb_arena_free(&s->arena);
  tb_free(ctx, s);
}
