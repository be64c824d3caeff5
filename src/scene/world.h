// SPDX-License-Identifier: Apache-2.0
// A world from the inside: plain arrays.
#ifndef TB_SCENE_WORLD_H
#define TB_SCENE_WORLD_H

#include "base/array.h"
#include "scene/cache.h"
#include "scene/ids.h"
#include "scene/names.h"
#include "scene/state.h"
#include "tribo/scene.h"

typedef struct tbKind tbKind; // what a body is (kind.h)

typedef struct tbBody {
  // state
  tbVec3 x;             // centre of mass                                                   m
  tbQuat q;             // orientation of the body frame, unit
  tbVec3 v;             // of the centre of mass                                            m/s
  tbVec3 w;             // angular velocity, world axes                                     rad/s
  tbVec3 force, torque; // applied for the next step

  // constants
  const tbKind* kind;
  void* own; // what bodies of its kind have beside this
  tbBodyMotion motion;
  bool bullet;
  double mass;        // 0: not dynamic
  tbVec3 centre;      // of mass, body frame
  tbMat3 inertia;     // about it, body axes
  tbMat3 inertia_inv; // zero: not dynamic
  int shape, nshape;  // in tbWorld.shape
  int material;
  int own_contact_material; // index into tbWorld.contact_material of its own friction or restitution; −1: the
                            // material's
  int key, nkey;       // prescribed motion, in tbWorld.key; 0 keys: constant velocity
  tbTransform initial; // pose at t = 0 of a constant prescribed motion; of a deformable: how its mesh was
                       // turned to where it was at rest
  double radius;       // of the smallest sphere about the centre of mass that holds all of it (∞: a plane)
  bool own_friction, own_restitution; // which of the two is its own; the other is the material's
  int id;                             // in tbWorld.body_ids
  uint32_t category, mask;            // which bodies it touches
  void* user;                         // the caller's
  const char* name;
} tbBody;

// A force on a body at a time (load.c).
typedef struct tbLoad {
  int body; // its place
  tbLoadKey key;
} tbLoad;

// A prescribed motion of a frame.
typedef struct tbMotion {
  int key, nkey;       // in tbWorld.key; 0 keys: constant velocity
  tbTransform initial; // then: pose at t = 0
  tbVec3 v, w;         // then: of the frame's origin, and turning
} tbMotion;

tbTransform tb_motion_pose(const tbWorld* world, const tbMotion* motion, double t);

// What the last step did at one point: warm start, CSV, pictures. Sorted by shapes, then feature.
typedef struct tbContactRecord {
  // What the next step starts from, side by side.
  int shape_a,
      shape_b; // in tbWorld.shape, a < b; −1: a body's own surface. Those of surfaces come last, by feature
  int body_a, body_b;
  uint64_t feature;
  int rows;
  tbContactState state;
  double impulse[6];
  tbVec3 normal, tangent;
  // What it is told as.
  tbVec3 local; // position in the frame of body a's centre of mass
  tbVec3 position;
  double gap;
  double velocity[6];
  double residual; // its part of the judge's
} tbContactRecord;

// Where impulses of each stand.
enum { TB_JOINT_LIMITS = 6, TB_JOINT_DRIVE = 8, TB_JOINT_FRICTION, TB_JOINT_ROTOR, TB_JOINT_IMPULSES };

enum { TB_KEYS_DRIVE, TB_KEYS_EFFORT, TB_KEYS_COUNT }; // what keys of a joint are of

// A point of the material of a body that deforms: in an element, whose corners have these weights.
typedef struct tbMaterialPoint {
  int element;
  double weight[4];
} tbMaterialPoint;

typedef struct tbJoint {
  tbJointDef def;
  int a, b; // places of its bodies; −1: the world
  int id;   // in tbWorld.joint_ids
  void* user;
  int key;                 // its first in tbWorld.joint_key
  int nkey[TB_KEYS_COUNT]; // of its drive, and behind these of its effort; 0: constant
  // frames at creation, in the bodies' frames (the world's for −1), of bodies that deform in those of their
  // material at a point
  tbMaterialPoint point_a, point_b; // of bodies that deform
  tbVec3 anchor_a, anchor_b;
  tbQuat frame_a, frame_b;           // x axis: the joint's axis
  double length;                     // distance: at creation
  double impulse[TB_JOINT_IMPULSES]; // of the last step: 6 rows, 2 limits, drive, friction, rotor
  tbVec3 force, torque;              // on b at its anchor, mean over the last step; to look at
  double effort;                     // of the last step; to look at
} tbJoint;

// What a joint measures. centre: poses of the bodies' centres of mass, one per body; null: where they are.
typedef struct tbJointPlace {
  tbVec3 arm_a, arm_b; // from the centres of mass (the world's origin) to the anchors
  tbVec3 apart;        // from anchor a to anchor b
  tbQuat frame_a, frame_b;
} tbJointPlace;
tbJointPlace tb_joint_placed(const tbWorld* world, const tbTransform* centre, const tbJoint* joint);
// The frame a joint sits in on its body at a place (the world: −1), of one that deforms where it is now.
tbTransform tb_joint_frame(const tbWorld* world, const tbTransform* centre, int body,
                           const tbMaterialPoint* point);
// Travel of a slider, angle of a hinge. Of all angles that look alike it is the one nearest to the middle of
// the limits (to 0 without), so that limits may be up to a turn apart.
double tb_joint_coordinate(const tbJoint* joint, const tbJointPlace* place);
// How fast it changes with the velocities of its bodies: [a, b], of the world 0.
double tb_joint_rate(const tbJoint* joint, const tbJointPlace* place, const tbVec3 v[2], const tbVec3 w[2]);
double tb_joint_speed(const tbWorld* world, const tbJoint* joint); // as its bodies move now

typedef struct tbContactMaterial {
  tbFriction friction;
  double restitution;
  tbContactSpring spring; // of a pair of surfaces, as they meet
} tbContactMaterial;

typedef struct tbMaterial {
  const char* name;
  int id; // in tbWorld.material_ids
  double density;
  tbContactMaterial contact_material;
} tbMaterial;

typedef struct tbPairRule {
  int a, b;                           // materials, a ≤ b
  bool own_friction;                  // else friction is as without the rule
  bool own_restitution;               // likewise
  bool direction_of_b;                // friction.direction is in the frame of the second body
  tbContactMaterial contact_material; // spring.stiffness 0: the spring, too, is as without the rule
} tbPairRule;

typedef struct tbBodyPair {
  int a, b; // places, a < b
} tbBodyPair;

// The plowing coefficient of a texture that moves along (cos, sin)(2πi/TB_PLOW_DIRECTIONS) of its axes.
enum { TB_PLOW_DIRECTIONS = 128 };
typedef struct tbTexture {
  double plow[TB_PLOW_DIRECTIONS];
  int width, height;
  size_t first; // of its facets, row by row, in tbWorld.facet
} tbTexture;

// What a pixel resists: along d by max(0, x d_x + y d_y).
typedef struct tbFacet {
  double x, y;
} tbFacet;

// The square of a texture that a contact sees: its centre and half its sides, in repeats.
typedef struct tbTexturePatch {
  const tbTexture* texture;
  const tbFacet* facet;
  double at[2], half[2];
} tbTexturePatch;

// The mean over it of what resists moving along (x, y) of the texture's axes.
double tb_texture_plow(const tbTexturePatch* patch, double x, double y);
// The direction that a map of directions has at a place, in repeats: its cosine and sine in the map's axes.
void tb_texture_direction(const tbTexture* map, const tbFacet* facet, const double at[2],
                          double direction[2]);

// Where a contact is on a map: in repeats, columns and rows; ∂x/∂u and ∂x/∂v in the frame of the body or its
// mesh.
typedef struct tbChartPlace {
  double at[2];
  tbVec3 by_u, by_v;
} tbChartPlace;

// A triangle of texture coordinates, in the order of a tree (chart.c).
typedef struct tbChartTriangle {
  tbVec3 corner[3];
  double uv[3][2];
  tbBox box; // of the range that it parts
} tbChartTriangle;
typedef struct tbChart {
  size_t first, count; // of its triangles, in tbWorld.chart_triangle
} tbChart;

// Directions at points of a body's frame, in the order of a k-d tree (field.c).
typedef struct tbFieldPoint {
  tbVec3 at, along; // along: of length 1
} tbFieldPoint;
typedef struct tbField {
  size_t first, count; // of its points, in tbWorld.field_point
} tbField;

struct tbWorld {
  const char* name;
  tbVec3 gravity;
  uint64_t seed;
  double time; // clock_start + clock_steps · clock_dt
  int64_t steps;
  double clock_start, clock_dt;
  int64_t clock_steps; // since dt last changed

  tbArray body;             // tbBody
  tbArray shape;            // tbShape, body by body
  tbArray owner;            // int: the body of a shape
  tbArray joint;            // tbJoint
  tbArray material;         // tbMaterial
  tbArray contact_material; // tbContactMaterial: bodies' own
  tbArray pair;             // tbPairRule, sorted
  tbArray key;              // tbMotionKey
  tbArray joint_key;        // tbJointKey, of the joints in their order
  tbArray load;             // tbLoad, of the bodies in their order
  tbArray contact;          // tbContactRecord of the last step
  tbArray texture;          // tbTexture
  tbArray facet;            // tbFacet: of all textures
  tbArray field;            // tbField
  tbArray field_point;      // tbFieldPoint: of all fields
  tbArray chart;            // tbChart
  tbArray chart_triangle;   // tbChartTriangle: of all charts
  tbArray ignored;          // tbBodyPair that do not touch, sorted
  tbArray event;            // tbContactEvent of the last step: to look at, in no checkpoint
  void* user;               // the caller's

  const tbStateKind* state_kind; // of what the last step's scheme keeps; null: nothing
  void* state;
  tbCache* cache; // the only part that is not the world's description or state

  tbArray hull, mesh, sdf; // pointers: geometry it frees
  tbNames names;
  tbIds body_ids, joint_ids, material_ids;
  int64_t bodies_made; // how many bodies there have ever been: names of those that get none
  int64_t layout;      // raised whenever bodies come or go: recordings end there
};

// The items of an array of a world: constant, if the world is.
#define TB_ITEMS(w, array, Type) \
  _Generic((w), const tbWorld* : (const Type*)(w)->array.data, tbWorld* : (Type*)(w)->array.data)
#define tb_bodies(w) TB_ITEMS(w, body, tbBody)
#define tb_shapes(w) TB_ITEMS(w, shape, tbShape)
#define tb_joints(w) TB_ITEMS(w, joint, tbJoint)

#define tb_materials(w) TB_ITEMS(w, material, tbMaterial)

// What a stale id is told.
tbStatus tb_body_find(tbContext* ctx, const tbWorld* world, tbBodyId body, int* place);
tbStatus tb_joint_find(tbContext* ctx, const tbWorld* world, tbJointId joint, int* place);
tbStatus tb_material_find(tbContext* ctx, const tbWorld* world, tbMaterialId material, int* place);

// The body frame's pose.
static inline tbTransform tb_body_pose(const tbBody* b)
{
  return tb_transform(b->q, tb_sub3(b->x, tb_quat_rotate(b->q, b->centre)));
}

// What keeps bodies at rest may not do so any more: the body at a place, one of a joint, or (−1) any is not
// as the last step left it, or what acts on it.
void tb_world_changed(tbWorld* world, int body);
void tb_joint_changed(tbWorld* world, const tbJoint* joint);

// Whether filters let two rigid bodies touch.
bool tb_world_may_touch(const tbWorld* world, int a, int b);

// What two bodies' surfaces bring to a contact: the friction of each. A rule's friction stands at the body in
// whose frame its direction is, and the other one is null.
typedef struct tbFrictionPair {
  const tbFriction *a, *b;
  double restitution;
  tbContactSpring spring;
} tbFrictionPair;
tbFrictionPair tb_world_friction_pair(const tbWorld* world, const tbBody* a, const tbBody* b);
// As tb_world_set_pair, with what is null as without the rule.
tbStatus tb_world_set_pair_rule(tbContext* ctx, tbWorld* world, tbMaterialId a, tbMaterialId b,
                                const tbFriction* friction, const double* restitution,
                                const tbContactSpring* spring);

tbStatus tb_contact_spring_check(tbContext* ctx, const tbContactSpring* spring);
// Of two surfaces, which act in series.
tbContactSpring tb_contact_spring_meet(tbContactSpring a, tbContactSpring b);

tbStatus tb_friction_check(tbContext* ctx, const tbFriction* friction);
// Null: the friction has no texture.
static inline const tbTexture* tb_friction_texture(const tbWorld* w, const tbFriction* f)
{
  bool has = f->kind == TB_FRICTION_TEXTURE && f->texture > 0 && (size_t)f->texture <= w->texture.count;
  return has ? (const tbTexture*)w->texture.data + (f->texture - 1) : NULL;
}
// The texture whose pixels are directions; null: the friction has none.
static inline const tbTexture* tb_friction_direction_map(const tbWorld* w, const tbFriction* f)
{
  bool has = f->direction_map > 0 && (size_t)f->direction_map <= w->texture.count;
  return has ? (const tbTexture*)w->texture.data + (f->direction_map - 1) : NULL;
}
static inline bool tb_friction_has_field(const tbWorld* w, const tbFriction* f)
{
  return f->field > 0 && (size_t)f->field <= w->field.count;
}
// Its direction at a point of the body's frame, of deformables of that of their mesh.
tbVec3 tb_friction_direction(const tbWorld* world, const tbFriction* friction, tbVec3 at);
// The place on a chart that is closest to a point of that frame. False: there is no such chart.
bool tb_chart_find(const tbWorld* world, int number, tbVec3 at, tbChartPlace* out);
tbBox tb_chart_boxes(tbChartTriangle* triangle, size_t count); // of all ranges; returns that of the whole
tbStatus tb_restitution_check(tbContext* ctx, double restitution);

// Where a kinematic body is at time t, and its velocities over the step that ends then.
tbTransform tb_motion_at(const tbWorld* world, const tbBody* body, double t);
// The pose at t = 0 of a constant motion that passes through `now` at the present time.
tbTransform tb_motion_start(const tbWorld* world, tbTransform now, tbVec3 v, tbVec3 w);
// Keys of a motion of `name`: checked; copied behind those of the world.
tbStatus tb_keys_check(tbContext* ctx, const char* name, const tbMotionKey* keys, int count);
tbStatus tb_keys_push(tbContext* ctx, tbWorld* world, const tbMotionKey* keys, int count);
// Other keys for the body at `place` (k = −1), or for the k-th motion it has beside (kind.h); keys stand in
// that order, body by body, and those of everything behind move. Fewer than before: cannot fail.
tbStatus tb_keys_replace(tbContext* ctx, tbWorld* world, int place, int k, const tbMotionKey* keys,
                         int count);

// What bodies of every kind must have: a name of their own, a material, a surface. `made` is room for a name
// when none is wanted; *name is the one the body gets.
tbStatus tb_body_check(tbContext* ctx, const tbWorld* world, const char* wanted, tbMaterialId material,
                       const tbFriction* friction, char made[32], const char** name, int* material_place);
// What comes with a body: shapes and motion keys, in its order, its own friction and restitution; may be
// null.
typedef struct tbBodyParts {
  const tbShape* shapes;
  int shape_count;
  const tbFriction* friction;
  const double* restitution;
  const tbMotionKey* keys;
  int key_count;
  const tbPinDef* pins; // whose keys follow
  int pin_count;
} tbBodyParts;
// Adds the body behind all others; it can be found by name and id. On failure the world is as it was.
tbStatus tb_body_append(tbContext* ctx, tbWorld* world, const tbBodyParts* parts, const tbBody* body);
// Back to the material's friction and restitution.
void tb_own_contact_material_remove(tbWorld* world, int place);
// And a state; the orientation is normalised.
tbStatus tb_state_check(tbContext* ctx, const char* name, tbVec3 x, tbQuat* q, tbVec3 v, tbVec3 w);
tbStatus tb_inertia_check(tbContext* ctx, const char* name, tbMat3 inertia); // positive definite
tbMat3 tb_inertia_from(const double inertia[6]);                             // xx yy zz xy xz yz
tbStatus tb_joint_check(tbContext* ctx, const tbJointDef* def); // limits, motor, servo, compliance
tbStatus tb_joint_check_effort(tbContext* ctx, const tbWorld* world, const tbJointDef* def, int a, int b);
static inline void tb_joint_drop_keys(tbJointDef* d) // they are the world's
{
  d->drive_keys = d->effort_keys = NULL, d->drive_key_count = d->effort_key_count = 0;
}
// Loads of bodies (load.c).
void tb_loads_remove(tbWorld* world, int body);
void tb_loads_apply(tbWorld* world, double t);                // adds them to the forces of the next step
bool tb_loads_are_good(tbContext* ctx, const tbWorld* world); // as tb_body_set_load would take them

// Keys of joints (joint_keys.c); of: TB_KEYS_DRIVE or TB_KEYS_EFFORT.
const tbJointKey* tb_joint_keys(const tbWorld* world, const tbJoint* joint, int of);     // null: none
tbStatus tb_joint_keys_check(tbContext* ctx, int of, const tbJointKey* keys, int count); // finite, in order
// Those of the joint at a place become these.
tbStatus tb_joint_keys_replace(tbContext* ctx, tbWorld* world, int place, int of, const tbJointKey* keys,
                               int count);
// Where the servo's target is at time t, and its rate in the step of length h that ends there.
double tb_servo_target(const tbWorld* world, const tbJoint* joint, double t, double h, double* rate);
double tb_motor_speed(const tbWorld* world, const tbJoint* joint, double t);
double tb_joint_effort(const tbWorld* world, const tbJoint* joint, double t);

#endif
