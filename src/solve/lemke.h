// SPDX-License-Identifier: Apache-2.0
// Lemke's method (lemke.c): the dictionary "basic = T · nonbasic", condensed to n × (n + 2), whose pivots are
// exchanges of one row with one column.
#ifndef TB_SOLVE_LEMKE_H
#define TB_SOLVE_LEMKE_H

#include "solve/lcp.h"

typedef struct tbLemke {
  tbRun* run;
  tbLcp lcp;
  int n, stride;
  double* T;     // (n × stride); column 0 is the constant
  int* basic;    // variable of a row (n): z_j is j, w_j is n + j, z₀ is 2n
  int* nonbasic; // variable of a column (n + 2)
  int* nonzero;  // columns of the pivot row that are not 0 (n + 2)
  int nonzeros;
  int* place;       // of a variable (2n + 1): its row, or ~column
  bool* started;    // pairs whose z was basic when z₀ was introduced (n)
  bool* wanted;     // variables of the basis to change to (2n + 1)
  double* entering; // column copied for a pivot (n)
  double *row_scale, *column_scale, *cover, *z, *error; // (n)
  int* tie;                                             // rows (n)
  double constant_scale;
  double trusted;     // error of the dictionary that is put up with
  double known_error; // of the dictionary, when it was last looked at
  double slack;       // how far below 0 a basic variable may fall: ties up to rounding
  double* lambda;
  int iteration, since_check;
} tbLemke;

static inline double* tb_lemke_row(const tbLemke* s, int i) { return s->T + (size_t)i * (size_t)s->stride; }
static inline bool tb_lemke_is_free(const tbLemke* s, int variable)
{
  return variable < 2 * s->n && s->lcp.var[variable % s->n].free;
}

// lemke_dictionary.c
void tb_lemke_equilibrate(tbLemke* s); // rows and columns by powers of two
// A complementary basis to start from: pairs that fall to the lot change places, so large a share of them.
void tb_lemke_choose_start(tbLemke* s, uint64_t* random, double share);
void tb_lemke_start(tbLemke* s);                  // in that basis, with the cover
void tb_lemke_exchange(tbLemke* s, int r, int c); // the variable of a row with that of a column
void tb_lemke_refresh(tbLemke* s);                // the same basis, computed from M again

#endif
