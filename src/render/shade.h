// SPDX-License-Identifier: Apache-2.0
// Between the files that turn samples into pixels: gather.c says which surfaces a pixel shows, square.c
// lights squares of pixels that show one, shade.c the others.
#ifndef TB_RENDER_SHADE_H
#define TB_RENDER_SHADE_H

#include "render/scene.h"

enum { TB_SHADE_GROUPS = TB_RENDER_SAMPLES * TB_RENDER_SAMPLES, TB_NO_SURFACE = -1, TB_FIRST_PLANE = -2 };

// What a sample shows. A plane k is the surface TB_FIRST_PLANE − k.
typedef struct tbFace {
  int surface;   // number of the body, or below 0
  tbVec3 normal; // in the body's frame
  int triangle;
} tbFace;

// The samples of a pixel that show one face.
typedef struct tbFaceGroup {
  tbFace face;
  double x, y; // of its first sample, in pixels
  double weight;
} tbFaceGroup;

// Returns how many groups there are. nearest: 1/distance of the nearest sample.
int tb_gather_pixel(const tbStage* stage, int x, int y, tbFaceGroup group[TB_SHADE_GROUPS], float* nearest);
// The face that all samples of a square of pixels show, and those around it; false: there are several.
// nearest: of its pixels, row by row                                                      (square²)
bool tb_gather_square(const tbStage* stage, int x, int y, tbFace* out, float* nearest);

// A triangle in the world: the place eye + z ray = a + β b + γ c has β = beta · (place − a), γ likewise, and
// the normal normal[0] + β normal[1] + γ normal[2].
typedef struct tbSolid {
  int triangle; // −1: none yet
  bool flat;    // one normal
  tbVec3 a, face, beta, gamma, normal[3];
  double away; // of the eye from its plane, in lengths of `face`
} tbSolid;

// What one thread has at hand: triangles seen last, and the sky in the square of pixels at work.
enum { TB_SOLIDS = 16 };
typedef struct tbHand {
  tbSolid solid[TB_SOLIDS];
  tbSkyCache sky;
} tbHand;

const tbSolid* tb_hand_solid(const tbStage* stage, tbHand* hand, int triangle);
// Where a ray of the view meets it, and its normal there, towards the eye.
tbVec3 tb_solid_place(const tbStage* stage, const tbSolid* solid, tbVec3 ray);
tbVec3 tb_solid_normal(const tbSolid* solid, tbVec3 ray, tbVec3 place);

// The light that comes from a body to the eye.
tbVec3 tb_shade_body(const tbStage* stage, int body, tbVec3 normal, tbLit lit);

// Light as it is shown: sRGB, 0 … 1.
typedef struct tbShown {
  float rgb[3];
} tbShown;
tbShown tb_shade_encode(const tbStage* stage, tbVec3 light);
void tb_shade_write(const tbStage* stage, int x, int y, tbShown shown, float nearest);

// Lights a square of pixels that shows one face; false: its pixels have to be lit one by one.
bool tb_shade_square(const tbStage* stage, int x, int y, tbHand* hand);

#endif
