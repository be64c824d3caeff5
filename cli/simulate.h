// SPDX-License-Identifier: Apache-2.0
// Running a scene to its end with everything that is written on the way: `tribo run` and `tribo resume`.
#ifndef TB_CLI_SIMULATE_H
#define TB_CLI_SIMULATE_H

#include "cli/args.h"

typedef struct {
  const char *out, *csv, *csv_contacts, *csv_joints, *csv_forces, *control, *metrics, *trajectory,
      *checkpoint, *dump, *export_kinds;
  double fps; // NaN: the default
  int every;
  bool strict, quiet;
} OutputArgs;

#define OUTPUT_ARGS(a)                                                                                    \
  {"--out", ARG_TEXT, &(a).out, "DIR",                                                                    \
   "write metrics.json, trajectory.csv, contacts.csv, replay.trp and deforming meshes into this folder"}, \
      {"--csv", ARG_TEXT, &(a).csv, "FILE",                                                               \
       "poses and velocities of bodies, a row per step and body; \"-\": standard output"},                \
      {"--csv-contacts", ARG_TEXT, &(a).csv_contacts, "FILE",                                             \
       "contacts with gaps, impulses and velocities, a row per step and contact"},                        \
      {"--csv-joints", ARG_TEXT, &(a).csv_joints, "FILE",                                                 \
       "angles, speeds and forces of joints, a row per step and joint"},                                  \
      {"--csv-forces", ARG_TEXT, &(a).csv_forces, "FILE",                                                 \
       "summed contact force and torque on each body, a row per step and touched body"},                  \
      {"--control", ARG_TEXT, &(a).control, "FILE",                                                       \
       "joint targets and efforts over time: CSV with a column t and columns such as elbow or "           \
       "elbow.effort; docs/outputs.md"},                                                                  \
      {"--metrics", ARG_TEXT, &(a).metrics, "FILE",                                                       \
       "timings, residuals, energies and final state of the run (JSON)"},                                 \
      {"--trajectory", ARG_TEXT, &(a).trajectory, "FILE", "the replay, for `tribo view` and the page"},   \
      {"--export", ARG_TEXT, &(a).export_kinds, "A,B,…",                                                  \
       "also write into --out: gltf, usd, vtk (ParaView), pc2 (Blender), csv, png, mp4, webm; "           \
       "docs/exports.md"},                                                                                \
      {"--fps", ARG_NUMBER, &(a).fps, "N",                                                                \
       "frames per simulated second of replays and exports (default 60; 0: every step)"},                 \
      {"--checkpoint", ARG_TEXT, &(a).checkpoint, "FILE",                                                 \
       "write a checkpoint at the end, and when interrupted"},                                            \
      {"--every", ARG_INT, &(a).every, "N", "also write the checkpoint every N steps"},                   \
      {"--dump-problems", ARG_TEXT, &(a).dump, "DIR",                                                     \
       "write each step's contact problem; `tribo solve` reads it"},                                      \
      {"--strict", ARG_FLAG, &(a).strict, NULL, "exit with code 1 when a step missed its tolerance"},     \
  {                                                                                                       \
    "--quiet", ARG_FLAG, &(a).quiet, NULL, "no summary, no progress bar"                                  \
  }

// False after one line on standard error.
bool output_args_check(const char* command, const OutputArgs* a);

// How many steps of dt it takes to reach a time, rounding errors aside.
int64_t steps_until(double time, double dt);

// Steps until the world has done `last` of them, and returns the exit code. The scene's time is what a
// checkpoint says of the end of the run.
int simulate(tbContext* ctx, tbScene* scene, int64_t last, const OutputArgs* a);

#endif
