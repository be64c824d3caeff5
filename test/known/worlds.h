// SPDX-License-Identifier: Apache-2.0
// Small worlds for tests against closed forms.
#ifndef TB_TEST_WORLDS_H
#define TB_TEST_WORLDS_H

#include "tribo/step.h"

#define PI 3.14159265358979323846

// Solvers that solve Coulomb's law as it stands.
extern const char* const exact_solvers[];
enum { EXACT_SOLVERS = 9 };
int exact_stride(void); // 1; where tests are to be quick, every fourth will do

typedef struct Stage {
  tbContext ctx;
  tbWorld* world;
  tbStepOptions step;
  tbStepReport report; // of the last step
  int unconverged;     // steps so far
  double worst;        // residual so far
} Stage;

Stage stage_open(double mu, double restitution); // a world whose default pair has them
Stage stage_open_with(tbVec3 gravity, tbFriction friction, double restitution);
void stage_close(Stage* s);

// A floor through the origin whose upward normal leans by `slope` from the vertical towards `heading`
// (radians).
tbBodyId stage_floor(Stage* s, double slope, double heading);
tbVec3 stage_down(double slope, double heading); // unit, down the slope
tbVec3 stage_normal(double slope, double heading);
tbQuat stage_turn(double slope, double heading); // takes z to the normal and x to the way down

tbBodyId stage_add(Stage* s, tbShape shape, double mass, tbVec3 position, tbQuat orientation);
tbBodyId stage_fixed(Stage* s, tbShape shape, tbVec3 position, tbQuat orientation);
void stage_push(Stage* s, tbBodyId body, tbVec3 velocity, tbVec3 angular_velocity);
tbBodyState stage_state(const Stage* s, tbBodyId body);

// Steps on; fails the test when a step fails.
void stage_run(Stage* s, int steps);
void stage_run_for(Stage* s, double seconds);
double stage_energy(const Stage* s); // kinetic, potential and elastic

// A body of several numbers at once: shape, mass, place and velocity, unturned.
tbBodyId stage_throw(Stage* s, tbShape shape, double mass, tbVec3 position, tbVec3 velocity);

// Of the shape's own mass, turning, and swept as a bullet or not.
tbBodyId stage_shoot(Stage* s, tbShape shape, tbVec3 x, tbVec3 v, tbVec3 w, bool bullet);

#endif
