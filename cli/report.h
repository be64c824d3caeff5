// What a comparison found, told five ways: a table for the terminal, JSON, two CSV files and a page.
#ifndef TB_CLI_REPORT_H
#define TB_CLI_REPORT_H

#include "cli/out.h"
#include "cli/race.h"

typedef struct {
  const RaceRules* rules;
  const Race* race;
  int races;
  const char* command; // what to type to get this report
  int threads;
} Report;

void report_table(tbOut* out, const Report* report, const Race* race); // one problem
tbStatus report_json(tbOut* out, const Report* report);                // one object, one line
void report_results_csv(tbOut* out, const Report* report);
void report_curves_csv(tbOut* out, const Report* report); // the points of the plots
void report_html(tbOut* out, const Report* report);       // one file that needs no other

// Parts of the page.
typedef enum { PLOT_ITERATIONS, PLOT_TIME } PlotAxis;
void report_plot(tbOut* out, const Report* report, const Race* race, PlotAxis axis); // an <svg>
void report_style(tbOut* out, int lanes);                                            // the CSS

enum { LANE_COLOURS = 10 }; // then dashes tell lanes apart

#endif
