// Contacts between skins, through the rounds of a step.
//
// A contact is linear: with the normal n and the weights w of the moment the features came together,
//
//   φ + h n·(Σ w_b v_b − Σ w_a v_a) ≥ d        φ: the gap at the start along n, d: the distance they keep
//
// Surfaces bend and turn, so a contact may fail although its row holds. It is then taken anew where the
// features met, and asked for a little more distance.
#ifndef TB_STEP_PINCH_H
#define TB_STEP_PINCH_H

#include "step/surfaces.h"

typedef struct tbPinch {
  tbSkinContact contact;
  tbVec3 at;   // of a round shape: where it is touched, at the start of the step
  int misses;  // how often its features met although it was there
  double push; // normal impulse of the last solve
  tbVec3 drag; // and friction's, world axes
} tbPinch;

// The contacts that stand at the start of the step: features closer than the clearance allows, with last
// step's impulses. pose: of the rigid bodies. `pinches`: an array of tbPinch, sorted by features.
tbStatus tb_pinch_begin(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                        const tbSurfaces* surfaces, const tbTransform* pose,
                        const tbSkinCandidates* candidates, double clearance, tbArray* pinches);

// A name for two features that the next step finds them by.
uint64_t tb_pinch_name(const tbSkinFeatures* features);

// How far two features stay apart: their radii and the clearance. Of one surface, no more than a part of what
// they are at rest, lest a thick sheet of small triangles, or a solid thinner than the clearance, swells.
typedef struct tbPinchKeep {
  double radius, clearance; // m
} tbPinchKeep;
tbPinchKeep tb_pinch_keep(const tbSurfaces* surfaces, const tbSkinContact* contact, double clearance);

// The mean edge of the finer of two surfaces, m.
double tb_pinch_edge(const tbSurfaces* surfaces, const tbSkinFeatures* features);

// Appends a touch for every pinch. They point into `pinches`.
tbStatus tb_pinch_touches(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                          const tbSurfaces* surfaces, double clearance, const tbArray* pinches,
                          tbArray* touches);

// Takes the impulses of a solution; the touches of the pinches begin at `first`.
void tb_pinch_learn(const tbAssembly* assembly, int first, tbArray* pinches);

// Takes contacts of features that met, in order: those that can be acted on, and do not merely follow from
// others that are new. *changed when there were any; `met` then holds these alone. rough: known ones may meet
// for want of accuracy, and stay as they are; only new ones change anything.
tbStatus tb_pinch_absorb(tbContext* ctx, const tbWorld* world, const tbSurfaces* surfaces,
                         const tbTransform* pose, bool rough, tbArray* met, tbArray* pinches, bool* changed);

// Leaves no more contacts than there is use for: of those at the start the deepest, of those that met on the
// way the first, beside the ones there are.
tbStatus tb_pinch_limit(tbContext* ctx, const tbWorld* world, const tbSurfaces* surfaces, double clearance,
                        tbArray* pinches);
tbStatus tb_pinch_limit_met(tbContext* ctx, const tbWorld* world, const tbArray* pinches, tbArray* met);

// Turns the contacts that push but whose normal is another at the end of the step; whether there were any.
bool tb_pinch_turn(const tbWorld* world, const tbSurfaces* surfaces, tbArray* pinches);

#endif
