// SPDX-License-Identifier: Apache-2.0
// Static equilibrium for the tests: Newton's method with the positive stiffness, a line search and Cholesky.
#ifndef TB_TEST_STATICS_H
#define TB_TEST_STATICS_H

#include "fem/body.h"

// Moves x (nnode) until the largest net force on a free node is below `tolerance`; load: forces on the nodes
// (3 nnode), or null. Returns the number of steps, or −1 when `most` were not enough.
int test_equilibrium(tbContext* ctx, tbFemBody* body, const double* load, double tolerance, int most,
                     tbVec3* x);

#endif
