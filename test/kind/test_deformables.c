// SPDX-License-Identifier: Apache-2.0
// Deformable bodies in a world: where they start, what holds them, what is measured of them, what is refused.
#include "kind/deformables.h"
#include "kind/rigid.h"
#include "test.h"

#include <string.h>

#define PI 3.14159265358979323846

typedef struct {
  tbContext ctx;
  tbWorld* w;
  tbTetMesh* solid; // 1 × 1 × 1, 2³ cells
  tbMesh* sheet;    // 1 × 1, 4² cells
} Setting;

static Setting set(void)
{
  Setting s = {.ctx = tb_default_context()};
  tbWorldDef def = tb_default_world_def();
  const int cells[3] = {2, 2, 2};
  CHECK_OK(&s.ctx, tb_world_create(&s.ctx, &def, &s.w));
  CHECK_OK(&s.ctx, tb_tet_box(&s.ctx, tb_vec3(1, 1, 1), cells, 6, &s.solid));
  CHECK_OK(&s.ctx, tb_cloth_grid(&s.ctx, 1, 1, 4, 4, &s.sheet));
  return s;
}

static void clear(Setting* s)
{
  tb_world_free(&s->ctx, s->w);
  tb_tet_mesh_free(&s->ctx, s->solid);
  tb_mesh_free(&s->ctx, s->sheet);
}

static tbDeformableDef solid_def(const Setting* s)
{
  tbDeformableDef d = tb_default_deformable_def();
  d.solid = s->solid;
  return d;
}

static tbDeformableDef sheet_def(const Setting* s)
{
  tbDeformableDef d = tb_default_deformable_def();
  d.sheet = s->sheet;
  return d;
}

static tbBodyId add_ball(Setting* s, tbBodyMotion motion, tbVec3 position, tbVec3 velocity, tbVec3 spin)
{
  tbShape ball = tb_shape_sphere(0.1);
  tbBodyDef d = tb_default_body_def();
  tbBodyId id = {-1, 0};
  d.kind = motion, d.shapes = &ball, d.shape_count = 1;
  d.position = position, d.velocity = velocity, d.angular_velocity = spin;
  CHECK_OK(&s->ctx, tb_world_add_body(&s->ctx, s->w, &d, &id));
  return id;
}

static double apart(tbVec3 a, tbVec3 b) { return tb_distance3(a, b); }

static tbQuat quarter(void) { return tb_quat_exp(tb_vec3(0, 0, PI / 2)); }

TEST(a_deformable_starts_where_its_pose_puts_it_moving_as_its_frame_does)
{
  Setting s = set();
  tbDeformableDef d = solid_def(&s);
  d.name = "jelly", d.position = tb_vec3(1, 2, 3), d.orientation = tb_quat(2, 0, 0, 2);
  d.velocity = tb_vec3(1, 0, 0), d.angular_velocity = tb_vec3(0, 0, 2);
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, &id));
  REQUIRE(tb_world_find_body(s.w, "jelly").index == id.index);
  REQUIRE(tb_body_node_count(s.w, id) == s.solid->nnode);
  CHECK(tb_body_triangle_count(s.w, id) == s.solid->ntriangle);
  CHECK(memcmp(tb_body_triangles(s.w, id), s.solid->triangle, sizeof(int[3]) * s.solid->ntriangle) == 0);
  const tbVec3 *x = tb_body_nodes(s.w, id), *v = tb_body_node_velocities(s.w, id);
  for (int i = 0; i < s.solid->nnode; i++) {
    tbVec3 r = tb_quat_rotate(quarter(), s.solid->node[i]);
    CHECK_NEAR(apart(x[i], tb_add3(d.position, r)), 0, 1e-15);
    CHECK_NEAR(apart(v[i], tb_vec3(1 - 2 * r.y, 2 * r.x, 0)), 0, 1e-14);
  }
  tbBodyState state = tb_body_state(s.w, id);
  CHECK_NEAR(apart(state.position, d.position), 0, 1e-14);
  CHECK_NEAR(apart(state.velocity, d.velocity), 0, 1e-14);
  CHECK_NEAR(tb_body_mass(s.w, id), 1000, 1e-9);
  const tbBody* b = &tb_bodies(s.w)[id.index];
  CHECK(b->kind == &tb_kind_soft && b->motion == TB_BODY_DYNAMIC && b->nshape == 0);
  CHECK_NEAR(b->radius, sqrt(0.75), 1e-14);
  clear(&s);
}

TEST(a_turned_sheet_keeps_its_warp_and_its_energy_at_rest)
{
  Setting s = set();
  tbDeformableDef d = sheet_def(&s);
  d.orientation = quarter(), d.position = tb_vec3(0, 0, 1), d.cloth.thickness = 0.02;
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, &id));
  const tbDeformable* f = deformable_at(s.w, 0);
  CHECK_NEAR(apart(f->fem->sheet.warp, tb_vec3(0, 1, 0)), 0, 1e-15);
  CHECK_NEAR(tb_world_energy(s.w).elastic, 0, 1e-25);
  CHECK(f->radius == 0.01);
  CHECK_NEAR(tb_bodies(s.w)[id.index].radius, sqrt(0.5) + 0.01, 1e-14);
  CHECK(tb_body_triangle_count(s.w, id) == 32 && tb_bodies(s.w)[id.index].kind == &tb_kind_cloth);
  clear(&s);
}

TEST(linear_elasticity_is_at_rest_wherever_it_is_put)
{
  Setting s = set();
  tbDeformableDef d = solid_def(&s);
  d.soft.model = TB_ELASTIC_LINEAR, d.orientation = quarter(), d.position = tb_vec3(7, 8, 9);
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, NULL));
  CHECK_NEAR(tb_world_energy(s.w).elastic, 0, 1e-18);
  clear(&s);
}

// ½ m v² + ½ I ω², m v, x × m v + I ω of a box of 1 m and 1000 kg; with the consistent mass matrix I is m/6.
TEST(a_deformable_that_moves_rigidly_has_the_energy_and_momentum_of_a_rigid_body)
{
  Setting s = set();
  tbDeformableDef d = solid_def(&s);
  d.soft.consistent_mass = true, d.position = tb_vec3(0, 0, 2);
  d.velocity = tb_vec3(3, 0, 0), d.angular_velocity = tb_vec3(0, 0, 1);
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, NULL));
  tbEnergy e = tb_world_energy(s.w);
  CHECK_NEAR(e.kinetic, 0.5 * 1000 * 9 + 0.5 * 1000 / 6.0, 1e-9);
  CHECK_NEAR(e.potential, 1000 * 9.81 * 2, 1e-8);
  CHECK_NEAR(e.elastic, 0, 1e-18);
  CHECK_NEAR(apart(tb_world_momentum(s.w), tb_vec3(3000, 0, 0)), 0, 1e-9);
  CHECK_NEAR(apart(tb_world_angular_momentum(s.w), tb_vec3(0, 6000, 1000 / 6.0)), 0, 1e-9);
  clear(&s);
}

TEST(stretch_is_elastic_energy_and_changes_the_hash)
{
  Setting s = set();
  tbDeformableDef d = solid_def(&s);
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, &id));
  tbVec3 x[27], v[27] = {0};
  REQUIRE(tb_body_node_count(s.w, id) == 27);
  memcpy(x, tb_body_nodes(s.w, id), sizeof x);
  uint64_t before = tb_world_hash(s.w);
  for (int i = 0; i < 27; i++) x[i].x *= 1.1;
  CHECK_OK(&s.ctx, tb_body_set_nodes(&s.ctx, s.w, id, x, v));
  CHECK(tb_world_hash(s.w) != before);
  // co-rotated: ½ (2μ + λ) ε² V
  double mu = 1e6 / (2 * 1.3), lambda = 1e6 * 0.3 / (1.3 * 0.4);
  CHECK_NEAR(tb_world_energy(s.w).elastic, 0.5 * (2 * mu + lambda) * 0.01, 1e-8);
  uint64_t stretched = tb_world_hash(s.w);
  v[5].y = 1e-300;
  CHECK_OK(&s.ctx, tb_body_set_nodes(&s.ctx, s.w, id, x, v));
  CHECK(tb_world_hash(s.w) != stretched);
  v[5].y = NAN;
  CHECK(tb_body_set_nodes(&s.ctx, s.w, id, x, v) == TB_ERROR_ARGUMENT);
  CHECK(tb_body_node_velocities(s.w, id)[5].y == 1e-300);
  clear(&s);
}

TEST(setting_its_state_moves_it_as_if_it_were_rigid_with_what_the_world_holds)
{
  Setting s = set();
  int corner = 0;
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = &corner, pin.node_count = 1;
  tbDeformableDef d = solid_def(&s);
  d.pins = &pin, d.pin_count = 1, d.position = tb_vec3(5, 0, 0);
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, &id));
  tbBodyState state = {tb_vec3(1, 2, 3), tb_quat(3, 0, 0, 3), tb_vec3(0, 0, 1), tb_vec3(0, 0, 4)};
  CHECK_OK(&s.ctx, tb_body_set_state(&s.ctx, s.w, id, &state));
  const tbDeformable* f = deformable_at(s.w, 0);
  for (int i = 0; i < 27; i++) {
    tbVec3 r = tb_quat_rotate(quarter(), s.solid->node[i]);
    CHECK_NEAR(apart(f->x[i], tb_add3(state.position, r)), 0, 1e-14);
    CHECK_NEAR(apart(f->v[i], tb_vec3(-4 * r.y, 4 * r.x, 1)), 0, 1e-14);
  }
  tbBodyState held = tb_hold_state(s.w, &f->hold[0]);
  tbVec3 place = tb_transform_point(tb_transform(held.orientation, held.position), f->local[corner]);
  CHECK_NEAR(apart(place, f->x[corner]), 0, 1e-14);
  CHECK_NEAR(apart(tb_body_state(s.w, id).position, state.position), 0, 1e-14);
  state.orientation = tb_quat(0, 0, 0, 0);
  CHECK(tb_body_set_state(&s.ctx, s.w, id, &state) == TB_ERROR_ARGUMENT);
  clear(&s);
}

TEST(held_nodes_go_with_what_holds_them)
{
  Setting s = set();
  s.w->time = 2;
  tbBodyId ball = add_ball(&s, TB_BODY_DYNAMIC, tb_vec3(0, 0, 1), tb_vec3(1, 0, 0), tb_vec3(0, 0, 3));
  tbBodyId post = add_ball(&s, TB_BODY_FIXED, tb_vec3(2, 0, 0), tb_zero3(), tb_zero3());
  tbMotionKey keys[2] = {{0, {0, 0, 0}, tb_quat_identity()}, {4, {0, 0, 8}, tb_quat(2, 0, 0, 2)}};
  const int rest[2] = {0, 1}, turning[1] = {2}, keyed[1] = {3}, carried[1] = {20}, posted[1] = {21};
  tbPinDef pins[5];
  for (int i = 0; i < 5; i++) pins[i] = tb_default_pin_def(), pins[i].node_count = 1;
  pins[0].nodes = rest, pins[0].node_count = 2;
  pins[1].nodes = turning, pins[1].velocity = tb_vec3(0, 1, 0), pins[1].angular_velocity = tb_vec3(0, 0, 1);
  pins[2].nodes = keyed, pins[2].keys = keys, pins[2].key_count = 2;
  pins[3].nodes = carried, pins[3].body = ball;
  pins[4].nodes = posted, pins[4].body = post;
  tbDeformableDef d = sheet_def(&s);
  d.pins = pins, d.pin_count = 5, d.velocity = tb_vec3(0, 0, -1), d.position = tb_vec3(0.5, 0, 0);
  tbBodyId id;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, &id));
  const tbDeformable* f = deformable_at(s.w, 0);
  const tbVec3* X = s.sheet->vertex;
  REQUIRE(f->nhold == 5 && s.w->key.count == 2);
  for (int i = 0; i < f->fem->nnode; i++) {
    bool pinned = i <= 3 || i == 21, held = pinned || i == 20;
    CHECK(f->fem->pinned[i] == pinned && (f->holder[i] >= 0) == held);
    if (!held) CHECK(f->v[i].z == -1 && apart(f->x[i], tb_add3(X[i], d.position)) == 0);
  }
  CHECK(f->holder[3] == 2 && f->holder[20] == 3);
  CHECK(apart(f->x[1], tb_add3(X[1], d.position)) == 0 && tb_norm3(f->v[1]) == 0);
  CHECK_NEAR(apart(f->v[2], tb_vec3(-X[2].y, 1 + X[2].x, 0)), 0, 1e-14);
  // halfway between the keys: 45°, 4 m up
  tbVec3 turned = tb_quat_rotate(tb_quat_exp(tb_vec3(0, 0, PI / 4)), X[3]);
  CHECK_NEAR(apart(f->x[3], tb_add3(tb_vec3(0, 0, 4), turned)), 0, 1e-14);
  // with the ball, about its centre
  tbVec3 arm = tb_sub3(tb_add3(X[20], d.position), tb_vec3(0, 0, 1));
  CHECK_NEAR(apart(f->v[20], tb_vec3(1 - 3 * arm.y, 3 * arm.x, 0)), 0, 1e-14);
  CHECK_NEAR(apart(f->local[20], arm), 0, 1e-15);
  // a quarter turn later
  tbTransform T = tb_motion_pose(s.w, &f->hold[1].motion, 2 + PI / 2);
  CHECK_NEAR(apart(tb_transform_point(T, f->local[2]),
                   tb_add3(tb_vec3(0.5, PI / 2, 0), tb_quat_rotate(quarter(), X[2]))),
             0, 1e-14);
  clear(&s);
}

TEST(forces_act_on_a_deformable_and_torques_and_joints_do_not)
{
  Setting s = set();
  tbDeformableDef d = solid_def(&s);
  d.name = "jelly";
  tbBodyId id, ball = add_ball(&s, TB_BODY_DYNAMIC, tb_vec3(0, 0, 3), tb_zero3(), tb_zero3());
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &d, &id));
  CHECK_OK(&s.ctx, tb_body_apply(&s.ctx, s.w, id, tb_vec3(1, 2, 3), tb_zero3()));
  CHECK(tb_bodies(s.w)[id.index].force.z == 3);
  CHECK(tb_body_apply(&s.ctx, s.w, id, tb_zero3(), tb_vec3(1, 0, 0)) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "jelly"));
  tbJointDef j = tb_default_joint_def(TB_JOINT_BALL);
  j.a = ball, j.b = id;
  CHECK(tb_world_add_joint(&s.ctx, s.w, &j, NULL) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "jelly") && strstr(s.ctx.error.message, "pins"));
  CHECK(tb_body_node_count(s.w, ball) == 0 && !tb_body_nodes(s.w, ball) && !tb_body_triangles(s.w, ball));
  CHECK(tb_bodies(s.w)[ball.index].kind == &tb_kind_rigid);
  clear(&s);
}

static void refused(Setting* s, const tbDeformableDef* d, const char* what)
{
  const tbWorld* w = s->w;
  size_t bodies = w->body.count, keys = w->key.count, surfaces = w->contact_material.count;
  uint64_t hash = tb_world_hash(w);
  tbStatus status = tb_world_add_deformable(&s->ctx, s->w, d, NULL);
  bool same = bodies == w->body.count && keys == w->key.count && surfaces == w->contact_material.count &&
              hash == tb_world_hash(w);
  bool named = strstr(s->ctx.error.message, "jelly") || d->friction;
  if ((status != TB_ERROR_ARGUMENT && status != TB_ERROR_INPUT) || !same || !named)
    test_failed(__FILE__, __LINE__, "%s: %s (%s), the world is %s", what, tb_status_name(status),
                s->ctx.error.message, same ? "as it was" : "changed");
  s->ctx.error.message[0] = 0;
}

#define REFUSED(change)                                \
  do {                                                 \
    tbPinDef p = tb_default_pin_def();                 \
    tbDeformableDef d = solid_def(&s);                 \
    d.name = "jelly", p.nodes = one, p.node_count = 1; \
    d.pins = &p, d.pin_count = 1;                      \
    change;                                            \
    refused(&s, &d, #change);                          \
  } while (0)

TEST(bad_deformables_are_refused_by_name)
{
  Setting s = set();
  const int one[2] = {1, 1}, beyond[1] = {27}, below[1] = {-1};
  tbMotionKey keys[2] = {{1, {0, 0, 0}, tb_quat_identity()}, {1, {1, 0, 0}, tb_quat_identity()}};
  tbMotionKey nowhere = {0, {0, 0, NAN}, tb_quat_identity()};
  tbFriction sticky = tb_friction(-1);
  tbBodyId ball = add_ball(&s, TB_BODY_DYNAMIC, tb_vec3(0, 0, 3), tb_zero3(), tb_zero3());
  tbDeformableDef first = solid_def(&s);
  tbBodyId soft;
  CHECK_OK(&s.ctx, tb_world_add_deformable(&s.ctx, s.w, &first, &soft));
  REFUSED(d.solid = NULL);
  REFUSED(d.sheet = s.sheet);
  REFUSED(d.position.x = NAN);
  REFUSED(d.position.x = 1e300);
  REFUSED(d.position.x = 1e20); // nothing is left of its tetrahedra there
  REFUSED((d.solid = NULL, d.sheet = s.sheet, d.position.x = 1e20));
  REFUSED(d.orientation = tb_quat(0, 0, 0, 0));
  REFUSED(d.velocity.y = INFINITY);
  REFUSED(d.angular_velocity.z = NAN);
  REFUSED(d.material.index = 5);
  REFUSED(d.friction = &sticky);
  REFUSED(d.soft.young = -1);
  REFUSED(d.soft.density = 0);
  REFUSED((d.solid = NULL, d.sheet = s.sheet, d.cloth.stretch = 0));
  REFUSED(d.pin_count = -1);
  REFUSED(d.pins = NULL);
  REFUSED(p.nodes = NULL);
  REFUSED(p.nodes = beyond);
  REFUSED(p.nodes = below);
  REFUSED(p.node_count = 2); // the same node twice
  REFUSED(p.body.index = 7);
  REFUSED(p.body.index = -2);
  REFUSED(p.body = soft);
  REFUSED((p.body.index = soft.index + 1)); // itself
  REFUSED((p.keys = keys, p.key_count = 2));
  REFUSED((p.keys = &nowhere, p.key_count = 1));
  REFUSED(p.key_count = 1);
  REFUSED((p.body = ball, p.velocity.x = 1));
  REFUSED(p.velocity.x = NAN);
  tbDeformableDef again = solid_def(&s);
  again.name = "body/1";
  CHECK(tb_world_add_deformable(&s.ctx, s.w, &again, NULL) == TB_ERROR_ARGUMENT);
  CHECK(strstr(s.ctx.error.message, "body/1"));
  clear(&s);
}

// A world, a solid with a surface of its own and a sheet with keys, or as many of them as memory allows.
static tbStatus build(tbContext* ctx, const Setting* s, tbWorld** w, int* added)
{
  tbWorldDef world_def = tb_default_world_def();
  TB_TRY(tb_world_create(ctx, &world_def, w));
  tbFriction friction = tb_friction(0.9);
  int node = 3;
  tbMotionKey key = {0, {0, 0, 1}, tb_quat_identity()};
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = &node, pin.node_count = 1, pin.keys = &key, pin.key_count = 1;
  tbDeformableDef soft = solid_def(s), cloth = sheet_def(s);
  soft.soft.consistent_mass = true, soft.friction = &friction;
  cloth.pins = &pin, cloth.pin_count = 1, cloth.cloth.air_damping = 1;
  TB_TRY(tb_world_add_deformable(ctx, *w, &soft, NULL));
  ++*added;
  TB_TRY(tb_world_add_deformable(ctx, *w, &cloth, NULL));
  ++*added;
  return TB_OK;
}

TEST(adding_deformables_survives_every_failed_allocation)
{
  Setting s = set();
  tbFailingAllocator all = {.countdown = -1};
  tbContext ctx = test_failing_context(&all);
  tbWorld* w = NULL;
  int added = 0;
  CHECK_OK(&ctx, build(&ctx, &s, &w, &added));
  tb_world_free(&ctx, w);
  CHECK(all.alive == 0 && all.total > 20);
  for (int for_good = 0; for_good < 2; for_good++)
    for (long k = 0; k < all.total; k++) {
      tbFailingAllocator state = {.countdown = k, .for_good = for_good};
      ctx = test_failing_context(&state);
      w = NULL, added = 0;
      tbStatus status = build(&ctx, &s, &w, &added);
      bool whole = !w || ((int)w->body.count == added && (added == 0 || deformable_at(w, added - 1)) &&
                          w->contact_material.count == (size_t)(added > 0) && w->key.count == 0);
      tb_world_free(&ctx, w);
      if (status != TB_ERROR_MEMORY || state.alive != 0 || !whole || !ctx.error.message[0])
        test_failed(__FILE__, __LINE__, "allocation %ld: %s, %ld blocks left, %d added", k,
                    tb_status_name(status), state.alive, added);
    }
  clear(&s);
}
