// SPDX-License-Identifier: Apache-2.0
// Reading and writing options by their rows, whatever structure they are in.
#ifndef TB_SOLVE_OPTIONS_H
#define TB_SOLVE_OPTIONS_H

#include "tribo/options.h"
#include "tribo/solver.h"

// `o`: the structure that the rows' `at` counts from.
void tb_option_put_default(const tbOption* option, void* o);
tbStatus tb_option_put_number(tbContext* ctx, const tbOption* option, void* o, double value); // of the key
tbStatus tb_option_put_text(tbContext* ctx, const tbOption* option, void* o, const char* text);
double tb_option_number(const tbOption* option, const void* o);    // of the key; the index of a choice
const char* tb_option_name(const tbOption* option, const void* o); // of a choice or a name
tbStatus tb_option_check(tbContext* ctx, const tbOption* option, const void* o);

// The options of a solve; `at` counts from a tbSolveOptions.
int tb_solve_option_count(void);
const tbOption* tb_solve_option_at(int index);

#endif
