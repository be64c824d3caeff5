// SPDX-License-Identifier: Apache-2.0
// Whole files, in and out.
#ifndef TRIBO_TOOLS_FILE_H
#define TRIBO_TOOLS_FILE_H

#include "tribo/tools/text.h"

TB_API_BEGIN

// Opens a regular file for reading and says how large it is. A pipe, a device or a socket is TB_ERROR_INPUT,
// at once: reading one could wait, or go on, forever. What cannot be opened is TB_ERROR_IO with the path and
// the reason. The caller closes the descriptor.
tbStatus tb_open_file(tbContext* ctx, const char* path, int* descriptor, uint64_t* size);

// Reads such a file to its end into a terminated block that the caller frees with tb_free. More than
// max_bytes is TB_ERROR_INPUT, before anything is read.
tbStatus tb_read_file(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length);

// The first bytes of such a file, at most `count`; `size`: what the whole has.
tbStatus tb_read_start(tbContext* ctx, const char* path, char* bytes, size_t count, size_t* read,
                       uint64_t* size);

// As tb_read_file, for a path a person has typed, which may also name a stream that this process was started
// with: /dev/stdin, or /dev/fd/N, which is what a shell puts for <(command). A path that stands in a file is
// never read by this function.
tbStatus tb_read_input(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length);
bool tb_is_stream(const char* path); // whether it names one, which can be read only once

// Replaces a file all at once: written beside it under a temporary name, made durable, then renamed over it.
// Whatever fails, the old file is as it was and nothing else is left. What a process that was killed has left
// goes when the same file is next begun; a lock tells files that are being written, by this process or
// another, from such leftovers.
//
//   tbFile file;
//   TB_TRY(tb_file_begin(ctx, "run.json", &file));
//   tbOut out = tb_out_sink(ctx, tb_file_sink(&file), file.path);   or let another library write file.temp
//   …
//   tbStatus status = tb_out_finish(&out);
//   tb_out_free(&out);
//   return tb_file_end(ctx, &file, status);
//
// A symbolic link to a file stays, and that file is replaced. The new file keeps the old one's permissions.
// What cannot be replaced (a pipe, a device, anything under /dev or /proc) is written to directly; `temp` is
// then the path itself.
typedef struct tbFile {
  char *path, *temp;
  int descriptor;
  bool direct;
} tbFile;

tbStatus tb_file_begin(tbContext* ctx, const char* path, tbFile* out);
tbSink tb_file_sink(tbFile* file);
tbStatus tb_file_commit(tbContext* ctx, tbFile* file); // aborts by itself when it fails
void tb_file_abort(tbContext* ctx, tbFile* file);      // takes a file that was committed or aborted already

// Commits when `status` is TB_OK and aborts otherwise, keeping that error.
tbStatus tb_file_end(tbContext* ctx, tbFile* file, tbStatus status);

tbStatus tb_write_file(tbContext* ctx, const char* path, const char* bytes, size_t length);

TB_API_END
#endif
