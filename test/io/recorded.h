// SPDX-License-Identifier: Apache-2.0
// A run with something of every kind in it, recorded into a folder of its own.
#ifndef TB_TEST_RECORDED_H
#define TB_TEST_RECORDED_H

#include "test.h"
#include "tribo/io.h"

extern const char recorded_scene[];

typedef struct {
  tbContext ctx;
  tbScene scene;
  char folder[64];
} Recorded;

Recorded recorded_begin(void);
Recorded recorded_begin_with(const char* scene);
void recorded_end(Recorded* r);                                 // removes the folder with all that is in it
const char* recorded_path(const Recorded* r, const char* name); // good until the next call

// Records `steps` steps as `kind`; calls `see` for every frame, with the world as it is then; may be null.
typedef void RecordedSee(void* user, const tbWorld* world, int frame);
tbStatus recorded_run(Recorded* r, const char* kind, const char* path, int steps, double fps,
                      RecordedSee* see, void* user);

// The whole file, terminated; free with free. Null, and a failed test: it is not there.
char* recorded_read(const char* path, size_t* length);

#endif
