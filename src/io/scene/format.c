// SPDX-License-Identifier: Apache-2.0
// The table of the scene format: options, materials, shapes, rigid bodies and the whole. SI units; angles in
// radians unless the key ends in _deg.
#include "io/scene/table.h"
#include "tribo/step.h"

#include <string.h>

// clang-format off
// ---- options: their rows are the library's (tribo/options.h) ----

#define OPTIONS(record, of) .group = of, .options_at = AT(record, options)
#define NO_KEYS(record, make) .size = sizeof(tbScene##record), .init = make

static void init_stabilization(void* out) { ((tbSceneStabilization*)out)->options = tb_default_step_options(); }
static void init_scheme(void* out) { ((tbSceneScheme*)out)->options = tb_default_step_options(); }
static void init_solver(void* out) { ((tbSceneSolver*)out)->options = tb_default_step_options(); }
static void init_contact(void* out) { ((tbSceneContact*)out)->options = tb_default_step_options(); }

static const tbKey stabilization_keys[] = {
    {"erp", TB_KEY_NUMBER, AT(Stabilization, erp), UNIT, .text = "another name of fraction: υ in u + ε λ = −υ φ/h"},
    {"cfm", TB_KEY_NUMBER, AT(Stabilization, cfm), NONNEGATIVE,
     .text = "instead of compliance: ε in u + ε λ = −υ φ/h, 1/kg; compliance = ε h²"},
};
static const tbRecord stabilization_record = {
    "stabilization", "How overlaps and joint errors go away: a kind, or an object.",
    RECORD(Stabilization, init_stabilization, stabilization_keys),
    OPTIONS(Stabilization, "scheme.stabilization"), .bare = "kind"};

static const tbKey scheme_keys[] = {
    {"stabilization", TB_KEY_PART, AT(Scheme, stabilization), .record = &stabilization_record,
     .text = "how overlaps and joint errors go away"},
};
static const tbRecord scheme_record = {
    "scheme", "How the world moves through time: a name, or an object.",
    RECORD(Scheme, init_scheme, scheme_keys), OPTIONS(Scheme, "scheme"), .bare = "name"};

static const tbRecord solver_record = {
    "solver", "What solves the contact problem of each step: a name, or an object.",
    NO_KEYS(Solver, init_solver), OPTIONS(Solver, "solver"), .bare = "name"};

static const tbRecord contact_record = {
    "contact", "What counts as a contact, and how friction is read.",
    NO_KEYS(Contact, init_contact), OPTIONS(Contact, "contact")};

// ---- materials ----

static void init_friction(void* out)
{
  tbSceneFriction* f = out;
  f->kappa = 1, f->direction[0] = 1, f->static_ratio = 1, f->directions = 4;
  f->map = (tbSceneMap){.scale = 1, .coordinates_scale = 1};
}

#define STATE_KEYS                                                                                              \
  {"static_ratio", TB_KEY_NUMBER, AT(Friction, static_ratio), {1, 1e6, false}, .shown = true,                    \
   .text = "friction at rest over that of sliding"},                                                            \
  {"stribeck", TB_KEY_NUMBER, AT(Friction, stribeck), COEFFICIENT, .shown = true,                                \
   .text = "speed over which friction falls from rest's to sliding's, m/s; 0: at once"},                        \
  {"tresca", TB_KEY_NUMBER, AT(Friction, tresca), NONNEGATIVE, .shown = true,                                    \
   .text = "instead: a limit for each contact whatever its normal force, N; 0: none"},                          \
  {"adhesion", TB_KEY_NUMBER, AT(Friction, adhesion), NONNEGATIVE, .shown = true,                                \
   .text = "pull that each contact withstands, N; of two surfaces the geometric mean"},                         \
  {"restitution", TB_KEY_NUMBER, AT(Friction, restitution), UNIT, .shown = true,                                 \
   .text = "of the tangential velocity at impacts that bounce"}

static const tbKey friction_keys[] = {
    {"model", TB_KEY_TAG, AT(Friction, model), .text = "absent: told from the other keys; matchstick has to be named"},
    STATE_KEYS,
};
static const tbKey coulomb_keys[] = {
    {"mu", TB_KEY_NUMBER, AT(Friction, mu), COEFFICIENT, .required = true, .text = "the coefficient"},
    {"mu_static", TB_KEY_NUMBER, AT(Friction, mu_static), COEFFICIENT,
     .text = "the coefficient at rest, at least mu; or static_ratio"},
};
static const char* mapping_at(int i)
{
  static const char* const names[] = {"contact", "planar", "box"};
  return i < TB_MAPPING_COUNT ? names[i] : NULL;
}

// Where an image lies on a surface.
#define MAP_KEYS(Type)                                                                                          \
  {"scale", TB_KEY_NUMBER, AT(Type, map.scale), POSITIVE, .shown = true, .text = "of an image: metres per repeat"}, \
      {"mapping", TB_KEY_CHOICE, AT(Type, map.mapping), .choice = mapping_at, .shown = true,                     \
       .text = "of an image: in the plane of each contact (on deformables planar); planar, along direction and z × direction; or as a box is wrapped"}, \
      {"coordinates", TB_KEY_STRING, AT(Type, map.coordinates),                                                 \
       .text = "of an image, instead of scale and mapping: an OBJ file with texture coordinates, in the body's frame, of deformables in their mesh's"}, \
      {"coordinates_scale", TB_KEY_NUMBER, AT(Type, map.coordinates_scale), POSITIVE, .shown = true,            \
       .text = "of that file's vertices"}

static const tbKey field_keys[] = {
    {"points", TB_KEY_POINTS, AT(Field, points), ANY, 1, 1000000,
     .text = "where directions are known, in the body's frame, of deformables in their mesh's, m"},
    {"directions", TB_KEY_POINTS, AT(Field, directions), ANY, 1, 1000000,
     .text = "one for each point; between them the structure turns from the one to the other"},
    {"image", TB_KEY_STRING, AT(Field, image),
     .text = "instead: a PNG file; red, green are a direction's x, y from -1 to 1, along the image's columns and rows"},
    MAP_KEYS(Field),
};
static void init_field(void* out)
{
  *(tbSceneField*)out = (tbSceneField){.map = {.scale = 1, .coordinates_scale = 1}};
}
static const tbRecord field_record = {"field", "Directions of a surface's structure.",
                                      RECORD(Field, init_field, field_keys)};
static const tbKey elliptic_keys[] = {
    {"mu_t", TB_KEY_NUMBER, AT(Friction, mu_t), COEFFICIENT, .required = true, .text = "along `direction`"},
    {"mu_b", TB_KEY_NUMBER, AT(Friction, mu_b), COEFFICIENT, .required = true, .text = "across it"},
    {"direction", TB_KEY_NUMBERS, AT(Friction, direction), ANY, 3, 3,
     .text = "in the body's frame, of deformables in their mesh's, where it moves with the material; not 0; required without a `field`"},
    {"torsion", TB_KEY_NUMBER, AT(Friction, torsion), COEFFICIENT, .shown = true,
     .text = "of spinning: torque about the normal over normal force, m"},
    {"rolling", TB_KEY_NUMBER, AT(Friction, rolling), COEFFICIENT, .shown = true,
     .text = "of rolling: torque over normal force, m"},
    {"field", TB_KEY_RECORD, AT(Friction, field), .record = &field_record,
     .text = "directions that differ from place to place, instead of `direction`"},
};
static const tbKey matchstick_keys[] = {
    {"mu", TB_KEY_NUMBER, AT(Friction, mu), COEFFICIENT, .required = true,
     .text = "where the structures of the two surfaces are at right angles"},
    {"mu_t", TB_KEY_NUMBER, AT(Friction, mu_t), COEFFICIENT, .required = true, .text = "where they are parallel, along them"},
    {"mu_b", TB_KEY_NUMBER, AT(Friction, mu_b), COEFFICIENT, .required = true, .text = "and across"},
    {"direction", TB_KEY_NUMBERS, AT(Friction, direction), ANY, 3, 3, .shown = true,
     .text = "of the structure, in the body's frame, of deformables in their mesh's; not 0"},
    {"field", TB_KEY_RECORD, AT(Friction, field), .record = &field_record,
     .text = "directions that differ from place to place, instead of `direction`"},
};
static const tbKey tensor_keys[] = {
    {"matrix", TB_KEY_MATRIX, AT(Friction, matrix), {-1e6, 1e6, false}, 2, 2, .required = true,
     .text = "Q in −λ_n κ (Q_a + Q_b) v̂, rows; its symmetric part must not have a negative eigenvalue"},
    {"matrix_back", TB_KEY_MATRIX, AT(Friction, matrix_back), {-1e6, 1e6, false}, 2, 2,
     .text = "the same where the surface slides against `direction` over the other; absent: matrix"},
    {"kappa", TB_KEY_NUMBER, AT(Friction, kappa), COEFFICIENT, .shown = true, .text = "κ, of two surfaces the geometric mean"},
    {"direction", TB_KEY_NUMBERS, AT(Friction, direction), ANY, 3, 3, .shown = true,
     .text = "the first axis of the matrix, in the body's frame, of deformables in their mesh's; not 0"},
    {"field", TB_KEY_RECORD, AT(Friction, field), .record = &field_record,
     .text = "directions that differ from place to place, instead of `direction`"},
};
static const tbKey contensou_keys[] = {
    {"mu", TB_KEY_NUMBER, AT(Friction, mu), COEFFICIENT, .required = true, .text = "of sliding"},
    {"torsion", TB_KEY_NUMBER, AT(Friction, torsion), COEFFICIENT, .shown = true,
     .text = "of spinning: torque about the normal over normal force, m"},
    {"rolling", TB_KEY_NUMBER, AT(Friction, rolling), COEFFICIENT, .shown = true,
     .text = "of rolling: torque over normal force, m"},
};
static const tbKey texture_keys[] = {
    {"normal_map", TB_KEY_STRING, AT(Friction, normal_map), .required = true, .text = "a PNG file; red, green, blue are x, y, z from -1 to 1"},
    MAP_KEYS(Friction),
    {"patch", TB_KEY_NUMBER, AT(Friction, patch), NONNEGATIVE, .shown = true,
     .text = "side of the square about a contact over which it is averaged, m; 0: whole repeats"},
    {"direction", TB_KEY_NUMBERS, AT(Friction, direction), ANY, 3, 3, .shown = true,
     .text = "of the map's x, in the body's frame, of deformables in their mesh's; not 0"},
    {"directions", TB_KEY_INT, AT(Friction, directions), {4, TB_MAX_SIDES, false}, .shown = true,
     .text = "even; 4: law directional, a box; more: law polygon"},
    {"field", TB_KEY_RECORD, AT(Friction, field), .record = &field_record,
     .text = "directions that differ from place to place, instead of `direction`"},
};
static const tbRecord friction_variants[] = {
    VARIANT("coulomb", "Isotropic.", coulomb_keys),
    VARIANT("elliptic", "Two coefficients.", elliptic_keys),
    VARIANT("contensou", "With spinning and rolling.", contensou_keys),
    NAMED_VARIANT("matchstick", "Structures on both surfaces, and the angle between them.", matchstick_keys),
    VARIANT("tensor", "A force linear in the direction of sliding.", tensor_keys),
    VARIANT("texture", "Plowing of a normal map, in each direction by itself.", texture_keys),
};
const tbRecord tb_friction_record = {
    "friction", "Friction: a number, the coefficient, or an object.",
    RECORD(Friction, init_friction, friction_keys), VARIANTS(friction_variants), .bare = "mu"};

static void init_material(void* out)
{
  tbMaterialDef d = tb_default_material_def();
  *(tbSceneMaterial*)out = (tbSceneMaterial){.density = d.density, .restitution = d.restitution};
}

// How contacts give way.
#define SPRING(Type)                                                                                             \
  {"stiffness", TB_KEY_NUMBER, AT(Type, spring.stiffness), POSITIVE,                                             \
   .text = "k of force = −k φ − b φ̇ at each contact, N/m, but under ipc; absent: rigid, or by scheme.stabilization"},           \
      {"damping", TB_KEY_NUMBER, AT(Type, spring.damping), NONNEGATIVE,                                         \
       .text = "b, N·s/m; with stiffness; absent: 0"},                                                           \
      {"erp", TB_KEY_NUMBER, AT(Type, spring.erp), UNIT,                                                         \
       .text = "with cfm, instead of stiffness and damping: υ in u + ε λ = −υ φ/h, at the scene's dt"},          \
      {"cfm", TB_KEY_NUMBER, AT(Type, spring.cfm), POSITIVE, .text = "ε of that, 1/kg"},                         \
      {"coat", TB_KEY_NUMBER, AT(Type, spring.coat), NONNEGATIVE,                                               \
       .text = "of deformables: the spring begins so far above the surface, m; absent: a tenth of a mean edge"}

static const tbKey material_keys[] = {
    {"density", TB_KEY_NUMBER, AT(Material, density), POSITIVE, .shown = true, .text = "kg/m³"},
    {"friction", TB_KEY_RECORD, AT(Material, friction), .record = &tb_friction_record, .text = "absent: 0.5"},
    {"restitution", TB_KEY_NUMBER, AT(Material, restitution), UNIT, .shown = true,
     .text = "normal speed after over before an impact"},
    SPRING(Material),
};

static const tbRecord material_record = {
    "material", "What bodies are made of.",
    RECORD(Material, init_material, material_keys)};

static const tbKey pair_keys[] = {
    {"a", TB_KEY_STRING, AT(Pair, a), .required = true, .text = "a material"},
    {"b", TB_KEY_STRING, AT(Pair, b), .required = true, .text = "another, or the same"},
    {"friction", TB_KEY_RECORD, AT(Pair, friction), .record = &tb_friction_record,
     .text = "absent: the geometric mean of the two"},
    {"restitution", TB_KEY_NUMBER, AT(Pair, restitution), UNIT, .text = "absent: the larger of the two"},
    SPRING(Pair),
};

static const tbRecord pair_record = {
    "pair", "What two materials do together.",
    RECORD(Pair, NULL, pair_keys)};

// ---- shapes: variants in the order of tbShapeType ----

static void init_shape(void* out)
{
  tbSceneShape* s = out;
  s->pose.orientation[0] = 1;
  s->normal[2] = 1;
  s->scale = 1;
  s->resolution = 64;
}

static const tbKey shape_keys[] = {
    {"type", TB_KEY_TAG, AT(Shape, type), .required = true, .text = "which of these"},
    POSE_KEYS(Shape, "in its body"),
};

#define RADIUS {"radius", TB_KEY_NUMBER, AT(Shape, radius), POSITIVE, .required = true, .text = "m"}
#define LENGTH(what) {"length", TB_KEY_NUMBER, AT(Shape, length), POSITIVE, .required = true, .text = what}
#define MESH_FILE(need, what) {"file", TB_KEY_STRING, AT(Shape, file), .required = need, .text = what}
#define SCALE \
  {"scale", TB_KEY_NUMBER, AT(Shape, scale), POSITIVE, .shown = true, .text = "of the file's coordinates"}

static const tbKey sphere_keys[] = {RADIUS};
static const tbKey box_keys[] = {
    {"size", TB_KEY_NUMBERS, AT(Shape, size), POSITIVE, 3, 3, .required = true, .text = "full edge lengths, m"},
};
static const tbKey capsule_keys[] = {RADIUS, LENGTH("between the centres of the caps, along z, m")};
static const tbKey cylinder_keys[] = {RADIUS, LENGTH("along z, m")};
static const tbKey convex_keys[] = {
    {"vertices", TB_KEY_POINTS, AT(Shape, vertices), ANY, 4, 1000000, .text = "points [x, y, z]; or `file`"},
    MESH_FILE(false, "a mesh whose vertices are taken; relative to the scene file"), SCALE};
static const tbKey plane_keys[] = {
    {"normal", TB_KEY_NUMBERS, AT(Shape, normal), ANY, 3, 3, .shown = true, .text = "out of the solid; not 0"},
    {"offset", TB_KEY_NUMBER, AT(Shape, offset), ANY, .shown = true, .text = "the plane is normal·x = offset, m"},
};
static const tbKey mesh_keys[] = {MESH_FILE(true, "triangles; relative to the scene file"), SCALE};
static const tbKey sdf_keys[] = {
    MESH_FILE(true, "a solid mesh; relative to the scene file"), SCALE,
    {"resolution", TB_KEY_INT, AT(Shape, resolution), {4, 512, false}, .shown = true,
     .text = "cells along the longest side"}};

static const tbRecord shape_variants[] = {
    VARIANT("sphere", "About its origin.", sphere_keys),
    VARIANT("box", "About its origin.", box_keys),
    VARIANT("capsule", "Along its z axis, about its origin.", capsule_keys),
    VARIANT("cylinder", "Along its z axis, about its origin.", cylinder_keys),
    VARIANT("convex", "The convex hull of points.", convex_keys),
    VARIANT("plane", "The half-space below a plane; on fixed and kinematic bodies only.", plane_keys),
    VARIANT("mesh", "Triangles with exact features; closed, on a body that moves freely.", mesh_keys),
    VARIANT("sdf", "A grid of signed distances built from a solid mesh.", sdf_keys),
};
_Static_assert(COUNT(shape_variants) == TB_SHAPE_COUNT, "one variant per tbShapeType");

static const tbRecord shape_record = {
    "shape", "Geometry in its body's frame.",
    RECORD(Shape, init_shape, shape_keys), VARIANTS(shape_variants)};

// ---- bodies ----

static void init_motion_key(void* out) { ((tbSceneMotionKey*)out)->pose.orientation[0] = 1; }

static const tbKey motion_key_keys[] = {
    {"t", TB_KEY_NUMBER, AT(MotionKey, t), ANY, .required = true, .text = "time, s; increasing"},
    {"position", TB_KEY_NUMBERS, AT(MotionKey, pose.position), ANY, 3, 3, .text = "m; absent: as before"},
    {"orientation", TB_KEY_NUMBERS, AT(MotionKey, pose.orientation), ANY, 4, 4,
     .text = "quaternion [w, x, y, z]; absent: as before"},
    {"orientation_euler", TB_KEY_NUMBERS, AT(MotionKey, pose.euler), ANY, 3, 3, .text = "instead, rad"},
    {"orientation_euler_deg", TB_KEY_NUMBERS, AT(MotionKey, pose.euler_deg), ANY, 3, 3,
     .text = "instead, degrees"},
};

const tbRecord tb_motion_key_record = {
    "motion_key", "A pose at a time.",
    RECORD(MotionKey, init_motion_key, motion_key_keys)};

static const tbKey motion_keys[] = {MOTION_KEYS(Motion, )};

const tbRecord tb_motion_record = {
    "motion", "A prescribed motion.",
    RECORD(Motion, NULL, motion_keys)};

static const tbKey repeat_keys[] = {
    {"count", TB_KEY_INTS, AT(Repeat, count), {1, TB_MAX_SCENE_BODIES, false}, 3, 3, .required = true,
     .text = "copies along x, y and z"},
    {"spacing", TB_KEY_NUMBERS, AT(Repeat, spacing), ANY, 3, 3, .required = true,
     .text = "from one to the next, world axes, m"},
    {"jitter", TB_KEY_NUMBER, AT(Repeat, jitter), NONNEGATIVE, .shown = true,
     .text = "each copy is moved by up to so much along each axis, from the scene's seed, m"},
};

const tbRecord tb_repeat_record = {
    "repeat", "A grid of copies, named NAME/0, NAME/1, …, x fastest.",
    RECORD(Repeat, NULL, repeat_keys)};

static void init_body(void* out)
{
  tbBodyDef d = tb_default_body_def();
  *(tbSceneBody*)out = (tbSceneBody){.pose.orientation[0] = 1, .category = d.category, .mask = d.mask};
}

static const tbKey body_keys[] = {
    {"name", TB_KEY_STRING, AT(Body, name), .text = "unique; absent: body/INDEX"},
    {"shape", TB_KEY_RECORD, AT(Body, shape), .record = &shape_record, .text = "what it is made of"},
    {"shapes", TB_KEY_RECORDS, AT(Body, shapes), .record = &shape_record, .text = "or several, rigidly joined"},
    {"mass", TB_KEY_NUMBER, AT(Body, mass), POSITIVE, .text = "kg; absent: from the density"},
    {"density", TB_KEY_NUMBER, AT(Body, density), POSITIVE, .text = "kg/m³; absent: the material's"},
    {"inertia", TB_KEY_NUMBERS, AT(Body, inertia), ANY, 3, 6, AT(Body, inertia_count),
     .text = "xx, yy, zz[, xy, xz, yz] about the centre of mass, body axes, kg·m²; absent: from the shapes"},
    {"centre_of_mass", TB_KEY_NUMBERS, AT(Body, centre), ANY, 3, 3,
     .text = "in the body's frame, m; absent: that of the shapes"},
    {"material", TB_KEY_STRING, AT(Body, material), .text = "absent: density 1000, friction 0.5, restitution 0"},
    POSE_KEYS(Body, "of the body frame's origin"),
    {"velocity", TB_KEY_NUMBERS, AT(Body, velocity), ANY, 3, 3, .shown = true,
     .text = "of the body frame's origin, m/s"},
    {"angular_velocity", TB_KEY_NUMBERS, AT(Body, angular_velocity), ANY, 3, 3, .shown = true,
     .text = "world axes, rad/s"},
    {"friction", TB_KEY_RECORD, AT(Body, friction), .record = &tb_friction_record,
     .text = "instead of the material's"},
    {"restitution", TB_KEY_NUMBER, AT(Body, restitution), UNIT, .text = "instead of the material's"},
    {"fixed", TB_KEY_BOOL, AT(Body, fixed), .shown = true, .text = "never moves"},
    {"kinematic", TB_KEY_RECORD, AT(Body, kinematic), .record = &tb_motion_record,
     .text = "moves as prescribed, whatever it meets"},
    {"load", TB_KEY_RECORD, AT(Body, load), .record = &tb_load_record, .text = "a force and a torque that act on it"},
    {"bullet", TB_KEY_BOOL, AT(Body, bullet), .shown = true, .text = "swept against everything, however fast"},
    {"category", TB_KEY_INT64, AT(Body, category), BITS, .shown = true,
     .text = TB_CATEGORY_TEXT},
    {"mask", TB_KEY_INT64, AT(Body, mask), BITS, .shown = true,
     .text = TB_MASK_TEXT},
    {"repeat", TB_KEY_RECORD, AT(Body, repeat), .record = &tb_repeat_record, .text = "a grid of copies"},
};

static const tbRecord body_record = {
    "body", "A rigid body.",
    RECORD(Body, init_body, body_keys)};

// ---- the whole ----

static const tbKey ignore_keys[] = {
    {"a", TB_KEY_STRING, AT(Ignore, a), .required = true, .text = "a rigid body"},
    {"b", TB_KEY_STRING, AT(Ignore, b), .required = true, .text = "another"},
};

static const tbRecord ignore_record = {
    "ignore", "Two bodies that pass through each other.",
    RECORD(Ignore, NULL, ignore_keys)};

static void init_scene(void* out)
{
  tbSceneFile* f = out;
  tbWorldDef d = tb_default_world_def();
  tb_store3(f->gravity, d.gravity);
  f->dt = tb_default_step_options().dt;
  f->time = 1;
  f->threads = 1;
  f->seed = 1;
}

static const tbKey scene_keys[] = {
    {"tribo", TB_KEY_INT, AT(File, version), {TB_SCENE_VERSION, TB_SCENE_VERSION, false}, .required = true,
     .text = "the version of the format"},
    {"name", TB_KEY_STRING, AT(File, name), .text = "for people; absent: the file's name"},
    {"gravity", TB_KEY_NUMBERS, AT(File, gravity), ANY, 3, 3, .shown = true, .text = "m/s²"},
    {"dt", TB_KEY_NUMBER, AT(File, dt), {1e-12, INFINITY, false}, .shown = true, .text = "time step, s"},
    {"time", TB_KEY_NUMBER, AT(File, time), NONNEGATIVE, .shown = true, .text = "how long to run, s"},
    {"threads", TB_KEY_INT, AT(File, threads), {1, 256, false}, .shown = true,
     .text = "results do not depend on it"},
    {"seed", TB_KEY_INT64, AT(File, seed), {0, 0x1p53, false}, .shown = true, .text = "of whatever is random"},
    {"scheme", TB_KEY_PART, AT(File, scheme), .record = &scheme_record, .text = "a name, or an object"},
    {"solver", TB_KEY_PART, AT(File, solver), .record = &solver_record, .text = "a name, or an object"},
    {"contact", TB_KEY_PART, AT(File, contact), .record = &contact_record, .text = "contacts and friction"},
    {"materials", TB_KEY_NAMED, AT(File, materials), .record = &material_record, .text = "by name"},
    {"pairs", TB_KEY_RECORDS, AT(File, pairs), .record = &pair_record, .text = "what materials do together"},
    {"bodies", TB_KEY_RECORDS, AT(File, bodies), .record = &body_record, .text = "rigid bodies"},
    {"joints", TB_KEY_RECORDS, AT(File, joints), .record = &tb_joint_record, .text = "what joins them"},
    {"ignore", TB_KEY_RECORDS, AT(File, ignore), .record = &ignore_record, .text = "pairs that do not touch"},
    {"soft", TB_KEY_RECORDS, AT(File, soft), .record = &tb_soft_record, .text = "finite-element solids"},
    {"cloth", TB_KEY_RECORDS, AT(File, cloth), .record = &tb_cloth_record, .text = "sheets of triangles"},
    {"reduced", TB_KEY_RECORDS, AT(File, reduced), .record = &tb_reduced_record, .text = "solids that deform by a few modes"},
    {"animated", TB_KEY_RECORDS, AT(File, animated), .record = &tb_animated_record, .text = "meshes that go where they are told, vertex by vertex"},
};

const tbRecord tb_scene_record = {"scene", "A scene for Tribo.", RECORD(File, init_scene, scene_keys)};
// clang-format on
