// SPDX-License-Identifier: Apache-2.0
// What the files of contact_map.h share.
#ifndef TB_SOLVE_CONTACT_MAP_OWN_H
#define TB_SOLVE_CONTACT_MAP_OWN_H

#include "solve/contact_map.h"

// ρ_n = 1/D_nn, ρ_F = 1/‖D_FF‖, and the smaller of the two.
double tb_map_normal_factor(const tbContactMap* m);
double tb_map_friction_factor(const tbContactMap* m);
double tb_map_common_factor(const tbContactMap* m);

// σ_F(−u_F) and, through dσ = −far·du_F, its derivative; 0 for associated friction.
double tb_map_saxce(const tbContactMap* m, const double* u, double* far);

void tb_map_clear(int rows, tbContactStep* s); // A = B = 0

// Fischer–Burmeister on sets but polygons; and the equations that jump: the minimum map, and
// Fischer–Burmeister on polygons. Of sets that tb_contact_map_owns() names.
double tb_map_fb(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step);
void tb_map_jumping(const tbContactMap* m, const double* lambda, const double* u, tbContactStep* step);

#endif
