// SPDX-License-Identifier: Apache-2.0
// The problem files a command line names: files as they are, folders as the problems in them.
#ifndef TB_CLI_PROBLEM_FILES_H
#define TB_CLI_PROBLEM_FILES_H

#include "tribo/tools/array.h"

typedef struct {
  char** path;
  int count;
  tbArray list; // char*, each a block of its own
} ProblemFiles;

// A folder stands for its files named .json, .hdf5, .h5 or .dat, by name; one without any is TB_ERROR_INPUT.
tbStatus problem_files(tbContext* ctx, int count, char** words, ProblemFiles* out);
void problem_files_free(tbContext* ctx, ProblemFiles* files);

#endif
