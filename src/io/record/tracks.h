// SPDX-License-Identifier: Apache-2.0
// What moves, frame by frame, put aside in a temporary file until the run ends, for formats that want it body
// by body. Single precision; orientations turn the short way from frame to frame.
#ifndef TB_IO_RECORD_TRACKS_H
#define TB_IO_RECORD_TRACKS_H

#include "io/record/record.h"

enum { TB_TRACK = 7, TB_TRACK_TURN = 3 }; // numbers of a pose: x y z, then from TB_TRACK_TURN: w x y z

typedef struct tbTracks {
  const tbWorld* world; // the last frame's
  tbDrawing drawing;
  int nmoving;
  int* moving;              // rigid bodies that are not fixed, ascending                 (nmoving)
  float (*first)[TB_TRACK]; // their poses in the first frame                         (nmoving)
  float (*last)[TB_TRACK];  //   and in the last                                      (nmoving)
  uint8_t *shifts, *turns;  // whether they ever move, or turn, at all                 (nmoving)
  int64_t frames;
  size_t frame_bytes;
  size_t* surface_at; // where a surface's vertices stand in a frame                        (surfaces)
  tbGrowing spill;
  int reader;   // descriptor, once it is complete; −1 before
  char* buffer; // of one frame
} tbTracks;

// path: the file that will be made of them; the temporary one lies beside it.
tbStatus tb_tracks_begin(tbContext* ctx, const char* path, const tbWorld* world, tbTracks* out);
tbStatus tb_tracks_add(tbTracks* tracks, const tbFrame* frame);
tbStatus tb_tracks_complete(tbContext* ctx,
                            tbTracks* tracks); // no more frames; from here on they can be read
void tb_tracks_free(tbContext* ctx, tbTracks* tracks);

tbStatus tb_tracks_time(tbContext* ctx, const tbTracks* tracks, int64_t frame, double* out);
// Visits moving[i], for every i in order, with its poses: pose[frame · stride].
typedef tbStatus tbTrackVisit(tbContext* ctx, void* user, int i, const float (*pose)[TB_TRACK], int stride);
tbStatus tb_tracks_each(tbContext* ctx, const tbTracks* tracks, tbTrackVisit* visit, void* user);
tbStatus tb_tracks_surface(tbContext* ctx, const tbTracks* tracks, int surface, int64_t frame,
                           float (*out)[3]);

#endif
