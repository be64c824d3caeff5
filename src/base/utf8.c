// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

static int is_continuation(unsigned char c) { return (c & 0xc0) == 0x80; }

int tb_utf8_length(const char* at, const char* end)
{
  const unsigned char* s = (const unsigned char*)at;
  long left = end - at;
  if (s[0] < 0x80) return 1;
  if (left < 2 || s[0] < 0xc2 || s[0] > 0xf4 || !is_continuation(s[1])) return 0;
  if (s[0] < 0xe0) return 2;

  // The second byte's range is what shuts out overlong forms, surrogates and codes above U+10FFFF.
  if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
  if (s[0] == 0xed && s[1] > 0x9f) return 0;
  if (s[0] == 0xf0 && s[1] < 0x90) return 0;
  if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
  if (left < 3 || !is_continuation(s[2])) return 0;
  if (s[0] < 0xf0) return 3;
  return left >= 4 && is_continuation(s[3]) ? 4 : 0;
}

int tb_utf8_encode(uint32_t code, char out[4])
{
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  int length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)((0xf00 >> length & 0xff) | code); // 110…, 1110…, 11110…
  return length;
}

int tb_utf8_clip(const char* text, int limit)
{
  int length = 0;
  while (length < limit && text[length]) length++;
  if (!text[length]) return length;
  while (length > 0 && is_continuation((unsigned char)text[length])) length--;
  return length;
}
