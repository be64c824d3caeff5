// SPDX-License-Identifier: Apache-2.0
// Adding meshes in motion.
#include "kind/animated.h"

#include "tribo/change.h"

#include <string.h>

enum { MOST = 1 << 30 }; // vertices of all frames

tbAnimatedDef tb_default_animated_def(void)
{
  return (tbAnimatedDef){.orientation = tb_quat_identity(), .category = 1, .mask = UINT32_MAX};
}

tbStatus tb_animated_take(tbContext* ctx, int nvertex, int ntriangle, int nframe, tbAnimated** out)
{
  tbAnimated* a = TB_NEW(ctx, tbAnimated, 1);
  if (!a) return TB_ERROR_MEMORY;
  tb_arena_init(&a->arena, ctx);
  a->nvertex = nvertex, a->ntriangle = ntriangle, a->nframe = nframe;
  a->t = TB_TAKE(&a->arena, double, (size_t)nframe);
  a->at = TB_TAKE(&a->arena, tbVec3, (size_t)nframe * (size_t)nvertex);
  a->triangle = tb_arena_take(&a->arena, (size_t)ntriangle, sizeof *a->triangle);
  a->x = TB_TAKE(&a->arena, tbVec3, (size_t)nvertex), a->v = TB_TAKE(&a->arena, tbVec3, (size_t)nvertex);
  if (a->t && a->at && a->triangle && a->x && a->v) {
    *out = a;
    return TB_OK;
  }
  tb_animated_free(ctx, a);
  return TB_ERROR_MEMORY;
}

tbStatus tb_animated_finish(tbContext* ctx, tbAnimated* a)
{
  return tb_surface_mesh_create(ctx, a->at, a->nvertex, (const int(*)[3])a->triangle, a->ntriangle,
                                &a->surface);
}

void tb_animated_free(tbContext* ctx, tbAnimated* a)
{
  if (!a) return;
  tb_surface_mesh_free(ctx, a->surface);
  a->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&a->arena);
  tb_free(ctx, a);
}

static tbStatus check_place(tbContext* ctx, const char* name, int frame, int vertex, tbVec3 x)
{
  if (tb_finite3(x) && tb_maxabs3(x) < 1e30) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "vertex %d of frame %d of %s is not finite, or beyond 1e30", vertex,
                 frame, name);
}

static tbStatus check_frames(tbContext* ctx, const char* name, const double* times, const tbVec3* vertices,
                             int frames, int nvertex)
{
  if (nvertex < 3 || frames < 1 || !times || !vertices)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s needs a frame at least, and three vertices", name);
  if (nvertex > MOST / frames) return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has too many frames", name);
  for (int i = 0; i < frames; i++) {
    if (!isfinite(times[i]) || (i > 0 && !(times[i] > times[i - 1])))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "the times of the frames of %s must increase", name);
    for (int k = 0; k < nvertex; k++)
      TB_TRY(check_place(ctx, name, i, k, vertices[(size_t)i * (size_t)nvertex + (size_t)k]));
  }
  return TB_OK;
}

static tbStatus check_triangles(tbContext* ctx, const tbAnimatedDef* d, const char* name)
{
  if (d->triangle_count < 1 || !d->triangles)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no triangles", name);
  if (d->triangle_count > INT32_MAX / 16)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has too many triangles", name);
  for (int i = 0; i < d->triangle_count; i++) {
    const int* t = d->triangles[i];
    for (int k = 0; k < 3; k++)
      if (t[k] < 0 || t[k] >= d->vertex_count || t[k] == t[(k + 1) % 3])
        return tb_fail(
            ctx, TB_ERROR_ARGUMENT,
            "triangle %d of %s has the corners %d, %d and %d: they must be three of its %d vertices", i, name,
            t[0], t[1], t[2], d->vertex_count);
  }
  return TB_OK;
}

static tbStatus check(tbContext* ctx, const tbAnimatedDef* d, const char* name, tbQuat* q)
{
  TB_TRY(check_frames(ctx, name, d->times, d->vertices, d->frame_count, d->vertex_count));
  TB_TRY(check_triangles(ctx, d, name));
  TB_TRY(tb_state_check(ctx, name, d->position, q, d->velocity, d->angular_velocity));
  if (!(d->thickness >= 0) || !isfinite(d->thickness))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the thickness of %s must be zero or more", name);
  if (d->key_count < 0 || (d->key_count > 0 && !d->keys))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no motion keys", name);
  return tb_keys_check(ctx, name, d->keys, d->key_count);
}

static tbStatus make(tbContext* ctx, const tbAnimatedDef* d, tbAnimated** out)
{
  size_t vertices = (size_t)d->frame_count * (size_t)d->vertex_count;
  tbAnimated* a;
  TB_TRY(tb_animated_take(ctx, d->vertex_count, d->triangle_count, d->frame_count, &a));
  memcpy(a->t, d->times, (size_t)d->frame_count * sizeof *a->t);
  memcpy(a->at, d->vertices, vertices * sizeof *a->at);
  memcpy(a->triangle, d->triangles, (size_t)d->triangle_count * sizeof *a->triangle);
  a->radius = 0.5 * d->thickness;
  tbStatus status = tb_animated_finish(ctx, a);
  if (status == TB_OK) *out = a;
  else tb_animated_free(ctx, a);
  return status;
}

static tbStatus add(tbContext* ctx, tbWorld* w, const tbAnimatedDef* d, const char* name, int material,
                    tbQuat q, tbAnimated* own)
{
  tbBody b = {.kind = &tb_kind_animated,
              .own = own,
              .motion = TB_BODY_KINEMATIC,
              .x = d->position,
              .q = q,
              .v = d->velocity,
              .w = d->angular_velocity,
              .initial = tb_motion_start(w, tb_transform(q, d->position), d->velocity, d->angular_velocity),
              .shape = (int)w->shape.count,
              .material = material,
              .category = d->category,
              .mask = d->mask,
              .own_friction = d->friction,
              .own_contact_material = d->friction ? (int)w->contact_material.count : -1,
              .key = (int)w->key.count,
              .nkey = d->key_count};
  b.name = tb_names_keep(ctx, &w->names, name);
  if (!b.name) return TB_ERROR_MEMORY;
  tbBodyParts parts = {.friction = d->friction, .keys = d->keys, .key_count = d->key_count};
  TB_TRY(tb_body_append(ctx, w, &parts, &b));
  tbBody* added = &tb_bodies(w)[w->body.count - 1];
  if (d->key_count > 0) {
    tbTransform T = tb_motion_at(w, added, w->time);
    added->x = T.x, added->q = T.q, added->v = added->w = tb_zero3();
  }
  tb_animated_follow(w, added);
  return TB_OK;
}

tbStatus tb_world_add_animated(tbContext* ctx, tbWorld* w, const tbAnimatedDef* d, tbBodyId* out)
{
  char made[32];
  const char* name;
  int material;
  tbQuat q = d->orientation;
  tbAnimated* own;
  TB_TRY(tb_body_check(ctx, w, d->name, d->material, d->friction, made, &name, &material));
  TB_TRY(check(ctx, d, name, &q));
  TB_TRY(make(ctx, d, &own));
  tbStatus status = add(ctx, w, d, name, material, q, own);
  if (status != TB_OK) tb_animated_free(ctx, own);
  else if (out) *out = tb_world_body_at(w, (int)w->body.count - 1);
  return status;
}

tbStatus tb_body_set_frames(tbContext* ctx, tbWorld* w, tbBodyId id, const double* times,
                            const tbVec3* vertices, int count)
{
  int place;
  TB_TRY(tb_body_find(ctx, w, id, &place));
  tbBody* b = &tb_bodies(w)[place];
  if (b->kind != &tb_kind_animated)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is not an animated mesh and has no frames", b->name);
  tbAnimated *old = b->own, *a;
  TB_TRY(check_frames(ctx, b->name, times, vertices, count, old->nvertex));
  tbAnimatedDef d = {.vertex_count = old->nvertex,
                     .triangle_count = old->ntriangle,
                     .frame_count = count,
                     .triangles = (const int(*)[3])old->triangle,
                     .times = times,
                     .vertices = vertices,
                     .thickness = 2 * old->radius};
  TB_TRY(make(ctx, &d, &a));
  memcpy(a->x, old->x, (size_t)a->nvertex * sizeof *a->x); // from here it goes to where the frames say
  memcpy(a->v, old->v, (size_t)a->nvertex * sizeof *a->v);
  b->own = a;
  tb_animated_free(ctx, old);
  return TB_OK;
}
