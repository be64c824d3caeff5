// SPDX-License-Identifier: Apache-2.0
// PNG (ISO/IEC 15948): 8 bits, RGB, each row with the filter that leaves the smallest differences.
#include "tribo/render.h"

#include "base/file.h"
#include "render/deflate.h"

#include <stdlib.h>
#include <string.h>

enum { FILTERS = 5, PIXEL = 3 };

static uint32_t crc(uint32_t sum, const char* bytes, size_t length)
{
  for (size_t i = 0; i < length; i++) {
    sum ^= (unsigned char)bytes[i];
    for (int k = 0; k < 8; k++) sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
  }
  return sum;
}

static void put_u32(tbOut* out, uint32_t v)
{
  tb_out_bytes(out, (char[4]){(char)(v >> 24), (char)(v >> 16 & 255), (char)(v >> 8 & 255), (char)(v & 255)},
               4);
}

static void put_chunk(tbOut* out, const char* type, const char* bytes, size_t length)
{
  put_u32(out, (uint32_t)length);
  tb_out_bytes(out, type, 4);
  tb_out_bytes(out, bytes, length);
  put_u32(out, ~crc(crc(0xFFFFFFFFu, type, 4), bytes, length));
}

static int paeth(int a, int b, int c)
{
  int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static int predict(int filter, int left, int up, int corner)
{
  switch (filter) {
  case 1: return left;
  case 2: return up;
  case 3: return (left + up) / 2;
  case 4: return paeth(left, up, corner);
  default: return 0;
  }
}

// One row, behind its filter's number. above: null in the first row.
static void put_row(const unsigned char* row, const unsigned char* above, int bytes, unsigned char* out)
{
  int64_t best = INT64_MAX;
  for (int filter = 0; filter <= FILTERS; filter++) { // the last time round for the best
    int use = filter < FILTERS ? filter : out[0];
    int64_t sum = 0;
    for (int i = 0; i < bytes; i++) {
      int left = i >= PIXEL ? row[i - PIXEL] : 0, up = above ? above[i] : 0;
      unsigned char d =
          (unsigned char)(row[i] - predict(use, left, up, i >= PIXEL && above ? above[i - PIXEL] : 0));
      sum += d < 128 ? d : 256 - d;
      if (filter == FILTERS) out[1 + i] = d;
    }
    if (filter < FILTERS && sum < best) best = sum, out[0] = (unsigned char)filter;
  }
}

static tbStatus put_image(tbContext* ctx, tbOut* out, int width, int height, const unsigned char* rgb)
{
  size_t bytes = PIXEL * (size_t)width;
  unsigned char* rows = TB_NEW(ctx, unsigned char, (bytes + 1) * (size_t)height);
  if (!rows) return TB_ERROR_MEMORY;
  for (int y = 0; y < height; y++)
    put_row(rgb + bytes * (size_t)y, y > 0 ? rgb + bytes * (size_t)(y - 1) : NULL, (int)bytes,
            rows + (bytes + 1) * (size_t)y);
  tbOut packed = tb_out_memory(ctx);
  tbStatus status = tb_deflate(ctx, rows, (bytes + 1) * (size_t)height, &packed);
  if (status == TB_OK) status = tb_out_finish(&packed);
  if (status == TB_OK) put_chunk(out, "IDAT", packed.bytes, packed.length);
  tb_out_free(&packed);
  tb_free(ctx, rows);
  return status;
}

tbStatus tb_png_save(tbContext* ctx, const char* path, int width, int height, const unsigned char* rgb)
{
  if (width < 1 || height < 1 || width > TB_RENDER_SIZE || height > TB_RENDER_SIZE)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a picture has 1 to %d pixels in each direction", TB_RENDER_SIZE);
  tbOut out = tb_out_memory(ctx);
  char header[13] = {0};
  for (int i = 0; i < 4; i++)
    header[i] = (char)(width >> (24 - 8 * i) & 255), header[4 + i] = (char)(height >> (24 - 8 * i) & 255);
  header[8] = 8, header[9] = 2; // bits; RGB
  tb_out_bytes(&out, "\x89PNG\r\n\x1a\n", 8);
  put_chunk(&out, "IHDR", header, sizeof header);
  put_chunk(&out, "sRGB", "\0", 1);
  tbStatus status = put_image(ctx, &out, width, height, rgb);
  put_chunk(&out, "IEND", "", 0);
  if (status == TB_OK) status = tb_out_finish(&out);
  if (status == TB_OK) status = tb_write_file(ctx, path, out.bytes, out.length);
  tb_out_free(&out);
  return status;
}
