// SPDX-License-Identifier: Apache-2.0
// The five scenes of Ly et al. 2020. The paper does not say how large things are; sheets are a metre wide
// here. The dresses are tubes that flare, held at a waist that moves with the ball they hang over.
#include "cli/paper_ly.h"

#include <math.h>
#include <stdlib.h>

static tbStatus add_cloth(tbContext* ctx, tbWorld* w, tbMesh* mesh, tbClothDef cloth, tbVec3 at, tbQuat turn,
                          const tbPinDef* pin)
{
  tbDeformableDef def = tb_default_deformable_def();
  def.sheet = mesh, def.cloth = cloth, def.position = at, def.orientation = turn;
  def.pins = pin, def.pin_count = pin ? 1 : 0;
  tbStatus status = tb_world_add_deformable(ctx, w, &def, NULL);
  tb_mesh_free(ctx, mesh);
  return status;
}

static tbStatus add_shape(tbContext* ctx, tbWorld* w, tbShape shape, tbVec3 at, tbQuat turn, tbVec3 v,
                          tbVec3 spin)
{
  tbBodyDef def = tb_default_body_def();
  def.shapes = &shape, def.shape_count = 1, def.position = at, def.orientation = turn;
  def.kind = tb_norm3(v) + tb_norm3(spin) > 0 ? TB_BODY_KINEMATIC : TB_BODY_FIXED;
  def.velocity = v, def.angular_velocity = spin;
  return tb_world_add_body(ctx, w, &def, NULL);
}

tbStatus ly_square(tbContext* ctx, tbWorld* w, int cells, int sheets, tbClothDef cloth)
{
  cloth.thickness = 0.008;
  TB_TRY(add_shape(ctx, w, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_zero3(), tb_quat_identity(), tb_zero3(),
                   tb_zero3()));
  TB_TRY(add_shape(ctx, w, tb_shape_sphere(0.25), tb_vec3(0, 0, 0.3), tb_quat_identity(), tb_zero3(),
                   tb_vec3(0, 0, 2)));
  for (int i = 0; i < sheets; i++) {
    tbMesh* mesh;
    TB_TRY(tb_cloth_grid(ctx, 1, 1, cells, cells + 1, &mesh));
    TB_TRY(
        add_cloth(ctx, w, mesh, cloth, tb_vec3(0.01 * i, 0.02, 0.56 + 0.02 * i), tb_quat_identity(), NULL));
  }
  return TB_OK;
}

static tbStatus square_1(tbContext* ctx, tbWorld* w, int cells, tbClothDef cloth)
{
  return ly_square(ctx, w, cells, 1, cloth);
}
static tbStatus square_3(tbContext* ctx, tbWorld* w, int cells, tbClothDef cloth)
{
  return ly_square(ctx, w, cells, 3, cloth);
}

// Fifteen times as long as it is wide, upright over a slope.
static tbStatus ribbon(tbContext* ctx, tbWorld* w, int cells, tbClothDef cloth)
{
  tbMesh* mesh;
  cloth.thickness = 0.0025;
  TB_TRY(add_shape(ctx, w, tb_shape_plane(tb_vec3(sin(TB_PI / 18), 0, cos(TB_PI / 18)), 0), tb_zero3(),
                   tb_quat_identity(), tb_zero3(), tb_zero3()));
  TB_TRY(tb_cloth_grid(ctx, 1.5, 0.1, 15 * cells + 11, cells, &mesh));
  double half = 0.5 * 0.49 * TB_PI;
  return add_cloth(ctx, w, mesh, cloth, tb_vec3(0, 0, 0.8), tb_quat(cos(half), 0, sin(half), 0), NULL);
}

// A tube of rows × around vertices, from the waist down.
static tbStatus make_tube(tbContext* ctx, int around, int rows, double waist, double hem, double length,
                          tbMesh** out)
{
  int nvertex = around * rows, ntriangle = 2 * around * (rows - 1), n = 0;
  tbVec3* x = calloc((size_t)nvertex, sizeof *x);
  int* t = calloc((size_t)ntriangle, 3 * sizeof *t);
  for (int i = 0; x && i < nvertex; i++) {
    double down = (double)(i / around) / (rows - 1),
           angle = 2 * TB_PI * (i % around + 0.5 * (i / around % 2)) / around;
    double radius = waist + (hem - waist) * down;
    x[i] = tb_vec3(radius * cos(angle), radius * sin(angle), -length * down);
  }
  for (int r = 0; t && r + 1 < rows; r++)
    for (int k = 0; k < around; k++) {
      int next = (k + 1) % around, a = r * around + k, b = r * around + next, c = a + around, d = b + around;
      const int even[6] = {a, c, b, b, c, d}, odd[6] = {a, c, d, a, d, b};
      for (int i = 0; i < 6; i++) t[n++] = r % 2 ? odd[i] : even[i];
    }
  tbStatus status = x && t ? tb_mesh_create(ctx, x, nvertex, t, ntriangle, out) : TB_ERROR_MEMORY;
  free(x);
  free(t);
  return status;
}

static tbStatus dress(tbContext* ctx, tbWorld* w, int around, double hips, double hem, double length,
                      tbVec3 v, tbVec3 spin, tbClothDef cloth)
{
  const double waist = 0.15;
  tbMesh* mesh;
  tbQuat upright = tb_quat_identity();
  cloth.thickness = 0.003, cloth.warp = tb_vec3(0, 0, 1);
  TB_TRY(
      add_shape(ctx, w, tb_shape_plane(tb_vec3(0, 0, 1), -0.1), tb_zero3(), upright, tb_zero3(), tb_zero3()));
  TB_TRY(add_shape(ctx, w, tb_shape_sphere(hips), tb_vec3(0, 0, length - 0.27), upright, v, spin));
  int rows = around * 113 / 140;
  TB_TRY(make_tube(ctx, around, rows, waist, hem, length, &mesh));
  int* held = calloc((size_t)around, sizeof *held);
  if (!held) return TB_ERROR_MEMORY;
  for (int i = 0; i < around; i++) held[i] = i;
  tbPinDef pin = tb_default_pin_def();
  pin.nodes = held, pin.node_count = around, pin.velocity = v, pin.angular_velocity = spin;
  tbStatus status = add_cloth(ctx, w, mesh, cloth, tb_vec3(0, 0, length), upright, &pin);
  free(held);
  return status;
}

static tbStatus arabesque(tbContext* ctx, tbWorld* w, int cells, tbClothDef cloth)
{
  return dress(ctx, w, cells, 0.215, 0.35, 0.6, tb_vec3(0.1, 0, 0), tb_vec3(0, 0, 3), cloth);
}
static tbStatus crinoline(tbContext* ctx, tbWorld* w, int cells, tbClothDef cloth)
{
  return dress(ctx, w, cells, 0.255, 0.7, 1, tb_vec3(0.5, 0, 0), tb_vec3(0, 0, 1), cloth);
}

const LySetup ly_setups[] = {
    {"ribbon",
     "a ribbon folding on a slope",
     5946,
     0.25,
     20,
     2e-2,
     0,
     4e-3,
     20,
     0.7,
     19,
     2,
     {{0.3, 4210, 455, 1.9, 0.36, 1.02, 3.1, 38.4, 0.17, 109, 0},
      {0.6, 2194, 1769, 1.9, 0.449, 1.02, 2.8, 49.8, 0.29, 122, 0}},
     ribbon},
    {"square1",
     "a sheet on a turning ball",
     5996,
     3,
     200,
     5e-4,
     0,
     5e-3,
     20,
     0.5,
     76,
     2,
     {{0.1, 2273, 1009, 2.0, 0.432, 1.24, 5.9, 69.5, 0.25, 153, 2244},
      {0.3, 1665, 301, 2.1, 0.351, 1.23, 6.6, 62.6, 0.16, 144, 4828}},
     square_1},
    {"square3",
     "three sheets on a turning ball",
     17964,
     1.5,
     200,
     5e-4,
     0,
     5e-3,
     20,
     0.5,
     76,
     2,
     {{0.1, 4034, 5840, 6.2, 1.45, 3.60, 11.8, 283.6, 1.23, 526, 18713},
      {0.3, 2222, 5311, 6.2, 1.37, 3.60, 13.1, 283.4, 1.26, 525, 19233}},
     square_3},
    {"arabesque",
     "a dress of that size on a body that turns",
     15842,
     0.01,
     4,
     5e-7,
     3e-6,
     2e-3,
     30,
     0.1,
     140,
     2,
     {{0, 3354, 155, 5.3, 0.741, 4.33, 51.3, 161.2, 0.28, 530, 9069},
      {0.3, 3673, 102, 5.4, 0.773, 4.39, 58.0, 152.7, 0.30, 543, 15899}},
     arabesque},
    {"crinoline",
     "a gown of that size on a body that walks and turns",
     53097,
     0.01,
     5,
     5e-6,
     2.5e-7,
     2e-3,
     30,
     0.04,
     256,
     1,
     {{0.3, 5977, 1052, 15.6, 2.647, 17.0, 200, 483, 1.04, 1751, 0}},
     crinoline},
};
const int ly_setup_count = sizeof ly_setups / sizeof *ly_setups;

tbStepOptions ly_options(const LySetup* s)
{
  tbStepOptions o = tb_default_step_options();
  o.scheme = "pd", o.dt = s->dt, o.iterations = s->iterations;
  return o;
}

tbStatus ly_world(tbContext* ctx, const LySetup* s, int cells, double mu, tbWorld** out)
{
  tbWorldDef def = tb_default_world_def();
  tbClothDef cloth = tb_cloth_def();
  cloth.area_density = s->density, cloth.stretch = s->stretch, cloth.shear = s->stretch / 2,
  cloth.bend = s->bend;
  cloth.air_damping = s->air * s->vertices; // of a node, spread over about a square metre
  TB_TRY(tb_world_create(ctx, &def, out));
  tbMaterialId plain = {0, 0};
  tbStatus status = tb_world_set_pair(ctx, *out, plain, plain, tb_friction(mu), 0);
  if (status == TB_OK) status = s->build(ctx, *out, cells, cloth);
  if (status == TB_OK) return TB_OK;
  tb_world_free(ctx, *out);
  *out = NULL;
  return status;
}
