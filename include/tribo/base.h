// SPDX-License-Identifier: Apache-2.0
// The ground everything stands on: status codes, the context, memory, threads.
//
// Every fallible function takes a tbContext first and returns a tbStatus. On failure the context's `error`
// holds one line for a person and the place in Tribo's source that raised it; what the call was to change is
// left as it was. The library never prints, exits or aborts, and keeps no state outside what the caller owns:
// two contexts never meet.
#ifndef TRIBO_BASE_H
#define TRIBO_BASE_H

#include "tribo/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

TB_API_BEGIN

#define TB_VERSION "0.1.0"      // of the headers
const char* tb_version(void);   // of the library that the program runs with
const char* tb_simd_name(void); // the vector instructions its kernels use on this processor: "avx2", …
// What it factors sparse matrices with, and the orderings it knows: "tribo", "natural degree amd metis".
const char* tb_cholesky_backend_name(void);
const char* tb_orderings_present(void);

typedef enum tbStatus {
  TB_OK = 0,
  TB_ERROR_ARGUMENT,    // the caller's mistake: a null pointer, an option out of range
  TB_ERROR_INPUT,       // a file or a problem that breaks its format's rules
  TB_ERROR_MEMORY,      // an allocation failed
  TB_ERROR_IO,          // opening, reading or writing failed
  TB_ERROR_NUMERIC,     // no answer in this form: an indefinite metric, say
  TB_ERROR_UNSUPPORTED, // valid, but not in this build or not by this method
  TB_ERROR_CANCELLED,   // the context's interrupt asked for it
} tbStatus;

const char* tb_status_name(tbStatus status); // "ok", "input", …

typedef struct tbError {
  tbStatus status;
  const char* source_file; // the place in Tribo that raised it
  int source_line;
  char message[480]; // one line; names the file, line and column of bad input where there is one
  int line, column;  // the same of bad input in JSON, from 1; 0: not known
} tbError;

// Memory. `alloc` returns size bytes aligned to `alignment` (a power of two), or NULL; `free` takes NULL. In
// a context with threads any of them may call, but never two at a time.
typedef struct tbAllocator {
  void* (*alloc)(void* user, size_t size, size_t alignment);
  void (*free)(void* user, void* pointer);
  void* user;
} tbAllocator;

typedef struct tbThreads tbThreads;

// A wish to stop. Whatever takes long asks now and then, from any thread of the context, also from two at a
// time; true ends the call with TB_ERROR_CANCELLED, and what it was to change is left as it was.
typedef struct tbInterrupt {
  bool (*asked)(void* user); // null: never
  void* user;
} tbInterrupt;

// What is worth knowing and no error: steps that miss their tolerance or do what the contact law did not ask
// for (warning), what is removed (debug). Called on the thread that made the call, and never by two at a
// time.
typedef enum tbLogLevel { TB_LOG_DEBUG, TB_LOG_INFO, TB_LOG_WARNING } tbLogLevel;

typedef struct tbLog {
  void (*say)(void* user, tbLogLevel level, const char* message); // one line; null: nothing is told
  void* user;
} tbLog;

// What a call may use of the world. A context serves one thread at a time; make one per thread of yours.
typedef struct tbContext {
  tbAllocator allocator; // all null: the C library's
  tbThreads* threads;    // null: everything runs on the calling thread, to the same bits
  tbInterrupt interrupt;
  tbLog log;
  tbError error; // of the last call that failed
  // Methods beside those of the library's table, found by their names before them (tribo/solver.h).
  const struct tbSolver* const* solvers; // (solver_count)
  int solver_count;
} tbContext;

tbContext tb_default_context(void);

// Threads. Work is cut into the same pieces for every number of threads, so results do not depend on it.
tbStatus tb_threads_create(tbContext* ctx, int count, tbThreads** out); // 1 ≤ count ≤ 256
// The caller's own tasks in their place: `run` calls task(data, i) once for every 0 ≤ i < count, in any order
// and from any threads, and returns when all are done. Loops inside of tasks do not reach it.
typedef struct tbTasks {
  void (*run)(void* user, int count, void (*task)(void* data, int index), void* data);
  int workers; // how many tasks run at a time, 1 … 256: work is cut for so many
  void* user;
} tbTasks;
tbStatus tb_threads_create_on(tbContext* ctx, const tbTasks* tasks, tbThreads** out);
void tb_threads_destroy(tbContext* ctx, tbThreads* threads); // takes null
int tb_threads_count(const tbThreads* threads);              // 1 for null

TB_API_END
#endif
