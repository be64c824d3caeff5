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

enum { TB_SOFT_STEP_BODIES = 64 }; // in a piece of work

// How far bodies are, at most, from where their velocities at the end of the step would have taken them.
typedef struct tbSoftStepAstray {
  double way, turn;
  double slowed; // N·s: the most momentum that falling asleep took from one
} tbSoftStepAstray;

struct tbSoftStepJoint;
struct tbSoftStepSpin;

// What is asked of a body for each of its shapes and pairs: a tenth of all that is known of it.
typedef struct tbSoftStepTraveller {
  tbVec3 v;         // after the step's forces
  double way, turn; // how far the centre may go, and a point turn
  double radius, mass;
  uint32_t category, mask; // which bodies it touches
  int material;
  bool own;          // it has its own friction or restitution
  bool moves, fixed; // by contacts; not at all
  bool bullet, even; // even: it turns like a ball
} tbSoftStepTraveller;

// Contacts of a pair at rest (soft_step_sleep.c): its records stay.
typedef struct tbSoftStepKept {
  int pair; // among those of the cache
  int body_a, body_b;
  int from, count; // among the records of the last step
  int record;      // the first of them among those of this one
} tbSoftStepKept;

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
  double h;                       // of a substep, s
  tbSoftStepTraveller* traveller; //                                                    (world's bodies)
  int* index;            // of a world's body in the arrays below                        (world's bodies)
  int moving, bodies;    // of them that can be moved, which come first; all of them. At `bodies`: one at rest
  tbSoftStepBody* body;  // (bodies + 1)
  tbSoftStepMass* mass;  // (bodies + 1)
  float (*kick)[8];      // what the step adds to the velocities before contacts do      (bodies)
  float (*before)[8];    // velocities at the start of the substep                       (bodies)
  double (*push)[6];     // impulses and angular impulses of the step                    (moving)
  double (*velocity)[8]; // after the step: v, 0, ω, 0                                 (world's bodies)
  tbSoftStepEntry* entry; // of the contacts, in the order of their pairs
  int ncontact, npoint;
  bool* still; // asleep, or not free to move and as it was; null: nothing sleeps         (world's bodies)
  int* island; // of a body that is free to move: another one of it, or itself            (world's bodies)
  bool woke;   // after the bodies were numbered
  tbSoftStepKept* kept;
  int nkept, nkept_record;
  int spins;      // points with torsional or rolling friction
  double deepest; // overlap of a point; 0: none
  bool uneven;    // of two bodies that touch, or are joined, one is far heavier
  tbSoftStepBatch* batch;
  int* order;                           // entry at a place of the batches; −1: none
  tbSoftStepAstray* astray;             // of a piece of the world's bodies
  int levels;                           // so many times space was halved
  int region[TB_SOFT_STEP_REGIONS + 1]; // bodies of region k: region[k] … region[k + 1] − 1
  int group[TB_SOFT_STEP_GROUPS + 1]; // batches of group k (tb_soft_step_group): group[k] … group[k + 1] − 1
  struct tbSoftStepJoint* joint;
  int njoint;
  int* joint_order; // in which they are swept                                             (njoint)
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
tbStatus tb_soft_step_bodies(tbContext* ctx, tbArena* arena, const tbWorld* world, double dt,
                             const tbUnconstrained* unconstrained, tbSoftStepWork* soft);

// soft_step_substeps.c: all of them, and the sums of their impulses.
tbStatus tb_soft_step_take(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                           tbSoftStepWork* soft);
// Impulses of everything on the bodies, anew.
tbStatus tb_soft_step_add_up(tbContext* ctx, tbSoftStepWork* soft);

// soft_step_sleep.c: who is still, which others have touched; and how many sleep, once bodies have moved.
tbStatus tb_soft_step_sleep_begin(tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                                  const tbStepWork* work, tbSoftStepWork* soft);
void tb_soft_step_wake(const tbWorld* world, tbSoftStepWork* soft); // all islands with a body not still
tbStatus tb_soft_step_sleep_next(tbContext* ctx, const tbWorld* world, const tbSoftStepWork* soft,
                                 void** next);
int tb_soft_step_sleep_end(const tbWorld* world, const tbStepOptions* options, const tbStepWork* work,
                           const tbSoftStepWork* soft);
extern const tbStateKind tb_soft_step_state;
static inline bool tb_soft_step_is_still(const tbSoftStepWork* s, int body)
{
  return s->still && s->still[body];
}

// soft_step_polish.c
tbStatus tb_soft_step_polish(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                             tbStepWork* work, tbSoftStepWork* soft, tbStepReport* report);

// soft_step_advance.c
// Whether this step's records need other memory than those of the last one.
bool tb_soft_step_records_move(const tbWorld* world, const tbSoftStepWork* soft);
void tb_soft_step_advance(tbContext* ctx, const tbStepOptions* options, tbStepWork* work, tbWorld* world,
                          tbStepReport* report);

// soft_step_friction.c
// Friction and restitution of a contact whose points are known. Most pairs are of the same two materials as
// the one before, and without a direction: what these came to is in `last`.
typedef struct tbSoftStepMet {
  int a, b; // materials; −1: nothing yet
  double mu, torsion, rolling, restitution;
  tbContactSpring spring;
} tbSoftStepMet;
void tb_soft_step_friction(const tbWorld* world, const tbStepOptions* options,
                           const tbSoftStepTraveller* body, tbSoftStepMet* last, tbSoftStepContact* contact);

// soft_step_warm_start.c: from the records of the pair in the last step.
void tb_soft_step_warm_start(const tbWorld* world, const tbContactRecord* record, int count,
                             tbSoftStepContact* contact);

// soft_step_record.c: the impulses of batches begin … end − 1 on their bodies; the records of as many
// contacts, each behind out[first of its points].
void tb_soft_step_add(tbSoftStepWork* soft, int begin, int end);
void tb_soft_step_record(const tbSoftStepWork* soft, int begin, int end, tbContactRecord* out);

// soft_step_regions.c: numbers bodies, region by region. index: of a world's body; before, whether it can be
// moved: 0, or negative, which stays.
tbStatus tb_soft_step_regions(tbArena* arena, int bodies, int* index, tbSoftStepWork* soft);
// Contacts within regions are the first groups, those across the borders that were drawn last come next, and
// those across the first border are the last. Of a level, 0 … levels, groups share no moving body.
static inline int tb_soft_step_group(const tbSoftStepWork* s, int level) // the first of the level
{
  return (2 << s->levels) - (2 << (s->levels - level));
}

// soft_step_pack.c
tbStatus tb_soft_step_pack(tbContext* ctx, tbArena* arena, tbSoftStepWork* soft);

// soft_step_joints.c
tbStatus tb_soft_step_joints_begin(tbArena* arena, const tbWorld* world, const tbStepOptions* options,
                                   tbSoftStepWork* soft);
void tb_soft_step_joints_start(tbSoftStepWork* soft); // of a substep after the first: rotors as they turn now
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
  for (int k = 0; k < 3; k++)
    out[k] = s->polished ? s->polished[e->first + point][k] : c->point[point].impulse[k];
  for (int k = 3; k < TB_MAX_ROWS; k++) out[k] = 0;
  if (c->torsion > 0 || c->rolling > 0) tb_soft_step_spin_impulses(s, c, point, out);
}

// soft_step_publish.c: the step as a contact problem with the impulses it found, or (λ null) those to start
// from.
tbStatus tb_soft_step_publish(tbContext* ctx, const tbWorld* world, const tbStepOptions* options,
                              tbStepWork* work, const tbSoftStepWork* soft, bool done);

#endif
