// SPDX-License-Identifier: Apache-2.0
// Writing replays: a head, then a frame whenever one is due, then an index of where they are.
//
// Memory      none that grows with the run: the index holds at most 65 536 entries; when it is full every
//             other one goes, and from there on only every 2nd, 4th, … frame is entered.
// Precision   positions 2⁻²⁴ of their size, orientations 5e-6 rad, nodes 2⁻¹⁷ of their body's extent.
#include "io/replay/replay.h"
#include "base/sort.h"

#include <string.h>

typedef struct {
  double time;
  uint64_t at;
} Entry;

typedef struct {
  double impulse;
  int index;
} Ranked;

typedef struct {
  tbGrowing file;
  tbDrawing drawing;
  int* moving; // bodies with a pose                                                 (nmoving)
  int nmoving;
  int contact_limit;
  uint64_t at; // where the next frame goes
  int64_t frames, stride;
  tbArray index;  // Entry
  tbArray chosen; // Ranked: the contacts of this frame
  double worst;   // largest residual of one contact in this frame
} Writer;

uint64_t tb_replay_pack(tbQuat q)
{
  const double c[4] = {q.w, q.x, q.y, q.z};
  int largest = 0;
  for (int i = 1; i < 4; i++)
    if (fabs(c[i]) > fabs(c[largest])) largest = i;
  double sign = c[largest] < 0 ? -1 : 1;
  uint64_t bits = (uint64_t)largest << 60;
  for (int i = 0, k = 0; i < 4; i++) {
    if (i == largest) continue;
    double share = fmin(fmax(sign * c[i] * 1.4142135623730951, -1), 1);
    bits |= (uint64_t)floor(524288.5 + 524287 * share) << 20 * k++;
  }
  return bits;
}

static void writer_free(tbContext* ctx, Writer* w)
{
  tb_drawing_free(ctx, &w->drawing);
  tb_array_free(ctx, &w->index);
  tb_array_free(ctx, &w->chosen);
  tb_free(ctx, w->moving);
  tb_free(ctx, w);
}

static tbStatus find_moving(tbContext* ctx, Writer* w, const tbWorld* world)
{
  w->moving = TB_NEW(ctx, int, (size_t)w->drawing.nbody);
  if (!w->moving) return TB_ERROR_MEMORY;
  for (int i = 0; i < w->drawing.nbody; i++)
    if (tb_body_moves(world, tb_world_body_at(world, i))) w->moving[w->nmoving++] = i;
  return TB_OK;
}

static tbStatus put_head(tbContext* ctx, Writer* w, const tbRecordPlan* plan)
{
  tbOut header = tb_out_memory(ctx);
  tbStatus status = tb_replay_header_print(ctx, plan, &w->drawing, &header);
  if (status == TB_OK) {
    tbOut* out = &w->file.out;
    tb_out_bytes(out, TB_REPLAY_MAGIC, 8);
    tb_out_u32(out, TB_REPLAY_VERSION);
    tb_out_u32(out, (uint32_t)header.length);
    tb_out_bytes(out, header.bytes, header.length);
    w->at = TB_REPLAY_HEAD + header.length + tb_replay_geometry(plan->scene->world, &w->drawing, out);
  }
  tb_out_free(&header);
  return status;
}

static tbStatus begin(tbContext* ctx, const tbRecordPlan* plan, void** state)
{
  Writer* w = TB_NEW(ctx, Writer, 1);
  if (!w) return TB_ERROR_MEMORY;
  w->index = TB_ARRAY(Entry), w->chosen = TB_ARRAY(Ranked);
  w->contact_limit = plan->contact_limit, w->stride = 1;
  tbStatus status = tb_drawing_create(ctx, plan->scene->world, &w->drawing);
  if (status == TB_OK) status = find_moving(ctx, w, plan->scene->world);
  if (status == TB_OK) {
    status = tb_growing_open(ctx, plan->path, &w->file);
    if (status == TB_OK && (status = put_head(ctx, w, plan)) != TB_OK) tb_growing_end(ctx, &w->file, status);
  }
  if (status == TB_OK) *state = w;
  else writer_free(ctx, w);
  return status;
}

// Contacts. Of more than the limit, those with the largest normal impulse stay, in their order.

static int by_impulse(const void* a, const void* b)
{
  const Ranked *x = a, *y = b;
  if (x->impulse != y->impulse) return x->impulse > y->impulse ? -1 : 1;
  return x->index - y->index;
}

static int by_index(const void* a, const void* b)
{
  return ((const Ranked*)a)->index - ((const Ranked*)b)->index;
}

static tbStatus choose_contacts(tbContext* ctx, Writer* w, const tbWorld* world)
{
  int count = tb_world_contact_count(world);
  w->chosen.count = 0, w->worst = 0;
  for (int i = 0; i < count; i++) {
    tbContactView c = tb_world_contact(world, i);
    Ranked r = {c.impulse[0], i};
    w->worst = fmax(w->worst, c.residual);
    TB_TRY(tb_array_push(ctx, &w->chosen, &r, 1));
  }
  if (count <= w->contact_limit) return TB_OK;
  tb_sort(w->chosen.data, (size_t)count, sizeof(Ranked), by_impulse);
  tb_sort(w->chosen.data, w->chosen.count = (size_t)w->contact_limit, sizeof(Ranked), by_index);
  return TB_OK;
}

// Of the largest, in 254 steps; 255: it is infinite.
static unsigned char share_of(double residual, double worst)
{
  if (!isfinite(worst)) return 255;
  return worst > 0 ? (unsigned char)floor(254 * (residual / worst) + 0.5) : 0;
}

static void put_contact(tbOut* out, const tbWorld* w, const tbContactView* c, double worst)
{
  tbVec3 b = tb_cross3(c->normal, c->tangent);
  tbVec3 impulse = tb_madd3(tb_scale3(c->impulse[0], c->normal), c->impulse[1], c->tangent);
  if (c->rows > 2) impulse = tb_madd3(impulse, c->impulse[2], b);
  const double n[3] = {c->normal.x, c->normal.y, c->normal.z};
  tb_out_u32(out, (uint32_t)tb_body_place(w, c->a));
  tb_out_u32(out, (uint32_t)tb_body_place(w, c->b));
  tb_out_f32x3(out, c->position);
  for (int i = 0; i < 3; i++) tb_out_u16(out, (uint32_t)(int)floor(32767 * n[i] + 0.5));
  tb_out_bytes(out, (char[2]){(char)c->state, (char)share_of(c->residual, worst)}, 2);
  tb_out_f32(out, c->gap);
  tb_out_f32x3(out, impulse);
}

// Nodes. The box is that of the numbers as they are written: then 0 … 65535 reach all of them.

static double below(double x) { return (double)nextafterf((float)x, -INFINITY); }
static double above(double x) { return (double)nextafterf((float)x, INFINITY); }

static void put_surface(tbOut* out, const tbDrawSurface* s, const tbVec3* x)
{
  tbVec3 lo = tb_vec3(INFINITY, INFINITY, INFINITY), hi = tb_neg3(lo);
  for (int i = 0; i < s->nvertex; i++) lo = tb_min3(lo, x[s->node[i]]), hi = tb_max3(hi, x[s->node[i]]);
  lo = tb_vec3(below(lo.x), below(lo.y), below(lo.z)), hi = tb_vec3(above(hi.x), above(hi.y), above(hi.z));
  tb_out_f32x3(out, lo);
  tb_out_f32x3(out, hi);
  tbVec3 scale = tb_vec3(65535 / (hi.x - lo.x), 65535 / (hi.y - lo.y), 65535 / (hi.z - lo.z));
  for (int i = 0; i < s->nvertex; i++) {
    tbVec3 q = tb_mul3(scale, tb_sub3(x[s->node[i]], lo));
    tb_out_u16(out, (uint32_t)floor(q.x + 0.5));
    tb_out_u16(out, (uint32_t)floor(q.y + 0.5));
    tb_out_u16(out, (uint32_t)floor(q.z + 0.5));
  }
  tb_out_zeros(out, tb_replay_node_bytes((uint64_t)s->nvertex) - 6 * (uint64_t)s->nvertex);
}

static tbStatus enter(tbContext* ctx, Writer* w, double time)
{
  if (w->frames % w->stride == 0) {
    Entry* e = w->index.data;
    if (w->index.count == TB_REPLAY_INDEX) {
      for (size_t i = 0; i < w->index.count / 2; i++) e[i] = e[2 * i];
      w->index.count /= 2;
      w->stride *= 2;
    }
    if (w->frames % w->stride == 0) TB_TRY(tb_array_push(ctx, &w->index, &(Entry){time, w->at}, 1));
  }
  w->frames++;
  return TB_OK;
}

static uint64_t frame_bytes(const Writer* w, size_t contacts)
{
  uint64_t bytes = TB_REPLAY_FRAME + 4 * TB_SCALARS + TB_REPLAY_POSE * (uint64_t)w->nmoving +
                   TB_REPLAY_CONTACT * (uint64_t)contacts;
  for (size_t i = 0; i < w->drawing.surface.count; i++)
    bytes += TB_REPLAY_BOX + tb_replay_node_bytes((uint64_t)tb_draw_surfaces(&w->drawing)[i].nvertex);
  return bytes;
}

static tbStatus frame(tbContext* ctx, void* state, const tbFrame* f)
{
  Writer* w = state;
  tbOut* out = &w->file.out;
  TB_TRY(choose_contacts(ctx, w, f->world));
  const Ranked* chosen = w->chosen.data;
  size_t contacts = w->chosen.count;
  uint64_t bytes = frame_bytes(w, contacts), padded = tb_replay_pad8(bytes);
  if (padded > UINT32_MAX) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "a frame too large for a replay");
  TB_TRY(enter(ctx, w, f->time));
  tb_out_u32(out, (uint32_t)padded);
  tb_out_u32(out, (uint32_t)contacts);
  tb_out_f64(out, f->time);
  tb_out_f64(out, (double)f->step);
  for (int i = 0; i < TB_SCALARS; i++) tb_out_f32(out, f->scalar[i]);
  for (int i = 0; i < w->nmoving; i++) {
    tbBodyState s = tb_body_state(f->world, tb_world_body_at(f->world, w->moving[i]));
    tb_out_f32x3(out, s.position);
    tb_out_u64(out, tb_replay_pack(s.orientation));
  }
  const tbDrawSurface* surfaces = tb_draw_surfaces(&w->drawing);
  for (size_t i = 0; i < w->drawing.surface.count; i++)
    put_surface(out, &surfaces[i], tb_body_nodes(f->world, tb_world_body_at(f->world, surfaces[i].body)));
  for (size_t i = 0; i < contacts; i++) {
    tbContactView c = tb_world_contact(f->world, chosen[i].index);
    put_contact(out, f->world, &c, w->worst);
  }
  tb_out_zeros(out, padded - bytes);
  w->at += padded;
  return out->status == TB_OK ? TB_OK : tb_out_finish(out);
}

static void put_tail(Writer* w)
{
  tbOut* out = &w->file.out;
  const Entry* e = w->index.data;
  for (size_t i = 0; i < w->index.count; i++) {
    tb_out_f64(out, e[i].time);
    tb_out_u64(out, e[i].at);
  }
  tb_out_u64(out, w->at);
  tb_out_u64(out, (uint64_t)w->frames);
  tb_out_u32(out, (uint32_t)w->index.count);
  tb_out_u32(out, (uint32_t)w->stride);
  tb_out_u64(out, w->at + TB_REPLAY_ENTRY * w->index.count + TB_REPLAY_TAIL);
  tb_out_bytes(out, TB_REPLAY_END, 8);
}

static tbStatus end(tbContext* ctx, void* state, tbStatus status)
{
  Writer* w = state;
  if (status == TB_OK) put_tail(w);
  status = tb_growing_end(ctx, &w->file, status);
  writer_free(ctx, w);
  return status;
}

const tbRecorder tb_recorder_replay = {begin, frame, end, false};
