// tribo check and tribo schema: what a scene file holds, or what is wrong with it; what one may hold.
#include "cli/args.h"
#include "cli/out.h"
#include "io/scene_schema.h"
#include "scene/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_count(tbOut* out, int64_t count, const char* one, const char* many)
{
  out_format(out, ", %" PRId64 " %s", count, count == 1 ? one : many);
}

static void put_deformables(tbOut* out, const tbWorld* w)
{
  int64_t nodes = 0, tets = 0, triangles = 0;
  for (size_t i = 0; i < w->deformable.count; i++) {
    const tbFemBody* fem = tb_deformables(w)[i].fem;
    nodes += fem->nnode;
    *(fem->cloth ? &triangles : &tets) += fem->nelement[0];
  }
  if (nodes > 0) put_count(out, nodes, "node", "nodes");
  if (tets > 0) put_count(out, tets, "tetrahedron", "tetrahedra");
  if (triangles > 0) put_count(out, triangles, "triangle of cloth", "triangles of cloth");
}

static void put_summary(tbOut* out, const char* path, const tbScene* s)
{
  const tbWorld* w = s->world;
  int bodies = tb_world_body_count(w), kinds[TB_BODY_CLOTH + 1] = {0};
  double mass = 0;
  for (int i = 0; i < bodies; i++) {
    kinds[tb_bodies(w)[i].kind]++;
    mass += tb_body_mass(w, (tbBodyId){i});
  }
  out_terminal(out, path);
  out_format(out, ": %d %s (%d free", bodies, bodies == 1 ? "body" : "bodies", kinds[TB_BODY_DYNAMIC]);
  if (kinds[TB_BODY_SOFT]) out_format(out, ", %d soft", kinds[TB_BODY_SOFT]);
  if (kinds[TB_BODY_CLOTH]) out_format(out, ", %d cloth", kinds[TB_BODY_CLOTH]);
  out_format(out, ")");
  put_count(out, (int)w->shape.count, "shape", "shapes");
  put_count(out, (int)w->joint.count, "joint", "joints");
  put_deformables(out, w);
  out_format(out, ", %.6g kg; %s, %s, dt %.6g s, %.6g s\n", mass, s->step.scheme, s->step.solver.solver,
             s->step.dt, s->time);
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
        "%s\n\nReads scene files and everything they name. Prints one line for each: what it holds, or, on "
        "standard\nerror, `file:line:column: what is wrong`. Exit code 2 when anything is wrong.\n\n",
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
    tbContext ctx = tb_default_context();
    tbScene scene = {0};
    if (load_scene(&ctx, argv[i], &scene) == TB_OK) {
      tbOut out = out_standard(&ctx);
      put_summary(&out, argv[i], &scene);
      tb_out_finish(&out);
      tb_out_free(&out);
    } else {
      int code = fail_with(&ctx);
      if (code > worst) worst = code;
    }
    tb_scene_free(&ctx, &scene);
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
