// SPDX-License-Identifier: Apache-2.0
// Deformable bodies too large to factor: steps by conjugate gradients are the steps that a factor makes.
#include "scene/world.h"
#include "step/soft_stage.h"

// As if the world's only deformable body were found to be too large.
static void take_factor_away(Stage* s)
{
  tbBodyFactor none = {.analysed = true};
  for (size_t i = 0; i < s->world->body.count; i++)
    CHECK_OK(&s->ctx, tb_array_push(&s->ctx, &s->world->cache->factor, &none, 1));
}

static bool has_factor(const Stage* s)
{
  const tbBodyFactor* kept = s->world->cache->factor.data;
  for (size_t i = 0; i < s->world->cache->factor.count; i++)
    if (kept[i].factor) return true;
  return false;
}

// A block that falls on a slope with a ball on top, with a factor or as if it were too large for one.
static Stage falling_block(bool factored, tbBodyId* block)
{
  Stage s = soft_stage(0.4, 0.005);
  s.step.solver.tolerance = 1e-9, s.step.solver.velocity_tolerance = 1e-8;
  stage_floor(&s, 0.2, 0.5);
  *block = add_box(&s, tb_vec3(0.4, 0.3, 0.2), 3, soft_at(1e5, tb_vec3(0, 0, 0.16), tb_vec3(0.3, 0, -0.5)));
  stage_throw(&s, tb_shape_sphere(0.05), 1, tb_vec3(0, 0, 0.32), tb_zero3());
  if (!factored) take_factor_away(&s);
  return s;
}

LONG_TEST(bodies_without_a_factor_step_like_those_with_one)
{
  tbBodyId id[2];
  Stage s[2] = {falling_block(true, &id[0]), falling_block(false, &id[1])};
  int contacts = 0;
  for (int k = 0; k < 30; k++) {
    double worst = 0;
    for (int i = 0; i < 2; i++) {
      stage_run(&s[i], 1);
      CHECK(s[i].report.outcome == TB_CONVERGED && s[i].report.residual.velocity <= 1e-8);
    }
    CHECK(has_factor(&s[0]) && !has_factor(&s[1]));
    CHECK(s[0].report.contacts == s[1].report.contacts);
    contacts += s[1].report.contacts;
    for (int n = 0; n < tb_body_node_count(s[0].world, id[0]); n++)
      worst =
          fmax(worst, tb_distance3(tb_body_nodes(s[0].world, id[0])[n], tb_body_nodes(s[1].world, id[1])[n]));
    CHECK_NEAR(worst, 0, 1e-7);
  }
  CHECK(contacts > 100);
  stage_close(&s[0]), stage_close(&s[1]);
}

// Each of several is made ready for the step.
LONG_TEST(two_bodies_without_a_factor_step_like_those_with_one)
{
  Stage s[2];
  tbBodyId id[2][2];
  for (int i = 0; i < 2; i++) {
    s[i] = soft_stage(0.4, 0.005);
    s[i].step.solver.tolerance = 1e-9, s[i].step.solver.velocity_tolerance = 1e-8;
    stage_floor(&s[i], 0, 0);
    for (int k = 0; k < 2; k++)
      id[i][k] =
          add_box(&s[i], tb_vec3(0.2, 0.2, 0.1), 2, soft_at(1e5, tb_vec3(0.5 * k, 0, 0.06), tb_zero3()));
    if (i) take_factor_away(&s[i]);
    stage_run(&s[i], 15);
    CHECK(s[i].unconverged == 0 && s[i].report.contacts > 10 && has_factor(&s[i]) == !i);
  }
  for (int k = 0; k < 2; k++)
    for (int n = 0; n < tb_body_node_count(s[0].world, id[0][k]); n++)
      CHECK_NEAR(tb_distance3(tb_body_nodes(s[0].world, id[0][k])[n], tb_body_nodes(s[1].world, id[1][k])[n]),
                 0, 1e-7);
  stage_close(&s[0]), stage_close(&s[1]);
}

// A large body is made ready after the small ones, by all threads.
TEST(small_and_large_bodies_fall_side_by_side)
{
  Stage s = soft_stage(0.4, 0.01);
  tbBodyId id[2];
  for (int k = 0; k < 2; k++)
    id[k] = add_box(&s, tb_vec3(0.4, 0.4, 0.4), k ? 16 : 2, soft_at(1e5, tb_vec3(k, 0, 1), tb_zero3()));
  take_factor_away(&s);
  stage_run(&s, 1);
  CHECK(tb_body_node_count(s.world, id[1]) > 4000);
  for (int k = 0; k < 2; k++)
    for (int n = 0; n < tb_body_node_count(s.world, id[k]); n++)
      CHECK_NEAR(tb_body_node_velocities(s.world, id[k])[n].z, 0.01 * s.world->gravity.z, 1e-9);
  stage_close(&s);
}

// Elasticity taken anew where a step ends asks the matrix as well.
LONG_TEST(newtons_method_on_elasticity_needs_no_factor)
{
  tbBodyId id[2];
  Stage s[2] = {falling_block(true, &id[0]), falling_block(false, &id[1])};
  for (int i = 0; i < 2; i++) {
    s[i].step.newton_steps = 20, s[i].step.newton_tolerance = 1e-7;
    for (int k = 0; k < 8; k++) {
      stage_run(&s[i], 1);
      CHECK(!s[i].report.newton_missed);
    }
    CHECK(s[i].report.contacts > 0 && has_factor(&s[i]) == !i);
  }
  double worst = 0;
  for (int n = 0; n < tb_body_node_count(s[0].world, id[0]); n++)
    worst =
        fmax(worst, tb_distance3(tb_body_nodes(s[0].world, id[0])[n], tb_body_nodes(s[1].world, id[1])[n]));
  CHECK_NEAR(worst, 0, 1e-7);
  stage_close(&s[0]), stage_close(&s[1]);
}

// One whose matrix is worked on in several pieces.
LONG_TEST(products_with_large_bodies_go_piece_by_piece)
{
  double z[2];
  for (int i = 0; i < 2; i++) {
    Stage s = soft_stage(0.4, 0.005);
    stage_floor(&s, 0, 0);
    tbBodyId block =
        add_box(&s, tb_vec3(0.4, 0.4, 0.4), 7, soft_at(1e5, tb_vec3(0, 0, 0.202), tb_vec3(0.3, 0, -0.5)));
    s.step.solver.tolerance = 1e-9, s.step.solver.velocity_tolerance = 1e-8;
    if (i) take_factor_away(&s);
    stage_run(&s, 3);
    CHECK(s.unconverged == 0 && s.report.contacts > 50 && has_factor(&s) == !i);
    z[i] = tb_body_nodes(s.world, block)[tb_body_node_count(s.world, block) / 2].z;
    stage_close(&s);
  }
  CHECK_NEAR(z[1], z[0], 1e-8);
}

// How often a step asks whether to go on: once for every product of conjugate gradients, and a little more.
static int questions(Stage* s)
{
  Countdown c = {.after = 1 << 30};
  s->ctx.interrupt = (tbInterrupt){count_down, &c};
  stage_run(s, 1);
  s->ctx.interrupt = (tbInterrupt){0};
  return c.calls;
}

// At rest the velocities of the step before are those of this one, and little is left to solve for.
LONG_TEST(bodies_without_a_factor_begin_from_the_step_before)
{
  Stage s = soft_stage(0.4, 0.01);
  stage_floor(&s, 0, 0);
  tbDeformableDef def = soft_at(1e5, tb_vec3(0, 0, 0.1002), tb_zero3());
  def.soft.stiffness_damping = 0.1;
  add_box(&s, tb_vec3(0.4, 0.3, 0.2), 3, def);
  take_factor_away(&s);
  stage_run(&s, 50);
  int asked = 0;
  for (int k = 0; k < 50; k++) asked += questions(&s);
  CHECK(s.unconverged == 0);
  CHECK_NEAR(asked / 50, 324, 60); // of which the judge asks 74; from nothing the others ask 385
  stage_close(&s);
}

TEST(conjugate_gradients_of_a_step_are_interrupted_anywhere)
{
  tbBodyId block;
  Stage s = falling_block(false, &block);
  stage_run(&s, 12); // on the floor
  uint64_t before = tb_world_hash(s.world);
  int times = 0;
  for (int after = 0;; after += 7, times++) {
    Countdown c = {.after = after};
    s.ctx.interrupt = (tbInterrupt){count_down, &c};
    tbStatus status = tb_world_step(&s.ctx, s.world, &s.step, NULL);
    if (status == TB_OK) break;
    CHECK(status == TB_ERROR_CANCELLED && tb_world_hash(s.world) == before);
    CHECK(c.calls <= after + 20);
  }
  CHECK(times > 40);
  s.ctx.interrupt = (tbInterrupt){0};
  stage_close(&s);
}
