// SPDX-License-Identifier: Apache-2.0
// tribo import: a robot's file as a scene, with everything that is not in it by file and line.
#include "tribo/import.h"
#include "cli/args.h"
#include "cli/out.h"
#include "cli/stream.h"

#include "tribo/tools/decimal.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: tribo import FILE.urdf|FILE.xml -o SCENE.json [options]";

static void print_help(const Arg* args)
{
  printf("%s\n\n"
         "Makes a scene of a robot: URDF, or MJCF's core. Links keep their names, masses, inertias and "
         "poses; joints\n"
         "become hinges, sliders, balls and welds; linear actuators, springs and dampers become servos; "
         "meshes\n"
         "touch by their convex hulls. Whatever else the file says is named on standard error, with file and "
         "line.\n\n",
         usage);
  args_help(args);
  printf("\n  tribo import robot.urdf -o robot.json && tribo view robot.json\n");
}

// NAME=VALUE each; false after one line on standard error.
static bool read_joints(const Texts* texts, char names[MAX_TEXTS][128], tbImportJoint joints[MAX_TEXTS])
{
  for (int i = 0; i < texts->count; i++) {
    const char *text = texts->at[i], *equals = strrchr(text, '='), *end = text + strlen(text);
    double* value = &joints[i].coordinate;
    if (!equals || equals - text >= 128 || tb_read_double(equals + 1, end, value) != end ||
        equals + 1 == end) {
      fprintf(stderr, "tribo import: --joint takes NAME=VALUE, not \"%s\"\n", text);
      return false;
    }
    snprintf(names[i], 128, "%.*s", (int)(equals - text), text);
    joints[i].name = names[i];
  }
  return true;
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
  Texts starts = {0};
  char names[MAX_TEXTS][128];
  tbImportJoint joints[MAX_TEXTS];
  const Arg args[] = {
      {"-o", ARG_TEXT, &file, "FILE", "where to write the scene; \"-\": standard output"},
      {"--floating", ARG_FLAG, &options.floating, NULL,
       "URDF: the root link moves freely (default: it stands)"},
      {"--key", ARG_TEXT, &options.key, "NAME", "MJCF: start with the pose and controls of this <key>"},
      {"--joint", ARG_TEXTS, &starts, "J=V",
       "start with this angle or travel, rad or m; may come several times"},
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
  if (!read_joints(&starts, names, joints)) return EXIT_USAGE;
  options.joints = joints, options.joint_count = starts.count;
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
