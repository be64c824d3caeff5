// SPDX-License-Identifier: Apache-2.0
// Which bodies began to touch in a step, and which ceased to: pairs whose contacts carry an impulse, before
// and after. Contact records are all that is needed, so that nothing else has to be kept for it; a scheme
// that knows the pairs anyway saves reading them.
#include "step/events.h"

#include "base/sort.h"

static int by_pair(const void* x, const void* y)
{
  const tbBodyPair *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

int tb_events_sort(tbBodyPair* pair, int count)
{
  int kept = 0;
  bool sorted = true;
  for (int i = 1; i < count && sorted; i++) sorted = by_pair(&pair[i - 1], &pair[i]) < 0;
  if (sorted) return count;
  tb_sort(pair, (size_t)count, sizeof *pair, by_pair);
  for (int i = 0; i < count; i++)
    if (i == 0 || by_pair(&pair[i], &pair[kept - 1]) != 0) pair[kept++] = pair[i];
  return kept;
}

// Records come in the order of shapes, and so do
// most pairs of bodies: what repeats the last one is dropped at once, and few have to be sorted.
int tb_events_touching(const tbWorld* w, tbBodyPair* out)
{
  const tbContactRecord* r = w->contact.data;
  int count = 0;
  for (size_t i = 0; i < w->contact.count; i++) {
    int a = r[i].body_a, b = r[i].body_b;
    if (!(r[i].impulse[0] > 0) || a == b) continue;
    tbBodyPair pair = a < b ? (tbBodyPair){a, b} : (tbBodyPair){b, a};
    if (count == 0 || by_pair(&out[count - 1], &pair) != 0) out[count++] = pair;
  }
  return tb_events_sort(out, count);
}

static tbStatus reserve(tbContext* ctx, tbArray* array, size_t count)
{
  array->count = 0;
  if (array->capacity >= count) return TB_OK;
  TB_TRY(tb_array_push(ctx, array, NULL, count));
  array->count = 0;
  return TB_OK;
}

tbStatus tb_events_begin(tbContext* ctx, tbArena* arena, tbWorld* w, size_t contacts,
                         const tbTouching* before, tbEventSearch* out)
{
  out->before = *before;
  out->after.pair = TB_TAKE_UNSET(arena, tbBodyPair, contacts);
  if (!out->before.pair) out->before.pair = TB_TAKE_UNSET(arena, tbBodyPair, w->contact.count);
  if (!out->before.pair || !out->after.pair) return TB_ERROR_MEMORY;
  if (!before->pair) out->before.count = tb_events_touching(w, out->before.pair);
  return reserve(ctx, &w->event, (size_t)out->before.count + contacts);
}

static void put(tbWorld* w, tbBodyPair pair, bool begins)
{
  tbContactEvent* event = (tbContactEvent*)w->event.data + w->event.count++;
  *event = (tbContactEvent){tb_world_body_at(w, pair.a), tb_world_body_at(w, pair.b), begins};
}

void tb_events_end(tbEventSearch* s, tbWorld* w, const tbTouching* known)
{
  if (known->pair) s->after = *known;
  else s->after.count = tb_events_touching(w, s->after.pair);
  const tbBodyPair *before = s->before.pair, *after = s->after.pair;
  int n = s->before.count, m = s->after.count, i = 0, k = 0;
  while (i < n || k < m) {
    int order = i == n ? 1 : k == m ? -1 : by_pair(&before[i], &after[k]);
    if (order < 0) put(w, before[i++], false);
    else if (order > 0) put(w, after[k++], true);
    else i++, k++;
  }
}
