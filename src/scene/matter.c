// What a deformable body is made of: from a mesh at rest to masses, elements, a surface and room for a state.
//
// A body is made by the same code when it is added and when a checkpoint is read, from nodes that have their
// places in the world already: displacements of linear elasticity are measured from there, and the same nodes
// give the same bits.
#include "scene/world.h"

#include "math/cholesky.h"

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
  tbStatus status = tb_fem_soft_create(ctx, mesh, &m->soft, &d->fem);
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
  if (status == TB_OK) status = tb_fem_cloth_create(ctx, mesh, &m->sheet, &d->fem);
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
  d->holder = TB_TAKE(&d->arena, int, n);
  d->hold = TB_TAKE(&d->arena, tbHold, (size_t)nhold);
  if (!d->x || !d->v || !d->local || !d->pull || !d->holder || !d->hold) return TB_ERROR_MEMORY;
  d->nhold = nhold;
  memcpy(d->x, m->rest, n * sizeof *d->x);
  for (size_t i = 0; i < n; i++) d->holder[i] = -1;
  return TB_OK;
}

tbStatus tb_deformable_make(tbContext* ctx, const tbMatter* m, int nhold, tbDeformable* out)
{
  tbDeformable d = {0};
  tb_arena_init(&d.arena, ctx);
  tbStatus status = m->cloth ? make_sheet(ctx, m, &d) : make_solid(ctx, m, &d);
  if (status == TB_OK) status = take_state(m, nhold, &d);
  if (status == TB_OK) *out = d;
  else tb_deformable_free(ctx, &d);
  return status;
}

void tb_deformable_free(tbContext* ctx, tbDeformable* d)
{
  tb_fem_free(ctx, d->fem);
  tb_surface_mesh_free(ctx, d->surface);
  d->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&d->arena);
}

// Lumped or not, the nodes' masses weigh x and v alike: the rows of M add up to them.
void tb_deformable_follow(tbWorld* w, const tbDeformable* d)
{
  tbBody* b = &tb_bodies(w)[d->body];
  const tbFemBody* fem = d->fem;
  tbVec3 x = tb_zero3(), v = tb_zero3();
  double far = 0;
  for (int i = 0; i < fem->nnode; i++) {
    double share = fem->mass[i] / b->mass;
    x = tb_madd3(x, share, d->x[i]);
    v = tb_madd3(v, share, d->v[i]);
  }
  for (int i = 0; i < fem->nnode; i++) far = fmax(far, tb_distance3(d->x[i], x));
  b->x = x, b->v = v, b->radius = far + d->radius;
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

// World frames that nodes are held in at constant velocity move with them, as a kinematic body's motion
// starts anew from where it is put; keys and bodies go on as they did, and take their nodes back.
void tb_deformable_place(tbWorld* w, tbDeformable* d, const tbBodyState* s)
{
  tbVec3 centre = tb_bodies(w)[d->body].x;
  for (int i = 0; i < d->nhold; i++) {
    tbMotion* m = &d->hold[i].motion;
    if (d->hold[i].body >= 0 || m->nkey > 0) continue;
    tbTransform now = tb_motion_pose(w, m, w->time);
    now.x = tb_add3(s->position, tb_quat_rotate(s->orientation, tb_sub3(now.x, centre)));
    now.q = tb_quat_normalize(tb_quat_mul(s->orientation, now.q));
    m->initial = tb_motion_start(w, now, m->v, m->w);
  }
  for (int i = 0; i < d->fem->nnode; i++) {
    tbVec3 arm = tb_quat_rotate(s->orientation, tb_sub3(d->x[i], centre));
    d->x[i] = tb_add3(s->position, arm);
    d->v[i] = tb_add3(s->velocity, tb_cross3(s->angular_velocity, arm));
  }
  tb_deformable_follow(w, d);
}
