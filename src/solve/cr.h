// SPDX-License-Identifier: Apache-2.0
// Conjugate residuals on the mixed contact problem: the iteration (cr.c) and the contacts' states
// (cr_states.c). Staggered projections (staggered_cr.c) have it solve one part of the rows at a time.
#ifndef TB_SOLVE_CR_H
#define TB_SOLVE_CR_H

#include "solve/anderson.h"
#include "solve/cr_system.h"
#include "solve/friction.h"

// Friction rows that stick or slide together: an ellipsoid of half axes λ_n a, or an interval λ_n [lo, hi].
typedef struct tbCrGroup {
  int row, rows; // of the problem; at most 3
  bool interval; // then lo = a[0], hi = a[1]
  bool slides;   // its impulse is held, at the edge of the friction set
  double a[3];
  double direction[3]; // of the impulse at the edge, in multiples of a; of an interval −1 or 1
  double step;         // how far it may turn at once, 0 … 1: halved where it turns to and fro
  double turn[3];      // what it turned by last
} tbCrGroup;

typedef struct tbCrContact {
  int group, groups; // of friction
  int switches;      // of state, so far
  double recent;     // λ_n at the last look, half of the moving average
  double average;    // λ': the normal impulse that sliding friction goes by
} tbCrContact;

// Rows that may be solved for; the impulses of all others are held.
typedef enum tbCrPart {
  TB_CR_ALL,
  TB_CR_CONTACTS, // normal rows, and those of laws without friction
  TB_CR_FRICTION  // friction rows, within λ_n F
} tbCrPart;

// The vectors and rotations of MINRES (cr_minres.c).
typedef struct tbMinres {
  double *v, *v_before, *z;        // Lanczos' vectors, and C⁻¹v                   (ndof + nrow)
  double *p_before, *Bp_before;    // the direction before the last, and B times it (ndof + nrow)
  double gamma, gamma_before, eta; // of v; of the residual
  double c[2], s[2];               // the last two rotations
  int count;                       // of steps
} tbMinres;

typedef struct tbCr {
  tbRun* run;
  tbCrPart part;
  tbCrSystem system;
  tbCrContact* contact;            // (ncontact)
  tbCrGroup* group;                // (nrow)
  tbFrictionSet* set;              // (ncontact)
  double *lambda, *u;              // impulses, held ones too; velocities at the last look (nrow)
  double* seen;                    // the impulses before the last look, which r knows of (nrow)
  double* w;                       // v − v_free (ndof)
  double *r, *s, *Bs;              // residual, C⁻¹r, B C⁻¹r  (ndof + nrow)
  double *p, *Bp, *t;              // direction, B p, C⁻¹B p
  double* weight;                  // what residuals are measured in velocities by (ndof + nrow)
  double* partial;                 // sums of the pieces of a pass
  double alpha, beta;              // of the pass under way
  double steep;                    // (Bp)ᵀC⁻¹Bp
  double size, slope;              // of r, as contacts feel it, and of B C⁻¹r, so measured
  double r_tolerance, u_tolerance; // ε₁ on residuals, ε₂ on the velocity that a change of state is worth
  double tightening;               // of both, by the judge's answers
  double loose;                    // ε₁ of a part that need not be solved so well; 0: as said
  int wait, restarts; // iterations since the last look; restarts since the linear problem was solved
  int changes;        // restarts in all
  double requested;   // the estimated error at which the judge was last called for
  double asked;       // and at which it last answered; 0: not yet
  double change;      // the largest such velocity at the last look
  double unrest;      // and the sum of their squares
  bool contradicted;  // solved rows contradict each other: r does not vanish where rᵀC⁻¹r is least
  int looks;          // so far
  int restless;       // thorough looks in a row that changed states
  int quiet;          // looks in a row that changed no state
  bool settled;       // the last thorough look found no state to change
  tbAnderson mixer;   // of sliding friction, while states are settled
  double gain;        // of sliding friction, over what the diagonals S_d say
  double *last_lambda, *last_u; // at the last thorough look (nrow)
  tbMinres minres;              // in the place of conjugate residuals, where that is asked for
  double *before, *moved;       // held impulses before a look, and by what it moved them (nrow)
} tbCr;

// From the impulses of a warm start, with c->part as it is given; takes run->scratch, tb_cr_scratch of it.
void tb_cr_begin(tbCr* c, tbRun* run, const double* lambda);
// One iteration. True: the equations hold to ε₁ in the states that contacts are in, and no look finds one to
// change. The residual is then computed afresh, and the rows' give with it.
bool tb_cr_iterate(tbCr* c);
double tb_cr_residual(tbCr* c); // in velocities
// Goes on with another part, from `impulses` (nrow), on which its states are based.
void tb_cr_turn_to(tbCr* c, tbCrPart part, const double* impulses);
// Asks the judge where an error, estimated in velocities, lets one hope.
void tb_cr_request_check(tbCr* c, double error);

void tb_minres_layout(tbMinres* m, tbScratch* scratch, size_t size);
void tb_minres_begin(tbCr* c);     // from c->r and C⁻¹r in c->s
bool tb_minres_step(tbCr* c);      // one step; false: there is nothing to gain
bool tb_minres_slope_due(tbCr* c); // whether B C⁻¹r is to be looked at

// Groups, and states from the impulses of a warm start, which are clamped into their laws.
void tb_cr_states_begin(tbCr* c);
void tb_cr_states_enter(tbCr* c); // the states alone, of c->part

// Looks at every contact, given u and λ, and changes states and held impulses where that is worth more than
// ε₂. thorough: at convergence, where every misalignment of friction counts.
typedef enum tbCrLook { TB_CR_SAME, TB_CR_MOVED, TB_CR_SWITCHED } tbCrLook; // nothing; held impulses; states
tbCrLook tb_cr_states_look(tbCr* c, bool thorough);

// The impulses with all laws' bounds satisfied: what is judged.
void tb_cr_states_publish(const tbCr* c, double* lambda);

#endif
