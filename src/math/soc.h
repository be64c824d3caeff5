// SPDX-License-Identifier: Apache-2.0
// The algebra of the second-order cone Q = {x : x₀ ≥ ‖x₁…‖}, as interior-point methods use it.
//
// With the product x∘z = (xᵀz, x₀z₁ + z₀x₁) the unit is e = (1, 0…), and x, z ∈ Q are complementary exactly
// when x∘z = 0. For size 1 the cone is the half line and all of this is ordinary arithmetic.
//
// The scaling of Nesterov and Todd is the symmetric matrix S with S z = S⁻¹ x = v: seen through it, x and z
// are the same point, and neither is nearer to the boundary than the other (Vandenberghe, "The CVXOPT linear
// and quadratic cone program solvers", 2010, §4).
#ifndef TB_MATH_SOC_H
#define TB_MATH_SOC_H

enum { TB_SOC_MAX = 4 };

double tb_soc_det(int size,
                  const double* x); // x₀² − ‖x₁‖², positive inside; without the obvious cancellation
void tb_soc_product(int size, const double* x, const double* z, double* xz);
void tb_soc_divide(int size, const double* v, const double* d, double* x); // v∘x = d, v inside; x may be d

// The largest t with x + t d in the cone, x inside; infinite where every step is.
double tb_soc_step(int size, const double* x, const double* d);

// The smaller eigenvalue of x∘z seen through the scaling: xᵀz on the central path, near 0 off it.
double tb_soc_least(int size, const double* x, const double* z);

typedef struct tbSocScaling {
  double w[TB_SOC_MAX]; // the scaling point, w₀² − ‖w₁‖² = 1
  double beta;          // S = β (2 √w √wᵀ − J)
} tbSocScaling;

void tb_soc_scaling(int size, const double* x, const double* z, tbSocScaling* s);   // x, z inside
void tb_soc_scale(int size, const tbSocScaling* s, const double* z, double* out);   // S z;   out may be z
void tb_soc_unscale(int size, const tbSocScaling* s, const double* x, double* out); // S⁻¹ x; out may be x
void tb_soc_hessian(int size, const tbSocScaling* s, double* H);                    // S⁻², row-major

#endif
