// SPDX-License-Identifier: Apache-2.0
// Worlds drawn from a seed: rigid bodies of every smooth kind, thrown at each other and onto a floor.
#ifndef TB_TEST_RANDOM_WORLDS_H
#define TB_TEST_RANDOM_WORLDS_H

#include "test.h"
#include "tribo/step.h"

enum { RANDOM_BODIES = 12 };

typedef struct {
  tbShape shape;
  double mass;
  tbVec3 x, v, w;
  tbQuat q;
} RandomBody;

// What a world is made of, in SI units.
typedef struct {
  RandomBody body[RANDOM_BODIES];
  double friction, restitution, gravity, dt;
  bool floor;
} RandomWorld;

typedef enum {
  RANDOM_HEAP,    // spheres, boxes and capsules above a floor
  RANDOM_SPHERES, // spheres above a floor: impulses are unique
  RANDOM_CLUSTER  // no floor and no gravity: nothing outside acts on it
} RandomKind;

RandomWorld random_world(RandomKind kind, uint64_t seed);

// The same world in units that are smaller by these factors: a length of 1 m becomes `length`.
typedef struct {
  double mass, length, time;
} Units;

// The world with bodies in the order given (null: as they are), in other units. Body i of the order is
// order[i]; the floor, if there is one, comes first when `floor_first`, else last. Options that have a
// dimension are scaled too.
typedef struct {
  tbContext ctx;
  tbWorld* world;
  tbStepOptions step;
  tbBodyId id[RANDOM_BODIES]; // by the index in RandomWorld
} MadeWorld;

MadeWorld make_world(const RandomWorld* r, const char* scheme, Units units, const int* order,
                     bool floor_first);
void drop_world(MadeWorld* m);

#endif
