// SPDX-License-Identifier: Apache-2.0
// Scenes of the size of the paper's. Its meshes are not available, its sizes in metres are not given: bodies
// here are a few decimetres large.
#include "cli/paper_verschoor.h"

#include "tribo/tools/random.h"
#include "tribo/fem.h"

Stage verschoor_stage(tbContext* ctx, tbWorld* world, double young, tbElasticModel model)
{
  Stage s = {ctx, world, tb_soft_def()};
  s.soft.model = model, s.soft.young = young, s.soft.poisson = 0.2, s.soft.density = 1000;
  return s;
}

static tbStatus add_rigid(Stage* s, tbBodyMotion motion, tbShape shape, tbVec3 at, tbVec3 velocity,
                          tbVec3 spin)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id;
  def.kind = motion, def.shapes = &shape, def.shape_count = 1;
  def.position = at, def.velocity = velocity, def.angular_velocity = spin;
  return tb_world_add_body(s->ctx, s->world, &def, &id);
}

static tbStatus add_ground(Stage* s)
{
  return add_rigid(s, TB_BODY_FIXED, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3(), tb_zero3(), tb_zero3());
}

// Four planes around [−x, x] × [−y, y].
static tbStatus add_walls(Stage* s, double x, double y)
{
  const tbVec3 normal[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  for (int i = 0; i < 4; i++)
    TB_TRY(add_rigid(s, TB_BODY_FIXED, tb_shape_plane(normal[i], i < 2 ? -x : -y), tb_zero3(), tb_zero3(),
                     tb_zero3()));
  return TB_OK;
}

tbStatus verschoor_add_soft(const Stage* s, const tbTetMesh* mesh, tbVec3 at, tbVec3 turn, tbVec3 velocity,
                            const tbPinDef* pin)
{
  tbDeformableDef def = tb_default_deformable_def();
  tbBodyId id;
  def.solid = mesh, def.soft = s->soft;
  def.position = at, def.orientation = tb_quat_exp(turn), def.velocity = velocity;
  def.pins = pin, def.pin_count = pin ? 1 : 0;
  return tb_world_add_deformable(s->ctx, s->world, &def, &id);
}

// Copies let go at a speed in layers above the ground, each turned by a random angle about every axis.
typedef struct {
  int count, across, along;
  double cell, layer; // distances
  double turn, speed;
  uint64_t seed;
} Heap;

static tbStatus drop(Stage* s, const tbTetMesh* mesh, Heap h)
{
  uint64_t random = h.seed;
  TB_TRY(add_ground(s));
  TB_TRY(add_walls(s, 0.5 * h.across * h.cell, 0.5 * h.along * h.cell));
  for (int i = 0; i < h.count; i++) {
    double at[3] = {i % h.across - 0.5 * (h.across - 1), i / h.across % h.along - 0.5 * (h.along - 1),
                    i / (h.across * h.along) + 0.5},
           turn[3];
    for (int k = 0; k < 3; k++) {
      at[k] *= k == 2 ? h.layer : h.cell;
      turn[k] = tb_random_uniform(&random, -h.turn, h.turn);
    }
    TB_TRY(verschoor_add_soft(s, mesh, tb_load3(at), tb_load3(turn), tb_vec3(0, 0, -h.speed), NULL));
  }
  return TB_OK;
}

// 108 tetrahedra and 144 faces each, as in the paper.
tbStatus verschoor_rings(tbContext* ctx, bool quick, double young, tbElasticModel model, tbWorld* world)
{
  Stage s = verschoor_stage(ctx, world, young, model);
  tbTetMesh* mesh;
  TB_TRY(tb_tet_ring(ctx, 0.06, 0.1, 0.04, (const int[3]){1, 18, 1}, &mesh));
  Heap heap = {120, 4, 3, 0.22, 0.1, 0.25, 1, 1};
  if (quick) heap.count = 8, heap.across = heap.along = 2;
  tbStatus status = drop(&s, mesh, heap);
  tb_tet_mesh_free(ctx, mesh);
  return status;
}

// Doughnuts with a hole too small for another, of 1272 tetrahedra.
tbStatus verschoor_bunnies(tbContext* ctx, bool quick, double young, tbElasticModel model, tbWorld* world)
{
  Stage s = verschoor_stage(ctx, world, young, model);
  tbTetMesh* mesh;
  TB_TRY(tb_tet_torus(ctx, 0.06, 0.035, 2, quick ? 14 : 53, &mesh));
  Heap heap = {120, 5, 4, 0.22, 0.17, 0.6, 1, 2};
  if (quick) heap.count = 8, heap.across = heap.along = 2;
  tbStatus status = drop(&s, mesh, heap);
  tb_tet_mesh_free(ctx, mesh);
  return status;
}

// Layers of 7², 6², … 1 doughnuts of 432 tetrahedra, each on four of the layer below, and a turning plate
// that comes down on the top.
tbStatus verschoor_pyramid(tbContext* ctx, bool quick, double young, tbElasticModel model, tbWorld* world)
{
  const double ring = 0.07, tube = 0.03, room = 0.001, plate = 0.02;
  Stage s = verschoor_stage(ctx, world, young, model);
  int layers = quick ? 2 : 7;
  double cell = 2 * (ring + tube) + room, high = 2 * tube + 1e-4;
  tbTetMesh* mesh;
  TB_TRY(tb_tet_torus(ctx, ring, tube, 2, 18, &mesh));
  tbStatus status = add_ground(&s);
  for (int layer = 0; layer < layers && status == TB_OK; layer++)
    for (int i = 0, n = layers - layer; i < n * n && status == TB_OK; i++) {
      tbVec3 at = {(i % n - 0.5 * (n - 1)) * cell, (i / n - 0.5 * (n - 1)) * cell, (layer + 0.5) * high};
      status = verschoor_add_soft(&s, mesh, at, tb_vec3(0, 0, 0.01 * (i % 5)), tb_zero3(), NULL);
    }
  tb_tet_mesh_free(ctx, mesh);
  if (status == TB_OK)
    status =
        add_rigid(&s, TB_BODY_KINEMATIC, tb_shape_box(tb_vec3(2, 2, plate)),
                  tb_vec3(0, 0, layers * high + room + plate / 2), tb_vec3(0, 0, -0.3), tb_vec3(0, 0, 1));
  return status;
}

// A fixed piece of pipe on the ground: the surface of a solid one.
static tbStatus add_race(Stage* s, double inner, double outer, double height)
{
  tbTetMesh* solid;
  tbMesh* mesh = NULL;
  TB_TRY(tb_tet_ring(s->ctx, inner, outer, height, (const int[3]){1, 64, 1}, &solid));
  tbTriangleView t = tb_tet_mesh_triangles(solid);
  tbStatus status = tb_mesh_create(s->ctx, t.vertex, t.nvertex, &t.triangle[0][0], t.ntriangle, &mesh);
  tb_tet_mesh_free(s->ctx, solid);
  if (status == TB_OK) status = tb_world_keep_mesh(s->ctx, s->world, mesh);
  if (status != TB_OK) return status;
  return add_rigid(s, TB_BODY_FIXED, tb_shape_mesh(mesh), tb_vec3(0, 0, height / 2), tb_zero3(), tb_zero3());
}

// Nine balls in the channel between a hub and a race; a disc on top of them comes down and turns.
tbStatus verschoor_bearing(tbContext* ctx, bool quick, double young, tbElasticModel model, tbWorld* world)
{
  const double radius = 0.05, track = 0.16, room = 5e-4, disc = 0.03;
  enum { BALLS = 9 };
  Stage s = verschoor_stage(ctx, world, young, model);
  TB_TRY(add_ground(&s));
  TB_TRY(add_rigid(&s, TB_BODY_FIXED, tb_shape_cylinder(track - radius - room, 1.4 * radius),
                   tb_vec3(0, 0, 0.7 * radius), tb_zero3(), tb_zero3()));
  TB_TRY(add_race(&s, track + radius + room, track + 2 * radius, 1.4 * radius));
  TB_TRY(add_rigid(&s, TB_BODY_KINEMATIC, tb_shape_cylinder(1.5 * track, disc),
                   tb_vec3(0, 0, 2 * radius + 2 * room + disc / 2), tb_vec3(0, 0, -0.4), tb_vec3(0, 0, 1)));
  tbTetMesh* mesh;
  TB_TRY(tb_tet_sphere(ctx, radius, quick ? 4 : 14, &mesh));
  tbStatus status = TB_OK;
  for (int i = 0; i < BALLS && status == TB_OK; i++) {
    double sine, cosine;
    tb_sin_cos(2 * TB_PI * i / BALLS, &sine, &cosine);
    status = verschoor_add_soft(&s, mesh, tb_vec3(track * cosine, track * sine, radius + room),
                                tb_vec3(0, 0, 2 * TB_PI * i / BALLS), tb_zero3(), NULL);
  }
  tb_tet_mesh_free(ctx, mesh);
  return status;
}
