// SPDX-License-Identifier: Apache-2.0
// A depth map per direction (Williams 1978); the sky is many of them, which gives soft shadows and dark
// corners without noise, the same from frame to frame.
//
// Cost      every triangle once per direction; at each place lit, four comparisons per direction, and for
// half
//           of the sun's where the other half agrees.
// Limits    shadows fall inside a ball only; what is thinner than a texel of the map may let light through.
#include "render/light.h"

#include "render/raster.h"

// Maps.

typedef struct {
  const tbLighting* lighting;
  const tbSubject* subject;
  const tbCut* cut;
} Work;

typedef struct {
  float x, y, z;
} Corner;

static Corner project(const tbLighting* g, const tbLight* l, tbVec3 p)
{
  tbVec3 d = tb_sub3(p, g->centre);
  return (Corner){(float)(0.5 * l->size + tb_dot3(l->u, d)), (float)(0.5 * l->size + tb_dot3(l->v, d)),
                  (float)tb_dot3(l->direction, d)};
}

// Of numbers, without a call.
static float larger(float a, float b) { return a > b ? a : b; }
static float smaller(float a, float b) { return a < b ? a : b; }

static void grow(tbLightBounds* b, Corner c)
{
  b->left = smaller(b->left, c.x - 2), b->right = larger(b->right, c.x + 2);
  b->top = smaller(b->top, c.y - 2), b->bottom = larger(b->bottom, c.y + 2);
  b->height = larger(b->height, c.z);
}

static int tile_of(const tbLight* l, float x)
{
  int at = (int)smaller(larger(x, 0), (float)(l->size - 1));
  return at >> TB_LIGHT_TILE;
}

// Raises the tiles that a triangle touches to its highest corner.
static void raise_tiles(const tbLight* l, const Corner* a, const Corner* b, const Corner* c)
{
  float top = larger(a->z, larger(b->z, c->z));
  int left = tile_of(l, smaller(a->x, smaller(b->x, c->x)) - 3),
      right = tile_of(l, larger(a->x, larger(b->x, c->x)) + 3);
  int low = tile_of(l, smaller(a->y, smaller(b->y, c->y)) - 3),
      high = tile_of(l, larger(a->y, larger(b->y, c->y)) + 3);
  top += 1e-5f * fabsf(top); // texels are interpolated
  for (int k = low; k <= high; k++)
    for (int i = left; i <= right; i++) {
      float* tile = &l->tile[k * l->tiles + i];
      if (top > *tile) *tile = top;
    }
}

static tbVec3 place(const tbInstance* in, const tbSolidMesh* mesh, tbTransform T, int v)
{
  return tb_transform_point(T, tb_mul3(in->scale, mesh->vertex[v]));
}

static void draw_instance(const tbLighting* g, const tbLight* l, const tbSubject* m, int index,
                          const tbCut* cut, const tbRaster* raster, Corner* corner)
{
  const tbInstance* in = &m->instance[index];
  const tbSolidMesh* mesh = &m->mesh[in->mesh];
  if (m->cut[index] == TB_CUT_ALL) return;
  tbTransform T = tb_transform_mul(m->now[in->body], in->pose);
  tbMat3 R = tb_quat_mat3(T.q);
  bool both = m->body[in->body].sheet; // others hide what faces away themselves
  for (int v = 0; v < mesh->nvertex; v++) {
    corner[v] = project(g, l, tb_add3(T.x, tb_mat3_mulv(R, tb_mul3(in->scale, mesh->vertex[v]))));
    grow(l->bounds, corner[v]);
  }
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    if (m->cut[index] == TB_CUT_NEAR &&
        tb_cut_hides(cut, place(in, mesh, T, v[0]), place(in, mesh, T, v[1]), place(in, mesh, T, v[2])))
      continue;
    tbScreenTriangle s = {.triangle = 0};
    for (int k = 0; k < 3; k++) {
      const Corner* c = &corner[v[k]];
      s.x[k] = tb_raster_grid(c->x), s.y[k] = tb_raster_grid(c->y), s.z[k] = c->z;
    }
    if (!tb_raster_accept(raster, &s, both)) continue;
    tb_raster_fill(raster, &s, 0, raster->height);
    raise_tiles(l, &corner[v[0]], &corner[v[1]], &corner[v[2]]);
  }
}

static void draw_maps(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Work* w = user;
  for (int i = begin; i < end; i++) {
    const tbLight* l = &w->lighting->light[i];
    tbRaster raster = {l->size, l->size, l->map, NULL};
    for (int k = 0; k < l->size * l->size; k++) l->map[k] = -INFINITY;
    for (int k = 0; k < l->tiles * l->tiles; k++) l->tile[k] = -INFINITY;
    *l->bounds = (tbLightBounds){INFINITY, -INFINITY, INFINITY, -INFINITY, -INFINITY};
    Corner* corner = (Corner*)(w->lighting->scratch + w->lighting->scratch_bytes * (size_t)i);
    for (int k = 0; k < w->subject->ninstance; k++)
      draw_instance(w->lighting, l, w->subject, k, w->cut, &raster, corner);
  }
}

void tb_lighting_draw(tbThreads* threads, const tbLighting* lighting, const tbSubject* subject,
                      const tbCut* cut)
{
  Work w = {lighting, subject, cut};
  tb_parallel_for(threads, lighting->lights, 1, draw_maps, &w);
}

// Places.

// The share of four texels around a place that light reaches, by how near they are.
static float seen(const tbLight* l, float x, float y, float z)
{
  const tbLightBounds* b = l->bounds;
  if (x < b->left || x > b->right || y < b->top || y > b->bottom || z > b->height) return 1;
  if (!(x >= 0 && y >= 0 && x < (float)(l->size - 1) && y < (float)(l->size - 1))) return 1;
  int i = (int)x, k = (int)y;
  if (z >= l->tile[(k >> TB_LIGHT_TILE) * l->tiles + (i >> TB_LIGHT_TILE)]) return 1;
  float fx = x - (float)i, fy = y - (float)k;
  const float *top = l->map + (int64_t)k * l->size + i, *bottom = top + l->size;
  float above = (z >= top[0] ? 1 - fx : 0) + (z >= top[1] ? fx : 0);
  float below = (z >= bottom[0] ? 1 - fx : 0) + (z >= bottom[1] ? fx : 0);
  return above + fy * (below - above);
}

// Where a map is asked: beside the surface, so that it does not shade itself, and a little to a side that
// changes with the pixel, so that the shadows of single directions run into each other.
static const float spread = 2, lift = 1.6f, slack = 0.5f; // texels

// The surface as floats, from the centre.
typedef struct {
  float px, py, pz, nx, ny, nz, jx, jy;
} Asker;

static Asker asker_of(const tbLighting* g, tbVec3 place, tbVec3 normal, const double jitter[2])
{
  return (Asker){(float)(place.x - g->centre.x),
                 (float)(place.y - g->centre.y),
                 (float)(place.z - g->centre.z),
                 (float)normal.x,
                 (float)normal.y,
                 (float)normal.z,
                 (float)jitter[0],
                 (float)jitter[1]};
}

static float facing_of(const tbLighting* g, const Asker* a, int i)
{
  return g->direction[0][i] * a->nx + g->direction[1][i] * a->ny + g->direction[2][i] * a->nz;
}

static inline void ask_one(const tbLighting* g, const Asker* a, int i, float* qx, float* qy, float* qz)
{
  float up = lift * g->texel[i], x = a->px + up * a->nx, y = a->py + up * a->ny, z = a->pz + up * a->nz;
  float sx = a->jx + g->jitter[0][i], sy = a->jy + g->jitter[1][i];
  sx -= sx >= 1 ? 1.5f : 0.5f, sy -= sy >= 1 ? 1.5f : 0.5f;
  *qx = g->middle[i] + g->u[0][i] * x + g->u[1][i] * y + g->u[2][i] * z + spread * sx;
  *qy = g->middle[i] + g->v[0][i] * x + g->v[1][i] * y + g->v[2][i] * z + spread * sy;
  *qz = g->direction[0][i] * x + g->direction[1][i] * y + g->direction[2][i] * z + slack * g->texel[i];
}

// What comes of some lights, and would come without shadows.
typedef struct {
  float seen, facing;
} Sum;

static Sum sum_over(const tbLighting* g, const Asker* a, int begin, int end)
{
  float x[TB_LIGHTS], y[TB_LIGHTS], z[TB_LIGHTS], facing[TB_LIGHTS];
  Sum s = {0, 0};
  bool inside = a->px * a->px + a->py * a->py + a->pz * a->pz < (float)g->radius * (float)g->radius;
  for (int i = begin; i < end; i++) {
    ask_one(g, a, i, &x[i], &y[i], &z[i]);
    facing[i] = facing_of(g, a, i);
  }
  for (int i = begin; i < end; i++) {
    if (!(facing[i] > 0)) continue;
    s.seen += facing[i] * (inside ? seen(&g->light[i], x[i], y[i], z[i]) : 1);
    s.facing += facing[i];
  }
  return s;
}

static void set_sun(const tbLighting* g, Sum s, tbLit* out)
{
  out->sun = (double)s.seen * g->light[0].weight;
}

static void set_sky(const tbLighting* g, Sum s, tbLit* out)
{
  out->sky = (double)s.seen * g->light[g->suns].weight;
  out->open = s.facing > 0 ? (double)(s.seen / s.facing) : 1;
}

// The outer half of the sun's disc first: where all of it is seen, or nothing, so it is with the inner.
static Sum sum_of_suns(const tbLighting* g, const Asker* a)
{
  int half = g->suns / 2;
  Sum s = sum_over(g, a, half, g->suns);
  if (s.seen != 0 && s.seen < 0.999f * s.facing) {
    Sum inner = sum_over(g, a, 0, half);
    return (Sum){s.seen + inner.seen, s.facing + inner.facing};
  }
  float facing = s.facing;
  for (int i = 0; i < half; i++) facing += larger(facing_of(g, a, i), 0);
  return (Sum){s.seen != 0 ? facing : 0, facing};
}

static double glint_of(const tbLighting* g, tbVec3 normal, tbVec3 eye)
{
  double half = tb_dot3(tb_normalize3(tb_add3(g->toward_sun, eye)), normal),
         power = half > 0 ? half * half : 0;
  power *= power, power *= power, power *= power, power *= power; // 32
  return power;
}

void tb_lighting_sun(const tbLighting* g, tbVec3 place, tbVec3 normal, tbVec3 eye, const double jitter[2],
                     tbLit* out)
{
  if (tb_dot3(normal, g->toward_sun) < -1.1 * g->sun_width) { // no direction to it is above the surface
    out->sun = out->glint = 0;
    return;
  }
  Asker a = asker_of(g, place, normal, jitter);
  Sum s = sum_of_suns(g, &a);
  set_sun(g, s, out);
  out->glint = s.seen > 0 ? glint_of(g, normal, eye) * (double)(s.seen / s.facing) : 0;
}

void tb_lighting_sky(const tbLighting* g, tbVec3 place, tbVec3 normal, const double jitter[2], tbLit* out)
{
  Asker a = asker_of(g, place, normal, jitter);
  set_sky(g, sum_over(g, &a, g->suns, g->lights), out);
}

// Planes.

// How far a linear function reaches from the middle of a cell to its corners.
static double reach_of(tbVec3 along, const tbGround* ground, double half)
{
  return half * (fabs(tb_dot3(along, ground->u)) + fabs(tb_dot3(along, ground->v)));
}

// Whether something in a part of the map is higher than z.
static bool rises_above(const tbLight* l, float z, float left, float right, float low, float high)
{
  int first = tile_of(l, left), last = tile_of(l, right), top = tile_of(l, low), bottom = tile_of(l, high);
  for (int k = top; k <= bottom; k++)
    for (int i = first; i <= last; i++)
      if (l->tile[k * l->tiles + i] > z) return true;
  return false;
}

// Marks the cells whose places some question to the light's map may find in shadow. Questions stray by the
// lift and the spread from where the place itself is.
static void mark_cells(const tbLighting* g, int light, double height, tbGround* ground)
{
  const tbLight* l = &g->light[light];
  const tbLightBounds* b = l->bounds;
  double side = 2 * g->radius / TB_GROUND_CELLS, stray = (double)(lift + spread) + 0.1;
  double across = reach_of(l->u, ground, 0.5 * side) + stray,
         down = reach_of(l->v, ground, 0.5 * side) + stray;
  double low = reach_of(l->direction, ground, 0.5 * side) + stray * (double)g->texel[light];
  for (int i = 0; i < TB_GROUND_CELLS; i++)
    for (int k = 0; k < TB_GROUND_CELLS; k++) {
      double a = (i + 0.5) * side - g->radius, c = (k + 0.5) * side - g->radius;
      tbVec3 d = tb_madd3(tb_madd3(tb_scale3(height, ground->normal), a, ground->u), c, ground->v);
      double x = (double)g->middle[light] + tb_dot3(l->u, d), y = (double)g->middle[light] + tb_dot3(l->v, d);
      bool outside = x + across < (double)b->left || x - across > (double)b->right ||
                     y + down < (double)b->top || y - down > (double)b->bottom ||
                     tb_dot3(l->direction, d) - low > (double)b->height;
      float z = (float)(tb_dot3(l->direction, d) - low);
      if (!outside &&
          rises_above(l, z, (float)(x - across), (float)(x + across), (float)(y - down), (float)(y + down)))
        ground->cell[i][k] |= (uint64_t)1 << light;
    }
}

void tb_ground_prepare(const tbLighting* g, tbVec3 origin, tbVec3 normal, tbVec3 u, tbVec3 v, tbGround* out)
{
  *out = (tbGround){.normal = normal, .u = u, .v = v};
  Asker a = asker_of(g, g->centre, normal, (double[2]){0, 0});
  out->height = tb_dot3(tb_sub3(origin, g->centre), normal);
  for (int i = 0; i < g->lights; i++) {
    out->facing[i] = facing_of(g, &a, i);
    if (!(out->facing[i] > 0)) continue;
    *(g->light[i].sun ? &out->sun : &out->sky) += out->facing[i];
    mark_cells(g, i, out->height, out);
  }
  set_sun(g, (Sum){out->sun, out->sun}, &out->open), set_sky(g, (Sum){out->sky, out->sky}, &out->open);
}

uint64_t tb_ground_shadows(const tbLighting* g, const tbGround* ground, const double at[2])
{
  if (!(at[0] * at[0] + at[1] * at[1] + ground->height * ground->height < g->radius * g->radius)) return 0;
  double scale = 0.5 * TB_GROUND_CELLS / g->radius;
  int i = (int)(scale * (at[0] + g->radius)), k = (int)(scale * (at[1] + g->radius));
  int last = TB_GROUND_CELLS - 1;
  return ground->cell[i < last ? i : last][k < last ? k : last];
}

// The full sum of some lights, less what is in shadow.
static Sum sum_on(const tbLighting* g, const tbGround* ground, uint64_t shadows, const double at[2],
                  const double jitter[2], int begin, int end)
{
  Sum s = {0, begin ? ground->sky : ground->sun};
  tbVec3 d =
      tb_madd3(tb_madd3(tb_scale3(ground->height, ground->normal), at[0], ground->u), at[1], ground->v);
  Asker a = asker_of(g, tb_add3(g->centre, d), ground->normal, jitter);
  for (int i = begin; i < end; i++) {
    float x, y, z;
    if (!(shadows >> i & 1)) continue;
    ask_one(g, &a, i, &x, &y, &z);
    s.seen -= ground->facing[i] * (1 - seen(&g->light[i], x, y, z));
  }
  s.seen += s.facing;
  return s;
}

void tb_ground_sun(const tbLighting* g, const tbGround* ground, uint64_t shadows, const double at[2],
                   const double jitter[2], tbLit* out)
{
  set_sun(g, sum_on(g, ground, shadows, at, jitter, 0, g->suns), out);
}

void tb_ground_sky(const tbLighting* g, const tbGround* ground, uint64_t shadows, const double at[2],
                   const double jitter[2], tbLit* out)
{
  set_sky(g, sum_on(g, ground, shadows, at, jitter, g->suns, g->lights), out);
}
