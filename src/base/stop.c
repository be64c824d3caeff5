// SPDX-License-Identifier: Apache-2.0
#include "base/stop.h"
#include "base/clock.h"
#include "base/status.h"

#include <math.h>

enum { WORTH_A_LOOK = 256 }; // unknowns: microseconds

void tb_stop_begin(tbStop* stop, const tbContext* ctx, bool (*cancelled)(void*), void* user, double budget_s)
{
  stop->outer = ctx->interrupt;
  stop->cancelled = cancelled;
  stop->user = user;
  stop->deadline = budget_s > 0 ? tb_seconds() + budget_s : INFINITY;
  atomic_init(&stop->reason, TB_STOP_NOT);
  atomic_flag_clear(&stop->asking);
}

// A thread that finds another one asking goes on: the answer will be there when it comes by again.
static bool is_cancelled(tbStop* stop)
{
  if (!stop->cancelled || atomic_flag_test_and_set(&stop->asking)) return false;
  bool cancelled = stop->cancelled(stop->user);
  atomic_flag_clear(&stop->asking);
  return cancelled;
}

tbStopReason tb_stop_reason(tbStop* stop)
{
  int known = atomic_load(&stop->reason), found = TB_STOP_NOT;
  if (known != TB_STOP_NOT) return (tbStopReason)known;
  if (tb_asked(stop->outer)) found = TB_STOP_INTERRUPT;
  else if (is_cancelled(stop)) found = TB_STOP_CANCELLED;
  else if (!isinf(stop->deadline) && tb_seconds() >= stop->deadline) found = TB_STOP_TIME;
  if (found == TB_STOP_NOT) return TB_STOP_NOT;
  return atomic_compare_exchange_strong(&stop->reason, &known, found) ? (tbStopReason)found
                                                                      : (tbStopReason)known;
}

tbStopReason tb_stop_reason_after(tbStop* stop, int* work)
{
  if (*work < WORTH_A_LOOK && !stop->cancelled && !stop->outer.asked)
    return (tbStopReason)atomic_load(&stop->reason);
  *work = 0;
  return tb_stop_reason(stop);
}

static bool asked(void* user) { return tb_stop_reason(user) != TB_STOP_NOT; }

tbInterrupt tb_stop_interrupt(tbStop* stop) { return (tbInterrupt){asked, stop}; }

tbStatus tb_check_interrupt(tbContext* ctx)
{
  return tb_asked(ctx->interrupt) ? tb_fail(ctx, TB_ERROR_CANCELLED, "cancelled") : TB_OK;
}

bool tb_is_late(double deadline) { return deadline > 0 && tb_seconds() > deadline; }
