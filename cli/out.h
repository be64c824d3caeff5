// SPDX-License-Identifier: Apache-2.0
// Writing to a tbOut: formatted, and foreign text made harmless for where it goes.
#ifndef TB_CLI_OUT_H
#define TB_CLI_OUT_H

#include "tribo/tools/text.h"

enum { OUT_NUMBER = 32 };

// Standard output. A reader that stops early (`| head`) is no fault: what it does not want is dropped.
tbOut out_standard(tbContext* ctx);

tbOut out_error(tbContext* ctx); // standard error
// Where summaries go: standard error when standard output is taken by data.
tbOut out_summary(tbContext* ctx, bool output_taken);

// "wrote PATH" where summaries go; nothing for null, for a standard stream or a device.
void out_wrote(bool output_taken, const char* path);

// Short pieces: what comes out is cut at 1 KiB. Text of unknown length goes through the functions below.
void out_format(tbOut* out, const char* format, ...) __attribute__((format(printf, 2, 3)));

void out_terminal(tbOut* out, const char* text); // control characters become '?'
void out_html(tbOut* out, const char* text); // &, <, >, quotes escaped; what XML cannot hold becomes U+FFFD
void out_csv(tbOut* out, const char* text);  // RFC 4180: quoted when it holds a comma, a quote or a new line

// Milliseconds or microseconds to three digits, without an exponent where that is readable: 0.0112, 3.40,
// 2270.
const char* out_scaled(char text[OUT_NUMBER], double value);

// A residual beside the tolerance it is held against: "2·10⁻⁵ ≤ 10⁻⁴ m/s", with > where it misses it; alone
// where the tolerance is 0. unit: with its space before it, or "".
void out_held(tbOut* out, double value, double tolerance, const char* unit);
void out_power(tbOut* out, double value); // "2.3·10⁻⁵"

#endif
