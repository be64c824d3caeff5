// SPDX-License-Identifier: Apache-2.0
// The constants of the replay format, shared by its writer and its reader. docs/trajectory-format.md.
#ifndef TB_IO_REPLAY_REPLAY_H
#define TB_IO_REPLAY_REPLAY_H

#include "io/record/record.h"

enum {
  TB_REPLAY_VERSION = 1,
  TB_REPLAY_HEAD = 16, // bytes before the header
  TB_REPLAY_TAIL = 40,
  TB_REPLAY_ENTRY = 16, // of the index
  TB_REPLAY_FRAME = 24, // a frame's bytes before its scalars
  TB_REPLAY_POSE = 20,
  TB_REPLAY_BOX = 24, // before the nodes of a deformable body
  TB_REPLAY_CONTACT = 44,
  TB_REPLAY_INDEX = 1 << 16, // entries at most
};

#define TB_REPLAY_MAGIC "\x89TRP\r\n\x1a\n"
#define TB_REPLAY_END   "TRPend\r\n"

// 16-bit nodes of one body, padded.
static inline uint64_t tb_replay_node_bytes(uint64_t nodes) { return (6 * nodes + 3) / 4 * 4; }

static inline uint64_t tb_replay_pad8(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// A rotation in 64 bits: the three smaller components of the quaternion in 20 bits each.
uint64_t tb_replay_pack(tbQuat q);
tbQuat tb_replay_unpack(uint64_t bits);

// The JSON header, padded, and the geometry behind it (header.c).
tbStatus tb_replay_header_print(tbContext* ctx, const tbRecordPlan* plan, const tbDrawing* drawing,
                                tbOut* out);
uint64_t tb_replay_geometry(const tbWorld* world, const tbDrawing* drawing, tbOut* out); // returns its bytes

// A replay in memory, for tests; the bytes must outlive it.
tbStatus tb_replay_open_bytes(tbContext* ctx, const char* name, const void* bytes, size_t length,
                              tbReplay** out);

#endif
