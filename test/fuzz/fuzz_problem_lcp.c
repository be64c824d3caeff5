// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

FUZZ(problem_lcp) { fuzz_parse(tb_problem_parse_lcp, bytes, size); }
