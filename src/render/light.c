// A depth map per direction (Williams 1978); the sky is many of them, which gives soft shadows and dark corners
// without noise, the same from frame to frame.
//
// Cost      every triangle once per direction; at each place lit, four comparisons per direction.
// Limits    shadows fall inside a ball only; what is thinner than a texel of the map may let light through.
#include "render/light.h"

#include "render/raster.h"

enum { SUN_MAP = 1024, SKY_MAP = 448 };
static const double sun_share = 0.62, sun_width = 0.045; // radius of the sun, rad

static double turn_of(int i) { return 2.399963229728653 * i; } // the golden angle

static void frame_of(tbVec3 n, tbVec3* a, tbVec3* b)
{
  tbMat3 F = tb_mat3_frame(n);
  *a = tb_mat3_row(F, 1), *b = tb_mat3_row(F, 2);
}

// Suns evenly over a disc, skies over the upper half of a sphere, both along a spiral.
static tbVec3 direction_of(int i, tbVec3 up, tbVec3 toward_sun)
{
  tbVec3 a, b;
  double s, c;
  tb_sin_cos(turn_of(i), &s, &c);
  if (i < TB_SUNS) {
    frame_of(toward_sun, &a, &b);
    double r = sun_width * sqrt((i + 0.5) / TB_SUNS);
    return tb_normalize3(tb_madd3(tb_madd3(toward_sun, r * c, a), r * s, b));
  }
  frame_of(up, &a, &b);
  double z = 1 - (i - TB_SUNS + 0.5) / TB_SKIES * 0.96, r = sqrt(1 - z * z);
  return tb_madd3(tb_madd3(tb_scale3(z, up), r * c, a), r * s, b);
}

tbStatus tb_lighting_create(tbArena* arena, const tbSubject* m, tbVec3 toward_sun, tbVec3 centre, double radius,
                            tbLighting* out)
{
  double level[2] = {0, 0}; // light on a level surface before it is scaled
  *out = (tbLighting){.centre = centre, .radius = radius, .up = m->up};
  for (int i = 0; i < TB_LIGHTS; i++) {
    tbLight* l = &out->light[i];
    l->sun = i < TB_SUNS;
    l->direction = direction_of(i, m->up, toward_sun);
    l->size = l->sun ? SUN_MAP : SKY_MAP;
    level[l->sun] += tb_dot3(l->direction, m->up);
    frame_of(l->direction, &l->u, &l->v);
    double texels = 0.5 * l->size / radius;
    l->u = tb_scale3(texels, l->u), l->v = tb_scale3(texels, l->v);
    l->map = TB_TAKE(arena, float, (size_t)l->size * (size_t)l->size);
    if (!l->map) return TB_ERROR_MEMORY;
  }
  for (int i = 0; i < TB_LIGHTS; i++) {
    tbLight* l = &out->light[i];
    l->weight = (l->sun ? sun_share : 1 - sun_share) / level[l->sun];
  }
  out->scratch_bytes = (size_t)m->max_vertex * 3 * sizeof(float);
  out->scratch = TB_TAKE(arena, char, out->scratch_bytes * TB_LIGHTS);
  return out->scratch ? TB_OK : TB_ERROR_MEMORY;
}

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
  bool both = m->body[in->body].kind == TB_SUBJECT_CLOTH; // others hide what faces away themselves
  for (int v = 0; v < mesh->nvertex; v++)
    corner[v] = project(g, l, tb_add3(T.x, tb_mat3_mulv(R, tb_mul3(in->scale, mesh->vertex[v]))));
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    if (m->cut[index] == TB_CUT_NEAR && tb_cut_hides(cut, place(in, mesh, T, v[0]), place(in, mesh, T, v[1]), place(in, mesh, T, v[2]))) continue;
    tbScreenTriangle s = {.triangle = 0};
    for (int k = 0; k < 3; k++) {
      const Corner* c = &corner[v[k]];
      s.x[k] = tb_raster_grid(c->x), s.y[k] = tb_raster_grid(c->y), s.z[k] = c->z;
    }
    if (tb_raster_accept(raster, &s, both)) tb_raster_fill(raster, &s, 0, raster->height);
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
    Corner* corner = (Corner*)(w->lighting->scratch + w->lighting->scratch_bytes * (size_t)i);
    for (int k = 0; k < w->subject->ninstance; k++)
      draw_instance(w->lighting, l, w->subject, k, w->cut, &raster, corner);
  }
}

void tb_lighting_draw(tbThreads* threads, const tbLighting* lighting, const tbSubject* subject, const tbCut* cut)
{
  Work w = {lighting, subject, cut};
  tb_parallel_for(threads, TB_LIGHTS, 1, draw_maps, &w);
}

// Places.

// The share of four texels around a place that light reaches, by how near they are.
static double seen(const tbLight* l, Corner c, float slack)
{
  float x = c.x - 0.5f, y = c.y - 0.5f;
  if (!(x >= 0 && y >= 0 && x < (float)(l->size - 1) && y < (float)(l->size - 1))) return 1;
  int i = (int)x, k = (int)y;
  float fx = x - (float)i, fy = y - (float)k, z = c.z + slack;
  const float *top = l->map + (int64_t)k * l->size + i, *bottom = top + l->size;
  float a = (z >= top[0] ? 1 - fx : 0) + (z >= top[1] ? fx : 0);
  float b = (z >= bottom[0] ? 1 - fx : 0) + (z >= bottom[1] ? fx : 0);
  return (double)(a + fy * (b - a));
}

static const double spread = 2; // of the places asked, in texels

tbLit tb_lighting_at(const tbLighting* g, tbVec3 place, tbVec3 normal, tbVec3 eye, const double jitter[2])
{
  tbLit lit = {0};
  double all = 0, reached = 0;
  bool inside = tb_distance3(place, g->centre) < g->radius;
  for (int i = 0; i < TB_LIGHTS; i++) {
    const tbLight* l = &g->light[i];
    double facing = tb_dot3(l->direction, normal);
    if (!(facing > 0)) continue;
    // Two texels off the surface, so that it does not shade itself.
    double texel = 2 * g->radius / l->size, share = 1;
    if (inside) {
      Corner c = project(g, l, tb_madd3(place, 1.6 * texel, normal));
      double x = jitter[0] + 0.7548776662466927 * i, y = jitter[1] + 0.5698402909980532 * i; // R₂, Roberts 2018
      c.x += (float)(spread * (x - floor(x) - 0.5)), c.y += (float)(spread * (y - floor(y) - 0.5));
      share = seen(l, c, (float)(0.5 * texel));
    }
    double light = l->weight * facing * share;
    if (l->sun) {
      double half = tb_dot3(tb_normalize3(tb_add3(l->direction, eye)), normal), power = half * half;
      power *= power, power *= power, power *= power, power *= power; // 32
      lit.glint += share * power / TB_SUNS;
      lit.sun += light;
    } else {
      lit.sky += light;
      all += facing, reached += facing * share;
    }
  }
  lit.open = all > 0 ? reached / all : 1;
  return lit;
}
