// SPDX-License-Identifier: Apache-2.0
// Worlds as they were, in memory: the bytes of a checkpoint's world.
#include "io/checkpoint/checkpoint.h"

#include "scene/world.h"

struct tbSnapshot {
  tbOut out;
  void *world_user, **user; // what the caller kept with the world, its bodies, then its joints
};

static tbStatus note_users(tbContext* ctx, const tbWorld* w, tbSnapshot* s)
{
  size_t nbody = w->body.count, njoint = w->joint.count;
  s->world_user = w->user;
  s->user = TB_NEW(ctx, void*, nbody + njoint);
  if (!s->user) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < nbody; i++) s->user[i] = tb_bodies(w)[i].user;
  for (size_t i = 0; i < njoint; i++) s->user[nbody + i] = tb_joints(w)[i].user;
  return TB_OK;
}

tbStatus tb_world_snapshot(tbContext* ctx, const tbWorld* w, tbSnapshot** out)
{
  tbSnapshot* s = TB_NEW(ctx, tbSnapshot, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->out = tb_out_memory(ctx);
  tbCodec c = tb_codec_writer(ctx, "a snapshot", &s->out);
  tbWorld copy = *w; // writing only reads it
  tb_code_world_and_state(&c, &copy);
  tbStatus status = c.status == TB_OK ? tb_out_finish(&s->out) : c.status;
  if (status == TB_OK) status = note_users(ctx, w, s);
  if (status == TB_OK) *out = s;
  else tb_snapshot_free(ctx, s);
  return status;
}

void tb_snapshot_free(tbContext* ctx, tbSnapshot* s)
{
  if (!s) return;
  s->out.ctx = ctx;
  tb_out_free(&s->out);
  tb_free(ctx, s->user);
  tb_free(ctx, s);
}

size_t tb_snapshot_bytes(const tbSnapshot* s) { return s->out.length; }

static void keep_users(const tbSnapshot* s, tbWorld* then)
{
  size_t nbody = then->body.count, njoint = then->joint.count;
  then->user = s->world_user;
  for (size_t i = 0; i < nbody; i++) tb_bodies(then)[i].user = s->user[i];
  for (size_t i = 0; i < njoint; i++) tb_joints(then)[i].user = s->user[nbody + i];
}

// Ids handed out since then must not come again for something else.
static tbStatus keep_ids(tbContext* ctx, const tbWorld* now, tbWorld* then)
{
  TB_TRY(tb_ids_room(ctx, &then->body_ids, &now->body_ids));
  TB_TRY(tb_ids_room(ctx, &then->joint_ids, &now->joint_ids));
  TB_TRY(tb_ids_room(ctx, &then->material_ids, &now->material_ids));
  tb_ids_outlive(&then->body_ids, &now->body_ids);
  tb_ids_outlive(&then->joint_ids, &now->joint_ids);
  tb_ids_outlive(&then->material_ids, &now->material_ids);
  then->layout = now->layout + 1;
  return TB_OK;
}

tbStatus tb_world_restore(tbContext* ctx, tbWorld* w, const tbSnapshot* s)
{
  tbWorldDef def = tb_default_world_def();
  tbWorld* then;
  TB_TRY(tb_world_create(ctx, &def, &then));
  tbCodec c = tb_codec_reader(ctx, "a snapshot", s->out.bytes, s->out.length);
  tb_code_world_and_state(&c, then);
  tbStatus status = c.status;
  if (status == TB_OK) keep_users(s, then), status = keep_ids(ctx, w, then);
  if (status == TB_OK) { // it takes the place of what there was, which goes in its stead
    tbWorld now = *w;
    *w = *then, *then = now;
  }
  tb_world_free(ctx, then);
  return status;
}
