// SPDX-License-Identifier: Apache-2.0
// Whether a query with integer coordinates is a collision, decided without rounding, and queries to ask:
// random ones and every degenerate kind. Shared by the tests and bench/internal/ccd_exact.c.
#ifndef TB_TEST_CCD_ORACLE_H
#define TB_TEST_CCD_ORACLE_H

#include "collide/ccd.h"

#include <stdint.h>

typedef struct {
  tbCcdKind kind;
  int64_t x[2][4][3]; // corners at the start and at the end; differences below 2⁴⁶
  int shift;          // the coordinates are x · 2^shift
} ExactQuery;

enum { EXACT_FAMILIES = 12 };
const char* exact_family_name(int family);
ExactQuery exact_query(uint64_t* random, int family);
tbCcdQuery exact_to_query(const ExactQuery* q); // the same, in doubles, exactly

// Is there a contact at some t in [0, last / 2²⁰]? last ≤ 2²⁰.
enum { EXACT_STEPS = 1 << 20 };
bool exact_collides(const ExactQuery* q, int64_t last);

#endif
