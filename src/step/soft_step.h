// SPDX-License-Identifier: Apache-2.0
// The scheme `soft-step` from the inside: what its files share.
//
//   soft_step.c             the scheme
//   soft_step_find.c        the contacts: pairs with one normal and up to four points
//   soft_step_collide.c     what a pair of shapes comes to
//   soft_step_friction.c    what their surfaces do together, as an ellipse
//   soft_step_warm_start.c  their impulses to start from
//   soft_step_sleep.c       which bodies are left alone
//   soft_step_bodies.c      bodies in floats
//   soft_step_regions.c     halves of space, which threads share out
//   soft_step_pack.c        batches of sixteen pairs side by side
//   soft_step_begin.c       a batch at the start of the step, as many pairs at a time as the machine likes
//   soft_step_solve.c       what a pass does with it
//   soft_step_spin.c        torsional and rolling friction
//   soft_step_joints.c      joints; a sweep over them: soft_step_joint_solve.c
//   soft_step_substeps.c    the substeps, and the sums of their impulses
//   soft_step_polish.c      a solver's answer in the end, if that is asked for
//   soft_step_publish.c     the step as a contact problem, for the judge and for tb_world_problem
//   soft_step_advance.c     bodies move
//   soft_step_record.c      sums of the impulses; contact records
#ifndef TB_STEP_SOFT_STEP_H
#define TB_STEP_SOFT_STEP_H

#include "base/threads.h"
#include "step/find.h"

enum {
  TB_SOFT_STEP_LANES = 16,  // pairs in a batch
  TB_SOFT_STEP_POINTS = 4,  // of a pair
  TB_SOFT_STEP_COUPLES = 6, // of its points
  TB_SOFT_STEP_LEVELS = 4,  // space is halved so many times at most
  TB_SOFT_STEP_REGIONS = 1 << TB_SOFT_STEP_LEVELS,
  TB_SOFT_STEP_GROUPS = 2 * TB_SOFT_STEP_REGIONS - 1 // of contacts: within regions, and across borders
};

// A pair of shapes with one normal, at the start of the step.
typedef struct tbSoftStepContact {
  int shape_a, shape_b, body_a, body_b;
  int count;              // of points
  int place;              // batch · TB_SOFT_STEP_LANES + lane
  tbVec3 normal, tangent; // followed by a double: they are read as four numbers (soft_step_record.c)
  double mu_t, mu_b, restitution;
  double tresca; // N: the most friction, whatever presses; then mu_t = mu_b = 1. 0: it is not bounded so
  tbContactSpring spring;  // of the materials; stiffness 0: they have none
  float with[2];           // how much of their turning the normal shares with the bodies
  float round[2];          // radii of what rolls: its contact does not turn away with it
  double torsion, rolling; // lengths; 0: none
  int spin;                // of its first point (soft_step_spin.c)
  bool fresh;              // no impulse of the last step to start from
  struct {
    tbVec3 position;
    double gap;
    uint64_t feature;
    double spin[3]; // the same of turning: about the normal, the tangent, and normal × tangent
    float
        impulse[3]; // along the normal, the tangent, and normal × tangent: of the last step, then of this one
  } point[TB_SOFT_STEP_POINTS];
} tbSoftStepContact;

// A contact in the order of all, and what loops over all of them ask: a contact is too long to be read for
// it.
typedef struct tbSoftStepEntry {
  tbSoftStepContact* contact;
  int body_a, body_b;
  int pair;   // among those of the cache
  int first;  // of its points among those of all contacts
  int record; // and among the records, where those of pairs at rest come in between
  uint8_t count;
  bool fresh;
  bool touches; // after the step: one of its points carries an impulse
} tbSoftStepEntry;

// A body in floats: velocities, and how far it has come since the start of the step.
typedef struct tbSoftStepBody {
  float v[8]; // v, ω, 0, 0
  float d[8]; // way of the centre of mass, angle turned, 0, 0
} tbSoftStepBody;

// Inverse mass and inertia (world axes: xx xy xz yy yz zz) of a body; zero: it cannot be moved.
typedef struct tbSoftStepMass {
  float mass, inertia[6], unused; // eight lanes
} tbSoftStepMass;

typedef float tbSoftStepLane[TB_SOFT_STEP_LANES];

typedef struct tbSoftStepPoint {
  tbSoftStepLane arm[3];    // from the centre of a to the point; in the contact's frame once it has begun
  tbSoftStepLane gap;       // at the start
  tbSoftStepLane mass;      // 1/W_nn; 0: this lane has no such point
  tbSoftStepLane stick[3];  // the inverse of W over t and b: tt, tb, bb
  tbSoftStepLane slip;      // 1/(largest eigenvalue of W over t and b)
  tbSoftStepLane lambda[3]; // of the substep: n, t, b
  tbSoftStepLane total[3];  // of the step
  tbSoftStepLane approach;  // normal velocity at the start
} tbSoftStepPoint;

// Pairs without a moving body in common.
typedef struct tbSoftStepBatch {
  int a[TB_SOFT_STEP_LANES], b[TB_SOFT_STEP_LANES]; // bodies, in the order of the step's own list
  int lanes, points;                                // used; the most points of any lane
  bool bounces, rolls;
  bool springs, bounded; // a lane's materials have a spring, or Tresca's limit
  bool open;             // a gap was, when overlaps were last pushed out
  bool fresh;            // has a pair without an impulse to start from: solved several times in a row
  _Alignas(64) tbSoftStepLane normal[3]; // from here on no lane lies across two cache lines
  tbSoftStepLane tangent[3];
  tbSoftStepLane with_a, with_b, round_a, round_b;           // as in tbSoftStepContact
  tbSoftStepLane across[3];                                  // from the centre of b to that of a
  tbSoftStepLane mass_a, mass_b, inertia_a[6], inertia_b[6]; // inverse; world axes: xx xy xz yy yz zz
  tbSoftStepLane mu_t, mu_b, restitution;
  tbSoftStepLane tresca;                   // of a substep, N·s; 0: friction is a share of the normal impulse
  tbSoftStepLane spring_rate, spring_give; // of its materials (tb_soft_step_spring); give 0: they have none
  tbSoftStepPoint point[TB_SOFT_STEP_POINTS];
  // What tb_soft_step_begin makes of it all.
  tbSoftStepLane normal_w[TB_SOFT_STEP_POINTS]
                         [TB_SOFT_STEP_POINTS]; // W over the normals of the points; its lower half
  tbSoftStepLane yield[3][5]; // by a normal impulse, a moment about t, about b: velocity along t, b, turning
  tbSoftStepLane tangent_w[TB_SOFT_STEP_COUPLES][4]; // W over the tangents of two points: tt, tb, bt, bb
} tbSoftStepBatch;

// Of two points k > i.
static inline int tb_soft_step_couple(int k, int i) { return k * (k - 1) / 2 + i; }

// How stiff contacts are: a spring of so many hertz with a damping ratio, implicit over a substep.
typedef struct tbSoftness {
  float rate; // 1/s: overlap is pushed out at rate · overlap
  float give; // compliance, as a share of W_nn: u_n + rate gap + give W_nn λ_n = 0
} tbSoftness;

// What a pass over the contacts does.
typedef struct tbSoftStepPass {
  bool push;          // overlaps are pushed out; else only velocities count, and impulses are added up
  float inverse_h;    // 1/substep
  bool first;         // of the step
  double elapsed;     // of the step, a substep after where bodies are                s
  float heavy;        // s/m: contacts whose impulse would do less than 1/heavy are stiffer
  float push_speed;   // m/s: at most
  float bounce_speed; // m/s: slower approaches do not bounce
  tbSoftness softness;
} tbSoftStepPass;

// The row of a contact between materials with a spring, over a substep: u + rate gap + give λ = 0 where they
// overlap. Such a contact is not relaxed: its velocity is the spring's.
typedef struct tbSoftStepSpring {
  double rate, give; // 1/s, 1/kg
} tbSoftStepSpring;
tbSoftStepSpring tb_soft_step_spring(const tbContactSpring* spring, double h);

tbSoftness tb_softness(double hertz, double damping_ratio, double h);

// Kernels over bodies begin … end − 1 (soft_step_begin.c). A substep begins: v ← v + share kick, or where
// there is none v ← v + (v − before), what contacts did in the last substep included; before ← v. A substep
// ends: d ← d + h v.
void tb_soft_step_kick(tbSoftStepBody* body, int begin, int end, float (*kick)[8], float share,
                       float (*before)[8]);
void tb_soft_step_move(tbSoftStepBody* body, int begin, int end, float h);

// Kernels over batches begin … end − 1 (the first two: soft_step_begin.c). moving: how many of the bodies,
// which come first, can move.
void tb_soft_step_begin(tbSoftStepBatch* batch, int begin, int end, const tbSoftStepBody* body,
                        const tbSoftStepMass* mass);
void tb_soft_step_warm(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving);
void tb_soft_step_solve(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving,
                        const tbSoftStepPass* pass);
void tb_soft_step_bounce(tbSoftStepBatch* batch, int begin, int end, tbSoftStepBody* body, int moving,
                         const tbSoftStepPass* pass);

#endif
