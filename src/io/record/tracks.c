// SPDX-License-Identifier: Apache-2.0
#include "io/record/tracks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_BYTES = 1 << 24 };

static tbStatus lay_out(tbContext* ctx, const tbWorld* w, tbTracks* t)
{
  tbDrawing* d = &t->drawing;
  t->moving = TB_TAKE(&d->arena, int, (size_t)d->nbody);
  if (!t->moving) return TB_ERROR_MEMORY;
  for (int i = 0; i < d->nbody; i++)
    if (tb_body_moves(w, tb_world_body_at(w, i))) t->moving[t->nmoving++] = i;
  size_t n = (size_t)t->nmoving;
  t->first = tb_arena_take(&d->arena, n, sizeof *t->first);
  t->last = tb_arena_take(&d->arena, n, sizeof *t->last);
  t->shifts = TB_TAKE(&d->arena, uint8_t, n);
  t->turns = TB_TAKE(&d->arena, uint8_t, n);
  t->surface_at = TB_TAKE(&d->arena, size_t, d->surface.count);
  if (!t->first || !t->last || !t->shifts || !t->turns || !t->surface_at) return TB_ERROR_MEMORY;
  t->frame_bytes = sizeof(double) + n * sizeof *t->first;
  for (size_t i = 0; i < d->surface.count; i++) {
    t->surface_at[i] = t->frame_bytes;
    t->frame_bytes += (size_t)tb_draw_surfaces(d)[i].nvertex * sizeof(float[3]);
  }
  t->buffer = TB_NEW(ctx, char, t->frame_bytes);
  return t->buffer ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_tracks_begin(tbContext* ctx, const char* path, const tbWorld* w, tbTracks* out)
{
  *out = (tbTracks){.reader = -1, .spill.file.descriptor = -1};
  tbStatus status = tb_drawing_create(ctx, w, &out->drawing);
  if (status == TB_OK) status = lay_out(ctx, w, out);
  if (status == TB_OK) status = tb_growing_open(ctx, path, &out->spill);
  if (status == TB_OK && out->spill.file.direct)
    status = tb_fail(ctx, TB_ERROR_IO, "cannot write %s: it is not a file", path);
  if (status != TB_OK) tb_tracks_free(ctx, out);
  return status;
}

void tb_tracks_free(tbContext* ctx, tbTracks* t)
{
  if (t->reader >= 0) close(t->reader);
  if (t->spill.file.path) {
    tb_out_free(&t->spill.out);
    tb_file_abort(ctx, &t->spill.file);
  }
  tb_free(ctx, t->buffer);
  tb_drawing_free(ctx, &t->drawing);
  *t = (tbTracks){.reader = -1};
}

// Of q and −q, the same rotation, the one closer to the last frame's.
static void get_pose(const tbWorld* w, tbTracks* t, int i, float out[TB_TRACK])
{
  tbBodyState s = tb_body_state(w, tb_world_body_at(w, t->moving[i]));
  tbQuat q = tb_quat_normalize(s.orientation);
  const float* last = t->last[i] + TB_TRACK_TURN;
  double turned = t->frames == 0 ? 1 : q.w * last[0] + q.x * last[1] + q.y * last[2] + q.z * last[3];
  double sign = turned < 0 ? -1 : 1;
  const double pose[TB_TRACK] = {s.position.x, s.position.y, s.position.z, sign * q.w,
                                 sign * q.x,   sign * q.y,   sign * q.z};
  for (int k = 0; k < TB_TRACK; k++) out[k] = (float)pose[k];
}

tbStatus tb_tracks_add(tbTracks* t, const tbFrame* f)
{
  t->world = f->world;
  memcpy(t->buffer, &f->time, sizeof(double));
  for (int i = 0; i < t->nmoving; i++) {
    float pose[TB_TRACK];
    get_pose(f->world, t, i, pose);
    if (t->frames == 0) memcpy(t->first[i], pose, sizeof pose);
    for (int k = 0; k < TB_TRACK; k++)
      if (pose[k] != t->first[i][k]) (k < TB_TRACK_TURN ? t->shifts : t->turns)[i] = 1;
    memcpy(t->last[i], pose, sizeof pose);
  }
  memcpy(t->buffer + sizeof(double), t->last, (size_t)t->nmoving * sizeof *t->last);
  const tbDrawSurface* surfaces = tb_draw_surfaces(&t->drawing);
  for (size_t s = 0; s < t->drawing.surface.count; s++) {
    const tbVec3* x = tb_body_nodes(f->world, tb_world_body_at(f->world, surfaces[s].body));
    for (int v = 0; v < surfaces[s].nvertex; v++) {
      tbVec3 p = x[surfaces[s].node[v]];
      const float at[3] = {(float)p.x, (float)p.y, (float)p.z};
      memcpy(t->buffer + t->surface_at[s] + (size_t)v * sizeof at, at, sizeof at);
    }
  }
  tb_out_bytes(&t->spill.out, t->buffer, t->frame_bytes);
  t->frames++;
  return t->spill.out.status == TB_OK ? TB_OK : tb_out_finish(&t->spill.out);
}

tbStatus tb_tracks_complete(tbContext* ctx, tbTracks* t)
{
  TB_TRY(tb_out_finish(&t->spill.out));
  t->reader = open(t->spill.file.temp, O_RDONLY | O_CLOEXEC);
  if (t->reader >= 0) return TB_OK;
  return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: %s", t->spill.file.temp, strerror(errno));
}

static tbStatus read_at(tbContext* ctx, const tbTracks* t, int64_t frame, size_t at, void* to, size_t count)
{
  off_t offset = (off_t)frame * (off_t)t->frame_bytes + (off_t)at;
  for (size_t done = 0; done < count;) {
    ssize_t got = pread(t->reader, (char*)to + done, count - done, offset + (off_t)done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: %s", t->spill.file.temp,
                     got < 0 ? strerror(errno) : "cut short");
    done += (size_t)got;
  }
  return TB_OK;
}

tbStatus tb_tracks_time(tbContext* ctx, const tbTracks* t, int64_t frame, double* out)
{
  return read_at(ctx, t, frame, 0, out, sizeof *out);
}

// How many bodies to read at a time: a few megabytes, at least one.
static int batch_of(const tbTracks* t)
{
  double fit = (double)BATCH_BYTES / ((double)t->frames * sizeof *t->first);
  return fit < 1 ? 1 : fit > t->nmoving ? t->nmoving : (int)fit;
}

// Poses of `count` bodies from moving[first] on: out[frame · count + body].
static tbStatus read_poses(tbContext* ctx, const tbTracks* t, int first, int count, float (*out)[TB_TRACK])
{
  size_t at = sizeof(double) + (size_t)first * sizeof *out, bytes = (size_t)count * sizeof *out;
  for (int64_t f = 0; f < t->frames; f++) TB_TRY(read_at(ctx, t, f, at, out + f * count, bytes));
  return TB_OK;
}

tbStatus tb_tracks_each(tbContext* ctx, const tbTracks* t, tbTrackVisit* visit, void* user)
{
  int batch = batch_of(t);
  float(*pose)[TB_TRACK] = tb_alloc(ctx, (size_t)t->frames * (size_t)batch, sizeof *pose);
  tbStatus status = pose ? TB_OK : TB_ERROR_MEMORY;
  for (int first = 0; first < t->nmoving && status == TB_OK; first += batch) {
    int count = t->nmoving - first < batch ? t->nmoving - first : batch;
    status = read_poses(ctx, t, first, count, pose);
    for (int i = 0; i < count && status == TB_OK; i++)
      status = visit(ctx, user, first + i, (const float(*)[TB_TRACK])(pose + i), count);
  }
  tb_free(ctx, pose);
  return status;
}

tbStatus tb_tracks_surface(tbContext* ctx, const tbTracks* t, int surface, int64_t frame, float (*out)[3])
{
  size_t bytes = (size_t)tb_draw_surfaces(&t->drawing)[surface].nvertex * sizeof *out;
  return read_at(ctx, t, frame, t->surface_at[surface], out, bytes);
}
