// SPDX-License-Identifier: Apache-2.0
// Which points of a reduced body are within reach of a plane: by a tree of boxes over all of its vertices, as
// deformable surfaces are searched, or by bounded-deformation trees (James and Pai 2004), whose spheres
// follow from the coordinates of deformation q alone,
//
//   centre c₀ + Σ q_k c_k,   radius ϱ₀ + Σ |q_k| ϱ_k,   ϱ_k the farthest that field k moves a vertex of the
//   node from where it moves the centre
//
// so that only vertices in the leaves that are reached are computed.
//
//   bench_deformation_tree
//
// Both find the same vertices (checked). Four columns: the vertices' places, all of them, which a step needs
// for its contacts' certificate in any case; boxes fitted to them and searched; both; and spheres, with the
// vertices they ask for.
#include "bench.h"
#include "fem/tets.h"
#include "modal/basis.h"
#include "tribo/tools/random.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 8 };

typedef struct {
  int begin, end, right; // vertices; the second child, 0: a leaf. The first child follows its parent
  tbVec3 c0, lo, hi;
  double r0;
} Node;

typedef struct {
  const tbFemBody* fem;
  const tbModalBasis* basis;
  double* q;
  int nvertex, *vertex, count; // of the surface, in the order of the tree; nodes
  Node* node;
  double *centre, *spread; // c_k (3 r by nodes) and ϱ_k (r)
  tbVec3* x;
  tbVec3 normal;
  double offset; // reached: normal · x ≤ offset
  int found;
  uint64_t sum; // of their numbers
} Body;

static tbVec3 place(const Body* b, int vertex)
{
  return tb_add3(b->fem->rest[vertex], tb_modal_at(b->basis, vertex, b->q));
}

// ---- the tree ----

static const Body* sorted;
static int axis;

static int along(const void* a, const void* b)
{
  double x = (&sorted->fem->rest[*(const int*)a].x)[axis], y = (&sorted->fem->rest[*(const int*)b].x)[axis];
  return (x > y) - (x < y);
}

static void measure(Body* b, Node* n, int at)
{
  size_t r = (size_t)b->basis->nmode;
  double *centre = b->centre + 3 * r * (size_t)at, *spread = b->spread + r * (size_t)at;
  int count = n->end - n->begin;
  for (int i = n->begin; i < n->end; i++) {
    n->c0 = tb_madd3(n->c0, 1.0 / count, b->fem->rest[b->vertex[i]]);
    const double* row = b->basis->field + 3 * (size_t)b->vertex[i] * r;
    for (size_t k = 0; k < 3 * r; k++) centre[k] += row[k] / count;
  }
  for (int i = n->begin; i < n->end; i++) {
    n->r0 = fmax(n->r0, tb_distance3(n->c0, b->fem->rest[b->vertex[i]]));
    const double* row = b->basis->field + 3 * (size_t)b->vertex[i] * r;
    for (size_t k = 0; k < r; k++) {
      tbVec3 u = tb_vec3(row[k] - centre[k], row[r + k] - centre[r + k], row[2 * r + k] - centre[2 * r + k]);
      spread[k] = fmax(spread[k], tb_norm3(u));
    }
  }
}

static void split(Body* b, int begin, int end)
{
  int at = b->count++;
  b->node[at] = (Node){.begin = begin, .end = end};
  measure(b, &b->node[at], at);
  if (end - begin <= LEAF) return;
  tbVec3 lo = b->fem->rest[b->vertex[begin]], hi = lo;
  for (int i = begin; i < end; i++) {
    tbVec3 x = b->fem->rest[b->vertex[i]];
    lo = tb_min3(lo, x), hi = tb_max3(hi, x);
  }
  tbVec3 size = tb_sub3(hi, lo);
  axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
  sorted = b;
  qsort(b->vertex + begin, (size_t)(end - begin), sizeof(int), along);
  int middle = (begin + end) / 2;
  split(b, begin, middle);
  b->node[at].right = b->count;
  split(b, middle, end);
}

// ---- the two searches ----

static void visit(Body* b, int i, tbVec3 x)
{
  if (tb_dot3(b->normal, x) > b->offset) return;
  b->found++, b->sum += (uint64_t)b->vertex[i];
}

static void compute(void* user)
{
  Body* b = user;
  for (int i = 0; i < b->nvertex; i++) b->x[i] = place(b, b->vertex[i]);
}

static void descend_boxes(Body* b, int at)
{
  const Node* n = &b->node[at];
  tbVec3 low = tb_vec3(b->normal.x > 0 ? n->lo.x : n->hi.x, b->normal.y > 0 ? n->lo.y : n->hi.y,
                       b->normal.z > 0 ? n->lo.z : n->hi.z);
  if (tb_dot3(b->normal, low) > b->offset) return;
  for (int i = n->begin; !n->right && i < n->end; i++) visit(b, i, b->x[i]);
  if (n->right) descend_boxes(b, at + 1), descend_boxes(b, n->right);
}

static void fit_boxes(void* user)
{
  Body* b = user;
  for (int at = b->count - 1; at >= 0; at--) {
    Node* n = &b->node[at];
    if (n->right) {
      n->lo = tb_min3(b->node[at + 1].lo, b->node[n->right].lo);
      n->hi = tb_max3(b->node[at + 1].hi, b->node[n->right].hi);
      continue;
    }
    n->lo = n->hi = b->x[n->begin];
    for (int i = n->begin + 1; i < n->end; i++)
      n->lo = tb_min3(n->lo, b->x[i]), n->hi = tb_max3(n->hi, b->x[i]);
  }
  b->found = 0, b->sum = 0;
  descend_boxes(b, 0);
}

static void by_boxes(void* user) { compute(user), fit_boxes(user); }

static void descend_spheres(Body* b, int at)
{
  const Node* n = &b->node[at];
  size_t r = (size_t)b->basis->nmode;
  const double *centre = b->centre + 3 * r * (size_t)at, *spread = b->spread + r * (size_t)at;
  double height = tb_dot3(b->normal, n->c0), radius = n->r0, sum[4] = {0};
  for (size_t k = 0; k < r; k++) {
    sum[0] += b->q[k] * centre[k], sum[1] += b->q[k] * centre[r + k], sum[2] += b->q[k] * centre[2 * r + k];
    sum[3] += fabs(b->q[k]) * spread[k];
  }
  height += tb_dot3(b->normal, tb_vec3(sum[0], sum[1], sum[2])), radius += sum[3];
  if (height - radius > b->offset) return;
  for (int i = n->begin; !n->right && i < n->end; i++) visit(b, i, place(b, b->vertex[i]));
  if (n->right) descend_spheres(b, at + 1), descend_spheres(b, n->right);
}

static void by_spheres(void* user)
{
  Body* b = user;
  b->found = 0, b->sum = 0;
  descend_spheres(b, 0);
}

// ---- bodies ----

static void need(tbContext* ctx, tbStatus status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "%s\n", ctx->error.message);
  exit(1);
}

static void list_surface(const tbTetMesh* mesh, Body* b)
{
  char* seen = calloc((size_t)mesh->nnode, 1);
  b->vertex = malloc((size_t)mesh->nnode * sizeof *b->vertex);
  if (!seen || !b->vertex) exit(1);
  for (int i = 0; i < 3 * mesh->ntriangle; i++) {
    int node = mesh->triangle[i / 3][i % 3];
    if (!seen[node]) b->vertex[b->nvertex++] = node;
    seen[node] = 1;
  }
  free(seen);
}

// The plane that has a share of the vertices below it.
static void put_plane(Body* b, double share)
{
  double lo = -10, hi = 10;
  compute(b);
  for (int i = 0; i < 60; i++) {
    b->offset = 0.5 * (lo + hi), b->found = 0;
    for (int k = 0; k < b->nvertex; k++) visit(b, k, b->x[k]);
    if (b->found < share * b->nvertex) lo = b->offset;
    else hi = b->offset;
  }
}

static void race(tbContext* ctx, int around, int modes, double bend)
{
  tbTetMesh* mesh;
  tbFemBody* fem;
  tbModalBasis* basis;
  tbSoftDef soft = tb_soft_def();
  Body b = {.normal = tb_normalize3(tb_vec3(0.1, 0.2, 1))};
  need(ctx, tb_tet_torus(ctx, 0.15, 0.05, around / 6, around, &mesh));
  need(ctx, tb_fem_soft_create(ctx, mesh, &soft, (tbFemSprings){0}, &fem));
  need(ctx, tb_modal_basis_create(ctx, fem, modes, false, false, &basis));
  b.fem = fem, b.basis = basis;
  list_surface(mesh, &b);
  size_t r = (size_t)modes, room = (size_t)b.nvertex;
  b.q = calloc(r, sizeof *b.q), b.x = malloc(room * sizeof *b.x), b.node = calloc(room, sizeof *b.node);
  b.centre = calloc(3 * r * room, sizeof *b.centre), b.spread = calloc(r * room, sizeof *b.spread);
  if (!b.q || !b.x || !b.node || !b.centre || !b.spread) exit(1);
  uint64_t random = 7;
  for (size_t k = 0; k < r; k++)
    b.q[k] = bend * tb_random_uniform(&random, -1, 1) * sqrt(basis->omega2[0] / basis->omega2[k]);
  split(&b, 0, b.nvertex);
  static const double shares[] = {0.003, 0.03, 0.3};
  for (int i = 0; i < 3; i++) {
    put_plane(&b, shares[i]);
    by_boxes(&b);
    int found = b.found;
    uint64_t sum = b.sum;
    by_spheres(&b);
    if (b.found != found || b.sum != sum) fprintf(stderr, "the trees differ\n"), exit(1);
    BenchEntry entry[] = {{compute, &b, 0}, {fit_boxes, &b, 0}, {by_boxes, &b, 0}, {by_spheres, &b, 0}};
    bench_race(entry, 4, 20, 0.05);
    printf("%8d %6d %6.2f %8d  %9.1f %9.1f %9.1f %9.1f\n", b.nvertex, modes, bend, found, 1e6 * entry[0].best,
           1e6 * entry[1].best, 1e6 * entry[2].best, 1e6 * entry[3].best);
  }
  free(b.q), free(b.x), free(b.node), free(b.centre), free(b.spread), free(b.vertex);
  tb_modal_basis_free(ctx, basis);
  tb_fem_free(ctx, fem);
  tb_tet_mesh_free(ctx, mesh);
}

int main(void)
{
  tbContext ctx = tb_default_context();
  printf("%8s %6s %6s %8s  %9s %9s %9s %9s   µs\n", "vertices", "modes", "bent", "reached", "places", "boxes",
         "both", "spheres");
  for (int around = 24; around <= 72; around += 24)
    for (int modes = 20; modes <= 60; modes += 40)
      for (int bent = 0; bent < 2; bent++) race(&ctx, around, modes, bent ? 0.3 : 0.01);
  return 0;
}
