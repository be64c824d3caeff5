// SPDX-License-Identifier: Apache-2.0
// Objectives: read once, then scenes of any numbers and the losses of their runs.
#include "gradient/objective.h"

#include "base/decimal.h"
#include "base/file.h"
#include "io/scene/source.h"
#include "scene/kind.h"
#include "tribo/change.h"

#include <math.h>
#include <string.h>

static const double TIGHT = 1e-11; // m/s
enum { TIGHT_ITERATIONS = 1000 };

static char* copy_text(tbArena* arena, const char* text, size_t length)
{
  char* copy = TB_TAKE(arena, char, length + 1);
  if (copy) memcpy(copy, text, length);
  return copy;
}

// NAME:x,y,z. A name may hold colons: the last one counts.
static tbStatus read_loss(tbContext* ctx, tbObjective* o, const tbScene* scene, const char* loss)
{
  const char *colon = loss ? strrchr(loss, ':') : NULL, *at = colon ? colon + 1 : NULL;
  double target[3];
  bool good = colon && colon > loss;
  for (int i = 0; good && i < 3; i++) {
    const char *stop = i < 2 ? strchr(at, ',') : at + strlen(at),
               *end = stop ? tb_read_double(at, stop, &target[i]) : NULL;
    good = stop && end == stop && isfinite(target[i]);
    if (good) at = stop + (i < 2);
  }
  if (!good)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the loss is NAME:x,y,z, a body and a point in metres; not \"%s\"",
                   loss ? loss : "");
  o->target = tb_load3(target);
  o->body = copy_text(&o->arena, loss, (size_t)(colon - loss));
  if (!o->body) return TB_ERROR_MEMORY;
  if (tb_world_find_body(scene->world, o->body).index >= 0) return TB_OK;
  tbNearest near = tb_nearest(o->body);
  for (int i = 0; i < tb_world_body_count(scene->world); i++)
    tb_nearest_offer(&near, tb_body_name(scene->world, tb_world_body_at(scene->world, i)));
  return near.name
             ? tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: the loss: no body is called \"%s\"; did you mean \"%s\"?",
                       o->name, o->body, near.name)
             : tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: the loss: no body is called \"%s\"", o->name, o->body);
}

static tbStatus read_parameters(tbContext* ctx, tbObjective* o, const tbScene* scene, const char* wrt)
{
  for (const char* at = wrt ? wrt : ""; *at;) {
    size_t length = strcspn(at, ",");
    char* name = copy_text(&o->arena, at, length);
    if (!name) return TB_ERROR_MEMORY;
    if (length > 0) TB_TRY(tb_address_find(ctx, o, scene, name));
    at += length + (at[length] == ',');
  }
  for (size_t i = 0; i < o->address.count; i++)
    for (size_t k = 0; k < i; k++) {
      const tbAddress *a = &tb_addresses(o)[i], *b = &tb_addresses(o)[k];
      bool same = strcmp(a->face.name, b->face.name) == 0;
      if (same || (a->slot >= 0 && a->slot == b->slot && (a->element < 0 || b->element < 0)))
        return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: \"%s\" and \"%s\" name the same number", o->name,
                       b->face.name, a->face.name);
    }
  if (o->size == 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "name the parameters: NAME.velocity, NAME.mass, MATERIAL.friction …, separated by commas");
  return TB_OK;
}

static tbStatus fill(tbContext* ctx, tbObjective* o, const char* bytes, size_t length, const char* loss,
                     const char* wrt)
{
  tbScene scene;
  TB_TRY(tb_scene_parse(ctx, o->name, bytes, length, o->folder, &scene));
  tbStatus status = tb_json_parse(ctx, &o->arena, o->name, bytes, length, &o->root);
  o->step = scene.step, o->time = scene.time;
  if (status == TB_OK) status = read_loss(ctx, o, &scene, loss);
  if (status == TB_OK) status = read_parameters(ctx, o, &scene, wrt);
  tb_scene_free(ctx, &scene);
  return status;
}

tbStatus tb_objective_parse(tbContext* ctx, const char* name, const char* bytes, size_t length,
                            const char* folder, const char* loss, const char* wrt, tbObjective** out)
{
  tbObjective* o = TB_NEW(ctx, tbObjective, 1);
  if (!o) return TB_ERROR_MEMORY;
  tb_arena_init(&o->arena, ctx);
  o->slot = TB_ARRAY(tbSlot), o->address = TB_ARRAY(tbAddress);
  o->name = copy_text(&o->arena, name, strlen(name));
  o->folder = folder ? copy_text(&o->arena, folder, strlen(folder)) : NULL;
  tbStatus status =
      !o->name || (folder && !o->folder) ? TB_ERROR_MEMORY : fill(ctx, o, bytes, length, loss, wrt);
  if (status == TB_OK) *out = o;
  else tb_objective_free(ctx, o);
  return status;
}

tbStatus tb_objective_load(tbContext* ctx, const char* path, const char* loss, const char* wrt,
                           tbObjective** out)
{
  tbSceneSource source;
  tbStatus status = tb_scene_source_read(ctx, path, &source);
  if (status == TB_OK)
    status = tb_objective_parse(ctx, path, source.bytes, source.length, source.folder, loss, wrt, out);
  tb_scene_source_free(ctx, &source);
  return status;
}

void tb_objective_free(tbContext* ctx, tbObjective* o)
{
  if (!o) return;
  tb_array_free(ctx, &o->slot);
  tb_array_free(ctx, &o->address);
  o->arena.ctx = ctx;
  tb_arena_free(&o->arena);
  tb_free(ctx, o);
}

tbStepOptions* tb_objective_options(tbObjective* o) { return &o->step; }
double* tb_objective_time(tbObjective* o) { return &o->time; }

int64_t tb_objective_steps(const tbObjective* o)
{
  double wanted = ceil(o->time / o->step.dt - 1e-6);
  return wanted < 1 ? 0 : (int64_t)fmin(wanted, 1e12);
}

int tb_objective_parameter_count(const tbObjective* o) { return (int)o->address.count; }

tbParameter tb_objective_parameter(const tbObjective* o, int index)
{
  return index >= 0 && (size_t)index < o->address.count ? tb_addresses(o)[index].face : (tbParameter){0};
}

int tb_objective_size(const tbObjective* o) { return o->size; }
const char* tb_objective_body(const tbObjective* o) { return o->body; }
tbVec3 tb_objective_target(const tbObjective* o) { return o->target; }

void tb_objective_values(const tbObjective* o, double* values)
{
  for (size_t i = 0; i < o->address.count; i++) {
    const tbAddress* a = &tb_addresses(o)[i];
    memcpy(values + a->face.first, a->at, (size_t)a->face.count * sizeof(double));
  }
}

tbStatus tb_objective_print(tbContext* ctx, const tbObjective* o, const double* values, tbOut* out)
{
  for (size_t i = 0; i < o->address.count; i++)
    if (tb_addresses(o)[i].slot < 0)
      return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "%s: \"%s\" has no place in the file that could be written",
                     o->name, tb_addresses(o)[i].face.name);
  tbJsonWriter w = tb_json_writer(out, 2);
  w.flat = 2;
  return tb_objective_write(o, values, &w);
}

// Bodies without a place in the file get their numbers from the world's own calls.
static tbStatus set_own(tbContext* ctx, tbWorld* w, const tbAddress* a, const double* x)
{
  tbBodyId id = tb_world_body_at(w, a->body);
  tbBodyState state = tb_body_state(w, id);
  if (a->own == TB_OWN_MASS) return tb_body_set_mass(ctx, w, id, x[0], NULL);
  if (a->own == TB_OWN_POSITION) state.position = tb_load3(x);
  if (a->own == TB_OWN_VELOCITY) state.velocity = tb_load3(x);
  if (a->own == TB_OWN_SPIN) state.angular_velocity = tb_load3(x);
  return tb_body_set_state(ctx, w, id, &state);
}

tbStatus tb_objective_scene(tbContext* ctx, const tbObjective* o, const double* values, tbScene* out)
{
  for (int i = 0; i < o->size; i++)
    if (!isfinite(values[i])) return tb_fail(ctx, TB_ERROR_ARGUMENT, "parameter %d is %g", i, values[i]);
  tbOut text = tb_out_memory(ctx);
  tbJsonWriter w = tb_json_writer(&text, 0);
  tbScene scene = {0};
  tbStatus status = tb_objective_write(o, values, &w);
  if (status == TB_OK) status = tb_scene_parse(ctx, o->name, text.bytes, text.length, o->folder, &scene);
  tb_out_free(&text);
  for (size_t i = 0; i < o->address.count && status == TB_OK; i++) {
    const tbAddress* a = &tb_addresses(o)[i];
    if (a->slot < 0) status = set_own(ctx, scene.world, a, values + a->face.first);
  }
  scene.step = o->step, scene.time = o->time;
  if (status == TB_OK) *out = scene;
  else tb_scene_free(ctx, &scene);
  return status;
}

static const tbAddress* address_of(const tbObjective* o, int i)
{
  const tbAddress* a = tb_addresses(o);
  while (i >= a->face.first + a->face.count) a++;
  return a;
}

bool tb_objective_is_initial(const tbObjective* o, int i) { return address_of(o, i)->initial; }

// Far enough for rounding, near enough for what is cut off: a hundred-thousandth of the number.
double tb_objective_reach(const tbObjective* o, const double* values, int i)
{
  const tbAddress* a = address_of(o, i);
  double size = 0;
  for (int k = 0; k < a->face.count; k++) size = fmax(size, fabs(values[a->face.first + k]));
  return 1e-5 * (a->face.scalar && size > 0 ? size : fmax(size, 1));
}

tbVec3 tb_objective_position(const tbObjective* o, const tbWorld* w)
{
  return tb_body_state(w, tb_world_find_body(w, o->body)).position;
}

double tb_objective_measure(const tbObjective* o, const tbWorld* w)
{
  tbVec3 d = tb_sub3(tb_objective_position(o, w), o->target);
  return tb_dot3(d, d);
}

tbStepOptions tb_objective_tight(const tbObjective* o)
{
  tbStepOptions how = o->step;
  double* tolerance = &how.solver.velocity_tolerance;
  if (*tolerance > 0) *tolerance = fmin(*tolerance, TIGHT);
  how.newton_tolerance = fmin(how.newton_tolerance, TIGHT);
  if (how.solver.max_iterations > TIGHT_ITERATIONS) how.solver.max_iterations = TIGHT_ITERATIONS;
  return how;
}

tbStatus tb_objective_step(tbContext* ctx, const tbStepOptions* how, tbExact* exact, bool replay, tbWorld* w)
{
  if (!exact) return tb_world_step(ctx, w, how, NULL);
  tb_exact_step(exact, replay);
  w->cache->answers = &exact->answers;
  tbStatus status = tb_world_step(ctx, w, how, NULL);
  w->cache->answers = NULL;
  return status;
}

// Schemes that relax the contact law solve problems of their own.
bool tb_objective_is_relaxed(const tbObjective* o)
{
  static const char* const relaxed[] = {"primal", "xpbd", "vbd", "avbd", "penalty"};
  for (size_t i = 0; i < sizeof relaxed / sizeof *relaxed; i++)
    if (strcmp(o->step.scheme, relaxed[i]) == 0) return true;
  return false;
}

bool tb_objective_is_iterated(const tbObjective* o) { return strcmp(o->step.scheme, "ipc") == 0; }

tbStatus tb_objective_takes_scheme(tbContext* ctx, const tbObjective* o)
{
  if (strcmp(o->step.scheme, "soft-step") != 0) return TB_OK;
  return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                 "no derivatives: the scheme soft-step computes in floats, and differences of its steps are "
                 "rounding; take semi-implicit or primal");
}

tbStatus tb_objective_loss(tbContext* ctx, const tbObjective* o, const double* values, double* loss)
{
  tbScene scene;
  TB_TRY(tb_objective_scene(ctx, o, values, &scene));
  tbStatus status = TB_OK;
  int64_t steps = tb_objective_steps(o);
  for (int64_t i = 0; i < steps && status == TB_OK; i++)
    status = tb_world_step(ctx, scene.world, &o->step, NULL);
  if (status == TB_OK) *loss = tb_objective_measure(o, scene.world);
  tb_scene_free(ctx, &scene);
  return status;
}

tbStatus tb_objective_beside(tbContext* ctx, const tbObjective* o, const double* values, int i, double offset,
                             tbScene* out)
{
  double* x = TB_NEW(ctx, double, (size_t)o->size);
  if (!x) return TB_ERROR_MEMORY;
  memcpy(x, values, (size_t)o->size * sizeof(double));
  x[i] += offset;
  tbStatus status = tb_objective_scene(ctx, o, x, out);
  tb_free(ctx, x);
  return status;
}
