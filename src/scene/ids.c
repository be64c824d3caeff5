// SPDX-License-Identifier: Apache-2.0
#include "scene/ids.h"

void tb_ids_init(tbIds* ids) { *ids = (tbIds){.entry = TB_ARRAY(tbIdEntry)}; }
void tb_ids_free(tbContext* ctx, tbIds* ids) { tb_array_free(ctx, &ids->entry); }

static tbIdEntry* entries(const tbIds* ids) { return ids->entry.data; }

tbStatus tb_ids_reserve(tbContext* ctx, tbIds* ids)
{
  TB_TRY(tb_array_push(ctx, &ids->entry, NULL, 1));
  ids->entry.count--;
  return TB_OK;
}

// An entry whose generations are used up stays free for ever.
static bool usable(const tbIdEntry* e) { return e->place < 0 && e->last < UINT32_MAX; }

int tb_ids_add(tbIds* ids, int place)
{
  while (ids->low < ids->entry.count && !usable(&entries(ids)[ids->low])) ids->low++;
  tbIdEntry* e = &entries(ids)[ids->low];
  if (ids->low == ids->entry.count) {
    ids->entry.count++; // within what was reserved
    *e = (tbIdEntry){.place = place};
  } else {
    *e = (tbIdEntry){place, e->last + 1, e->last + 1};
  }
  return (int)ids->low++;
}

int tb_ids_find(const tbIds* ids, int entry, uint32_t generation)
{
  if (entry < 0 || (size_t)entry >= ids->entry.count) return -1;
  const tbIdEntry* e = &entries(ids)[entry];
  return e->generation == generation ? e->place : -1;
}

uint32_t tb_ids_generation(const tbIds* ids, int entry) { return entries(ids)[entry].generation; }

void tb_ids_remove(tbIds* ids, int entry)
{
  int place = entries(ids)[entry].place;
  entries(ids)[entry].place = -1;
  for (size_t i = 0; i < ids->entry.count; i++)
    if (entries(ids)[i].place > place) entries(ids)[i].place--;
  if ((size_t)entry < ids->low) ids->low = (size_t)entry;
}

tbStatus tb_ids_room(tbContext* ctx, tbIds* ids, const tbIds* old)
{
  size_t count = ids->entry.count;
  if (old->entry.count > count) TB_TRY(tb_array_push(ctx, &ids->entry, NULL, old->entry.count - count));
  ids->entry.count = count;
  return TB_OK;
}

void tb_ids_outlive(tbIds* ids, const tbIds* old)
{
  for (size_t i = 0; i < old->entry.count; i++) {
    tbIdEntry* e = &entries(ids)[i];
    if (i >= ids->entry.count) *e = (tbIdEntry){.place = -1}, ids->entry.count = i + 1;
    if (entries(old)[i].last > e->last) e->last = entries(old)[i].last;
  }
  ids->low = 0;
}
