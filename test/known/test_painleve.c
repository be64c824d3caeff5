// SPDX-License-Identifier: Apache-2.0
// Painlevé's rod: a slender rod that slides on its tip.
//
// With θ from the floor, half length l and I = m l²/3 the tip's Delassus matrix in the plane of motion is
//
//   m W_nn = 1 + 3 cos²θ,   m W_nt = 3 sin θ cos θ,   m W_tt = 1 + 3 sin²θ
//
// for a rod whose tip trails or leads. Where the slip drives the tip into the floor and μ W_nt > W_nn,
// possible from μ = 4/3 on, no finite force keeps the rod sliding: it jams at once, in an impact without
// collision whose impulse stops both u_n and u_t.
#include "known/worlds.h"
#include "test.h"

#include <string.h>

typedef struct {
  double Wnn, Wnt, Wtt;
} Tip;

// A rod of half length l at the angle θ, tip on the floor at the origin, leaning towards +x; radius r at the
// tip.
static tbBodyId rod(Stage* s, double l, double r, double mass, double theta, tbVec3 v, double w)
{
  tbShape shape = tb_shape_capsule(r, 2 * (l - r));
  tbBodyDef def = tb_default_body_def();
  def.shapes = &shape, def.shape_count = 1, def.mass = mass;
  def.inertia[0] = def.inertia[1] = mass * l * l / 3, def.inertia[2] = mass * l * l / 1000;
  def.orientation = tb_quat_exp(tb_vec3(0, PI / 2 - theta, 0));
  def.position = tb_vec3((l - r) * cos(theta), 0, r + (l - r) * sin(theta));
  def.velocity = v, def.angular_velocity = tb_vec3(0, w, 0);
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->world, &def, &id));
  return id;
}

static Tip tip_of(double l, double r, double m, double theta)
{
  double ax = -(l - r) * cos(theta), az = -(l - r) * sin(theta) - r, I = m * l * l / 3; // arm of the tip
  return (Tip){1 / m + ax * ax / I, -ax * az / I, 1 / m + az * az / I};
}

// The impulses that one planar contact with friction can have: slip either way, stick, or none.
static int solutions(Tip W, double mu, double un, double ut, double out[4][2])
{
  int n = 0;
  if (un >= 0) out[n][0] = out[n][1] = 0, n++;
  double det = W.Wnn * W.Wtt - W.Wnt * W.Wnt, ln = -(W.Wtt * un - W.Wnt * ut) / det,
         lt = -(W.Wnn * ut - W.Wnt * un) / det;
  if (ln > 0 && fabs(lt) <= mu * ln) out[n][0] = ln, out[n][1] = lt, n++;
  for (int sign = -1; sign <= 1; sign += 2) { // slip towards `sign`
    double d = W.Wnn - sign * mu * W.Wnt, l = -un / d;
    if (d == 0 || !(l > 0)) continue;
    double slip = ut + W.Wnt * l - sign * mu * W.Wtt * l;
    if (slip * sign > 0) out[n][0] = l, out[n][1] = -sign * mu * l, n++;
  }
  return n;
}

TEST(painleves_rod_jams_in_one_step_where_it_must)
{
  int jammed = 0, slid = 0;
  for (int k = 0; k < EXACT_SOLVERS; k += exact_stride()) {
    if (strcmp(exact_solvers[k], "nncg") == 0) continue; // row by row, friction can take very long to jam
    for (int i = 0; i < 40; i++) {
      double l = i % 3 ? 0.5 : 0.05, r = 1e-3 * l, m = i % 2 ? 1 : 20, theta = 0.7 + 0.1 * (i % 8),
             mu = 0.4 + 0.3 * (i / 8);
      double slip = (i % 5 < 3 ? 1 : -1) * (0.5 + 0.1 * i), h = 0.001, g = 9.81;
      Stage s = stage_open(mu, 0);
      s.step.solver.solver = exact_solvers[k];
      s.step.dt = h;
      stage_floor(&s, 0, 0);
      tbBodyId body = rod(&s, l, r, m, theta, tb_vec3(slip, 0, 0), 0);
      Tip W = tip_of(l, r, m, theta);
      double lambda[4][2];
      int n = solutions(W, mu, -g * h, slip, lambda);
      stage_run(&s, 1);
      tbBodyState now = stage_state(&s, body);
      double jn = m * (now.velocity.z + g * h), jt = m * (now.velocity.x - slip), miss = INFINITY;
      for (int j = 0; j < n; j++) miss = fmin(miss, fabs(jn - lambda[j][0]) + fabs(jt - lambda[j][1]));
      bool jams = n == 1 && W.Wnn - (slip > 0 ? 1 : -1) * mu * W.Wnt < 0;
      jammed += jams, slid += n == 1 && !jams;
      if (!(miss < 1e-4 * m * fabs(slip)) || s.unconverged)
        test_failed(__FILE__, __LINE__,
                    "%s theta %g mu %g slip %g: impulse (%g, %g), %d solutions, missed by %g, residual %g",
                    exact_solvers[k], theta, mu, slip, jn, jt, n, miss, s.worst);
      stage_close(&s);
    }
  }
  CHECK(jammed > 10 / exact_stride() && slid > 50 / exact_stride());
}
