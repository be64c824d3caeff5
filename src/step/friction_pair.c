// SPDX-License-Identifier: Apache-2.0
// The frictions of two surfaces become one.
//
//   numbers, ellipses   the geometric mean of the friction matrices, A # B = A^½ (A^-½ B A^-½)^½ A^½, where
//                       the matrix of an ellipse has its coefficients as eigenvalues. Of 2×2 matrices it is
//                       (βA + αB) / √(2αβ + tr(adj(A) B)),  α = √det A, β = √det B.
//   matchsticks         course, algorithm 21, with the geometric means of the three coefficients
//   tensors             κ (Q_a + R Q_b Rᵀ), κ the geometric mean; a number or an ellipse counts as half its
//                       friction matrix, so that two of them would give their arithmetic mean
//   textures            what resists the one and what resists the other add up (course, eq. 336), in
//                       directions half way between those of the two
//
// A matchstick that meets a surface of another kind counts as the ellipse mu_t, mu_b. Torsion and rolling are
// lengths, of which the larger one holds.
#include "step/friction_pair.h"

#include "tribo/math.h"
#include "scene/world.h"
#include "solve/friction.h"
#include "tribo/problem.h"

// Axes of a surface in the contact plane: t along its direction, b on the side of `across`. Where the
// direction stands on the plane, `across` takes its place.
typedef struct {
  tbVec3 t, b;
} Axes;

static tbVec3 in_plane(tbVec3 d, tbVec3 n) { return tb_madd3(d, -tb_dot3(d, n), n); }

static Axes axes_of(const tbSurfaceSide* s, tbVec3 n)
{
  tbVec3 t = in_plane(s->along, n), up = tb_cross3(s->along, s->across);
  if (!(tb_norm3(t) > 1e-6)) t = in_plane(s->across, n);
  t = tb_normalize3(t);
  tbVec3 b = tb_cross3(n, t);
  double side = tb_dot3(b, s->across);
  if (fabs(side) < 1e-9) side = tb_dot3(b, up); // the plane stands on `across`
  return (Axes){t, side < 0 ? tb_neg3(b) : b};
}

void tb_friction_axes(const tbSurfaceSide* s, tbVec3 n, tbVec3* along, tbVec3* across)
{
  Axes own = axes_of(s, n);
  *along = own.t, *across = own.b;
}

// ---- symmetric 2×2 matrices, xx xy yy ----

typedef struct {
  double xx, xy, yy;
} Sym2;

static double det(Sym2 m) { return fmax(m.xx * m.yy - m.xy * m.xy, 0); }

// The matrix of an ellipse in axes that t is at (c, s) of.
static Sym2 ellipse(double mu_t, double mu_b, double c, double s)
{
  return (Sym2){mu_t * c * c + mu_b * s * s, (mu_t - mu_b) * c * s, mu_t * s * s + mu_b * c * c};
}

static Sym2 geometric_mean(Sym2 A, Sym2 B)
{
  double size_a = fmax(A.xx, A.yy), size_b = fmax(B.xx, B.yy);
  if (!(size_a > 0 && size_b > 0)) return (Sym2){0, 0, 0};
  double alpha = sqrt(det(A)) / size_a, beta = sqrt(det(B)) / size_b;
  A.xx /= size_a, A.xy /= size_a, A.yy /= size_a;
  B.xx /= size_b, B.xy /= size_b, B.yy /= size_b;
  double below = 2 * alpha * beta + fmax(A.yy * B.xx - 2 * A.xy * B.xy + A.xx * B.yy, 0);
  double scale = sqrt(size_a * size_b);
  // Both hold along one and the same line alone: A = B but for their size.
  if (!(below > 1e-15)) return (Sym2){scale * A.xx, scale * A.xy, scale * A.yy};
  scale /= sqrt(below);
  return (Sym2){scale * (beta * A.xx + alpha * B.xx), scale * (beta * A.xy + alpha * B.xy),
                scale * (beta * A.yy + alpha * B.yy)};
}

// ---- the kinds ----

static double coefficient_t(const tbFriction* f) { return tb_friction_is_directed(f) ? f->mu_t : f->mu; }
static double coefficient_b(const tbFriction* f) { return tb_friction_is_directed(f) ? f->mu_b : f->mu; }

static void set_ellipse(double mu_t, double mu_b, tbFriction* out)
{
  out->kind = TB_FRICTION_ELLIPTIC;
  out->mu_t = mu_t, out->mu_b = mu_b, out->mu = sqrt(mu_t * mu_b);
}

static void meet_ellipses(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3* tangent,
                          tbFriction* out)
{
  if (!tb_friction_is_directed(a->friction) || !tb_friction_is_directed(b->friction)) {
    const tbSurfaceSide* leads = tb_friction_is_directed(a->friction) ? a : b;
    double mu = (leads == a ? b : a)->friction->mu;
    *tangent = axes_of(leads, n).t;
    set_ellipse(sqrt(leads->friction->mu_t * mu), sqrt(leads->friction->mu_b * mu), out);
    return;
  }
  tbVec3 x = axes_of(a, n).t, y = tb_cross3(n, x), t = axes_of(b, n).t;
  Sym2 m = geometric_mean(ellipse(a->friction->mu_t, a->friction->mu_b, 1, 0),
                          ellipse(b->friction->mu_t, b->friction->mu_b, tb_dot3(t, x), tb_dot3(t, y)));
  double mean = (m.xx + m.yy) / 2, apart = (m.xx - m.yy) / 2, radius = sqrt(apart * apart + m.xy * m.xy);
  double angle = radius > 1e-14 * mean ? 0.5 * tb_atan2(m.xy, apart) : 0, c, s;
  tb_sin_cos(angle, &s, &c);
  *tangent = tb_normalize3(tb_add3(tb_scale3(c, x), tb_scale3(s, y)));
  set_ellipse(mean + radius, fmax(mean - radius, 0), out);
}

// Course, algorithm 21.
static void meet_matchsticks(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3* tangent,
                             tbFriction* out)
{
  const tbFriction *fa = a->friction, *fb = b->friction;
  tbVec3 sa = axes_of(a, n).t, sb = axes_of(b, n).t;
  if (tb_dot3(sa, sb) < 0) sb = tb_neg3(sb);
  // acos of the product, by the angle whose sine and cosine are both known to full precision
  double theta = tb_atan2(tb_norm3(tb_cross3(sa, sb)), tb_dot3(sa, sb)), d = fmax(1 - 2 * theta / TB_PI, 0);
  double mu = sqrt(fa->mu * fb->mu);
  *tangent = tb_normalize3(tb_add3(sa, sb));
  set_ellipse(d * sqrt(fa->mu_t * fb->mu_t) + (1 - d) * mu, d * sqrt(fa->mu_b * fb->mu_b) + (1 - d) * mu,
              out);
}

// κ-free matrix of a surface in the axes x, y.
static void tensor_of(const tbSurfaceSide* s, tbVec3 n, tbVec3 x, tbVec3 y, double Q[4])
{
  const tbFriction* f = s->friction;
  double half[4] = {coefficient_t(f) / 2, 0, 0, coefficient_b(f) / 2};
  const double* q = f->kind != TB_FRICTION_TENSOR ? half
                    : f->asymmetric && s->back    ? f->matrix_back
                                                  : f->matrix;
  Axes own = tb_friction_is_directed(f) ? axes_of(s, n) : (Axes){x, y};
  double R[4] = {tb_dot3(x, own.t), tb_dot3(x, own.b), tb_dot3(y, own.t), tb_dot3(y, own.b)};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      Q[2 * i + j] = 0;
      for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) Q[2 * i + j] += R[2 * i + k] * q[2 * k + l] * R[2 * j + l];
    }
}

static void meet_tensors(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3* tangent,
                         tbFriction* out)
{
  const tbSurfaceSide* leads = a->friction && a->friction->kind == TB_FRICTION_TENSOR ? a : b;
  tbVec3 x = axes_of(leads, n).t, y = tb_cross3(n, x);
  double kappa = 1;
  *tangent = x;
  for (int k = 0; k < 4; k++) out->matrix[k] = 0;
  for (int side = 0; side < 2; side++) {
    const tbSurfaceSide* s = side ? b : a;
    double Q[4];
    if (!s->friction) continue;
    tensor_of(s, n, x, y, Q);
    for (int k = 0; k < 4; k++) out->matrix[k] += Q[k];
    if (s->friction->kind == TB_FRICTION_TENSOR) kappa *= s->friction->kappa;
  }
  bool rule = !a->friction || !b->friction;
  for (int k = 0; k < 4; k++) out->matrix[k] *= rule ? kappa : sqrt(kappa);
  const double* L = out->matrix;
  double area = fabs(L[0] * L[3] - L[1] * L[2]), size = fmax(fabs(L[0]), fabs(L[3]));
  out->kind = TB_FRICTION_TENSOR, out->kappa = 1, out->mu = sqrt(area);
  bool round = fabs(L[0] - L[3]) <= 1e-14 * size && fabs(L[1]) + fabs(L[2]) <= 1e-14 * size;
  if (round) out->kind = TB_FRICTION_ISOTROPIC;
}

static bool is_texture(const tbSurfaceSide* s)
{
  return s->friction && s->friction->kind == TB_FRICTION_TEXTURE;
}

// The directions of two textures, a right angle or half of one apart, begin half way between those of the one
// and the closest of the other. Where two are as close, it is the one to the left about the normal: of
// whichever surface, as the normal turns round with their order.
static void meet_textures(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3* tangent,
                          tbFriction* out)
{
  const tbSurfaceSide* leads = is_texture(a) ? a : b;
  out->kind = TB_FRICTION_TEXTURE, out->directions = leads->friction->directions, out->mu = 1;
  *tangent = axes_of(leads, n).t;
  if (leads == b || !is_texture(b)) return;
  if (b->friction->directions > out->directions) out->directions = b->friction->directions;
  tbVec3 x = *tangent, y = tb_cross3(n, x), t = axes_of(b, n).t;
  double apart = 2 * TB_PI / out->directions, theta = tb_atan2(tb_dot3(t, y), tb_dot3(t, x)) / apart, c, s;
  theta -= ceil(theta - 0.5 - 1e-9); // in (−½ + 10⁻⁹, ½ + 10⁻⁹] of what they are apart
  tb_sin_cos(theta * apart / 2, &s, &c);
  *tangent = tb_normalize3(tb_add3(tb_scale3(c, x), tb_scale3(s, y)));
}

// The plowing coefficient of a surface that moves along d: between the directions it is known for, in a line.
// A surface of another kind has the mean of its coefficients.
static double plow(const tbSurfaceSide* s, tbVec3 n, tbVec3 d)
{
  if (!s->friction) return 0;
  if (!s->plow) return sqrt(coefficient_t(s->friction) * coefficient_b(s->friction));
  Axes own = axes_of(s, n);
  if (s->patch) return tb_texture_plow(s->patch, tb_dot3(d, own.t), tb_dot3(d, own.b));
  double at = tb_atan2(tb_dot3(d, own.b), tb_dot3(d, own.t)) * (TB_PLOW_DIRECTIONS / (2 * TB_PI)),
         below = floor(at);
  int i = ((int)below + 2 * TB_PLOW_DIRECTIONS) % TB_PLOW_DIRECTIONS, j = (i + 1) % TB_PLOW_DIRECTIONS;
  return s->plow[i] + (at - below) * (s->plow[j] - s->plow[i]);
}

// Friction on B along d is against B moving along −d, and against A moving along d, beside each other.
void tb_friction_plow(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3 tangent, int count,
                      double* mu)
{
  tbVec3 y = tb_cross3(n, tangent);
  for (int i = 0; i < count; i++) {
    double c, s;
    tb_sin_cos(2 * TB_PI * i / count, &s, &c);
    tbVec3 d = tb_add3(tb_scale3(c, tangent), tb_scale3(s, y));
    mu[i] = plow(a, n, d) + plow(b, n, tb_neg3(d));
  }
}

// ---- what does not depend on the direction ----

static double mean(double a, double b) { return sqrt(a * b); }

static void meet_scalars(const tbFriction* a, const tbFriction* b, tbFriction* out)
{
  out->torsion = fmax(a->torsion, b->torsion), out->rolling = fmax(a->rolling, b->rolling);
  out->static_ratio = mean(fmax(a->static_ratio, 1), fmax(b->static_ratio, 1));
  out->stribeck = fmax(a->stribeck, b->stribeck);
  out->tresca = a->tresca > 0 && b->tresca > 0 ? fmin(a->tresca, b->tresca) : fmax(a->tresca, b->tresca);
  out->adhesion = mean(a->adhesion, b->adhesion);
  out->restitution = fmax(a->restitution, b->restitution);
}

tbFriction tb_friction_meet(const tbSurfaceSide* a, const tbSurfaceSide* b, tbVec3 n, tbVec3* tangent)
{
  const tbFriction *fa = a->friction ? a->friction : b->friction,
                   *fb = b->friction ? b->friction : a->friction;
  bool rule = !a->friction || !b->friction, tensor = fa->kind == TB_FRICTION_TENSOR;
  tbFriction out = tb_friction(rule ? fa->mu : mean(fa->mu, fb->mu));
  meet_scalars(fa, fb, &out);
  if (out.torsion > 0 || out.rolling > 0) out.kind = TB_FRICTION_CONTENSOU;
  if (!tb_friction_is_directed(fa) && !tb_friction_is_directed(fb)) {
    *tangent = tb_mat3_row(tb_mat3_frame(n), 1);
    return out;
  }
  tbSurfaceSide both[2] = {*a, *b};
  both[0].friction = fa, both[1].friction = fb;
  if (fa->kind == TB_FRICTION_TEXTURE || fb->kind == TB_FRICTION_TEXTURE) {
    meet_textures(a, b, n, tangent, &out);
  } else if (tensor || fb->kind == TB_FRICTION_TENSOR) {
    meet_tensors(a, b, n, tangent, &out);
    out.asymmetric = false;
  } else if (fa->kind == TB_FRICTION_MATCHSTICK && fb->kind == TB_FRICTION_MATCHSTICK) {
    meet_matchsticks(&both[0], &both[1], n, tangent, &out); // of a rule: structures of both bodies
  } else if (rule) {
    *tangent = axes_of(a->friction ? a : b, n).t;
    set_ellipse(fa->mu_t, fa->mu_b, &out);
  } else {
    meet_ellipses(a, b, n, tangent, &out);
  }
  if (out.kind == TB_FRICTION_ELLIPTIC && out.mu_t == out.mu_b) out.mu = out.mu_t;
  return out;
}

// ---- direct evaluation ----

static double share(double part, double most) { return part == 0 ? 0 : most > 0 ? part / most : INFINITY; }

// The half axes of the laws whose set is an ellipse.
static void half_axes(int law, const double* param, double axis[2])
{
  bool two = law == TB_LAW_ELLIPTIC || law == TB_LAW_CONTENSOU;
  axis[0] = param[0], axis[1] = two ? param[1] : param[0];
}

void tb_friction_texture_set(int law, const double* param, tbFrictionSet* out)
{
  int count = law == TB_LAW_POLYGON ? 1 + TB_MAX_SIDES : 4;
  tb_friction_make_from((tbLaw)law, 3, param, count, TB_MODEL_CONE, 0, out);
}

// Beyond which edge of the hull the force is, or would be were it larger.
static double use_of_hull(const double* param, double fn, const double f[2])
{
  tbFrictionSet set;
  tb_friction_texture_set(TB_LAW_POLYGON, param, &set);
  if (f[0] == 0 && f[1] == 0) return 0;
  if (set.kind != TB_SET_POLYGON) return INFINITY; // no friction at all
  double corner[TB_MAX_DIRECTIONS][2], most = 0;
  int n = tb_friction_corners(&set, corner);
  for (int i = 0; i < n; i++) {
    const double *a = corner[i], *b = corner[(i + 1) % n], out[2] = {b[1] - a[1], a[0] - b[0]};
    most = fmax(most, share(out[0] * f[0] + out[1] * f[1], fn * (out[0] * a[0] + out[1] * a[1])));
  }
  return most;
}

double tb_friction_use(int law, const double* p, double fn, const double f[2])
{
  double x, y, axis[2];
  if (law == TB_LAW_BOX) return fmax(share(fabs(f[0]), p[4]), share(fabs(f[1]), p[5])); // Tresca's
  if (law == TB_LAW_POLYGON) return use_of_hull(p, fn, f);
  if (law == TB_LAW_DIRECTIONAL) {
    x = share(fabs(f[0]), p[f[0] > 0] * fn), y = share(fabs(f[1]), p[2 + (f[1] > 0)] * fn);
    return fmax(x, y);
  }
  if (law == TB_LAW_TENSOR) {
    double det = p[0] * p[3] - p[1] * p[2];
    x = share(p[3] * f[0] - p[1] * f[1], det * fn), y = share(p[0] * f[1] - p[2] * f[0], det * fn);
  } else {
    half_axes(law, p, axis);
    x = share(f[0], axis[0] * fn), y = share(f[1], axis[1] * fn);
  }
  return sqrt(x * x + y * y);
}

void tb_friction_against(int law, const double* p, double fn, const double u[2], double f[2])
{
  double axis[2];
  if (law == TB_LAW_BOX) {
    for (int i = 0; i < 2; i++) f[i] = u[i] > 0 ? p[1 + i] : u[i] < 0 ? p[4 + i] : 0;
    return;
  }
  if (law == TB_LAW_DIRECTIONAL || law == TB_LAW_POLYGON) {
    const double against[2] = {-u[0], -u[1]};
    tbFrictionSet set;
    tb_friction_texture_set(law, p, &set);
    tb_friction_support(&set, against, f);
    for (int i = 0; i < 2; i++) f[i] = set.kind == TB_SET_BOX && u[i] == 0 ? 0 : fn * f[i];
    return;
  }
  if (law == TB_LAW_TENSOR) {
    double speed = sqrt(u[0] * u[0] + u[1] * u[1]);
    for (int i = 0; i < 2; i++) f[i] = -fn * (p[2 * i] * u[0] + p[2 * i + 1] * u[1]) / speed;
    return;
  }
  half_axes(law, p, axis);
  double x = axis[0] * u[0], y = axis[1] * u[1], size = sqrt(x * x + y * y);
  f[0] = size > 0 ? -fn * axis[0] * x / size : 0, f[1] = size > 0 ? -fn * axis[1] * y / size : 0;
}

static double axes_of_square(Sym2 N, double axis[2])
{
  double half = (N.xx + N.yy) / 2, apart = (N.xx - N.yy) / 2, radius = sqrt(apart * apart + N.xy * N.xy);
  axis[0] = sqrt(half + radius), axis[1] = sqrt(fmax(half - radius, 0));
  return radius > 1e-14 * half ? 0.5 * tb_atan2(N.xy, apart) : 0;
}

// Friction of an ellipse with N = M² is −N û/√(ûᵀN û). It is f where N û = −(f·û) f, as of
// N = f fᵀ + w wᵀ with w across û; its area is π ‖w‖ |f·û|.
double tb_friction_ellipse_against(const double f[2], const double u[2], double across, double axis[2])
{
  double size = sqrt(u[0] * u[0] + u[1] * u[1]), w[2] = {-u[1] / size * across, u[0] / size * across};
  Sym2 N = {f[0] * f[0] + w[0] * w[0], f[0] * f[1] + w[0] * w[1], f[1] * f[1] + w[1] * w[1]};
  return axes_of_square(N, axis);
}

double tb_friction_tensor_ellipse(const double* p, const double u[2], double axis[2])
{
  double area = p[0] * p[3] - p[1] * p[2], size = sqrt(u[0] * u[0] + u[1] * u[1]), f[2];
  Sym2 set = {p[0] * p[0] + p[1] * p[1], p[0] * p[2] + p[1] * p[3], p[2] * p[2] + p[3] * p[3]};
  if (size == 0) return axes_of_square(set, axis);
  tb_friction_against(TB_LAW_TENSOR, p, 1, u, f);
  double along = -(f[0] * u[0] + f[1] * u[1]) / size;
  if (along > 1e-6 * sqrt(area)) return tb_friction_ellipse_against(f, u, area / along, axis);
  axis[0] = axis[1] = sqrt(area);
  return 0;
}
