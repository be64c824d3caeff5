// SPDX-License-Identifier: Apache-2.0
// A picture: the subject takes the frame's poses, lights look, triangles become samples and samples pixels,
// then contacts and text go over them.
#include "render/marks.h"
#include "render/scene.h"
#include "tribo/render.h"

#include "base/memory.h"

static const double orbit_speed = 0.2; // rad/s

struct tbRenderer {
  tbReplay* replay;
  tbRenderOptions options;
  tbSubject subject;
  tbScope scope;
  tbLighting lighting;
  tbStage stage;
  tbHistory history;
  double start;  // time of the first frame
  tbArray place; // tbMarkPlace
  tbArena arena;
};

tbRenderOptions tb_default_render_options(void)
{
  return (tbRenderOptions){
      .width = 1280, .height = 720, .samples = 3, .contacts = true, .overlay = true, .last = -1};
}

static bool sane(tbVec3 v) { return tb_maxabs3(v) < 1e30; }

static tbStatus check(tbContext* ctx, const tbRenderOptions* o, int64_t frames)
{
  if (o->width < 16 || o->height < 16 || o->width > TB_RENDER_SIZE || o->height > TB_RENDER_SIZE)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a picture has 16 to %d pixels in each direction", TB_RENDER_SIZE);
  if (o->samples < 1 || o->samples > TB_RENDER_SAMPLES)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a pixel takes 1 to %d samples in each direction",
                   TB_RENDER_SAMPLES);
  if (o->camera == TB_CAMERA_FIXED &&
      (!sane(o->eye) || !sane(o->target) || !(tb_distance3(o->eye, o->target) > 0)))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the camera must look from one place to another");
  if (o->first < 0 || o->first >= frames || o->last >= frames || (o->last >= 0 && o->last < o->first))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the replay has frames 0 to %lld", (long long)(frames - 1));
  return TB_OK;
}

// 1, 2 or 5 times a power of ten, not above x.
static double round_down(double x)
{
  double power = 1;
  while (power > x && power > 1e-30) power /= 10;
  while (10 * power <= x) power *= 10;
  return (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1) * power;
}

// Pieces of instances, each with a mesh's corners of its own, within some tens of megabytes.
static int piece_count(int max_vertex)
{
  int most = (1 << 20) / (max_vertex > 0 ? max_vertex : 1);
  return most < 1 ? 1 : most < 16 ? most : 16;
}

static tbStatus set_stage(tbRenderer* r)
{
  const tbRenderOptions* o = &r->options;
  tbStage* s = &r->stage;
  bool draft = o->samples < 3; // a video: fewer lights too
  size_t pixels = (size_t)o->width * (size_t)o->height, samples = pixels * (size_t)(o->samples * o->samples);
  s->subject = &r->subject, s->lighting = &r->lighting, s->theme = tb_theme(o->dark);
  s->samples = o->samples, s->square = draft ? 2 : 1;
  s->raster = (tbRaster){o->width * o->samples, o->height * o->samples, TB_TAKE(&r->arena, float, samples),
                         TB_TAKE(&r->arena, int, samples)};
  s->nband = tb_piece_count(s->raster.height, TB_BAND);
  int longest = s->raster.width > s->raster.height ? s->raster.width : s->raster.height;
  s->at = TB_TAKE(&r->arena, double, (size_t)longest);
  for (int i = 0; s->at && i < longest; i++) s->at[i] = (i + 0.5) / o->samples;
  s->band = TB_TAKE(&r->arena, int, (size_t)s->nband + 1);
  s->plane = TB_TAKE(&r->arena, tbScreenPlane, (size_t)r->subject.nplane);
  s->npiece = piece_count(r->subject.max_vertex);
  s->screen = TB_TAKE_UNSET(&r->arena, tbVec3, (size_t)s->npiece * (size_t)r->subject.max_vertex);
  s->triangle = TB_TAKE_UNSET(&r->arena, tbScreenTriangle, (size_t)r->subject.ntriangle);
  s->range = TB_TAKE(&r->arena, tbScreenRange, (size_t)r->subject.ninstance);
  s->facet = TB_TAKE(&r->arena, tbFacet, (size_t)r->subject.ntriangle);
  s->posed = TB_TAKE(&r->arena, tbPosed, (size_t)r->subject.ninstance);
  s->color = TB_TAKE(&r->arena, tbVec3, (size_t)r->subject.nbody);
  s->rgb = TB_TAKE(&r->arena, float, 3 * pixels);
  s->depth = TB_TAKE(&r->arena, float, pixels);
  for (int i = 0; s->plane && i < r->subject.nplane; i++)
    if (!(s->plane[i].ground = TB_TAKE(&r->arena, tbGround, 1))) return TB_ERROR_MEMORY;
  if (!s->at || !s->raster.depth || !s->raster.triangle || !s->band || !s->plane || !s->screen ||
      !s->triangle || !s->range || !s->facet || !s->posed || !s->color || !s->rgb || !s->depth)
    return TB_ERROR_MEMORY;
  s->centre = r->scope.centre, s->reach = 14 * r->scope.radius, s->cell = round_down(r->scope.radius / 4);
  s->view = tb_view_make(&r->subject, &r->scope, o, 0);
  tb_stage_prepare(s);
  tbVec3 from = r->scope.from, level = tb_madd3(from, -tb_dot3(from, r->subject.up), r->subject.up);
  tbVec3 left = tb_cross3(level, r->subject.up); // as one sees it
  tbVec3 sun = tb_madd3(tb_madd3(tb_scale3(1.3, r->subject.up), 0.75, left), 0.62, level);
  return tb_lighting_create(&r->arena, &r->subject, tb_normalize3(sun), r->scope.centre,
                            1.7 * r->scope.radius, draft ? TB_SUNS / 2 : TB_SUNS,
                            o->width < o->height ? o->width : o->height, &r->lighting);
}

static tbStatus create(tbContext* ctx, tbRenderer* r)
{
  tbReplayFrame f;
  int64_t frames = tb_replay_frame_count(r->replay);
  TB_TRY(check(ctx, &r->options, frames));
  if (r->options.last < 0) r->options.last = frames - 1;
  TB_TRY(tb_subject_create(ctx, r->replay, &r->subject));
  TB_TRY(tb_scope_create(ctx, &r->subject, r->replay, r->options.first, r->options.last, &r->scope));
  TB_TRY(tb_history_create(ctx, &r->arena, r->replay, &r->subject, &r->history));
  TB_TRY(tb_replay_read(ctx, r->replay, r->options.first, &f));
  r->start = f.time;
  return set_stage(r);
}

tbStatus tb_renderer_create(tbContext* ctx, tbReplay* replay, tbRenderOptions options, tbRenderer** out)
{
  tbRenderer* r = TB_NEW(ctx, tbRenderer, 1);
  if (!r) return TB_ERROR_MEMORY;
  r->replay = replay, r->options = options;
  r->scope.ball = r->scope.outer = TB_ARRAY(tbBall), r->place = TB_ARRAY(tbMarkPlace);
  r->stage.cut_triangle = TB_ARRAY(tbScreenTriangle), r->stage.entry = TB_ARRAY(int);
  tb_arena_init(&r->arena, ctx);
  tbStatus status = create(ctx, r);
  if (status == TB_OK) *out = r;
  else tb_renderer_free(ctx, r);
  return status;
}

void tb_renderer_free(tbContext* ctx, tbRenderer* r)
{
  if (!r) return;
  tb_subject_free(&r->subject);
  tb_scope_free(ctx, &r->scope);
  tb_array_free(ctx, &r->place);
  tb_array_free(ctx, &r->stage.cut_triangle);
  tb_array_free(ctx, &r->stage.entry);
  tb_arena_free(&r->arena);
  tb_free(ctx, r);
}

static void to_bytes(int64_t count, const float* restrict shown, unsigned char* restrict out)
{
  for (int64_t i = 0; i < count; i++) out[i] = (unsigned char)(int)(255 * shown[i] + 0.5f);
}

tbStatus tb_renderer_draw(tbContext* ctx, tbRenderer* r, int64_t frame, unsigned char* rgb)
{
  const tbRenderOptions* o = &r->options;
  tbReplayFrame f;
  if (frame < 0 || frame >= tb_replay_frame_count(r->replay))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the replay has frames 0 to %lld",
                   (long long)(tb_replay_frame_count(r->replay) - 1));
  TB_TRY(tb_replay_read(ctx, r->replay, frame, &f));
  tb_subject_show(ctx->threads, &r->subject, &f);
  if (o->camera == TB_CAMERA_ORBIT)
    r->stage.view = tb_view_make(&r->subject, &r->scope, o, orbit_speed * (f.time - r->start));
  const tbView* view = &r->stage.view;
  tb_cut_away(&r->subject, view, &r->scope);
  r->stage.cut = (tbCut){view->forward, tb_dot3(view->forward, r->scope.centre)};
  tb_lighting_draw(ctx->threads, &r->lighting, &r->subject, &r->stage.cut);
  TB_TRY(tb_stage_rasterize(ctx, &r->stage));
  tb_stage_shade(ctx->threads, &r->stage);
  tbCanvas canvas = {o->width, o->height, r->stage.rgb, r->stage.depth, 0, o->height};
  tb_paint_cut(&canvas, view, r->stage.theme, &r->subject);
  if (o->contacts) {
    tb_paint_joints(&canvas, view, &r->scope, r->stage.theme, &r->subject);
    r->place.count = 0;
    TB_TRY(tb_array_push(ctx, &r->place, NULL, (size_t)f.contact_count));
    tb_paint_contacts(ctx->threads, &canvas, view, &r->scope, r->stage.theme, &f, r->place.data);
  }
  if (o->overlay) tb_paint_overlay(&canvas, &r->subject, r->stage.theme, &r->history, &f, o->contacts);
  to_bytes(3 * (int64_t)o->width * o->height, r->stage.rgb, rgb);
  return TB_OK;
}
