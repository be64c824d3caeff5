// SPDX-License-Identifier: Apache-2.0
// Reduced bodies: from a mesh to a basis, a surface and a state.
#include "kind/reduced.h"

#include "kind/deformable.h"
#include "modal/cache.h"

#include <string.h>

const char* tb_basis_name(tbReducedBasis basis)
{
  static const char* const names[TB_BASIS_COUNT] = {"linear", "modal-derivatives"};
  return (unsigned)basis < TB_BASIS_COUNT ? names[basis] : "?";
}

static tbStatus take_surface(tbContext* ctx, const tbTetMesh* mesh, tbReduced* d)
{
  d->triangle = tb_arena_take(&d->arena, (size_t)mesh->ntriangle, sizeof *d->triangle);
  if (!d->triangle) return TB_ERROR_MEMORY;
  memcpy(d->triangle, mesh->triangle, (size_t)mesh->ntriangle * sizeof *d->triangle);
  TB_TRY(tb_surface_mesh_create(ctx, mesh->node, mesh->nnode, (const int(*)[3])mesh->triangle,
                                mesh->ntriangle, &d->surface));
  return tb_surface_mesh_link(ctx, d->surface);
}

// The nodes about their centre of mass.
static tbStatus centre(tbContext* ctx, const tbReducedMatter* m, tbVec3* node, tbVec3* out)
{
  tbTetMesh* mesh;
  double mass = 0, *share = TB_NEW(ctx, double, (size_t)m->nnode);
  if (!share) return TB_ERROR_MEMORY;
  tbStatus status = tb_tet_mesh_create(ctx, m->node, m->nnode, m->tet, m->ntet, &mesh);
  if (status == TB_OK) {
    tb_tet_mesh_lump(mesh, 1, share);
    tb_tet_mesh_free(ctx, mesh);
    for (int i = 0; i < m->nnode; i++) mass += share[i];
    for (int i = 0; i < m->nnode; i++) *out = tb_madd3(*out, share[i] / mass, m->node[i]);
    for (int i = 0; i < m->nnode; i++) node[i] = tb_sub3(m->node[i], *out);
  }
  tb_free(ctx, share);
  return status;
}

static tbStatus make_solid(tbContext* ctx, const tbReducedMatter* m, const tbVec3* node, tbReduced* d)
{
  tbTetMesh* mesh;
  tbSoftDef soft = m->soft;
  if (tb_reduced_is_stvk(&m->soft, m->derivatives)) soft.model = TB_ELASTIC_STVK;
  TB_TRY(tb_tet_mesh_create(ctx, node, m->nnode, m->tet, m->ntet, &mesh));
  tbStatus status = tb_fem_soft_create(ctx, mesh, &soft, (tbFemSprings){0}, &d->fem);
  for (int i = 0; status == TB_OK && i < m->nnode; i++) d->fem->pinned[i] = m->pinned && m->pinned[i];
  if (status == TB_OK) status = take_surface(ctx, mesh, d);
  tb_tet_mesh_free(ctx, mesh);
  return status;
}

static tbStatus make_mesh(tbContext* ctx, const tbReducedMatter* m, bool centred, tbReduced* d)
{
  if (centred) return make_solid(ctx, m, m->node, d);
  tbVec3* node = TB_NEW(ctx, tbVec3, (size_t)m->nnode);
  tbStatus status = node ? centre(ctx, m, node, &d->centre) : TB_ERROR_MEMORY;
  if (status == TB_OK) status = make_solid(ctx, m, node, d);
  tb_free(ctx, node);
  return status;
}

static tbStatus make_basis(tbContext* ctx, const tbReducedMatter* m, const double* fields, tbReduced* d)
{
  bool stvk = tb_reduced_is_stvk(&m->soft, m->derivatives);
  if (fields) {
    size_t all = 3 * (size_t)m->nnode * (size_t)m->modes;
    TB_TRY(tb_modal_basis_make(ctx, d->fem, m->modes, &d->basis));
    memcpy(d->basis->field, fields, all * sizeof *fields);
    memcpy(d->basis->omega2, fields + all, (size_t)m->modes * sizeof *fields);
    return tb_modal_basis_finish(ctx, d->fem, stvk, d->basis);
  }
  if (m->basis_file)
    return tb_modal_basis_cached(ctx, d->fem, m->modes, m->derivatives, stvk, m->basis_file, &d->basis);
  return tb_modal_basis_create(ctx, d->fem, m->modes, m->derivatives, stvk, &d->basis);
}

static tbStatus take_state(tbReduced* d)
{
  size_t n = (size_t)d->fem->nnode, r = (size_t)d->basis->nmode;
  d->x = TB_TAKE(&d->arena, tbVec3, n);
  d->v = TB_TAKE(&d->arena, tbVec3, n);
  d->now.q = TB_TAKE(&d->arena, double, r);
  d->now.qd = TB_TAKE(&d->arena, double, r);
  d->push = TB_TAKE(&d->arena, double, 6 + r);
  d->work = TB_TAKE(&d->arena, double, tb_modal_energy_work(d->basis));
  d->now.frame = tb_transform_identity();
  return d->x && d->v && d->now.q && d->now.qd && d->push && d->work ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_reduced_make(tbContext* ctx, const tbReducedMatter* m, const double* fields, tbReduced** out)
{
  tbReduced* d = TB_NEW(ctx, tbReduced, 1);
  if (!d) return TB_ERROR_MEMORY;
  tb_arena_init(&d->arena, ctx);
  d->soft = m->soft, d->derivatives = m->derivatives;
  d->motion.initial = tb_transform_identity();
  tbStatus status = make_mesh(ctx, m, fields != NULL, d);
  if (status == TB_OK) status = make_basis(ctx, m, fields, d);
  if (status == TB_OK) status = take_state(d);
  if (status == TB_OK) *out = d;
  else tb_reduced_free(ctx, d);
  return status;
}

void tb_reduced_share(tbContext* ctx, const tbWorld* w, tbReduced* d)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbReduced* other = tb_bodies(w)[i].kind == &tb_kind_reduced ? tb_bodies(w)[i].own : NULL;
    if (!other || other == d || other->basis == d->basis || !tb_modal_basis_same(other->basis, d->basis))
      continue;
    tb_modal_basis_free(ctx, d->basis);
    d->basis = other->basis, d->basis->users++;
    return;
  }
}

void tb_reduced_free(tbContext* ctx, tbReduced* d)
{
  if (!d) return;
  tb_modal_basis_free(ctx, d->basis);
  tb_fem_free(ctx, d->fem);
  tb_surface_mesh_free(ctx, d->surface);
  d->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&d->arena);
  tb_free(ctx, d);
}

// ---- adding ----

static bool moves(const tbPinDef* p)
{
  return p->key_count > 0 || tb_maxabs3(p->velocity) > 0 || tb_maxabs3(p->angular_velocity) > 0;
}

// Pins are the world's, and all of them go together: the fields know no motion of one against another.
static tbStatus check_pins(tbContext* ctx, const tbWorld* w, const char* name, const tbDeformableDef* d)
{
  for (int i = 0; i < d->pin_count; i++) {
    TB_TRY(tb_pin_check(ctx, w, name, &d->pins[i]));
    if (d->pins[i].body.index != -1)
      return tb_fail(ctx, TB_ERROR_ARGUMENT,
                     "%s is a reduced body: its nodes are pinned to the world, not to a body", name);
    if (d->pin_count > 1 && moves(&d->pins[i]))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is a reduced body: what moves its nodes must be one pin",
                     name);
    for (int k = 0; k < d->pins[i].node_count; k++)
      if (d->pins[i].nodes[k] < 0 || d->pins[i].nodes[k] >= d->solid->nnode)
        return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pin of %s holds node %d; it has %d nodes", name,
                       d->pins[i].nodes[k], d->solid->nnode);
  }
  return TB_OK;
}

static tbStatus check(tbContext* ctx, const tbWorld* w, const char* name, const tbDeformableDef* d)
{
  if (!d->solid) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has modes: it must be a solid", name);
  if (d->soft.model >= TB_ELASTIC_NEO_HOOKEAN)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is a reduced body: its model is linear or stvk, not %s", name,
                   tb_elastic_name(d->soft.model));
  return check_pins(ctx, w, name, d);
}

static tbStatus make(tbContext* ctx, const tbDeformableDef* d, const char* name, tbReduced** out)
{
  uint8_t* pinned = TB_NEW(ctx, uint8_t, (size_t)d->solid->nnode);
  if (!pinned) return TB_ERROR_MEMORY;
  for (int i = 0; i < d->pin_count; i++)
    for (int k = 0; k < d->pins[i].node_count; k++) pinned[d->pins[i].nodes[k]] = true;
  tbReducedMatter m = {.node = d->solid->node,
                       .nnode = d->solid->nnode,
                       .tet = (const int(*)[4])d->solid->tet,
                       .ntet = d->solid->ntet,
                       .pinned = pinned,
                       .soft = d->soft,
                       .modes = d->modes,
                       .derivatives = d->basis == TB_BASIS_DERIVATIVES,
                       .basis_file = d->basis_file};
  tbStatus status = tb_reduced_make(ctx, &m, NULL, out);
  tb_free(ctx, pinned);
  if (status == TB_OK || status == TB_ERROR_MEMORY || status == TB_ERROR_CANCELLED) return status;
  tbError said = ctx->error;
  return tb_fail(ctx, status, "%s: %s", name, said.message);
}

// The frame at the start, and its motion where it is pinned.
static void start(const tbWorld* w, const tbDeformableDef* d, tbTransform pose, tbReduced* f)
{
  tbVec3 v = d->velocity, spin = d->angular_velocity;
  if (d->pin_count > 0) {
    const tbPinDef* p = &d->pins[0];
    f->nhold = 1;
    f->motion = (tbMotion){
        .key = (int)w->key.count - p->key_count, .nkey = p->key_count, .initial = tb_transform_identity()};
    if (p->key_count == 0) {
      f->motion.v = p->velocity, f->motion.w = p->angular_velocity;
      f->motion.initial = tb_motion_start(w, pose, p->velocity, p->angular_velocity);
    }
    pose = tb_motion_pose(w, &f->motion, w->time);
    v = f->motion.v, spin = f->motion.w;
  }
  tbVec3 arm = tb_quat_rotate(pose.q, f->centre);
  f->now.frame = tb_transform(pose.q, tb_add3(pose.x, arm));
  f->now.v = tb_add3(v, tb_cross3(spin, arm)), f->now.w = spin;
}

tbStatus tb_reduced_add(tbContext* ctx, tbWorld* w, const tbDeformableDef* d, const char* name, int material,
                        tbTransform pose, tbBodyId* out)
{
  tbReduced* f = NULL;
  TB_TRY(check(ctx, w, name, d));
  TB_TRY(make(ctx, d, name, &f));
  tb_reduced_share(ctx, w, f);
  tbBody b = {.kind = &tb_kind_reduced,
              .own = f,
              .motion = TB_BODY_DYNAMIC,
              .q = tb_quat_identity(),
              .initial = tb_transform_identity(),
              .shape = (int)w->shape.count,
              .material = material,
              .category = d->category,
              .mask = d->mask,
              .own_friction = d->friction,
              .own_contact_material = d->friction ? (int)w->contact_material.count : -1,
              .key = (int)w->key.count,
              .mass = f->basis->moments.mass};
  tbReducedInertia at = {.C = NULL};
  tb_reduced_inertia(f->basis, f->now.q, &at);
  b.inertia = at.I;
  f->body = (int)w->body.count;
  f->self_contact = d->self_contact;
  b.name = tb_names_keep(ctx, &w->names, name);
  tbBodyParts parts = {.friction = d->friction, .pins = d->pins, .pin_count = d->pin_count > 0};
  tbStatus status = b.name ? tb_body_append(ctx, w, &parts, &b) : TB_ERROR_MEMORY;
  if (status != TB_OK) {
    tb_reduced_free(ctx, f);
    return status;
  }
  start(w, d, pose, f);
  tb_reduced_follow(&tb_bodies(w)[f->body]);
  if (out) *out = tb_world_body_at(w, f->body);
  return TB_OK;
}

const tbKind tb_kind_reduced = {.name = "reduced",
                                .dofs = tb_reduced_dofs,
                                .release = tb_reduced_release,
                                .place = tb_reduced_place,
                                .energy = tb_reduced_energy,
                                .angular_momentum = tb_reduced_angular_momentum,
                                .hash = tb_reduced_hash,
                                .code = tb_reduced_code,
                                .pull = tb_reduced_pull,
                                .nodes = tb_reduced_nodes,
                                .set_nodes = tb_reduced_set_nodes,
                                .push = tb_reduced_push,
                                .own_forces = tb_reduced_own_forces,
                                .changes = tb_reduced_changes,
                                .modes = tb_reduced_modes,
                                .mode_rates = tb_reduced_mode_rates,
                                .set_modes = tb_reduced_set_modes,
                                .motion_of = tb_reduced_motion,
                                .lose = tb_reduced_lose,
                                .begin = tb_reduced_begin,
                                .prepare = tb_reduced_prepare,
                                .metric = tb_reduced_metric,
                                .contact = tb_reduced_contact,
                                .material_point = tb_reduced_material_point,
                                .material_frame = tb_reduced_material_frame,
                                .material_rows = tb_reduced_material_rows,
                                .advance = tb_reduced_advance,
                                .note = tb_reduced_note,
                                .surface = tb_reduced_surface,
                                .expect = tb_reduced_expect,
                                .move_surface = tb_reduced_move_surface,
                                .moves_at = tb_reduced_moves_at};
