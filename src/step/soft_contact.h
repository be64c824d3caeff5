// SPDX-License-Identifier: Apache-2.0
// Contacts between surfaces, through the rounds of a step.
//
// A contact is linear: with the normal n and the weights w of the moment the features came together,
//
//   φ + h n·(Σ w_b v_b − Σ w_a v_a) ≥ d        φ: the gap at the start along n, d: the distance they keep
//
// Surfaces bend and turn, so a contact may fail although its row holds. It is then taken anew where the
// features met, and asked for a little more distance.
#ifndef TB_STEP_SOFT_CONTACT_H
#define TB_STEP_SOFT_CONTACT_H

#include "step/surfaces.h"

typedef struct tbSoftContact {
  tbSurfaceContact contact;
  tbVec3 at;  // of a round shape: where it is touched, at the start of the step
  int misses; // how often its features met although it was there
  bool fresh; // just met
  bool anew;  // linearised where the step ends: the gap at the start is that of other points than are closest
              // there
  double push;      // normal impulse of the last solve
  tbVec3 drag;      // and friction's, world axes
  double torque[3]; // and those of turning, in the order of their rows
  double met;       // when they met, of the step; 0: they were close at the start
  tbVec3 slid; // and how far b had moved against a by then, or, of a plane, at all                       m
} tbSoftContact;

// The contacts that stand at the start of the step: features closer than the clearance allows, with last
// step's impulses. pose: of the rigid bodies. `soft_contacts`: an array of tbSoftContact, sorted by features.
tbStatus tb_soft_contact_begin(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                               const tbSurfaces* surfaces, const tbTransform* pose,
                               const tbSurfaceCandidates* candidates, double clearance,
                               tbArray* soft_contacts);

// The same from contacts that have been found already, sorted by features; `beyond` farther than that ones
// stay.
tbStatus tb_soft_contact_begin_near(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                                    const tbSurfaces* surfaces, const tbTransform* pose, const tbArray* near,
                                    double clearance, double beyond, tbArray* soft_contacts);

// A name for two features that the next step finds them by.
uint64_t tb_soft_contact_name(const tbSurfaceFeatures* features);

// How far two features stay apart: their radii and the clearance. Of one surface, no more than a part of what
// they are at rest, lest a thick sheet of small triangles, or a solid thinner than the clearance, swells.
typedef struct tbSoftContactDistance {
  double radius, clearance; // m
} tbSoftContactDistance;
tbSoftContactDistance tb_soft_contact_distance(const tbSurfaces* surfaces, const tbSurfaceContact* contact,
                                               double clearance);

// How a contact gives way: the spring of its materials, with its coat, which begins above the distance kept.
// Of one surface the coat is no more than a part of the distance at rest. Stiffness 0: it is rigid.
tbContactSpring tb_soft_contact_spring(const tbWorld* world, const tbSurfaces* surfaces,
                                       const tbSurfaceContact* contact);
// With the coat that it has where none is given, of a surface with edges of a mean length.
tbContactSpring tb_soft_contact_coated(tbContactSpring spring, double edge);
// A spring from the top of its coat on; slack: how far above the distance kept. Stiffness 0: nothing changes.
void tb_soft_contact_give_way(tbContactSpring spring, double slack, double h,
                              tbContactConstraint* constraint);
// No coat is thicker; 0: nothing has one.                                                               m
double tb_soft_contact_coat(const tbWorld* world, const tbSurfaces* surfaces);

// The bias of a contact's normal row: of features that are `slack` farther apart than the distance they keep,
// or closer, which is won back by and by. edge: of the finer surface.
double tb_soft_contact_bias(double slack, double keep, double edge, double h);

// How contacts are taken that were met on the way.
typedef struct tbSoftContactMet {
  bool rough; // known ones may meet for want of accuracy, and stay as they are; only new ones change anything
  bool from_impact; // friction sees motion from their first impact on
  bool expected;    // they meet if nothing holds them, which says nothing against contacts that are there
  double clearance;
  double h, slip; // of the step, s; and what the solver leaves of a row, m/s: one that asks for more distance
                  // asks for so much more speed. 0: it does not matter
} tbSoftContactMet;

// How often a contact counts as met that met once more: until its row asks for so much more speed that the
// solver cannot leave it as it is.
int tb_soft_contact_next_miss(const tbWorld* world, const tbSurfaces* surfaces,
                              const tbSoftContact* soft_contact, tbSoftContactMet how);

// The mean edge of the finer of two surfaces, m.
double tb_soft_contact_edge(const tbSurfaces* surfaces, const tbSurfaceFeatures* features);

// Appends a constraint for every soft contact. They point into `soft_contacts`.
tbStatus tb_soft_contact_constraints(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                                     const tbSurfaces* surfaces, double clearance,
                                     const tbArray* soft_contacts, tbArray* constraints);

// Takes the impulses of a solution; the constraints of the soft contacts begin at `first`.
void tb_soft_contact_learn(const tbAssembly* assembly, int first, tbArray* soft_contacts);

// Takes contacts of features that met, in order: those that can be acted on, and do not merely follow from
// others that are new. *changed when there were any; `met` then holds these alone.
tbStatus tb_soft_contact_absorb(tbContext* ctx, const tbWorld* world, const tbSurfaces* surfaces,
                                const tbTransform* pose, tbSoftContactMet how, tbArray* met,
                                tbArray* soft_contacts, bool* changed);

// Leaves no more contacts than there is use for: of those at the start every node's deepest, then its next,
// of those that met on the way the first, beside the ones there are; and whether there is room for any.
tbStatus tb_soft_contact_limit(tbContext* ctx, const tbWorld* world, const tbSurfaces* surfaces,
                               double clearance, tbArray* soft_contacts);
bool tb_soft_contact_has_room(const tbWorld* world, const tbArray* soft_contacts);
tbStatus tb_soft_contact_limit_met(tbContext* ctx, const tbWorld* world, const tbArray* soft_contacts,
                                   tbArray* met);

// How far the places that a contact joins move against each other in the step: b's way less a's; of a plane,
// b's.
tbVec3 tb_soft_contact_way(const tbSurfaces* surfaces, const tbSurfaceContact* contact);

// Turns the contacts that push but whose normal is another at the end of the step, by 8° or more; whether
// there were any.
bool tb_soft_contact_turn(const tbWorld* world, const tbSurfaces* surfaces, tbArray* soft_contacts);

// Linearises anew, where they are at the end of the step, the contacts that push but whose rows are wrong
// there: by `tolerance` or more in the gap, or by 8° in the normal. A normal turns by 15° at most, its
// weights as far along. Contacts that slid off their features, which hold up what nothing is under, are
// removed. (Verschoor and Jalba 2019, §3.3.) Whether there were any; *error: the worst gap that a row got
// wrong, m.
bool tb_soft_contact_relinearize(const tbWorld* world, const tbSurfaces* surfaces, double tolerance,
                                 tbArray* soft_contacts);
// The most that a row of a contact that pushes gets the gap at the end of the step wrong, m.
double tb_soft_contact_linear_error(const tbWorld* world, const tbSurfaces* surfaces,
                                    const tbArray* soft_contacts);

#endif
