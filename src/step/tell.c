// SPDX-License-Identifier: Apache-2.0
// What a step tells the log.
#include "step/scheme.h"

#include <inttypes.h>

void tb_step_tell(tbContext* ctx, const tbWorld* w, const tbStepReport* r)
{
  if (!ctx->log.say) return;
  const tbStepChanges* c = &r->changes;
  int64_t step = tb_world_step_count(w);
  if (r->outcome != TB_CONVERGED)
    tb_log(ctx, TB_LOG_WARNING, "step %" PRId64 ": %s ends with %s after %d iterations, residual %.3g m/s",
           step, r->used, tb_outcome_name(r->outcome), r->iterations, r->residual.velocity);
  if (r->overflow) tb_log(ctx, TB_LOG_WARNING, "step %" PRId64 ": the energy is not finite any more", step);
  if (r->intersections > 0)
    tb_log(ctx, TB_LOG_WARNING, "step %" PRId64 ": %" PRId64 " pairs of triangles pass through each other",
           step, r->intersections);
  if (r->trimmed > 0)
    tb_log(ctx, TB_LOG_WARNING, "step %" PRId64 ": the share %.3g of it was not gone", step, r->trimmed);
  if (c->stopped > 0)
    tb_log(ctx, TB_LOG_WARNING, "step %" PRId64 ": %d bodies stopped %.3g m short", step, c->stopped,
           c->short_of);
  if (c->damped > 0)
    tb_log(ctx, TB_LOG_INFO, "step %" PRId64 ": %d impacts with less than their restitution", step,
           c->damped);
}
