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
  // Shapes that go: what is kept of their contacts goes with them, and those behind move up. The one change
  // of a state that is the world's.
  void (*remove)(void* state, int first_shape, int count);
  // As bytes, both ways by the same code; reading makes *state.
  void (*code)(struct tbCodec* codec, const tbWorld* world, void** state);
} tbStateKind;

// Mixes numbers into a hash; −0 and 0 are the same.
uint64_t tb_hash_numbers(uint64_t hash, const double* x, int count);

#endif
