// SPDX-License-Identifier: Apache-2.0
// What there is, as JSON: the library's tables, and the bodies of a world.
#include "web.h"

#include "tribo/change.h"
#include "tribo/inspect.h"
#include "tribo/tools/array.h"
#include "tribo/tools/scene_json.h"

#include <math.h>

// Tables.

static void put_bits(tbJsonWriter* w, const char* key, unsigned bits, int count, const char* (*name)(int))
{
  tb_put_array(w, key);
  for (int i = 0; i < count; i++)
    if (bits & 1u << i) tb_put_string(w, NULL, name(i));
  tb_put_end(w);
}

static const char* model(int i) { return tb_model_name((tbModel)i); }
static const char* law(int i) { return tb_law_name((tbLaw)i); }
static const char* order(int i) { return tb_order_name((tbOrder)i); }
static const char* stabilization(int i) { return tb_stabilization_name((tbStabilization)i); }
static const char* r_factor(int i) { return tb_r_factor_name((tbRFactor)i); }
static const char* preconditioner(int i) { return tb_preconditioner_name((tbPreconditioner)i); }
static const char* inverse(int i) { return tb_inverse_name((tbInverse)i); }
static const char* outcome(int i) { return tb_outcome_name((tbOutcome)i); }

// Under which models it takes each law, and what it makes of the laws of each scheme.
static void put_takes(tbJsonWriter* w, const tbSolver* s)
{
  tb_put_object(w, "takes");
  for (int l = 0; l < TB_LAW_COUNT; l++)
    put_bits(w, law(l), tb_solver_models(s, (tbLaw)l), TB_MODEL_COUNT, model);
  tb_put_end(w);
  tb_put_object(w, "fits");
  for (int i = 0; i < tb_scheme_count(); i++) {
    tbFit fit = tb_scheme_fit(tb_scheme_at(i), s);
    tb_put_object(w, tb_scheme_at(i)->name);
    put_bits(w, "exact", fit.exact, TB_LAW_COUNT, law);
    put_bits(w, "modelled", fit.modelled, TB_LAW_COUNT, law);
    put_bits(w, "refused", fit.refused, TB_LAW_COUNT, law);
    tb_put_end(w);
  }
  tb_put_end(w);
}

static void put_solvers(tbJsonWriter* w)
{
  static const char* const sets[] = {"all", "polyhedral", "box"};
  tb_put_array(w, "solvers");
  for (int i = 0; i < tb_solver_count(); i++) {
    const tbSolver* s = tb_solver_at(i);
    tb_put_object(w, NULL);
    tb_put_string(w, "name", s->name);
    tb_put_string(w, "summary", s->summary);
    tb_put_string(w, "reference", s->reference);
    put_bits(w, "models", s->models, TB_MODEL_COUNT, model);
    put_bits(w, "laws", s->laws, TB_LAW_COUNT, law);
    put_takes(w, s);
    tb_put_string(w, "form", tb_form_name(s->needs));
    tb_put_bool(w, "products", s->form != NULL);
    tb_put_string(w, "sets", sets[s->sets]);
    tb_put_bool(w, "metric", s->metric);
    tb_put_int(w, "maxRows", s->max_rows);
    tb_put_end(w);
  }
  tb_put_end(w);
}

static void put_schemes(tbJsonWriter* w)
{
  tb_put_array(w, "schemes");
  for (int i = 0; i < tb_scheme_count(); i++) {
    tb_put_object(w, NULL);
    const tbScheme* s = tb_scheme_at(i);
    tb_put_string(w, "name", s->name);
    tb_put_string(w, "summary", s->summary);
    tb_put_string(w, "reference", s->reference);
    put_bits(w, "laws", s->laws, TB_LAW_COUNT, law);
    put_bits(w, "impactLaws", s->impact_laws, TB_LAW_COUNT, law);
    tb_put_bool(w, "deforms", (s->moves & TB_MOVES_NODES) != 0);
    tb_put_end(w);
  }
  tb_put_end(w);
}

// The options of a step, by their members' names, in the structure's units.
static void put_options(tbJsonWriter* w)
{
  static const char* const types[] = {"number", "whole", "whole", "bool", "choice", "name"};
  tb_put_array(w, "options");
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    double scale = o.scale > 0 ? o.scale : 1;
    tb_put_object(w, NULL);
    tb_put_string(w, "name", o.member);
    tb_put_string(w, "key", o.key);
    tb_put_string(w, "type", types[o.type]);
    tb_put_string(w, "text", o.text);
    if (o.unit) tb_put_string(w, "unit", o.unit);
    tb_put_number(w, "scale", scale);
    tb_put_number(w, "low", o.low);
    if (isfinite(o.high)) tb_put_number(w, "high", o.high);
    if (o.choice) tb_put_array(w, "choices");
    for (int k = 0; o.choice && o.choice(k); k++) tb_put_string(w, NULL, o.choice(k));
    if (o.choice) tb_put_end(w);
    tb_put_end(w);
  }
  tb_put_end(w);
}

static void put_laws(tbJsonWriter* w)
{
  tb_put_array(w, "laws");
  for (int i = 0; i < TB_LAW_COUNT; i++) {
    tb_put_object(w, NULL);
    tb_put_string(w, "name", law(i));
    tb_put_string(w, "summary", tb_law_summary((tbLaw)i));
    tb_put_end(w);
  }
  tb_put_end(w);
}

static void put_parameter(tbJsonWriter* w, const tbGalleryParameter* p)
{
  tb_put_object(w, NULL);
  tb_put_string(w, "name", p->name);
  tb_put_string(w, "summary", p->summary);
  tb_put_number(w, "value", p->value);
  tb_put_number(w, "low", p->low);
  tb_put_number(w, "high", p->high);
  tb_put_bool(w, "whole", p->whole);
  tb_put_end(w);
}

static void put_gallery(tbJsonWriter* w)
{
  tb_put_array(w, "gallery");
  for (int i = 0; i < tb_gallery_count(); i++) {
    const tbGalleryScene* s = tb_gallery_at(i);
    tb_put_object(w, NULL);
    tb_put_string(w, "name", s->name);
    tb_put_string(w, "summary", s->summary);
    tb_put_array(w, "parameters");
    for (int k = 0; k < TB_GALLERY_PARAMETERS && s->parameter[k].name; k++)
      put_parameter(w, &s->parameter[k]);
    tb_put_end(w);
    tb_put_end(w);
  }
  tb_put_end(w);
}

WEB(tbStatus, web_tables, void)
{
  tbJsonWriter w = tb_json_writer(web_out_begin(), 0);
  tb_put_object(&w, NULL);
  tb_put_string(&w, "version", TB_VERSION);
  tb_put_string(&w, "simd", tb_simd_name());
  put_schemes(&w);
  put_solvers(&w);
  put_laws(&w);
  put_bits(&w, "models", ~0u, TB_MODEL_COUNT, model);
  put_bits(&w, "orders", ~0u, TB_ORDER_COUNT, order);
  put_bits(&w, "stabilizations", ~0u, TB_STABILIZE_COUNT, stabilization);
  put_bits(&w, "rFactors", ~0u, TB_RFACTOR_COUNT, r_factor);
  put_bits(&w, "preconditioners", ~0u, TB_PRECONDITIONER_COUNT, preconditioner);
  put_bits(&w, "inverses", ~0u, TB_INVERSE_COUNT, inverse);
  put_bits(&w, "outcomes", ~0u, TB_OUTCOME_COUNT, outcome);
  put_options(&w);
  put_gallery(&w);
  tb_put_end(&w);
  return tb_json_writer_finish(&w);
}

// Bodies. Meshes are given by their places in memory; many shapes may share one.

static void put_place(tbJsonWriter* w, const char* key, const void* pointer)
{
  tb_put_int(w, key, (int64_t)(uintptr_t)pointer);
}

static void put_mesh(tbJsonWriter* w, const tbShape* s)
{
  tb_put_object(w, NULL);
  if (s->type == TB_SHAPE_CONVEX) {
    tbHullView hull = tb_hull_faces(s->hull);
    put_place(w, "vertex", hull.vertex);
    tb_put_int(w, "vertices", hull.nvertex);
    put_place(w, "face", hull.face_adr);
    put_place(w, "corner", hull.face_vertex);
    tb_put_int(w, "faces", hull.nface);
  } else {
    tbTriangleView mesh = tb_mesh_triangles(s->type == TB_SHAPE_SDF ? tb_sdf_mesh(s->sdf) : s->mesh);
    put_place(w, "vertex", mesh.vertex);
    tb_put_int(w, "vertices", mesh.nvertex);
    put_place(w, "triangle", mesh.triangle);
    tb_put_int(w, "triangles", mesh.ntriangle);
  }
  tb_put_end(w);
}

static bool has_mesh(const tbShape* s)
{
  return s->type == TB_SHAPE_CONVEX || s->type == TB_SHAPE_MESH || s->type == TB_SHAPE_SDF;
}

// The number of the shape's mesh, which is added to the list at its first appearance.
static tbStatus mesh_number(tbArray* seen, const tbShape* s, int* number, bool* first)
{
  const void* key = s->hull;
  const void* const* all = seen->data;
  for (*number = 0; (size_t)*number < seen->count; ++*number)
    if (all[*number] == key) {
      *first = false;
      return TB_OK;
    }
  *first = true;
  return tb_array_push(&web.ctx, seen, &key, 1);
}

static tbStatus put_body(tbJsonWriter* w, const tbWorld* world, int i, int first_node, tbArray* seen)
{
  tbBodyId id = tb_world_body_at(world, i);
  tb_put_object(w, NULL);
  tb_put_string(w, "name", tb_body_name(world, id));
  tb_put_string(w, "kind", tb_body_kind(world, id));
  tb_put_number(w, "mass", tb_body_mass(world, id));
  tb_put_int(w, "firstNode", first_node);
  tb_put_int(w, "nodes", tb_body_node_count(world, id));
  tb_put_int(w, "modes", tb_body_mode_count(world, id));
  tb_put_int(w, "triangles", tb_body_triangle_count(world, id));
  put_place(w, "triangle", tb_body_triangles(world, id));
  tb_put_array(w, "shapes");
  for (int k = 0; k < tb_body_shape_count(world, id); k++) {
    const tbShape* s = tb_body_shape_at(world, id, k);
    int mesh = -1;
    bool first;
    if (has_mesh(s)) TB_TRY(mesh_number(seen, s, &mesh, &first));
    tb_put_shape(w, s, mesh);
  }
  tb_put_end(w);
  tb_put_end(w);
  return TB_OK;
}

// The meshes of a body that no body before it has.
static tbStatus put_meshes(tbJsonWriter* w, const tbWorld* world, tbBodyId id, tbArray* seen)
{
  for (int k = 0; k < tb_body_shape_count(world, id); k++) {
    const tbShape* s = tb_body_shape_at(world, id, k);
    int number;
    bool first = false;
    if (has_mesh(s)) TB_TRY(mesh_number(seen, s, &number, &first));
    if (first) put_mesh(w, s);
  }
  return TB_OK;
}

static tbStatus put_scene(tbJsonWriter* w, const tbWorld* world, tbArray* seen)
{
  int node = 0;
  tb_put_object(w, NULL);
  tb_put_string(w, "name", web.scene.name);
  tb_put_number(w, "time", web.scene.time);
  tb_put_number(w, "dt", web.scene.step.dt);
  tb_put_vec3(w, "gravity", tb_world_gravity(world));
  tb_put_array(w, "bodies");
  for (int i = 0; i < tb_world_body_count(world); i++) {
    TB_TRY(put_body(w, world, i, node, seen));
    node += tb_body_node_count(world, tb_world_body_at(world, i));
  }
  tb_put_end(w);
  tb_array_free(&web.ctx, seen); // and once more, in the same order
  tb_put_joints(w, world);
  tb_put_array(w, "meshes");
  for (int i = 0; i < tb_world_body_count(world); i++)
    TB_TRY(put_meshes(w, world, tb_world_body_at(world, i), seen));
  tb_put_end(w);
  tb_put_end(w);
  return TB_OK;
}

WEB(tbStatus, web_scene, void)
{
  TB_TRY(web_need_world());
  tbArray seen = TB_ARRAY(void*);
  tbJsonWriter w = tb_json_writer(web_out_begin(), 0);
  tbStatus status = put_scene(&w, web.scene.world, &seen);
  tb_array_free(&web.ctx, &seen);
  return status == TB_OK ? tb_json_writer_finish(&w) : status;
}
