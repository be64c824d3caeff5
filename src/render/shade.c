// SPDX-License-Identifier: Apache-2.0
// From samples to pixels. A pixel is lit once for each surface in it, not for each sample: what one sees of a
// surface in one pixel is lit alike. Samples beside another body, or beyond an edge, are a little darker,
// which draws the outlines of bodies and the edges of boxes finer than a pixel.
#include "render/scene.h"

enum { BLOCK = 32, GROUP = TB_RENDER_SAMPLES * TB_RENDER_SAMPLES, NOTHING = -1, FIRST_PLANE = -2 };

static const double same_face = 0.9, sharp_edge = 0.8; // cosines
static const double outline = 0.42;                    // how much darker

// What a sample shows. A plane k is the surface FIRST_PLANE − k.
typedef struct {
  int surface;   // number of the body, or below 0
  tbVec3 normal; // in the body's frame
  const tbInstance* instance;
  int triangle;
} Face;

typedef struct {
  Face face;
  double x, y; // of its first sample, in pixels
  double weight;
} Group;

static Face face_of(const tbStage* s, int triangle)
{
  const tbSubject* m = s->subject;
  if (triangle < 0) return (Face){.surface = NOTHING};
  const tbInstance* in = tb_stage_instance(m, triangle);
  const tbVec3* n = &m->mesh[in->mesh].normal[3 * (triangle - in->triangle)];
  tbVec3 mean = tb_normalize3(tb_add3(tb_add3(n[0], n[1]), n[2]));
  return (Face){in->body, tb_quat_rotate(in->pose.q, mean), in, triangle};
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
    double here = p->at + p->right * x + p->down * y;
    if (!p->shown || !(here * (1 - 3e-4) > *depth)) continue; // what lies on it is in front of it
    *depth = here;
    found = FIRST_PLANE - k;
  }
  return found;
}

// A pixel of the background, or of one plane alone; false: something else is in it.
static bool gather_empty(const tbStage* s, int px, int py, Group* group, float* nearest)
{
  int n = s->samples, surface = 0;
  double weight = 0, share = 1.0 / (n * n);
  float front = 0;
  for (int j = 0; j < n; j++) {
    const int* triangle = s->raster.triangle + (int64_t)(py * n + j) * s->raster.width + px * n;
    for (int i = 0; i < n; i++, weight += share) {
      double depth = 0;
      if (triangle[i] >= 0) return false;
      int here = plane_at(s, s->at[px * n + i], s->at[py * n + j], &depth);
      if (i + j > 0 && here != surface) return false;
      surface = here;
      front = fmaxf(front, (float)depth);
    }
  }
  *nearest = front;
  group[0] = (Group){{.surface = surface, .triangle = NOTHING}, s->at[px * n], s->at[py * n], weight};
  return true;
}

static int gather(const tbStage* s, int px, int py, Group* group, float* nearest)
{
  if (gather_empty(s, px, py, group, nearest)) return 1;
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
    *nearest = fmaxf(*nearest, (float)depth);
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

// Even over small squares of pixels (after Jimenez 2014's interleaved gradient noise).
static void jitter_at(const Group* g, double out[2])
{
  double x = floor(g->x), y = floor(g->y);
  for (int k = 0; k < 2; k++) {
    double a = 0.06711056 * (x + 47 * k) + 0.00583715 * (y + 17 * k), b = 52.9829189 * (a - floor(a));
    out[k] = b - floor(b);
  }
}

// Bodies.

static tbVec3 light_body(const tbStage* s, const Group* g)
{
  const tbSubject* m = s->subject;
  const tbInstance* in = g->face.instance;
  const tbSolidMesh* mesh = &m->mesh[in->mesh];
  int t = g->face.triangle - in->triangle;
  tbTransform T = tb_transform_mul(m->now[in->body], in->pose);
  tbVec3 a = tb_transform_point(T, tb_mul3(in->scale, mesh->vertex[mesh->triangle[t][0]]));
  tbVec3 b = tb_sub3(tb_transform_point(T, tb_mul3(in->scale, mesh->vertex[mesh->triangle[t][1]])), a);
  tbVec3 c = tb_sub3(tb_transform_point(T, tb_mul3(in->scale, mesh->vertex[mesh->triangle[t][2]])), a);
  // eye + z ray = a + β b + γ c
  tbVec3 ray = tb_view_ray(&s->view, g->x, g->y), away = tb_sub3(a, s->view.eye), face = tb_cross3(b, c);
  double along = tb_dot3(face, ray), square = tb_dot3(face, face);
  double z = along != 0 ? tb_dot3(face, away) / along : tb_norm3(away);
  tbVec3 place = tb_madd3(s->view.eye, z, ray), d = tb_sub3(place, a);
  double beta = square > 0 ? tb_dot3(face, tb_cross3(d, c)) / square : 0;
  double gamma = square > 0 ? tb_dot3(face, tb_cross3(b, d)) / square : 0;
  const tbVec3* n = &mesh->normal[3 * t];
  tbVec3 normal =
      tb_add3(tb_scale3(1 - beta - gamma, n[0]), tb_add3(tb_scale3(beta, n[1]), tb_scale3(gamma, n[2])));
  normal = tb_normalize3(tb_quat_rotate(T.q, normal));
  tbVec3 eye = tb_normalize3(tb_neg3(ray));
  if (along > 0) normal = tb_neg3(normal); // the back of a cloth
  double jitter[2];
  jitter_at(g, jitter);
  tbLit lit = tb_lighting_at(s->lighting, place, normal, eye, jitter);
  const tbTheme* theme = s->theme;
  double below = 0.30 * (0.5 - 0.5 * tb_dot3(normal, m->up)) * (0.35 + 0.65 * lit.open) + 0.03;
  tbVec3 sum = tb_vec3(lit.sun * 1.02 + lit.sky * theme->sky[0] + below * theme->earth[0],
                       lit.sun + lit.sky * theme->sky[1] + below * theme->earth[1],
                       lit.sun * 0.95 + lit.sky * theme->sky[2] + below * theme->earth[2]);
  double glint = 0.10 * lit.glint;
  return tb_add3(tb_mul3(s->color[in->body], sum), tb_vec3(glint, glint, glint));
}

// The ground.

// Of numbers, without a call.
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static double smooth_step(double low, double high, double x)
{
  double t = smaller(larger((x - low) / (high - low), 0), 1);
  return t * t * (3 - 2 * t);
}

// A line at every whole number, a pixel wide; it goes where lines would be closer than pixels.
static double lines(double u, double v, double du, double dv)
{
  if (larger(du, dv) >= 0.6) return 0;
  double near_u = fabs(u - floor(u + 0.5)) / larger(du, 1e-9),
         near_v = fabs(v - floor(v + 0.5)) / larger(dv, 1e-9);
  double thin = 1 - smaller(smaller(near_u, near_v), 1);
  return thin * (1 - smooth_step(0.15, 0.6, larger(du, dv)));
}

static tbVec3 plane_point(const tbStage* s, const tbScreenPlane* p, double x, double y)
{
  double inverse = p->at + p->right * x + p->down * y;
  return tb_madd3(s->view.eye, 1 / larger(inverse, 1e-30), tb_view_ray(&s->view, x, y));
}

static tbVec3 light_plane(const tbStage* s, const Group* g)
{
  const tbScreenPlane* p = &s->plane[FIRST_PLANE - g->face.surface];
  tbVec3 place = plane_point(s, p, g->x, g->y);
  double fade = 1 - smooth_step(0.2, 1, tb_distance3(place, s->centre) / s->reach);
  if (!(fade > 0)) return s->background;
  tbVec3 d = tb_sub3(place, p->origin), right = tb_sub3(plane_point(s, p, g->x + 1, g->y), place),
         down = tb_sub3(plane_point(s, p, g->x, g->y + 1), place);
  double u = tb_dot3(d, p->u) / s->cell, v = tb_dot3(d, p->v) / s->cell;
  double du = (fabs(tb_dot3(right, p->u)) + fabs(tb_dot3(down, p->u))) / s->cell;
  double dv = (fabs(tb_dot3(right, p->v)) + fabs(tb_dot3(down, p->v))) / s->cell;
  double grid = larger(0.16 * lines(u, v, du, dv), 0.40 * lines(u / 5, v / 5, du / 5, dv / 5));
  tbVec3 base = tb_lerp3(s->ground, s->grid, grid);
  double jitter[2];
  jitter_at(g, jitter);
  tbLit lit = tb_lighting_on(s->lighting, p->ground, place, jitter);
  double rise = tb_dot3(p->normal, s->subject->up), light = lit.sun + lit.sky;
  if (rise < 0.98) light = 0.35 + 0.65 * light; // walls and slopes keep some of the ground's own colour
  base = tb_scale3(0.12 + 0.88 * smaller(light, 1.1), base);
  return tb_lerp3(s->background, base, fade);
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

static void shade_pixel(const tbStage* s, int width, int x, int y)
{
  Group group[GROUP];
  float nearest = 0;
  int count = gather(s, x, y, group, &nearest);
  tbVec3 sum = tb_zero3();
  for (int i = 0; i < count; i++) {
    int surface = group[i].face.surface;
    tbVec3 light = surface >= 0         ? light_body(s, &group[i])
                   : surface == NOTHING ? s->background
                                        : light_plane(s, &group[i]);
    sum = tb_madd3(sum, group[i].weight, light);
  }
  int64_t at = (int64_t)y * width + x;
  s->depth[at] = nearest;
  s->rgb[3 * at] = encode(s, sum.x), s->rgb[3 * at + 1] = encode(s, sum.y),
             s->rgb[3 * at + 2] = encode(s, sum.z);
}

// Block by block, so that neighbours ask the same parts of the lights' maps.
static void shade_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbStage* s = user;
  int width = s->raster.width / s->samples;
  for (int left = 0; left < width; left += BLOCK)
    for (int y = begin; y < end; y++)
      for (int x = left; x < width && x < left + BLOCK; x++) shade_pixel(s, width, x, y);
}

void tb_stage_shade(tbThreads* threads, tbStage* s)
{
  tb_parallel_for(threads, s->raster.height / s->samples, BLOCK / 2, shade_rows, s);
}
