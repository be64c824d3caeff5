// SPDX-License-Identifier: Apache-2.0
// Any text is read as the C library reads it, and what is read survives being written.
#include "base/decimal.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FUZZ(decimal)
{
  char* text = malloc(size + 1);
  if (!text) return;
  if (size) memcpy(text, bytes, size);
  text[size] = 0;
  double x = 0;
  size_t used = (size_t)(tb_read_double(text, text + size, &x) - text);
  CHECK(used <= size);
  if (used > 0) {
    text[used] = 0;
    double theirs = strtod(text, NULL);
    CHECK(memcmp(&x, &theirs, sizeof x) == 0);
    char written[TB_DOUBLE_TEXT];
    int length = tb_format_double(x, written);
    CHECK(length > 0 && length < TB_DOUBLE_TEXT - 1 && strlen(written) == (size_t)length);
    double back = strtod(written, NULL);
    CHECK(memcmp(&x, &back, sizeof x) == 0);
  }
  free(text);
}
