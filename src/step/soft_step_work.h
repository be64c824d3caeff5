// SPDX-License-Identifier: Apache-2.0
// A step of `soft-step` in the making.
#ifndef TB_STEP_SOFT_STEP_WORK_H
#define TB_STEP_SOFT_STEP_WORK_H

#include "collide/narrow.h"
#include "collide/pair_cache.h"
#include "scene/cache.h"
#include "step/joint_rows.h"
#include "step/scheme.h"
#include "step/soft_step.h"

enum { TB_SOFT_STEP_GRAIN = 16, TB_SOFT_STEP_BODIES = 64 }; // batches, bodies in a piece of work

// How far bodies are, at most, from where their velocities at the end of the step would have taken them.
typedef struct tbSoftStepAstray {
  double way, turn;
} tbSoftStepAstray;

struct tbSoftStepJoint;
struct tbSoftStepSpin;

// What is remembered of a pair of shapes: what kept it apart, and where its contact records stand.
typedef struct tbSoftStepPair {
  tbPairHint hint;
  int record, records;
} tbSoftStepPair;

// Kept from step to step to save time (scene/cache.h).
typedef struct tbSoftStepCache {
  tbPairCache* pairs;
  tbArray remembered[2];    // tbSoftStepPair, of this update of the pairs and of the one before
  tbArray shape;            // tbNarrowShape
  tbArray item;             // tbBroadItem
  tbArray contact, special; // tbSoftStepContact: by pair; those that took the way of other schemes
  tbArray touching[2];      // tbBodyPair: that touched after this step, and after the one before
  tbArray batch;            // tbSoftStepBatch
  int64_t steps;            // of the world after the step that `record` is of; −1: none
  size_t records;           // and how many there were
} tbSoftStepCache;

tbStatus tb_soft_step_cache(tbContext* ctx, tbCache* cache, tbSoftStepCache** out);
// Room for `count` items of so many bytes, whatever was there before; null: there is no memory.
void* tb_soft_step_room(tbContext* ctx, tbArray* array, size_t item, size_t count);

typedef struct tbSoftStepWork {
  const tbTransform* centre;
  int substeps;
  int* index;           // of a world's body in the arrays below                        (world's bodies)
  int moving, bodies;   // of them that can be moved, which come first; all of them. At `bodies`: one at rest
  tbSoftStepBody* body; // (bodies + 1)
  tbSoftStepMass* mass; // (bodies + 1)
  float (*kick)[8];     // what a substep adds to the velocities before contacts do     (bodies)
  float (*before)[8];   // velocities at the start of the substep                       (bodies)
  double (*push)[6];    // impulses and angular impulses of the step                    (moving)
  tbSoftStepEntry* entry; // of the contacts, in the order of their pairs
  int ncontact, npoint;
  int spins;      // points with torsional or rolling friction
  double deepest; // overlap of a point; 0: none
  bool uneven;    // of two bodies that touch, or are joined, one is far heavier
  tbSoftStepBatch* batch;
  int* order;                           // entry at a place of the batches; −1: none
  tbSoftStepAstray* astray;             // of a piece of the world's bodies
  int colour[TB_SOFT_STEP_COLOURS + 2]; // batches of colour k: colour[k] … colour[k + 1] − 1
  struct tbSoftStepJoint* joint;
  int njoint;
  struct tbSoftStepSpin* spin;
  int nspin;
  double (*polished)[3]; // impulses of the points, once a solver has found them; null: the batches' totals
  double (*joint_total)[TB_JOINT_IMPULSES]; // (world's joints)
  tbSoftStepCache* cache;
} tbSoftStepWork;

// soft_step_find.c: contacts at the start of the step, with last step's impulses shared among the substeps.
tbStatus tb_soft_step_find(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                           tbStepWork* work, tbSoftStepWork* soft);

// After the step: where the records of every pair stand, and which bodies touch.
void tb_soft_step_remember(const tbWorld* world, tbStepWork* work, tbSoftStepWork* soft);

// Of two bodies, one is so much heavier that they need smaller steps.
bool tb_soft_step_uneven(double mass_a, double mass_b);

// soft_step_bodies.c
tbStatus tb_soft_step_bodies(tbContext* ctx, tbArena* arena, const tbWorld* world,
                             const tbUnconstrained* unconstrained, tbSoftStepWork* soft);

// soft_step_substeps.c: all of them, and the sums of their impulses.
tbStatus tb_soft_step_take(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                           tbSoftStepWork* soft);
// Impulses of everything on the bodies, anew.
tbStatus tb_soft_step_add_up(tbContext* ctx, tbSoftStepWork* soft);

// soft_step_polish.c
tbStatus tb_soft_step_polish(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                             tbStepWork* work, tbSoftStepWork* soft, tbStepReport* report);

// soft_step_advance.c
void tb_soft_step_advance(tbContext* ctx, const tbStepOptions* options, tbStepWork* work, tbWorld* world,
                          tbStepReport* report);

// soft_step_friction.c
// Friction and restitution of a contact whose points are known. Most pairs are of the same two materials as
// the one before, and without a direction: what these came to is in `last`.
typedef struct tbSoftStepMet {
  int a, b; // materials; −1: nothing yet
  double mu, torsion, rolling, restitution;
} tbSoftStepMet;
void tb_soft_step_friction(const tbWorld* world, double dt, tbSoftStepMet* last, tbSoftStepContact* contact);

// soft_step_warm_start.c: from the records of the pair in the last step.
void tb_soft_step_warm_start(const tbWorld* world, const tbContactRecord* record, int count,
                             tbSoftStepContact* contact);

// soft_step_record.c: the impulses of batches begin … end − 1 on their bodies; the records of as many
// contacts, each behind out[first of its points].
void tb_soft_step_add(tbSoftStepWork* soft, int begin, int end);
void tb_soft_step_record(const tbWorld* world, const tbSoftStepWork* soft, int begin, int end,
                         tbContactRecord* out);

// soft_step_pack.c
tbStatus tb_soft_step_pack(tbContext* ctx, tbArena* arena, tbSoftStepWork* soft);

// soft_step_joints.c
tbStatus tb_soft_step_joints_begin(tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                                   tbSoftStepWork* soft);
void tb_soft_step_joints_warm(tbSoftStepWork* soft);
void tb_soft_step_joints_start(tbSoftStepWork* soft); // of a substep after the first: rotors as they turn now
void tb_soft_step_joints_solve(tbSoftStepWork* soft, const tbSoftStepPass* pass);
void tb_soft_step_joints_add(const tbSoftStepWork* soft,
                             double (*push)[6]);     // the step's impulses on the bodies
void tb_soft_step_joints_take(tbSoftStepWork* soft); // the step's impulses from joint_total
void tb_soft_step_joints_keep(const tbSoftStepWork* soft, const tbStepOptions* options, tbWorld* world);

// soft_step_spin.c
tbStatus tb_soft_step_spins_begin(tbArena* arena, tbSoftStepWork* soft);
void tb_soft_step_spins_warm(tbSoftStepWork* soft);
void tb_soft_step_spins_solve(tbSoftStepWork* soft, const tbSoftStepPass* pass);
void tb_soft_step_spins_add(const tbSoftStepWork* soft, double (*push)[6]);

// Rows of a contact's law, and a point's impulses of the step in their order (room for TB_MAX_ROWS).
int tb_soft_step_rows(const tbSoftStepContact* contact);
void tb_soft_step_spin_impulses(const tbSoftStepWork* soft, const tbSoftStepContact* contact, int point,
                                double* out); // those behind the third
void tb_soft_step_spin_take(tbSoftStepWork* soft, const tbSoftStepContact* contact, int point,
                            const double* impulses); // the same the other way
// A point's impulses of the step, all TB_MAX_ROWS of them.
static inline void tb_soft_step_impulses(const tbSoftStepWork* s, const tbSoftStepEntry* e, int point,
                                         double* out)
{
  const tbSoftStepContact* c = e->contact;
  const tbSoftStepPoint* p = &s->batch[c->place / TB_SOFT_STEP_LANES].point[point];
  for (int k = 0; k < 3; k++)
    out[k] = s->polished ? s->polished[e->first + point][k] : p->total[k][c->place % TB_SOFT_STEP_LANES];
  for (int k = 3; k < TB_MAX_ROWS; k++) out[k] = 0;
  if (c->torsion > 0 || c->rolling > 0) tb_soft_step_spin_impulses(s, c, point, out);
}

// soft_step_publish.c: the step as a contact problem with the impulses it found, or (λ null) those to start
// from.
tbStatus tb_soft_step_publish(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                              tbStepWork* work, const tbSoftStepWork* soft, bool done);

#endif
