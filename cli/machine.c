// SPDX-License-Identifier: Apache-2.0
#include "cli/machine.h"
#include "tribo_commit.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

const char* machine_compiler(void)
{
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

const char* machine_commit(void) { return TB_COMMIT; }

void machine_processor(char text[MACHINE_TEXT])
{
  struct utsname name;
  snprintf(text, MACHINE_TEXT, "%s", uname(&name) == 0 ? name.machine : "unknown");
  FILE* file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  for (char line[512]; fgets(line, sizeof line, file);) {
    const char* value = strstr(line, ": ");
    if (!value || strncmp(line, "model name", strlen("model name")) != 0) continue;
    snprintf(text, MACHINE_TEXT, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    break;
  }
  fclose(file);
}

void machine_system(char text[MACHINE_TEXT])
{
  struct utsname name;
  if (uname(&name) == 0)
    snprintf(text, MACHINE_TEXT, "%.40s %.60s, %.40s", name.sysname, name.release, name.machine);
  else snprintf(text, MACHINE_TEXT, "unknown");
}
