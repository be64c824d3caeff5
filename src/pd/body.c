// SPDX-License-Identifier: Apache-2.0
// What a body's elements are in projective form.
#include "pd/elements.h"

#include <string.h>

static int count_corners(const tbPdBody* b, int kind)
{
  static const int corners[] = {0, 4, 2};
  if (kind == 1 && !tb_pd_has_angles(b->fem)) return 0;
  return b->fem->nelement[kind] * (kind == 0 ? b->corners : corners[kind]);
}

// The corners of elements around every node, in the order of elements, the ends of springs, and the corners
// of hinges that are projected.
static tbStatus list_around(tbPdBody* b)
{
  const tbFemBody* fem = b->fem;
  static const int kinds[] = {0, 2, 1};
  int count = 0;
  for (int i = 0; i < 3; i++) b->first[kinds[i]] = count, count += count_corners(b, kinds[i]);
  b->npush = count;
  b->around_adr = TB_TAKE(&b->arena, int, (size_t)b->nnode + 1);
  b->around = TB_TAKE(&b->arena, int, (size_t)count);
  int* at = TB_TAKE(&b->arena, int, (size_t)b->nnode);
  if (!b->around_adr || !b->around || !at) return TB_ERROR_MEMORY;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < count_corners(b, kinds[i]); k++) b->around_adr[fem->corner[kinds[i]][k] + 1]++;
  for (int i = 0; i < b->nnode; i++) b->around_adr[i + 1] += b->around_adr[i], at[i] = b->around_adr[i];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < count_corners(b, kinds[i]); k++)
      b->around[at[fem->corner[kinds[i]][k]]++] = b->first[kinds[i]] + k;
  return TB_OK;
}

void tb_pd_fill_triangles(tbPdBody* b, double h)
{
  if (!b->fem->cloth) return;
  tbMembraneStiffness m = tb_membrane_stiffness(&b->fem->sheet);
  b->shortest = m.limit > 0 ? 1 - m.strain_limit : 0,
  b->longest = m.limit > 0 ? 1 + m.strain_limit : INFINITY;
  for (int e = 0; e < b->nelement; e++) {
    tbPdTriangles* t = &b->triangles[e / TB_PD_EIGHT];
    tbPdWeights w = tb_pd_weights(b->fem, e);
    int lane = e % TB_PD_EIGHT;
    for (int k = 0; k < 4; k++) t->g[k][lane] = b->fem->membrane[e].g[k / 2][k % 2];
    for (int c = 0; c < 3; c++) t->node[c][lane] = b->fem->corner[0][3 * (size_t)e + (size_t)c];
    t->stretch[lane] = h * w.first, t->shear[lane] = h * w.second, t->limit[lane] = h * w.limit;
  }
}

static tbStatus make(tbPdBody* b)
{
  b->pinned = TB_TAKE(&b->arena, uint8_t, (size_t)b->nnode);
  b->lump = TB_TAKE(&b->arena, double, (size_t)b->nnode);
  if (b->fem->cloth)
    b->triangles = TB_TAKE(&b->arena, tbPdTriangles, ((size_t)b->nelement + TB_PD_EIGHT - 1) / TB_PD_EIGHT);
  if (!b->pinned || !b->lump || (b->fem->cloth && !b->triangles)) return TB_ERROR_MEMORY;
  TB_TRY(tb_pd_make_hinges(b));
  TB_TRY(list_around(b));
  return tb_pd_pattern(b);
}

tbStatus tb_pd_create(tbContext* ctx, const tbFemBody* fem, tbPdBody** out)
{
  tbPdBody* b = TB_NEW(ctx, tbPdBody, 1);
  if (!b) return TB_ERROR_MEMORY;
  tb_arena_init(&b->arena, ctx);
  tb_arena_init(&b->inverses, ctx);
  b->fem = fem, b->nnode = fem->nnode;
  b->corners = fem->cloth ? 3 : 4, b->nelement = fem->nelement[0];
  tbStatus status = make(b);
  if (status == TB_OK) *out = b;
  else tb_pd_free(ctx, b);
  return status;
}

void tb_pd_free(tbContext* ctx, tbPdBody* b)
{
  if (!b) return;
  tb_cholesky_free(ctx, b->factor);
  tb_cholesky_free(ctx, b->wide_factor);
  b->arena.ctx = b->inverses.ctx = ctx; // the one they were made with may be gone
  tb_arena_free(&b->arena);
  tb_arena_free(&b->inverses);
  tb_free(ctx, b);
}
