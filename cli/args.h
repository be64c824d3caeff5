// SPDX-License-Identifier: Apache-2.0
// The command line: options in a table, which also writes the help.
#ifndef TB_CLI_ARGS_H
#define TB_CLI_ARGS_H

#include "tribo/tools/status.h"
#include "tribo/io.h"
#include "tribo/solver.h"

#include <stdio.h>

// Exit codes: other programs read them.
enum { EXIT_DONE = 0, EXIT_UNCONVERGED = 1, EXIT_USAGE = 2, EXIT_FAULT = 3, EXIT_INTERRUPTED = 130 };

typedef enum { ARG_FLAG, ARG_INT, ARG_NUMBER, ARG_TEXT, ARG_TEXTS } ArgKind;

enum { MAX_TEXTS = 64 };
typedef struct { // of an option that may be given several times
  const char* at[MAX_TEXTS];
  int count;
} Texts;

typedef struct {
  const char* name; // with its dashes
  ArgKind kind;
  void* target;      // bool*, int*, double*, const char**, Texts*
  const char* value; // what the help calls the value
  const char* help;
} Arg;

// Fills the targets and moves the positional arguments to the front of argv. Returns how many there are, or
// −1 after one line on standard error. A null name closes the table.
int args_parse(const char* command, const Arg* args, int argc, char** argv);
void args_help(const Arg* args);
// A line of help: the left column padded to `width` characters.
void print_columns(FILE* to, int width, const char* left, const char* right);

// The solver options every command that solves takes; names are resolved by solver_options.
typedef struct {
  const char *solver, *model, *order, *r_factor, *preconditioner, *inverse;
  double tolerance, tolerance_q, velocity_tolerance, time_budget, relaxation;
  int max_iterations, directions, threads, seed;
  Texts set; // any other option, by its key
} SolverArgs;

SolverArgs solver_args_default(void);
bool solver_options(const SolverArgs* a, tbSolveOptions* out); // false after one line on standard error
const tbSolver* solver_named(const char* name);                // null after one line on standard error
const tbScheme* scheme_named(const char* name);                // the same
bool model_named(const char* name, tbModel* out);              // false after one line on standard error
// KEY=VALUE each (tribo/options.h); false after one line on standard error.
bool set_options(const Texts* settings, tbStepOptions* out);
// Whether a key or KEY=VALUE is of what a scene file holds (tb_scene_load_with) and not of an option.
bool is_scene_key(const char* key);
tbStatus start_threads(tbContext* ctx, int count); // a count out of range is TB_ERROR_ARGUMENT

// no_time: what the help says of the default time limit.
#define SOLVER_ARGS(a, no_time)                                                                             \
  {"--tol", ARG_NUMBER, &(a).tolerance, "T", "stop when the judge's residual is at most T (default 1e-8)"}, \
      {"--tol-q", ARG_NUMBER, &(a).tolerance_q, "T",                                                        \
       "also require the residual divided by ‖q‖ to be at most T (default: not required)"},                 \
      {"--velocity-tol", ARG_NUMBER, &(a).velocity_tolerance, "V",                                          \
       "also require the residual in m/s to be at most V (default: not required)"},                         \
      {"--max-iter", ARG_INT, &(a).max_iterations, "N", "largest number of iterations (default 10000)"},    \
      {"--max-time", ARG_NUMBER, &(a).time_budget, "S", "time limit in seconds (default: " no_time ")"},    \
      {"--model", ARG_TEXT, &(a).model, "M",                                                                \
       "friction model: cone (default), box, polyhedral, ccp or frictionless"},                             \
      {"--directions", ARG_INT, &(a).directions, "K", "corners of the polyhedral cone (default 8)"},        \
      {"--order", ARG_TEXT, &(a).order, "O",                                                                \
       "order of sweeps: given (default), random, colour, greedy, symmetric, layers"},                      \
      {"--relaxation", ARG_NUMBER, &(a).relaxation, "W", "over-relaxation, between 0 and 2"},               \
      {"--r-factor", ARG_TEXT, &(a).r_factor, "S", "prox methods: own (default), global, local or block"},  \
      {"--preconditioner", ARG_TEXT, &(a).preconditioner, "P", "cr: schur (default), full, diag, factor"},  \
      {"--inverse", ARG_TEXT, &(a).inverse, "I",                                                            \
       "treatment of soft bodies in W: exact (default), lumped, diagonal or jacobi"},                       \
      {"--seed", ARG_INT, &(a).seed, "N", "seed of random sweeps (default 1)"},                             \
      {"--set", ARG_TEXTS, &(a).set, "K=V", "any option of the solver, by its key; `tribo list options`"},  \
  {                                                                                                         \
    "--threads", ARG_INT, &(a).threads, "N", "threads (default 1); the result does not depend on it"        \
  }

// The number the tolerance applies to: the judge's, for the model asked for.
static inline double judged(const tbSolveOptions* o, const tbResidual* r)
{
  return o->model == TB_MODEL_CONE ? r->fclib : r->model;
}

// Whether an answer is as good as the options ask.
static inline bool meets(const tbSolveOptions* o, const tbResidual* r)
{
  return tb_residual_excess(r, o) <= 1;
}

static inline double judged_velocity(const tbSolveOptions* o, const tbResidual* r) // in m/s
{
  return o->model == TB_MODEL_CONE ? r->velocity : r->model_velocity;
}

// A file that is missing or cannot be read, a pipe and a device are bad input (TB_ERROR_INPUT), not a fault.
tbStatus check_readable(tbContext* ctx, const char* path);
tbStatus check_scene_input(tbContext* ctx, const char* path); // and where the name of a scene may be meant
bool is_replay(const char* path);                             // by its first bytes
// These two also read streams this process was started with: "-" is standard input, /dev/fd/N is what a shell
// puts for <(command).
tbStatus load_problem(tbContext* ctx, const char* path, tbProblem** out, double** guess);
tbStatus load_scene(tbContext* ctx, const char* path, tbScene* out);
// The same with values in the place of the scene's own; settings that are options are passed over.
tbStatus load_scene_with(tbContext* ctx, const char* path, const Texts* settings, tbScene* out);
struct tbSceneErrors;
tbStatus examine_scene(tbContext* ctx, const char* path, struct tbSceneErrors* errors, tbScene* out);

// What to say and return when a library call failed. What is wrong with a file reads `file:line:column: …`,
// as compilers have it; everything else starts with the command's name.
int fail_with(const tbContext* ctx);

// Commands. argv[0] is the first argument after the command's name.
int command_run(int argc, char** argv);
int command_resume(int argc, char** argv);
int command_render(int argc, char** argv);
int command_export(int argc, char** argv);
int command_solve(int argc, char** argv);
int command_compare(int argc, char** argv);
int command_generate(int argc, char** argv);
int command_import(int argc, char** argv);
int command_sweep(int argc, char** argv);
int command_gradient(int argc, char** argv);
int command_optimize(int argc, char** argv);
int command_scene(int argc, char** argv);
int command_paper(int argc, char** argv);
int command_ccd(int argc, char** argv);
int command_check(int argc, char** argv);
int command_schema(int argc, char** argv);
int command_view(int argc, char** argv);
int command_list(int argc, char** argv);
void list_friction(void); // list_friction.c
int command_version(void);

#endif
