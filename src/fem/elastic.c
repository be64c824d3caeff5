// SPDX-License-Identifier: Apache-2.0
// Isotropic elasticity in principal stretches.
//
// Every model here but the linear one has an energy of one shape in the singular values s of F, the last of
// which carries the sign of det F:
//
//   Ψ = Σ a(s_i) + ½ λ (Σ b(s_i))²            a                            b
//   co-rotated                                μ (s − 1)²                   s − 1
//   St. Venant–Kirchhoff                      μ ε²,  ε = ½ (s² − 1)        ε
//   neo-Hookean                               μ (½ (s² − 1) − log s)       log s
//
// Stress and its derivative follow from Ψ_i = a'_i + λ S b'_i, S = Σ b (Stomakhin et al. 2012; the
// eigenvalues as in Smith, de Goes and Kim 2019): P = U diag(Ψ_i) Vᵀ; a 3×3 block ∂²Ψ/∂s²; and for each pair
// of axes a symmetric mode (Ψ_i − Ψ_j)/(s_i − s_j) and a skew one (Ψ_i + Ψ_j)/(s_i + s_j). The first quotient
// is taken as a divided difference in closed form, which loses no digits where stretches meet. Clamping these
// at zero gives the closest positive semidefinite stiffness: one 3×3 eigenproblem, and that only where a
// minor is negative.
//
// Inversion   Below the knot s = 0.7 the functions ε and log continue as Taylor polynomials, of first and
// second
//             order, so that the stress in s is a straight line and compression, collapse and inversion meet
//             a finite, growing force (after Irving et al. 2004; Verschoor and Jalba 2019 use the same 70 %
//             for the volume of the element). Both continuations increase, and then rest is the only
//             stationary point of Ψ over all s in R³: at one, a'(s_i)/b'(s_i) = −λ S for all i; the
//             quotient increases in s, so that all s_i are equal, and −λ S decreases. Nothing gets stuck,
//             neither flat, nor mirrored, nor collapsed into a point. Neo-Hookean is C², St. Venant–Kirchhoff
//             C¹ with a jump in stiffness at the knot.
//             The model neo-hookean-volume has J = det F in the place of stretches, as Verschoor and Jalba
//             do: Ψ = ½ μ (‖F‖² − 3 − 2 L) + ½ λ L², L = log J, a straight line below J = 0.7. It is softer
//             where an element is flat but has its volume, and may get stuck: in a point or a line every
//             cofactor vanishes, and there are minima near flat elements and mirrored meshes.
// Cost        One 3×3 singular value decomposition, half of the time; taken many at once it is three times as
// fast. Limits      Where s₁ + s₂ = 0, deep in inversion, the closest rotation jumps and with it the stress.
#include "fem/elastic.h"

#include "math/eig3.h"
#include "math/svd3.h"

#include <string.h>

#define KNOT TB_ELASTIC_KNOT

static const char* const names[TB_ELASTIC_COUNT] = {"linear", "corotated", "stvk", "neo-hookean",
                                                    "neo-hookean-volume"};

const char* tb_elastic_name(tbElasticModel model)
{
  return model >= 0 && model < TB_ELASTIC_COUNT ? names[model] : "?";
}

bool tb_elastic_from_name(const char* name, tbElasticModel* out)
{
  for (int k = 0; k < TB_ELASTIC_COUNT; k++)
    if (strcmp(name, names[k]) == 0) return *out = (tbElasticModel)k, true;
  return false;
}

tbStatus tb_elastic_create(tbContext* ctx, tbElasticModel model, double young, double poisson, tbElastic* out)
{
  if (!(model >= 0 && model < TB_ELASTIC_COUNT))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no elastic model number %d", (int)model);
  if (!(young > 0) || !isfinite(young))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "Young's modulus is %g; it must be positive and finite", young);
  if (!(poisson > -1 && poisson < 0.5))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "Poisson's ratio is %g; it must lie between -1 and 0.5", poisson);
  *out =
      (tbElastic){model, young / (2 * (1 + poisson)), young * poisson / ((1 + poisson) * (1 - 2 * poisson))};
  return TB_OK;
}

// ---- functions of one stretch ----

typedef struct {
  double f, df, ddf;
} Jet;

static Jet green(double s) // ½ (s² − 1), straight below the knot
{
  if (s >= KNOT) return (Jet){0.5 * (s * s - 1), s, 1};
  return (Jet){0.5 * (KNOT * KNOT - 1) + KNOT * (s - KNOT), KNOT, 0};
}

// s − 1 − log s ≥ 0 without the cancellation near 1, where it is ½ (s − 1)²: with f = s − 1 and t = f/(2 +
// f), log s = 2 artanh t = f − t (f − 2 (t²/3 + t⁴/5 + …)).
static double gap_to_log(double s)
{
  if (s > 1.41) return s - 1 - tb_ln(s);
  double f = s - 1, t = f / (2 + f), z = t * t, sum = 0;
  for (int k = 23; k >= 3; k -= 2) sum = z * (2.0 / k + sum);
  return t * (f - sum);
}

static Jet logarithm(double s) // log s, a parabola below the knot
{
  static const double log_knot = -0.35667494393873245; // log 0.7
  if (s >= KNOT) return (Jet){tb_ln(s), 1 / s, -1 / (s * s)};
  double t = (s - KNOT) / KNOT;
  return (Jet){log_knot + t - 0.5 * t * t, (1 - t) / KNOT, -1 / (KNOT * KNOT)};
}

static void stretch(const tbElastic* m, double s, Jet* a, Jet* b)
{
  if (m->model == TB_ELASTIC_COROTATED) {
    *b = (Jet){s - 1, 1, 0};
    *a = (Jet){m->mu * (b->f * b->f), 2 * m->mu * b->f, 2 * m->mu};
  } else if (m->model == TB_ELASTIC_STVK) {
    *b = green(s);
    *a =
        (Jet){m->mu * (b->f * b->f), 2 * m->mu * (b->f * b->df), 2 * m->mu * (b->df * b->df + b->f * b->ddf)};
  } else {
    *b = logarithm(s);
    double d = s - 1, gap = s >= KNOT ? gap_to_log(s) : d - b->f; // ½ (s² − 1) − log s = ½ d² + gap
    *a = (Jet){m->mu * (0.5 * d * d + gap), m->mu * (s - b->df), m->mu * (1 - b->ddf)};
  }
}

// (h(s) − h(t))/(s − t) for h = a' + λS b' and s ≥ t: the mean of the slopes above and below the knot, by how
// much of [t, s] lies there. Above, with p and q the ends of that part,
//   s³ − s  has slope p² + pq + q² − 1      and  1/s  has slope −1/(pq).
static double slope(const tbElastic* m, double s, double t, double lambda_S)
{
  if (m->model == TB_ELASTIC_COROTATED) return 2 * m->mu;
  double above = t >= KNOT ? 1 : s <= KNOT ? 0 : (s - KNOT) / (s - t), below = 1 - above;
  double p = fmax(s, KNOT), q = fmax(t, KNOT);
  if (m->model == TB_ELASTIC_STVK)
    return m->mu * (above * (p * p + p * q + q * q - 1) + below * (2 * KNOT * KNOT)) + lambda_S * above;
  double inverse = -(above / (p * q) + below / (KNOT * KNOT));
  return m->mu * (1 - inverse) + lambda_S * inverse;
}

// ---- the models ----

static double linear_energy(const tbElastic* m, tbMat3 F)
{
  double sum = 0, trace = tb_mat3_trace(F) - 3;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double e = 0.5 * (F.m[i][j] + F.m[j][i]) - (i == j);
      sum += e * e;
    }
  return m->mu * sum + 0.5 * m->lambda * (trace * trace);
}

static void linear_stress(const tbElastic* m, tbMat3 F, tbTangent tangent, tbStress* out)
{
  out->energy = linear_energy(m, F);
  out->U = out->V = tb_mat3_identity();
  double pressure = m->lambda * (tb_mat3_trace(F) - 3);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out->P.m[i][j] = m->mu * (F.m[i][j] + F.m[j][i] - 2 * (i == j)) + (i == j ? pressure : 0);
  if (tangent == TB_TANGENT_NONE) return;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out->diag[i][j] = m->lambda + (i == j ? 2 * m->mu : 0);
    out->sym[i] = 2 * m->mu;
    out->skew[i] = 0;
  }
}

// ‖F‖²/2 − 3/2 − L without the cancellation near rest.
static double volume_distortion(const double s[3], double L)
{
  double square = 0, gap = 0, sum = 0;
  bool mild = true;
  for (int i = 0; i < 3; i++) {
    mild = mild && s[i] >= KNOT;
    square += 0.5 * (s[i] - 1) * (s[i] - 1), sum += s[i] - 1;
  }
  for (int i = 0; mild && i < 3; i++) gap += gap_to_log(s[i]);
  return square + (mild && s[0] * s[1] * s[2] >= KNOT ? gap : sum - L);
}

static Jet volume_log(double J) // log J, straight below the knot
{
  if (J >= KNOT) return logarithm(J);
  double t = (J - KNOT) / KNOT;
  return (Jet){logarithm(KNOT).f + t, 1 / KNOT, 0};
}

static double volume_energy(const tbElastic* m, const double s[3])
{
  double L = volume_log(s[0] * s[1] * s[2]).f;
  return m->mu * volume_distortion(s, L) + 0.5 * m->lambda * (L * L);
}

// Ψ_i = μ s_i + g J_i with J_i the product of the other two and g = (λL − μ) L'. Two axes i, j and the third
// k: ∂²Ψ/∂s_i∂s_j = g' J_i J_j + g s_k, and the modes of a pair are μ ∓ g s_k.
static void volume_stress(const tbElastic* m, const double s[3], tbTangent tangent, double d[3],
                          tbStress* out)
{
  Jet log = volume_log(s[0] * s[1] * s[2]);
  double pull = m->lambda * log.f - m->mu, g = pull * log.df,
         dg = m->lambda * log.df * log.df + pull * log.ddf;
  double J[3] = {s[1] * s[2], s[0] * s[2], s[0] * s[1]};
  out->energy = m->mu * volume_distortion(s, log.f) + 0.5 * m->lambda * (log.f * log.f);
  for (int i = 0; i < 3; i++) d[i] = m->mu * s[i] + g * J[i];
  for (int i = 0; i < 3 && tangent != TB_TANGENT_NONE; i++) {
    for (int j = 0; j < 3; j++) out->diag[i][j] = dg * J[i] * J[j] + (i == j ? m->mu : g * s[3 - i - j]);
    out->sym[i] = m->mu - g * s[i], out->skew[i] = m->mu + g * s[i];
  }
}

static double isotropic_energy(const tbElastic* m, const double s[3])
{
  if (m->model == TB_ELASTIC_NEO_HOOKEAN_VOLUME) return volume_energy(m, s);
  double sum = 0, S = 0;
  for (int i = 0; i < 3; i++) {
    Jet a, b;
    stretch(m, s[i], &a, &b);
    sum += a.f;
    S += b.f;
  }
  return sum + 0.5 * m->lambda * (S * S);
}

double tb_elastic_energy(const tbElastic* m, tbMat3 F)
{
  if (m->model == TB_ELASTIC_LINEAR) return linear_energy(m, F);
  tbSvd3 svd = tb_svd3(F);
  return isotropic_energy(m, svd.s);
}

static bool is_positive(double A[3][3])
{
  double minor = A[0][0] * A[1][1] - A[0][1] * A[0][1];
  double c0 = A[0][1] * A[1][2] - A[0][2] * A[1][1], c1 = A[0][1] * A[0][2] - A[0][0] * A[1][2];
  return A[0][0] > 0 && minor > 0 && A[0][2] * c0 + A[1][2] * c1 + A[2][2] * minor > 0;
}

// The closest positive semidefinite matrix: negative eigenvalues become zero.
static void clamp_diag(double A[3][3])
{
  if (is_positive(A)) return;
  tbMat3 B;
  memcpy(B.m, A, sizeof B.m);
  tbEig3 e = tb_eig3(B);
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      double sum = 0;
      for (int k = 0; k < 3; k++) sum += fmax(e.s[k], 0) * (e.V.m[i][k] * e.V.m[j][k]);
      A[i][j] = A[j][i] = sum;
    }
}

// Ψ_i of stretches, with energy and modes.
static void stretch_stress(const tbElastic* m, const double s[3], tbTangent tangent, double d[3],
                           tbStress* out)
{
  Jet a[3], b[3];
  for (int i = 0; i < 3; i++) stretch(m, s[i], &a[i], &b[i]);
  double S = b[0].f + b[1].f + b[2].f, lambda_S = m->lambda * S;
  for (int i = 0; i < 3; i++) d[i] = a[i].df + lambda_S * b[i].df;
  out->energy = a[0].f + a[1].f + a[2].f + 0.5 * m->lambda * (S * S);
  if (tangent == TB_TANGENT_NONE) return;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out->diag[i][j] = m->lambda * (b[i].df * b[j].df);
    out->diag[i][i] += a[i].ddf + lambda_S * b[i].ddf;
  }
  for (int c = 0; c < 3; c++) {
    int i = c == 0 ? 1 : 0, j = c == 2 ? 1 : 2; // s_i ≥ s_j
    out->sym[c] = slope(m, s[i], s[j], lambda_S);
    out->skew[c] = (d[i] + d[j]) / fmax(s[i] + s[j], 1e-9);
  }
}

static void isotropic_stress(const tbElastic* m, const tbSvd3* svd, tbTangent tangent, tbStress* out)
{
  double d[3];
  if (m->model == TB_ELASTIC_NEO_HOOKEAN_VOLUME) volume_stress(m, svd->s, tangent, d, out);
  else stretch_stress(m, svd->s, tangent, d, out);
  out->U = svd->U;
  out->V = svd->V;
  tbMat3 UD = svd->U;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) UD.m[i][j] *= d[j];
  out->P = tb_mat3_mult(UD, svd->V);
  if (tangent != TB_TANGENT_POSITIVE) return;
  clamp_diag(out->diag);
  for (int c = 0; c < 3; c++) out->sym[c] = fmax(out->sym[c], 0), out->skew[c] = fmax(out->skew[c], 0);
}

void tb_elastic_stress(const tbElastic* m, tbMat3 F, tbTangent tangent, tbStress* out)
{
  if (m->model == TB_ELASTIC_LINEAR) {
    linear_stress(m, F, tangent, out);
    return;
  }
  tbSvd3 svd = tb_svd3(F);
  isotropic_stress(m, &svd, tangent, out);
}

void tb_elastic_stress_many(const tbElastic* m, int count, const tbMat3* F, tbTangent tangent, tbStress* out)
{
  tbSvd3 svd[TB_ELASTIC_MANY];
  if (m->model != TB_ELASTIC_LINEAR) tb_svd3_many(count, F, svd);
  for (int k = 0; k < count; k++)
    if (m->model == TB_ELASTIC_LINEAR) linear_stress(m, F[k], tangent, &out[k]);
    else isotropic_stress(m, &svd[k], tangent, &out[k]);
}

void tb_elastic_energy_many(const tbElastic* m, int count, const tbMat3* F, double* energy)
{
  tbSvd3 svd[TB_ELASTIC_MANY];
  if (m->model != TB_ELASTIC_LINEAR) tb_svd3_many(count, F, svd);
  for (int k = 0; k < count; k++)
    energy[k] = m->model == TB_ELASTIC_LINEAR ? linear_energy(m, F[k]) : isotropic_energy(m, svd[k].s);
}
