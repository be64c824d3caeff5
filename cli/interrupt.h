// SPDX-License-Identifier: Apache-2.0
// Ctrl-C asks a run to stop; a second one insists.
#ifndef TB_CLI_INTERRUPT_H
#define TB_CLI_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupted(void* unused); // has the shape of tbSolveOptions.cancelled

#endif
