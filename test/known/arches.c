// SPDX-License-Identifier: Apache-2.0
// Heyman's limit analysis of an arch. Joint j stands at the angle α_j = jπ/n with its centre c_j on the mean
// circle. Cut there, the lower part passes on the force (−H, V_j), V_j = W/2 − weight of the first j stones,
// and the moment M_j about c_j, both linear in the thrust H and the moment M₀ at the springing. The arch
// stands if some (H, M₀) has
//
//   |M_j| ≤ N_j t/2,   |T_j| ≤ μ N_j   at every joint,   N_j = H sin α + V_j cos α,   T_j = −H cos α + V_j
//   sin α.
//
// A program of two unknowns: it has a solution if and only if some intersection of two constraints meets all.
#include "known/arches.h"

#include "test.h"

typedef struct {
  double h, m, least; // h H + m M₀ ≥ least
} Plane2;

static tbVec3 corner(double radius, double angle)
{
  return tb_vec3(radius * cos(angle), 0, radius * sin(angle));
}

void stage_arch(Stage* s, int stones, double thickness, tbBodyId* out)
{
  double depth = 0.3;
  for (int i = 0; i < stones; i++) {
    tbVec3 points[8], centre = corner(1, PI * (i + 0.5) / stones);
    for (int k = 0; k < 8; k++) {
      tbVec3 p = corner(k & 1 ? 1 + thickness / 2 : 1 - thickness / 2, PI * (i + (k >> 1 & 1)) / stones);
      p.y = k & 4 ? depth / 2 : -depth / 2;
      points[k] = tb_sub3(p, centre);
    }
    tbHull* hull = NULL;
    CHECK_OK(&s->ctx, tb_hull_create(&s->ctx, points, 8, &hull));
    CHECK_OK(&s->ctx, tb_world_keep_hull(&s->ctx, s->world, hull));
    out[i] = stage_add(s, tb_shape_convex(hull), 0, centre, tb_quat_identity());
  }
}

// Weight and centre of a stone in the plane, per unit of depth and weight density.
static double stone(int stones, double t, int i, double* x, double* z)
{
  double half = PI / (2 * stones), a = 1 - t / 2, b = 1 + t / 2, middle = (2 * i + 1) * half;
  // A trapezium between the chords of either circle, at a cos(half) and b cos(half) from the centre.
  double low = a * cos(half), high = b * cos(half), wide = tan(half);
  double area = wide * (high * high - low * low),
         r = 2.0 / 3 * wide * (high * high * high - low * low * low) / area;
  *x = r * cos(middle), *z = r * sin(middle);
  return area;
}

static int constraints(int stones, double t, double mu, Plane2* out)
{
  double weight[VOUSSOIRS_MOST], x[VOUSSOIRS_MOST], z[VOUSSOIRS_MOST], total = 0, below = 0;
  int n = 0;
  for (int i = 0; i < stones; i++) total += weight[i] = stone(stones, t, i, &x[i], &z[i]);
  for (int j = 0; j <= stones / 2 + 1; j++) {
    double a = PI * j / stones, c = cos(a), s = sin(a), V = total / 2 - below;
    // M_j = M₀ + (c₀ − c_j) × (−H, W/2) + Σ (g_i − c_j) × (0, −w_i); a × b = a_x b_z − a_z b_x
    double M = (1 - c) * total / 2, M_h = -s;
    for (int i = 0; i < j; i++) M -= (x[i] - c) * weight[i];
    for (int sign = -1; sign <= 1; sign += 2) {
      out[n++] = (Plane2){s * t / 2 + sign * M_h, sign, -(V * c * t / 2 + sign * M)};
      out[n++] = (Plane2){mu * s - sign * c, 0, -(mu * V * c + sign * V * s)};
    }
    if (j < stones) below += weight[j];
  }
  return n;
}

bool arch_stands(int stones, double t, double mu)
{
  static Plane2 plane[4 * VOUSSOIRS_MOST];
  int n = constraints(stones, t, mu, plane);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) {
      double det = plane[i].h * plane[k].m - plane[k].h * plane[i].m;
      if (fabs(det) < 1e-12) continue;
      double H = (plane[i].least * plane[k].m - plane[k].least * plane[i].m) / det;
      double M = (plane[i].h * plane[k].least - plane[k].h * plane[i].least) / det;
      bool fits = true;
      for (int j = 0; j < n && fits; j++) fits = plane[j].h * H + plane[j].m * M >= plane[j].least - 1e-12;
      if (fits) return true;
    }
  return false;
}

double arch_least_thickness(int stones, double mu)
{
  double lo = 0.02, hi = 0.5;
  for (int i = 0; i < 24; i++) *(arch_stands(stones, 0.5 * (lo + hi), mu) ? &hi : &lo) = 0.5 * (lo + hi);
  return hi;
}

double arch_least_friction(int stones, double t)
{
  double lo = 0, hi = 2;
  for (int i = 0; i < 24; i++) *(arch_stands(stones, t, 0.5 * (lo + hi)) ? &hi : &lo) = 0.5 * (lo + hi);
  return hi;
}
