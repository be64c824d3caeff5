// SPDX-License-Identifier: Apache-2.0
// One element of a projective body: how strongly it resists, and what its shape is projected to.
#ifndef TB_PD_ELEMENTS_H
#define TB_PD_ELEMENTS_H

#include "pd/body.h"

// Of an element of the first kind (triangle, tetrahedron): w, without damping.
//   triangle       stretch k |w_u − p|² + k |w_v − p|² and shear 2q (|w_u − p|² + |w_v − p'|²), per ½ area:
//                  to second order k(|w|−1)² and q (w_u·w_v)², the energy of fem/membrane.c; with a limit of
//                  strain, κ (|w_u − p|² + |w_v − p|²), p the closest of a length within the limit
//   tetrahedron    2μ ‖F − R‖² and 3λ ‖F − G‖², det G = 1, per ½ volume: to second order the co-rotated
//                  model, as the closest G is a third of the trace away on each axis
typedef struct tbPdWeights {
  double first, second; // stretch and shear; strain and volume
  double limit;         // of strain; not damped
} tbPdWeights;

static inline tbPdWeights tb_pd_weights(const tbFemBody* fem, int element)
{
  if (fem->cloth) {
    double area = fem->membrane[element].area;
    tbMembraneStiffness m = tb_membrane_stiffness(&fem->sheet);
    return (tbPdWeights){area * m.stretch, 2 * area * m.shear, area * m.limit};
  }
  double volume = fem->tet[element].volume;
  return (tbPdWeights){2 * volume * fem->material.mu, 3 * volume * fmax(fem->material.lambda, 0), 0};
}

static inline bool tb_pd_has_hinges(const tbFemBody* fem) { return fem->cloth && fem->sheet.bend > 0; }

// Whether hinges are projected in every iteration.
static inline bool tb_pd_has_angles(const tbFemBody* fem)
{
  return tb_pd_has_hinges(fem) && fem->sheet.bending == TB_BENDING_DIHEDRAL;
}

// Damping adds so many times the weight: β/h.
static inline double tb_pd_damping(const tbFemBody* fem, double h) { return fem->stiffness_damping / h; }

// S of an element: column k of F is Σ gradient(corner)[k] x(corner).
static inline tbVec3 tb_pd_gradient(const tbFemBody* fem, int element, int corner)
{
  if (fem->cloth) {
    const double(*g)[2] = fem->membrane[element].g;
    if (corner == 0) return tb_vec3(-(g[0][0] + g[1][0]), -(g[0][1] + g[1][1]), 0);
    return tb_vec3(g[corner - 1][0], g[corner - 1][1], 0);
  }
  const tbVec3* g = fem->tet[element].g;
  return corner == 0 ? tb_neg3(tb_add3(tb_add3(g[0], g[1]), g[2])) : g[corner - 1];
}

enum { TB_PD_LENGTHS = 4 }; // of a triangle: |w_u|, |w_v|, |w_u + w_v|/√2, |w_v − w_u|/√2

// What corners of triangles begin … end−1 receive from their targets, h Sᵀ w p of threads at x: three vectors
// each. begin: a multiple of TB_PD_EIGHT. lengths: those of the start of the step, for damping; null: there
// is none. (membrane.c)
void tb_pd_membranes(const tbPdBody* body, int begin, int end, const tbVec3* x, const double* lengths,
                     tbVec3* push);

// The same of tetrahedra, four vectors each: h V (2μ R + λ G). stretch: R_nᵀF_n of the start. (tets.c)
void tb_pd_tets(const tbPdBody* body, int begin, int end, const tbVec3* x, const tbMat3* stretch,
                tbVec3* push);

// Hinges (hinge.c): their entry of scale Σ w SᵀS; what the right-hand side has of them from the start of a
// step; and what the corners of hinges begin … end−1 receive, where they are projected.
double tb_pd_hinge_entry(const tbPdBody* body, double scale, int hinge, int i, int k);
void tb_pd_begin_hinges(const tbPdStep* step);
void tb_pd_angles(const tbPdStep* step, int begin, int end);

#endif
