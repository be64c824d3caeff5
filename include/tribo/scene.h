// SPDX-License-Identifier: Apache-2.0
// A world: bodies made of shapes, what they are made of, and what joins them. State and description only;
// tribo/step.h moves it.
//
//   tbWorldDef world_def = tb_default_world_def();
//   tbWorld* world;
//   tb_world_create(&ctx, &world_def, &world);
//
//   tbShape cube = tb_shape_box(tb_vec3(1, 1, 1));
//   tbBodyDef def = tb_default_body_def();
//   def.shapes = &cube, def.shape_count = 1, def.position = tb_vec3(0, 0, 5);
//   tbBodyId body;
//   tb_world_add_body(&ctx, world, &def, &body);
//
// Ids are small values, good in the world that gave them until what they name is removed; after that they are
// refused, and never name anything else. Things also have places, 0 … count − 1 in order of creation, by
// which arrays of the world and recordings list them; when one is removed, those behind it move up. A
// definition that breaks a rule (negative mass, NaN, a plane that moves) is refused with a message and leaves
// the world as it was. SI units; z is up unless gravity says otherwise; quaternions are [w x y z].
//
// This header makes worlds and looks at them; tribo/change.h changes and removes what is there.
#ifndef TRIBO_SCENE_H
#define TRIBO_SCENE_H

#include "tribo/fem.h"

TB_API_BEGIN

typedef struct tbWorld tbWorld;

// An entry of the world's table, and which of its users is meant. Until something is removed, `index` is the
// place as well.
typedef struct tbBodyId {
  int index; // −1: none
  uint32_t generation;
} tbBodyId;
typedef struct tbMaterialId {
  int index; // 0: the world's default material, which stays
  uint32_t generation;
} tbMaterialId;
typedef struct tbJointId {
  int index; // −1: none
  uint32_t generation;
} tbJointId;

typedef struct tbWorldDef {
  const char* name;
  tbVec3 gravity; // m/s²
  uint64_t seed;  // of whatever is random, now or later
} tbWorldDef;

tbWorldDef tb_default_world_def(void); // gravity (0, 0, −9.81)

tbStatus tb_world_create(tbContext* ctx, const tbWorldDef* def, tbWorld** out);
void tb_world_free(tbContext* ctx, tbWorld* world); // takes null

// Geometry the world frees with itself, whatever these return.
tbStatus tb_world_keep_hull(tbContext* ctx, tbWorld* world, tbHull* hull);
tbStatus tb_world_keep_mesh(tbContext* ctx, tbWorld* world, tbMesh* mesh);
tbStatus tb_world_keep_sdf(tbContext* ctx, tbWorld* world, tbSdf* sdf);

// Materials.

typedef enum tbFrictionKind {
  TB_FRICTION_ISOTROPIC,  // mu
  TB_FRICTION_ELLIPTIC,   // mu_t along `direction`, mu_b across; torsion, rolling
  TB_FRICTION_CONTENSOU,  // mu, torsion, rolling: lengths in metres; torque ≤ length · normal force
  TB_FRICTION_MATCHSTICK, // structure along `direction`: mu_t along and mu_b across where the other surface's
                          // structure is parallel, mu where it is at right angles (course, algorithm 21)
  TB_FRICTION_TEXTURE,    // plowing of a normal map, first axis along `direction`; what the other surface has
                          // adds up
  TB_FRICTION_TENSOR,     // force −λ_n κ Q v̂, Q the sum of the two surfaces' `matrix` (course, eq. 320)
} tbFrictionKind;

// What a surface does to sliding. `direction` is in the body's frame and is projected on the contact plane;
// on a deformable it is in the frame its mesh was given in, and moves with the material. Two surfaces meet
// symmetrically (docs/friction.md).

// How an image lies on a surface. Columns go along the friction's direction d, rows across it, along c = z ×
// d (x × d where d is along z), from the origin of the frame of the body or its mesh.
typedef enum tbMapping {
  TB_MAPPING_CONTACT, // in each contact's plane, along what d is there; on deformables planar
  TB_MAPPING_PLANAR,  // in the plane of d and c, whatever way the surface faces
  TB_MAPPING_BOX, // as a box is wrapped: d and c; where the surface faces d, c and d × c; where c, d and d ×
                  // c
  TB_MAPPING_COUNT
} tbMapping;

typedef struct tbFriction {
  tbFrictionKind kind;
  double mu;
  double mu_t, mu_b;
  tbVec3 direction;
  double torsion, rolling; // m
  double matrix[4], kappa; // tensor: row-major, first axis along `direction`; its symmetric part must not
                           // have a negative eigenvalue
  double matrix_back[4];   // where the surface slides against `direction` over the other: matrix_back, if
  bool asymmetric;         // asymmetric
  double static_ratio;     // friction at rest over that of sliding; below 1 counts as 1
  double stribeck;     // speed over which it falls from the one to the other (Stribeck); 0: at once     m/s
  double tresca;       // limit of friction at a contact, whatever its normal force (Tresca); 0: none     N
  double adhesion;     // pull that a contact withstands: the cone moved along its axis                   N
  double restitution;  // of the tangential velocity at impacts, 0 … 1
  int texture;         // tb_world_add_texture(); 0: none
  int directions;      // of a texture's friction: 4, a box; more, even, at most 16: a polygon
  double scale, patch; // of a texture: metres per repeat; and the side of the square about a contact that is
                       // looked at, 0: whole repeats                                                    m
  int field;           // tb_world_add_field(): directions that differ from place to place; 0: `direction`
  int direction_map;   // tb_world_add_direction_map(): the same from an image; 0: none. Metres per repeat:
                       // scale
  tbMapping mapping;   // where textures and maps of directions lie on the surface
  int chart;           // tb_world_add_chart(): by texture coordinates, instead; 0: by `mapping`
} tbFriction;

tbFriction tb_friction(double mu); // isotropic

// Normals of a surface's texture, row by row: x along the friction's direction, y across, z out of the
// surface. Any length but 0. Its plowing coefficients (course, eq. 335) are averaged over all of it, or over
// the patch of a contact: the first pixel begins at the origin of the body's frame, columns go along the
// friction's direction, rows across. *out is for tbFriction.texture.
tbStatus tb_world_add_texture(tbContext* ctx, tbWorld* world, int width, int height, const tbVec3* normals,
                              int* out);

// Directions of a surface's structure at points of the body's frame, on a deformable of that of its mesh; any
// length but 0. Between the points the structure turns steadily from the one to the other. They move with the
// body and its material as tbFriction.direction does, whose place they take. *out is for tbFriction.field.
tbStatus tb_world_add_field(tbContext* ctx, tbWorld* world, int count, const tbVec3* points,
                            const tbVec3* directions, int* out);

// Directions by pixels, row by row, (x, y) of any length but 0: x along the map's columns, y across, as
// normals of a texture have them. Between the middles of pixels the structure turns steadily. *out is for
// tbFriction.direction_map.
tbStatus tb_world_add_direction_map(tbContext* ctx, tbWorld* world, int width, int height,
                                    const double* directions, int* out);

// Texture coordinates: triangles in the frame of the body, on a deformable of that of its mesh, three corners
// each, with (u, v) in repeats at each. u goes along the columns of an image and v up its rows, from below,
// as in OBJ files (tb_chart_load); a contact takes those of the closest triangle. Triangles without an area,
// in space or on the texture, are left out. *out is for tbFriction.chart, which goes with any shape.
tbStatus tb_world_add_chart(tbContext* ctx, tbWorld* world, int triangles, const tbVec3* corners,
                            const double* coordinates, int* out);

// How contacts of a surface give way: force = −k φ − b φ̇ of each contact, in place of the step's
// stabilisation. Two surfaces are springs in series: compliances 1/k add up, relaxation times b/k meet in the
// mean weighted by them; a surface without a spring is rigid. Rigid bodies overlap by φ. Surfaces of
// deformables never pass through each other: their spring is a coat on the surface, and rigid below it. The
// scheme ipc has its barriers in place of springs.
typedef struct tbContactSpring {
  double stiffness; // k; 0: none                                                                      N/m
  double damping;   // b                                                                               N·s/m
  double coat; // of deformables: how far above the surface the spring begins; 0: a tenth of a mean edge  m
} tbContactSpring;

// The same as numbers of the row u + ε λ = −υ φ/h at a step h (course, eq. 59): ε = 1/(h²k + hb) and
// υ = hk/(hk + b), and back. cfm: ε > 0, 1/kg; erp: υ, 0 < υ ≤ 1.
tbContactSpring tb_contact_spring(double dt, double erp, double cfm);
double tb_contact_spring_erp(tbContactSpring spring, double dt);
double tb_contact_spring_cfm(tbContactSpring spring, double dt);

typedef struct tbMaterialDef {
  const char* name; // unique; not null
  double density;   // kg/m³
  tbFriction friction;
  double restitution; // 0 … 1
  tbContactSpring spring;
} tbMaterialDef;

tbMaterialDef tb_default_material_def(void); // density 1000, friction 0.5, restitution 0

tbStatus tb_world_add_material(tbContext* ctx, tbWorld* world, const tbMaterialDef* def, tbMaterialId* out);
int tb_world_material_count(const tbWorld* world);
tbMaterialId tb_world_material_at(const tbWorld* world, int place);
tbMaterialId tb_world_find_material(const tbWorld* world, const char* name); // index −1: none
int tb_material_place(const tbWorld* world, tbMaterialId material);          // −1: removed, or never there
// What two materials do together. Without it: the geometric mean of the frictions, the larger restitution.
tbStatus tb_world_set_pair(tbContext* ctx, tbWorld* world, tbMaterialId a, tbMaterialId b,
                           tbFriction friction, double restitution);
// The spring of two materials, in place of both of theirs; stiffness 0: theirs again.
tbStatus tb_world_set_pair_spring(tbContext* ctx, tbWorld* world, tbMaterialId a, tbMaterialId b,
                                  tbContactSpring spring);

// Bodies.

// How a body moves, whatever it is made of.
typedef enum tbBodyMotion {
  TB_BODY_DYNAMIC,  // by forces and contacts
  TB_BODY_FIXED,    // not at all
  TB_BODY_KINEMATIC // as prescribed
} tbBodyMotion;

// A prescribed motion: constant velocities from the initial pose, or poses at times, between which a body
// moves and turns at constant velocity; it rests before the first and after the last.
typedef struct tbMotionKey {
  double t;
  tbVec3 position;
  tbQuat orientation;
} tbMotionKey;

typedef struct tbBodyDef {
  const char* name;  // unique; null: "body/INDEX"
  tbBodyMotion kind; // of its motion
  const tbShape* shapes;
  int shape_count;
  tbMaterialId material;
  double mass;             // kg; 0: from the density
  double density;          // kg/m³; 0: the material's
  double inertia[6];       // about the centre of mass, body axes: xx yy zz xy xz yz; all 0: from the shapes
  tbVec3 position;         // of the body frame's origin
  tbQuat orientation;      // of any length but 0
  tbVec3 velocity;         // of the body frame's origin
  tbVec3 angular_velocity; // world axes
  const tbFriction* friction; // overrides the material's; may be null
  const double* restitution;  // overrides the material's; may be null
  const tbMotionKey* keys;    // of a kinematic body; none: velocity and angular_velocity, constant
  int key_count;
  bool bullet;             // swept against everything, however fast
  uint32_t category, mask; // two rigid bodies touch where each has a category that the other's mask has
  const tbVec3* centre;    // of mass, in the body's frame; null: that of the shapes
} tbBodyDef;

tbBodyDef tb_default_body_def(void); // dynamic, default material, identity pose, at rest

tbStatus tb_world_add_body(tbContext* ctx, tbWorld* world, const tbBodyDef* def, tbBodyId* out);
int tb_world_body_count(const tbWorld* world);
tbBodyId tb_world_body_at(const tbWorld* world, int place);          // index −1: no such place
tbBodyId tb_world_find_body(const tbWorld* world, const char* name); // index −1: none
int tb_body_place(const tbWorld* world, tbBodyId body);              // −1: removed, or never there

typedef struct tbBodyState {
  tbVec3 position; // of the body frame's origin, as in tbBodyDef
  tbQuat orientation;
  tbVec3 velocity, angular_velocity;
} tbBodyState;

const char* tb_body_name(const tbWorld* world, tbBodyId body);
// What files call it: "dynamic", "fixed" or "kinematic", of rigid bodies; "soft", "cloth", "animated".
const char* tb_body_kind(const tbWorld* world, tbBodyId body);
tbBodyState tb_body_state(const tbWorld* world, tbBodyId body);
tbStatus tb_body_set_state(tbContext* ctx, tbWorld* world, tbBodyId body, const tbBodyState* state);
double tb_body_mass(const tbWorld* world, tbBodyId body); // 0: not dynamic
// Whether the last step left it where it was (option sleep of tribo/step.h), and nothing has woken it since.
bool tb_body_asleep(const tbWorld* world, tbBodyId body);
int tb_body_dofs(const tbWorld* world, tbBodyId body); // degrees of freedom; 0: not dynamic
// A force on the centre of mass and a torque, world axes, for the next step only; they add up.
tbStatus tb_body_apply(tbContext* ctx, tbWorld* world, tbBodyId body, tbVec3 force, tbVec3 torque);

// A force on the centre of mass and a torque at a time, world axes.
typedef struct tbLoadKey {
  double t;
  tbVec3 force, torque;
} tbLoadKey;

// What acts on a body in every step, beside tb_body_apply: on straight lines between keys, constant before
// and after; a step has the mean. No torque on deformable bodies. In place of the last load; count 0: none.
tbStatus tb_body_set_load(tbContext* ctx, tbWorld* world, tbBodyId body, const tbLoadKey* keys, int count);
int tb_body_load(const tbWorld* world, tbBodyId body, tbLoadKey* keys); // how many; keys may be null

// Deformable bodies are bodies like others: an id, a name, a material. Their state is that of their nodes;
// tb_body_state gives the centre of mass and its velocity.

// Nodes that are held, all in one way: by the world, where they are or in prescribed motion; or by another
// body, to which they are attached at the place they have when this is added.
typedef struct tbPinDef {
  const int* nodes;
  int node_count;
  tbBodyId body;           // rigid; index −1: the world
  const tbMotionKey* keys; // poses of the body's frame, which the nodes follow as if they were fixed in it
  int key_count;           // 0: velocity and angular_velocity of that frame, constant from its first pose
  tbVec3 velocity, angular_velocity;
} tbPinDef;

tbPinDef tb_default_pin_def(void); // no nodes, held by the world at rest

// The fields that a reduced body deforms by.
typedef enum tbReducedBasis {
  TB_BASIS_LINEAR,      // its modes of vibration: small deformation, any motion
  TB_BASIS_DERIVATIVES, // and their derivatives, with St. Venant and Kirchhoff's elasticity: large bending
  TB_BASIS_COUNT
} tbReducedBasis;

const char* tb_basis_name(tbReducedBasis basis); // "linear", "modal-derivatives"

typedef struct tbDeformableDef {
  const char* name;       // unique; null: "body/INDEX"
  const tbTetMesh* solid; // either a solid, made of `soft`,
  const tbMesh* sheet;    // or a sheet, made of `cloth`; copied
  tbSoftDef soft;
  tbClothDef cloth;
  tbMaterialId material;      // of its surface
  const tbFriction* friction; // overrides the material's; may be null
  tbVec3 position;            // of the mesh's frame; its nodes are at rest where this puts them
  tbQuat orientation;
  tbVec3 velocity, angular_velocity; // of that frame
  const tbPinDef* pins;
  int pin_count;
  const tbSpringDef* springs; // not of a reduced body
  int spring_count;
  bool self_contact;       // its surface may touch itself
  uint32_t category, mask; // as in tbBodyDef
  // A reduced body: a solid that deforms by so many fields alone, in a frame that moves with it. Its model is
  // linear, or stvk; its pins are the world's, with one motion. 0: every node moves by itself
  int modes;
  tbReducedBasis basis;
  const char*
      basis_file; // where its fields are kept for the next time, if they are of this solid; may be null
} tbDeformableDef;

tbDeformableDef tb_default_deformable_def(void); // identity pose, at rest, self-contact

tbStatus tb_world_add_deformable(tbContext* ctx, tbWorld* world, const tbDeformableDef* def, tbBodyId* out);
int tb_body_node_count(const tbWorld* world, tbBodyId body); // 0: rigid
const tbVec3* tb_body_nodes(const tbWorld* world, tbBodyId body);
const tbVec3* tb_body_node_velocities(const tbWorld* world, tbBodyId body);
tbStatus tb_body_set_nodes(tbContext* ctx, tbWorld* world, tbBodyId body, const tbVec3* positions,
                           const tbVec3* velocities);
// Coordinates of a reduced body's deformation, and their rates (null: at rest). 0 and null: it has none.
int tb_body_mode_count(const tbWorld* world, tbBodyId body);
const double* tb_body_modes(const tbWorld* world, tbBodyId body);
tbStatus tb_body_set_modes(tbContext* ctx, tbWorld* world, tbBodyId body, const double* coordinates,
                           const double* rates);
// Its surface: triangles over its nodes, counter-clockwise seen from outside.
int tb_body_triangle_count(const tbWorld* world, tbBodyId body);
const int (*tb_body_triangles(const tbWorld* world, tbBodyId body))[3];

// A mesh that goes where it is told, vertex by vertex: an obstacle to deformables, and to what is rigid in
// schemes that move deformables; nothing moves it. Its vertices are nodes to look at, as those of deformables
// are; on straight lines between frames, at rest before the first and after the last. The frame that they are
// given in may move, too, as a kinematic body does (tb_body_set_motion, tb_body_move_to).
typedef struct tbAnimatedDef {
  const char* name; // unique; null: "body/INDEX"
  int vertex_count, triangle_count, frame_count;
  const int (*triangles)[3]; // counter-clockwise seen from outside                        (triangle_count)
  const double* times;       // of the frames, increasing                                  (frame_count)  s
  const tbVec3* vertices;    // of the first frame, of the second, …          (frame_count · vertex_count)
  double thickness;          // surfaces keep half of it from the triangles                               m
  tbMaterialId material;
  const tbFriction* friction; // overrides the material's; may be null
  tbVec3 position;            // of the frame of the vertices
  tbQuat orientation;
  tbVec3 velocity, angular_velocity; // of that frame, constant
  const tbMotionKey* keys;           // or its poses at times
  int key_count;
  uint32_t category, mask; // as in tbBodyDef
} tbAnimatedDef;

tbAnimatedDef tb_default_animated_def(void); // identity pose, at rest, no thickness

tbStatus tb_world_add_animated(tbContext* ctx, tbWorld* world, const tbAnimatedDef* def, tbBodyId* out);

// Joints. Bodies joined to each other do not collide with each other unless asked to.

typedef enum tbJointType {
  TB_JOINT_BALL,     // anchors together
  TB_JOINT_HINGE,    // and the axes aligned: limits and motor on the angle
  TB_JOINT_SLIDER,   // one translation along the axis, no rotation: limits and motor on the travel
  TB_JOINT_WELD,     // nothing moves
  TB_JOINT_DISTANCE, // anchors at a distance; with limits: between two distances
  TB_JOINT_COUNT
} tbJointType;

const char* tb_joint_type_name(tbJointType type);

// A position servo of a hinge or slider: force = stiffness (target − coordinate) + damping (rate − speed),
// within ± force, taken at the end of the step, so that any stiffness is stable; the rate is that of a target
// that moves by keys. A hinge goes the short way round, unless its limits say which way is open.
typedef struct tbServo {
  double stiffness; // N·m/rad or N/m      not both of the two zero
  double damping;   // N·m·s/rad or N·s/m
  double force;     // N·m or N: at most; ∞: whatever it takes
} tbServo;

// A servo's target, a motor's speed or an effort at a time: on straight lines between keys, constant before
// and after.
typedef struct tbJointKey {
  double t;     // s
  double value; // target: rad or m, measured from creation; speed: rad/s or m/s; effort: N·m or N
} tbJointKey;

typedef struct tbJointDef {
  const char* name; // copied; unique among joints; null: none
  tbJointType type;
  tbBodyId a, b;          // index −1: the world
  tbVec3 anchor;          // world, at creation; on both bodies unless anchor_b is given
  const tbVec3* anchor_b; // on b, world; for distance joints; may be null
  tbVec3 axis;            // world, at creation; hinge and slider
  bool limited;        // lower ≤ angle or travel ≤ upper, measured from creation; distance: of the length
  double lower, upper; // rad or m; −∞, ∞: no limit on that side
  bool motor;          // drives towards motor_speed with at most motor_force
  double motor_speed;  // rad/s or m/s
  double motor_force;  // N·m or N; ∞: whatever it takes
  bool servoed;        // holds the angle or travel at servo_target; not together with a motor
  tbServo servo;
  double servo_target; // rad or m, measured from creation
  const tbJointKey*
      drive_keys; // copied; in order of time, instead of servo_target, or of motor_speed; or null
  int drive_key_count;
  double effort; // about or along the axis, on b, and back on a; beside a motor or servo          N·m or N
  const tbJointKey* effort_keys; // copied; instead of the effort; may be null
  int effort_key_count;
  double friction; // dry, in a hinge's bearing or a slider's guide: resists with at most so much  N·m or N
  double armature; // inertia that turns or travels with its coordinate, as a rotor behind a gear does: that
                   // of the rotor times the gear's ratio squared                               kg·m² or kg
  double compliance; // of all its rows; 0: rigid   m/N, rad/(N·m)
  double damping;    // with compliance: of the spring   N·s/m
  bool collide;      // let the two bodies collide
} tbJointDef;

tbJointDef tb_default_joint_def(tbJointType type);

tbStatus tb_world_add_joint(tbContext* ctx, tbWorld* world, const tbJointDef* def, tbJointId* out);
int tb_world_joint_count(const tbWorld* world);
tbJointId tb_world_joint_at(const tbWorld* world, int place);          // index −1: no such place
int tb_joint_place(const tbWorld* world, tbJointId joint);             // −1: removed, or never there
tbJointId tb_world_find_joint(const tbWorld* world, const char* name); // index −1: none
// What it was made from, with later changes; anchor_b is null. Of a joint that is gone: a default one.
tbJointDef tb_joint_def(const tbWorld* world, tbJointId joint);

typedef struct tbJointState {
  double coordinate; // hinge: angle, rad; slider: travel, m; both from creation. Distance: m. Else 0
  double speed;      // its rate, rad/s or m/s
  tbVec3 force;      // on b at its anchor, world axes, mean over the last step                         N
  tbVec3 torque;     // on b about its anchor                                                           N·m
  double drive; // the part of these that its motor or servo and its effort bring, along or about the axis
} tbJointState;

// Of a joint that is gone: zeros. Impacts within the step are not part of the forces.
tbJointState tb_joint_state(const tbWorld* world, tbJointId joint);

// The whole.

double tb_world_time(const tbWorld* world);
int64_t tb_world_step_count(const tbWorld* world);

typedef struct tbEnergy {
  double kinetic, potential,
      elastic; // J; potential of gravity, zero at the origin; elastic: deformables, compliant joints
} tbEnergy;

tbEnergy tb_world_energy(const tbWorld* world);
tbVec3 tb_world_momentum(const tbWorld* world);         // of what moves freely
tbVec3 tb_world_angular_momentum(const tbWorld* world); // about the origin

// What the caller keeps with a world: in snapshots, not in checkpoints.
void tb_world_set_user(tbWorld* world, void* user);
void* tb_world_user(const tbWorld* world);
bool tb_body_set_user(tbWorld* world, tbBodyId body, void* user); // false: the body is gone
void* tb_body_user(const tbWorld* world, tbBodyId body);
bool tb_joint_set_user(tbWorld* world, tbJointId joint, void* user);
void* tb_joint_user(const tbWorld* world, tbJointId joint);

// 64 bits of everything that decides the future: poses, velocities, time, impulses kept for the next step.
uint64_t tb_world_hash(const tbWorld* world);

// The contacts of the last step.
typedef enum tbContactState { TB_CONTACT_OPEN, TB_CONTACT_STICK, TB_CONTACT_SLIP } tbContactState;

typedef struct tbContactView {
  tbBodyId a, b;
  tbVec3 position;    // midway between the two surfaces
  tbVec3 normal;      // unit, from a to b
  tbVec3 tangent;     // unit; the second one is normal × tangent
  double gap;         // before the step
  double impulse[6];  // N·s: normal, tangent, second tangent, torsion, rolling
  double velocity[6]; // after the step, of b relative to a
  double residual;    // its part of the judge's, ‖F_k‖ in fclib's scaling (tb_judge_contacts)
  int rows;
  tbContactState state;
} tbContactView;

int tb_world_contact_count(const tbWorld* world);
tbContactView tb_world_contact(const tbWorld* world, int index);

// Two bodies that began to touch in the last step, with an impulse between them, or ceased to. A body that
// was removed gets no end; a world that was loaded or restored has no events before its next step.
typedef struct tbContactEvent {
  tbBodyId a, b; // a has the lower place
  bool begins;
} tbContactEvent;

int tb_world_event_count(const tbWorld* world);
tbContactEvent tb_world_event(const tbWorld* world, int index);

TB_API_END
#endif
