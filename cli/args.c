// SPDX-License-Identifier: Apache-2.0
#include "cli/args.h"
#include "cli/named.h"
#include "tribo/tools/decimal.h"
#include "tribo/tools/file.h"
#include "tribo/tools/text.h"
#include "tribo/check.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_value(const char* command, const Arg* arg, const char* text)
{
  if (arg->kind == ARG_TEXT) {
    *(const char**)arg->target = text;
    return true;
  }
  if (arg->kind == ARG_TEXTS) {
    Texts* all = arg->target;
    if (all->count == MAX_TEXTS) {
      fprintf(stderr, "tribo %s: %s at most %d times\n", command, arg->name, MAX_TEXTS);
      return false;
    }
    all->at[all->count++] = text;
    return true;
  }
  double number = NAN;
  const char* end = text + strlen(text);
  bool good = tb_read_double(text, end, &number) == end && isfinite(number);
  bool whole = number >= INT_MIN && number <= INT_MAX && number == trunc(number);
  if (!good || (arg->kind == ARG_INT && !whole)) {
    fprintf(stderr, "tribo %s: %s takes a %snumber, not \"%s\"\n", command, arg->name,
            arg->kind == ARG_INT ? "whole " : "", text);
    return false;
  }
  if (arg->kind == ARG_INT) *(int*)arg->target = (int)number;
  else *(double*)arg->target = number;
  return true;
}

static const Arg* find(const Arg* args, const char* name, size_t length)
{
  for (; args->name; args++)
    if (strlen(args->name) == length && strncmp(args->name, name, length) == 0) return args;
  return NULL;
}

static void complain_unknown(const char* command, const Arg* args, const char* name)
{
  tbNearest near = tb_nearest(name);
  for (; args->name; args++) tb_nearest_offer(&near, args->name);
  if (near.name) fprintf(stderr, "tribo %s: no option %s; did you mean %s?\n", command, name, near.name);
  else fprintf(stderr, "tribo %s: no option %s; `tribo %s --help` lists them\n", command, name, command);
}

int args_parse(const char* command, const Arg* args, int argc, char** argv)
{
  int positional = 0;
  bool only_positional = false;
  for (int i = 0; i < argc; i++) {
    char* word = argv[i];
    if (only_positional || word[0] != '-' || !word[1]) {
      argv[positional++] = word;
      continue;
    }
    if (strcmp(word, "--") == 0) {
      only_positional = true;
      continue;
    }
    const char* equals = strchr(word, '=');
    const Arg* arg = find(args, word, equals ? (size_t)(equals - word) : strlen(word));
    if (!arg) {
      complain_unknown(command, args, word);
      return -1;
    }
    if (arg->kind == ARG_FLAG) {
      if (equals) {
        fprintf(stderr, "tribo %s: %s takes no value\n", command, arg->name);
        return -1;
      }
      *(bool*)arg->target = true;
      continue;
    }
    if (!equals && i + 1 >= argc) {
      fprintf(stderr, "tribo %s: %s needs a value (%s)\n", command, arg->name, arg->value);
      return -1;
    }
    if (!read_value(command, arg, equals ? equals + 1 : argv[++i])) return -1;
  }
  return positional;
}

void print_columns(FILE* to, int width, const char* left, const char* right)
{
  int characters = 0;
  for (const char* c = left; *c; c++)
    characters += (*c & 0xc0) != 0x80; // UTF-8 continuation bytes take no room
  fprintf(to, "  %s%*s %s\n", left, characters < width ? width - characters : 0, "", right);
}

void args_help(const Arg* args)
{
  for (; args->name; args++) {
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", args->name, args->value ? " " : "", args->value ? args->value : "");
    print_columns(stdout, 22, left, args->help);
  }
}

SolverArgs solver_args_default(void)
{
  tbSolveOptions o = tb_default_solve_options();
  return (SolverArgs){.solver = o.solver,
                      .model = "cone",
                      .order = "given",
                      .r_factor = "own",
                      .preconditioner = "schur",
                      .inverse = "exact",
                      .tolerance = o.tolerance,
                      .max_iterations = o.max_iterations,
                      .directions = o.directions,
                      .threads = 1,
                      .seed = 1};
}

static void complain_name(const char* what, const char* name, int count, const char* (*at)(int))
{
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < count; i++) tb_nearest_offer(&near, at(i));
  fprintf(stderr, "tribo: no %s is called \"%s\"", what, name);
  if (near.name) {
    fprintf(stderr, "; did you mean \"%s\"?\n", near.name);
    return;
  }
  fprintf(stderr, "; there are");
  for (int i = 0; i < count; i++) fprintf(stderr, " %s", at(i));
  fprintf(stderr, "\n");
}

static const char* solver_at(int i) { return tb_solver_at(i)->name; }
static const char* scheme_at(int i) { return tb_scheme_at(i)->name; }
static const char* model_at(int i) { return tb_model_name((tbModel)i); }
static const char* order_at(int i) { return tb_order_name((tbOrder)i); }
static const char* r_factor_at(int i) { return tb_r_factor_name((tbRFactor)i); }
static const char* preconditioner_at(int i) { return tb_preconditioner_name((tbPreconditioner)i); }
static const char* inverse_at(int i) { return tb_inverse_name((tbInverse)i); }

const tbSolver* solver_named(const char* name)
{
  const tbSolver* solver = tb_solver_find(name);
  if (!solver) complain_name("solver", name, tb_solver_count(), solver_at);
  return solver;
}

const tbScheme* scheme_named(const char* name)
{
  const tbScheme* scheme = tb_scheme_find(name);
  if (!scheme) complain_name("scheme", name, tb_scheme_count(), scheme_at);
  return scheme;
}

bool model_named(const char* name, tbModel* out)
{
  if (tb_model_from_name(name, out)) return true;
  complain_name("model", name, TB_MODEL_COUNT, model_at);
  return false;
}

bool is_scene_key(const char* key)
{
  static const char* const parts[] = {"gravity", "seed",   "time", "materials", "pairs",   "bodies",
                                      "joints",  "ignore", "soft", "cloth",     "reduced", "animated"};
  size_t length = strcspn(key, ".=");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strlen(parts[i]) == length && strncmp(key, parts[i], length) == 0) return true;
  return false;
}

bool set_options(const Texts* settings, tbStepOptions* o)
{
  for (int i = 0; i < settings->count; i++) {
    char key[64];
    const char* equals = strchr(settings->at[i], '=');
    size_t length = equals ? (size_t)(equals - settings->at[i]) : 0;
    if (length == 0 || length >= sizeof key) {
      fprintf(stderr, "tribo: --set takes KEY=VALUE, not \"%s\"; `tribo list options` has the keys\n",
              settings->at[i]);
      return false;
    }
    memcpy(key, settings->at[i], length);
    key[length] = 0;
    tbContext ctx = tb_default_context();
    if (tb_option_set(&ctx, o, key, equals + 1) != TB_OK) {
      fprintf(stderr, "tribo: %s\n", ctx.error.message);
      return false;
    }
  }
  return true;
}

bool solver_options(const SolverArgs* a, tbSolveOptions* o)
{
  *o = tb_default_solve_options();
  if (!solver_named(a->solver)) return false;
  if (!model_named(a->model, &o->model)) return false;
  if (!tb_order_from_name(a->order, &o->order)) {
    complain_name("order", a->order, TB_ORDER_COUNT, order_at);
    return false;
  }
  if (!tb_r_factor_from_name(a->r_factor, &o->r_factor)) {
    complain_name("r-factor strategy", a->r_factor, TB_RFACTOR_COUNT, r_factor_at);
    return false;
  }
  if (!tb_preconditioner_from_name(a->preconditioner, &o->preconditioner)) {
    complain_name("preconditioner", a->preconditioner, TB_PRECONDITIONER_COUNT, preconditioner_at);
    return false;
  }
  if (!tb_inverse_from_name(a->inverse, &o->inverse)) {
    complain_name("inverse", a->inverse, TB_INVERSE_COUNT, inverse_at);
    return false;
  }
  o->solver = a->solver;
  o->tolerance = a->tolerance;
  o->tolerance_q = a->tolerance_q;
  o->velocity_tolerance = a->velocity_tolerance;
  o->max_iterations = a->max_iterations;
  o->time_budget_s = a->time_budget;
  o->relaxation = a->relaxation;
  o->directions = a->directions;
  o->seed = (uint64_t)a->seed;
  for (int i = 0; i < a->set.count; i++)
    if (strncmp(a->set.at[i], "solver.", 7) != 0 && strncmp(a->set.at[i], "contact.", 8) != 0) {
      fprintf(stderr, "tribo: a problem has no scheme and no steps: \"%s\" is not the solver's\n",
              a->set.at[i]);
      return false;
    }
  tbStepOptions by_key = {.solver = *o};
  bool good = set_options(&a->set, &by_key);
  *o = by_key.solver;
  return good;
}

tbStatus start_threads(tbContext* ctx, int count)
{
  return count == 1 ? TB_OK : tb_threads_create(ctx, count, &ctx->threads);
}

// Why a file cannot even be read, or null.
static const char* unreadable(const char* path)
{
  struct stat info;
  if (stat(path, &info) != 0 || access(path, R_OK) != 0) return strerror(errno);
  if (S_ISDIR(info.st_mode)) return strerror(EISDIR);
  return S_ISREG(info.st_mode) ? NULL : "not a file";
}

tbStatus check_readable(tbContext* ctx, const char* path)
{
  const char* why = unreadable(path);
  return why ? tb_fail(ctx, TB_ERROR_INPUT, "%s: cannot be read: %s", path, why) : TB_OK;
}

bool is_replay(const char* path)
{
  tbContext quiet = tb_default_context();
  char start[4];
  size_t read;
  uint64_t size;
  return tb_read_start(&quiet, path, start, sizeof start, &read, &size) == TB_OK && read == sizeof start &&
         memcmp(start, "\x89TRP", sizeof start) == 0;
}

static const char* input_path(const char* path) { return strcmp(path, "-") == 0 ? "/dev/stdin" : path; }

static tbStatus check_input(tbContext* ctx, const char* path)
{
  return tb_is_stream(path) ? TB_OK : check_readable(ctx, path);
}

tbStatus load_problem(tbContext* ctx, const char* path, tbProblem** out, double** guess)
{
  path = input_path(path);
  TB_TRY(check_input(ctx, path));
  return tb_problem_load(ctx, path, out, guess);
}

// A word without a dot or a slash may be the name of a scene of the gallery that is spelt nearly so.
tbStatus check_scene_input(tbContext* ctx, const char* path)
{
  if (tb_is_stream(path) || access(path, F_OK) == 0 || strpbrk(path, "/.")) return check_input(ctx, path);
  const char* near = near_named_scene(path);
  if (near)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: no such file, nor a scene of the gallery; did you mean \"%s\"?",
                   path, near);
  return tb_fail(ctx, TB_ERROR_INPUT,
                 "%s: no such file, nor a scene of the gallery; `tribo list scenes` names them", path);
}

tbStatus load_scene_with(tbContext* ctx, const char* path, const Texts* settings, tbScene* out)
{
  Texts of_scene = {0};
  for (int i = 0; i < settings->count; i++)
    if (is_scene_key(settings->at[i])) of_scene.at[of_scene.count++] = settings->at[i];
  if (is_named_scene(path)) return load_named_scene(ctx, path, &of_scene, out);
  path = input_path(path);
  TB_TRY(check_scene_input(ctx, path));
  return tb_scene_load_with(ctx, path, of_scene.at, of_scene.count, out);
}

tbStatus load_scene(tbContext* ctx, const char* path, tbScene* out)
{
  return load_scene_with(ctx, path, &(Texts){0}, out);
}

tbStatus examine_scene(tbContext* ctx, const char* path, tbSceneErrors* errors, tbScene* out)
{
  if (is_named_scene(path)) return load_named_scene(ctx, path, &(Texts){0}, out);
  path = input_path(path);
  TB_TRY(check_scene_input(ctx, path));
  return tb_scene_examine(ctx, path, errors, out);
}

int fail_with(const tbContext* ctx)
{
  tbStatus s = ctx->error.status;
  if (s == TB_ERROR_CANCELLED) return EXIT_INTERRUPTED;
  fprintf(stderr, "%s%s\n", s == TB_ERROR_INPUT ? "" : "tribo: ", ctx->error.message);
  return s == TB_ERROR_MEMORY || s == TB_ERROR_IO ? EXIT_FAULT : EXIT_USAGE;
}
