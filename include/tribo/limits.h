// SPDX-License-Identifier: Apache-2.0
// The numbers that users meet: defaults that more than one part of the library keeps to, and the sizes beyond
// which it refuses. Options have theirs in their rows (tribo/options.h; `tribo list options`).
#ifndef TRIBO_LIMITS_H
#define TRIBO_LIMITS_H

#define TB_VELOCITY_TOLERANCE 1e-5 // m/s: what steps aim at unless told otherwise
#define TB_FACTOR_BYTES       1e9  // memory of W, or of a factor, unless `solver.factor_bytes` says otherwise

enum {
  TB_MAX_ROWS = 6,        // of a contact
  TB_MAX_DIRECTIONS = 64, // corners of a polyhedral cone
  TB_MAX_SIDES = 16,      // directions of a polygon with a coefficient each
  TB_MAX_THREADS = 256,
  TB_MAX_SCENE_BODIES = 1000000, // of a scene file, copies counted
  // Files larger than this are refused before they are read, GiB; below 4, which 32 bits can count.
  TB_SCENE_FILE_GIB = 1,
  TB_PROBLEM_FILE_GIB = 2,
  TB_MESH_FILE_GIB = 2,
  TB_TET_MESH_FILE_GIB = 3,
};

#endif
