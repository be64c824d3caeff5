// SPDX-License-Identifier: Apache-2.0
// Compression as zlib reads it (RFC 1950, RFC 1951).
#ifndef TB_RENDER_DEFLATE_H
#define TB_RENDER_DEFLATE_H

#include "base/text.h"
#include "tribo/render.h"

// Appends the zlib stream of the bytes.
tbStatus tb_deflate(tbContext* ctx, const unsigned char* bytes, size_t length, tbOut* out);

#endif
