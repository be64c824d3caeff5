// SPDX-License-Identifier: Apache-2.0
#include "io/record/drawing.h"

#include "geometry/mesh.h"
#include "geometry/sdf.h"
#include "scene/kind.h"

// What a mesh was made of: shapes that say the same share it.
typedef struct {
  tbShapeType type;
  const void* geometry; // hull, mesh
  double ratio;         // capsule: half length over radius
} Made;

static Made made_of(const tbShape* s)
{
  Made made = {.type = s->type};
  if (s->type == TB_SHAPE_CAPSULE) made.ratio = s->capsule.half / s->capsule.radius;
  if (s->type == TB_SHAPE_CONVEX) made.geometry = s->hull;
  if (s->type == TB_SHAPE_MESH) made.geometry = s->mesh;
  if (s->type == TB_SHAPE_SDF) made.type = TB_SHAPE_MESH, made.geometry = s->sdf->mesh;
  return made;
}

static tbVec3 scale_of(const tbDrawing* d, const tbShape* s)
{
  switch (s->type) {
  case TB_SHAPE_SPHERE: return tb_vec3(s->sphere.radius, s->sphere.radius, s->sphere.radius);
  case TB_SHAPE_CAPSULE: return tb_vec3(s->capsule.radius, s->capsule.radius, s->capsule.radius);
  case TB_SHAPE_CYLINDER: return tb_vec3(s->cylinder.radius, s->cylinder.radius, s->cylinder.half);
  case TB_SHAPE_BOX: return s->box.half;
  case TB_SHAPE_PLANE: return tb_vec3(d->reach, d->reach, 1);
  default: return tb_vec3(1, 1, 1);
  }
}

static tbStatus make_mesh(tbDrawing* d, Made made, tbDrawMesh* out)
{
  switch (made.type) {
  case TB_SHAPE_SPHERE: return tb_draw_sphere(&d->arena, d->segments, out);
  case TB_SHAPE_CAPSULE: return tb_draw_capsule(&d->arena, d->segments, made.ratio, out);
  case TB_SHAPE_CYLINDER: return tb_draw_cylinder(&d->arena, d->segments, out);
  case TB_SHAPE_BOX: return tb_draw_box(&d->arena, out);
  case TB_SHAPE_PLANE: return tb_draw_square(&d->arena, out);
  case TB_SHAPE_CONVEX: return tb_draw_hull(&d->arena, made.geometry, out);
  default: break;
  }
  const tbMesh* mesh = made.geometry;
  *out = (tbDrawMesh){mesh->nvertex, mesh->ntriangle, mesh->vertex, NULL, (const int(*)[3])mesh->triangle, 0};
  return TB_OK;
}

static tbStatus find_mesh(tbContext* ctx, tbDrawing* d, const tbShape* s, int* out)
{
  Made made = made_of(s);
  const Made* old = d->made.data;
  for (*out = 0; (size_t)*out < d->made.count; ++*out)
    if (old[*out].type == made.type && old[*out].geometry == made.geometry && old[*out].ratio == made.ratio)
      return TB_OK;
  tbDrawMesh mesh;
  TB_TRY(make_mesh(d, made, &mesh));
  mesh.given = made.geometry ? d->ngiven++ : -1;
  TB_TRY(tb_array_push(ctx, &d->made, &made, 1));
  return tb_array_push(ctx, &d->mesh, &mesh, 1);
}

// Where a plane's square lies in the body's frame: under the middle of the scene, facing along its normal.
static tbTransform plane_pose(const tbDrawing* d, const tbShape* s, tbTransform body)
{
  tbTransform T = tb_transform_mul(body, s->pose);
  tbVec3 n = s->plane.normal, p = tb_transform_unpoint(T, d->centre);
  p = tb_madd3(p, s->plane.offset - tb_dot3(n, p), n);
  tbMat3 F = tb_mat3_frame(n);
  tbQuat q = tb_quat_from_mat3(tb_mat3_cols(tb_mat3_row(F, 1), tb_mat3_row(F, 2), n));
  return tb_transform_mul(s->pose, tb_transform(q, p));
}

static tbStatus add_shapes(tbContext* ctx, tbDrawing* d, const tbWorld* w, int body)
{
  const tbBody* b = &tb_bodies(w)[body];
  for (int i = b->shape; i < b->shape + b->nshape; i++) {
    const tbShape* s = &tb_shapes(w)[i];
    tbDrawShape drawn = {.pose = s->pose, .scale = scale_of(d, s)};
    if (s->type == TB_SHAPE_PLANE) drawn.pose = plane_pose(d, s, tb_body_pose(b));
    TB_TRY(find_mesh(ctx, d, s, &drawn.mesh));
    TB_TRY(tb_array_push(ctx, &d->shape, &drawn, 1));
  }
  return TB_OK;
}

// The nodes that triangles use, in their own order, and the triangles over them.
static tbStatus add_surface(tbContext* ctx, tbDrawing* d, const tbWorld* w, int body)
{
  tbBodyId id = tb_world_body_at(w, body);
  int nnode = tb_body_node_count(w, id), ntriangle = tb_body_triangle_count(w, id), used = 0;
  const int(*old)[3] = tb_body_triangles(w, id);
  int* vertex = TB_TAKE(&d->arena, int, (size_t)nnode); // of a node, from 1; 0: none
  int* node = TB_TAKE(&d->arena, int, (size_t)nnode);
  int(*triangle)[3] = tb_arena_take(&d->arena, (size_t)ntriangle, sizeof *triangle);
  if (!vertex || !node || !triangle) return TB_ERROR_MEMORY;
  for (int t = 0; t < ntriangle; t++)
    for (int k = 0; k < 3; k++) vertex[old[t][k]] = 1;
  for (int i = 0; i < nnode; i++)
    if (vertex[i]) node[used] = i, vertex[i] = ++used;
  for (int t = 0; t < ntriangle; t++)
    for (int k = 0; k < 3; k++) triangle[t][k] = vertex[old[t][k]] - 1;
  d->body_surface[body] = (int)d->surface.count;
  tbDrawSurface surface = {body, used, ntriangle, node, (const int(*)[3])triangle};
  return tb_array_push(ctx, &d->surface, &surface, 1);
}

static void measure(tbDrawing* d, const tbWorld* w)
{
  tbVec3 lo = tb_vec3(INFINITY, INFINITY, INFINITY), hi = tb_neg3(lo);
  for (int i = 0; i < d->nbody; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    for (int s = b->shape; s < b->shape + b->nshape; s++) {
      if (tb_shapes(w)[s].type == TB_SHAPE_PLANE) continue;
      tbBox box = tb_shape_box_of(&tb_shapes(w)[s], tb_body_pose(b));
      lo = tb_min3(lo, box.lo), hi = tb_max3(hi, box.hi);
    }
    const tbVec3* x = tb_body_nodes(w, tb_world_body_at(w, i));
    for (int n = 0; n < tb_body_node_count(w, tb_world_body_at(w, i)); n++)
      lo = tb_min3(lo, x[n]), hi = tb_max3(hi, x[n]);
  }
  bool any = lo.x <= hi.x;
  d->centre = any ? tb_lerp3(lo, hi, 0.5) : tb_zero3();
  d->reach = any ? 3 * tb_distance3(lo, hi) : 10;
}

static tbStatus fill(tbContext* ctx, const tbWorld* w, tbDrawing* d)
{
  d->body_shape = TB_TAKE(&d->arena, int, (size_t)d->nbody + 1);
  d->body_surface = TB_TAKE(&d->arena, int, (size_t)d->nbody);
  if (!d->body_shape || !d->body_surface) return TB_ERROR_MEMORY;
  for (int i = 0; i < d->nbody; i++) {
    d->body_surface[i] = -1;
    if (tb_body_node_count(w, tb_world_body_at(w, i)) > 0) TB_TRY(add_surface(ctx, d, w, i));
    else TB_TRY(add_shapes(ctx, d, w, i));
    d->body_shape[i + 1] = (int)d->shape.count;
  }
  return TB_OK;
}

tbStatus tb_drawing_create(tbContext* ctx, const tbWorld* w, tbDrawing* out)
{
  tbDrawing d = {.nbody = tb_world_body_count(w),
                 .mesh = TB_ARRAY(tbDrawMesh),
                 .shape = TB_ARRAY(tbDrawShape),
                 .surface = TB_ARRAY(tbDrawSurface),
                 .made = TB_ARRAY(Made),
                 .segments = w->shape.count > 5000  ? 12
                             : w->shape.count > 500 ? 16
                                                    : 24};
  tb_arena_init(&d.arena, ctx);
  measure(&d, w);
  tbStatus status = fill(ctx, w, &d);
  if (status == TB_OK) *out = d;
  else tb_drawing_free(ctx, &d);
  return status;
}

void tb_drawing_free(tbContext* ctx, tbDrawing* d)
{
  if (d->arena.ctx) tb_arena_free(&d->arena);
  tb_array_free(ctx, &d->mesh);
  tb_array_free(ctx, &d->shape);
  tb_array_free(ctx, &d->surface);
  tb_array_free(ctx, &d->made);
  *d = (tbDrawing){0};
}

tbColor tb_color(int index)
{
  static const tbColor colors[TB_COLORS] = {{76, 120, 168},  {245, 133, 24},  {84, 162, 75},
                                            {228, 87, 86},   {114, 183, 178}, {238, 202, 59},
                                            {178, 121, 162}, {157, 117, 93},  {154, 160, 166}};
  return colors[index];
}

int tb_body_color(const tbWorld* w, tbBodyId body)
{
  int place = tb_body_place(w, body);
  return tb_bodies(w)[place].motion == TB_BODY_FIXED ? TB_COLOR_FIXED : place % TB_COLOR_FIXED;
}

void tb_color_linear(tbColor color, double rgb[3])
{
  const unsigned char values[3] = {color.r, color.g, color.b};
  for (int i = 0; i < 3; i++) {
    double v = values[i] / 255.0;
    rgb[i] = v <= 0.04045 ? v / 12.92 : tb_exp(2.4 * tb_ln((v + 0.055) / 1.055));
  }
}

bool tb_body_moves(const tbWorld* w, tbBodyId body)
{
  const tbBody* b = &tb_bodies(w)[tb_body_place(w, body)];
  return !b->kind->nodes && b->motion != TB_BODY_FIXED;
}

int tb_world_up(const tbWorld* w)
{
  const double g[3] = {w->gravity.x, w->gravity.y, w->gravity.z};
  int up = 2;
  for (int i = 0; i < 3; i++)
    if (fabs(g[i]) > fabs(g[up])) up = i;
  return up;
}
