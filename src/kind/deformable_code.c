// SPDX-License-Identifier: Apache-2.0
// Deformable bodies as bytes: the mesh at rest and what it is made of, from which masses, elements and the
// surface follow the same way every time; then the state of the nodes and what holds them. A step's factor
// is computed anew.
#include "kind/deformable.h"

#include "base/codec.h"
#include "kind/deformable_code.h"

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(tbDeformable) == 192, "tbDeformable has changed: code_deformable, and the version");
_Static_assert(sizeof(tbHold) == 120, "tbHold has changed: code_hold, and the version of checkpoints");
_Static_assert(sizeof(tbSoftDef) == 56,
               "tbSoftDef has changed: tb_soft_code, and the version of checkpoints");
_Static_assert(sizeof(tbClothDef) == 112, "tbClothDef has changed: code_cloth, and the version");
#endif

enum { NODE_BYTES = 104, SPRING_BYTES = 32, HOLD_BYTES = 128 };

void tb_soft_code(tbCodec* c, tbSoftDef* s)
{
  int model = (int)s->model;
  tb_code_int(c, &model, 0, TB_ELASTIC_COUNT - 1);
  s->model = (tbElasticModel)model;
  tb_code_number(c, &s->young);
  tb_code_number(c, &s->poisson);
  tb_code_number(c, &s->density);
  tb_code_number(c, &s->mass_damping);
  tb_code_number(c, &s->stiffness_damping);
  tb_code_bool(c, &s->consistent_mass);
}

static void code_cloth(tbCodec* c, tbClothDef* s)
{
  tb_code_number(c, &s->area_density);
  tb_code_number(c, &s->stretch);
  tb_code_number(c, &s->shear);
  tb_code_number(c, &s->bend);
  int bending = (int)s->bending;
  tb_code_int(c, &bending, 0, TB_BENDING_COUNT - 1);
  s->bending = (tbBending)bending;
  tb_code_number(c, &s->strain_limit);
  tb_code_number(c, &s->limit_stiffness);
  tb_code_number(c, &s->thickness);
  tb_code_number(c, &s->air_damping);
  tb_code_number(c, &s->mass_damping);
  tb_code_number(c, &s->stiffness_damping);
  tb_code_vec3(c, &s->warp);
}

static void code_mesh(tbCodec* c, tbVec3* rest, int nnode, int* corner, int corners)
{
  for (int i = 0; i < nnode && tb_codec_good(c); i++) tb_code_vec3(c, &rest[i]);
  for (int i = 0; i < corners && tb_codec_good(c); i++) tb_code_int(c, &corner[i], 0, nnode - 1);
}

// A spring as it is: its length is known.
static void code_springs(tbCodec* c, const tbFemBody* fem, tbSpringDef* springs, int count, int nnode)
{
  for (int i = 0; i < count && tb_codec_good(c); i++) {
    tbSpringDef s = {.length = 0};
    if (!tb_codec_reads(c)) {
      for (int k = 0; k < 2; k++) s.nodes[k] = fem->corner[2][2 * i + k];
      s.stiffness = fem->spring[i].stiffness, s.length = fem->spring[i].length;
    }
    for (int k = 0; k < 2; k++) tb_code_int(c, &s.nodes[k], 0, nnode - 1);
    tb_code_number(c, &s.stiffness);
    tb_code_number(c, &s.length);
    if (!tb_codec_good(c)) return;
    tb_codec_require(c, s.length >= 0, "a spring of negative length");
    if (springs) springs[i] = s;
  }
}

// Writing: names what the body is made of. Reading: makes the body of it.
static void code_matter(tbCodec* c, tbMatter* m, int nhold, tbDeformable** body)
{
  size_t corners = (size_t)m->nelement * (m->cloth ? 3 : 4);
  if (!tb_codec_reads(c)) {
    code_mesh(c, (*body)->fem->rest, m->nnode, (*body)->fem->corner[0], (int)corners);
    code_springs(c, (*body)->fem, NULL, m->springs.count, m->nnode);
    return;
  }
  tbVec3* rest = TB_NEW(c->ctx, tbVec3, (size_t)m->nnode);
  int* corner = TB_NEW(c->ctx, int, corners);
  tbSpringDef* spring = TB_NEW(c->ctx, tbSpringDef, (size_t)m->springs.count);
  if (!rest || !corner || !spring) c->status = TB_ERROR_MEMORY;
  code_mesh(c, rest, m->nnode, corner, (int)corners);
  code_springs(c, NULL, spring, m->springs.count, m->nnode);
  m->rest = rest, m->corner = corner, m->springs.of = spring;
  tbStatus made = tb_codec_good(c) ? tb_deformable_make(c->ctx, m, nhold, body) : TB_OK;
  if (made == TB_ERROR_MEMORY) c->status = made;
  else tb_codec_require(c, made == TB_OK, "a deformable body that cannot be");
  tb_free(c->ctx, rest);
  tb_free(c->ctx, corner);
  tb_free(c->ctx, spring);
}

void tb_motion_code(tbCodec* c, const tbWorld* w, tbMotion* m)
{
  int keys = (int)w->key.count;
  tb_code_int(c, &m->key, 0, keys);
  tb_code_int(c, &m->nkey, 0, keys - m->key);
  tb_code_transform(c, &m->initial);
  tb_code_vec3(c, &m->v);
  tb_code_vec3(c, &m->w);
  if (!tb_codec_good(c)) return;
  const tbMotionKey* key = w->key.data; // null where there is none
  for (int i = m->key + 1; i < m->key + m->nkey; i++)
    tb_codec_require(c, key[i].t > key[i - 1].t, "motion keys out of order");
}

static void code_hold(tbCodec* c, tbWorld* w, tbHold* h)
{
  tb_code_int(c, &h->body, -1, (int)w->body.count - 1);
  tb_motion_code(c, w, &h->motion);
  if (!tb_codec_good(c)) return;
  tb_codec_require(c, h->body < 0 || tb_bodies(w)[h->body].kind->framed,
                   "a deformable body that holds another");
}

static void code_node(tbCodec* c, const tbWorld* w, tbDeformable* d, int i)
{
  tb_code_vec3(c, &d->x[i]);
  tb_code_vec3(c, &d->v[i]);
  tb_code_vec3(c, &d->force[i]);
  tb_code_int(c, &d->holder[i], -1, d->nhold - 1);
  if (!tb_codec_good(c) || d->holder[i] < 0) return;
  tb_code_vec3(c, &d->local[i]);
  tb_code_vec3(c, &d->pull[i]);
  int body = d->hold[d->holder[i]].body;
  d->fem->pinned[i] = body < 0 || tb_bodies(w)[body].motion != TB_BODY_DYNAMIC;
}

void tb_deformable_code(tbCodec* c, tbWorld* w, int body)
{
  tbBody* b = &tb_bodies(w)[body];
  tbDeformable* d = b->own;
  tbMatter m = {.cloth = b->kind->sheet};
  int nhold = 0;
  if (d) {
    m.nnode = d->fem->nnode, m.nelement = d->fem->nelement[0], m.soft = d->soft, m.sheet = d->fem->sheet;
    m.springs.count = d->fem->nelement[2], nhold = d->nhold;
  }
  if (m.cloth) code_cloth(c, &m.sheet);
  else tb_soft_code(c, &m.soft);
  tb_code_count(c, &m.nnode, NODE_BYTES);
  tb_code_count(c, &m.nelement, m.cloth ? 24 : 32);
  tb_code_count(c, &m.springs.count, SPRING_BYTES);
  tb_code_count(c, &nhold, HOLD_BYTES);
  tb_codec_require(c, m.nnode > 0 && m.nelement > 0 && m.nelement <= INT32_MAX / 16,
                   "a deformable body that cannot be");
  if (tb_codec_good(c)) code_matter(c, &m, nhold, &d);
  if (!tb_codec_good(c)) return;
  b->own = d, d->body = body;
  tb_code_bool(c, &d->self_contact);
  for (int i = 0; i < nhold && tb_codec_good(c); i++) code_hold(c, w, &d->hold[i]);
  for (int i = 0; i < m.nnode && tb_codec_good(c); i++) code_node(c, w, d, i);
}
