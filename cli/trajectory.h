// SPDX-License-Identifier: Apache-2.0
// What a run did, as CSV: one row per step and body, one row per step and contact.
#ifndef TB_CLI_TRAJECTORY_H
#define TB_CLI_TRAJECTORY_H

#include "tribo/tools/text.h"
#include "tribo/scene.h"

void trajectory_header(tbOut* out);
void trajectory_rows(tbOut* out, const tbWorld* world); // of the state after the last step

void contacts_header(tbOut* out);
void contacts_rows(tbOut* out, const tbWorld* world); // of the last step

#endif
