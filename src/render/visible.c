// SPDX-License-Identifier: Apache-2.0
// Which triangle each sample shows. Instances are put on the screen side by side, their triangles sorted into
// bands of rows, and the bands are filled side by side; in a band triangles keep their order, so that ties
// end the same way.
#include "render/scene.h"

static tbScreenTriangle screen_triangle(const tbVec3 p[3], int triangle)
{
  // y points down on the screen: the other way around
  static const int order[3] = {0, 2, 1};
  tbScreenTriangle t = {.triangle = triangle};
  for (int k = 0; k < 3; k++) {
    t.x[k] = tb_raster_grid(p[order[k]].x), t.y[k] = tb_raster_grid(p[order[k]].y);
    t.z[k] = (float)p[order[k]].z;
  }
  return t;
}

static tbStatus push(tbContext* ctx, tbStage* s, const tbVec3 p[3], int triangle, bool both)
{
  tbScreenTriangle t = screen_triangle(p, triangle);
  return tb_raster_accept(&s->raster, &t, both) ? tb_array_push(ctx, &s->cut_triangle, &t, 1) : TB_OK;
}

static tbVec3 to_screen(const tbStage* s, tbVec3 place) // z: 1/distance
{
  const tbView* v = &s->view;
  tbVec3 d = tb_sub3(place, v->eye);
  double z = 1 / tb_dot3(d, v->forward), scale = v->focal * z;
  return tb_vec3(s->samples * (v->x + scale * tb_dot3(d, v->right)),
                 s->samples * (v->y - scale * tb_dot3(d, v->up)), z);
}

// What is left of a triangle in front of the near plane: up to four corners, as a fan.
static tbStatus push_cut(tbContext* ctx, tbStage* s, const tbVec3 p[3], int triangle, bool both)
{
  tbVec3 kept[4];
  int count = 0;
  for (int k = 0; k < 3; k++) {
    tbVec3 a = p[k], b = p[(k + 1) % 3];
    double da = tb_dot3(tb_sub3(a, s->view.eye), s->view.forward) - s->view.near;
    double db = tb_dot3(tb_sub3(b, s->view.eye), s->view.forward) - s->view.near;
    if (da > 0) kept[count++] = to_screen(s, a);
    if ((da > 0) != (db > 0)) kept[count++] = to_screen(s, tb_lerp3(a, b, da / (da - db)));
  }
  for (int i = 2; i < count; i++)
    TB_TRY(push(ctx, s, (tbVec3[3]){kept[0], kept[i - 1], kept[i]}, triangle, both));
  return TB_OK;
}

// Puts an instance on the screen, unless something of it is cut: then that is left for later.
static void push_instance(tbStage* s, int index, tbVec3* screen)
{
  const tbSubject* m = s->subject;
  const tbInstance* in = &m->instance[index];
  const tbSolidMesh* mesh = &m->mesh[in->mesh];
  const tbPosed* posed = &s->posed[index];
  tbScreenRange* range = &s->range[index];
  bool both = m->body[in->body].sheet;
  *range = (tbScreenRange){in->triangle, 0, m->cut[index] == TB_CUT_NEAR};
  if (m->cut[index] == TB_CUT_ALL) return;
  for (int v = 0; v < mesh->nvertex && !range->cut; v++) {
    tbVec3 place = tb_posed_vertex(posed, in, mesh->vertex[v]);
    range->cut = !(tb_dot3(tb_sub3(place, s->view.eye), s->view.forward) > s->view.near);
    screen[v] = to_screen(s, place);
  }
  for (int t = 0; t < mesh->ntriangle && !range->cut; t++) {
    const int* v = mesh->triangle[t];
    const tbVec3 p[3] = {screen[v[0]], screen[v[1]], screen[v[2]]};
    tbScreenTriangle* out = &s->triangle[range->first + range->count];
    *out = screen_triangle(p, s->facet[in->triangle + t].leader);
    range->count += tb_raster_accept(&s->raster, out, both);
  }
}

static void push_instances(void* user, int begin, int end, int piece)
{
  tbStage* s = user;
  for (int i = begin; i < end; i++)
    push_instance(s, i, s->screen + (size_t)piece * (size_t)s->subject->max_vertex);
}

static tbStatus push_cut_instance(tbContext* ctx, tbStage* s, int index)
{
  const tbSubject* m = s->subject;
  const tbInstance* in = &m->instance[index];
  const tbSolidMesh* mesh = &m->mesh[in->mesh];
  bool both = m->body[in->body].sheet, part = m->cut[index] == TB_CUT_NEAR;
  size_t before = s->cut_triangle.count;
  s->range[index].first = m->ntriangle + (int)before;
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    tbVec3 p[3];
    for (int k = 0; k < 3; k++) p[k] = tb_posed_vertex(&s->posed[index], in, mesh->vertex[v[k]]);
    if (part && tb_cut_hides(&s->cut, p[0], p[1], p[2])) continue;
    TB_TRY(push_cut(ctx, s, p, s->facet[in->triangle + t].leader, both));
  }
  s->range[index].count = (int)(s->cut_triangle.count - before);
  return TB_OK;
}

static const tbScreenTriangle* triangle_at(const tbStage* s, int entry)
{
  int own = s->subject->ntriangle;
  return entry < own ? &s->triangle[entry] : (const tbScreenTriangle*)s->cut_triangle.data + (entry - own);
}

static int first_band(const tbScreenTriangle* t) { return tb_raster_top(t) / TB_BAND; }

static int last_band(const tbStage* s, const tbScreenTriangle* t)
{
  return (tb_raster_bottom(&s->raster, t) - 1) / TB_BAND;
}

static tbStatus sort_into_bands(tbContext* ctx, tbStage* s)
{
  int instances = s->subject->ninstance;
  for (int b = 0; b <= s->nband; b++) s->band[b] = 0;
  for (int k = 0; k < instances; k++)
    for (int i = 0; i < s->range[k].count; i++) {
      const tbScreenTriangle* t = triangle_at(s, s->range[k].first + i);
      for (int b = first_band(t); b <= last_band(s, t); b++) s->band[b + 1]++;
    }
  for (int b = 0; b < s->nband; b++) s->band[b + 1] += s->band[b];
  s->entry.count = 0;
  TB_TRY(tb_array_push(ctx, &s->entry, NULL, (size_t)s->band[s->nband]));
  int* entry = s->entry.data;
  for (int k = instances; k-- > 0;) // from behind, so that `band` ends up at the first of each
    for (int i = s->range[k].count; i-- > 0;) {
      const tbScreenTriangle* t = triangle_at(s, s->range[k].first + i);
      for (int b = first_band(t); b <= last_band(s, t); b++) entry[--s->band[b + 1]] = s->range[k].first + i;
    }
  for (int b = 0; b < s->nband; b++) s->band[b] = s->band[b + 1];
  s->band[s->nband] = (int)s->entry.count;
  return TB_OK;
}

static void fill_bands(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbStage* s = user;
  const int* entry = s->entry.data;
  for (int b = begin; b < end; b++) {
    int top = b * TB_BAND, bottom = top + TB_BAND < s->raster.height ? top + TB_BAND : s->raster.height;
    for (int64_t i = (int64_t)top * s->raster.width; i < (int64_t)bottom * s->raster.width; i++)
      s->raster.depth[i] = 0, s->raster.triangle[i] = -1;
    for (int i = s->band[b]; i < s->band[b + 1]; i++)
      tb_raster_fill(&s->raster, triangle_at(s, entry[i]), top, bottom);
  }
}

// Whether a triangle lies in the plane of another, and both have one normal, that of the plane.
static bool continues(const tbSolidMesh* mesh, int leader, int triangle)
{
  const tbVec3 *n = &mesh->normal[3 * leader], *m = &mesh->normal[3 * triangle];
  for (int k = 0; k < 3; k++) {
    tbVec3 d = tb_sub3(mesh->vertex[mesh->triangle[triangle][k]], mesh->vertex[mesh->triangle[leader][0]]);
    tbVec3 e = tb_sub3(mesh->vertex[mesh->triangle[leader][k]], mesh->vertex[mesh->triangle[leader][0]]);
    double tiny = 1e-12 * mesh->reach;
    if (!(tb_distance3(m[k], n[0]) < 1e-12 && tb_distance3(n[k], n[0]) < 1e-12)) return false;
    if (!(fabs(tb_dot3(d, n[0])) <= tiny && fabs(tb_dot3(e, n[0])) <= tiny)) return false;
  }
  return true;
}

// Meshes that deform have other normals in each frame.
static void find_facets(const tbStage* s, int index, bool deforms)
{
  const tbInstance* in = &s->subject->instance[index];
  const tbSolidMesh* mesh = &s->subject->mesh[in->mesh];
  int leader = 0;
  for (int t = 0; t < mesh->ntriangle; t++) {
    const tbVec3* n = &mesh->normal[3 * t];
    tbVec3 mean = tb_normalize3(tb_add3(tb_add3(n[0], n[1]), n[2]));
    if (deforms || !continues(mesh, leader, t)) leader = t;
    s->facet[in->triangle + t] = (tbFacet){tb_quat_rotate(in->pose.q, mean), index, in->triangle + leader};
  }
}

void tb_stage_find_facets(const tbStage* s)
{
  for (int i = 0; i < s->subject->ninstance; i++) find_facets(s, i, false);
}

static void pose_instances(const tbStage* s)
{
  const tbSubject* m = s->subject;
  for (int i = 0; i < m->ninstance; i++) {
    tbTransform T = tb_transform_mul(m->now[m->instance[i].body], m->instance[i].pose);
    s->posed[i] = (tbPosed){tb_quat_mat3(T.q), T.x};
  }
  for (int k = 0; k < m->nsurface; k++) {
    const tbSubjectBody* body = &m->body[m->surface[k].body];
    for (int i = body->first; i < body->first + body->count; i++) find_facets(s, i, true);
  }
}

tbStatus tb_stage_rasterize(tbContext* ctx, tbStage* s)
{
  int instances = s->subject->ninstance;
  s->cut_triangle.count = 0;
  pose_instances(s);
  tb_parallel_for(ctx->threads, instances, tb_piece_count(instances, s->npiece), push_instances, s);
  for (int i = 0; i < instances; i++)
    if (s->range[i].cut) TB_TRY(push_cut_instance(ctx, s, i));
  TB_TRY(sort_into_bands(ctx, s));
  tb_parallel_for(ctx->threads, s->nband, 1, fill_bands, s);
  for (int i = 0; i < s->subject->nplane; i++) tb_ground_place(s, i);
  return TB_OK;
}
