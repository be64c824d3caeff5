// SPDX-License-Identifier: Apache-2.0
// Projections onto a convex polygon given by its corners, and onto the cone over it. Every face, every edge
// and the apex are tried, and the closest point wins: cost grows with the corners, and nothing is assumed of
// them.
#include "math/cone.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// jac = I − N Nᵀ/‖N‖², n×n
static void drop(int n, const double* N, double* jac)
{
  double size = 0;
  for (int i = 0; i < n; i++) size += N[i] * N[i];
  for (int i = 0; jac && i < n; i++)
    for (int j = 0; j < n; j++) jac[i * n + j] = (i == j) - N[i] * N[j] / size;
}

void tb_project_corners(int count, const double (*corner)[2], double scale, const double* z, double* x,
                        double* jac)
{
  double best = INFINITY, at[2] = {0, 0}, zx = z[0], zy = z[1];
  bool inside = count > 2;
  int edge = -1; // whose inside holds the closest point
  for (int i = 0; i < count; i++) {
    int j = i + 1 < count ? i + 1 : 0;
    double ax = scale * corner[i][0], ay = scale * corner[i][1];
    double ex = scale * corner[j][0] - ax, ey = scale * corner[j][1] - ay, ee = ex * ex + ey * ey;
    double px = zx - ax, py = zy - ay, t = ee > 0 ? (px * ex + py * ey) / ee : 0;
    if (ex * py - ey * px < 0 || !(ee > 0)) inside = false;
    bool between = t > 0 && t < 1;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    double dx = px - t * ex, dy = py - t * ey, distance = dx * dx + dy * dy;
    if (!(distance < best)) continue;
    best = distance, edge = between ? i : -1;
    at[0] = ax + t * ex, at[1] = ay + t * ey;
  }
  if (jac) memset(jac, 0, 4 * sizeof *jac);
  if (inside) {
    x[0] = zx, x[1] = zy;
    if (jac) jac[0] = jac[3] = 1;
    return;
  }
  x[0] = at[0], x[1] = at[1];
  if (edge < 0) return;
  int next = edge + 1 < count ? edge + 1 : 0;
  double normal[2] = {corner[edge][1] - corner[next][1], corner[next][0] - corner[edge][0]};
  drop(2, normal, jac);
}

static void cross(const double* a, const double* b, double* out)
{
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

typedef struct {
  double best, x[3], *jac;
} Closest;

static bool closer(Closest* c, const double* z, const double* x)
{
  double d[3] = {z[0] - x[0], z[1] - x[1], z[2] - x[2]}, distance = dot(d, d);
  if (!(distance < c->best)) return false;
  c->best = distance;
  memcpy(c->x, x, sizeof c->x);
  return true;
}

static void try_ray(Closest* c, const double* z, const double* r)
{
  double t = dot(z, r) / dot(r, r), x[3] = {t * r[0], t * r[1], t * r[2]};
  if (!(t > 0) || !closer(c, z, x) || !c->jac) return;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c->jac[3 * i + j] = r[i] * r[j] / dot(r, r);
}

// The face between two rays. False: z is outside of it.
static bool try_face(Closest* c, const double* z, const double* a, const double* b)
{
  double N[3], x[3], part[3];
  cross(a, b, N);
  double size = dot(N, N), side = dot(N, z);
  if (!(size > 0)) return false;
  for (int i = 0; i < 3; i++) x[i] = z[i] - side / size * N[i];
  cross(x, b, part);
  bool within = dot(part, N) >= 0;
  cross(a, x, part);
  within = within && dot(part, N) >= 0;
  if (within && closer(c, z, x)) drop(3, N, c->jac);
  return side >= 0;
}

void tb_project_corner_cone(int count, const double (*corner)[2], const double* z, double* x, double* jac)
{
  Closest c = {.best = dot(z, z), .jac = jac};
  bool inside = count > 2 && z[0] >= 0;
  if (jac) memset(jac, 0, 9 * sizeof *jac);
  for (int i = 0; i < count; i++) try_ray(&c, z, (double[3]){1, corner[i][0], corner[i][1]});
  for (int i = 0; i < (count == 2 ? 1 : count) && count > 1; i++) {
    int j = i + 1 < count ? i + 1 : 0;
    double a[3] = {1, corner[i][0], corner[i][1]}, b[3] = {1, corner[j][0], corner[j][1]};
    if (!try_face(&c, z, a, b)) inside = false;
  }
  if (inside) {
    memcpy(x, z, 3 * sizeof *x);
    for (int i = 0; jac && i < 9; i++) jac[i] = i % 4 == 0;
    return;
  }
  memcpy(x, c.x, sizeof c.x);
}
