// SPDX-License-Identifier: Apache-2.0
// Seconds on a clock that never goes back.
#ifndef TRIBO_TOOLS_CLOCK_H
#define TRIBO_TOOLS_CLOCK_H

#include "tribo/api.h"

TB_API_BEGIN

double tb_seconds(void);

TB_API_END
#endif
