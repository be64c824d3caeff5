// SPDX-License-Identifier: Apache-2.0
// What bodies are made of, and what two surfaces do together.
//
// A rule for the pair of materials wins, unless one of the bodies has a friction or restitution of its own.
// Else each surface brings its friction, which meet where the contact is (step/friction_pair.c), and the
// larger restitution holds. Springs: spring.c.
#include "scene/names.h"
#include "scene/world.h"
#include "tribo/limits.h"

tbFriction tb_friction(double mu) { return (tbFriction){.kind = TB_FRICTION_ISOTROPIC, .mu = mu}; }

tbMaterialDef tb_default_material_def(void)
{
  return (tbMaterialDef){.name = "default", .density = 1000, .friction = tb_friction(0.5)};
}

static bool coefficient(double x) { return x >= 0 && x <= 1e6; } // false for NaN

static tbStatus check_direction(tbContext* ctx, const tbFriction* f)
{
  if (tb_norm3(f->direction) > 0 && isfinite(tb_norm3(f->direction))) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "the direction of friction must not be zero");
}

// The power −λ_n v·Q v̂ must not be positive for any direction of sliding: the symmetric part of Q has no
// negative eigenvalue (course, eq. 326).
static tbStatus check_matrix(tbContext* ctx, const double* Q)
{
  for (int i = 0; i < 4; i++)
    if (!(fabs(Q[i]) <= 1e6))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "a friction tensor's numbers must be between -1e6 and 1e6");
  double mean = (Q[0] + Q[3]) / 2, off = (Q[1] + Q[2]) / 2, apart = (Q[0] - Q[3]) / 2;
  double radius = sqrt(apart * apart + off * off), least = mean - radius;
  if (least >= -1e-12 * (fabs(mean) + radius)) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT,
                 "the friction tensor would add energy: its symmetric part has the eigenvalue %.6g", least);
}

static tbStatus check_tensor(tbContext* ctx, const tbFriction* f)
{
  TB_TRY(check_matrix(ctx, f->matrix));
  if (f->asymmetric) TB_TRY(check_matrix(ctx, f->matrix_back));
  if (!coefficient(f->kappa)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "kappa must be between 0 and 1e6");
  return TB_OK;
}

tbStatus tb_friction_check(tbContext* ctx, const tbFriction* f)
{
  if (!coefficient(f->torsion) || !coefficient(f->rolling))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "torsion and rolling must be between 0 and 1e6");
  if (!coefficient(f->static_ratio) || !coefficient(f->stribeck))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "static_ratio and stribeck must be between 0 and 1e6");
  if (!(f->tresca >= 0 && f->tresca < INFINITY) || !(f->adhesion >= 0 && f->adhesion < INFINITY))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "tresca and adhesion must be finite and not negative");
  TB_TRY(tb_restitution_check(ctx, f->restitution));
  if ((int)f->mapping < 0 || f->mapping >= TB_MAPPING_COUNT)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "no such mapping of a texture");
  if (f->direction_map > 0 && f->chart < 1 && !(f->scale > 0 && f->scale < INFINITY))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a map of directions needs its scale");
  switch (f->kind) {
  case TB_FRICTION_ISOTROPIC:
    if (!coefficient(f->mu)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "friction must be between 0 and 1e6");
    return TB_OK;
  case TB_FRICTION_MATCHSTICK:
    if (!coefficient(f->mu)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "mu must be between 0 and 1e6");
    // fallthrough
  case TB_FRICTION_ELLIPTIC:
    if (!coefficient(f->mu_t) || !coefficient(f->mu_b))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "mu_t and mu_b must be between 0 and 1e6");
    return check_direction(ctx, f);
  case TB_FRICTION_CONTENSOU:
    if (!coefficient(f->mu)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "mu must be between 0 and 1e6");
    return TB_OK;
  case TB_FRICTION_TEXTURE:
    if (f->texture < 1) return tb_fail(ctx, TB_ERROR_ARGUMENT, "texture friction needs a texture");
    if (f->directions != 0 && (f->directions < 4 || f->directions > TB_MAX_SIDES || f->directions % 2 != 0))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "directions of a texture: an even number, 4 to %d, not %d",
                     TB_MAX_SIDES, f->directions);
    if (!(f->patch >= 0 && f->patch < INFINITY) || !(f->scale >= 0 && f->scale < INFINITY))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "scale and patch of a texture must be finite and not negative");
    if (f->patch > 0 && !(f->scale > 0) && f->chart < 1)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "patches of a texture need its scale");
    return check_direction(ctx, f);
  case TB_FRICTION_TENSOR: TB_TRY(check_direction(ctx, f)); return check_tensor(ctx, f);
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
  TB_TRY(tb_contact_spring_check(ctx, &def->spring));

  tbMaterial material = {.name = tb_names_keep(ctx, &w->names, def->name),
                         .density = def->density,
                         .contact_material = {def->friction, def->restitution, def->spring}};
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
  return tb_world_set_pair_rule(ctx, w, a, b, &friction, &restitution, NULL);
}

tbStatus tb_world_set_pair_rule(tbContext* ctx, tbWorld* w, tbMaterialId a, tbMaterialId b,
                                const tbFriction* friction, const double* restitution,
                                const tbContactSpring* spring)
{
  int place_a, place_b;
  TB_TRY(tb_material_find(ctx, w, a, &place_a));
  TB_TRY(tb_material_find(ctx, w, b, &place_b));
  if (friction) TB_TRY(tb_friction_check(ctx, friction));
  if (restitution) TB_TRY(tb_restitution_check(ctx, *restitution));
  if (spring) TB_TRY(tb_contact_spring_check(ctx, spring));
  tbPairRule* old = (tbPairRule*)find_pair(w, place_a, place_b);
  bool swap = place_a > place_b; // a direction is in the frame of a's body
  tbPairRule rule = {.a = swap ? place_b : place_a, .b = swap ? place_a : place_b};
  if (old) rule = *old;
  if (friction)
    rule.own_friction = true, rule.direction_of_b = swap, rule.contact_material.friction = *friction;
  if (restitution) rule.own_restitution = true, rule.contact_material.restitution = *restitution;
  if (spring) rule.contact_material.spring = *spring;
  if (old) {
    *old = rule;
    tb_world_changed(w, -1);
    return TB_OK;
  }
  size_t i = pair_place(w, rule.a, rule.b);
  TB_TRY(tb_array_push(ctx, &w->pair, NULL, 1));
  tbPairRule* all = w->pair.data;
  for (size_t k = w->pair.count - 1; k > i; k--) all[k] = all[k - 1];
  all[i] = rule;
  tb_world_changed(w, -1);
  return TB_OK;
}

static tbFrictionPair own_surfaces(const tbWorld* w, const tbBody* a, const tbBody* b)
{
  const tbBody* body[2] = {a, b};
  const tbFriction* friction[2];
  tbContactSpring spring[2];
  double restitution = 0;
  for (int i = 0; i < 2; i++) {
    const tbContactMaterial *of = &tb_materials(w)[body[i]->material].contact_material, *own = of;
    if (body[i]->own_contact_material >= 0)
      own = (const tbContactMaterial*)w->contact_material.data + body[i]->own_contact_material;
    spring[i] = of->spring;
    friction[i] = body[i]->own_friction ? &own->friction : &of->friction;
    restitution = fmax(restitution, body[i]->own_restitution ? own->restitution : of->restitution);
  }
  return (tbFrictionPair){friction[0], friction[1], restitution,
                          tb_contact_spring_meet(spring[0], spring[1])};
}

tbFrictionPair tb_world_friction_pair(const tbWorld* w, const tbBody* a, const tbBody* b)
{
  tbFrictionPair pair = own_surfaces(w, a, b);
  const tbPairRule* rule = find_pair(w, a->material, b->material);
  if (!rule) return pair;
  if (rule->contact_material.spring.stiffness > 0) pair.spring = rule->contact_material.spring;
  if (a->own_contact_material >= 0 || b->own_contact_material >= 0) return pair;
  if (rule->own_restitution) pair.restitution = rule->contact_material.restitution;
  if (!rule->own_friction) return pair;
  bool at_b = rule->direction_of_b != (a->material != rule->a);
  pair.a = at_b ? NULL : &rule->contact_material.friction;
  pair.b = at_b ? &rule->contact_material.friction : NULL;
  return pair;
}
