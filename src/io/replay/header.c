// SPDX-License-Identifier: Apache-2.0
// What stands at the head of a replay: the scene in JSON, and the geometry it refers to. Meshes are the
// scene's own hulls and meshes, then the surfaces; round shapes and boxes are given by their sizes.
#include "io/replay/replay.h"

#include "tribo/tools/scene_json.h"
#include "kind/table.h"

static void put_color(tbJsonWriter* w, tbColor c)
{
  char text[8];
  snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
  tb_put_string(w, "color", text);
}

static void put_rigid(tbJsonWriter* w, const tbWorld* world, const tbDrawing* d, int body, int* pose)
{
  const tbBody* b = &tb_bodies(world)[body];
  tb_put_pose(w, tb_body_pose(b));
  if (tb_body_moves(world, tb_world_body_at(world, body))) tb_put_int(w, "pose", (*pose)++);
  tb_put_array(w, "shapes");
  for (int i = 0; i < b->nshape; i++) {
    const tbDrawShape* drawn = &tb_draw_shapes(d)[d->body_shape[body] + i];
    tb_put_shape(w, &tb_shapes(world)[b->shape + i], tb_draw_meshes(d)[drawn->mesh].given);
  }
  tb_put_end(w);
}

static void put_bodies(tbJsonWriter* w, const tbWorld* world, const tbDrawing* d)
{
  int pose = 0;
  tb_put_array(w, "bodies");
  for (int i = 0; i < d->nbody; i++) {
    const tbBody* b = &tb_bodies(world)[i];
    int surface = d->body_surface[i];
    tb_put_object(w, NULL);
    tb_put_string(w, "name", b->name);
    tb_put_string(w, "kind", tb_kind_word(b));
    tb_put_int(w, "material", b->material);
    put_color(w, tb_color(tb_body_color(world, tb_world_body_at(world, i))));
    if (b->mass > 0) tb_put_number(w, "mass", b->mass);
    if (surface < 0) put_rigid(w, world, d, i, &pose);
    else {
      tb_put_int(w, "nodes", tb_draw_surfaces(d)[surface].nvertex);
      tb_put_int(w, "skin", d->ngiven + surface);
    }
    tb_put_end(w);
  }
  tb_put_end(w);
}

static void put_materials(tbJsonWriter* w, const tbWorld* world)
{
  const tbMaterial* m = world->material.data;
  tb_put_array(w, "materials");
  for (size_t i = 0; i < world->material.count; i++) {
    tb_put_object(w, NULL);
    tb_put_string(w, "name", m[i].name);
    const tbFriction* f = &m[i].contact_material.friction;
    tb_put_number(w, "mu",
                  f->kind == TB_FRICTION_ELLIPTIC ? f->mu_t
                  : f->kind == TB_FRICTION_TENSOR ? f->kappa * f->matrix[0]
                                                  : f->mu);
    tb_put_number(w, "restitution", m[i].contact_material.restitution);
    put_color(w, tb_color((int)(i % TB_COLOR_FIXED)));
    tb_put_end(w);
  }
  tb_put_end(w);
}

static void put_mesh(tbJsonWriter* w, int64_t vertices, int64_t triangles, int64_t* at)
{
  tb_put_object(w, NULL);
  tb_put_int(w, "vertices", vertices);
  tb_put_int(w, "vertices_at", *at);
  *at += 12 * vertices;
  tb_put_int(w, "triangles", triangles);
  tb_put_int(w, "triangles_at", *at);
  *at += 12 * triangles;
  tb_put_end(w);
}

static void put_meshes(tbJsonWriter* w, const tbDrawing* d)
{
  const tbDrawMesh* m = tb_draw_meshes(d);
  const tbDrawSurface* s = tb_draw_surfaces(d);
  int64_t at = 0;
  tb_put_array(w, "meshes");
  for (size_t i = 0; i < d->mesh.count; i++)
    if (m[i].given >= 0) put_mesh(w, m[i].nvertex, m[i].ntriangle, &at);
  for (size_t i = 0; i < d->surface.count; i++) put_mesh(w, s[i].nvertex, s[i].ntriangle, &at);
  tb_put_end(w);
  tb_put_int(w, "geometry_bytes", (int64_t)tb_replay_pad8((uint64_t)at));
}

static void put_run(tbJsonWriter* w, const tbRecordPlan* plan)
{
  const tbStepOptions* o = &plan->scene->step;
  tb_put_string(w, "scene", plan->scene->name ? plan->scene->name : "");
  tb_put_string(w, "generator", "tribo " TB_VERSION);
  tb_put_number(w, "dt", o->dt);
  tb_put_int(w, "steps_per_frame", plan->stride);
  tb_put_number(w, "fps", plan->fps);
  tb_put_string(w, "scheme", o->scheme);
  tb_put_string(w, "solver", o->solver.solver);
  tb_put_string(w, "model", tb_model_name(o->solver.model));
  tb_put_number(w, "tolerance", o->solver.tolerance);
  tb_put_number(w, "velocity_tolerance", o->solver.velocity_tolerance);
  tb_put_vec3(w, "gravity", plan->scene->world->gravity);
  tb_put_string(w, "up", (const char*[]){"x", "y", "z"}[tb_world_up(plan->scene->world)]);
  tb_put_array(w, "scalars");
  for (int i = 0; i < TB_SCALARS; i++) tb_put_string(w, NULL, tb_scalar_name(i));
  tb_put_end(w);
}

tbStatus tb_replay_header_print(tbContext* ctx, const tbRecordPlan* plan, const tbDrawing* d, tbOut* out)
{
  const tbWorld* world = plan->scene->world;
  int poses = 0;
  for (int i = 0; i < d->nbody; i++) poses += tb_body_moves(world, tb_world_body_at(world, i));
  tbJsonWriter w = tb_json_writer(out, 0);
  tb_put_object(&w, NULL);
  put_run(&w, plan);
  put_materials(&w, world);
  tb_put_int(&w, "poses", poses);
  tb_put_int(&w, "contact_limit", plan->contact_limit);
  put_meshes(&w, d);
  put_bodies(&w, world, d);
  tb_put_joints(&w, world);
  tb_put_end(&w);
  TB_TRY(tb_json_writer_finish(&w));
  while ((TB_REPLAY_HEAD + out->length) % 8 != 0 && out->status == TB_OK) tb_out_text(out, " ");
  if (out->length > UINT32_MAX) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "too many bodies for a replay");
  return tb_out_finish(out);
}

static void put_triangles(tbOut* out, const int (*triangle)[3], int count)
{
  for (int t = 0; t < count; t++)
    for (int k = 0; k < 3; k++) tb_out_u32(out, (uint32_t)triangle[t][k]);
}

uint64_t tb_replay_geometry(const tbWorld* world, const tbDrawing* d, tbOut* out)
{
  const tbDrawMesh* m = tb_draw_meshes(d);
  const tbDrawSurface* s = tb_draw_surfaces(d);
  uint64_t bytes = 0;
  for (size_t i = 0; i < d->mesh.count; i++) {
    if (m[i].given < 0) continue;
    for (int v = 0; v < m[i].nvertex; v++) tb_out_f32x3(out, m[i].vertex[v]);
    put_triangles(out, m[i].triangle, m[i].ntriangle);
    bytes += 12 * ((uint64_t)m[i].nvertex + (uint64_t)m[i].ntriangle);
  }
  for (size_t i = 0; i < d->surface.count; i++) {
    const tbVec3* x = tb_body_nodes(world, tb_world_body_at(world, s[i].body));
    for (int v = 0; v < s[i].nvertex; v++) tb_out_f32x3(out, x[s[i].node[v]]);
    put_triangles(out, s[i].triangle, s[i].ntriangle);
    bytes += 12 * ((uint64_t)s[i].nvertex + (uint64_t)s[i].ntriangle);
  }
  tb_out_zeros(out, tb_replay_pad8(bytes) - bytes);
  return tb_replay_pad8(bytes);
}
