// SPDX-License-Identifier: Apache-2.0
// tribo --version: the version, and what this build is made of.
#include "cli/machine.h"
#include "tribo/io.h"
#include "tribo/render.h"

#include <stdio.h>

int command_version(void);

int command_version(void)
{
  printf("tribo %s\n", TB_VERSION);
  printf("commit     %s\n", machine_commit());
  printf("compiler   %s\n", machine_compiler());
  printf("simd       %s\n", tb_simd_name());
  printf("cholesky   %s\n", tb_cholesky_backend_name());
  printf("orderings  %s\n", tb_orderings_present());
  printf("fclib      %s\n", tb_have_fclib() ? "yes, through HDF5" : "no, built without HDF5");
  printf("deflate    %s\n", tb_deflate_name());
  return 0;
}
