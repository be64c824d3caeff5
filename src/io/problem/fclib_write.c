// SPDX-License-Identifier: Apache-2.0
// Writing FCLIB files: /fclib_local for problems with W, /fclib_global for those with a metric.
//
// FCLIB knows Coulomb's law (all contacts in 2-D or all in 3-D), rolling friction with five rows, and
// multipliers. Contacts with law `free` become multipliers, which stand apart in the file: read back, they
// follow the other contacts, one row each. All else is refused, by the contact's number.
//
// Beside the problem stands what FCLIB has no place for and its readers pass over:
//
//   /tribo/blocks   the kind of each metric block, then the size of each
//   /tribo/v_free   velocities whose product with M is f to the bit
//
// so that a problem comes back in the blocks and with the bits it had. Dense blocks are stored in full.
#include "base/array.h"
#include "base/file.h"
#include "tribo/io.h"

#ifdef TB_HAVE_HDF5

#include "io/problem/h5.h"
#include "math/sparse.h"
#include "problem/metric.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  tbContext* ctx;
  const tbProblem* p;
  tbH5Writer h;
  tbArena arena;
  const char* root;
  char path[128];
  int rows;       // of one contact: spacedim
  tbLaw law;      // of all contacts but the free ones
  int contacts;   // that are not free
  int tied, free; // rows of those, and of free ones
  int* place;     // where a row goes: 0 … tied−1 among the contacts, tied … among the multipliers
} File;

static const char* path_to(File* f, const char* group, const char* name)
{
  snprintf(f->path, sizeof f->path, "%s/%s%s%s", f->root, group, name ? "/" : "", name ? name : "");
  return f->path;
}

static int rows_of(const tbProblem* p, int k) { return p->row_adr[k + 1] - p->row_adr[k]; }

// ---- what can be written ----

static tbStatus check_contact(File* f, int k)
{
  const tbProblem* p = f->p;
  tbLaw law = (tbLaw)p->law[k];
  int rows = rows_of(p, k);
  if (law == TB_LAW_BILATERAL) return TB_OK;
  if (law != TB_LAW_COULOMB && !(law == TB_LAW_ROLLING && rows == 5))
    return tb_fail(f->ctx, TB_ERROR_UNSUPPORTED,
                   "contact %d: FCLIB has no place for law %s with %d rows; write it as JSON", k,
                   tb_law_name(law), rows);
  if (f->contacts++ == 0) f->law = law, f->rows = rows;
  if (law != f->law || rows != f->rows)
    return tb_fail(f->ctx, TB_ERROR_UNSUPPORTED,
                   "contact %d: law %s with %d rows among contacts with %d; FCLIB takes one kind only", k,
                   tb_law_name(law), rows, f->rows);
  return TB_OK;
}

static tbStatus check(File* f, const double* guess)
{
  const tbProblem* p = f->p;
  f->law = TB_LAW_COULOMB, f->rows = 3;
  for (int k = 0; k < p->ncontact; k++) TB_TRY(check_contact(f, k));
  for (int k = 0; !p->W_ptr && k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
      if (p->compliance[i] != 0)
        return tb_fail(f->ctx, TB_ERROR_UNSUPPORTED,
                       "contact %d: FCLIB has no place for compliance in a problem with a metric", k);
  for (int i = 0; guess && i < p->nrow; i++)
    if (!isfinite(guess[i]))
      return tb_fail(f->ctx, TB_ERROR_ARGUMENT, "guess[%d] is %g; it must be finite", i, guess[i]);

  f->place = TB_TAKE(&f->arena, int, (size_t)p->nrow);
  if (!f->place) return TB_ERROR_MEMORY;
  f->tied = f->contacts * f->rows;
  f->free = 0;
  for (int k = 0, tied = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
      f->place[i] = p->law[k] == TB_LAW_BILATERAL ? f->tied + f->free++ : tied++;
  return TB_OK;
}

// ---- pieces ----

// Entries of a matrix, as they come.
typedef struct {
  tbArray row, col, val;
} Entries;

static tbStatus add_entry(File* f, Entries* e, int row, int col, double val)
{
  TB_TRY(tb_array_push(f->ctx, &e->row, &row, 1));
  TB_TRY(tb_array_push(f->ctx, &e->col, &col, 1));
  return tb_array_push(f->ctx, &e->val, &val, 1);
}

static void put_int(File* f, const char* path, int value) { tb_h5_put_ints(&f->h, path, 1, &value); }

static void put_form(File* f, const char* label, int rows, int cols, int nz, size_t count)
{
  tb_h5_put_group(&f->h, path_to(f, label, NULL));
  put_int(f, path_to(f, label, "nzmax"), (int)count);
  put_int(f, path_to(f, label, "m"), rows);
  put_int(f, path_to(f, label, "n"), cols);
  put_int(f, path_to(f, label, "nz"), nz);
}

static tbStatus check_count(File* f, const char* label, const Entries* e)
{
  if (e->val.count <= INT_MAX) return TB_OK;
  return tb_fail(f->ctx, TB_ERROR_UNSUPPORTED, "%s has more than %d entries, the most FCLIB can hold", label,
                 INT_MAX);
}

// Triplets, in the order of the entries.
static tbStatus put_triplets(File* f, const char* label, int rows, int cols, const Entries* e)
{
  TB_TRY(check_count(f, label, e));
  put_form(f, label, rows, cols, (int)e->val.count, e->val.count);
  tb_h5_put_ints(&f->h, path_to(f, label, "p"), e->col.count, e->col.data);
  tb_h5_put_ints(&f->h, path_to(f, label, "i"), e->row.count, e->row.data);
  tb_h5_put_doubles(&f->h, path_to(f, label, "x"), e->val.count, e->val.data);
  return TB_OK;
}

// Compressed columns.
static tbStatus put_columns(File* f, const char* label, int rows, int cols, const Entries* e)
{
  tbCsr A;
  TB_TRY(check_count(f, label, e));
  TB_TRY(tb_csr_take_triplets(&f->arena, cols, rows, (int)e->val.count, e->col.data, e->row.data, e->val.data,
                              &A));
  size_t count = (size_t)A.ptr[cols];
  put_form(f, label, rows, cols, -1, count);
  tb_h5_put_ints(&f->h, path_to(f, label, "p"), (size_t)cols + 1, A.ptr);
  tb_h5_put_ints(&f->h, path_to(f, label, "i"), count, A.idx);
  tb_h5_put_doubles(&f->h, path_to(f, label, "x"), count, A.val);
  return TB_OK;
}

// A vector over rows, in two parts.
static tbStatus put_rows(File* f, const char* group, const char* tied_name, const char* free_name,
                         const double* values)
{
  double* moved = TB_TAKE(&f->arena, double, (size_t)f->p->nrow);
  if (!moved) return TB_ERROR_MEMORY;
  for (int i = 0; i < f->p->nrow; i++) moved[f->place[i]] = values[i];
  snprintf(f->path, sizeof f->path, "%s/%s", group, tied_name);
  tb_h5_put_doubles(&f->h, f->path, (size_t)f->tied, moved);
  snprintf(f->path, sizeof f->path, "%s/%s", group, free_name);
  if (f->free) tb_h5_put_doubles(&f->h, f->path, (size_t)f->free, moved + f->tied);
  return TB_OK;
}

static tbStatus put_friction(File* f)
{
  const tbProblem* p = f->p;
  double *mu = TB_TAKE(&f->arena, double, (size_t)f->contacts),
         *mu_r = TB_TAKE(&f->arena, double, (size_t)f->contacts);
  if (!mu || !mu_r) return TB_ERROR_MEMORY;
  for (int k = 0, at = 0; k < p->ncontact; k++) {
    if (p->law[k] == TB_LAW_BILATERAL) continue;
    const double* param = p->param + p->param_adr[k];
    mu[at] = param[0];
    mu_r[at++] = f->law == TB_LAW_ROLLING ? param[1] : 0;
  }
  tb_h5_put_doubles(&f->h, path_to(f, "vectors", "mu"), (size_t)f->contacts, mu);
  if (f->law == TB_LAW_ROLLING)
    tb_h5_put_doubles(&f->h, path_to(f, "vectors", "mu_r"), (size_t)f->contacts, mu_r);
  return TB_OK;
}

static void put_heading(File* f)
{
  tb_h5_put_group(&f->h, f->root);
  put_int(f, path_to(f, "spacedim", NULL), f->rows);
  tb_h5_put_group(&f->h, path_to(f, "info", NULL));
  tb_h5_put_text(&f->h, path_to(f, "info", "title"), f->p->name);
  tb_h5_put_text(&f->h, path_to(f, "info", "description"), "written by Tribo " TB_VERSION);
  tb_h5_put_text(&f->h, path_to(f, "info", "math_info"), "unknown");
  tb_h5_put_group(&f->h, path_to(f, "vectors", NULL));
}

// ---- /fclib_local ----

// W into W, V and R. The lower left part is Vᵀ and must be: FCLIB has no place of its own for it.
static tbStatus split_W(File* f, Entries* W, Entries* V, Entries* R, Entries* Vt)
{
  const tbProblem* p = f->p;
  for (int i = 0; i < p->nrow; i++) {
    int row = f->place[i];
    bool has_diagonal = false;
    for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++) {
      bool diagonal = p->W_col[e] == i;
      int col = f->place[p->W_col[e]];
      double value = p->W_val[e] + (diagonal ? p->compliance[i] : 0);
      has_diagonal |= diagonal;
      if (row < f->tied && col < f->tied) TB_TRY(add_entry(f, W, row, col, value));
      else if (row < f->tied) TB_TRY(add_entry(f, V, row, col - f->tied, value));
      else if (col < f->tied) TB_TRY(add_entry(f, Vt, row - f->tied, col, value));
      else TB_TRY(add_entry(f, R, row - f->tied, col - f->tied, value));
    }
    if (has_diagonal || p->compliance[i] == 0) continue;
    if (row < f->tied) TB_TRY(add_entry(f, W, row, row, p->compliance[i]));
    else TB_TRY(add_entry(f, R, row - f->tied, row - f->tied, p->compliance[i]));
  }
  return TB_OK;
}

static tbStatus check_transposed(File* f, const Entries* V, const Entries* Vt)
{
  tbCsr a, b;
  TB_TRY(tb_csr_take_triplets(&f->arena, f->free, f->tied, (int)Vt->val.count, Vt->row.data, Vt->col.data,
                              Vt->val.data, &a));
  TB_TRY(tb_csr_take_triplets(&f->arena, f->free, f->tied, (int)V->val.count, V->col.data, V->row.data,
                              V->val.data, &b));
  size_t starts = (size_t)f->free + 1, count = (size_t)a.ptr[f->free];
  if (memcmp(a.ptr, b.ptr, starts * sizeof *a.ptr) == 0 && memcmp(a.idx, b.idx, count * sizeof *a.idx) == 0 &&
      memcmp(a.val, b.val, count * sizeof *a.val) == 0)
    return TB_OK;
  return tb_fail(f->ctx, TB_ERROR_UNSUPPORTED,
                 "W is not symmetric between contacts and free rows, and FCLIB keeps only one half of it");
}

static tbStatus put_local(File* f)
{
  Entries part[4];
  for (int i = 0; i < 4; i++) part[i] = (Entries){TB_ARRAY(int), TB_ARRAY(int), TB_ARRAY(double)};
  Entries *W = &part[0], *V = &part[1], *R = &part[2], *Vt = &part[3];
  tbStatus status = split_W(f, W, V, R, Vt);
  if (status == TB_OK && f->free) status = check_transposed(f, V, Vt);
  if (status == TB_OK) status = put_columns(f, "W", f->tied, f->tied, W);
  if (status == TB_OK && f->free) status = put_columns(f, "V", f->tied, f->free, V);
  if (status == TB_OK && f->free) status = put_columns(f, "R", f->free, f->free, R);
  char group[64];
  snprintf(group, sizeof group, "%s/vectors", f->root);
  if (status == TB_OK) status = put_rows(f, group, "q", "s", f->p->bias);
  for (int i = 0; i < 4; i++) {
    tb_array_free(f->ctx, &part[i].row);
    tb_array_free(f->ctx, &part[i].col);
    tb_array_free(f->ctx, &part[i].val);
  }
  return status;
}

// ---- /fclib_global ----

static tbStatus list_metric(File* f, Entries* M)
{
  for (int b = 0; b < f->p->nblock; b++) {
    const tbMetricBlock* block = &f->p->block[b];
    int at = block->dof, n = block->size;
    for (int i = 0; i < n; i++) {
      if (block->kind == TB_METRIC_PARTICLE) TB_TRY(add_entry(f, M, at + i, at + i, block->value[0]));
      for (int j = 0; block->kind == TB_METRIC_DENSE && j < n; j++)
        TB_TRY(add_entry(f, M, at + i, at + j, block->value[i * n + j]));
      for (int e = block->ptr ? block->ptr[i] : 0; block->ptr && e < block->ptr[i + 1]; e++)
        TB_TRY(add_entry(f, M, at + i, at + block->col[e], block->value[e]));
    }
  }
  return TB_OK;
}

// Jᵀ by columns: H for the contacts, G for the free rows.
static tbStatus list_jacobian(File* f, Entries* H, Entries* G)
{
  const tbProblem* p = f->p;
  for (int k = 0; k < p->ncontact; k++)
    for (int i = p->row_adr[k]; i < p->row_adr[k + 1]; i++)
      for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
        int width = p->jac_width[c], place = f->place[i];
        const double* J = p->jac + p->jac_val_adr[c] + (size_t)(i - p->row_adr[k]) * (size_t)width;
        for (int d = 0; d < width; d++) {
          if (place < f->tied) TB_TRY(add_entry(f, H, p->jac_dof[c] + d, place, J[d]));
          else TB_TRY(add_entry(f, G, p->jac_dof[c] + d, place - f->tied, J[d]));
        }
      }
  return TB_OK;
}

static tbStatus put_motion(File* f)
{
  const tbProblem* p = f->p;
  double* force = TB_TAKE(&f->arena, double, (size_t)p->ndof);
  int* blocks = TB_TAKE(&f->arena, int, 2 * (size_t)p->nblock);
  if (!force || !blocks) return TB_ERROR_MEMORY;
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* block = &p->block[b];
    tb_metric_multiply_add(block, p->v_free + block->dof, force + block->dof);
    blocks[b] = (int)block->kind;
    blocks[p->nblock + b] = block->size;
  }
  tb_h5_put_doubles(&f->h, path_to(f, "vectors", "f"), (size_t)p->ndof, force);
  tb_h5_put_group(&f->h, "/tribo");
  tb_h5_put_ints(&f->h, "/tribo/blocks", 2 * (size_t)p->nblock, blocks);
  tb_h5_put_doubles(&f->h, "/tribo/v_free", (size_t)p->ndof, p->v_free);
  return TB_OK;
}

static tbStatus put_global(File* f)
{
  Entries part[3];
  for (int i = 0; i < 3; i++) part[i] = (Entries){TB_ARRAY(int), TB_ARRAY(int), TB_ARRAY(double)};
  Entries *M = &part[0], *H = &part[1], *G = &part[2];
  tbStatus status = list_metric(f, M);
  if (status == TB_OK) status = list_jacobian(f, H, G);
  if (status == TB_OK) status = put_triplets(f, "M", f->p->ndof, f->p->ndof, M);
  if (status == TB_OK) status = put_triplets(f, "H", f->p->ndof, f->tied, H);
  if (status == TB_OK && f->free) status = put_triplets(f, "G", f->p->ndof, f->free, G);
  char group[64];
  snprintf(group, sizeof group, "%s/vectors", f->root);
  if (status == TB_OK) status = put_rows(f, group, "w", "b", f->p->bias);
  if (status == TB_OK) status = put_motion(f);
  for (int i = 0; i < 3; i++) {
    tb_array_free(f->ctx, &part[i].row);
    tb_array_free(f->ctx, &part[i].col);
    tb_array_free(f->ctx, &part[i].val);
  }
  return status;
}

// ---- the file ----

static tbStatus put_all(File* f, const double* guess)
{
  bool rolling = f->law == TB_LAW_ROLLING;
  if (f->p->W_ptr) f->root = rolling ? "/fclib_local_rolling" : "/fclib_local";
  else f->root = rolling ? "/fclib_global_rolling" : "/fclib_global";
  put_heading(f);
  TB_TRY(put_friction(f));
  TB_TRY(f->p->W_ptr ? put_local(f) : put_global(f));
  if (!guess) return TB_OK;
  tb_h5_put_group(&f->h, "/guesses");
  put_int(f, "/guesses/number_of_guesses", 1);
  tb_h5_put_group(&f->h, "/guesses/1");
  return put_rows(f, "/guesses/1", "r", "l", guess);
}

static tbStatus make_image(File* f, const double* guess, char** bytes, size_t* length)
{
  TB_TRY(check(f, guess));
  TB_TRY(tb_h5_create(f->ctx, &f->h));
  tbStatus status = put_all(f, guess);
  if (status == TB_OK) return tb_h5_finish(&f->h, bytes, length);
  tb_h5_abandon(&f->h);
  return status;
}

tbStatus tb_problem_save_fclib(tbContext* ctx, const char* path, const tbProblem* problem,
                               const double* guess)
{
  File f = {.ctx = ctx, .p = problem};
  char* bytes = NULL;
  size_t length = 0;
  tb_arena_init(&f.arena, ctx);
  tbStatus status = make_image(&f, guess, &bytes, &length);
  tb_arena_free(&f.arena);
  if (status != TB_OK) return status;
  status = tb_write_file(ctx, path, bytes, length);
  tb_free(ctx, bytes);
  return status;
}

bool tb_have_fclib(void) { return true; }

#else

tbStatus tb_problem_save_fclib(tbContext* ctx, const char* path, const tbProblem* problem,
                               const double* guess)
{
  (void)problem, (void)guess;
  return tb_fail(
      ctx, TB_ERROR_UNSUPPORTED,
      "cannot write %s: Tribo was built without HDF5 (Debian: install libhdf5-dev and build again)", path);
}

bool tb_have_fclib(void) { return false; }

#endif
