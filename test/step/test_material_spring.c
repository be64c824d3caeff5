// SPDX-License-Identifier: Apache-2.0
// Springs of materials under soft-step, as under the schemes that pose them to a solver.
#include "known/worlds.h"
#include "test.h"

#include <math.h>

static const double g = 9.81;
static const double mass = 2;

// A block on a floor, on four contacts, both of a material that together have k and b.
static tbBodyId add_block(Stage* st, double k, double b, double height)
{
  tbMaterialId usual = tb_world_material_at(st->world, 0);
  CHECK_OK(&st->ctx, tb_world_set_pair_spring(&st->ctx, st->world, usual, usual, (tbContactSpring){k, b, 0}));
  stage_floor(st, 0, 0);
  return stage_add(st, tb_shape_box(tb_vec3(0.4, 0.3, 0.1)), mass, tb_vec3(0, 0, 0.05 + height),
                   tb_quat_identity());
}

// Implicit steps of the oscillator, as often as there are substeps:  v⁺ = v − h (4/m)(k (x + h v⁺) + b v⁺)
TEST(soft_step_takes_the_springs_of_materials)
{
  for (int i = 0; i < 8; i++) {
    double k = 2000 * pow(4, i / 2), own = sqrt(4 * k / mass), b = (i % 2 ? 0.8 : 0.1) * 2 * own * mass / 4;
    Stage st = stage_open(0.5, 0);
    st.step.scheme = "soft-step", st.step.dt = 1.0 / 256, st.step.substeps = 8;
    double sag = mass * g / (4 * k), x = 0.5 * sag, first = x, v = 0, h = st.step.dt / 8, worst = 0,
           residual = 0;
    tbBodyId id = add_block(&st, k, b, x - sag);
    for (int n = 0; n < 100; n++) {
      for (int m = 0; m < 8; m++) {
        v = (v - h * 4 / mass * k * x) / (1 + h * 4 / mass * (h * k + b));
        x += h * v;
      }
      stage_run(&st, 1);
      worst = fmax(worst, fabs(stage_state(&st, id).position.z - 0.05 + sag - x));
      residual = fmax(residual, st.report.residual.velocity);
    }
    if (!(worst < 2e-3 * first) || !(residual < 1e-4))
      test_failed(__FILE__, __LINE__, "k = %g, b = %g: off by %g of %g m, residual %g m/s", k, b, worst,
                  first, residual);
    stage_close(&st);
  }
}

// Friction of a block on springs is the law's, and a stack of two materials sags as its springs do.
TEST(friction_on_springs_is_the_laws_under_soft_step)
{
  Stage st = stage_open(0.4, 0);
  st.step.scheme = "soft-step", st.step.dt = 1.0 / 256;
  tbBodyId id = add_block(&st, 5e4, 200, 0);
  stage_run(&st, 64);
  stage_push(&st, id, tb_vec3(2, 0, 0), tb_zero3());
  stage_run(&st, 64);
  double v = stage_state(&st, id).velocity.x, want = 2 - 0.4 * g * 0.25;
  if (!(fabs(v - want) < 2e-3 * want)) test_failed(__FILE__, __LINE__, "%g m/s, expected %g", v, want);
  stage_close(&st);
}

TEST(springs_of_a_stack_sag_in_series_under_soft_step)
{
  Stage st = stage_open(0.4, 0);
  st.step.scheme = "soft-step", st.step.dt = 1.0 / 256;
  double k = 2e4, b = 400;
  tbBodyId low = add_block(&st, k, b, 0);
  tbBodyId high =
      stage_add(&st, tb_shape_box(tb_vec3(0.4, 0.3, 0.1)), mass, tb_vec3(0, 0, 0.15), tb_quat_identity());
  stage_run(&st, 512);
  double sag[2] = {0.05 - stage_state(&st, low).position.z, 0.15 - stage_state(&st, high).position.z};
  double one = mass * g / (4 * k);
  if (!(fabs(sag[0] - 2 * one) < 1e-3 * one) || !(fabs(sag[1] - 3 * one) < 1e-3 * one))
    test_failed(__FILE__, __LINE__, "sags by %g and %g m, expected %g and %g", sag[0], sag[1], 2 * one,
                3 * one);
  stage_close(&st);
}
