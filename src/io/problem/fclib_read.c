// SPDX-License-Identifier: Apache-2.0
// Reading FCLIB files (Acary, Brémond, Huber 2014), whose contacts come in rows (normal, t1, t2[, r, s]):
//
//   /fclib_local             u = W r + V l + q,   Vᵀ r + R l + s = 0
//   /fclib_global            M v = H r + G l + f,   u = Hᵀ v + w,   Gᵀ v + b = 0
//   /fclib_…_rolling         the same with mu_r and five rows per contact
//
// Multipliers l become rows with law `free` behind the contacts. Vectors are read first: their extents are
// what the file really holds, and every matrix must have the sizes they call for.
#include "io/problem/eliminate.h"
#include "io/problem/from_matrices.h"
#include "io/problem/h5.h"
#include "io/problem/problem_io.h"
#include "io/problem/matrix.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FAIL(f, ...) tb_fail((f)->ctx, TB_ERROR_INPUT, __VA_ARGS__)

typedef struct {
  tbContext* ctx;
  tbH5 h;
  tbArena arena;
  const char* root; // the problem's group
  char path[128];
} File;

static const char* path_to(File* f, const char* below)
{
  snprintf(f->path, sizeof f->path, "%s/%s", f->root, below);
  return f->path;
}

static const char* part_of(File* f, const char* matrix, const char* part)
{
  snprintf(f->path, sizeof f->path, "%s/%s/%s", f->root, matrix, part);
  return f->path;
}

// ---- vectors and numbers ----

static tbStatus read_int(File* f, const char* path, int* out)
{
  size_t count;
  TB_TRY(tb_h5_extent(&f->h, path, &count));
  if (count != 1) return FAIL(f, "%s holds %zu values; expected one integer", path, count);
  return tb_h5_ints(&f->h, path, 1, out);
}

// A whole vector; *count < 0: of any length, which is then returned.
static tbStatus read_vector(File* f, const char* path, int* count, double** out)
{
  size_t extent;
  TB_TRY(tb_h5_extent(&f->h, path, &extent));
  if (extent > INT_MAX / 2) return FAIL(f, "%s has %zu values, too many", path, extent);
  if (*count >= 0 && extent != (size_t)*count)
    return FAIL(f, "%s has %zu values, expected %d", path, extent, *count);
  *out = TB_TAKE(&f->arena, double, extent);
  if (!*out) return TB_ERROR_MEMORY;
  *count = (int)extent;
  return tb_h5_doubles(&f->h, path, extent, *out);
}

// ---- matrices ----

typedef struct {
  const char* label;
  int m, n, nz;
  size_t p_count, i_count, x_count; // extents of the datasets
  int *p, *i;
  double* x;
} Matrix;

static tbStatus read_part(File* f, const Matrix* A, const char* part, size_t count, int** out)
{
  *out = TB_TAKE(&f->arena, int, count);
  if (!*out) return TB_ERROR_MEMORY;
  return tb_h5_ints(&f->h, part_of(f, A->label, part), count, *out);
}

static tbStatus check_indices(File* f, const Matrix* A, const char* part, const int* index, size_t count,
                              int limit, const char* what)
{
  for (size_t k = 0; k < count; k++)
    if (index[k] < 0 || index[k] >= limit)
      return FAIL(f, "%s[%zu] = %d is out of range (%d %s)", part_of(f, A->label, part), k, index[k], limit,
                  what);
  return TB_OK;
}

static bool all_zero(const int* x, size_t count)
{
  for (size_t k = 0; k < count; k++)
    if (x[k] != 0) return false;
  return true;
}

static tbStatus read_values(File* f, Matrix* A, size_t count)
{
  A->x = TB_TAKE(&f->arena, double, count);
  if (!A->x) return TB_ERROR_MEMORY;
  return tb_h5_doubles(&f->h, part_of(f, A->label, "x"), count, A->x);
}

static tbStatus read_triplets(File* f, Matrix* A, tbCsr* out)
{
  size_t count = (size_t)A->nz;
  TB_TRY(read_part(f, A, "i", count, &A->i));
  TB_TRY(read_part(f, A, "p", count, &A->p));
  TB_TRY(read_values(f, A, count));
  TB_TRY(check_indices(f, A, "i", A->i, count, A->m, "rows"));
  TB_TRY(check_indices(f, A, "p", A->p, count, A->n, "columns"));
  return tb_csr_take_triplets(&f->arena, A->m, A->n, A->nz, A->i, A->p, A->x, out);
}

// Some writers leave p or i at zero and store the full matrix: the values of every row (CSR) or column.
static bool is_secretly_dense(const Matrix* A, int lines, int across)
{
  if (across < 2 || A->x_count != (size_t)A->m * (size_t)A->n) return false;
  return all_zero(A->p, (size_t)lines + 1) || (A->i_count == A->x_count && all_zero(A->i, A->i_count));
}

// CSC and CSR: `lines` compressed lines, each with entries 0 … across−1.
static tbStatus read_compressed(File* f, Matrix* A, tbCsr* out)
{
  bool by_column = A->nz == -1;
  int lines = by_column ? A->n : A->m, across = by_column ? A->m : A->n;
  if (A->p_count != (size_t)lines + 1)
    return FAIL(f, "%s has %zu values, expected %d", part_of(f, A->label, "p"), A->p_count, lines + 1);
  TB_TRY(read_part(f, A, "p", A->p_count, &A->p));
  TB_TRY(read_part(f, A, "i", A->i_count, &A->i));
  if (is_secretly_dense(A, lines, across)) {
    TB_TRY(read_values(f, A, A->x_count));
    return tb_csr_from_dense(&f->arena, A->m, A->n, A->x, by_column ? 1 : (size_t)A->n,
                             by_column ? (size_t)A->m : 1, out);
  }
  for (int k = 0; k <= lines; k++)
    if (A->p[k] < 0 || (k == 0 && A->p[k] != 0) || (k > 0 && A->p[k] < A->p[k - 1]))
      return FAIL(f, "%s[%d] = %d; starts must begin at 0 and not decrease", part_of(f, A->label, "p"), k,
                  A->p[k]);
  size_t count = (size_t)A->p[lines];
  if (A->i_count < count || A->x_count < count)
    return FAIL(f, "%s has %zu values, but p calls for %zu",
                part_of(f, A->label, A->i_count < count ? "i" : "x"),
                A->i_count < count ? A->i_count : A->x_count, count);
  TB_TRY(check_indices(f, A, "i", A->i, count, across, by_column ? "rows" : "columns"));
  TB_TRY(read_values(f, A, count));
  int* line = TB_TAKE(&f->arena, int, count);
  if (!line) return TB_ERROR_MEMORY;
  for (int k = 0; k < lines; k++)
    for (int e = A->p[k]; e < A->p[k + 1]; e++) line[e] = k;
  return tb_csr_take_triplets(&f->arena, A->m, A->n, (int)count, by_column ? A->i : line,
                              by_column ? line : A->i, A->x, out);
}

static tbStatus read_matrix(File* f, const char* label, int rows, int cols, tbCsr* out)
{
  Matrix A = {.label = label};
  TB_TRY(read_int(f, part_of(f, label, "m"), &A.m));
  TB_TRY(read_int(f, part_of(f, label, "n"), &A.n));
  TB_TRY(read_int(f, part_of(f, label, "nz"), &A.nz));
  if (A.m != rows || A.n != cols)
    return FAIL(f, "%s is %d × %d, but the vectors call for %d × %d", path_to(f, label), A.m, A.n, rows,
                cols);
  if (A.nz < -2)
    return FAIL(f, "%s = %d; it is a number of triplets, -1 (CSC) or -2 (CSR)", part_of(f, label, "nz"),
                A.nz);
  TB_TRY(tb_h5_extent(&f->h, part_of(f, label, "p"), &A.p_count));
  TB_TRY(tb_h5_extent(&f->h, part_of(f, label, "i"), &A.i_count));
  TB_TRY(tb_h5_extent(&f->h, part_of(f, label, "x"), &A.x_count));
  if (A.nz < 0) return read_compressed(f, &A, out);
  size_t least = A.p_count < A.i_count ? A.p_count : A.i_count;
  if (A.x_count < least) least = A.x_count;
  if (least < (size_t)A.nz)
    return FAIL(f, "%s = %d, but p, i or x have only %zu values", part_of(f, label, "nz"), A.nz, least);
  return read_triplets(f, &A, out);
}

// ---- problems ----

// The law, the friction coefficients, and room for the biases of contacts and multipliers.
static tbStatus read_contacts(File* f, bool rolling, const char* bias, const char* free_bias, bool has_free,
                              tbContactList* list)
{
  int rows = -1, free = -1, contacts;
  double *b, *s = NULL, *mu, *mu_r = NULL;
  TB_TRY(read_int(f, path_to(f, "spacedim"), &list->rows));
  if (rolling ? list->rows != 5 : list->rows != 2 && list->rows != 3)
    return FAIL(f, "%s = %d; it must be %s", path_to(f, "spacedim"), list->rows, rolling ? "5" : "2 or 3");
  TB_TRY(read_vector(f, path_to(f, bias), &rows, &b));
  if (rows % list->rows != 0)
    return FAIL(f, "%s has %d values, not a multiple of spacedim = %d", path_to(f, bias), rows, list->rows);
  contacts = rows / list->rows;
  TB_TRY(read_vector(f, path_to(f, "vectors/mu"), &contacts, &mu));
  if (rolling) TB_TRY(read_vector(f, path_to(f, "vectors/mu_r"), &contacts, &mu_r));
  if (has_free) TB_TRY(read_vector(f, path_to(f, free_bias), &free, &s));
  list->law = rolling ? TB_LAW_ROLLING : TB_LAW_COULOMB;
  list->contacts = contacts;
  list->free = has_free ? free : 0;
  list->mu = mu;
  list->mu_r = mu_r;

  size_t total = (size_t)rows + (size_t)list->free;
  double* all = TB_TAKE(&f->arena, double, total);
  if (!all) return TB_ERROR_MEMORY;
  if (total > INT_MAX) return FAIL(f, "more than %d rows", INT_MAX);
  memcpy(all, b, (size_t)rows * sizeof *all);
  if (s) memcpy(all + rows, s, (size_t)list->free * sizeof *all);
  list->bias = all;
  return TB_OK;
}

static tbStatus read_local(File* f, const char* stem, bool rolling, tbContactList* list, tbProblem** out)
{
  bool has_V, has_R;
  TB_TRY(tb_h5_has(&f->h, path_to(f, "V"), &has_V));
  TB_TRY(tb_h5_has(&f->h, path_to(f, "R"), &has_R));
  if (has_V != has_R) return FAIL(f, "%s has %s without %s", f->root, has_V ? "V" : "R", has_V ? "R" : "V");
  TB_TRY(read_contacts(f, rolling, "vectors/q", "vectors/s", has_V, list));
  int rows = list->contacts * list->rows;
  tbCsr W, V, Vt, R, all;
  TB_TRY(read_matrix(f, "W", rows, rows, &W));
  if (!has_V) return tb_assemble_local(f->ctx, stem, list, &W, out);
  TB_TRY(read_matrix(f, "V", rows, list->free, &V));
  TB_TRY(read_matrix(f, "R", list->free, list->free, &R));
  TB_TRY(tb_csr_take_transpose(&f->arena, &V, &Vt));
  TB_TRY(tb_csr_join(&f->arena, &W, &V, &Vt, &R, &all));
  return tb_assemble_local(f->ctx, stem, list, &all, out);
}

// What tb_problem_save_fclib adds for Tribo: see fclib_write.c.
static tbStatus read_blocks(File* f, int dofs, tbBlockList* blocks)
{
  bool has_blocks, has_v_free;
  size_t count;
  TB_TRY(tb_h5_has(&f->h, "/tribo/blocks", &has_blocks));
  if (!has_blocks) return TB_OK;
  TB_TRY(tb_h5_extent(&f->h, "/tribo/blocks", &count));
  if (count / 2 > (size_t)dofs || count % 2)
    return FAIL(f, "/tribo/blocks has %zu values for %d degrees of freedom", count, dofs);
  int* pairs = TB_TAKE(&f->arena, int, count);
  if (!pairs) return TB_ERROR_MEMORY;
  TB_TRY(tb_h5_ints(&f->h, "/tribo/blocks", count, pairs));
  blocks->count = (int)(count / 2);
  blocks->kind = pairs;
  blocks->size = pairs + count / 2;
  TB_TRY(tb_h5_has(&f->h, "/tribo/v_free", &has_v_free));
  if (!has_v_free) return TB_OK;
  double* v;
  TB_TRY(read_vector(f, "/tribo/v_free", &dofs, &v));
  blocks->v_free = v;
  return TB_OK;
}

// Without the velocities where M is not symmetric.
static tbStatus assemble_global(File* f, const char* stem, tbContactList* list, const tbCsr* M,
                                const tbCsr* J, const double* force, const tbBlockList* blocks,
                                tbProblem** out)
{
  bool eliminates = false;
  tbCsr W;
  if (!blocks->count) TB_TRY(tb_eliminates(&f->arena, M, J, &eliminates));
  if (!eliminates) return tb_assemble_global(f->ctx, stem, list, M, J, force, blocks, out);
  TB_TRY(tb_eliminate(&f->arena, M, J, force, list->bias, &W));
  return tb_assemble_local(f->ctx, stem, list, &W, out);
}

static tbStatus read_global(File* f, const char* stem, bool rolling, tbContactList* list, tbProblem** out)
{
  bool has_G;
  TB_TRY(tb_h5_has(&f->h, path_to(f, "G"), &has_G));
  TB_TRY(read_contacts(f, rolling, "vectors/w", "vectors/b", has_G, list));
  int dofs = -1, rows = list->contacts * list->rows;
  double* force;
  tbBlockList blocks = {0};
  tbCsr M, H, Ht, G, Gt, J;
  TB_TRY(read_vector(f, path_to(f, "vectors/f"), &dofs, &force));
  TB_TRY(read_matrix(f, "M", dofs, dofs, &M));
  TB_TRY(tb_csr_complete_triangle(&f->arena, &M)); // some writers store one half of a symmetric M
  TB_TRY(read_matrix(f, "H", dofs, rows, &H));
  TB_TRY(tb_csr_take_transpose(&f->arena, &H, &Ht));
  TB_TRY(read_blocks(f, dofs, &blocks));
  if (!has_G) return assemble_global(f, stem, list, &M, &Ht, force, &blocks, out);
  TB_TRY(read_matrix(f, "G", dofs, list->free, &G));
  TB_TRY(tb_csr_take_transpose(&f->arena, &G, &Gt));
  tbCsr none[2] = {{rows, 0, NULL, NULL, NULL}, {list->free, 0, NULL, NULL, NULL}};
  for (int i = 0; i < 2; i++) {
    none[i].ptr = TB_TAKE(&f->arena, int, (size_t)none[i].rows + 1);
    if (!none[i].ptr) return TB_ERROR_MEMORY;
  }
  TB_TRY(tb_csr_join(&f->arena, &Ht, &none[0], &Gt, &none[1], &J));
  return assemble_global(f, stem, list, &M, &J, force, &blocks, out);
}

static tbStatus read_guess(File* f, const tbContactList* list, double** guess)
{
  int count = 0, rows = list->contacts * list->rows, free = list->free;
  bool has_guesses;
  double *r, *l = NULL;
  TB_TRY(tb_h5_has(&f->h, "/guesses/number_of_guesses", &has_guesses));
  if (!has_guesses) return TB_OK;
  TB_TRY(read_int(f, "/guesses/number_of_guesses", &count));
  if (count < 1) return TB_OK;
  TB_TRY(read_vector(f, "/guesses/1/r", &rows, &r));
  if (free) TB_TRY(read_vector(f, "/guesses/1/l", &free, &l));
  double* all = TB_NEW(f->ctx, double, (size_t)rows + (size_t)free);
  if (!all) return TB_ERROR_MEMORY;
  memcpy(all, r, (size_t)rows * sizeof *all);
  if (l) memcpy(all + rows, l, (size_t)free * sizeof *all);
  *guess = all;
  return TB_OK;
}

static tbStatus read_file(File* f, const char* name, tbProblem** out, double** guess)
{
  static const struct {
    const char* root;
    bool global, rolling;
  } kinds[] = {{"/fclib_local", false, false},
               {"/fclib_global", true, false},
               {"/fclib_local_rolling", false, true},
               {"/fclib_global_rolling", true, true}};
  char stem[TB_STEM];
  tb_path_stem(name, stem);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    bool has_root;
    TB_TRY(tb_h5_has(&f->h, kinds[i].root, &has_root));
    if (!has_root) continue;
    tbContactList list = {0};
    f->root = kinds[i].root;
    tbStatus status = (kinds[i].global ? read_global : read_local)(f, stem, kinds[i].rolling, &list, out);
    if (status == TB_OK) status = read_guess(f, &list, guess);
    return status;
  }
  return FAIL(f, "an HDF5 file, but without /fclib_local or /fclib_global");
}

tbStatus tb_problem_parse_fclib(tbContext* ctx, const char* name, const char* bytes, size_t length,
                                tbProblem** out, double** guess)
{
  File f = {.ctx = ctx};
  *out = NULL;
  *guess = NULL;
  tb_arena_init(&f.arena, ctx);
  tbStatus status = tb_h5_open(ctx, bytes, length, &f.h);
  if (status == TB_OK) status = read_file(&f, name, out, guess);
  tb_h5_close(&f.h);
  tb_arena_free(&f.arena);
  if (status == TB_OK) return TB_OK;
  tb_problem_free(*out);
  *out = NULL;
  return tb_fail_in(ctx, name, status);
}
