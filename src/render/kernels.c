// SPDX-License-Identifier: Apache-2.0
// Which functions of src/render are compiled once per vector width (base/kernels.h): the lights' maps,
// samples and pixels. They call each other within their width.
#include "base/kernels.h"
#include "render/shade.h"

// raster.c
TB_KERNEL(int32_t, tb_raster_grid, (double x), (x))
TB_KERNEL(bool, tb_raster_accept, (const tbRaster* raster, tbScreenTriangle* t, bool both), (raster, t, both))
TB_KERNEL(void, tb_raster_fill,
          (const tbRaster* raster, const tbScreenTriangle* t, int row_begin, int row_end),
          (raster, t, row_begin, row_end))
TB_KERNEL(int, tb_raster_top, (const tbScreenTriangle* t), (t))
TB_KERNEL(int, tb_raster_bottom, (const tbRaster* raster, const tbScreenTriangle* t), (raster, t))

// light.c
TB_KERNEL(void, tb_lighting_sun,
          (const tbLighting* lighting, tbVec3 place, tbVec3 normal, tbVec3 eye, const double jitter[2],
           tbLit* out),
          (lighting, place, normal, eye, jitter, out))
TB_KERNEL(void, tb_lighting_open_sun, (const tbLighting* lighting, tbVec3 normal, tbVec3 eye, tbLit* out),
          (lighting, normal, eye, out))
TB_KERNEL(tbSunSeen, tb_lighting_seen_sun,
          (const tbLighting* lighting, const tbVec3 place[4], tbVec3 normal, const double jitter[2]),
          (lighting, place, normal, jitter))
TB_KERNEL(void, tb_lighting_sky,
          (const tbLighting* lighting, tbVec3 place, tbVec3 normal, const double jitter[2], tbLit* out),
          (lighting, place, normal, jitter, out))
TB_KERNEL(void, tb_ground_prepare,
          (const tbLighting* lighting, tbVec3 origin, tbVec3 normal, tbVec3 u, tbVec3 v, tbGround* out),
          (lighting, origin, normal, u, v, out))
TB_KERNEL(uint64_t, tb_ground_shadows,
          (const tbLighting* lighting, const tbGround* ground, const double at[2]), (lighting, ground, at))
TB_KERNEL(void, tb_ground_sun,
          (const tbLighting* lighting, const tbGround* ground, uint64_t shadows, const double at[2],
           const double jitter[2], tbLit* out),
          (lighting, ground, shadows, at, jitter, out))
TB_KERNEL(tbSunSeen, tb_ground_seen_sun,
          (const tbLighting* lighting, const tbGround* ground, uint64_t shadows, double at[4][2],
           const double jitter[2]),
          (lighting, ground, shadows, at, jitter))
TB_KERNEL(void, tb_ground_sky,
          (const tbLighting* lighting, const tbGround* ground, uint64_t shadows, const double at[2],
           const double jitter[2], tbLit* out),
          (lighting, ground, shadows, at, jitter, out))

// light_maps.c
TB_KERNEL(void, tb_lighting_draw,
          (tbThreads * threads, const tbLighting* lighting, const tbSubject* subject, const tbCut* cut),
          (threads, lighting, subject, cut))

// ground.c
TB_KERNEL(void, tb_ground_place, (const tbStage* stage, int plane), (stage, plane))
TB_KERNEL(tbVec3, tb_ground_light, (const tbStage* stage, int plane, double x, double y, tbSkyCache* cache),
          (stage, plane, x, y, cache))
TB_KERNEL(bool, tb_ground_square,
          (const tbStage* stage, int plane, int x, int y, tbSkyCache* cache, tbVec3* out),
          (stage, plane, x, y, cache, out))

// gather.c
TB_KERNEL(int, tb_gather_pixel,
          (const tbStage* stage, int x, int y, tbFaceGroup group[TB_SHADE_GROUPS], float* nearest),
          (stage, x, y, group, nearest))
TB_KERNEL(bool, tb_gather_square, (const tbStage* stage, int x, int y, tbFace* out, float* nearest),
          (stage, x, y, out, nearest))

// shade.c
TB_KERNEL(void, tb_stage_shade, (tbThreads * threads, tbStage* stage), (threads, stage))
TB_KERNEL(void, tb_stage_prepare, (tbStage * stage), (stage))
TB_KERNEL(void, tb_stage_jitter, (double x, double y, double out[2]), (x, y, out))
TB_KERNEL(bool, tb_sky_find, (const tbSkyCache* cache, int surface, tbVec3 normal, tbVec3 up, tbLit* out),
          (cache, surface, normal, up, out))
TB_KERNEL(void, tb_sky_keep, (tbSkyCache * cache, int surface, tbVec3 normal, tbLit lit),
          (cache, surface, normal, lit))
TB_KERNEL(const tbSolid*, tb_hand_solid, (const tbStage* stage, tbHand* hand, int triangle),
          (stage, hand, triangle))
TB_KERNEL(tbVec3, tb_solid_place, (const tbStage* stage, const tbSolid* solid, tbVec3 ray),
          (stage, solid, ray))
TB_KERNEL(tbVec3, tb_solid_normal, (const tbSolid* solid, tbVec3 ray, tbVec3 place), (solid, ray, place))
TB_KERNEL(tbVec3, tb_shade_body, (const tbStage* stage, int body, tbVec3 normal, tbLit lit),
          (stage, body, normal, lit))
TB_KERNEL(tbShown, tb_shade_encode, (const tbStage* stage, tbVec3 light), (stage, light))
TB_KERNEL(void, tb_shade_write, (const tbStage* stage, int x, int y, tbShown shown, float nearest),
          (stage, x, y, shown, nearest))

// square.c
TB_KERNEL(bool, tb_shade_square, (const tbStage* stage, int x, int y, tbHand* hand), (stage, x, y, hand))

// visible.c
TB_KERNEL(tbStatus, tb_stage_rasterize, (tbContext * ctx, tbStage* stage), (ctx, stage))
TB_KERNEL(void, tb_stage_find_facets, (const tbStage* stage), (stage))
