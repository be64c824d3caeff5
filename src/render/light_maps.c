// SPDX-License-Identifier: Apache-2.0
// The lights' maps: what each direction sees first.
#include "render/light.h"
#include "render/raster.h"

#include "base/simd_float.h"

typedef struct {
  const tbLighting* lighting;
  const tbSubject* subject;
  const tbCut* cut;
} Work;

// From a mesh's vertices to a light's map: texels, texels and height are linear in them.
typedef struct {
  tbVec3 x, y, z, at;
} Projection;

static Projection projection_of(const tbLighting* g, const tbLight* l, tbTransform T, tbVec3 scale)
{
  tbVec3 d = tb_sub3(T.x, g->centre);
  tbQuat back = tb_quat_conj(T.q);
  return (Projection){
      tb_mul3(scale, tb_quat_rotate(back, l->u)), tb_mul3(scale, tb_quat_rotate(back, l->v)),
      tb_mul3(scale, tb_quat_rotate(back, l->direction)),
      tb_vec3(0.5 * l->size + tb_dot3(l->u, d), 0.5 * l->size + tb_dot3(l->v, d), tb_dot3(l->direction, d))};
}

static tbLightCorner project(const Projection* p, tbVec3 v)
{
  tbLightCorner c = {.x = (float)(p->at.x + tb_dot3(p->x, v)),
                     .y = (float)(p->at.y + tb_dot3(p->y, v)),
                     .z = (float)(p->at.z + tb_dot3(p->z, v))};
  c.grid[0] = tb_raster_grid(c.x), c.grid[1] = tb_raster_grid(c.y);
  return c;
}

static void grow(tbLightBounds* b, tbLightCorner c)
{
  b->left = tb_light_smaller(b->left, c.x - 2), b->right = tb_light_larger(b->right, c.x + 2);
  b->top = tb_light_smaller(b->top, c.y - 2), b->bottom = tb_light_larger(b->bottom, c.y + 2);
  b->height = tb_light_larger(b->height, c.z);
}

// Raises the tiles that a triangle touches to its highest corner.
static void raise_tiles(const tbLight* l, const tbLightCorner* a, const tbLightCorner* b,
                        const tbLightCorner* c)
{
  float top = tb_light_larger(a->z, tb_light_larger(b->z, c->z));
  int left = tb_light_tile(l, tb_light_smaller(a->x, tb_light_smaller(b->x, c->x)) - 3),
      right = tb_light_tile(l, tb_light_larger(a->x, tb_light_larger(b->x, c->x)) + 3);
  int low = tb_light_tile(l, tb_light_smaller(a->y, tb_light_smaller(b->y, c->y)) - 3),
      high = tb_light_tile(l, tb_light_larger(a->y, tb_light_larger(b->y, c->y)) + 3);
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

// Whether a triangle is seen from behind, or is none.
static bool turns_away(const tbLightCorner* a, const tbLightCorner* b, const tbLightCorner* c)
{
  int64_t bx = b->grid[0] - (int64_t)a->grid[0], by = b->grid[1] - (int64_t)a->grid[1];
  int64_t cx = c->grid[0] - (int64_t)a->grid[0], cy = c->grid[1] - (int64_t)a->grid[1];
  return bx * cy <= by * cx;
}

// A ball is a disc on every map: z = z_c + √(r² − ρ²), eight texels at once. It is the one inside of its
// mesh, whose faces else stood in their own shadow. False: part of it is beside the map, and the mesh must
// do.
static bool draw_ball(const tbLight* l, const Projection* p, double radius)
{
  tbLightCorner c = project(p, tb_zero3());
  double scale = tb_norm3(l->u), reach = scale * radius, last = l->size - 1;
  if (!(c.x - reach > 0 && c.y - reach > 0 && c.x + reach < last && c.y + reach < last)) return false;
  int left = (int)(c.x - reach), top = (int)(c.y - reach), bottom = (int)(c.y + reach) + 1;
  int count = ((int)(c.x + reach) + 1 - left + TB_FLOATS - 1) / TB_FLOATS * TB_FLOATS;
  if (count > l->size) return false;
  if (left > l->size - count) left = l->size - count; // what is beside it is tried in vain
  const tb8f lane = tb8_load((const float[TB_FLOATS]){0, 1, 2, 3, 4, 5, 6, 7}), zero = tb8_set1(0);
  tb8f metre = tb8_set1((float)(1 / scale)), middle = tb8_set1(c.z);
  for (int y = top; y < bottom; y++) {
    double dy = (y + 0.5 - c.y) / scale, half = radius * radius - dy * dy;
    float* row = l->map + (size_t)y * (size_t)l->size;
    for (int x = left; x < left + count && half > 0; x += TB_FLOATS) {
      tb8f dx = tb8_mul(metre, tb8_add(tb8_set1((float)(x + 0.5 - c.x)), lane)), old = tb8_load(row + x);
      tb8f rest = tb8_sub(tb8_set1((float)half), tb8_mul(dx, dx));
      tb8f here = tb8_add(middle, tb8_sqrt(tb8_max(rest, zero)));
      tb8_store(row + x, tb8_choose(zero, rest, old, tb8_max(here, old)));
    }
  }
  tbLightCorner ends[2] = {{.x = c.x - (float)reach, .y = c.y - (float)reach, .z = c.z + (float)radius},
                           {.x = c.x + (float)reach, .y = c.y + (float)reach, .z = c.z + (float)radius}};
  grow(l->bounds, ends[0]), grow(l->bounds, ends[1]);
  raise_tiles(l, &ends[0], &ends[1], &ends[1]);
  return true;
}

static void draw_instance(const tbLighting* g, const tbLight* l, const tbSubject* m, int index,
                          const tbCut* cut, const tbRaster* raster, tbLightCorner* corner)
{
  const tbInstance* in = &m->instance[index];
  const tbSolidMesh* mesh = &m->mesh[in->mesh];
  if (m->cut[index] == TB_CUT_ALL) return;
  tbTransform T = tb_transform_mul(m->now[in->body], in->pose);
  Projection projection = projection_of(g, l, T, in->scale);
  bool ball = in->mesh == m->sphere && m->cut[index] != TB_CUT_NEAR;
  if (ball && draw_ball(l, &projection, m->inner * in->scale.x)) return;
  bool both = m->body[in->body].sheet; // others hide what faces away themselves
  for (int v = 0; v < mesh->nvertex; v++) {
    corner[v] = project(&projection, mesh->vertex[v]);
    grow(l->bounds, corner[v]);
  }
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    if (!both && turns_away(&corner[v[0]], &corner[v[1]], &corner[v[2]])) continue;
    if (m->cut[index] == TB_CUT_NEAR &&
        tb_cut_hides(cut, place(in, mesh, T, v[0]), place(in, mesh, T, v[1]), place(in, mesh, T, v[2])))
      continue;
    tbScreenTriangle s = {.triangle = 0};
    for (int k = 0; k < 3; k++) {
      const tbLightCorner* c = &corner[v[k]];
      s.x[k] = c->grid[0], s.y[k] = c->grid[1], s.z[k] = c->z;
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
    tbLightCorner* corner = w->lighting->corner + (size_t)i * (size_t)w->subject->max_vertex;
    for (int k = 0; k < w->subject->ninstance; k++)
      draw_instance(w->lighting, l, w->subject, k, w->cut, &raster, corner);
  }
}

void tb_lighting_draw(tbThreads* threads, const tbLighting* lighting, const tbSubject* subject,
                      const tbCut* cut)
{
  Work w = {lighting, subject, cut};
  tb_parallel_for(threads, lighting->lights, 1, draw_maps, &w);
  for (int i = 0; i < lighting->lights; i++) {
    const tbLightBounds* b = lighting->light[i].bounds;
    float last = (float)(lighting->light[i].size - 1);
    tbLightBox* box = lighting->box;
    box->left[i] = tb_light_larger(b->left, 0), box->right[i] = tb_light_smaller(b->right, last);
    box->top[i] = tb_light_larger(b->top, 0), box->bottom[i] = tb_light_smaller(b->bottom, last);
    box->height[i] = b->height;
  }
}
