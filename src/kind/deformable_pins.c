// SPDX-License-Identifier: Apache-2.0
// Holding nodes of deformable bodies, letting them go, and pushing them, between steps.
#include "kind/deformable.h"

#include <string.h>

static void release(tbDeformable* d, int node)
{
  d->holder[node] = -1, d->fem->pinned[node] = false;
  d->local[node] = d->pull[node] = tb_zero3();
}

static bool holds(const tbDeformable* d, int hold)
{
  for (int i = 0; i < d->fem->nnode; i++)
    if (d->holder[i] == hold) return true;
  return false;
}

// Empties holds that hold no node any more.
static void tidy(tbContext* ctx, tbWorld* w, int body, tbDeformable* d)
{
  for (int k = 0; k < d->nhold; k++) {
    if (holds(d, k)) continue;
    tb_keys_replace(ctx, w, body, k, NULL, 0); // fewer keys need no memory
    d->hold[k].body = -1;
    d->hold[k].motion = (tbMotion){.key = d->hold[k].motion.key, .initial = tb_transform_identity()};
  }
}

// A hold that will be empty once `taken` nodes have left it, or a new one behind the others.
static tbStatus take_hold(tbContext* ctx, const tbWorld* w, tbDeformable* d, const uint8_t* taken, int* out)
{
  for (int k = 0; k < d->nhold; k++) {
    bool used = false;
    for (int i = 0; i < d->fem->nnode && !used; i++) used = d->holder[i] == k && !taken[i];
    *out = k;
    if (!used) return TB_OK;
  }
  d->arena.ctx = ctx;
  tbHold* more = TB_TAKE(&d->arena, tbHold, (size_t)d->nhold + 1);
  if (!more) return TB_ERROR_MEMORY;
  if (d->nhold) memcpy(more, d->hold, (size_t)d->nhold * sizeof *more);
  const tbBody* b = &tb_bodies(w)[d->body];
  const tbMotion* last = d->nhold ? &d->hold[d->nhold - 1].motion : NULL;
  more[d->nhold] = (tbHold){.body = -1,
                            .motion = {.key = last ? last->key + last->nkey : b->key + b->nkey,
                                       .initial = tb_transform_identity()}};
  d->hold = more;
  *out = d->nhold++;
  return TB_OK;
}

static tbStatus hold_nodes(tbContext* ctx, tbWorld* w, tbDeformable* d, const tbPinDef* p, uint8_t* taken)
{
  int k;
  for (int i = 0; i < p->node_count; i++) taken[p->nodes[i]] = true;
  TB_TRY(take_hold(ctx, w, d, taken, &k));
  TB_TRY(tb_keys_replace(ctx, w, d->body, k, p->keys, p->key_count));
  tbHold* h = &d->hold[k];
  tbTransform frame = {tb_quat_identity(), tb_bodies(w)[d->body].x};
  h->body = tb_body_place(w, p->body);
  const tbBody* holder = h->body < 0 ? NULL : &tb_bodies(w)[h->body];
  if (holder) frame = tb_transform(holder->q, holder->x);
  h->motion.v = p->velocity, h->motion.w = p->angular_velocity;
  h->motion.initial = p->key_count || holder ? tb_transform_identity()
                                             : tb_motion_start(w, frame, p->velocity, p->angular_velocity);
  for (int i = 0; i < d->fem->nnode; i++) {
    if (!taken[i]) continue;
    release(d, i);
    d->holder[i] = k;
    d->local[i] = tb_transform_unpoint(frame, d->x[i]);
    d->fem->pinned[i] = !holder || holder->motion != TB_BODY_DYNAMIC;
  }
  tidy(ctx, w, d->body, d);
  return TB_OK;
}

tbStatus tb_deformable_pin(tbContext* ctx, tbWorld* w, int body, const tbPinDef* pin)
{
  tbDeformable* d = tb_bodies(w)[body].own;
  TB_TRY(tb_pin_check(ctx, w, tb_bodies(w)[body].name, pin));
  uint8_t* taken = TB_NEW(ctx, uint8_t, (size_t)d->fem->nnode);
  if (!taken) return TB_ERROR_MEMORY;
  tbStatus status = hold_nodes(ctx, w, d, pin, taken);
  tb_free(ctx, taken);
  return status;
}

void tb_deformable_unpin(tbContext* ctx, tbWorld* w, int body, const int* nodes, int count)
{
  tbDeformable* d = tb_bodies(w)[body].own;
  for (int i = 0; i < count; i++) release(d, nodes[i]);
  tidy(ctx, w, body, d);
}

void tb_deformable_push(tbBody* b, const tbVec3* forces)
{
  tbDeformable* d = b->own;
  for (int i = 0; i < d->fem->nnode; i++) d->force[i] = tb_add3(d->force[i], forces[i]);
}

tbStatus tb_deformable_own_forces(tbArena* arena, tbBody* b)
{
  const tbDeformable* shared = b->own;
  size_t n = (size_t)shared->fem->nnode;
  tbDeformable* d = TB_TAKE(arena, tbDeformable, 1);
  tbVec3* force = TB_TAKE(arena, tbVec3, n);
  if (!d || !force) return TB_ERROR_MEMORY;
  *d = *shared, d->force = force, b->own = d;
  memcpy(force, shared->force, n * sizeof *force);
  return TB_OK;
}

tbMotion* tb_deformable_motion(tbBody* b, int k)
{
  tbDeformable* d = b->own;
  return k < d->nhold ? &d->hold[k].motion : NULL;
}

void tb_deformable_lose(tbContext* ctx, tbWorld* w, int body, int gone)
{
  tbDeformable* d = tb_bodies(w)[body].own;
  for (int n = 0; n < d->fem->nnode; n++)
    if (d->holder[n] >= 0 && d->hold[d->holder[n]].body == gone) release(d, n);
  tidy(ctx, w, body, d);
  for (int k = 0; k < d->nhold; k++)
    if (d->hold[k].body > gone) d->hold[k].body--;
  if (d->body > gone) d->body--;
}
