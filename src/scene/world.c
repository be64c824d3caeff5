// SPDX-License-Identifier: Apache-2.0
// Making and unmaking worlds; materials and what they do in pairs.
#include "geometry/surface_mesh.h"
#include "scene/kind.h"

#include <string.h>

tbWorldDef tb_default_world_def(void)
{
  return (tbWorldDef){.name = "world", .gravity = tb_vec3(0, 0, -9.81), .seed = 1};
}

tbStatus tb_world_create(tbContext* ctx, const tbWorldDef* def, tbWorld** out)
{
  if (!tb_finite3(def->gravity)) return tb_fail(ctx, TB_ERROR_ARGUMENT, "gravity must be finite");
  tbWorld* w = TB_NEW(ctx, tbWorld, 1);
  if (!w) return TB_ERROR_MEMORY;
  w->gravity = def->gravity;
  w->seed = def->seed;
  w->body = TB_ARRAY(tbBody);
  w->shape = TB_ARRAY(tbShape);
  w->owner = TB_ARRAY(int);
  w->joint = TB_ARRAY(tbJoint);
  w->material = TB_ARRAY(tbMaterial);
  w->contact_material = TB_ARRAY(tbContactMaterial);
  w->pair = TB_ARRAY(tbPairRule);
  w->key = TB_ARRAY(tbMotionKey);
  w->joint_key = TB_ARRAY(tbJointKey);
  w->load = TB_ARRAY(tbLoad);
  w->contact = TB_ARRAY(tbContactRecord);
  w->texture = TB_ARRAY(tbTexture);
  w->facet = TB_ARRAY(tbFacet);
  w->field = TB_ARRAY(tbField);
  w->field_point = TB_ARRAY(tbFieldPoint);
  w->chart = TB_ARRAY(tbChart);
  w->chart_triangle = TB_ARRAY(tbChartTriangle);
  w->ignored = TB_ARRAY(tbBodyPair);
  w->event = TB_ARRAY(tbContactEvent);
  w->hull = TB_ARRAY(tbHull*);
  w->mesh = TB_ARRAY(tbMesh*);
  w->sdf = TB_ARRAY(tbSdf*);
  w->cache = TB_NEW(ctx, tbCache, 1);
  if (w->cache) tb_cache_init(w->cache, ctx);
  tb_names_init(&w->names);
  tb_ids_init(&w->body_ids);
  tb_ids_init(&w->joint_ids);
  tb_ids_init(&w->material_ids);

  w->name = tb_names_keep(ctx, &w->names, def->name ? def->name : "world");
  tbMaterialDef plain = tb_default_material_def();
  tbStatus status = w->name && w->cache ? tb_world_add_material(ctx, w, &plain, NULL) : TB_ERROR_MEMORY;
  if (status != TB_OK) {
    tb_world_free(ctx, w);
    return status;
  }
  *out = w;
  return TB_OK;
}

void tb_world_free(tbContext* ctx, tbWorld* w)
{
  if (!w) return;
  for (size_t i = 0; i < w->hull.count; i++) tb_hull_free(ctx, ((tbHull**)w->hull.data)[i]);
  for (size_t i = 0; i < w->sdf.count; i++) tb_sdf_free(ctx, ((tbSdf**)w->sdf.data)[i]);
  for (size_t i = 0; i < w->mesh.count; i++) tb_mesh_free(ctx, ((tbMesh**)w->mesh.data)[i]);
  for (size_t i = 0; i < w->body.count; i++) {
    tbBody* b = &tb_bodies(w)[i];
    if (b->kind && b->kind->release) b->kind->release(ctx, b);
  }
  if (w->state_kind) w->state_kind->free(ctx, w->state);
  if (w->cache) tb_cache_free(ctx, w->cache);
  tb_free(ctx, w->cache);
  tbArray* arrays[] = {&w->body, &w->shape, &w->owner,   &w->joint, &w->material, &w->contact_material,
                       &w->pair, &w->key,   &w->contact, &w->hull,  &w->mesh,     &w->sdf};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tb_array_free(ctx, arrays[i]);
  tb_array_free(ctx, &w->joint_key);
  tb_array_free(ctx, &w->load);
  tb_array_free(ctx, &w->texture);
  tb_array_free(ctx, &w->facet);
  tb_array_free(ctx, &w->field);
  tb_array_free(ctx, &w->field_point);
  tb_array_free(ctx, &w->chart);
  tb_array_free(ctx, &w->chart_triangle);
  tb_array_free(ctx, &w->ignored);
  tb_array_free(ctx, &w->event);
  tb_names_free(ctx, &w->names);
  tb_ids_free(ctx, &w->body_ids);
  tb_ids_free(ctx, &w->joint_ids);
  tb_ids_free(ctx, &w->material_ids);
  tb_free(ctx, w);
}

tbStatus tb_world_keep_hull(tbContext* ctx, tbWorld* world, tbHull* hull)
{
  tbStatus status = tb_array_push(ctx, &world->hull, &hull, 1);
  if (status != TB_OK) tb_hull_free(ctx, hull);
  return status;
}

tbStatus tb_world_keep_mesh(tbContext* ctx, tbWorld* world, tbMesh* mesh)
{
  tbStatus status = tb_array_push(ctx, &world->mesh, &mesh, 1);
  if (status != TB_OK) tb_mesh_free(ctx, mesh);
  return status;
}

tbStatus tb_world_keep_sdf(tbContext* ctx, tbWorld* world, tbSdf* sdf)
{
  tbStatus status = tb_array_push(ctx, &world->sdf, &sdf, 1);
  if (status != TB_OK) tb_sdf_free(ctx, sdf);
  return status;
}

double tb_world_time(const tbWorld* world) { return world->time; }
int64_t tb_world_step_count(const tbWorld* world) { return world->steps; }

int tb_first_deforming(const tbWorld* w)
{
  for (size_t i = 0; i < w->body.count; i++)
    if (tb_bodies(w)[i].kind->surface) return (int)i;
  return -1;
}
