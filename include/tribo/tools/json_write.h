// SPDX-License-Identifier: Apache-2.0
// Writing JSON as it comes, to memory or to a file (tbOut).
//
//   tbJsonWriter w = tb_json_writer(&out, 2);
//   tb_put_object(&w, NULL);
//   tb_put_number(&w, "dt", 0.01);
//   tb_put_numbers(&w, "momentum", p, 3);
//   tb_put_end(&w);
//   tbStatus status = tb_json_writer_finish(&w);
//
// A value in an object takes its key; at the root and in an array the key is null. Errors are remembered and
// reported by tb_json_writer_finish: the sink's (TB_ERROR_IO), memory, a number that is not finite
// (TB_ERROR_NUMERIC; null is written in its place), or calls out of order (TB_ERROR_ARGUMENT).
#ifndef TRIBO_TOOLS_JSON_WRITE_H
#define TRIBO_TOOLS_JSON_WRITE_H

#include "tribo/tools/json.h"

TB_API_BEGIN

typedef struct tbJsonWriter {
  tbOut* out;
  int indent; // spaces per level; 0 writes everything on one line
  int flat;   // with indent: what lies deeper than so many levels stays on its line; 0: nothing does
  int depth;
  bool done;          // the root value is complete
  const char* misuse; // the first call out of order, or null
  bool not_finite;
  char not_finite_key[64];
  struct {
    bool object, filled;
  } level[TB_JSON_DEPTH];
} tbJsonWriter;

tbJsonWriter tb_json_writer(tbOut* out, int indent);
void tb_put_object(tbJsonWriter* w, const char* key);
void tb_put_array(tbJsonWriter* w, const char* key);
void tb_put_end(tbJsonWriter* w); // of the innermost object or array
void tb_put_null(tbJsonWriter* w, const char* key);
void tb_put_bool(tbJsonWriter* w, const char* key, bool value);
void tb_put_int(tbJsonWriter* w, const char* key, int64_t value);
void tb_put_number(tbJsonWriter* w, const char* key, double value);
void tb_put_string(tbJsonWriter* w, const char* key,
                   const char* value); // bytes that are not UTF-8 become U+FFFD
void tb_put_numbers(tbJsonWriter* w, const char* key, const double* values, size_t count); // on one line
void tb_put_tree(tbJsonWriter* w, const char* key, const tbJson* node);
tbStatus tb_json_writer_finish(tbJsonWriter* w); // also finishes the tbOut

TB_API_END
#endif
