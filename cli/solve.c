// SPDX-License-Identifier: Apache-2.0
// tribo solve: one contact problem, one method, the judge's verdict.
#include "tribo/tools/file.h"
#include "tribo/tools/json_write.h"
#include "cli/args.h"
#include "cli/interrupt.h"
#include "cli/named.h"
#include "cli/scene_problem.h"
#include "cli/out.h"
#include "cli/stream.h"
#include "cli/verdict.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  Stream stream;
  const tbSolveOptions* options;
} Trace;

static void trace_row(void* user, const tbTraceEvent* e)
{
  Trace* trace = user;
  tbOut* out = &trace->stream.out;
  tb_out_int(out, e->iteration);
  tb_out_text(out, ",");
  tb_out_double(out, e->time_s);
  tb_out_text(out, ",");
  tb_out_double(out, judged(trace->options, e->residual));
  tb_out_text(out, "\n");
}

// One impulse per line, with the digits to read it back exactly.
static tbStatus write_solution(tbContext* ctx, const char* path, int rows, const double* lambda)
{
  Stream stream;
  TB_TRY(stream_open(ctx, path, &stream));
  for (int i = 0; i < rows; i++) {
    char line[40];
    snprintf(line, sizeof line, "%.16e\n", lambda[i]);
    tb_out_text(&stream.out, line);
  }
  return streams_close(ctx, (Stream* const[]){&stream}, 1, TB_OK);
}

static tbStatus print_json(tbContext* ctx, const char* path, const tbProblem* p, const tbSolveOptions* o,
                           const tbSolveResult* r)
{
  tbOut out = out_standard(ctx);
  tbJsonWriter w = tb_json_writer(&out, 0);
  tb_put_object(&w, NULL);
  tb_put_string(&w, "problem", path);
  tb_put_int(&w, "contacts", p->ncontact);
  tb_put_int(&w, "dofs", p->ndof);
  tb_put_int(&w, "rows", p->nrow);
  tb_put_string(&w, "model", tb_model_name(o->model));
  put_verdict(&w, o, o->solver, r);
  tb_put_end(&w);
  tbStatus status = finish_json_line(&w);
  tb_out_free(&out);
  return status;
}

// "   2·10⁻⁵ ≤ 10⁻⁴ m/s", where a tolerance is asked; then the line ends.
static void print_held(FILE* to, double value, double tolerance, const char* unit)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  tb_out_text(&out, "   ");
  out_held(&out, value, tolerance, unit);
  if (tolerance > 0 && tb_out_finish(&out) == TB_OK) fprintf(to, "%.*s", (int)out.length, out.bytes);
  fprintf(to, "\n");
  tb_out_free(&out);
}

static void print_text(FILE* to, const char* path, const tbProblem* p, const tbSolveOptions* o,
                       const tbSolveResult* r)
{
  const tbResidual* e = &r->residual;
  fprintf(to, "%s: %d contact%s, %d rows", path, p->ncontact, p->ncontact == 1 ? "" : "s", p->nrow);
  if (p->W_ptr) fprintf(to, ", W given\n");
  else fprintf(to, ", %d degrees of freedom\n", p->ndof);
  char time[OUT_NUMBER], setup[OUT_NUMBER];
  fprintf(to, "%s: %s after %d iteration%s, %s ms (setup %s ms)\n", r->used, tb_outcome_name(r->outcome),
          r->iterations, r->iterations == 1 ? "" : "s", out_scaled(time, 1e3 * r->time_s),
          out_scaled(setup, 1e3 * r->setup_s));
  bool cone = o->model == TB_MODEL_CONE;
  fprintf(to, "  residual         %.3e   E / max(‖q‖, ‖λ‖, ‖u‖)", e->fclib);
  print_held(to, e->fclib, cone ? o->tolerance : 0, "");
  if (!cone) {
    fprintf(to, "  of the model     %.3e   %s", e->model, tb_model_name(o->model));
    print_held(to, e->model, o->tolerance, "");
  }
  fprintf(to, "  natural map      %.3e   E / ‖q‖\n", e->natural_map);
  fprintf(to, "  velocity         %.3e   m/s, the most by which a contact misses its law", e->velocity);
  print_held(to, judged_velocity(o, e), o->velocity_tolerance, " m/s");
  fprintf(to, "  penetration      %.3e   m/s\n", e->penetration);
  fprintf(to, "  cone             %.3e   N·s\n", e->cone);
  fprintf(to, "  complementarity  %.3e   J\n", e->complementarity);
  fprintf(to, "  dissipation      %.3e   J\n", e->dissipation);
}

typedef struct {
  SolverArgs solver;
  bool json, strict, cold;
  const char *solution, *trace;
} SolveArgs;

// A scene has a problem in every step: which one is for `tribo compare` to be told.
static tbStatus refuse_scene(tbContext* ctx, const char* path)
{
  tbContext quiet = tb_default_context();
  bool scene = is_named_scene(path);
  if (!scene && strcmp(path, "-") != 0 && !tb_is_stream(path)) scene = is_scene_file(&quiet, path);
  if (!scene) return TB_OK;
  return tb_fail(
      ctx, TB_ERROR_INPUT,
      "%s: a scene, not a contact problem; `tribo compare %s --step N` solves the problem of one of "
      "its steps",
      path, path);
}

static tbStatus solve_file(tbContext* ctx, const char* path, const SolveArgs* a, tbSolveOptions* o,
                           tbSolveResult* r)
{
  tbProblem* p = NULL;
  double *lambda = NULL, *guess = NULL;
  Trace trace = {.options = o};
  TB_TRY(refuse_scene(ctx, path));
  TB_TRY(load_problem(ctx, path, &p, &guess));
  lambda = TB_NEW(ctx, double, (size_t)p->nrow);
  tbStatus status = lambda ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK && guess && !a->cold) memcpy(lambda, guess, (size_t)p->nrow * sizeof *lambda);

  if (status == TB_OK) status = stream_open(ctx, a->trace, &trace.stream);
  if (trace.stream.open) {
    tb_out_text(&trace.stream.out, "iteration,time_s,residual\n");
    o->trace = trace_row;
    o->trace_user = &trace;
  }
  if (status == TB_OK) status = tb_solve(ctx, p, o, lambda, r);
  status = streams_close(ctx, (Stream* const[]){&trace.stream}, 1, status);
  if (status == TB_OK && a->solution) status = write_solution(ctx, a->solution, p->nrow, lambda);
  if (status == TB_OK) {
    bool taken = a->json || is_standard(a->solution) || is_standard(a->trace);
    if (a->json) status = print_json(ctx, path, p, o, r);
    else print_text(taken ? stderr : stdout, path, p, o, r), fflush(stdout);
    out_wrote(taken, a->solution);
    out_wrote(taken, a->trace);
  }
  tb_free(ctx, lambda);
  tb_guess_free(ctx, guess);
  tb_problem_free(p);
  return status;
}

int command_solve(int argc, char** argv)
{
  SolveArgs a = {.solver = solver_args_default()};
  bool help = false;
  const Arg args[] = {
      {"--solver", ARG_TEXT, &a.solver.solver, "NAME", "the method (default auto); `tribo list solvers`"},
      SOLVER_ARGS(a.solver, "no limit"),
      {"--json", ARG_FLAG, &a.json, NULL, "one JSON object on standard output"},
      {"--solution", ARG_TEXT, &a.solution, "FILE", "write the impulses, one per line, contact by contact"},
      {"--trace", ARG_TEXT, &a.trace, "FILE", "write iteration,time_s,residual for every iteration (CSV)"},
      {"--cold", ARG_FLAG, &a.cold, NULL, "start from zero even if the file brings a guess"},
      {"--strict", ARG_FLAG, &a.strict, NULL, "exit with 1 when the tolerance was missed"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("solve", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    printf("usage: tribo solve PROBLEM [options]\n\n"
           "Solves one contact problem and prints the judge's verdict. PROBLEM is an FCLIB file (HDF5), a "
           "Tribo\n"
           "problem (JSON, docs/problem-format.md) or a Siconos LCP (text); \"-\" is standard input, and for "
           "FILE\n"
           "below standard output.\n\n");
    args_help(args);
    printf("\n  tribo solve problems/arch.json --solver bgs --tol 1e-10 --trace curve.csv\n");
    return EXIT_DONE;
  }
  if (count != 1) {
    fprintf(stderr, "usage: tribo solve PROBLEM [options]; `tribo solve --help` says more\n");
    return EXIT_USAGE;
  }
  tbContext ctx = tb_default_context();
  tbSolveOptions o;
  tbSolveResult r = {0};
  if (is_standard(a.solution) + is_standard(a.trace) + a.json > 1) {
    fprintf(stderr, "tribo solve: two outputs go to standard output\n");
    return EXIT_USAGE;
  }
  if (!solver_options(&a.solver, &o)) return EXIT_USAGE;
  if (start_threads(&ctx, a.solver.threads) != TB_OK) return fail_with(&ctx);
  interrupt_watch();
  o.cancelled = interrupted;
  tbStatus status = solve_file(&ctx, argv[0], &a, &o, &r);
  int code = status != TB_OK ? fail_with(&ctx) : EXIT_DONE;
  if (status == TB_OK && r.outcome == TB_CANCELLED) code = EXIT_INTERRUPTED;
  else if (status == TB_OK && a.strict && r.outcome != TB_CONVERGED) code = EXIT_UNCONVERGED;
  tb_threads_destroy(&ctx, ctx.threads);
  return code;
}
