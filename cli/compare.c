// SPDX-License-Identifier: Apache-2.0
// tribo compare: the same problems, the same start, the same judge; many methods.
#include "tribo/tools/text.h"
#include "cli/args.h"
#include "cli/interrupt.h"
#include "cli/problem_files.h"
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  SolverArgs solver;
  bool json, strict, cold, warm, profile;
  int repeat;       // 0: as the race sees fit
  int manufactured; // how many; 0: the problems are files
  const char *solvers, *out, *page;
  int step;
} CompareArgs;

enum { MOST_SOLVERS = 64 };
enum { MOST_MANUFACTURED = 100000 };
static const char usage[] = "usage: tribo compare PROBLEM… [options]";

// The words of a command line as a shell would take them.
static tbStatus spell_command(tbOut* out, int argc, char** argv)
{
  tb_out_text(out, "tribo compare");
  for (int i = 0; i < argc; i++) {
    tb_out_text(out, " ");
    bool plain =
        argv[i][0] && strspn(argv[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                      "_-+=./,:@%") == strlen(argv[i]);
    if (plain) {
      tb_out_text(out, argv[i]);
      continue;
    }
    tb_out_text(out, "'");
    for (const char* c = argv[i]; *c; c++) tb_out_bytes(out, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    tb_out_text(out, "'");
  }
  return tb_out_finish(out);
}

static bool holds(const tbSolver* const* list, int count, const tbSolver* solver)
{
  for (int i = 0; i < count; i++)
    if (list[i] == solver) return true;
  return false;
}

// "a,b,…" as a list without repeats; all of the table when there is none. −1 after one line on standard
// error.
static int choose_solvers(const char* names, const tbSolver* list[MOST_SOLVERS])
{
  int count = 0;
  if (!names) {
    for (; count < tb_solver_count() && count < MOST_SOLVERS; count++) list[count] = tb_solver_at(count);
    return count;
  }
  while (true) {
    char name[64];
    size_t length = strcspn(names, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, names);
    const tbSolver* solver = solver_named(name);
    if (!solver) return -1;
    if (count < MOST_SOLVERS && !holds(list, count, solver)) list[count++] = solver;
    if (!names[length]) return count;
    names += length + 1;
  }
}

static bool ends_with(const char* text, const char* end)
{
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool check_page(const CompareArgs* a)
{
  const char* page = a->page;
  if (page && !a->out)
    fprintf(stderr, "tribo compare: --page names a file in the folder of --out, which is missing\n");
  else if (page && (!*page || strchr(page, '/') || strcmp(page, ".") == 0 || strcmp(page, "..") == 0))
    fprintf(stderr, "tribo compare: --page takes the name of a file, not \"%s\"\n", page);
  else if (page && (ends_with(page, ".csv") || ends_with(page, ".tex") || ends_with(page, ".svg")))
    fprintf(stderr, "tribo compare: --page takes the name of an HTML file, not %s\n", page);
  else return true;
  return false;
}

static bool check_step(const CompareArgs* a)
{
  if (a->step < 0) fprintf(stderr, "tribo compare: --step must not be negative\n");
  return a->step >= 0;
}

static bool check_start(const CompareArgs* a)
{
  if (a->cold && a->warm) fprintf(stderr, "tribo compare: a start is --cold or --warm, not both\n");
  return !(a->cold && a->warm);
}

static bool check_repeat(const CompareArgs* a)
{
  bool good = a->repeat >= 0 && a->repeat <= RACE_MOST_RUNS;
  if (!good) fprintf(stderr, "tribo compare: --repeat takes 1 to %d, not %d\n", RACE_MOST_RUNS, a->repeat);
  return good;
}

static bool check_manufactured(const CompareArgs* a, int problems)
{
  if (a->manufactured < 0 || a->manufactured > MOST_MANUFACTURED)
    fprintf(stderr, "tribo compare: --manufactured takes 1 to %d problems, not %d\n", MOST_MANUFACTURED,
            a->manufactured);
  else if (a->manufactured && problems)
    fprintf(stderr, "tribo compare: problems come from files or from --manufactured, not from both\n");
  else return true;
  return false;
}

// Progress, on a terminal only.

static void show_progress(const Race* race, const tbSolver* solver, int index)
{
  const char* slash = strrchr(race->path, '/');
  fprintf(stderr, "\r\033[K%d  %s on %.60s …", index + 1, solver->name, slash ? slash + 1 : race->path);
}

static void clear_progress(const RaceRules* rules)
{
  if (rules->progress) fprintf(stderr, "\r\033[K");
}

static tbStatus print_table(tbContext* ctx, const Report* report, const Race* race)
{
  tbOut out = out_standard(ctx);
  report_table(&out, report, race);
  tbStatus status = tb_out_finish(&out);
  tb_out_free(&out);
  return status;
}

static tbStatus print_together(tbContext* ctx, const Report* report)
{
  tbOut out = out_standard(ctx);
  if (report->set) report_summary_table(&out, report);
  if (report->profile) report_profile_table(&out, report);
  tbStatus status = tb_out_finish(&out);
  tb_out_free(&out);
  return status;
}

static tbStatus print_json(tbContext* ctx, const Report* report)
{
  tbOut out = out_standard(ctx);
  tbStatus status = report_json(&out, report);
  tb_out_free(&out);
  return status;
}

// Runs and prints; the folder is there already.
static tbStatus run_races(tbContext* ctx, const CompareArgs* a, const Report* report, Race* race, int* place,
                          const Folder* folder)
{
  for (int i = 0; i < report->races; i++) {
    tbStatus status = race_run(ctx, report->rules, &race[i]);
    clear_progress(report->rules);
    if (status == TB_OK && !a->json && !report->set && !interrupted(NULL))
      status = print_table(ctx, report, &race[i]);
    if (status != TB_OK || interrupted(NULL)) return status;
  }
  TB_TRY(report_places(ctx, report, place));
  if (!a->json) TB_TRY(print_together(ctx, report));
  const char* page = a->page ? a->page : "report.html";
  if (a->out) TB_TRY(report_save(ctx, report, folder, page));
  if (a->json) return print_json(ctx, report);
  if (a->out) printf("wrote %s/%s\n", folder->path, page);
  return TB_OK;
}

// All files are read before the first solver runs: a typing error should not cost a night.
static tbStatus compare(tbContext* ctx, const CompareArgs* a, const Report* report, char** paths,
                        bool* missed)
{
  Race* race = TB_NEW(ctx, Race, (size_t)report->races);
  int place[MOST_SOLVERS] = {0};
  if (!race) return TB_ERROR_MEMORY;
  Report all = *report;
  all.race = race;
  all.place = place;
  RaceStart start = a->cold ? START_COLD : a->warm ? START_WARM : START_DEFAULT;
  tbStatus status = TB_OK;
  for (int i = 0; i < all.races && status == TB_OK; i++)
    status = report->set ? race_manufacture(ctx, a->solver.seed, i, report->rules->options.model, &race[i])
                         : race_load(ctx, paths[i], a->step, start, &race[i]);
  Folder folder = {0};
  if (status == TB_OK && a->out) status = folder_make(ctx, a->out, &folder);
  if (status == TB_OK) {
    status = run_races(ctx, a, &all, race, place, &folder);
    if (status != TB_OK || interrupted(NULL)) folder_unmake(&folder);
  }
  for (int i = 0; i < all.races; i++) {
    for (int k = 0; k < race[i].ran; k++) *missed |= race[i].entry[k].result.outcome != TB_CONVERGED;
    race_free(ctx, &race[i]);
  }
  tb_free(ctx, race);
  return status;
}

static void print_help(const Arg* args)
{
  printf(
      "%s\n\n"
      "Runs every solver that applies on each problem, from the same start, and ranks them: those that "
      "reached\n"
      "the tolerance by median time, then the others by the judge's residual. PROBLEM is what `tribo solve` "
      "takes, a\n"
      "folder of such files, or a scene: then the problem of one of its steps. --manufactured N takes N "
      "problems\n"
      "made from their answers instead, too many to show one by one: how often each solver solves them, "
      "how it\n"
      "ends on the others, and what it costs.\n\n",
      usage);
  args_help(args);
  printf("\nThe folder of --out, made when missing, gets\n"
         "  report.html   tables and convergence plots; one file, opens from disk\n"
         "  results.csv   "
         "problem,solver,status,iterations,time_s,fclib,natural_map,…,runs,time_min_s,time_max_s\n"
         "  curves.csv    problem,solver,iteration,time_s,residual: the points of the plots, at most %d a "
         "curve;\n"
         "                `tribo solve --trace` writes every iteration\n"
         "  profile.csv   with --profile: measure,solver,factor,share, the corners of the profiles\n"
         "  summary.csv   with --manufactured, instead of curves: solver,taken,solved,…,median_s,p95_s\n"
         "  results.tex   the tables for a paper (booktabs), with machine, commit and command\n"
         "  *.svg         the plots, of at most %d problems\n\n"
         "  tribo compare problems/stack.json problems/arch.json --solvers bgs,pgs,jacobi --out out\n"
         "  tribo compare --manufactured 300 --out out\n",
         CURVE_POINTS, REPORT_FIGURES);
}

static int run_compare(tbContext* ctx, const CompareArgs* a, const char* command, int count, char** words)
{
  const tbSolver* solvers[MOST_SOLVERS];
  RaceRules rules = {.solver = solvers,
                     .solvers = choose_solvers(a->solvers, solvers),
                     .repeat = a->repeat,
                     .curves = a->out && !a->manufactured};
  if (rules.solvers < 0 || !check_page(a) || !check_step(a) || !check_start(a) || !check_repeat(a) ||
      !solver_options(&a->solver, &rules.options))
    return EXIT_USAGE;
  if (start_threads(ctx, a->solver.threads) != TB_OK) return fail_with(ctx);
  interrupt_watch();
  rules.options.cancelled = interrupted;
  if (isatty(STDERR_FILENO)) rules.progress = show_progress;
  ProblemFiles files;
  if (problem_files(ctx, count, words, &files) != TB_OK) return fail_with(ctx);
  bool set = a->manufactured > 0;
  Report report = {.rules = &rules,
                   .races = set ? a->manufactured : files.count,
                   .command = command,
                   .threads = a->solver.threads,
                   .profile = a->profile || set,
                   .set = set};
  bool missed = false;
  tbStatus status = compare(ctx, a, &report, files.path, &missed);
  problem_files_free(ctx, &files);
  tb_threads_destroy(ctx, ctx->threads);
  if (status != TB_OK) return fail_with(ctx);
  if (interrupted(NULL)) return EXIT_INTERRUPTED;
  return a->strict && missed ? EXIT_UNCONVERGED : EXIT_DONE;
}

int command_compare(int argc, char** argv)
{
  CompareArgs a = {.solver = solver_args_default()};
  a.solver.time_budget = NAN;
  bool help = false;
  const Arg args[] = {
      {"--solvers", ARG_TEXT, &a.solvers, "A,B,…", "these (default: all); `tribo list solvers`"},
      {"--manufactured", ARG_INT, &a.manufactured, "N", "N problems with known answers, drawn from --seed"},
      {"--out", ARG_TEXT, &a.out, "DIR", "write the report, its tables and its figures into this folder"},
      {"--page", ARG_TEXT, &a.page, "NAME", "the report's name in that folder (default report.html)"},
      {"--step", ARG_INT, &a.step, "N", "of a scene: race the problem that follows N steps (default 0)"},
      {"--profile", ARG_FLAG, &a.profile, NULL,
       "performance profiles over all problems: by time, by iterations"},
      {"--json", ARG_FLAG, &a.json, NULL, "one JSON object on standard output instead of tables"},
      SOLVER_ARGS(a.solver, "10 for each solver, 0.5 with --manufactured; 0: none"),
      {"--repeat", ARG_INT, &a.repeat, "N",
       "run each N times: median and spread (default: 5 of runs under 20 ms)"},
      {"--cold", ARG_FLAG, &a.cold, NULL,
       "start from zero, the default for scenes; even if a file brings a guess"},
      {"--warm", ARG_FLAG, &a.warm, NULL,
       "start from the guess of a file (its default) or of a scene's step"},
      {"--strict", ARG_FLAG, &a.strict, NULL, "exit with 1 when a solver that ran missed the tolerance"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  tbContext ctx = tb_default_context();
  tbOut command = tb_out_memory(&ctx);
  tbStatus status = spell_command(&command, argc, argv); // before the words are moved about
  int count = args_parse("compare", args, argc, argv), code = EXIT_USAGE;
  if (help && count >= 0) {
    print_help(args);
    code = EXIT_DONE;
  } else if (count == 0 && !a.manufactured) {
    fprintf(stderr, "%s; `tribo compare --help` says more\n", usage);
  } else if (count >= 0 && check_manufactured(&a, count)) {
    if (isnan(a.solver.time_budget)) a.solver.time_budget = a.manufactured ? 0.5 : 10;
    code = status == TB_OK ? run_compare(&ctx, &a, command.bytes, count, argv) : fail_with(&ctx);
  }
  tb_out_free(&command);
  return code;
}
