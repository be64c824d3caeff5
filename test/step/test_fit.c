// SPDX-License-Identifier: Apache-2.0
// What the tables say of solvers, laws and schemes is what steps do. And each contact says its part of the
// judge's number.
#include "known/worlds.h"
#include "step/joints.h"
#include "test.h"

#include <string.h>

static tbFriction friction_of(tbLaw law)
{
  tbFriction f = tb_friction(0.5);
  if (law == TB_LAW_ELLIPTIC)
    f.kind = TB_FRICTION_ELLIPTIC, f.mu_t = 0.3, f.mu_b = 0.6, f.direction = tb_vec3(1, 0, 0);
  if (law == TB_LAW_CONTENSOU || law == TB_LAW_ROLLING) f.kind = TB_FRICTION_CONTENSOU, f.torsion = 0.01;
  if (law == TB_LAW_ROLLING) f.rolling = 0.02;
  return f;
}

static void add_jelly(Stage* s)
{
  tbTetMesh* mesh = NULL;
  CHECK_OK(&s->ctx, tb_tet_box(&s->ctx, tb_vec3(0.2, 0.2, 0.2), (int[3]){1, 1, 1}, 5, &mesh));
  tbDeformableDef def = tb_default_deformable_def();
  def.solid = mesh, def.position = tb_vec3(2, 0, 0.1001);
  CHECK_OK(&s->ctx, tb_world_add_deformable(&s->ctx, s->world, &def, NULL));
  tb_tet_mesh_free(&s->ctx, mesh);
}

// A block that hangs from a joint, or lies on a floor, and makes a problem with the law in it.
static Stage world_with(tbLaw law, bool jelly)
{
  Stage s = stage_open_with(tb_vec3(0, 0, -9.81), friction_of(law), 0);
  tbBodyId block =
      stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 1, tb_vec3(0, 0, 0.1), tb_quat_identity());
  if (law <= TB_LAW_BOX) {
    tbJointDef def = tb_default_joint_def(law == TB_LAW_BILATERAL ? TB_JOINT_BALL : TB_JOINT_HINGE);
    if (law == TB_LAW_NONNEG) def.limited = true, def.lower = -1, def.upper = 1;
    if (law == TB_LAW_BOX) def.motor = true, def.motor_speed = 1, def.motor_force = 2;
    stage_join(&s, def, the_world, block, tb_vec3(0.3, 0, 0.1));
  } else {
    stage_floor(&s, 0, 0);
  }
  if (jelly) add_jelly(&s);
  return s;
}

TEST(solvers_take_what_the_tables_say_under_every_scheme)
{
  int taken = 0, refused = 0;
  for (int k = 0; k < tb_scheme_count(); k++)
    for (int law = 0; law <= TB_LAW_ROLLING; law++)
      for (int i = test_quick() ? (k + law) % 3 : 0; i < tb_solver_count(); i += test_quick() ? 3 : 1) {
        const tbScheme* scheme = tb_scheme_at(k);
        const tbSolver* solver = tb_solver_at(i);
        unsigned models = tb_solver_models(solver, (tbLaw)law);
        for (int m = 0; m < TB_MODEL_COUNT; m++) {
          Stage s = world_with((tbLaw)law, false);
          s.step.scheme = scheme->name, s.step.solver.solver = solver->name;
          s.step.solver.model = (tbModel)m, s.step.solver.max_iterations = 3;
          tbStatus status = tb_world_step(&s.ctx, s.world, &s.step, &s.report);
          bool asked = scheme->laws & 1u << law, fits = !asked || models & 1u << m;
          if (status != (fits ? TB_OK : TB_ERROR_UNSUPPORTED))
            test_failed(__FILE__, __LINE__, "%s, %s, %s under %s: %s", scheme->name, solver->name,
                        tb_law_name((tbLaw)law), tb_model_name((tbModel)m), tb_status_name(status));
          fits ? taken++ : refused++;
          stage_close(&s);
        }
      }
  CHECK(taken > (test_quick() ? 300 : 1000) && refused > (test_quick() ? 30 : 100));
}

TEST(every_solver_that_takes_friction_steps_a_soft_body)
{
  const tbScheme* implicit = tb_scheme_find("implicit");
  for (int i = 0; i < tb_solver_count(); i++) {
    Stage s = world_with(TB_LAW_COULOMB, true);
    bool exact = tb_scheme_fit(implicit, tb_solver_at(i)).exact & 1u << TB_LAW_COULOMB;
    s.step.scheme = "implicit", s.step.solver.solver = tb_solver_at(i)->name;
    s.step.solver.model = exact ? TB_MODEL_CONE : TB_MODEL_BOX, s.step.solver.max_iterations = 50;
    CHECK_OK(&s.ctx, tb_world_step(&s.ctx, s.world, &s.step, &s.report));
    CHECK(s.report.contacts > 4); // the block's four, and the jelly's
    stage_close(&s);
  }
}

TEST(schemes_for_rigid_bodies_refuse_deformable_ones)
{
  for (int k = 0; k < tb_scheme_count(); k++) {
    Stage s = world_with(TB_LAW_COULOMB, true);
    s.step.scheme = tb_scheme_at(k)->name;
    tbStatus status = tb_world_step(&s.ctx, s.world, &s.step, &s.report);
    CHECK(status == ((tb_scheme_at(k)->moves & TB_MOVES_NODES) ? TB_OK : TB_ERROR_ARGUMENT));
    stage_close(&s);
  }
}

// No joints: then the contacts' parts are all there is.
LONG_TEST(residuals_of_contacts_add_up_to_the_steps)
{
  for (int k = 0; k < tb_scheme_count(); k++) {
    Stage s = stage_open(0.5, 0);
    stage_floor(&s, 0, 0);
    for (int i = 0; i < 4; i++)
      stage_add(&s, tb_shape_box(tb_vec3(0.2, 0.2, 0.2)), 1 + i, tb_vec3(0.03 * i, 0, 0.1 + 0.2 * i),
                tb_quat_identity());
    bool rows = strcmp(tb_scheme_at(k)->name, "xpbd") == 0; // of elements, which no record shows
    if ((tb_scheme_at(k)->moves & TB_MOVES_NODES) && !rows) add_jelly(&s);
    s.step.scheme = tb_scheme_at(k)->name, s.step.solver.solver = "pgs", s.step.solver.max_iterations = 5;
    for (int step = 0; step < 5; step++) {
      stage_run(&s, 1);
      double sum = 0;
      for (int i = 0; i < tb_world_contact_count(s.world); i++) {
        double r = tb_world_contact(s.world, i).residual;
        sum += r * r;
      }
      CHECK(sum > 0);
      CHECK_NEAR(sqrt(sum), s.report.residual.fclib, 1e-13 * s.report.residual.fclib);
    }
    stage_close(&s);
  }
}
