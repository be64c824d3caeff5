// SPDX-License-Identifier: Apache-2.0
// The test harness: name the claim, build the smallest world that can break it, end in a number.
//
//   TEST(arena_survives_a_failed_take) { … CHECK(p == NULL); CHECK_NEAR(x, 1, 1e-12); … }
//
// A failed CHECK records the place and goes on; REQUIRE leaves the test. SKIP says why a test cannot run
// here.
#ifndef TB_TEST_H
#define TB_TEST_H

#include "tribo/base.h"

#include <stdio.h>

typedef struct tbTest {
  const char *name, *file;
  void (*run)(void);
  bool is_long;
  struct tbTest* next;
} tbTest;

void test_register(tbTest* test);
void test_failed(const char* file, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));
void test_skip(const char* format, ...) __attribute__((format(printf, 1, 2)));

#define TEST_OF_LENGTH(test_name, is_long)                                        \
  static void test_##test_name(void);                                             \
  __attribute__((constructor)) static void register_##test_name(void)             \
  {                                                                               \
    static tbTest test = {#test_name, __FILE__, test_##test_name, is_long, NULL}; \
    test_register(&test);                                                         \
  }                                                                               \
  static void test_##test_name(void)
#define TEST(test_name) TEST_OF_LENGTH(test_name, false)

// A test that goes where shorter ones go, too, and takes most of a second under a sanitizer: `make test` runs
// it as built, and leaves it to `make test-all` under the sanitizers (tribo_tests -s).
#define LONG_TEST(test_name) TEST_OF_LENGTH(test_name, true)

#define CHECK(condition)                                                 \
  do {                                                                   \
    if (!(condition)) test_failed(__FILE__, __LINE__, "%s", #condition); \
  } while (0)

#define REQUIRE(condition)                               \
  do {                                                   \
    if (!(condition)) {                                  \
      test_failed(__FILE__, __LINE__, "%s", #condition); \
      return;                                            \
    }                                                    \
  } while (0)

// |actual − expected| ≤ tolerance; fails on NaN.
#define CHECK_NEAR(actual, expected, tolerance)                                                     \
  do {                                                                                              \
    double check_a = (actual), check_e = (expected), check_d = check_a - check_e;                   \
    if (!((check_d < 0 ? -check_d : check_d) <= (tolerance)))                                       \
      test_failed(__FILE__, __LINE__, "%s = %.17g, expected %.17g ± %g", #actual, check_a, check_e, \
                  (double)(tolerance));                                                             \
  } while (0)

// A call that must succeed; prints the context's message when it does not.
#define CHECK_OK(ctx, call)                                                                      \
  do {                                                                                           \
    if ((call) != TB_OK) test_failed(__FILE__, __LINE__, "%s: %s", #call, (ctx)->error.message); \
  } while (0)

#define SKIP(...)           \
  do {                      \
    test_skip(__VA_ARGS__); \
    return;                 \
  } while (0)

// Deterministic random numbers, seeded by the test.
typedef struct tbRandom {
  uint64_t state;
} tbRandom;

static inline tbRandom test_random(uint64_t seed) { return (tbRandom){seed}; }
uint64_t test_bits(tbRandom* r);
double test_uniform(tbRandom* r, double lo, double hi);
int test_below(tbRandom* r, int n); // 0 … n−1

// An allocator whose k-th allocation fails, once or for good, and that counts what is alive.
typedef struct tbFailingAllocator {
  long countdown; // allocations that still succeed; negative: never fail
  bool for_good;
  long alive, total;
} tbFailingAllocator;

tbContext test_failing_context(tbFailingAllocator* state);

// A wish to stop that is made after so many questions: for cancelled and interrupt callbacks.
typedef struct Countdown {
  int calls, after;
} Countdown;

static inline bool count_down(void* user)
{
  Countdown* c = user;
  return ++c->calls > c->after;
}

// True under TRIBO_QUICK: exhaustive tests then take samples (the sanitizers are slow).
bool test_quick(void);

// The folder shared/ beside the checkout (or $TRIBO_SHARED), or null where there is none.
const char* test_shared_folder(void);

// 64-bit FNV-1a, for same-bits tests.
uint64_t test_hash(const void* bytes, size_t size);

#endif
