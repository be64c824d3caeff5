// SPDX-License-Identifier: Apache-2.0
#ifndef TB_CLI_CONTROL_H
#define TB_CLI_CONTROL_H

#include "tribo/scene.h"

// Targets of servos from a CSV file: the first column is t, in seconds and increasing; each other one is a
// joint, by its name or, where it has none, its number. A cell is the target at that time, rad or m; an empty
// one says nothing. Between times targets go along straight lines. Joints without a column go on as they are.
tbStatus control_read(tbContext* ctx, const char* path, tbWorld* world);

#endif
