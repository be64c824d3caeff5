// SPDX-License-Identifier: Apache-2.0
// A growable array of plain values, for code that does not know its sizes beforehand.
//
//   tbArray rows = TB_ARRAY(int);
//   TB_TRY(tb_array_push(ctx, &rows, &value, 1));        // append one
//   int* data = rows.data;
//   tb_array_free(ctx, &rows);
#ifndef TRIBO_TOOLS_ARRAY_H
#define TRIBO_TOOLS_ARRAY_H

#include "tribo/tools/memory.h"

TB_API_BEGIN

typedef struct tbArray {
  void* data;
  size_t count, capacity, item; // item: bytes of one value
} tbArray;

#define TB_ARRAY(type) ((tbArray){.item = sizeof(type)})

// Appends `count` values; zeros when `values` is null. On failure the array is as it was.
tbStatus tb_array_push(tbContext* ctx, tbArray* array, const void* values, size_t count);
void tb_array_free(tbContext* ctx, tbArray* array);

TB_API_END
#endif
