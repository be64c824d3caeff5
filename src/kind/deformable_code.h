// SPDX-License-Identifier: Apache-2.0
// What deformable and reduced bodies have in common as bytes.
#ifndef TB_KIND_DEFORMABLE_CODE_H
#define TB_KIND_DEFORMABLE_CODE_H

#include "base/codec.h"
#include "scene/world.h"

void tb_soft_code(tbCodec* c, tbSoftDef* soft);
void tb_motion_code(tbCodec* c, const tbWorld* world, tbMotion* motion); // of what holds nodes

#endif
