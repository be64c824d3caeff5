// A world from the inside: plain arrays.
#ifndef TB_SCENE_WORLD_H
#define TB_SCENE_WORLD_H

#include "base/array.h"
#include "scene/cache.h"
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
  int own_contact_material; // index into tbWorld.surface of its own friction or restitution; −1: the
                            // material's
  int key, nkey;            // prescribed motion, in tbWorld.key; 0 keys: constant velocity
  tbTransform initial;      // pose at t = 0 of a constant prescribed motion
  double radius; // of the smallest sphere about the centre of mass that holds all of it (∞: a plane)
  const char* name;
} tbBody;

// A prescribed motion of a frame.
typedef struct tbMotion {
  int key, nkey;       // in tbWorld.key; 0 keys: constant velocity
  tbTransform initial; // then: pose at t = 0
  tbVec3 v, w;         // then: of the frame's origin, and turning
} tbMotion;

tbTransform tb_motion_pose(const tbWorld* world, const tbMotion* motion, double t);

// What the last step did at one point: warm start, CSV, pictures. Sorted by shapes, then feature.
typedef struct tbContactRecord {
  int shape_a,
      shape_b; // in tbWorld.shape, a < b; −1: a body's own surface. Those of surfaces come last, by feature
  int body_a, body_b;
  uint64_t feature;
  tbVec3 position, normal, tangent;
  tbVec3 local; // position in the frame of body a's centre of mass
  double gap;
  double impulse[6], velocity[6];
  double residual; // its part of the judge's
  int rows;
  tbContactState state;
} tbContactRecord;

enum { TB_JOINT_IMPULSES = 9 };

typedef struct tbJoint {
  tbJointDef def;
  // frames at creation, in the bodies' frames (the world's for −1)
  tbVec3 anchor_a, anchor_b;
  tbQuat frame_a, frame_b;           // x axis: the joint's axis
  double length;                     // distance: at creation
  double impulse[TB_JOINT_IMPULSES]; // of the last step: 6 rows, 2 limits, motor
} tbJoint;

typedef struct tbContactMaterial {
  tbFriction friction;
  double restitution;
  bool direction_of_b; // friction.direction is in the frame of the pair's second body
} tbContactMaterial;

typedef struct tbMaterial {
  const char* name;
  double density;
  tbContactMaterial contact_material;
} tbMaterial;

typedef struct tbPairRule {
  int a, b; // materials, a ≤ b
  tbContactMaterial contact_material;
} tbPairRule;

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
  tbArray contact;          // tbContactRecord of the last step

  const tbStateKind* state_kind; // of what the last step's scheme keeps; null: nothing
  void* state;
  tbCache* cache; // the only part that is not the world's description or state

  tbArray hull, mesh, sdf; // pointers: geometry it frees
  tbNames names;
};

// The items of an array of a world: constant, if the world is.
#define TB_ITEMS(w, array, Type) \
  _Generic((w), const tbWorld* : (const Type*)(w)->array.data, tbWorld* : (Type*)(w)->array.data)
#define tb_bodies(w) TB_ITEMS(w, body, tbBody)
#define tb_shapes(w) TB_ITEMS(w, shape, tbShape)
#define tb_joints(w) TB_ITEMS(w, joint, tbJoint)

// The body frame's pose.
static inline tbTransform tb_body_pose(const tbBody* b)
{
  return tb_transform(b->q, tb_sub3(b->x, tb_quat_rotate(b->q, b->centre)));
}

static inline tbMat3 tb_body_world_inertia(const tbBody* b)
{
  tbMat3 R = tb_quat_mat3(b->q);
  return tb_mat3_mul(R, tb_mat3_mult(b->inertia, R));
}

// What two bodies' surfaces do together.
tbContactMaterial tb_world_contact_material(const tbWorld* world, const tbBody* a, const tbBody* b);

tbStatus tb_friction_check(tbContext* ctx, const tbFriction* friction);
tbStatus tb_restitution_check(tbContext* ctx, double restitution);

// Where a kinematic body is at time t, and its velocities over the step that ends then.
tbTransform tb_motion_at(const tbWorld* world, const tbBody* body, double t);
// The pose at t = 0 of a constant motion that passes through `now` at the present time.
tbTransform tb_motion_start(const tbWorld* world, tbTransform now, tbVec3 v, tbVec3 w);
// Keys of a motion of `name`: checked; copied behind those of the world.
tbStatus tb_keys_check(tbContext* ctx, const char* name, const tbMotionKey* keys, int count);
tbStatus tb_keys_push(tbContext* ctx, tbWorld* world, const tbMotionKey* keys, int count);

// What bodies of every kind must have: a name of their own, a material, a surface. `made` is room for a name
// when none is wanted; *name is the one the body gets.
tbStatus tb_body_check(tbContext* ctx, const tbWorld* world, const char* wanted, tbMaterialId material,
                       const tbFriction* friction, char made[32], const char** name);
// And a state; the orientation is normalised.
tbStatus tb_state_check(tbContext* ctx, const char* name, tbVec3 x, tbQuat* q, tbVec3 v, tbVec3 w);

#endif
