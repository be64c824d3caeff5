// SPDX-License-Identifier: Apache-2.0
// The page's colours (viewer/src/palette.js). Bodies are muted, so that contacts speak: blue holds, orange
// slides, grey is apart.
#ifndef TB_RENDER_THEME_H
#define TB_RENDER_THEME_H

#include "render/subject.h"

enum { TB_BODY_COLORS = 7 };

typedef struct tbTheme {
  tbColor background, ground, grid, fixed, kinematic, ink, faint, accent;
  tbColor state[3]; // by tbContactState
  tbColor joint;
  tbColor body[TB_BODY_COLORS];
  double sky[3], earth[3]; // tints of light from above and below
} tbTheme;

const tbTheme* tb_theme(bool dark);
tbColor tb_theme_body(const tbTheme* theme, tbBodyMotion motion, bool sheet, int index);

static inline tbVec3 tb_theme_light(tbColor color)
{
  double rgb[3];
  tb_color_linear(color, rgb);
  return tb_load3(rgb);
}

#endif
