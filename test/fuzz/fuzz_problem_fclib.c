// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

#ifdef TB_FUZZING
const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void)
{
  return "leak:libhdf5";
} // it loses memory over damaged headers
#endif

FUZZ(problem_fclib) { fuzz_parse(tb_problem_parse_fclib, bytes, size); }
