// SPDX-License-Identifier: Apache-2.0
#include "step/substeps_records.h"

#include "base/sort.h"

#include <math.h>

static bool is_of_surfaces(const tbContactRecord* r) { return r->shape_a < 0 || r->shape_b < 0; }

static int order(int64_t a, int64_t b) { return (a > b) - (a < b); }

// By shapes, then feature; those of surfaces last, by feature.
static int by_place(const void* x, const void* y)
{
  const tbContactRecord *a = x, *b = y;
  int by = order(is_of_surfaces(a), is_of_surfaces(b));
  if (by == 0 && !is_of_surfaces(a)) by = order(a->shape_a, b->shape_a);
  if (by == 0 && !is_of_surfaces(a)) by = order(a->shape_b, b->shape_b);
  if (by == 0) by = (a->feature > b->feature) - (a->feature < b->feature);
  if (by == 0) by = order(a->body_a, b->body_a);
  return by == 0 ? order(a->body_b, b->body_b) : by;
}

static bool carries(const tbContactRecord* r)
{
  double any = 0;
  for (int i = 0; i < r->rows; i++) any += fabs(r->impulse[i]);
  return any > 0;
}

// Impulses along the axes of one contact, in those of another.
static void turn(const tbContactRecord* from, const tbContactRecord* to, double out[6])
{
  tbVec3 axis[3] = {from->normal, from->tangent, tb_cross3(from->normal, from->tangent)};
  tbVec3 along[3] = {to->normal, to->tangent, tb_cross3(to->normal, to->tangent)}, sum = tb_zero3();
  for (int i = 0; i < 3 && i < from->rows; i++) sum = tb_madd3(sum, from->impulse[i], axis[i]);
  for (int i = 0; i < 6; i++)
    out[i] = i < 3 ? tb_dot3(sum, along[i]) : from->rows == to->rows ? from->impulse[i] : 0;
}

static void join(const tbContactRecord* earlier, tbContactRecord* later)
{
  double impulse[6];
  turn(earlier, later, impulse);
  for (int i = 0; i < later->rows; i++) later->impulse[i] += impulse[i];
  later->residual = fmax(later->residual, earlier->residual);
  if (later->state == TB_CONTACT_OPEN && carries(later)) later->state = earlier->state;
}

tbStatus tb_records_add(tbContext* ctx, const tbContactRecord* records, size_t count, tbArray* sum)
{
  tbArray both = TB_ARRAY(tbContactRecord), sorted = TB_ARRAY(tbContactRecord);
  tbStatus status = tb_array_push(ctx, &sorted, records, count);
  const tbContactRecord *old = sum->data, *later = sorted.data;
  size_t i = 0, k = 0;
  if (status == TB_OK) tb_sort(sorted.data, count, sizeof *later, by_place);
  while (status == TB_OK && (i < sum->count || k < count)) {
    int by = i == sum->count ? 1 : k == count ? -1 : by_place(&old[i], &later[k]);
    if (by < 0) {
      if (carries(&old[i])) status = tb_array_push(ctx, &both, &old[i], 1);
      i++;
      continue;
    }
    tbContactRecord r = later[k++];
    if (by == 0) join(&old[i++], &r);
    status = tb_array_push(ctx, &both, &r, 1);
  }
  if (status == TB_OK) {
    tbArray was = *sum;
    *sum = both, both = was;
  }
  tb_array_free(ctx, &both);
  tb_array_free(ctx, &sorted);
  return status;
}
