// SPDX-License-Identifier: Apache-2.0
#include "cli/doubts.h"
#include "cli/out.h"
#include "tribo/check.h"

static void put_name(tbOut* out, const tbWorld* w, int body)
{
  tb_out_text(out, "\"");
  out_terminal(out, tb_body_name(w, tb_world_body_at(w, body)));
  tb_out_text(out, "\" ");
}

tbStatus warn_of_doubts(tbContext* ctx, const char* path, tbWorld* w)
{
  enum { SHOWN = 10 };
  tbArray doubts = TB_ARRAY(tbDoubt);
  tbOut out = out_error(ctx);
  tbStatus status = tb_world_doubts(ctx, w, &doubts);
  const tbDoubt* d = doubts.data;
  for (size_t i = 0; status == TB_OK && i < doubts.count && i < SHOWN; i++) {
    out_terminal(&out, path);
    tb_out_text(&out, ": warning: ");
    put_name(&out, w, d[i].a);
    if (d[i].b >= 0) tb_out_text(&out, "and "), put_name(&out, w, d[i].b);
    out_format(&out, "%s\n", d[i].what);
  }
  if (status == TB_OK && doubts.count > SHOWN) {
    out_terminal(&out, path);
    out_format(&out, ": warning: and %zu more like these\n", doubts.count - SHOWN);
  }
  if (status == TB_OK) status = tb_out_finish(&out);
  tb_out_free(&out);
  tb_array_free(ctx, &doubts);
  return status;
}
