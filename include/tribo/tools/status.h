// SPDX-License-Identifier: Apache-2.0
// Raising and passing on errors.
#ifndef TRIBO_TOOLS_STATUS_H
#define TRIBO_TOOLS_STATUS_H

#include "tribo/base.h"

TB_API_BEGIN

// Records the error in the context and returns its status:  return tb_fail(ctx, TB_ERROR_INPUT, "…", …);
#define tb_fail(ctx, status, ...) tb_fail_at(ctx, status, __FILE__, __LINE__, __VA_ARGS__)

tbStatus tb_fail_at(tbContext* ctx, tbStatus status, const char* file, int line, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

// Passes a failure on to the caller; for functions with nothing of their own to release.
#define TB_TRY(call)                            \
  do {                                          \
    tbStatus try_status = (call);               \
    if (try_status != TB_OK) return try_status; \
  } while (0)

// One line for the context's log, on the thread of the call; nothing where there is none.
void tb_log(tbContext* ctx, tbLogLevel level, const char* format, ...) __attribute__((format(printf, 3, 4)));

TB_API_END
#endif
