// SPDX-License-Identifier: Apache-2.0
// Reduced bodies as bytes: the mesh at rest, what it is made of and its fields, then the state. The fields
// are written and not found again: another build might find them in other bits. What follows from them is
// computed anew.
#include "kind/reduced.h"

#include "base/codec.h"
#include "kind/deformable_code.h"

#include <string.h>

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(tbReduced) == 432,
               "tbReduced has changed: tb_reduced_code, and the version of checkpoints");
#endif

enum { NODE_BYTES = 32, TET_BYTES = 32 };

typedef struct {
  tbVec3* node;
  int (*tet)[4];
  uint8_t* pinned;
  double* fields;
} Parts;

static void code_parts(tbCodec* c, const tbReducedMatter* m, Parts* p)
{
  size_t all = (3 * (size_t)m->nnode + 1) * (size_t)m->modes;
  for (int i = 0; i < m->nnode && tb_codec_good(c); i++) {
    bool pinned = p->pinned[i];
    tb_code_vec3(c, &p->node[i]);
    tb_code_bool(c, &pinned);
    p->pinned[i] = pinned;
  }
  for (int i = 0; i < m->ntet && tb_codec_good(c); i++)
    for (int k = 0; k < 4; k++) tb_code_int(c, &p->tet[i][k], 0, m->nnode - 1);
  tb_code_numbers(c, p->fields, all);
}

static tbStatus take_parts(tbArena* arena, const tbReducedMatter* m, Parts* p)
{
  *p = (Parts){.node = TB_TAKE(arena, tbVec3, (size_t)m->nnode),
               .tet = tb_arena_take(arena, (size_t)m->ntet, sizeof *p->tet),
               .pinned = TB_TAKE(arena, uint8_t, (size_t)m->nnode),
               .fields = TB_TAKE(arena, double, (3 * (size_t)m->nnode + 1) * (size_t)m->modes)};
  return p->node && p->tet && p->pinned && p->fields ? TB_OK : TB_ERROR_MEMORY;
}

// Nodes are written about the centre of mass, as they are kept; `centre` says where the mesh had it.
static void fill_parts(const tbReduced* d, const tbReducedMatter* m, Parts* p)
{
  size_t fields = 3 * (size_t)m->nnode * (size_t)m->modes;
  memcpy(p->node, d->fem->rest, (size_t)m->nnode * sizeof *p->node);
  memcpy(p->tet, d->fem->corner[0], (size_t)m->ntet * sizeof *p->tet);
  memcpy(p->pinned, d->fem->pinned, (size_t)m->nnode);
  memcpy(p->fields, d->basis->field, fields * sizeof *p->fields);
  memcpy(p->fields + fields, d->basis->omega2, (size_t)m->modes * sizeof *p->fields);
}

static void code_matter(tbCodec* c, tbReducedMatter* m, tbReduced** body)
{
  tbArena arena;
  Parts p;
  tb_arena_init(&arena, c->ctx);
  tbStatus status = take_parts(&arena, m, &p);
  if (status == TB_OK && *body) fill_parts(*body, m, &p);
  if (status == TB_OK) code_parts(c, m, &p);
  m->node = p.node, m->tet = (const int(*)[4])p.tet, m->pinned = p.pinned;
  if (status == TB_OK && tb_codec_good(c) && tb_codec_reads(c)) {
    status = tb_reduced_make(c->ctx, m, p.fields, body);
    tb_codec_require(c, status == TB_OK || status == TB_ERROR_MEMORY, "a reduced body that cannot be");
  }
  if (status == TB_ERROR_MEMORY) c->status = status;
  tb_arena_free(&arena);
}

static void code_state(tbCodec* c, const tbWorld* w, tbReduced* d)
{
  size_t r = (size_t)d->basis->nmode;
  tb_code_vec3(c, &d->centre);
  tb_code_bool(c, &d->self_contact);
  tb_code_int(c, &d->nhold, 0, 1);
  tb_motion_code(c, w, &d->motion);
  tb_code_transform(c, &d->now.frame);
  tb_code_vec3(c, &d->now.v);
  tb_code_vec3(c, &d->now.w);
  tb_code_numbers(c, d->now.q, r);
  tb_code_numbers(c, d->now.qd, r);
  tb_code_numbers(c, d->push + 6, r);
  tb_code_numbers(c, d->push, 6);
  tb_codec_require(c, (d->nhold > 0) == d->basis->pinned, "a reduced body whose pins are not its own");
}

// Bit by bit, as they were written.
static bool same_place(const tbBody* a, const tbBody* b)
{
  return !memcmp(&a->x, &b->x, sizeof a->x) && !memcmp(&a->q, &b->q, sizeof a->q) &&
         !memcmp(&a->v, &b->v, sizeof a->v) && !memcmp(&a->w, &b->w, sizeof a->w) &&
         !memcmp(&a->radius, &b->radius, sizeof a->radius);
}

void tb_reduced_code(tbCodec* c, tbWorld* w, int body)
{
  tbBody* b = &tb_bodies(w)[body];
  tbReduced* d = b->own;
  tbReducedMatter m = {0};
  if (d) {
    m.nnode = d->fem->nnode, m.ntet = d->fem->nelement[0], m.soft = d->soft;
    m.modes = d->basis->nmode, m.derivatives = d->derivatives;
  }
  tb_soft_code(c, &m.soft);
  tb_code_bool(c, &m.derivatives);
  tb_code_count(c, &m.nnode, NODE_BYTES);
  tb_code_count(c, &m.ntet, TET_BYTES);
  tb_code_int(c, &m.modes, 1, TB_MODES_MAX);
  tb_codec_require(c, m.nnode > 0 && m.ntet > 0 && m.ntet <= INT32_MAX / 16, "a reduced body that cannot be");
  if (tb_codec_good(c) && tb_codec_reads(c))
    tb_codec_require(c, (size_t)m.nnode <= (size_t)(c->end - c->at) / 24 / (size_t)m.modes,
                     "fields that end before they begin");
  if (tb_codec_good(c)) code_matter(c, &m, &d);
  if (!tb_codec_good(c)) return;
  b->own = d, d->body = body;
  if (tb_codec_reads(c)) tb_reduced_share(c->ctx, w, d);
  code_state(c, w, d);
  if (!tb_codec_good(c) || !tb_codec_reads(c)) return;
  tbBody read = *b;
  tb_reduced_follow(b);
  tb_codec_require(c, tb_finite3(b->x) && tb_finite3(b->v) && isfinite(b->radius),
                   "a reduced body that is nowhere");
  tb_codec_require(c, same_place(&read, b), "a reduced body that is not where its coordinates are");
}
