// SPDX-License-Identifier: Apache-2.0
// Files that come with the command: where it is built, and where it is installed.
#ifndef TB_CLI_BESIDE_H
#define TB_CLI_BESIDE_H

#include <limits.h>
#include <stdbool.h>

// The first of the places, relative to the command's own folder, that can be read.
bool find_beside(const char* const* places, int count, char path[PATH_MAX]);

#endif
