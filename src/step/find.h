// SPDX-License-Identifier: Apache-2.0
// Finding the contacts of a step.
#ifndef TB_STEP_FIND_H
#define TB_STEP_FIND_H

#include "collide/broad.h"
#include "collide/contact.h"
#include "collide/surfaces.h"
#include "step/unconstrained.h"
#include "tribo/step.h"

// A contact of this step: the narrow phase's point, the bodies that touch, and what the step makes of it.
typedef struct tbContactConstraint {
  int shape_a, shape_b, body_a, body_b; // shape −1: a body's own surface
  tbContactPoint point;
  tbVec3 position;                    // where the impulse acts on both bodies
  double swept;                       // when, within the step, a sweep found it; 0: at the start
  tbMat3 frame;                       // rows n, t, b
  tbContactMaterial contact_material; // of the pair: friction as tb_friction_meet() gives it
  bool directed;                      // friction depends on how the surfaces are turned, or move
  double rest; // m/s: slower sliding counts as rest, where the scheme creeps; 0: where a step is exact
  int law, rows;
  double
      stretch[2]; // of the sliding rows: the problem's λ is the impulse over it, its u the velocity times it
  double param[1 + TB_MAX_SIDES];
  double bias[TB_MAX_ROWS], compliance[TB_MAX_ROWS];
  double guess[TB_MAX_ROWS]; // warm start
  double impact; // when, within the step, the bodies strike each other here; negative: they do not
  double struck[TB_MAX_ROWS];      // the impulse of it
  const tbSurfaceContact* surface; // between surfaces: its vertices and weights; else null
  tbVec3 drift; // between surfaces: what bodies in prescribed motion add to the velocity of B against A
  double left, gap_left; // time left, and the gap, when the first of its bodies was struck; 0: none was
} tbContactConstraint;

// What the problem's row i is of the velocity along the frame's: 1, but for sliding beside rolling
// resistance.
static inline double tb_constraint_stretch(const tbContactConstraint* t, int i)
{
  return t->law == TB_LAW_ROLLING && (i == 1 || i == 2) ? t->stretch[i - 1] : 1;
}

// All contacts of the bodies at the poses given (one per body), in order of shapes, then features:
// `constraints` is an array of tbContactConstraint with shapes, bodies and points filled in. Contacts are
// looked for as far ahead as the free motion may bring surfaces together within the step, and `margin` at
// least; fast bodies are swept.
//
// `cache` (may be null) saves time, and changes nothing.
tbStatus tb_find_contacts(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* world,
                          const tbStepOptions* options, const tbUnconstrained* unconstrained,
                          const tbTransform* pose, tbArray* constraints);

// The same of pairs of shapes alone, sorted: those of tb_find_contacts among them.
tbStatus tb_find_contacts_of(tbContext* ctx, tbArena* arena, const tbWorld* world,
                             const tbStepOptions* options, const tbUnconstrained* unconstrained,
                             const tbTransform* pose, const tbPair* pairs, int count, tbArray* constraints);

// Bodies that a joint keeps from colliding: pairs of places, a < b, sorted, from the arena; null: there is no
// memory.
tbPair* tb_joined_bodies(tbArena* arena, const tbWorld* world, int* count);
bool tb_is_joined(const tbPair* joined, int count, int a, int b);

#endif
