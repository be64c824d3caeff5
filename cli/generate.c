// SPDX-License-Identifier: Apache-2.0
// tribo generate: a structure of boxes as a contact problem in a file.
#include "tribo/tools/text.h"
#include "cli/args.h"
#include "cli/out.h"
#include "cli/stream.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: tribo generate KIND -o FILE [options]";

typedef struct {
  const char* out;
  int size, seed;
  double friction, mass_ratio;
} GenerateArgs;

static bool ends_with(const char* path, const char* end)
{
  size_t length = strlen(path), tail = strlen(end);
  return length > tail && strcmp(path + length - tail, end) == 0;
}

static bool find_kind(const char* name, tbGenerateKind* kind)
{
  if (tb_generate_from_name(name, kind)) return true;
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < TB_GENERATE_COUNT; i++) tb_nearest_offer(&near, tb_generate_name((tbGenerateKind)i));
  if (near.name)
    fprintf(stderr, "tribo generate: no structure \"%s\"; did you mean \"%s\"?\n", name, near.name);
  else fprintf(stderr, "tribo generate: no structure \"%s\"; `tribo list structures` lists them\n", name);
  return false;
}

static tbStatus print_problem(tbContext* ctx, const tbProblem* p)
{
  tbOut out = out_standard(ctx);
  tbStatus status = tb_problem_print_json(ctx, &out, p, NULL);
  if (status == TB_OK) status = tb_out_finish(&out);
  tb_out_free(&out);
  return status;
}

static tbStatus save(tbContext* ctx, const tbGenerate* spec, const char* path)
{
  bool standard = is_standard(path), json = ends_with(path, ".json");
  tbProblem* p = NULL;
  TB_TRY(tb_problem_generate(ctx, spec, &p));
  tbStatus status = standard ? print_problem(ctx, p)
                    : json   ? tb_problem_save_json(ctx, path, p, NULL)
                             : tb_problem_save_fclib(ctx, path, p, NULL);
  if (status == TB_OK && !standard)
    printf("%s: %d contacts, %d rows, %d degrees of freedom\n", path, p->ncontact, p->nrow, p->ndof);
  tb_problem_free(p);
  return status;
}

static void print_help(const Arg* args)
{
  printf("%s\n\nWrites a structure of boxes, at rest under gravity, as the contact problem of one step of "
         "0.01 s.\n"
         "FILE ends in .json (docs/problem-format.md) or in .hdf5 or .h5 (FCLIB), or is \"-\": JSON on "
         "standard\n"
         "output. KIND is\n\n",
         usage);
  for (int i = 0; i < TB_GENERATE_COUNT; i++) {
    char right[200];
    tbGenerate d = tb_default_generate((tbGenerateKind)i);
    snprintf(right, sizeof right, "%s (size %d, friction %g)", tb_generate_summary(d.kind), d.size,
             d.friction);
    print_columns(stdout, 22, tb_generate_name(d.kind), right);
  }
  printf("\n");
  args_help(args);
  printf("\n  tribo generate wall --size 12 --mass-ratio 100 -o wall.json && tribo compare wall.json\n");
}

int command_generate(int argc, char** argv)
{
  GenerateArgs a = {.size = INT_MIN, .seed = 1, .friction = NAN, .mass_ratio = 1};
  bool help = false;
  const Arg args[] = {
      {"-o", ARG_TEXT, &a.out, "FILE", "where to write it"},
      {"--size", ARG_INT, &a.size, "N", "boxes, stones, courses or pairs (default: the structure's own)"},
      {"--friction", ARG_NUMBER, &a.friction, "MU", "of every contact (default: the structure's own)"},
      {"--mass-ratio", ARG_NUMBER, &a.mass_ratio, "R", "of what lies on top to the rest (default 1)"},
      {"--seed", ARG_INT, &a.seed, "N", "of the pile (default 1)"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("generate", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1 || !a.out) {
    fprintf(stderr, "%s; `tribo generate --help` says more\n", usage);
    return EXIT_USAGE;
  }
  tbGenerateKind kind;
  if (!find_kind(argv[0], &kind)) return EXIT_USAGE;
  if (!is_standard(a.out) && !ends_with(a.out, ".json") && !ends_with(a.out, ".hdf5") &&
      !ends_with(a.out, ".h5")) {
    fprintf(stderr, "tribo generate: %s should end in .json, .hdf5 or .h5\n", a.out);
    return EXIT_USAGE;
  }
  tbGenerate spec = tb_default_generate(kind);
  if (a.size != INT_MIN) spec.size = a.size;
  if (!isnan(a.friction)) spec.friction = a.friction;
  spec.mass_ratio = a.mass_ratio;
  spec.seed = (uint64_t)a.seed;
  tbContext ctx = tb_default_context();
  return save(&ctx, &spec, a.out) == TB_OK ? EXIT_DONE : fail_with(&ctx);
}
