// SPDX-License-Identifier: Apache-2.0
#include "io/recorded.h"

#include "tribo/step.h"

#include <math.h>
#include <string.h>

// The i-th report of a run, with a number of its own everywhere.
static tbStepReport made_up(int i)
{
  tbStepReport report = {.iterations = 10 + 3 * i,
                         .contacts = 100 + i,
                         .penetration = 1e-3 * (i + 1),
                         .intersections = 1000 + 7 * i,
                         .residual = {.fclib = i == 2 ? 1e-3 : 1e-6 * (i + 1),
                                      .model = 5e-2 * (i + 1),
                                      .velocity = i == 1 ? 2e-4 : 1e-7 * (i + 1),
                                      .model_velocity = 3e-3 * (i + 1)}};
  for (int k = 0; k < TB_PHASE_COUNT; k++) report.phase_s[k] = 1e-3 * (k + 1) + 1e-4 * i;
  return report;
}

// What frame `index` of the replay says of the steps `first` … `last`: the largest residual, the mean of what
// adds up, and the last step's counts.
static void check_frame(tbReplay* replay, const tbReplayFrame* frame, int first, int last, bool model)
{
  static const char* const phase[] = {"collide_ms", "assemble_ms", "solve_ms", "integrate_ms", "judge_ms"};
  double residual = 0, velocity = 0, iterations = 0, ms[TB_PHASE_COUNT] = {0}, all = 0;
  int steps = last - first + 1;
  for (int i = first; i <= last; i++) {
    tbStepReport r = made_up(i);
    residual = fmax(residual, model ? r.residual.model : r.residual.fclib);
    velocity = fmax(velocity, model ? r.residual.model_velocity : r.residual.velocity);
    iterations += (double)r.iterations / steps;
    for (int k = 0; k < TB_PHASE_COUNT; k++)
      ms[k] += 1e3 * r.phase_s[k] / steps, all += 1e3 * r.phase_s[k] / steps;
  }
  tbStepReport r = made_up(last);
#define SCALAR(name) frame->scalar[tb_replay_scalar(replay, name)]
  CHECK_NEAR(SCALAR("residual"), residual, 1e-6 * residual);
  CHECK_NEAR(SCALAR("residual_velocity"), velocity, 1e-6 * velocity);
  CHECK_NEAR(SCALAR("iterations"), iterations, 1e-6 * iterations);
  CHECK_NEAR(SCALAR("contacts"), r.contacts, 0);
  CHECK_NEAR(SCALAR("penetration"), r.penetration, 1e-6 * r.penetration);
  CHECK_NEAR(SCALAR("intersections"), (double)r.intersections, 0);
  CHECK_NEAR(SCALAR("step_ms"), all, 1e-6 * all);
  for (int k = 0; k < TB_PHASE_COUNT; k++) CHECK_NEAR(SCALAR(phase[k]), ms[k], 1e-6 * ms[k]);
#undef SCALAR
}

// Seven made-up steps, two to a frame; the last frame has one.
TEST(frames_say_what_the_reports_of_their_steps_said)
{
  for (int model = 0; model < 2; model++) {
    Recorded r = recorded_begin();
    const char* path = recorded_path(&r, "told.trp");
    tbRecordOptions o = tb_default_record_options();
    tbRecording* recording;
    o.fps = 0.5 / r.scene.step.dt;
    if (model) r.scene.step.solver.model = TB_MODEL_BOX;
    REQUIRE(tb_record_begin(&r.ctx, "replay", path, &r.scene, o, &recording) == TB_OK);
    for (int i = 0; i < 7; i++) {
      tbStepReport told = made_up(i), real;
      tbStepOptions step = r.scene.step;
      step.solver.model = TB_MODEL_CONE;
      CHECK_OK(&r.ctx, tb_world_step(&r.ctx, r.scene.world, &step, &real));
      CHECK_OK(&r.ctx, tb_record_step(&r.ctx, recording, &r.scene, &told));
    }
    CHECK_OK(&r.ctx, tb_record_end(&r.ctx, recording, &r.scene, TB_OK));
    tbReplay* replay = NULL;
    CHECK_OK(&r.ctx, tb_replay_open(&r.ctx, path, &replay));
    REQUIRE(replay && tb_replay_frame_count(replay) == 5);
    for (int i = 0; i < 5; i++) {
      tbReplayFrame frame;
      CHECK_OK(&r.ctx, tb_replay_read(&r.ctx, replay, i, &frame));
      CHECK(frame.step == (i < 4 ? 2 * i : 7));
      if (i > 0) check_frame(replay, &frame, 2 * i - 2, i < 4 ? 2 * i - 1 : 6, model);
      else CHECK(frame.scalar[tb_replay_scalar(replay, "iterations")] == 0);
    }
    tb_replay_close(&r.ctx, replay);
    recorded_end(&r);
  }
}
