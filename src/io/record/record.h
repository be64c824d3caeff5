// SPDX-License-Identifier: Apache-2.0
// What a kind of recording is to the rest: three functions. When frames come, and what they say of the steps
// between them, is decided once for all kinds (record.c).
#ifndef TB_IO_RECORD_RECORD_H
#define TB_IO_RECORD_RECORD_H

#include "io/record/drawing.h"
#include "io/record/growing.h"
#include "tribo/io.h"

enum { TB_SCALARS = 16 };

typedef struct tbRecordPlan {
  const tbScene* scene; // at begin only
  const char* path;
  int64_t stride; // steps per frame
  double fps;     // 1/(stride · dt)
  int contact_limit;
} tbRecordPlan;

typedef struct tbFrame {
  const tbWorld* world;
  int64_t index, step; // of the frame; steps the world has done
  double time, dt;
  double scalar[TB_SCALARS];
  bool replayed; // out of a replay: how fast contacts slip is not known
} tbFrame;

typedef struct tbRecorder {
  tbStatus (*begin)(tbContext* ctx, const tbRecordPlan* plan, void** state);
  tbStatus (*frame)(tbContext* ctx, void* state, const tbFrame* frame);
  // Keeps the files when `status` is TB_OK, else removes them; frees the state either way.
  tbStatus (*end)(tbContext* ctx, void* state, tbStatus status);
  bool every_step; // whatever the rate of frames
} tbRecorder;

extern const tbRecorder tb_recorder_replay, tb_recorder_gltf, tb_recorder_usd, tb_recorder_vtk,
    tb_recorder_pc2;

const char* tb_scalar_name(int index);

#endif
