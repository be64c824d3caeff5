// SPDX-License-Identifier: Apache-2.0
// Changing a world between steps: removing what is there, and giving it other numbers.
//
// A call that is refused (an id of something that was removed, a number out of range) leaves the world as it
// was, and so does one without memory. What is changed acts from the next step on; a checkpoint taken
// afterwards goes on from there. Poses and velocities: tb_body_set_state and tb_body_set_nodes of
// tribo/scene.h.
#ifndef TRIBO_CHANGE_H
#define TRIBO_CHANGE_H

#include "tribo/scene.h"

TB_API_BEGIN

// Removing. What stands behind in the world's order moves up by one place; ids do not change. Text that
// tb_body_name gave of it is gone. Cost: proportional to what the world holds.

// With its joints, its contacts of the last step, and what it held of deformable bodies.
tbStatus tb_world_remove_body(tbContext* ctx, tbWorld* world, tbBodyId body);
tbStatus tb_world_remove_joint(tbContext* ctx, tbWorld* world, tbJointId joint);
// With the rules of its pairs. Refused while a body is made of it, and for the default material.
tbStatus tb_world_remove_material(tbContext* ctx, tbWorld* world, tbMaterialId material);

// The whole, and materials.

tbVec3 tb_world_gravity(const tbWorld* world); // m/s²
tbStatus tb_world_set_gravity(tbContext* ctx, tbWorld* world, tbVec3 gravity);
tbStatus tb_material_set_friction(tbContext* ctx, tbWorld* world, tbMaterialId material, tbFriction friction);
tbStatus tb_material_set_restitution(tbContext* ctx, tbWorld* world, tbMaterialId material,
                                     double restitution); // 0 … 1
tbStatus tb_material_set_spring(tbContext* ctx, tbWorld* world, tbMaterialId material,
                                tbContactSpring spring);

// Bodies.

// The material of its surface; its mass stays.
tbStatus tb_body_set_material(tbContext* ctx, tbWorld* world, tbBodyId body, tbMaterialId material);
tbStatus tb_body_set_friction(tbContext* ctx, tbWorld* world, tbBodyId body,
                              const tbFriction* friction); // its own; null: the material's
tbStatus tb_body_set_restitution(tbContext* ctx, tbWorld* world, tbBodyId body,
                                 const double* restitution); // its own; null: the material's
// kg, positive; of a rigid body that moves freely. inertia: as in tbBodyDef; null: scaled with the mass. The
// centre of mass stays where it is.
tbStatus tb_body_set_mass(tbContext* ctx, tbWorld* world, tbBodyId body, double mass,
                          const double inertia[6]);
// Where a kinematic body has to go from now on: through keys, whose first it reaches in the next step if it
// is due; or, without keys, on at the velocities it has.
tbStatus tb_body_set_motion(tbContext* ctx, tbWorld* world, tbBodyId body, const tbMotionKey* keys,
                            int key_count);
// A kinematic body goes to the pose within `seconds` (positive), at constant velocity, and rests there.
tbStatus tb_body_move_to(tbContext* ctx, tbWorld* world, tbBodyId body, tbVec3 position, tbQuat orientation,
                         double seconds);
// Where the vertices of an animated mesh go from now on: frames as in tbAnimatedDef, in place of those it
// had.
tbStatus tb_body_set_frames(tbContext* ctx, tbWorld* world, tbBodyId body, const double* times,
                            const tbVec3* vertices, int frame_count);
// A force (N) at a point of the world on a rigid body that moves freely, for the next step only; they add up.
tbStatus tb_body_apply_at(tbContext* ctx, tbWorld* world, tbBodyId body, tbVec3 force, tbVec3 point);
// Forces (N) on the nodes of a deformable body, one per node, for the next step only; they add up. Held nodes
// do not answer to them.
tbStatus tb_body_apply_nodes(tbContext* ctx, tbWorld* world, tbBodyId body, const tbVec3* forces);

// Holds nodes of a deformable body from now on, where they are; those that were held otherwise are moved to
// this. The frame that keys, velocity and angular_velocity of the definition lead is at its centre of mass
// now, with the axes of the world (tb_body_state).
tbStatus tb_body_pin(tbContext* ctx, tbWorld* world, tbBodyId body, const tbPinDef* pin);
// Lets nodes go; those that nothing holds are passed over.
tbStatus tb_body_unpin(tbContext* ctx, tbWorld* world, tbBodyId body, const int* nodes, int node_count);

// Which bodies may touch: see tbBodyDef. Whether a deformable body touches itself is tbDeformableDef's.
// Queries ask for categories, too.
tbStatus tb_body_set_filter(tbContext* ctx, tbWorld* world, tbBodyId body, uint32_t category, uint32_t mask);
// Two bodies ignore each other from now on, or no longer.
tbStatus tb_world_ignore_pair(tbContext* ctx, tbWorld* world, tbBodyId a, tbBodyId b, bool ignore);

// Joints.

tbStatus tb_joint_set_limits(tbContext* ctx, tbWorld* world, tbJointId joint, bool limited, double lower,
                             double upper); // as in tbJointDef
tbStatus tb_joint_set_motor(tbContext* ctx, tbWorld* world, tbJointId joint, bool on, double speed,
                            double force); // as in tbJointDef; ends a servo
tbStatus tb_joint_set_servo(tbContext* ctx, tbWorld* world, tbJointId joint, const tbServo* servo,
                            double target); // null: none; ends a motor
tbStatus tb_joint_set_target(tbContext* ctx, tbWorld* world, tbJointId joint,
                             double target); // of its servo, which follows no keys any more   rad or m
// Targets at times for its servo, or speeds for its motor, from now on; none: what is meant now stays.
tbStatus tb_joint_set_keys(tbContext* ctx, tbWorld* world, tbJointId joint, const tbJointKey* keys,
                           int count);
tbStatus tb_joint_set_effort(tbContext* ctx, tbWorld* world, tbJointId joint,
                             double effort); // of a hinge or slider, until it is changed   N·m or N
tbStatus tb_joint_set_effort_keys(tbContext* ctx, tbWorld* world, tbJointId joint, const tbJointKey* keys,
                                  int count); // none: what it is now stays
tbStatus tb_joint_set_friction(tbContext* ctx, tbWorld* world, tbJointId joint,
                               double friction); // tbJointDef
tbStatus tb_joint_set_armature(tbContext* ctx, tbWorld* world, tbJointId joint, double armature);

TB_API_END
#endif
