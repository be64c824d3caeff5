// SPDX-License-Identifier: Apache-2.0
// Derivatives of modes along modes (Barbič and James 2005):  K ψ_ij = −(∂K/∂u · φ_i) φ_j , the second order
// of where a load that bends along φ_i and φ_j leads.
#ifndef TB_MODAL_DERIVATIVES_H
#define TB_MODAL_DERIVATIVES_H

#include "modal/lanczos.h"

// Behind `modes` modes in `vectors`: `count` derivatives, of the pairs of lowest λ_i λ_j, all of them
// M-normal. The body's forces are taken as St. Venant–Kirchhoff's.
tbStatus tb_modal_derivatives(tbContext* ctx, const tbModalSystem* system, int modes, const double* value,
                              int count, double* vectors);

#endif
