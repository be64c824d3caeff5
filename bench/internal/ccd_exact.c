// SPDX-License-Identifier: Apache-2.0
// The inclusion method against exact arithmetic: misses, false alarms, moments, on random and degenerate
// queries. "early" counts contacts reported more than 5·2⁻²⁰ before they happen: the features come within
// delta of each other that long before they touch, as they do when they approach along a cubic.
//
//   bench_ccd_exact [QUERIES [SEED]]      100 000 by default; ends with 1 if a contact was missed or late
#include "../../test/collide/ccd_oracle.h"
#include "bench.h"

#include <stdlib.h>

typedef struct {
  long queries, hits, missed, checked, alarms, late, early, capped, boxes, most;
} Tally;

// No contact may come before the moment reported, and one must come soon after.
static void check_moment(const ExactQuery* q, const tbCcdHit* hit, Tally* y)
{
  int64_t before = (int64_t)floor(hit->t * EXACT_STEPS) - 1, after = before + 6;
  if (before > 0 && exact_collides(q, before)) y->late++;
  if (!hit->capped && !exact_collides(q, after < EXACT_STEPS ? after : EXACT_STEPS)) y->early++;
}

// Every miss is asked about, and every 16th hit.
static void ask(const ExactQuery* q, Tally* y)
{
  tbCcdOptions options = tb_default_ccd_options();
  tbCcdQuery query = exact_to_query(q);
  tbCcdHit hit;
  bool found = tb_ccd(&query, &options, &hit);
  y->queries++;
  y->hits += found;
  y->capped += hit.capped;
  y->boxes += hit.boxes;
  if (hit.boxes > y->most) y->most = hit.boxes;
  if (found && y->hits % 16 != 0) return;
  bool truth = exact_collides(q, EXACT_STEPS);
  y->missed += truth && !found;
  y->checked += found;
  y->alarms += found && !truth;
  if (found && truth) check_moment(q, &hit, y);
}

int main(int argc, char** argv)
{
  long count = argc > 1 ? atol(argv[1]) : 100000;
  uint64_t random = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
  long missed = 0, late = 0;
  printf("%-32s %9s %9s %7s %8s %7s %7s %7s %7s %8s %6s\n", "", "queries", "hits", "missed", "checked",
         "alarms", "late", "early", "capped", "boxes", "most");
  for (int family = 0; family < EXACT_FAMILIES; family++) {
    Tally y = {0};
    for (long i = 0; i < count / EXACT_FAMILIES + 1; i++) {
      ExactQuery q = exact_query(&random, family);
      ask(&q, &y);
    }
    printf("%-32s %9ld %9ld %7ld %8ld %7ld %7ld %7ld %7ld %8.1f %6ld\n", exact_family_name(family), y.queries,
           y.hits, y.missed, y.checked, y.alarms, y.late, y.early, y.capped,
           (double)y.boxes / (double)y.queries, y.most);
    fflush(stdout);
    missed += y.missed, late += y.late;
  }
  return missed + late > 0;
}
