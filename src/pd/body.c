// SPDX-License-Identifier: Apache-2.0
// What a body's elements are in projective form.
#include "pd/elements.h"

#include <string.h>

static const double FLAT = 1e-6; // rad: hinges that are bent by less at rest are flat

// With e along the edge and a, b to the corners beside it, the triangles' heights over the edge are linear in
// the corners while the triangles keep their shapes: B = (a − s e)/|height of a| + (b − t e)/|height of b|.
// Its length is 2 sin(θ/2), θ the angle between the triangles, and its direction the mean of their normals.
static void hinge_vector(const tbVec3 X[4], double out[4])
{
  tbVec3 e = tb_sub3(X[1], X[0]);
  double foot[2], height[2];
  for (int k = 0; k < 2; k++) {
    tbVec3 a = tb_sub3(X[2 + k], X[0]);
    foot[k] = tb_dot3(a, e) / tb_dot3(e, e);
    height[k] = tb_norm3(tb_madd3(a, -foot[k], e));
  }
  out[2] = 1 / height[0], out[3] = 1 / height[1];
  out[1] = -(foot[0] * out[2] + foot[1] * out[3]);
  out[0] = -(out[1] + out[2] + out[3]);
}

static tbStatus make_hinges(tbPdBody* b)
{
  const tbFemBody* fem = b->fem;
  int n = fem->cloth ? fem->nelement[1] : 0;
  b->hinge = tb_arena_take(&b->arena, (size_t)n, sizeof *b->hinge);
  b->angle = TB_TAKE(&b->arena, double, (size_t)n);
  if (!b->hinge || !b->angle) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    tbVec3 X[4];
    for (int k = 0; k < 4; k++) X[k] = fem->rest[fem->corner[1][4 * i + k]];
    hinge_vector(X, b->hinge[i]);
    b->angle[i] = tb_pd_bent(b, i, X);
    if (fabs(b->angle[i]) < FLAT) b->angle[i] = 0;
  }
  return TB_OK;
}

double tb_pd_bent(const tbPdBody* b, int hinge, const tbVec3 x[4])
{
  return tb_dot3(tb_pd_hinge(b, hinge, x), tb_pd_hinge_normal(x));
}

tbVec3 tb_pd_hinge(const tbPdBody* b, int hinge, const tbVec3 x[4])
{
  const double* c = b->hinge[hinge];
  tbVec3 out = tb_zero3();
  for (int k = 1; k < 4; k++) out = tb_madd3(out, c[k], tb_sub3(x[k], x[0]));
  return out;
}

tbVec3 tb_pd_hinge_normal(const tbVec3 x[4])
{
  tbVec3 e = tb_sub3(x[1], x[0]);
  tbVec3 a = tb_cross3(e, tb_sub3(x[2], x[0])), b = tb_cross3(tb_sub3(x[3], x[0]), e);
  return tb_normalize3(tb_add3(tb_normalize3(a), tb_normalize3(b)));
}

// The corners of elements around every node, in the order of elements, and the ends of springs.
static tbStatus list_around(tbPdBody* b)
{
  const tbFemBody* fem = b->fem;
  int own = b->nelement * b->corners, count = own + 2 * fem->nelement[2];
  b->around_adr = TB_TAKE(&b->arena, int, (size_t)b->nnode + 1);
  b->around = TB_TAKE(&b->arena, int, (size_t)count);
  int* at = TB_TAKE(&b->arena, int, (size_t)b->nnode);
  if (!b->around_adr || !b->around || !at) return TB_ERROR_MEMORY;
  for (int k = 0; k < count; k++)
    b->around_adr[(k < own ? fem->corner[0][k] : fem->corner[2][k - own]) + 1]++;
  for (int i = 0; i < b->nnode; i++) b->around_adr[i + 1] += b->around_adr[i], at[i] = b->around_adr[i];
  for (int k = 0; k < count; k++) b->around[at[k < own ? fem->corner[0][k] : fem->corner[2][k - own]]++] = k;
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
  TB_TRY(make_hinges(b));
  TB_TRY(list_around(b));
  return tb_pd_pattern(b);
}

tbStatus tb_pd_create(tbContext* ctx, const tbFemBody* fem, tbPdBody** out)
{
  tbPdBody* b = TB_NEW(ctx, tbPdBody, 1);
  if (!b) return TB_ERROR_MEMORY;
  tb_arena_init(&b->arena, ctx);
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
  b->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&b->arena);
  tb_free(ctx, b);
}
