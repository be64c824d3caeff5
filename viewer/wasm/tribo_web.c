// SPDX-License-Identifier: Apache-2.0
// A world in a page: opened from text, stepped, changed while it runs, held by the pointer.
#include "web.h"

#include "tribo/tools/clock.h"
#include "tribo/tools/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

Web web = {.friction_scale = 1, .friction_mu = -1, .held = -1};

// Texts and memory.

tbStatus web_room(void* block, size_t* room, size_t bytes)
{
  void** pointer = block;
  if (bytes <= *room) return TB_OK;
  bytes += bytes / 2;
  void* grown = malloc(bytes);
  if (!grown) return tb_fail(&web.ctx, TB_ERROR_MEMORY, "out of memory: %zu bytes", bytes);
  free(*pointer);
  *pointer = grown, *room = bytes;
  return TB_OK;
}

// Where to write the next call's text or numbers; null: no memory for so many bytes.
WEB(char*, web_in, size_t bytes)
{
  if (web_room(&web.in, &web.in_size, bytes + 1) != TB_OK) return NULL;
  web.in[bytes] = 0;
  return web.in;
}

tbOut* web_out_begin(void)
{
  tb_out_free(&web.out);
  web.out = tb_out_memory(&web.ctx);
  return &web.out;
}

WEB(const char*, web_out, void) { return web.out.bytes; }
WEB(size_t, web_out_length, void) { return web.out.length; }
WEB(const char*, web_error, void) { return web.ctx.error.message; }
WEB(const WebViews*, web_views, void) { return &web.views; }

// A file that a scene may name: its path, a zero, its bytes.
WEB(tbStatus, web_file, size_t length)
{
  size_t path = strlen(web.in) + 1;
  if (path <= length && web_file_put(web.in, web.in + path, length - path)) return TB_OK;
  return tb_fail(&web.ctx, TB_ERROR_MEMORY, "out of memory: a file of %zu bytes", length);
}

// A scene of the gallery as text, from as many numbers as it can have parameters. Its meshes become files.
WEB(tbStatus, web_gallery, int index)
{
  double values[TB_GALLERY_PARAMETERS];
  const tbGalleryScene* scene = tb_gallery_at(index);
  if (!scene) return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "the gallery has no such scene");
  memcpy(values, web.in, sizeof values);
  TB_TRY(tb_gallery_save(&web.ctx, scene, values, "./gallery.json"));
  char* bytes = NULL;
  size_t length = 0;
  TB_TRY(tb_read_file(&web.ctx, "./gallery.json", SIZE_MAX / 4, &bytes, &length));
  tbOut* out = web_out_begin();
  tb_out_bytes(out, bytes, length);
  tb_free(&web.ctx, bytes);
  return tb_out_finish(out);
}

// Opening.

tbStatus web_need_world(void)
{
  return web.scene.world ? TB_OK : tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "no scene is open");
}

// Bodies of the old world go on in the new one, where it has one of the same name and kind.
static void keep_states(tbWorld* to, const tbWorld* from)
{
  for (int i = 0; i < tb_world_body_count(from); i++) {
    tbBodyId old = tb_world_body_at(from, i), new = tb_world_find_body(to, tb_body_name(from, old));
    if (new.index < 0 || tb_body_mass(to, new) == 0 || tb_body_mass(from, old) == 0) continue;
    int nodes = tb_body_node_count(from, old);
    if (nodes != tb_body_node_count(to, new)) continue;
    tbBodyState state = tb_body_state(from, old);
    if (nodes)
      tb_body_set_nodes(&web.ctx, to, new, tb_body_nodes(from, old), tb_body_node_velocities(from, old));
    else tb_body_set_state(&web.ctx, to, new, &state);
  }
}

typedef enum { OPEN_FRESH, OPEN_KEEP, OPEN_RESET } OpenMode;

static void close_world(void)
{
  tb_scene_free(&web.ctx, &web.scene);
  web_original_free(web.original);
  web.scene = (tbScene){0}, web.original = NULL;
}

// Where the edits of the old world cannot be made in the new one, neither is touched.
static tbStatus adopt(tbScene* scene, WebOriginal* original, OpenMode mode)
{
  double scale = mode == OPEN_FRESH ? 1 : web.friction_scale, mu = mode == OPEN_FRESH ? -1 : web.friction_mu;
  TB_TRY(web_edit_friction(&web.ctx, scene->world, original, scale, mu));
  if (mode != OPEN_FRESH && web.scene.world)
    TB_TRY(web_edit_masses(&web.ctx, scene->world, original, web.scene.world, web.original));
  web.friction_scale = scale, web.friction_mu = mu;
  if (mode == OPEN_KEEP && web.scene.world) keep_states(scene->world, web.scene.world);
  if (mode == OPEN_RESET && web.scene.world) scene->step = web.scene.step;
  close_world();
  web.scene = *scene, web.original = original;
  web.held = -1;
  memset(web.report, 0, sizeof web.report);
  return TB_OK;
}

static tbStatus open_text(const char* name, const char* text, size_t length, OpenMode mode)
{
  tbScene scene = {0};
  TB_TRY(tb_scene_parse(&web.ctx, name, text, length, ".", &scene));
  WebOriginal* original = web_original(scene.world);
  char* copy = malloc(length + 1);
  if (!original || !copy) {
    tb_scene_free(&web.ctx, &scene);
    web_original_free(original);
    free(copy);
    return tb_fail(&web.ctx, TB_ERROR_MEMORY, "out of memory: a scene of %zu bytes", length);
  }
  memcpy(copy, text, length);
  tbStatus status = adopt(&scene, original, mode);
  if (status != TB_OK) {
    tb_scene_free(&web.ctx, &scene);
    web_original_free(original);
    free(copy);
    return status;
  }
  free(web.text);
  web.text = copy, web.text_length = length;
  return web_frame();
}

// A name, a zero, a scene's text. Only when all is well does the world that was there go.
WEB(tbStatus, web_open, size_t length, int keep)
{
  size_t name = strlen(web.in) + 1;
  if (name > length) return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "a scene needs a text");
  return open_text(web.in, web.in + name, length - name, keep ? OPEN_KEEP : OPEN_FRESH);
}

WEB(tbStatus, web_reset, void)
{
  TB_TRY(web_need_world());
  char name[128];
  snprintf(name, sizeof name, "%s", web.scene.name);
  return open_text(name, web.text, web.text_length, OPEN_RESET);
}

// Moving.

static void report_step(const tbStepReport* r, double ms)
{
  const tbWorld* w = web.scene.world;
  tbEnergy e = tb_world_energy(w);
  double* out = web.report;
  *out++ = (double)tb_world_step_count(w), *out++ = tb_world_time(w), *out++ = ms;
  *out++ = r->outcome, *out++ = r->iterations, *out++ = r->contacts;
  const tbResidual* s = &r->residual;
  *out++ = s->fclib, *out++ = s->natural_map, *out++ = s->model, *out++ = s->absolute;
  *out++ = s->penetration, *out++ = s->cone, *out++ = s->complementarity, *out++ = s->dissipation;
  *out++ = s->velocity, *out++ = s->model_velocity;
  *out++ = r->penetration, *out++ = r->rounds, *out++ = r->trimmed, *out++ = (double)r->intersections;
  *out++ = e.kinetic, *out++ = e.potential, *out++ = e.elastic;
  for (int i = 0; i < TB_PHASE_COUNT; i++) *out++ = 1e3 * r->phase_s[i];
  web.views.used = r->used;
}

WEB(tbStatus, web_step, int count)
{
  TB_TRY(web_need_world());
  tbWorld* w = web.scene.world;
  tbStatus status = TB_OK;
  for (int i = 0; i < count && status == TB_OK; i++) {
    tbStepReport report = {0};
    double begun = tb_seconds();
    if (web.held >= 0) status = tb_grip_pull(&web.ctx, w, &web.grip, web.scene.step.dt);
    if (web.scene.step.certify < 0) web.scene.step.certify = 1;
    if (status == TB_OK) status = tb_world_step(&web.ctx, w, &web.scene.step, &report);
    if (status == TB_OK) report_step(&report, 1e3 * (tb_seconds() - begun));
  }
  if (status == TB_OK) return web_frame();
  tbError first = web.ctx.error;
  web_frame(); // what was done before the step that failed
  web.ctx.error = first;
  return status;
}

WEB(tbStatus, web_hash, void)
{
  TB_TRY(web_need_world());
  char hash[24];
  snprintf(hash, sizeof hash, "%016" PRIx64, tb_world_hash(web.scene.world));
  tb_out_text(web_out_begin(), hash);
  return tb_out_finish(&web.out);
}

// Changing.

WEB(tbStatus, web_friction, double scale, double mu)
{
  TB_TRY(web_need_world());
  if (!(scale >= 0 && scale <= 1e6 && mu <= 1e6))
    return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "friction must be between 0 and 1e6");
  TB_TRY(web_edit_friction(&web.ctx, web.scene.world, web.original, scale, mu));
  web.friction_scale = scale, web.friction_mu = mu;
  return TB_OK;
}

WEB(tbStatus, web_mass, int body, double ratio)
{
  TB_TRY(web_need_world());
  return web_edit_mass(&web.ctx, web.scene.world, web.original, body, ratio);
}

// position, orientation, velocity, angular velocity: 13 numbers, NaN for those that stay
WEB(tbStatus, web_place, int body)
{
  TB_TRY(web_need_world());
  tbBodyState s = tb_body_state(web.scene.world, tb_world_body_at(web.scene.world, body));
  double now[13] = {s.position.x,        s.position.y,    s.position.z,         s.orientation.w,
                    s.orientation.x,     s.orientation.y, s.orientation.z,      s.velocity.x,
                    s.velocity.y,        s.velocity.z,    s.angular_velocity.x, s.angular_velocity.y,
                    s.angular_velocity.z},
         asked[13];
  memcpy(asked, web.in, sizeof asked);
  for (int i = 0; i < 13; i++)
    if (!isnan(asked[i])) now[i] = asked[i];
  s = (tbBodyState){tb_load3(now), {now[3], now[4], now[5], now[6]}, tb_load3(now + 7), tb_load3(now + 10)};
  TB_TRY(tb_body_set_state(&web.ctx, web.scene.world, tb_world_body_at(web.scene.world, body), &s));
  return web_frame();
}

// Holding.

WEB(tbStatus, web_hold, int body, double px, double py, double pz, double tx, double ty, double tz)
{
  TB_TRY(web_need_world());
  tbVec3 point = tb_vec3(px, py, pz), target = tb_vec3(tx, ty, tz);
  if (!isfinite(tb_norm3(target))) return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "a point must be finite");
  TB_TRY(tb_grip_begin(&web.ctx, web.scene.world, tb_world_body_at(web.scene.world, body), point, &web.grip));
  web.held = body, web.grip.target = target;
  return TB_OK;
}

WEB(void, web_hold_move, double x, double y, double z)
{
  if (isfinite(x) && isfinite(y) && isfinite(z)) web.grip.target = tb_vec3(x, y, z);
}

WEB(void, web_release, void) { web.held = -1; }

WEB(int, web_held, void) { return web.held; }

// Its place: three numbers where web_in says.
WEB(const double*, web_held_at, void)
{
  double* at = (double*)web_in(3 * sizeof(double));
  if (!at || web.held < 0) return NULL;
  tb_store3(at, tb_grip_point(web.scene.world, &web.grip));
  return at;
}
