// SPDX-License-Identifier: Apache-2.0
// Which functions of src/solve are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "solve/round_sweep.h"

// round_sweep.c
TB_KERNEL(void, tb_round_sweep, (const tbRoundSweep* sweep, const int* visit, int begin, int end, int step),
          (sweep, visit, begin, end, step))
