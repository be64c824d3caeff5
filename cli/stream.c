// SPDX-License-Identifier: Apache-2.0
#include "cli/stream.h"
#include "cli/out.h"

#include <string.h>

bool is_standard(const char* path) { return path && strcmp(path, "-") == 0; }

tbStatus stream_open(tbContext* ctx, const char* path, Stream* out)
{
  out->open = false;
  if (!path) return TB_OK;
  out->standard = is_standard(path);
  if (!out->standard) TB_TRY(tb_file_begin(ctx, path, &out->file));
  out->out = out->standard ? out_standard(ctx) : tb_out_sink(ctx, tb_file_sink(&out->file), out->file.path);
  out->open = true;
  return TB_OK;
}

tbStatus stream_check(Stream* stream)
{
  return stream->open && stream->out.status != TB_OK ? tb_out_finish(&stream->out) : TB_OK;
}

tbStatus streams_close(tbContext* ctx, Stream* const* streams, int count, tbStatus status)
{
  for (int i = 0; i < count && status == TB_OK; i++)
    if (streams[i]->open) status = tb_out_finish(&streams[i]->out);
  for (int i = 0; i < count; i++) {
    if (!streams[i]->open) continue;
    tb_out_free(&streams[i]->out);
    if (!streams[i]->standard) status = tb_file_end(ctx, &streams[i]->file, status);
    streams[i]->open = false;
  }
  return status;
}
