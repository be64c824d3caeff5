// Everything that is wrong with a scene file, not the first thing alone.
//
// Reading goes on after an error that can be noted. What a part of the file with an error in it would have
// been is not made, and what refers to it is not blamed for that.
#ifndef TB_IO_SCENE_ERRORS_H
#define TB_IO_SCENE_ERRORS_H

#include "base/array.h"
#include "base/json.h"
#include "tribo/io.h"

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

// Notes the context's error and returns TB_OK, so that reading goes on. Returns `status` itself where it is
// TB_OK, where it is no error of the file, where no errors are kept (null), and where the list is full.
tbStatus tb_scene_errors_note(tbContext* ctx, tbSceneErrors* errors, tbStatus status);
tbStatus tb_scene_errors_mark(tbContext* ctx, tbSceneErrors* errors, const tbJson* record); // as bad
bool tb_scene_errors_bad(const tbSceneErrors* errors, const tbJson* record);
size_t tb_scene_errors_count(const tbSceneErrors* errors); // takes null
void tb_scene_errors_sort(tbSceneErrors* errors);          // by line and column

#endif
