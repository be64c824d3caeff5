// SPDX-License-Identifier: Apache-2.0
// The experiments of Kaufman et al. 2008, on the scenes of papers/kaufman.
#ifndef TB_CLI_PAPER_KAUFMAN_H
#define TB_CLI_PAPER_KAUFMAN_H

#include "cli/paper.h"

tbStatus kaufman_tables(Paper* paper); // tables 1 and 2, or the row that is asked for
enum { KAUFMAN_ROWS = 8 };
const char* kaufman_row(int index); // what they are called

#endif
