// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "render/paint.h"
#include "render/raster.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 40 };

// Random triangulations of a square: every sample inside lies in one triangle, and in one only.
TEST(triangles_that_share_an_edge_share_no_sample)
{
  tbRandom random = test_random(3);
  for (int round = 0; round < 300; round++) {
    float depth[SIDE * SIDE];
    int owner[SIDE * SIDE], covered[SIDE * SIDE] = {0};
    tbRaster r = {SIDE, SIDE, depth, owner};
    int32_t x[4] = {0, SIDE * 256, SIDE * 256, 0}, y[4] = {0, 0, SIDE * 256, SIDE * 256};
    int32_t cx = 128 * test_below(&random, 2 * SIDE),
            cy = 128 * test_below(&random, 2 * SIDE); // often on a sample
    for (int k = 0; k < 4; k++) {
      int n = (k + 1) % 4;
      tbScreenTriangle t = {{x[k], x[n], cx}, {y[k], y[n], cy}, {1, 1, 1}, k};
      if (round % 2) t = (tbScreenTriangle){{cx, x[n], x[k]}, {cy, y[n], y[k]}, {1, 1, 1}, k};
      for (int i = 0; i < SIDE * SIDE; i++) depth[i] = 0, owner[i] = -1;
      if (tb_raster_accept(&r, &t, true)) tb_raster_fill(&r, &t, 0, SIDE);
      for (int i = 0; i < SIDE * SIDE; i++) covered[i] += owner[i] == k;
    }
    for (int i = 0; i < SIDE * SIDE; i++)
      if (covered[i] != 1) {
        test_failed(__FILE__, __LINE__, "round %d: sample %d is covered %d times", round, i, covered[i]);
        return;
      }
  }
}

TEST(the_nearer_triangle_is_seen)
{
  float depth[SIDE * SIDE] = {0};
  int owner[SIDE * SIDE];
  tbRaster r = {SIDE, SIDE, depth, owner};
  int32_t far = SIDE * 512;
  tbScreenTriangle level = {{0, far, 0}, {0, 0, far}, {0.5f, 0.5f, 0.5f}, 1};
  tbScreenTriangle slope = {
      {0, far, 0}, {0, 0, far}, {0, 2, 0}, 2}; // z = 2 x / far: in front where x > far/4
  for (int order = 0; order < 2; order++) {
    memset(depth, 0, sizeof depth);
    tb_raster_fill(&r, order ? &level : &slope, 0, SIDE);
    tb_raster_fill(&r, order ? &slope : &level, 0, SIDE);
    for (int x = 0; x < SIDE; x++) CHECK(owner[5 * SIDE + x] == (2 * x + 1 > SIDE ? 2 : 1));
  }
}

static double painted(const char* text)
{
  float rgb[3 * SIDE * SIDE] = {0}, depth[SIDE * SIDE] = {0};
  tbCanvas canvas = {SIDE, SIDE, rgb, depth, 0, SIDE};
  tbInk ink = {{1, 1, 1}, 1, 1, 1};
  tb_paint_text(&canvas, (tbPoint){8, 28}, 20, 0.1, text, &ink);
  double sum = 0;
  for (int i = 0; i < 3 * SIDE * SIDE; i++) {
    CHECK(rgb[i] >= 0 && rgb[i] <= 1.0001f);
    sum += (double)rgb[i] / 3;
  }
  // nothing but above the descenders and below the ascenders
  for (int x = 0; x < SIDE; x++) CHECK(rgb[3 * x] == 0 && rgb[3 * (SIDE * (SIDE - 1) + x)] == 0);
  return sum;
}

TEST(every_letter_leaves_ink)
{
  for (int c = '!'; c <= '~'; c++) CHECK(painted((char[2]){(char)c, 0}) > 4);
  CHECK(painted(" ") == 0);
  CHECK(painted("é") > 20);
  CHECK_NEAR(tb_text_width(20, "é"), tb_text_width(10, "é") * 2, 1e-12);
  CHECK(tb_text_width(20, "mm") > tb_text_width(20, "ii"));
}

TEST(polygons_cover_their_area)
{
  static float rgb[3 * SIDE * SIDE], depth[SIDE * SIDE];
  tbCanvas canvas = {SIDE, SIDE, rgb, depth, 0, SIDE};
  tbInk ink = {{1, 1, 1}, 1, 0, 1};
  tbPoint square[4] = {{5.5, 6.25}, {25.5, 6.25}, {25.5, 16.25}, {5.5, 16.25}};
  tb_paint_polygon(&canvas, square, 4, &ink);
  double area = 0;
  for (int i = 0; i < SIDE * SIDE; i++) area += (double)rgb[3 * i];
  CHECK_NEAR(area, 200, 1);
  // off the canvas, empty, without extent, not finite: nothing, and no harm
  memset(rgb, 0, sizeof rgb);
  tb_paint_polygon(&canvas, (tbPoint[3]){{1e30, 0}, {2e30, 1e30}, {1e30, 1e30}}, 3, &ink);
  tb_paint_polygon(&canvas, (tbPoint[3]){{NAN, 0}, {3, NAN}, {4, 4}}, 3, &ink);
  tb_paint_line(&canvas, (tbPoint){-1e30, -5}, (tbPoint){1e30, -5}, 2, &ink);
  ink.depth = -1; // behind everything
  tb_paint_polygon(&canvas, square, 4, &ink);
  for (int i = 0; i < 3 * SIDE * SIDE; i++) CHECK(rgb[i] == 0);
}
