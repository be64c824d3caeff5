// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/utf8.h"
#include "test.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static tbContext ctx; // each test starts a new one
static tbArena arena;

static void start(void)
{
  ctx = tb_default_context();
  tb_arena_init(&arena, &ctx);
}

static const tbJson* parse_bytes(const char* bytes, size_t length)
{
  const tbJson* root = NULL;
  return tb_json_parse(&ctx, &arena, "f", bytes, length, &root) == TB_OK ? root : NULL;
}

static const tbJson* parse(const char* text) { return parse_bytes(text, strlen(text)); }

// The text must be refused with exactly this message.
static void check_refused(const char* text, size_t length, const char* message)
{
  start();
  if (parse_bytes(text, length) || ctx.error.status != TB_ERROR_INPUT)
    test_failed(__FILE__, __LINE__, "%s was accepted", text);
  else if (strcmp(ctx.error.message, message) != 0)
    test_failed(__FILE__, __LINE__, "%s\n    gave     %s\n    expected %s", text, ctx.error.message, message);
  tb_arena_free(&arena);
}

#define REFUSED(text, message) check_refused(text, sizeof text - 1, message)

// After a successful parse, a call on the tree must fail with exactly this message.
#define FAILS(call, text)                                                                               \
  do {                                                                                                  \
    if ((call) != TB_ERROR_INPUT) test_failed(__FILE__, __LINE__, "%s succeeded", #call);               \
    if (strcmp(ctx.error.message, text) != 0) test_failed(__FILE__, __LINE__, "%s", ctx.error.message); \
  } while (0)

TEST(valid_json_is_accepted)
{
  static const char* const texts[] = {"[]",
                                      "{}",
                                      "null",
                                      "true",
                                      "false",
                                      "0",
                                      "-0",
                                      "-1.5e-3",
                                      "1E5",
                                      "1e+5",
                                      "0.0",
                                      "0e1",
                                      "\"\"",
                                      " [ ] ",
                                      "\t\r\n1\n",
                                      "[1,2]",
                                      "{\"\":0}",
                                      "{\"a\":{\"a\":1}}",
                                      "[[],[[]],{}]",
                                      "\"\\u0061\\ud834\\udd1e\\/\"",
                                      "\"\x7f\"",
                                      "\"\xf4\x8f\xbf\xbf\"",
                                      "\"\xee\x80\x80\"",
                                      "\"\xe2\x80\xa8\"",
                                      "[\"\\\"\",\"\\\\\"]",
                                      "123123e-10000000",
                                      "{\"a\":1,\"A\":2,\"a \":3}",
                                      "[1e-400]",
                                      "\"\\uFFFF\""};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    start();
    if (!parse(texts[i])) test_failed(__FILE__, __LINE__, "%s: %s", texts[i], ctx.error.message);
    tb_arena_free(&arena);
  }
}

TEST(broken_structure_is_refused_at_its_place)
{
  REFUSED("", "f:1:1: the text is empty");
  REFUSED(" \n ", "f:2:2: the text is empty");
  REFUSED("[1 2]", "f:1:4: expected ',' or ']' after this element, found '2'");
  REFUSED("[1\n  2]", "f:2:3: expected ',' or ']' after this element, found '2'");
  REFUSED("[1}", "f:1:3: expected ',' or ']' after this element, found '}'");
  REFUSED("{\"a\":1 \"b\"}", "f:1:8: expected ',' or '}' after this member, found '\"'");
  REFUSED("[1,]", "f:1:4: expected a value, found ']' (no comma after the last one)");
  REFUSED("{\"a\":1,\n}", "f:2:1: expected a key, found '}' (no comma after the last one)");
  REFUSED("[,1]", "f:1:2: expected a value, found ','");
  REFUSED("[1,,2]", "f:1:4: expected a value, found ','");
  REFUSED("{\"a\" 1}", "f:1:6: expected ':' after this key, found '1'");
  REFUSED("{\"a\"}", "f:1:5: expected ':' after this key, found '}'");
  REFUSED("{\"a\":}", "f:1:6: expected a value, found '}'");
  REFUSED("{\"a\":", "f:1:6: expected a value, but the text ends here");
  REFUSED("{\"a\"", "f:1:5: expected ':' after this key, but the text ends here");
  REFUSED("{1:2}", "f:1:2: expected a key in double quotes, found '1'");
  REFUSED("{a:2}", "f:1:2: a key takes double quotes");
  REFUSED("{'a':2}", "f:1:2: expected a key in double quotes, found ' (strings take double quotes)");
  REFUSED("['a']", "f:1:2: expected a value, found ' (strings take double quotes)");
  REFUSED("[1] // end", "f:1:5: expected nothing after the value, found '/' (JSON has no comments)");
  REFUSED("1 2", "f:1:3: expected nothing after the value, found '2'");
  REFUSED("]", "f:1:1: expected a value, found ']'");
  REFUSED("\n [1,", "f:2:5: the text ends inside the array that starts at 2:2");
  REFUSED("{\"a\":[1]", "f:1:9: the text ends inside the object that starts at 1:1");
  REFUSED("[\xc3\xa9]", "f:1:2: expected a value, found '\xc3\xa9'");
  REFUSED("[\x80]", "f:1:2: expected a value, found the byte 0x80, which is not UTF-8");
  REFUSED("[\x0c]", "f:1:2: expected a value, found the control character 0x0c");
  REFUSED("[1,\0]", "f:1:4: expected a value, found a NUL byte");
  REFUSED("[]\0", "f:1:3: expected nothing after the value, found a NUL byte");
  REFUSED("\xef\xbb\xbf[]", "f:1:1: the text starts with a byte-order mark; save it as UTF-8 without one");
  REFUSED("\xff\xfe[\0", "f:1:1: the text looks like UTF-16; save it as UTF-8");
}

TEST(broken_words_and_numbers_are_refused_at_their_place)
{
  REFUSED("[NaN]", "f:1:2: NaN is not JSON");
  REFUSED("[ Infinity]", "f:1:3: Infinity is not JSON");
  REFUSED("[-Infinity]", "f:1:3: NaN and Infinity are not JSON");
  REFUSED("[True]", "f:1:2: unknown word True; did you mean true?");
  REFUSED("nul", "f:1:1: unknown word nul; did you mean null?");
  REFUSED("None", "f:1:1: unknown word None; did you mean null?");
  REFUSED("truefalse", "f:1:1: unknown word truefalse; strings take double quotes");
  REFUSED("[1e999]", "f:1:2: this number is too large for a double");
  REFUSED("[1.7976931348623159e308]", "f:1:2: this number is too large for a double");
  REFUSED("[-]", "f:1:3: expected a digit, found ']'");
  REFUSED("-", "f:1:2: expected a digit, but the text ends here");
  REFUSED("[.5]", "f:1:2: expected a digit, found '.'");
  REFUSED("[-.5]", "f:1:3: expected a digit, found '.'");
  REFUSED("[+1]", "f:1:2: a number does not start with '+'");
  REFUSED("[012]", "f:1:2: a number does not start with a superfluous 0");
  REFUSED("[-00]", "f:1:2: a number does not start with a superfluous 0");
  REFUSED("[5.]", "f:1:4: expected a digit after the decimal point, found ']'");
  REFUSED("[5.e1]", "f:1:4: expected a digit after the decimal point, found 'e'");
  REFUSED("[1e]", "f:1:4: expected a digit in the exponent, found ']'");
  REFUSED("[1e+]", "f:1:5: expected a digit in the exponent, found ']'");
  REFUSED("1e", "f:1:3: expected a digit in the exponent, but the text ends here");
  REFUSED("[0x1]", "f:1:3: expected ',' or ']' after this element, found 'x'");
  REFUSED("[1.2.3]", "f:1:5: expected ',' or ']' after this element, found '.'");
}

TEST(broken_strings_are_refused_at_their_place)
{
  REFUSED("[\"ab", "f:1:5: the text ends inside the string that starts at 1:2");
  REFUSED("{\"ab", "f:1:5: the text ends inside the string that starts at 1:2");
  REFUSED("[\"a\nb\"]", "f:1:4: the string that starts at 1:2 has no closing quote on its line");
  REFUSED("\"a\tb\"", "f:1:3: the control character 0x09 in a string must be written \\u0009");
  REFUSED("\"a\0b\"", "f:1:3: a NUL byte in a string");
  REFUSED("\"\\u0000\"", "f:1:2: \\u0000 is not allowed in a string");
  REFUSED("\"a\\x\"", "f:1:3: no such escape; \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX are valid");
  REFUSED("\"a\\", "f:1:3: no such escape; \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX are valid");
  REFUSED("\"\\u12g4\"", "f:1:2: expected four hexadecimal digits after \\u");
  REFUSED("\"\\u12", "f:1:2: expected four hexadecimal digits after \\u");
  REFUSED("\"\xc3\xa9\\ud800\"", "f:1:3: \\ud800 is the first half of a pair without the second");
  REFUSED("\"\\ud800\\u0041\"", "f:1:2: \\ud800 is the first half of a pair without the second");
  REFUSED("\"\\udfff\"", "f:1:2: \\udfff is the second half of a pair without the first");
  static const char* const not_utf8[] = {"\x80",
                                         "\xbf",
                                         "\xc0\xaf",
                                         "\xc1\xbf",
                                         "\xc3",
                                         "\xc3(",
                                         "\xe0\x9f\xbf",
                                         "\xe2\x82",
                                         "\xe2(\xa1",
                                         "\xed\xa0\x80",
                                         "\xed\xbf\xbf",
                                         "\xf0\x8f\xbf\xbf",
                                         "\xf0\x9f\x98",
                                         "\xf4\x90\x80\x80",
                                         "\xf5\x80\x80\x80",
                                         "\xfe",
                                         "\xff"};
  for (size_t i = 0; i < sizeof not_utf8 / sizeof not_utf8[0]; i++) {
    char text[16], message[80];
    snprintf(text, sizeof text, "\"\xc3\xa9%s\"", not_utf8[i]);
    snprintf(message, sizeof message, "f:1:3: the byte 0x%02x is not UTF-8", (unsigned char)not_utf8[i][0]);
    check_refused(text, strlen(text), message);
  }
}

TEST(duplicate_keys_are_refused_with_both_places)
{
  REFUSED("{\"a\":1,\n  \"mass\":2,\"b\":0,\n\"mass\":3}", "f:3:1: duplicate key \"mass\" (first at 2:3)");
  REFUSED("{\"a\":1,\"\\u0061\":2}", "f:1:8: duplicate key \"a\" (first at 1:2)");
  char text[2000] = "{", *at = text + 1; // more keys than are searched one by one, two of them repeated
  for (int i = 0; i < 40; i++) at += sprintf(at, "\"k%d\":0,\n", i == 30 ? 20 : i == 39 ? 3 : i);
  strcpy(at, "\"z\":1}");
  check_refused(text, strlen(text), "f:31:1: duplicate key \"k20\" (first at 21:1)");
}

TEST(columns_count_characters_and_lines_count_newlines)
{
  start();
  const tbJson* root =
      parse("{\"\xc3\xa9\xf0\x9f\x98\x80\": 1,\r\n\t\"x\": [true,\n\n \"\xe2\x82\xac\", {}]}");
  REQUIRE(root && root->line == 1 && root->column == 1 && root->key == NULL);
  const tbJson *e = &root->items[0], *x = tb_json_find(root, "x");
  CHECK(e->line == 1 && e->column == 8 && e->key->line == 1 && e->key->column == 2);
  CHECK(x->line == 2 && x->column == 7 && x->key->column == 2 && x->count == 3);
  CHECK(x->items[0].line == 2 && x->items[0].column == 8);
  CHECK(x->items[1].line == 4 && x->items[1].column == 2);
  CHECK(x->items[2].line == 4 && x->items[2].column == 7);
  CHECK(x->items[2].key == x->key && strcmp(x->file, "f") == 0);
  tb_arena_free(&arena);
}

TEST(values_arrive_as_written)
{
  start();
  const tbJson* root =
      parse("[null,true,false,\"a\\n\\u00e9\\ud83d\\ude00\\/\",-0,0.5,3,3.0,1e2,-9223372036854775808,"
            "9223372036854775807,9223372036854775808,-9223372036854775809,9007199254740993]");
  REQUIRE(root && root->count == 14);
  const tbJson* v = root->items;
  CHECK(v[0].type == TB_JSON_NULL && v[1].type == TB_JSON_BOOL && v[1].boolean && !v[2].boolean);
  CHECK(strcmp(v[3].string, "a\n\xc3\xa9\xf0\x9f\x98\x80/") == 0 && v[3].count == strlen(v[3].string));
  CHECK(!v[4].is_integer && signbit(v[4].number) && v[4].number == 0);
  CHECK(!v[5].is_integer && v[5].number == 0.5 && v[6].is_integer && v[6].integer == 3);
  CHECK(!v[7].is_integer && v[7].number == 3 && !v[8].is_integer && v[8].number == 100);
  CHECK(v[9].is_integer && v[9].integer == INT64_MIN && v[10].is_integer && v[10].integer == INT64_MAX);
  CHECK(!v[11].is_integer && v[11].number == 0x1p63 && !v[12].is_integer && v[12].number == -0x1p63);
  CHECK(v[13].integer == 9007199254740993 && tb_json_double(&v[13]) == 9007199254740992.0);
  tb_arena_free(&arena);
}

TEST(nesting_stops_at_the_limit)
{
  enum { DEEP = 1000000 };
  char* text = malloc(2 * DEEP);
  memset(text, '[', DEEP);
  memset(text + TB_JSON_DEPTH, ']', TB_JSON_DEPTH);
  start();
  CHECK(parse_bytes(text, 2 * TB_JSON_DEPTH) != NULL);
  tb_arena_free(&arena);
  memset(text, '[', DEEP);
  check_refused(text, DEEP, "f:1:129: nested deeper than 128 levels");
  for (int i = 0; i < DEEP; i++) memcpy(text + i / 5 * 5, "{\"a\":", 5);
  check_refused(text, DEEP, "f:1:641: nested deeper than 128 levels");
  free(text);
}

TEST(huge_strings_arrive_whole)
{
  enum { SIZE = 10000000 };
  char* text = malloc(SIZE + 2);
  for (int i = 0; i < SIZE; i++) text[i + 1] = (char)('a' + i % 26);
  text[0] = text[SIZE + 1] = '"';
  start();
  const tbJson* root = parse_bytes(text, SIZE + 2);
  CHECK(root && root->count == SIZE && memcmp(root->string, text + 1, SIZE) == 0 && root->string[SIZE] == 0);
  tb_arena_free(&arena);
  free(text);
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// {"k0":0, …} with 2n keys; returns the processor time to read it.
static double time_keys(int n)
{
  char *text = malloc((size_t)n * 24 + 16), *at = text;
  *at++ = '{';
  for (int i = 0; i < n; i++) at += sprintf(at, "%s\"k%u\":%d", i ? "," : "", (unsigned)i * 2654435761u, i);
  *at++ = '}';
  start();
  double begin = seconds();
  const tbJson* root = parse_bytes(text, (size_t)(at - text));
  double elapsed = seconds() - begin;
  CHECK(root && root->count == (uint32_t)n);
  const tbJson* found = root ? tb_json_find(root, "k2654435761") : NULL;
  CHECK(found && found->integer == 1 && !tb_json_find(root, "k1"));
  tb_arena_free(&arena);
  free(text);
  return elapsed;
}

TEST(many_keys_take_far_less_than_quadratic_time)
{
  double few = time_keys(5000), many = time_keys(100000); // quadratic would be 400 times as long
  if (many > 100 * few + 0.2) test_failed(__FILE__, __LINE__, "5000 keys %g s, 100000 keys %g s", few, many);
}

TEST(numbers_cost_at_most_40_bytes_each) { CHECK(sizeof(tbJson) <= 40); }

TEST(reading_survives_every_failed_allocation)
{
  char text[4000] = "{", *at = text + 1;
  for (int i = 0; i < 60; i++) at += sprintf(at, "\"key%d\":[%d,\"%d\",{\"x\":[1,2,3]}],", i, i, i);
  strcpy(at, "\"end\":null}");
  bool done = false;
  for (int k = 0; !done; k++) {
    REQUIRE(k < 1000);
    tbFailingAllocator state = {.countdown = k};
    tbContext failing = test_failing_context(&state);
    tbArena a;
    tb_arena_init(&a, &failing);
    const tbJson* root = NULL;
    tbStatus status = tb_json_parse(&failing, &a, "f", text, strlen(text), &root);
    done = status == TB_OK;
    CHECK(done ? root != NULL
               : status == TB_ERROR_MEMORY && failing.error.status == TB_ERROR_MEMORY && !root);
    tb_arena_free(&a);
    CHECK(state.alive == 0);
  }
}

TEST(messages_survive_long_names)
{
  char name[2000], text[4100];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = 0;
  snprintf(text, sizeof text, "{\"%s\":1,\"%s\":2}", name, name);
  start();
  const tbJson* root = NULL;
  CHECK(tb_json_parse(&ctx, &arena, name, text, strlen(text), &root) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, ":1:2006: duplicate key \"nnn") &&
        strstr(ctx.error.message, "(first at 1:2)"));
  tb_arena_free(&arena);
}

TEST(values_are_checked_with_their_place)
{
  start();
  const tbJson* root =
      parse("{\"mass\": -2,\n \"n\": 2.5, \"big\": 1e6, \"s\": \"text\", \"v\": [1, 2, \"x\"],"
            " \"w\": [1,2], \"b\": true, \"zero\": 0}");
  REQUIRE(root);
  const tbJson *mass = tb_json_find(root, "mass"), *n = tb_json_find(root, "n"), *s = tb_json_find(root, "s");
  const tbJson *v = tb_json_find(root, "v"), *w = tb_json_find(root, "w"), *zero = tb_json_find(root, "zero");
  double x = 7, xs[3] = {7, 7, 7};
  int i = 7;
  int64_t big = 7;
  bool b = false;
  const char* text = NULL;
  FAILS(tb_json_get_number(&ctx, mass, TB_POSITIVE, &x),
        "f:1:10: expected a number above 0 for \"mass\", found -2");
  FAILS(tb_json_get_number(&ctx, zero, TB_POSITIVE, &x),
        "f:2:86: expected a number above 0 for \"zero\", found 0");
  FAILS(tb_json_get_number(&ctx, mass, TB_NONNEGATIVE, &x),
        "f:1:10: expected a number of at least 0 for \"mass\", found -2");
  FAILS(tb_json_get_number(&ctx, mass, TB_UNIT, &x),
        "f:1:10: expected a number of at least 0 and at most 1 for \"mass\", found -2");
  FAILS(tb_json_get_number(&ctx, s, TB_ANY, &x),
        "f:2:29: expected a number for \"s\", found the string \"text\"");
  FAILS(tb_json_get_int(&ctx, n, 0, 10, &i), "f:2:7: expected a whole number for \"n\", found 2.5");
  FAILS(tb_json_get_int(&ctx, mass, 0, INT_MAX, &i),
        "f:1:10: expected a whole number of at least 0 for \"mass\", found -2");
  FAILS(tb_json_get_int(&ctx, tb_json_find(root, "big"), 0, 10, &i),
        "f:2:19: expected a whole number of at most 10 for \"big\", found 1000000");
  FAILS(tb_json_get_bool(&ctx, s, &b), "f:2:29: expected true or false for \"s\", found the string \"text\"");
  FAILS(tb_json_get_string(&ctx, v, &text), "f:2:42: expected a string for \"v\", found an array");
  FAILS(tb_json_get_numbers(&ctx, v, 3, 3, TB_ANY, xs, NULL),
        "f:2:49: expected a number for \"v\", found the string \"x\"");
  FAILS(tb_json_get_numbers(&ctx, w, 3, 3, TB_ANY, xs, NULL),
        "f:2:60: expected 3 numbers for \"w\", found 2");
  FAILS(tb_json_get_numbers(&ctx, w, 3, 6, TB_ANY, xs, &i),
        "f:2:60: expected 3 to 6 numbers for \"w\", found 2");
  FAILS(tb_json_get_numbers(&ctx, s, 3, 3, TB_ANY, xs, NULL),
        "f:2:29: expected an array of 3 numbers for \"s\", found the string \"text\"");
  CHECK(x == 7 && i == 7 && !b && !text && xs[0] == 7); // nothing was touched

  CHECK_OK(&ctx, tb_json_get_number(&ctx, zero, TB_UNIT, &x));
  CHECK_OK(&ctx, tb_json_get_int(&ctx, tb_json_find(root, "big"), 0, INT_MAX, &i));
  CHECK_OK(&ctx, tb_json_get_int64(&ctx, mass, INT64_MIN, INT64_MAX, &big));
  CHECK_OK(&ctx, tb_json_get_bool(&ctx, tb_json_find(root, "b"), &b));
  CHECK_OK(&ctx, tb_json_get_string(&ctx, s, &text));
  CHECK(x == 0 && i == 1000000 && big == -2 && b && strcmp(text, "text") == 0);
  CHECK_OK(&ctx, tb_json_get_numbers(&ctx, w, 0, 3, TB_ANY, xs, &i));
  CHECK(i == 2 && xs[0] == 1 && xs[1] == 2);
  tb_arena_free(&arena);
}

// Whole numbers are whole however they are written, up to the ends of what 64 bits hold.
TEST(whole_numbers_reach_from_end_to_end)
{
  start();
  const tbJson* root = parse("[-9223372036854775808.0, -9.223372036854775808e18, 9223372036854774784.0,"
                             " 9223372036854775808.0, -9223372036854777856.0, 0.5]");
  REQUIRE(root && root->count == 6);
  static const int64_t whole[] = {INT64_MIN, INT64_MIN, INT64_MAX - 1023};
  for (int i = 0; i < 6; i++) {
    int64_t value = 7;
    tbStatus status = tb_json_get_int64(&ctx, &root->items[i], INT64_MIN, INT64_MAX, &value);
    CHECK(status == (i < 3 ? TB_OK : TB_ERROR_INPUT));
    CHECK(value == (i < 3 ? whole[i] : 7));
  }
  tb_arena_free(&arena);
}

TEST(choices_and_keys_suggest_the_nearest_name)
{
  static const char* const models[] = {"cone", "box", "polyhedral", "ccp", "frictionless", NULL};
  static const char* const keys[] = {"friction", "density", "restitution", NULL};
  start();
  int i = 7;
  const tbJson* root = parse("{\"model\": \"conne\", \"other\": \"xyz\", \"good\": \"ccp\", \"number\": 1}");
  REQUIRE(root);
  FAILS(tb_json_get_choice(&ctx, tb_json_find(root, "model"), models, &i),
        "f:1:11: unknown name \"conne\" for \"model\"; did you mean \"cone\"?");
  FAILS(tb_json_get_choice(&ctx, tb_json_find(root, "other"), models, &i),
        "f:1:29: unknown name \"xyz\" for \"other\"; one of cone, box, polyhedral, ccp, frictionless");
  FAILS(tb_json_get_choice(&ctx, tb_json_find(root, "number"), models, &i),
        "f:1:61: expected one of cone, box, polyhedral, ccp, frictionless for \"number\", found 1");
  CHECK_OK(&ctx, tb_json_get_choice(&ctx, tb_json_find(root, "good"), models, &i));
  CHECK(i == 3);

  CHECK_OK(&ctx, tb_json_check_keys(&ctx, parse("{\"density\":1,\"_frction\":2}"), keys));
  FAILS(tb_json_check_keys(&ctx, parse("{\"density\":1,\n \"frction\":2}"), keys),
        "f:2:2: unknown key \"frction\"; did you mean \"friction\"?");
  FAILS(tb_json_check_keys(&ctx, parse("{\"dnesity\":1}"), keys),
        "f:1:2: unknown key \"dnesity\"; did you mean \"density\"?");
  FAILS(tb_json_check_keys(&ctx, parse("{\"colour\":1}"), keys),
        "f:1:2: unknown key \"colour\"; valid keys: friction, density, restitution");
  FAILS(tb_json_check_keys(&ctx, parse("[1]"), keys), "f:1:1: expected an object, found an array");
  FAILS(tb_json_require(&ctx, parse("\n {}"), "mass", &root), "f:2:2: missing key \"mass\"");
  tb_arena_free(&arena);
}

typedef struct Body {
  const char* name;
  double mass, position[3], inertia[6];
  int model, count, inertia_count;
  int64_t seed;
  bool fixed;
  const tbJson *shape, *shapes, *friction;
} Body;

static tbStatus read_body(const tbJson* node, Body* body)
{
  static const char* const models[] = {"cone", "box", NULL};
  const tbJsonField fields[] = {
      tb_required(tb_field_string("name", &body->name)),
      tb_field_number("mass", &body->mass, TB_POSITIVE),
      tb_field_numbers("position", body->position, 3, TB_ANY),
      tb_field_numbers_between("inertia", body->inertia, 3, 6, &body->inertia_count, TB_POSITIVE),
      tb_field_choice("model", &body->model, models),
      tb_field_int("count", &body->count, 1, 100),
      tb_field_int64("seed", &body->seed, 0, INT64_MAX),
      tb_field_bool("fixed", &body->fixed),
      tb_field_object("shape", &body->shape),
      tb_field_array("shapes", &body->shapes),
      tb_field_any("friction", &body->friction),
  };
  return tb_json_read_object(&ctx, node, fields, sizeof fields / sizeof fields[0]);
}

TEST(objects_are_read_by_a_list_of_fields)
{
  start();
  Body body = {.mass = 3, .count = 5};
  CHECK_OK(
      &ctx,
      read_body(
          parse("{\"name\":\"b\",\"_note\":[],\"position\":[1,2,3],\"inertia\":[1,2,3],\"model\":\"box\","
                "\"seed\":9007199254740993,\"fixed\":true,\"shape\":{},\"shapes\":[],\"friction\":0.5}"),
          &body));
  CHECK(strcmp(body.name, "b") == 0 && body.mass == 3 && body.count == 5 && body.position[2] == 3);
  CHECK(body.inertia_count == 3 && body.model == 1 && body.seed == 9007199254740993 && body.fixed);
  CHECK(body.shape && body.shapes && body.friction && body.friction->number == 0.5);

  FAILS(read_body(parse("{\"mass\":1}"), &body), "f:1:1: missing key \"name\"");
  FAILS(read_body(parse("{\"name\":\"b\",\"mas\":1}"), &body),
        "f:1:13: unknown key \"mas\"; did you mean \"mass\"?");
  FAILS(read_body(parse("{\"name\":\"b\",\"mass\":0}"), &body),
        "f:1:20: expected a number above 0 for \"mass\", found 0");
  FAILS(read_body(parse("{\"name\":\"b\",\"shape\":3}"), &body),
        "f:1:21: expected an object for \"shape\", found 3");
  FAILS(
      read_body(parse("{\"name\":\"b\",\"zzzzzz\":3}"), &body),
      "f:1:13: unknown key \"zzzzzz\"; valid keys: name, mass, position, inertia, model, count, seed, fixed, "
      "shape, shapes, friction");
  FAILS(read_body(parse("{\"name\":\"b\",\"inertia\":[1,1,-1]}"), &body),
        "f:1:28: expected a number above 0 for \"inertia\", found -1");
  FAILS(read_body(parse("3"), &body), "f:1:1: expected an object, found 3");
  tb_arena_free(&arena);
}

TEST(files_are_read_and_named_in_errors)
{
  start();
  const tbJson* root = NULL;
  CHECK(tb_json_read_file(&ctx, &arena, "/nowhere/scene.json", 1000, &root) == TB_ERROR_IO);
  CHECK(strcmp(ctx.error.message, "cannot read /nowhere/scene.json: No such file or directory") == 0);
  CHECK(tb_json_read_file(&ctx, &arena, TB_SOURCE_FOLDER "/test/fuzz/corpus/json/bad_no_comma", 1000,
                          &root) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "bad_no_comma:1:4: expected ','"));
  CHECK_OK(&ctx,
           tb_json_read_file(&ctx, &arena, TB_SOURCE_FOLDER "/test/fuzz/corpus/json/scene", 10000, &root));
  CHECK(root && tb_json_find(root, "bodies"));
  tb_arena_free(&arena);
}

TEST(utf8_lengths_and_encodings_agree_for_every_character)
{
  for (uint32_t code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    char bytes[4];
    int length = tb_utf8_encode(code, bytes);
    if (tb_utf8_length(bytes, bytes + length) != length ||
        (length > 1 && tb_utf8_length(bytes, bytes + length - 1)))
      test_failed(__FILE__, __LINE__, "U+%04X", code);
  }
  CHECK(tb_utf8_clip("a\xc3\xa9z", 2) == 1 && tb_utf8_clip("a\xc3\xa9z", 3) == 3 &&
        tb_utf8_clip("ab", 9) == 2);
}
