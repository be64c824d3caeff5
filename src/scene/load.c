// SPDX-License-Identifier: Apache-2.0
// Forces on bodies over time, by keys: straight lines between them.
#include "scene/kind.h"

#include "tribo/change.h"

#include <string.h>

static tbStatus check(tbContext* ctx, const tbBody* b, const tbLoadKey* keys, int count)
{
  if (count < 0 || (count > 0 && !keys))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d keys of the load of %s", count, b->name);
  if (count > 0 && b->motion != TB_BODY_DYNAMIC)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s does not move freely: no force can act on it", b->name);
  for (int i = 0; i < count; i++) {
    if (!tb_finite3(keys[i].force) || !tb_finite3(keys[i].torque))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "key %d of the load of %s is not finite", i, b->name);
    if (!b->kind->framed && tb_norm3(keys[i].torque) > 0)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is deformable: no torque can act on it", b->name);
    if (!isfinite(keys[i].t) || (i > 0 && !(keys[i].t > keys[i - 1].t)))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the times of the load of %s must increase", b->name);
  }
  return TB_OK;
}

bool tb_loads_are_good(tbContext* ctx, const tbWorld* w)
{
  const tbLoad* load = w->load.data;
  for (size_t i = 0, end; i < w->load.count; i = end) {
    for (end = i + 1; end < w->load.count && load[end].body == load[i].body;) end++;
    if (end < w->load.count && load[end].body < load[i].body) return false;
    for (size_t k = i; k < end; k++)
      if (check(ctx, &tb_bodies(w)[load[i].body], &load[k].key, 1) != TB_OK ||
          (k > i && !(load[k].key.t > load[k - 1].key.t)))
        return false;
  }
  return true;
}

// The keys of a body stand side by side, in the order of the bodies.
static size_t first_of(const tbWorld* w, int body)
{
  size_t i = 0;
  while (i < w->load.count && ((const tbLoad*)w->load.data)[i].body < body) i++;
  return i;
}

tbStatus tb_body_set_load(tbContext* ctx, tbWorld* w, tbBodyId id, const tbLoadKey* keys, int count)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  TB_TRY(check(ctx, &tb_bodies(w)[place], keys, count));
  size_t first = first_of(w, place), end = first_of(w, place + 1), total = w->load.count;
  size_t had = end - first, has = (size_t)count;
  if (has > had) TB_TRY(tb_array_push(ctx, &w->load, NULL, has - had));
  tbLoad* load = w->load.data;
  if (total > end) memmove(load + first + has, load + end, (total - end) * sizeof *load);
  for (size_t i = 0; i < has; i++) load[first + i] = (tbLoad){place, keys[i]};
  w->load.count = total - had + has;
  return TB_OK;
}

int tb_body_load(const tbWorld* w, tbBodyId id, tbLoadKey* keys)
{
  int place = tb_body_place(w, id);
  if (place < 0) return 0;
  size_t first = first_of(w, place), end = first_of(w, place + 1);
  for (size_t i = first; keys && i < end; i++) keys[i - first] = ((const tbLoad*)w->load.data)[i].key;
  return (int)(end - first);
}

void tb_loads_remove(tbWorld* w, int body)
{
  tbLoad* load = w->load.data;
  size_t kept = 0;
  for (size_t i = 0; i < w->load.count; i++) {
    if (load[i].body == body) continue;
    load[kept] = load[i];
    load[kept++].body -= load[i].body > body;
  }
  w->load.count = kept;
}

// Of one body's keys.
static tbLoadKey load_at(const tbLoad* load, int count, double t)
{
  if (t <= load[0].key.t) return load[0].key;
  for (int i = 1; i < count; i++) {
    const tbLoadKey *a = &load[i - 1].key, *b = &load[i].key;
    double share = (t - a->t) / (b->t - a->t);
    if (t < b->t)
      return (tbLoadKey){t, tb_lerp3(a->force, b->force, share), tb_lerp3(a->torque, b->torque, share)};
  }
  return load[count - 1].key;
}

void tb_loads_apply(tbWorld* w, double t)
{
  const tbLoad* load = w->load.data;
  for (size_t i = 0, end; i < w->load.count; i = end) {
    for (end = i + 1; end < w->load.count && load[end].body == load[i].body;) end++;
    tbLoadKey now = load_at(load + i, (int)(end - i), t);
    tbBody* b = &tb_bodies(w)[load[i].body];
    b->force = tb_add3(b->force, now.force), b->torque = tb_add3(b->torque, now.torque);
  }
}
