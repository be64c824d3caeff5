// SPDX-License-Identifier: Apache-2.0
// What a step and its bodies tell each other, whatever kinds these are of.
#ifndef TB_KIND_STEP_H
#define TB_KIND_STEP_H

#include "collide/surfaces.h"
#include "kind/unconstrained.h"
#include "tribo/step.h"

// Where a body is in the problem: at an offset in a block of the metric, which several bodies may share.
typedef struct tbPlace {
  int block, offset;
  int dof; // the first of its degrees of freedom; −1: it is left out
} tbPlace;

// What tight joints add to a body's mass and inertia (world axes).
typedef struct tbGeometric {
  tbMat3 mass, inertia;
} tbGeometric;

// Of a body that solves for its free motion.
typedef struct tbBodyStep {
  int size;        // its degrees of freedom; 0: it does not
  bool large;      // prepared with every thread inside, not side by side with others
  bool expensive;  // too large to factor: solving with its block costs more than looking for contacts
  bool lent;       // a problem borrows its matrix and factor; else it copies
  bool split;      // into point masses, with a block of three for each: its elements are rows
  bool present;    // takes part in the problem even where nothing touches it
  double* v_free;  // velocities if nothing touched it                         (size)
  const double* v; // the best that is known of v⁺: at first, what it was      (size)
  void* own;       // of its kind
} tbBodyStep;

// A node that a body holds which moves freely.
typedef struct tbAttachedNode {
  int node, body;
  tbVec3 local; // its place in the frame of the body's centre of mass
  tbVec3 pull;  // impulse of the last step, on the node                          N·s
} tbAttachedNode;

// A body of nodes as a potential: the momentum equation of an implicit step of h at velocities V,
//   (1 + hα) M V + h (drag + β K₀) V − M (v + h g) − h force − h f(x + h V) = 0        f: elastic forces
typedef struct tbNodePotential {
  struct tbFemBody* fem; // elements, masses, damping, pins
  const tbVec3 *x, *v;   // at the start                                          (nodes)
  const tbVec3* pin;     // velocities of the nodes that are held                 (nodes)
  const tbVec3* force;   // on nodes                                              (nodes)
  const int* node;       // of a vertex of its surface                            (vertices)
  tbVec3 gravity;        // with the force on the whole body
  int nattached;
  const tbAttachedNode* attached; // by nodes, ascending                         (nattached)
} tbNodePotential;

// A step in the making.
typedef struct tbStepView {
  const tbWorld* world;
  double h;
  const tbUnconstrained* unconstrained; // (bodies)
  const tbTransform* centre;            // poses of the centres of mass it is assembled at    (bodies)
  const tbGeometric* stiff;             // null: nothing                                      (bodies)
  const tbBodyStep* step;               // null: no body solves for its free motion           (bodies)
  const tbPlace* place;                 // (bodies)
  const double* v;                      // velocities found                                   (ndof)
  const bool* pushed;                   // whether any impulse acts on a body                 (bodies)
} tbStepView;

// Velocities of a body that solves for its free motion, after the step.
static inline const double* tb_view_velocity(const tbStepView* view, int body)
{
  int dof = view->place[body].dof;
  return dof < 0 ? view->step[body].v_free : view->v + dof;
}

// Velocities of a frame after the step: the solved ones, or the free ones where nothing touched it.
static inline void tb_view_frame_velocity(const tbStepView* view, int body, tbVec3* v, tbVec3* w)
{
  int dof = view->place[body].dof;
  *v = view->unconstrained[body].v, *w = view->unconstrained[body].w;
  if (dof >= 0) tb_bodies(view->world)[body].kind->frame_velocity(view->v + dof, v, w);
}

// One side of a contact: the directions of its rows, and where they act.
typedef struct tbContactSide {
  int rows;
  tbVec3 direction[TB_MAX_ROWS]; // the first three of velocities, the rest of turning
  double sign;
  tbVec3 at; // the point, world
  int count; // its place on the body's own surface: vertices and weights; 0: on a shape
  const int* vertex;
  const double* weight;
} tbContactSide;

// The row ±[d, r × d] on the velocities v, ω of a frame: the velocity along d of the point at the arm r.
static inline void tb_point_row(tbVec3 d, tbVec3 arm, double sign, double row[6])
{
  tb_store3(row, tb_scale3(sign, d));
  tb_store3(row + 3, tb_scale3(sign, tb_cross3(arm, d)));
}

// A contact's rows on v and ω of a frame at x: ±[d, (p − x) × d], and ±[0, d] of turning.
static inline void tb_frame_jacobian(const tbContactSide* s, tbVec3 x, double jac[TB_MAX_ROWS * 6])
{
  tbVec3 arm = tb_sub3(s->at, x);
  for (int i = 0; i < s->rows; i++) {
    double* row = jac + 6 * i;
    tb_point_row(s->direction[i], arm, s->sign, row);
    if (i < 3) continue;
    tb_store3(row, tb_zero3());
    tb_store3(row + 3, tb_scale3(s->sign, s->direction[i]));
  }
}

#endif
