// SPDX-License-Identifier: Apache-2.0
// A finer mesh of the same solid: every tetrahedron is cut into eight.
//
// Midpoints of edges become nodes. Four of the eight are the corners, half as large; what is left between
// them is an octahedron, cut along the shortest of its three diagonals (Bey 1995). Surface triangles are cut
// into four in their planes, so that the surface stays where it is, to rounding. Nodes are numbered anew,
// along the body: half of the old ones' neighbours would be far away in memory.
#include "base/sort.h"
#include "fem/sort.h"
#include "fem/tets.h"

#include <string.h>

enum { EDGES = 6 };
static const int ends[EDGES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// Edges by their smaller and larger node: fills the number of each edge of each tetrahedron (6 ntet) and the
// ends of the edges.
static tbStatus number_edges(tbArena* scratch, const tbTetMesh* mesh, int* of, int* count, int (**out)[2])
{
  int n = EDGES * mesh->ntet, *low = TB_TAKE(scratch, int, (size_t)n),
      *high = TB_TAKE(scratch, int, (size_t)n);
  int* order = tb_sort_begin(scratch, n);
  if (!low || !high || !order) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    int a = mesh->tet[i / EDGES][ends[i % EDGES][0]], b = mesh->tet[i / EDGES][ends[i % EDGES][1]];
    low[i] = a < b ? a : b, high[i] = a < b ? b : a;
  }
  TB_TRY(tb_sort_by(scratch, mesh->nnode, n, high, &order));
  TB_TRY(tb_sort_by(scratch, mesh->nnode, n, low, &order));
  int(*edge)[2] = tb_arena_take(scratch, (size_t)n, sizeof *edge), last = -1;
  if (!edge) return TB_ERROR_MEMORY;
  for (int k = 0; k < n; k++) {
    int i = order[k];
    if (k == 0 || low[i] != edge[last][0] || high[i] != edge[last][1])
      last++, edge[last][0] = low[i], edge[last][1] = high[i];
    of[i] = last;
  }
  *count = last + 1, *out = edge;
  return TB_OK;
}

static double length2(tbVec3 a, tbVec3 b) { return tb_dot3(tb_sub3(a, b), tb_sub3(a, b)); }

// The eight, given corners v and midpoints m: m[k] halves edge ends[k].
static void cut(const tbVec3* node, const int v[4], const int m[EDGES], int (*out)[4])
{
  // opposite midpoints are 01–23, 02–13, 03–12; the other four go round the diagonal, positively
  static const int diagonal[3][2] = {{0, 5}, {1, 4}, {2, 3}};
  static const int round[3][4] = {{1, 2, 4, 3}, {0, 3, 5, 2}, {0, 1, 5, 4}};
  const int corner[4][4] = {
      {v[0], m[0], m[1], m[2]}, {m[0], v[1], m[3], m[4]}, {m[1], m[3], v[2], m[5]}, {m[2], m[4], m[5], v[3]}};
  memcpy(out, corner, sizeof corner);
  int best = 0;
  for (int d = 1; d < 3; d++)
    if (length2(node[m[diagonal[d][0]]], node[m[diagonal[d][1]]]) <
        length2(node[m[diagonal[best][0]]], node[m[diagonal[best][1]]]))
      best = d;
  for (int k = 0; k < 4; k++) {
    int a = m[diagonal[best][0]], b = m[diagonal[best][1]], c = m[round[best][k]],
        d = m[round[best][(k + 1) % 4]];
    int piece[4] = {a, b, c, d};
    tbVec3 o = node[a], x = tb_sub3(node[b], o), y = tb_sub3(node[c], o), z = tb_sub3(node[d], o);
    if (tb_dot3(tb_cross3(x, y), z) < 0) piece[2] = d, piece[3] = c;
    memcpy(out[4 + k], piece, sizeof piece);
  }
}

// ---- numbering ----

typedef struct {
  double along;
  int node;
} Place;

static int compare(const void* a, const void* b)
{
  const Place *p = a, *q = b;
  if (p->along != q->along) return p->along < q->along ? -1 : 1;
  return p->node < q->node ? -1 : p->node > q->node;
}

// Numbers nodes along the longest side of their box, so that neighbours have numbers near each other.
static tbStatus number_along(tbArena* scratch, tbVec3* node, int count, int (*tet)[4], int ntet)
{
  Place* place = TB_TAKE(scratch, Place, (size_t)count);
  tbVec3* old = TB_TAKE(scratch, tbVec3, (size_t)count);
  int* number = TB_TAKE(scratch, int, (size_t)count);
  if (!place || !old || !number) return TB_ERROR_MEMORY;
  tbVec3 low = node[0], high = node[0];
  for (int i = 0; i < count; i++) low = tb_min3(low, node[i]), high = tb_max3(high, node[i]);
  tbVec3 side = tb_sub3(high, low);
  int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  for (int i = 0; i < count; i++) place[i] = (Place){(&node[i].x)[axis], i};
  tb_sort(place, (size_t)count, sizeof *place, compare);
  memcpy(old, node, (size_t)count * sizeof *old);
  for (int k = 0; k < count; k++) node[k] = old[place[k].node], number[place[k].node] = k;
  for (int t = 0; t < ntet; t++)
    for (int c = 0; c < 4; c++) tet[t][c] = number[tet[t][c]];
  return TB_OK;
}

static tbStatus refine(tbContext* ctx, tbArena* scratch, const tbTetMesh* mesh, tbTetMesh** out)
{
  int *of = TB_TAKE(scratch, int, EDGES*(size_t)mesh->ntet), count, (*edge)[2];
  if (!of) return TB_ERROR_MEMORY;
  TB_TRY(number_edges(scratch, mesh, of, &count, &edge));
  int nnode = mesh->nnode + count, ntet = 8 * mesh->ntet;
  tbVec3* node = TB_TAKE(scratch, tbVec3, (size_t)nnode);
  int(*tet)[4] = tb_arena_take(scratch, (size_t)ntet, sizeof *tet);
  if (!node || !tet) return TB_ERROR_MEMORY;
  memcpy(node, mesh->node, (size_t)mesh->nnode * sizeof *node);
  for (int e = 0; e < count; e++)
    node[mesh->nnode + e] = tb_scale3(0.5, tb_add3(mesh->node[edge[e][0]], mesh->node[edge[e][1]]));
  for (int t = 0; t < mesh->ntet; t++) {
    int m[EDGES];
    for (int k = 0; k < EDGES; k++) m[k] = mesh->nnode + of[EDGES * t + k];
    cut(node, mesh->tet[t], m, tet + 8 * (size_t)t);
  }
  TB_TRY(number_along(scratch, node, nnode, tet, ntet));
  return tb_tet_mesh_create(ctx, node, nnode, (const int(*)[4])tet, ntet, out);
}

tbStatus tb_tet_mesh_refine(tbContext* ctx, const tbTetMesh* mesh, tbTetMesh** out)
{
  *out = NULL;
  if (mesh->ntet > TB_TET_CELLS_MAX / 8)
    return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "%d tetrahedra are too many to be cut into eight", mesh->ntet);
  tbArena scratch;
  tb_arena_init(&scratch, ctx);
  tbStatus status = refine(ctx, &scratch, mesh, out);
  tb_arena_free(&scratch);
  return status;
}
