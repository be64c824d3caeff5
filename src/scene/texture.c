// SPDX-License-Identifier: Apache-2.0
// Texture friction (Andrews et al. 2021; course §6.3): the plowing coefficients of a normal map.
//
// A facet with unit normal m, at the angle θ from the surface's normal, resists moving along d by
//
//   μ_d = max(0, m'·d) (2/π) θ,   m' its part in the surface                                     (335)
//
// and the surface by the mean over its facets: patches of contact are taken to hold whole repeats of the
// texture.
#include "scene/world.h"

#include <math.h>

static void add_facet(tbVec3 m, double share, tbTexture* out)
{
  double flat = sqrt(m.x * m.x + m.y * m.y), theta = tb_atan2(flat, m.z);
  for (int i = 0; i < TB_PLOW_DIRECTIONS && flat > 0; i++) {
    double c, s;
    tb_sin_cos(2 * TB_PI * i / TB_PLOW_DIRECTIONS, &s, &c);
    out->plow[i] += share * fmax(0, m.x * c + m.y * s) * (2 / TB_PI) * theta;
  }
}

tbStatus tb_world_add_texture(tbContext* ctx, tbWorld* w, int width, int height, const tbVec3* normals,
                              int* out)
{
  if (width < 1 || height < 1 || width > 1 << 15 || height > 1 << 15)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a texture has 1 to 32768 pixels either way");
  tbTexture t = {0};
  int count = width * height;
  for (int i = 0; i < count; i++) {
    double size = tb_norm3(normals[i]);
    if (!(size > 0) || !isfinite(size) || !(normals[i].z > 0))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "pixel %d, %d of a normal map does not point out of the surface",
                     i % width, i / width);
    add_facet(tb_scale3(1 / size, normals[i]), 1.0 / count, &t);
  }
  TB_TRY(tb_array_push(ctx, &w->texture, &t, 1));
  *out = (int)w->texture.count;
  return TB_OK;
}
