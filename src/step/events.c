// SPDX-License-Identifier: Apache-2.0
// Which bodies began to touch in a step, and which ceased to: pairs whose contacts carry an impulse, before
// and after. Contact records are all that is needed, so that nothing else has to be kept for it.
#include "step/events.h"

#include "base/sort.h"

static int by_pair(const void* x, const void* y)
{
  const tbBodyPair *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

// The pairs that touch, sorted, each once; returns how many. Records come in the order of shapes, and so do
// most pairs of bodies: what repeats the last one is dropped at once, and few have to be sorted.
static int touching(const tbWorld* w, tbBodyPair* out)
{
  const tbContactRecord* r = w->contact.data;
  int count = 0, kept = 0;
  bool sorted = true;
  for (size_t i = 0; i < w->contact.count; i++) {
    int a = r[i].body_a, b = r[i].body_b;
    if (!(r[i].impulse[0] > 0) || a == b) continue;
    tbBodyPair pair = a < b ? (tbBodyPair){a, b} : (tbBodyPair){b, a};
    int order = count > 0 ? by_pair(&out[count - 1], &pair) : -1;
    if (order == 0) continue;
    sorted &= order < 0;
    out[count++] = pair;
  }
  if (sorted) return count;
  tb_sort(out, (size_t)count, sizeof *out, by_pair);
  for (int i = 0; i < count; i++)
    if (i == 0 || by_pair(&out[i], &out[kept - 1]) != 0) out[kept++] = out[i];
  return kept;
}

static tbStatus reserve(tbContext* ctx, tbArray* array, size_t count)
{
  array->count = 0;
  TB_TRY(tb_array_push(ctx, array, NULL, count));
  array->count = 0;
  return TB_OK;
}

tbStatus tb_events_begin(tbContext* ctx, tbArena* arena, tbWorld* w, size_t contacts, tbEventSearch* out)
{
  out->before = TB_TAKE(arena, tbBodyPair, w->contact.count);
  out->after = TB_TAKE(arena, tbBodyPair, contacts);
  if (!out->before || !out->after) return TB_ERROR_MEMORY;
  out->count = touching(w, out->before);
  return reserve(ctx, &w->event, (size_t)out->count + contacts);
}

static void put(tbWorld* w, tbBodyPair pair, bool begins)
{
  tbContactEvent* event = (tbContactEvent*)w->event.data + w->event.count++;
  *event = (tbContactEvent){tb_world_body_at(w, pair.a), tb_world_body_at(w, pair.b), begins};
}

void tb_events_end(tbEventSearch* s, tbWorld* w)
{
  int n = touching(w, s->after), i = 0, k = 0;
  while (i < s->count || k < n) {
    int order = i == s->count ? 1 : k == n ? -1 : by_pair(&s->before[i], &s->after[k]);
    if (order < 0) put(w, s->before[i++], false);
    else if (order > 0) put(w, s->after[k++], true);
    else i++, k++;
  }
}
