// SPDX-License-Identifier: Apache-2.0
// A file that is written while a run goes on, and takes its place only when the run ends well; or standard
// output.
#ifndef TB_CLI_STREAM_H
#define TB_CLI_STREAM_H

#include "tribo/tools/file.h"

typedef struct {
  bool open, standard;
  tbFile file;
  tbOut out;
} Stream; // must not move while it is open

// Whether a path stands for standard output: "-".
bool is_standard(const char* path);

// Opens the temporary file, so that a path that cannot be written is known before the work begins. A null
// path leaves the stream closed, and closed streams swallow everything.
tbStatus stream_open(tbContext* ctx, const char* path, Stream* out);
tbStatus stream_check(Stream* stream); // a full disk, as soon as it shows
// Closes all of them: when `status` is TB_OK and each is written to its end they take their places; else
// nothing is left of those that have not.
tbStatus streams_close(tbContext* ctx, Stream* const* streams, int count, tbStatus status);

#endif
