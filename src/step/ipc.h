// SPDX-License-Identifier: Apache-2.0
// What the files of the scheme `ipc` share (ipc.c says what it does).
//
//   ipc_bodies.c     the unknowns
//   ipc_motion.c     what they move
//   ipc_potential.c  the potential of each body by itself
//   ipc_integrator.c velocities of second order
//   ipc_scale.c      how far barriers reach, and how stiff they are
//   ipc_load.c       what light bodies carry between heavy ones
//   ipc_volume.c     a barrier that keeps tetrahedra from turning inside out
//   ipc_contacts.c   barriers between surfaces
//   ipc_friction.c   the friction that goes with them, lagged
//   ipc_gradient.c   both in the Newton step
//   ipc_joints.c     rows of joints, and of nodes attached to bodies
//   ipc_energy.c     no step gains energy
//   ipc_balance.c    forces on whole bodies
//   ipc_matrix.c     the sparse matrix of a Newton step
//   ipc_symbolic.c   its analyses, kept across steps
//   ipc_newton.c     Newton's method with a line search that no surface passes through
//   ipc_way.c        the way of that line search
//   ipc_start.c      bodies that touch at the start are moved apart
//   ipc_free.c       those that pass through each other
//   ipc_moves.c      what both move
//   ipc_publish.c    the end of the step as a contact problem
//   ipc_finish.c     the exact law of friction there
//
// Unknowns are velocities over the step, in blocks of three: one of each node, two (v and ω) of each rigid
// body that moves freely.
#ifndef TB_STEP_IPC_H
#define TB_STEP_IPC_H

#include "barrier/distance.h"
#include "fem/body.h"
#include "math/cholesky.h"
#include "solve/friction.h"
#include "step/node_base.h"
#include "step/scheme.h"
#include "step/surfaces.h"

// A rigid body that moves freely. Its pose at velocities (v, ω): x + h v, and q turned freely by ω for h.
typedef struct tbIpcFrame {
  int body, block;   // the first of its two blocks
  tbTransform start; // of the centre of mass
  tbMat3 inertia;    // at the start, world axes
  tbVec3 v_free, w_free;
  tbVec3 v_forced, w_forced; // what of these the step's forces have added
  double start_share;        // of the velocities it starts with (ipc_energy.c)
  bool touches;
  tbTransform now; // at the present velocities
  tbVec3 w;        // angular velocity that it is placed with
  tbMat3 turn;     // how the end of the step turns, as a rotation vector in world axes, with h ω
  int pieces;      // that its rotation is cut in: the same for all iterates, for it to be smooth
  double reach;    // of its vertices from the centre of mass: what ω moves          m
} tbIpcFrame;

// What a step of the integrator BDF2 leaves to the next, of a body of nodes.
typedef struct tbIpcBefore {
  int body, count;
  tbVec3* lead;    // of what nodes went by the length of the step, before their velocities   (count)  m/s
  tbVec3* elastic; // e: impulses of elastic forces                                           (count)  N·s
} tbIpcBefore;

typedef struct tbIpcKept tbIpcKept;

// A body of nodes.
typedef struct tbIpcNodes {
  int body, block; // that of its first node
  tbNodePotential of;
  tbVec3* start;     // where its nodes start: of.x, or moved apart                 (nnode)
  tbVec3* x;         // at the present velocities                                   (nnode)
  double (*base)[9]; // (1 + hα) M + h drag + hβ K₀, upper blocks                    kg
  tbVec3* rhs;       // M (v + h g) + h force                                       (nnode)
  double* force;     // elastic, by the last evaluation                             (3 nnode)
  int* slot;         // of an upper block in the matrix                             (upper blocks)
  tbIntegrator integrator;
  double elastic;            // share of Ψ in the potential
  const tbIpcBefore* before; // of the last step; null: there is none
  uint8_t* free;             // nodes that go by its rule; null: all go by Euler's            (nnode)
  tbVec3* given;             // of the impulses of elastic forces, what is known              (nnode)  N·s
  tbVec3* speed;             // v⁺, by tb_ipc_speeds                                          (nnode)
  uint8_t* guarded;          // tetrahedra that may not turn inside out; null: it has none   (elements)
  double start_share;        // of the velocities it starts with (ipc_energy.c)
  bool touches;
} tbIpcNodes;

// Where a vertex of a surface gets its motion from.
typedef enum tbIpcSource { TB_IPC_KNOWN, TB_IPC_NODE, TB_IPC_FRAME } tbIpcSource;

typedef struct tbIpcSurface {
  tbIpcSource source;
  int index;     // in nodes or frames
  tbVec3* begin; // vertices at the start of the step
  tbVec3* last;  // known ones: at its end
  tbVec3* now;   // at the present velocities: the start of what the line search looks at
  double mass;   // of a vertex                                                      kg
  double scale;  // of the forces on a vertex that the barrier has to withstand      N
  double load;   // of those that are passed on to it (ipc_load.c)                   N
  tbVec3 drift;  // its velocity where the step starts, of all of it                 m/s
  double spread; // the most by which that of a vertex differs                       m/s
} tbIpcSurface;

// A pair of features closer than its barrier reaches.
typedef struct tbIpcContact {
  tbSurfaceContact at; // closest points and normal at the positions it was found at; gap: their distance
  double dhat, kappa, mollify;
  double lift;         // m: what turning takes from its distance (ipc_finish.c)
  tbPairEnergy energy; // of stiffness κ
} tbIpcContact;

// Friction of a pair, with its force, frame and weights as they last were.
typedef struct tbIpcFriction {
  tbSurfaceContact at;
  tbVec3 axis[2];  // tangents
  double share[2]; // of μ, along them
  double force;    // μ times the normal force                                       N
  double lag[2];   // a force along the tangents that does not follow the slip       N
  // Of a texture: the point of push times its set that is closest to −stiffness times the slip, instead.
  tbFrictionSet set; // without kind: of another law
  double push;       // normal force                                                 N
  double stiffness;  // N/m
  double slip[2];    // where tb_ipc_bound_friction has begun                          m
  bool bounded;      // its Hessian is that of a paraboloid above it
} tbIpcFriction;

// A row of a joint, or of a node that is attached to a body.
typedef struct tbIpcRow {
  int count, block[4]; // that it acts on
  tbVec3 jac[4];
  double bias;         // m/s, rad/s
  double K, low, high; // N·s per m/s; bounds of the impulse, N·s
  double lambda;       // estimate of the impulse, N·s
  double impulse;      // at the last velocities
  bool soft;           // K is the row's own
} tbIpcRow;

typedef struct tbIpcMatrix {
  int nblock;
  int *ptr, *col;     // lower blocks by rows, columns ascending, the diagonal last
  tbCsr scalar;       // the same, entry by entry
  tbCholesky* factor; // null: none yet; the cache's
  uint64_t name;      // of its pattern, and of those it has grown from
  size_t analysed;    // pairs of the one whose order of elimination it has
  int analyses;       // that this step has made
  tbArray pair;       // uint64_t: row · 2³² + column of blocks below the diagonal, sorted
  tbArena arena;      // memory behind ptr … scalar
} tbIpcMatrix;

typedef struct tbIpc {
  const tbWorld* world;
  const tbStepOptions* options;
  tbArena* arena;
  tbCache* cache;
  double h;
  tbSurfaces surfaces;
  tbSurfaceCandidates candidates;
  tbIpcSurface* surface; // (surfaces.scene.nsurface)
  tbMovingPlane* plane;  // whole motion of the planes                                (surfaces.scene.nplane)
  int nframe, nnodes, nblock;
  tbIpcFrame* frame;
  tbIpcNodes* nodes;
  tbBodyStep* step;  // (bodies)
  uint8_t* held;     // blocks whose velocity is known                                (nblock)
  tbVec3 *v, *trial; // velocities                                                    (nblock)
  tbVec3 *gradient, *direction, *last; // last: direction
  tbVec3* lead;      // what the known motion that is left adds to the gradient      (nblock)
  double lead_slope; // of the potential, along that motion                          J
  double drive;      // K of ½ K (1 − progress)², which is minimised with it         J
  double* scratch;   // of the factor's solves
  size_t nscratch;
  double progress;                // of what is in prescribed motion: share of its way that is gone
  bool still;                     // it stays where it is, and so do nodes; nothing slides
  double dhat, most_dhat, smooth; // m: the barrier's reach, the largest of a pair; ε_v h
  double edge;                    // m: the least mean edge of surfaces that move; infinite: there are none
  double stiffer;                 // what κ has been multiplied with
  bool slowly;                    // κ is that of bodies that do not move fast
  bool exact;                     // Hessians are as they are; else made positive, each by itself
  tbArray contact;                // tbIpcContact at the present velocities
  tbArray found;                  // tbSurfaceContact, of a search
  tbArray hessian;                // double[144], by contact
  tbArray friction;               // tbIpcFriction
  tbArray met;                    // tbSurfaceContact
  tbArray published;              // tbSurfaceContact of the constraints
  tbArray row;                    // tbIpcRow, of all joints in their order
  tbIpcMatrix matrix;
  double moved;          // m: how far the start was moved, at most
  int iterations;        // Newton's
  double change;         // m/s: of the last one
  bool converged;        // to the tolerance
  bool finished;         // contacts touch at the distances they have: the end has the exact law of friction
  double stored;         // J: energy of the barriers
  const tbIpcKept* kept; // what the last step has left; null: nothing
  double held_before;    // J: the same when the last step ended; infinite: not known
  double begun_with;     // J: kinetic, elastic and barrier energy where the step starts
  bool driven;           // something is in prescribed motion, or it stays where it is: energy may grow
  int slower;            // times that bodies have started slower for the sake of the exact law
  double slowed;         // N·s: the most momentum taken from a body at the start
  double deadline;       // on the clock; infinite: none
  bool late;             // it has passed
} tbIpc;

// ---- ipc_bodies.c ----
tbStatus tb_ipc_begin_bodies(tbContext* ctx, tbStepWork* work, tbIpc* ipc);

// ---- ipc_motion.c ----
// Poses and nodes at velocities v and a share of the known motion, into `end` of all surfaces.
void tb_ipc_place(tbIpc* ipc, const tbVec3* v, double progress);
// `end` of all surfaces becomes where the next look starts from.
void tb_ipc_settle(tbIpc* ipc);
// How a vertex moves with velocities: blocks and 3×3 factors, at most two. 0: it does not.
typedef struct tbIpcMove {
  int count, block[2];
  tbMat3 by[2];
} tbIpcMove;
tbIpcMove tb_ipc_move(const tbIpc* ipc, int surface, int vertex, tbVec3 at);
// How that rotation vector bends with ω: its second derivatives along a torque.
tbMat3 tb_ipc_bend(const tbIpc* ipc, const tbIpcFrame* frame, tbVec3 torque);
// What is left of a known vertex's way.
tbVec3 tb_ipc_left(const tbIpc* ipc, int surface, int vertex);

// ---- ipc_potential.c ----
// Kinetic and elastic part of the potential, at v as placed last; *size: the sum of what its terms are in
// size.
double tb_ipc_bodies_energy(tbContext* ctx, tbIpc* ipc, const tbVec3* v, double* size);
// gradient ← of that part, at v as placed last; and, unless the matrix is null, the Hessian into it.
void tb_ipc_bodies_gradient(tbContext* ctx, tbIpc* ipc, const tbVec3* v, tbIpcMatrix* matrix);

// ---- ipc_integrator.c ----
tbStatus tb_ipc_begin_integrator(tbContext* ctx, tbIpc* ipc);
// Nodes that touch go by Euler's rule from now on. Whether any did not before.
bool tb_ipc_touch(tbIpc* ipc);
// v⁺ of all nodes, where they go with these velocities in the step.
const tbVec3* tb_ipc_speeds(const tbIpcNodes* nodes, const tbVec3* v);
double tb_ipc_share_of_mass(const tbIpcNodes* nodes, int node); // ∂v⁺/∂V
// rhs without what the integrator has added: M (share v + h g) + h force
tbVec3 tb_ipc_plain_rhs(const tbIpcNodes* nodes, int node);
void tb_ipc_start_slower(tbIpcNodes* nodes, double share); // share: of the velocities it has started with
void tb_ipc_remember(tbContext* ctx, const tbIpc* ipc, const tbIpcNodes* nodes, const tbVec3* v,
                     tbIpcBefore* out);

// ---- ipc_state.c ----
double tb_ipc_stored(const tbIpcKept* kept); // of the last step, J; infinite: not known
const tbIpcBefore* tb_ipc_before(const tbIpcKept* kept, const tbIpcNodes* nodes, double h);
// What the step leaves, with the velocities of the problem: v⁺ of nodes, and what the next one needs.
tbStatus tb_ipc_keep(tbContext* ctx, const tbIpc* ipc, const tbStepView* view, void** out);
extern const tbStateKind tb_ipc_state;

// ---- ipc_scale.c ----
void tb_ipc_begin_scale(tbContext* ctx, tbIpc* ipc);
double tb_ipc_stiffness(const tbIpc* ipc, const tbSurfaceFeatures* of); // κ of a pair, N
double tb_ipc_touching_at(const tbWorld* world, const tbStepOptions* options, const tbSurfaces* surfaces,
                          bool shapes); // tbSchemeMethod.touching

// ---- ipc_load.c ----
tbStatus tb_ipc_share_loads(tbContext* ctx, tbIpc* ipc); // uses candidates; the placement stays

// ---- ipc_volume.c ----
// Which elements are guarded, from where they start; their energy at the nodes as placed last; and what it
// adds to the gradient, and to the matrix unless it is null.
void tb_ipc_volume_begin(tbIpc* ipc);
double tb_ipc_volume_energy(const tbIpc* ipc);
void tb_ipc_volume_gradient(tbIpc* ipc, tbIpcMatrix* matrix);

// ---- ipc_contacts.c ----
// The pairs closer than their barrier reaches at `end` of all surfaces, with their energies; *sum: of these.
tbStatus tb_ipc_find(tbContext* ctx, tbIpc* ipc, double* sum);
tbStatus tb_ipc_hessians(tbContext* ctx, tbIpc* ipc); // of these pairs
// Two features at `end` of all surfaces, however far apart; no energy. False: they have no direction.
bool tb_ipc_pair(const tbIpc* ipc, const tbSurfaceFeatures* of, tbIpcContact* out);

// ---- ipc_friction.c ----
// Friction as the present contacts say.
tbStatus tb_ipc_lag(tbContext* ctx, tbIpc* ipc);
double tb_ipc_friction_energy(const tbIpc* ipc);
// Friction whose slip turns round on the way from `back` of the direction before v to `ahead` after it has
// the Hessian of a paraboloid above it, until it is released.
void tb_ipc_bound_friction(tbIpc* ipc, double back, double ahead);
void tb_ipc_release_friction(tbIpc* ipc);
// The force of friction on side b.
tbVec3 tb_ipc_friction_force(const tbIpc* ipc, const tbIpcFriction* friction);
// By corners, those of side b first.
void tb_ipc_friction_derivatives(const tbIpc* ipc, const tbIpcFriction* friction, tbVec3 gradient[4],
                                 double H[144]);

// ---- ipc_gradient.c ----
// Adds what contacts and friction have to the gradient, and to the matrix unless it is null.
tbStatus tb_ipc_contacts_gradient(tbContext* ctx, tbIpc* ipc, tbIpcMatrix* matrix);
// The bodies and blocks that pairs couple, as matrix pairs.
tbStatus tb_ipc_couplings(tbContext* ctx, tbIpc* ipc, tbArray* pairs);

// ---- ipc_balance.c ----
// m/s: the most that forces on a whole body, at v as placed last, would change its velocity by. Uses
// gradient.
tbStatus tb_ipc_unbalanced(tbContext* ctx, tbIpc* ipc, double* most);

// ---- ipc_matrix.c ----
// A pattern that holds what bodies and the pairs of blocks couple; zero. Kept where it does already.
tbStatus tb_ipc_matrix_prepare(tbContext* ctx, tbIpc* ipc, tbArray* pairs);
void tb_ipc_matrix_add(tbIpcMatrix* matrix, int row, int col, const double block[9]); // row ≥ col
void tb_ipc_matrix_add_at(tbIpcMatrix* matrix, int row, int slot, const double block[9], bool transposed);
// TB_ERROR_NUMERIC: it is not positive. One whose parts are is helped where rounding has made it so.
tbStatus tb_ipc_matrix_solve(tbContext* ctx, tbIpc* ipc, const tbVec3* rhs, tbVec3* x);
void tb_ipc_matrix_free(tbContext* ctx, tbIpcMatrix* matrix);

// ---- ipc_symbolic.c ----
// The factor of the matrix's present pattern: one that the cache keeps, or a new one.
tbStatus tb_ipc_analyse(tbContext* ctx, tbCache* cache, tbIpcMatrix* matrix);

// ---- ipc_joints.c ----
// The rows where bodies start now; their part of the potential; of the gradient, and of the matrix unless it
// is null; the blocks they couple.
tbStatus tb_ipc_begin_joints(tbContext* ctx, tbIpc* ipc, const tbStepWork* work);
double tb_ipc_joints_energy(const tbIpc* ipc, const tbVec3* v);
double tb_ipc_joints_work(const tbIpc* ipc); // of the impulses, at the present velocities   J
void tb_ipc_joints_gradient(tbIpc* ipc, const tbVec3* v, tbIpcMatrix* matrix);
tbStatus tb_ipc_joints_couple(tbContext* ctx, const tbIpc* ipc, tbArray* pairs);
// Impulses as they are now become the estimate. Whether that changes velocities by more than the tolerance.
bool tb_ipc_joints_learn(tbIpc* ipc);
// Adds Jᵀλ; and λ, to the impulses of a problem.
void tb_ipc_joints_push(const tbIpc* ipc, tbVec3* push);
void tb_ipc_joints_publish(const tbIpc* ipc, tbAssembly* assembly);
void tb_ipc_joints_take(tbIpc* ipc, const tbAssembly* assembly); // the solver's impulses

// ---- ipc_energy.c ----
// Kinetic and elastic energy where the step starts, of bodies that are there; and as placed last, less the
// work of the step's forces.
double tb_ipc_energy_before(tbContext* ctx, const tbIpc* ipc);
double tb_ipc_energy_after(tbContext* ctx, const tbIpc* ipc);
// Bodies that touch start slower, by about that much energy. False: there are none.
bool tb_ipc_slow_down(tbIpc* ipc, double gain);

// ---- ipc_newton.c ----
tbStatus tb_ipc_minimise(tbContext* ctx, tbIpc* ipc);
// The same again, from a start that is slower by what has been gained. *again: false: it has been tried often
// enough, or nothing touches; the minimum stands.
tbStatus tb_ipc_minimise_slower(tbContext* ctx, tbIpc* ipc, double gain, bool* again);

// ---- ipc_way.c ----
// The trial: a share of the direction.
void tb_ipc_go(tbIpc* ipc, double share);
// When features, ipc->met, first come too close on the way to `end` of all surfaces; 1: none do.
tbStatus tb_ipc_first_impact(tbContext* ctx, tbIpc* ipc, double* when);
// Whether nothing comes too close on that way from the last iterate, and barriers hold no more at its end.
tbStatus tb_ipc_is_clear(tbContext* ctx, tbIpc* ipc, bool* clear);
// Shortens the share until nothing is in the way of the trial, which is there. 0: there is none.
tbStatus tb_ipc_clear_way(tbContext* ctx, tbIpc* ipc, double* share);

// ---- ipc_start.c ----
tbStatus tb_ipc_part(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbStepReport* report);

// ---- ipc_publish.c ----
// Constraints and impulses of the contacts at the end, and free velocities that lead there with these.
tbStatus tb_ipc_publish(tbContext* ctx, tbIpc* ipc, tbStepWork* work);
double tb_ipc_touching(const tbIpcContact* contact); // the distance of one that touches
// Impulses of the problem: what barriers, friction and joints have given.
void tb_ipc_guess(const tbIpc* ipc, tbStepWork* work);
// Velocities as the last iterate has them, which nothing crosses at, whatever impulses would make of them.
void tb_ipc_restore(const tbIpc* ipc, tbStepWork* work);
// `end` of all surfaces: where the velocities of the problem take them.
void tb_ipc_arrive(tbContext* ctx, tbIpc* ipc, const tbStepWork* work);

// ---- ipc_finish.c ----
// Contacts as the problem of the exact law wants them; and that problem, solved and judged. ipc->finished:
// false where the way to its answer is not free.
tbStatus tb_ipc_finish_begin(tbContext* ctx, tbIpc* ipc);
tbStatus tb_ipc_finish(tbContext* ctx, tbIpc* ipc, tbStepWork* work, tbStepReport* report);

#endif
