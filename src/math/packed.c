// SPDX-License-Identifier: Apache-2.0
#include "math/packed.h"

#include "base/array.h"
#include "base/simd.h"
#include "base/threads.h"

#include <string.h>

// ---- the pattern, once ----

static tbStatus list_blocks(tbArena* arena, const int* ptr, const int* col, tbPackedPattern* h)
{
  h->first = TB_TAKE(arena, int, (size_t)h->nodes + 1);
  if (!h->first) return TB_ERROR_MEMORY;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0, n = 0; i < h->nodes; i++) {
      for (int e = ptr[3 * i]; e < ptr[3 * i + 1]; e += 3) {
        if (col[e] < 3 * i) continue;
        if (pass == 1) h->col[n] = col[e] / 3;
        n++;
      }
      h->first[i + 1] = n;
    }
    if (pass == 1) break;
    h->col = TB_TAKE(arena, int, (size_t)h->first[h->nodes]);
    h->slot = TB_TAKE(arena, int, (size_t)h->first[h->nodes]);
    if (!h->col || !h->slot) return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

// Lists the nodes after piece p that it touches into `list`, and gives slots. mark: p + 1 where it does, then
// the slot; (nodes) both.
static int find_outer(tbPackedPattern* h, int p, int* mark, int* slot_of, int* list)
{
  int begin = tb_packed_begin(p), end = tb_packed_end(h, p), last = end - 1, count = 0;
  for (int k = h->first[begin]; k < h->first[end]; k++)
    if (h->col[k] >= end) {
      mark[h->col[k]] = p + 1;
      if (h->col[k] > last) last = h->col[k];
    }
  for (int i = end; i <= last; i++)
    if (mark[i] == p + 1) slot_of[i] = end - begin + count, list[count++] = i;
  for (int k = h->first[begin]; k < h->first[end]; k++)
    h->slot[k] = h->col[k] < end ? h->col[k] - begin : slot_of[h->col[k]];
  return count;
}

static tbStatus share_nodes(tbArena* arena, tbArena* scratch, tbPackedPattern* h)
{
  size_t nodes = (size_t)h->nodes, pieces = (size_t)h->pieces;
  int *mark = TB_TAKE(scratch, int, nodes), *slot_of = TB_TAKE(scratch, int, nodes);
  int* list = TB_TAKE(scratch, int, nodes);
  h->outer_adr = TB_TAKE(arena, int, pieces + 1);
  h->part = TB_TAKE(arena, int, pieces*(pieces + 1));
  h->room_adr = TB_TAKE(arena, size_t, pieces + 1);
  if (!mark || !slot_of || !list || !h->outer_adr || !h->part || !h->room_adr) return TB_ERROR_MEMORY;
  tbArray outer = TB_ARRAY(int);
  tbStatus status = TB_OK;
  for (int p = 0; p < h->pieces && status == TB_OK; p++) {
    int count = find_outer(h, p, mark, slot_of, list), at = 0;
    status = tb_array_push(scratch->ctx, &outer, list, (size_t)count);
    int* part = h->part + (size_t)p * (pieces + 1);
    for (int q = 0; q <= h->pieces; q++) {
      while (at < count && q > 0 && list[at] < tb_packed_end(h, q - 1)) at++;
      part[q] = h->outer_adr[p] + at;
    }
    h->outer_adr[p + 1] = h->outer_adr[p] + count;
    h->room_adr[p + 1] = h->room_adr[p] + 8 * (size_t)(tb_packed_end(h, p) - tb_packed_begin(p) + count);
  }
  if (status == TB_OK) {
    h->outer = TB_TAKE(arena, int, outer.count);
    if (!h->outer) status = TB_ERROR_MEMORY;
    else if (outer.count) memcpy(h->outer, outer.data, outer.count * sizeof *h->outer);
  }
  tb_array_free(scratch->ctx, &outer);
  return status;
}

tbStatus tb_packed_pattern(tbArena* arena, int size, const int* ptr, const int* col, tbPackedPattern* out)
{
  *out = (tbPackedPattern){.nodes = size / 3, .pieces = tb_piece_count(size / 3, TB_PACKED_PIECE)};
  TB_TRY(list_blocks(arena, ptr, col, out));
  tbArena scratch;
  tb_arena_init(&scratch, arena->ctx);
  tbStatus status = share_nodes(arena, &scratch, out);
  tb_arena_free(&scratch);
  return status;
}

typedef struct {
  const tbPackedPattern* pattern;
  const int* ptr;
  const double* csr;
  double* value;
} Packing;

static void pack(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Packing* job = user;
  const tbPackedPattern* h = job->pattern;
  for (int i = begin; i < end; i++) {
    int blocks = h->first[i + 1] - h->first[i], count = job->ptr[3 * i + 1] - job->ptr[3 * i];
    const double* row = job->csr + job->ptr[3 * i + 1] - 3 * blocks;
    double* to = job->value + 9 * (size_t)h->first[i];
    for (int b = 0; b < blocks; b++, row += 3, to += 9)
      for (int c = 0; c < 3; c++)
        to[c] = row[c], to[3 + c] = row[count + c], to[6 + c] = row[2 * (size_t)count + (size_t)c];
  }
}

void tb_packed_pack(const tbPackedPattern* h, tbThreads* threads, const int* ptr, const double* csr,
                    double* value)
{
  Packing job = {h, ptr, csr, value};
  tb_parallel_for(threads, h->nodes, 512, pack, &job);
  memset(value + 9 * (size_t)h->first[h->nodes], 0, 3 * sizeof *value);
}

typedef struct {
  const double* from;
  float* to;
} Rounding;

static void round_values(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Rounding* job = user;
  for (size_t i = 9 * (size_t)begin; i < 9 * (size_t)end; i++) job->to[i] = (float)job->from[i];
}

void tb_packed_round(const tbPackedPattern* h, tbThreads* threads, const double* value, float* rounded)
{
  int blocks = h->first[h->nodes];
  tb_parallel_for(threads, blocks, 8192, round_values, &(Rounding){value, rounded});
  for (size_t i = 9 * (size_t)blocks; i < tb_packed_values(h); i++) rounded[i] = 0;
}

// ---- the product ----

static inline void add3(double* y, tb4d u, tb4d v, tb4d w)
{
  double a[4], b[4], c[4];
  tb4_store(a, u), tb4_store(b, v), tb4_store(c, w);
  y[0] += (a[0] + a[1]) + a[2];
  y[1] += (b[0] + b[1]) + b[2];
  y[2] += (c[0] + c[1]) + c[2];
}

typedef struct {
  const double* exact;
  const float* rounded;
} Values;

static inline tb4d load(Values v, bool rough, int at)
{
  return rough ? tb4_load_float(v.rounded + at) : tb4_load(v.exact + at);
}

// x at the nodes of a piece, in the order of its slots.
static void copy_slots(const tbPackedPattern* h, int piece, const double* x, double* to)
{
  int begin = tb_packed_begin(piece), end = tb_packed_end(h, piece);
  for (int i = begin; i < end; i++, to += 4)
    to[0] = x[3 * i], to[1] = x[3 * i + 1], to[2] = x[3 * i + 2], to[3] = 0;
  for (int k = h->outer_adr[piece]; k < h->outer_adr[piece + 1]; k++, to += 4) {
    const double* from = x + 3 * h->outer[k];
    to[0] = from[0], to[1] = from[1], to[2] = from[2], to[3] = 0;
  }
}

// Slots are four doubles wide and so are all loads; what the fourth lane gathers is never looked at. Written
// out twice by giving a constant for `rough`.
static inline void spread_rows(const tbPacked* packed, bool rough, int piece, const double* x, double* room)
{
  const tbPackedPattern* h = packed->pattern;
  int begin = tb_packed_begin(piece), end = tb_packed_end(h, piece);
  size_t half = (h->room_adr[piece + 1] - h->room_adr[piece]) / 2;
  double *y = room + h->room_adr[piece], *seen = y + half;
  memset(y, 0, half * sizeof *y);
  copy_slots(h, piece, x, seen);
  for (int i = begin; i < end; i++) {
    size_t at = 9 * (size_t)h->first[i];
    Values v = {rough ? NULL : packed->value + at, rough ? packed->rounded + at : NULL};
    const double* xi = seen + 4 * (size_t)(i - begin);
    tb4d x0 = tb4_set1(xi[0]), x1 = tb4_set1(xi[1]), x2 = tb4_set1(xi[2]), s = tb4_load(xi);
    tb4d r0 = tb4_mul(load(v, rough, 0), s), r1 = tb4_mul(load(v, rough, 3), s),
         r2 = tb4_mul(load(v, rough, 6), s);
    for (int k = h->first[i] + 1, n = 9; k < h->first[i + 1]; k++, n += 9) {
      size_t slot = 4 * (size_t)h->slot[k];
      tb4d a = load(v, rough, n), b = load(v, rough, n + 3), c = load(v, rough, n + 6);
      s = tb4_load(seen + slot);
      r0 = tb4_add(r0, tb4_mul(a, s));
      r1 = tb4_add(r1, tb4_mul(b, s));
      r2 = tb4_add(r2, tb4_mul(c, s));
      tb4d t = tb4_add(tb4_add(tb4_mul(a, x0), tb4_mul(b, x1)), tb4_mul(c, x2));
      tb4_store(y + slot, tb4_add(tb4_load(y + slot), t));
    }
    add3(y + 4 * (size_t)(i - begin), r0, r1, r2);
  }
}

void tb_packed_spread(const tbPacked* packed, bool rough, int piece, const double* x, double* room)
{
  if (rough && packed->rounded) spread_rows(packed, true, piece, x, room);
  else spread_rows(packed, false, piece, x, room);
}

void tb_packed_collect(const tbPacked* packed, int piece, const double* room, double* y)
{
  const tbPackedPattern* h = packed->pattern;
  const double* own = room + h->room_adr[piece];
  int begin = tb_packed_begin(piece), end = tb_packed_end(h, piece);
  for (int i = begin; i < end; i++)
    for (int c = 0; c < 3; c++) y[3 * i + c] = own[4 * (i - begin) + c];
  for (int p = 0; p < piece; p++) {
    const int* part = h->part + (size_t)p * (size_t)(h->pieces + 1);
    const double* from =
        room + h->room_adr[p] + 4 * (size_t)(TB_PACKED_PIECE + part[piece] - h->outer_adr[p]);
    for (int k = part[piece]; k < part[piece + 1]; k++, from += 4)
      for (int c = 0; c < 3; c++) y[3 * h->outer[k] + c] += from[c];
  }
}

typedef struct {
  const tbPacked* packed;
  bool rough;
  const double* x;
  double *y, *room;
} Job;

static void spread(void* user, int begin, int end, int piece)
{
  (void)end, (void)piece;
  const Job* job = user;
  tb_packed_spread(job->packed, job->rough, begin, job->x, job->room);
}

static void collect(void* user, int begin, int end, int piece)
{
  (void)end, (void)piece;
  const Job* job = user;
  tb_packed_collect(job->packed, begin, job->room, job->y);
}

void tb_packed_multiply(const tbPacked* packed, bool rough, tbThreads* threads, const double* x, double* y,
                        double* room)
{
  Job job = {packed, rough, x, y, room};
  tb_parallel_for(threads, packed->pattern->pieces, 1, spread, &job);
  tb_parallel_for(threads, packed->pattern->pieces, 1, collect, &job);
}
