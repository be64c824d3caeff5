// SPDX-License-Identifier: Apache-2.0
// Reproducing a document: its experiments run again, each claim of its text a check that can fail.
//
// A paper is a function that goes through its figures. Each figure is a section: claims, which are printed as
// they are decided, then tables and plots, which go into files beside the Markdown report.
#ifndef TB_CLI_PAPER_H
#define TB_CLI_PAPER_H

#include "cli/folder.h"
#include "cli/plot.h"
#include "tribo/solver.h"

enum { PAPER_FILES = 32 };

typedef struct {
  tbContext* ctx;
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

// The papers.
tbStatus paper_course(Paper* paper);
tbStatus paper_verschoor(Paper* paper);
tbStatus paper_ly(Paper* paper);
tbStatus paper_kaufman(Paper* paper);
tbStatus paper_macklin(Paper* paper);

#endif
