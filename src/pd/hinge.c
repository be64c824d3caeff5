// SPDX-License-Identifier: Apache-2.0
// Hinges: how two triangles resist bending at the edge that they share, E = ½ k (θ − θ̄)², k = bend · weight.
//
// With e along the edge and a, b to the corners beside it, the heights of the triangles over the edge, as
// parts of those at rest,
//
//   A = (a − s e)/|height of a|        B = (b − t e)/|height of b|
//
// are linear in the corners while the triangles keep their shapes; s and t are the feet of the heights. Where
// the triangles lie flat they are opposite: |A + B| is 2 sin(θ/2), θ the angle between the triangles, and the
// direction of A + B is the mean of their normals.
//
//   quadratic   ½ k |A + B − p|²: to second order E where it is flat at rest, and as a force linear, with
//               p = 0. What is bent at rest is drawn to the length it had, along the normal of the start of
//               the step, which turns with the cloth from step to step. Its torque, k sin θ, lets go of what
//               is folded flat.
//   dihedral    E as it stands, that of fem/hinge.c: ½ w |A − p|² + ½ w |B − p'|², with targets where a step
//               down the slope of E leads to, so that the forces are its own (Liu et al. 2017). By the
//               heights E has a second derivative of (2 + |θ − θ̄|) k at most, and w = 3 k is above half of it
//               at any angle a fold comes to: iterations come closer. A triangle that loses its height
//               softens.
//
// Damping is drawn to how the hinge is bent at the start of the step, β/h times as strongly.
#include "pd/elements.h"

static const double FLAT = 1e-6;   // rad: hinges that are bent by less at rest are flat
static const double SLENDER = 0.5; // of the height at rest, squared: softens below
static const double STIFFER = 3;   // w of a height, by k

static void heights_of(const tbVec3 X[4], double out[3][4])
{
  tbVec3 e = tb_sub3(X[1], X[0]);
  for (int side = 0; side < 2; side++) {
    tbVec3 a = tb_sub3(X[2 + side], X[0]);
    double foot = tb_dot3(a, e) / tb_dot3(e, e);
    out[side][2 + side] = 1 / tb_norm3(tb_madd3(a, -foot, e)), out[side][3 - side] = 0;
    out[side][1] = -(foot * out[side][2 + side]);
  }
  for (int k = 1; k < 4; k++) out[2][k] = out[0][k] + out[1][k];
  for (int i = 0; i < 3; i++) out[i][0] = -(out[i][1] + out[i][2] + out[i][3]);
}

static tbVec3 height_of(const double c[4], const tbVec3 x[4])
{
  tbVec3 out = tb_zero3();
  for (int k = 1; k < 4; k++) out = tb_madd3(out, c[k], tb_sub3(x[k], x[0]));
  return out;
}

static tbVec3 normal_of(const tbVec3 x[4])
{
  tbVec3 e = tb_sub3(x[1], x[0]);
  tbVec3 a = tb_cross3(e, tb_sub3(x[2], x[0])), b = tb_cross3(tb_sub3(x[3], x[0]), e);
  return tb_normalize3(tb_add3(tb_normalize3(a), tb_normalize3(b)));
}

static double weight_of(const tbFemBody* fem, int hinge)
{
  return fem->sheet.bend * fem->hinge[hinge].weight;
}

tbStatus tb_pd_make_hinges(tbPdBody* b)
{
  const tbFemBody* fem = b->fem;
  int n = fem->cloth ? fem->nelement[1] : 0;
  b->hinge = tb_arena_take(&b->arena, (size_t)n, sizeof *b->hinge);
  b->bent = TB_TAKE(&b->arena, double, (size_t)n);
  if (!b->hinge || !b->bent) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    tbVec3 X[4];
    for (int k = 0; k < 4; k++) X[k] = fem->rest[fem->corner[1][4 * i + k]];
    heights_of(X, b->hinge[i]);
    b->bent[i] = tb_dot3(height_of(b->hinge[i][2], X), normal_of(X));
    if (fabs(b->bent[i]) < FLAT) b->bent[i] = 0;
  }
  return TB_OK;
}

double tb_pd_hinge_entry(const tbPdBody* b, double scale, int hinge, int i, int k)
{
  const double(*c)[4] = (const double(*)[4])b->hinge[hinge];
  double w = scale * weight_of(b->fem, hinge);
  if (tb_pd_has_angles(b->fem)) return STIFFER * w * (c[0][i] * c[0][k] + c[1][i] * c[1][k]);
  return w * (c[2][i] * c[2][k]);
}

// ---- quadratic ----

static void begin_vector(const tbPdStep* s, int hinge, const int* node, const tbVec3 x[4], double damping)
{
  const tbPdBody* b = s->body;
  const double* c = b->hinge[hinge][2];
  tbVec3 wanted = tb_scale3(damping, height_of(c, x));
  if (b->bent[hinge] != 0) wanted = tb_madd3(wanted, b->bent[hinge], normal_of(x));
  tbVec3 push = tb_scale3(b->h * weight_of(b->fem, hinge), wanted);
  for (int k = 0; k < 4; k++) s->base[node[k]] = tb_madd3(s->base[node[k]], c[k], push);
}

void tb_pd_begin_hinges(const tbPdStep* s)
{
  const tbPdBody* b = s->body;
  bool angles = tb_pd_has_angles(b->fem);
  double damping = tb_pd_damping(b->fem, b->h);
  for (int i = 0; tb_pd_has_hinges(b->fem) && i < b->fem->nelement[1]; i++) {
    if (angles ? !s->angle : b->bent[i] == 0 && damping == 0) continue;
    const int* node = b->fem->corner[1] + 4 * (size_t)i;
    tbVec3 x[4];
    for (int k = 0; k < 4; k++) x[k] = s->x[node[k]];
    if (angles) s->angle[i] = tb_hinge_angle(x);
    else begin_vector(s, i, node, x, damping);
  }
}

// ---- dihedral ----

typedef struct {
  double angle;     // θ
  double share;     // of the slope that a slender triangle has left
  tbVec3 corner[4]; // ∇θ; zero where a triangle has no area
} Slope;

static Slope slope_of(const double c[2][4], const tbVec3 x[4])
{
  Slope out = {.angle = tb_hinge_angle(x), .share = 1};
  tbVec3 e = tb_sub3(x[1], x[0]), by_edge = tb_zero3();
  double ll = tb_dot3(e, e);
  for (int side = 0; side < 2; side++) {
    tbVec3 a = tb_sub3(x[2 + side], x[0]), N = tb_cross3(e, a);
    double NN = tb_dot3(N, N);
    if (!(NN > 0)) return (Slope){.angle = out.angle};
    tbVec3 g = tb_scale3((side ? 1 : -1) * sqrt(ll) / NN, N);
    out.corner[2 + side] = g;
    by_edge = tb_madd3(by_edge, -tb_dot3(a, e) / ll, g);
    out.share = fmin(out.share, NN / ll * (c[side][2 + side] * c[side][2 + side]) / SLENDER);
  }
  out.corner[1] = by_edge;
  out.corner[0] = tb_neg3(tb_add3(by_edge, tb_add3(out.corner[2], out.corner[3])));
  return out;
}

// By the shorter way around.
static double turned(double from, double to)
{
  const double turn = 6.28318530717958647692;
  double d = to - from;
  return d > 0.5 * turn ? d - turn : d < -0.5 * turn ? d + turn : d;
}

// h Sᵀ w p = h (w SᵀS x − ∇E), with damping in both.
void tb_pd_angles(const tbPdStep* s, int begin, int end)
{
  const tbPdBody* b = s->body;
  double damping = tb_pd_damping(b->fem, b->h);
  for (int i = begin; i < end; i++) {
    const int* node = b->fem->corner[1] + 4 * (size_t)i;
    const double(*c)[4] = (const double(*)[4])b->hinge[i];
    tbVec3 x[4], *push = s->push + b->first[1] + 4 * (size_t)i;
    for (int k = 0; k < 4; k++) x[k] = s->at[node[k]];
    Slope slope = slope_of(c, x);
    double bent = slope.angle - b->fem->hinge[i].angle, weight = b->h * weight_of(b->fem, i);
    if (s->angle) bent += damping * turned(s->angle[i], slope.angle);
    double hold = (1 + damping) * STIFFER * weight, give = -weight * slope.share * bent;
    tbVec3 A = tb_scale3(hold, height_of(c[0], x)), B = tb_scale3(hold, height_of(c[1], x));
    for (int k = 0; k < 4; k++)
      push[k] = tb_madd3(tb_madd3(tb_scale3(c[0][k], A), c[1][k], B), give, slope.corner[k]);
  }
}
