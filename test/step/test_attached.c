// SPDX-License-Identifier: Apache-2.0
// Deformable bodies attached to rigid ones, by one hold and by several.
#include "kind/deformables.h"
#include "step/soft_stage.h"

// The impulses of the last step on what is attached, and the momentum of all nodes.
static tbVec3 pull_on(const Stage* s)
{
  const tbDeformable* d = deformable_at(s->world, 0);
  tbVec3 sum = tb_zero3();
  for (int n = 0; n < d->fem->nnode; n++) sum = tb_add3(sum, d->pull[n]);
  return sum;
}

static tbVec3 of_nodes(const Stage* s, tbBodyId jelly)
{
  tbVec3 sum = tb_zero3();
  for (int n = 0; n < tb_body_node_count(s->world, jelly); n++)
    sum = tb_add3(
        sum, tb_fem_momentum(deformable_at(s->world, 0)->fem, tb_body_node_velocities(s->world, jelly), n));
  return sum;
}

// A block of jelly whose bottom is attached to a brick, thrown through empty space. One hold: nothing else
// holds the jelly. Two: another brick at its top.
static void throw_attached(const char* scheme, int holds)
{
  Stage s = stage_open_with(tb_zero3(), tb_friction(0.5), 0);
  s.step.scheme = scheme;
  int bottom[9], top[9], nbottom = 0, ntop = 0;
  for (int i = 0; i < 27; i++)
    if (i / 9 == 0) bottom[nbottom++] = i;
    else if (i / 9 == 2) top[ntop++] = i;
  tbBodyId brick[2];
  for (int k = 0; k < 2; k++)
    brick[k] =
        stage_throw(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.05)), 0.5,
                    tb_vec3(0, 0, k ? (holds == 2 ? 0.1251 : 1) : -0.1251), tb_vec3(k ? -0.2 : 0.3, 0.1, 0));
  tbPinDef pin[2] = {tb_default_pin_def(), tb_default_pin_def()};
  pin[0].nodes = bottom, pin[0].node_count = nbottom, pin[0].body = brick[0];
  pin[1].nodes = top, pin[1].node_count = ntop, pin[1].body = brick[1];
  tbDeformableDef def = soft_at(1e5, tb_zero3(), tb_vec3(0, 0, 0.1));
  def.pins = pin, def.pin_count = holds;
  tbBodyId jelly = add_box(&s, tb_vec3(0.2, 0.2, 0.2), 2, def);
  tbVec3 before = tb_world_momentum(s.world), local[9], pulled = stage_state(&s, brick[0]).velocity;
  tbTransform start = {stage_state(&s, brick[0]).orientation, stage_state(&s, brick[0]).position};
  for (int i = 0; i < nbottom; i++)
    local[i] = tb_transform_unpoint(start, tb_body_nodes(s.world, jelly)[bottom[i]]);
  for (int i = 0; i < 40; i++) {
    tbVec3 momentum = of_nodes(&s, jelly);
    stage_run(&s, 1);
    CHECK(s.report.contacts == 0); // what is attached does not touch what it is attached to
    CHECK_NEAR(tb_distance3(tb_add3(momentum, pull_on(&s)), of_nodes(&s, jelly)), 0, 1e-9);
  }
  tbTransform now = {stage_state(&s, brick[0]).orientation, stage_state(&s, brick[0]).position};
  for (int i = 0; i < nbottom; i++)
    CHECK_NEAR(tb_distance3(tb_transform_point(now, local[i]), tb_body_nodes(s.world, jelly)[bottom[i]]), 0,
               1e-4);
  CHECK_NEAR(tb_distance3(tb_world_momentum(s.world), before), 0, 1e-9);
  CHECK(s.unconverged == 0);
  CHECK(tb_distance3(stage_state(&s, brick[0]).velocity, pulled) > 0.05);
  bool other_pulled = tb_distance3(stage_state(&s, brick[1]).velocity, tb_vec3(-0.2, 0.1, 0)) > 0.05;
  CHECK(other_pulled == (holds == 2));
  stage_close(&s);
}

TEST(what_is_attached_goes_along_and_keeps_momentum)
{
  static const char* const schemes[] = {"implicit", "ipc"};
  for (int i = 0; i < 2; i++) {
    throw_attached(schemes[i], 1);
    throw_attached(schemes[i], 2);
  }
}
