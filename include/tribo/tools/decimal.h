// SPDX-License-Identifier: Apache-2.0
// Doubles as decimal text, both ways: correctly rounded, and the same under every locale.
//
// strtod and printf follow the process's locale (a comma for the decimal point in half of Europe) and are
// slow; these do neither, and need no memory.
#ifndef TRIBO_TOOLS_DECIMAL_H
#define TRIBO_TOOLS_DECIMAL_H

#include "tribo/api.h"

#include <stdbool.h>
#include <stdint.h>

TB_API_BEGIN

// A number as it stands in a text: ±digits · 10^exponent, and the text itself when 19 digits do not hold it.
typedef struct tbDecimal {
  const char *begin, *end; // its digits in the text, exponent excluded, sign excluded
  int64_t whole, fraction; // how many digits stand before and after the point
  int64_t exponent;
  uint64_t digits; // the first 19 significant digits
  bool negative, plus, point, has_exponent;
  bool more; // non-zero digits follow those in `digits`
} tbDecimal;

// Reads [+-] digits [. digits] [e [+-] digits] at `at`, with a digit on at least one side of the point.
// Returns the end of the number, or `at` when there is none; then only the sign, the point and the counts of
// *out mean anything. An 'e' without digits is not part of a number.
const char* tb_decimal_scan(const char* at, const char* end, tbDecimal* out);

// The nearest double, ties to even; ±infinity beyond the range, ±0 below it.
double tb_decimal_value(const tbDecimal* decimal);

// Both in one: returns the end of the number, or `at` and leaves *value alone when there is none.
const char* tb_read_double(const char* at, const char* end, double* value);

// The fewest of 15, 16 or 17 significant digits that read back as the same bits, trailing zeros dropped:
// 0.1, -0, 12000, 1e-7, 1.7976931348623157e308; nan, inf, -inf. Returns the length; `out` is terminated.
enum { TB_DOUBLE_TEXT = 32 };
int tb_format_double(double x, char out[TB_DOUBLE_TEXT]);

TB_API_END
#endif
