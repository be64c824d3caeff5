// SPDX-License-Identifier: Apache-2.0
// Directions of friction that differ from place to place.
#include "base/random.h"
#include "fem/tets.h"
#include "known/worlds.h"
#include "scene/world.h"
#include "test.h"
#include "tribo/change.h"
#include "tribo/io.h"
#include "tribo/tools/text.h"

#include <math.h>
#include <string.h>

enum { SIDE = 9 };

// The angle of the grooves at a place: rings about the origin.
static double rings(double x, double y) { return atan2(y, x) + PI / 2; }

// Rings sampled on a grid around the origin, every other one the other way round.
static int add_rings(Stage* s, double spacing)
{
  tbVec3 at[SIDE * SIDE], along[SIDE * SIDE];
  int field = 0;
  for (int i = 0; i < SIDE * SIDE; i++) {
    double x = spacing * (i % SIDE - 3.7), y = spacing * (i / SIDE - 4.2), a = rings(x, y);
    at[i] = tb_vec3(x, y, 0), along[i] = tb_scale3(i % 2 ? -2 : 0.5, tb_vec3(cos(a), sin(a), 0));
  }
  CHECK_OK(&s->ctx, tb_world_add_field(&s->ctx, s->world, SIDE * SIDE, at, along, &field));
  return field;
}

TEST(directions_of_a_field_are_exact_at_its_points_and_turn_steadily_between_them)
{
  Stage s = stage_open(0.5, 0);
  tbFriction f = {.kind = TB_FRICTION_ELLIPTIC, .field = add_rings(&s, 0.25)};
  uint64_t r = 4;
  for (int i = 0; i < SIDE * SIDE; i++) {
    double x = 0.25 * (i % SIDE - 3.7), y = 0.25 * (i / SIDE - 4.2), a = rings(x, y);
    tbVec3 d = tb_friction_direction(s.world, &f, tb_vec3(x, y, 0));
    CHECK_NEAR(fabs(d.x * cos(a) + d.y * sin(a)), 1, 1e-14);
  }
  tbVec3 last = tb_zero3();
  for (int k = 0; k < 4000; k++) { // along a circle: no jump, and never far from the rings
    double t = 2 * PI * k / 4000, x = 0.6 * cos(t), y = 0.6 * sin(t), a = rings(x, y);
    tbVec3 d = tb_friction_direction(s.world, &f, tb_vec3(x, y, 0.01));
    double apart = acos(fmin(fabs(d.x * cos(a) + d.y * sin(a)), 1));
    CHECK_NEAR(tb_norm3(d), 1, 1e-12);
    if (!(apart < 0.15)) test_failed(__FILE__, __LINE__, "%g rad off at %g", apart, t);
    if (k > 0 && !(fabs(tb_dot3(d, last)) > 1 - 1e-3))
      test_failed(__FILE__, __LINE__, "jumps at %g: %g", t, tb_dot3(d, last));
    last = d;
  }
  // the closest points are those of a search through all
  for (int k = 0; k < 50; k++) {
    tbVec3 at = tb_vec3(tb_random_uniform(&r, -1, 1.3), tb_random_uniform(&r, -1, 1), 0);
    double least = INFINITY, nearest = 0;
    const tbFieldPoint* p = s.world->field_point.data;
    for (int i = 0; i < SIDE * SIDE; i++)
      if (tb_distance3(p[i].at, at) < least) least = tb_distance3(p[i].at, at), nearest = i;
    tbVec3 close = tb_madd3(p[(int)nearest].at, 1e-7, tb_vec3(0, 1, 0));
    CHECK_NEAR(fabs(tb_dot3(tb_friction_direction(s.world, &f, close), p[(int)nearest].along)), 1, 1e-9);
  }
  stage_close(&s);
}

// Where a block slides to, on an ellipse with axes at the angle a of the slope's: s v̂ = g_T − g_n M²v̂/‖Mv̂‖,
// followed until it is steady.
static void expected(double mu_t, double mu_b, double a, double slope, double* angle, double* s)
{
  double c = cos(a), n = sin(a), x = 1, y = 0, ax = 0, ay = 0;
  double M[3] = {mu_t * mu_t * c * c + mu_b * mu_b * n * n, (mu_t * mu_t - mu_b * mu_b) * c * n,
                 mu_t * mu_t * n * n + mu_b * mu_b * c * c};
  for (int i = 0; i < 4000; i++) {
    double fx = M[0] * x + M[1] * y, fy = M[1] * x + M[2] * y, size = sqrt(x * fx + y * fy);
    ax = 9.81 * (sin(slope) - cos(slope) * fx / size), ay = -9.81 * cos(slope) * fy / size;
    double nx = x + 0.01 * ax, ny = y + 0.01 * ay, norm = hypot(nx, ny);
    x = nx / norm, y = ny / norm;
  }
  *angle = atan2(ay, ax), *s = hypot(ax, ay);
}

// On a slope with two fields, of grooves at an angle each, rigid and soft blocks slide as the one they are on
// says; so do blocks with a field of their own, turned as they are; and after a checkpoint.
TEST(blocks_slide_along_the_grooves_of_the_field_they_are_on)
{
  for (int i = 0; i < 8; i++) {
    bool on_block = i & 1, soft = i & 2;
    double slope = 0.6, turn_by = 0.5 * i - 1, a[2] = {0.4 + 0.1 * i, -0.8};
    Stage s = stage_open(0.4, 0);
    s.step.dt = 1.0 / 256, s.step.scheme = soft ? "implicit" : "semi-implicit";
    s.step.solver.velocity_tolerance = 1e-9;
    tbQuat turn = stage_turn(slope, 0.3), own = tb_quat_mul(turn, tb_quat_exp(tb_vec3(0, 0, turn_by)));
    tbVec3 n = stage_normal(slope, 0.3), at[16], along[16];
    for (int k = 0; k < 16; k++) { // two places, 4 m apart: on the floor, or, of two blocks, on each its own
      at[k] = tb_vec3((k < 8 ? -2 : 2) + 0.3 * (k % 4), 0.3 * (k / 4 % 2), 0);
      along[k] = tb_vec3(cos(a[k / 8]), sin(a[k / 8]), 0);
    }
    for (int place = 0; place < 2; place++) {
      Stage st = stage_open(0.4, 0);
      st.step = s.step;
      int field = 0;
      CHECK_OK(&st.ctx,
               tb_world_add_field(&st.ctx, st.world, on_block ? 8 : 16, at + (on_block ? 8 * place : 0),
                                  along + (on_block ? 8 * place : 0), &field));
      tbFriction grooves = {.kind = TB_FRICTION_ELLIPTIC,
                            .mu_t = 0.15,
                            .mu_b = 0.45,
                            .direction = {1, 0, 0},
                            .field = field},
                 plain = tb_friction(0.4);
      tbVec3 start = tb_quat_rotate(turn, tb_vec3(place ? 2.4 : -1.6, 0.1, soft ? 0.0252 : 0.025));
      tbBodyId floor = stage_fixed(&st, tb_shape_box(tb_vec3(40, 40, 1)), tb_scale3(-0.5, n), turn),
               box = {0};
      // the field's frame is the floor's own: its origin is half a metre below the face, which changes
      // nothing
      if (soft) {
        tbTetMesh* mesh = NULL;
        CHECK_OK(&st.ctx, tb_tet_box(&st.ctx, tb_vec3(0.2, 0.16, 0.05), (int[3]){2, 1, 1}, 5, &mesh));
        tbDeformableDef def = tb_default_deformable_def();
        def.solid = mesh, def.soft.young = 1e7, def.friction = on_block ? &grooves : &plain;
        def.position = start, def.orientation = own;
        CHECK_OK(&st.ctx, tb_world_add_deformable(&st.ctx, st.world, &def, &box));
        tb_tet_mesh_free(&st.ctx, mesh);
      } else {
        box = stage_add(&st, tb_shape_box(tb_vec3(0.2, 0.16, 0.05)), 1, start, own);
        CHECK_OK(&st.ctx, tb_body_set_friction(&st.ctx, st.world, box, on_block ? &grooves : &plain));
      }
      CHECK_OK(&st.ctx, tb_body_set_friction(&st.ctx, st.world, floor, on_block ? &plain : &grooves));
      stage_run_for(&st, soft ? 0.05 : 0);
      tbVec3 from = stage_state(&st, box).velocity;
      stage_run(&st, 52);
      tbVec3 way = tb_quat_unrotate(turn, tb_sub3(stage_state(&st, box).velocity, from));
      double angle, want;
      expected(sqrt(0.15 * 0.4), sqrt(0.45 * 0.4), a[place] + (on_block ? turn_by : 0), slope, &angle, &want);
      double off = hypot(way.x, way.y) * 256 / 52 / want - 1,
             degrees = (atan2(way.y, way.x) - angle) * 180 / PI;
      if (!(fabs(off) < (soft ? 2e-3 : 1e-5)) || !(fabs(degrees) < (soft ? 0.1 : 1e-3)))
        test_failed(__FILE__, __LINE__, "case %d, place %d: off by %.5f of the acceleration and %.4f°", i,
                    place, off, degrees);
      stage_close(&st);
    }
    stage_close(&s);
  }
}

// A box that starts beside the middle of a floor with rings, under a scheme.
static tbVec3 slide_over_rings(const char* scheme, bool on_block)
{
  Stage st = stage_open(0.4, 0);
  st.step.scheme = scheme, st.step.dt = 0.01;
  tbFriction grooves = {.kind = TB_FRICTION_ELLIPTIC, .mu_t = 0.15, .mu_b = 0.45, .direction = {1, 0, 0}};
  grooves.field = add_rings(&st, 0.25);
  tbBodyId floor = stage_floor(&st, 0, 0);
  tbBodyId box = stage_add(&st, tb_shape_box(tb_vec3(0.2, 0.16, 0.05)), 1, tb_vec3(0.7, -0.4, 0.025),
                           tb_quat_exp(tb_vec3(0, 0, 0.8)));
  CHECK_OK(&st.ctx, tb_body_set_friction(&st.ctx, st.world, on_block ? box : floor, &grooves));
  stage_push(&st, box, tb_vec3(0.5, 1.1, 0), tb_zero3());
  stage_run_for(&st, 0.1);
  tbVec3 v = stage_state(&st, box).velocity;
  stage_close(&st);
  return v;
}

TEST(ipc_asks_fields_where_contacts_are)
{
  for (int on_block = 0; on_block < 2; on_block++)
    CHECK(tb_distance3(slide_over_rings("ipc", on_block), slide_over_rings("semi-implicit", on_block)) <
          5e-3);
}

TEST(fields_of_directions_are_checked)
{
  Stage s = stage_open(0.5, 0);
  int field = 7;
  tbVec3 at[2] = {{0, 0, 0}, {1, 0, 0}}, along[2] = {{1, 0, 0}, {0, 0, 0}}, far = {INFINITY, 0, 0};
  CHECK(tb_world_add_field(&s.ctx, s.world, 2, at, along, &field) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "direction 1 of a field must not be zero"));
  CHECK(tb_world_add_field(&s.ctx, s.world, 1, &far, along, &field) == TB_ERROR_ARGUMENT);
  CHECK(tb_world_add_field(&s.ctx, s.world, 0, at, along, &field) == TB_ERROR_ARGUMENT);
  CHECK(field == 7);
  stage_close(&s);
}

// In scenes, through checkpoints, to the same bits.
TEST(a_scene_with_a_field_resumes_to_the_same_bits)
{
  const char* text =
      "{\"tribo\": 1, \"materials\": {\"grooved\": {\"friction\": {\"mu_t\": 0.1, \"mu_b\": 0.5, "
      "\"direction\": [1, 0, 0], \"field\": {\"points\": [[-1, 0, 0], [1, 0, 0], [0, 1, 0]], "
      "\"directions\": [[1, 1, 0], [1, -1, 0], [0, 2, 0]]}}}}, \"bodies\": [{\"name\": \"floor\", "
      "\"fixed\": true, \"material\": \"grooved\", \"shape\": {\"type\": \"plane\", \"normal\": [0, 0, 1], "
      "\"offset\": 0}}, {\"name\": \"box\", \"mass\": 1, \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, "
      "0.1]}, \"position\": [-1, 0, 0.05], \"velocity\": [3, 0.5, 0]}]}";
  tbContext ctx = tb_default_context();
  tbScene a = {0}, b = {0};
  tbOut out = tb_out_memory(&ctx);
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "field", text, strlen(text), NULL, &a));
  tbStepReport report;
  for (int i = 0; i < 10; i++) CHECK_OK(&ctx, tb_world_step(&ctx, a.world, &a.step, &report));
  CHECK_OK(&ctx, tb_checkpoint_print(&ctx, &out, &a));
  CHECK_OK(&ctx, tb_checkpoint_parse(&ctx, "field", out.bytes, out.length, &b));
  for (int i = 0; i < 20; i++) {
    CHECK_OK(&ctx, tb_world_step(&ctx, a.world, &a.step, &report));
    CHECK_OK(&ctx, tb_world_step(&ctx, b.world, &b.step, &report));
  }
  CHECK(tb_world_hash(a.world) == tb_world_hash(b.world));
  tbBodyState s = tb_body_state(a.world, tb_world_find_body(a.world, "box"));
  CHECK(fabs(s.velocity.y - 0.5) > 0.05); // the grooves have turned it
  tb_out_free(&out);
  tb_scene_free(&ctx, &a);
  tb_scene_free(&ctx, &b);
}

TEST(an_ellipse_with_a_field_needs_no_direction)
{
  static const char text[] =
      "{\"tribo\": 1, \"materials\": {\"m\": {\"friction\": {\"mu_t\": 0.1, \"mu_b\": 0.2, "
      "\"field\": {\"points\": [[0, 0, 0]], \"directions\": [[0, 1, 0]]}}}}}";
  tbContext ctx = tb_default_context();
  tbScene scene = {0};
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "field.json", text, strlen(text), NULL, &scene));
  CHECK(scene.world && scene.world->field.count == 1);
  tb_scene_free(&ctx, &scene);
}
