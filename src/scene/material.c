// SPDX-License-Identifier: Apache-2.0
// What bodies are made of, and what two surfaces do together.
//
// A rule for the pair of materials wins, unless one of the bodies has a friction or restitution of its own.
// Else friction is the geometric mean and restitution the larger of the two. Where one surface is elliptic,
// its direction leads and its half axes are each averaged with the other's coefficient; torsion and rolling
// are lengths, and the larger one holds.
#include "scene/names.h"
#include "scene/world.h"

tbFriction tb_friction(double mu) { return (tbFriction){.kind = TB_FRICTION_ISOTROPIC, .mu = mu}; }

tbMaterialDef tb_default_material_def(void)
{
  return (tbMaterialDef){.name = "default", .density = 1000, .friction = tb_friction(0.5)};
}

static bool coefficient(double x) { return x >= 0 && x <= 1e6; } // false for NaN

tbStatus tb_friction_check(tbContext* ctx, const tbFriction* f)
{
  switch (f->kind) {
  case TB_FRICTION_ISOTROPIC:
    if (!coefficient(f->mu)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "friction must be between 0 and 1e6");
    return TB_OK;
  case TB_FRICTION_ELLIPTIC:
    if (!coefficient(f->mu_t) || !coefficient(f->mu_b))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "mu_t and mu_b must be between 0 and 1e6");
    if (!(tb_norm3(f->direction) > 0) || !isfinite(tb_norm3(f->direction)))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the direction of elliptic friction must not be zero");
    return TB_OK;
  case TB_FRICTION_CONTENSOU:
    if (!coefficient(f->mu) || !coefficient(f->torsion) || !coefficient(f->rolling))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "mu, torsion and rolling must be between 0 and 1e6");
    return TB_OK;
  }
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "no such kind of friction");
}

tbStatus tb_restitution_check(tbContext* ctx, double e)
{
  if (e >= 0 && e <= 1) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "restitution must be between 0 and 1");
}

tbStatus tb_world_add_material(tbContext* ctx, tbWorld* w, const tbMaterialDef* def, tbMaterialId* out)
{
  if (!def->name) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a material needs a name");
  if (tb_names_find(&w->names, TB_NAME_MATERIAL, def->name) >= 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is a material \"%s\" already", def->name);
  if (!(def->density > 0) || !isfinite(def->density))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "density must be positive");
  TB_TRY(tb_friction_check(ctx, &def->friction));
  TB_TRY(tb_restitution_check(ctx, def->restitution));

  tbMaterial material = {.name = tb_names_keep(ctx, &w->names, def->name),
                         .density = def->density,
                         .contact_material = {def->friction, def->restitution, false}};
  if (!material.name) return TB_ERROR_MEMORY;
  TB_TRY(tb_names_reserve(ctx, &w->names));
  TB_TRY(tb_ids_reserve(ctx, &w->material_ids));
  TB_TRY(tb_array_push(ctx, &w->material, &material, 1));
  int index = (int)w->material.count - 1;
  tb_names_add(&w->names, TB_NAME_MATERIAL, material.name, index);
  tb_materials(w)[index].id = tb_ids_add(&w->material_ids, index);
  if (out) *out = tb_world_material_at(w, index);
  return TB_OK;
}

int tb_world_material_count(const tbWorld* w) { return (int)w->material.count; }

tbMaterialId tb_world_material_at(const tbWorld* w, int place)
{
  if (place < 0 || (size_t)place >= w->material.count) return (tbMaterialId){-1, 0};
  int id = tb_materials(w)[place].id;
  return (tbMaterialId){id, tb_ids_generation(&w->material_ids, id)};
}

int tb_material_place(const tbWorld* w, tbMaterialId id)
{
  return tb_ids_find(&w->material_ids, id.index, id.generation);
}

tbStatus tb_material_find(tbContext* ctx, const tbWorld* w, tbMaterialId id, int* place)
{
  *place = tb_material_place(w, id);
  if (*place >= 0) return TB_OK;
  bool removed = id.index >= 0 && (size_t)id.index < w->material_ids.entry.count;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, removed ? "this material has been removed" : "no such material");
}

tbMaterialId tb_world_find_material(const tbWorld* w, const char* name)
{
  return tb_world_material_at(w, tb_names_find(&w->names, TB_NAME_MATERIAL, name));
}

// Where the rule of materials a ≤ b stands, or would.
static size_t pair_place(const tbWorld* w, int a, int b)
{
  const tbPairRule* rule = w->pair.data;
  size_t lo = 0, hi = w->pair.count;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (rule[mid].a < a || (rule[mid].a == a && rule[mid].b < b)) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static const tbPairRule* find_pair(const tbWorld* w, int a, int b)
{
  if (!w->pair.count) return NULL;
  if (a > b) {
    int t = a;
    a = b, b = t;
  }
  size_t i = pair_place(w, a, b);
  const tbPairRule* rule = (const tbPairRule*)w->pair.data + i;
  return i < w->pair.count && rule->a == a && rule->b == b ? rule : NULL;
}

tbStatus tb_world_set_pair(tbContext* ctx, tbWorld* w, tbMaterialId a, tbMaterialId b, tbFriction friction,
                           double restitution)
{
  int place_a, place_b;
  TB_TRY(tb_material_find(ctx, w, a, &place_a));
  TB_TRY(tb_material_find(ctx, w, b, &place_b));
  TB_TRY(tb_friction_check(ctx, &friction));
  TB_TRY(tb_restitution_check(ctx, restitution));
  tbPairRule* old = (tbPairRule*)find_pair(w, place_a, place_b);
  bool swap = place_a > place_b; // a direction is in the frame of a's body
  tbPairRule rule = {swap ? place_b : place_a, swap ? place_a : place_b, {friction, restitution, swap}};
  if (old) {
    *old = rule;
    return TB_OK;
  }
  size_t i = pair_place(w, rule.a, rule.b);
  TB_TRY(tb_array_push(ctx, &w->pair, NULL, 1));
  tbPairRule* all = w->pair.data;
  for (size_t k = w->pair.count - 1; k > i; k--) all[k] = all[k - 1];
  all[i] = rule;
  return TB_OK;
}

static tbFriction combine(tbFriction a, tbFriction b)
{
  if (a.kind == TB_FRICTION_ELLIPTIC) { // of two ellipses the first one leads
    double other = b.kind == TB_FRICTION_ELLIPTIC ? sqrt(b.mu_t * b.mu_b) : b.mu;
    a.mu_t = sqrt(a.mu_t * other), a.mu_b = sqrt(a.mu_b * other);
    return a;
  }
  tbFriction f = tb_friction(sqrt(a.mu * b.mu));
  if (a.kind == TB_FRICTION_CONTENSOU || b.kind == TB_FRICTION_CONTENSOU) {
    f.kind = TB_FRICTION_CONTENSOU;
    f.torsion = fmax(a.torsion, b.torsion);
    f.rolling = fmax(a.rolling, b.rolling);
  }
  return f;
}

static tbContactMaterial contact_material_of(const tbWorld* w, const tbBody* body)
{
  tbContactMaterial s = tb_materials(w)[body->material].contact_material;
  if (body->own_contact_material < 0) return s;
  const tbContactMaterial* own =
      (const tbContactMaterial*)w->contact_material.data + body->own_contact_material;
  if (body->own_friction) s.friction = own->friction;
  if (body->own_restitution) s.restitution = own->restitution;
  return s;
}

tbContactMaterial tb_world_contact_material(const tbWorld* w, const tbBody* a, const tbBody* b)
{
  if (a->own_contact_material < 0 && b->own_contact_material < 0) {
    const tbPairRule* rule = find_pair(w, a->material, b->material);
    if (rule) {
      tbContactMaterial s = rule->contact_material;
      if (a->material != rule->a) s.direction_of_b = !s.direction_of_b;
      return s;
    }
  }
  tbContactMaterial sa = contact_material_of(w, a), sb = contact_material_of(w, b);
  bool b_leads = sb.friction.kind == TB_FRICTION_ELLIPTIC && sa.friction.kind != TB_FRICTION_ELLIPTIC;
  tbFriction friction = b_leads ? combine(sb.friction, sa.friction) : combine(sa.friction, sb.friction);
  return (tbContactMaterial){friction, fmax(sa.restitution, sb.restitution), b_leads};
}
