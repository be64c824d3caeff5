// SPDX-License-Identifier: Apache-2.0
// What a page changes in a running world, and the library's face has no need of: friction and masses away
// from the scene's own.
#include "web.h"

#include "scene/kind.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  double mass;
  tbMat3 inertia, inverse;
} Weight;

// As the scene has them.
struct WebOriginal {
  tbMaterial* material;
  tbContactMaterial* contact_material;
  tbPairRule* pair;
  Weight* weight; // of the bodies
};

static void* copy(const tbArray* array)
{
  void* block = malloc(array->count * array->item + 1);
  return block && array->count ? memcpy(block, array->data, array->count * array->item) : block;
}

void web_original_free(WebOriginal* o)
{
  if (!o) return;
  free(o->material), free(o->contact_material), free(o->pair), free(o->weight);
  free(o);
}

WebOriginal* web_original(const tbWorld* w)
{
  WebOriginal* o = calloc(1, sizeof *o);
  if (!o) return NULL;
  o->material = copy(&w->material), o->contact_material = copy(&w->contact_material),
  o->pair = copy(&w->pair);
  o->weight = calloc(w->body.count + 1, sizeof *o->weight);
  if (!o->material || !o->contact_material || !o->pair || !o->weight) {
    web_original_free(o);
    return NULL;
  }
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    o->weight[i] = (Weight){b->mass, b->inertia, b->inertia_inv};
  }
  return o;
}

// Friction.

static tbFriction changed(tbFriction f, double scale, double mu)
{
  bool elliptic = f.kind == TB_FRICTION_ELLIPTIC || f.kind == TB_FRICTION_MATCHSTICK;
  if (f.kind == TB_FRICTION_TENSOR && mu >= 0) f = tb_friction(mu);
  if (mu >= 0) {
    f.mu = mu;
    if (elliptic) f.mu_t = f.mu_b = mu;
    return f;
  }
  f.kappa *= scale; // of a tensor
  f.mu *= scale, f.mu_t *= scale, f.mu_b *= scale, f.torsion *= scale, f.rolling *= scale;
  return f;
}

void web_edit_friction(tbWorld* w, const WebOriginal* o, double scale, double mu)
{
  tbMaterial* material = w->material.data;
  tbContactMaterial* contact_material = w->contact_material.data;
  tbPairRule* pair = w->pair.data;
  for (size_t i = 0; i < w->material.count; i++)
    material[i].contact_material.friction = changed(o->material[i].contact_material.friction, scale, mu);
  for (size_t i = 0; i < w->contact_material.count; i++)
    contact_material[i].friction = changed(o->contact_material[i].friction, scale, mu);
  for (size_t i = 0; i < w->pair.count; i++)
    pair[i].contact_material.friction = changed(o->pair[i].contact_material.friction, scale, mu);
}

// Masses.

static void weigh(tbBody* b, const Weight* own, double ratio)
{
  b->mass = ratio * own->mass;
  b->inertia = tb_mat3_scale(ratio, own->inertia);
  b->inertia_inv = tb_mat3_scale(1 / ratio, own->inverse);
}

static bool has_ratio(const tbBody* b) { return b->motion == TB_BODY_DYNAMIC && !b->kind->nodes; }

tbStatus web_edit_mass(tbContext* ctx, tbWorld* w, const WebOriginal* o, int body, double ratio)
{
  if (body < 0 || (size_t)body >= w->body.count || !has_ratio(&tb_bodies(w)[body]))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a rigid body that moves freely has a mass ratio");
  if (!(ratio >= 1e-6 && ratio <= 1e6))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a mass ratio is a number from 1e-6 to 1e6");
  weigh(&tb_bodies(w)[body], &o->weight[body], ratio);
  return TB_OK;
}

void web_edit_masses(tbWorld* to, const WebOriginal* o, const tbWorld* from, const WebOriginal* from_original)
{
  for (size_t i = 0; i < from->body.count; i++) {
    const tbBody* b = &tb_bodies(from)[i];
    if (!has_ratio(b) || b->mass == from_original->weight[i].mass) continue;
    int k = tb_body_place(to, tb_world_find_body(to, b->name));
    if (k >= 0 && has_ratio(&tb_bodies(to)[k]))
      weigh(&tb_bodies(to)[k], &o->weight[k], b->mass / from_original->weight[i].mass);
  }
}
