// SPDX-License-Identifier: Apache-2.0
// Linear systems of the Newton methods in velocity space:  (A + Jᵀ C J) x = b.
//
// C has one small block per contact, symmetric or not, in the layout of W's diagonal blocks. A node is a
// rigid body, a particle, or a node of a deformable one; two are neighbours when A couples them or a contact
// touches both. Where contacts outnumber bodies this matrix is much smaller than W, and where contacts are on
// the nodes of a sparse metric block it is about as sparse as A, while W is dense.
//
//   tb_velocity_create    once for a problem: graph of nodes, ordering, structure of the factors, all memory
//   tb_velocity_factor    for each C; allocates nothing
//   tb_velocity_solve     for each right-hand side; allocates nothing
//
// Where the factor costs much, contacts whose C is 0, the open ones, leave no trace in it: its ordering and
// structure are those of the graph of the active ones. They are kept while the active contacts stay among
// those analysed, unless these have become far fewer.
#ifndef TB_SOLVE_VELOCITY_H
#define TB_SOLVE_VELOCITY_H

#include "math/lu_sparse.h"
#include "tribo/problem.h"

typedef struct tbVelocity tbVelocity;

// TB_ERROR_UNSUPPORTED when the factor over all contacts would need more than max_bytes (0: no limit), or
// when the problem gives W and no A; *out is then null.
tbStatus tb_velocity_create(tbContext* ctx, const tbProblem* p, const size_t* diag_adr, double max_bytes,
                            tbVelocity** out);
// As newly made, for new values of A and J, and the context of the next factors.
void tb_velocity_renew(tbContext* ctx, tbVelocity* v);
void tb_velocity_free(tbContext* ctx, tbVelocity* v); // takes null
tbLuStats tb_velocity_stats(const tbVelocity* v);     // of the factor

// Factors A + Jᵀ C J. Where C is not finite, or the caller wants to stop, what a solve gives is of no use.
void tb_velocity_factor(tbVelocity* v, tbThreads* threads, const double* C);

void tb_velocity_solve(tbVelocity* v, double* x); // x ← (A + Jᵀ C J)⁻¹ x                              (ndof)

// u = J x, row by row of contacts, and x += Jᵀ λ.
void tb_velocity_contacts(const tbVelocity* v, const double* x, double* u);
void tb_velocity_gather(const tbVelocity* v, const double* lambda, double* x);

// r = Jᵀλ − A x. Returns Σ r_i²/A_ii; *momentum gets the same sum of Jᵀλ.                      (r: ndof)
double tb_velocity_defect(const tbVelocity* v, const double* lambda, const double* x, double* r,
                          double* momentum);

#endif
