// SPDX-License-Identifier: Apache-2.0
// Triangles to samples, exactly: corners on a grid of 1/256 sample, edges in whole numbers, so that triangles
// which share an edge share no sample and leave none out.
#ifndef TB_RENDER_RASTER_H
#define TB_RENDER_RASTER_H

#include <stdbool.h>
#include <stdint.h>

enum { TB_RASTER_UNIT = 256, TB_RASTER_FAR = 1 << 29 }; // grid units in a sample; largest coordinate

typedef struct tbRaster {
  int width, height;
  float* depth;  // larger is nearer                                                       (width height)
  int* triangle; // in front; may be null                                                 (width height)
} tbRaster;

typedef struct tbScreenTriangle {
  int32_t x[3], y[3]; // in grid units, y down, turning so that the area is positive
  float z[3];
  int triangle;
} tbScreenTriangle;

// Nearest grid point of a coordinate in samples.
int32_t tb_raster_grid(double x);

// False: it covers no sample of the raster. Turns a triangle of negative area around when `both` sides count,
// else says false for it.
bool tb_raster_accept(const tbRaster* raster, tbScreenTriangle* t, bool both);
void tb_raster_fill(const tbRaster* raster, const tbScreenTriangle* t, int row_begin, int row_end);

// Rows that a triangle may cover, within the raster.
int tb_raster_top(const tbScreenTriangle* t);
int tb_raster_bottom(const tbRaster* raster, const tbScreenTriangle* t); // one behind the last

#endif
