// SPDX-License-Identifier: Apache-2.0
// Euclidean projections onto the sets of contact laws, each with a derivative.
//
// Every function has the shape
//
//   tb_project_set(size, parameters…, z, x, jac)      x = argmin ‖y − z‖ over y in the set
//
// z       in   the point
// x       out  its projection; may be z itself
// jac     out  an element of the B-subdifferential of the projection at z, row-major, square: the derivative
//              where there is one, a limit of derivatives on a kink. Symmetric, eigenvalues in [0, 1]. May be
//              null.
//
// Cones are over a set E that contains 0: K = {(n, f) : f ∈ n E, n ≥ 0}, with the normal component n first.
// Their polar is {(n, f) : n + σ_E(f) ≤ 0} with σ_E the support function of E.
//
// Results are accurate to a few ulps of ‖z‖ for components from 1e-300 to 1e300. Slopes and axes must not be
// negative, and those of an ellipsoid be finite; those of a cone count as 0 below 1e-140 and as 1e140 above,
// those of an ellipsoid count as 0 below 1e-140 of the longest. NaN or infinite input may give NaN, always in
// bounded time.
#ifndef TB_MATH_CONE_H
#define TB_MATH_CONE_H

#define TB_CONE_MAX 8 // rows of the largest cone or ellipsoid; boxes and balls have no limit

// {x ≥ 0}, per component.
void tb_project_nonneg(int n, const double* z, double* x, double* jac);

// {lo ≤ x ≤ hi}, per component; bounds may be infinite.
void tb_project_box(int n, const double* lo, const double* hi, const double* z, double* x, double* jac);

// {‖x‖ ≤ radius}; a radius of 0 or less leaves the origin.
void tb_project_ball(int n, double radius, const double* z, double* x, double* jac);

// {Σ (x_i/axes_i)² ≤ 1}; an axis of zero flattens the ellipsoid, so that x_i = 0.
void tb_project_ellipsoid(int n, const double* axes, const double* z, double* x, double* jac);

// {‖f‖ ≤ mu n}: Coulomb's cone, z = (n, f); mu may be infinite.
void tb_project_soc(int size, double mu, const double* z, double* x, double* jac);

// {Σ (f_i/axes_i)² ≤ n²}: size − 1 axes; an axis of zero forces f_i = 0.
void tb_project_ellipsoid_cone(int size, const double* axes, const double* z, double* x, double* jac);

// {lo_i n ≤ f_i ≤ hi_i n}: size − 1 pairs lo_i ≤ 0 ≤ hi_i.
void tb_project_box_cone(int size, const double* lo, const double* hi, const double* z, double* x,
                         double* jac);

// {‖f_j‖ ≤ mu_j n for every part j}: z = (n, f_0, f_1, …), part j with part_size[j] rows. Sliding, torsion
// and rolling friction side by side.
void tb_project_ball_cone(int parts, const int* part_size, const double* mu, const double* z, double* x,
                          double* jac);

// {f ∈ n conv{mu (cos 2πi/k, sin 2πi/k)}}: the polyhedral cone over a regular k-gon, k ≥ 3, z = (n, f1, f2).
void tb_project_polygon_cone(int k, double mu, const double* z, double* x, double* jac);

// scale times the convex polygon with these corners, counter-clockwise (2 rows), and the cone over it (3
// rows): any number of corners, at a cost that grows with it. Two corners are a segment, one is a point.
void tb_project_corners(int count, const double (*corner)[2], double scale, const double* z, double* x,
                        double* jac);
void tb_project_corner_cone(int count, const double (*corner)[2], const double* z, double* x, double* jac);

#endif
