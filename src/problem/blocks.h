// SPDX-License-Identifier: Apache-2.0
// Work on every block of a metric: small ones side by side, large ones one after the other with every thread
// inside. The blocks are independent, and each is treated alike by every thread: the same bits for any number
// of threads.
#ifndef TB_PROBLEM_BLOCKS_H
#define TB_PROBLEM_BLOCKS_H

#include "problem/metric.h"

typedef struct tbBlocks {
  const tbProblem* problem;
  size_t* room_adr; // where the room of a block begins                                        (nblock)
  double* room;     // to solve in: tb_metric_workspace of each block, one after the other
} tbBlocks;

size_t tb_blocks_room(const tbProblem* problem); // doubles
void tb_blocks_begin(tbBlocks* blocks);          // fills room_adr

// threads: null where others work beside it.
typedef void tbBlockFn(void* user, int block, tbThreads* threads, double* room);
void tb_blocks_each(const tbBlocks* blocks, tbThreads* threads, tbBlockFn* body, void* user);

#endif
