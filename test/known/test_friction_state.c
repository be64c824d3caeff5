// SPDX-License-Identifier: Apache-2.0
// Friction that is no single cone: at rest and in motion, Stribeck's curve, Tresca's limit, adhesion,
// tangential restitution; against closed forms.
#include "fem/tets.h"
#include "known/worlds.h"
#include "test.h"
#include "tribo/change.h"

#include <math.h>
#include <string.h>

static const double g = 9.81;

typedef struct {
  Stage s;
  tbBodyId box;
} Slide;

// A flat block of 2 kg on four contacts, on a floor of the given slope; both have the friction.
static Slide slide(const tbFriction* f, double slope, double speed)
{
  Slide x = {.s = stage_open_with(tb_vec3(0, 0, -g), *f, 0)};
  x.s.step.dt = 1.0 / 256;
  stage_floor(&x.s, slope, 0);
  x.box = stage_add(&x.s, tb_shape_box(tb_vec3(0.8, 0.6, 0.1)), 2, tb_scale3(0.05, stage_normal(slope, 0)),
                    stage_turn(slope, 0));
  stage_push(&x.s, x.box, tb_scale3(speed, stage_down(slope, 0)), tb_zero3());
  return x;
}

static double speed_of(Slide* x, double slope)
{
  return tb_dot3(stage_state(&x->s, x->box).velocity, stage_down(slope, 0));
}

TEST(friction_at_rest_holds_more_than_friction_of_sliding)
{
  tbFriction f = tb_friction(0.3);
  f.static_ratio = 1.5;         // 0.45 at rest
  for (int i = 0; i < 3; i++) { // between the two: rests, or slides on; above both: starts
    double slope = atan(i == 2 ? 0.46 : 0.4), start = i == 1 ? 0.5 : 0, t = 0.5;
    Slide x = slide(&f, slope, start);
    stage_run_for(&x.s, t);
    double want = i == 0 ? 0 : start + g * (sin(slope) - 0.3 * cos(slope)) * t;
    // the first step of the third is taken at rest's coefficient: g h (0.15 cos θ)
    if (!(fabs(speed_of(&x, slope) - want) < (i == 2 ? 0.006 : 1e-4)))
      test_failed(__FILE__, __LINE__, "case %d: %g m/s, expected %g", i, speed_of(&x, slope), want);
    stage_close(&x.s);
  }
}

// Schemes whose sticking contacts creep take their creep for rest: what holds a block at rest goes on holding
// it.
TEST(friction_at_rest_holds_where_sticking_creeps)
{
  static const struct {
    const char* scheme;
    bool soft;
  } cases[] = {{"ipc", false}, {"ipc", true},      {"pd", true},
               {"xpbd", true}, {"implicit", true}, {"primal", true}};
  for (int i = 0; i < 2 * (int)(sizeof cases / sizeof *cases); i++) {
    const char* scheme = cases[i / 2].scheme;
    bool soft = cases[i / 2].soft, held = i % 2 == 0;
    double slope = atan(held ? 0.4 : 0.7), t = 0.25;
    tbFriction f = tb_friction(0.35);
    f.static_ratio = 1.7; // 0.595 at rest
    Slide x = {.s = stage_open_with(tb_vec3(0, 0, -g), f, 0)};
    x.s.step.scheme = scheme, x.s.step.dt = 0.005;
    tbVec3 n = stage_normal(slope, 0);
    stage_fixed(&x.s, tb_shape_box(tb_vec3(20, 20, 1)), tb_scale3(-0.5, n), stage_turn(slope, 0));
    if (soft) {
      tbTetMesh* mesh = NULL;
      tbDeformableDef def = tb_default_deformable_def();
      CHECK_OK(&x.s.ctx, tb_tet_box(&x.s.ctx, tb_vec3(0.2, 0.16, 0.05), (int[3]){2, 2, 1}, 5, &mesh));
      def.solid = mesh, def.soft.young = 3e6;
      def.position = tb_scale3(0.025001, n), def.orientation = stage_turn(slope, 0);
      CHECK_OK(&x.s.ctx, tb_world_add_deformable(&x.s.ctx, x.s.world, &def, &x.box));
      tb_tet_mesh_free(&x.s.ctx, mesh);
    } else
      x.box =
          stage_add(&x.s, tb_shape_box(tb_vec3(0.8, 0.6, 0.1)), 2, tb_scale3(0.05, n), stage_turn(slope, 0));
    stage_run_for(&x.s, 0.1);
    double before = speed_of(&x, slope);
    stage_run_for(&x.s, t);
    double want = held ? 0 : g * (sin(slope) - 0.35 * cos(slope)) * t, got = speed_of(&x, slope) - before;
    if (!(fabs(got - want) < 2e-3 * (1 + want)) || (held && !(before < 2e-3)))
      test_failed(__FILE__, __LINE__, "%s, %s: gains %g m/s, expected %g", scheme, soft ? "soft" : "rigid",
                  got, want);
    stage_close(&x.s);
  }
}

// On level ground v' = −μ g (1 + (r − 1) exp(−(v/v_s)²)), integrated here with steps a hundred times finer.
TEST(friction_falls_along_stribecks_curve)
{
  tbFriction f = tb_friction(0.3);
  f.static_ratio = 2, f.stribeck = 0.5;
  Slide x = slide(&f, 0, 1.2);
  double v = 1.2, h = 1.0 / 25600, t = 0.3125;
  for (int i = 0; i < (int)(t / h); i++) v -= h * 0.3 * g * (1 + exp(-(v / 0.5) * (v / 0.5)));
  stage_run_for(&x.s, t);
  if (!(fabs(speed_of(&x, 0) - v) < 0.01))
    test_failed(__FILE__, __LINE__, "%g m/s, expected %g", speed_of(&x, 0), v);
  stage_close(&x.s);
}

// Four contacts of 1.5 N whatever the weight: m v' = m g sin θ − 6 N; held where 6 N are enough.
TEST(trescas_limit_does_not_know_the_weight)
{
  tbFriction f = tb_friction(0.5);
  f.tresca = 1.5;
  for (int i = 0; i < 2; i++) {
    double slope = i ? 0.5 : 0.28, t = 0.5, want = i ? (g * sin(slope) - 3) * t : 0; // 2 g sin 0.28 = 5.42 N
    Slide x = slide(&f, slope, 0);
    stage_run_for(&x.s, t);
    if (!(fabs(speed_of(&x, slope) - want) < 1e-3 * (1 + want)))
      test_failed(__FILE__, __LINE__, "case %d: %g m/s, expected %g", i, speed_of(&x, slope), want);
    CHECK(x.s.unconverged == 0);
    stage_close(&x.s);
  }
}

// Under a ceiling four contacts hold 4 c against the weight; and the published impulses are the true ones.
TEST(adhesion_holds_a_block_under_a_ceiling)
{
  for (int i = 0; i < 2; i++) {
    tbFriction f = tb_friction(0.5);
    f.adhesion = i ? 4.8 : 5;      // of 19.62/4 = 4.905 N
    Slide x = slide(&f, TB_PI, 0); // the floor upside down
    tbVec3 start = stage_state(&x.s, x.box).position;
    stage_run_for(&x.s, 0.5);
    double fell = start.z - stage_state(&x.s, x.box).position.z;
    if (i ? !(fell > 0.5) : !(fabs(fell) < 1e-4))
      test_failed(__FILE__, __LINE__, "case %d: fell %g m", i, fell);
    double sum = 0;
    for (int k = 0; k < tb_world_contact_count(x.s.world); k++) {
      tbContactView c = tb_world_contact(x.s.world, k);
      sum += c.impulse[0];
    }
    if (!i && !(fabs(sum + 2 * g / 256) < 1e-6)) test_failed(__FILE__, __LINE__, "impulses %g N·s", sum);
    stage_close(&x.s);
  }
}

// On a wall: friction holds μ (N + 4 c), N = 0.
TEST(adhesion_moves_the_cone_along_its_axis)
{
  for (int i = 0; i < 2; i++) {
    tbFriction f = tb_friction(0.5);
    f.adhesion = i ? 9.5 : 10.1; // 0.5 · 4 c = 19.62 N at 9.81 N
    Slide x = slide(&f, TB_PI / 2, 0);
    stage_run_for(&x.s, 0.25);
    double v = speed_of(&x, TB_PI / 2), want = i ? (g - 9.5) * 0.25 : 0;
    if (!(fabs(v - want) < 2e-3)) test_failed(__FILE__, __LINE__, "case %d: %g m/s, expected %g", i, v, want);
    stage_close(&x.s);
  }
}

// On a slope four contacts hold 4 · 6 N, and let go of what pulls with more: m v' = m g sin θ − 4 c.
TEST(every_scheme_applies_trescas_limit)
{
  for (int i = 0; i < tb_scheme_count(); i++)
    for (int k = 0; k < 2; k++) {
      tbFriction f = tb_friction(0);
      f.tresca = k ? 2.5 : 6;
      Slide x = slide(&f, TB_PI / 3, 0);
      x.s.step.scheme = tb_scheme_at(i)->name;
      stage_run(&x.s, 32);
      double v = speed_of(&x, TB_PI / 3);
      stage_run(&x.s, 64);
      double want = k ? g * sin(TB_PI / 3) - 2 * 2.5 : 0, a = (speed_of(&x, TB_PI / 3) - v) * 4;
      if (!(fabs(a - want) < 0.02))
        test_failed(__FILE__, __LINE__, "%s, limit %g N: %g m/s², expected %g", x.s.step.scheme, f.tresca, a,
                    want);
      stage_close(&x.s);
    }
}

// A block pushed across the slope turns down it: v' = g_t − (4 c/m) v̂, integrated here with fine steps.
TEST(trescas_friction_is_against_the_sliding_wherever_it_turns)
{
  double slope = 0.5, c = 1.2, t = 0.25;
  tbVec3 down = stage_down(slope, 0), across = tb_cross3(stage_normal(slope, 0), down);
  tbVec3 want = tb_scale3(0.8, across), pull = tb_scale3(g * sin(slope), down);
  for (int i = 0; i < 20000; i++)
    want = tb_madd3(want, t / 20000, tb_madd3(pull, -4 * c / 2, tb_normalize3(want)));
  for (int i = 0; i < tb_scheme_count(); i++) {
    tbFriction f = tb_friction(0);
    f.tresca = c;
    Slide x = slide(&f, slope, 0);
    x.s.step.scheme = tb_scheme_at(i)->name, x.s.step.dt = 1.0 / 512;
    stage_run(&x.s, 32);
    stage_push(&x.s, x.box, tb_scale3(0.8, across), tb_zero3());
    stage_run(&x.s, 128);
    tbVec3 v = stage_state(&x.s, x.box).velocity;
    if (!(tb_distance3(v, want) < 0.02))
      test_failed(__FILE__, __LINE__, "%s: %g and %g m/s down and across, expected %g and %g",
                  x.s.step.scheme, tb_dot3(v, down), tb_dot3(v, across), tb_dot3(want, down),
                  tb_dot3(want, across));
    stage_close(&x.s);
  }
}

// Springs of materials change the motion: what does not apply them says so, and names what does.
TEST(schemes_without_springs_of_materials_refuse_them)
{
  for (int i = 0; i < tb_scheme_count(); i++) {
    const tbScheme* scheme = tb_scheme_at(i);
    tbFriction f = tb_friction(0.5);
    Slide x = slide(&f, 0, 0);
    tbMaterialId usual = tb_world_material_at(x.s.world, 0);
    CHECK_OK(&x.s.ctx,
             tb_world_set_pair_spring(&x.s.ctx, x.s.world, usual, usual, (tbContactSpring){1e4, 50, 0}));
    x.s.step.scheme = scheme->name;
    tbStatus status = tb_world_step(&x.s.ctx, x.s.world, &x.s.step, NULL);
    bool named = strstr(x.s.ctx.error.message, "these do: semi-implicit");
    if (scheme->springs ? status != TB_OK : status != TB_ERROR_ARGUMENT || !named)
      test_failed(__FILE__, __LINE__, "%s: %s", scheme->name, x.s.ctx.error.message);
    stage_close(&x.s);
  }
}

// A ball that friction can hold leaves with u_t⁺ = −ε u_t⁻ at its lowest point (course, eq. 219b).
TEST(tangential_restitution_turns_the_velocity_of_a_superball_round)
{
  static const char* const schemes[] = {"semi-implicit", "moreau"};
  for (int i = 0; i < 4; i++) {
    double e = i < 2 ? 1 : 0.4, r = 0.1, v = 1, spin = 3;
    tbFriction f = tb_friction(10);
    f.restitution = e;
    Stage s = stage_open_with(tb_zero3(), f, 1);
    s.step.scheme = schemes[i % 2], s.step.dt = 1.0 / 1024;
    stage_floor(&s, 0, 0);
    tbBodyId ball = stage_add(&s, tb_shape_sphere(r), 1, tb_vec3(0, 0, r + 0.011), tb_quat_identity());
    stage_push(&s, ball, tb_vec3(v, 0, -2), tb_vec3(0, spin, 0));
    stage_run(&s, 30);
    tbBodyState b = stage_state(&s, ball);
    double before = v - spin * r, after = b.velocity.x - b.angular_velocity.y * r;
    if (!(fabs(after + e * before) < 1e-4) || !(fabs(b.velocity.z - 2) < 1e-4))
      test_failed(__FILE__, __LINE__, "%s, ε = %g: %g m/s after %g, and %g up", s.step.scheme, e, after,
                  before, b.velocity.z);
    stage_close(&s);
  }
}

// The box model bounds each tangent by itself: along the diagonal it holds √2 μ, unless a tangent lies there.
TEST(sliding_tangents_make_the_box_model_hold_what_the_cone_does)
{
  for (int i = 0; i < 2; i++) {
    tbFriction f = tb_friction(0.4);
    Slide x = slide(&f, 0, 0);
    x.s.step.solver.model = TB_MODEL_BOX, x.s.step.sliding_tangents = i;
    stage_push(&x.s, x.box, tb_vec3(2, 2, 0), tb_zero3());
    stage_run_for(&x.s, 0.25);
    double lost = 2 * sqrt(2) - tb_norm3(stage_state(&x.s, x.box).velocity),
           want = 0.4 * g * 0.25 * (i ? 1 : sqrt(2));
    if (!(fabs(lost - want) < 0.02 * want))
      test_failed(__FILE__, __LINE__, "case %d: lost %g m/s, expected %g", i, lost, want);
    stage_close(&x.s);
  }
}
