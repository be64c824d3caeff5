// SPDX-License-Identifier: Apache-2.0
// The options of a solve, row by row, and how options are read and written by their rows.
#include "solve/options.h"

#include "base/decimal.h"
#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const char* solver_at(int i) { return i < tb_solver_count() ? tb_solver_at(i)->name : NULL; }
static const char* model_at(int i) { return i < TB_MODEL_COUNT ? tb_model_name((tbModel)i) : NULL; }
static const char* order_at(int i) { return i < TB_ORDER_COUNT ? tb_order_name((tbOrder)i) : NULL; }
static const char* inverse_at(int i) { return i < TB_INVERSE_COUNT ? tb_inverse_name((tbInverse)i) : NULL; }
static const char* r_factor_at(int i) { return i < TB_RFACTOR_COUNT ? tb_r_factor_name((tbRFactor)i) : NULL; }
static const char* preconditioner_at(int i)
{
  return i < TB_PRECONDITIONER_COUNT ? tb_preconditioner_name((tbPreconditioner)i) : NULL;
}
static const char* merit_at(int i) { return i < TB_MERIT_COUNT ? tb_merit_name((tbMerit)i) : NULL; }
static const char* blocks_at(int i)
{
  return i < TB_BLOCKS_COUNT ? tb_sweep_blocks_name((tbSweepBlocks)i) : NULL;
}
static const char* limits_at(int i) { return i < TB_LIMITS_COUNT ? tb_limits_name((tbLimits)i) : NULL; }
static const char* krylov_at(int i) { return i < TB_KRYLOV_COUNT ? tb_krylov_name((tbKrylov)i) : NULL; }
static const char* state_changes_at(int i)
{
  return i < TB_STATES_COUNT ? tb_state_changes_name((tbStateChanges)i) : NULL;
}

#define ROW(path, kind, of) .key = path, .member = #of, .type = kind, .at = offsetof(tbSolveOptions, of)

static const tbOption rows[] = {
    {ROW("solver.name", TB_OPTION_NAME, solver), .choice = solver_at, .name = "auto",
     .text = "the solver (`tribo list solvers`)"},
    {ROW("solver.iterations", TB_OPTION_INT, max_iterations), .high = INT_MAX, .value = 10000,
     .text = "largest number of iterations per step"},
    {ROW("solver.tolerance", TB_OPTION_NUMBER, tolerance), .high = INFINITY, .value = 1e-8,
     .text = "tolerance on the judge's residual in FCLIB's scaling, besides velocity_tolerance; 0: no such "
             "requirement"},
    {ROW("solver.velocity_tolerance", TB_OPTION_NUMBER, velocity_tolerance), .high = INFINITY, .unit = "m/s",
     .text = "tolerance on the judge's residual in m/s: the largest velocity by which any contact may "
             "violate its law; 0: no such requirement"},
    {ROW("solver.tolerance_q", TB_OPTION_NUMBER, tolerance_q), .high = INFINITY,
     .text = "tolerance on the residual divided by ‖q‖, besides the others; 0: no such requirement"},
    {ROW("solver.aim", TB_OPTION_NUMBER, aim), .high = 1,
     .text = "once the tolerances are met, continue until this fraction of them is reached; 0: the scheme "
             "chooses"},
    {ROW("solver.merit", TB_OPTION_CHOICE, merit), .choice = merit_at,
     .text = "merit function θ that merit_tolerance, merit_change and merit_growth evaluate after every "
             "iteration"},
    {ROW("solver.merit_tolerance", TB_OPTION_NUMBER, merit_tolerance), .high = INFINITY,
     .text = "stop when θ is at most this, converged or not; not available for iterate; 0: off"},
    {ROW("solver.merit_change", TB_OPTION_NUMBER, merit_change), .high = 1,
     .text = "stop when an iteration changes θ by at most this fraction; 0: off"},
    {ROW("solver.merit_growth", TB_OPTION_NUMBER, merit_growth), .high = INFINITY,
     .text = "stop as failed when an iteration multiplies θ by more than this; 0: off"},
    {ROW("solver.time_budget", TB_OPTION_NUMBER, time_budget_s), .high = INFINITY, .unit = "s",
     .text = "time limit of each solve; 0: none. With a limit, results depend on the machine"},
    {ROW("solver.order", TB_OPTION_CHOICE, order), .choice = order_at,
     .text = "order in which sweeps visit the contacts"},
    {ROW("solver.seed", TB_OPTION_SEED, seed), .high = 9007199254740992, .value = 1, .chosen = true,
     .text = "seed of random sweeps; absent: that of the scene"},
    {ROW("solver.relaxation", TB_OPTION_NUMBER, relaxation), .high = 2,
     .text = "relaxation factor of psor, jacobi and admm; 0: the solver chooses"},
    {ROW("solver.r_factor", TB_OPTION_CHOICE, r_factor), .choice = r_factor_at,
     .text = "how the proximal solvers choose their r-factors"},
    {ROW("solver.preconditioner", TB_OPTION_CHOICE, preconditioner), .choice = preconditioner_at,
     .value = TB_PRECONDITIONER_SCHUR, .text = "preconditioner of cr and staggered-cr"},
    {ROW("solver.krylov", TB_OPTION_CHOICE, krylov), .choice = krylov_at,
     .text = "linear iteration of cr and staggered-cr; minres uses the preconditioner diag"},
    {ROW("solver.state_changes", TB_OPTION_CHOICE, state_changes), .choice = state_changes_at,
     .text = "cr and staggered-cr: whether contacts change state during the linear iteration (early) or only "
             "when the linear problem is solved (converged), as in an active-set method"},
    {ROW("solver.sweeps", TB_OPTION_INT, sweeps), .high = 1000000,
     .text = "pgs-sm: sweeps before each solve in the subspace; bgs: sweeps over each layer that is one "
             "block; 0: 5"},
    {ROW("solver.stagger_tolerance", TB_OPTION_NUMBER, stagger_tolerance), .high = 1,
     .text = "staggered: also stop when the change of friction is at most this fraction, in kinetic energy; "
             "0: off"},
    {ROW("solver.blocks", TB_OPTION_CHOICE, blocks), .choice = blocks_at,
     .text = "bgs: what is solved as one block: each contact and each joint; all joints together, by a "
             "direct solve; or, with order layers, each layer"},
    {ROW("solver.limits", TB_OPTION_CHOICE, limits), .choice = limits_at,
     .text = "murty and bpp: friction bounds follow the normal impulses, or stay fixed at those of a "
             "frictionless solve"},
    {ROW("solver.inverse", TB_OPTION_CHOICE, inverse), .choice = inverse_at,
     .text = "how W treats soft bodies; all but exact solve an approximate problem, and the judge's residual "
             "shows the error"},
    {ROW("solver.factor_bytes", TB_OPTION_NUMBER, factor_bytes), .high = INFINITY,
     .text = "memory limit for a factor of the Newton solvers; 0: 1e9"},
    {ROW("contact.model", TB_OPTION_CHOICE, model), .choice = model_at, .chosen = true,
     .text = "friction model, for solvers that support several; absent: cone, or else the solver's first"},
    {ROW("contact.directions", TB_OPTION_INT, directions), .low = 3, .high = TB_MAX_DIRECTIONS, .value = 8,
     .text = "model polyhedral: number of edges of the cone"},
};

int tb_solve_option_count(void) { return (int)(sizeof rows / sizeof *rows); }
const tbOption* tb_solve_option_at(int index) { return &rows[index]; }

tbSolveOptions tb_default_solve_options(void)
{
  tbSolveOptions o = {0};
  for (int i = 0; i < tb_solve_option_count(); i++) tb_option_put_default(&rows[i], &o);
  return o;
}

static double scale_of(const tbOption* option) { return option->scale != 0 ? option->scale : 1; }

static int choice_count(const tbOption* option)
{
  int n = 0;
  while (option->choice(n)) n++;
  return n;
}

static void store(const tbOption* option, void* o, double value)
{
  void* at = (char*)o + option->at;
  switch (option->type) {
  case TB_OPTION_NUMBER: *(double*)at = value * scale_of(option); break;
  case TB_OPTION_INT: *(int*)at = (int)value; break;
  case TB_OPTION_SEED: *(uint64_t*)at = (uint64_t)value; break;
  case TB_OPTION_BOOL: *(bool*)at = value != 0; break;
  case TB_OPTION_CHOICE: memcpy(at, &(int){(int)value}, sizeof(int)); break; // any enum is an int here
  case TB_OPTION_NAME: *(const char**)at = option->choice((int)value); break;
  }
}

void tb_option_put_default(const tbOption* option, void* o)
{
  if (option->type == TB_OPTION_NAME) *(const char**)((char*)o + option->at) = option->name;
  else store(option, o, option->value);
}

double tb_option_number(const tbOption* option, const void* o)
{
  const void* at = (const char*)o + option->at;
  int index;
  switch (option->type) {
  case TB_OPTION_NUMBER: return *(const double*)at / scale_of(option);
  case TB_OPTION_INT: return *(const int*)at;
  case TB_OPTION_SEED: return (double)*(const uint64_t*)at;
  case TB_OPTION_BOOL: return *(const bool*)at;
  case TB_OPTION_CHOICE: memcpy(&index, at, sizeof index); return index;
  case TB_OPTION_NAME: break;
  }
  return 0;
}

const char* tb_option_name(const tbOption* option, const void* o)
{
  if (option->type == TB_OPTION_NAME) return *(const char* const*)((const char*)o + option->at);
  int i = (int)tb_option_number(option, o);
  return i >= 0 && i < choice_count(option) ? option->choice(i) : "unknown";
}

// "solver.relaxation must be from 0 to 2, not 3"
static tbStatus refuse(tbContext* ctx, const tbOption* option, double value)
{
  char range[80] = "finite";
  if (isfinite(option->low) && isfinite(option->high) && !option->above)
    snprintf(range, sizeof range, "from %.10g to %.10g", option->low, option->high);
  else if (option->low == 0 && !option->above) snprintf(range, sizeof range, "0 or more");
  else if (isfinite(option->low))
    snprintf(range, sizeof range, "%s %.10g", option->above ? "more than" : "at least", option->low);
  bool whole = option->type == TB_OPTION_INT || option->type == TB_OPTION_SEED;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s must be %s%s, not %g", option->key, whole ? "whole, " : "",
                 range, value);
}

static bool is_allowed(const tbOption* option, double value)
{
  if (option->type == TB_OPTION_NAME) return true;
  if (option->type == TB_OPTION_SEED && value > option->high) return false; // a double could not say which
  if (option->type == TB_OPTION_BOOL) return value == 0 || value == 1;
  if (option->type == TB_OPTION_CHOICE)
    return value >= 0 && value < choice_count(option) && value == floor(value);
  if (!isfinite(value)) return false;
  bool whole = option->type == TB_OPTION_INT || option->type == TB_OPTION_SEED;
  if (whole && (value != floor(value) || value < INT_MIN)) return false;
  if (option->chosen && value < 0 && option->value < 0) return true; // it stands for what is chosen
  return value <= option->high && (option->above ? value > option->low : value >= option->low);
}

static tbStatus refuse_name(tbContext* ctx, const tbOption* option, const char* name)
{
  tbNearest near = tb_nearest(name);
  char list[160] = "";
  for (int i = 0; option->choice(i); i++) {
    tb_nearest_offer(&near, option->choice(i));
    tb_list_append(list, sizeof list, option->choice(i));
  }
  if (near.name)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s cannot be \"%.60s\"; did you mean \"%s\"?", option->key, name,
                   near.name);
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s cannot be \"%.60s\"; there are %s", option->key, name, list);
}

tbStatus tb_option_put_number(tbContext* ctx, const tbOption* option, void* o, double value)
{
  if (option->type == TB_OPTION_NAME || option->type == TB_OPTION_CHOICE)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s takes a name, not a number", option->key);
  if (!is_allowed(option, value)) return refuse(ctx, option, value);
  store(option, o, value);
  return TB_OK;
}

tbStatus tb_option_put_text(tbContext* ctx, const tbOption* option, void* o, const char* text)
{
  for (int i = 0; option->choice && option->choice(i); i++)
    if (strcmp(option->choice(i), text) == 0) {
      store(option, o, i);
      return TB_OK;
    }
  if (option->choice) return refuse_name(ctx, option, text);
  if (option->type == TB_OPTION_BOOL) {
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s must be true or false, not \"%.60s\"", option->key, text);
    store(option, o, yes);
    return TB_OK;
  }
  double value;
  const char* end = text + strlen(text);
  if (tb_read_double(text, end, &value) != end)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s must be a number, not \"%.60s\"", option->key, text);
  return tb_option_put_number(ctx, option, o, value);
}

tbStatus tb_option_check(tbContext* ctx, const tbOption* option, const void* o)
{
  if (option->type == TB_OPTION_NAME) {
    const char* name = tb_option_name(option, o);
    for (int i = 0; name && option->choice(i); i++)
      if (strcmp(option->choice(i), name) == 0) return TB_OK;
    return refuse_name(ctx, option, name ? name : "(null)");
  }
  if (option->type == TB_OPTION_SEED) return TB_OK; // any will do
  double value = tb_option_number(option, o);
  return is_allowed(option, value) ? TB_OK : refuse(ctx, option, value);
}
