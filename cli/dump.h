// SPDX-License-Identifier: Apache-2.0
// A step's contact problem as a file that `tribo solve` and `tribo compare` read.
#ifndef TB_CLI_DUMP_H
#define TB_CLI_DUMP_H

#include "tribo/io.h"

// DIR/step-000123.hdf5 (FCLIB) with the warm start as its guess, of the step that follows 123 others; .json
// where FCLIB has no place for the problem or this build no HDF5. A step without contacts writes nothing.
tbStatus dump_problem(tbContext* ctx, const char* folder, const tbScene* scene);

#endif
