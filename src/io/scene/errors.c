// SPDX-License-Identifier: Apache-2.0
#include "io/scene/errors.h"

#include "base/sort.h"

tbSceneErrors tb_scene_errors(void)
{
  return (tbSceneErrors){.list = TB_ARRAY(tbError), .bad = TB_ARRAY(const tbJson*)};
}

void tb_scene_errors_free(tbContext* ctx, tbSceneErrors* errors)
{
  tb_array_free(ctx, &errors->list);
  tb_array_free(ctx, &errors->bad);
  *errors = tb_scene_errors();
}

size_t tb_scene_errors_count(const tbSceneErrors* errors) { return errors ? errors->list.count : 0; }

tbStatus tb_scene_errors_note(tbContext* ctx, tbSceneErrors* errors, tbStatus status)
{
  if (status != TB_ERROR_INPUT || !errors || errors->list.count == TB_SCENE_MOST_ERRORS) return status;
  TB_TRY(tb_array_push(ctx, &errors->list, &ctx->error, 1));
  return errors->list.count < TB_SCENE_MOST_ERRORS ? TB_OK : status;
}

tbStatus tb_scene_errors_mark(tbContext* ctx, tbSceneErrors* errors, const tbJson* record)
{
  return tb_array_push(ctx, &errors->bad, &record, 1);
}

bool tb_scene_errors_bad(const tbSceneErrors* errors, const tbJson* record)
{
  const tbJson* const* bad = errors ? errors->bad.data : NULL;
  for (size_t i = 0; errors && i < errors->bad.count; i++)
    if (bad[i] == record) return true;
  return false;
}

static int by_place(const void* a, const void* b)
{
  const tbError *x = a, *y = b;
  if (x->line != y->line) return x->line < y->line ? -1 : 1;
  return (x->column > y->column) - (x->column < y->column);
}

void tb_scene_errors_sort(tbSceneErrors* errors)
{
  tb_sort(errors->list.data, errors->list.count, sizeof(tbError), by_place);
}
