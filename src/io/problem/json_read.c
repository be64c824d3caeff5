// SPDX-License-Identifier: Apache-2.0
// Tribo's JSON problem format, read: docs/problem-format.md. What is wrong with a value is said with its line
// and column; what only the whole shows (a metric that is not positive definite, say) with the place of the
// part that holds it.
#include "io/problem/problem_io.h"
#include "io/problem/json.h"
#include "io/problem/matrix.h"

#include <limits.h>
#include <math.h>
#include <string.h>

typedef struct {
  tbContext* ctx;
  tbArena arena;
  tbBuilder* builder;
  int dofs, rows; // so far
} Reader;

#define FIELDS(ctx, node, fields) tb_json_read_object(ctx, node, fields, sizeof(fields) / sizeof *(fields))

// Puts the node's place before what the builder says.
static tbStatus placed(Reader* r, const tbJson* node, tbStatus status)
{
  if (status == TB_OK || status == TB_ERROR_MEMORY) return status;
  tbError below = r->ctx->error;
  tb_json_fail_at(r->ctx, node->file, node->line, node->column, below.source_file, below.source_line, "%s",
                  below.message);
  return r->ctx->error.status = status;
}

// ---- arrays ----

static tbStatus read_numbers(Reader* r, const tbJson* node, int* count, double** out)
{
  TB_TRY(tb_json_get_type(r->ctx, node, TB_JSON_ARRAY));
  if (node->count > INT_MAX) return tb_json_fail(r->ctx, node, "too many values");
  *count = (int)node->count;
  *out = TB_TAKE(&r->arena, double, node->count);
  if (!*out) return TB_ERROR_MEMORY;
  return tb_json_get_numbers(r->ctx, node, *count, *count, TB_ANY, *out, NULL);
}

static tbStatus read_ints(Reader* r, const tbJson* node, int max, int* count, int** out)
{
  TB_TRY(tb_json_get_type(r->ctx, node, TB_JSON_ARRAY));
  if (node->count > INT_MAX) return tb_json_fail(r->ctx, node, "too many values");
  *count = (int)node->count;
  *out = TB_TAKE(&r->arena, int, node->count);
  if (!*out) return TB_ERROR_MEMORY;
  for (int i = 0; i < *count; i++) TB_TRY(tb_json_get_int(r->ctx, &node->items[i], 0, max, &(*out)[i]));
  return TB_OK;
}

// A full matrix: an array of rows. *rows or *cols < 0: of any number, which is then returned.
static tbStatus read_matrix(Reader* r, const tbJson* node, int* rows, int* cols, double** out)
{
  TB_TRY(tb_json_get_type(r->ctx, node, TB_JSON_ARRAY));
  if (*rows >= 0 && node->count != (uint32_t)*rows)
    return tb_json_fail(r->ctx, node, "expected %d rows, found %u", *rows, node->count);
  if (node->count > INT_MAX) return tb_json_fail(r->ctx, node, "too many rows");
  *rows = (int)node->count;
  // Every row is checked before the matrix is allocated: its size is then that of the text.
  for (int i = 0; i < *rows; i++) {
    const tbJson* row = &node->items[i];
    TB_TRY(tb_json_get_type(r->ctx, row, TB_JSON_ARRAY));
    if (*cols < 0 && row->count <= INT_MAX) *cols = (int)row->count;
    if (row->count != (uint32_t)*cols)
      return tb_json_fail(r->ctx, row, "expected %d numbers in the row, found %u", *cols, row->count);
  }
  if (*cols < 0) *cols = 0;
  *out = TB_TAKE(&r->arena, double, (size_t)*rows*(size_t)*cols);
  if (!*out) return TB_ERROR_MEMORY;
  for (int i = 0; i < *rows; i++)
    TB_TRY(tb_json_get_numbers(r->ctx, &node->items[i], *cols, *cols, TB_ANY,
                               *out + (size_t)i * (size_t)*cols, NULL));
  return TB_OK;
}

// {"ptr", "col", "val"}: compressed rows, columns increasing.
static tbStatus read_csr(Reader* r, const tbJson* node, tbCsr* out)
{
  const tbJson *ptr = NULL, *col = NULL, *val = NULL;
  const tbJsonField fields[] = {tb_required(tb_field_array("ptr", &ptr)),
                                tb_required(tb_field_array("col", &col)),
                                tb_required(tb_field_array("val", &val))};
  int starts, cols, vals;
  TB_TRY(FIELDS(r->ctx, node, fields));
  TB_TRY(read_ints(r, ptr, INT_MAX, &starts, &out->ptr));
  if (starts < 1) return tb_json_fail(r->ctx, ptr, "\"ptr\" has one value more than there are rows");
  out->rows = out->cols = starts - 1;
  TB_TRY(read_ints(r, col, out->cols - 1, &cols, &out->idx));
  TB_TRY(read_numbers(r, val, &vals, &out->val));
  for (int i = 0; i < starts; i++)
    if (i == 0 ? out->ptr[0] != 0 : out->ptr[i] < out->ptr[i - 1])
      return tb_json_fail(r->ctx, &ptr->items[i], "row starts must begin at 0 and not decrease");
  if (cols != out->ptr[starts - 1] || vals != cols)
    return tb_json_fail(r->ctx, node, "\"ptr\" calls for %d entries, \"col\" has %d and \"val\" %d",
                        out->ptr[starts - 1], cols, vals);
  for (int i = 0; i < out->rows; i++)
    for (int e = out->ptr[i] + 1; e < out->ptr[i + 1]; e++)
      if (out->idx[e] <= out->idx[e - 1])
        return tb_json_fail(r->ctx, &col->items[e], "columns must increase within a row");
  return TB_OK;
}

// ---- the metric ----

static tbStatus check_v_free(Reader* r, const tbJson* v, int size, int given)
{
  if (given == size) return TB_OK;
  return tb_json_fail(r->ctx, v, "expected %d numbers in \"v_free\", found %d", size, given);
}

static tbStatus read_rigid(Reader* r, const tbJson* node, const double* v_free)
{
  double mass, *inertia;
  const tbJson* I = NULL;
  int three = 3, also = 3;
  const tbJsonField fields[] = {tb_required(tb_field_number("mass", &mass, TB_POSITIVE)),
                                tb_required(tb_field_array("inertia", &I))};
  TB_TRY(FIELDS(r->ctx, node, fields));
  TB_TRY(read_matrix(r, I, &three, &also, &inertia));
  return placed(r, node, tb_builder_rigid(r->builder, mass, inertia, v_free, NULL));
}

static tbStatus read_block(Reader* r, const tbJson* node)
{
  double mass = 0, *v_free, *A;
  int given, n = -1, also;
  const tbJson *v = NULL, *rigid = NULL, *dense = NULL, *sparse = NULL, *particle = NULL;
  const tbJsonField fields[] = {tb_field_any("particle", &particle), tb_field_object("rigid", &rigid),
                                tb_field_array("dense", &dense), tb_field_object("sparse", &sparse),
                                tb_required(tb_field_array("v_free", &v))};
  TB_TRY(FIELDS(r->ctx, node, fields));
  if ((particle != NULL) + (rigid != NULL) + (dense != NULL) + (sparse != NULL) != 1)
    return tb_json_fail(r->ctx, node,
                        "a metric block has exactly one of \"particle\", \"rigid\", \"dense\", \"sparse\"");
  TB_TRY(read_numbers(r, v, &given, &v_free));
  r->dofs += given;
  if (particle) {
    TB_TRY(tb_json_get_number(r->ctx, particle, TB_POSITIVE, &mass));
    if (given < 1 || given > 3)
      return tb_json_fail(r->ctx, v, "a particle has 1 to 3 velocities, found %d", given);
    return placed(r, node, tb_builder_particle(r->builder, given, mass, v_free, NULL));
  }
  if (rigid) {
    TB_TRY(check_v_free(r, v, 6, given));
    return read_rigid(r, rigid, v_free);
  }
  if (dense) {
    also = n = (int)(dense->count <= INT_MAX ? dense->count : INT_MAX);
    TB_TRY(read_matrix(r, dense, &n, &also, &A));
    TB_TRY(check_v_free(r, v, n, given));
    return placed(r, dense, tb_builder_dense(r->builder, n, A, v_free, NULL));
  }
  tbCsr S;
  TB_TRY(read_csr(r, sparse, &S));
  TB_TRY(check_v_free(r, v, S.rows, given));
  return placed(r, sparse, tb_builder_sparse(r->builder, S.rows, S.ptr, S.idx, S.val, v_free, NULL));
}

// ---- W ----

// {"entries": [[i, j, w], …]}, for the given number of rows.
static tbStatus read_entries(Reader* r, const tbJson* entries, int rows, tbCsr* W)
{
  size_t count = entries->count;
  int *row = TB_TAKE(&r->arena, int, count), *col = TB_TAKE(&r->arena, int, count);
  double* val = TB_TAKE(&r->arena, double, count);
  if (!row || !col || !val) return TB_ERROR_MEMORY;
  if (count > INT_MAX) return tb_json_fail(r->ctx, entries, "too many entries");
  for (size_t e = 0; e < count; e++) {
    const tbJson* item = &entries->items[e];
    TB_TRY(tb_json_get_type(r->ctx, item, TB_JSON_ARRAY));
    if (item->count != 3) return tb_json_fail(r->ctx, item, "an entry is [row, column, value]");
    TB_TRY(tb_json_get_int(r->ctx, &item->items[0], 0, rows - 1, &row[e]));
    TB_TRY(tb_json_get_int(r->ctx, &item->items[1], 0, rows - 1, &col[e]));
    TB_TRY(tb_json_get_number(r->ctx, &item->items[2], TB_ANY, &val[e]));
  }
  return tb_csr_take_triplets(&r->arena, rows, rows, (int)count, row, col, val, W);
}

static tbStatus read_W(Reader* r, const tbJson* node, int rows)
{
  tbCsr W;
  double* full;
  int cols = rows;
  const tbJson* entries = tb_json_find(node, "entries");
  if (node->type == TB_JSON_ARRAY) {
    TB_TRY(read_matrix(r, node, &rows, &cols, &full));
    TB_TRY(tb_csr_from_dense(&r->arena, rows, rows, full, (size_t)rows, 1, &W));
  } else if (entries) {
    const tbJsonField fields[] = {tb_field_array("entries", &entries)};
    TB_TRY(FIELDS(r->ctx, node, fields));
    TB_TRY(read_entries(r, entries, rows, &W));
  } else {
    TB_TRY(read_csr(r, node, &W));
    if (W.rows != rows)
      return tb_json_fail(r->ctx, node, "W has %d rows, but the contacts have %d", W.rows, rows);
  }
  return placed(r, node, tb_builder_explicit(r->builder, W.rows, W.ptr, W.idx, W.val));
}

// ---- contacts ----

typedef struct {
  tbLaw law;
  int rows;
  double bias[TB_MAX_ROWS], compliance[TB_MAX_ROWS], param[1 + TB_MAX_SIDES];
  const tbJson* jacobian;
} Contact;

// A bound or a coefficient of a list; null is an unbounded side.
static tbStatus read_listed(Reader* r, const tbJson* item, tbLaw law, int l, double* out)
{
  if (law != TB_LAW_BOX) return tb_json_get_number(r->ctx, item, TB_NONNEGATIVE, out);
  if (item->type != TB_JSON_NULL) return tb_json_get_number(r->ctx, item, TB_ANY, out);
  *out = l == 0 ? -INFINITY : INFINITY;
  return TB_OK;
}

static tbStatus read_lists(Reader* r, const tbLawKeys* keys, const tbJson* const list[2], Contact* c)
{
  for (int l = 0; l < 2; l++) {
    if (list[l]->count != (uint32_t)keys->each)
      return tb_json_fail(r->ctx, list[l], "expected %d values in \"%s\", found %u", keys->each,
                          keys->list[l], list[l]->count);
    for (int i = 0; i < keys->each; i++)
      TB_TRY(
          read_listed(r, &list[l]->items[i], c->law, l, &c->param[tb_law_list_at(c->law, keys->each, l, i)]));
  }
  for (int i = 0; c->law == TB_LAW_BOX && i < keys->each; i++)
    if (c->param[i] > c->param[keys->each + i])
      return tb_json_fail(r->ctx, &list[1]->items[i], "\"hi\" is below \"lo\"");
  return TB_OK;
}

// The law and the number of rows decide which other keys there are.
static tbStatus read_contact_fields(Reader* r, const tbJson* node, Contact* c)
{
  const char* names[TB_LAW_COUNT + 1] = {NULL};
  for (int i = 0; i < TB_LAW_COUNT; i++) names[i] = tb_law_name((tbLaw)i);
  const tbJson *law, *bias, *list[2] = {NULL, NULL};
  int choice, directions = 0;
  TB_TRY(tb_json_require(r->ctx, node, "law", &law));
  TB_TRY(tb_json_get_choice(r->ctx, law, names, &choice));
  TB_TRY(tb_json_require(r->ctx, node, "bias", &bias));
  TB_TRY(tb_json_get_numbers(r->ctx, bias, 1, TB_MAX_ROWS, TB_ANY, c->bias, &c->rows));
  c->law = (tbLaw)choice;
  if (tb_law_params(c->law, c->rows) < 0)
    return tb_json_fail(r->ctx, bias, "law %s does not take %d rows, which \"bias\" has", tb_law_name(c->law),
                        c->rows);

  tbLawKeys keys = tb_law_keys(c->law, c->rows);
  tbJsonField fields[9] = {tb_field_any("law", &law), tb_field_any("bias", &bias),
                           tb_field_numbers("compliance", c->compliance, c->rows, TB_NONNEGATIVE),
                           tb_field_array("jacobian", &c->jacobian)};
  size_t count = 4;
  for (int i = 0; i < keys.scalars; i++)
    fields[count++] = tb_required(
        tb_field_number(keys.scalar[i], &c->param[i], c->law == TB_LAW_TENSOR ? TB_ANY : TB_NONNEGATIVE));
  if (c->law == TB_LAW_POLYHEDRAL)
    fields[count - 1] = tb_required(tb_field_int("directions", &directions, 3, TB_MAX_DIRECTIONS));
  for (int l = 0; keys.each && l < 2; l++)
    fields[count++] = tb_required(tb_field_array(keys.list[l], &list[l]));
  TB_TRY(tb_json_read_object(r->ctx, node, fields, count));
  if (c->law == TB_LAW_POLYHEDRAL) c->param[1] = directions;
  if (c->law == TB_LAW_POLYGON) {
    if (list[0]->count < 2 || list[0]->count > (uint32_t)keys.each)
      return tb_json_fail(r->ctx, list[0], "expected 2 to %d values in \"%s\", found %u", keys.each,
                          keys.list[0], list[0]->count);
    keys.each = (int)list[0]->count, c->param[0] = 2 * keys.each;
  }
  return keys.each ? read_lists(r, &keys, list, c) : TB_OK;
}

static tbStatus read_column(Reader* r, const tbJson* node, int rows)
{
  int dof = 0, width = -1;
  double* values;
  const tbJson* J = NULL;
  const tbJsonField fields[] = {tb_required(tb_field_int("dof", &dof, 0, INT_MAX)),
                                tb_required(tb_field_array("J", &J))};
  TB_TRY(FIELDS(r->ctx, node, fields));
  TB_TRY(read_matrix(r, J, &rows, &width, &values));
  if (width < 1 || dof > r->dofs - width)
    return tb_json_fail(r->ctx, node, "degrees of freedom %d to %lld do not exist; there are %d", dof,
                        (long long)dof + width - 1, r->dofs);
  return placed(r, node, tb_builder_jacobian(r->builder, dof, width, values));
}

static tbStatus read_contact(Reader* r, const tbJson* node, bool explicit_W)
{
  Contact c = {0};
  TB_TRY(read_contact_fields(r, node, &c));
  TB_TRY(placed(r, node, tb_builder_contact(r->builder, c.law, c.rows, c.param, c.bias, c.compliance)));
  if (c.rows > INT_MAX - r->rows) return tb_json_fail(r->ctx, node, "too many rows");
  r->rows += c.rows;
  if (c.jacobian && explicit_W)
    return tb_json_fail(r->ctx, c.jacobian, "\"W\" is given, so there is no \"jacobian\"");
  for (uint32_t i = 0; c.jacobian && i < c.jacobian->count; i++)
    TB_TRY(read_column(r, &c.jacobian->items[i], c.rows));
  return TB_OK;
}

// ---- the whole ----

typedef struct {
  const char* name;
  const tbJson *metric, *W, *contacts, *guess;
} Parts;

static tbStatus read_root(Reader* r, const tbJson* root, Parts* p)
{
  int version;
  TB_TRY(tb_json_get_type(r->ctx, root, TB_JSON_OBJECT));
  if (!tb_json_find(root, "tribo_problem"))
    return tb_json_fail(r->ctx, root, "not a Tribo problem: the key \"tribo_problem\" is missing");
  const tbJsonField fields[] = {tb_field_int("tribo_problem", &version, TB_PROBLEM_FORMAT, TB_PROBLEM_FORMAT),
                                tb_field_string("name", &p->name),
                                tb_field_array("metric", &p->metric),
                                tb_field_any("W", &p->W),
                                tb_required(tb_field_array("contacts", &p->contacts)),
                                tb_field_array("guess", &p->guess)};
  TB_TRY(FIELDS(r->ctx, root, fields));
  if ((p->metric != NULL) == (p->W != NULL))
    return tb_json_fail(r->ctx, p->W ? p->W : root, "a problem has either \"metric\" or \"W\"");
  return TB_OK;
}

static tbStatus read_parts(Reader* r, const Parts* p)
{
  for (uint32_t i = 0; p->metric && i < p->metric->count; i++) TB_TRY(read_block(r, &p->metric->items[i]));
  for (uint32_t i = 0; i < p->contacts->count; i++)
    TB_TRY(read_contact(r, &p->contacts->items[i], p->W != NULL));
  return p->W ? read_W(r, p->W, r->rows) : TB_OK;
}

static tbStatus read_guess(Reader* r, const Parts* p, double** out)
{
  if (!p->guess) return TB_OK;
  if (p->guess->count != (uint32_t)r->rows)
    return tb_json_fail(r->ctx, p->guess, "expected %d values in \"guess\", one per row, found %u", r->rows,
                        p->guess->count);
  double* guess = TB_NEW(r->ctx, double, (size_t)r->rows);
  if (!guess) return TB_ERROR_MEMORY;
  tbStatus status = tb_json_get_numbers(r->ctx, p->guess, r->rows, r->rows, TB_ANY, guess, NULL);
  if (status == TB_OK) *out = guess;
  else tb_free(r->ctx, guess);
  return status;
}

static tbStatus read_problem(Reader* r, const tbJson* root, const char* stem, tbProblem** out, double** guess)
{
  Parts p = {.name = stem};
  TB_TRY(read_root(r, root, &p));
  TB_TRY(tb_builder_create(r->ctx, p.name, &r->builder));
  TB_TRY(read_parts(r, &p));
  tbBuilder* builder = r->builder;
  r->builder = NULL; // finish takes it
  TB_TRY(placed(r, p.W ? p.W : p.metric, tb_builder_finish(builder, out)));
  return read_guess(r, &p, guess);
}

tbStatus tb_problem_parse_json(tbContext* ctx, const char* name, const char* bytes, size_t length,
                               tbProblem** out, double** guess)
{
  Reader r = {.ctx = ctx};
  const tbJson* root = NULL;
  char stem[TB_STEM];
  *out = NULL;
  *guess = NULL;
  tb_path_stem(name, stem);
  tb_arena_init(&r.arena, ctx);
  tbStatus status = tb_json_parse(ctx, &r.arena, name, bytes, length, &root);
  if (status == TB_OK) status = read_problem(&r, root, stem, out, guess);
  tb_builder_abandon(r.builder);
  tb_arena_free(&r.arena);
  if (status != TB_OK) {
    tb_problem_free(*out);
    *out = NULL;
  }
  return status;
}
