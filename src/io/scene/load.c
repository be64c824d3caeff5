// SPDX-License-Identifier: Apache-2.0
// Scene files: JSON → the table's structs → a world and how to run it. Nothing reaches the caller before
// everything has been read and checked.
#include "base/file.h"
#include "io/problem/problem_io.h"
#include "io/scene/build.h"
#include "io/scene/set.h"
#include "io/scene/source.h"
#include "scene/world.h"

#include <string.h>

// ---- options ----

static tbStatus read_stabilization(tbContext* ctx, const tbSceneFile* f, tbStepOptions* o)
{
  const tbSceneStabilization* s = &f->scheme.stabilization;
  if (!s->node) return TB_OK;
  TB_TRY(tb_scene_exclude(ctx, s->node, "fraction", "erp"));
  TB_TRY(tb_scene_exclude(ctx, s->node, "compliance", "cfm"));
  if (tb_scene_given(s->node, "erp")) o->fraction = s->erp;
  if (tb_scene_given(s->node, "cfm")) o->compliance = s->cfm * f->dt * f->dt;
  return TB_OK;
}

static tbStatus read_model(tbContext* ctx, const tbSceneFile* f, const tbSolver* solver, tbModel* out)
{
  const tbJson* given = f->contact.node ? tb_json_find(f->contact.node, "model") : NULL;
  int model = 0;
  char list[100] = "";
  for (int m = TB_MODEL_COUNT - 1; m >= 0; m--)
    if (solver->models & 1u << m) model = m;
  *out = (tbModel)model;
  if (!given) return TB_OK;
  *out = f->contact.options.solver.model;
  if (solver->models & 1u << *out) return TB_OK;
  for (int m = 0; m < TB_MODEL_COUNT; m++)
    if (solver->models & 1u << m) tb_list_append(list, sizeof list, tb_model_name((tbModel)m));
  return tb_json_fail(ctx, given, "solver %s does not know the model %s; it knows %s", solver->name,
                      tb_model_name(*out), list);
}

// The scheme that is named; where none is, the first that moves everything in the file, and what deforms
// until nothing meets.
static const char* read_scheme(const tbSceneFile* f)
{
  const tbJson* node = f->scheme.node;
  if (node && (node->type != TB_JSON_OBJECT || tb_scene_given(node, "name"))) return f->scheme.options.scheme;
  unsigned moves = TB_MOVES_FRAMES |
                   (f->soft.count + f->cloth.count + f->animated.count > 0 ? TB_MOVES_NODES : 0) |
                   (f->reduced.count > 0 ? TB_MOVES_MODES : 0);
  for (int i = 0; i < tb_scheme_count(); i++)
    if ((tb_scheme_at(i)->moves & moves) == moves &&
        (moves == TB_MOVES_FRAMES || tb_scheme_at(i)->until_apart))
      return tb_scheme_at(i)->name;
  return f->scheme.options.scheme;
}

// Every option from the part of the file that it belongs to.
static void gather_options(const tbSceneFile* f, tbStepOptions* o)
{
  static const char* const groups[] = {"scheme.stabilization.", "scheme.", "solver.", "contact."};
  const tbStepOptions* const from[] = {&f->scheme.stabilization.options, &f->scheme.options,
                                       &f->solver.options, &f->contact.options};
  *o = tb_default_step_options();
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption option = tb_option_at(i);
    int g = 0;
    while (g < 4 && strncmp(option.key, groups[g], strlen(groups[g])) != 0) g++;
    if (g < 4) tb_option_copy(&option, from[g], o);
  }
}

static tbStatus read_options(tbContext* ctx, const tbSceneFile* f, tbStepOptions* o)
{
  gather_options(f, o);
  o->scheme = read_scheme(f);
  o->dt = f->dt;
  if (!f->solver.node || !tb_scene_given(f->solver.node, "seed")) o->solver.seed = (uint64_t)f->seed;
  TB_TRY(read_model(ctx, f, tb_solver_find(o->solver.solver), &o->solver.model));
  return read_stabilization(ctx, f, o);
}

// ---- materials ----

// stiffness and damping, or erp and cfm of the scene's step.
static tbStatus read_spring(tbSceneBuild* b, const tbJson* node, const tbSceneSpring* s, tbContactSpring* out)
{
  bool erp = tb_scene_given(node, "erp"), cfm = tb_scene_given(node, "cfm");
  const char* const own[] = {"stiffness", "damping"};
  for (int i = 0; i < 2; i++) {
    TB_TRY(tb_scene_exclude(b->ctx, node, own[i], "erp"));
    TB_TRY(tb_scene_exclude(b->ctx, node, own[i], "cfm"));
  }
  if (erp != cfm || (erp && !(s->erp > 0)))
    return tb_json_fail(b->ctx, tb_json_find(node, erp ? "erp" : "cfm"),
                        "a contact's erp, above 0, and its cfm belong together");
  *out = erp ? tb_contact_spring(b->file->dt, s->erp, s->cfm)
             : (tbContactSpring){.stiffness = s->stiffness, .damping = s->damping};
  out->coat = s->coat;
  return TB_OK;
}

static tbStatus add_materials(tbSceneBuild* b)
{
  const tbSceneMaterial* m = b->file->materials.items;
  for (int i = 0; i < b->file->materials.count; i++) {
    tbMaterialDef d = tb_default_material_def();
    d.name = m[i].node->key->text;
    d.density = m[i].density;
    d.restitution = m[i].restitution;
    if (tb_scene_errors_bad(b->errors, m[i].node)) continue;
    size_t noted = tb_scene_noted(b);
    if (m[i].friction) TB_TRY(tb_scene_note(b, tb_scene_friction(b, m[i].friction, &d.friction)));
    TB_TRY(tb_scene_note(b, read_spring(b, m[i].node, &m[i].spring, &d.spring)));
    if (tb_scene_noted(b) == noted)
      TB_TRY(tb_scene_note(
          b, tb_scene_placed(b->ctx, m[i].node, tb_world_add_material(b->ctx, b->world, &d, NULL))));
    TB_TRY(tb_scene_close(b, m[i].node, noted));
  }
  return TB_OK;
}

static tbStatus add_pair(tbSceneBuild* b, const tbScenePair* p)
{
  tbMaterialId first, second;
  TB_TRY(tb_scene_material(b, p->node, "a", p->a, &first));
  TB_TRY(tb_scene_material(b, p->node, "b", p->b, &second));
  tbFriction friction;
  tbContactSpring spring;
  bool bounces = tb_scene_given(p->node, "restitution");
  if (p->friction) TB_TRY(tb_scene_friction(b, p->friction, &friction));
  TB_TRY(read_spring(b, p->node, &p->spring, &spring));
  return tb_scene_placed(
      b->ctx, p->node,
      tb_world_set_pair_rule(b->ctx, b->world, first, second, p->friction ? &friction : NULL,
                             bounces ? &p->restitution : NULL, &spring));
}

// ---- the whole ----

static tbStatus build(tbSceneBuild* b)
{
  TB_TRY(add_materials(b));
  const tbScenePair* pairs = b->file->pairs.items;
  for (int i = 0; i < b->file->pairs.count; i++)
    if (!tb_scene_errors_bad(b->errors, pairs[i].node)) TB_TRY(tb_scene_note(b, add_pair(b, &pairs[i])));
  TB_TRY(tb_scene_bodies(b));
  TB_TRY(tb_scene_deformables(b));
  TB_TRY(tb_scene_animated(b));
  TB_TRY(tb_scene_joints(b));
  return tb_scene_ignored(b);
}

static tbStatus make_world(const tbRecordReader* in, const tbSceneFile* f, const char* folder,
                           const char* name, tbWorld** out)
{
  tbContext* ctx = in->ctx;
  tbWorldDef def = tb_default_world_def();
  def.name = name;
  def.gravity = tb_load3(f->gravity);
  def.seed = (uint64_t)f->seed;
  tbSceneBuild b = {.ctx = ctx,
                    .arena = in->arena,
                    .file = f,
                    .folder = folder,
                    .geometry = TB_ARRAY(tbSceneGeometry),
                    .origin = TB_ARRAY(const tbJson*),
                    .errors = in->errors};
  TB_TRY(tb_scene_placed(ctx, f->node, tb_world_create(ctx, &def, &b.world)));
  tbStatus status = build(&b);
  tb_array_free(ctx, &b.geometry);
  tb_array_free(ctx, &b.origin);
  if (status == TB_OK) *out = b.world;
  else tb_world_free(ctx, b.world);
  return status;
}

static tbStatus read_file(const tbRecordReader* in, const tbJson* root, tbSceneFile* f)
{
  tbContext* ctx = in->ctx;
  TB_TRY(tb_json_get_type(ctx, root, TB_JSON_OBJECT));
  if (tb_json_find(root, "tribo_problem"))
    return tb_json_fail(ctx, root, "a contact problem, not a scene; `tribo solve` takes it");
  if (!tb_json_find(root, "tribo"))
    return tb_json_fail(ctx, root, "not a Tribo scene: the key \"tribo\" is missing");
  return tb_record_read(in, &tb_scene_record, root, f);
}

// Where errors are noted, TB_OK says no more than that all of them are.
static tbStatus make_scene(const tbRecordReader* in, const char* name, const tbJson* root, const char* folder,
                           tbScene* s)
{
  tbSceneFile f;
  char stem[TB_STEM];
  TB_TRY(read_file(in, root, &f));
  bool options = !in->errors || in->errors->list.count == in->errors->in_lists;
  if (options) TB_TRY(tb_scene_errors_note(in->ctx, in->errors, read_options(in->ctx, &f, &s->step)));
  s->time = f.time;
  s->threads = f.threads;
  tb_path_stem(name, stem);
  const char* title = f.name ? f.name : stem;
  s->name = TB_NEW(in->ctx, char, strlen(title) + 1);
  if (!s->name) return TB_ERROR_MEMORY;
  strcpy(s->name, title);
  return make_world(in, &f, folder, title, &s->world);
}

// The errors themselves come out in the order of the file, the first of them in the context.
static tbStatus parse(const tbRecordReader* in, const char* name, const char* bytes, size_t length,
                      const char* folder, tbSceneSettings settings, tbScene* out)
{
  const tbJson* root;
  tbScene s = {0};
  tbSceneErrors* errors = in->errors;
  tbStatus status = tb_json_parse(in->ctx, in->arena, name, bytes, length, &root);
  if (status == TB_OK) status = tb_scene_set(in->ctx, in->arena, settings, &root);
  if (status == TB_OK) status = make_scene(in, name, root, folder, &s);
  status = tb_scene_errors_note(in->ctx, errors, status);
  if (errors && errors->list.count && (status == TB_OK || status == TB_ERROR_INPUT)) {
    tb_scene_errors_sort(errors);
    in->ctx->error = *(const tbError*)errors->list.data;
    status = TB_ERROR_INPUT;
  }
  if (status == TB_OK) *out = s;
  else tb_scene_free(in->ctx, &s);
  return status;
}

static tbStatus examine(tbContext* ctx, const char* name, const char* bytes, size_t length,
                        const char* folder, tbSceneSettings settings, tbSceneErrors* errors, tbScene* out)
{
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbStatus status = parse(&(tbRecordReader){ctx, &arena, errors}, name, bytes, length, folder, settings, out);
  tb_arena_free(&arena);
  return status;
}

static tbStatus load(tbContext* ctx, const char* path, tbSceneSettings settings, tbSceneErrors* errors,
                     tbScene* out)
{
  tbSceneSource source;
  tbStatus status = tb_scene_source_read(ctx, path, &source);
  if (status == TB_OK)
    status = examine(ctx, path, source.bytes, source.length, source.folder, settings, errors, out);
  else if (status != TB_ERROR_MEMORY)
    status = tb_scene_errors_note(ctx, errors, status) == TB_OK ? TB_ERROR_INPUT : status;
  tb_scene_source_free(ctx, &source);
  return status;
}

static const tbSceneSettings as_it_is = {NULL, 0};

tbStatus tb_scene_examine_text(tbContext* ctx, const char* name, const char* bytes, size_t length,
                               const char* folder, tbSceneErrors* errors, tbScene* out)
{
  return examine(ctx, name, bytes, length, folder, as_it_is, errors, out);
}

tbStatus tb_scene_parse(tbContext* ctx, const char* name, const char* bytes, size_t length,
                        const char* folder, tbScene* out)
{
  return examine(ctx, name, bytes, length, folder, as_it_is, NULL, out);
}

tbStatus tb_scene_parse_with(tbContext* ctx, const char* name, const char* bytes, size_t length,
                             const char* folder, const char* const* settings, int count, tbScene* out)
{
  return examine(ctx, name, bytes, length, folder, (tbSceneSettings){settings, count}, NULL, out);
}

tbStatus tb_scene_load(tbContext* ctx, const char* path, tbScene* out)
{
  return load(ctx, path, as_it_is, NULL, out);
}

tbStatus tb_scene_load_with(tbContext* ctx, const char* path, const char* const* settings, int count,
                            tbScene* out)
{
  return load(ctx, path, (tbSceneSettings){settings, count}, NULL, out);
}

tbStatus tb_scene_examine(tbContext* ctx, const char* path, tbSceneErrors* errors, tbScene* out)
{
  return load(ctx, path, as_it_is, errors, out);
}

void tb_scene_free(tbContext* ctx, tbScene* scene)
{
  tb_world_free(ctx, scene->world);
  tb_free(ctx, scene->name);
  *scene = (tbScene){0};
}
