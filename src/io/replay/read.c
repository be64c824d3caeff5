// SPDX-License-Identifier: Apache-2.0
// Reading a replay's frames, in any order.
#include "io/replay/open.h"

#include <limits.h>

typedef struct {
  uint64_t at;
  uint32_t length, contacts;
  double time, step;
} FrameHead;

static tbStatus read_frame_head(tbContext* ctx, const tbReplay* r, uint64_t at, FrameHead* out)
{
  unsigned char head[TB_REPLAY_FRAME];
  if (at < r->frames_at || at % 8 || at > r->index_at || r->index_at - at < r->fixed)
    return tb_replay_damaged(ctx, r, "a frame is not there");
  TB_TRY(tb_replay_bytes(ctx, r, at, head, sizeof head));
  *out = (FrameHead){at, tb_get_u32(head), tb_get_u32(head + 4), tb_get_f64(head + 8), tb_get_f64(head + 16)};
  if (out->length > r->index_at - at || out->contacts > INT_MAX / TB_REPLAY_CONTACT ||
      tb_replay_pad8(r->fixed + (uint64_t)out->contacts * TB_REPLAY_CONTACT) != out->length)
    return tb_replay_damaged(ctx, r, "a frame of the wrong length");
  if (!isfinite(out->time) || !(out->step >= 0 && out->step <= 0x1p53) || out->step != floor(out->step))
    return tb_replay_damaged(ctx, r, "a frame at no time");
  return TB_OK;
}

static tbStatus locate(tbContext* ctx, const tbReplay* r, int64_t frame, FrameHead* out)
{
  uint64_t entry = (uint64_t)frame / r->stride;
  TB_TRY(read_frame_head(ctx, r, tb_get_u64(r->index + TB_REPLAY_ENTRY * entry + 8), out));
  for (uint64_t left = (uint64_t)frame % r->stride; left > 0; left--)
    TB_TRY(read_frame_head(ctx, r, out->at + out->length, out));
  return TB_OK;
}

tbStatus tb_replay_find(tbContext* ctx, tbReplay* r, double time, int64_t* out)
{
  uint32_t low = 0, high = r->entries; // entry `low` is not after the time, entry `high` is
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (tb_get_f64(r->index + (size_t)TB_REPLAY_ENTRY * middle) <= time) low = middle;
    else high = middle;
  }
  int64_t frame = (int64_t)low * r->stride, next = frame + r->stride;
  FrameHead head;
  TB_TRY(locate(ctx, r, frame, &head));
  for (; frame + 1 < next && frame + 1 < r->frames; frame++) {
    TB_TRY(read_frame_head(ctx, r, head.at + head.length, &head));
    if (head.time > time) break;
  }
  *out = frame;
  return TB_OK;
}

tbQuat tb_replay_unpack(uint64_t bits)
{
  double c[4], rest = 1;
  int largest = (int)(bits >> 60 & 3);
  for (int i = 0, k = 0; i < 4; i++) {
    if (i == largest) continue;
    c[i] = ((double)(bits >> 20 * k++ & 0xfffff) - 524288) / 524287 * 0.70710678118654752;
    rest -= c[i] * c[i];
  }
  c[largest] = sqrt(rest > 0 ? rest : 0);
  return tb_quat_normalize(tb_quat(c[0], c[1], c[2], c[3]));
}

static tbStatus read_poses(tbContext* ctx, tbReplay* r, const unsigned char* p)
{
  for (int i = 0; i < r->npose; i++, p += TB_REPLAY_POSE) {
    uint64_t bits = tb_get_u64(p + 12);
    r->pose[i] = tb_transform(tb_replay_unpack(bits), tb_get_f32x3(p));
    if (bits >> 62 || !tb_finite3(r->pose[i].x))
      return tb_replay_damaged(ctx, r, "a frame with a pose that is none");
  }
  return TB_OK;
}

static tbStatus read_nodes(tbContext* ctx, tbReplay* r, const unsigned char* p)
{
  tbVec3* x = r->node;
  for (int s = 0; s < r->nsurface; s++) {
    tbVec3 lo = tb_get_f32x3(p), hi = tb_get_f32x3(p + 12), unit = tb_scale3(1.0 / 65535, tb_sub3(hi, lo));
    if (!tb_finite3(lo) || !tb_finite3(hi))
      return tb_replay_damaged(ctx, r, "a frame with a box that is none");
    p += TB_REPLAY_BOX;
    for (int i = 0; i < r->surface_nodes[s]; i++, x++) {
      const unsigned char* q = p + (size_t)6 * (size_t)i;
      *x = tb_add3(lo, tb_mul3(unit, tb_vec3(tb_get_u16(q), tb_get_u16(q + 2), tb_get_u16(q + 4))));
    }
    p += tb_replay_node_bytes((uint64_t)r->surface_nodes[s]);
  }
  return TB_OK;
}

static double get_i16(const unsigned char* p)
{
  int value = (int)tb_get_u16(p);
  return value < 32768 ? value : value - 65536;
}

static tbStatus read_contacts(tbContext* ctx, tbReplay* r, const unsigned char* p, int count)
{
  for (int i = 0; i < count; i++, p += TB_REPLAY_CONTACT) {
    uint32_t a = tb_get_u32(p), b = tb_get_u32(p + 4);
    if (a >= (uint32_t)r->nbody || b >= (uint32_t)r->nbody || p[26] > TB_CONTACT_SLIP)
      return tb_replay_damaged(ctx, r, "a frame with a contact of no body, or in no state");
    tbVec3 n = tb_vec3(get_i16(p + 20), get_i16(p + 22), get_i16(p + 24));
    r->contact[i] = (tbReplayContact){.a = (int)a,
                                      .b = (int)b,
                                      .position = tb_get_f32x3(p + 8),
                                      .normal = tb_normalize3(n),
                                      .state = (tbContactState)p[26],
                                      .share = p[27] == 255 ? -1 : p[27] / 254.0,
                                      .gap = tb_get_f32(p + 28),
                                      .impulse = tb_get_f32x3(p + 32)};
  }
  return TB_OK;
}

// Room for a frame of so many bytes and contacts.
static tbStatus make_room(tbContext* ctx, tbReplay* r, const FrameHead* head)
{
  if (head->length > r->room) {
    tb_free(ctx, r->frame);
    r->room = 0;
    r->frame = TB_NEW(ctx, unsigned char, head->length);
    if (!r->frame) return TB_ERROR_MEMORY;
    r->room = head->length;
  }
  if ((int)head->contacts > r->contact_room) {
    tb_free(ctx, r->contact);
    r->contact_room = 0;
    r->contact = TB_NEW(ctx, tbReplayContact, head->contacts);
    if (!r->contact) return TB_ERROR_MEMORY;
    r->contact_room = (int)head->contacts;
  }
  return TB_OK;
}

tbStatus tb_replay_read(tbContext* ctx, tbReplay* r, int64_t frame, tbReplayFrame* out)
{
  if (frame < 0 || frame >= r->frames)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no frame %lld", r->name, (long long)frame);
  FrameHead head;
  TB_TRY(locate(ctx, r, frame, &head));
  TB_TRY(make_room(ctx, r, &head));
  TB_TRY(tb_replay_bytes(ctx, r, head.at, r->frame, head.length));
  const unsigned char* p = r->frame + TB_REPLAY_FRAME;
  for (int i = 0; i < r->nscalar; i++, p += 4) r->scalar[i] = tb_get_f32(p);
  TB_TRY(read_poses(ctx, r, p));
  p += (size_t)TB_REPLAY_POSE * (size_t)r->npose;
  TB_TRY(read_nodes(ctx, r, p));
  p = r->frame + r->fixed;
  TB_TRY(read_contacts(ctx, r, p, (int)head.contacts));
  *out = (tbReplayFrame){head.time, (int64_t)head.step, r->scalar,         r->pose,
                         r->node,   r->contact,         (int)head.contacts};
  return TB_OK;
}
