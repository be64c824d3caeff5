// SPDX-License-Identifier: Apache-2.0
// A replay that is open, and the numbers in it.
#ifndef TB_IO_REPLAY_OPEN_H
#define TB_IO_REPLAY_OPEN_H

#include "io/replay/replay.h"

#include "base/json.h"

#include <string.h>

struct tbReplay {
  char* name;
  int descriptor;             // −1: in memory
  const unsigned char* bytes; // in memory
  uint64_t length, frames_at, index_at;
  int64_t frames;
  uint32_t entries, stride;
  unsigned char* index;
  char* header;
  const tbJson* root;
  int nbody, nscalar, npose, nnode, nsurface;
  int* surface_nodes; // (nsurface)
  uint64_t fixed;     // bytes of a frame without contacts
  tbArena arena;      // of the header
  // the frame read last
  unsigned char* frame;
  size_t room;
  double* scalar;
  tbTransform* pose;
  tbVec3* node;
  tbReplayContact* contact;
  int contact_room;
};

tbStatus tb_replay_damaged(tbContext* ctx, const tbReplay* replay, const char* what);
// The caller has checked that at + count ≤ length; a file that shrinks meanwhile is found out.
tbStatus tb_replay_bytes(tbContext* ctx, const tbReplay* replay, uint64_t at, void* to, size_t count);

// Little-endian numbers.

static inline uint32_t tb_get_u32(const unsigned char* p)
{
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t tb_get_u64(const unsigned char* p)
{
  return tb_get_u32(p) | (uint64_t)tb_get_u32(p + 4) << 32;
}
static inline unsigned tb_get_u16(const unsigned char* p) { return p[0] | (unsigned)p[1] << 8; }

static inline double tb_get_f32(const unsigned char* p)
{
  uint32_t bits = tb_get_u32(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline double tb_get_f64(const unsigned char* p)
{
  uint64_t bits = tb_get_u64(p);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline tbVec3 tb_get_f32x3(const unsigned char* p)
{
  return tb_vec3(tb_get_f32(p), tb_get_f32(p + 4), tb_get_f32(p + 8));
}

#endif
