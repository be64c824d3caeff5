// SPDX-License-Identifier: Apache-2.0
// Names of the gallery in place of scene files: `tribo run arch`. A file of that name comes first.
#ifndef TB_CLI_NAMED_H
#define TB_CLI_NAMED_H

#include "cli/args.h"

#include <limits.h>

// Whether a word is no file but the name of a scene of the gallery.
bool is_named_scene(const char* word);
// The nearest name of the gallery to a word that is neither; null: none is near.
const char* near_named_scene(const char* word);
// The scene, with its defaults, and values in the place of what it then says (tb_scene_parse_with).
tbStatus load_named_scene(tbContext* ctx, const char* name, const Texts* settings, tbScene* out);

// A folder of this process for a scene and its meshes, where a file is wanted: path is that of the scene in
// it.
typedef struct {
  char folder[PATH_MAX], path[PATH_MAX + 80];
} NamedScene;

tbStatus named_scene_write(tbContext* ctx, const char* name, NamedScene* out);
void named_scene_remove(NamedScene* scene); // the files, too; takes one of zeros

#endif
