// SPDX-License-Identifier: Apache-2.0
// Building a problem by hand: arrays that grow. What is made of them in the end is in builder_finish.c.
#include "problem/builder.h"

#include "problem/borrowed.h"
#include "problem/metric.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static tbStatus poison(tbBuilder* b, tbStatus status)
{
  if (status != TB_OK && b->status == TB_OK) {
    b->status = status;
    b->error = b->ctx->error;
  }
  return status;
}

#define FAIL(b, ...) poison(b, tb_fail((b)->ctx, TB_ERROR_INPUT, __VA_ARGS__))
#define PUSH(b, array, values, count)                                                                \
  do {                                                                                               \
    if (poison(b, tb_array_push((b)->ctx, &(b)->array, values, count)) != TB_OK) return (b)->status; \
  } while (0)
#define ALIVE(b) \
  if ((b)->status != TB_OK) return (b)->status

tbStatus tb_builder_create(tbContext* ctx, const char* name, tbBuilder** out)
{
  *out = NULL;
  tbBuilder* b = TB_NEW(ctx, tbBuilder, 1);
  if (!b) return TB_ERROR_MEMORY;
  b->ctx = ctx;
  size_t length = strnlen(name ? name : "problem", sizeof b->name - 1);
  memcpy(b->name, name ? name : "problem", length);
  b->block = TB_ARRAY(tbPendingBlock);
  b->law = TB_ARRAY(uint8_t);
  b->jac_val_adr = TB_ARRAY(size_t);
  b->number = b->v_free = b->param = b->bias = b->compliance = b->jac = TB_ARRAY(double);
  b->index = b->row_adr = b->param_adr = b->jac_adr = b->jac_dof = b->jac_width = TB_ARRAY(int);
  *out = b;
  return TB_OK;
}

void tb_builder_abandon(tbBuilder* b)
{
  if (!b) return;
  tbContext* ctx = b->ctx;
  tbArray* arrays[] = {&b->block,   &b->number,    &b->index,     &b->v_free,      &b->row_adr,
                       &b->law,     &b->param_adr, &b->param,     &b->bias,        &b->compliance,
                       &b->jac_adr, &b->jac_dof,   &b->jac_width, &b->jac_val_adr, &b->jac};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tb_array_free(ctx, arrays[i]);
  tb_free(ctx, b);
}

static tbStatus check_block(tbBuilder* b, int size)
{
  if (b->explicit_W) return FAIL(b, "metric block %zu: W is given, so there is no metric", b->block.count);
  if (b->row_adr.count) return FAIL(b, "metric block %zu comes after the first contact", b->block.count);
  if (size < 1 || (size_t)size > INT_MAX - b->v_free.count)
    return FAIL(b, "metric block %zu has an impossible size, %d", b->block.count, size);
  return TB_OK;
}

static tbStatus add_block(tbBuilder* b, tbMetricKind kind, int size, size_t count, const double* value,
                          const int* ptr, const int* col, const double* v_free, int* dof)
{
  TB_TRY(check_block(b, size));
  tbPendingBlock block = {.kind = kind,
                          .dof = (int)b->v_free.count,
                          .size = size,
                          .value = b->number.count,
                          .ptr = b->index.count};
  if (ptr) {
    PUSH(b, index, ptr, (size_t)size + 1);
    block.col = b->index.count;
    PUSH(b, index, col, count);
  }
  PUSH(b, number, value, count);
  PUSH(b, v_free, v_free, (size_t)size);
  PUSH(b, block, &block, 1);
  if (dof) *dof = block.dof;
  return TB_OK;
}

tbStatus tb_builder_particle(tbBuilder* b, int size, double mass, const double* v_free, int* dof)
{
  ALIVE(b);
  if (size > 3)
    return FAIL(b, "metric block %zu: a particle has 1 to 3 degrees of freedom, not %d", b->block.count,
                size);
  return add_block(b, TB_METRIC_PARTICLE, size, 1, &mass, NULL, NULL, v_free, dof);
}

tbStatus tb_builder_dense(tbBuilder* b, int size, const double* A, const double* v_free, int* dof)
{
  ALIVE(b);
  if (size < 1 || size > 4096)
    return FAIL(b, "metric block %zu: a dense block has 1 to 4096 degrees of freedom, not %d", b->block.count,
                size);
  return add_block(b, TB_METRIC_DENSE, size, (size_t)size * (size_t)size, A, NULL, NULL, v_free, dof);
}

tbStatus tb_builder_rigid(tbBuilder* b, double mass, const double inertia[9], const double v_free[6],
                          int* dof)
{
  double A[36] = {0};
  for (int i = 0; i < 3; i++) {
    A[7 * i] = mass;
    for (int j = 0; j < 3; j++) A[6 * (3 + i) + 3 + j] = inertia[3 * i + j];
  }
  return tb_builder_dense(b, 6, A, v_free, dof);
}

// Row starts must be right before anything is copied through them; columns are checked later, with the
// values.
static tbStatus check_row_starts(tbBuilder* b, const char* what, int rows, const int* ptr)
{
  if (ptr[0] != 0) return FAIL(b, "%s: row starts begin at %d, not 0", what, ptr[0]);
  for (int i = 0; i < rows; i++)
    if (ptr[i + 1] < ptr[i]) return FAIL(b, "%s: row starts decrease after row %d", what, i);
  return TB_OK;
}

tbStatus tb_builder_sparse(tbBuilder* b, int size, const int* ptr, const int* col, const double* val,
                           const double* v_free, int* dof)
{
  ALIVE(b);
  if (size < 1) return FAIL(b, "metric block %zu has an impossible size, %d", b->block.count, size);
  TB_TRY(check_row_starts(b, "sparse metric", size, ptr));
  return add_block(b, TB_METRIC_SPARSE, size, (size_t)ptr[size], val, ptr, col, v_free, dof);
}

tbStatus tb_builder_borrowed(tbBuilder* b, int size, const int* ptr, const int* col, const double* val,
                             const double* v_free, const tbCholesky* factor, const tbPacked* packed,
                             const struct tbSelectedInverse* inverse, int* dof)
{
  ALIVE(b);
  TB_TRY(check_block(b, size));
  tbMetricBlock as_is = {.kind = TB_METRIC_SPARSE,
                         .dof = (int)b->v_free.count,
                         .size = size,
                         .value = val,
                         .ptr = ptr,
                         .col = col,
                         .unit = packed ? 3 : 0,
                         .factor = factor,
                         .packed = packed,
                         .inverse = inverse};
  tbPendingBlock block = {
      .kind = TB_METRIC_SPARSE, .dof = as_is.dof, .size = size, .kept = true, .as_is = as_is};
  PUSH(b, v_free, v_free, (size_t)size);
  PUSH(b, block, &block, 1);
  if (dof) *dof = block.dof;
  return TB_OK;
}

tbStatus tb_builder_explicit(tbBuilder* b, int rows, const int* ptr, const int* col, const double* val)
{
  ALIVE(b);
  if (b->explicit_W) return FAIL(b, "W is given twice");
  if (b->block.count) return FAIL(b, "W cannot be given beside a metric");
  if (rows < 0) return FAIL(b, "W has %d rows", rows);
  TB_TRY(check_row_starts(b, "W", rows, ptr));
  b->explicit_W = true;
  b->W_rows = rows;
  PUSH(b, index, ptr, (size_t)rows + 1);
  PUSH(b, index, col, (size_t)ptr[rows]);
  PUSH(b, number, val, (size_t)ptr[rows]);
  return TB_OK;
}

// Addresses hold the *first* entry of each contact; the closing entry is added by finish.
static tbStatus push_address(tbBuilder* b, tbArray* adr, size_t at)
{
  if (at > INT_MAX) return FAIL(b, "more than %d rows, parameters or columns", INT_MAX);
  int value = (int)at;
  return poison(b, tb_array_push(b->ctx, adr, &value, 1));
}

tbStatus tb_builder_contact(tbBuilder* b, tbLaw law, int rows, const double* param, const double* bias,
                            const double* compliance)
{
  ALIVE(b);
  size_t k = b->law.count;
  if ((unsigned)law >= TB_LAW_COUNT) return FAIL(b, "contact %zu: unknown law %d", k, (int)law);
  int params = tb_law_params(law, rows);
  if (params < 0) return FAIL(b, "contact %zu: law %s does not take %d rows", k, tb_law_name(law), rows);
  if (params && !param)
    return FAIL(b, "contact %zu: law %s needs %d parameters", k, tb_law_name(law), params);
  TB_TRY(push_address(b, &b->row_adr, b->bias.count));
  TB_TRY(push_address(b, &b->param_adr, b->param.count));
  TB_TRY(push_address(b, &b->jac_adr, b->jac_dof.count));
  uint8_t kind = (uint8_t)law;
  PUSH(b, law, &kind, 1);
  PUSH(b, param, param, (size_t)params);
  PUSH(b, bias, bias, (size_t)rows);
  PUSH(b, compliance, compliance, (size_t)rows);
  return TB_OK;
}

// The metric block that owns a degree of freedom, by bisection.
static const tbPendingBlock* owner_of(const tbBuilder* b, int dof)
{
  const tbPendingBlock* blocks = b->block.data;
  size_t lo = 0, hi = b->block.count;
  while (hi - lo > 1) {
    size_t mid = (lo + hi) / 2;
    if (blocks[mid].dof <= dof) lo = mid;
    else hi = mid;
  }
  return &blocks[lo];
}

// Where contact rows already have a column block over the same degrees of freedom, or a new zeroed one.
static tbStatus find_column(tbBuilder* b, int rows, int dof, int width, double** values)
{
  const int* dofs = b->jac_dof.data;
  const int* widths = b->jac_width.data;
  const size_t* at = b->jac_val_adr.data;
  const int* adr = b->jac_adr.data;
  for (size_t c = (size_t)adr[b->jac_adr.count - 1]; c < b->jac_dof.count; c++)
    if (dofs[c] == dof && widths[c] == width) {
      *values = (double*)b->jac.data + at[c];
      return TB_OK;
    }
  size_t first = b->jac.count;
  PUSH(b, jac_dof, &dof, 1);
  PUSH(b, jac_width, &width, 1);
  PUSH(b, jac_val_adr, &first, 1);
  PUSH(b, jac, NULL, (size_t)rows * (size_t)width);
  *values = (double*)b->jac.data + first;
  return TB_OK;
}

tbStatus tb_builder_jacobian(tbBuilder* b, int dof, int width, const double* values)
{
  ALIVE(b);
  size_t k = b->law.count;
  if (k == 0) return FAIL(b, "a column block comes before the first contact");
  if (b->explicit_W) return FAIL(b, "contact %zu: W is given, so there is no Jacobian", k - 1);
  if (dof < 0 || width < 1 || (size_t)dof + (size_t)width > b->v_free.count)
    return FAIL(b, "contact %zu: column block %d…%d lies outside the %zu degrees of freedom", k - 1, dof,
                dof + width - 1, b->v_free.count);
  const tbPendingBlock* block = owner_of(b, dof);
  if (dof + width > block->dof + block->size)
    return FAIL(b, "contact %zu: column block %d…%d crosses from one metric block into the next", k - 1, dof,
                dof + width - 1);

  // On particles and dense blocks a column spans the whole block: A⁻¹Jᵀ then has the shape of J.
  int rows = (int)(b->bias.count - (size_t)((int*)b->row_adr.data)[k - 1]);
  bool whole = block->kind != TB_METRIC_SPARSE;
  int first = whole ? block->dof : dof, span = whole ? block->size : width;
  double* column = NULL;
  TB_TRY(find_column(b, rows, first, span, &column));
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++) column[i * span + (dof - first) + j] += values[i * width + j];
  return TB_OK;
}
