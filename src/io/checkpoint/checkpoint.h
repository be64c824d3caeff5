// SPDX-License-Identifier: Apache-2.0
// The parts of a checkpoint. Its frame is in checkpoint.c, its world in world.c, joints in joint.c.
#ifndef TB_IO_CHECKPOINT_CHECKPOINT_H
#define TB_IO_CHECKPOINT_CHECKPOINT_H

#include "base/codec.h"
#include "tribo/io.h"

enum { TB_CHECKPOINT_VERSION = 34 }; // raised whenever the bytes mean something else

// 64-bit FNV-1a. Every step is a bijection of the hash so far, so no change of a single byte goes unseen.
uint64_t tb_checkpoint_sum(const void* bytes, size_t length);

// Reading: the world is one just made.
void tb_code_world(tbCodec* c, tbWorld* world);
void tb_code_world_and_state(tbCodec* c, tbWorld* world); // and what the scheme of its last step keeps
void tb_code_joints(tbCodec* c, tbWorld* world);          // joint.c
// A name that no other thing of the kind has. Reading: the world keeps it.
void tb_code_unique_name(tbCodec* c, tbWorld* world, int kind, int index, const char** name);
void tb_code_step_options(tbCodec* c, tbStepOptions* options);

// The geometry that shapes point to: each once, in order of first use. Reading: the world keeps it.
typedef struct tbGeometryTable {
  tbArray hull, mesh, sdf; // const tbHull*, const tbMesh*, const tbSdf*; not theirs
} tbGeometryTable;

void tb_code_geometry(tbCodec* c, tbWorld* world, tbGeometryTable* table);
// A shape's reference into the table.
void tb_code_reference(tbCodec* c, const tbGeometryTable* table, tbShape* shape);
void tb_geometry_table_free(tbContext* ctx, tbGeometryTable* table);

#endif
