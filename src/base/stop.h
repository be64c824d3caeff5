// SPDX-License-Identifier: Apache-2.0
// Stopping early: the caller's wish, and the time that it gives.
//
// A call that may be stopped keeps one tbStop, and hands it down as the interrupt of a context of its own:
//
//   tbStop stop;
//   tb_stop_begin(&stop, ctx, cancelled, user, seconds);
//   tbContext own = *ctx;
//   own.interrupt = tb_stop_interrupt(&stop);
//
// The first reason to stop is kept; from then on the answer is the same, and costs no more than a load.
#ifndef TB_BASE_STOP_H
#define TB_BASE_STOP_H

#include "tribo/base.h"

#include <stdatomic.h>

typedef enum tbStopReason {
  TB_STOP_NOT,
  TB_STOP_TIME,      // the time is up
  TB_STOP_CANCELLED, // the function of the options said so
  TB_STOP_INTERRUPT, // the context's interrupt did
} tbStopReason;

typedef struct tbStop {
  tbInterrupt outer;             // of the caller's context
  bool (*cancelled)(void* user); // of its options: asked by one thread at a time
  void* user;
  double deadline;    // on the clock of base/clock.h; infinite: none
  atomic_int reason;  // tbStopReason
  atomic_flag asking; // a thread is in `cancelled`
} tbStop;

// budget_s: from now on; 0: none.
void tb_stop_begin(tbStop* stop, const tbContext* ctx, bool (*cancelled)(void*), void* user, double budget_s);
tbStopReason tb_stop_reason(tbStop* stop); // asks
// The same, where only the clock is to be read, and not every time: reading it takes as long as solving a
// contact. `work` adds up, in unknowns that the caller has gone through; it is set to 0 where the clock is
// read.
tbStopReason tb_stop_reason_after(tbStop* stop, int* work);
tbInterrupt tb_stop_interrupt(tbStop* stop);

// For long loops: whether to leave them. Takes an interrupt that was never set.
static inline bool tb_asked(tbInterrupt interrupt)
{
  return interrupt.asked && interrupt.asked(interrupt.user);
}

// The same as a status, for functions that can fail.
tbStatus tb_check_interrupt(tbContext* ctx);

// Whether a deadline on the clock of base/clock.h has passed; 0: there is none.
bool tb_is_late(double deadline);

#endif
