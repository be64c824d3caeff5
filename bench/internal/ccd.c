// SPDX-License-Identifier: Apache-2.0
// The methods of continuous collision detection side by side: time and mistakes by kind of query, with the
// truth from exact arithmetic.
//
//   bench_ccd [QUERIES]      of each kind, 2000 by default
#include "../../test/collide/ccd_oracle.h"
#include "bench.h"

#include <stdlib.h>

typedef struct {
  tbCcdQuery* query;
  bool* truth;
  double* us;
  int count;
} Set;

static int ascending(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Each query's best of three.
static void measure(const Set* s, tbCcdMethod method)
{
  tbCcdOptions options = tb_default_ccd_options();
  options.method = method;
  int missed = 0, alarms = 0;
  double sum = 0;
  for (int i = 0; i < s->count; i++) {
    bool found = false;
    s->us[i] = INFINITY;
    for (int k = 0; k < 3; k++) {
      double begin = bench_now();
      found = tb_ccd(&s->query[i], &options, NULL);
      s->us[i] = fmin(s->us[i], 1e6 * (bench_now() - begin));
    }
    missed += s->truth[i] && !found;
    alarms += found && !s->truth[i];
    sum += s->us[i];
  }
  qsort(s->us, (size_t)s->count, sizeof *s->us, ascending);
  printf("  %-14s missed %5d  alarms %5d   mean %7.3f  p50 %7.3f  p99 %7.2f  max %7.1f µs\n",
         tb_ccd_method_name(method), missed, alarms, sum / s->count, s->us[s->count / 2],
         s->us[(int)(0.99 * (s->count - 1))], s->us[s->count - 1]);
}

int main(int argc, char** argv)
{
  int count = argc > 1 ? atoi(argv[1]) : 2000;
  uint64_t random = 1;
  if (count < 1) return 2;
  Set s = {calloc((size_t)count, sizeof *s.query), calloc((size_t)count, sizeof *s.truth),
           calloc((size_t)count, sizeof *s.us), count};
  if (!s.query || !s.truth || !s.us) return 1;
  for (int family = 0; family < EXACT_FAMILIES; family++) {
    int contacts = 0;
    for (int i = 0; i < count; i++) {
      ExactQuery q = exact_query(&random, family);
      s.query[i] = exact_to_query(&q);
      s.truth[i] = exact_collides(&q, EXACT_STEPS);
      contacts += s.truth[i];
    }
    printf("%s: %d queries, %d contacts\n", exact_family_name(family), count, contacts);
    for (int m = 0; m < TB_CCD_METHOD_COUNT; m++) measure(&s, (tbCcdMethod)m);
  }
  free(s.query);
  free(s.truth);
  free(s.us);
  return 0;
}
