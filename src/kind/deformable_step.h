// SPDX-License-Identifier: Apache-2.0
// A deformable body over a step: its matrix, its rows in the problem, its motion and that of its surface.
#ifndef TB_KIND_DEFORMABLE_STEP_H
#define TB_KIND_DEFORMABLE_STEP_H

#include "fem/rows.h"
#include "kind/deformable.h"
#include "kind/step.h"

struct tbCholesky;
struct tbSelectedInverse;

// tbBodyStep.own of a deformable body.
typedef struct tbDeformableStep {
  tbFemBody* fem;       // the body's, or one that computes apart from it
  const tbCsr* pattern; // of A: fem->K's, or that of the projective form
  double* A;            // M + hB + h²K; held nodes stand still                     kg
  double* rhs;          // A v_free                                                 (3 nnode)
  tbVec3* pin;          // velocities of the nodes that are held                    (nnode)
  const struct tbSelectedInverse* entries; // of A⁻¹; null: not known
  struct tbCholesky* factor;               // of A; null: too large to factor, or the problem is to do without
  tbPacked packed;                         // of A: the arrays below; without a pattern: not made
  double *value, *inverse;                 // inverse, rounded: null where there is a factor
  float* rounded;
  double* node_mass;     // split: of the nodes, with what damps them; else null         (nnode)  kg
  tbElementRows* row;    // split: of the elements
  double *force, *space; // elastic forces, then what is solved for; room to solve in
} tbDeformableStep;

// deformable_matrix.c
tbStatus tb_deformable_begin(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbBody* body,
                             tbBodyStep* out);
tbStatus tb_deformable_prepare(tbContext* ctx, const tbWorld* world, const tbBody* body, double h,
                               double tolerance, tbBodyStep* step);
tbStatus tb_deformable_potential(tbArena* arena, const tbBodyFactor* kept, const tbWorld* world,
                                 const tbBody* body, double h, tbNodePotential* out);
tbStatus tb_deformable_linearise(tbContext* ctx, const tbBody* body, double h, const tbVec3* x,
                                 const tbVec3* v, const tbVec3* miss, bool exact, tbBodyStep* step);
void tb_deformable_metric(const tbStepView* view, int body, tbBuilder* builder, int* dof);

// Velocities of the nodes that are held fast or by a body in prescribed motion.
void tb_deformable_lead(const tbWorld* world, const tbDeformable* deformable, double h, tbVec3* pin);

// deformable_split.c
tbStatus tb_deformable_split(tbContext* ctx, tbArena* arena, const tbWorld* world, const tbBody* body,
                             double h, const tbVec3* V, tbBodyStep* out);
void tb_deformable_masses(const tbBodyStep* step, tbBuilder* builder, int* dof);
tbStatus tb_deformable_elements(tbContext* ctx, const tbStepView* view, int body, tbBuilder* builder,
                                tbArray* guess);

// deformable_pd.c
tbStatus tb_deformable_project(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbWorld* world,
                               const tbBody* body, double h, bool solved, tbBodyStep* step,
                               struct tbPdStep* out);

// deformable_rows.c
void tb_deformable_contact(const tbStepView* view, int body, const tbContactSide* side, int dof,
                           tbBuilder* builder);
bool tb_deformable_attached(const tbBody* body, int k, int* other);
// The nodes that bodies hold which move freely, unless `out` is null; how many.
int tb_deformable_list_attached(const tbWorld* world, const tbDeformable* deformable, tbAttachedNode* out);
tbStatus tb_deformable_attach(tbContext* ctx, const tbStepView* view, int body, tbBuilder* builder,
                              tbArray* guess);
int tb_deformable_detach(const tbWorld* world, tbBody* body, const tbProblem* problem, const double* lambda,
                         int first);

// deformable_move.c
void tb_deformable_advance(const tbStepView* view, int index, tbBody* body);
double* tb_deformable_changes(const tbBody* body, int k, int* count);
void tb_deformable_note(const tbStepView* view, int index, tbStepReport* report);
tbStatus tb_deformable_surface(tbArena* arena, const tbBody* body, tbMovingSurface* out);
void tb_deformable_expect(const tbStepView* view, int body, tbVec3* end);
void tb_deformable_move_surface(const tbStepView* view, int body, tbVec3* end);
bool tb_deformable_moves_at(const tbBody* body, const int* vertex, int count);
tbVec3 tb_deformable_direction(const tbBody* body, const int* vertex, const double* weight, int count,
                               tbVec3 direction);
tbVec3 tb_deformable_at_rest(const tbBody* body, const int* vertex, const double* weight, int count);
tbVec3 tb_deformable_speed_at(const tbBody* body, const int* vertex, const double* weight, int count);

#endif
