// SPDX-License-Identifier: Apache-2.0
// Scenes that barriers have to hold in: forty, each drawn from a seed. The first ten are degenerate (after
// Erleben 2018: points, edges and faces that meet exactly), the others drop, twist, squeeze and pile bodies
// of all kinds.
#ifndef TB_TEST_IPC_SCENES_H
#define TB_TEST_IPC_SCENES_H

#include "test.h"

enum { IPC_SCENES = 40, IPC_SCENE_TEXT = 1 << 15 };

typedef struct {
  char text[IPC_SCENE_TEXT]; // a scene file
  const char* name;
  double mu; // of all materials
  int steps;
  bool driven; // something in it is in prescribed motion, which may bring energy
} IpcScene;

void ipc_scene(int index, uint64_t seed, IpcScene* out);

#endif
