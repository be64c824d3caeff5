// SPDX-License-Identifier: Apache-2.0
// The two quadratic programs of staggered projections, island by island.
#ifndef TB_SOLVE_STAGGERED_H
#define TB_SOLVE_STAGGERED_H

#include "math/qp_dual.h"
#include "math/qp_projected.h"
#include "solve/anderson.h"
#include "solve/friction.h"
#include "solve/run.h"

// Rows of one island that move together: those of the contact projection, or those of friction.
typedef struct tbStaggerRows {
  int count;
  int* row;           // of the problem, ascending
  double* scale;      // D: impulses are D x, friction rows of a contact alike; D W D has a diagonal near one
  int *W_ptr, *W_col; // null: products go through velocities
  double* W_val;      // D W D on these rows, by rows

  // a small program: the dual active set on the symmetric part and a speck of the unit matrix
  bool dense;
  bool filled; // the program has been made, whether it could be factored or not
  double* G;   // row-major (count²)
  tbQpDual dual;
  int constraints;
  int *ptr, *col;
  double *val, *bound;

  tbQpProjected projected; // a large one
} tbStaggerRows;

typedef struct tbStaggerIsland {
  int contacts;
  int* contact; // ascending
  tbStaggerRows normal, friction;
  tbAnderson mixer; // of the friction impulses

  // the contact projection in the velocities, where they are fewer than the contacts
  bool by_velocity;
  int dofs;
  int* dof;         // of the problem, ascending
  double* momentum; // A v_free (dofs)
  tbQpDual velocity;
  int *ptr, *col; // J's normal rows
  double *val, *bound;
} tbStaggerIsland;

typedef struct tbStagger {
  tbArena arena;
  const tbDelassus* W;
  tbInterrupt interrupt; // of the run: islands that are left are left as they are
  int islands;
  tbStaggerIsland* island;
  int* home;                       // island of a contact (ncontact)
  tbFrictionSet* friction;         // (ncontact)
  double *g, *x, *y, *room, *last; // of one program (nrow or ndof)
  double *expand, *product;        // the island's rows in the problem's numbering (nrow)
  double* w;                       // A⁻¹Jᵀ of them (ndof)
  double *multiplier, *scaled;     // of constraints
  int* local;                      // place of a row in its program (nrow)
  int* place;                      // place of a degree of freedom in its island (ndof)
  bool* seen;                      // metric blocks (nblock)
  const double* lambda;            // the normal impulses that friction is bounded by
  const tbStaggerIsland* current;  // whose rows apply and project are asked for
} tbStagger;

// W and the projection on the rows of the current island: for projected gradients, with a tbStagger as user.
void tb_stagger_apply_normal(void* user, const double* x, double* y);
void tb_stagger_apply_friction(void* user, const double* x, double* y);
void tb_stagger_project_normal(void* user, double* x);
void tb_stagger_project_friction(void* user, double* x);

void tb_stagger_apply(tbStagger* s, const tbStaggerRows* r, const double* x, double* y); // y = D W D x

tbStatus tb_stagger_create(tbContext* ctx, tbRun* run, tbStagger** out);
void tb_stagger_free(tbContext* ctx, tbStagger* s); // takes null

// λ's contact rows ← the impulses that end penetration, friction as it stands.
void tb_stagger_contacts(tbStagger* s, double tolerance, double* lambda);
// The same as exactly as rounding allows. Late: only islands that take no longer than they did in an
// iteration; else an island that is not reached before the run is stopped stays as it is.
void tb_stagger_settle(tbStagger* s, bool late, double* lambda);
// The contact program of an island that has room for it, for the dual active set.
void tb_stagger_fill_normal(tbStagger* s, tbStaggerIsland* land);
// out's friction rows ← the impulses of most dissipation in λ_n F, λ_n as it stands.
void tb_stagger_frictions(tbStagger* s, double tolerance, const double* lambda, double* out);

#endif
