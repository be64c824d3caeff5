// SPDX-License-Identifier: Apache-2.0
// Which kind of problem file is this? The bytes say, not the name.
#include "base/file.h"
#include "io/problem/problem_io.h"

#include <string.h>

enum { SIGNATURE = 8 };

// The signature stands at the start, or after a user block of 512, 1024, 2048, … bytes.
static bool is_hdf5(const char* bytes, size_t length)
{
  static const char signature[SIGNATURE] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  for (size_t at = 0; at + SIGNATURE <= length; at = at ? 2 * at : 512)
    if (memcmp(bytes + at, signature, SIGNATURE) == 0) return true;
  return false;
}

tbStatus tb_problem_parse(tbContext* ctx, const char* name, const char* bytes, size_t length, tbProblem** out,
                          double** guess)
{
  if (is_hdf5(bytes, length)) return tb_problem_parse_fclib(ctx, name, bytes, length, out, guess);
  size_t at = 0;
  while (at < length && bytes[at] && strchr(" \t\r\n", bytes[at])) at++;
  if (at < length && bytes[at] == '{') return tb_problem_parse_json(ctx, name, bytes, length, out, guess);
  if (at < length && bytes[at] >= '0' && bytes[at] <= '9')
    return tb_problem_parse_lcp(ctx, name, bytes, length, out, guess);
  return tb_fail(ctx, TB_ERROR_INPUT,
                 "%s: not a contact problem: neither FCLIB (HDF5), nor Tribo's JSON, nor an LCP in Siconos' "
                 "text form",
                 name);
}

tbStatus tb_problem_load(tbContext* ctx, const char* path, tbProblem** out, double** guess)
{
  char* bytes = NULL;
  size_t length = 0;
  double* found = NULL;
  *out = NULL;
  if (guess) *guess = NULL;
  TB_TRY(tb_read_input(ctx, path, (size_t)TB_PROBLEM_FILE_GIB << 30, &bytes, &length));
  tbStatus status = tb_problem_parse(ctx, path, bytes, length, out, &found);
  tb_free(ctx, bytes);
  if (guess) *guess = found;
  else tb_free(ctx, found);
  return status;
}

void tb_guess_free(tbContext* ctx, double* guess) { tb_free(ctx, guess); }

void tb_path_stem(const char* path, char stem[TB_STEM])
{
  const char* slash = strrchr(path, '/');
  const char* base = slash ? slash + 1 : path;
  const char* dot = strrchr(base, '.');
  size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
  if (length >= TB_STEM) length = TB_STEM - 1;
  memcpy(stem, base, length);
  stem[length] = 0;
}

tbStatus tb_fail_in(tbContext* ctx, const char* name, tbStatus status)
{
  tbError below = ctx->error;
  return tb_fail_at(ctx, status, below.source_file, below.source_line, "%s: %s", name, below.message);
}
