// SPDX-License-Identifier: Apache-2.0
// Contact records of several substeps as those of one step.
#ifndef TB_STEP_SUBSTEPS_RECORDS_H
#define TB_STEP_SUBSTEPS_RECORDS_H

#include "scene/world.h"

// Adds the records of a later substep to a sum (tbContactRecord). A contact that both have is where the later
// one is, with the impulses of both; one that has ended stays where it was, if it carried any. In the order
// that a step's records have.
tbStatus tb_records_add(tbContext* ctx, const tbContactRecord* records, size_t count, tbArray* sum);

#endif
