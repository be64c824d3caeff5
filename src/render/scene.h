// SPDX-License-Identifier: Apache-2.0
// One frame of a subject as light: which triangle every sample shows, and what colour it has there.
#ifndef TB_RENDER_SCENE_H
#define TB_RENDER_SCENE_H

#include "render/light.h"
#include "render/raster.h"
#include "render/theme.h"
#include "render/view.h"

// The ground in a picture: 1/distance is linear over it, at + right x + down y.
typedef struct tbScreenPlane {
  double at, right, down;
  tbVec3 normal, origin, u, v; // in the world; the axes of the grid
  bool shown;                  // faces the eye
  tbGround* ground;            // its shadows
} tbScreenPlane;

enum { TB_BAND = 48, TB_ENCODE = 2048 }; // rows of samples side by side; steps of the table to sRGB

typedef struct tbStage {
  const tbSubject* subject;
  const tbLighting* lighting;
  const tbTheme* theme;
  tbView view; // in pixels
  tbCut cut;
  int samples;
  tbRaster raster;  // of samples
  double* at;       // a column's or row's place in pixels                         (the larger of the two)
  tbArray triangle; // tbScreenTriangle, that cover samples
  tbArray entry;    // int, triangles band by band
  int* band;        // first entry of a band                                       (nband+1)
  int nband;
  tbScreenPlane* plane; // (nplane)
  tbVec3* screen;       // of a mesh's corners: x, y, 1/distance                       (max_vertex)
  tbVec3* color;        // of the bodies, as light                                     (nbody)
  tbVec3 background, ground, grid;
  float encode[TB_ENCODE + 2];
  double cell, reach; // of the ground's grid; where it has faded away
  tbVec3 centre;      // that it fades from
  float* rgb;         // what comes out, as shown (sRGB), 0 … 1                      (3 width height)
  float* depth;       // 1/distance of what is nearest in a pixel                    (width height)
} tbStage;

// Triangles to samples (visible.c), then samples to pixels (shade.c).
tbStatus tb_stage_rasterize(tbContext* ctx, tbStage* stage);
void tb_stage_shade(tbThreads* threads, tbStage* stage);

void tb_stage_prepare(tbStage* stage); // colours, once

// Decides what is cut away of fixed shapes.
void tb_cut_away(const tbSubject* subject, const tbView* view, const tbScope* scope);

const tbInstance* tb_stage_instance(const tbSubject* subject, int triangle);

#endif
