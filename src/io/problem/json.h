// SPDX-License-Identifier: Apache-2.0
// What the reader and the writer of Tribo's JSON problem format share: docs/problem-format.md.
#ifndef TB_IO_PROBLEM_JSON_H
#define TB_IO_PROBLEM_JSON_H

#include "base/json.h"
#include "tribo/problem.h"

enum { TB_PROBLEM_FORMAT = 1 }; // the value of "tribo_problem"

// Keys of a law's parameters. Scalars stand in the order of the parameters. Lists come in twos: box has lo…,
// hi… one after the other, polygon the first half of its directions and their opposites; directional takes
// one of each in turn.
typedef struct tbLawKeys {
  int scalars;
  const char* scalar[4];
  int each;            // values in each list, of a polygon at most; 0: no lists
  const char* list[2]; // lo and hi, or mu_minus and mu_plus
} tbLawKeys;

tbLawKeys tb_law_keys(tbLaw law, int rows);

// Where value i of list l stands among the parameters.
static inline int tb_law_list_at(tbLaw law, int each, int l, int i)
{
  if (law == TB_LAW_POLYGON) return 1 + l * each + i;
  return law == TB_LAW_BOX ? l * each + i : 2 * i + l;
}

#endif
