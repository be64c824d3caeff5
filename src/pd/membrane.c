// SPDX-License-Identifier: Apache-2.0
// Triangles project their threads F = [w_u w_v].
//
//   stretch   p = w/|w|, for each thread
//   limit     p = w/|w| times the closest length within 1 ± the limit of strain
//   shear     the closest pair at right angles: with s = (w_u + w_v)/√2 and t = (w_v − w_u)/√2 these are the
//             pairs with |s| = |t|, so that both keep their directions and take the mean of their lengths
//   damping   the same directions with the lengths of the start of the step: what turns is not damped
//
// All of it are factors of w_u and w_v. Triangles are taken as many at a time as lanes are wide; no sum runs
// across lanes.
#include "base/simd.h"
#include "pd/elements.h"

#include <float.h>

enum { MANY = 64 }; // a multiple of every width

typedef struct {
  double u[3][MANY], v[3][MANY]; // threads; then targets
  double stretch[MANY], shear[MANY], limit[MANY];
  double shortest, longest; // threads, by the limit of strain
  double length[TB_PD_LENGTHS][MANY];
} Lanes;

static void load(const tbFemBody* fem, double h, int first, int count, const tbVec3* x, const tbVec3* v,
                 const double* lengths, Lanes* l)
{
  double damping = tb_pd_damping(fem, h);
  tbMembraneStiffness m = tb_membrane_stiffness(&fem->sheet);
  l->shortest = 1 - m.strain_limit, l->longest = 1 + m.strain_limit;
  for (int i = 0; i < MANY; i++) {
    int t = first + (i < count ? i : 0); // lanes without a triangle repeat the first
    const int* node = fem->corner[0] + 3 * (size_t)t;
    const double(*g)[2] = fem->membrane[t].g;
    tbVec3 o = tb_madd3(x[node[0]], h, v[node[0]]);
    tbVec3 a = tb_sub3(tb_madd3(x[node[1]], h, v[node[1]]), o);
    tbVec3 b = tb_sub3(tb_madd3(x[node[2]], h, v[node[2]]), o);
    tbVec3 u = tb_madd3(tb_scale3(g[0][0], a), g[1][0], b), w = tb_madd3(tb_scale3(g[0][1], a), g[1][1], b);
    l->u[0][i] = u.x, l->u[1][i] = u.y, l->u[2][i] = u.z;
    l->v[0][i] = w.x, l->v[1][i] = w.y, l->v[2][i] = w.z;
    double area = h * fem->membrane[t].area;
    l->stretch[i] = area * m.stretch, l->shear[i] = 2 * area * m.shear, l->limit[i] = area * m.limit;
    for (int k = 0; k < TB_PD_LENGTHS; k++)
      l->length[k][i] = lengths ? damping * lengths[TB_PD_LENGTHS * (size_t)t + (size_t)k] : 0;
  }
}

static inline tbwd norm(tbwd x, tbwd y, tbwd z)
{
  tbwd square = tbw_add(tbw_add(tbw_mul(x, x), tbw_mul(y, y)), tbw_mul(z, z));
  return tbw_add(tbw_sqrt(square), tbw_set1(DBL_MIN)); // so that nothing divides by zero
}

// The closest to x in [a, b]: x + ½ (|a − x| + (a − x)) − ½ (|x − b| + (x − b)).
static inline tbwd between(tbwd a, tbwd x, tbwd b)
{
  const tbwd half = tbw_set1(0.5);
  tbwd below = tbw_sub(a, x), above = tbw_sub(x, b);
  below = tbw_mul(half, tbw_add(tbw_abs(below), below)),
  above = tbw_mul(half, tbw_add(tbw_abs(above), above));
  return tbw_sub(tbw_add(x, below), above);
}

static void project(Lanes* l, int i)
{
  const tbwd one = tbw_set1(1), half = tbw_set1(0.5), root = tbw_set1(0.70710678118654752);
  tbwd u[3], v[3], s[3], t[3];
  for (int k = 0; k < 3; k++) {
    u[k] = tbw_load(&l->u[k][i]), v[k] = tbw_load(&l->v[k][i]);
    s[k] = tbw_mul(root, tbw_add(u[k], v[k])), t[k] = tbw_mul(root, tbw_sub(v[k], u[k]));
  }
  tbwd lu = norm(u[0], u[1], u[2]), lv = norm(v[0], v[1], v[2]);
  tbwd ls = norm(s[0], s[1], s[2]), lt = norm(t[0], t[1], t[2]);
  tbwd k = tbw_load(&l->stretch[i]), q = tbw_load(&l->shear[i]), mean = tbw_mul(half, tbw_add(ls, lt));
  tbwd limit = tbw_load(&l->limit[i]), least = tbw_set1(l->shortest), most = tbw_set1(l->longest);
  tbwd pu = tbw_mul(limit, between(least, lu, most)), pv = tbw_mul(limit, between(least, lv, most));
  tbwd cu = tbw_div(tbw_add(tbw_mul(k, tbw_add(one, tbw_load(&l->length[0][i]))), pu), lu);
  tbwd cv = tbw_div(tbw_add(tbw_mul(k, tbw_add(one, tbw_load(&l->length[1][i]))), pv), lv);
  tbwd cs = tbw_div(tbw_mul(q, tbw_add(mean, tbw_load(&l->length[2][i]))), ls);
  tbwd ct = tbw_div(tbw_mul(q, tbw_add(mean, tbw_load(&l->length[3][i]))), lt);
  tbwd along = tbw_mul(half, tbw_add(cs, ct)), across = tbw_mul(half, tbw_sub(cs, ct));
  cu = tbw_add(cu, along), cv = tbw_add(cv, along);
  for (int n = 0; n < 3; n++) {
    tbw_store(&l->u[n][i], tbw_add(tbw_mul(cu, u[n]), tbw_mul(across, v[n])));
    tbw_store(&l->v[n][i], tbw_add(tbw_mul(cv, v[n]), tbw_mul(across, u[n])));
  }
}

void tb_pd_membranes(const tbFemBody* fem, double h, int begin, int end, const tbVec3* x, const tbVec3* v,
                     const double* lengths, tbVec3* push)
{
  Lanes l;
  for (int first = begin; first < end; first += MANY) {
    int count = end - first < MANY ? end - first : MANY;
    load(fem, h, first, count, x, v, lengths, &l);
    for (int i = 0; i < count; i += TB_WIDE) project(&l, i);
    for (int i = 0; i < count; i++) {
      push[2 * (first + i)] = tb_vec3(l.u[0][i], l.u[1][i], l.u[2][i]);
      push[2 * (first + i) + 1] = tb_vec3(l.v[0][i], l.v[1][i], l.v[2][i]);
    }
  }
}
