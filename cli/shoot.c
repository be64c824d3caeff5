// SPDX-License-Identifier: Apache-2.0
#include "tribo/tools/memory.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/render.h"

#include <limits.h>
#include <math.h>
#include <string.h>

Shooting shooting_default(void)
{
  return (Shooting){.options = tb_default_render_options(), .last = -1, .fps = 30, .speed = 1};
}

typedef struct {
  tbContext* ctx;
  tbReplay* replay;
  tbRenderer* renderer;
  const Shooting* shooting;
  unsigned char* rgb;
} Camera;

static tbStatus shoot_film(Camera* c, const char* path, int64_t first, int64_t last)
{
  tbReplayFrame f;
  tbFilm* film;
  const tbRenderOptions* o = &c->shooting->options;
  double fps = c->shooting->fps, speed = c->shooting->speed;
  TB_TRY(tb_replay_read(c->ctx, c->replay, first, &f));
  double begin = f.time;
  TB_TRY(tb_replay_read(c->ctx, c->replay, last, &f));
  // The frame nearest in time; half a step of slack, so that rounding does not repeat one and skip the next.
  double seconds = (f.time - begin) / speed, slack = 0.25 * speed / fps;
  int64_t count = (int64_t)floor(seconds * fps + 1e-6) + 1;
  TB_TRY(tb_film_begin(c->ctx, path, o->width, o->height, fps, &film));
  Progress progress = progress_begin(c->shooting->quiet, count);
  tbStatus status = TB_OK;
  for (int64_t i = 0; i < count && status == TB_OK && !interrupted(NULL); i++) {
    int64_t frame = 0;
    double time = begin + (double)i * speed / fps;
    status = tb_replay_find(c->ctx, c->replay, time + slack, &frame);
    frame = frame < first ? first : frame > last ? last : frame;
    if (status == TB_OK) status = tb_renderer_draw(c->ctx, c->renderer, frame, c->rgb);
    if (status == TB_OK) status = tb_film_frame(c->ctx, film, c->rgb);
    progress_show(&progress, i + 1, time - begin, 0);
  }
  progress_clear(&progress);
  return tb_film_end(c->ctx, film, status);
}

// name.png → name-0007.png
static tbStatus numbered(tbContext* ctx, const char* path, int64_t frame, char* out, size_t size)
{
  size_t length = strlen(path),
         stem = length > 4 && strcmp(path + length - 4, ".png") == 0 ? length - 4 : length;
  int written = snprintf(out, size, "%.*s-%04lld%s", (int)stem, path, (long long)frame, path + stem);
  if (written < 0 || (size_t)written >= size)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: a path too long", path);
  return TB_OK;
}

static tbStatus shoot_pictures(Camera* c, const char* path, bool series, int64_t first, int64_t last)
{
  const tbRenderOptions* o = &c->shooting->options;
  if (!series) {
    TB_TRY(tb_renderer_draw(c->ctx, c->renderer, last, c->rgb));
    return tb_png_save(c->ctx, path, o->width, o->height, c->rgb);
  }
  Progress progress = progress_begin(c->shooting->quiet, last - first + 1);
  for (int64_t i = first; i <= last && !interrupted(NULL); i++) {
    char name[PATH_MAX];
    TB_TRY(numbered(c->ctx, path, i, name, sizeof name));
    TB_TRY(tb_renderer_draw(c->ctx, c->renderer, i, c->rgb));
    TB_TRY(tb_png_save(c->ctx, name, o->width, o->height, c->rgb));
    progress_show(&progress, i - first + 1, 0, 0);
  }
  progress_clear(&progress);
  return TB_OK;
}

tbStatus shoot(tbContext* ctx, tbReplay* replay, const char* path, bool series, const Shooting* s)
{
  bool film = tb_film_path(path);
  Camera c = {ctx, replay, NULL, s, NULL};
  int64_t last = s->last < 0 ? tb_replay_frame_count(replay) - 1 : s->last;
  tbRenderOptions o = s->options;
  o.first = film || series ? s->first : last, o.last = last;
  TB_TRY(tb_renderer_create(ctx, replay, o, &c.renderer));
  c.rgb = TB_NEW(ctx, unsigned char, 3 * (size_t)o.width * (size_t)o.height);
  tbStatus status = c.rgb ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK)
    status = film ? shoot_film(&c, path, s->first, last) : shoot_pictures(&c, path, series, s->first, last);
  tb_free(ctx, c.rgb);
  tb_renderer_free(ctx, c.renderer);
  return status;
}
