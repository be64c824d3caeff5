// SPDX-License-Identifier: Apache-2.0
// How long the slab between two moving sets surely stays open.
#ifndef TB_COLLIDE_OPEN_UNTIL_H
#define TB_COLLIDE_OPEN_UNTIL_H

// A gap over time: the width of the slab along one direction.
typedef double tbGapAt(const void* user, double t);

// A time from `from` to `end` before which the gap does not fall to `target`; `end` itself: it does not at
// all. `gap` is the gap at `from`, above the target; `bend` a bound on the second derivative of the way along
// the direction of any point of one set as seen from any of the other. The time comes within a hundredth of
// the longest that can be told from `bend`.
double tb_open_until(tbGapAt* gap_at, const void* user, double from, double gap, double end, double target,
                     double bend);

#endif
