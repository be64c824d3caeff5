// SPDX-License-Identifier: Apache-2.0
// Deflate: repetitions within 32 KiB by chains of equal hashes, then the fixed code of RFC 1951 §3.2.6.
//
// Cost      a few tens of nanoseconds per byte: chains are followed for a few steps only.
// Limits    one block with the fixed code: pictures come out a fifth larger than from zlib.
#include "render/deflate.h"

#ifdef TB_HAVE_ZLIB
#include <zlib.h>

static void* take(void* ctx, unsigned items, unsigned size) { return tb_alloc(ctx, items, size); }
static void give(void* ctx, void* pointer) { tb_free(ctx, pointer); }

const char* tb_deflate_name(void) { return "zlib " ZLIB_VERSION; }

tbStatus tb_deflate(tbContext* ctx, const unsigned char* bytes, size_t length, tbOut* out)
{
  enum { PIECE = 1 << 28 }; // zlib counts in unsigned int
  unsigned char room[16384];
  z_stream z = {.zalloc = take, .zfree = give, .opaque = ctx, .next_in = (unsigned char*)(uintptr_t)bytes};
  if (deflateInit(&z, 6) != Z_OK) return tb_fail(ctx, TB_ERROR_MEMORY, "out of memory");
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    if (z.avail_in == 0) {
      z.avail_in = (unsigned)(length < PIECE ? length : PIECE);
      length -= z.avail_in;
    }
    z.next_out = room, z.avail_out = sizeof room;
    code = deflate(&z, length == 0 ? Z_FINISH : Z_NO_FLUSH);
    tb_out_bytes(out, (const char*)room, sizeof room - z.avail_out);
  }
  deflateEnd(&z);
  return out->status;
}

#else // where there is no zlib: Tribo's own

const char* tb_deflate_name(void) { return "tribo"; }

enum { WINDOW = 32768, HASH = 32768, LONGEST = 258, SHORTEST = 3, CHAIN = 24 };

typedef struct {
  tbOut* out;
  uint64_t bits;
  int count;
} BitWriter;

// Least significant bit first.
static void put_bits(BitWriter* w, uint32_t value, int count)
{
  w->bits |= (uint64_t)value << w->count;
  w->count += count;
  if (w->count < 32) return;
  char bytes[4];
  for (int i = 0; i < 4; i++) bytes[i] = (char)(w->bits >> 8 * i & 255);
  tb_out_bytes(w->out, bytes, 4);
  w->bits >>= 32, w->count -= 32;
}

// Codes go out with their most significant bit first.
static void put_code(BitWriter* w, uint32_t code, int count)
{
  uint32_t reversed = 0;
  for (int i = 0; i < count; i++) reversed |= (code >> i & 1) << (count - 1 - i);
  put_bits(w, reversed, count);
}

static void put_symbol(BitWriter* w, int symbol)
{
  if (symbol < 144) put_code(w, 0x30 + (uint32_t)symbol, 8);
  else if (symbol < 256) put_code(w, 0x190 + (uint32_t)symbol - 144, 9);
  else if (symbol < 280) put_code(w, (uint32_t)symbol - 256, 7);
  else put_code(w, 0xC0 + (uint32_t)symbol - 280, 8);
}

// Lengths 3 … 258 and distances 1 … 32768 fall into classes that double in width every `half` of them.
static int class_of(uint32_t value, int log_half, int* extra)
{
  int top = 0;
  while (value >> (top + 1)) top++;
  if (top <= log_half) {
    *extra = 0;
    return (int)value;
  }
  *extra = top - log_half;
  return ((top - log_half) << log_half) + (int)(value >> *extra);
}

static void put_match(BitWriter* w, int length, int distance)
{
  int extra, symbol;
  if (length == LONGEST) put_symbol(w, 285);
  else {
    symbol = class_of((uint32_t)(length - SHORTEST), 2, &extra);
    put_symbol(w, 257 + symbol);
    put_bits(w, (uint32_t)(length - SHORTEST) & ((1u << extra) - 1), extra);
  }
  symbol = class_of((uint32_t)(distance - 1), 1, &extra);
  put_code(w, (uint32_t)symbol, 5);
  put_bits(w, (uint32_t)(distance - 1) & ((1u << extra) - 1), extra);
}

static uint32_t hash_of(const unsigned char* p)
{
  return ((uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2]) * 2654435761u >> 17;
}

typedef struct {
  int64_t head[HASH], before[WINDOW]; // places + 1; 0: none
} Chains;

static void enter(Chains* c, const unsigned char* bytes, int64_t at)
{
  uint32_t h = hash_of(bytes + at);
  c->before[at % WINDOW] = c->head[h];
  c->head[h] = at + 1;
}

static int find(const Chains* c, const unsigned char* bytes, int64_t at, int64_t length, int* distance)
{
  int best = 0, limit = length - at < LONGEST ? (int)(length - at) : LONGEST;
  int64_t place = c->head[hash_of(bytes + at)];
  for (int step = 0; step < CHAIN && place > 0 && at - (place - 1) <= WINDOW - 1; step++) {
    const unsigned char *a = bytes + at, *b = bytes + place - 1;
    int same = 0;
    if (best == 0 || b[best] == a[best])
      while (same < limit && a[same] == b[same]) same++;
    if (same > best) {
      best = same, *distance = (int)(at - (place - 1));
      if (best == limit) break;
    }
    place = c->before[(place - 1) % WINDOW];
  }
  return best;
}

static void compress(BitWriter* w, Chains* c, const unsigned char* bytes, int64_t length)
{
  for (int64_t at = 0; at < length;) {
    int distance = 0, found = length - at >= SHORTEST ? find(c, bytes, at, length, &distance) : 0;
    int step = found >= SHORTEST ? found : 1;
    if (step > 1) put_match(w, found, distance);
    else put_symbol(w, bytes[at]);
    for (int i = 0; i < step; i++, at++)
      if (length - at >= SHORTEST) enter(c, bytes, at);
  }
}

static uint32_t adler(const unsigned char* bytes, size_t length)
{
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < length; i++) {
    a = (a + bytes[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

tbStatus tb_deflate(tbContext* ctx, const unsigned char* bytes, size_t length, tbOut* out)
{
  Chains* chains = TB_NEW(ctx, Chains, 1);
  if (!chains) return TB_ERROR_MEMORY;
  tb_out_bytes(out, "\x78\x01", 2);
  BitWriter w = {.out = out};
  put_bits(&w, 3, 3); // the last block, fixed code
  compress(&w, chains, bytes, (int64_t)length);
  put_symbol(&w, 256);
  while (w.count > 0) {
    tb_out_bytes(out, (char[1]){(char)(w.bits & 255)}, 1);
    w.bits >>= 8, w.count -= 8;
  }
  uint32_t sum = adler(bytes, length);
  tb_out_bytes(
      out, (char[4]){(char)(sum >> 24), (char)(sum >> 16 & 255), (char)(sum >> 8 & 255), (char)(sum & 255)},
      4);
  tb_free(ctx, chains);
  return out->status;
}

#endif
