// SPDX-License-Identifier: Apache-2.0
// Siconos' text form of a linear complementarity problem  w = M z + q,  0 ≤ w ⟂ z ≥ 0:
//
//   n
//   storage rows columns          of M; then, by storage,
//     0 dense          rows columns, then the values, column by column
//     1 sparse blocks  their number, block rows, block columns; where each block row and each block column
//                      ends; the lengths of the two lists that follow: first block of each block row,
//                      block column of each block; then every block: its number, its values column by column
//     2 sparse         an origin (1 triplets, 2 by columns, 3 by rows), then CSparse's print-out: a line of
//                      version, a line of sizes, then  `i j : x`  or per column  `col j : locations a to b`
//                      and  `i : x`
//   q                             n values; whatever follows is a remark
//
// Each row becomes a contact with law `nonneg`. Nothing is allocated that the text could not hold: every
// value takes at least two bytes of it.
#include "base/decimal.h"
#include "io/problem/problem_io.h"
#include "io/problem/matrix.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  tbContext* ctx;
  const char *name, *begin, *at, *end;
  tbArena arena;
} Text;

// Fails at a place in the text: file:line:column.
#define FAIL(t, where, ...) fail_at(t, where, __LINE__, __VA_ARGS__)

static tbStatus fail_at(Text* t, const char* where, int source_line, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

static tbStatus fail_at(Text* t, const char* where, int source_line, const char* format, ...)
{
  size_t line = 1, column = 1;
  for (const char* c = t->begin; c < where; c++) {
    if (*c == '\n') line++, column = 1;
    else if (((unsigned char)*c & 0xc0) != 0x80) // characters, not bytes
      column++;
  }
  char what[400];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return tb_fail_at(t->ctx, TB_ERROR_INPUT, __FILE__, source_line, "%s:%zu:%zu: %s", t->name, line, column,
                    what);
}

// ---- words ----

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_space(Text* t)
{
  while (t->at < t->end && is_space(*t->at)) t->at++;
}

static tbStatus next_number(Text* t, const char* what, double* out)
{
  skip_space(t);
  const char* start = t->at;
  if (start == t->end) return FAIL(t, start, "the file ends where %s should stand", what);
  const char* stop = tb_read_double(start, t->end, out);
  bool whole = stop > start && (stop == t->end || is_space(*stop) || *stop == ',');
  if (!whole || !isfinite(*out)) {
    int length = 0;
    while (start + length < t->end && length < 20 && !is_space(start[length])) length++;
    return FAIL(t, start, "expected %s, found \"%.*s\"", what, length, start);
  }
  t->at = stop;
  return TB_OK;
}

static tbStatus next_int(Text* t, const char* what, int least, int most, int* out)
{
  double value;
  TB_TRY(next_number(t, what, &value));
  const char* start = t->at;
  while (start > t->begin && !is_space(start[-1])) start--;
  if (value != floor(value)) return FAIL(t, start, "%s must be a whole number, not %g", what, value);
  if (value < least || value > most)
    return FAIL(t, start, "%s is %g; it must be %d to %d", what, value, least, most);
  *out = (int)value;
  return TB_OK;
}

static tbStatus next_word(Text* t, const char* word)
{
  skip_space(t);
  size_t length = strlen(word);
  if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0)
    return FAIL(t, t->at, "expected \"%s\"", word);
  t->at += length;
  return TB_OK;
}

// As many numbers as still fit the text.
static int room(const Text* t)
{
  size_t most = (size_t)(t->end - t->at) / 2 + 1;
  return most < INT_MAX ? (int)most : INT_MAX;
}

static tbStatus ints(Text* t, const char* what, int count, int least, int most, int** out)
{
  if (count > room(t)) return FAIL(t, t->at, "%d values of %s do not fit the rest of the file", count, what);
  *out = TB_TAKE(&t->arena, int, (size_t)count);
  if (!*out) return TB_ERROR_MEMORY;
  for (int i = 0; i < count; i++) TB_TRY(next_int(t, what, least, most, &(*out)[i]));
  return TB_OK;
}

static tbStatus numbers(Text* t, const char* what, size_t count, double** out)
{
  if (count > (size_t)room(t))
    return FAIL(t, t->at, "%zu values of %s do not fit the rest of the file", count, what);
  *out = TB_TAKE(&t->arena, double, count);
  if (!*out) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < count; i++) TB_TRY(next_number(t, what, &(*out)[i]));
  return TB_OK;
}

// ---- M in its three storages ----

static tbStatus read_dense(Text* t, int n, tbCsr* M)
{
  int rows, cols;
  double* x = NULL;
  TB_TRY(next_int(t, "the number of rows", n, n, &rows));
  TB_TRY(next_int(t, "the number of columns", n, n, &cols));
  TB_TRY(numbers(t, "M", (size_t)n * (size_t)n, &x));
  return tb_csr_from_dense(&t->arena, n, n, x, 1, (size_t)n, M);
}

// Where block rows (or columns) end: increasing up to n.
static tbStatus read_ends(Text* t, const char* what, int count, int n, int** out)
{
  const char* where = t->at;
  TB_TRY(ints(t, what, count, 1, n, out));
  for (int i = 1; i < count; i++)
    if ((*out)[i] <= (*out)[i - 1]) return FAIL(t, where, "%s do not increase", what);
  if (count < 1 || (*out)[count - 1] != n) return FAIL(t, where, "%s do not reach %d", what, n);
  return TB_OK;
}

typedef struct {
  int count;
  int *row, *col;
  double* val;
} Entries;

static tbStatus allocate_entries(Text* t, int count, Entries* e)
{
  if (count > room(t)) return FAIL(t, t->at, "%d entries do not fit the rest of the file", count);
  *e = (Entries){0, TB_TAKE(&t->arena, int, (size_t)count), TB_TAKE(&t->arena, int, (size_t)count),
                 TB_TAKE(&t->arena, double, (size_t)count)};
  return e->row && e->col && e->val ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus read_block(Text* t, const int* row_end, const int* col_end, int r, int c, Entries* e)
{
  int i0 = r ? row_end[r - 1] : 0, j0 = c ? col_end[c - 1] : 0;
  for (int j = j0; j < col_end[c]; j++)
    for (int i = i0; i < row_end[r]; i++, e->count++) {
      e->row[e->count] = i, e->col[e->count] = j;
      TB_TRY(next_number(t, "a value of a block", &e->val[e->count]));
    }
  return TB_OK;
}

static tbStatus read_blocks(Text* t, int n, tbCsr* M)
{
  int blocks, across, down, starts, *row_end, *col_end, *first, *column, number;
  TB_TRY(next_int(t, "the number of blocks", 0, room(t), &blocks));
  TB_TRY(next_int(t, "the number of block rows", 1, n, &down));
  TB_TRY(next_int(t, "the number of block columns", 1, n, &across));
  TB_TRY(read_ends(t, "the ends of block rows", down, n, &row_end));
  TB_TRY(read_ends(t, "the ends of block columns", across, n, &col_end));
  TB_TRY(next_int(t, "the length of the list of block rows", 1, down + 1, &starts));
  TB_TRY(next_int(t, "the length of the list of blocks", blocks, blocks, &blocks));
  const char* where = t->at;
  TB_TRY(ints(t, "the first block of a block row", starts, 0, blocks, &first));
  TB_TRY(ints(t, "the block column of a block", blocks, 0, across - 1, &column));
  for (int r = 0; r + 1 < starts; r++)
    if (first[r + 1] < first[r] || first[0] != 0)
      return FAIL(t, where, "the first blocks of block rows must start at 0 and not decrease");
  if (first[starts - 1] != blocks)
    return FAIL(t, where, "the block rows hold %d of %d blocks", first[starts - 1], blocks);

  size_t total = 0;
  for (int r = 0; r + 1 < starts; r++)
    for (int b = first[r]; b < first[r + 1]; b++) {
      int c = column[b], high = row_end[r] - (r ? row_end[r - 1] : 0),
          wide = col_end[c] - (c ? col_end[c - 1] : 0);
      total += (size_t)high * (size_t)wide;
      if (total > (size_t)room(t)) return FAIL(t, where, "the blocks do not fit the rest of the file");
    }
  Entries e;
  TB_TRY(allocate_entries(t, (int)total, &e));
  for (int r = 0; r + 1 < starts; r++)
    for (int b = first[r]; b < first[r + 1]; b++) {
      TB_TRY(next_int(t, "the number of the block", b, b, &number));
      TB_TRY(read_block(t, row_end, col_end, r, column[b], &e));
    }
  return tb_csr_take_triplets(&t->arena, n, n, e.count, e.row, e.col, e.val, M);
}

static void skip_line(Text* t)
{
  while (t->at < t->end && *t->at++ != '\n') {}
}

// `triplet: 4-by-4, nzmax: 16 nnz: 10` or `4-by-4, nzmax: 16 nnz: 10, 1-norm: 3`
static tbStatus read_sizes(Text* t, int n, bool* triplets, int* count)
{
  skip_space(t);
  *triplets = t->at < t->end && *t->at == 't';
  if (*triplets) TB_TRY(next_word(t, "triplet:"));
  char sizes[40];
  snprintf(sizes, sizeof sizes, "%d-by-%d,", n, n);
  TB_TRY(next_word(t, sizes));
  TB_TRY(next_word(t, "nzmax:"));
  TB_TRY(next_int(t, "nzmax", 0, INT_MAX, count));
  TB_TRY(next_word(t, "nnz:"));
  TB_TRY(next_int(t, "nnz", 0, room(t), count));
  if (!*triplets) skip_line(t); // the norm
  return TB_OK;
}

static tbStatus read_entry(Text* t, int n, int line, Entries* e)
{
  int k = e->count++;
  TB_TRY(next_int(t, "a row", 0, n - 1, &e->row[k]));
  e->col[k] = line;
  if (line < 0) TB_TRY(next_int(t, "a column", 0, n - 1, &e->col[k]));
  TB_TRY(next_word(t, ":"));
  return next_number(t, "a value", &e->val[k]);
}

static tbStatus read_sparse(Text* t, int n, tbCsr* M)
{
  enum { TRIPLETS = 1, COLUMNS = 2, ROWS = 3 };
  int origin, count, from, to, column;
  bool triplets;
  Entries e;
  TB_TRY(next_int(t, "the origin", TRIPLETS, ROWS, &origin));
  skip_line(t); // the rest of the origin's line
  skip_line(t); // CSparse's version
  TB_TRY(read_sizes(t, n, &triplets, &count));
  TB_TRY(allocate_entries(t, count, &e));
  for (int k = 0; triplets && k < count; k++) TB_TRY(read_entry(t, n, -1, &e));
  for (int j = 0; !triplets && j < n; j++) {
    TB_TRY(next_word(t, "col"));
    TB_TRY(next_int(t, "the number of the column", j, j, &column));
    TB_TRY(next_word(t, ": locations"));
    TB_TRY(next_int(t, "the first entry", e.count, e.count, &from));
    TB_TRY(next_word(t, "to"));
    TB_TRY(next_int(t, "the last entry", from - 1, count - 1, &to));
    while (e.count <= to) TB_TRY(read_entry(t, n, j, &e));
  }
  bool by_rows = !triplets && origin == ROWS; // CSparse prints them as if they were columns
  return tb_csr_take_triplets(&t->arena, n, n, e.count, by_rows ? e.col : e.row, by_rows ? e.row : e.col,
                              e.val, M);
}

static tbStatus read_problem(Text* t, tbProblem** out)
{
  enum { DENSE, BLOCKS, SPARSE };
  int n, storage, rows, cols;
  double* q = NULL;
  tbCsr M;
  TB_TRY(next_int(t, "the size of the problem", 1, room(t), &n));
  TB_TRY(next_int(t, "the storage of M", DENSE, SPARSE, &storage));
  TB_TRY(next_int(t, "the number of rows of M", n, n, &rows));
  TB_TRY(next_int(t, "the number of columns of M", n, n, &cols));
  TB_TRY((storage == DENSE ? read_dense : storage == BLOCKS ? read_blocks : read_sparse)(t, n, &M));
  TB_TRY(numbers(t, "q", (size_t)n, &q));

  char stem[TB_STEM];
  tbBuilder* b;
  tb_path_stem(t->name, stem);
  TB_TRY(tb_builder_create(t->ctx, stem, &b));
  tb_builder_explicit(b, n, M.ptr, M.idx, M.val);
  for (int i = 0; i < n; i++) tb_builder_contact(b, TB_LAW_NONNEG, 1, NULL, q + i, NULL);
  tbStatus status = tb_builder_finish(b, out);
  return status == TB_ERROR_INPUT ? tb_fail_in(t->ctx, t->name, status) : status;
}

tbStatus tb_problem_parse_lcp(tbContext* ctx, const char* name, const char* bytes, size_t length,
                              tbProblem** out, double** guess)
{
  Text t = {.ctx = ctx, .name = name, .begin = bytes, .at = bytes, .end = bytes + length};
  *out = NULL;
  *guess = NULL;
  tb_arena_init(&t.arena, ctx);
  tbStatus status = read_problem(&t, out);
  tb_arena_free(&t.arena);
  return status;
}
