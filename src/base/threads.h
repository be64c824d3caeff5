// SPDX-License-Identifier: Apache-2.0
// One parallel loop for the whole library.
//
// [0, count) is cut into pieces of `grain` indices, the last one shorter. Which thread runs which piece is
// left to chance; what a piece is, never. A body that writes only what its indices own, or one partial result
// per piece that the caller adds up in order, therefore gives the same bits for any number of threads.
#ifndef TB_BASE_THREADS_H
#define TB_BASE_THREADS_H

#include "tribo/base.h"

// begin ≤ i < end; piece = begin / grain.
typedef void tbRangeFn(void* user, int begin, int end, int piece);

// Runs inline for null threads, for a single piece, and when called from inside another parallel_for.
void tb_parallel_for(tbThreads* threads, int count, int grain, tbRangeFn* body, void* user);

static inline int tb_piece_count(int count, int grain) { return count / grain + (count % grain != 0); }

#endif
