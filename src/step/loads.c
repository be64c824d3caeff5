// SPDX-License-Identifier: Apache-2.0
#include "step/loads.h"

#include "scene/kind.h"
#include "step/adhesion.h"

#include <string.h>

bool tb_step_has_loads(const tbWorld* w) { return w->load.count > 0 || tb_adhesion_is_there(w); }

// Forces on the nodes of a body; null: it has none.
static double* node_forces(const tbBody* b, int* count)
{
  return b->kind->push && b->kind->changes ? b->kind->changes(b, TB_CHANGES_FORCE, count) : NULL;
}

static tbStatus save(tbContext* ctx, const tbWorld* w, tbStepLoads* l)
{
  bool adheres = l->pull.count > 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    tbVec3 own[2] = {b->force, b->torque};
    TB_TRY(tb_array_push(ctx, &l->force, own, 2));
    int count = 0;
    const double* number = adheres ? node_forces(b, &count) : NULL;
    if (number) TB_TRY(tb_array_push(ctx, &l->number, number, (size_t)count));
  }
  return adheres ? tb_array_push(ctx, &l->record, w->contact.data, w->contact.count) : TB_OK;
}

tbStatus tb_step_loads_begin(tbContext* ctx, tbCache* cache, tbWorld* w, const tbStepOptions* o,
                             tbStepLoads* out)
{
  tbStepLoads* l = out;
  *l = (tbStepLoads){TB_ARRAY(tbAdhesivePull), TB_ARRAY(tbVec3), TB_ARRAY(double), TB_ARRAY(tbContactRecord)};
  if (!tb_step_has_loads(w)) return TB_OK;
  if (tb_adhesion_is_there(w)) TB_TRY(tb_adhesion_find(ctx, cache, w, o, &l->pull));
  TB_TRY(save(ctx, w, l));
  TB_TRY(tb_adhesion_pull(ctx, &l->pull, w));
  tb_adhesion_shift(&l->pull, o->dt, &w->contact);
  tb_loads_apply(w, w->time + 0.5 * o->dt);
  return TB_OK;
}

void tb_step_loads_done(const tbStepLoads* l, const tbStepOptions* o, tbWorld* w)
{
  tb_adhesion_shift(&l->pull, -o->dt, &w->contact);
}

void tb_step_loads_restore(const tbStepLoads* l, tbWorld* w)
{
  const tbVec3* force = l->force.data;
  const double* number = l->number.data;
  for (size_t i = 0; i < l->force.count / 2; i++) {
    tbBody* b = &tb_bodies(w)[i];
    b->force = force[2 * i], b->torque = force[2 * i + 1];
    int count = 0;
    double* own = l->pull.count > 0 ? node_forces(b, &count) : NULL;
    if (own) memcpy(own, number, (size_t)count * sizeof *own), number += count;
  }
  if (l->record.count > 0) memcpy(w->contact.data, l->record.data, l->record.count * sizeof(tbContactRecord));
}

void tb_step_loads_free(tbContext* ctx, tbStepLoads* l)
{
  tbArray* all[] = {&l->pull, &l->force, &l->number, &l->record};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tb_array_free(ctx, all[i]);
}
