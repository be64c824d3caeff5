// SPDX-License-Identifier: Apache-2.0
// Squares of pixels that show one face, as most do: the sky is asked once for all of it, and so is the sun
// where the square sees all of it or nothing.
#include "render/shade.h"

enum { SQUARE = 2 };

// The sky in the middle, and how much of the sun the square sees.
static tbSunSeen light_square(const tbStage* s, const tbSolid* o, int body, double x, double y,
                              tbSkyCache* cache, tbLit* sky)
{
  tbVec3 place[SQUARE * SQUARE];
  double jitter[2];
  tbVec3 ray = tb_view_ray(&s->view, x, y), middle = tb_solid_place(s, o, ray);
  tbVec3 normal = tb_solid_normal(o, ray, middle);
  tb_stage_jitter(x / s->square, y / s->square, jitter);
  tb_lighting_sky(s->lighting, middle, normal, jitter, sky);
  tb_sky_keep(cache, body, normal, *sky);
  for (int i = 0; i < SQUARE * SQUARE; i++)
    place[i] =
        tb_solid_place(s, o, tb_view_ray(&s->view, x + (i % SQUARE) - 0.5, y + (double)(i / SQUARE) - 0.5));
  return tb_lighting_seen_sun(s->lighting, place, normal, jitter);
}

static tbShown show_body(const tbStage* s, const tbSolid* o, int body, double x, double y, tbSunSeen sun,
                         const tbSkyCache* cache, tbLit lit)
{
  tbVec3 ray = tb_view_ray(&s->view, x, y), place = tb_solid_place(s, o, ray);
  tbVec3 normal = tb_solid_normal(o, ray, place);
  tb_sky_find(cache, body, normal, s->subject->up, &lit);
  if (sun == TB_SUN_OPEN) tb_lighting_open_sun(s->lighting, normal, tb_normalize3(tb_neg3(ray)), &lit);
  return tb_shade_encode(s, tb_shade_body(s, body, normal, lit));
}

static bool shade_body(const tbStage* s, const tbFace* face, int x, int y, const float* nearest, tbHand* hand)
{
  const tbSolid* o = tb_hand_solid(s, hand, face->triangle);
  tbLit sky = {0};
  tbSunSeen sun = light_square(s, o, face->surface, x + 0.5 * SQUARE, y + 0.5 * SQUARE, &hand->sky, &sky);
  if (sun == TB_SUN_PART) return false;
  tbShown shown = {0};
  for (int i = 0; i < SQUARE * SQUARE; i++) {
    int px = x + i % SQUARE, py = y + i / SQUARE;
    double middle = o->flat ? 0.5 * SQUARE : 0.5;
    if (i == 0 || !o->flat)
      shown = show_body(s, o, face->surface, px + middle, py + middle, sun, &hand->sky, sky);
    tb_shade_write(s, px, py, shown, nearest[i]);
  }
  return true;
}

bool tb_shade_square(const tbStage* s, int x, int y, tbHand* hand)
{
  tbFace face;
  float nearest[SQUARE * SQUARE];
  tbVec3 light = s->background;
  if (s->square != SQUARE || !tb_gather_square(s, x, y, &face, nearest)) return false;
  if (face.surface >= 0) return shade_body(s, &face, x, y, nearest, hand);
  if (face.surface != TB_NO_SURFACE &&
      !tb_ground_square(s, TB_FIRST_PLANE - face.surface, x, y, &hand->sky, &light))
    return false;
  tbShown shown = tb_shade_encode(s, light);
  for (int i = 0; i < SQUARE * SQUARE; i++)
    tb_shade_write(s, x + i % SQUARE, y + i / SQUARE, shown, nearest[i]);
  return true;
}
