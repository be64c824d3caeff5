// SPDX-License-Identifier: Apache-2.0
// From samples to pixels. A pixel is lit once for each surface in it, not for each sample: what one sees of a
// surface in one pixel is lit alike. Samples beside another body, or beyond an edge, are a little darker,
// which draws the outlines of bodies and the edges of boxes finer than a pixel.
#include "render/scene.h"

enum { BLOCK = 32, GROUP = TB_RENDER_SAMPLES * TB_RENDER_SAMPLES, NOTHING = -1, FIRST_PLANE = -2 };

static const double same_face = 0.9, sharp_edge = 0.8, same_sky = 0.97; // cosines
static const double outline = 0.42;                                     // how much darker

// What a sample shows. A plane k is the surface FIRST_PLANE − k.
typedef struct {
  int surface;   // number of the body, or below 0
  tbVec3 normal; // in the body's frame
  int triangle;
} Face;

typedef struct {
  Face face;
  double x, y; // of its first sample, in pixels
  double weight;
} Group;

static Face face_of(const tbStage* s, int triangle)
{
  if (triangle < 0) return (Face){.surface = NOTHING, .triangle = NOTHING};
  const tbFacet* f = &s->facet[triangle];
  return (Face){s->subject->instance[f->instance].body, f->normal, triangle};
}

// Sample by sample.

static int sample_at(const tbStage* s, int x, int y)
{
  bool inside = x >= 0 && y >= 0 && x < s->raster.width && y < s->raster.height;
  return inside ? s->raster.triangle[(int64_t)y * s->raster.width + x] : INT32_MIN;
}

static bool is_edge(const tbStage* s, const Face* a, int other)
{
  if (other == a->triangle || other == INT32_MIN) return false;
  if (other < 0) return true;
  Face b = face_of(s, other);
  return b.surface != a->surface || tb_dot3(b.normal, a->normal) < sharp_edge;
}

static bool on_edge(const tbStage* s, const Face* a, int x, int y)
{
  return is_edge(s, a, sample_at(s, x + 1, y)) || is_edge(s, a, sample_at(s, x, y + 1)) ||
         is_edge(s, a, sample_at(s, x - 1, y)) || is_edge(s, a, sample_at(s, x, y - 1));
}

// The plane that is in front of `depth` at a place in the picture.
static int plane_at(const tbStage* s, double x, double y, double* depth)
{
  int found = NOTHING;
  for (int k = 0; k < s->subject->nplane; k++) {
    const tbScreenPlane* p = &s->plane[k];
    double here = tb_linear_at(&p->inverse, x, y);
    if (!p->shown || !(here * (1 - 3e-4) > *depth)) continue; // what lies on it is in front of it
    *depth = here;
    found = FIRST_PLANE - k;
  }
  return found;
}

// Whether the plane that the middle of a pixel shows is alone in all of it.
static bool alone(const tbStage* s, double x, double y, int surface, double front)
{
  double low = surface == NOTHING ? 0 : front - s->plane[FIRST_PLANE - surface].sway;
  for (int k = 0; k < s->subject->nplane; k++) {
    const tbScreenPlane* p = &s->plane[k];
    if (p->shown && surface != FIRST_PLANE - k &&
        !(tb_linear_at(&p->inverse, x, y) + p->sway < (1 - 1e-3) * low))
      return false;
  }
  return surface == NOTHING || low > 0;
}

// A pixel without triangles, and with one plane alone or none; false: something else is in it.
static bool gather_empty(const tbStage* s, int px, int py, Group* group, float* nearest)
{
  int n = s->samples;
  for (int j = 0; j < n; j++) {
    const int* triangle = s->raster.triangle + (int64_t)(py * n + j) * s->raster.width + px * n;
    for (int i = 0; i < n; i++)
      if (triangle[i] >= 0) return false;
  }
  double x = px + 0.5, y = py + 0.5, depth = 0;
  int surface = plane_at(s, x, y, &depth);
  if (!alone(s, x, y, surface, depth)) return false;
  *nearest = surface == NOTHING ? 0 : (float)(depth + s->plane[FIRST_PLANE - surface].sway);
  group[0] = (Group){{.surface = surface, .triangle = NOTHING}, x, y, 1};
  return true;
}

// A pixel in which all samples, and those around them, show the same triangle; false: they do not.
static bool gather_whole(const tbStage* s, int px, int py, Group* group, float* nearest)
{
  int n = s->samples, left = px * n, top = py * n, width = s->raster.width;
  if (left == 0 || top == 0 || left + n >= width || top + n >= s->raster.height) return false;
  const int64_t corner = (int64_t)top * width + left;
  int triangle = s->raster.triangle[corner], other = 0;
  if (triangle < 0) return false;
  for (int j = -1; j <= n; j++)
    for (int i = -1; i <= n; i++) other |= s->raster.triangle[corner + (int64_t)j * width + i] ^ triangle;
  if (other) return false;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      float here = s->raster.depth[corner + (int64_t)j * width + i];
      double depth = (double)here;
      if (plane_at(s, s->at[left + i], s->at[top + j], &depth) != NOTHING) return false;
      *nearest = here > *nearest ? here : *nearest;
    }
  group[0] = (Group){face_of(s, triangle), s->at[left], s->at[top], 1};
  return true;
}

static int gather(const tbStage* s, int px, int py, Group* group, float* nearest)
{
  if (gather_empty(s, px, py, group, nearest) || gather_whole(s, px, py, group, nearest)) return 1;
  *nearest = 0;
  int count = 0, n = s->samples;
  double share = 1.0 / (n * n);
  Face last = {.surface = NOTHING, .triangle = NOTHING};
  for (int i = 0; i < n * n; i++) {
    int sx = px * n + i % n, sy = py * n + i / n;
    double x = s->at[sx], y = s->at[sy];
    int triangle = sample_at(s, sx, sy);
    double depth = (double)s->raster.depth[(int64_t)sy * s->raster.width + sx];
    if (triangle != last.triangle) last = face_of(s, triangle);
    Face face = last;
    int plane = plane_at(s, x, y, &depth);
    if (plane != NOTHING) face = (Face){.surface = plane, .triangle = NOTHING};
    *nearest = (float)depth > *nearest ? (float)depth : *nearest;
    double weight = face.surface >= 0 && on_edge(s, &face, sx, sy) ? share * (1 - outline) : share;
    int g = 0;
    while (g < count && !(group[g].face.surface == face.surface &&
                          (face.surface < 0 || tb_dot3(group[g].face.normal, face.normal) > same_face)))
      g++;
    if (g == count) group[count++] = (Group){face, x, y, 0};
    group[g].weight += weight;
  }
  return count;
}

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

static tbLit lit_at(const tbStage* s, const Group* g, tbVec3 place, tbVec3 normal, tbVec3 eye,
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

// A triangle in the world: the place eye + z ray = a + β b + γ c has β = beta · (place − a), γ likewise, and
// the normal normal[0] + β normal[1] + γ normal[2].
typedef struct {
  int triangle; // −1: none yet
  tbVec3 a, face, beta, gamma, normal[3];
  double away; // of the eye from its plane, in lengths of `face`
} Solid;

// What one thread has at hand: triangles seen last, and the sky in the square of pixels at work.
enum { SOLIDS = 16 };
typedef struct {
  Solid solid[SOLIDS];
  tbSkyCache sky;
} Hand;

static Solid solid_of(const tbStage* s, int triangle)
{
  int index = s->facet[triangle].instance;
  const tbInstance* in = &s->subject->instance[index];
  const tbSolidMesh* mesh = &s->subject->mesh[in->mesh];
  const tbPosed* posed = &s->posed[index];
  const int* v = mesh->triangle[triangle - in->triangle];
  const tbVec3* n = &mesh->normal[3 * (triangle - in->triangle)];
  Solid o = {.triangle = triangle, .a = tb_posed_vertex(posed, in, mesh->vertex[v[0]])};
  tbVec3 b = tb_sub3(tb_posed_vertex(posed, in, mesh->vertex[v[1]]), o.a);
  tbVec3 c = tb_sub3(tb_posed_vertex(posed, in, mesh->vertex[v[2]]), o.a);
  o.face = tb_cross3(b, c), o.away = tb_dot3(o.face, tb_sub3(o.a, s->view.eye));
  double square = tb_dot3(o.face, o.face), inverse = square > 0 ? 1 / square : 0;
  o.beta = tb_scale3(inverse, tb_cross3(c, o.face)), o.gamma = tb_scale3(inverse, tb_cross3(o.face, b));
  o.normal[0] = tb_mat3_mulv(posed->turn, n[0]);
  o.normal[1] = tb_mat3_mulv(posed->turn, tb_sub3(n[1], n[0]));
  o.normal[2] = tb_mat3_mulv(posed->turn, tb_sub3(n[2], n[0]));
  return o;
}

static tbVec3 light_body(const tbStage* s, const Group* g, Hand* hand)
{
  Solid* o = &hand->solid[g->face.triangle % SOLIDS];
  if (o->triangle != g->face.triangle) *o = solid_of(s, g->face.triangle);
  tbVec3 ray = tb_view_ray(&s->view, g->x, g->y);
  double along = tb_dot3(o->face, ray);
  double z = along != 0 ? o->away / along : tb_distance3(o->a, s->view.eye);
  tbVec3 place = tb_madd3(s->view.eye, z, ray), d = tb_sub3(place, o->a);
  tbVec3 normal = tb_normalize3(tb_madd3(tb_madd3(o->normal[0], tb_dot3(o->beta, d), o->normal[1]),
                                         tb_dot3(o->gamma, d), o->normal[2]));
  if (along > 0) normal = tb_neg3(normal); // the back of a cloth
  tbLit lit = lit_at(s, g, place, normal, tb_normalize3(tb_neg3(ray)), &hand->sky);
  const tbTheme* theme = s->theme;
  double below = 0.30 * (0.5 - 0.5 * tb_dot3(normal, s->subject->up)) * (0.35 + 0.65 * lit.open) + 0.03;
  tbVec3 sum = tb_vec3(lit.sun * 1.02 + lit.sky * theme->sky[0] + below * theme->earth[0],
                       lit.sun + lit.sky * theme->sky[1] + below * theme->earth[1],
                       lit.sun * 0.95 + lit.sky * theme->sky[2] + below * theme->earth[2]);
  double glint = 0.10 * lit.glint;
  return tb_add3(tb_mul3(s->color[g->face.surface], sum), tb_vec3(glint, glint, glint));
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

static void shade_pixel(const tbStage* s, int width, int x, int y, Hand* hand)
{
  Group group[GROUP];
  float nearest = 0;
  int count = gather(s, x, y, group, &nearest);
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < count; i++) {
    int surface = group[i].face.surface;
    tbVec3 light = surface >= 0 ? light_body(s, &group[i], hand)
                   : surface == NOTHING
                       ? s->background
                       : tb_ground_light(s, FIRST_PLANE - surface, group[i].x, group[i].y, &hand->sky);
    sum = tb_madd3(sum, group[i].weight, light);
  }
  int64_t at = (int64_t)y * width + x;
  s->depth[at] = nearest;
  s->rgb[3 * at] = encode(s, sum.x), s->rgb[3 * at + 1] = encode(s, sum.y),
             s->rgb[3 * at + 2] = encode(s, sum.z);
}

static void shade_square(const tbStage* s, int x, int y, int right, int bottom, Hand* hand)
{
  hand->sky.count = 0;
  for (int j = y; j < bottom && j < y + s->square; j++)
    for (int i = x; i < right && i < x + s->square; i++)
      shade_pixel(s, s->raster.width / s->samples, i, j, hand);
}

// Block by block, so that neighbours ask the same parts of the lights' maps. Blocks are whole squares.
static void shade_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbStage* s = user;
  int width = s->raster.width / s->samples;
  Hand hand;
  for (int i = 0; i < SOLIDS; i++) hand.solid[i].triangle = NOTHING;
  for (int left = 0; left < width; left += BLOCK)
    for (int y = begin; y < end; y += s->square)
      for (int x = left; x < width && x < left + BLOCK; x += s->square)
        shade_square(s, x, y, width, end, &hand);
}

void tb_stage_shade(tbThreads* threads, tbStage* s)
{
  tb_parallel_for(threads, s->raster.height / s->samples, BLOCK / 2, shade_rows, s);
}
