// SPDX-License-Identifier: Apache-2.0
// tribo import: a robot's file as a scene, with everything that is not in it by file and line.
#include "tribo/import.h"
#include "cli/args.h"
#include "cli/out.h"
#include "cli/stream.h"

#include <stdio.h>

static const char usage[] = "usage: tribo import FILE.urdf|FILE.xml -o SCENE.json [options]";

static void print_help(const Arg* args)
{
  printf("%s\n\n"
         "Makes a scene of a robot: URDF, or MJCF's core. Links keep their names, masses, inertias and "
         "poses; joints\n"
         "become hinges, sliders, balls and welds; position actuators, springs and dampers become servos; "
         "meshes\n"
         "touch by their convex hulls. Whatever else the file says is named on standard error, with file and "
         "line.\n\n",
         usage);
  args_help(args);
  printf("\n  tribo import robot.urdf -o robot.json && tribo view robot.json\n");
}

static tbStatus print_notes(tbContext* ctx, const tbArray* notes)
{
  tbOut out = out_error(ctx);
  const tbImportNote* note = notes->data;
  for (size_t i = 0; i < notes->count; i++) {
    out_terminal(&out, note[i].text);
    tb_out_text(&out, "\n");
  }
  tbStatus status = tb_out_finish(&out);
  tb_out_free(&out);
  return status;
}

static tbStatus write(tbContext* ctx, const char* path, const char* file, const tbImportOptions* options,
                      tbArray* notes)
{
  if (!is_standard(file)) return tb_import_save(ctx, path, file, options, notes);
  tbOut out = out_standard(ctx);
  tbStatus status = tb_import_robot(ctx, path, NULL, options, &out, notes);
  tb_out_free(&out);
  return status;
}

int command_import(int argc, char** argv)
{
  const char* file = NULL;
  tbImportOptions options = {0};
  bool help = false, quiet = false;
  const Arg args[] = {
      {"-o", ARG_TEXT, &file, "FILE", "where to write the scene; \"-\": standard output"},
      {"--floating", ARG_FLAG, &options.floating, NULL,
       "URDF: the root link moves freely (default: it stands)"},
      {"--quiet", ARG_FLAG, &quiet, NULL, "do not name what is not in the scene"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("import", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1 || !file) {
    fprintf(stderr, "%s; `tribo import --help` says more\n", usage);
    return EXIT_USAGE;
  }
  tbContext ctx = tb_default_context();
  tbArray notes = TB_ARRAY(tbImportNote);
  tbStatus status = check_readable(&ctx, argv[0]);
  if (status == TB_OK) status = write(&ctx, argv[0], file, &options, &notes);
  if (status == TB_OK && !quiet) status = print_notes(&ctx, &notes);
  tb_array_free(&ctx, &notes);
  if (status != TB_OK) return fail_with(&ctx);
  out_wrote(is_standard(file), file);
  return EXIT_DONE;
}
