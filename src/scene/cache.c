// SPDX-License-Identifier: Apache-2.0
#include "scene/cache.h"

#include "math/cholesky.h"
#include "pd/body.h"
#include "scene/world.h"

void tb_cache_init(tbCache* c, tbContext* ctx)
{
  c->surface = TB_ARRAY(tbSurfaceMesh*);
  c->factor = TB_ARRAY(tbBodyFactor);
  c->records = TB_ARRAY(tbContactRecord);
  c->contacts = (tbKept){NULL, NULL};
  c->soft_step = (tbKept){NULL, NULL};
  c->ipc = (tbKept){NULL, NULL};
  c->answers = NULL;
  c->ccd = TB_CCD_INCLUSION;
  c->apart = false;
  tb_arena_init(&c->scratch, ctx);
  tb_pool_init(&c->pool);
}

void tb_cache_clear(tbContext* ctx, tbCache* c)
{
  for (size_t i = 0; i < c->surface.count; i++)
    tb_surface_mesh_free(ctx, ((tbSurfaceMesh**)c->surface.data)[i]);
  for (size_t i = 0; i < c->factor.count; i++) {
    tb_cholesky_free(ctx, ((tbBodyFactor*)c->factor.data)[i].factor);
    tb_pd_free(ctx, ((tbBodyFactor*)c->factor.data)[i].pd);
  }
  c->surface.count = c->factor.count = 0;
  if (c->contacts.data) c->contacts.free(ctx, c->contacts.data);
  c->contacts = (tbKept){NULL, NULL};
  if (c->soft_step.data) c->soft_step.free(ctx, c->soft_step.data);
  c->soft_step = (tbKept){NULL, NULL};
  if (c->ipc.data) c->ipc.free(ctx, c->ipc.data);
  c->ipc = (tbKept){NULL, NULL};
}

void tb_cache_free(tbContext* ctx, tbCache* c)
{
  tb_cache_clear(ctx, c);
  tb_array_free(ctx, &c->surface);
  tb_array_free(ctx, &c->factor);
  tb_array_free(ctx, &c->records);
  c->scratch.ctx = ctx;
  tb_arena_free(&c->scratch);
  tb_pool_free(ctx, &c->pool);
}

tbStatus tb_cache_factors(tbContext* ctx, tbCache* c, size_t count)
{
  size_t first = c->factor.count;
  if (count > first) TB_TRY(tb_array_push(ctx, &c->factor, NULL, count - first));
  for (size_t i = first; i < count; i++) ((tbBodyFactor*)c->factor.data)[i].apart = c->apart;
  return TB_OK;
}
