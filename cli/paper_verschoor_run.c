// SPDX-License-Identifier: Apache-2.0
// Measuring the methods of a scene from one state.
//
// The scene is run until bodies touch, kept as a checkpoint in memory, and every method takes its steps from
// there: all see the same problem first, and problems as hard later. Times are of the processor (one thread),
// which a busy machine stretches less than the clock on the wall, and the least of a few runs; what of a step
// is whose is told by shares of the latter. The judge's time is not a method's: certificates are not part of
// the paper's.
#include "cli/paper_verschoor.h"

#include "tribo/tools/clock.h"
#include "tribo/inspect.h"
#include "tribo/io.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 4 };

// ---- memory, counted ----

typedef struct {
  size_t now, peak;
} Ledger;

static void* count_alloc(void* user, size_t size, size_t alignment)
{
  Ledger* l = user;
  void* p = NULL;
  if (posix_memalign(&p, alignment < sizeof p ? sizeof p : alignment, size) != 0) return NULL;
  l->now += malloc_usable_size(p);
  if (l->now > l->peak) l->peak = l->now;
  return p;
}

static void count_free(void* user, void* p)
{
  if (p) ((Ledger*)user)->now -= malloc_usable_size(p);
  free(p);
}

// ---- states ----

static tbStepOptions options_of(const tbScene* scene, Method method)
{
  static const char* const solver[METHODS] = {"cr", "cr", "cr", "ica", "staggered-cr"};
  tbStepOptions o = scene->step;
  o.solver.solver = solver[method];
  o.solver.max_iterations = method == METHOD_STAGGERED ? 50000 : 5000; // of its programs: the time ends it
  o.solver.preconditioner = method == METHOD_CR_DIAG   ? TB_PRECONDITIONER_DIAG
                            : method == METHOD_CR_FULL ? TB_PRECONDITIONER_FULL
                                                       : TB_PRECONDITIONER_SCHUR;
  return o;
}

static void count_size(const tbWorld* w, Outcome* out)
{
  for (int i = 0; i < tb_world_body_count(w); i++) {
    tbBodyId id = tb_world_body_at(w, i);
    int nodes = tb_body_node_count(w, id);
    out->size.objects += nodes > 0;
    out->size.tets += tb_body_element_count(w, i, NULL);
    out->size.faces += nodes > 0 ? tb_body_triangle_count(w, id) : 0;
    out->nodes += nodes;
  }
}

// Until bodies touch. Steps that may be larger, then two as they are measured.
static tbStatus settle(tbContext* ctx, const Setup* setup, bool quick, tbScene* scene)
{
  tbStepOptions o = scene->step;
  o.solver.solver = "auto";
  for (int i = 0, count = quick ? setup->quick_settle : setup->settle; i < count; i++) {
    o.dt = i + 2 < count ? setup->settle_dt : scene->step.dt;
    TB_TRY(tb_world_step(ctx, scene->world, &o, NULL));
  }
  return TB_OK;
}

static tbStatus make_state(const Paper* p, const Setup* setup, Outcome* out, tbOut* state)
{
  tbScene scene;
  TB_TRY(paper_scene(p, verschoor_scene(p, setup), &scene, "%s", setup->settings));
  count_size(scene.world, out);
  tbStatus status = settle(p->ctx, setup, p->quick, &scene);
  if (status == TB_OK) status = tb_checkpoint_print(p->ctx, state, &scene);
  tb_scene_free(p->ctx, &scene);
  return status;
}

// ---- steps ----

static void add_step(const tbStepReport* r, double cpu, Measured* m)
{
  double wall = 0;
  for (int i = 0; i < TB_PHASE_COUNT; i++) wall += r->phase_s[i];
  double share = wall > 0 ? cpu / wall : 0;
  double own = cpu - share * r->phase_s[TB_PHASE_JUDGE];
  if (m->steps < STEPS_MEASURED) m->by_step[0][m->steps] = r->iterations, m->by_step[1][m->steps] = own;
  m->steps++;
  m->unfinished += r->outcome != TB_CONVERGED;
  m->rows += 3 * r->contacts;
  m->iterations += r->iterations;
  m->rounds += r->rounds;
  m->judge += share * r->phase_s[TB_PHASE_JUDGE];
  m->seconds += own;
  m->collide += share * r->phase_s[TB_PHASE_COLLIDE];
  m->solve += share * r->phase_s[TB_PHASE_SOLVE];
  m->residual = fmax(m->residual, r->residual.fclib);
  m->penetration = fmax(m->penetration, r->residual.penetration);
  m->trimmed = fmax(m->trimmed, r->trimmed);
  m->intersections += r->intersections;
}

static void take_means(Measured* m)
{
  double* mean[] = {&m->rows, &m->iterations, &m->rounds, &m->seconds, &m->collide, &m->solve, &m->judge};
  for (size_t i = 0; i < sizeof mean / sizeof *mean; i++) *mean[i] /= m->steps > 0 ? m->steps : 1;
}

// The first step is not measured: it makes what is kept from step to step, and is everybody's the same.
static tbStatus run_method(tbContext* ctx, const Setup* setup, bool quick, Method method, double cap,
                           tbScene* scene, Measured* out)
{
  tbStepOptions first = options_of(scene, METHOD_CR_SCHUR), o = options_of(scene, method);
  TB_TRY(tb_world_step(ctx, scene->world, &first, NULL));
  double begin = paper_cpu_seconds();
  bool hopeful = method != METHOD_ICA && method != METHOD_CR_DIAG; // to end the step that it is in
  double until = begin + (hopeful ? 4 : 1) * cap;
  for (int i = 0; i < (quick ? 2 : setup->steps) && !out->stopped; i++) {
    tbStepReport report;
    double start = paper_cpu_seconds();
    o.budget_s = fmax(1e-3, until - start);
    TB_TRY(tb_world_step(ctx, scene->world, &o, &report));
    add_step(&report, paper_cpu_seconds() - start, out);
    out->stopped = paper_cpu_seconds() >= begin + cap;
  }
  take_means(out);
  return TB_OK;
}

// ---- the paper's measure of error ----

// Fischer and Burmeister's function of an impulse, as the displacement it causes, and of a gap (§6.3): of the
// normal rows, and of friction that slides, where what is left to the edge of the cone takes the gap's place.
static double worst_error(const tbProblem* p, const tbDelassus* W, const double* lambda, const double* u,
                          double h)
{
  double worst = 0;
  for (int k = 0; k < p->ncontact; k++) {
    int row = p->row_adr[k], rows = p->row_adr[k + 1] - row;
    const double* S = W->diag + W->diag_adr[k];
    double x = S[0] * lambda[row] * h, y = u[row] * h;
    worst = fmax(worst, fabs(x + y - sqrt(x * x + y * y)));
    if (rows != 3) continue;
    double slip = h * sqrt(u[row + 1] * u[row + 1] + u[row + 2] * u[row + 2]);
    double drag = sqrt(lambda[row + 1] * lambda[row + 1] + lambda[row + 2] * lambda[row + 2]);
    double left = h * S[4] * (p->param[p->param_adr[k]] * lambda[row] - drag);
    worst = fmax(worst, fabs(left + slip - sqrt(left * left + slip * slip)));
  }
  return worst;
}

static tbStatus measure_error(tbContext* ctx, const tbProblem* p, const tbStepOptions* o, double* lambda,
                              double* u, double* out)
{
  tbSolveResult result;
  tbResidual residual;
  tbJudge* judge = NULL;
  tbDelassus* W = NULL;
  TB_TRY(tb_solve(ctx, p, &o->solver, lambda, &result));
  tbStatus status = tb_judge_create(ctx, p, &judge);
  if (status == TB_OK) status = tb_delassus_create_with(ctx, p, 0, TB_INVERSE_DIAGONAL, &W);
  if (status == TB_OK) {
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 0, &residual, u, NULL);
    *out = fmax(*out, worst_error(p, W, lambda, u, o->dt));
  }
  tb_delassus_free(ctx, W);
  tb_judge_free(ctx, judge);
  return status;
}

// Of the step to come.
static tbStatus add_error(tbContext* ctx, const tbScene* scene, Outcome* out)
{
  tbStepOptions o = options_of(scene, METHOD_CR_SCHUR);
  tbProblem* problem;
  double* lambda;
  TB_TRY(tb_world_problem(ctx, scene->world, &o, &problem, &lambda));
  double* u = TB_NEW(ctx, double, (size_t)problem->nrow);
  tbStatus status = u ? measure_error(ctx, problem, &o, lambda, u, &out->complementarity) : TB_ERROR_MEMORY;
  tb_free(ctx, u);
  tb_guess_free(ctx, lambda);
  tb_problem_free(problem);
  return status;
}

// ---- two threads ----

static tbStatus run_threads(tbContext* ctx, const Setup* setup, bool quick, int threads, const tbOut* state,
                            double* seconds, uint64_t* hash)
{
  tbScene scene;
  TB_TRY(tb_checkpoint_parse(ctx, setup->name, state->bytes, state->length, &scene));
  tbStepOptions o = options_of(&scene, METHOD_CR_SCHUR);
  tbStatus status = tb_threads_create(ctx, threads, &ctx->threads);
  int steps = quick ? 2 : setup->steps;
  double start = 0;
  for (int i = -1; status == TB_OK && i < steps; i++) { // the first is not measured
    if (i == 0) start = tb_seconds();
    status = tb_world_step(ctx, scene.world, &o, NULL);
  }
  *seconds = fmin(*seconds, (tb_seconds() - start) / steps);
  *hash = tb_world_hash(scene.world);
  tb_threads_destroy(ctx, ctx->threads);
  ctx->threads = NULL;
  tb_scene_free(ctx, &scene);
  return status;
}

// The better of two runs each, by turns. Two threads run on one processor too: there the bits are compared
// after one run each, and the times say nothing.
static tbStatus measure_threads(tbContext* ctx, const Setup* setup, bool quick, const tbOut* state,
                                Outcome* out)
{
  double best[2] = {INFINITY, INFINITY};
  bool shares = sysconf(_SC_NPROCESSORS_ONLN) < 2;
  out->same = true;
  for (int i = 0; i < (shares ? 1 : 2); i++) {
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) TB_TRY(run_threads(ctx, setup, quick, 1 + k, state, &best[k], &hash[k]));
    out->same = out->same && hash[0] == hash[1];
  }
  if (!shares) out->alone = best[0], out->shared = best[1];
  return TB_OK;
}

// The quickest of a few runs, which differ in nothing but what else the machine was doing.
static tbStatus measure_method(tbContext* ctx, const Setup* setup, bool quick, Method m, double cap,
                               const tbOut* state, Outcome* out)
{
  double begin = paper_cpu_seconds();
  for (int run = 0; run < RUNS && paper_cpu_seconds() - begin < cap; run++) {
    Measured now = {0};
    tbScene scene;
    TB_TRY(tb_checkpoint_parse(ctx, setup->name, state->bytes, state->length, &scene));
    tbStatus status = run_method(ctx, setup, quick, m, cap, &scene, &now);
    if (status == TB_OK && m == METHOD_CR_SCHUR && run == 0) status = add_error(ctx, &scene, out);
    tb_scene_free(ctx, &scene);
    if (status != TB_OK) return status;
    if (run == 0 || (!now.stopped && now.seconds < out->method[m].seconds)) out->method[m] = now;
  }
  return TB_OK;
}

static tbStatus measure(tbContext* ctx, const Setup* setup, bool quick, double cap, const tbOut* state,
                        Outcome* out)
{
  for (Method m = 0; m < METHODS; m++) TB_TRY(measure_method(ctx, setup, quick, m, cap, state, out));
  return measure_threads(ctx, setup, quick, state, out);
}

tbStatus verschoor_measure(const Paper* outer, const Setup* setup, double cap, Outcome* out)
{
  Ledger ledger = {0};
  tbContext ctx = *outer->ctx;
  Paper p = *outer; // with memory that is counted
  ctx.allocator = (tbAllocator){count_alloc, count_free, &ledger};
  p.ctx = &ctx;
  *out = (Outcome){0};
  tbOut state = tb_out_memory(&ctx);
  tbStatus status = make_state(&p, setup, out, &state);
  if (status == TB_OK) status = measure(&ctx, setup, p.quick, cap, &state, out);
  tb_out_free(&state);
  out->peak = (double)ledger.peak;
  outer->ctx->error = ctx.error;
  return status;
}
