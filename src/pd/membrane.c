// SPDX-License-Identifier: Apache-2.0
// Triangles project their threads F = [w_u w_v].
//
//   stretch   p = w/|w|, for each thread
//   limit     p = w/|w| times the closest length within 1 ± the limit of strain
//   shear     the closest pair at right angles: with s = (w_u + w_v)/√2 and t = (w_v − w_u)/√2 these are the
//             pairs with |s| = |t|, so that both keep their directions and take the mean of their lengths
//   damping   the same directions with the lengths of the start of the step: what turns is not damped
//
// All of it are factors of w_u and w_v; those of shear are, with P = |s| |t|,
//
//   q (½ + ¼ (|w_u|² + |w_v|²)/P) of a thread itself,   −½ q w_u·w_v/P of the other
//
// What nodes receive are the targets' gradients: h Sᵀ w p. Triangles are taken eight at a time; no sum runs
// across lanes.
#include "base/simd.h"
#include "pd/elements.h"

#include <float.h>

enum { EIGHT = TB_PD_EIGHT }; // a multiple of every width

typedef struct {
  double x[3][3][EIGHT]; // corners; then what they receive
  double length[TB_PD_LENGTHS][EIGHT];
} Lanes;

static void load(const tbPdTriangles* t, int count, const tbVec3* x, Lanes* l)
{
  for (int i = 0; i < count; i++)
    for (int c = 0; c < 3; c++) {
      tbVec3 at = x[t->node[c][i]];
      l->x[c][0][i] = at.x, l->x[c][1][i] = at.y, l->x[c][2][i] = at.z;
    }
}

static inline tbwd dot(const tbwd a[3], const tbwd b[3])
{
  return tbw_add(tbw_add(tbw_mul(a[0], b[0]), tbw_mul(a[1], b[1])), tbw_mul(a[2], b[2]));
}

// So that nothing divides by zero.
static inline tbwd root(tbwd square) { return tbw_add(tbw_sqrt(square), tbw_set1(DBL_MIN)); }

// The closest to x in [a, b]: x + ½ (|a − x| + (a − x)) − ½ (|x − b| + (x − b)).
static inline tbwd between(tbwd a, tbwd x, tbwd b)
{
  const tbwd half = tbw_set1(0.5);
  tbwd below = tbw_sub(a, x), above = tbw_sub(x, b);
  below = tbw_mul(half, tbw_add(tbw_abs(below), below)),
  above = tbw_mul(half, tbw_add(tbw_abs(above), above));
  return tbw_sub(tbw_add(x, below), above);
}

// Factors of the threads: of w_u and w_v in their own targets, and of each in the other's.
typedef struct {
  tbwd u, v, across;
} Factors;

static inline Factors factors_of(const tbPdBody* b, const tbPdTriangles* t, const Lanes* l, bool damped,
                                 int i, const tbwd u[3], const tbwd v[3])
{
  const tbwd half = tbw_set1(0.5);
  tbwd uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), mean = tbw_mul(half, tbw_add(uu, vv));
  tbwd ss = tbw_abs(tbw_add(mean, uv)), tt = tbw_abs(tbw_sub(mean, uv));
  tbwd lu = root(uu), lv = root(vv), both = tbw_div(tbw_set1(1), tbw_mul(lu, lv));
  tbwd k = tbw_load(&t->stretch[i]), q = tbw_load(&t->shear[i]), ku = k, kv = k;
  if (b->longest < INFINITY) {
    tbwd limit = tbw_load(&t->limit[i]), least = tbw_set1(b->shortest), most = tbw_set1(b->longest);
    ku = tbw_add(ku, tbw_mul(limit, between(least, lu, most)));
    kv = tbw_add(kv, tbw_mul(limit, between(least, lv, most)));
  }
  if (damped) {
    ku = tbw_add(ku, tbw_mul(k, tbw_load(&l->length[0][i])));
    kv = tbw_add(kv, tbw_mul(k, tbw_load(&l->length[1][i])));
  }
  tbwd by = tbw_div(q, root(tbw_mul(ss, tt)));
  tbwd along = tbw_add(tbw_mul(half, q), tbw_mul(half, tbw_mul(mean, by)));
  tbwd across = tbw_sub(tbw_set1(0), tbw_mul(half, tbw_mul(uv, by)));
  if (damped) {
    tbwd cs = tbw_div(tbw_mul(q, tbw_load(&l->length[2][i])), root(ss));
    tbwd ct = tbw_div(tbw_mul(q, tbw_load(&l->length[3][i])), root(tt));
    along = tbw_add(along, tbw_mul(half, tbw_add(cs, ct)));
    across = tbw_add(across, tbw_mul(half, tbw_sub(cs, ct)));
  }
  return (Factors){tbw_add(tbw_mul(tbw_mul(ku, lv), both), along),
                   tbw_add(tbw_mul(tbw_mul(kv, lu), both), along), across};
}

static inline void project(const tbPdBody* b, const tbPdTriangles* t, Lanes* l, bool damped, int i)
{
  tbwd g[4], u[3], v[3];
  for (int k = 0; k < 4; k++) g[k] = tbw_load(&t->g[k][i]);
  for (int k = 0; k < 3; k++) {
    tbwd o = tbw_load(&l->x[0][k][i]), a = tbw_sub(tbw_load(&l->x[1][k][i]), o),
         c = tbw_sub(tbw_load(&l->x[2][k][i]), o);
    u[k] = tbw_add(tbw_mul(g[0], a), tbw_mul(g[2], c)), v[k] = tbw_add(tbw_mul(g[1], a), tbw_mul(g[3], c));
  }
  Factors c = factors_of(b, t, l, damped, i, u, v);
  for (int k = 0; k < 3; k++) {
    tbwd pu = tbw_add(tbw_mul(c.u, u[k]), tbw_mul(c.across, v[k]));
    tbwd pv = tbw_add(tbw_mul(c.v, v[k]), tbw_mul(c.across, u[k]));
    tbwd second = tbw_add(tbw_mul(g[0], pu), tbw_mul(g[1], pv));
    tbwd third = tbw_add(tbw_mul(g[2], pu), tbw_mul(g[3], pv));
    tbw_store(&l->x[0][k][i], tbw_sub(tbw_set1(0), tbw_add(second, third)));
    tbw_store(&l->x[1][k][i], second);
    tbw_store(&l->x[2][k][i], third);
  }
}

void tb_pd_membranes(const tbPdBody* b, int begin, int end, const tbVec3* x, const double* lengths,
                     tbVec3* push)
{
  Lanes l = {0};
  double damping = tb_pd_damping(b->fem, b->h);
  for (int first = begin; first < end; first += EIGHT) {
    const tbPdTriangles* t = &b->triangles[first / EIGHT];
    int count = end - first < EIGHT ? end - first : EIGHT;
    load(t, count, x, &l);
    for (int i = 0; lengths && i < count; i++)
      for (int k = 0; k < TB_PD_LENGTHS; k++)
        l.length[k][i] = damping * lengths[TB_PD_LENGTHS * (size_t)(first + i) + (size_t)k];
    for (int i = 0; i < EIGHT; i += TB_WIDE) project(b, t, &l, lengths != NULL, i);
    for (int i = 0; i < count; i++)
      for (int c = 0; c < 3; c++)
        push[3 * (first + i) + c] = tb_vec3(l.x[c][0][i], l.x[c][1][i], l.x[c][2][i]);
  }
}
