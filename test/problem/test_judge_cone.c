// SPDX-License-Identifier: Apache-2.0
// The judge's projection, by Moreau's decomposition: z = x + r with x ∈ K, r in the polar cone, x·r = 0.
#include "problem/judge_cone.h"
#include "test.h"

#include <math.h>

static double random_size(tbRandom* r) { return pow(10, test_uniform(r, -3, 1)); }

static tbJudgeSet random_set(tbRandom* r, int kind)
{
  tbJudgeSet s = {.kind = (tbJudgeSetKind)kind, .dim = kind == TB_JUDGE_POLYGON ? 2 : 1 + test_below(r, 5)};
  for (int i = 0; i < s.dim; i++) {
    s.axis[i] = random_size(r);
    s.hi[i] = random_size(r), s.lo[i] = test_below(r, 4) ? -random_size(r) : 0;
  }
  for (int left = s.dim; kind == TB_JUDGE_BALLS && left > 0; left -= s.ball_dim[s.balls++]) {
    s.ball_dim[s.balls] = s.balls == 2 ? left : 1 + test_below(r, left);
    s.radius[s.balls] = random_size(r);
  }
  if (kind == TB_JUDGE_POLYGON) s.corners = 3 + test_below(r, 8);
  double width = random_size(r), height = random_size(r);
  for (int i = 0; i < s.corners; i++) {
    double angle = 6.28318530717958648 * i / s.corners;
    s.x[i] = width * cos(angle), s.y[i] = height * sin(angle);
  }
  return s;
}

// The most by which (n, f) misses the cone: f·d ≤ n σ(d), asked in random directions and along f.
static double outside(const tbJudgeSet* s, const double* x, tbRandom* r)
{
  double worst = fmax(0, -x[0]), d[TB_MAX_ROWS];
  for (int k = 0; k < 20; k++) {
    double along = 0, length = 0;
    for (int i = 0; i < s->dim; i++) {
      d[i] = k == 0 ? x[1 + i] : test_uniform(r, -1, 1);
      length = fmax(length, fabs(d[i]));
    }
    if (length == 0) continue;
    for (int i = 0; i < s->dim; i++) d[i] /= length, along += d[i] * x[1 + i];
    worst = fmax(worst, along - x[0] * tb_judge_support(s, d));
  }
  return worst;
}

TEST(the_judges_projection_is_moreaus_decomposition)
{
  tbRandom r = {.state = 5};
  int inside = 0, apex = 0, between = 0;
  for (int trial = 0; trial < 4000; trial++) {
    tbJudgeSet s = random_set(&r, trial % 4);
    double z[TB_MAX_ROWS], x[TB_MAX_ROWS], rest[TB_MAX_ROWS], dot = 0, size = 0;
    for (int i = 0; i <= s.dim; i++) {
      z[i] = test_uniform(&r, -1, 1) * (i ? random_size(&r) : 1);
      size = fmax(size, fabs(z[i]));
    }
    tb_judge_project(&s, z, x);
    double moved = 0;
    for (int i = 0; i <= s.dim; i++) {
      rest[i] = z[i] - x[i];
      dot += x[i] * rest[i];
      moved = fmax(moved, fabs(rest[i]));
    }
    inside += moved == 0, apex += x[0] == 0, between += moved > 0 && x[0] > 0;
    double polar = rest[0] + tb_judge_support(&s, rest + 1), out = outside(&s, x, &r), widest = 10;
    if (!(fabs(dot) <= 1e-12 * size * size && polar <= 1e-12 * widest * size && out <= 1e-12 * widest * size))
      test_failed(__FILE__, __LINE__, "trial %d, kind %d, %d rows: x·r = %g, polar by %g, outside by %g",
                  trial, (int)s.kind, s.dim, dot, polar, out);
  }
  CHECK(inside > 100 && apex > 100 && between > 1000);
}

// Points about the borders of the cone and of its polar, where no root is taken if a comparison of squares
// is enough, come to the same bits as by the root.
TEST(the_circular_projection_spares_roots_without_changing_a_bit)
{
  tbRandom r = {.state = 41};
  for (int i = 0; i < 20000; i++) {
    double mu = random_size(&r), z[3], x[3], length, n;
    for (int k = 1; k < 3; k++) z[k] = test_uniform(&r, -1, 1) * random_size(&r);
    length = sqrt(z[1] * z[1] + z[2] * z[2]);
    double off = test_below(&r, 3) - 1, ulps = 1 + off * test_below(&r, 64) * 2.2e-16;
    z[0] = (i % 2 ? length / mu : -mu * length) * (i % 5 ? ulps : test_uniform(&r, 0, 2));
    tb_judge_project_circular(mu, 2, z, x);
    if (length <= mu * z[0]) n = z[0];
    else n = mu * length <= -z[0] ? 0 : (z[0] + mu * length) / (1 + mu * mu);
    CHECK(x[0] == n);
    for (int k = 1; k < 3; k++) CHECK(x[k] == (length <= mu * z[0] ? z[k] : mu * n * (z[k] / length)));
  }
}
