// SPDX-License-Identifier: Apache-2.0
// The readers behind tb_problem_load, each from bytes in memory. `name` stands in messages and, without its
// folders and suffix, names a problem that has no name of its own. *guess is null where the file has none,
// else nrow doubles to free with tb_free.
#ifndef TB_IO_PROBLEM_PROBLEM_IO_H
#define TB_IO_PROBLEM_PROBLEM_IO_H

#include "base/text.h"
#include "tribo/io.h"

tbStatus tb_problem_parse_fclib(tbContext* ctx, const char* name, const char* bytes, size_t length,
                                tbProblem** out, double** guess);
tbStatus tb_problem_parse_json(tbContext* ctx, const char* name, const char* bytes, size_t length,
                               tbProblem** out, double** guess);
tbStatus tb_problem_parse_lcp(tbContext* ctx, const char* name, const char* bytes, size_t length,
                              tbProblem** out, double** guess);

// `folder/stack.hdf5` → `stack`
enum { TB_STEM = 128 };
void tb_path_stem(const char* path, char stem[TB_STEM]);

// Puts `name: ` before the message of a failure that happened below the level of files. Returns status.
tbStatus tb_fail_in(tbContext* ctx, const char* name, tbStatus status);

#endif
