// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "base/json_write.h"
#include "test.h"

#include <string.h>

// What `fill` writes, compared with `expected`.
#define WRITES(indent, expected, ...)                                                              \
  do {                                                                                             \
    tbContext ctx = tb_default_context();                                                          \
    tbOut out = tb_out_memory(&ctx);                                                               \
    tbJsonWriter w = tb_json_writer(&out, indent);                                                 \
    __VA_ARGS__                                                                                    \
    CHECK_OK(&ctx, tb_json_writer_finish(&w));                                                     \
    if (!out.bytes || strcmp(out.bytes, expected) != 0)                                            \
      test_failed(__FILE__, __LINE__, "%s instead of %s", out.bytes ? out.bytes : "", (expected)); \
    tb_out_free(&out);                                                                             \
  } while (0)

static void fill(tbJsonWriter* w)
{
  tb_put_object(w, NULL);
  tb_put_int(w, "tribo", 1);
  tb_put_numbers(w, "gravity", (double[]){0, 0, -9.81}, 3);
  tb_put_array(w, "bodies");
  tb_put_object(w, NULL);
  tb_put_bool(w, "fixed", true);
  tb_put_null(w, "x");
  tb_put_end(w);
  tb_put_string(w, NULL, "s");
  tb_put_end(w);
  tb_put_array(w, "none");
  tb_put_end(w);
  tb_put_end(w);
}

TEST(writer_lays_out_compact_and_indented)
{
  WRITES(0,
         "{\"tribo\":1,\"gravity\":[0,0,-9.81],\"bodies\":[{\"fixed\":true,\"x\":null},\"s\"],\"none\":[]}",
         fill(&w););
  WRITES(2,
         "{\n  \"tribo\": 1,\n  \"gravity\": [0, 0, -9.81],\n  \"bodies\": [\n    {\n      \"fixed\": true,\n"
         "      \"x\": null\n    },\n    \"s\"\n  ],\n  \"none\": []\n}\n",
         fill(&w););
}

TEST(writer_keeps_deep_levels_on_one_line)
{
  WRITES(2,
         "{\n  \"tribo\": 1,\n  \"gravity\": [0, 0, -9.81],\n  \"bodies\": [\n    {\"fixed\": true, \"x\": "
         "null},\n    \"s\"\n  ],\n  \"none\": []\n}\n",
         w.flat = 2;
         fill(&w););
}

TEST(strings_are_escaped_and_repaired)
{
  WRITES(0, "\"\\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f/\x7f\xc3\xa9\xf0\x9f\x98\x80\"",
         tb_put_string(&w, NULL, "\"\\\b\t\n\f\r\x01\x1f/\x7f\xc3\xa9\xf0\x9f\x98\x80"););
  WRITES(0,
         "\"a\xef\xbf\xbd"
         "b\xef\xbf\xbd\xef\xbf\xbd\"",
         tb_put_string(&w, NULL,
                       "a\xff"
                       "b\xe2\x82"););
}

TEST(numbers_are_written_exactly)
{
  double values[] = {0.1, -0.0, 1e300, 5e-324, 1.0 / 3};
  WRITES(0, "[0.1,-0,1e300,4.94065645841247e-324,0.3333333333333333]", tb_put_numbers(&w, NULL, values, 5););
  WRITES(0, "-9223372036854775808", tb_put_int(&w, NULL, INT64_MIN););
}

TEST(numbers_that_are_not_finite_become_null_and_an_error)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  tbJsonWriter w = tb_json_writer(&out, 0);
  tb_put_object(&w, NULL);
  tb_put_number(&w, "residual", NAN);
  tb_put_numbers(&w, "p", (double[]){1, INFINITY}, 2);
  tb_put_end(&w);
  CHECK(tb_json_writer_finish(&w) == TB_ERROR_NUMERIC);
  CHECK(strcmp(ctx.error.message, "cannot write residual as JSON: not a finite number") == 0);
  CHECK(strcmp(out.bytes, "{\"residual\":null,\"p\":[1,null]}") == 0);
  tb_out_free(&out);
}

#define MISUSED(how, ...)                                                                          \
  do {                                                                                             \
    tbContext ctx = tb_default_context();                                                          \
    tbOut out = tb_out_memory(&ctx);                                                               \
    tbJsonWriter w = tb_json_writer(&out, 0);                                                      \
    __VA_ARGS__                                                                                    \
    CHECK(tb_json_writer_finish(&w) == TB_ERROR_ARGUMENT);                                         \
    if (!strstr(ctx.error.message, how)) test_failed(__FILE__, __LINE__, "%s", ctx.error.message); \
    tb_out_free(&out);                                                                             \
  } while (0)

TEST(calls_out_of_order_are_an_error)
{
  MISUSED("the text is not complete", );
  MISUSED("the text is not complete", tb_put_array(&w, NULL););
  MISUSED("a second value at the root", tb_put_null(&w, NULL); tb_put_null(&w, NULL););
  MISUSED("a key at the root", tb_put_null(&w, "a"););
  MISUSED("a key in an array", tb_put_array(&w, NULL); tb_put_null(&w, "a"););
  MISUSED("a value without a key in an object", tb_put_object(&w, NULL); tb_put_null(&w, NULL););
  MISUSED("an end without a beginning", tb_put_end(&w););
  MISUSED("too many levels", for (int i = 0; i <= TB_JSON_DEPTH; i++) tb_put_array(&w, NULL););
}

TEST(a_full_disk_is_reported_at_the_end)
{
  tbContext ctx = tb_default_context();
  FILE* full = fopen("/dev/full", "w");
  if (!full) SKIP("no /dev/full");
  tbOut out = tb_out_sink(&ctx, tb_sink_stream(full), "metrics.json");
  tbJsonWriter w = tb_json_writer(&out, 0);
  tb_put_array(&w, NULL);
  for (int i = 0; i < 100000; i++) tb_put_number(&w, NULL, 1.0 / (1 + i));
  tb_put_end(&w);
  CHECK(tb_json_writer_finish(&w) == TB_ERROR_IO);
  CHECK(strcmp(ctx.error.message, "cannot write metrics.json: No space left on device") == 0);
  CHECK(out.capacity <= 256 * 1024); // it streams
  tb_out_free(&out);
  fclose(full);
}

TEST(writing_survives_every_failed_allocation)
{
  bool done = false;
  for (int k = 0; !done; k++) {
    REQUIRE(k < 100);
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbOut out = tb_out_memory(&ctx);
    tbJsonWriter w = tb_json_writer(&out, 2);
    tb_put_array(&w, NULL);
    for (int i = 0; i < 1000; i++) tb_put_string(&w, NULL, "some text");
    tb_put_end(&w);
    tbStatus status = tb_json_writer_finish(&w);
    done = status == TB_OK;
    CHECK(done || (status == TB_ERROR_MEMORY && ctx.error.status == TB_ERROR_MEMORY));
    tb_out_free(&out);
    CHECK(state.alive == 0);
  }
}
