// SPDX-License-Identifier: Apache-2.0
// A run's loss as a function of numbers of its scene file.
//
//   address.c      what a name of a parameter means in the file
//   text.c         the file with other numbers
//   objective.c    making one; scenes and losses
//   way.c          how contact problems are answered
//   newton.c       contact problems to rounding; answer.c: in the place of a step's solver
//   state.c        the state of a world as a vector
//   tangent.c      forward derivatives, tangent_step.c: of one step; differences.c: of whole runs
//   adjoint.c      reverse; adjoint_numbers.c: numbers beyond the start; adjoint_local.c: through minima
//   minimize.c     L-BFGS
#ifndef TB_GRADIENT_OBJECTIVE_H
#define TB_GRADIENT_OBJECTIVE_H

#include "base/json_write.h"
#include "gradient/answer.h"
#include "scene/world.h"
#include "tribo/gradient.h"

enum { TB_SLOT_NUMBERS = 16 };

// A value of the file that holds parameters: a number, or an array of numbers.
typedef struct tbSlot {
  const tbJson *parent, *node; // node null: absent, to be added to the parent
  const char* key;
  bool scalar;
  int count;
  double value[TB_SLOT_NUMBERS];
} tbSlot;

typedef enum tbOwnKey { TB_OWN_POSITION, TB_OWN_VELOCITY, TB_OWN_SPIN, TB_OWN_MASS, TB_OWN_KEYS } tbOwnKey;

typedef struct tbAddress {
  tbParameter face;
  int slot;                   // −1: of a body that stands in no place of the file, set by `own`
  int element;                // of the slot; −1: all
  int body;                   // the world's place of it; −1: not a body
  tbOwnKey own;               // of a body without a slot
  bool initial;               // changes nothing but the state at the start
  double at[TB_SLOT_NUMBERS]; // the scene's values
} tbAddress;

struct tbObjective {
  tbArena arena;
  const char *name, *folder; // folder null: none
  const tbJson* root;
  tbArray slot;    // tbSlot
  tbArray address; // tbAddress
  int size;
  const char* body;
  tbVec3 target;
  tbStepOptions step;
  double time;
};

static inline const tbAddress* tb_addresses(const tbObjective* o) { return o->address.data; }

// Finds what `name` means and appends it with its values; scene: as the file makes it.
tbStatus tb_address_find(tbContext* ctx, tbObjective* objective, const tbScene* scene, const char* name);

// The file with these numbers.
tbStatus tb_objective_write(const tbObjective* objective, const double* values, tbJsonWriter* writer);

// How far a central difference goes in number i.
double tb_objective_reach(const tbObjective* objective, const double* values, int i);
bool tb_objective_is_initial(const tbObjective* objective, int i);

tbVec3 tb_objective_position(const tbObjective* objective, const tbWorld* world);
double tb_objective_measure(const tbObjective* objective, const tbWorld* world);

// Takes a step with problems answered exactly; exact null: as its solver answers them.
tbStatus tb_objective_step(tbContext* ctx, const tbStepOptions* how, tbExact* exact, bool replay,
                           tbWorld* world);
// How the scene is run, with tolerances that leave nothing but rounding.
tbStepOptions tb_objective_tight(const tbObjective* objective);

// Whether steps are differentiated as a run takes them, and not as the contact law has them.
bool tb_objective_is_relaxed(const tbObjective* objective);
// Whether its steps are minima that Newton's method finds to a tolerance of their own.
bool tb_objective_is_iterated(const tbObjective* objective);
tbStatus tb_objective_takes_scheme(tbContext* ctx, const tbObjective* objective);

// How contact problems are answered for derivatives (way.c), and the loss at the end of such a run; what it
// took is added to the report.
typedef enum tbWay { TB_WAY_EXACT, TB_WAY_TIGHT, TB_WAY_AS_RUN } tbWay;
tbStatus tb_objective_way(tbContext* ctx, const tbObjective* objective, const double* values, tbWay* way,
                          double* loss, tbGradientReport* report);
tbStepOptions tb_way_options(const tbObjective* objective, tbWay way);
bool tb_way_is_exact(const tbObjective* objective, tbWay way); // tbExact answers, from the tape or by_solver

// The scene with number i moved by an offset.
tbStatus tb_objective_beside(tbContext* ctx, const tbObjective* objective, const double* values, int i,
                             double offset, tbScene* out);

tbStatus tb_gradient_tangent(tbContext* ctx, const tbObjective* objective, const double* values, double* loss,
                             double* gradient, tbGradientReport* report);
tbStatus tb_gradient_adjoint(tbContext* ctx, const tbObjective* objective, const double* values, double* loss,
                             double* gradient, tbGradientReport* report);
tbStatus tb_gradient_differences(tbContext* ctx, const tbObjective* objective, const double* values,
                                 double* loss, double* gradient, tbGradientReport* report);

#endif
