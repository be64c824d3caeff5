// SPDX-License-Identifier: Apache-2.0
// Tribo's lanes.
#include "peers/peer.h"
#include "tribo/step.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  tbContext ctx;
  tbWorld* world;
  tbBodyId* id;
  tbStepOptions options;
  tbStepReport report;
  tbHull** hull; // by body; null: it has none
  int count;
  tbMesh* terrain;
} Lane;

static tbHull* octahedron_of(Lane* l, const double* half)
{
  tbVec3 corner[6] = {{half[0], 0, 0},  {-half[0], 0, 0}, {0, half[1], 0},
                      {0, -half[1], 0}, {0, 0, half[2]},  {0, 0, -half[2]}};
  tbHull* hull;
  if (tb_hull_create(&l->ctx, corner, 6, &hull) != TB_OK) abort();
  return hull;
}

static tbMesh* terrain_of(Lane* l, const PeerTerrain* t)
{
  double(*vertex)[3];
  int(*triangle)[3], count = peer_terrain_triangles(t, &vertex, &triangle), n = t->side + 1;
  tbVec3* corner = malloc((size_t)(n * n) * sizeof *corner);
  tbMesh* mesh;
  for (int i = 0; i < n * n; i++) corner[i] = tb_load3(vertex[i]);
  if (tb_mesh_create(&l->ctx, corner, n * n, triangle[0], count, &mesh) != TB_OK) abort();
  free(corner);
  free(vertex);
  free(triangle);
  return mesh;
}

static tbShape shape_of(Lane* l, const PeerScene* scene, int i)
{
  const PeerBody* b = &scene->body[i];
  if (b->kind == PEER_OCTAHEDRON) return tb_shape_convex(l->hull[i] = octahedron_of(l, b->half));
  if (b->kind == PEER_TERRAIN) return tb_shape_mesh(l->terrain = terrain_of(l, &scene->terrain));
  if (b->kind == PEER_SPHERE) return tb_shape_sphere(b->half[0]);
  if (b->kind == PEER_CAPSULE) return tb_shape_capsule(b->half[0], 2 * (b->half[2] - b->half[0]));
  return tb_shape_box(tb_vec3(2 * b->half[0], 2 * b->half[1], 2 * b->half[2]));
}

static void join(Lane* l, const PeerJoint* j)
{
  tbVec3 axis = tb_load3(j->axis);
  bool hinged = tb_norm3(axis) > 0;
  tbJointDef def = tb_default_joint_def(hinged ? TB_JOINT_HINGE : TB_JOINT_BALL);
  def.a = l->id[j->a], def.b = l->id[j->b], def.anchor = tb_load3(j->anchor);
  if (hinged) def.axis = axis, def.limited = true, def.lower = j->low, def.upper = j->high;
  if (tb_world_add_joint(&l->ctx, l->world, &def, NULL) != TB_OK) abort();
}

static Lane* open_lane(const PeerScene* scene, const char* scheme, int threads)
{
  Lane* l = calloc(1, sizeof *l);
  l->ctx = tb_default_context(), l->options = tb_default_step_options();
  l->options.scheme = scheme;
  l->id = calloc((size_t)scene->count, sizeof *l->id), l->count = scene->count;
  l->hull = calloc((size_t)scene->count, sizeof *l->hull);
  if (threads > 1 && tb_threads_create(&l->ctx, threads, &l->ctx.threads) != TB_OK) abort();
  tbWorldDef def = tb_default_world_def();
  tbMaterialDef material = tb_default_material_def();
  material.name = "box", material.friction = tb_friction(scene->mu);
  tbMaterialId m;
  if (tb_world_create(&l->ctx, &def, &l->world) != TB_OK) abort();
  if (tb_world_add_material(&l->ctx, l->world, &material, &m) != TB_OK) abort();
  for (int i = 0; i < scene->count; i++) {
    const PeerBody* b = &scene->body[i];
    tbShape shape = shape_of(l, scene, i);
    tbBodyDef body = tb_default_body_def();
    body.kind = b->mass > 0 ? TB_BODY_DYNAMIC : TB_BODY_FIXED, body.material = m;
    body.shapes = &shape, body.shape_count = 1, body.mass = b->mass;
    body.position = tb_vec3(b->x[0], b->x[1], b->x[2]);
    body.orientation = tb_quat(b->q[0], b->q[1], b->q[2], b->q[3]);
    if (tb_world_add_body(&l->ctx, l->world, &body, &l->id[i]) != TB_OK) abort();
  }
  for (int i = 0; i < scene->joints; i++) join(l, &scene->joint[i]);
  return l;
}

static void* open_real_time(const PeerScene* scene) { return open_lane(scene, "soft-step", 1); }
static void* open_threaded(const PeerScene* scene) { return open_lane(scene, "soft-step", 2); }
static void* open_exact(const PeerScene* scene) { return open_lane(scene, "semi-implicit", 1); }
static void* open_polished(const PeerScene* scene)
{
  Lane* l = open_lane(scene, "soft-step", 1);
  l->options.polish = true;
  return l;
}

static void step_lane(void* world, double dt)
{
  Lane* l = world;
  l->options.dt = dt;
  if (tb_world_step(&l->ctx, l->world, &l->options, &l->report) != TB_OK) puts(l->ctx.error.message), abort();
}

static void pose_lane(void* world, int i, PeerPose* out)
{
  const Lane* l = world;
  tbBodyState s = tb_body_state(l->world, l->id[i]);
  *out = (PeerPose){{s.position.x, s.position.y, s.position.z},
                    {s.orientation.w, s.orientation.x, s.orientation.y, s.orientation.z},
                    {s.velocity.x, s.velocity.y, s.velocity.z}};
}

// The judge is asked once more for what the step left, outside of the time that is measured.
static double residual_lane(void* world)
{
  Lane* l = world;
  tbStepOptions asked = l->options;
  asked.certify = 1;
  if (tb_world_step(&l->ctx, l->world, &asked, &l->report) != TB_OK) return -1;
  return l->report.residual.velocity;
}

static void close_lane(void* world)
{
  Lane* l = world;
  tb_world_free(&l->ctx, l->world);
  for (int i = 0; i < l->count; i++) tb_hull_free(&l->ctx, l->hull[i]);
  if (l->terrain) tb_mesh_free(&l->ctx, l->terrain);
  tb_threads_destroy(&l->ctx, l->ctx.threads);
  free(l->hull);
  free(l->id);
  free(l);
}

#define LANE(name, open, threads)                                                             \
  {                                                                                           \
    name, PEER_ALL, PEER_MANY, threads, open, step_lane, pose_lane, residual_lane, close_lane \
  }
const Peer peer_tribo[PEER_TRIBO_LANES] = {
    LANE("Tribo soft-step", open_real_time, 1), LANE("Tribo soft-step, 2 threads", open_threaded, 2),
    LANE("Tribo soft-step, polished", open_polished, 1), LANE("Tribo semi-implicit", open_exact, 1)};
