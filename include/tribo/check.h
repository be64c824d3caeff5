// SPDX-License-Identifier: Apache-2.0
// Looking at a scene before it runs: everything that is wrong with its file, what is doubtful about its
// world, and what a scene may hold at all. `tribo check` and `tribo schema` say it.
#ifndef TRIBO_CHECK_H
#define TRIBO_CHECK_H

#include "tribo/io.h"
#include "tribo/tools/array.h"
#include "tribo/tools/text.h"

TB_API_BEGIN

// Everything that is wrong with a scene file, not the first thing alone.
enum { TB_SCENE_MOST_ERRORS = 100 };

typedef struct tbSceneErrors {
  tbArray list;    // tbError, in the order of the file once it has been read
  tbArray bad;     // const tbJson*: records of lists that have an error in them
  size_t in_lists; // errors noted so far that lie in records of lists
} tbSceneErrors;

tbSceneErrors tb_scene_errors(void); // empty
void tb_scene_errors_free(tbContext* ctx, tbSceneErrors* errors);

// tb_scene_load, with all errors. TB_ERROR_INPUT: `errors` holds at least one, and the context the first.
tbStatus tb_scene_examine(tbContext* ctx, const char* path, tbSceneErrors* errors, tbScene* out);
// The same for tb_scene_parse.
tbStatus tb_scene_examine_text(tbContext* ctx, const char* name, const char* bytes, size_t length,
                               const char* folder, tbSceneErrors* errors, tbScene* out);

// Rigid bodies that lie inside each other.
typedef struct tbOverlap {
  int a, b;     // bodies, a < b
  double depth; // m: of the deepest contact between them
} tbOverlap;

// Appends, deepest first, the pairs of bodies that overlap as the world stands, by more than `share` of the
// smaller one's radius: of those that contacts could push apart, so not of two fixed bodies, nor of bodies
// that a joint lets overlap. `out` is an array of tbOverlap.
tbStatus tb_world_overlaps(tbContext* ctx, const tbWorld* world, double share, tbArray* out);

// What is doubtful about the deformable bodies of a world before its first step: surfaces that pass through
// each other or lie in the same place, sheets thicker than their cells, flat elements. None of it is an
// error.
typedef struct tbDoubt {
  int a, b;       // bodies, a ≤ b; b = −1: about a alone
  char what[160]; // about the two, or about a: "pass through each other", …
} tbDoubt;

// Appends them, as the world stands, in order of bodies. `out` is an array of tbDoubt. The world's surfaces
// may be made on the way.
tbStatus tb_world_doubts(tbContext* ctx, const tbWorld* world, tbArray* out);

// The scene format for other programs and for people, from its table.
tbStatus tb_scene_print_schema(tbContext* ctx, tbOut* out); // JSON Schema, draft 2020-12; finishes `out`
tbStatus tb_scene_print_keys(tbContext* ctx, tbOut* out);   // Markdown: a table for every object

TB_API_END
#endif
