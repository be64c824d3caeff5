// SPDX-License-Identifier: Apache-2.0
// No more contacts than there is use for.
//
// A node can make use of a few. More say the same again and again: surfaces that lie in the same place, or go
// through each other, meet in every pair of their features. The solver's memory grows with the square of
// that, and its iterations with how often contacts repeat each other.
#include "base/sort.h"
#include "step/soft_contact.h"

static size_t most_of(const tbWorld* w)
{
  size_t most = 256 + 4 * w->body.count;
  for (size_t i = 0; i < w->body.count; i++) most += 4 * (size_t)tb_nodes_of(&tb_bodies(w)[i]).count;
  return most;
}

typedef struct {
  double key;
  size_t at;
} Urgent;

static int by_key(const void* x, const void* y)
{
  const Urgent *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->at < b->at ? -1 : a->at > b->at;
}

static int by_place(const void* x, const void* y)
{
  const Urgent *a = x, *b = y;
  return a->at < b->at ? -1 : a->at > b->at;
}

// The `most` with the least keys, in their order.
static void choose(Urgent* u, size_t count, size_t most)
{
  tb_sort(u, count, sizeof *u, by_key);
  tb_sort(u, most, sizeof *u, by_place);
}

tbStatus tb_soft_contact_limit(tbContext* ctx, const tbWorld* w, const tbSurfaces* s, double clearance,
                               tbArray* soft_contacts)
{
  size_t most = most_of(w);
  if (soft_contacts->count <= most) return TB_OK;
  Urgent* u = TB_NEW(ctx, Urgent, soft_contacts->count);
  if (!u) return TB_ERROR_MEMORY;
  tbSoftContact* p = soft_contacts->data;
  for (size_t i = 0; i < soft_contacts->count; i++)
    u[i] = (Urgent){p[i].contact.gap - tb_soft_contact_distance(s, &p[i].contact, clearance).radius, i};
  choose(u, soft_contacts->count, most);
  for (size_t i = 0; i < most; i++) p[i] = p[u[i].at];
  soft_contacts->count = most;
  tb_free(ctx, u);
  return TB_OK;
}

tbStatus tb_soft_contact_limit_met(tbContext* ctx, const tbWorld* w, const tbArray* soft_contacts,
                                   tbArray* met)
{
  size_t most = most_of(w);
  most = most > soft_contacts->count ? most - soft_contacts->count : 0;
  if (met->count <= most) return TB_OK;
  Urgent* u = TB_NEW(ctx, Urgent, met->count);
  if (!u) return TB_ERROR_MEMORY;
  tbSurfaceContact* c = met->data;
  for (size_t i = 0; i < met->count; i++) u[i] = (Urgent){c[i].t, i};
  choose(u, met->count, most);
  for (size_t i = 0; i < most; i++) c[i] = c[u[i].at];
  met->count = most;
  tb_free(ctx, u);
  return TB_OK;
}
