// SPDX-License-Identifier: Apache-2.0
// Tangents as they go forward: what tangent.c and tangent_step.c share.
#ifndef TB_GRADIENT_TANGENT_H
#define TB_GRADIENT_TANGENT_H

#include "gradient/objective.h"
#include "gradient/state.h"

#define TB_TANGENT_REACH 1e-5                                               // of a body's size
enum { TB_TANGENT_LEVELS = 4, TB_TANGENT_SAMPLES = 2 * TB_TANGENT_LEVELS }; // of ε, each a tenth of the last

// A world with another value of a number.
typedef struct {
  int number;
  double offset;
  tbScene scene;
} tbForwardOther;

typedef struct {
  double reach;       // how far to go in it, at first
  double wider;       // times as far, where it says little; ten to a power
  bool limited;       // the format allows no wider
  double most;        // of a number that is no more than a start
  bool ahead, behind; // whether the format allows both sides of it
  bool split;         // the two sides of its tangent differ
} tbForwardNumber;

typedef struct {
  const tbObjective* o;
  const double* values;
  tbScene base, near;      // the run, and a world to try states next to it
  tbArray other;           // tbForwardOther
  tbForwardNumber* number; // (size)
  tbStateAt* before;       // the state that a step starts from
  int n;                   // of the state, with room for as many contacts as there have been
  bool as_solved;          // contact problems are left to the scene's solver
  tbStepOptions how;       // its tolerance
  double* tangent[2];      // along p and along −p; the second only where split           (size × n)
  double *sample, reach[TB_TANGENT_SAMPLES]; // (F(s + e t) − F(s)) / e, and e (TB_TANGENT_SAMPLES × n)
  double *work, *next, *next_back;           // t⁺                                               (n)
  double* level[2];                          // by two ε, one after the other                         (n)
  tbTape tape;
  tbExact exact;
  bool nearby; // a change of contact within ε of this step
  tbGradientReport* report;
} tbForward;

// The world with number i at its value + offset, made when it is first asked for.
tbStatus tb_forward_world(tbContext* ctx, tbForward* forward, int i, double offset, tbWorld** out);
tbStatus tb_forward_step(tbContext* ctx, tbForward* forward, bool replay, tbWorld* world);

static inline double tb_forward_norm(const tbForward* f, const double* t)
{
  return tb_state_norm(f->base.world, f->o->step.dt, t);
}

// next = F_s t + F_p of number i, and next_back along −t; sign −1: of the tangent along −p. smooth: false:
// the two sides differ.
tbStatus tb_forward_differ(tbContext* ctx, tbForward* forward, int i, double sign, bool to_one_side,
                           bool* smooth);

#endif
