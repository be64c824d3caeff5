// SPDX-License-Identifier: Apache-2.0
// Everything that is wrong with a scene file, not the first thing alone.
//
// Reading goes on after an error that can be noted. What a part of the file with an error in it would have
// been is not made, and what refers to it is not blamed for that.
#ifndef TB_IO_SCENE_ERRORS_H
#define TB_IO_SCENE_ERRORS_H

#include "base/array.h"
#include "base/json.h"
#include "tribo/check.h"

// Notes the context's error and returns TB_OK, so that reading goes on. Returns `status` itself where it is
// TB_OK, where it is no error of the file, where no errors are kept (null), and where the list is full.
tbStatus tb_scene_errors_note(tbContext* ctx, tbSceneErrors* errors, tbStatus status);
tbStatus tb_scene_errors_mark(tbContext* ctx, tbSceneErrors* errors, const tbJson* record); // as bad
bool tb_scene_errors_bad(const tbSceneErrors* errors, const tbJson* record);
size_t tb_scene_errors_count(const tbSceneErrors* errors); // takes null
void tb_scene_errors_sort(tbSceneErrors* errors);          // by line and column

#endif
