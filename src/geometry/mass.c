// SPDX-License-Identifier: Apache-2.0
// Mass properties for a uniform density.
//
// Polyhedra: the divergence theorem turns integrals over the solid into sums over signed tetrahedra, one per
// triangle (a, b, c) and a common apex o. With a, b, c taken from o and  D = a·(b × c),
//
//   ∫ 1 = D/6        ∫ x = D/24 (a + b + c)        ∫ x xᵀ = D/120 (s sᵀ + a aᵀ + b bᵀ + c cᵀ),  s = a + b + c
//
// Two passes: volume and centre about the middle of the box, then second moments about that centre. So
// neither a place far from the origin nor the shift to the centre costs digits.
#include "geometry/exact.h"
#include "geometry/hull.h"
#include "geometry/sdf.h"

static tbMat3 outer_self(tbVec3 a) { return tb_mat3_outer(a, a); }

// ∫ (x·x 1 − x xᵀ) from C = ∫ x xᵀ.
static tbMat3 inertia_from_moments(tbMat3 C)
{
  return tb_mat3_sub(tb_mat3_scale(tb_mat3_trace(C), tb_mat3_identity()), C);
}

// ---- polyhedra ----

typedef struct {
  tbVec3 apex;
  double volume;
  tbVec3 first;  // ∫ x about the apex
  tbMat3 second; // ∫ x xᵀ about the apex
} Moments;

static void add_triangle(Moments* m, tbVec3 p, tbVec3 q, tbVec3 r)
{
  tbVec3 a = tb_sub3(p, m->apex), b = tb_sub3(q, m->apex), c = tb_sub3(r, m->apex);
  tbVec3 s = tb_add3(a, tb_add3(b, c));
  double D = tb_dot3(tb_triangle_normal(p, q, r), a);
  tbMat3 C =
      tb_mat3_add(tb_mat3_add(outer_self(s), outer_self(a)), tb_mat3_add(outer_self(b), outer_self(c)));
  m->volume += D / 6;
  m->first = tb_madd3(m->first, D / 24, s);
  m->second = tb_mat3_add(m->second, tb_mat3_scale(D / 120, C));
}

typedef Moments MomentsFn(const void* solid, tbVec3 apex);

static Moments mesh_moments(const void* solid, tbVec3 apex)
{
  const tbMesh* mesh = solid;
  Moments m = {.apex = apex};
  for (int t = 0; t < mesh->ntriangle; t++) {
    const int* v = mesh->triangle[t];
    add_triangle(&m, mesh->vertex[v[0]], mesh->vertex[v[1]], mesh->vertex[v[2]]);
  }
  return m;
}

static Moments hull_moments(const void* solid, tbVec3 apex)
{
  const tbHull* hull = solid;
  Moments m = {.apex = apex};
  for (int f = 0; f < hull->nface; f++)
    for (int k = hull->face_adr[f] + 1; k + 1 < hull->face_adr[f + 1]; k++)
      add_triangle(&m, hull->vertex[hull->face_vertex[hull->face_adr[f]]], hull->vertex[hull->face_vertex[k]],
                   hull->vertex[hull->face_vertex[k + 1]]);
  return m;
}

static tbMass polyhedron_mass(MomentsFn* moments, const void* solid, tbVec3 middle, double density)
{
  Moments m = moments(solid, middle);
  if (!(m.volume > 0)) return (tbMass){.centre = middle}; // below the smallest double
  tbVec3 centre = tb_madd3(middle, 1 / m.volume, m.first);
  m = moments(solid, centre);
  return (tbMass){density * m.volume, centre, tb_mat3_scale(density, inertia_from_moments(m.second))};
}

static tbMass mesh_mass(const tbMesh* mesh, double density)
{
  if (!tb_mesh_is_solid(mesh)) return (tbMass){0};
  tbVec3 middle = tb_madd3(tb_scale3(0.5, mesh->box.lo), 0.5, mesh->box.hi);
  return polyhedron_mass(mesh_moments, mesh, middle, density);
}

// ---- the round ones ----

static tbMass sphere_mass(double r, double density)
{
  double m = density * (4.0 / 3) * TB_PI * r * r * r, I = 0.4 * m * r * r;
  return (tbMass){m, tb_zero3(), tb_mat3_diag(I, I, I)};
}

static tbMass box_mass(tbVec3 h, double density)
{
  double m = density * 8 * h.x * h.y * h.z, xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
  return (tbMass){m, tb_zero3(), tb_mat3_diag(m * (yy + zz) / 3, m * (zz + xx) / 3, m * (xx + yy) / 3)};
}

static tbMass cylinder_mass(double r, double half, double density)
{
  double m = density * 2 * TB_PI * r * r * half, across = m * (r * r / 4 + half * half / 3);
  return (tbMass){m, tb_zero3(), tb_mat3_diag(across, across, m * r * r / 2)};
}

// A cylinder and two half balls; the centre of a half ball lies 3r/8 beyond its flat side, and about the
// sphere's centre it has half the sphere's inertia:  I = I_ball + m_ball (half² + 2·half·3r/8).
static tbMass capsule_mass(double r, double half, double density)
{
  tbMass rod = cylinder_mass(r, half, density), ball = sphere_mass(r, density);
  double across = rod.inertia.m[0][0] + ball.inertia.m[0][0] + ball.mass * half * (half + 0.75 * r);
  return (tbMass){rod.mass + ball.mass, tb_zero3(),
                  tb_mat3_diag(across, across, rod.inertia.m[2][2] + ball.inertia.m[2][2])};
}

// ---- frames ----

static tbMat3 symmetric(tbMat3 A)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) A.m[i][j] = A.m[j][i] = 0.5 * (A.m[i][j] + A.m[j][i]);
  return A;
}

static tbMass placed(tbMass m, tbTransform T)
{
  tbMat3 R = tb_quat_mat3(T.q);
  m.centre = tb_transform_point(T, m.centre);
  m.inertia = symmetric(tb_mat3_mult(tb_mat3_mul(R, m.inertia), R));
  return m;
}

tbMass tb_shape_mass(const tbShape* s, double density)
{
  tbMass m = {0};
  switch (s->type) {
  case TB_SHAPE_SPHERE: m = sphere_mass(s->sphere.radius, density); break;
  case TB_SHAPE_BOX: m = box_mass(s->box.half, density); break;
  case TB_SHAPE_CAPSULE: m = capsule_mass(s->capsule.radius, s->capsule.half, density); break;
  case TB_SHAPE_CYLINDER: m = cylinder_mass(s->cylinder.radius, s->cylinder.half, density); break;
  case TB_SHAPE_CONVEX: m = polyhedron_mass(hull_moments, s->hull, s->hull->centre, density); break;
  case TB_SHAPE_MESH: m = mesh_mass(s->mesh, density); break;
  case TB_SHAPE_SDF: m = mesh_mass(s->sdf->mesh, density); break;
  case TB_SHAPE_PLANE:
  case TB_SHAPE_COUNT: break;
  }
  return placed(m, s->pose);
}

// About the common centre each part gains  m (d·d 1 − d dᵀ); together, with the reduced mass μ = m_a m_b/m
// and d from one centre to the other, that is  μ (d·d 1 − d dᵀ)  in one term without cancellation.
tbMass tb_mass_add(tbMass a, tbMass b)
{
  double m = a.mass + b.mass;
  if (!(m > 0)) return (tbMass){m, a.centre, tb_mat3_add(a.inertia, b.inertia)};
  tbVec3 d = tb_sub3(b.centre, a.centre);
  tbMat3 apart = tb_mat3_scale(a.mass * (b.mass / m), inertia_from_moments(outer_self(d)));
  return (tbMass){m, tb_madd3(a.centre, b.mass / m, d),
                  tb_mat3_add(tb_mat3_add(a.inertia, b.inertia), apart)};
}
