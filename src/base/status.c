// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

const char* tb_status_name(tbStatus status)
{
  switch (status) {
  case TB_OK: return "ok";
  case TB_ERROR_ARGUMENT: return "argument";
  case TB_ERROR_INPUT: return "input";
  case TB_ERROR_MEMORY: return "memory";
  case TB_ERROR_IO: return "io";
  case TB_ERROR_NUMERIC: return "numeric";
  case TB_ERROR_UNSUPPORTED: return "unsupported";
  case TB_ERROR_CANCELLED: return "cancelled";
  }
  return "unknown";
}

tbContext tb_default_context(void) { return (tbContext){0}; }

// The message is kept to one line: what comes from a file (names, bytes) may hold anything.
static void make_printable(char* text)
{
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = '?';
}

tbStatus tb_fail_at(tbContext* ctx, tbStatus status, const char* file, int line, const char* format, ...)
{
  tbError* error = &ctx->error;
  error->status = status;
  error->source_file = file;
  error->source_line = line;
  error->line = error->column = 0;
  va_list args;
  va_start(args, format);
  vsnprintf(error->message, sizeof error->message, format, args);
  va_end(args);
  make_printable(error->message);
  return status;
}

void tb_log(tbContext* ctx, tbLogLevel level, const char* format, ...)
{
  if (!ctx->log.say) return;
  char message[480];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  make_printable(message);
  ctx->log.say(ctx->log.user, level, message);
}
