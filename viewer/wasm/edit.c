// SPDX-License-Identifier: Apache-2.0
// What a page changes in a running world by a slider: all friction, and masses, as multiples of the scene's
// own.
#include "web.h"

#include "tribo/change.h"
#include "tribo/inspect.h"

#include <stdlib.h>

typedef struct {
  double mass, inertia[6];
} Weight;

// As the scene has them.
struct WebOriginal {
  tbFriction* friction; // (tb_world_friction_count)
  Weight* weight;       // of the bodies
};

void web_original_free(WebOriginal* o)
{
  if (!o) return;
  free(o->friction), free(o->weight);
  free(o);
}

WebOriginal* web_original(const tbWorld* w)
{
  int frictions = tb_world_friction_count(w), bodies = tb_world_body_count(w);
  WebOriginal* o = calloc(1, sizeof *o);
  if (!o) return NULL;
  o->friction = calloc((size_t)frictions + 1, sizeof *o->friction);
  o->weight = calloc((size_t)bodies + 1, sizeof *o->weight);
  if (!o->friction || !o->weight) {
    web_original_free(o);
    return NULL;
  }
  for (int i = 0; i < frictions; i++) o->friction[i] = tb_world_friction_at(w, i);
  for (int i = 0; i < bodies; i++) {
    tbBodyId id = tb_world_body_at(w, i);
    o->weight[i].mass = tb_body_mass(w, id);
    tb_body_inertia(w, id, o->weight[i].inertia);
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

tbStatus web_edit_friction(tbContext* ctx, tbWorld* w, const WebOriginal* o, double scale, double mu)
{
  for (int i = 0; i < tb_world_friction_count(w); i++)
    TB_TRY(tb_world_set_friction_at(ctx, w, i, changed(o->friction[i], scale, mu)));
  return TB_OK;
}

// Masses.

static bool has_ratio(const tbWorld* w, tbBodyId id)
{
  return tb_body_mass(w, id) > 0 && tb_body_node_count(w, id) == 0;
}

static tbStatus weigh(tbContext* ctx, tbWorld* w, tbBodyId id, const Weight* own, double ratio)
{
  double inertia[6];
  for (int i = 0; i < 6; i++) inertia[i] = ratio * own->inertia[i];
  return tb_body_set_mass(ctx, w, id, ratio * own->mass, inertia);
}

tbStatus web_edit_mass(tbContext* ctx, tbWorld* w, const WebOriginal* o, int body, double ratio)
{
  if (body < 0 || body >= tb_world_body_count(w) || !has_ratio(w, tb_world_body_at(w, body)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "only a rigid body that moves freely has a mass ratio");
  if (!(ratio >= 1e-6 && ratio <= 1e6))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a mass ratio is a number from 1e-6 to 1e6");
  return weigh(ctx, w, tb_world_body_at(w, body), &o->weight[body], ratio);
}

tbStatus web_edit_masses(tbContext* ctx, tbWorld* to, const WebOriginal* o, const tbWorld* from,
                         const WebOriginal* from_original)
{
  for (int i = 0; i < tb_world_body_count(from); i++) {
    tbBodyId was = tb_world_body_at(from, i), is = tb_world_find_body(to, tb_body_name(from, was));
    double mass = tb_body_mass(from, was);
    int k = tb_body_place(to, is);
    if (!has_ratio(from, was) || mass == from_original->weight[i].mass || k < 0 || !has_ratio(to, is))
      continue;
    TB_TRY(weigh(ctx, to, is, &o->weight[k], mass / from_original->weight[i].mass));
  }
  return TB_OK;
}
