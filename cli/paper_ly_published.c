// SPDX-License-Identifier: Apache-2.0
// Table 2 of Ly et al. 2020 as published, and the scenes of papers/ly at any number of cells. The paper does
// not say how large things are; sheets are a metre wide there. The dresses are tubes that flare, held at a
// waist that moves with the ball they hang over.
#include "cli/paper_ly.h"

const LySetup ly_setups[] = {
    {"ribbon",
     LY_RIBBON,
     5946,
     20,
     0.7,
     19,
     2,
     {{0.3, 4210, 455, 1.9, 0.36, 1.02, 3.1, 38.4, 0.17, 109, 0},
      {0.6, 2194, 1769, 1.9, 0.449, 1.02, 2.8, 49.8, 0.29, 122, 0}}},
    {"square1",
     LY_SQUARE,
     5996,
     20,
     0.5,
     76,
     2,
     {{0.1, 2273, 1009, 2.0, 0.432, 1.24, 5.9, 69.5, 0.25, 153, 2244},
      {0.3, 1665, 301, 2.1, 0.351, 1.23, 6.6, 62.6, 0.16, 144, 4828}}},
    {"square3",
     LY_SQUARE,
     17964,
     20,
     0.5,
     76,
     2,
     {{0.1, 4034, 5840, 6.2, 1.45, 3.60, 11.8, 283.6, 1.23, 526, 18713},
      {0.3, 2222, 5311, 6.2, 1.37, 3.60, 13.1, 283.4, 1.26, 525, 19233}}},
    {"arabesque",
     LY_DRESS,
     15842,
     30,
     0.1,
     140,
     2,
     {{0, 3354, 155, 5.3, 0.741, 4.33, 51.3, 161.2, 0.28, 530, 9069},
      {0.3, 3673, 102, 5.4, 0.773, 4.39, 58.0, 152.7, 0.30, 543, 15899}}},
    {"crinoline",
     LY_DRESS,
     53097,
     30,
     0.04,
     256,
     1,
     {{0.3, 5977, 1052, 15.6, 2.647, 17.0, 200, 483, 1.04, 1751, 0}}},
};
const int ly_setup_count = sizeof ly_setups / sizeof *ly_setups;

// A ribbon is fifteen times as long as it is wide.
tbStatus ly_scene(const Paper* p, const LySetup* s, int cells, double mu, tbScene* out)
{
  static const char* const mesh[] = {[LY_RIBBON] = "grid", [LY_SQUARE] = "grid", [LY_DRESS] = "tube"};
  int across = s->kind == LY_RIBBON ? 15 * cells + 11 : cells, along = s->kind == LY_RIBBON ? cells
                                                                       : s->kind == LY_SQUARE
                                                                           ? cells + 1
                                                                           : cells * 113 / 140 - 1;
  return paper_scene(p, s->name, out, "materials.plain.friction=%.17g cloth.*.mesh.%s.cells=[%d,%d]", mu,
                     mesh[s->kind], across, along);
}
