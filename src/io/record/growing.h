// SPDX-License-Identifier: Apache-2.0
// Files that grow while a run goes on, and the numbers in them.
#ifndef TB_IO_RECORD_GROWING_H
#define TB_IO_RECORD_GROWING_H

#include "base/file.h"
#include "tribo/math.h"

// Takes its place when it ends well.
typedef struct tbGrowing {
  tbFile file;
  tbOut out; // to the file
} tbGrowing; // must not move while it is open

tbStatus tb_growing_open(tbContext* ctx, const char* path, tbGrowing* out);
tbStatus tb_growing_end(tbContext* ctx, tbGrowing* growing, tbStatus status);
// The same for several: none takes its place before all are written to their ends.
tbStatus tb_growing_end_all(tbContext* ctx, tbGrowing* const* growing, int count, tbStatus status);

// Little-endian numbers.
static inline void tb_out_u16(tbOut* out, uint32_t value)
{
  tb_out_bytes(out, (char[2]){(char)(value & 255), (char)(value >> 8 & 255)}, 2);
}
void tb_out_u32(tbOut* out, uint32_t value);
void tb_out_u64(tbOut* out, uint64_t value);
void tb_out_f32(tbOut* out, double value);
void tb_out_f64(tbOut* out, double value);
void tb_out_f32x3(tbOut* out, tbVec3 value);
void tb_out_zeros(tbOut* out, size_t count);

// The fewest digits that read back as the same float; finite.
void tb_out_float(tbOut* out, float value);

#endif
