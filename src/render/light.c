// SPDX-License-Identifier: Apache-2.0
// A depth map per direction (Williams 1978); the sky is many of them, which gives soft shadows and dark
// corners without noise, the same from frame to frame.
//
// Cost      every triangle once per direction; at each place lit, four comparisons per direction, and for
// half
//           of the sun's where the other half agrees.
// Limits    shadows fall inside a ball only; what is thinner than a texel of the map may let light through.
#include "render/light.h"

#include "base/simd_float.h"

// Places.

static bool in_box(const tbLighting* g, int i, float x, float y, float z)
{
  const tbLightBox* b = g->box;
  return x > b->left[i] && x < b->right[i] && y > b->top[i] && y < b->bottom[i] && z < b->height[i];
}

// The share of four texels around a place in the box that light reaches, by how near they are.
static inline float seen(const tbLight* l, float x, float y, float z)
{
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

// Eight lights' questions side by side: where their maps are asked, how much the surface faces them.
typedef struct {
  float x[TB_FLOATS], y[TB_FLOATS], z[TB_FLOATS], facing[TB_FLOATS];
  float total;    // of what faces them
  unsigned asked; // bits of those whose maps have something there
} Eight;

static tb8f product(const float axis[3][TB_LIGHTS], int first, tb8f x, tb8f y, tb8f z)
{
  return tb8_add(tb8_add(tb8_mul(tb8_load(axis[0] + first), x), tb8_mul(tb8_load(axis[1] + first), y)),
                 tb8_mul(tb8_load(axis[2] + first), z));
}

// A jitter in −1/2 … 1/2, times the spread.
static tb8f stray(tb8f jitter, float by)
{
  tb8f sum = tb8_add(tb8_set1(by), jitter);
  tb8f off = tb8_sub(sum, tb8_choose(tb8_set1(1), sum, tb8_set1(0.5f), tb8_set1(1.5f)));
  return tb8_mul(tb8_set1(spread), off);
}

static float total_of(const float f[TB_FLOATS])
{
  return ((f[0] + f[1]) + (f[2] + f[3])) + ((f[4] + f[5]) + (f[6] + f[7]));
}

static void ask_eight(const tbLighting* g, const Asker* a, int first, int begin, int end, Eight* out)
{
  const tb8f zero = tb8_set1(0), texel = tb8_load(g->texel + first), up = tb8_mul(tb8_set1(lift), texel);
  const tb8f lane = tb8_load((const float[TB_FLOATS]){0, 1, 2, 3, 4, 5, 6, 7});
  tb8f nx = tb8_set1(a->nx), ny = tb8_set1(a->ny), nz = tb8_set1(a->nz);
  tb8f px = tb8_add(tb8_set1(a->px), tb8_mul(up, nx)), py = tb8_add(tb8_set1(a->py), tb8_mul(up, ny)),
       pz = tb8_add(tb8_set1(a->pz), tb8_mul(up, nz));
  tb8f middle = tb8_load(g->middle + first);
  tb8f x = tb8_add(tb8_add(middle, product(g->u, first, px, py, pz)),
                   stray(tb8_load(g->jitter[0] + first), a->jx));
  tb8f y = tb8_add(tb8_add(middle, product(g->v, first, px, py, pz)),
                   stray(tb8_load(g->jitter[1] + first), a->jy));
  tb8f z = tb8_add(product(g->direction, first, px, py, pz), tb8_mul(tb8_set1(slack), texel));
  tb8f facing = tb8_max(product(g->direction, first, nx, ny, nz), zero);
  // only lights begin … end
  facing = tb8_choose(tb8_set1((float)(begin - first)), lane, zero, facing);
  facing = tb8_choose(tb8_set1((float)(end - first)), lane, facing, zero);
  const tbLightBox* b = g->box;
  int outside = tb8_at_most(x, tb8_load(b->left + first)) | tb8_at_most(tb8_load(b->right + first), x) |
                tb8_at_most(y, tb8_load(b->top + first)) | tb8_at_most(tb8_load(b->bottom + first), y) |
                tb8_at_most(tb8_load(b->height + first), z) | tb8_at_most(facing, zero);
  tb8_store(out->x, x), tb8_store(out->y, y), tb8_store(out->z, z), tb8_store(out->facing, facing);
  out->total = total_of(out->facing), out->asked = ~(unsigned)outside & 0xff;
}

static float hidden_of(const tbLighting* g, const Eight* e, int first, int i)
{
  return e->facing[i] * (1 - seen(&g->light[first + i], e->x[i], e->y[i], e->z[i]));
}

static Sum sum_over(const tbLighting* g, const Asker* a, int begin, int end)
{
  Sum s = {0, 0};
  bool inside = a->px * a->px + a->py * a->py + a->pz * a->pz < (float)g->radius * (float)g->radius;
  for (int first = begin / TB_FLOATS * TB_FLOATS; first < end; first += TB_FLOATS) {
    Eight e;
    ask_eight(g, a, first, begin, end, &e);
    s.facing += e.total;
    float hidden = 0;
    for (unsigned asked = inside ? e.asked : 0; asked; asked &= asked - 1)
      hidden += hidden_of(g, &e, first, __builtin_ctz(asked));
    s.seen += e.total - hidden;
  }
  return s;
}

// As if nothing were hidden.
static Sum facing_over(const tbLighting* g, const Asker* a, int begin, int end)
{
  Sum s = {0, 0};
  for (int i = begin; i < end; i++) s.facing += tb_light_larger(facing_of(g, a, i), 0);
  s.seen = s.facing;
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
  bool any = s.seen > 0.001f * s.facing, all = s.seen >= 0.999f * s.facing;
  Sum inner = any && !all ? sum_over(g, a, 0, half) : facing_over(g, a, 0, half);
  s.facing += inner.facing, s.seen += inner.seen;
  return any ? s : (Sum){0, s.facing};
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

void tb_lighting_open_sun(const tbLighting* g, tbVec3 normal, tbVec3 eye, tbLit* out)
{
  Asker a = asker_of(g, g->centre, normal, (double[2]){0, 0});
  Sum s = facing_over(g, &a, 0, g->suns);
  set_sun(g, s, out);
  out->glint = s.facing > 0 ? glint_of(g, normal, eye) : 0;
}

// As sum_of_suns has it, the outer half decides.
tbSunSeen tb_lighting_seen_sun(const tbLighting* g, const tbVec3 place[4], tbVec3 normal,
                               const double jitter[2])
{
  Asker a[4];
  int open = 0, hidden = 0;
  for (int k = 0; k < 4; k++) a[k] = asker_of(g, place[k], normal, jitter);
  bool inside =
      a[0].px * a[0].px + a[0].py * a[0].py + a[0].pz * a[0].pz < (float)g->radius * (float)g->radius;
  for (int i = g->suns / 2; i < g->suns && !(open && hidden); i++) {
    float x, y, z;
    if (!(facing_of(g, &a[i & 3], i) > 0)) continue;
    ask_one(g, &a[i & 3], i, &x, &y, &z);
    float part = inside && in_box(g, i, x, y, z) ? seen(&g->light[i], x, y, z) : 1;
    open += part > 0, hidden += part < 1;
  }
  return open && hidden ? TB_SUN_PART : open ? TB_SUN_OPEN : TB_SUN_HIDDEN;
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
  int first = tb_light_tile(l, left), last = tb_light_tile(l, right), top = tb_light_tile(l, low),
      bottom = tb_light_tile(l, high);
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

static Asker asker_on(const tbLighting* g, const tbGround* ground, const double at[2], const double jitter[2])
{
  tbVec3 d =
      tb_madd3(tb_madd3(tb_scale3(ground->height, ground->normal), at[0], ground->u), at[1], ground->v);
  return asker_of(g, tb_add3(g->centre, d), ground->normal, jitter);
}

// The full sum of some lights, less what is in shadow.
static Sum sum_on(const tbLighting* g, const tbGround* ground, uint64_t shadows, const double at[2],
                  const double jitter[2], int begin, int end)
{
  Sum s = {0, begin ? ground->sky : ground->sun};
  Asker a = asker_on(g, ground, at, jitter);
  float hidden = 0;
  for (int first = begin / TB_FLOATS * TB_FLOATS; first < end; first += TB_FLOATS) {
    Eight e;
    unsigned asked = (unsigned)(shadows >> first) & 0xff;
    if (!asked) continue;
    ask_eight(g, &a, first, begin, end, &e);
    for (asked &= e.asked; asked; asked &= asked - 1) hidden += hidden_of(g, &e, first, __builtin_ctz(asked));
  }
  s.seen = s.facing - hidden;
  return s;
}

void tb_ground_sun(const tbLighting* g, const tbGround* ground, uint64_t shadows, const double at[2],
                   const double jitter[2], tbLit* out)
{
  set_sun(g, sum_on(g, ground, shadows, at, jitter, 0, g->suns), out);
}

tbSunSeen tb_ground_seen_sun(const tbLighting* g, const tbGround* ground, uint64_t shadows, double at[4][2],
                             const double jitter[2])
{
  Asker a[4];
  int open = 0, hidden = 0;
  if (!(shadows & (((uint64_t)1 << g->suns) - 1))) return TB_SUN_OPEN;
  for (int k = 0; k < 4; k++) a[k] = asker_on(g, ground, at[k], jitter);
  for (int i = 0; i < g->suns && !(open && hidden); i++) {
    float x, y, z, part = 1;
    if (!(ground->facing[i] > 0)) continue;
    if (shadows >> i & 1) {
      ask_one(g, &a[i & 3], i, &x, &y, &z);
      part = in_box(g, i, x, y, z) ? seen(&g->light[i], x, y, z) : 1;
    }
    open += part > 0, hidden += part < 1;
  }
  return open && hidden ? TB_SUN_PART : open ? TB_SUN_OPEN : TB_SUN_HIDDEN;
}

void tb_ground_sky(const tbLighting* g, const tbGround* ground, uint64_t shadows, const double at[2],
                   const double jitter[2], tbLit* out)
{
  set_sky(g, sum_on(g, ground, shadows, at, jitter, g->suns, g->lights), out);
}
