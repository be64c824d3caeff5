// SPDX-License-Identifier: Apache-2.0
// y = A x over all of a problem's metric, in one or two parallel loops whatever the blocks are.
//
// Bodies come in all sizes, from one with a million blocks to a hundred with a thousand each; a loop of its
// own for each would be all waking up and waiting. So the work is listed once: pieces of packed halves, rows
// of other sparse blocks, runs of small ones; and taken from one list. A packed half of several pieces needs
// the second loop, which adds up what they share.
#ifndef TB_PROBLEM_PRODUCT_H
#define TB_PROBLEM_PRODUCT_H

#include "base/memory.h"
#include "problem/metric.h"

typedef struct tbProductItem {
  int block, piece; // of a packed half; else the first row, or −1: small blocks
  int end;          // rows, or small blocks, end here
} tbProductItem;

typedef struct tbProduct {
  const tbProblem* problem;
  int count, shared;   // items; and of them, at the front, those of halves that have several pieces
  tbProductItem* item; // (count)
  size_t* room_adr;    // of the blocks (nblock)
  double* room;        // for the packed halves
} tbProduct;

void tb_product_layout(tbProduct* product, tbScratch* scratch, const tbProblem* problem);
void tb_product_begin(tbProduct* product); // fills the list
// (ndof) both; rough: with rounded values, where there are any (math/packed.h).
void tb_product_multiply(const tbProduct* product, tbThreads* threads, bool rough, const double* x,
                         double* y);

#endif
