// SPDX-License-Identifier: Apache-2.0
// What a run did, as CSV: one row per step and body, contact, joint, or body that is touched.
#ifndef TB_CLI_TRAJECTORY_H
#define TB_CLI_TRAJECTORY_H

#include "tribo/tools/text.h"
#include "tribo/scene.h"

void trajectory_header(tbOut* out);
void trajectory_rows(tbOut* out, const tbWorld* world); // of the state after the last step

void contacts_header(tbOut* out);
void contacts_rows(tbOut* out, const tbWorld* world); // of the last step

void joints_header(tbOut* out);
void joints_rows(tbOut* out,
                 const tbWorld* world); // after the last step: where joints are and what they bear

void forces_header(tbOut* out);
// Of bodies that something touches: what contacts did to them in the last step, of length dt.
tbStatus forces_rows(tbContext* ctx, tbOut* out, const tbWorld* world, double dt);

#endif
