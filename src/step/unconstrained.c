// SPDX-License-Identifier: Apache-2.0
#include "step/unconstrained.h"

#include "base/prefetch.h"

enum { AHEAD = 3 };

void tb_free_motion(const tbWorld* w, double dt, int begin, int end, tbUnconstrained* out)
{
  for (int i = begin; i < end; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (i + AHEAD < end) tb_prefetch(b + AHEAD, sizeof *b);
    tb_be_unmoved(b, &out[i]);
    if (b->kind->unconstrained) b->kind->unconstrained(w, b, dt, &out[i]);
  }
}

void tb_hold_attached(const tbWorld* w, tbUnconstrained* unconstrained)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    for (int k = 0, other; b->kind->attached && b->kind->attached(b, k, &other); k++)
      if (other >= 0) unconstrained[other].held = true;
  }
}
