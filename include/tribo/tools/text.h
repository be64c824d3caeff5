// SPDX-License-Identifier: Apache-2.0
// Text on its way out, and names that were nearly right.
#ifndef TRIBO_TOOLS_TEXT_H
#define TRIBO_TOOLS_TEXT_H

#include "tribo/tools/memory.h"

#include <stdio.h>

TB_API_BEGIN

// Where bytes go. Returns 0, or an errno.
typedef struct tbSink {
  int (*write)(void* user, const char* bytes, size_t count);
  void* user;
} tbSink;

tbSink tb_sink_stream(FILE* stream); // flushes what it writes

// Builds a text in memory, or passes it on to a sink in large pieces. Errors are remembered: after the first
// one everything is a no-op, and tb_out_finish reports it. Numbers are written the same under every locale.
//
//   tbOut out = tb_out_memory(ctx);
//   tb_out_text(&out, "x,y\n");  tb_out_double(&out, x);  …
//   tbStatus status = tb_out_finish(&out);      then use out.bytes, out.length
//   tb_out_free(&out);
typedef struct tbOut {
  tbContext* ctx;
  char* bytes; // terminated, unless null: nothing written yet
  size_t length, capacity;
  tbSink sink;      // write is null: keep everything in memory
  const char* name; // of the sink, for messages; not copied
  tbStatus status;
  int sink_error; // the errno behind TB_ERROR_IO
} tbOut;

tbOut tb_out_memory(tbContext* ctx);
tbOut tb_out_sink(tbContext* ctx, tbSink sink, const char* name);
void tb_out_bytes(tbOut* out, const char* bytes, size_t count);
void tb_out_text(tbOut* out, const char* text);
void tb_out_int(tbOut* out, int64_t value);
void tb_out_double(tbOut* out, double value); // as tb_format_double; nan and inf too
tbStatus tb_out_finish(tbOut* out);           // hands the rest to the sink; the first error, if any
void tb_out_free(tbOut* out);

// The number of insertions, deletions, substitutions and swaps of neighbours between two names (optimal
// string alignment), or a number above 64 when either is longer than 64 bytes.
int tb_name_distance(const char* a, const char* b);

// Finds the candidate a person most likely meant, among those offered one by one:
//
//   tbNearest near = tb_nearest("frction");  tb_nearest_offer(&near, "friction");  …  near.name or null
//
// A candidate is near when a third of the wanted name's letters, at least one, may change. The first offered
// wins a tie.
typedef struct tbNearest {
  const char *wanted, *name;
  int distance;
} tbNearest;

tbNearest tb_nearest(const char* wanted);
void tb_nearest_offer(tbNearest* nearest, const char* candidate);

// Appends a name to "a, b, c" in a buffer of that size; what does not fit becomes "…".
void tb_list_append(char* list, size_t size, const char* name);

TB_API_END
#endif
