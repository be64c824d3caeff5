// SPDX-License-Identifier: Apache-2.0
// Which functions of src/problem are compiled once per vector width (base/kernels.h).
#include "base/kernels.h"
#include "problem/metric.h"

// metric_rows.c
TB_KERNEL(void, tb_metric_rows, (const tbMetricBlock* b, int begin, int end, const double* x, double* y),
          (b, begin, end, x, y))
