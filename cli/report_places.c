// SPDX-License-Identifier: Apache-2.0
// What several formats of a report tell alike: places over all races, the start, the spread of times.
#include "tribo/tools/sort.h"
#include "cli/args.h"
#include "cli/report.h"

typedef struct {
  int lane, applies, solved;
  long ranks; // sum over all races; a race without it counts as last
} Standing;

static int compare_standings(const void* a, const void* b)
{
  const Standing *x = a, *y = b;
  int order = (y->applies > 0) - (x->applies > 0);
  if (!order) order = y->solved - x->solved;
  if (!order) order = (x->ranks > y->ranks) - (x->ranks < y->ranks);
  return order ? order : x->lane - y->lane;
}

static void count_race(const Race* race, Standing* standing)
{
  for (int rank = 0; rank < race->entries; rank++) {
    const Entry* e = &race->entry[rank];
    Standing* s = &standing[e->lane];
    s->applies += !e->refused;
    s->solved += !e->why_not[0] && e->result.outcome == TB_CONVERGED;
    s->ranks += rank;
  }
}

tbStatus report_places(tbContext* ctx, const Report* report, int* place)
{
  int lanes = report->rules->solvers;
  Standing* standing = TB_NEW(ctx, Standing, (size_t)lanes);
  if (!standing) return TB_ERROR_MEMORY;
  for (int lane = 0; lane < lanes; lane++) standing[lane].lane = lane;
  for (int i = 0; i < report->races; i++) count_race(&report->race[i], standing);
  tb_sort(standing, (size_t)lanes, sizeof *standing, compare_standings);
  for (int i = 0; i < lanes; i++) place[standing[i].lane] = i;
  tb_free(ctx, standing);
  return TB_OK;
}

const char* report_spread(char text[SPREAD_TEXT], const Entry* e, const char* dash)
{
  char low[OUT_NUMBER], high[OUT_NUMBER];
  if (e->runs < 2) snprintf(text, SPREAD_TEXT, "%s", dash);
  else
    snprintf(text, SPREAD_TEXT, "%s%s%s", out_scaled(low, 1e3 * e->fastest_s), dash,
             out_scaled(high, 1e3 * e->slowest_s));
  return text;
}

void report_start(const Report* report, const Race* race, char line[256])
{
  double residual = judged(&report->rules->options, &race->start_residual);
  const char* from = race->warm ? "a guess" : "zero";
  if (race->start_suffices)
    snprintf(
        line, 256,
        "The start, %s, already meets the tolerance (residual %.1e): this ranking says nothing about the "
        "methods.",
        from, residual);
  else snprintf(line, 256, "Start: %s, residual %.1e.", from, residual);
}

void report_borrowed(tbOut* out, const Race* race, NoteWriter* write)
{
  char line[160];
  for (const Entry* e = race->entry; e < race->entry + race->ran; e++) {
    if (!e->borrowed) continue;
    snprintf(line, sizeof line, "%s: %d of %d contacts by the equations of %s, not its own.", e->solver->name,
             e->borrowed, race->problem->ncontact, e->solver->borrows_from);
    write(out, line);
  }
}

int report_trivial(const Report* report)
{
  int count = 0;
  for (int i = 0; i < report->races; i++) count += report->race[i].start_suffices;
  return count;
}
