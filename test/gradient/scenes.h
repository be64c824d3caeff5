// SPDX-License-Identifier: Apache-2.0
// Random scenes to differentiate: bounces, sliding, stacks, joints, pushed and tumbling bodies, cloth on a
// ball.
#ifndef TB_TEST_GRADIENT_SCENES_H
#define TB_TEST_GRADIENT_SCENES_H

#include <stdint.h>

typedef struct GradientScene {
  const char* kind;
  char text[4096];
  char loss[64], wrt[160];
} GradientScene;

enum { GRADIENT_KINDS = 10 };
GradientScene gradient_scene(uint64_t seed); // of kind seed mod GRADIENT_KINDS

#endif
