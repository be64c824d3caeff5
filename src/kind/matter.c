// SPDX-License-Identifier: Apache-2.0
// What a deformable body is made of: from a mesh at rest to masses, elements, a surface and room for a state.
//
// A body is made by the same code when it is added and when a checkpoint is read, from nodes that have their
// places in the world already: displacements of linear elasticity are measured from there, and the same nodes
// give the same bits.
#include "kind/deformable.h"

#include <string.h>

static tbStatus take_surface(tbContext* ctx, const tbMatter* m, const int (*triangle)[3], int count,
                             tbDeformable* d)
{
  d->triangle = tb_arena_take(&d->arena, (size_t)count, sizeof *triangle);
  if (!d->triangle) return TB_ERROR_MEMORY;
  memcpy(d->triangle, triangle, (size_t)count * sizeof *triangle);
  TB_TRY(tb_surface_mesh_create(ctx, m->rest, m->nnode, triangle, count, &d->surface));
  return tb_surface_mesh_link(ctx, d->surface);
}

static tbStatus make_solid(tbContext* ctx, const tbMatter* m, tbDeformable* d)
{
  tbTetMesh* mesh;
  d->soft = m->soft;
  TB_TRY(tb_tet_mesh_create(ctx, m->rest, m->nnode, (const int(*)[4])m->corner, m->nelement, &mesh));
  tbStatus status = tb_fem_soft_create(ctx, mesh, &m->soft, m->springs, &d->fem);
  if (status == TB_OK) status = take_surface(ctx, m, (const int(*)[3])mesh->triangle, mesh->ntriangle, d);
  tb_tet_mesh_free(ctx, mesh);
  return status;
}

static tbStatus make_sheet(tbContext* ctx, const tbMatter* m, tbDeformable* d)
{
  tbMesh* mesh;
  d->radius = 0.5 * m->sheet.thickness;
  TB_TRY(tb_mesh_create(ctx, m->rest, m->nnode, m->corner, m->nelement, &mesh));
  tbStatus status = TB_OK;
  if (mesh->nvertex != m->nnode || mesh->ntriangle != m->nelement ||
      memcmp(mesh->triangle, m->corner, (size_t)m->nelement * sizeof *mesh->triangle) != 0)
    status = tb_fail(ctx, TB_ERROR_INPUT,
                     "vertices fall together, or triangles lose their area, where the sheet is put");
  if (status == TB_OK) status = tb_fem_cloth_create(ctx, mesh, &m->sheet, m->springs, &d->fem);
  if (status == TB_OK) status = take_surface(ctx, m, (const int(*)[3])mesh->triangle, mesh->ntriangle, d);
  tb_mesh_free(ctx, mesh);
  return status;
}

static tbStatus take_state(const tbMatter* m, int nhold, tbDeformable* d)
{
  size_t n = (size_t)m->nnode;
  d->x = TB_TAKE(&d->arena, tbVec3, n);
  d->v = TB_TAKE(&d->arena, tbVec3, n);
  d->local = TB_TAKE(&d->arena, tbVec3, n);
  d->pull = TB_TAKE(&d->arena, tbVec3, n);
  d->force = TB_TAKE(&d->arena, tbVec3, n);
  d->holder = TB_TAKE(&d->arena, int, n);
  d->hold = TB_TAKE(&d->arena, tbHold, (size_t)nhold);
  if (!d->x || !d->v || !d->local || !d->pull || !d->force || !d->holder || !d->hold) return TB_ERROR_MEMORY;
  d->nhold = nhold;
  memcpy(d->x, m->rest, n * sizeof *d->x);
  for (size_t i = 0; i < n; i++) d->holder[i] = -1;
  return TB_OK;
}

tbStatus tb_deformable_make(tbContext* ctx, const tbMatter* m, int nhold, tbDeformable** out)
{
  tbDeformable* d = TB_NEW(ctx, tbDeformable, 1);
  if (!d) return TB_ERROR_MEMORY;
  tb_arena_init(&d->arena, ctx);
  tbStatus status = m->cloth ? make_sheet(ctx, m, d) : make_solid(ctx, m, d);
  if (status == TB_OK) status = take_state(m, nhold, d);
  if (status == TB_OK) *out = d;
  else tb_deformable_free(ctx, d);
  return status;
}

void tb_deformable_free(tbContext* ctx, tbDeformable* d)
{
  if (!d) return;
  tb_fem_free(ctx, d->fem);
  tb_surface_mesh_free(ctx, d->surface);
  d->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&d->arena);
  tb_free(ctx, d);
}

tbBodyState tb_hold_state(const tbWorld* w, const tbHold* hold)
{
  if (hold->body >= 0) {
    const tbBody* b = &tb_bodies(w)[hold->body];
    return (tbBodyState){b->x, b->q, b->v, b->w};
  }
  tbTransform T = tb_motion_pose(w, &hold->motion, w->time);
  return (tbBodyState){T.x, T.q, hold->motion.v, hold->motion.w};
}
