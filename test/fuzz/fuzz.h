// SPDX-License-Identifier: Apache-2.0
// One harness, two lives. A file test/fuzz/fuzz_NAME.c holds
//
//   FUZZ(NAME) { … bytes, size … CHECK(…); }
//
// Built for fuzzing (TB_FUZZING), that is libFuzzer's entry point, and a failed CHECK aborts so that the
// input is kept. In the ordinary tests it is a test that replays every file of test/fuzz/corpus/NAME.
#ifndef TB_FUZZ_H
#define TB_FUZZ_H

#include "test.h"

typedef void FuzzFn(const uint8_t* bytes, size_t size);

void fuzz_replay(const char* name, FuzzFn* run);

#ifdef TB_FUZZING
#define FUZZ_ENTRY(name)                                         \
  int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size); \
  int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size)  \
  {                                                              \
    fuzz_##name(bytes, size);                                    \
    return 0;                                                    \
  }
#else
#define FUZZ_ENTRY(name) \
  TEST(corpus_of_##name##_replays) { fuzz_replay(#name, fuzz_##name); }
#endif

#define FUZZ(name)                                            \
  static void fuzz_##name(const uint8_t* bytes, size_t size); \
  FUZZ_ENTRY(name)                                            \
  static void fuzz_##name(const uint8_t* bytes, size_t size)

// Memory that runs out: allocation number `fail_at` fails, counting from 0; negative: never. `alive` must be
// 0 when the harness is done.
typedef struct FuzzMemory {
  long fail_at, taken, alive;
} FuzzMemory;

tbContext fuzz_context(FuzzMemory* memory);

// Runs `read` over the bytes, and once more with one allocation failing, which one depending on the bytes:
// that must be reported as such, and nothing may leak. Returns what the first run said.
typedef tbStatus FuzzRead(tbContext* ctx, void* user, const uint8_t* bytes, size_t size);
tbStatus fuzz_starve(FuzzRead* read, void* user, const uint8_t* bytes, size_t size);

#endif
