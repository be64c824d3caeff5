// SPDX-License-Identifier: Apache-2.0
#include "render/theme.h"

static const tbTheme light = {
    .background = {243, 244, 246},
    .ground = {233, 235, 239},
    .grid = {141, 150, 165},
    .fixed = {185, 191, 201},
    .kinematic = {143, 163, 191},
    .ink = {31, 41, 55},
    .faint = {107, 114, 128},
    .accent = {37, 99, 235},
    .state = {{138, 145, 158}, {0, 114, 178}, {224, 108, 0}},
    .joint = {168, 64, 138},
    .body = {{217, 199, 167},
             {169, 188, 208},
             {183, 203, 178},
             {214, 173, 160},
             {189, 178, 209},
             {227, 217, 200},
             {159, 184, 181}},
    .sky = {0.97, 1.0, 1.05},
    .earth = {0.60, 0.56, 0.51},
};

static const tbTheme dark = {
    .background = {18, 21, 27},
    .ground = {27, 31, 39},
    .grid = {74, 83, 99},
    .fixed = {91, 99, 113},
    .kinematic = {95, 119, 151},
    .ink = {229, 231, 235},
    .faint = {148, 157, 172},
    .accent = {110, 168, 255},
    .state = {{154, 163, 178}, {69, 178, 240}, {255, 157, 46}},
    .joint = {229, 140, 200},
    .body = {{201, 180, 141},
             {143, 169, 196},
             {157, 185, 150},
             {198, 151, 138},
             {167, 154, 194},
             {210, 198, 176},
             {134, 166, 162}},
    .sky = {0.80, 0.88, 1.0},
    .earth = {0.16, 0.16, 0.19},
};

const tbTheme* tb_theme(bool is_dark) { return is_dark ? &dark : &light; }

// Neighbours in order get different colours, and the same ones every time.
tbColor tb_theme_body(const tbTheme* t, tbBodyMotion motion, bool sheet, int index)
{
  if (motion == TB_BODY_FIXED) return t->fixed;
  if (motion == TB_BODY_KINEMATIC) return t->kinematic;
  if (sheet) return t->body[3];
  return t->body[(index % 7 * 5 + (index >> 3) % 7 * 3) % TB_BODY_COLORS];
}
