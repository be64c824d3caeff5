// SPDX-License-Identifier: Apache-2.0
// A contact problem taken out of a running world, or read from a file, and solved by any method under the
// judge's eye.
#include "web.h"

#include "tribo/tools/json_write.h"

#include <stdlib.h>
#include <string.h>

static void adopt(tbProblem* problem, double* guess)
{
  tb_problem_free(web.problem);
  tb_guess_free(&web.ctx, web.guess);
  web.problem = problem, web.guess = guess;
}

static tbStatus need_problem(void)
{
  return web.problem ? TB_OK : tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "no problem is frozen");
}

WEB(tbStatus, web_freeze, void)
{
  TB_TRY(web_need_world());
  tbProblem* problem = NULL;
  double* guess = NULL;
  TB_TRY(tb_world_problem(&web.ctx, web.scene.world, &web.scene.step, &problem, &guess));
  adopt(problem, guess);
  return TB_OK;
}

// A name, a zero, the bytes of a file that tb_problem_load would read.
WEB(tbStatus, web_problem_open, size_t length)
{
  size_t name = strlen(web.in) + 1;
  if (name > length) return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "a problem needs a text");
  tbProblem* problem = NULL;
  double* guess = NULL;
  TB_TRY(tb_problem_parse(&web.ctx, web.in, web.in + name, length - name, &problem, &guess));
  adopt(problem, guess);
  return TB_OK;
}

WEB(tbStatus, web_problem_text, void)
{
  TB_TRY(need_problem());
  return tb_problem_print_json(&web.ctx, web_out_begin(), web.problem, web.guess);
}

static void put_laws(tbJsonWriter* w, const tbProblem* p)
{
  unsigned seen = 0;
  for (int k = 0; k < p->ncontact; k++) seen |= 1u << p->law[k];
  tb_put_array(w, "laws");
  for (int law = 0; law < TB_LAW_COUNT; law++)
    if (seen & 1u << law) tb_put_string(w, NULL, tb_law_name((tbLaw)law));
  tb_put_end(w);
}

// Of every solver, under every model: null, or why not.
static void put_solvers(tbJsonWriter* w, const tbProblem* p)
{
  tb_put_array(w, "solvers");
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at(i);
    tb_put_object(w, NULL);
    tb_put_string(w, "name", s->name);
    tb_put_object(w, "models");
    for (int m = 0; m < TB_MODEL_COUNT; m++) {
      const char* why = tb_solver_refuses(s, p, (tbModel)m);
      if (why) tb_put_string(w, tb_model_name((tbModel)m), why);
      else tb_put_null(w, tb_model_name((tbModel)m));
    }
    tb_put_end(w);
    tb_put_end(w);
  }
  tb_put_end(w);
}

WEB(tbStatus, web_problem, void)
{
  TB_TRY(need_problem());
  const tbProblem* p = web.problem;
  tbJsonWriter w = tb_json_writer(web_out_begin(), 0);
  tb_put_object(&w, NULL);
  tb_put_string(&w, "name", p->name);
  tb_put_int(&w, "contacts", p->ncontact);
  tb_put_int(&w, "rows", p->nrow);
  tb_put_int(&w, "dofs", p->ndof);
  put_laws(&w, p);
  put_solvers(&w, p);
  tb_put_end(&w);
  return tb_json_writer_finish(&w);
}

// Solving. The trace grows as it goes; where memory ends, it ends.

typedef struct {
  bool cone; // the model is the law itself: the judge's number is fclib's, else the model's
  bool full;
} Tracing;

static bool grow(double** column, size_t count)
{
  double* grown = realloc(*column, count * sizeof *grown);
  if (grown) *column = grown;
  return grown;
}

static void keep(void* user, const tbTraceEvent* e)
{
  Tracing* t = user;
  WebViews* v = &web.views;
  if (t->full) return;
  if ((size_t)v->traced == web.trace_room) {
    size_t room = 2 * web.trace_room + 256;
    t->full =
        !grow(&v->trace_iteration, room) || !grow(&v->trace_time, room) || !grow(&v->trace_residual, room);
    if (t->full) return;
    web.trace_room = room;
  }
  v->trace_iteration[v->traced] = e->iteration;
  v->trace_time[v->traced] = e->time_s;
  v->trace_residual[v->traced++] = t->cone ? e->residual->fclib : e->residual->model;
}

static void report_solve(const tbSolveResult* r)
{
  double* out = web.result;
  const tbResidual* s = &r->residual;
  *out++ = r->outcome, *out++ = r->iterations, *out++ = r->time_s, *out++ = r->setup_s;
  *out++ = s->fclib, *out++ = s->natural_map, *out++ = s->model, *out++ = s->absolute;
  *out++ = s->penetration, *out++ = s->cone, *out++ = s->complementarity, *out++ = s->dissipation;
  *out++ = s->velocity, *out++ = s->model_velocity;
  web.views.result = web.result;
  web.views.solve_used = r->used;
}

// The solver's name is where web_in says.
WEB(tbStatus, web_solve, int model, double tolerance, int max_iterations, double time_budget_s, int order,
    int directions, double relaxation, int warm)
{
  TB_TRY(need_problem());
  const tbProblem* p = web.problem;
  Tracing tracing = {.cone = model == TB_MODEL_CONE};
  tbSolveOptions o = tb_default_solve_options();
  const tbSolver* solver = tb_solver_find(web.in);
  if (!solver) return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "there is no solver \"%.60s\"", web.in);
  o.solver = solver->name, o.model = (tbModel)model, o.tolerance = tolerance,
  o.max_iterations = max_iterations;
  o.time_budget_s = time_budget_s, o.order = (tbOrder)order, o.directions = directions,
  o.relaxation = relaxation;
  o.trace = keep, o.trace_user = &tracing;
  double* lambda = TB_NEW(&web.ctx, double, (size_t)p->nrow);
  if (!lambda) return TB_ERROR_MEMORY;
  if (warm && web.guess) memcpy(lambda, web.guess, (size_t)p->nrow * sizeof *lambda);
  tbSolveResult result = {0};
  web.views.traced = 0;
  tbStatus status = tb_solve(&web.ctx, p, &o, lambda, &result);
  if (status == TB_OK) report_solve(&result);
  tb_free(&web.ctx, lambda);
  return status;
}
