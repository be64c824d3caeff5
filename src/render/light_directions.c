// SPDX-License-Identifier: Apache-2.0
// The directions that light comes from, and room for their maps.
#include "render/light.h"

// Sizes of the maps, in shorter sides of the picture; with few suns, less.
static const double sun_map[2] = {1.4, 1.0}, sky_map[2] = {0.6, 0.45};
static const double sun_share = 0.62, sun_width = 0.045; // radius of the sun, rad

static double turn_of(int i) { return 2.399963229728653 * i; } // the golden angle

static void frame_of(tbVec3 n, tbVec3* a, tbVec3* b)
{
  tbMat3 F = tb_mat3_frame(n);
  *a = tb_mat3_row(F, 1), *b = tb_mat3_row(F, 2);
}

// Suns evenly over a disc, skies over the upper half of a sphere, both along a spiral.
static tbVec3 direction_of(const tbLighting* g, int i, tbVec3 up, tbVec3 toward_sun)
{
  tbVec3 a, b;
  double s, c;
  tb_sin_cos(turn_of(i), &s, &c);
  if (i < g->suns) {
    frame_of(toward_sun, &a, &b);
    double r = sun_width * sqrt((i + 0.5) / g->suns);
    return tb_normalize3(tb_madd3(tb_madd3(toward_sun, r * c, a), r * s, b));
  }
  frame_of(up, &a, &b);
  double z = 1 - (i - g->suns + 0.5) / (g->lights - g->suns) * 0.96, r = sqrt(1 - z * z);
  return tb_madd3(tb_madd3(tb_scale3(z, up), r * c, a), r * s, b);
}

static int map_size(int pixels, double share)
{
  double size = share * pixels;
  return size < 64 ? 64 : size < 2048 ? (int)size : 2048;
}

static void spread_out(tbLighting* g)
{
  for (int i = 0; i < g->lights; i++) {
    const tbLight* l = &g->light[i];
    double d[3], u[3], v[3];
    tb_store3(d, l->direction), tb_store3(u, l->u), tb_store3(v, l->v);
    for (int k = 0; k < 3; k++)
      g->direction[k][i] = (float)d[k], g->u[k][i] = (float)u[k], g->v[k][i] = (float)v[k];
    g->texel[i] = (float)(2 * g->radius / l->size), g->middle[i] = 0.5f * (float)(l->size - 1);
    // R₂, a sequence that fills the square evenly (Roberts 2018)
    double x = 0.7548776662466927 * i, y = 0.5698402909980532 * i;
    g->jitter[0][i] = (float)(x - floor(x)), g->jitter[1][i] = (float)(y - floor(y));
  }
}

tbStatus tb_lighting_create(tbArena* arena, const tbSubject* m, tbVec3 toward_sun, tbVec3 centre,
                            double radius, int suns, int pixels, tbLighting* out)
{
  double level[2] = {0, 0}; // light on a level surface before it is scaled
  *out = (tbLighting){.suns = suns,
                      .lights = suns + (suns < TB_SUNS ? TB_DRAFT_SKIES : TB_SKIES),
                      .centre = centre,
                      .radius = radius,
                      .sun_width = sun_width,
                      .up = m->up};
  for (int i = 0; i < out->lights; i++) {
    tbLight* l = &out->light[i];
    l->sun = i < suns;
    l->direction = direction_of(out, i, m->up, toward_sun);
    l->size = map_size(pixels, (l->sun ? sun_map : sky_map)[suns < TB_SUNS]);
    level[l->sun] += tb_dot3(l->direction, m->up);
    frame_of(l->direction, &l->u, &l->v);
    double texels = 0.5 * l->size / radius;
    l->u = tb_scale3(texels, l->u), l->v = tb_scale3(texels, l->v);
    l->map = TB_TAKE(arena, float, (size_t)l->size*(size_t)l->size);
    l->bounds = TB_TAKE(arena, tbLightBounds, 1);
    l->tiles = (l->size >> TB_LIGHT_TILE) + 1;
    l->tile = TB_TAKE(arena, float, (size_t)l->tiles*(size_t)l->tiles);
    if (!l->map || !l->bounds || !l->tile) return TB_ERROR_MEMORY;
  }
  for (int i = 0; i < out->lights; i++) {
    tbLight* l = &out->light[i];
    l->weight = (l->sun ? sun_share : 1 - sun_share) / level[l->sun];
  }
  spread_out(out);
  out->toward_sun = toward_sun;
  if (!(out->box = TB_TAKE(arena, tbLightBox, 1))) return TB_ERROR_MEMORY;
  out->corner = TB_TAKE(arena, tbLightCorner, (size_t)m->max_vertex * (size_t)out->lights);
  return out->corner ? TB_OK : TB_ERROR_MEMORY;
}
