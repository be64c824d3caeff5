// SPDX-License-Identifier: Apache-2.0
// Robots as their makers describe them, as scenes: URDF, and the core of MJCF. `tribo import` says it.
//
// Links and bodies keep their names, masses, inertias and poses; joints become hinges, sliders, balls and
// welds with their limits; position actuators, springs and dampers of joints become servos. Meshes touch by
// their convex hulls, as both formats' simulators have it. Whatever a file says that a scene cannot is a note
// with file and line; what would make another robot of it (a mimic joint, a moving link without mass) is an
// error.
#ifndef TRIBO_IMPORT_H
#define TRIBO_IMPORT_H

#include "tribo/io.h"
#include "tribo/tools/array.h"

TB_API_BEGIN

typedef struct tbImportJoint {
  const char* name;
  double coordinate; // rad or m, as the file measures it
} tbImportJoint;

typedef struct tbImportOptions {
  bool floating;   // URDF: the root link moves freely; else it stands in the world. MJCF says so itself
  const char* key; // MJCF: the <key> whose pose and controls the scene starts with; null: all joints at zero
  const tbImportJoint* joints; // where hinges and sliders start, after that
  int joint_count;
} tbImportOptions;

typedef struct tbImportNote {
  char text[400];    // one line: `file:line: what is not in the scene`
  int begin, length; // of what stands behind the place
  int more;          // in how many other places of the file the same holds
} tbImportNote;

bool tb_have_import(void); // false: built without expat

// Writes the scene to `out` (which is finished, and freed by the caller) and appends notes (tbImportNote; may
// be null). folder: where the scene will lie, for the paths of meshes from there; null: whole paths. Errors:
// TB_ERROR_INPUT with `file:line: …`.
tbStatus tb_import_robot(tbContext* ctx, const char* path, const char* folder, const tbImportOptions* options,
                         tbOut* out, tbArray* notes);
// The same as a scene file.
tbStatus tb_import_save(tbContext* ctx, const char* path, const char* scene, const tbImportOptions* options,
                        tbArray* notes);

TB_API_END
#endif
