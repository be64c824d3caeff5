// SPDX-License-Identifier: Apache-2.0
// Structures as bytes, both ways by the same code: a field is named once, in the order it stands in the file.
//
//   static void code_key(tbCodec* c, tbMotionKey* key)
//   {
//     tb_code_number(c, &key->t);
//     tb_code_vec3(c, &key->position);
//   }
//
// Numbers are little-endian; whole numbers take 8 bytes, doubles their bits. The first failure is remembered
// and everything after it does nothing: reading beyond the end, a value out of its bounds, memory. Counts are
// believed only as far as the bytes that follow could hold them, so that no file asks for more memory than a
// small multiple of its size.
#ifndef TB_BASE_CODEC_H
#define TB_BASE_CODEC_H

#include "base/array.h"
#include "base/text.h"
#include "tribo/math.h"

typedef struct tbCodec {
  tbContext* ctx;
  const char* name; // of the file, for messages
  tbOut* out;       // null: reading
  const unsigned char *begin, *at, *end;
  tbStatus status;
} tbCodec;

tbCodec tb_codec_writer(tbContext* ctx, const char* name, tbOut* out);
tbCodec tb_codec_reader(tbContext* ctx, const char* name, const void* bytes, size_t length);

static inline bool tb_codec_reads(const tbCodec* c) { return !c->out; }
static inline bool tb_codec_good(const tbCodec* c) { return c->status == TB_OK; }
// A rule of the format is broken here: reading, the file's fault; writing, the structure's.
void tb_codec_refuse(tbCodec* c, const char* what);
void tb_codec_require(tbCodec* c, bool condition, const char* what);

void tb_code_u64(tbCodec* c, uint64_t* value);
void tb_code_i64(tbCodec* c, int64_t* value, int64_t min, int64_t max);
void tb_code_int(tbCodec* c, int* value, int min, int max); // min ≤ value ≤ max
void tb_code_bool(tbCodec* c, bool* value);
void tb_code_number(tbCodec* c, double* value);   // finite
void tb_code_extended(tbCodec* c, double* value); // ±∞ allowed, not NaN
void tb_code_numbers(tbCodec* c, double* values, size_t count);
void tb_code_vec3(tbCodec* c, tbVec3* v);
void tb_code_quat(tbCodec* c, tbQuat* q); // unit, to rounding
void tb_code_mat3(tbCodec* c, tbMat3* A);
void tb_code_transform(tbCodec* c, tbTransform* T);

// A text without NUL. Reading: *text is a copy the caller frees with tb_free; null after a failure.
void tb_code_text(tbCodec* c, const char** text);

// How many items follow, each of at least min_bytes.
void tb_code_count(tbCodec* c, int* count, size_t min_bytes);
// The same for an array. Reading: it is emptied first and then holds so many items of zeros.
void tb_code_array(tbCodec* c, tbArray* array, size_t min_bytes);

#endif
