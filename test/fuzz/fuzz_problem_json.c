// SPDX-License-Identifier: Apache-2.0
#include "problem.h"

FUZZ(problem_json) { fuzz_parse(tb_problem_parse_json, bytes, size); }
