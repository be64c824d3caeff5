// SPDX-License-Identifier: Apache-2.0
// The elastic energy of St. Venant–Kirchhoff bodies in a subspace, from few elements of the mesh (An, Kim and
// James 2008): what the polynomial of polynomial.h is for few fields, where they are many.
//
//   E(q) = Σ_e w_e V_e ψ(1 + G_e q),   w_e ≥ 0        G_e: the gradients of the fields in the element
//
// Elements and weights are those that do best on training poses (cubature_train.c): small ones, which say
// what the stiffness at rest is, and large ones. A mesh of no more elements than are wanted is taken whole,
// with weights of one.
//
// Cost     with s elements, 18 s r for the forces and s (9/2 r² + 99 r) for the stiffness; the polynomial's
//          is r⁴/4, and ¾ r⁴ for every element of the mesh to make it.
// Limits   an approximation: a per cent or so of the forces, in the norm of energy, and half of one of the
//          frequencies at rest. Energy is never negative, forces and stiffness are its exact derivatives.
#ifndef TB_MODAL_CUBATURE_H
#define TB_MODAL_CUBATURE_H

#include "fem/body.h"

typedef struct tbCubature {
  int r, count;
  double mu, lambda;
  int* element;   // of the mesh, ascending                                                   (count)
  double* weight; // w_e V_e                                                                  (count)
  double* G;      // ∂u_a/∂X_b of field k in the i-th: G[(9 i + 3 a + b) r + k]             (9 count r)
  double miss;    // of the training poses' forces, as a share: 0 for a mesh that was taken whole
  tbArena arena;
} tbCubature;

// field[(3 i + a) r + k] and omega2 as in tbModalBasis. The same elements and weights for any number of
// threads.
tbStatus tb_cubature_create(tbContext* ctx, const tbFemBody* fem, int r, const double* field,
                            const double* omega2, tbCubature** out);
tbStatus tb_cubature_make(tbContext* ctx, int r, int count, tbCubature** out); // to be filled
// G from elements that are known.
void tb_cubature_fill(const tbFemBody* fem, const double* field, tbCubature* cubature);
void tb_cubature_free(tbContext* ctx, tbCubature* cubature); // takes null

// E; the forces −∂E (r) and ∂²E (r · r), unless null. work: tb_cubature_work doubles.
double tb_cubature_evaluate(const tbCubature* cubature, const double* q, double* force, double* stiffness,
                            double* work);
static inline size_t tb_cubature_work(const tbCubature* c) { return 9 * (size_t)c->r; }

// Whether a step costs less, and making it, than with the polynomial.
bool tb_cubature_pays(int elements, int r);

// Of one element with gradients H of displacement: energy density; P = ∂ψ/∂H, unless null.
double tb_stvk_density(double mu, double lambda, const double H[9], double P[9]);
// The gradients of r fields in an element, as in tbCubature.
void tb_cubature_gradients(const tbFemBody* fem, int element, int r, const double* field, double* G);

// cubature_train.c: elements, ascending, and w_e V_e; `most` of them at most. Returns what they miss.
tbStatus tb_cubature_train(tbContext* ctx, const tbFemBody* fem, int r, const double* field,
                           const double* omega2, int most, int* count, int* element, double* weight,
                           double* miss);

#endif
