// SPDX-License-Identifier: Apache-2.0
// Contacts of soft-step: what the search for pairs (soft_step_find.c) and the look at each of them
// (soft_step_collide.c) share.
#ifndef TB_STEP_SOFT_STEP_FIND_H
#define TB_STEP_SOFT_STEP_FIND_H

#include "step/soft_step_work.h"

enum { TB_SOFT_STEP_PAIRS = 64 }; // in a piece of work

// What a pair came to.
enum {
  TB_SOFT_STEP_NOTHING = 0,
  TB_SOFT_STEP_SPECIAL = -1,
  TB_SOFT_STEP_KEPT = -2
}; // or the number of points
typedef struct {
  int8_t points;
  int8_t more; // of a second contact
  bool fresh;
} tbSoftStepResult;

// What is true of any contact of a piece.
typedef struct {
  double deepest;
  bool uneven;
  int spins;
} tbSoftStepExtremes;

typedef struct {
  const tbWorld* world;
  const tbStepOptions* options;
  const tbUnconstrained* unconstrained;
  const tbTransform* pose;
  const tbPair* joined;
  int njoined;
  tbNarrowShape* shape;
  tbBroadItem* item;
  const tbSoftStepTraveller* body;
  double drop; // that gravity makes in the step
  const tbCachedPair* pair;
  int npair;
  const tbSoftStepPair* before; // of the update before
  tbSoftStepPair* now;
  bool known;                   // records of the last step are where `before` says
  tbSoftStepContact* contact;   // of a piece: from twice its first pair on
  tbSoftStepResult* result;     // of a pair
  tbSoftStepExtremes* extremes; // of a piece
  const bool* still;            // bodies; null: none
} tbSoftStepSearch;

// The contacts of pairs begin … end − 1.
void tb_soft_step_collide(void* search, int begin, int end, int piece);
void tb_soft_step_note(const tbSoftStepContact* contact, double mass_a, double mass_b,
                       tbSoftStepExtremes* extremes);

// The records of a pair in the last step.
const tbContactRecord* tb_soft_step_records_of(const tbSoftStepSearch* search, const tbCachedPair* pair,
                                               int* count);

// The radius about which a shape rolls where it is met along n; 0: it has corners there.
float tb_soft_step_radius_of(const tbNarrowShape* shape, tbVec3 n);

#endif
