// SPDX-License-Identifier: Apache-2.0
// The experiments of Macklin et al. 2020.
#ifndef TB_CLI_PAPER_MACKLIN_H
#define TB_CLI_PAPER_MACKLIN_H

#include "cli/paper.h"
#include "tribo/step.h"

// Primal and dual as published: primal is preconditioned by its diagonal (eq. 13) and keeps the last
// iterate's velocities, dual splits masses, neither starts from the last step. h: a substep.
tbStepOptions macklin_primal(double h, int iterations);
tbStepOptions macklin_dual(double h, int iterations);

// Scenes (paper_macklin_scenes.c).
typedef struct {
  tbWorld* world;
  tbBodyId body[8]; // those that are looked at, in order
  int bodies;
} MacklinScene;

// Two balls that hang below each other on springs. k: stiffness, m: mass, upper first.
tbStatus macklin_pendulum(tbContext* ctx, const double k[2], const double m[2], MacklinScene* out);
// Cylinders on each other, each `growth` times as heavy as the one below.
tbStatus macklin_stack(tbContext* ctx, int count, double growth, MacklinScene* out);
// A capsule that leans against a wall.
tbStatus macklin_lean(tbContext* ctx, MacklinScene* out);
// Two fingers in prescribed motion that press a cube by an overlap and lift it.
tbStatus macklin_grasp(tbContext* ctx, double overlap, MacklinScene* out);
// A plate on n × n fixed balls.
tbStatus macklin_plate(tbContext* ctx, int n, MacklinScene* out);
// n balls dropped into a box, and a weight so many times heavier on them.
tbStatus macklin_grains(tbContext* ctx, int n, double ratio, MacklinScene* out);

tbStatus macklin_run(tbContext* ctx, MacklinScene* scene, const tbStepOptions* options, double seconds,
                     tbStepReport* last);

// Fig. 13: a throw that is searched for, and what gradients cost (paper_macklin_gradient.c).
tbStatus macklin_gradient(Paper* paper);

// Beyond the paper: ratios of mass and budgets for every scheme (paper_macklin_ratios.c).
tbStatus macklin_ratios(Paper* paper);

#endif
