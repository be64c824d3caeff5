// SPDX-License-Identifier: Apache-2.0
// Warnings of what is doubtful in a scene.
#ifndef TB_CLI_DOUBTS_H
#define TB_CLI_DOUBTS_H

#include "tribo/scene.h"

// Prints a line on standard error for each doubt about deformable bodies (step/doubts.h), at most ten.
tbStatus warn_of_doubts(tbContext* ctx, const char* path, tbWorld* world);

#endif
