// SPDX-License-Identifier: Apache-2.0
// tribo ccd: collision queries with known answers through one of the methods; mistakes and times.
#include "tribo/tools/clock.h"
#include "tribo/tools/json_write.h"
#include "tribo/tools/sort.h"
#include "cli/args.h"
#include "cli/ccd_file.h"
#include "cli/out.h"
#include "cli/verdict.h"

#include <string.h>

static const char* const kind_name[] = {
    [TB_CCD_VERTEX_FACE] = "vertex-face", [TB_CCD_EDGE_EDGE] = "edge-edge"};

typedef struct {
  long queries, positives, false_positives, false_negatives, capped;
  double back, depth; // looking back: sum of how long ago, largest overlap since
  tbArray us;         // double: each query's time
} Tally;

typedef struct {
  tbCcdOptions options;
  int repeat;
  bool backward;
} Setting;

// The best of a few runs: what the query takes when nothing else has the processor.
static tbStatus run_case(tbContext* ctx, const Setting* s, const CcdCase* c, Tally* tally)
{
  tbCcdHit hit;
  tbCcdPast past;
  bool found = false;
  double best = INFINITY;
  for (int k = 0; k < s->repeat; k++) {
    double begin = tb_seconds();
    if (s->backward) found = tb_ccd_backward(&c->query, 1, &s->options, &past), hit = past.hit;
    else found = tb_ccd(&c->query, &s->options, &hit);
    best = fmin(best, 1e6 * (tb_seconds() - begin));
  }
  tally->queries++;
  tally->positives += c->collides;
  tally->false_positives += found && !c->collides;
  tally->false_negatives += !found && c->collides;
  tally->capped += hit.capped;
  if (s->backward && found) tally->back += past.back, tally->depth = fmax(tally->depth, past.depth);
  return tb_array_push(ctx, &tally->us, &best, 1);
}

static tbStatus run_file(tbContext* ctx, const Setting* s, const char* path, tbCcdKind kind, Tally* tally)
{
  tbArray cases = TB_ARRAY(CcdCase);
  tbStatus status = ccd_file_load(ctx, path, kind, &cases);
  for (size_t i = 0; i < cases.count && status == TB_OK; i++)
    status = run_case(ctx, s, (CcdCase*)cases.data + i, tally);
  tb_array_free(ctx, &cases);
  return status;
}

static int ascending(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

typedef struct {
  double mean, p50, p99, max;
} Times;

static Times times_of(Tally* tally)
{
  Times t = {0};
  double* us = tally->us.data;
  size_t n = tally->us.count;
  if (n == 0) return t;
  tb_sort(us, n, sizeof *us, ascending);
  for (size_t i = 0; i < n; i++) t.mean += us[i];
  t.mean /= (double)n;
  t.p50 = us[n / 2];
  t.p99 = us[(size_t)(0.99 * (double)(n - 1))];
  t.max = us[n - 1];
  return t;
}

static tbStatus print_json(tbContext* ctx, const char* path, tbCcdKind kind, const Setting* s, Tally* tally)
{
  Times t = times_of(tally);
  tbOut out = out_standard(ctx);
  tbJsonWriter w = tb_json_writer(&out, 0);
  tb_put_object(&w, NULL);
  tb_put_string(&w, "file", path);
  tb_put_string(&w, "kind", kind_name[kind]);
  tb_put_string(&w, "method", tb_ccd_method_name(s->options.method));
  tb_put_int(&w, "queries", tally->queries);
  tb_put_int(&w, "positives", tally->positives);
  tb_put_int(&w, "false_positives", tally->false_positives);
  tb_put_int(&w, "false_negatives", tally->false_negatives);
  tb_put_int(&w, "capped", tally->capped);
  if (s->backward) {
    long found = tally->positives + tally->false_positives - tally->false_negatives;
    tb_put_object(&w, "backward");
    tb_put_number(&w, "mean", found > 0 ? tally->back / (double)found : 0);
    tb_put_number(&w, "depth", tally->depth);
    tb_put_end(&w);
  }
  tb_put_object(&w, "us");
  tb_put_number(&w, "mean", t.mean);
  tb_put_number(&w, "p50", t.p50);
  tb_put_number(&w, "p99", t.p99);
  tb_put_number(&w, "max", t.max);
  tb_put_end(&w);
  tb_put_end(&w);
  tbStatus status = finish_json_line(&w);
  tb_out_free(&out);
  return status;
}

static void print_table(Tally tally[2])
{
  printf("%-12s %8s %9s %9s %9s %8s %8s %8s %8s\n", "", "queries", "positive", "false +", "false −",
         "mean µs", "p50", "p99", "max");
  for (int k = 0; k < 2; k++) {
    if (!tally[k].queries) continue;
    Times t = times_of(&tally[k]);
    printf("%-12s %8ld %9ld %9ld %9ld", kind_name[k], tally[k].queries, tally[k].positives,
           tally[k].false_positives, tally[k].false_negatives);
    printf(" %7.3g %8.3g %8.3g %8.3g\n", t.mean, t.p50, t.p99, t.max);
  }
}

static tbStatus add(tbContext* ctx, Tally* to, const Tally* from)
{
  to->queries += from->queries;
  to->positives += from->positives;
  to->false_positives += from->false_positives;
  to->false_negatives += from->false_negatives;
  to->capped += from->capped;
  return tb_array_push(ctx, &to->us, from->us.data, from->us.count);
}

// One file: into the sums by kind, or out as JSON.
static tbStatus do_file(tbContext* ctx, const Setting* s, const char* path, const char* kind_text, bool json,
                        Tally sum[2])
{
  tbCcdKind kind;
  if (!ccd_file_kind(kind_text ? kind_text : path, &kind))
    return tb_fail(ctx, TB_ERROR_INPUT,
                   "%s: the path says neither vertex-face nor edge-edge; --kind can say it", path);
  Tally tally = {.us = TB_ARRAY(double)};
  tbStatus status = run_file(ctx, s, path, kind, &tally);
  if (status == TB_OK) status = add(ctx, &sum[kind], &tally);
  if (status == TB_OK && json) status = print_json(ctx, path, kind, s, &tally);
  tb_array_free(ctx, &tally.us);
  return status;
}

static bool method_named(const char* name, tbCcdMethod* out)
{
  if (tb_ccd_method_from_name(name, out)) return true;
  fprintf(stderr, "tribo ccd: no method is called \"%s\"; there are", name);
  for (int i = 0; i < TB_CCD_METHOD_COUNT; i++) fprintf(stderr, " %s", tb_ccd_method_name((tbCcdMethod)i));
  fprintf(stderr, "\n");
  return false;
}

static bool in_range(const Setting* s, const char* kind)
{
  tbCcdKind any;
  const tbCcdOptions* o = &s->options;
  if (kind && strcmp(kind, "vertex-face") != 0 && strcmp(kind, "edge-edge") != 0)
    fprintf(stderr, "tribo ccd: --kind is vertex-face or edge-edge, not \"%s\"\n", kind);
  else if (!(o->separation >= 0) || !(o->delta >= 0) || !(o->time_tolerance >= 0))
    fprintf(stderr, "tribo ccd: --separation, --delta and --time-tolerance cannot be negative\n");
  else if (o->max_boxes < 1 || s->repeat < 1)
    fprintf(stderr, "tribo ccd: --max-boxes and --repeat are at least 1\n");
  else return !kind || ccd_file_kind(kind, &any);
  return false;
}

int command_ccd(int argc, char** argv)
{
  Setting s = {tb_default_ccd_options(), 5, false};
  const char *method = "inclusion", *kind = NULL;
  bool json = false, strict = false, help = false;
  const Arg args[] = {
      {"--method", ARG_TEXT, &method, "M", "inclusion (default), cubic or multivariate"},
      {"--kind", ARG_TEXT, &kind, "K", "vertex-face or edge-edge (default: what the path says)"},
      {"--separation", ARG_NUMBER, &s.options.separation, "S", "closer than this is a hit (default 0)"},
      {"--delta", ARG_NUMBER, &s.options.delta, "D",
       "may err on the safe side by this much (default 0: rounding)"},
      {"--time-tolerance", ARG_NUMBER, &s.options.time_tolerance, "T", "of the moment found (default 1e-6)"},
      {"--max-boxes", ARG_INT, &s.options.max_boxes, "N", "work at most for a query (default 2000)"},
      {"--backward", ARG_FLAG, &s.backward, NULL,
       "look back from the end: how long ago they met, of the unit step, and how deep they are since"},
      {"--repeat", ARG_INT, &s.repeat, "N", "time each query N times and take the best (default 5)"},
      {"--json", ARG_FLAG, &json, NULL, "one JSON object per file on standard output"},
      {"--strict", ARG_FLAG, &strict, NULL, "exit with 1 when a collision was missed"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int files = args_parse("ccd", args, argc, argv);
  if (files < 0) return EXIT_USAGE;
  if (help) {
    printf(
        "usage: tribo ccd FILE… [options]\n\n"
        "Runs vertex-face and edge-edge queries over linear motion and compares with the known answers.\n"
        "A file is CSV: eight rows a query (four corners at the start, four at the end), seven integers a\n"
        "row (x, y, z as numerator and denominator, then 1 for a collision).\n\n");
    args_help(args);
    return EXIT_DONE;
  }
  if (files == 0) {
    fprintf(stderr, "usage: tribo ccd FILE… [options]; `tribo ccd --help` says more\n");
    return EXIT_USAGE;
  }
  if (!method_named(method, &s.options.method) || !in_range(&s, kind)) return EXIT_USAGE;
  Tally sum[2] = {{.us = TB_ARRAY(double)}, {.us = TB_ARRAY(double)}};
  int worst = EXIT_DONE;
  tbContext ctx = tb_default_context();
  for (int i = 0; i < files; i++) {
    if (do_file(&ctx, &s, argv[i], kind, json, sum) == TB_OK) continue;
    int code = fail_with(&ctx);
    if (code > worst) worst = code;
  }
  if (!json && sum[0].queries + sum[1].queries > 0) print_table(sum);
  if (worst == EXIT_DONE && strict && sum[0].false_negatives + sum[1].false_negatives > 0)
    worst = EXIT_UNCONVERGED;
  for (int k = 0; k < 2; k++) tb_array_free(&ctx, &sum[k].us);
  return worst;
}
