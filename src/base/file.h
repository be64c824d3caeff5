// Whole files, in and out.
#ifndef TB_BASE_FILE_H
#define TB_BASE_FILE_H

#include "base/text.h"

// Reads a file, a pipe or a device to its end into a terminated block that the caller frees with tb_free.
// More than max_bytes is TB_ERROR_INPUT; everything else that goes wrong is TB_ERROR_IO with the path and the
// reason.
tbStatus tb_read_file(tbContext* ctx, const char* path, size_t max_bytes, char** bytes, size_t* length);

// Replaces a file all at once: written beside it under a temporary name, made durable, then renamed over it.
// Whatever fails, the old file is as it was and nothing else is left.
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

#endif
