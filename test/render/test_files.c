// SPDX-License-Identifier: Apache-2.0
// PNG files are read back, by zlib where it is there, else by a reader of their own; videos are left to
// ffmpeg where it is there.
#include "test.h"

#include "io/recorded.h"
#include "render/deflate.h"
#include "tribo/render.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef TB_HAVE_ZLIB
#include <zlib.h>

static size_t unpack(const char* bytes, size_t length, unsigned char* out, size_t room)
{
  unsigned char none;
  uLongf done = room;
  return uncompress(room ? out : &none, &done, (const unsigned char*)bytes, length) == Z_OK ? done : SIZE_MAX;
}
#else // a reader of what Tribo's own writes: one block with the fixed code

typedef struct {
  const unsigned char* bytes;
  size_t at; // bit
} Bits;

static unsigned take(Bits* b, int count)
{
  unsigned value = 0;
  for (int i = 0; i < count; i++, b->at++) value |= (b->bytes[b->at / 8] >> b->at % 8 & 1u) << i;
  return value;
}

static unsigned code(Bits* b, int count)
{
  unsigned value = 0;
  for (int i = 0; i < count; i++) value = value << 1 | take(b, 1);
  return value;
}

// The fixed code, as RFC 1951 §3.2.6 lists it.
static int symbol(Bits* b)
{
  unsigned v = code(b, 7);
  if (v < 24) return 256 + (int)v;
  v = v << 1 | take(b, 1);
  if (v >= 0x30 && v < 0xC0) return (int)v - 0x30;
  if (v >= 0xC0 && v < 0xC8) return 280 + (int)v - 0xC0;
  v = v << 1 | take(b, 1);
  return 144 + (int)v - 0x190;
}

static size_t inflate(const unsigned char* bytes, unsigned char* out, size_t room)
{
  static const int length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const int length_extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                     2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const int far_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                 33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  Bits b = {bytes + 2, 0};
  size_t done = 0;
  CHECK(take(&b, 3) == 3);
  for (int s; (s = symbol(&b)) != 256;) {
    if (s < 256) {
      if (done < room) out[done] = (unsigned char)s;
      done++;
      continue;
    }
    int length = length_base[s - 257] + (int)take(&b, length_extra[s - 257]);
    int far = (int)code(&b, 5), extra = far < 4 ? 0 : far / 2 - 1;
    size_t distance = (size_t)far_base[far] + take(&b, extra);
    if (distance > done || done + (size_t)length > room) return 0;
    for (int i = 0; i < length; i++, done++) out[done] = out[done - distance];
  }
  return done;
}

static size_t unpack(const char* bytes, size_t length, unsigned char* out, size_t room)
{
  (void)length;
  return inflate((const unsigned char*)bytes, out, room);
}
#endif

TEST(deflate_reads_back)
{
  tbContext ctx = tb_default_context();
  tbRandom random = test_random(11);
  for (int kind = 0; kind < 8; kind++) {
    size_t length = (size_t[]){0, 1, 2, 3, 1000, 70000, 300000, 300000}[kind];
    unsigned char *bytes = malloc(length + 1), *back = malloc(length + 1);
    for (size_t i = 0; i < length; i++)
      bytes[i] = (unsigned char)(kind == 5   ? 7
                                 : kind == 6 ? test_below(&random, 256)
                                 : i > 40000 ? bytes[i - 32768 + (i / 7000) % 3]
                                             : test_below(&random, 3));
    tbOut out = tb_out_memory(&ctx);
    CHECK_OK(&ctx, tb_deflate(&ctx, bytes, length, &out));
    CHECK(unpack(out.bytes, out.length, back, length) == length);
    CHECK(memcmp(bytes, back, length) == 0);
    if (kind == 5) CHECK(out.length < 600);
    tb_out_free(&out);
    free(bytes), free(back);
  }
}

static unsigned u32(const char* p)
{
  const unsigned char* u = (const unsigned char*)p;
  return (unsigned)u[0] << 24 | (unsigned)u[1] << 16 | (unsigned)u[2] << 8 | u[3];
}

enum { W = 67, H = 31, ROW = 3 * W };

// What the filters of PNG (RFC 2083 §6) expect of a byte: of those to the left, above, and above the left.
static int expected(int filter, int a, int b, int c)
{
  int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
  int guess[5] = {0, a, b, (a + b) / 2, pa <= pb && pa <= pc ? a : pb <= pc ? b : c};
  return guess[filter];
}

// Saves a picture and reads it back; returns how many rows have the filter.
static int check_png(Recorded* r, const unsigned char* rgb, int filter)
{
  unsigned char raw[(ROW + 1) * H];
  CHECK_OK(&r->ctx, tb_png_save(&r->ctx, recorded_path(r, "a.png"), W, H, rgb));
  size_t length = 0;
  char* file = recorded_read(recorded_path(r, "a.png"), &length);
  const char* data = file + 8 + 25 + 13; // signature, IHDR, sRGB
  CHECK(u32(file + 16) == W && u32(file + 20) == H && memcmp(data + 4, "IDAT", 4) == 0);
  CHECK(unpack(data + 8, u32(data), raw, sizeof raw) == sizeof raw);
  int rows = 0;
  for (int y = 0; y < H; y++) {
    unsigned char *row = raw + (ROW + 1) * y + 1, *above = row - ROW - 1;
    CHECK(row[-1] < 5);
    rows += row[-1] == filter;
    for (int i = 0; i < ROW; i++) {
      int a = i >= 3 ? row[i - 3] : 0, b = y ? above[i] : 0, c = y && i >= 3 ? above[i - 3] : 0;
      row[i] = (unsigned char)(row[i] + expected(row[-1] % 5, a, b, c));
    }
    CHECK(memcmp(row, rgb + ROW * y, ROW) == 0);
  }
  free(file);
  return rows;
}

// A picture for each filter, that it foretells but for a little noise.
TEST(png_holds_the_same_pixels)
{
  Recorded r = recorded_begin();
  unsigned char rgb[ROW * H];
  tbRandom random = test_random(8);
  for (int filter = 0; filter < 5; filter++) {
    for (int y = 0; y < H; y++)
      for (int i = 0; i < ROW; i++) {
        unsigned char* at = rgb + ROW * y + i;
        int a = i >= 3 ? at[-3] : 0, b = y ? at[-ROW] : 0, c = y && i >= 3 ? at[-ROW - 3] : 0;
        int noise = test_below(&random, 20) == 0 ? test_below(&random, 256) : 0;
        *at = (unsigned char)(expected(filter, a, b, c) + noise);
      }
    CHECK(check_png(&r, rgb, filter) > H / 2);
  }
  CHECK(tb_png_save(&r.ctx, recorded_path(&r, "none/a.png"), W, H, rgb) == TB_ERROR_IO);
  CHECK(tb_png_save(&r.ctx, recorded_path(&r, "b.png"), 0, H, rgb) == TB_ERROR_ARGUMENT);
  CHECK(access(recorded_path(&r, "b.png"), F_OK) != 0);
  recorded_end(&r);
}

TEST(films_need_ffmpeg_and_leave_nothing_half_done)
{
  Recorded r = recorded_begin();
  tbContext* ctx = &r.ctx;
  tbFilm* film;
  unsigned char* rgb = calloc(3, 64 * 48);
  CHECK(tb_film_begin(ctx, recorded_path(&r, "a.avi"), 64, 48, 30, &film) == TB_ERROR_ARGUMENT);
  static const int no_size[][2] = {{63, 48},
                                   {64, 47},
                                   {0, 48},
                                   {64, 0},
                                   {-2, 48},
                                   {64, -2},
                                   {TB_RENDER_SIZE + 2, 48},
                                   {64, TB_RENDER_SIZE + 2}};
  for (int i = 0; i < 8; i++)
    CHECK(tb_film_begin(ctx, recorded_path(&r, "a.mp4"), no_size[i][0], no_size[i][1], 30, &film) ==
          TB_ERROR_ARGUMENT);
  CHECK(tb_film_begin(ctx, recorded_path(&r, "a.mp4"), 64, 48, 0, &film) == TB_ERROR_ARGUMENT);
  char* paths = strdup(getenv("PATH") ? getenv("PATH") : "");
  setenv("PATH", "/nowhere", 1);
  CHECK(tb_film_begin(ctx, recorded_path(&r, "a.mp4"), 64, 48, 30, &film) == TB_ERROR_UNSUPPORTED);
  CHECK(strstr(ctx->error.message, "ffmpeg") != NULL);
  setenv("PATH", paths, 1);
  free(paths);
  CHECK(access(recorded_path(&r, "a.mp4"), F_OK) != 0);
  if (tb_film_check(ctx) != TB_OK) {
    free(rgb);
    recorded_end(&r);
    SKIP("ffmpeg is not installed");
  }
  for (int end = 0; end < 2; end++) {
    REQUIRE(tb_film_begin(ctx, recorded_path(&r, "a.mp4"), 64, 48, 30, &film) == TB_OK);
    for (int i = 0; i < 3; i++) CHECK_OK(ctx, tb_film_frame(ctx, film, rgb));
    CHECK(access(recorded_path(&r, "a.mp4"), F_OK) != 0);
    tbStatus given = end ? TB_OK : TB_ERROR_NUMERIC;
    CHECK(tb_film_end(ctx, film, given) == given);
  }
  size_t length = 0;
  char* file = recorded_read(recorded_path(&r, "a.mp4"), &length);
  REQUIRE(file && length > 100);
  CHECK(memcmp(file + 4, "ftyp", 4) == 0);
  // a film without frames is none
  REQUIRE(tb_film_begin(ctx, recorded_path(&r, "b.webm"), 64, 48, 30, &film) == TB_OK);
  CHECK(tb_film_end(ctx, film, TB_OK) == TB_ERROR_IO);
  CHECK(access(recorded_path(&r, "b.webm"), F_OK) != 0);
  free(file), free(rgb);
  recorded_end(&r);
}
