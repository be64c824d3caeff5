// SPDX-License-Identifier: Apache-2.0
// Reduced bodies: solids whose deformation has few degrees of freedom (modal/basis.h), in a frame of their
// own.
//
//   x_i = c + R (X_i + U_i q)        degrees of freedom of the velocity: ċ, ω (world axes), q̇
//
// A body that nothing holds floats: its frame's origin is its centre of mass, and 6 + r unknowns move it. One
// whose nodes are pinned has a frame that stands, or goes as its pins are told.
#ifndef TB_KIND_REDUCED_H
#define TB_KIND_REDUCED_H

#include "geometry/surface_mesh.h"
#include "kind/step.h"
#include "kind/table.h"
#include "modal/basis.h"

extern const tbKind tb_kind_reduced;

// Where a body is and how fast.
typedef struct tbReducedState {
  tbTransform frame;
  tbVec3 v, w;    // of the frame's origin, and turning; world axes
  double *q, *qd; // (r)
} tbReducedState;

// Of a reduced body, tbBody.own. The body's x, q, v, w and radius follow.
typedef struct tbReduced {
  int body;
  tbFemBody* fem; // the mesh at rest in the frame: X; fem->pinned: held
  tbModalBasis* basis;
  bool derivatives; // how the basis was made
  tbSoftDef soft;
  tbVec3 centre; // of mass, of the mesh at rest, in the frame the mesh came in
  tbReducedState now;
  tbVec3 *x, *v;   // of the nodes                                                   (fem->nnode)
  int nhold;       // 1: pinned
  tbMotion motion; // then: of the frame the mesh came in
  double* push;    // forces for the next step, of what acts on nodes: on the frame, about its
                   // origin, world axes, then on q                             (6 + r)
  bool self_contact;
  tbSurfaceMesh* surface; // surface->node: the nodes of its vertices
  int (*triangle)[3];     // the same triangles over the nodes                        (surface->ntriangle)
  double* work;           // room to evaluate elastic energy in
  tbArena arena;
} tbReduced;

typedef struct tbReducedMatter { // a mesh at rest in its own frame, and what it is made of
  const tbVec3* node;
  int nnode;
  const int (*tet)[4];
  int ntet;
  const uint8_t* pinned; // (nnode)
  tbSoftDef soft;
  int modes;
  bool derivatives;
  const char* basis_file; // of fields found before; null: there is none
} tbReducedMatter;

static inline bool tb_reduced_is_stvk(const tbSoftDef* soft, bool derivatives)
{
  return derivatives || soft->model == TB_ELASTIC_STVK;
}

// A body at rest. Without `fields` they are found; with them, nmode · 3 nnode as in tbModalBasis and ω²
// behind them, they are taken as they are, and so are the nodes: about their centre of mass already.
tbStatus tb_reduced_make(tbContext* ctx, const tbReducedMatter* matter, const double* fields,
                         tbReduced** out);
void tb_reduced_free(tbContext* ctx, tbReduced* reduced); // takes null
// Has the basis of another body of the world in place of its own where they are the same: copies of a body
// read the same memory.
void tb_reduced_share(tbContext* ctx, const tbWorld* world, tbReduced* reduced);
tbStatus tb_reduced_add(tbContext* ctx, tbWorld* world, const tbDeformableDef* def, const char* name,
                        int material, tbTransform pose, tbBodyId* out);
// Nodes, and the body's x, q, v, w and radius, from the state.
void tb_reduced_follow(tbBody* body);

// Whether its frame has unknowns: not where it stands. Where pins lead it, they are so heavy that nothing
// moves them.
static inline int tb_reduced_frame_dofs(const tbReduced* d)
{
  bool moves =
      d->nhold > 0 && (d->motion.nkey > 0 || tb_maxabs3(d->motion.v) > 0 || tb_maxabs3(d->motion.w) > 0);
  return d->nhold == 0 || moves ? 6 : 0;
}

// reduced_motion.c
// What the kinetic energy ½m|ċ|² + ½ωᵀIω + ωᵀCq̇ + ½|q̇|² is made of, in the axes of the frame.
typedef struct tbReducedInertia {
  tbMat3 I;  // about the origin
  tbVec3* C; // Σ m p × u_k                                                          (r)
} tbReducedInertia;

void tb_reduced_inertia(const tbModalBasis* basis, const double* q, tbReducedInertia* out);
// Forces on q of a frame that turns at ω (its own axes): half of ωᵀ(∂I/∂q)ω, and `coriolis` times ω·Σ m u × U
// q̇.
void tb_reduced_turning(const tbModalBasis* basis, const double* q, const double* qd, tbVec3 w,
                        double coriolis, double* force);
// Goes on for a time at the velocities it has, nothing acting on it: momenta stay, of the frame and of q.
// start: its inertia before that. work: 2 r vectors.
void tb_reduced_drift(const tbReduced* reduced, double time, const tbReducedInertia* start,
                      tbReducedState* state, tbVec3* work);
// Of a body that flew for a time from d->now to `state`: where it turns faster than its slowest mode swings,
// which the forces of turning then soften beyond stability, q̇, and q if need be, lose what energy was gained;
// momenta stay. work: r vectors.
void tb_reduced_hold_energy(const tbReduced* reduced, double time, tbReducedState* state, tbVec3* work);
tbVec3 tb_reduced_point(const tbReduced* reduced, const tbReducedState* state, int node);

// reduced_state.c
int tb_reduced_dofs(const tbBody* body);
void tb_reduced_release(tbContext* ctx, tbBody* body);
void tb_reduced_place(tbWorld* world, int body, const tbBodyState* state);
tbEnergy tb_reduced_energy(const tbWorld* world, const tbBody* body);
tbVec3 tb_reduced_angular_momentum(const tbBody* body);
uint64_t tb_reduced_hash(uint64_t hash, const tbBody* body);
tbNodes tb_reduced_nodes(const tbBody* body);
void tb_reduced_pull(tbWorld* world, int body, const struct tbGrip* grip, double dt);
void tb_reduced_push(tbBody* body, const tbVec3* forces);
tbStatus tb_reduced_own_forces(tbArena* arena, tbBody* body);
void tb_reduced_set_nodes(tbWorld* world, int body, const tbVec3* x, const tbVec3* v);
tbMotion* tb_reduced_motion(tbBody* body, int k);
void tb_reduced_lose(tbContext* ctx, tbWorld* world, int body, int gone);
double* tb_reduced_modes(const tbBody* body, int* count);
const double* tb_reduced_mode_rates(const tbBody* body);
void tb_reduced_set_modes(tbWorld* world, int body, const double* q, const double* qd);
void tb_reduced_code(struct tbCodec* codec, tbWorld* world, int body); // reduced_code.c

// reduced_step.c
tbStatus tb_reduced_begin(tbContext* ctx, tbArena* arena, tbBodyFactor* kept, const tbBody* body,
                          tbBodyStep* out);
tbStatus tb_reduced_prepare(tbContext* ctx, const tbWorld* world, const tbBody* body, double h,
                            double tolerance, tbBodyStep* step);
void tb_reduced_metric(const tbStepView* view, int body, tbBuilder* builder, int* dof);
void tb_reduced_contact(const tbStepView* view, int body, const tbContactSide* side, int dof,
                        tbBuilder* builder);

// reduced_move.c
double* tb_reduced_changes(const tbBody* body, int k, int* count);
void tb_reduced_advance(const tbStepView* view, int index, tbBody* body);
void tb_reduced_note(const tbStepView* view, int index, tbStepReport* report);
tbStatus tb_reduced_surface(tbArena* arena, const tbBody* body, tbMovingSurface* out);
void tb_reduced_expect(const tbStepView* view, int body, tbVec3* end);
void tb_reduced_move_surface(const tbStepView* view, int body, tbVec3* end);
bool tb_reduced_moves_at(const tbBody* body, const int* vertex, int count);

// reduced_joint.c
void tb_reduced_material_point(const tbBody* body, tbVec3 x, tbMaterialPoint* out);
tbTransform tb_reduced_material_frame(const tbBody* body, const tbMaterialPoint* point, tbVec3* v, tbVec3* w);
void tb_reduced_material_rows(const tbBody* body, const tbMaterialPoint* point, int rows, const double* jac,
                              int dof, tbBuilder* builder);

// tbBodyStep.own of a reduced body.
typedef struct tbReducedStep {
  double* A;              // (size · size)
  double* rhs;            // A (v_free − v)                                                 (size)
  double* K;              // ∂²E of St. Venant–Kirchhoff                                    (r · r)
  tbReducedInertia start; // at the start
  double* v;              // velocities at the start                                        (size)
  tbTransform led;        // the frame at the end of the step, where pins lead it
  tbReducedState end;     // room for a state that is looked at
  tbVec3* work;           // for tb_reduced_drift
} tbReducedStep;

#endif
