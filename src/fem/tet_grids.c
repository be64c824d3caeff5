// SPDX-License-Identifier: Apache-2.0
// Meshes to order: a grid of cells, bent into shape.
//
// Six tetrahedra per cell: Kuhn's subdivision, one tetrahedron for each path of three axis steps from a
// corner to the opposite one. Five: one in the middle and one at every other corner. Each cell is the
// reflection of its neighbours (along a sweep of six: a translation), which makes their faces match.
//
// A cube is pulled into a ball along rays, p ↦ p |p|_∞/|p|₂, and a square into a disc in the same way. At an
// edge of the cube that opens its right angle to a straight one. Kuhn's diagonal runs inward from there when
// the number of cells is even, so no tetrahedron has two faces outside and none is flattened.
#include "fem/tets.h"

#define TWO_PI 6.283185307179586

typedef struct {
  int n[3];                                    // cells along the axes
  bool wrap;                                   // the last layer along axis 2 joins the first
  int per_cell;                                // 5 or 6
  int mirrored[3];                             // axes along which cells alternate
  tbVec3 (*place)(const void* user, tbVec3 p); // p ∈ [−1, 1]³; along a wrapped axis, −1 and 1 are the same
  const void* user;
} Grid;

static int layers(const Grid* g, int axis) { return g->n[axis] + !(axis == 2 && g->wrap); }

static int node_at(const Grid* g, const int at[3])
{
  int z = g->wrap ? at[2] % g->n[2] : at[2];
  return (z * layers(g, 1) + at[1]) * layers(g, 0) + at[0];
}

static void make_nodes(const Grid* g, tbVec3* node)
{
  int at[3];
  for (at[2] = 0; at[2] < layers(g, 2); at[2]++)
    for (at[1] = 0; at[1] < layers(g, 1); at[1]++)
      for (at[0] = 0; at[0] < layers(g, 0); at[0]++) {
        double p[3]; // the same number but for its sign on either side of the middle
        for (int k = 0; k < 3; k++) p[k] = (double)(2 * at[k] - g->n[k]) / g->n[k];
        node[node_at(g, at)] = g->place(g->user, tb_load3(p));
      }
}

// Corner `bits` of a cell, bit k for axis k, in the cell's own (reflected) axes.
static int corner(const Grid* g, const int cell[3], int bits)
{
  int at[3];
  for (int k = 0; k < 3; k++) {
    int bit = bits >> k & 1, mirror = g->mirrored[k] & cell[k] & 1;
    at[k] = cell[k] + (bit ^ mirror);
  }
  return node_at(g, at);
}

static void add_tet(const Grid* g, const int cell[3], const int bits[4], int t[4])
{
  for (int a = 0; a < 4; a++) t[a] = corner(g, cell, bits[a]);
  int reflections = 0;
  for (int k = 0; k < 3; k++) reflections += g->mirrored[k] & cell[k] & 1;
  if (reflections & 1) {
    int swap = t[2];
    t[2] = t[3];
    t[3] = swap;
  }
}

static void make_tets(const Grid* g, int (*tet)[4])
{
  static const int five[5][4] = {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}, {1, 2, 4, 7}};
  static const int six[6][4] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}};
  int cell[3], t = 0;
  for (cell[2] = 0; cell[2] < g->n[2]; cell[2]++)
    for (cell[1] = 0; cell[1] < g->n[1]; cell[1]++)
      for (cell[0] = 0; cell[0] < g->n[0]; cell[0]++)
        for (int k = 0; k < g->per_cell; k++) add_tet(g, cell, g->per_cell == 5 ? five[k] : six[k], tet[t++]);
}

static tbStatus build(tbContext* ctx, const Grid* g, tbTetMesh** out)
{
  *out = NULL;
  for (int k = 0; k < 3; k++)
    if (g->n[k] < 1 || g->n[k] > TB_TET_CELLS_MAX)
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "a grid of %d cells along an axis", g->n[k]);
  double cells = (double)g->n[0] * g->n[1] * g->n[2];
  if (cells > TB_TET_CELLS_MAX)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a grid of %.0f cells; the most is %d", cells, TB_TET_CELLS_MAX);
  int ntet = g->per_cell * g->n[0] * g->n[1] * g->n[2];
  double nodes = (double)layers(g, 0) * layers(g, 1) * layers(g, 2);
  tbVec3* node = TB_NEW(ctx, tbVec3, (size_t)nodes);
  int(*tet)[4] = tb_alloc(ctx, (size_t)ntet, sizeof *tet);
  tbStatus status = node && tet ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) {
    make_nodes(g, node);
    make_tets(g, tet);
    status = tb_tet_mesh_create(ctx, node, (int)nodes, (const int(*)[4])tet, ntet, out);
  }
  tb_free(ctx, node);
  tb_free(ctx, tet);
  return status;
}

static tbStatus check_size(tbContext* ctx, const char* what, double size)
{
  if (size > 0 && isfinite(size)) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is %g; it must be positive and finite", what, size);
}

static tbStatus check_around(tbContext* ctx, int around)
{
  if (around >= 3) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d cells around a ring; it takes 3", around);
}

// ---- the shapes ----

static tbVec3 place_box(const void* user, tbVec3 p) { return tb_mul3(*(const tbVec3*)user, p); }

tbStatus tb_tet_box(tbContext* ctx, tbVec3 size, const int cells[3], int tets_per_cell, tbTetMesh** out)
{
  *out = NULL;
  TB_TRY(check_size(ctx, "the size of a box along x", size.x));
  TB_TRY(check_size(ctx, "the size of a box along y", size.y));
  TB_TRY(check_size(ctx, "the size of a box along z", size.z));
  if (tets_per_cell != 5 && tets_per_cell != 6)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%d tetrahedra per cell; it is 5 or 6", tets_per_cell);
  tbVec3 half = tb_scale3(0.5, size);
  Grid g = {{cells[0], cells[1], cells[2]}, false, tets_per_cell, {1, 1, 1}, place_box, &half};
  return build(ctx, &g, out);
}

static tbVec3 place_ball(const void* user, tbVec3 p)
{
  double n = tb_norm3(p);
  return n > 0 ? tb_scale3(*(const double*)user * tb_maxabs3(p) / n, p) : p;
}

tbStatus tb_tet_sphere(tbContext* ctx, double radius, int cells, tbTetMesh** out)
{
  *out = NULL;
  TB_TRY(check_size(ctx, "the radius of a sphere", radius));
  Grid g = {{cells, cells, cells}, false, 6, {1, 1, 1}, place_ball, &radius};
  return build(ctx, &g, out);
}

typedef struct {
  double tube, half, ring; // radius of the disc; half the length, or the radius it is swept around
} Sweep;

static tbVec3 disc(double radius, tbVec3 p)
{
  p.z = 0;
  return place_ball(&radius, p);
}

static tbVec3 place_cylinder(const void* user, tbVec3 p)
{
  const Sweep* s = user;
  tbVec3 q = disc(s->tube, p);
  return tb_vec3(q.x, q.y, s->half * p.z);
}

tbStatus tb_tet_cylinder(tbContext* ctx, double radius, double length, int across, int along, tbTetMesh** out)
{
  *out = NULL;
  TB_TRY(check_size(ctx, "the radius of a cylinder", radius));
  TB_TRY(check_size(ctx, "the length of a cylinder", length));
  Sweep s = {.tube = radius, .half = length / 2};
  Grid g = {{across, across, along}, false, 6, {1, 1, 1}, place_cylinder, &s};
  return build(ctx, &g, out);
}

// A point (r, z) of the section at p.z half turns around z. The sweep runs clockwise seen from above, which
// keeps the axes (radial, up, sweep) right-handed.
static tbVec3 turn(double r, double z, double p)
{
  double s, c;
  tb_sin_cos(0.5 * TWO_PI * p, &s, &c);
  return tb_vec3(r * c, -r * s, z);
}

static tbVec3 place_torus(const void* user, tbVec3 p)
{
  const Sweep* s = user;
  tbVec3 q = disc(s->tube, p);
  return turn(s->ring + q.x, q.y, p.z);
}

tbStatus tb_tet_torus(tbContext* ctx, double ring, double tube, int across, int around, tbTetMesh** out)
{
  *out = NULL;
  TB_TRY(check_size(ctx, "the tube of a torus", tube));
  TB_TRY(check_size(ctx, "the ring of a torus", ring));
  TB_TRY(check_around(ctx, around));
  if (!(tube < ring))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "a torus with a tube of radius %g in a ring of radius %g", tube,
                   ring);
  Sweep s = {.tube = tube, .ring = ring};
  Grid g = {{across, across, around}, true, 6, {1, 1, 0}, place_torus, &s};
  return build(ctx, &g, out);
}

static tbVec3 place_ring(const void* user, tbVec3 p)
{
  const Sweep* s = user;
  return turn(s->ring + s->tube * p.x, s->half * p.y, p.z);
}

tbStatus tb_tet_ring(tbContext* ctx, double inner, double outer, double height, const int cells[3],
                     tbTetMesh** out)
{
  *out = NULL;
  TB_TRY(check_size(ctx, "the inner radius of a ring", inner));
  TB_TRY(check_size(ctx, "the width of a ring", outer - inner));
  TB_TRY(check_size(ctx, "the height of a ring", height));
  TB_TRY(check_around(ctx, cells[1]));
  Sweep s = {.tube = (outer - inner) / 2, .ring = (outer + inner) / 2, .half = height / 2};
  Grid g = {{cells[0], cells[2], cells[1]}, true, 6, {1, 1, 0}, place_ring, &s};
  return build(ctx, &g, out);
}
