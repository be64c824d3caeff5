// SPDX-License-Identifier: Apache-2.0
// Reproducing a document: its experiments run again, each claim of its text a check that can fail.
//
// A paper is a function that goes through its figures. Each figure is a section: claims, which are printed as
// they are decided, then tables and plots, which go into files beside the Markdown report.
#ifndef TB_CLI_PAPER_H
#define TB_CLI_PAPER_H

#include "cli/folder.h"
#include "cli/plot.h"
#include "cli/plot_map.h"
#include "tribo/io.h"

#include <limits.h>

enum { PAPER_FILES = 32 };

typedef struct {
  tbContext* ctx;
  const char* name;                 // of its folder in papers/
  bool quick;                       // smaller experiments, for tests
  const char* only;                 // the experiment asked for; null: all
  tbOut text, figures;              // the report, and the plots of the section at hand
  FolderFile file[PAPER_FILES + 1]; // everything, the report last
  int files;
  int held, failed, skipped;
} Paper;

void paper_section(Paper* paper, const char* title, const char* about);
void paper_section_end(Paper* paper);

// `published`: what the document says. The rest: what was measured.
void paper_claim(Paper* paper, bool holds, const char* published, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
// One that the clock decides, and a busy machine may upset: what was measured says so.
void paper_claim_timed(Paper* paper, bool holds, const char* published, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
void paper_skip(Paper* paper, const char* published, const char* why);

tbOut* paper_table(Paper* paper, const char* name, const char* columns); // a CSV file
void paper_plot(Paper* paper, const char* name, const Plot* plot, const char* caption);
void paper_map(Paper* paper, const char* name, const PlotMap* map, const char* caption);

// TB_ERROR_ARGUMENT, with the nearest, unless the experiment asked for is one of these (null ends them), or
// none is.
tbStatus paper_check_only(const Paper* paper, const char* const* names);

// A scene of the paper, the file papers/NAME/SCENE.json; with --quick SCENE-quick.json, where there is one.
// settings: a format of words, each a value in the place of the file's (tb_scene_load_with), "" for none.
tbStatus paper_scene(const Paper* paper, const char* scene, tbScene* out, const char* settings, ...)
    __attribute__((format(printf, 4, 5)));
tbStatus paper_scene_path(const Paper* paper, const char* scene, char path[PATH_MAX]);
double paper_cpu_seconds(void); // that this process has taken of all processors
// Steps for some time.
tbStatus paper_run(const Paper* paper, tbWorld* world, const tbStepOptions* options, double seconds);

// The papers.
tbStatus paper_course(Paper* paper);
tbStatus paper_verschoor(Paper* paper);
tbStatus paper_ly(Paper* paper);
tbStatus paper_kaufman(Paper* paper);
tbStatus paper_macklin(Paper* paper);

#endif
