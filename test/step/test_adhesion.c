// SPDX-License-Identifier: Apache-2.0
// Adhesion, a cone moved along its axis, under every scheme and on bodies of every kind, against closed
// forms: on an incline of angle θ, of a body of mass m on n contacts,
//
//   a = g sin θ − μ (g cos θ + n c/m),   held where that is negative; above θ = π/2 it hangs, while n c is
//   more than −m g cos θ
#include "base/random.h"
#include "fem/sheet.h"
#include "fem/tets.h"
#include "known/worlds.h"
#include "test.h"
#include "tribo/change.h"

#include <math.h>
#include <string.h>

static const double g = 9.81;

typedef enum { RIGID, SOFT, REDUCED, CLOTH, KINDS } Kind;

typedef struct {
  double slope, heading, turn, mu;
  double share; // of what gravity presses, or pulls, the body with along the normal: what all contacts pull
  Kind kind;
  bool first; // the body is listed before the floor
} Setup;

static const tbVec3 size = {0.2, 0.16, 0.05};

static int contacts_of(Kind kind) { return kind == RIGID ? 4 : kind == CLOTH ? 16 : 9; }

static double mass_of(Kind kind)
{
  if (kind == RIGID) return 2;
  return kind == CLOTH ? 0.3 * 0.3 * tb_cloth_def().area_density : size.x * size.y * size.z * 1000;
}

// As far above the floor as the scheme keeps it: what starts closer is pushed off.
static tbBodyId add_body(Stage* st, const Setup* u, tbVec3 n)
{
  tbQuat q = tb_quat_mul(stage_turn(u->slope, u->heading), tb_quat_exp(tb_vec3(0, 0, u->turn)));
  bool barriers = strcmp(st->step.scheme, "ipc") == 0;
  double half = u->kind == CLOTH ? 0.5 * tb_cloth_def().thickness : size.z / 2;
  tbBodyId id = {0};
  if (u->kind == RIGID)
    return stage_add(st, tb_shape_box(size), 2, tb_scale3(half + (barriers ? 1.2e-4 : 0), n), q);
  tbDeformableDef def = tb_default_deformable_def();
  tbTetMesh* solid = NULL;
  tbMesh* sheet = NULL;
  if (u->kind == CLOTH) CHECK_OK(&st->ctx, tb_cloth_grid(&st->ctx, 0.3, 0.3, 3, 3, &sheet));
  else CHECK_OK(&st->ctx, tb_tet_box(&st->ctx, size, (int[3]){2, 2, 1}, 5, &solid));
  def.solid = solid, def.sheet = sheet, def.soft.young = 1e7, def.soft.stiffness_damping = 1e-3;
  def.cloth.shear = def.cloth.stretch = 2000, def.cloth.bend = 1e-2;
  if (u->kind == REDUCED) def.modes = 6, def.soft.model = TB_ELASTIC_LINEAR;
  def.self_contact = false;
  def.position = tb_scale3(half + (barriers ? 9e-4 : 1.2e-4), n), def.orientation = q;
  CHECK_OK(&st->ctx, tb_world_add_deformable(&st->ctx, st->world, &def, &id));
  tb_tet_mesh_free(&st->ctx, solid);
  tb_mesh_free(&st->ctx, sheet);
  return id;
}

static Stage open_incline(const Setup* u, const char* scheme, tbBodyId* body)
{
  double m = mass_of(u->kind);
  tbFriction f = tb_friction(u->mu);
  f.adhesion = u->share * m * g * fabs(cos(u->slope)) / contacts_of(u->kind);
  Stage st = stage_open_with(tb_vec3(0, 0, -g), f, 0);
  st.step.scheme = scheme, st.step.dt = 1.0 / 512;
  tbVec3 n = stage_normal(u->slope, u->heading);
  if (u->first) *body = add_body(&st, u, n);
  stage_floor(&st, u->slope, u->heading);
  if (!u->first) *body = add_body(&st, u, n);
  return st;
}

static double sum_of_normal_impulses(const tbWorld* w)
{
  double sum = 0;
  for (int k = 0; k < tb_world_contact_count(w); k++) sum += tb_world_contact(w, k).impulse[0];
  return sum;
}

// The acceleration down the slope, and what contacts push with along the normal.
static void slide(const Setup* u, const char* scheme, double* a, double* push)
{
  enum { SETTLE = 60, STEPS = 40 };
  tbBodyId body;
  Stage st = open_incline(u, scheme, &body);
  tbVec3 down = stage_down(u->slope, u->heading);
  double sum = 0;
  stage_run(&st, SETTLE);
  tbVec3 from = stage_state(&st, body).velocity;
  for (int i = 0; i < STEPS; i++) {
    stage_run(&st, 1);
    sum += sum_of_normal_impulses(st.world);
  }
  double seconds = STEPS * st.step.dt;
  *a = tb_dot3(tb_sub3(stage_state(&st, body).velocity, from), down) / seconds, *push = sum / seconds;
  stage_close(&st);
}

static bool moves(const tbScheme* scheme, Kind kind)
{
  unsigned need = kind == RIGID ? TB_MOVES_FRAMES : kind == REDUCED ? TB_MOVES_MODES : TB_MOVES_NODES;
  return scheme->moves & need;
}

// It slides, it is held, it hangs and slides. A sheet comes off where a node's contact pulls less than the
// node weighs: those in eight triangles weigh 2.4 times the mean. Impulses are published without the pull.
TEST(bodies_of_every_kind_adhere_under_every_scheme)
{
  uint64_t seed = 3;
  for (int i = 0; i < tb_scheme_count(); i++)
    for (int kind = 0; kind < KINDS; kind++)
      for (int k = 0; k < 3; k++) {
        const tbScheme* scheme = tb_scheme_at(i);
        if (!moves(scheme, kind)) continue;
        bool hangs = k == 2, held = k == 1;
        Setup u = {.slope = tb_random_uniform(&seed, hangs ? 1.8 : 0.7, hangs ? 2.3 : 1.0),
                   .heading = tb_random_uniform(&seed, -3, 3),
                   .turn = tb_random_uniform(&seed, -3, 3),
                   .mu = held ? 0.5 : tb_random_uniform(&seed, 0.05, 0.2),
                   .share = held ? 3 : tb_random_uniform(&seed, hangs ? 3 : 0.5, hangs ? 4 : 1.5),
                   .kind = (Kind)kind,
                   .first = k == 1};
        double cosine = cos(u.slope), a, push,
               want = g * (sin(u.slope) - u.mu * (cosine + u.share * fabs(cosine)));
        slide(&u, scheme->name, &a, &push);
        want = fmax(want, 0);
        double normal = mass_of(u.kind) * g * cosine;
        if (!(fabs(a - want) < 1e-3 * g))
          test_failed(__FILE__, __LINE__, "%s, kind %d, case %d: %.4f m/s², expected %.4f", scheme->name,
                      kind, k, a, want);
        if (!(fabs(push - normal) < 0.01 * fabs(normal)))
          test_failed(__FILE__, __LINE__, "%s, kind %d, case %d: pushes with %g N, expected %g", scheme->name,
                      kind, k, push, normal);
      }
}

// The pull is a force of the step: the problem of a step has it, the world that is asked for it does not.
TEST(the_problem_of_a_step_has_the_pull)
{
  for (int kind = 0; kind < KINDS; kind++) {
    Setup u = {.slope = 0.4, .mu = 0.5, .share = 2, .kind = (Kind)kind};
    tbBodyId body;
    Stage st = open_incline(&u, kind == REDUCED ? "semi-implicit" : "implicit", &body);
    stage_run(&st, 20);
    uint64_t hash = tb_world_hash(st.world);
    tbProblem* problem;
    double* lambda;
    CHECK_OK(&st.ctx, tb_world_problem(&st.ctx, st.world, &st.step, &problem, &lambda));
    CHECK(tb_world_hash(st.world) == hash);
    double sum = 0, want = 3 * mass_of(u.kind) * g * cos(u.slope) * st.step.dt;
    for (int k = 0; k < problem->ncontact; k++) sum += lambda[problem->row_adr[k]];
    if (!(fabs(sum / want - 1) < 0.01))
      test_failed(__FILE__, __LINE__, "kind %d: starts from %g N·s, expected %g", kind, sum, want);
    tb_problem_free(problem);
    tb_free(&st.ctx, lambda);
    stage_close(&st);
  }
}

static bool stop_at_once(void* user)
{
  (void)user;
  return true;
}

// A step that does not happen takes the pull back, from forces on nodes as well.
TEST(a_cancelled_step_leaves_no_pull)
{
  for (int kind = 0; kind < KINDS; kind++) {
    Setup u = {.slope = 0.4, .mu = 0.5, .share = 2, .kind = (Kind)kind};
    tbBodyId body[2];
    Stage st[2];
    for (int i = 0; i < 2; i++) {
      st[i] = open_incline(&u, kind == REDUCED ? "semi-implicit" : "implicit", &body[i]);
      stage_run(&st[i], 5);
      tbStepOptions cancelled = st[i].step;
      cancelled.solver.cancelled = stop_at_once;
      if (i) CHECK(tb_world_step(&st[i].ctx, st[i].world, &cancelled, NULL) == TB_ERROR_CANCELLED);
      stage_run(&st[i], 5);
    }
    CHECK(tb_world_hash(st[0].world) == tb_world_hash(st[1].world));
    for (int i = 0; i < 2; i++) stage_close(&st[i]);
  }
}
