// SPDX-License-Identifier: Apache-2.0
// Joints on reduced bodies sit in the material: at a point of an element, in a frame that moves and turns
// with it.
//
//   F = 1 + Σ u_i g_iᵀ = Q S        u_i: displacements of the corners, g_i: gradients of their weights at
//   rest
//
// Q, the rotation of the polar decomposition, is that of the material in the body's frame. It turns, for a
// rate Ḟ, with (tr S − S) Qᵀω = the axial vector of QᵀḞ − ḞᵀQ: exact however much the element is deformed.
#include "kind/reduced.h"

#include "collide/surface.h"
#include "math/polar.h"
#include "problem/builder.h"

#include <string.h>

typedef struct {
  const int* node; // the corners
  tbVec3 g[4];
  tbVec3 x; // the point, in the body's frame
  tbPolar3 F;
  tbMat3 turn; // Q (tr S − S)⁻¹
} Material;

// Gradients of the corners' weights of an element with these corners.
static void gradients(const tbVec3 corner[4], tbVec3 g[4])
{
  tbMat3 D = tb_mat3_inverse(tb_mat3_cols(tb_sub3(corner[1], corner[0]), tb_sub3(corner[2], corner[0]),
                                          tb_sub3(corner[3], corner[0])));
  g[0] = tb_zero3();
  for (int i = 1; i < 4; i++) g[i] = tb_mat3_row(D, i - 1), g[0] = tb_sub3(g[0], g[i]);
}

static Material material_at(const tbReduced* d, const tbMaterialPoint* at)
{
  Material m = {.node = d->fem->corner[0] + 4 * (size_t)at->element};
  tbVec3 rest[4];
  tbMat3 F = tb_mat3_identity();
  for (int i = 0; i < 4; i++) rest[i] = d->fem->rest[m.node[i]];
  gradients(rest, m.g);
  for (int i = 0; i < 4; i++) {
    tbVec3 u = tb_modal_at(d->basis, m.node[i], d->now.q);
    F = tb_mat3_add(F, tb_mat3_outer(u, m.g[i]));
    m.x = tb_madd3(m.x, at->weight[i], tb_add3(rest[i], u));
  }
  m.F = tb_polar3(F);
  double trace = tb_mat3_trace(m.F.S);
  tbMat3 T = tb_mat3_sub(tb_mat3_diag(trace, trace, trace), m.F.S);
  if (!(tb_mat3_det(T) > 1e-9)) T = tb_mat3_diag(2, 2, 2); // turned inside out: the mean rate will do
  m.turn = tb_mat3_mul(m.F.R, tb_mat3_inverse(T));
  return m;
}

// How the material turns, in the axes of the body's frame, while its corners move at these rates.
static tbVec3 turning(const Material* m, const tbVec3 rate[4])
{
  tbMat3 M = tb_mat3_zero();
  for (int i = 0; i < 4; i++) M = tb_mat3_add(M, tb_mat3_outer(tb_mat3_tmulv(m->F.R, rate[i]), m->g[i]));
  return tb_mat3_mulv(m->turn, tb_vec3(M.m[2][1] - M.m[1][2], M.m[0][2] - M.m[2][0], M.m[1][0] - M.m[0][1]));
}

// ---- the point ----

// Weights of x in the element that it is least outside of, made those of a point inside.
static void locate(const tbReduced* d, tbVec3 x, tbMaterialPoint* out)
{
  double best = -INFINITY;
  for (int e = 0; e < d->fem->nelement[0]; e++) {
    const int* node = d->fem->corner[0] + 4 * (size_t)e;
    tbVec3 corner[4], g[4];
    double weight[4] = {1}, least = INFINITY;
    for (int i = 0; i < 4; i++) corner[i] = d->x[node[i]];
    gradients(corner, g);
    for (int i = 0; i < 4; i++) weight[i] += tb_dot3(g[i], tb_sub3(x, corner[0]));
    for (int i = 0; i < 4; i++) least = fmin(least, weight[i]);
    if (!(least > best)) continue;
    best = least, out->element = e;
    memcpy(out->weight, weight, sizeof weight);
  }
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += out->weight[i] = fmax(out->weight[i], 0);
  for (int i = 0; i < 4; i++) out->weight[i] /= sum;
}

static tbVec3 closest_on_surface(const tbReduced* d, tbVec3 x)
{
  tbVec3 best = d->x[0];
  for (int t = 0; t < d->surface->ntriangle; t++) {
    tbVec3 corner[3], q;
    for (int i = 0; i < 3; i++) corner[i] = d->x[d->triangle[t][i]];
    tbVec3 n = tb_cross3(tb_sub3(corner[1], corner[0]), tb_sub3(corner[2], corner[0]));
    if (!(tb_norm3(n) > 0)) continue;
    tb_closest_on_triangle(corner, tb_normalize3(n), x, &q);
    if (tb_distance3(q, x) < tb_distance3(best, x)) best = q;
  }
  return best;
}

static tbVec3 place_of(const tbReduced* d, const tbMaterialPoint* at)
{
  tbVec3 x = tb_zero3();
  for (int i = 0; i < 4; i++)
    x = tb_madd3(x, at->weight[i], d->x[d->fem->corner[0][4 * (size_t)at->element + (size_t)i]]);
  return x;
}

void tb_reduced_material_point(const tbBody* b, tbVec3 x, tbMaterialPoint* out)
{
  const tbReduced* d = b->own;
  locate(d, x, out);
  if (tb_distance3(place_of(d, out), x) > 1e-9 * b->radius) locate(d, closest_on_surface(d, x), out);
}

tbTransform tb_reduced_material_frame(const tbBody* b, const tbMaterialPoint* at, tbVec3* v, tbVec3* w)
{
  const tbReduced* d = b->own;
  tbTransform frame = d->now.frame;
  Material m = material_at(d, at);
  tbVec3 x = tb_transform_point(frame, m.x);
  if (v) {
    tbVec3 rate[4], own = tb_zero3();
    for (int i = 0; i < 4; i++) {
      rate[i] = tb_modal_at(d->basis, m.node[i], d->now.qd);
      own = tb_madd3(own, at->weight[i], rate[i]);
    }
    *v = tb_add3(tb_add3(d->now.v, tb_quat_rotate(frame.q, own)), tb_cross3(d->now.w, tb_sub3(x, frame.x)));
    *w = tb_add3(d->now.w, tb_quat_rotate(frame.q, turning(&m, rate)));
  }
  return tb_transform(tb_quat_normalize(tb_quat_mul(frame.q, tb_quat_from_mat3(m.F.R))), x);
}

// ---- rows ----

// A row [d, t] about the centre of mass is [d, t + (x − o) × d] about o. On q: d·u of the material's velocity
// there, and the moment about it on how it turns.
void tb_reduced_material_rows(const tbBody* b, const tbMaterialPoint* at, int rows, const double* jac,
                              int dof, tbBuilder* builder)
{
  enum { CHUNK = 32 };
  const tbReduced* d = b->own;
  int frame = tb_reduced_frame_dofs(d), r = d->basis->nmode;
  double own[TB_MAX_ROWS * CHUNK], about[TB_MAX_ROWS * 6];
  tbVec3 force[TB_MAX_ROWS], moment[TB_MAX_ROWS];
  Material m = material_at(d, at);
  tbVec3 x = tb_transform_point(d->now.frame, m.x);
  for (int i = 0; i < rows; i++) {
    tbVec3 f = tb_load3(jac + 6 * i), t = tb_load3(jac + 6 * i + 3);
    tb_store3(about + 6 * i, f);
    tb_store3(about + 6 * i + 3, tb_add3(t, tb_cross3(tb_sub3(b->x, d->now.frame.x), f)));
    force[i] = tb_quat_unrotate(d->now.frame.q, f);
    moment[i] = tb_quat_unrotate(d->now.frame.q, tb_sub3(t, tb_cross3(tb_sub3(x, b->x), f)));
  }
  if (frame) tb_builder_jacobian(builder, dof, 6, about);
  for (int first = 0; first < r; first += CHUNK) {
    int width = r - first < CHUNK ? r - first : CHUNK;
    for (int l = 0; l < width; l++) {
      tbVec3 u[4], mean = tb_zero3();
      for (int i = 0; i < 4; i++) {
        const double* field = d->basis->field + 3 * (size_t)m.node[i] * (size_t)r + first + l;
        u[i] = tb_vec3(field[0], field[r], field[2 * r]);
        mean = tb_madd3(mean, at->weight[i], u[i]);
      }
      tbVec3 turn = turning(&m, u);
      for (int i = 0; i < rows; i++) own[i * width + l] = tb_dot3(force[i], mean) + tb_dot3(moment[i], turn);
    }
    tb_builder_jacobian(builder, dof + frame + first, width, own);
  }
}
