// SPDX-License-Identifier: Apache-2.0
// The table of the scene format, continued: soft bodies, cloth and reduced bodies.
#include "io/scene/table.h"
#include "tribo/scene.h"

// clang-format off
static const char* elastic_at(int i) { return i < TB_ELASTIC_COUNT ? tb_elastic_name((tbElasticModel)i) : NULL; }
static const char* basis_at(int i) { return i < TB_BASIS_COUNT ? tb_basis_name((tbReducedBasis)i) : NULL; }
static const char* bending_at(int i) { return i < TB_BENDING_COUNT ? tb_bending_name((tbBending)i) : NULL; }
static const char* mass_at(int i) { return i == 0 ? "lumped" : i == 1 ? "consistent" : NULL; }

// ---- meshes ----

#define CELLS(most, what) \
  {"cells", TB_KEY_INTS, AT(Grid, cells), {1, TB_TET_CELLS_MAX, false}, most, most, .spread = true, \
   .required = true, .text = what}
#define LENGTH(name, member, what) \
  {name, TB_KEY_NUMBER, AT(Grid, member), POSITIVE, .required = true, .text = what}

static void init_box(void* out) { ((tbSceneGrid*)out)->tets = 5; }

static const tbKey box_keys[] = {
    {"size", TB_KEY_NUMBERS, AT(Grid, size), POSITIVE, 3, 3, .spread = true, .required = true,
     .text = "full edge lengths, m; one number: a cube"},
    CELLS(3, "along x, y and z"),
    {"tets", TB_KEY_INT, AT(Grid, tets), {5, 6, false}, .shown = true, .text = "tetrahedra in a cell"},
};
static const tbKey sphere_keys[] = {
    LENGTH("radius", radius, "m"),
    CELLS(3, "across, as many along each axis, preferably even. n cells: 6 n³ tetrahedra"),
};
static const tbKey cylinder_keys[] = {
    LENGTH("radius", radius, "m"),
    LENGTH("length", length, "along z, m"),
    CELLS(2, "across, preferably even, and along. a and b cells: 6 a² b tetrahedra"),
};
static const tbKey torus_keys[] = {
    LENGTH("ring", ring, "radius of the circle about z that the tube follows, m"),
    LENGTH("tube", tube, "radius of the tube, m; less than the ring's"),
    CELLS(2, "across the tube, preferably even, and around, at least 3. a and b cells: 6 a² b tetrahedra"),
};
static const tbKey ring_keys[] = {
    LENGTH("inner", inner, "radius, m"),
    LENGTH("outer", outer, "radius, m"),
    LENGTH("height", height, "along z, m"),
    CELLS(3, "from inside to outside, around, at least 3, and along z"),
};
static const tbKey grid_keys[] = {
    {"size", TB_KEY_NUMBERS, AT(Grid, size), POSITIVE, 2, 2, .spread = true, .required = true,
     .text = "along x and y, m; one number: a square"},
    CELLS(2, "along x and y, two triangles each"),
};

static const tbKey tube_keys[] = {
    {"radius", TB_KEY_NUMBERS, AT(Grid, size), POSITIVE, 2, 2, .spread = true, .required = true,
     .text = "at the upper and at the lower end, m; one number for both"},
    LENGTH("length", length, "along z, m"),
    CELLS(2, "around, at least 3, and along, two triangles each"),
};

static const tbRecord box_record = {"soft_box", "A box about its origin.", RECORD(Grid, init_box, box_keys)};
static const tbRecord sphere_record = {"soft_sphere", "A ball about its origin.", RECORD(Grid, NULL, sphere_keys)};
static const tbRecord cylinder_record = {
    "soft_cylinder", "A cylinder along its z axis, about its origin.", RECORD(Grid, NULL, cylinder_keys)};
static const tbRecord torus_record = {
    "soft_torus", "A torus about its z axis.", RECORD(Grid, NULL, torus_keys)};
static const tbRecord ring_record = {
    "soft_ring", "A piece of pipe about its z axis.", RECORD(Grid, NULL, ring_keys)};
static const tbRecord grid_record = {
    "cloth_grid", "A rectangle in the plane z = 0, about its origin.", RECORD(Grid, NULL, grid_keys)};
static const tbRecord tube_record = {
    "cloth_tube", "A tube about its z axis, about its origin, open at both ends; a cone where its radii differ.",
    RECORD(Grid, NULL, tube_keys)};

static const tbKey solid_keys[] = {
    {"file", TB_KEY_STRING, AT(Mesh, file), .text = "Gmsh (.msh) or VTK legacy (.vtk); relative to the scene file"},
    {"box", TB_KEY_RECORD, AT(Mesh, box), .record = &box_record, .text = "or a box"},
    {"sphere", TB_KEY_RECORD, AT(Mesh, sphere), .record = &sphere_record, .text = "or a ball"},
    {"cylinder", TB_KEY_RECORD, AT(Mesh, cylinder), .record = &cylinder_record, .text = "or a cylinder"},
    {"rod", TB_KEY_RECORD, AT(Mesh, rod), .record = &cylinder_record, .text = "another name of cylinder"},
    {"torus", TB_KEY_RECORD, AT(Mesh, torus), .record = &torus_record, .text = "or a torus"},
    {"ring", TB_KEY_RECORD, AT(Mesh, ring), .record = &ring_record, .text = "or a piece of pipe"},
    {"refine", TB_KEY_INT, AT(Mesh, refine), {0, 8, false}, .shown = true,
     .text = "how often every tetrahedron is then cut into eight"},
};
static const tbKey sheet_keys[] = {
    {"file", TB_KEY_STRING, AT(Mesh, file), .text = "OBJ, STL or PLY; relative to the scene file"},
    {"grid", TB_KEY_RECORD, AT(Mesh, grid), .record = &grid_record, .text = "or a rectangle"},
    {"tube", TB_KEY_RECORD, AT(Mesh, tube), .record = &tube_record, .text = "or a tube"},
};

static const tbRecord solid_record = {
    "soft_mesh", "A solid cut into tetrahedra, one of these; a name by itself is a file.",
    RECORD(Mesh, NULL, solid_keys), .bare = "file"};
const tbRecord tb_sheet_record = {
    "cloth_mesh", "Triangles, one of these; a name by itself is a file.",
    RECORD(Mesh, NULL, sheet_keys), .bare = "file"};

// ---- what holds nodes ----

#define NODES(record)                                                                                          \
  {"box", TB_KEY_POINTS, AT(record, nodes.box), ANY, 2, 2,                                                      \
   .text = "low and high corner, world axes, at the start, m: the nodes in it or on it"},                       \
  {"vertices", TB_KEY_INDICES, AT(record, nodes.vertices), {0, 2147483647, false}, 0, 2147483647,               \
   .text = "or nodes by number, from 0, in the order of the mesh"}

static const tbKey pin_keys[] = {
    NODES(Pin),
    MOTION_KEYS(Pin, own.),
    {"kinematic", TB_KEY_RECORD, AT(Pin, kinematic), .record = &tb_motion_record,
     .text = "the same three, as of a kinematic body"},
    {"motion", TB_KEY_RECORD, AT(Pin, motion), .record = &tb_motion_record, .text = "another name of kinematic"},
};
static const tbRecord pin_record = {
    "pin", "Nodes that are held: in place, or in a prescribed motion of their body's frame that they follow.",
    RECORD(Pin, NULL, pin_keys)};

static const tbKey attachment_keys[] = {
    {"body", TB_KEY_STRING, AT(Attachment, body), .required = true, .text = "a rigid body"},
    NODES(Attachment),
};
static const tbRecord attachment_record = {
    "attachment", "Nodes that are fixed to a rigid body, where they are at the start.",
    RECORD(Attachment, NULL, attachment_keys)};

static void init_spring(void* out) { ((tbSceneNodeSpring*)out)->length = -1; }

static const tbKey spring_keys[] = {
    {"vertices", TB_KEY_INDICES, AT(NodeSpring, vertices), {0, 2147483647, false}, 2, 2, .required = true,
     .text = "two nodes by number, from 0, in the order of the mesh"},
    {"stiffness", TB_KEY_NUMBER, AT(NodeSpring, stiffness), POSITIVE, .required = true, .text = "N/m"},
    {"length", TB_KEY_NUMBER, AT(NodeSpring, length), NONNEGATIVE,
     .text = "at rest, m; absent: as far as the nodes are from each other at rest"},
};
static const tbRecord spring_record = {
    "spring", "Between two nodes of the body, beside its elements.", RECORD(NodeSpring, init_spring, spring_keys)};

// ---- bodies ----

static const tbKey damping_keys[] = {
    {"mass", TB_KEY_NUMBER, AT(Damping, mass), NONNEGATIVE, .shown = true,
     .text = "α of Rayleigh's αM + βK: slows every motion, free fall too, 1/s"},
    {"stiffness", TB_KEY_NUMBER, AT(Damping, stiffness), NONNEGATIVE, .shown = true,
     .text = "β: slows deformation alone, s"},
};
static const tbRecord damping_record = {
    "damping", "Rayleigh's: a number, the stiffness damping β in s, or an object.",
    RECORD(Damping, NULL, damping_keys), .bare = "stiffness"};

static void init_deformable(tbSceneDeformable* d)
{
  d->pose.orientation[0] = 1;
  for (int i = 0; i < 3; i++) d->scale[i] = 1;
  tbDeformableDef def = tb_default_deformable_def();
  d->self_contact = def.self_contact, d->category = def.category, d->mask = def.mask;
}

static void init_soft(void* out)
{
  tbSceneDeformable* d = out;
  tbSoftDef def = tb_soft_def();
  init_deformable(d);
  d->model = (int)def.model;
  d->mass = def.consistent_mass;
  d->young = def.young;
  d->poisson = def.poisson;
}

static void init_reduced(void* out)
{
  tbSceneDeformable* d = out;
  init_soft(out);
  d->model = TB_ELASTIC_LINEAR;
  d->modes = 20;
  d->self_contact = false;
}

static void init_cloth(void* out)
{
  tbSceneDeformable* d = out;
  tbClothDef def = tb_cloth_def();
  init_deformable(d);
  d->area_density = def.area_density;
  d->stretch = def.stretch, d->shear = def.shear, d->bend = def.bend, d->bending = def.bending;
  d->strain_limit = def.strain_limit, d->limit_stiffness = def.limit_stiffness;
  d->thickness = def.thickness;
  d->air_damping = def.air_damping;
  tb_store3(d->warp, def.warp);
}

#define NAME_AND_MESH(mesh_record) \
  {"name", TB_KEY_STRING, AT(Deformable, name), .text = "unique among all bodies; absent: body/INDEX"}, \
  {"mesh", TB_KEY_RECORD, AT(Deformable, mesh), .record = &mesh_record, .required = true, .text = "what it is cut into"}

#define SHARED_KEYS                                                                                            \
  {"damping", TB_KEY_PART, AT(Deformable, damping), .record = &damping_record, .text = "a number, or an object"}, \
  {"material", TB_KEY_STRING, AT(Deformable, material), .text = "of its surface; absent: friction 0.5"},        \
  {"friction", TB_KEY_RECORD, AT(Deformable, friction), .record = &tb_friction_record,                          \
   .text = "instead of the material's"},                                                                       \
  {"self_contact", TB_KEY_BOOL, AT(Deformable, self_contact), .shown = true,                                   \
   .text = "its surface may touch itself"},                                                                    \
  {"category", TB_KEY_INT64, AT(Deformable, category), BITS, .shown = true, .text = TB_CATEGORY_TEXT},         \
  {"mask", TB_KEY_INT64, AT(Deformable, mask), BITS, .shown = true, .text = TB_MASK_TEXT},                     \
  {"scale", TB_KEY_NUMBERS, AT(Deformable, scale), POSITIVE, 3, 3, .spread = true, .shown = true,              \
   .text = "of the mesh's coordinates; one number for all three axes"},                                        \
  POSE_KEYS(Deformable, "of the mesh's origin"),                                                               \
  {"velocity", TB_KEY_NUMBERS, AT(Deformable, velocity), ANY, 3, 3, .shown = true,                             \
   .text = "of the mesh's origin, m/s"},                                                                       \
  {"angular_velocity", TB_KEY_NUMBERS, AT(Deformable, angular_velocity), ANY, 3, 3, .shown = true,             \
   .text = "about the mesh's origin, world axes, rad/s"},                                                      \
  {"pins", TB_KEY_RECORDS, AT(Deformable, pins), .record = &pin_record,                                        \
   .text = "nodes that are held; one in several follows the first"},                                           \
  {"attach", TB_KEY_RECORDS, AT(Deformable, attach), .record = &attachment_record,                             \
   .text = "nodes that are fixed to rigid bodies; pins come first"},                                           \
  {"springs", TB_KEY_RECORDS, AT(Deformable, springs), .record = &spring_record,                               \
   .text = "between its nodes; not of a reduced body"},                                                        \
  {"load", TB_KEY_RECORD, AT(Deformable, load), .record = &tb_load_record, .text = "a force that acts on it"}, \
  {"repeat", TB_KEY_RECORD, AT(Deformable, repeat), .record = &tb_repeat_record,                               \
   .text = "a grid of copies; what the first one's pins hold, those of the others do"}

#define ELASTIC_KEYS \
  {"young", TB_KEY_NUMBER, AT(Deformable, young), POSITIVE, .shown = true, .text = "Young's modulus, Pa"}, \
  {"poisson", TB_KEY_NUMBER, AT(Deformable, poisson), {-1, 0.5, true}, .shown = true, \
   .text = "Poisson's ratio; less than 0.5"}, \
  {"density", TB_KEY_NUMBER, AT(Deformable, density), POSITIVE, .text = "kg/m³; absent: the material's"}, \
  {"mass", TB_KEY_CHOICE, AT(Deformable, mass), .choice = mass_at, .shown = true, \
   .text = "at the nodes, or exact for linear fields"}

static const tbKey soft_keys[] = {
    NAME_AND_MESH(solid_record),
    {"model", TB_KEY_CHOICE, AT(Deformable, model), .choice = elastic_at, .shown = true, .text = "of elasticity"},
    ELASTIC_KEYS,
    SHARED_KEYS,
};
static const tbKey reduced_keys[] = {
    NAME_AND_MESH(solid_record),
    {"modes", TB_KEY_INT, AT(Deformable, modes), {1, 1000, false}, .shown = true,
     .text = "fields that it deforms by; with modal-derivatives, half of them are modes of vibration"},
    {"basis", TB_KEY_CHOICE, AT(Deformable, basis), .choice = basis_at, .shown = true,
     .text = "modes of vibration alone, or with their derivatives for large bending"},
    {"model", TB_KEY_CHOICE, AT(Deformable, model), .choice = elastic_at, .shown = true, .text = "linear, which turns with the body's frame, or stvk; modal-derivatives are stvk"},
    ELASTIC_KEYS,
    SHARED_KEYS,
};
static const tbKey cloth_keys[] = {
    NAME_AND_MESH(tb_sheet_record),
    {"area_density", TB_KEY_NUMBER, AT(Deformable, area_density), POSITIVE, .shown = true, .text = "kg/m²"},
    {"stretch", TB_KEY_NUMBER, AT(Deformable, stretch), POSITIVE, .shown = true,
     .text = "stiffness along the threads, N/m"},
    {"shear", TB_KEY_NUMBER, AT(Deformable, shear), NONNEGATIVE, .shown = true, .text = "between them, N/m"},
    {"bend", TB_KEY_NUMBER, AT(Deformable, bend), NONNEGATIVE, .shown = true, .text = "of its folds, N·m"},
    {"bending", TB_KEY_CHOICE, AT(Deformable, bending), .choice = bending_at, .shown = true,
     .text = "scheme pd: an energy of 2 sin(θ/2), whose matrix is constant, or of the angle θ of a fold, as other schemes have it"},
    {"strain_limit", TB_KEY_NUMBER, AT(Deformable, strain_limit), {0, 0.999, false}, .shown = true,
     .text = "threads longer or shorter than at rest by more than this part resist with limit_stiffness, too; 0: no limit"},
    {"limit_stiffness", TB_KEY_NUMBER, AT(Deformable, limit_stiffness), NONNEGATIVE, .shown = true,
     .text = "N/m; 0: 100 times stretch"},
    {"thickness", TB_KEY_NUMBER, AT(Deformable, thickness), NONNEGATIVE, .shown = true, .text = "m"},
    {"air_damping", TB_KEY_NUMBER, AT(Deformable, air_damping), NONNEGATIVE, .shown = true,
     .text = "drag per area and velocity, N·s/m³"},
    {"warp", TB_KEY_NUMBERS, AT(Deformable, warp), ANY, 3, 3, .shown = true,
     .text = "direction of the threads in the mesh; not 0"},
    SHARED_KEYS,
};

const tbRecord tb_soft_record = {
    "soft", "A solid of finite elements.",
    RECORD(Deformable, init_soft, soft_keys)};
const tbRecord tb_cloth_record = {
    "cloth", "A sheet of triangles and hinges.",
    RECORD(Deformable, init_cloth, cloth_keys)};
const tbRecord tb_reduced_record = {
    "reduced", "A solid that deforms by a few fields, in a frame that moves with it; where nodes are pinned, in theirs. Joints hold it at the material that is closest to their anchors.",
    RECORD(Deformable, init_reduced, reduced_keys)};
// clang-format on
