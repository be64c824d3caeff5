// SPDX-License-Identifier: Apache-2.0
// Tribo's JSON problem format, written: every array reads back to the same bits.
#include "base/file.h"
#include "base/json_write.h"
#include "io/problem/problem_io.h"
#include "io/problem/json.h"

#include <math.h>
#include <string.h>

// Indices, through a small buffer of doubles, which hold any int. Long lists break into lines.
static void put_ints(tbJsonWriter* w, const char* key, const int* values, size_t count, double* room)
{
  for (size_t i = 0; i < count; i++) room[i] = values[i];
  tb_put_numbers(w, key, room, count);
}

static void put_matrix(tbJsonWriter* w, const char* key, int rows, int cols, const double* values)
{
  tb_put_array(w, key);
  for (int i = 0; i < rows; i++) tb_put_numbers(w, NULL, values + (size_t)i * (size_t)cols, (size_t)cols);
  tb_put_end(w);
}

static void put_csr(tbJsonWriter* w, const char* key, int rows, const int* ptr, const int* col,
                    const double* val, double* room)
{
  tb_put_object(w, key);
  put_ints(w, "ptr", ptr, (size_t)rows + 1, room);
  put_ints(w, "col", col, (size_t)ptr[rows], room);
  tb_put_numbers(w, "val", val, (size_t)ptr[rows]);
  tb_put_end(w);
}

// Would tb_builder_rigid give these very bits?
static bool is_rigid(const tbMetricBlock* b)
{
  double A[36] = {0};
  if (b->kind != TB_METRIC_DENSE || b->size != 6) return false;
  for (int i = 0; i < 3; i++) {
    A[7 * i] = b->value[0];
    for (int j = 0; j < 3; j++) A[6 * (3 + i) + 3 + j] = b->value[6 * (3 + i) + 3 + j];
  }
  return memcmp(A, b->value, sizeof A) == 0;
}

static void put_block(tbJsonWriter* w, const tbMetricBlock* b, const double* v_free, double* room)
{
  tb_put_object(w, NULL);
  if (b->kind == TB_METRIC_PARTICLE) {
    tb_put_number(w, "particle", b->value[0]);
  } else if (b->kind == TB_METRIC_SPARSE) {
    put_csr(w, "sparse", b->size, b->ptr, b->col, b->value, room);
  } else if (is_rigid(b)) {
    tb_put_object(w, "rigid");
    tb_put_number(w, "mass", b->value[0]);
    tb_put_array(w, "inertia");
    for (int i = 3; i < 6; i++) tb_put_numbers(w, NULL, b->value + 6 * i + 3, 3);
    tb_put_end(w);
    tb_put_end(w);
  } else {
    put_matrix(w, "dense", b->size, b->size, b->value);
  }
  tb_put_numbers(w, "v_free", v_free, (size_t)b->size);
  tb_put_end(w);
}

static void put_params(tbJsonWriter* w, tbLaw law, int rows, const double* param)
{
  tbLawKeys keys = tb_law_keys(law, rows);
  if (law == TB_LAW_POLYGON) keys.each = (int)param[0] / 2;
  for (int i = 0; i < keys.scalars; i++) tb_put_number(w, keys.scalar[i], param[i]);
  for (int l = 0; keys.each && l < 2; l++) {
    tb_put_array(w, keys.list[l]);
    for (int i = 0; i < keys.each; i++) {
      double value = param[tb_law_list_at(law, keys.each, l, i)];
      if (isinf(value)) tb_put_null(w, NULL);
      else tb_put_number(w, NULL, value);
    }
    tb_put_end(w);
  }
}

static bool all_zero_bits(const double* x, int count)
{
  static const double zero[TB_MAX_ROWS];
  return memcmp(x, zero, (size_t)count * sizeof *x) == 0;
}

static void put_contact(tbJsonWriter* w, const tbProblem* p, int k)
{
  int row = p->row_adr[k], rows = p->row_adr[k + 1] - row;
  tb_put_object(w, NULL);
  tb_put_string(w, "law", tb_law_name((tbLaw)p->law[k]));
  put_params(w, (tbLaw)p->law[k], rows, p->param + p->param_adr[k]);
  tb_put_numbers(w, "bias", p->bias + row, (size_t)rows);
  if (!all_zero_bits(p->compliance + row, rows))
    tb_put_numbers(w, "compliance", p->compliance + row, (size_t)rows);
  if (!p->W_ptr) {
    tb_put_array(w, "jacobian");
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      tb_put_object(w, NULL);
      tb_put_int(w, "dof", p->jac_dof[c]);
      put_matrix(w, "J", rows, p->jac_width[c], p->jac + p->jac_val_adr[c]);
      tb_put_end(w);
    }
    tb_put_end(w);
  }
  tb_put_end(w);
}

static void put_problem(tbJsonWriter* w, const tbProblem* p, const double* guess, double* room)
{
  tb_put_object(w, NULL);
  tb_put_int(w, "tribo_problem", TB_PROBLEM_FORMAT);
  tb_put_string(w, "name", p->name);
  if (p->W_ptr) {
    put_csr(w, "W", p->nrow, p->W_ptr, p->W_col, p->W_val, room);
  } else {
    tb_put_array(w, "metric");
    for (int b = 0; b < p->nblock; b++) put_block(w, &p->block[b], p->v_free + p->block[b].dof, room);
    tb_put_end(w);
  }
  tb_put_array(w, "contacts");
  for (int k = 0; k < p->ncontact; k++) put_contact(w, p, k);
  tb_put_end(w);
  if (guess) tb_put_numbers(w, "guess", guess, (size_t)p->nrow);
  tb_put_end(w);
}

// The longest list of indices: of W, or of a sparse block.
static size_t longest_list(const tbProblem* p)
{
  size_t longest = p->W_ptr ? (size_t)p->nrow + 1 + (size_t)p->W_ptr[p->nrow] : 0;
  for (int b = 0; b < p->nblock; b++) {
    const tbMetricBlock* block = &p->block[b];
    size_t length = block->ptr ? (size_t)block->size + 1 + (size_t)block->ptr[block->size] : 0;
    if (length > longest) longest = length;
  }
  return longest;
}

tbStatus tb_problem_print_json(tbContext* ctx, tbOut* out, const tbProblem* p, const double* guess)
{
  double* room = TB_NEW(ctx, double, longest_list(p));
  if (!room) return TB_ERROR_MEMORY;
  tbJsonWriter w = tb_json_writer(out, 1);
  put_problem(&w, p, guess, room);
  tb_free(ctx, room);
  tb_out_text(out, "\n");
  return tb_json_writer_finish(&w);
}

tbStatus tb_problem_save_json(tbContext* ctx, const char* path, const tbProblem* problem, const double* guess)
{
  for (int i = 0; guess && i < problem->nrow; i++)
    if (!isfinite(guess[i]))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "guess[%d] is %g; it must be finite", i, guess[i]);
  tbFile file;
  TB_TRY(tb_file_begin(ctx, path, &file));
  tbOut out = tb_out_sink(ctx, tb_file_sink(&file), file.path);
  tbStatus status = tb_problem_print_json(ctx, &out, problem, guess);
  tb_out_free(&out);
  return tb_file_end(ctx, &file, status);
}
