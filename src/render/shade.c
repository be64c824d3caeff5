// SPDX-License-Identifier: Apache-2.0
// From samples to pixels. A pixel is lit once for each surface in it, not for each sample: what one sees of a
// surface in one pixel is lit alike.
#include "render/shade.h"

enum { BLOCK = 32 };

static const double same_sky = 0.97;    // cosine
static const double one_normal = 1e-12; // how far the normals of a flat triangle are apart

// After Jimenez 2014's interleaved gradient noise.
void tb_stage_jitter(double x, double y, double out[2])
{
  x = floor(x), y = floor(y);
  for (int k = 0; k < 2; k++) {
    double a = 0.06711056 * (x + 47 * k) + 0.00583715 * (y + 17 * k), b = 52.9829189 * (a - floor(a));
    out[k] = b - floor(b);
  }
}

bool tb_sky_find(const tbSkyCache* cache, int surface, tbVec3 normal, tbVec3 up, tbLit* out)
{
  for (int i = 0; i < cache->count; i++) {
    if (cache->entry[i].surface != surface || !(tb_dot3(cache->entry[i].normal, normal) > same_sky)) continue;
    // an even sky gives (1 + cos) / 2; a little more, for what faces down
    double scale = (1.1 + tb_dot3(normal, up)) / (1.1 + tb_dot3(cache->entry[i].normal, up));
    out->sky = scale * cache->entry[i].lit.sky, out->open = cache->entry[i].lit.open;
    return true;
  }
  return false;
}

void tb_sky_keep(tbSkyCache* cache, int surface, tbVec3 normal, tbLit lit)
{
  if (cache->count == TB_SKY_CACHE) return;
  int i = cache->count++;
  cache->entry[i].surface = surface, cache->entry[i].normal = normal, cache->entry[i].lit = lit;
}

// Bodies.

static tbLit lit_at(const tbStage* s, const tbFaceGroup* g, tbVec3 place, tbVec3 normal, tbVec3 eye,
                    tbSkyCache* cache)
{
  tbLit lit = {0};
  double jitter[2];
  if (!tb_sky_find(cache, g->face.surface, normal, s->subject->up, &lit)) {
    tb_stage_jitter(g->x / s->square, g->y / s->square, jitter);
    tb_lighting_sky(s->lighting, place, normal, jitter, &lit);
    tb_sky_keep(cache, g->face.surface, normal, lit);
  }
  tb_stage_jitter(g->x, g->y, jitter);
  tb_lighting_sun(s->lighting, place, normal, eye, jitter, &lit);
  return lit;
}

static tbSolid solid_of(const tbStage* s, int triangle)
{
  int index = s->facet[triangle].instance;
  const tbInstance* in = &s->subject->instance[index];
  const tbSolidMesh* mesh = &s->subject->mesh[in->mesh];
  const tbPosed* posed = &s->posed[index];
  const int* v = mesh->triangle[triangle - in->triangle];
  const tbVec3* n = &mesh->normal[3 * (triangle - in->triangle)];
  tbSolid o = {.triangle = triangle, .a = tb_posed_vertex(posed, in, mesh->vertex[v[0]])};
  tbVec3 b = tb_sub3(tb_posed_vertex(posed, in, mesh->vertex[v[1]]), o.a);
  tbVec3 c = tb_sub3(tb_posed_vertex(posed, in, mesh->vertex[v[2]]), o.a);
  tbVec3 to_second = tb_sub3(n[1], n[0]), to_third = tb_sub3(n[2], n[0]);
  o.face = tb_cross3(b, c), o.away = tb_dot3(o.face, tb_sub3(o.a, s->view.eye));
  double square = tb_dot3(o.face, o.face), inverse = square > 0 ? 1 / square : 0;
  o.beta = tb_scale3(inverse, tb_cross3(c, o.face)), o.gamma = tb_scale3(inverse, tb_cross3(o.face, b));
  o.flat = tb_maxabs3(to_second) < one_normal && tb_maxabs3(to_third) < one_normal;
  o.normal[0] = tb_mat3_mulv(posed->turn, n[0]);
  o.normal[1] = tb_mat3_mulv(posed->turn, to_second);
  o.normal[2] = tb_mat3_mulv(posed->turn, to_third);
  return o;
}

const tbSolid* tb_hand_solid(const tbStage* s, tbHand* hand, int triangle)
{
  tbSolid* o = &hand->solid[triangle % TB_SOLIDS];
  if (o->triangle != triangle) *o = solid_of(s, triangle);
  return o;
}

tbVec3 tb_solid_place(const tbStage* s, const tbSolid* o, tbVec3 ray)
{
  double along = tb_dot3(o->face, ray);
  double z = along != 0 ? o->away / along : tb_distance3(o->a, s->view.eye);
  return tb_madd3(s->view.eye, z, ray);
}

tbVec3 tb_solid_normal(const tbSolid* o, tbVec3 ray, tbVec3 place)
{
  tbVec3 d = tb_sub3(place, o->a);
  tbVec3 normal = tb_normalize3(tb_madd3(tb_madd3(o->normal[0], tb_dot3(o->beta, d), o->normal[1]),
                                         tb_dot3(o->gamma, d), o->normal[2]));
  return tb_dot3(o->face, ray) > 0 ? tb_neg3(normal) : normal; // the back of a cloth
}

tbVec3 tb_shade_body(const tbStage* s, int body, tbVec3 normal, tbLit lit)
{
  const tbTheme* theme = s->theme;
  double below = 0.30 * (0.5 - 0.5 * tb_dot3(normal, s->subject->up)) * (0.35 + 0.65 * lit.open) + 0.03;
  tbVec3 sum = tb_vec3(lit.sun * 1.02 + lit.sky * theme->sky[0] + below * theme->earth[0],
                       lit.sun + lit.sky * theme->sky[1] + below * theme->earth[1],
                       lit.sun * 0.95 + lit.sky * theme->sky[2] + below * theme->earth[2]);
  double glint = 0.10 * lit.glint;
  return tb_add3(tb_mul3(s->color[body], sum), tb_vec3(glint, glint, glint));
}

static tbVec3 light_body(const tbStage* s, const tbFaceGroup* g, tbHand* hand)
{
  const tbSolid* o = tb_hand_solid(s, hand, g->face.triangle);
  tbVec3 ray = tb_view_ray(&s->view, g->x, g->y), place = tb_solid_place(s, o, ray);
  tbVec3 normal = tb_solid_normal(o, ray, place);
  tbLit lit = lit_at(s, g, place, normal, tb_normalize3(tb_neg3(ray)), &hand->sky);
  return tb_shade_body(s, g->face.surface, normal, lit);
}

// Pixels.

void tb_stage_prepare(tbStage* s)
{
  for (int i = 0; i <= TB_ENCODE; i++) {
    double root = (double)i / TB_ENCODE, x = root * root;
    s->encode[i] = (float)(x <= 0.0031308 ? 12.92 * x : 1.055 * tb_exp(tb_ln(x) / 2.4) - 0.055);
  }
  s->background = tb_theme_light(s->theme->background);
  s->ground = tb_theme_light(s->theme->ground), s->grid = tb_theme_light(s->theme->grid);
  const tbSubjectBody* body = s->subject->body;
  for (int i = 0; i < s->subject->nbody; i++)
    s->color[i] = tb_theme_light(tb_theme_body(s->theme, body[i].motion, body[i].sheet, i));
  tb_stage_find_facets(s);
}

// Light to what is shown: a soft shoulder below white, then sRGB, from a table over the square root.
static float encode(const tbStage* s, double x)
{
  if (!(x > 0)) return 0;
  if (!(x < 1e6)) return 1;
  if (x > 0.92) x = 0.92 + 0.08 * (x - 0.92) / (x - 0.92 + 0.08);
  double at = sqrt(x) * TB_ENCODE;
  int i = (int)at;
  return s->encode[i] + (float)(at - i) * (s->encode[i + 1] - s->encode[i]);
}

tbShown tb_shade_encode(const tbStage* s, tbVec3 light)
{
  return (tbShown){{encode(s, light.x), encode(s, light.y), encode(s, light.z)}};
}

void tb_shade_write(const tbStage* s, int x, int y, tbShown shown, float nearest)
{
  int64_t at = (int64_t)y * (s->raster.width / s->samples) + x;
  s->depth[at] = nearest;
  for (int k = 0; k < 3; k++) s->rgb[3 * at + k] = shown.rgb[k];
}

static void shade_pixel(const tbStage* s, int x, int y, tbHand* hand)
{
  tbFaceGroup group[TB_SHADE_GROUPS];
  float nearest = 0;
  int count = tb_gather_pixel(s, x, y, group, &nearest);
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < count; i++) {
    int surface = group[i].face.surface;
    tbVec3 light = surface >= 0 ? light_body(s, &group[i], hand)
                   : surface == TB_NO_SURFACE
                       ? s->background
                       : tb_ground_light(s, TB_FIRST_PLANE - surface, group[i].x, group[i].y, &hand->sky);
    sum = tb_madd3(sum, group[i].weight, light);
  }
  tb_shade_write(s, x, y, tb_shade_encode(s, sum), nearest);
}

static void shade_square(const tbStage* s, int x, int y, int right, int bottom, tbHand* hand)
{
  hand->sky.count = 0;
  if (s->square > 1 && tb_shade_square(s, x, y, hand)) return;
  for (int j = y; j < bottom && j < y + s->square; j++)
    for (int i = x; i < right && i < x + s->square; i++) shade_pixel(s, i, j, hand);
}

// Block by block, so that neighbours ask the same parts of the lights' maps. Blocks are whole squares.
static void shade_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbStage* s = user;
  int width = s->raster.width / s->samples;
  tbHand hand;
  for (int i = 0; i < TB_SOLIDS; i++) hand.solid[i].triangle = TB_NO_SURFACE;
  for (int left = 0; left < width; left += BLOCK)
    for (int y = begin; y < end; y += s->square)
      for (int x = left; x < width && x < left + BLOCK; x += s->square)
        shade_square(s, x, y, width, end, &hand);
}

void tb_stage_shade(tbThreads* threads, tbStage* s)
{
  tb_parallel_for(threads, s->raster.height / s->samples, BLOCK / 2, shade_rows, s);
}
