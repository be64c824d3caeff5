// SPDX-License-Identifier: Apache-2.0
// The recordings of a run: the replay, and what --export asks for.
#ifndef TB_CLI_RECORDINGS_H
#define TB_CLI_RECORDINGS_H

#include "cli/simulate.h"

enum { RECORDINGS = 8 };

typedef struct {
  tbRecording* recording[RECORDINGS];
  int count;
} Recordings;

// The next kind of "a,b,c", of the length returned; 0: no more. And the recording of that name; null: none.
int next_kind(const char** at, const char** kind);
const tbRecordKind* find_kind(const char* kind, int length);

// Kinds that are drawn from the replay when the run is over: png, mp4, webm.
bool recordings_want_film(const OutputArgs* a);
// After recordings_close; folder: that of --out.
tbStatus recordings_draw(tbContext* ctx, const OutputArgs* a, const char* folder);

// Whether --export names kinds that exist and have a place to go. False after one line on standard error.
bool recordings_check(const char* command, const OutputArgs* a);

// folder: that of --out, which exists; null: none.
tbStatus recordings_open(tbContext* ctx, Recordings* r, const OutputArgs* a, const char* folder,
                         const tbScene* scene);
tbStatus recordings_step(tbContext* ctx, Recordings* r, const tbScene* scene, const tbStepReport* report);
tbStatus recordings_close(tbContext* ctx, Recordings* r, const tbScene* scene, tbStatus status);

#endif
