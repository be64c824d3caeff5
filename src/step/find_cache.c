// SPDX-License-Identifier: Apache-2.0
#include "step/find_cache.h"

typedef struct {
  tbPairCache* pairs;
  tbArray pair;            // tbPair, of the last call
  tbArray hint, last_hint; // tbPairHint, of the last call, and room for it
} FindCache;

static void free_cache(tbContext* ctx, void* data)
{
  FindCache* c = data;
  tb_pair_cache_free(ctx, c->pairs);
  tb_array_free(ctx, &c->pair);
  tb_array_free(ctx, &c->hint);
  tb_array_free(ctx, &c->last_hint);
  tb_free(ctx, c);
}

static tbStatus open_cache(tbContext* ctx, tbCache* cache, FindCache** out)
{
  *out = cache->contacts.data;
  if (*out) return TB_OK;
  FindCache* c = TB_NEW(ctx, FindCache, 1);
  if (!c) return TB_ERROR_MEMORY;
  c->pair = TB_ARRAY(tbPair);
  c->hint = c->last_hint = TB_ARRAY(tbPairHint);
  tbStatus status = tb_pair_cache_create(ctx, &c->pairs);
  if (status != TB_OK) {
    free_cache(ctx, c);
    return status;
  }
  cache->contacts = (tbKept){c, free_cache};
  *out = c;
  return TB_OK;
}

tbStatus tb_find_pairs(tbContext* ctx, tbArena* arena, tbCache* cache, const tbBroadItem* items, int count,
                       tbArray* pairs)
{
  if (!cache) return tb_broad_pairs(ctx, arena, items, count, pairs);
  FindCache* c;
  int found;
  pairs->count = 0;
  TB_TRY(open_cache(ctx, cache, &c));
  TB_TRY(tb_pair_cache_update(ctx, c->pairs, items, count, NULL));
  const tbCachedPair* from = tb_pair_cache_pairs(c->pairs, &found);
  TB_TRY(tb_array_push(ctx, pairs, NULL, (size_t)found));
  tbPair* to = pairs->data;
  for (int i = 0; i < found; i++) to[i] = (tbPair){from[i].a, from[i].b};
  return TB_OK;
}

static bool before(tbPair p, tbPair q) { return p.a < q.a || (p.a == q.a && p.b < q.b); }

tbStatus tb_find_hints(tbContext* ctx, tbCache* cache, const tbPair* pairs, int count, tbPairHint** out)
{
  FindCache* c;
  *out = NULL;
  if (!cache) return TB_OK;
  TB_TRY(open_cache(ctx, cache, &c));
  c->last_hint.count = 0;
  TB_TRY(tb_array_push(ctx, &c->last_hint, NULL, (size_t)count));
  tbArray old = c->hint;
  size_t known = c->pair.count;
  c->hint = c->last_hint;
  c->last_hint = old;
  const tbPair* was = c->pair.data;
  tbPairHint* hint = c->hint.data;
  for (size_t i = 0, k = 0; i < (size_t)count && k < known; i++) {
    while (k < known && before(was[k], pairs[i])) k++;
    if (k < known && !before(pairs[i], was[k])) hint[i] = ((const tbPairHint*)old.data)[k];
  }
  c->pair.count = 0;
  TB_TRY(tb_array_push(ctx, &c->pair, pairs, (size_t)count));
  *out = hint;
  return TB_OK;
}
