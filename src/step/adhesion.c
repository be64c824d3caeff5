// SPDX-License-Identifier: Apache-2.0
#include "step/adhesion.h"

#include "scene/cache.h"
#include "scene/kind.h"
#include "step/rows.h"
#include "step/scheme.h"
#include "step/soft_contact.h"
#include "step/trim.h"

// Shapes this close, of the smaller body's size, touch.
static const double TOUCHES = 1e-4;

// Clearances that surfaces are apart where they touch: one that they keep, and as much for what is left open.
static const double APART = 2;

static bool has(const tbContactMaterial* m) { return m->friction.adhesion > 0; }

bool tb_adhesion_is_there(const tbWorld* w)
{
  const tbContactMaterial* own = w->contact_material.data;
  const tbPairRule* rule = w->pair.data;
  bool there = false;
  for (size_t i = 0; i < w->material.count; i++) there |= has(&tb_materials(w)[i].contact_material);
  for (size_t i = 0; i < w->contact_material.count; i++) there |= has(&own[i]);
  for (size_t i = 0; i < w->pair.count; i++) there |= rule[i].own_friction && has(&rule[i].contact_material);
  return there;
}

// The nodes that a side touches with.
static void take_side(const tbSurfaces* s, const tbSurfaceContact* c, int side, tbAdhesivePull* out)
{
  if (side == 0 && c->of.kind == TB_SURFACE_PLANE_VERTEX) return;
  const int* node = s->surface[side ? c->of.surface_b : c->of.surface_a].surface->node;
  int count = side ? c->count_b : c->count_a;
  for (int k = 0; node && k < count; k++) {
    out->side[side].node[k] = node[side ? c->vertex_b[k] : c->vertex_a[k]];
    out->side[side].weight[k] = side ? c->weight_b[k] : c->weight_a[k];
  }
  out->side[side].count = node ? count : 0;
}

static tbStatus add(tbContext* ctx, const tbSurfaces* s, const tbContactConstraint* t, tbArray* pulls)
{
  double most = t->contact_material.friction.adhesion;
  tbAdhesivePull p = {.shape_a = t->shape_a,
                      .shape_b = t->shape_b,
                      .body_a = t->body_a,
                      .body_b = t->body_b,
                      .feature = t->point.feature,
                      .position = t->position,
                      .force = tb_scale3(-most, tb_mat3_row(t->frame, 0))};
  for (int side = 0; t->surface && side < 2; side++) take_side(s, t->surface, side, &p);
  return most > 0 ? tb_array_push(ctx, pulls, &p, 1) : TB_OK;
}

// ---- what touches ----

static double reach_of(const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s, bool shapes)
{
  const tbSchemeMethod* method = tb_scheme_find(o->scheme)->method;
  if (method->touching) return method->touching(w, o, s, shapes);
  return shapes ? 0 : APART * tb_surfaces_clearance(s, o->clearance);
}

static tbStatus add_shapes(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                           const tbUnconstrained* unmoved, const tbTransform* pose, const tbSurfaces* s,
                           tbArray* pulls)
{
  double reach = reach_of(w, o, s, true);
  tbStepOptions near = *o;
  near.margin = fmax(o->margin, reach);
  tbArray constraints = TB_ARRAY(tbContactConstraint);
  tbStatus status = tb_find_contacts(ctx, arena, NULL, w, &near, unmoved, pose, &constraints);
  for (size_t i = 0; status == TB_OK && i < constraints.count; i++) {
    tbContactConstraint* t = (tbContactConstraint*)constraints.data + i;
    double size = fmin(tb_bodies(w)[t->body_a].radius, tb_bodies(w)[t->body_b].radius);
    if (t->point.gap > fmax(TOUCHES * size, reach)) continue;
    tb_constraint_law(w, t);
    status = add(ctx, NULL, t, pulls);
  }
  tb_array_free(ctx, &constraints);
  return status;
}

static tbStatus add_surfaces(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                             const tbTransform* pose, const tbSurfaces* s, tbArray* pulls)
{
  double reach = reach_of(w, o, s, false), clearance = reach / APART;
  double far = 3 * reach + tb_soft_contact_coat(w, s);
  tbSurfaceCandidates candidates;
  tb_surface_candidates_init(&candidates);
  candidates.scratch = arena;
  tbArray soft = TB_ARRAY(tbSoftContact), constraints = TB_ARRAY(tbContactConstraint);
  tbStatus status = tb_surface_find(ctx, &s->scene, far, TB_SURFACES_AHEAD, &candidates);
  if (status == TB_OK) status = tb_soft_contact_begin(ctx, w, o, s, pose, &candidates, clearance, &soft);
  if (status == TB_OK) status = tb_soft_contact_constraints(ctx, w, o, s, clearance, &soft, &constraints);
  for (size_t i = 0; status == TB_OK && i < constraints.count; i++) {
    const tbContactConstraint* t = (const tbContactConstraint*)constraints.data + i;
    double keep = tb_soft_contact_distance(s, t->surface, clearance).radius + reach;
    keep += tb_soft_contact_spring(w, s, t->surface).coat;
    if (t->point.gap <= keep) status = add(ctx, s, t, pulls);
  }
  tb_surface_candidates_free(ctx, &candidates);
  tb_array_free(ctx, &soft);
  tb_array_free(ctx, &constraints);
  return status;
}

static tbStatus find(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* w, const tbStepOptions* o,
                     tbArray* pulls)
{
  tbUnconstrained* unmoved = TB_TAKE(arena, tbUnconstrained, w->body.count);
  tbTransform* pose = TB_TAKE(arena, tbTransform, w->body.count);
  if (!unmoved || !pose) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < w->body.count; i++) {
    tb_be_unmoved(&tb_bodies(w)[i], &unmoved[i]);
    pose[i] = tb_body_pose(&tb_bodies(w)[i]);
  }
  tbSurfaces s;
  TB_TRY(tb_surfaces_begin(ctx, arena, cache, w, pose, &s));
  s.crossing = true;
  TB_TRY(add_shapes(ctx, arena, w, o, unmoved, pose, &s, pulls));
  return tb_first_deforming(w) >= 0 ? add_surfaces(ctx, arena, w, o, pose, &s, pulls) : TB_OK;
}

tbStatus tb_adhesion_find(tbContext* ctx, tbCache* cache, const tbWorld* w, const tbStepOptions* o,
                          tbArray* pulls)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStatus status = find(ctx, &arena, cache, w, o, pulls);
  tb_arena_free(&arena);
  return status;
}

// ---- forces ----

// Forces on the nodes of all bodies, one body after the other; first[i]: those of body i.
typedef struct {
  size_t* first;
  tbVec3* force;
} NodeForces;

static tbStatus begin_nodes(tbArena* arena, const tbWorld* w, NodeForces* out)
{
  size_t n = w->body.count;
  out->first = TB_TAKE(arena, size_t, n + 1);
  if (!out->first) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++)
    out->first[i + 1] = out->first[i] + (size_t)tb_nodes_of(&tb_bodies(w)[i]).count;
  out->force = TB_TAKE(arena, tbVec3, out->first[n]);
  return out->force ? TB_OK : TB_ERROR_MEMORY;
}

static void pull_frame(tbBody* b, tbVec3 at, tbVec3 force)
{
  if (b->motion != TB_BODY_DYNAMIC) return;
  b->force = tb_add3(b->force, force);
  b->torque = tb_add3(b->torque, tb_cross3(tb_sub3(at, b->x), force));
}

static void pull_side(tbWorld* w, const tbAdhesivePull* p, int side, NodeForces* nodes)
{
  int body = side ? p->body_b : p->body_a;
  tbBody* b = &tb_bodies(w)[body];
  tbVec3 force = side ? p->force : tb_neg3(p->force);
  if (!b->kind->surface) pull_frame(b, p->position, force);
  for (int k = 0; k < p->side[side].count; k++) {
    tbVec3* at = &nodes->force[nodes->first[body] + (size_t)p->side[side].node[k]];
    *at = tb_madd3(*at, p->side[side].weight[k], force);
  }
}

tbStatus tb_adhesion_pull(tbContext* ctx, const tbArray* pulls, tbWorld* w)
{
  const tbAdhesivePull* p = pulls->data;
  if (pulls->count == 0) return TB_OK;
  NodeForces nodes;
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStatus status = begin_nodes(&arena, w, &nodes);
  for (size_t i = 0; status == TB_OK && i < pulls->count; i++)
    for (int side = 0; side < 2; side++) pull_side(w, &p[i], side, &nodes);
  for (size_t i = 0; status == TB_OK && i < w->body.count; i++)
    if (tb_bodies(w)[i].kind->push)
      tb_bodies(w)[i].kind->push(&tb_bodies(w)[i], nodes.force + nodes.first[i]);
  tb_arena_free(&arena);
  return status;
}

// ---- impulses ----

// Either may come first: schemes that take shapes by their surfaces list planes before all else.
static bool is_of_pair(const tbContactRecord* r, const tbAdhesivePull* p)
{
  bool same = r->shape_a == p->shape_a && r->body_a == p->body_a;
  if (same) return r->shape_b == p->shape_b && r->body_b == p->body_b;
  return r->shape_a == p->shape_b && r->body_a == p->body_b && r->shape_b == p->shape_a &&
         r->body_b == p->body_a;
}

// The record of the same features, or else the nearest of the pair; the search begins at `hint`.
static size_t match(const tbAdhesivePull* p, const tbContactRecord* r, size_t count, size_t hint)
{
  size_t best = count;
  double least = INFINITY;
  for (size_t n = 0, i = hint; n < count; n++, i = i + 1 < count ? i + 1 : 0) {
    if (!is_of_pair(&r[i], p)) continue;
    if (r[i].feature == p->feature) return i;
    double distance = tb_distance3(r[i].position, p->position);
    if (distance < least) least = distance, best = i;
  }
  return best;
}

void tb_adhesion_shift(const tbArray* pulls, double time, tbArray* records)
{
  const tbAdhesivePull* p = pulls->data;
  tbContactRecord* r = records->data;
  size_t count = records->count, hint = 0;
  for (size_t i = 0; i < pulls->count; i++) {
    size_t at = match(&p[i], r, count, hint < count ? hint : 0);
    if (at == count) continue;
    r[at].impulse[0] += time * tb_norm3(p[i].force);
    hint = at + 1;
  }
}
