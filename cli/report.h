// SPDX-License-Identifier: Apache-2.0
// What a comparison found, told several ways: a table for the terminal, JSON, CSV files and a page.
#ifndef TB_CLI_REPORT_H
#define TB_CLI_REPORT_H

#include "cli/folder.h"
#include "cli/out.h"
#include "cli/plot.h"
#include "cli/race.h"

typedef struct {
  const RaceRules* rules;
  const Race* race;
  int races;
  const char* command; // what to type to get this report
  int threads;
  bool profile;     // say how the solvers do over all problems together
  bool set;         // too many problems to show one by one: a line for each solver instead
  const int* place; // of each solver over all races (report_places): its colour in tables and figures
} Report;

// Places over all races, the best 0: those that solved most problems first, of these the ones that ranked
// better; last those that apply to none.
tbStatus report_places(tbContext* ctx, const Report* report, int* place); // (solvers)

// The time of a run and its spread, "0.0101–0.0133" in milliseconds; a dash where there was one run.
enum { SPREAD_TEXT = 3 * OUT_NUMBER };
const char* report_spread(char text[SPREAD_TEXT], const Entry* e, const char* dash);

// What every solver started from, as a sentence: zero or a guess, and whether it was good enough already.
void report_start(const Report* report, const Race* race, char line[256]);
// A line for each method that took the equations of another for some contacts: no independent opinion there.
typedef void NoteWriter(tbOut* out, const char* line);
void report_borrowed(tbOut* out, const Race* race, NoteWriter* write);

int report_trivial(const Report* report); // races whose start was good enough

void report_table(tbOut* out, const Report* report, const Race* race); // one problem
tbStatus report_json(tbOut* out, const Report* report);                // one object, one line
void report_results_csv(tbOut* out, const Report* report);
void report_curves_csv(tbOut* out, const Report* report); // the points of the plots
void report_html(tbOut* out, const Report* report);       // one file that needs no other

void report_latex(tbOut* out, const Report* report); // the tables, for a paper

// All of it into a folder: page, CSV, LaTeX, and the plots as SVG, of the first REPORT_FIGURES problems.
enum { REPORT_FIGURES = 50 };
tbStatus report_save(tbContext* ctx, const Report* report, const Folder* folder, const char* page);

// Machine, build, rules, date.
typedef void FactWriter(tbOut* out, const char* name, const char* value);
void report_facts(tbOut* out, const Report* report, FactWriter* write);

void report_profile_csv(tbOut* out, const Report* report);
void report_profile_table(tbOut* out, const Report* report);

// How each solver did on all problems: how it ended, and what a solve cost.
void report_summary_table(tbOut* out, const Report* report);
void report_summary_csv(tbOut* out, const Report* report);
void report_summary_latex(tbOut* out, const Report* report);              // the rows
void report_profile_file(tbOut* out, const Report* report, bool by_time); // an SVG file

// Parts of the page.
void report_summary(tbOut* out, const Report* report); // a section
void report_key(tbOut* out);                           // a stroke in the colour of its surroundings
void report_profile(tbOut* out, const Report* report); // a section
void report_plot(tbOut* out, const Report* report, const Race* race, PlotAxis axis,
                 PlotWriter* write);      // over iterations or time
void report_style(tbOut* out, int lanes); // the CSS

#endif
