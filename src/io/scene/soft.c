// SPDX-License-Identifier: Apache-2.0
// Soft bodies, cloth and reduced bodies of scene files: matter, pins, attachments, copies.
#include "fem/tets.h"
#include "geometry/mesh.h"
#include "io/scene/build.h"
#include "scene/world.h"

// ---- what holds nodes ----

// The nodes of the body in the making, where they are at the start.
typedef struct Nodes {
  const tbVec3* node; // in the frame of the mesh
  int count;
  tbTransform pose;
  double slack;  // a box holds what lies on it, whatever rounding made of the place
  uint8_t* held; // by a pin so far
} Nodes;

static tbStatus look_at(tbSceneBuild* b, const tbVec3* node, int count, tbTransform pose, Nodes* out)
{
  double reach = tb_maxabs3(pose.x);
  for (int i = 0; i < count; i++) reach = fmax(reach, tb_maxabs3(tb_transform_point(pose, node[i])));
  *out = (Nodes){node, count, pose, 1e-9 * reach, TB_TAKE(b->arena, uint8_t, (size_t)count)};
  return out->held ? TB_OK : TB_ERROR_MEMORY;
}

// The numbers of nodes in a box; `list` has room for all.
static int in_box(const Nodes* n, tbVec3 low, tbVec3 high, int* list)
{
  int found = 0;
  for (int i = 0; i < n->count; i++) {
    tbVec3 x = tb_transform_point(n->pose, n->node[i]);
    bool in = x.x >= low.x - n->slack && x.x <= high.x + n->slack && x.y >= low.y - n->slack &&
              x.y <= high.y + n->slack && x.z >= low.z - n->slack && x.z <= high.z + n->slack;
    if (in) list[found++] = i;
  }
  return found;
}

static tbStatus find_in_box(tbSceneBuild* b, const Nodes* n, const tbJson* node, const tbScenePoints* box,
                            int* list, int* found)
{
  const tbJson* place = tb_scene_place(node, "box");
  tbVec3 low = tb_load3(box->xyz[0]), high = tb_load3(box->xyz[1]);
  if (low.x > high.x || low.y > high.y || low.z > high.z)
    return tb_json_fail(b->ctx, place,
                        "the box ends before it begins: first its low corner, then the high one");
  *found = in_box(n, low, high, list);
  if (*found > 0) return TB_OK;
  tbVec3 least = tb_transform_point(n->pose, n->node[0]), most = least;
  for (int i = 1; i < n->count; i++) {
    tbVec3 x = tb_transform_point(n->pose, n->node[i]);
    least = tb_min3(least, x), most = tb_max3(most, x);
  }
  return tb_json_fail(
      b->ctx, place,
      "no node lies in this box; the body's lie between (%.4g, %.4g, %.4g) and (%.4g, %.4g, %.4g)", least.x,
      least.y, least.z, most.x, most.y, most.z);
}

static tbStatus find_by_number(tbSceneBuild* b, const Nodes* n, const tbJson* node, const tbSceneIndices* all,
                               int* list, int* found)
{
  const tbJson* place = tb_scene_place(node, "vertices");
  if (all->count == 0) return tb_json_fail(b->ctx, place, "\"vertices\" must not be empty");
  for (int i = 0; i < all->count; i++) {
    if (all->index[i] >= n->count)
      return tb_json_fail(b->ctx, &place->items[i], "node %d of a mesh of %d; they count from 0",
                          all->index[i], n->count);
    if (*found < n->count) list[(*found)++] = all->index[i];
  }
  return TB_OK;
}

// The nodes of a pin that nothing holds yet; from now on it does.
static tbStatus read_nodes(tbSceneBuild* b, Nodes* n, const tbJson* node, const tbSceneNodes* s, tbPinDef* d)
{
  TB_TRY(tb_scene_exclude(b->ctx, node, "box", "vertices"));
  int *list = TB_TAKE(b->arena, int, (size_t)n->count), found = 0;
  if (!list) return TB_ERROR_MEMORY;
  if (s->box.xyz) TB_TRY(find_in_box(b, n, node, &s->box, list, &found));
  else if (s->vertices.index) TB_TRY(find_by_number(b, n, node, &s->vertices, list, &found));
  else return tb_json_fail(b->ctx, node, "\"box\" or \"vertices\" says which nodes are held");
  for (int i = 0; i < found; i++) {
    if (n->held[list[i]]) continue;
    n->held[list[i]] = true;
    list[d->node_count++] = list[i];
  }
  d->nodes = list;
  return TB_OK;
}

// A pin says its motion itself, or in an object as kinematic bodies do.
static tbStatus pick_motion(tbSceneBuild* b, const tbScenePin* s, tbSceneMotion* out)
{
  static const char* const own[] = {"velocity", "angular_velocity", "keys", "motion"};
  *out = s->kinematic ? *s->kinematic : s->motion ? *s->motion : s->own;
  if (!s->kinematic && !s->motion) out->node = s->node;
  for (int i = 0; i < 4 && s->kinematic; i++) TB_TRY(tb_scene_exclude(b->ctx, s->node, own[i], "kinematic"));
  for (int i = 0; i < 3 && s->motion; i++) TB_TRY(tb_scene_exclude(b->ctx, s->node, own[i], "motion"));
  return TB_OK;
}

static tbStatus read_pin(tbSceneBuild* b, const tbScenePin* s, Nodes* n, tbPinDef* d)
{
  tbSceneMotion motion;
  tbMotionKey* keys;
  TB_TRY(pick_motion(b, s, &motion));
  TB_TRY(tb_scene_motion(b, &motion, n->pose, &keys, &d->key_count));
  TB_TRY(read_nodes(b, n, s->node, &s->nodes, d));
  d->keys = keys;
  d->velocity = tb_load3(motion.velocity), d->angular_velocity = tb_load3(motion.angular_velocity);
  return TB_OK;
}

static tbStatus read_attachment(tbSceneBuild* b, const tbSceneAttachment* s, Nodes* n, tbPinDef* d)
{
  TB_TRY(tb_scene_find_body(b, s->node, "body", s->body, &d->body));
  if (d->body.index >= 0 && tb_body_node_count(b->world, d->body))
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "body"),
                        "\"%.60s\" is deformable; nodes are attached to rigid bodies", s->body);
  return read_nodes(b, n, s->node, &s->nodes, d);
}

static tbStatus read_pins(tbSceneBuild* b, const tbSceneDeformable* s, Nodes* n, tbDeformableDef* out)
{
  const tbScenePin* pin = s->pins.items;
  const tbSceneAttachment* attachment = s->attach.items;
  int count = s->pins.count + s->attach.count;
  tbPinDef* d = TB_TAKE(b->arena, tbPinDef, (size_t)count);
  if (!d) return TB_ERROR_MEMORY;
  out->pins = d;
  for (int i = 0; i < count; i++) {
    *d = tb_default_pin_def();
    if (i < s->pins.count) TB_TRY(tb_scene_note(b, read_pin(b, &pin[i], n, d)));
    else if (!tb_scene_lost_body(b, attachment[i - s->pins.count].body))
      TB_TRY(tb_scene_note(b, read_attachment(b, &attachment[i - s->pins.count], n, d)));
    if (d->node_count > 0) d++, out->pin_count++;
  }
  return TB_OK;
}

static tbStatus read_springs(tbSceneBuild* b, const tbSceneDeformable* s, int nodes, tbDeformableDef* out)
{
  const tbSceneNodeSpring* spring = s->springs.items;
  tbSpringDef* d = TB_TAKE(b->arena, tbSpringDef, (size_t)s->springs.count);
  if (!d) return TB_ERROR_MEMORY;
  out->springs = d, out->spring_count = s->springs.count;
  for (int i = 0; i < s->springs.count; i++) {
    const tbJson* place = tb_scene_place(spring[i].node, "vertices");
    const int* end = spring[i].vertices.index;
    for (int k = 0; k < 2; k++)
      if (end[k] >= nodes)
        return tb_json_fail(b->ctx, &place->items[k], "node %d of a mesh of %d; they count from 0", end[k],
                            nodes);
    if (end[0] == end[1]) return tb_json_fail(b->ctx, place, "a spring is between two nodes");
    d[i] = (tbSpringDef){{end[0], end[1]}, spring[i].stiffness, spring[i].length};
  }
  return TB_OK;
}

// ---- matter ----

static tbStatus read_soft(tbSceneBuild* b, const tbSceneDeformable* s, tbDeformableDef* d)
{
  const tbMaterial* material = &tb_materials(b->world)[tb_material_place(b->world, d->material)];
  if (s->poisson >= 0.5)
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "poisson"),
                        "Poisson's ratio is %g; it must be less than 0.5", s->poisson);
  d->soft = (tbSoftDef){.model = (tbElasticModel)s->model,
                        .young = s->young,
                        .poisson = s->poisson,
                        .density = s->density > 0 ? s->density : material->density,
                        .mass_damping = s->damping.mass,
                        .stiffness_damping = s->damping.stiffness,
                        .consistent_mass = s->mass == 1};
  return TB_OK;
}

static tbStatus read_cloth(tbSceneBuild* b, const tbSceneDeformable* s, tbDeformableDef* d)
{
  if (tb_maxabs3(tb_load3(s->warp)) == 0)
    return tb_json_fail(b->ctx, tb_scene_place(s->node, "warp"), "a direction must not be zero");
  d->cloth = (tbClothDef){.area_density = s->area_density,
                          .stretch = s->stretch,
                          .shear = s->shear,
                          .bend = s->bend,
                          .bending = (tbBending)s->bending,
                          .strain_limit = s->strain_limit,
                          .limit_stiffness = s->limit_stiffness,
                          .thickness = s->thickness,
                          .air_damping = s->air_damping,
                          .mass_damping = s->damping.mass,
                          .stiffness_damping = s->damping.stiffness,
                          .warp = tb_load3(s->warp)};
  return TB_OK;
}

static tbStatus read_body(tbSceneBuild* b, const tbSceneDeformable* s, tbDeformableDef* d,
                          tbFriction* friction)
{
  tbTransform pose = tb_transform_identity();
  Nodes nodes;
  TB_TRY(tb_scene_note(b, tb_scene_pose(b->ctx, s->node, &s->pose, &pose)));
  if (s->material)
    TB_TRY(tb_scene_note(b, tb_scene_material(b, s->node, "material", s->material, &d->material)));
  if (s->friction) TB_TRY(tb_scene_note(b, tb_scene_friction(b, s->friction, friction)));
  TB_TRY(tb_scene_note(b, d->solid ? read_soft(b, s, d) : read_cloth(b, s, d)));
  const tbVec3* node = d->solid ? d->solid->node : d->sheet->vertex;
  TB_TRY(look_at(b, node, d->solid ? d->solid->nnode : d->sheet->nvertex, pose, &nodes));
  TB_TRY(read_pins(b, s, &nodes, d));
  TB_TRY(tb_scene_note(b, read_springs(b, s, nodes.count, d)));
  d->position = pose.x, d->orientation = pose.q;
  d->velocity = tb_load3(s->velocity), d->angular_velocity = tb_load3(s->angular_velocity);
  d->friction = s->friction ? friction : NULL;
  d->self_contact = s->self_contact;
  d->category = (uint32_t)s->category, d->mask = (uint32_t)s->mask;
  return TB_OK;
}

// ---- bodies ----

static tbStatus add(tbSceneBuild* b, const tbSceneDeformable* s, const tbDeformableDef* d)
{
  TB_TRY(tb_scene_check_taken(b, s->node, d->name));
  tbBodyId id;
  TB_TRY(tb_scene_placed(b->ctx, s->node, tb_world_add_deformable(b->ctx, b->world, d, &id)));
  TB_TRY(tb_scene_take_load(b, s->load, id));
  return tb_array_push(b->ctx, &b->origin, &s->node, 1);
}

// The pins of a copy: its nodes are those of the first, and their motion is moved with it.
static tbStatus copy_pins(tbSceneBuild* b, const tbDeformableDef* d, tbPinDef** out)
{
  *out = TB_TAKE(b->arena, tbPinDef, (size_t)d->pin_count);
  if (!*out) return TB_ERROR_MEMORY;
  for (int p = 0; p < d->pin_count; p++) {
    (*out)[p] = d->pins[p];
    (*out)[p].keys = TB_TAKE(b->arena, tbMotionKey, (size_t)d->pins[p].key_count);
    if (!(*out)[p].keys) return TB_ERROR_MEMORY;
  }
  return TB_OK;
}

static void move_pins(const tbDeformableDef* first, tbVec3 offset, tbPinDef* pins)
{
  for (int p = 0; p < first->pin_count; p++)
    for (int k = 0; k < pins[p].key_count; k++) {
      tbMotionKey* key = (tbMotionKey*)&pins[p].keys[k];
      *key = first->pins[p].keys[k];
      key->position = tb_add3(key->position, offset);
    }
}

static tbStatus add_copies(tbSceneBuild* b, const tbSceneDeformable* s, const tbDeformableDef* first,
                           int count, int ordinal)
{
  tbDeformableDef d = *first;
  tbSceneCopies copies;
  tbPinDef* pins;
  TB_TRY(tb_scene_copies_begin(b, s->repeat, s->name, ordinal, &copies));
  TB_TRY(copy_pins(b, first, &pins));
  d.pins = pins;
  for (int i = 0; i < count; i++) {
    tbVec3 offset = tb_scene_copy(&copies, i);
    d.name = copies.name;
    d.position = tb_add3(first->position, offset);
    move_pins(first, offset, pins);
    TB_TRY(add(b, s, &d));
  }
  return TB_OK;
}

// Beside the mesh's file, where there is one: fields are found once.
static tbStatus read_reduced(tbSceneBuild* b, const tbSceneDeformable* s, tbDeformableDef* d)
{
  d->modes = s->modes, d->basis = (tbReducedBasis)s->basis;
  if (!s->mesh->file) return TB_OK;
  return tb_scene_path(b, tb_scene_place(s->mesh->node, "file"), s->mesh->file, &d->basis_file);
}

static tbStatus add_deformable(tbSceneBuild* b, const tbSceneDeformable* s, bool cloth, int ordinal)
{
  tbTetMesh* solid = NULL;
  tbMesh* sheet = NULL;
  tbFriction friction;
  int copies = 1;
  if (tb_scene_errors_bad(b->errors, s->node)) return TB_OK;
  size_t noted = tb_scene_noted(b);
  TB_TRY(tb_scene_note(b, tb_scene_check_name(b, s->node, s->name)));
  TB_TRY(tb_scene_note(b, tb_scene_count_copies(b, s->node, s->repeat, &copies)));
  tbDeformableDef d = tb_default_deformable_def();
  tbStatus status = tb_scene_mesh(b, s, cloth ? NULL : &solid, cloth ? &sheet : NULL);
  d.solid = solid, d.sheet = sheet;
  if (status == TB_OK) status = read_body(b, s, &d, &friction);
  if (status == TB_OK && s->modes > 0) status = read_reduced(b, s, &d);
  if (status == TB_OK && tb_scene_noted(b) == noted) status = add_copies(b, s, &d, copies, ordinal);
  status = tb_scene_note(b, status);
  if (status == TB_OK) status = tb_scene_close(b, s->node, noted);
  tb_tet_mesh_free(b->ctx, solid);
  tb_mesh_free(b->ctx, sheet);
  return status;
}

tbStatus tb_scene_deformables(tbSceneBuild* b)
{
  const tbSceneFile* f = b->file;
  const tbSceneDeformable *soft = f->soft.items, *cloth = f->cloth.items, *reduced = f->reduced.items;
  int ordinal = f->bodies.count;
  for (int i = 0; i < f->soft.count; i++) TB_TRY(add_deformable(b, &soft[i], false, ordinal++));
  for (int i = 0; i < f->cloth.count; i++) TB_TRY(add_deformable(b, &cloth[i], true, ordinal++));
  for (int i = 0; i < f->reduced.count; i++) TB_TRY(add_deformable(b, &reduced[i], false, ordinal++));
  return TB_OK;
}
