// SPDX-License-Identifier: Apache-2.0
// Checkpoints: what is loaded is what was saved, to the bit; what is damaged is refused, whatever the damage.
#include "base/text.h"
#include "io/checkpoint/checkpoint.h"
#include "io/io_test.h"
#include "kind/deformables.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tbVec3 corners[] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                 {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const int faces[][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                               {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};

static tbBodyId add(tbContext* ctx, tbWorld* w, const char* name, tbBodyMotion motion, tbShape shape,
                    tbVec3 at)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id = {-1, 0};
  def.name = name, def.kind = motion, def.shapes = &shape, def.shape_count = 1, def.position = at;
  CHECK_OK(ctx, tb_world_add_body(ctx, w, &def, &id));
  return id;
}

static tbStatus add_geometry(tbContext* ctx, tbWorld* w)
{
  tbHull* hull = NULL;
  tbMesh* mesh = NULL;
  tbSdf* sdf = NULL;
  TB_TRY(tb_hull_create(ctx, corners, 8, &hull));
  TB_TRY(tb_world_keep_hull(ctx, w, hull));
  TB_TRY(tb_mesh_create(ctx, corners, 8, faces[0], 12, &mesh));
  TB_TRY(tb_world_keep_mesh(ctx, w, mesh));
  TB_TRY(tb_sdf_create(ctx, mesh, 4, &sdf));
  TB_TRY(tb_world_keep_sdf(ctx, w, sdf));
  add(ctx, w, "hull", TB_BODY_DYNAMIC, tb_shape_convex(hull), tb_vec3(9, 0, 1));
  add(ctx, w, "same hull", TB_BODY_DYNAMIC, tb_shape_convex(hull), tb_vec3(12, 0, 1));
  add(ctx, w, "mesh", TB_BODY_FIXED, tb_shape_mesh(mesh), tb_vec3(15, 0, 1));
  add(ctx, w, "sdf", TB_BODY_DYNAMIC, tb_shape_sdf(sdf), tb_vec3(18, 0, 1));
  return TB_OK;
}

static void add_kinematic(tbContext* ctx, tbWorld* w)
{
  const tbMotionKey keys[] = {{0, {5, 0, 5}, {1, 0, 0, 0}}, {1, {5, 1, 5}, {0, 1, 0, 0}}};
  tbShape shapes[2] = {tb_shape_cylinder(0.2, 1), tb_shape_sphere(0.3)};
  tbBodyDef def = tb_default_body_def();
  const double restitution = 0.25;
  tbFriction friction = {.kind = TB_FRICTION_ELLIPTIC, .mu_t = 0.2, .mu_b = 0.4, .direction = {1, 0, 0}};
  shapes[1].pose.x.z = 0.5;
  def.name = "crank, \"turning\"", def.kind = TB_BODY_KINEMATIC, def.shapes = shapes, def.shape_count = 2;
  def.keys = keys, def.key_count = 2, def.friction = &friction, def.restitution = &restitution;
  CHECK_OK(ctx, tb_world_add_body(ctx, w, &def, NULL));
}

// A solid that hangs on the box and on the world, and a sheet that a motion drags along.
static tbStatus add_deformables(tbContext* ctx, tbWorld* w)
{
  const int cells[3] = {1, 1, 1}, top[2] = {4, 5}, side[1] = {0}, edge[2] = {0, 1};
  const tbMotionKey keys[] = {{0, {0, 5, 5}, {1, 0, 0, 0}}, {1, {0, 6, 5}, {0, 1, 0, 0}}};
  tbTetMesh* solid = NULL;
  tbMesh* sheet = NULL;
  TB_TRY(tb_tet_box(ctx, tb_vec3(0.5, 0.5, 0.5), cells, 5, &solid));
  TB_TRY(tb_cloth_grid(ctx, 0.2, 0.4, 1, 2, &sheet));
  tbPinDef pins[3] = {tb_default_pin_def(), tb_default_pin_def(), tb_default_pin_def()};
  pins[0].nodes = top, pins[0].node_count = 2, pins[0].body = tb_world_find_body(w, "box");
  pins[1].nodes = side, pins[1].node_count = 1, pins[1].angular_velocity = tb_vec3(0, 0.1, 0);
  pins[2].nodes = edge, pins[2].node_count = 2, pins[2].keys = keys, pins[2].key_count = 2;
  tbFriction friction = tb_friction(0.7);
  tbDeformableDef def = tb_default_deformable_def();
  def.name = "jelly", def.solid = solid, def.soft.consistent_mass = true, def.soft.stiffness_damping = 0.01;
  def.pins = pins, def.pin_count = 2, def.position = tb_vec3(0, 3, 3), def.friction = &friction;
  def.orientation = tb_quat(1, 2, 3, 4), def.velocity = tb_vec3(0.1, 0.2, 0.3);
  CHECK_OK(ctx, tb_world_add_deformable(ctx, w, &def, NULL));
  def = tb_default_deformable_def();
  def.name = "flag", def.sheet = sheet, def.cloth.air_damping = 0.3, def.self_contact = false;
  def.cloth.strain_limit = 0.1, def.cloth.limit_stiffness = 12345;
  def.pins = pins + 2, def.pin_count = 1, def.position = tb_vec3(0, 5, 5);
  def.orientation = tb_quat(4, 3, 2, 1);
  CHECK_OK(ctx, tb_world_add_deformable(ctx, w, &def, NULL));
  const double modes[2] = {0.01, -0.02}, rates[2] = {1.0 / 3, 5e-324};
  def = tb_default_deformable_def(); // one in flight, and one that a pin leads
  def.name = "beam", def.solid = solid, def.modes = 2, def.soft.model = TB_ELASTIC_STVK;
  def.angular_velocity = tb_vec3(1, 2, 3), def.position = tb_vec3(0, 7, 3),
  def.orientation = tb_quat(4, 3, 2, 1);
  tbBodyId beam = {-1, 0};
  CHECK_OK(ctx, tb_world_add_deformable(ctx, w, &def, &beam));
  CHECK_OK(ctx, tb_body_set_modes(ctx, w, beam, modes, rates));
  def.name = "lever", def.soft.model = TB_ELASTIC_LINEAR, def.pins = pins + 2, def.pin_count = 1;
  CHECK_OK(ctx, tb_world_add_deformable(ctx, w, &def, NULL));
  deformable_at(w, 0)->x[3].z += 0.01; // as steps would leave them
  deformable_at(w, 1)->v[4] = tb_vec3(1.0 / 3, -0.0, 5e-324);
  tb_tet_mesh_free(ctx, solid);
  tb_mesh_free(ctx, sheet);
  return TB_OK;
}

// Contact records and the time of a run, as a step would leave them.
static void pretend_steps(tbContext* ctx, tbWorld* w)
{
  tbContactRecord record = {.shape_a = 0,
                            .shape_b = 1,
                            .body_a = 0,
                            .body_b = 1,
                            .feature = 0x123456789abcdef0u,
                            .position = {0.1, 0.2, 0.3},
                            .normal = {0, 0, 1},
                            .tangent = {1, 0, 0},
                            .gap = -1e-5,
                            .impulse = {0.3, -0.1, 0.05},
                            .residual = 3e-9,
                            .rows = 3,
                            .state = TB_CONTACT_STICK};
  CHECK_OK(ctx, tb_array_push(ctx, &w->contact, &record, 1));
  record.feature++, record.state = TB_CONTACT_SLIP;
  CHECK_OK(ctx, tb_array_push(ctx, &w->contact, &record, 1));
  record.shape_b = -1, record.body_b = deformable_at(w, 0)->body; // a deformable body's surface
  CHECK_OK(ctx, tb_array_push(ctx, &w->contact, &record, 1));
  w->time = 0.1 + 0.2;
  w->steps = 3;
  tb_bodies(w)[1].v = tb_vec3(1.0 / 3, -0.0, 5e-324);
  tb_joints(w)[0].impulse[2] = -0.7;
}

static tbScene make_scene(tbContext* ctx, bool geometry)
{
  tbScene scene = {.step = tb_default_step_options(), .time = 2, .threads = 2};
  tbWorldDef def = tb_default_world_def();
  def.name = "a bit of everything", def.seed = 77;
  CHECK_OK(ctx, tb_world_create(ctx, &def, &scene.world));
  tbWorld* w = scene.world;
  tbMaterialDef material = tb_default_material_def();
  tbMaterialId wood = {0, 0};
  material.name = "wood", material.density = 700, material.restitution = 0.1;
  CHECK_OK(ctx, tb_world_add_material(ctx, w, &material, &wood));
  CHECK_OK(ctx, tb_world_set_pair(ctx, w, (tbMaterialId){0, 0}, wood, tb_friction(0.3), 0.2));
  add(ctx, w, "ground", TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3());
  tbBodyId box = add(ctx, w, "box", TB_BODY_DYNAMIC, tb_shape_box(tb_vec3(1, 2, 3)), tb_vec3(0, 0, 2));
  tbBodyId pill = add(ctx, w, "pill", TB_BODY_DYNAMIC, tb_shape_capsule(0.2, 1), tb_vec3(0, 0, 5));
  add_kinematic(ctx, w);
  tbJointDef hinge = tb_default_joint_def(TB_JOINT_HINGE);
  hinge.a = box, hinge.b = pill, hinge.limited = true, hinge.lower = -INFINITY, hinge.upper = 0.5;
  hinge.motor = true, hinge.motor_speed = 1, hinge.motor_force = INFINITY;
  CHECK_OK(ctx, tb_world_add_joint(ctx, w, &hinge, NULL));
  CHECK_OK(ctx, add_deformables(ctx, w));
  if (geometry) CHECK_OK(ctx, add_geometry(ctx, w));
  pretend_steps(ctx, w);
  scene.name = TB_NEW(ctx, char, 16);
  strcpy(scene.name, "everything");
  return scene;
}

static tbOut print(tbContext* ctx, const tbScene* scene)
{
  tbOut out = tb_out_memory(ctx);
  CHECK_OK(ctx, tb_checkpoint_print(ctx, &out, scene));
  return out;
}

TEST(a_checkpoint_loads_as_what_was_saved)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, true), again = {0};
  scene.step.solver.solver = "bgs";
  scene.step.solver.seed = 0xfedcba9876543210u;
  tbOut first = print(&ctx, &scene);
  REQUIRE(tb_checkpoint_parse(&ctx, "again", first.bytes, first.length, &again) == TB_OK);
  tbOut second = print(&ctx, &again);
  CHECK(first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0);
  CHECK(tb_world_hash(scene.world) == tb_world_hash(again.world));
  CHECK(strcmp(again.name, "everything") == 0 && strcmp(again.world->name, "a bit of everything") == 0 &&
        again.threads == 2 && again.time == 2);
  CHECK(strcmp(again.step.solver.solver, "bgs") == 0);
  CHECK(tb_world_find_body(again.world, "pill").index == 2 &&
        tb_world_find_body(again.world, "pil").index < 0);
  CHECK(tb_world_find_material(again.world, "wood").index == 1);
  CHECK(tb_world_step_count(again.world) == 3 && tb_world_contact_count(again.world) == 3);
  CHECK(again.world->owner.count == scene.world->owner.count &&
        memcmp(again.world->owner.data, scene.world->owner.data, again.world->owner.count * sizeof(int)) ==
            0);
  CHECK(again.world->hull.count == 1); // shared by two bodies
  tb_out_free(&first);
  tb_out_free(&second);
  tb_scene_free(&ctx, &scene);
  tb_scene_free(&ctx, &again);
}

static bool same(const void* a, const void* b, size_t count, size_t size)
{
  return memcmp(a, b, count * size) == 0;
}

// Everything that a step computes with: masses, elements, holds; and what it computes from them.
static void check_same_matter(const tbDeformable* a, const tbDeformable* b)
{
  tbFemBody *f = a->fem, *g = b->fem;
  size_t n = (size_t)f->nnode, first = (size_t)f->nelement[0], second = (size_t)f->nelement[1];
  REQUIRE(g->nnode == f->nnode && g->nelement[0] == f->nelement[0] && g->nelement[1] == f->nelement[1]);
  REQUIRE(f->cloth == g->cloth && a->nhold == b->nhold && a->surface->ntriangle == b->surface->ntriangle);
  CHECK(same(f->mass, g->mass, n, sizeof *f->mass) && same(f->pinned, g->pinned, n, sizeof *f->pinned));
  CHECK(same(a->holder, b->holder, n, sizeof *a->holder) && same(a->local, b->local, n, sizeof *a->local));
  CHECK(same(a->hold, b->hold, (size_t)a->nhold, sizeof *a->hold));
  CHECK(same(a->triangle, b->triangle, (size_t)a->surface->ntriangle, sizeof *a->triangle));
  CHECK(a->self_contact == b->self_contact && a->radius == b->radius && a->body == b->body);
  CHECK(f->mass_damping == g->mass_damping && f->stiffness_damping == g->stiffness_damping);
  CHECK(!f->drag == !g->drag && (!f->drag || same(f->drag, g->drag, n, sizeof *f->drag)));
  CHECK(!f->mass_block == !g->mass_block);
  if (f->cloth) CHECK(same(f->membrane, g->membrane, first, sizeof *f->membrane));
  if (f->cloth) CHECK(same(f->hinge, g->hinge, second, sizeof *f->hinge));
  if (!f->cloth) CHECK(same(f->tet, g->tet, first, sizeof *f->tet));
  double force[2][24];
  REQUIRE(n <= 8);
  CHECK(tb_fem_evaluate(f, NULL, a->x, TB_TANGENT_POSITIVE, force[0]) ==
        tb_fem_evaluate(g, NULL, b->x, TB_TANGENT_POSITIVE, force[1]));
  CHECK(same(force[0], force[1], 3 * n, sizeof(double)));
  CHECK(same(f->upper, g->upper, (size_t)f->assembly.upper_adr[n], sizeof *f->upper));
}

TEST(deformables_are_loaded_to_the_bits_they_had)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false), again = {0};
  tbOut out = print(&ctx, &scene);
  REQUIRE(tb_checkpoint_parse(&ctx, "again", out.bytes, out.length, &again) == TB_OK);
  REQUIRE(deformable_at(again.world, 1) && !deformable_at(again.world, 2));
  for (int i = 0; i < 2; i++) check_same_matter(deformable_at(scene.world, i), deformable_at(again.world, i));
  tbEnergy a = tb_world_energy(scene.world), b = tb_world_energy(again.world);
  CHECK(a.elastic > 0 && a.elastic == b.elastic && a.kinetic == b.kinetic && a.potential == b.potential);
  CHECK(tb_body_node_count(again.world, tb_world_find_body(again.world, "jelly")) == 8);
  CHECK(tb_body_node_count(again.world, tb_world_find_body(again.world, "box")) == 0);
  // bits that the hash does not tell apart
  CHECK(signbit(deformable_at(again.world, 1)->v[4].y) && deformable_at(again.world, 1)->v[4].z == 5e-324);
  tb_out_free(&out);
  tb_scene_free(&ctx, &scene);
  tb_scene_free(&ctx, &again);
}

// Refused with one line that begins with the file's name.
static void check_refused(const char* bytes, size_t length, const char* how, size_t at)
{
  tbContext ctx = tb_default_context();
  tbScene scene;
  char* copy = malloc(length ? length : 1); // of exactly this size: the sanitizers see a byte read beyond
  memcpy(copy, bytes, length);
  tbStatus status = tb_checkpoint_parse(&ctx, "file", copy, length, &scene);
  free(copy);
  if (status != TB_ERROR_INPUT || strncmp(ctx.error.message, "file: ", 6) != 0)
    test_failed(__FILE__, __LINE__, "%s %zu: %s, \"%s\"", how, at, tb_status_name(status), ctx.error.message);
  if (status == TB_OK) tb_scene_free(&ctx, &scene);
}

TEST(a_checkpoint_cut_anywhere_is_refused)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, true);
  tbOut out = print(&ctx, &scene);
  for (size_t length = 0; length < out.length; length++) check_refused(out.bytes, length, "cut at", length);
  tb_out_bytes(&out, "x", 1);
  check_refused(out.bytes, out.length, "longer by one than", out.length - 1);
  tb_out_free(&out);
  tb_scene_free(&ctx, &scene);
}

// A large file that is no checkpoint, or not all of one, is refused before it is read.
TEST(checkpoints_are_recognised_by_their_first_bytes)
{
  tbFailingAllocator none = {.countdown = 0, .for_good = true};
  tbContext ctx = test_failing_context(&none);
  static const char head[] = "\x89TRIBO\r\n";
  tbScene scene = {0};
  for (int i = 0; i < 2; i++) {
    int file = open(io_temp("huge.tbc"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    REQUIRE(file >= 0 && (i == 0 || write(file, head, 8) == 8) && ftruncate(file, (off_t)20 << 30) == 0);
    close(file);
    CHECK(tb_checkpoint_load(&ctx, io_temp("huge.tbc"), &scene) == TB_ERROR_INPUT && none.total == 0);
  }
  unlink(io_temp("huge.tbc"));
}

TEST(a_checkpoint_with_any_bit_flipped_is_refused)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false);
  tbOut out = print(&ctx, &scene);
  tbRandom random = test_random(1);
  for (size_t i = 0; i < out.length; i += test_quick() ? 7 : 1) {
    char bit = (char)(1 << test_below(&random, 8));
    out.bytes[i] ^= bit;
    check_refused(out.bytes, out.length, "flipped at", i);
    out.bytes[i] ^= bit;
  }
  tb_out_free(&out);
  tb_scene_free(&ctx, &scene);
}

static void seal(tbOut* out) // makes the checksum right again
{
  uint64_t sum = tb_checkpoint_sum(out->bytes, out->length - 8);
  for (int i = 0; i < 8; i++) out->bytes[out->length - 8 + (size_t)i] = (char)(sum >> 8 * i);
}

// Any answer but a crash or a strange status; what is accepted is saved again as it was.
static void check_survives(const tbOut* out, size_t at)
{
  tbContext ctx = tb_default_context();
  tbScene scene;
  tbStatus status = tb_checkpoint_parse(&ctx, "file", out->bytes, out->length, &scene);
  if (status == TB_OK) {
    tbOut again = print(&ctx, &scene);
    if (again.length != out->length || memcmp(again.bytes, out->bytes, out->length))
      test_failed(__FILE__, __LINE__, "word %zu: saved again, it is another", at);
    tb_out_free(&again);
    tb_scene_free(&ctx, &scene);
  } else if (status != TB_ERROR_INPUT && status != TB_ERROR_UNSUPPORTED) {
    test_failed(__FILE__, __LINE__, "word %zu: %s, \"%s\"", at, tb_status_name(status), ctx.error.message);
  }
}

TEST(hostile_checkpoints_with_a_good_checksum_do_not_crash)
{
  static const uint64_t words[] = {
      0,          1,          UINT64_MAX,         INT64_MAX,          0x8000000000000000u,
      INT32_MAX,  0xffffffff, 0x7ff0000000000000, 0x7ff8000000000000, 0x7fefffffffffffff,
      0x10000000, 1000,       0x4000000000000001};
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, true);
  tbOut out = print(&ctx, &scene);
  tbRandom random = test_random(2);
  for (size_t i = 24; i + 16 <= out.length; i += test_quick() ? 97 : 11) {
    char kept[8];
    uint64_t word = words[test_below(&random, (int)(sizeof words / sizeof *words))];
    memcpy(kept, out.bytes + i, 8);
    memcpy(out.bytes + i, &word, 8);
    seal(&out);
    check_survives(&out, i);
    memcpy(out.bytes + i, kept, 8);
  }
  tb_out_free(&out);
  tb_scene_free(&ctx, &scene);
}

TEST(an_option_that_is_named_twice_is_refused)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false), back;
  tbOut out = print(&ctx, &scene);
  char* name = memmem(out.bytes, out.length, "solver.time_budget", 18); // comes after the other
  REQUIRE(name);
  memcpy(name, "solver.tolerance_q", 18);
  seal(&out);
  CHECK(tb_checkpoint_parse(&ctx, "file", out.bytes, out.length, &back) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "options in disorder"));
  tb_out_free(&out);
  tb_scene_free(&ctx, &scene);
}

// What a build would save that did not have the option yet. Read with a default in its place, it would be
// another file when saved.
TEST(an_option_that_is_missing_is_refused)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false), back;
  static const char* const missing[] = {"solver.sweeps", NULL}; // one in the middle, and the last
  for (int k = 0; k < 2; k++) {
    tbOut out = print(&ctx, &scene);
    tbOption last = tb_option_at(tb_option_count() - 1), first = tb_option_at(0);
    const char* key = missing[k] ? missing[k] : last.key;
    size_t length = strlen(key), entry = 8 + length + 8; // the key's length, the key, a number
    REQUIRE(missing[k] || !last.choice);
    char* at = memmem(out.bytes, out.length, key, length);
    char* count = memmem(out.bytes, out.length, first.key, strlen(first.key));
    REQUIRE(at && count);
    count -= 16; // before the first key's length
    REQUIRE((unsigned char)*count == tb_option_count() % 256);
    --*count;
    memmove(at - 8, at - 8 + entry, (size_t)(out.bytes + out.length - (at - 8 + entry)));
    out.length -= entry;
    for (int i = 0; i < 8; i++) out.bytes[16 + i] = (char)((uint64_t)out.length >> 8 * i);
    seal(&out);
    CHECK(tb_checkpoint_parse(&ctx, "file", out.bytes, out.length, &back) == TB_ERROR_UNSUPPORTED);
    CHECK(strstr(ctx.error.message, "made without the option") && strstr(ctx.error.message, key));
    tb_out_free(&out);
  }
  tb_scene_free(&ctx, &scene);
}

TEST(a_whole_number_that_is_minus_zero_is_refused)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false), back;
  tbOut out = print(&ctx, &scene);
  char* name = memmem(out.bytes, out.length, "solver.sweeps", 13);
  REQUIRE(name && scene.step.solver.sweeps == 0);
  name[13 + 7] = (char)0x80;
  seal(&out);
  CHECK(tb_checkpoint_parse(&ctx, "file", out.bytes, out.length, &back) == TB_ERROR_INPUT);
  tb_out_free(&out);
  tb_scene_free(&ctx, &scene);
}

// Options that files give in other units keep their bits, however small.
TEST(options_come_back_from_a_checkpoint_bit_by_bit)
{
  static const double seconds[] = {0.1 / 3, 7e-5, 1.1e-321};
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false), back;
  for (int i = 0; i < 3; i++) {
    scene.step.budget_s = seconds[i];
    tbOut out = print(&ctx, &scene);
    REQUIRE(tb_checkpoint_parse(&ctx, "file", out.bytes, out.length, &back) == TB_OK);
    CHECK(memcmp(&back.step.budget_s, &seconds[i], sizeof seconds[i]) == 0);
    tb_scene_free(&ctx, &back);
    tb_out_free(&out);
  }
  tb_scene_free(&ctx, &scene);
}

// Spoils one thing in the world; false: there is no such case.
static bool spoil(tbScene* scene, int which, const char** what)
{
  tbWorld* w = scene->world;
  tbMaterial* wood = (tbMaterial*)w->material.data + 1;
  tbPairRule* pair = w->pair.data;
  tbContactRecord* contact = w->contact.data;
  tbJoint* joined = &tb_joints(w)[0];
  tbJointDef* joint = &joined->def;
  int soft = deformable_at(w, 0)->body;
  switch (which) {
  case 0: scene->step.dt = 0, *what = "an option out of its range"; return true;
  case 1: wood->density = 0, *what = "a density that is not positive"; return true;
  case 2: wood->contact_material.restitution = -0.1, *what = "a surface that cannot be"; return true;
  case 3: pair[0].contact_material.restitution = 2, *what = "a surface that cannot be"; return true;
  case 4: tb_shapes(w)[1].box.half.x = -1, *what = "a shape that cannot be"; return true;
  case 5: tb_bodies(w)[1].mass = 0, *what = "a body that cannot be"; return true;
  case 6: tb_bodies(w)[0].mass = 1, *what = "a body that cannot be"; return true;
  case 7: tb_bodies(w)[1].radius = -1, *what = "a body that cannot be"; return true;
  case 8: joined->b = joined->a, *what = "a joint of a body with itself"; return true;
  case 9: joined->a = soft, *what = "a joint to a deformable body"; return true;
  case 10: joined->b = soft, *what = "a joint to a deformable body"; return true;
  case 11: joint->lower = 1, *what = "a joint that cannot be"; return true;
  case 12: joint->compliance = -1, *what = "a joint that cannot be"; return true;
  case 13: joint->damping = -1, *what = "a joint that cannot be"; return true;
  case 14: joint->motor_force = -1, *what = "a joint that cannot be"; return true;
  case 15: contact[0].shape_a = -1, *what = "a contact of nothing"; return true;
  case 16: contact[0].shape_b = -1, *what = "a contact of nothing"; return true;
  case 17: contact[2].shape_b = 1, *what = "a contact of nothing"; return true;
  case 18: contact[1].residual = -1e-9, *what = "a negative residual"; return true;
  case 19: contact[1].rows = 7, *what = "a number out of its bounds"; return true;
  case 20: contact[1].body_b = (int)w->body.count, *what = "a number out of its bounds"; return true;
  case 21: contact[1].shape_b = (int)w->shape.count, *what = "a number out of its bounds"; return true;
  case 22: tb_bodies(w)[1].q.w += 0.01, *what = "an orientation that is not a unit quaternion"; return true;
  case 23: tb_bodies(w)[1].material = 2, *what = "a number out of its bounds"; return true;
  case 24:
    deformable_at(w, 0)->hold[0].body = soft, *what = "a deformable body that holds another";
    return true;
  default: return false;
  }
}

// Reading and writing ask the same of a world: what could not be read is not written.
TEST(a_world_that_cannot_be_is_not_saved)
{
  for (int i = 0;; i++) {
    tbContext ctx = tb_default_context();
    tbScene scene = make_scene(&ctx, true);
    const char* what = "";
    bool more = spoil(&scene, i, &what);
    tbOut out = tb_out_memory(&ctx);
    tbStatus status = tb_checkpoint_print(&ctx, &out, &scene);
    if (more && (status != TB_ERROR_NUMERIC || !strstr(ctx.error.message, what)))
      test_failed(__FILE__, __LINE__, "case %d: %s, \"%s\" instead of \"%s\"", i, tb_status_name(status),
                  ctx.error.message, what);
    tb_out_free(&out);
    tb_scene_free(&ctx, &scene);
    if (!more) break;
  }
}

TEST(a_scene_made_by_hand_has_no_name_and_is_saved)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false), back;
  tb_free(&ctx, scene.name);
  scene.name = NULL;
  tbOut out = tb_out_memory(&ctx);
  CHECK_OK(&ctx, tb_checkpoint_print(&ctx, &out, &scene));
  CHECK_OK(&ctx, tb_checkpoint_parse(&ctx, "memory", out.bytes, out.length, &back));
  CHECK(back.name && back.name[0] == 0);
  CHECK(tb_world_hash(back.world) == tb_world_hash(scene.world));
  tb_out_free(&out);
  tb_scene_free(&ctx, &scene);
  tb_scene_free(&ctx, &back);
}

TEST(a_world_that_is_not_finite_is_not_saved)
{
  tbContext ctx = tb_default_context();
  tbScene scene = make_scene(&ctx, false);
  char path[64];
  snprintf(path, sizeof path, "/tmp/tribo-checkpoint-%d", (int)getpid());
  CHECK_OK(&ctx, tb_checkpoint_save(&ctx, path, &scene));
  uint64_t hash = tb_world_hash(scene.world);
  tb_bodies(scene.world)[1].x.y = NAN;
  CHECK(tb_checkpoint_save(&ctx, path, &scene) == TB_ERROR_NUMERIC);
  tb_scene_free(&ctx, &scene);
  CHECK_OK(&ctx, tb_checkpoint_load(&ctx, path, &scene)); // the one before is still there
  CHECK(tb_world_hash(scene.world) == hash);
  CHECK(tb_checkpoint_save(&ctx, "/no/such/folder/x", &scene) == TB_ERROR_IO);
  tb_scene_free(&ctx, &scene);
  unlink(path);
  CHECK(tb_checkpoint_load(&ctx, path, &scene) == TB_ERROR_IO);
}

TEST(checkpoints_survive_every_failed_allocation)
{
  tbContext plain = tb_default_context();
  tbScene scene = make_scene(&plain, true);
  tbOut bytes = print(&plain, &scene);
  tbFailingAllocator all = {.countdown = -1};
  for (long k = -1; k < all.total; k += test_quick() && k >= 0 ? 3 : 1) {
    tbFailingAllocator state = {.countdown = k};
    tbContext ctx = test_failing_context(&state);
    tbScene again = {0};
    tbOut out = tb_out_memory(&ctx);
    tbStatus status = tb_checkpoint_parse(&ctx, "file", bytes.bytes, bytes.length, &again);
    if (status == TB_OK) status = tb_checkpoint_print(&ctx, &out, &again);
    if (again.world) tb_scene_free(&ctx, &again);
    tb_out_free(&out);
    if (k < 0) all = state;
    if (status != (k < 0 ? TB_OK : TB_ERROR_MEMORY) || state.alive != 0)
      test_failed(__FILE__, __LINE__, "allocation %ld: %s, %ld blocks left", k, tb_status_name(status),
                  state.alive);
  }
  CHECK(all.total > 20);
  tb_out_free(&bytes);
  tb_scene_free(&plain, &scene);
}

static tbScene make_corpus(tbContext* ctx, int which)
{
  static const char empty[] = "{\"tribo\": 1}",
                    plain[] = "{\"tribo\": 1, \"bodies\": [{\"name\": \"ball\", \"shape\": {\"type\": "
                              "\"sphere\", \"radius\": 1}, \"mass\": 1}]}";
  tbScene scene = {0};
  if (which >= 2) return make_scene(ctx, which == 2);
  const char* text = which == 0 ? empty : plain;
  CHECK_OK(ctx, tb_scene_parse(ctx, "corpus", text, strlen(text), NULL, &scene));
  return scene;
}

// The fuzzer starts from these: of another version, they would be refused at the door. With TRIBO_REFRESH set
// in the environment they are written anew.
TEST(the_corpus_of_checkpoints_is_of_this_version)
{
  static const char* const names[] = {"empty", "plain", "everything", "deformables"};
  for (int i = 0; i < 4; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/test/fuzz/corpus/checkpoint/%s", TB_SOURCE_FOLDER, names[i]);
    tbContext ctx = tb_default_context();
    tbScene scene = {0};
    if (getenv("TRIBO_REFRESH")) {
      scene = make_corpus(&ctx, i);
      CHECK_OK(&ctx, tb_checkpoint_save(&ctx, path, &scene));
      tb_scene_free(&ctx, &scene);
      scene = (tbScene){0};
    }
    CHECK_OK(&ctx, tb_checkpoint_load(&ctx, path, &scene));
    tb_scene_free(&ctx, &scene);
  }
}
