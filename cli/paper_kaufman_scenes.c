// SPDX-License-Identifier: Apache-2.0
// The scenes of Kaufman et al. 2008, at the paper's degrees of freedom.
#include "cli/paper_kaufman.h"

#include <math.h>
#include <string.h>

tbStatus kaufman_world(tbContext* ctx, double mu, tbWorld** out)
{
  tbWorldDef def = tb_default_world_def();
  tbMaterialId plain = {0, 0};
  TB_TRY(tb_world_create(ctx, &def, out));
  tbStatus status = tb_world_set_pair(ctx, *out, plain, plain, tb_friction(mu), 0);
  if (status != TB_OK) tb_world_free(ctx, *out);
  return status;
}

tbStepOptions kaufman_options(const tbWorld* w, double dt)
{
  tbStepOptions o = tb_default_step_options();
  o.dt = dt;
  for (int i = 0; i < tb_world_body_count(w); i++)
    if (tb_body_mode_count(w, tb_world_body_at(w, i)) > 0) o.scheme = "implicit";
  return o;
}

tbStatus kaufman_fixed(tbContext* ctx, tbWorld* w, tbShape shape, tbTransform pose)
{
  tbBodyDef def = tb_default_body_def();
  def.kind = TB_BODY_FIXED, def.shapes = &shape, def.shape_count = 1;
  def.position = pose.x, def.orientation = pose.q;
  return tb_world_add_body(ctx, w, &def, NULL);
}

// ---- solids ----

// The six tetrahedra of a cell, each a way from its low corner to its high one.
static const int ways[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                               {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};

static bool is_there(const KaufmanGrid* g, int x, int y, int z)
{
  const int cell[3] = {x, y, z};
  return !g->fills || g->fills(cell, g->cells);
}

tbStatus kaufman_solid(tbContext* ctx, const KaufmanGrid* g, tbTetMesh** out)
{
  const int *n = g->cells, nx = n[0] + 1, ny = n[1] + 1, all = nx * ny * (n[2] + 1);
  tbVec3* node = TB_NEW(ctx, tbVec3, (size_t)all);
  int *number = TB_NEW(ctx, int, (size_t)all), used = 0, ntet = 0;
  int(*tet)[4] = tb_alloc(ctx, 6 * (size_t)(n[0] * n[1] * n[2]), sizeof *tet);
  tbStatus status = node && number && tet ? TB_OK : TB_ERROR_MEMORY;
  for (int i = 0; status == TB_OK && i < all; i++) number[i] = -1;
  for (int z = 0; status == TB_OK && z < n[2]; z++)
    for (int y = 0; y < n[1]; y++)
      for (int x = 0; x < n[0]; x++) {
        int corner[8];
        if (!is_there(g, x, y, z)) continue;
        for (int c = 0; c < 8; c++) {
          int X = x + (c & 1), Y = y + (c >> 1 & 1), Z = z + (c >> 2), at = (Z * ny + Y) * nx + X;
          if (number[at] < 0) {
            node[used] = g->at(g->user, (double)X / n[0], (double)Y / n[1], (double)Z / n[2]);
            number[at] = used++;
          }
          corner[c] = number[at];
        }
        for (int t = 0; t < 6; t++, ntet++)
          for (int a = 0; a < 4; a++) tet[ntet][a] = corner[ways[t][a]];
      }
  if (status == TB_OK) status = tb_tet_mesh_create(ctx, node, used, (const int(*)[4])tet, ntet, out);
  tb_free(ctx, node), tb_free(ctx, number), tb_free(ctx, tet);
  return status;
}

static tbStatus add_reduced(tbContext* ctx, tbWorld* w, tbTetMesh* mesh, tbDeformableDef def, tbBodyId* out)
{
  def.solid = mesh, def.self_contact = false;
  tbStatus status = tb_world_add_deformable(ctx, w, &def, out);
  tb_tet_mesh_free(ctx, mesh);
  return status;
}

static tbDeformableDef matter(int modes, double young, double damping)
{
  tbDeformableDef def = tb_default_deformable_def();
  def.soft.model = TB_ELASTIC_LINEAR, def.soft.young = young, def.soft.stiffness_damping = damping;
  def.modes = modes;
  return def;
}

// ---- woven composites: four strands across four ----

enum { STRANDS = 4 };
static const double PITCH = 0.1, WIDE = 0.06, THICK = 0.012; // of strands, m

typedef struct {
  int number;  // of the strand among those beside it
  bool across; // along y and not x
} Strand;

// A strand runs over one and under the next, and lies flat where they cross, so that they touch without
// overlap.
static tbVec3 strand_at(const void* user, double x, double y, double z)
{
  const Strand* s = user;
  double length = STRANDS * PITCH, u = (x - 0.5) * length * 1.1, v = (y - 0.5) * WIDE, up = (z - 0.5) * THICK;
  double phase = TB_PI * (u / PITCH - 0.5), sign = (s->number + s->across) % 2 ? -1 : 1;
  up += sign * 0.52 * THICK * fmax(-1, fmin(1, 3.2 * sin(phase + TB_PI / 2 + TB_PI * STRANDS / 2)));
  double aside = (s->number - 0.5 * (STRANDS - 1)) * PITCH;
  return s->across ? tb_vec3(aside - v, u, up) : tb_vec3(u, aside + v, up);
}

tbStatus kaufman_weave(tbContext* ctx, tbWorld* w, double young, bool hung)
{
  tbQuat upright = hung ? tb_quat(cos(TB_PI / 4), sin(TB_PI / 4), 0, 0) : tb_quat_identity();
  tbVec3 at = tb_vec3(0, 0, hung ? 0.5 : 0.05);
  for (int i = 0; i < 2 * STRANDS; i++) {
    Strand s = {i % STRANDS, i >= STRANDS};
    KaufmanGrid g = {.cells = {36, 3, 1}, .at = strand_at, .user = &s};
    tbTetMesh* mesh;
    tbDeformableDef def = matter(18, young, 2e-3);
    def.position = at, def.orientation = upright;
    TB_TRY(kaufman_solid(ctx, &g, &mesh));
    TB_TRY(add_reduced(ctx, w, mesh, def, NULL));
  }
  for (int i = 0; hung && i < 2; i++) // pegs under the topmost strand, in the gaps between upright ones
    TB_TRY(kaufman_fixed(
        ctx, w, tb_shape_capsule(0.008, 0.2),
        tb_transform(upright, tb_vec3((i - 0.5) * 2 * PITCH, 0, at.z + 1.5 * PITCH - 0.5 * WIDE - 0.009))));
  return hung ? TB_OK : kaufman_ground(ctx, w);
}

static tbStatus composites(tbContext* ctx, tbWorld* w, bool quick)
{
  (void)quick;
  return kaufman_weave(ctx, w, 5e6, false);
}

// ---- chairs ----

static bool is_chair(const int c[3], const int n[3]) // a seat on four legs, and a back
{
  bool edge_x = c[0] == 0 || c[0] == n[0] - 1, edge_y = c[1] == 0 || c[1] == n[1] - 1;
  if (c[2] == 4) return true;
  return c[2] < 4 ? edge_x && edge_y : c[1] == n[1] - 1;
}

static tbVec3 chair_at(const void* user, double x, double y, double z)
{
  (void)user;
  return tb_vec3(0.4 * (x - 0.5), 0.4 * (y - 0.5), 0.9 * z - 0.4);
}

tbStatus kaufman_chair(tbContext* ctx, tbWorld* w, int modes, double young, tbTransform pose, tbVec3 velocity,
                       tbBodyId* out)
{
  KaufmanGrid g = {.cells = {8, 8, 9}, .fills = is_chair, .at = chair_at};
  tbTetMesh* mesh;
  tbDeformableDef def = matter(modes, young, 1e-4);
  def.position = pose.x, def.orientation = pose.q, def.velocity = velocity;
  TB_TRY(kaufman_solid(ctx, &g, &mesh));
  return add_reduced(ctx, w, mesh, def, out);
}

static tbStatus chairs(tbContext* ctx, tbWorld* w, bool quick)
{
  tbShape box = tb_shape_box(tb_vec3(0.3, 0.3, 0.3));
  TB_TRY(kaufman_ground(ctx, w));
  TB_TRY(kaufman_rigid(ctx, w, &box, 1, tb_transform(tb_quat_identity(), tb_vec3(-2, 0, 0.16)), tb_zero3(),
                       NULL));
  for (int i = 0; i < (quick ? 2 : 22); i++) {
    tbTransform pose = {tb_quat_identity(), tb_vec3(0.6 * (i % 6), 0.7 * (i / 6 % 4), 0.402)};
    TB_TRY(kaufman_chair(ctx, w, 74, 5e7, pose, tb_vec3(1, 0, 0), NULL));
  }
  return TB_OK;
}

// ---- dinosaurs: nine tori of reduced StVK, thrown together ----

static tbStatus dinosaurs(tbContext* ctx, tbWorld* w, bool quick)
{
  TB_TRY(kaufman_ground(ctx, w));
  for (int i = 0; i < (quick ? 2 : 9); i++) {
    tbTetMesh* mesh;
    tbDeformableDef def = matter(quick ? 8 : 29, 1e6, 2e-3);
    double angle = 2 * TB_PI * i / 9;
    def.soft.model = TB_ELASTIC_STVK, def.basis = TB_BASIS_DERIVATIVES;
    def.position = tb_vec3(0.7 * cos(angle), 0.7 * sin(angle), 0.3 + 0.25 * (i % 3));
    def.velocity = tb_vec3(-2 * cos(angle), -2 * sin(angle), 0);
    def.orientation = tb_quat(cos(angle), sin(angle), 0.3, 0.1 * i);
    TB_TRY(tb_tet_torus(ctx, 0.15, 0.05, 3, 24, &mesh));
    TB_TRY(add_reduced(ctx, w, mesh, def, NULL));
  }
  return TB_OK;
}

// ---- what a hand held: two soft bodies and two rigid ones ----

static tbStatus haptic(tbContext* ctx, tbWorld* w, bool quick)
{
  (void)quick;
  TB_TRY(kaufman_ground(ctx, w));
  for (int i = 0; i < 2; i++) {
    tbTetMesh* mesh;
    tbDeformableDef def = matter(24, 1e6, 2e-3);
    def.position = tb_vec3(0, 0, 0.11 + 0.25 * i);
    TB_TRY(tb_tet_box(ctx, tb_vec3(0.3, 0.3, 0.2), (int[3]){4, 4, 2}, 5, &mesh));
    TB_TRY(add_reduced(ctx, w, mesh, def, NULL));
    tbTransform pose = {tb_quat_identity(), tb_vec3(0.08 - 0.16 * i, 0.05, 0.55)};
    tbShape box = tb_shape_box(tb_vec3(0.1, 0.1, 0.1));
    TB_TRY(kaufman_rigid(ctx, w, &box, 1, pose, tb_zero3(), NULL));
  }
  return TB_OK;
}

const KaufmanSetup kaufman_setups[] = {
    {"composites", "woven strands, modal", 0.56, 921, 6.4, 25.8, 192, 3e-3, 0.5, 0.3, 20, composites},
    {"chairs", "sliding, modal", 0.72, 9025, 2.9, 30.9, 1766, 1e-2, 0.5, 0.1, 20, chairs},
    {"arch", "catenary, rigid", 1.2, 2042, 5.6, 133.7, 162, 1e-2, 0.6, 0.5, 20, kaufman_arch_setup},
    {"cards", "card house, rigid", 4.7, 528, 3.2, 57.1, 348, 1e-3, 0.8, 1, 20, kaufman_cards_setup},
    {"dinosaurs", "reduced StVK", 0.61, 4690, 2.7, 18.3, 315, 1e-2, 0.5, 0.6, 20, dinosaurs},
    {"haptic", "modal and rigid", 0.0032, 117, 2.4, 0, 72, 1e-3, 0.5, 1.2, 20, haptic},
    {"log-house", "rigid, sliding", 0.061, 0, 0, 0, 414, 1e-2, 0.4, 0.3, 10, kaufman_log_house},
    {"bunnies", "rigid, dropped", 37.5, 0, 0, 0, 12276, 1e-2, 0.5, 0.5, 5, kaufman_bunnies},
};
const int kaufman_setup_count = (int)(sizeof kaufman_setups / sizeof *kaufman_setups);
