// SPDX-License-Identifier: Apache-2.0
// A folder for results: made with its parents when it is missing, and unmade when nothing comes of it.
#ifndef TB_CLI_FOLDER_H
#define TB_CLI_FOLDER_H

#include "tribo/tools/file.h"

#include <limits.h>

typedef struct {
  char path[PATH_MAX];
  size_t made; // length of the shortest part of the path that had to be made; 0: none
} Folder;

typedef struct {
  const char* name;
  tbOut text; // in memory
} FolderFile;

tbStatus folder_make(tbContext* ctx, const char* path, Folder* out);
void folder_unmake(const Folder* folder); // what folder_make made, as far as it is empty
// All files or none: each is written beside its place, and only when all are complete do they take it.
tbStatus folder_save(tbContext* ctx, const Folder* folder, FolderFile* files, int count);

#endif
