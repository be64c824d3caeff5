// SPDX-License-Identifier: Apache-2.0
// A world's state as arrays, filled in one call: for programs that want numbers side by side, and for
// bindings of other languages.
//
// Arrays are C-ordered, one row per body, node or contact, in the order of places (tb_body_place). Their size
// is the caller's to know: tb_world_body_count, tb_world_node_count, tb_world_contact_count. A null pointer
// is passed over.
#ifndef TRIBO_BULK_H
#define TRIBO_BULK_H

#include "tribo/scene.h"

TB_API_BEGIN

// position: bodies × 3, m, of the body frame's origin; orientation: bodies × 4, w x y z. Deformable bodies:
// their centre of mass, unturned.
void tb_world_get_poses(const tbWorld* world, double* position, double* orientation);
// velocity: bodies × 3, m/s, of the body frame's origin; angular: bodies × 3, rad/s. World axes.
void tb_world_get_velocities(const tbWorld* world, double* velocity, double* angular);

int tb_world_node_count(const tbWorld* world); // of all deformable bodies
// first: bodies + 1, the row of a body's first node; position and velocity: nodes × 3.
void tb_world_get_nodes(const tbWorld* world, int* first, double* position, double* velocity);

// Contacts of the last step, in the order of tb_world_contact.
typedef struct tbContactArrays {
  int *a, *b;                          // places of the bodies
  double *position, *normal, *tangent; // × 3
  double* gap;                         // m
  double *impulse, *velocity;          // × 6, as in tbContactView
  int* state;                          // tbContactState
} tbContactArrays;

void tb_world_get_contacts(const tbWorld* world, const tbContactArrays* out);

// What contacts did to every body in the last step, summed: impulses, their moments about the body's position
// (tbBodyState), and how many contacts acted; 3 numbers, 3 and 1 per body. Any may be null. Divided by the
// length of the step they are the mean force and torque that a sensor on the body would show.
void tb_world_get_contact_sums(const tbWorld* world, double* impulse, double* moment, int* contacts);

TB_API_END
#endif
