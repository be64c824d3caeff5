// SPDX-License-Identifier: Apache-2.0
// The ground: a plane with a grid that fades into the background, and the shadows on it. In the plane's own
// two coordinates, from the stage's centre, a pixel takes one division.
#include "render/scene.h"
#include "render/larger.h"

// What a direction's part along an axis is over the picture's rays.
static tbLinear along_rays(const tbView* v, tbVec3 axis)
{
  return (tbLinear){tb_dot3(axis, tb_view_ray(v, 0, 0)), tb_dot3(axis, v->right) / v->focal,
                    -tb_dot3(axis, v->up) / v->focal};
}

// Light on the ground to its brightness. Walls and slopes keep some of the ground's own colour.
static double brightness(const tbStage* s, const tbScreenPlane* p, tbLit lit)
{
  double light = lit.sun + lit.sky;
  if (tb_dot3(p->normal, s->subject->up) < 0.98) light = 0.35 + 0.65 * light;
  return 0.12 + 0.88 * tb_smaller(light, 1.1);
}

void tb_ground_place(const tbStage* s, int plane)
{
  const tbSubjectPlane* subject = &s->subject->plane[plane];
  tbScreenPlane* p = &s->plane[plane];
  tbTransform T = s->subject->now[subject->body];
  tbMat3 F = tb_mat3_frame(subject->normal);
  p->normal = tb_quat_rotate(T.q, subject->normal);
  p->u = tb_quat_rotate(T.q, tb_mat3_row(F, 1)), p->v = tb_quat_rotate(T.q, tb_mat3_row(F, 2));
  tbVec3 origin = tb_transform_point(T, tb_scale3(subject->offset, subject->normal));
  double height = tb_dot3(p->normal, tb_sub3(s->view.eye, origin));
  p->shown = height > 0;
  if (!p->shown) return;
  tbLinear fall = along_rays(&s->view, p->normal);
  double scale = -1 / height;
  p->inverse = (tbLinear){scale * fall.at, scale * fall.right, scale * fall.down};
  p->sway = 0.5 * (fabs(p->inverse.right) + fabs(p->inverse.down));
  for (int k = 0; k < 2; k++) {
    tbVec3 axis = k ? p->v : p->u;
    p->along[k] = along_rays(&s->view, axis);
    p->eye[k] = tb_dot3(axis, tb_sub3(s->view.eye, s->centre));
    p->origin[k] = tb_dot3(axis, tb_sub3(origin, s->centre));
  }
  tb_ground_prepare(s->lighting, origin, p->normal, p->u, p->v, p->ground);
  double bright = brightness(s, p, p->ground->open);
  p->plain = tb_scale3(bright, s->ground), p->line = tb_scale3(bright, s->grid);
}

static double smooth_step(double low, double high, double x)
{
  double t = tb_smaller(tb_larger((x - low) / (high - low), 0), 1);
  return t * t * (3 - 2 * t);
}

// A line at every whole number, a pixel wide; it goes where lines would be closer than pixels. d: how far the
// place moves from a pixel to the next.
static double lines(const double at[2], const double d[2], double scale)
{
  double widest = scale * tb_larger(d[0], d[1]), thin = 0;
  if (widest >= 0.6) return 0;
  for (int k = 0; k < 2; k++) {
    double x = scale * at[k], off = fabs(x - floor(x + 0.5)), width = tb_larger(scale * d[k], 1e-9);
    if (off < width) thin = tb_larger(thin, 1 - off / width);
  }
  return thin > 0 ? thin * (1 - smooth_step(0.15, 0.6, widest)) : 0;
}

// How near the next line is, in pixels; what `lines` fades out has none.
static bool near_line(const double at[2], const double d[2], double scale, double pixels)
{
  if (scale * tb_larger(d[0], d[1]) >= 0.6) return false;
  for (int k = 0; k < 2; k++) {
    double x = scale * at[k];
    if (fabs(x - floor(x + 0.5)) < pixels * scale * d[k]) return true;
  }
  return false;
}

// A place on the ground that is seen at a place of the picture.
typedef struct {
  double at[2], on_grid[2]; // from the stage's centre, and from the grid's origin
  double right[2], down[2]; // how it moves from a pixel to the next
  double distance;          // 1: faded away
} Spot;

static Spot spot_at(const tbStage* s, int plane, double x, double y)
{
  const tbScreenPlane* p = &s->plane[plane];
  double z = 1 / tb_larger(tb_linear_at(&p->inverse, x, y), 1e-30), height = p->ground->height;
  Spot spot;
  for (int k = 0; k < 2; k++) {
    const tbLinear* f = &p->along[k];
    double off = tb_linear_at(f, x, y) * z;
    spot.at[k] = p->eye[k] + off;
    spot.on_grid[k] = spot.at[k] - p->origin[k];
    spot.right[k] = z * (f->right - off * p->inverse.right),
    spot.down[k] = z * (f->down - off * p->inverse.down);
  }
  spot.distance = sqrt(spot.at[0] * spot.at[0] + spot.at[1] * spot.at[1] + height * height) / s->reach;
  return spot;
}

static void moves_of(const Spot* spot, double d[2])
{
  for (int k = 0; k < 2; k++) d[k] = fabs(spot->right[k]) + fabs(spot->down[k]);
}

// Light of the sky in shadow, once for a square of pixels.
static void ask_sky(const tbStage* s, int plane, uint64_t shadows, double x, double y, const double at[2],
                    tbSkyCache* cache, tbLit* lit)
{
  const tbScreenPlane* p = &s->plane[plane];
  double jitter[2];
  if (!(shadows >> s->lighting->suns) || tb_sky_find(cache, ~plane, p->normal, s->subject->up, lit)) return;
  tb_stage_jitter(x / s->square, y / s->square, jitter);
  tb_ground_sky(s->lighting, p->ground, shadows, at, jitter, lit);
  tb_sky_keep(cache, ~plane, p->normal, *lit);
}

// Brightness in shadow, to that without; then the fading.
static tbVec3 dim(const tbStage* s, const tbScreenPlane* p, tbVec3 base, tbLit lit)
{
  return tb_scale3(brightness(s, p, lit) / brightness(s, p, p->ground->open), base);
}

static tbVec3 fade(const tbStage* s, tbVec3 base, double distance)
{
  return distance > 0.2 ? tb_lerp3(base, s->background, smooth_step(0.2, 1, distance)) : base;
}

tbVec3 tb_ground_light(const tbStage* s, int plane, double x, double y, tbSkyCache* cache)
{
  const tbScreenPlane* p = &s->plane[plane];
  Spot spot = spot_at(s, plane, x, y);
  if (!(spot.distance < 1)) return s->background;
  double d[2], fine = 1 / s->cell;
  moves_of(&spot, d);
  double grid = tb_larger(0.16 * lines(spot.on_grid, d, fine), 0.40 * lines(spot.on_grid, d, fine / 5));
  tbVec3 base = grid > 0 ? tb_lerp3(p->plain, p->line, grid) : p->plain;
  uint64_t shadows = tb_ground_shadows(s->lighting, p->ground, spot.at);
  if (shadows) {
    double jitter[2];
    tbLit lit = p->ground->open;
    ask_sky(s, plane, shadows, x, y, spot.at, cache, &lit);
    tb_stage_jitter(x, y, jitter);
    tb_ground_sun(s->lighting, p->ground, shadows, spot.at, jitter, &lit);
    base = dim(s, p, base, lit);
  }
  return fade(s, base, spot.distance);
}

static tbSunSeen seen_sun(const tbStage* s, const tbScreenPlane* p, const Spot* spot, uint64_t shadows,
                          double x, double y)
{
  double at[4][2], jitter[2];
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 2; k++)
      at[i][k] = spot->at[k] + ((i & 1) - 0.5) * spot->right[k] + ((i >> 1) - 0.5) * spot->down[k];
  tb_stage_jitter(x / s->square, y / s->square, jitter);
  return tb_ground_seen_sun(s->lighting, p->ground, shadows, at, jitter);
}

bool tb_ground_square(const tbStage* s, int plane, int px, int py, tbSkyCache* cache, tbVec3* out)
{
  const tbScreenPlane* p = &s->plane[plane];
  double x = px + 0.5 * s->square, y = py + 0.5 * s->square, d[2], fine = 1 / s->cell,
         beside = 0.5 * s->square + 0.6;
  Spot spot = spot_at(s, plane, x, y);
  *out = s->background;
  if (!(spot.distance < 1)) return true;
  moves_of(&spot, d);
  if (near_line(spot.on_grid, d, fine, beside) || near_line(spot.on_grid, d, fine / 5, beside)) return false;
  uint64_t shadows = tb_ground_shadows(s->lighting, p->ground, spot.at);
  *out = p->plain;
  if (shadows) {
    tbLit lit = p->ground->open;
    ask_sky(s, plane, shadows, x, y, spot.at, cache, &lit);
    tbSunSeen sun = seen_sun(s, p, &spot, shadows, x, y);
    if (sun == TB_SUN_PART) return false;
    if (sun == TB_SUN_HIDDEN) lit.sun = 0;
    *out = dim(s, p, *out, lit);
  }
  *out = fade(s, *out, spot.distance);
  return true;
}
