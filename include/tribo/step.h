// SPDX-License-Identifier: Apache-2.0
// Moving a world through time.
//
//   tbStepOptions options = tb_default_step_options();
//   options.dt = 1.0 / 60;
//   for (int i = 0; i < 600; i++) tb_world_step(&ctx, world, &options, &report);
//
// A step reads like an equation: collide, assemble, solve, integrate, with the judge looking on. A step that
// fails (memory, an option out of range) leaves the world as it was. A step that does not reach its tolerance
// is done all the same, and its report says so. A step that is cancelled, by the context's interrupt or by
// solver.cancelled, is not done at all: TB_ERROR_CANCELLED, and the world is as it was before.
#ifndef TRIBO_STEP_H
#define TRIBO_STEP_H

#include "tribo/ccd.h"
#include "tribo/descent.h"
#include "tribo/scene.h"
#include "tribo/solver.h"

TB_API_BEGIN

// How overlaps and joint errors go away.
typedef enum tbStabilization {
  TB_STABILIZE_BAUMGARTE,  // a fraction of the error per step is pushed out through the velocities
  TB_STABILIZE_COMPLIANCE, // a spring and damper (k, b) per contact, implicit: force = −k φ − b φ̇
  TB_STABILIZE_PROJECTION, // velocities untouched; positions are projected after the step
  TB_STABILIZE_NONE,
  TB_STABILIZE_COUNT
} tbStabilization;

const char* tb_stabilization_name(tbStabilization kind);

// What keeps surfaces apart under the scheme ipc, by their distance d below d̂ (src/barrier/barrier.h).
typedef enum tbBarrierKind {
  TB_BARRIER_LOG,       // the clamped logarithm (Li et al. 2020)
  TB_BARRIER_QUADRATIC, // one spring of thickness d̂: an implicit penalty, whose force is bounded
  TB_BARRIER_LAYERS,    // springs within springs, each thinner and stiffer (Harmon et al. 2009)
  TB_BARRIER_COUNT
} tbBarrierKind;

const char* tb_barrier_name(tbBarrierKind kind);

// How nodes go through time under the scheme ipc.
typedef enum tbIntegrator {
  TB_INTEGRATOR_EULER,   // implicit Euler: first order, damps
  TB_INTEGRATOR_NEWMARK, // the trapezoidal rule (β = 1/4, γ = 1/2): second order, keeps energy
  TB_INTEGRATOR_BDF2,    // backward differences: second order, damps what is fast
  TB_INTEGRATOR_COUNT
} tbIntegrator;

const char* tb_integrator_name(tbIntegrator kind);

// What a step of the scheme implicit is with Newton's method on elasticity (course, chapter 4.2). All end at
// implicit Euler's step, as far as their contacts say the same.
typedef enum tbFormulation {
  TB_FORM_VELOCITIES, // a minimum over velocities; gaps are linear about where contacts begin
  TB_FORM_POSITIONS,  // a minimum over positions; gaps are taken anew where the iterate is
  TB_FORM_DUAL,       // a root of the equations of motion and of contact: bodies' velocities and impulses
  TB_FORM_PRIMAL,     // a root of the equations of motion alone: contacts are forces of a stiff potential
  TB_FORM_COUNT
} tbFormulation;

const char* tb_formulation_name(tbFormulation form);

// Springs of the scheme penalty, by their depth d: k L (d/L)^p, or k L (exp(d/L) − 1).
typedef enum tbPenaltySpring {
  TB_SPRING_POWER,
  TB_SPRING_EXPONENTIAL,
  TB_SPRING_LAYERS, // nested ones, stiffer and stiffer (Harmon et al. 2009)
  TB_SPRING_COUNT
} tbPenaltySpring;

const char* tb_penalty_spring_name(tbPenaltySpring kind);

// Its friction, which the contact's law cuts.
typedef enum tbPenaltyFriction {
  TB_PENALTY_ANCHORS, // springs to where the contact began
  TB_PENALTY_DAMPING, // what stops sliding within a step
  TB_PENALTY_RELAXED, // friction_stiffness times the sliding
  TB_PENALTY_FRICTION_COUNT
} tbPenaltyFriction;

const char* tb_penalty_friction_name(tbPenaltyFriction kind);

// Where its springs are evaluated.
typedef enum tbPenaltyTime {
  TB_PENALTY_AUTO,     // implicit where bodies deform or linear springs are left to be chosen
  TB_PENALTY_EXPLICIT, // where the step starts
  TB_PENALTY_IMPLICIT, // where it ends
  TB_PENALTY_TIME_COUNT
} tbPenaltyTime;

const char* tb_penalty_time_name(tbPenaltyTime kind);

typedef struct tbStepOptions {
  const char* scheme; // a name of the table of schemes
  double dt;          // s
  tbSolveOptions solver;
  double budget_s; // of all the solves of a step together, impacts and rounds too; 0: none. When it is up,
                   // the best impulses so far are taken, and the outcome is "time"
  bool warm_start; // start from the last step's impulses

  tbStabilization stabilization;
  double fraction;           // baumgarte: of the error removed per step, 0 … 1
  double slop;               // m: overlap that is left alone
  double compliance;         // baumgarte: m/N of every contact's normal row
  double stiffness, damping; // compliance: k in N/m, b in N·s/m, of every contact's normal row

  double margin;            // m: contacts are looked for at least so far ahead
  bool sliding_tangents;    // first tangents along the sliding, for the box model
  tbCcdMethod ccd;          // of surfaces that move: what meets on the way; all but inclusion can miss
  double restitution_speed; // m/s: slower approaches do not bounce; negative: chosen from gravity and dt
  double penalty_stiffness; // scheme penalty: N/m
  double penalty_damping;   // scheme penalty: share of critical damping
  double penalty_recede;    // scheme penalty: stiffness of normals where bodies part, as a share of it
  tbPenaltySpring penalty_spring;     // scheme penalty
  double penalty_exponent;            // scheme penalty: of springs by powers; 1: linear
  double penalty_length;              // scheme penalty, m: of springs that are not linear; 0: chosen
  tbPenaltyFriction penalty_friction; // scheme penalty
  tbPenaltyTime penalty_time;         // scheme penalty
  double clearance; // scheme implicit: surfaces stay so far apart, m; 0: chosen from the meshes
  int rounds;       // schemes implicit, pd: how often, at most, contacts are found anew and solved for again
  int relinearizations;   // scheme implicit: how often, at most, contacts are linearised anew where nothing
                          // meets
  bool stick_from_impact; // scheme implicit: friction between deformable bodies sees motion from the first
                          // impact on
  int newton_steps;       // scheme implicit: of Newton's method on elasticity, at most; 1: linear in a step
  tbFormulation formulation; // scheme implicit
  int iterations;            // scheme pd: of local and global steps, at most
  bool accelerated;          // scheme pd: its iterations have momentum
  bool certified; // scheme pd: what meets on the way becomes a contact, and the iterations are run again,
                  // for thick sheets among themselves, too
  tbBarrierKind barrier;     // scheme ipc
  tbIntegrator integrator;   // scheme ipc: of nodes
  double dhat;               // scheme ipc, m: barriers reach so far; 0: chosen from the meshes
  double velocity_threshold; // scheme ipc, m/s: slower sliding has less than all of its friction
  double barrier_stiffness;  // scheme ipc, N: of a contact at about half of dhat; 0: chosen
  double newton_tolerance;   // ipc, and implicit with newton_steps, m/s: Newton's method ends when it changes
                             // no velocity by more
  int newton_iterations;     // scheme ipc: at most
  int friction_iterations;   // scheme ipc: how often, at most, friction is taken anew
  bool exact_friction;       // scheme ipc: the step ends with the exact law of friction
  int substeps;         // of a step; negative (the default): 8 of soft-step, 1 of primal, xpbd, vbd, avbd
  double hertz;         // scheme soft-step: of the springs that push overlaps out
  double damping_ratio; // scheme soft-step: of these springs
  double push_speed;    // scheme soft-step, m/s: overlaps are pushed out no faster
  bool polish;          // schemes soft-step, pd: a step ends with the solver's answer to its problem
  double sleep; // scheme soft-step, s: bodies that have been slow for so long may sleep; 0 (the default):
                // none does
  double sleep_speed; // scheme soft-step, m/s: slower is slow
  int certify; // scheme soft-step: the judge looks at every certify-th step; 0, or negative (the default): at
               // none, and the outcome is "unjudged"
  tbDescentOptions descent; // schemes primal, xpbd, vbd, avbd
} tbStepOptions;

tbStepOptions tb_default_step_options(void); // semi-implicit, dt 0.01, solver auto, baumgarte 0.2

// The same by name (tribo/options.h). Rows count `at` from a tbStepOptions. A row is found by its key or by
// its member. Naming a solver that does not know the model in use brings its first model with it.
int tb_option_count(void);
tbOption tb_option_at(int index);
tbStatus tb_option_find(tbContext* ctx, const char* key, tbOption* out);
tbStatus tb_option_set(tbContext* ctx, tbStepOptions* options, const char* key, const char* text);
tbStatus tb_option_set_number(tbContext* ctx, tbStepOptions* options, const char* key, double value);
bool tb_option_is_valid(const tbStepOptions* options, const tbOption* option);
void tb_option_copy(const tbOption* option, const tbStepOptions* from, tbStepOptions* to);
double tb_option_get_number(const tbStepOptions* options, const tbOption* option);    // in the key's unit
const char* tb_option_get_name(const tbStepOptions* options, const tbOption* option); // null: it is a number

typedef enum tbPhase {
  TB_PHASE_COLLIDE,
  TB_PHASE_ASSEMBLE,
  TB_PHASE_SOLVE,
  TB_PHASE_INTEGRATE,
  TB_PHASE_JUDGE,
  TB_PHASE_COUNT
} tbPhase;

// What the iterations of the scheme pd are made of; parts of TB_PHASE_SOLVE.
typedef enum tbPdPart {
  TB_PD_PROJECT,  // right-hand sides: elements project
  TB_PD_CONTACTS, // impulses of contacts
  TB_PD_GLOBAL,   // solves with the factor
  TB_PD_LAYERS,   // sorting contacts into layers, once per step
  TB_PD_PARTS
} tbPdPart;

// What a step did that the contact law did not ask for, and by how much. All zero in most steps.
typedef struct tbStepChanges {
  int damped; // impacts with less than their restitution: with friction, all of it would have gained energy
  double damping;   // largest share of it that was taken, 0 … 1
  int stopped;      // bodies that went only a part of the step, lest they pass through something
  double short_of;  // m: the longest way that one of them would have gone on, at the velocity it has
  double projected; // m: how far the projection of positions moved a body's centre of mass at most; of a step
                    // of substeps, how far it is from where its last velocity takes it in a whole one
  double turned;    // rad: and how far it turned one
  double slowed; // N·s: the most momentum taken from a deformable body that went only a share of the step,
                 // and as much slower; of ipc, from a body that went so far that contacts gained energy; of
                 // soft-step, from one that fell asleep
  double unbalanced; // N·s: unbalanced descent (tbDescentOptions.balanced): the most momentum that a body won
                     // and no impulse explains
} tbStepChanges;

// A step may solve several problems: its own, and those of impacts, of joints and of projection. One that did
// not converge is enough for the step not to have.
typedef struct tbStepReport {
  tbOutcome outcome; // converged when there was nothing to solve; failed where surfaces cross or energies
                     // overflow
  const char* used;  // the method that finished
  int iterations;
  int contacts; // rows of joints not counted
  int asleep;   // bodies that the step left alone (option sleep)
  tbResidual
      residual;       // the judge's, the worst of each number over the problems of impacts and the step's own
  double penetration; // m: deepest overlap at the start of the step
  int rounds;         // implicit: how often contacts were found and solved for
  double linear_error; // implicit, m: the most that a contact's gap at the end of the step, of those that
                       // push, is another than its row says
  double trimmed;      // implicit: share of the step that was not gone, lest surfaces pass through each other
  tbStepChanges changes;
  int64_t intersections; // with deformable bodies: pairs of triangles of surfaces that pass through each
                         // other after the step (collide/intersect.h)
  int64_t touching;      // pairs of those that only touch
  double phase_s[TB_PHASE_COUNT];
  bool overflow;            // an energy of the world is not finite any more
  double pd_s[TB_PD_PARTS]; // pd: of the solve
  double
      newton_change; // ipc: m/s: the most that the last iteration of Newton's method changed a velocity;
                     // implicit with newton_steps: what elasticity leaves unbalanced, over the mass of a node
  bool newton_missed; // that is more than its tolerance
  int parts;     // that the step was taken in: substeps; ipc halves steps whose Newton's method does not end
  double stored; // ipc: J: energy of its barriers at the end of the step
} tbStepReport;

tbStatus tb_world_step(tbContext* ctx, tbWorld* world, const tbStepOptions* options, tbStepReport* report);

// The friction set of a contact (tb_world_contact()), with its bodies as they are now: `count` points around
// its edge, in world axes, per newton of normal force, as forces on b. Returns count; 0 where friction has no
// set in the plane, or where its direction lies in the material of a deformable body.
int tb_world_contact_friction(const tbWorld* world, int index, int count, tbVec3* edge);

// The contact problem of the coming step, or of the first of its substeps, as it would be solved; the world
// is not moved. lambda: the warm start (nrow; free with tb_guess_free of tribo/io.h); may be null.
tbStatus tb_world_problem(tbContext* ctx, const tbWorld* world, const tbStepOptions* options, tbProblem** out,
                          double** lambda);

// Bodies that a scheme can move: those whose surface moves as a frame (rigid ones), those whose nodes move.
enum { TB_MOVES_FRAMES = 1, TB_MOVES_NODES = 2, TB_MOVES_MODES = 4 };

typedef struct tbScheme {
  const char* name;
  const char* summary;
  const char* reference;
  const struct tbSchemeMethod* method;
  unsigned moves; // TB_MOVES_… of the bodies it moves; those of nodes have sparse metric blocks, reduced ones
                  // dense
  // What it asks of a solver: bits (1 << tbLaw) of the laws that scenes can bring up in a step's problem, and
  // in those of impacts, where they are problems of their own.
  unsigned laws, impact_laws;
  bool springs;     // of materials and pairs (tbContactSpring); else worlds with any are refused
  bool until_apart; // contacts of surfaces are found anew within a step until nothing meets on the way
} tbScheme;

int tb_scheme_count(void);
const tbScheme* tb_scheme_at(int index);
const tbScheme* tb_scheme_find(const char* name);

// How a solver suits a scheme: the laws of its steps, sorted by what the solver makes of them.
typedef struct tbFit {
  unsigned exact;    // takes them as they stand                                   bits (1 << tbLaw)
  unsigned modelled; // takes them under another model of friction only
  unsigned refused;  // does not take them
} tbFit;

tbFit tb_scheme_fit(const tbScheme* scheme, const tbSolver* solver);

TB_API_END
#endif
