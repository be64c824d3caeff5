// SPDX-License-Identifier: Apache-2.0
// The armadillo between rollers. Where the folder of meshes that the project shares is at hand, the Stanford
// armadillo, cut as fine as the paper's, and rollers like the paper's; else a ball.
//
// The paper's takes thousands of steps to be drawn in from above. Here it stands between two pairs of rollers
// that have just not touched it yet, close in on it and draw it down: a dozen.
#include "cli/paper_verschoor.h"

#include "tribo/io.h"

#include <stdio.h>
#include <unistd.h>

static const char folder[] = "../shared/meshes";
static const double BODY = 0.006, ROLLER = 1;   // metres of a unit of the files
static const double SPEED = 0.5;                // of the rollers' surfaces, m/s
static const double CLOSING = 4;                // of the rollers towards the armadillo, m/s
static const double CLOSED = 0.007, END = 0.05; // s; from then on
static const double SQUEEZING = 1;              // m/s
static const double ROOM = 1e-4;                // m

bool verschoor_has_armadillo(void)
{
  char path[200];
  snprintf(path, sizeof path, "%s/Armadillo13K.msh", folder);
  if (access(path, R_OK) != 0) return false;
  snprintf(path, sizeof path, "%s/verschoor/roller0.obj", folder);
  return access(path, R_OK) == 0;
}

static tbQuat upright(void) { return tb_quat_exp(tb_vec3(TB_PI / 2, 0, 0)); } // from y up, as in the files

// It closes in, fast until it holds the body.
static tbStatus add_roller(const Stage* s, tbShape shape, tbVec3 at, tbVec3 closing, tbVec3 spin)
{
  tbBodyDef def = tb_default_body_def();
  tbBodyId id;
  tbVec3 near = tb_madd3(at, CLOSED * CLOSING, closing),
         end = tb_madd3(near, (END - CLOSED) * SQUEEZING, closing);
  tbMotionKey key[] = {
      {.t = 0, .position = at}, {.t = CLOSED, .position = near}, {.t = END, .position = end}};
  for (int i = 0; i < 3; i++)
    key[i].orientation = tb_quat_mul(tb_quat_exp(tb_scale3(key[i].t, spin)), upright());
  def.kind = TB_BODY_KINEMATIC, def.shapes = &shape, def.shape_count = 1;
  def.position = at, def.orientation = upright(), def.keys = key, def.key_count = 3;
  return tb_world_add_body(s->ctx, s->world, &def, &id);
}

// ---- the armadillo ----

// A mesh around its middle; its radius.
static tbStatus load_roller(const Stage* s, int number, tbMesh** out, double* radius)
{
  char path[200];
  tbMesh* raw;
  snprintf(path, sizeof path, "%s/verschoor/roller%d.obj", folder, number);
  TB_TRY(tb_mesh_load(s->ctx, path, tb_vec3(ROLLER, ROLLER, ROLLER), &raw));
  tbTriangleView t = tb_mesh_triangles(raw);
  tbShape shape = tb_shape_mesh(raw);
  tbBox box = tb_shape_box_of(&shape, tb_transform_identity());
  tbVec3 middle = tb_scale3(0.5, tb_add3(box.lo, box.hi)),
         *vertex = TB_NEW(s->ctx, tbVec3, (size_t)t.nvertex);
  *radius = 0.5 * (box.hi.y - box.lo.y);
  for (int i = 0; vertex && i < t.nvertex; i++) vertex[i] = tb_sub3(t.vertex[i], middle);
  tbStatus status = vertex ? tb_mesh_create(s->ctx, vertex, t.nvertex, &t.triangle[0][0], t.ntriangle, out)
                           : TB_ERROR_MEMORY;
  tb_free(s->ctx, vertex);
  tb_mesh_free(s->ctx, raw);
  return status == TB_OK ? tb_world_keep_mesh(s->ctx, s->world, *out) : status;
}

// How far along `way` the axis of a roller at that height must stay, lest it touch the body.
static double keep_off(const tbTetMesh* mesh, tbVec3 way, double height, double radius)
{
  double far = 0;
  const tbVec3* node = tb_tet_mesh_nodes(mesh);
  for (int i = 0; i < tb_tet_mesh_node_count(mesh); i++) {
    double up = node[i].z - height, left = radius * radius - up * up;
    if (left > 0) far = fmax(far, tb_dot3(way, node[i]) + sqrt(left));
  }
  return far;
}

// Two rollers at a height, one on either side along `way`: the files' that lie across it.
static tbStatus add_pair(const Stage* s, const tbTetMesh* mesh, tbVec3 way, double height,
                         const int number[2])
{
  for (int i = 0; i < 2; i++) {
    tbVec3 out = tb_scale3(i ? 1 : -1, way), up = tb_vec3(0, 0, 1);
    tbMesh* roller;
    double radius;
    TB_TRY(load_roller(s, number[i], &roller, &radius));
    double far = keep_off(mesh, out, height, radius + ROOM);
    TB_TRY(add_roller(s, tb_shape_mesh(roller), tb_madd3(tb_scale3(height, up), far, out), tb_scale3(-1, out),
                      tb_scale3(SPEED / radius, tb_cross3(out, up))));
  }
  return TB_OK;
}

static tbStatus add_armadillo(Stage* s)
{
  char path[200];
  tbTetMesh *coarse, *mesh;
  snprintf(path, sizeof path, "%s/Armadillo13K.msh", folder);
  TB_TRY(tb_tet_mesh_load(s->ctx, path, tb_vec3(BODY, BODY, BODY), &coarse));
  tb_tet_mesh_rotate(coarse, upright());
  tbStatus status = tb_tet_mesh_refine(s->ctx, coarse, &mesh);
  tb_tet_mesh_free(s->ctx, coarse);
  TB_TRY(status);
  status = add_pair(s, mesh, tb_vec3(0, 1, 0), 0.22, (const int[2]){4, 5});
  if (status == TB_OK) status = add_pair(s, mesh, tb_vec3(1, 0, 0), -0.16, (const int[2]){1, 2});
  if (status == TB_OK) status = verschoor_add_soft(s, mesh, tb_zero3(), tb_zero3(), tb_zero3(), NULL);
  tb_tet_mesh_free(s->ctx, mesh);
  return status;
}

// ---- the ball ----

static int take_core(const tbTetMesh* mesh, double radius, int* out)
{
  int count = 0;
  for (int i = 0; i < tb_tet_mesh_node_count(mesh); i++)
    if (tb_norm3(tb_tet_mesh_nodes(mesh)[i]) <= radius) out[count++] = i;
  return count;
}

// 384,000 tetrahedra, whose core is pulled down between two turning cylinders.
static tbStatus add_ball(Stage* s, bool quick)
{
  const double radius = 0.1, roller = 0.1, gap = 0.14, room = 1e-4;
  double beside = roller + gap / 2, apart = radius + roller + room,
         over = sqrt(apart * apart - beside * beside);
  for (int side = -1; side <= 1; side += 2)
    TB_TRY(add_roller(s, tb_shape_cylinder(roller, 0.4), tb_vec3(side * beside, 0, 0), tb_zero3(),
                      tb_vec3(0, -side * SPEED / roller, 0)));
  tbTetMesh* mesh;
  TB_TRY(tb_tet_sphere(s->ctx, radius, quick ? 8 : 40, &mesh));
  int* node = TB_NEW(s->ctx, int, (size_t)tb_tet_mesh_node_count(mesh));
  tbPinDef pin = tb_default_pin_def();
  tbStatus status = node ? TB_OK : TB_ERROR_MEMORY;
  if (node) {
    pin.nodes = node, pin.node_count = take_core(mesh, 0.3 * radius, node);
    pin.velocity = tb_vec3(0, 0, -SPEED);
    status = verschoor_add_soft(s, mesh, tb_vec3(0, 0, over), tb_zero3(), pin.velocity, &pin);
  }
  tb_free(s->ctx, node);
  tb_tet_mesh_free(s->ctx, mesh);
  return status;
}

tbStatus verschoor_armadillo(tbContext* ctx, bool quick, double young, tbElasticModel model, tbWorld* world)
{
  Stage s = verschoor_stage(ctx, world, young, model);
  return !quick && verschoor_has_armadillo() ? add_armadillo(&s) : add_ball(&s, quick);
}
