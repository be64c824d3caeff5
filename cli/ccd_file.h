// SPDX-License-Identifier: Apache-2.0
// Files of collision queries with their answers, as the benchmark of Wang et al. (2021) has them: eight rows
// for each query, seven integers in a row: x, y and z as numerator and denominator, and 1 where the query is
// a collision. Rows: p f0 f1 f2 or a0 a1 b0 b1 at the start, then at the end.
#ifndef TB_CLI_CCD_FILE_H
#define TB_CLI_CCD_FILE_H

#include "tribo/tools/array.h"
#include "tribo/ccd.h"

typedef struct {
  tbCcdQuery query;
  bool collides;
} CcdCase;

// Appends the file's cases. What is wrong with it is TB_ERROR_INPUT, as `path:line:column: …`.
tbStatus ccd_file_load(tbContext* ctx, const char* path, tbCcdKind kind, tbArray* cases);

// By the last "vertex-face" or "edge-edge" in the path; false: there is none.
bool ccd_file_kind(const char* path, tbCcdKind* out);

#endif
