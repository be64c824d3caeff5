// SPDX-License-Identifier: Apache-2.0
// Positions follow the velocities that are published (tumbles.h: PathFit), but for what the report names.
#include "step/soft_worlds.h"
#include "step/tumbles.h"

// Whether a body turns about any axis alike, so that its angular velocity is constant in flight.
static bool is_round(const tbBody* b)
{
  tbMat3 I = b->inertia;
  double off = fmax(fabs(I.m[0][0] - I.m[1][1]), fabs(I.m[0][0] - I.m[2][2]));
  return b->motion == TB_BODY_DYNAMIC && off < 1e-12 * I.m[0][0];
}

// Of such a body, the angle by which its orientation differs from where its angular velocities turn it.
static double turn_miss(const tbBody* b, const tbBody* now, double h, double t)
{
  tbQuat q = tb_quat_mul(tb_quat_exp(tb_scale3(t, b->w)), b->q);
  q = tb_quat_mul(tb_quat_exp(tb_scale3(h - t, now->w)), q);
  return tb_norm3(tb_quat_log(tb_quat_mul(now->q, tb_quat_conj(q))));
}

// The same for the moment of impact that suits best, of those that its path allows.
static double least_turn_miss(const tbBody* b, const tbBody* now, const Path* p, PathFit fit, bool bounces,
                              double rounding)
{
  double least = turn_miss(b, now, p->h, fit.t);
  for (int k = 0; bounces && k < 4; k++) {
    PathFit other = path_struck(p, k & 1, k & 2);
    if (other.miss <= rounding) least = fmin(least, turn_miss(b, now, p->h, other.t));
  }
  return least;
}

// Bodies that are not where their velocities take them: no more of them, and no farther off, than is
// reported.
static void check_paths(const Stage* s, const Before* before, bool elastic, const char* what)
{
  const tbWorld* w = s->world;
  const tbStepChanges* c = &s->report.changes;
  int astray = 0;
  for (int i = 0; i < before->count; i++) {
    const tbBody *b = &before->body[i], *now = &tb_bodies(w)[i];
    if (!b->kind->framed) continue;
    bool pushed = is_pushed(w, i) || b->motion != TB_BODY_DYNAMIC;
    Path p = {b->x, b->v, now->x, now->v, w->gravity, s->step.dt};
    if (b->motion != TB_BODY_DYNAMIC) p.v = p.v1;
    PathFit fit = path_fit(&p, s->step.scheme, pushed, elastic && pushed);
    double miss = fit.miss, rounding = 1e-12 * (tb_norm3(p.x1) + 1);
    double off = is_round(b) ? least_turn_miss(b, now, &p, fit, elastic && pushed, rounding) : 0;
    astray += miss > rounding + c->projected;
    if (!(miss <= rounding + c->projected + c->short_of))
      test_failed(__FILE__, __LINE__, "%s, %s: body %d is %g m from where %g m/s take it; reported %g and %g",
                  what, s->step.scheme, i, miss, tb_norm3(p.v1), c->short_of, c->projected);
    bool told = c->stopped == 0 && (!elastic || c->projected == 0); // when it was struck, from where it is
    if (told && !(off <= 1e-9 + 1.001 * c->turned))
      test_failed(__FILE__, __LINE__, "%s, %s: body %d is turned %g rad from where %g rad/s turn it", what,
                  s->step.scheme, i, off, tb_norm3(now->w));
  }
  if (astray > c->stopped)
    test_failed(__FILE__, __LINE__, "%s, %s: %d bodies astray, %d reported", what, s->step.scheme, astray,
                c->stopped);
}

LONG_TEST(rigid_bodies_are_where_their_velocities_take_them)
{
  double projected = 0;
  for (int k = 0; k < tb_scheme_count(); k++)
    for (int seed = 0; seed < (strcmp(tb_scheme_at(k)->name, "ipc") == 0 ? 1 : 12);
         seed += test_quick() ? 3 : 1) {
      if (test_quick() && strcmp(tb_scheme_at(k)->name, "ipc") == 0)
        continue; // ten times all others together
      Stage s = tumble(seed, tb_scheme_at(k)->name);
      if (seed % 3 == 0)
        stage_join(&s, tb_default_joint_def(TB_JOINT_BALL), (tbBodyId){3, 0}, (tbBodyId){4, 0},
                   tb_vec3(0, 0, 0.4));
      for (int i = 0; i < 25; i++) {
        Before before = tumble_before(s.world);
        stage_run(&s, 1);
        check_paths(&s, &before, seed % 2, "tumble");
        bool pushes = strcmp(s.step.scheme, "soft-step") == 0; // overlaps, out of the positions
        if (!pushes && s.step.stabilization == TB_STABILIZE_PROJECTION)
          projected = fmax(projected, s.report.changes.projected);
        else CHECK(pushes || (s.report.changes.projected == 0 && s.report.changes.turned == 0));
      }
      stage_close(&s);
    }

  CHECK(projected > 1e-4 && projected < 0.5);
}

// A solver that is stopped on its way leaves velocities that carry bodies into each other: there they go.
LONG_TEST(bodies_go_where_unconverged_velocities_take_them)
{
  int missed = 0;
  for (int seed = 0; seed < 6; seed++) {
    Stage s = stage_open(0.5, 0);
    s.step.scheme = seed % 2 ? "implicit" : "semi-implicit";
    s.step.solver.solver = "bgs", s.step.solver.max_iterations = 2, s.step.dt = 1.0 / 60;
    stage_floor(&s, 0, 0);
    for (int i = 0; i < 6; i++) // a stack of light boxes under a heavy one
      stage_add(&s, tb_shape_box(tb_vec3(0.25, 0.25, 0.25)), i == 5 ? 1000 : 1,
                tb_vec3(0.01 * seed * (i % 2), 0, 0.125 + 0.25 * i), tb_quat_identity());
    for (int i = 0; i < 120; i++) {
      Before before = tumble_before(s.world);
      stage_run(&s, 1);
      check_paths(&s, &before, false, "stack");
    }
    missed += s.unconverged;
    stage_close(&s);
  }
  CHECK(missed > 100);
}

LONG_TEST(nodes_are_where_their_velocities_take_them)
{
  for (uint64_t seed = 12; seed <= 14; seed++) {
    Stage s = {.ctx = tb_default_context()};
    CHECK_OK(&s.ctx, soft_storm(&s.ctx, seed, &s.world, &s.step));
    for (int i = 0; i < 10; i++) {
      Before before = tumble_before(s.world);
      const tbDeformable* d = deformable_at(s.world, 0);
      tbVec3 old = d->x[d->fem->nnode - 1];
      stage_run(&s, 1);
      tbVec3 rule = tb_madd3(old, s.step.dt, d->v[d->fem->nnode - 1]);
      CHECK_NEAR(tb_distance3(d->x[d->fem->nnode - 1], rule), 0, 1e-15);
      check_paths(&s, &before, true, "storm");
    }
    tb_world_free(&s.ctx, s.world);
  }
}

// Of energies the potential one alone may overflow: a huge mass far up that rests.
TEST(a_step_whose_potential_energy_overflows_has_failed)
{
  Stage s = stage_open_with(tb_vec3(0, 0, -1e100), tb_friction(0), 0);
  stage_add(&s, tb_shape_sphere(0.5), 1e90, tb_vec3(0, 0, 1e120), tb_quat_identity());
  stage_run(&s, 1);
  CHECK(s.report.overflow && s.report.outcome != TB_CONVERGED);
  stage_close(&s);
}

// A world that flies to infinity is told of as soon as its energy overflows, and not before.
TEST(a_step_whose_energy_overflows_has_failed_and_says_so)
{
  Stage s = stage_open_with(tb_vec3(0, 0, -1e155), tb_friction(0), 0);
  stage_add(&s, tb_shape_sphere(0.5), 1, tb_zero3(), tb_quat_identity());
  int before = 0, after = 0;
  for (int i = 0; i < 40; i++) {
    stage_run(&s, 1);
    bool finite = isfinite(stage_energy(&s));
    CHECK(s.report.overflow == !finite && (s.report.outcome == TB_CONVERGED) == finite);
    if (finite) before++;
    else after++;
  }
  CHECK(before > 5 && after > 5);
  stage_close(&s);
}
