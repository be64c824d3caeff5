// SPDX-License-Identifier: Apache-2.0
// UTF-8, strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#ifndef TRIBO_TOOLS_UTF8_H
#define TRIBO_TOOLS_UTF8_H

#include "tribo/api.h"

#include <stdint.h>

TB_API_BEGIN

// The bytes of the character at `at` < `end`, 1 to 4, or 0 when the bytes there are not UTF-8.
int tb_utf8_length(const char* at, const char* end);

// Writes a code point (not a surrogate, at most 0x10ffff) and returns its length.
int tb_utf8_encode(uint32_t code, char out[4]);

// The longest part of the text, in bytes, that has at most `limit` bytes and cuts no character in two.
int tb_utf8_clip(const char* text, int limit);

TB_API_END
#endif
