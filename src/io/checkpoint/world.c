// SPDX-License-Identifier: Apache-2.0
// A world as bytes. Everything that decides its future goes through here, so a field that is added to a
// body, a joint or a contact record must be named here too: the sizes below fail to compile until it is.
#include "io/checkpoint/checkpoint.h"
#include "kind/table.h"

#include <limits.h>
#include <string.h>

#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(tbBody) == 472, "tbBody has changed: code_body, and the version of checkpoints");
_Static_assert(sizeof(tbContactRecord) == 240, "tbContactRecord has changed: code_contact, and the version");
_Static_assert(sizeof(tbWorld) == 984, "tbWorld has changed: tb_code_world, and the version of checkpoints");
_Static_assert(sizeof(tbMaterial) == 288,
               "tbMaterial has changed: code_material, and the version of checkpoints");
#endif

// Names live with the world.
static const char* keep_text(tbCodec* c, tbWorld* w, const char* text)
{
  if (!tb_codec_reads(c)) return text;
  const char* kept = tb_codec_good(c) ? tb_names_keep(c->ctx, &w->names, text) : NULL;
  if (tb_codec_good(c) && !kept) c->status = TB_ERROR_MEMORY;
  tb_free(c->ctx, (char*)text);
  return kept;
}

void tb_code_unique_name(tbCodec* c, tbWorld* w, int kind, int index, const char** name)
{
  tb_code_text(c, name);
  *name = keep_text(c, w, *name);
  if (!tb_codec_reads(c) || !tb_codec_good(c)) return;
  tb_codec_require(c, tb_names_find(&w->names, kind, *name) < 0, "two of the same name");
  if (tb_codec_good(c)) c->status = tb_names_reserve(c->ctx, &w->names);
  if (tb_codec_good(c)) tb_names_add(&w->names, kind, *name, index);
}

// The table of ids of `count` things. Reading: `id` of each, `stride` bytes apart, is its entry.
static void code_ids(tbCodec* c, tbIds* ids, size_t count, void* id, size_t stride)
{
  tb_code_array(c, &ids->entry, 24);
  bool reads = tb_codec_reads(c);
  for (size_t i = 0; reads && i < count; i++) *(int*)((char*)id + i * stride) = -1;
  size_t live = 0;
  for (size_t i = 0; i < ids->entry.count && tb_codec_good(c); i++) {
    tbIdEntry* e = (tbIdEntry*)ids->entry.data + i;
    uint64_t generation = e->generation, last = e->last;
    tb_code_int(c, &e->place, -1, (int)count - 1);
    tb_code_u64(c, &generation);
    tb_code_u64(c, &last);
    tb_codec_require(c, generation <= last && last <= UINT32_MAX, "an id of a time to come");
    if (!reads || !tb_codec_good(c)) continue;
    e->generation = (uint32_t)generation, e->last = (uint32_t)last;
    if (e->place < 0) continue;
    int* of = (int*)((char*)id + (size_t)e->place * stride);
    tb_codec_require(c, *of < 0, "two ids of one thing");
    *of = (int)i, live++;
  }
  if (reads) ids->low = 0;
  tb_codec_require(c, !reads || live == count, "a thing without an id");
}

static void code_contact_material(tbCodec* c, tbContactMaterial* s)
{
  tbFriction* f = &s->friction;
  int kind = (int)f->kind;
  tb_code_int(c, &kind, 0, TB_FRICTION_TENSOR);
  f->kind = (tbFrictionKind)kind;
  tb_code_number(c, &f->mu);
  tb_code_number(c, &f->mu_t);
  tb_code_number(c, &f->mu_b);
  tb_code_vec3(c, &f->direction);
  tb_code_number(c, &f->torsion);
  tb_code_number(c, &f->rolling);
  for (int i = 0; i < 4; i++) tb_code_number(c, &f->matrix[i]);
  for (int i = 0; i < 4; i++) tb_code_number(c, &f->matrix_back[i]);
  tb_code_bool(c, &f->asymmetric);
  tb_code_number(c, &f->kappa);
  tb_code_number(c, &f->static_ratio);
  tb_code_number(c, &f->stribeck);
  tb_code_number(c, &f->tresca);
  tb_code_number(c, &f->adhesion);
  tb_code_number(c, &f->restitution);
  tb_code_int(c, &f->texture, 0, INT_MAX);
  tb_code_int(c, &f->directions, 0, INT_MAX);
  tb_code_number(c, &f->scale);
  tb_code_number(c, &f->patch);
  tb_code_int(c, &f->field, 0, INT_MAX);
  tb_code_int(c, &f->direction_map, 0, INT_MAX);
  int mapping = (int)f->mapping;
  tb_code_int(c, &mapping, 0, TB_MAPPING_COUNT - 1);
  f->mapping = (tbMapping)mapping;
  tb_code_int(c, &f->chart, 0, INT_MAX);
  tb_code_number(c, &s->restitution);
  tb_code_number(c, &s->spring.stiffness);
  tb_code_number(c, &s->spring.damping);
  tb_code_number(c, &s->spring.coat);
  if (!tb_codec_good(c)) return;
  bool sound = tb_friction_check(c->ctx, f) == TB_OK &&
               tb_restitution_check(c->ctx, s->restitution) == TB_OK &&
               tb_contact_spring_check(c->ctx, &s->spring) == TB_OK;
  tb_codec_require(c, sound, "a surface that cannot be");
}

static void code_textures(tbCodec* c, tbWorld* w)
{
  size_t facets = 0;
  tb_code_array(c, &w->texture, sizeof(double) * TB_PLOW_DIRECTIONS);
  for (size_t i = 0; i < w->texture.count && tb_codec_good(c); i++) {
    tbTexture* t = (tbTexture*)w->texture.data + i;
    tb_code_int(c, &t->width, 1, 1 << 15);
    tb_code_int(c, &t->height, 1, 1 << 15);
    t->first = facets;
    if (tb_codec_good(c)) facets += (size_t)t->width * (size_t)t->height;
    for (int k = 0; k < TB_PLOW_DIRECTIONS && tb_codec_good(c); k++) {
      tb_code_number(c, &t->plow[k]);
      tb_codec_require(c, t->plow[k] >= 0 && t->plow[k] <= 1, "a texture that cannot be");
    }
  }
  tb_code_array(c, &w->facet, sizeof(tbFacet));
  tb_codec_require(c, w->facet.count == facets, "a texture without its facets");
  for (size_t i = 0; i < w->facet.count && tb_codec_good(c); i++) {
    tbFacet* g = (tbFacet*)w->facet.data + i;
    tb_code_number(c, &g->x);
    tb_code_number(c, &g->y);
    tb_codec_require(c, fabs(g->x) <= 1 && fabs(g->y) <= 1, "a facet that cannot be");
  }
}

static void code_fields(tbCodec* c, tbWorld* w)
{
  size_t points = 0;
  tb_code_array(c, &w->field, sizeof(int));
  for (size_t i = 0; i < w->field.count && tb_codec_good(c); i++) {
    tbField* f = (tbField*)w->field.data + i;
    int count = (int)f->count;
    tb_code_int(c, &count, 1, INT_MAX);
    f->first = points, f->count = (size_t)count;
    points += f->count;
  }
  tb_code_array(c, &w->field_point, sizeof(tbFieldPoint));
  tb_codec_require(c, w->field_point.count == points, "a field without its points");
  for (size_t i = 0; i < w->field_point.count && tb_codec_good(c); i++) {
    tbFieldPoint* p = (tbFieldPoint*)w->field_point.data + i;
    tb_code_vec3(c, &p->at);
    tb_code_vec3(c, &p->along);
    bool sound = tb_maxabs3(p->at) < INFINITY && fabs(tb_norm3(p->along) - 1) < 1e-9;
    tb_codec_require(c, sound, "a direction that cannot be");
  }
}

static void code_charts(tbCodec* c, tbWorld* w)
{
  size_t triangles = 0;
  tb_code_array(c, &w->chart, sizeof(int));
  for (size_t i = 0; i < w->chart.count && tb_codec_good(c); i++) {
    tbChart* chart = (tbChart*)w->chart.data + i;
    int count = (int)chart->count;
    tb_code_int(c, &count, 1, INT_MAX);
    chart->first = triangles, chart->count = (size_t)count;
    triangles += chart->count;
  }
  tb_code_array(c, &w->chart_triangle, sizeof(double) * 15);
  tb_codec_require(c, w->chart_triangle.count == triangles, "texture coordinates without their triangles");
  for (size_t i = 0; i < w->chart_triangle.count && tb_codec_good(c); i++) {
    tbChartTriangle* t = (tbChartTriangle*)w->chart_triangle.data + i;
    for (int k = 0; k < 3; k++) {
      tb_code_vec3(c, &t->corner[k]);
      tb_code_number(c, &t->uv[k][0]);
      tb_code_number(c, &t->uv[k][1]);
    }
  }
  for (size_t i = 0; i < w->chart.count && tb_codec_reads(c) && tb_codec_good(c); i++) {
    const tbChart* chart = (tbChart*)w->chart.data + i;
    tb_chart_boxes((tbChartTriangle*)w->chart_triangle.data + chart->first, chart->count);
  }
}

// The world frees names by itself; only those of this checkpoint are to be found in it.
static void code_materials(tbCodec* c, tbWorld* w)
{
  if (tb_codec_reads(c)) {
    tb_names_free(c->ctx, &w->names);
    tb_names_init(&w->names);
    w->name = NULL;
  }
  tb_code_text(c, &w->name);
  w->name = keep_text(c, w, w->name);
  tb_code_array(c, &w->material, 80);
  tb_codec_require(c, w->material.count > 0, "a world without the default material");
  for (size_t i = 0; i < w->material.count && tb_codec_good(c); i++) {
    tbMaterial* m = (tbMaterial*)w->material.data + i;
    tb_code_unique_name(c, w, TB_NAME_MATERIAL, (int)i, &m->name);
    tb_code_number(c, &m->density);
    tb_codec_require(c, m->density > 0, "a density that is not positive");
    code_contact_material(c, &m->contact_material);
  }
  if (tb_codec_good(c))
    code_ids(c, &w->material_ids, w->material.count, &tb_materials(w)->id, sizeof(tbMaterial));
  tb_codec_require(c, tb_material_place(w, (tbMaterialId){0, 0}) == 0,
                   "a world without the default material");
  code_textures(c, w);
  code_fields(c, w);
  code_charts(c, w);
  tb_code_array(c, &w->contact_material, 72);
  for (size_t i = 0; i < w->contact_material.count && tb_codec_good(c); i++)
    code_contact_material(c, (tbContactMaterial*)w->contact_material.data + i);
  tb_code_array(c, &w->pair, 88);
  for (size_t i = 0; i < w->pair.count && tb_codec_good(c); i++) {
    tbPairRule *rule = (tbPairRule*)w->pair.data + i, *last = rule - 1;
    tb_code_int(c, &rule->a, 0, (int)w->material.count - 1);
    tb_code_int(c, &rule->b, rule->a, (int)w->material.count - 1);
    tb_codec_require(c, i == 0 || last->a < rule->a || (last->a == rule->a && last->b < rule->b),
                     "pairs of materials out of order");
    tb_code_bool(c, &rule->own_friction);
    tb_code_bool(c, &rule->own_restitution);
    tb_code_bool(c, &rule->direction_of_b);
    code_contact_material(c, &rule->contact_material);
  }
}

static void code_keys(tbCodec* c, tbWorld* w)
{
  tb_code_array(c, &w->key, 64);
  for (size_t i = 0; i < w->key.count && tb_codec_good(c); i++) {
    tbMotionKey* key = (tbMotionKey*)w->key.data + i;
    tb_code_number(c, &key->t);
    tb_code_vec3(c, &key->position);
    tb_code_quat(c, &key->orientation);
  }
}

static void code_shape(tbCodec* c, const tbGeometryTable* table, tbShape* s)
{
  int type = (int)s->type;
  tb_code_int(c, &type, 0, TB_SHAPE_COUNT - 1);
  s->type = (tbShapeType)type;
  tb_code_transform(c, &s->pose);
  switch (s->type) {
  case TB_SHAPE_SPHERE: tb_code_number(c, &s->sphere.radius); break;
  case TB_SHAPE_BOX: tb_code_vec3(c, &s->box.half); break;
  case TB_SHAPE_CAPSULE:
    tb_code_number(c, &s->capsule.radius);
    tb_code_number(c, &s->capsule.half);
    break;
  case TB_SHAPE_CYLINDER:
    tb_code_number(c, &s->cylinder.radius);
    tb_code_number(c, &s->cylinder.half);
    break;
  case TB_SHAPE_PLANE:
    tb_code_vec3(c, &s->plane.normal);
    tb_code_number(c, &s->plane.offset);
    break;
  case TB_SHAPE_CONVEX:
  case TB_SHAPE_MESH:
  case TB_SHAPE_SDF: tb_code_reference(c, table, s); break;
  case TB_SHAPE_COUNT: break;
  }
  if (tb_codec_good(c)) tb_codec_require(c, tb_shape_check(c->ctx, s) == TB_OK, "a shape that cannot be");
}

static void code_shapes(tbCodec* c, tbWorld* w)
{
  tbGeometryTable table = {TB_ARRAY(void*), TB_ARRAY(void*), TB_ARRAY(void*)};
  tb_code_geometry(c, w, &table);
  tb_code_array(c, &w->shape, 72);
  for (size_t i = 0; i < w->shape.count && tb_codec_good(c); i++) code_shape(c, &table, &tb_shapes(w)[i]);
  tb_geometry_table_free(c->ctx, &table);
}

// Which shapes and keys a body has, and what follows from them.
static void code_parts(tbCodec* c, tbWorld* w, tbBody* b, int first_shape, int first_key)
{
  int shapes = (int)w->shape.count, keys = (int)w->key.count;
  tb_code_int(c, &b->nshape, 0, shapes - first_shape);
  tb_code_int(c, &b->key, 0, keys);
  tb_code_int(c, &b->nkey, 0, b->motion == TB_BODY_KINEMATIC ? keys - b->key : 0);
  if (!tb_codec_reads(c) || !tb_codec_good(c)) return;
  b->shape = first_shape;
  tb_codec_require(c, b->key >= first_key, "bodies that share motion keys");
  for (int i = 0; i < b->nshape; i++) {
    const tbShape* s = &tb_shapes(w)[b->shape + i];
    bool rests = s->type == TB_SHAPE_PLANE || (s->type == TB_SHAPE_MESH && !tb_mesh_is_solid(s->mesh));
    tb_codec_require(c, !rests || b->motion != TB_BODY_DYNAMIC,
                     "a shape that cannot move on a body that does");
  }
  const tbMotionKey* key = w->key.data; // null where there is none
  for (int i = b->key + 1; i < b->key + b->nkey; i++)
    tb_codec_require(c, key[i].t > key[i - 1].t, "motion keys out of order");
}

// Rigid bodies are numbered by how they move; the other kinds follow.
static void code_kind(tbCodec* c, tbBody* b)
{
  int number = tb_codec_reads(c) ? 0 : tb_kind_number(b);
  tb_code_int(c, &number, 0, INT_MAX);
  tb_codec_require(c, tb_kind_of_number(number, &b->kind, &b->motion), "a body of no known kind");
}

static void code_body(tbCodec* c, tbWorld* w, int index, int first_shape, int first_key)
{
  tbBody* b = &tb_bodies(w)[index];
  tb_code_unique_name(c, w, TB_NAME_BODY, index, &b->name);
  code_kind(c, b);
  if (!tb_codec_good(c)) return;
  tb_code_bool(c, &b->bullet);
  tb_code_vec3(c, &b->x);
  tb_code_quat(c, &b->q);
  tb_code_vec3(c, &b->v);
  tb_code_vec3(c, &b->w);
  tb_code_vec3(c, &b->force);
  tb_code_vec3(c, &b->torque);
  tb_code_number(c, &b->mass);
  tb_code_vec3(c, &b->centre);
  tb_code_mat3(c, &b->inertia);
  tb_code_mat3(c, &b->inertia_inv);
  tb_code_int(c, &b->material, 0, (int)w->material.count - 1);
  tb_code_int(c, &b->own_contact_material, -1, (int)w->contact_material.count - 1);
  tb_code_bool(c, &b->own_friction);
  tb_code_bool(c, &b->own_restitution);
  uint64_t filter = (uint64_t)b->category << 32 | b->mask;
  tb_code_u64(c, &filter);
  b->category = (uint32_t)(filter >> 32), b->mask = (uint32_t)filter;
  tb_code_transform(c, &b->initial);
  tb_code_extended(c, &b->radius);
  tb_codec_require(c, b->radius >= 0 && (b->mass > 0) == (b->motion == TB_BODY_DYNAMIC),
                   "a body that cannot be");
  code_parts(c, w, b, first_shape, first_key);
  tb_codec_require(c, !b->kind->surface || b->nshape == 0, "a deformable body with shapes");
}

static void code_bodies(tbCodec* c, tbWorld* w)
{
  tb_code_array(c, &w->body, 400);
  int shape = 0, key = 0;
  for (int i = 0; i < (int)w->body.count && tb_codec_good(c); i++) {
    code_body(c, w, i, shape, key);
    const tbBody* b = &tb_bodies(w)[i];
    shape += b->nshape, key = b->key + b->nkey;
  }
  tb_codec_require(c, shape == (int)w->shape.count, "shapes of no body");
  if (!tb_codec_reads(c) || !tb_codec_good(c)) return;
  w->owner.count = 0;
  for (int i = 0; i < (int)w->body.count; i++)
    for (int k = 0; k < tb_bodies(w)[i].nshape && tb_codec_good(c); k++)
      c->status = tb_array_push(c->ctx, &w->owner, &i, 1);
}

// What bodies have beside that, by their kinds: after all bodies, which it may name.
static void code_own(tbCodec* c, tbWorld* w)
{
  int count = 0, next = 0;
  if (!tb_codec_good(c)) return; // bodies may have no kind
  for (size_t i = 0; i < w->body.count; i++) count += tb_bodies(w)[i].kind->code != NULL;
  tb_code_int(c, &count, 0, (int)w->body.count);
  for (int i = 0; i < (int)w->body.count && tb_codec_good(c); i++) {
    if (!tb_bodies(w)[i].kind->code) continue;
    tb_codec_require(c, next++ < count, "a body without its nodes");
    if (tb_codec_good(c)) tb_bodies(w)[i].kind->code(c, w, i);
  }
  tb_codec_require(c, next == count, "nodes of no body");
}

static void code_loads(tbCodec* c, tbWorld* w)
{
  tb_code_array(c, &w->load, 64);
  tbLoad* load = w->load.data;
  for (size_t i = 0; i < w->load.count && tb_codec_good(c); i++) {
    tb_code_int(c, &load[i].body, 0, (int)w->body.count - 1);
    tb_code_number(c, &load[i].key.t);
    tb_code_vec3(c, &load[i].key.force);
    tb_code_vec3(c, &load[i].key.torque);
  }
  if (tb_codec_good(c)) tb_codec_require(c, tb_loads_are_good(c->ctx, w), "loads that cannot be");
}

static void code_contact(tbCodec* c, tbWorld* w, tbContactRecord* r)
{
  int shapes = (int)w->shape.count, state = (int)r->state;
  tb_code_int(c, &r->shape_a, -1, shapes - 1);
  tb_code_int(c, &r->shape_b, -1, shapes - 1);
  tb_code_int(c, &r->body_a, 0, (int)w->body.count - 1);
  tb_code_int(c, &r->body_b, 0, (int)w->body.count - 1);
  if (tb_codec_good(c)) {
    bool soft_a = tb_bodies(w)[r->body_a].kind->surface, soft_b = tb_bodies(w)[r->body_b].kind->surface;
    tb_codec_require(c, (r->shape_a < 0) == soft_a && (r->shape_b < 0) == soft_b, "a contact of nothing");
  }
  tb_code_u64(c, &r->feature);
  tb_code_vec3(c, &r->position);
  tb_code_vec3(c, &r->normal);
  tb_code_vec3(c, &r->tangent);
  tb_code_vec3(c, &r->local);
  tb_code_number(c, &r->gap);
  tb_code_numbers(c, r->impulse, 6);
  tb_code_numbers(c, r->velocity, 6);
  tb_code_extended(c, &r->residual);
  tb_codec_require(c, r->residual >= 0, "a negative residual");
  tb_code_int(c, &r->rows, 0, 6);
  tb_code_int(c, &state, 0, TB_CONTACT_SLIP);
  r->state = (tbContactState)state;
}

void tb_code_world(tbCodec* c, tbWorld* w)
{
  tb_code_vec3(c, &w->gravity);
  tb_code_u64(c, &w->seed);
  tb_code_number(c, &w->time);
  tb_code_i64(c, &w->steps, 0, INT64_MAX / 2);
  tb_code_number(c, &w->clock_start);
  tb_code_number(c, &w->clock_dt);
  tb_code_i64(c, &w->clock_steps, 0, INT64_MAX / 2);
  code_materials(c, w);
  code_keys(c, w);
  code_shapes(c, w);
  code_bodies(c, w);
  tb_code_i64(c, &w->bodies_made, 0, INT64_MAX / 2);
  if (tb_codec_good(c))
    code_ids(c, &w->body_ids, w->body.count, w->body.count ? &tb_bodies(w)->id : NULL, sizeof(tbBody));
  code_own(c, w);
  if (tb_codec_good(c)) code_loads(c, w);
  tb_code_joints(c, w);
  if (tb_codec_good(c))
    code_ids(c, &w->joint_ids, w->joint.count, w->joint.count ? &tb_joints(w)->id : NULL, sizeof(tbJoint));
  tb_code_array(c, &w->ignored, 16);
  for (size_t i = 0; i < w->ignored.count && tb_codec_good(c); i++) {
    tbBodyPair *pair = (tbBodyPair*)w->ignored.data + i, *last = pair - 1;
    tb_code_int(c, &pair->a, 0, (int)w->body.count - 1);
    tb_code_int(c, &pair->b, pair->a + 1, (int)w->body.count - 1);
    tb_codec_require(c, i == 0 || last->a < pair->a || (last->a == pair->a && last->b < pair->b),
                     "pairs of bodies out of order");
  }
  tb_code_array(c, &w->contact, 226);
  for (size_t i = 0; i < w->contact.count && tb_codec_good(c); i++)
    code_contact(c, w, (tbContactRecord*)w->contact.data + i);
}
