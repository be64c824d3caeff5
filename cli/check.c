// SPDX-License-Identifier: Apache-2.0
// tribo check and tribo schema: what a scene file holds, or what is wrong with it; what one may hold.
#include "cli/args.h"
#include "cli/doubts.h"
#include "cli/out.h"
#include "tribo/check.h"
#include "tribo/inspect.h"
#include "tribo/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_count(tbOut* out, int64_t count, const char* one, const char* many)
{
  out_format(out, ", %" PRId64 " %s", count, count == 1 ? one : many);
}

// How many bodies are called so.
static int count_kind(const tbWorld* w, const char* word)
{
  int count = 0;
  for (int i = 0; i < tb_world_body_count(w); i++)
    count += strcmp(tb_body_kind(w, tb_world_body_at(w, i)), word) == 0;
  return count;
}

static void put_summary(tbOut* out, const char* path, const tbScene* s)
{
  const tbWorld* w = s->world;
  tbWorldSize size = tb_world_size(w);
  int bodies = size.bodies;
  double mass = 0;
  for (int i = 0; i < bodies; i++) mass += tb_body_mass(w, tb_world_body_at(w, i));
  out_terminal(out, path);
  out_format(out, ": %d %s (%d free", bodies, bodies == 1 ? "body" : "bodies", count_kind(w, "dynamic"));
  for (int k = 0; k < tb_body_kind_count(); k++) {
    int count = count_kind(w, tb_body_kind_name(k));
    if (count) out_format(out, ", %d %s", count, tb_body_kind_name(k));
  }
  out_format(out, ")");
  put_count(out, size.shapes, "shape", "shapes");
  put_count(out, size.joints, "joint", "joints");
  if (size.nodes > 0) put_count(out, size.nodes, "node", "nodes");
  if (size.tetrahedra > 0) put_count(out, size.tetrahedra, "tetrahedron", "tetrahedra");
  if (size.triangles > 0) put_count(out, size.triangles, "triangle of cloth", "triangles of cloth");
  out_format(out, ", %.6g kg; %s, %s, dt %.6g s, %.6g s\n", mass, s->step.scheme, s->step.solver.solver,
             s->step.dt, s->time);
}

// Bodies that start inside each other are pushed apart, slowly or with a bang: mostly a mistake, never an
// error.
static tbStatus warn_of_overlaps(tbContext* ctx, const char* path, const tbWorld* w)
{
  enum { SHOWN = 10 };
  static const double small = 0.01;
  tbArray overlaps = TB_ARRAY(tbOverlap);
  tbOut out = out_error(ctx);
  tbStatus status = tb_world_overlaps(ctx, w, small, &overlaps);
  const tbOverlap* o = overlaps.data;
  for (size_t i = 0; status == TB_OK && i < overlaps.count && i < SHOWN; i++) {
    out_terminal(&out, path);
    tb_out_text(&out, ": warning: \"");
    out_terminal(&out, tb_body_name(w, tb_world_body_at(w, o[i].a)));
    tb_out_text(&out, "\" and \"");
    out_terminal(&out, tb_body_name(w, tb_world_body_at(w, o[i].b)));
    out_format(&out, "\" overlap by %.3g m at the start\n", o[i].depth);
  }
  if (status == TB_OK && overlaps.count > SHOWN) {
    out_terminal(&out, path);
    out_format(&out, ": warning: and %zu more pairs of bodies overlap, less deeply\n",
               overlaps.count - SHOWN);
  }
  if (status == TB_OK) status = tb_out_finish(&out);
  tb_out_free(&out);
  tb_array_free(ctx, &overlaps);
  return status;
}

static void print_errors(const tbSceneErrors* errors)
{
  const tbError* e = errors->list.data;
  for (size_t i = 0; i < errors->list.count; i++) fprintf(stderr, "%s\n", e[i].message);
  if (errors->list.count == TB_SCENE_MOST_ERRORS)
    fprintf(stderr, "tribo: and perhaps more; reading ends at %d\n", TB_SCENE_MOST_ERRORS);
}

static int check_scene(const char* path)
{
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  tbSceneErrors errors = tb_scene_errors();
  int code = EXIT_DONE;
  tbStatus status = examine_scene(&ctx, path, &errors, &scene);
  if (status == TB_OK) {
    tbOut out = out_standard(&ctx);
    put_summary(&out, path, &scene);
    status = tb_out_finish(&out);
    tb_out_free(&out);
    if (status == TB_OK) status = warn_of_overlaps(&ctx, path, scene.world);
    if (status == TB_OK) status = warn_of_doubts(&ctx, path, scene.world);
  }
  if (status == TB_ERROR_INPUT && errors.list.count > 0) {
    print_errors(&errors);
    code = EXIT_USAGE;
  } else if (status != TB_OK) {
    code = fail_with(&ctx);
  }
  tb_scene_errors_free(&ctx, &errors);
  tb_scene_free(&ctx, &scene);
  return code;
}

static const char check_usage[] = "usage: tribo check SCENE…";

int command_check(int argc, char** argv)
{
  bool help = false;
  const Arg args[] = {{"--help", ARG_FLAG, &help, NULL, "this text"}, {0}};
  int files = args_parse("check", args, argc, argv);
  if (files < 0) return EXIT_USAGE;
  if (help) {
    printf(
        "%s\n\nReads scene files and the files they refer to. For each, prints one line with its contents,\n"
        "or, on standard error, every mistake as `file:line:column: what is wrong`; the exit code is then "
        "2.\n"
        "Bodies that overlap at the start are reported as a warning.\n\n",
        check_usage);
    args_help(args);
    return EXIT_DONE;
  }
  if (files == 0) {
    fprintf(stderr, "%s\n", check_usage);
    return EXIT_USAGE;
  }
  int worst = EXIT_DONE;
  for (int i = 0; i < files; i++) {
    int code = check_scene(argv[i]);
    if (code > worst) worst = code;
  }
  return worst;
}

static const char schema_usage[] = "usage: tribo schema [--keys]";

int command_schema(int argc, char** argv)
{
  bool help = false, keys = false;
  const Arg args[] = {
      {"--keys", ARG_FLAG, &keys, NULL, "the keys as Markdown tables, for docs/scene-format.md"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0}};
  int rest = args_parse("schema", args, argc, argv);
  if (rest < 0) return EXIT_USAGE;
  if (help) {
    printf("%s\n\nPrints the JSON Schema (draft 2020-12) of scene files, for editors and other programs.\n\n",
           schema_usage);
    args_help(args);
    return EXIT_DONE;
  }
  if (rest > 0) {
    fprintf(stderr, "%s\n", schema_usage);
    return EXIT_USAGE;
  }
  tbContext ctx = tb_default_context();
  tbOut out = out_standard(&ctx);
  tbStatus status = keys ? tb_scene_print_keys(&ctx, &out) : tb_scene_print_schema(&ctx, &out);
  tb_out_free(&out);
  return status == TB_OK ? EXIT_DONE : fail_with(&ctx);
}
