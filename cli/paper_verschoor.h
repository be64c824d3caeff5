// SPDX-License-Identifier: Apache-2.0
// The parts of Verschoor and Jalba's experiments: what was published, and measuring the scenes of
// papers/verschoor.
#ifndef TB_CLI_PAPER_VERSCHOOR_H
#define TB_CLI_PAPER_VERSCHOOR_H

#include "cli/paper.h"
#include "tribo/step.h"

// ε₁ and ε₂ of the paper (§6.2), both distances, m. The paper stops where the equations hold for the states
// that contacts are in, to ε₁, and leaves friction up to 1.2° beside the motion. The judge asks for Coulomb's
// law as well, relative to the velocities of all contacts: at 1e-3 of them what is left is a fraction of ε₂
// in a step, which the claims check against ε₁.
static const double VERSCHOOR_ERROR = 5e-5, VERSCHOOR_TOLERANCE = 1e-3;

typedef enum {
  METHOD_CR_SCHUR,
  METHOD_CR_FULL,
  METHOD_CR_DIAG,
  METHOD_ICA,
  METHOD_STAGGERED,
  METHODS
} Method;

// Means of table 1. Zero: not published.
typedef struct {
  double seconds, solve_s, iterations, rows;
} Published;

typedef struct {
  int objects, tets, faces;
} Size;

typedef struct {
  const char *name, *stands_for; // for what of the paper's, where it differs
  const char *scene, *settings;  // papers/verschoor/SCENE.json, and values set in it
  const char* plot;              // file of its iterations by step
  Size size;                     // the paper's
  double memory;                 // the paper's, bytes; 0: not published
  Published published[METHODS];  // of staggered, with active sets, which the paper has of most scenes
  double settle_dt;              // larger steps until contacts are there,
  int settle, quick_settle;      // so many of them
  int steps;                     // then so many are measured
} Setup;

extern const Setup verschoor_setups[];
extern const int verschoor_setup_count;

// Its scene. The armadillo's meshes are not Tribo's: where they are not at hand, "ball" takes its place.
const char* verschoor_scene(const Paper* paper, const Setup* setup);

enum { STEPS_MEASURED = 16 }; // of a scene, at most

// What one method did from the state that all start from.
typedef struct {
  int steps, unfinished;                 // measured; and of them those that did not reach the tolerance
  bool stopped;                          // its time was up
  double rows, iterations, rounds;       // mean of a step
  double seconds, collide, solve;        // mean of a step, CPU time, without the judge; and of it
  double judge;                          // mean of a step: not counted above
  double residual, penetration, trimmed; // worst
  int64_t intersections;                 // sum
  double by_step[2][STEPS_MEASURED];     // iterations; CPU seconds without the judge
} Measured;

typedef struct {
  Size size;
  int nodes;
  Measured method[METHODS];
  double alone,
      shared; // cr (Schur), seconds of a step by the clock with one thread and with two; 0: on one processor
  bool same;  // and both ended in the same state
  double complementarity; // worst Fischer–Burmeister error of cr (Schur), m
  double peak;            // bytes
} Outcome;

// What is beside table 1 (paper_verschoor_figures.c).
tbStatus verschoor_figures(Paper* paper);

// cap: CPU seconds that a method may take before it is stopped.
tbStatus verschoor_measure(const Paper* paper, const Setup* setup, double cap, Outcome* out);

#endif
