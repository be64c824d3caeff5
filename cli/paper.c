// SPDX-License-Identifier: Apache-2.0
// tribo paper: a document's experiments, run again.
#include "cli/paper.h"
#include "cli/args.h"
#include "cli/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *title;
  tbStatus (*run)(Paper* paper);
  bool parts; // experiments can be run one by one
} papers[] = {
    {"course", "Andrews, Erleben and Ferguson: Contact and Friction Simulation for Computer Graphics (2022)",
     paper_course, false},
    {"verschoor",
     "Verschoor and Jalba: Efficient and Accurate Collision Response for Elastically Deformable Models "
     "(2019)",
     paper_verschoor, true},
    {"ly",
     "Ly, Jouve, Boissieux and Bertails-Descoubes: Projective Dynamics with Dry Frictional Contact (2020)",
     paper_ly, true},
    {"kaufman", "Kaufman, Sueda, James and Pai: Staggered Projections for Frictional Contact (2008)",
     paper_kaufman, true},
    {"macklin",
     "Macklin, Erleben, Müller, Chentanez, Jeschke and Kim: Primal/Dual Descent Methods for Dynamics (2020)",
     paper_macklin, false},
};

enum { PAPERS = sizeof papers / sizeof *papers };

void paper_section(Paper* p, const char* title, const char* about)
{
  printf("%s\n", title);
  fflush(stdout);
  tb_out_text(&p->text, "\n## ");
  tb_out_text(&p->text, title);
  tb_out_text(&p->text, "\n\n");
  tb_out_text(&p->text, about);
  tb_out_text(&p->text, "\n\n| | published | measured |\n|---|---|---|\n");
}

void paper_section_end(Paper* p)
{
  printf("\n");
  tb_out_text(&p->text, "\n");
  if (p->figures.length) tb_out_bytes(&p->text, p->figures.bytes, p->figures.length);
  tb_out_free(&p->figures);
  p->figures = tb_out_memory(p->ctx);
}

static void add_row(Paper* p, const char* verdict, const char* published, const char* measured)
{
  printf("  %-7s %s\n          %s\n", verdict, published, measured);
  fflush(stdout);
  const char* const cells[] = {"| ", verdict, " | ", published, " | ", measured, " |\n"};
  for (int i = 0; i < 7; i++) tb_out_text(&p->text, cells[i]);
}

static void decide(Paper* p, bool holds, const char* published, const char* prefix, const char* format,
                   va_list args)
{
  char measured[1000];
  int length = snprintf(measured, sizeof measured, "%s", prefix);
  vsnprintf(measured + length, sizeof measured - (size_t)length, format, args);
  *(holds ? &p->held : &p->failed) += 1;
  add_row(p, holds ? "ok" : "FAILED", published, measured);
}

void paper_claim(Paper* p, bool holds, const char* published, const char* format, ...)
{
  va_list args;
  va_start(args, format);
  decide(p, holds, published, "", format, args);
  va_end(args);
}

void paper_claim_timed(Paper* p, bool holds, const char* published, const char* format, ...)
{
  va_list args;
  va_start(args, format);
  decide(p, holds, published, "by the clock: ", format, args);
  va_end(args);
}

void paper_skip(Paper* p, const char* published, const char* why)
{
  p->skipped++;
  add_row(p, "skipped", published, why);
}

tbStatus paper_check_only(const Paper* p, const char* const* names)
{
  tbNearest near = tb_nearest(p->only ? p->only : "");
  for (int i = 0; p->only && names[i]; i++) {
    if (strcmp(p->only, names[i]) == 0) return TB_OK;
    tb_nearest_offer(&near, names[i]);
  }
  if (!p->only) return TB_OK;
  return tb_fail(p->ctx, TB_ERROR_ARGUMENT, "no experiment \"%.40s\"; the nearest is \"%s\"", p->only,
                 near.name ? near.name : names[0]);
}

static tbOut* add_file(Paper* p, const char* name)
{
  FolderFile* file = &p->file[p->files < PAPER_FILES ? p->files++ : PAPER_FILES - 1];
  tb_out_free(&file->text);
  *file = (FolderFile){name, tb_out_memory(p->ctx)};
  return &file->text;
}

tbOut* paper_table(Paper* p, const char* name, const char* columns)
{
  tbOut* out = add_file(p, name);
  tb_out_text(out, columns);
  tb_out_text(out, "\n");
  out_format(&p->figures, "Numbers: [%s](%s)\n\n", name, name);
  return out;
}

void paper_plot(Paper* p, const char* name, const Plot* plot, const char* caption)
{
  plot_file(add_file(p, name), plot);
  out_format(&p->figures, "![%s](%s)\n\n%s\n\n", caption, name, caption);
}

void paper_map(Paper* p, const char* name, const PlotMap* map, const char* caption)
{
  plot_map_file(add_file(p, name), map);
  out_format(&p->figures, "![%s](%s)\n\n%s\n\n", caption, name, caption);
}

static void write_head(Paper* p, const char* title)
{
  char processor[MACHINE_TEXT], system[MACHINE_TEXT];
  machine_processor(processor);
  machine_system(system);
  tb_out_text(&p->text, "# ");
  tb_out_text(&p->text, title);
  out_format(&p->text, "\n\nReproduced by tribo %s (%s) on %s, %s%s.\n", TB_VERSION, machine_compiler(),
             processor, system, p->quick ? "; the quick variant, with smaller experiments" : "");
}

static tbStatus reproduce(Paper* p, int which, const char* out)
{
  Folder folder;
  char by_default[64];
  snprintf(by_default, sizeof by_default, "papers/%s/out", papers[which].name);
  TB_TRY(folder_make(p->ctx, out ? out : by_default, &folder));
  folder_unmake(&folder); // it can be made; nothing is left behind should the run be stopped
  printf("%s\n\n", papers[which].title);
  write_head(p, papers[which].title);
  tbStatus status = papers[which].run(p);
  p->file[p->files++] = (FolderFile){"report.md", p->text};
  if (status == TB_OK) status = folder_make(p->ctx, out ? out : by_default, &folder);
  if (status == TB_OK) {
    status = folder_save(p->ctx, &folder, p->file, p->files);
    if (status != TB_OK) folder_unmake(&folder);
  }
  if (status == TB_OK)
    printf("%d ok, %d failed, %d skipped\n%s/report.md\n", p->held, p->failed, p->skipped, folder.path);
  for (int i = 0; i < p->files; i++) tb_out_free(&p->file[i].text);
  tb_out_free(&p->figures);
  return status;
}

static const char usage[] = "usage: tribo paper NAME [options]";

static void print_help(const Arg* args)
{
  printf("%s\n\nRuns a document's experiments again and checks its claims one by one: `ok` or `FAILED`, what "
         "was\n"
         "published, what was measured. Exits with 1 when a claim failed. NAME is\n\n",
         usage);
  for (int i = 0; i < PAPERS; i++) print_columns(stdout, 22, papers[i].name, papers[i].title);
  printf("\n");
  args_help(args);
}

static int find(const char* name)
{
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < PAPERS; i++) {
    if (strcmp(name, papers[i].name) == 0) return i;
    tb_nearest_offer(&near, papers[i].name);
  }
  if (near.name) fprintf(stderr, "tribo paper: no paper \"%s\"; did you mean \"%s\"?\n", name, near.name);
  else fprintf(stderr, "tribo paper: no paper \"%s\"; `tribo paper --help` lists them\n", name);
  return -1;
}

int command_paper(int argc, char** argv)
{
  bool quick = false, help = false;
  const char *out = NULL, *only = NULL;
  const Arg args[] = {
      {"--out", ARG_TEXT, &out, "DIR", "where report.md, tables and plots go (default papers/NAME/out)"},
      {"--only", ARG_TEXT, &only, "NAME",
       "one experiment of verschoor, ly or kaufman, such as rings, square1 or arch"},
      {"--quick", ARG_FLAG, &quick, NULL, "smaller experiments, in a few seconds or tens of them"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("paper", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1) {
    fprintf(stderr, "%s; `tribo paper --help` says more\n", usage);
    return EXIT_USAGE;
  }
  int which = find(argv[0]);
  if (which < 0) return EXIT_USAGE;
  if (only && !papers[which].parts) {
    fprintf(stderr, "tribo paper: %s runs as a whole; --only is for verschoor, ly and kaufman\n",
            papers[which].name);
    return EXIT_USAGE;
  }
  tbContext ctx = tb_default_context();
  Paper paper = {.ctx = &ctx,
                 .name = papers[which].name,
                 .quick = quick,
                 .only = only,
                 .text = tb_out_memory(&ctx),
                 .figures = tb_out_memory(&ctx)};
  if (reproduce(&paper, which, out) != TB_OK) return fail_with(&ctx);
  return paper.failed ? EXIT_UNCONVERGED : EXIT_DONE;
}
