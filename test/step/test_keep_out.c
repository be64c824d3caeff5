// SPDX-License-Identifier: Apache-2.0
// Schemes whose steps may end with a vertex a little way in a solid push it out again: the closest point of
// the surface, seen from inside, must not pull it in.
#include "fem/tets.h"
#include "known/worlds.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static const char* const schemes[] = {"pd", "primal", "xpbd", "vbd", "avbd"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static tbBodyId add_block(Stage* s, tbVec3 size, tbVec3 at, double young)
{
  tbTetMesh* mesh = NULL;
  tbDeformableDef def = tb_default_deformable_def();
  tbBodyId id = {-1, 0};
  CHECK_OK(&s->ctx, tb_tet_box(&s->ctx, size, (int[3]){2, 2, 1}, 5, &mesh));
  def.solid = mesh, def.soft.young = young, def.position = at;
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, &id));
  tb_tet_mesh_free(&s->ctx, mesh);
  return id;
}

// The least part of a contact's normal that points up to the block.
static double least_normal(const Stage* s, tbBodyId block)
{
  double least = 1;
  for (int i = 0; i < tb_world_contact_count(s->world); i++) {
    tbContactView c = tb_world_contact(s->world, i);
    least = fmin(least, c.b.index == block.index ? c.normal.z : -c.normal.z);
  }
  return least;
}

TEST(a_soft_block_that_starts_a_little_way_in_a_box_comes_out_of_it)
{
  for (int i = 0; i < 2 * SCHEMES; i++) {
    bool on_soft = i >= SCHEMES; // a held soft block for a floor
    double in = 1e-4;            // three clearances and more
    Stage s = stage_open(0.4, 0);
    s.step.scheme = schemes[i % SCHEMES], s.step.dt = 0.005;
    if (on_soft) {
      tbTetMesh* mesh = NULL;
      tbDeformableDef def = tb_default_deformable_def();
      tbBodyId id;
      CHECK_OK(&s.ctx, tb_tet_box(&s.ctx, tb_vec3(0.6, 0.5, 0.2), (int[3]){3, 2, 1}, 5, &mesh));
      int* node = calloc((size_t)mesh->nnode, sizeof *node);
      for (int k = 0; k < mesh->nnode; k++) node[k] = k;
      tbPinDef pin = tb_default_pin_def();
      pin.nodes = node, pin.node_count = mesh->nnode;
      def.solid = mesh, def.position = tb_vec3(0, 0, -0.1), def.pins = &pin, def.pin_count = 1;
      CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.world, &def, &id));
      free(node);
      tb_tet_mesh_free(&s.ctx, mesh);
    } else stage_fixed(&s, tb_shape_box(tb_vec3(4, 4, 0.2)), tb_vec3(0, 0, -0.1), tb_quat_identity());
    tbBodyId block = add_block(&s, tb_vec3(0.23, 0.17, 0.05), tb_vec3(0.01, -0.02, 0.025 - in), 1e6);
    double least = 1;
    for (int k = 0; k < 60; k++) stage_run(&s, 1), least = fmin(least, least_normal(&s, block));
    double z = stage_state(&s, block).position.z - 0.025;
    if (!(least > 0.9 && z > -1e-5 && z < 1e-3))
      test_failed(__FILE__, __LINE__, "%s%s: a normal's z is %g, the block ends %g m above the floor",
                  schemes[i % SCHEMES], on_soft ? " on a soft block" : "", least, z);
    stage_close(&s);
  }
}

// Both faces of a thin plate are close to what lies on it, and only one of them is touched.
TEST(what_lies_on_a_thin_plate_is_not_pushed_through_it)
{
  for (int i = 0; i < SCHEMES; i++) {
    Stage s = stage_open(0.4, 0);
    s.step.scheme = schemes[i], s.step.dt = 0.005;
    stage_fixed(&s, tb_shape_box(tb_vec3(4, 4, 1e-4)), tb_vec3(0, 0, -0.5e-4), tb_quat_identity());
    tbBodyId block = add_block(&s, tb_vec3(0.23, 0.17, 0.05), tb_vec3(0, 0, 0.025 + 1e-5), 1e6);
    stage_run(&s, 40);
    double z = stage_state(&s, block).position.z - 0.025;
    if (!(fabs(z) < 1e-3))
      test_failed(__FILE__, __LINE__, "%s: the block is %g m above the plate", schemes[i], z);
    stage_close(&s);
  }
}

// The report's penetration is the deepest overlap at the start of the step, and none where there are gaps.
TEST(reports_say_how_deep_the_deepest_overlap_is)
{
  static const double lift[][2] = {{0.004, 0.002}, {-0.003, 0.005}, {-0.001, -0.004}},
                      deepest[] = {0, 0.003, 0.004};
  for (int k = 0; k < 3; k++) {
    Stage s = stage_open(0.5, 0);
    s.step.margin = 0.01;
    stage_floor(&s, 0, 0);
    for (int i = 0; i < 2; i++)
      stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 1, tb_vec3(i, 0, 0.1 + lift[k][i]),
                tb_quat_identity());
    stage_run(&s, 1);
    CHECK(s.report.contacts == 8);
    CHECK_NEAR(s.report.penetration, deepest[k], 1e-12);
    stage_close(&s);
  }
}
