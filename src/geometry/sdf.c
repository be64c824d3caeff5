// SPDX-License-Identifier: Apache-2.0
// Signed distances on a grid.
//
// Every node holds the exact distance to the mesh, far ones included: a search of the tree per node, started
// from the triangle closest to the node before, which bounds the search by the distance between the two. The
// grid reaches two cells beyond the mesh on all sides. Rows of nodes are independent, so that the grid has
// the same bits for any number of threads.
//
// Cost      one or two microseconds per node on meshes of some thousand triangles.
// Limits    trilinear interpolation rounds edges off and misses what is thinner than a cell: its error is
//           O(cell) at creases and O(cell²) elsewhere.
#include "geometry/sdf.h"
#include "base/threads.h"

enum { BORDER = 2, MOST_CELLS = 4096, MOST_NODES = 1 << 26, ROWS_PER_PIECE = 8 };

static double node_at(double origin, double cell, int i) { return origin + cell * i; }

// One row of nodes along x; row = k·n[1] + j.
static void fill_rows(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbSdf* sdf = user;
  for (int row = begin; row < end; row++) {
    double* out = sdf->distance + (size_t)row * (size_t)sdf->n[0];
    tbMeshClosest c = {.triangle = sdf->mesh->bvh.order[0]};
    for (int i = 0; i < sdf->n[0]; i++) {
      tbVec3 p =
          tb_vec3(node_at(sdf->origin.x, sdf->cell, i), node_at(sdf->origin.y, sdf->cell, row % sdf->n[1]),
                  node_at(sdf->origin.z, sdf->cell, row / sdf->n[1]));
      tb_mesh_closest_from(sdf->mesh, p, c.triangle, &c);
      out[i] = tb_mesh_sign(sdf->mesh, p, &c) * c.distance;
    }
  }
}

static int nodes_along(double size, double cell) { return (int)ceil(size / cell) + 1 + 2 * BORDER; }

static tbStatus lay_out(tbContext* ctx, tbSdf* sdf, int resolution)
{
  tbBox box = sdf->mesh->box;
  tbVec3 size = tb_sub3(box.hi, box.lo), middle = tb_madd3(tb_scale3(0.5, box.lo), 0.5, box.hi);
  sdf->cell = tb_maxabs3(size) / resolution;
  int nx = nodes_along(size.x, sdf->cell), ny = nodes_along(size.y, sdf->cell),
      nz = nodes_along(size.z, sdf->cell);
  int64_t nodes = (int64_t)nx * ny * nz;
  if (nodes > MOST_NODES)
    return tb_fail(
        ctx, TB_ERROR_ARGUMENT,
        "a distance grid of %d × %d × %d nodes is too large: at most %d in all; lower the resolution %d", nx,
        ny, nz, MOST_NODES, resolution);
  sdf->n[0] = nx, sdf->n[1] = ny, sdf->n[2] = nz;
  sdf->origin = tb_madd3(middle, -0.5 * sdf->cell, tb_vec3(nx - 1, ny - 1, nz - 1));
  sdf->distance = TB_NEW(ctx, double, (size_t)nodes);
  return sdf->distance ? TB_OK : TB_ERROR_MEMORY;
}

tbStatus tb_sdf_create(tbContext* ctx, const tbMesh* mesh, int resolution, tbSdf** out)
{
  *out = NULL;
  if (!mesh || !tb_mesh_is_solid(mesh))
    return tb_fail(ctx, TB_ERROR_INPUT,
                   "a distance grid needs a mesh that is closed, with all triangles facing out");
  if (resolution < 1 || resolution > MOST_CELLS)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the resolution of a distance grid is %d; it must be 1 to %d",
                   resolution, MOST_CELLS);
  tbSdf* sdf = TB_NEW(ctx, tbSdf, 1);
  if (!sdf) return TB_ERROR_MEMORY;
  tbStatus status =
      tb_mesh_create(ctx, mesh->vertex, mesh->nvertex, mesh->triangle[0], mesh->ntriangle, &sdf->mesh);
  if (status == TB_OK) status = lay_out(ctx, sdf, resolution);
  if (status != TB_OK) {
    tb_sdf_free(ctx, sdf);
    return status;
  }
  tb_parallel_for(ctx->threads, sdf->n[1] * sdf->n[2], ROWS_PER_PIECE, fill_rows, sdf);
  size_t nodes = (size_t)sdf->n[0] * (size_t)sdf->n[1] * (size_t)sdf->n[2];
  for (size_t i = 0; i < nodes; i++) sdf->thickness = fmax(sdf->thickness, -sdf->distance[i]);
  *out = sdf;
  return TB_OK;
}

void tb_sdf_free(tbContext* ctx, tbSdf* sdf)
{
  if (!sdf) return;
  tb_mesh_free(ctx, sdf->mesh);
  tb_free(ctx, sdf->distance);
  tb_free(ctx, sdf);
}

// ---- queries ----

// Cell and place in it along one axis; the rest of the way, where x lies outside the grid.
static void locate(double x, double origin, double cell, int n, int* i, double* t, double* beyond)
{
  double s = (x - origin) / cell, last = n - 1;
  *beyond = s < 0 ? s * cell : s > last ? (s - last) * cell : 0;
  s = s > 0 ? s : 0; // NaN too
  s = s < last ? s : last;
  *i = (int)s < n - 1 ? (int)s : n - 2;
  *t = s - *i;
}

static double mix(double a, double b, double t) { return a + t * (b - a); }

double tb_sdf_distance(const tbSdf* sdf, tbVec3 p, tbVec3* gradient)
{
  int i, j, k;
  double x, y, z;
  tbVec3 beyond;
  locate(p.x, sdf->origin.x, sdf->cell, sdf->n[0], &i, &x, &beyond.x);
  locate(p.y, sdf->origin.y, sdf->cell, sdf->n[1], &j, &y, &beyond.y);
  locate(p.z, sdf->origin.z, sdf->cell, sdf->n[2], &k, &z, &beyond.z);
  size_t row = (size_t)sdf->n[0], slab = row * (size_t)sdf->n[1];
  const double* d = sdf->distance + (size_t)k * slab + (size_t)j * row + (size_t)i;

  // Along x first, for the four edges of the cell that run that way; then y, then z.
  double d00 = mix(d[0], d[1], x), d10 = mix(d[row], d[row + 1], x), d01 = mix(d[slab], d[slab + 1], x),
         d11 = mix(d[slab + row], d[slab + row + 1], x);
  double d0 = mix(d00, d10, y), d1 = mix(d01, d11, y), way = tb_norm3(beyond);
  if (gradient) {
    double gx = mix(mix(d[1] - d[0], d[row + 1] - d[row], y),
                    mix(d[slab + 1] - d[slab], d[slab + row + 1] - d[slab + row], y), z);
    tbVec3 g = tb_scale3(1 / sdf->cell, tb_vec3(gx, mix(d10 - d00, d11 - d01, z), d1 - d0));
    tbVec3 u = tb_normalize3(beyond); // outside, the grid's own slope counts only along it
    *gradient = tb_vec3(beyond.x != 0 ? u.x : g.x, beyond.y != 0 ? u.y : g.y, beyond.z != 0 ? u.z : g.z);
  }
  return mix(d0, d1, z) + way;
}

const tbMesh* tb_sdf_mesh(const tbSdf* sdf) { return sdf->mesh; }
