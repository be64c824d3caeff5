// SPDX-License-Identifier: Apache-2.0
// Bodies moved before a step: apart, or to where they rest.
#ifndef TB_STEP_IPC_MOVES_H
#define TB_STEP_IPC_MOVES_H

#include "step/ipc.h"

#define TB_IPC_ASKED 0.2 // of d̂: how far apart bodies are moved that touch

typedef struct {
  tbVec3* frame;     // moved so far in this round                              (nframe)
  tbVec3* node;      // (nblock)
  int* of_body;      // its frame; −1: none                                     (bodies)
  tbVec3* normal;    // of a contact of a frame                                (nframe)
  bool* several;     // it has others, too                                     (nframe)
  tbVec3* turn;      // turned so far in this round, about the centre of mass  (nframe)
  tbQuat* upright;   // its orientation before any                            (nframe)
  bool* falls;       // it does not stand                                      (nframe)
  tbTransform* from; // where it was before the last move                    (nframe)
  tbVec3* node_from; // (nblock)
  double moved;      // how far anything was moved before that
} tbIpcMoves;

// Bodies start as much farther as they are moved in this round; and where they did before it.
void tb_ipc_apply(tbStepWork* work, tbIpc* ipc, tbIpcMoves* moves);
void tb_ipc_take_back(tbStepWork* work, tbIpc* ipc, const tbIpcMoves* moves);

// A frame where it starts now, with another orientation.
void tb_ipc_turn_frame(tbStepWork* work, const tbIpc* ipc, tbIpcFrame* frame, tbQuat q);

// Whether a body has nodes whose velocity is known.
bool tb_ipc_is_held(const tbIpc* ipc, const tbIpcNodes* nodes);

// ---- ipc_free.c ----
// Bodies of nodes that pass through others are moved out of these, as wholes; rigid ones, too, where `frames`
// says so. *freed: one was.
tbStatus tb_ipc_free(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* moves, bool frames,
                     bool* freed);

#endif
