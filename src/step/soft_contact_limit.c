// SPDX-License-Identifier: Apache-2.0
// No more contacts than there is use for.
//
// A node can make use of a few. More say the same again and again: surfaces that lie in the same place, or go
// through each other, meet in every pair of their features. The solver's memory grows with the square of
// that, and its iterations with how often contacts repeat each other.
#include "base/sort.h"
#include "step/soft_contact.h"

#include <limits.h>

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

// Nodes of surfaces that deform, one surface after the other; −1: of one that does not.
static int node_of(const tbSurfaces* s, const int* first, int surface, int vertex)
{
  return s->surface[surface].rigid ? -1 : first[surface] + vertex;
}

// Counts a contact in at its nodes, and says how many there were before at the node that has the fewest.
static int count_in(const tbSurfaces* s, const int* first, const tbSurfaceContact* c, int* taken)
{
  int fewest = INT_MAX;
  for (int side = 0; side < 2; side++) {
    if (side == 0 && c->of.kind == TB_SURFACE_PLANE_VERTEX) continue;
    for (int k = 0; k < (side ? c->count_b : c->count_a); k++) {
      int node = side ? node_of(s, first, c->of.surface_b, c->vertex_b[k])
                      : node_of(s, first, c->of.surface_a, c->vertex_a[k]);
      if (node < 0) continue;
      fewest = taken[node] < fewest ? taken[node] : fewest;
      taken[node]++;
    }
  }
  return fewest == INT_MAX ? 0 : fewest;
}

// The deepest come first, and every node's first before any other's next: else layers that are pressed into
// each other leave none to those that are about to land on them.
static tbStatus rank(tbContext* ctx, const tbSurfaces* s, const tbSoftContact* p, Urgent* u, size_t count)
{
  int nsurface = s->scene.nsurface, nodes = 0;
  int* first = TB_NEW(ctx, int, (size_t)nsurface + 1);
  for (int i = 0; first && i < nsurface; i++) first[i] = nodes, nodes += s->surface[i].surface->nvertex;
  int* taken = TB_NEW(ctx, int, (size_t)nodes + 1);
  tb_sort(u, count, sizeof *u, by_key);
  for (size_t i = 0; first && taken && i < count; i++)
    u[i].key = count_in(s, first, &p[u[i].at].contact, taken) + (double)i / (double)count;
  tbStatus status = first && taken ? TB_OK : TB_ERROR_MEMORY;
  tb_free(ctx, first);
  tb_free(ctx, taken);
  return status;
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
  tbStatus status = rank(ctx, s, p, u, soft_contacts->count);
  if (status == TB_OK) {
    choose(u, soft_contacts->count, most);
    for (size_t i = 0; i < most; i++) p[i] = p[u[i].at];
    soft_contacts->count = most;
  }
  tb_free(ctx, u);
  return status;
}

bool tb_soft_contact_has_room(const tbWorld* w, const tbArray* soft_contacts)
{
  return soft_contacts->count < most_of(w);
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
