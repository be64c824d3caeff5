// SPDX-License-Identifier: Apache-2.0
// The files of a report: the page, tables as CSV and LaTeX, figures as SVG.
#include "cli/report.h"

#include <string.h>

enum { NAME = 96, FILES = 6 + 2 + 2 * REPORT_FIGURES };

typedef struct {
  FolderFile file[FILES];
  char name[FILES][NAME];
  int count;
} Files;

static tbOut* add(tbContext* ctx, Files* files, const char* name)
{
  int i = files->count++;
  snprintf(files->name[i], NAME, "%s", name);
  files->file[i] = (FolderFile){files->name[i], tb_out_memory(ctx)};
  return &files->file[i].text;
}

static void add_tables(tbContext* ctx, Files* files, const Report* report)
{
  const struct {
    const char* name;
    void (*write)(tbOut* out, const Report* report);
    bool wanted;
  } kinds[] = {{"results.csv", report_results_csv, true},
               {"curves.csv", report_curves_csv, report->rules->curves},
               {"summary.csv", report_summary_csv, report->set},
               {"profile.csv", report_profile_csv, report->profile},
               {"results.tex", report_latex, true}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].wanted) kinds[i].write(add(ctx, files, kinds[i].name), report);
}

// "arch" of scenes/arch.json, with nothing but letters, digits and dashes; numbered where there are several.
static void figure_name(const Report* report, int index, const char* what, char name[NAME])
{
  const char* path = report->race[index].path;
  const char* slash = strrchr(path, '/');
  int length = 0;
  if (report->races > 1) length = snprintf(name, NAME, "%d-", index + 1);
  for (const char* c = slash ? slash + 1 : path; *c && *c != '.' && length < NAME / 2; c++) {
    bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    name[length++] = plain ? *c : '-';
  }
  snprintf(name + length, (size_t)(NAME - length), "-%s.svg", what);
}

static void add_figures(tbContext* ctx, Files* files, const Report* report)
{
  char name[NAME];
  for (int i = 0; i < report->races && i < REPORT_FIGURES && !report->set; i++) {
    if (!report->race[i].ran) continue;
    figure_name(report, i, "iterations", name);
    report_plot(add(ctx, files, name), report, &report->race[i], PLOT_COUNT, plot_file);
    figure_name(report, i, "time", name);
    report_plot(add(ctx, files, name), report, &report->race[i], PLOT_SECONDS, plot_file);
  }
  if (!report->profile) return;
  report_profile_file(add(ctx, files, "profile-time.svg"), report, true);
  report_profile_file(add(ctx, files, "profile-iterations.svg"), report, false);
}

tbStatus report_save(tbContext* ctx, const Report* report, const Folder* folder, const char* page)
{
  Files* files = TB_NEW(ctx, Files, 1);
  if (!files) return TB_ERROR_MEMORY;
  add_tables(ctx, files, report);
  add_figures(ctx, files, report);
  report_html(add(ctx, files, page), report);
  tbStatus status = folder_save(ctx, folder, files->file, files->count);
  for (int i = 0; i < files->count; i++) tb_out_free(&files->file[i].text);
  tb_free(ctx, files);
  return status;
}
