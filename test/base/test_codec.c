// SPDX-License-Identifier: Apache-2.0
// Structures as bytes: what is written is read back, takes the bytes that the format says, and anything else
// is refused.
#include "base/codec.h"
#include "test.h"

#include <math.h>
#include <string.h>

typedef struct {
  uint64_t bits;
  int64_t wide;
  int small;
  bool yes;
  double number, endless, three[3];
  tbVec3 v;
  tbQuat q;
  tbMat3 A;
  tbTransform T;
  const char* text;
  tbArray items; // int
} Everything;

static const size_t length = 8 * (1 + 1 + 1 + 1 + 1 + 1 + 3 + 3 + 4 + 9 + 7 + 1) + 5 + 8 + 2 * 8;

static void code(tbCodec* c, Everything* e)
{
  tb_code_u64(c, &e->bits);
  tb_code_i64(c, &e->wide, -10, 10);
  tb_code_int(c, &e->small, 0, 99);
  tb_code_bool(c, &e->yes);
  tb_code_number(c, &e->number);
  tb_code_extended(c, &e->endless);
  tb_code_numbers(c, e->three, 3);
  tb_code_vec3(c, &e->v);
  tb_code_quat(c, &e->q);
  tb_code_mat3(c, &e->A);
  tb_code_transform(c, &e->T);
  tb_code_text(c, &e->text);
  tb_code_array(c, &e->items, 8);
  for (size_t i = 0; i < e->items.count && tb_codec_good(c); i++)
    tb_code_int(c, (int*)e->items.data + i, 0, 1000);
}

static Everything made(tbContext* ctx)
{
  Everything e = {.bits = 0x0123456789abcdef, .wide = -7, .small = 42, .yes = true, .number = -0.1};
  e.endless = -INFINITY, e.text = "five!", e.items = TB_ARRAY(int);
  for (int i = 0; i < 3; i++) e.three[i] = 1.5 * i - 1;
  for (int i = 0; i < 9; i++) e.A.m[i / 3][i % 3] = 1.0 / (i + 1);
  e.v = tb_vec3(1, -2, 3e300), e.q = tb_quat_exp(tb_vec3(0.1, 0.2, 0.3));
  e.T = tb_transform(tb_quat_exp(tb_vec3(-1, 0, 0.5)), tb_vec3(7, 8, 9));
  CHECK_OK(ctx, tb_array_push(ctx, &e.items, (const int[]){5, 1000}, 2));
  return e;
}

static void check_same(const Everything* a, const Everything* b)
{
  CHECK(a->bits == b->bits && a->wide == b->wide && a->small == b->small && a->yes == b->yes);
  CHECK(a->number == b->number && a->endless == b->endless);
  CHECK(memcmp(a->three, b->three, sizeof a->three) == 0 && memcmp(&a->v, &b->v, sizeof a->v) == 0);
  CHECK(memcmp(&a->q, &b->q, sizeof a->q) == 0 && memcmp(&a->A, &b->A, sizeof a->A) == 0);
  CHECK(memcmp(&a->T, &b->T, sizeof a->T) == 0);
  CHECK(b->text && strcmp(a->text, b->text) == 0);
  CHECK(b->items.count == 2 && memcmp(a->items.data, b->items.data, 2 * sizeof(int)) == 0);
}

static void forget(tbContext* ctx, Everything* read)
{
  tb_free(ctx, (void*)read->text);
  tb_array_free(ctx, &read->items);
}

TEST(what_is_coded_is_read_back_and_nothing_shorter)
{
  tbContext ctx = tb_default_context();
  Everything e = made(&ctx);
  tbOut out = tb_out_memory(&ctx);
  tbCodec writer = tb_codec_writer(&ctx, "all", &out);
  CHECK(!tb_codec_reads(&writer));
  code(&writer, &e);
  CHECK_OK(&ctx, tb_out_finish(&out));
  REQUIRE(writer.status == TB_OK && out.length == length);
  CHECK(memcmp(out.bytes, "\xef\xcd\xab\x89\x67\x45\x23\x01\xf9\xff\xff\xff\xff\xff\xff\xff*\0\0\0\0\0\0",
               23) == 0);
  for (size_t n = 0; n <= length; n++) {
    Everything read = {.items = TB_ARRAY(int)};
    tbCodec reader = tb_codec_reader(&ctx, "all", out.bytes, n);
    CHECK(tb_codec_reads(&reader));
    code(&reader, &read);
    CHECK(reader.status == (n < length ? TB_ERROR_INPUT : TB_OK));
    CHECK(n < length || reader.at == reader.end);
    if (n == length) check_same(&e, &read);
    forget(&ctx, &read);
  }
  tb_out_free(&out);
  tb_array_free(&ctx, &e.items);
}

// The bytes of eight numbers, the first of them as given.
static tbCodec reader_of(tbContext* ctx, unsigned char bytes[64], uint64_t first)
{
  memset(bytes, 0, 64);
  for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(first >> 8 * i);
  return tb_codec_reader(ctx, "bad", bytes, 64);
}

static uint64_t bits_of(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

TEST(values_out_of_bounds_are_neither_read_nor_written)
{
  tbContext ctx = tb_default_context();
  unsigned char bytes[64];
  int small = 3;
  bool yes = true;
  double x = 0.5;
  tbQuat q = tb_quat_identity();
  const char* text = NULL;
  tbCodec c;
  for (int k = -1; k <= 3; k++) {
    c = reader_of(&ctx, bytes, (uint64_t)(int64_t)k), small = 7, tb_code_int(&c, &small, 0, 2);
    CHECK(tb_codec_good(&c) == (k >= 0 && k <= 2) && small == (tb_codec_good(&c) ? k : 7));
    c = reader_of(&ctx, bytes, (uint64_t)(int64_t)k), tb_code_bool(&c, &yes);
    CHECK(tb_codec_good(&c) == (k == 0 || k == 1));
  }
  c = reader_of(&ctx, bytes, bits_of(INFINITY)), tb_code_number(&c, &x);
  CHECK(!tb_codec_good(&c) && x == 0.5);
  c = reader_of(&ctx, bytes, bits_of(INFINITY)), tb_code_extended(&c, &x);
  CHECK(tb_codec_good(&c) && x == INFINITY);
  c = reader_of(&ctx, bytes, bits_of(NAN)), tb_code_extended(&c, &x);
  CHECK(!tb_codec_good(&c) && x == INFINITY);
  c = reader_of(&ctx, bytes, bits_of(1.001)), tb_code_quat(&c, &q);
  CHECK(!tb_codec_good(&c));
  c = reader_of(&ctx, bytes, 8), tb_code_text(&c, &text);
  CHECK(!tb_codec_good(&c) && !text); // of zeros
  int count = 0;
  c = reader_of(&ctx, bytes, 7), tb_code_count(&c, &count, 8);
  CHECK(tb_codec_good(&c) && count == 7);
  c = reader_of(&ctx, bytes, 8), tb_code_count(&c, &count, 8);
  CHECK(!tb_codec_good(&c) && c.status == TB_ERROR_INPUT && strstr(ctx.error.message, "bad"));
  tbOut out = tb_out_memory(&ctx);
  c = tb_codec_writer(&ctx, "bad", &out), small = 3, tb_code_int(&c, &small, 0, 2);
  CHECK(c.status == TB_ERROR_NUMERIC);
  tb_code_number(&c, &x); // after a failure nothing is written
  CHECK_OK(&ctx, tb_out_finish(&out));
  CHECK(out.length <= 8);
  tb_out_free(&out);
}
