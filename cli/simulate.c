// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate.h"
#include "tribo/tools/clock.h"
#include "cli/dump.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/metrics.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "cli/recordings.h"
#include "cli/render.h"
#include "cli/stream.h"
#include "cli/trajectory.h"

#include <math.h>
#include <string.h>

typedef struct {
  tbContext* ctx;
  tbScene* scene;
  const OutputArgs* args;
  Folder out, dump;
  Stream trajectory, contacts, joints, forces, metrics_file;
  Recordings recordings;
  Metrics metrics;
  Progress progress;
  tbError stopped; // what ended the run early; TB_OK: nothing did
} Simulation;

// Arguments.

bool output_args_check(const char* command, const OutputArgs* a)
{
  const char* files[] = {a->csv,     a->csv_contacts, a->csv_joints, a->csv_forces,
                         a->metrics, a->checkpoint,   a->trajectory};
  const int count = (int)(sizeof files / sizeof *files);
  if (is_standard(a->checkpoint) || is_standard(a->trajectory)) {
    fprintf(stderr, "tribo %s: %s takes a file; standard output is for --csv… and --metrics\n", command,
            is_standard(a->checkpoint) ? "--checkpoint" : "--trajectory");
    return false;
  }
  for (int i = 0; i < count; i++)
    for (int k = 0; k < i; k++)
      if (files[i] && files[k] && strcmp(files[i], files[k]) == 0 && strncmp(files[i], "/dev/", 5) != 0) {
        fprintf(stderr, "tribo %s: two outputs go to %s\n", command,
                is_standard(files[i]) ? "standard output" : files[i]);
        return false;
      }
  if (a->every < 0 || (a->every > 0 && !a->checkpoint)) {
    fprintf(stderr, "tribo %s: --every %s\n", command,
            a->every < 0 ? "takes a positive number of steps"
                         : "says when to write the file of --checkpoint, which is missing");
    return false;
  }
  return recordings_check(command, a);
}

int64_t steps_until(double time, double dt)
{
  double steps = time / dt, whole = round(steps);
  if (!(fabs(steps - whole) <= 1e-6 * fmax(1, 1e-6 * steps))) whole = ceil(steps);
  return whole < 0 ? 0 : whole > 9e15 ? (int64_t)9e15 : (int64_t)whole;
}

// Files. Everything is opened before the first step: a path that cannot be written should not cost a night.

static tbStatus open_one(Simulation* s, const char* path, const char* name_in_out, Stream* stream)
{
  char joined[PATH_MAX + 32];
  if (!path && s->args->out) {
    snprintf(joined, sizeof joined, "%s/%s", s->out.path, name_in_out);
    path = joined;
  }
  return stream_open(s->ctx, path, stream);
}

static tbStatus open_files(Simulation* s)
{
  const OutputArgs* a = s->args;
  if (recordings_want_film(a)) TB_TRY(tb_film_check(s->ctx));
  if (a->out) TB_TRY(folder_make(s->ctx, a->out, &s->out));
  if (a->dump) TB_TRY(folder_make(s->ctx, a->dump, &s->dump));
  TB_TRY(open_one(s, a->metrics, "metrics.json", &s->metrics_file));
  TB_TRY(open_one(s, a->csv, "trajectory.csv", &s->trajectory));
  TB_TRY(open_one(s, a->csv_contacts, "contacts.csv", &s->contacts));
  TB_TRY(stream_open(s->ctx, a->csv_joints, &s->joints));
  TB_TRY(stream_open(s->ctx, a->csv_forces, &s->forces));
  TB_TRY(recordings_open(s->ctx, &s->recordings, a, a->out ? s->out.path : NULL, s->scene));
  if (s->trajectory.open) trajectory_header(&s->trajectory.out);
  if (s->contacts.open) contacts_header(&s->contacts.out);
  if (s->joints.open) joints_header(&s->joints.out);
  if (s->forces.open) forces_header(&s->forces.out);
  if (!a->checkpoint) return TB_OK;
  tbFile probe;
  TB_TRY(tb_file_begin(s->ctx, a->checkpoint, &probe));
  tb_file_abort(s->ctx, &probe);
  return TB_OK;
}

static tbStatus close_files(Simulation* s, tbStatus status)
{
  Stream* const streams[] = {&s->trajectory, &s->contacts, &s->joints, &s->forces, &s->metrics_file};
  status = recordings_close(s->ctx, &s->recordings, s->scene, status);
  status = streams_close(s->ctx, streams, sizeof streams / sizeof *streams, status);
  if (status != TB_OK) {
    folder_unmake(&s->out);
    folder_unmake(&s->dump);
  }
  return status;
}

// Stepping.

// Ends the run without losing what was done so far.
static void stop(Simulation* s) { s->stopped = s->ctx->error; }

// A step that fails after others went well, or for want of memory or of an answer, ends the run, and so does
// a world that flies to infinity. A first step that is refused is bad input: nothing has been done.
static tbStatus step(Simulation* s, tbStepReport* report)
{
  tbWorld* world = s->scene->world;
  double begun = tb_seconds();
  if (s->scene->step.certify < 0) s->scene->step.certify = 1; // unless the scene says how often
  tbStatus status = tb_world_step(s->ctx, world, &s->scene->step, report);
  double step_s = tb_seconds() - begun;
  if (status == TB_ERROR_CANCELLED) return status;
  bool first = s->metrics.step.count == 0;
  if (status != TB_OK && first && status != TB_ERROR_NUMERIC && status != TB_ERROR_MEMORY) return status;
  if (status != TB_OK) {
    stop(s);
    return TB_OK;
  }
  tbEnergy e = tb_world_energy(world);
  if (!isfinite(e.kinetic) || !isfinite(e.potential) || !isfinite(e.elastic)) {
    tb_fail(s->ctx, TB_ERROR_NUMERIC, "the energy is not finite any more");
    stop(s);
  }
  return metrics_add(s->ctx, &s->metrics, &s->scene->step, report, step_s);
}

static tbStatus save_checkpoint(Simulation* s)
{
  tbStatus status = tb_checkpoint_save(s->ctx, s->args->checkpoint, s->scene);
  if (status != TB_ERROR_NUMERIC) return status;
  stop(s);
  return TB_OK;
}

static tbStatus write_rows(Simulation* s, const tbStepReport* report)
{
  if (s->trajectory.open) trajectory_rows(&s->trajectory.out, s->scene->world);
  if (s->contacts.open) contacts_rows(&s->contacts.out, s->scene->world);
  if (s->joints.open) joints_rows(&s->joints.out, s->scene->world);
  if (s->forces.open) TB_TRY(forces_rows(s->ctx, &s->forces.out, s->scene->world, s->scene->step.dt));
  if (s->stopped.status == TB_OK) TB_TRY(recordings_step(s->ctx, &s->recordings, s->scene, report));
  TB_TRY(stream_check(&s->trajectory));
  TB_TRY(stream_check(&s->joints));
  TB_TRY(stream_check(&s->forces));
  return stream_check(&s->contacts);
}

// Asked by whatever takes long inside of a step.
static bool ask(void* user)
{
  progress_beat(&((Simulation*)user)->progress);
  return interrupted(NULL);
}

// A step that was interrupted has not happened.
static tbStatus run_steps(Simulation* s, int64_t last)
{
  const tbWorld* world = s->scene->world;
  const OutputArgs* a = s->args;
  int64_t first = tb_world_step_count(world);
  s->progress = progress_begin(a->quiet, last - first);
  s->ctx->interrupt = (tbInterrupt){ask, s};
  s->scene->step.solver.watch = progress_watch, s->scene->step.solver.watch_user = &s->progress;
  double begun = tb_seconds();
  tbStatus status = TB_OK;
  while (status == TB_OK && tb_world_step_count(world) < last && s->stopped.status == TB_OK &&
         !interrupted(NULL)) {
    int64_t before = tb_world_step_count(world) - first;
    tbStepReport report = {0};
    if (a->dump) status = dump_problem(s->ctx, s->dump.path, s->scene);
    if (status == TB_OK) status = step(s, &report);
    int64_t done = tb_world_step_count(world) - first;
    if (status == TB_OK && done == before + 1) status = write_rows(s, &report);
    if (status == TB_OK && a->every && done % a->every == 0 && s->stopped.status == TB_OK)
      status = save_checkpoint(s);
    progress_show(&s->progress, done, (double)done * s->scene->step.dt, report.contacts);
  }
  if (status == TB_ERROR_CANCELLED) status = TB_OK;
  s->ctx->interrupt = (tbInterrupt){0};
  s->scene->step.solver.watch = NULL;
  s->metrics.wall_s = tb_seconds() - begun;
  progress_clear(&s->progress);
  return status;
}

static const char* state_of(const Simulation* s, int64_t last)
{
  if (s->stopped.status != TB_OK) return "failed";
  return tb_world_step_count(s->scene->world) < last ? "interrupted" : "ok";
}

static tbStatus finish(Simulation* s, int64_t last)
{
  if (s->args->checkpoint && s->stopped.status == TB_OK) TB_TRY(save_checkpoint(s));
  if (!s->metrics_file.open) return TB_OK;
  return metrics_json(s->ctx, &s->metrics_file.out, &s->metrics, s->scene, state_of(s, last));
}

// The files of a run, those in the folder of --out by its name.
static void put_wrote(const Simulation* s, tbOut* out)
{
  const OutputArgs* a = s->args;
  const char* const file[] = {a->metrics,    a->csv,        a->csv_contacts, a->csv_joints, a->csv_forces,
                              a->trajectory, a->checkpoint, a->dump,         a->out};
  const char* between = "  wrote        ";
  for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
    bool folder = file[i] && (file[i] == a->out || file[i] == a->dump);
    if (!file[i] || is_standard(file[i])) continue;
    tb_out_text(out, between);
    out_terminal(out, file[i]);
    if (folder && file[i][strlen(file[i]) - 1] != '/') tb_out_text(out, "/");
    between = ", ";
  }
  if (*between == ',') tb_out_text(out, "\n");
}

static tbStatus print_summary(Simulation* s, int64_t last)
{
  const OutputArgs* a = s->args;
  bool taken = is_standard(a->csv) || is_standard(a->csv_contacts) || is_standard(a->csv_joints) ||
               is_standard(a->csv_forces) || is_standard(a->metrics);
  tbOut out = out_summary(s->ctx, taken);
  tbStatus status = metrics_summary(s->ctx, &out, &s->metrics, s->scene, state_of(s, last));
  tbOut wrote = out_summary(s->ctx, taken);
  if (status == TB_OK) put_wrote(s, &wrote);
  if (status == TB_OK) status = tb_out_finish(&wrote);
  tb_out_free(&wrote);
  tb_out_free(&out);
  return status;
}

int simulate(tbContext* ctx, tbScene* scene, int64_t last, const OutputArgs* a)
{
  Simulation s = {.ctx = ctx, .scene = scene, .args = a, .metrics = metrics_begin(scene)};
  interrupt_watch();
  tbStatus status = a->control ? tb_control_load(ctx, a->control, scene->world) : TB_OK;
  ctx->interrupt = (tbInterrupt){interrupted, NULL}; // pipes are waited for
  if (status == TB_OK) status = open_files(&s);
  ctx->interrupt = (tbInterrupt){0};
  if (status == TB_OK) status = run_steps(&s, last);
  if (status == TB_OK) status = finish(&s, last);
  status = close_files(&s, status);
  if (status == TB_OK && !a->quiet) status = print_summary(&s, last);
  if (status == TB_OK && a->out && !interrupted(NULL)) status = recordings_draw(ctx, a, s.out.path);
  int code = EXIT_DONE;
  if (status != TB_OK) {
    code = fail_with(ctx);
  } else if (s.stopped.status != TB_OK) {
    fprintf(stderr, "tribo: after step %lld: %s\n", (long long)tb_world_step_count(scene->world),
            s.stopped.message);
    code = EXIT_FAULT;
  } else if (tb_world_step_count(scene->world) < last) {
    code = EXIT_INTERRUPTED;
  } else if (a->strict && s.metrics.unconverged > 0) {
    code = EXIT_UNCONVERGED;
  }
  metrics_free(ctx, &s.metrics);
  return code;
}
