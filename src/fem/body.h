// SPDX-License-Identifier: Apache-2.0
// A deformable body: a mesh, its material, its mass, its pins, and the matrix of an implicit step.
//
//   M dv/dt = f(x) − B v + M g         K = −∂f/∂x, made positive        B = αM + βK + drag
//
// Linearised at the state x, v, one step of h is  A v⁺ = M v + h (f(x) + M g),  A = M + hB + h²K, symmetric
// and positive definite. The degrees of freedom of node i are 3i, 3i+1, 3i+2.
#ifndef TB_FEM_BODY_H
#define TB_FEM_BODY_H

#include "fem/assembly.h"
#include "fem/sheet.h"
#include "fem/spring.h"
#include "fem/tets.h"
#include "geometry/mesh.h"
#include "math/packed.h"

typedef struct tbFemBody {
  int nnode, nelement[TB_ASSEMBLY_KINDS]; // tetrahedra; or triangles and hinges; and springs
  bool cloth;
  tbVec3* rest;                   // (nnode)
  int* corner[TB_ASSEMBLY_KINDS]; // nodes of the elements
  tbElastic material;             // soft
  tbTetRest* tet;                 // (nelement[0])
  tbClothDef sheet;               // cloth
  tbMembraneRest* membrane;       // (nelement[0])
  tbHingeRest* hinge;             // (nelement[1])
  tbSpring* spring;               // (nelement[2])
  double* mass;                   // of the nodes                                             (nnode)  kg
  double* mass_block;             // consistent: of the blocks of the pattern, else null      kg
  double* drag;                   // of the air, else null                                    (nnode)  N·s/m
  double mass_damping, stiffness_damping;
  uint8_t* pinned; // (nnode)
  double* energy;  // of the elements, by tb_fem_evaluate                      J
  tbFemAssembly assembly;
  tbCsr K;                // pattern of the stiffness and of A, no values
  double (*upper)[9];     // upper blocks of the stiffness, by tb_fem_evaluate with a tangent      N/m
  tbPackedPattern packed; // of the same blocks, for products
  tbArena arena;
} tbFemBody;

// Springs between nodes of the body, beside its elements.
typedef struct tbFemSprings {
  const tbSpringDef* of;
  int count;
} tbFemSprings;

tbStatus tb_fem_soft_create(tbContext* ctx, const tbTetMesh* mesh, const tbSoftDef* def, tbFemSprings springs,
                            tbFemBody** out);
tbStatus tb_fem_cloth_create(tbContext* ctx, const tbMesh* mesh, const tbClothDef* def, tbFemSprings springs,
                             tbFemBody** out);
void tb_fem_free(tbContext* ctx, tbFemBody* body); // takes null
int tb_fem_element_count(const tbFemBody* body);   // of all kinds
// The same body with arrays of its own, in the arena, for what tb_fem_evaluate computes: two threads may each
// evaluate one of these. Not to be freed; the original must outlive it.
tbStatus tb_fem_apart(tbArena* arena, const tbFemBody* body, tbFemBody** out);

// The elastic energy at x; elastic forces f (3 nnode) unless null; body->upper unless the tangent is NONE.
// The same bits for any number of threads.
double tb_fem_evaluate(tbFemBody* body, tbThreads* threads, const tbVec3* x, tbTangent tangent, double* f);
double tb_fem_energy(const tbFemBody* body, const tbVec3* x); // alone: changes nothing, no threads

void tb_fem_stiffness(const tbFemBody* body, tbThreads* threads, double* val); // both halves, in K's pattern

// A v⁺ = rhs of one step from body->upper and the forces f at x, as tb_fem_evaluate left them. `A` has the
// pattern of K, `half` that of body->half; it may be null. Pinned nodes take the velocities `pin` (null:
// zero): they leave the system, their rows and columns are zero but for a diagonal so large that no contact
// moves them.
#define TB_FEM_PIN 0x1p40 // times the diagonal entry it had
void tb_fem_step(const tbFemBody* body, tbThreads* threads, double h, tbVec3 gravity, const double* f,
                 const tbVec3* v, const tbVec3* pin, double* A, double* packed, double* rhs);

tbVec3 tb_fem_momentum(const tbFemBody* body, const tbVec3* v, int node); // (M v) of one node

#endif
