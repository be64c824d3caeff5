// SPDX-License-Identifier: Apache-2.0
// tribo scene: scenes of the gallery, with other parameters than those in scenes/.
#include "tribo/tools/text.h"
#include "cli/args.h"
#include "cli/out.h"
#include "cli/stream.h"
#include "tribo/gallery.h"

#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: tribo scene NAME [--set PARAMETER=NUMBER …] [-o FILE]";

static void list(void)
{
  for (int i = 0; i < tb_gallery_count(); i++) {
    const tbGalleryScene* s = tb_gallery_at(i);
    printf("%-12s %s\n", s->name, s->summary);
    for (int k = 0; k < TB_GALLERY_PARAMETERS && s->parameter[k].name; k++) {
      const tbGalleryParameter* p = &s->parameter[k];
      char left[64];
      snprintf(left, sizeof left, "%s=%g", p->name, p->value);
      printf("%-12s   %-18s %s (%g to %g)\n", "", left, p->summary, p->low, p->high);
    }
  }
}

static void print_help(const Arg* args)
{
  printf("%s\n       tribo scene                lists the scenes with their parameters\n\n"
         "Writes a scene of the gallery to FILE, or to standard output. A scene with meshes writes them to\n"
         "the folder meshes/ beside FILE.\n\n",
         usage);
  args_help(args);
  printf("\n  tribo scene arch --set thickness=0.1 --set stones=15 -o thin.json && tribo run thin.json\n");
}

static const tbGalleryScene* scene_named(const char* name)
{
  const tbGalleryScene* scene = tb_gallery_find(name);
  if (scene) return scene;
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < tb_gallery_count(); i++) tb_nearest_offer(&near, tb_gallery_at(i)->name);
  if (near.name) fprintf(stderr, "tribo scene: no scene \"%s\"; did you mean \"%s\"?\n", name, near.name);
  else fprintf(stderr, "tribo scene: no scene \"%s\"; `tribo scene` lists them\n", name);
  return NULL;
}

enum { SETTINGS = 2 * TB_GALLERY_PARAMETERS };

// Moves every value of --set from argv to `setting`, closed by a null. Returns how many words are left, or −1
// after one line on standard error.
static int take_settings(int argc, char** argv, const char* setting[SETTINGS + 1])
{
  int kept = 0, taken = 0;
  for (int i = 0; i < argc; i++) {
    const char* value = strncmp(argv[i], "--set=", 6) == 0 ? argv[i] + 6 : NULL;
    if (strcmp(argv[i], "--set") == 0) {
      value = ++i < argc ? argv[i] : NULL;
      if (!value) fprintf(stderr, "tribo scene: --set needs a value (PARAMETER=NUMBER)\n");
      if (!value) return -1;
    }
    if (!value) {
      argv[kept++] = argv[i];
    } else if (taken == SETTINGS) {
      fprintf(stderr, "tribo scene: --set more than %d times\n", SETTINGS);
      return -1;
    } else {
      setting[taken++] = value;
    }
  }
  setting[taken] = NULL;
  return kept;
}

static tbStatus print(tbContext* ctx, const tbGalleryScene* scene, const double* values)
{
  tbOut out = out_standard(ctx);
  tbStatus status = tb_gallery_print(ctx, scene, values, NULL, &out);
  tb_out_free(&out);
  return status;
}

static int write_scene(const char* name, const char** setting, const char* file)
{
  tbContext ctx = tb_default_context();
  if (is_standard(file)) file = NULL;
  double values[TB_GALLERY_PARAMETERS];
  const tbGalleryScene* scene = scene_named(name);
  if (!scene) return EXIT_USAGE;
  if (!file && scene->files) {
    fprintf(stderr, "tribo scene: %s has meshes, which lie beside it: say where with -o FILE\n", scene->name);
    return EXIT_USAGE;
  }
  tb_gallery_defaults(scene, values);
  for (; *setting; setting++)
    if (tb_gallery_set(&ctx, scene, values, *setting) != TB_OK) {
      fprintf(stderr, "tribo scene: %s\n", ctx.error.message);
      return EXIT_USAGE;
    }
  tbStatus status = file ? tb_gallery_save(&ctx, scene, values, file) : print(&ctx, scene, values);
  if (status != TB_OK) return fail_with(&ctx);
  out_wrote(false, file);
  return EXIT_DONE;
}

int command_scene(int argc, char** argv)
{
  const char *file = NULL, *unused = NULL, *setting[SETTINGS + 1];
  bool help = false;
  const Arg args[] = {
      {"--set", ARG_TEXT, &unused, "P=N", "gives a parameter another value; may come several times"},
      {"-o", ARG_TEXT, &file, "FILE", "where to write the scene (default: standard output)"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  if (argc == 0) {
    list();
    return EXIT_DONE;
  }
  argc = take_settings(argc, argv, setting);
  int count = argc < 0 ? -1 : args_parse("scene", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1) {
    fprintf(stderr, "%s; `tribo scene --help` says more\n", usage);
    return EXIT_USAGE;
  }
  return write_scene(argv[0], setting, file);
}
