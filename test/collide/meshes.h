// SPDX-License-Identifier: Apache-2.0
// Meshes to collide with.
#ifndef TB_TEST_MESHES_H
#define TB_TEST_MESHES_H

#include "geometry/mesh.h"
#include "test.h"

#include <stdlib.h>

typedef struct {
  tbVec3 vertex[4096];
  int triangle[3 * 8192];
  int nvertex, ntriangle;
} MeshDraft;

static inline int draft_vertex(MeshDraft* d, tbVec3 p)
{
  d->vertex[d->nvertex] = p;
  return d->nvertex++;
}

static inline void draft_triangle(MeshDraft* d, int a, int b, int c)
{
  int* t = &d->triangle[3 * d->ntriangle++];
  t[0] = a;
  t[1] = b;
  t[2] = c;
}

static inline void draft_quad(MeshDraft* d, int a, int b, int c, int e) // counter-clockwise
{
  draft_triangle(d, a, b, c);
  draft_triangle(d, a, c, e);
}

static inline tbMesh* draft_finish(MeshDraft* d)
{
  tbContext ctx = tb_default_context();
  tbMesh* mesh = NULL;
  CHECK_OK(&ctx, tb_mesh_create(&ctx, d->vertex, d->nvertex, d->triangle, d->ntriangle, &mesh));
  free(d);
  return mesh;
}

static inline void mesh_done(tbMesh* mesh)
{
  tbContext ctx = tb_default_context();
  tb_mesh_free(&ctx, mesh);
}

// n × n quads of a face: corner p, sides u and v, seen from u × v.
static inline void draft_grid(MeshDraft* d, tbVec3 p, tbVec3 u, tbVec3 v, int n)
{
  int first = d->nvertex;
  for (int i = 0; i <= n; i++)
    for (int j = 0; j <= n; j++) draft_vertex(d, tb_madd3(tb_madd3(p, (double)i / n, u), (double)j / n, v));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int a = first + i * (n + 1) + j, b = a + n + 1;
      if ((i + j) % 2) draft_quad(d, a, b, b + 1, a + 1);
      else draft_quad(d, b, b + 1, a + 1, a);
    }
}

// An open floor at z = 0 of the given side, n × n quads.
static inline tbMesh* floor_mesh(double side, int n)
{
  MeshDraft* d = calloc(1, sizeof *d);
  draft_grid(d, tb_vec3(-side / 2, -side / 2, 0), tb_vec3(side, 0, 0), tb_vec3(0, side, 0), n);
  return draft_finish(d);
}

static inline tbMesh* box_mesh(tbVec3 size, int n)
{
  MeshDraft* d = calloc(1, sizeof *d);
  tbVec3 h = tb_scale3(0.5, size), x = tb_vec3(size.x, 0, 0), y = tb_vec3(0, size.y, 0),
         z = tb_vec3(0, 0, size.z);
  tbVec3 lo = tb_neg3(h);
  draft_grid(d, lo, y, x, n);
  draft_grid(d, tb_add3(lo, z), x, y, n);
  draft_grid(d, lo, x, z, n);
  draft_grid(d, tb_add3(lo, y), z, x, n);
  draft_grid(d, lo, z, y, n);
  draft_grid(d, tb_add3(lo, x), y, z, n);
  return draft_finish(d);
}

static inline tbVec3 circle(double radius, int k, int n)
{
  double angle = 6.283185307179586 * k / n;
  return tb_vec3(radius * cos(angle), radius * sin(angle), 0);
}

// About the z axis: the tube of radius r around the circle of radius R.
static inline tbMesh* torus_mesh(double R, double r, int around, int tube)
{
  MeshDraft* d = calloc(1, sizeof *d);
  for (int i = 0; i < around; i++)
    for (int j = 0; j < tube; j++) {
      tbVec3 c = circle(r, j, tube), at = circle(R + c.x, i, around);
      draft_vertex(d, tb_vec3(at.x, at.y, c.y));
    }
  for (int i = 0; i < around; i++)
    for (int j = 0; j < tube; j++) {
      int k = (i + 1) % around, l = (j + 1) % tube;
      draft_quad(d, i * tube + j, k * tube + j, k * tube + l, i * tube + l);
    }
  return draft_finish(d);
}

// A ball of rings and sectors about z.
static inline tbMesh* ball_mesh(double radius, int rings, int sectors)
{
  MeshDraft* d = calloc(1, sizeof *d);
  int top = draft_vertex(d, tb_vec3(0, 0, radius)), bottom = draft_vertex(d, tb_vec3(0, 0, -radius));
  for (int i = 1; i < rings; i++) {
    double angle = 3.141592653589793 * i / rings;
    for (int j = 0; j < sectors; j++) {
      tbVec3 c = circle(radius * sin(angle), j, sectors);
      draft_vertex(d, tb_vec3(c.x, c.y, radius * cos(angle)));
    }
  }
  for (int j = 0; j < sectors; j++) {
    int k = (j + 1) % sectors, last = 2 + (rings - 2) * sectors;
    draft_triangle(d, top, 2 + j, 2 + k);
    draft_triangle(d, bottom, last + k, last + j);
    for (int i = 0; i + 2 < rings; i++) {
      int a = 2 + i * sectors, b = a + sectors;
      draft_quad(d, a + j, b + j, b + k, a + k);
    }
  }
  return draft_finish(d);
}

#endif
