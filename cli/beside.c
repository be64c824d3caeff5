// SPDX-License-Identifier: Apache-2.0
#include "cli/beside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool find_beside(const char* const* places, int count, char path[PATH_MAX])
{
  char command[PATH_MAX / 2];
  ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
  if (length <= 0) return false;
  command[length] = 0;
  *(strrchr(command, '/') + 1) = 0;
  for (int i = 0; i < count; i++) {
    snprintf(path, PATH_MAX, "%s%s", command, places[i]);
    if (access(path, R_OK) == 0) return true;
  }
  return false;
}
