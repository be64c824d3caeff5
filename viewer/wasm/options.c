// How a step is taken, by name and value, while the world runs.
#include "web.h"

#include "base/json_write.h"

#include <string.h>

typedef enum { NUMBER, INTEGER, TRUTH } Kind;

#define STEP(key)  offsetof(tbStepOptions, key)
#define SOLVE(key) (offsetof(tbStepOptions, solver) + offsetof(tbSolveOptions, key))

static const struct {
  const char* key;
  Kind kind;
  size_t at;
} numbers[] = {
    {"dt", NUMBER, STEP(dt)},
    {"tolerance", NUMBER, SOLVE(tolerance)},
    {"velocity_tolerance", NUMBER, SOLVE(velocity_tolerance)},
    {"max_iterations", INTEGER, SOLVE(max_iterations)},
    {"time_budget_s", NUMBER, SOLVE(time_budget_s)},
    {"budget_s", NUMBER, STEP(budget_s)},
    {"directions", INTEGER, SOLVE(directions)},
    {"relaxation", NUMBER, SOLVE(relaxation)},
    {"warm_start", TRUTH, STEP(warm_start)},
    {"fraction", NUMBER, STEP(fraction)},
    {"slop", NUMBER, STEP(slop)},
    {"compliance", NUMBER, STEP(compliance)},
    {"stiffness", NUMBER, STEP(stiffness)},
    {"damping", NUMBER, STEP(damping)},
    {"margin", NUMBER, STEP(margin)},
    {"restitution_speed", NUMBER, STEP(restitution_speed)},
    {"penalty_stiffness", NUMBER, STEP(penalty_stiffness)},
    {"penalty_damping", NUMBER, STEP(penalty_damping)},
    {"clearance", NUMBER, STEP(clearance)},
    {"rounds", INTEGER, STEP(rounds)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static double get(const tbStepOptions* o, int i)
{
  const char* at = (const char*)o + numbers[i].at;
  switch (numbers[i].kind) {
  case NUMBER: return *(const double*)at;
  case INTEGER: return *(const int*)at;
  case TRUTH: return *(const bool*)at;
  }
  return 0;
}

static void put(tbStepOptions* o, int i, double value)
{
  char* at = (char*)o + numbers[i].at;
  switch (numbers[i].kind) {
  case NUMBER: *(double*)at = value; break;
  case INTEGER: *(int*)at = value > 2e9 ? 2000000000 : (int)value; break;
  case TRUTH: *(bool*)at = value != 0; break;
  }
}

static tbStatus unknown(const char* what, const char* name)
{
  return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "there is no %s \"%.60s\"", what, name);
}

// The key, which web_in holds, and its number. What no step can be taken with is refused here.
WEB(tbStatus, web_set_number, double value)
{
  TB_TRY(web_need_world());
  for (int i = 0; i < NUMBERS; i++) {
    if (strcmp(numbers[i].key, web.in) != 0) continue;
    bool negative = value < 0 && strcmp(web.in, "restitution_speed") != 0;
    if (!isfinite(value) || negative || (strcmp(web.in, "dt") == 0 && !(value > 0)))
      return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "%s cannot be %g", web.in, value);
    put(&web.scene.step, i, value);
    return TB_OK;
  }
  return unknown("option", web.in);
}

// A solver that does not know the model in use brings its first.
static tbStatus set_solver(tbSolveOptions* o, const char* name)
{
  const tbSolver* solver = tb_solver_find(name);
  if (!solver) return unknown("solver", name);
  o->solver = solver->name;
  for (int m = 0; m < TB_MODEL_COUNT && !(solver->models & 1u << o->model); m++)
    if (solver->models & 1u << m) o->model = (tbModel)m;
  return TB_OK;
}

static tbStatus set_model(tbSolveOptions* o, const char* name)
{
  tbModel model;
  if (!tb_model_from_name(name, &model)) return unknown("model", name);
  const tbSolver* solver = tb_solver_find(o->solver);
  if (!(solver->models & 1u << model))
    return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "%s does not solve the model %s", solver->name, name);
  o->model = model;
  return TB_OK;
}

static tbStatus set_scheme(tbStepOptions* o, const char* name)
{
  const tbScheme* scheme = tb_scheme_find(name);
  if (!scheme) return unknown("scheme", name);
  o->scheme = scheme->name;
  return TB_OK;
}

static tbStatus set_stabilization(tbStepOptions* o, const char* name)
{
  for (int i = 0; i < TB_STABILIZE_COUNT; i++) {
    if (strcmp(tb_stabilization_name((tbStabilization)i), name) != 0) continue;
    o->stabilization = (tbStabilization)i;
    return TB_OK;
  }
  return unknown("stabilization", name);
}

// The key, a zero, and its name.
WEB(tbStatus, web_set_name, void)
{
  TB_TRY(web_need_world());
  const char *key = web.in, *name = key + strlen(key) + 1;
  tbStepOptions* o = &web.scene.step;
  if (strcmp(key, "scheme") == 0) return set_scheme(o, name);
  if (strcmp(key, "solver") == 0) return set_solver(&o->solver, name);
  if (strcmp(key, "model") == 0) return set_model(&o->solver, name);
  if (strcmp(key, "stabilization") == 0) return set_stabilization(o, name);
  if (strcmp(key, "order") == 0)
    return tb_order_from_name(name, &o->solver.order) ? TB_OK : unknown("order", name);
  if (strcmp(key, "r_factor") == 0)
    return tb_r_factor_from_name(name, &o->solver.r_factor) ? TB_OK : unknown("r-factor", name);
  if (strcmp(key, "preconditioner") == 0)
    return tb_preconditioner_from_name(name, &o->solver.preconditioner) ? TB_OK
                                                                        : unknown("preconditioner", name);
  return unknown("option", key);
}

WEB(tbStatus, web_options, void)
{
  TB_TRY(web_need_world());
  const tbStepOptions* o = &web.scene.step;
  tbJsonWriter w = tb_json_writer(web_out_begin(), 0);
  tb_put_object(&w, NULL);
  tb_put_string(&w, "scheme", o->scheme);
  tb_put_string(&w, "solver", o->solver.solver);
  tb_put_string(&w, "model", tb_model_name(o->solver.model));
  tb_put_string(&w, "stabilization", tb_stabilization_name(o->stabilization));
  tb_put_string(&w, "order", tb_order_name(o->solver.order));
  tb_put_string(&w, "r_factor", tb_r_factor_name(o->solver.r_factor));
  tb_put_string(&w, "preconditioner", tb_preconditioner_name(o->solver.preconditioner));
  for (int i = 0; i < NUMBERS; i++)
    if (numbers[i].kind == TRUTH) tb_put_bool(&w, numbers[i].key, get(o, i) != 0);
    else tb_put_number(&w, numbers[i].key, get(o, i));
  tb_put_end(&w);
  return tb_json_writer_finish(&w);
}
