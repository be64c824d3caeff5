// SPDX-License-Identifier: Apache-2.0
// What a scheme keeps from one step to the next beside poses, velocities and impulses.
//
// It decides the future, so it is part of the world's hash and of checkpoints. A state does not change once
// it is the world's: every step makes the next one, which takes its place when the step has succeeded.
// Another scheme begins without one.
#ifndef TB_SCENE_STATE_H
#define TB_SCENE_STATE_H

#include "tribo/scene.h"

struct tbCodec;

typedef struct tbStateKind {
  const char* scheme;                        // its name
  void (*free)(tbContext* ctx, void* state); // takes null
  uint64_t (*hash)(uint64_t hash, const void* state);
  // The two changes of a state that is the world's. A body goes that is still there, with its contacts: what
  // is kept of it and of its shapes goes with it, and what is behind moves up.
  void (*remove)(void* state, const tbWorld* world, int body);
  // The body at a place (−1: any of them) is not as the last step left it, or what acts on it. May be null.
  void (*change)(void* state, int body);
  // As bytes, both ways by the same code; reading makes *state.
  void (*code)(struct tbCodec* codec, const tbWorld* world, void** state);
  // Its numbers, one by one: derivatives of runs go through them. Null beyond the last.
  double* (*number)(void* state, int i);
  bool (*asleep)(const void* state, int body); // in the last step; null: no body ever is
} tbStateKind;

// Mixes numbers into a hash; −0 and 0 are the same.
uint64_t tb_hash_numbers(uint64_t hash, const double* x, int count);

#endif
