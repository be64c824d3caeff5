// SPDX-License-Identifier: Apache-2.0
// Pictures and films of a replay: `tribo render`, and `tribo run --export png,mp4,webm`.
#ifndef TB_CLI_RENDER_H
#define TB_CLI_RENDER_H

#include "cli/args.h"
#include "tribo/render.h"

typedef struct {
  tbRenderOptions options;
  int64_t first, last; // frames of the replay; last −1: the last one
  double fps, speed;   // of a film: frames per second; seconds of the run in one of them
  bool quiet;
} Shooting;

Shooting shooting_default(void);

// A film where the path ends in .mp4 or .webm, else PNG: one picture of the frame `last`, or one of each from
// `first` on, numbered, when `series`. Ctrl-C ends a film early and keeps it.
tbStatus shoot(tbContext* ctx, tbReplay* replay, const char* path, bool series, const Shooting* s);

// "a<separator>b" in whole numbers.
bool two_numbers(const char* text, char separator, long long* a, long long* b);

#endif
