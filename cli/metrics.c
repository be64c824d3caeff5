// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics.h"
#include "tribo/tools/sort.h"
#include "cli/args.h"
#include "cli/out.h"
#include "cli/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

// Numbers of which medians are wanted, in ms but for the residuals.
enum { COLUMN_STEP, COLUMN_PHASE, COLUMN_RESIDUAL = COLUMN_PHASE + TB_PHASE_COUNT, COLUMN_VELOCITY, COLUMNS };

typedef struct {
  bool judged;
  double column[COLUMNS];
} MetricsStep;

Metrics metrics_begin(const tbScene* scene)
{
  return (Metrics){.step = TB_ARRAY(MetricsStep), .first_step = tb_world_step_count(scene->world)};
}

void metrics_free(tbContext* ctx, Metrics* m) { tb_array_free(ctx, &m->step); }

static void count_method(Metrics* m, const char* name)
{
  for (int i = 0; name && i < METRICS_METHODS - 1; i++) {
    if (m->used[i].name && strcmp(m->used[i].name, name) != 0) continue;
    m->used[i].name = name;
    m->used[i].steps++;
    return;
  }
}

static void add_changes(Metrics* m, const tbStepReport* r)
{
  const tbStepChanges* c = &r->changes;
  m->damped += c->damped, m->stopped += c->stopped;
  m->damping = fmax(m->damping, c->damping);
  m->short_of = fmax(m->short_of, c->short_of);
  m->projected = fmax(m->projected, c->projected);
  m->turned = fmax(m->turned, c->turned);
  m->trimmed = fmax(m->trimmed, r->trimmed);
  m->slowed = fmax(m->slowed, c->slowed);
  m->linear_error = fmax(m->linear_error, r->linear_error);
}

tbStatus metrics_add(tbContext* ctx, Metrics* m, const tbStepOptions* o, const tbStepReport* r, double step_s)
{
  MetricsStep step = {.judged = r->outcome != TB_UNJUDGED,
                      .column[COLUMN_STEP] = 1e3 * step_s,
                      .column[COLUMN_RESIDUAL] = judged(&o->solver, &r->residual),
                      .column[COLUMN_VELOCITY] = judged_velocity(&o->solver, &r->residual)};
  for (int i = 0; i < TB_PHASE_COUNT; i++) step.column[COLUMN_PHASE + i] = 1e3 * r->phase_s[i];
  TB_TRY(tb_array_push(ctx, &m->step, &step, 1));
  m->contacts += r->contacts;
  m->iterations += r->iterations;
  m->asleep = r->asleep;
  if (r->contacts > m->most_contacts) m->most_contacts = r->contacts;
  if (r->iterations > m->most_iterations) m->most_iterations = r->iterations;
  m->unjudged += r->outcome == TB_UNJUDGED;
  m->newton_missed += r->newton_missed;
  if (r->parts > m->most_parts) m->most_parts = r->parts;
  m->unconverged += r->outcome != TB_CONVERGED && r->outcome != TB_UNJUDGED;
  m->penetration = fmax(m->penetration, r->penetration);
  m->intersections += r->intersections;
  m->touching += r->touching;
  add_changes(m, r);
  if (r->contacts || r->iterations) count_method(m, r->used); // else there was nothing to solve
  return TB_OK;
}

double quantile(const double* sorted, size_t count, double share)
{
  if (count == 0) return 0;
  double place = share * (double)(count - 1);
  size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
  double part = place - (double)below;
  return part > 0 ? (1 - part) * sorted[below] + part * sorted[above] : sorted[below];
}

// NaN, the worst residual there is, goes last.
static int ascending(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  if (isnan(x) || isnan(y)) return isnan(x) - isnan(y);
  return (x > y) - (x < y);
}

typedef struct {
  double median, p95, max;
} Spread;

static tbStatus spreads(tbContext* ctx, const Metrics* m, Spread out[COLUMNS])
{
  double* values = TB_NEW(ctx, double, m->step.count);
  if (!values) return TB_ERROR_MEMORY;
  for (int column = 0; column < COLUMNS; column++) {
    bool of_judge = column == COLUMN_RESIDUAL || column == COLUMN_VELOCITY;
    size_t count = 0;
    for (size_t i = 0; i < m->step.count; i++) {
      const MetricsStep* step = (const MetricsStep*)m->step.data + i;
      if (step->judged || !of_judge) values[count++] = step->column[column];
    }
    tb_sort(values, count, sizeof *values, ascending);
    out[column] =
        (Spread){quantile(values, count, 0.5), quantile(values, count, 0.95), quantile(values, count, 1)};
  }
  tb_free(ctx, values);
  return TB_OK;
}

static double per_step(const Metrics* m, int64_t sum)
{
  return m->step.count ? (double)sum / (double)m->step.count : 0;
}

static void put_vec3(tbJsonWriter* w, const char* key, tbVec3 v)
{
  put_finites(w, key, (double[3]){v.x, v.y, v.z}, 3);
}

static void put_times(tbJsonWriter* w, const Metrics* m, const Spread* s)
{
  static const char* const phases[TB_PHASE_COUNT] = {"collide", "assemble", "solve", "integrate", "judge"};
  tb_put_number(w, "wall_s", m->wall_s);
  tb_put_object(w, "ms_per_step");
  tb_put_number(w, "median", s[COLUMN_STEP].median);
  tb_put_number(w, "p95", s[COLUMN_STEP].p95);
  tb_put_number(w, "max", s[COLUMN_STEP].max);
  tb_put_end(w);
  tb_put_object(w, "phase_ms");
  for (int i = 0; i < TB_PHASE_COUNT; i++) tb_put_number(w, phases[i], s[COLUMN_PHASE + i].median);
  tb_put_end(w);
}

int64_t nodes_count(const tbWorld* world)
{
  int64_t count = 0;
  for (int i = 0; i < tb_world_body_count(world); i++)
    count += tb_body_node_count(world, tb_world_body_at(world, i));
  return count;
}

static int64_t degrees_of_freedom(const tbWorld* world)
{
  int64_t dofs = 0;
  for (int i = 0; i < tb_world_body_count(world); i++)
    dofs += tb_body_dofs(world, tb_world_body_at(world, i));
  return dofs;
}

static void put_counts(tbJsonWriter* w, const Metrics* m, const Spread* s, const tbWorld* world)
{
  tb_put_object(w, "contacts");
  tb_put_number(w, "mean", per_step(m, m->contacts));
  tb_put_int(w, "max", m->most_contacts);
  tb_put_end(w);
  tb_put_int(w, "dofs", degrees_of_freedom(world));
  tb_put_int(w, "asleep", m->asleep);
  tb_put_object(w, "iterations");
  tb_put_number(w, "mean", per_step(m, m->iterations));
  tb_put_int(w, "max", m->most_iterations);
  tb_put_end(w);
  tb_put_object(w, "residual");
  put_finite(w, "median", s[COLUMN_RESIDUAL].median);
  put_finite(w, "max", s[COLUMN_RESIDUAL].max);
  tb_put_end(w);
  tb_put_object(w, "residual_velocity");
  put_finite(w, "median", s[COLUMN_VELOCITY].median);
  put_finite(w, "max", s[COLUMN_VELOCITY].max);
  tb_put_end(w);
  tb_put_int(w, "unconverged_steps", m->unconverged);
  tb_put_int(w, "unjudged_steps", m->unjudged); // of soft-step, as its option "certify" says
  tb_put_int(w, "newton_missed_steps",
             m->newton_missed); // of ipc and implicit: Newton's method did not reach its tolerance
  tb_put_int(w, "most_parts", m->most_parts);
  tb_put_object(w, "solvers_used"); // by how many steps each finished
  for (int i = 0; m->used[i].name; i++) tb_put_int(w, m->used[i].name, m->used[i].steps);
  tb_put_end(w);
  put_finite(w, "max_penetration", m->penetration);
  tb_put_int(w, "intersections", m->intersections);
  tb_put_int(w, "touching", m->touching);
  tb_put_object(w, "changes");
  tb_put_int(w, "damped", m->damped);
  put_finite(w, "damping", m->damping);
  tb_put_int(w, "stopped", m->stopped);
  put_finite(w, "short_of", m->short_of);
  put_finite(w, "projected", m->projected);
  put_finite(w, "turned", m->turned);
  put_finite(w, "trimmed", m->trimmed);
  put_finite(w, "slowed", m->slowed);
  put_finite(w, "linear_error", m->linear_error); // of implicit: m, by which a row got a gap wrong
  tb_put_end(w);
}

// What steps did beyond the contact law, where they did.
static void say_changes(tbOut* out, const Metrics* m)
{
  if (m->damped)
    out_format(out, "  damped       %" PRId64 " impacts, lest they gain energy, by %.2g %% at most\n",
               m->damped, 100 * m->damping);
  if (m->stopped)
    out_format(out, "  stopped      %" PRId64 " times a body, %.2e m short at most\n", m->stopped,
               m->short_of);
  if (m->projected > 0 || m->turned > 0)
    out_format(out, "  projected    bodies by %.2e m and %.2e rad at most\n", m->projected, m->turned);
  if (m->trimmed > 0)
    out_format(out,
               "  trimmed      steps of deformable bodies by %.2g %%, which took %.2e N s of one, at most\n",
               100 * m->trimmed, m->slowed);
}

static void put_state(tbJsonWriter* w, const tbWorld* world)
{
  tbEnergy e = tb_world_energy(world);
  tb_put_object(w, "energy");
  put_finite(w, "kinetic", e.kinetic);
  put_finite(w, "potential", e.potential);
  put_finite(w, "elastic", e.elastic);
  tb_put_end(w);
  put_vec3(w, "momentum", tb_world_momentum(world));
  put_vec3(w, "angular_momentum", tb_world_angular_momentum(world));
  char hash[24];
  snprintf(hash, sizeof hash, "%016" PRIx64, tb_world_hash(world));
  tb_put_string(w, "state_hash", hash);
}

static void put_bodies(tbJsonWriter* w, const tbWorld* world)
{
  tb_put_array(w, "bodies");
  for (int i = 0; i < tb_world_body_count(world); i++) {
    tbBodyState s = tb_body_state(world, tb_world_body_at(world, i));
    tb_put_object(w, NULL);
    tb_put_string(w, "name", tb_body_name(world, tb_world_body_at(world, i)));
    put_vec3(w, "position", s.position);
    put_finites(w, "orientation",
                (double[4]){s.orientation.w, s.orientation.x, s.orientation.y, s.orientation.z}, 4);
    put_vec3(w, "velocity", s.velocity);
    put_vec3(w, "angular_velocity", s.angular_velocity);
    tb_put_end(w);
  }
  tb_put_end(w);
}

static int64_t peak_rss_bytes(void)
{
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024 * (int64_t)usage.ru_maxrss : 0;
}

tbStatus metrics_json(tbContext* ctx, tbOut* out, const Metrics* m, const tbScene* scene, const char* status)
{
  Spread s[COLUMNS];
  TB_TRY(spreads(ctx, m, s));
  tbJsonWriter w = tb_json_writer(out, 2);
  tb_put_object(&w, NULL);
  tb_put_int(&w, "tribo", 1);
  tb_put_string(&w, "scene", scene->name);
  tb_put_string(&w, "scheme", scene->step.scheme);
  tb_put_string(&w, "solver", scene->step.solver.solver);
  tb_put_string(&w, "model", tb_model_name(scene->step.solver.model));
  tb_put_int(&w, "threads", tb_threads_count(ctx->threads));
  tb_put_int(&w, "steps", tb_world_step_count(scene->world));
  if (m->first_step) tb_put_int(&w, "resumed_at", m->first_step); // what follows is of the steps since
  tb_put_number(&w, "dt", scene->step.dt);
  tb_put_number(&w, "time", tb_world_time(scene->world));
  put_times(&w, m, s);
  put_counts(&w, m, s, scene->world);
  put_state(&w, scene->world);
  tb_put_int(&w, "peak_rss_bytes", peak_rss_bytes());
  tb_put_string(&w, "status", status);
  put_bodies(&w, scene->world);
  tb_put_end(&w);
  return tb_json_writer_finish(&w);
}

tbStatus metrics_summary(tbContext* ctx, tbOut* out, const Metrics* m, const tbScene* scene,
                         const char* status)
{
  Spread s[COLUMNS];
  TB_TRY(spreads(ctx, m, s));
  const Spread *step = &s[COLUMN_STEP], *phase = &s[COLUMN_PHASE];
  size_t steps = m->step.count;
  double simulated = (double)steps * scene->step.dt;
  char a[OUT_NUMBER], b[OUT_NUMBER], c[OUT_NUMBER], d[OUT_NUMBER], e[OUT_NUMBER];
  out_terminal(out, scene->name);
  out_format(out, ": %zu step%s of %g s", steps, steps == 1 ? "" : "s", scene->step.dt);
  if (m->first_step) out_format(out, " from step %" PRId64, m->first_step);
  out_format(out, ", %s, %s%s%s\n", scene->step.scheme, scene->step.solver.solver,
             strcmp(status, "ok") == 0 ? "" : "; ", strcmp(status, "ok") == 0 ? "" : status);
  out_format(out, "  time         %.4g s simulated in %s s", simulated, out_scaled(a, m->wall_s));
  if (m->wall_s > 0) out_format(out, ": %s × real time", out_scaled(a, simulated / m->wall_s));
  out_format(out, "\n  a step       %s ms median, %s p95, %s max\n", out_scaled(a, step->median),
             out_scaled(b, step->p95), out_scaled(c, step->max));
  out_format(out, "  its phases   collide %s, assemble %s, solve %s, integrate %s, judge %s ms\n",
             out_scaled(a, phase[TB_PHASE_COLLIDE].median), out_scaled(b, phase[TB_PHASE_ASSEMBLE].median),
             out_scaled(c, phase[TB_PHASE_SOLVE].median), out_scaled(d, phase[TB_PHASE_INTEGRATE].median),
             out_scaled(e, phase[TB_PHASE_JUDGE].median));
  out_format(out, "  contacts     %s a step, %d at most; overlap %.2e m at most\n",
             out_scaled(a, per_step(m, m->contacts)), m->most_contacts, m->penetration);
  if (nodes_count(scene->world) > 0)
    out_format(out, "  crossings    %" PRId64 " of surfaces, over all steps\n", m->intersections);
  say_changes(out, m);
  out_format(out, "  iterations   %s a step, %d at most\n", out_scaled(a, per_step(m, m->iterations)),
             m->most_iterations);
  const tbSolveOptions* asked = &scene->step.solver;
  out_format(out, "  residual     ");
  out_held(out, s[COLUMN_VELOCITY].max, asked->velocity_tolerance, " m/s");
  out_format(out, " at most, median %.2e; in FCLIB's scaling ", s[COLUMN_VELOCITY].median);
  out_held(out, s[COLUMN_RESIDUAL].max, asked->tolerance, "");
  out_format(out, "\n");
  if (m->unconverged)
    out_format(out, "               %" PRId64 " of %zu steps missed what they aim at\n", m->unconverged,
               steps);
  else if (m->unjudged < (int64_t)steps) out_format(out, "               every step within its tolerance\n");
  if (m->newton_missed)
    out_format(out, "               Newton's method missed its tolerance in %" PRId64 " of them\n",
               m->newton_missed);
  if (m->unjudged)
    out_format(out, "               %" PRId64 " of %zu steps were not judged\n", m->unjudged, steps);
  out_format(out, "  state        %016" PRIx64 "\n", tb_world_hash(scene->world));
  return tb_out_finish(out);
}
