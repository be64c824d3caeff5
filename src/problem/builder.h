// SPDX-License-Identifier: Apache-2.0
// A problem in the making: arrays that grow, without their final addresses.
#ifndef TB_PROBLEM_BUILDER_H
#define TB_PROBLEM_BUILDER_H

#include "base/array.h"
#include "tribo/problem.h"

struct tbBuilder {
  tbContext* ctx;
  tbStatus status; // the first failure; later calls do nothing
  tbError error;
  char name[128];

  tbArray block;  // tbPendingBlock
  tbArray number; // double: all values of the metric
  tbArray index;  // int: all CSR structure of sparse blocks and of W
  tbArray v_free; // double

  tbArray row_adr, law, param_adr, param, bias, compliance;
  tbArray jac_adr, jac_dof, jac_width, jac_val_adr, jac;

  bool explicit_W;
  int W_rows;
};

// A metric block before its arrays have their final address: offsets into `number` and `index`; or, where
// they are borrowed, the block as it will be.
typedef struct tbPendingBlock {
  tbMetricKind kind;
  int dof, size;
  size_t value, ptr, col;
  bool kept;
  tbMetricBlock as_is;
} tbPendingBlock;

#endif
