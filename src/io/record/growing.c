// SPDX-License-Identifier: Apache-2.0
#include "io/record/growing.h"

#include "base/decimal.h"

#include <stdio.h>
#include <string.h>

tbStatus tb_growing_open(tbContext* ctx, const char* path, tbGrowing* out)
{
  TB_TRY(tb_file_begin(ctx, path, &out->file));
  out->out = tb_out_sink(ctx, tb_file_sink(&out->file), out->file.path);
  return TB_OK;
}

tbStatus tb_growing_end_all(tbContext* ctx, tbGrowing* const* g, int count, tbStatus status)
{
  for (int i = 0; i < count && status == TB_OK; i++) status = tb_out_finish(&g[i]->out);
  for (int i = 0; i < count; i++) {
    tb_out_free(&g[i]->out);
    status = tb_file_end(ctx, &g[i]->file, status);
  }
  return status;
}

tbStatus tb_growing_end(tbContext* ctx, tbGrowing* g, tbStatus status)
{
  return tb_growing_end_all(ctx, &g, 1, status);
}

void tb_out_u32(tbOut* out, uint32_t value)
{
  char bytes[4];
  for (int i = 0; i < 4; i++) bytes[i] = (char)(value >> 8 * i & 255);
  tb_out_bytes(out, bytes, 4);
}

void tb_out_u64(tbOut* out, uint64_t value)
{
  char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (char)(value >> 8 * i & 255);
  tb_out_bytes(out, bytes, 8);
}

void tb_out_f32(tbOut* out, double value)
{
  float number = (float)value;
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  tb_out_u32(out, bits);
}

void tb_out_f64(tbOut* out, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  tb_out_u64(out, bits);
}

void tb_out_f32x3(tbOut* out, tbVec3 v)
{
  tb_out_f32(out, v.x);
  tb_out_f32(out, v.y);
  tb_out_f32(out, v.z);
}

void tb_out_zeros(tbOut* out, size_t count)
{
  static const char zeros[16] = {0};
  for (; count > 0; count -= count < 16 ? count : 16) tb_out_bytes(out, zeros, count < 16 ? count : 16);
}

void tb_out_float(tbOut* out, float value)
{
  char text[TB_DOUBLE_TEXT];
  for (int digits = 6; digits <= 9; digits++) {
    int length = snprintf(text, sizeof text, "%.*g", digits, (double)value);
    for (int i = 0; i < length; i++)
      if (text[i] == ',') text[i] = '.'; // the process's locale
    double back;
    if (tb_read_double(text, text + length, &back) == text + length && (float)back == value) break;
  }
  tb_out_text(out, text);
}
