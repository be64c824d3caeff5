// SPDX-License-Identifier: Apache-2.0
// A deformable body over a step of the scheme `pd`: its projective form, kept from step to step, and the
// matrix that contact problems borrow.
#include "kind/deformable_step.h"
#include "pd/body.h"

#include <string.h>

tbStatus tb_deformable_project(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbWorld* w,
                               const tbBody* body, double h, bool solved, tbBodyStep* step, tbPdStep* out)
{
  const tbDeformable* d = body->own;
  size_t n = (size_t)d->fem->nnode;
  if (!kept->pd) TB_TRY(tb_pd_create(ctx, d->fem, &kept->pd));
  TB_TRY(tb_pd_update(ctx, kept->pd, h));
  if (solved) TB_TRY(tb_pd_factor_wide(ctx, kept->pd));
  tbDeformableStep* s = step->own = TB_TAKE(arena, tbDeformableStep, 1);
  tbVec3* v_free = TB_TAKE(arena, tbVec3, n);
  if (!s || !v_free) return TB_ERROR_MEMORY;
  s->pin = TB_TAKE(arena, tbVec3, n);
  if (!s->pin) return TB_ERROR_MEMORY;
  s->pattern = &kept->pd->wide, s->A = kept->pd->wide.val;
  if (solved && kept->pd->wide_factor)
    s->factor = kept->pd->wide_factor, s->entries = &kept->pd->wide_inverse;
  step->size = 3 * (int)n, step->expensive = true, step->lent = true;
  step->v = &d->v->x, step->v_free = &v_free->x;
  tb_deformable_lead(w, d, h, s->pin);
  tbVec3 gravity = tb_madd3(w->gravity, 1 / body->mass, body->force);
  *out = (tbPdStep){.x = d->x, .v = d->v, .pin = s->pin, .force = d->force, .gravity = gravity};
  for (size_t i = 0; i < n; i++) {
    tbVec3 falls = tb_madd3(tb_madd3(d->v[i], h, gravity), h / d->fem->mass[i], d->force[i]);
    v_free[i] = d->fem->pinned[i] ? s->pin[i] : falls;
  }
  return tb_pd_begin(ctx, arena, kept->pd, out);
}
