// SPDX-License-Identifier: Apache-2.0
#include "geometry/round.h"

double tb_round_distance(const tbShape* s, tbVec3 p, tbVec3* gradient)
{
  if (s->type == TB_SHAPE_CYLINDER) return tb_cylinder_distance(s, p, gradient);
  double half = s->type == TB_SHAPE_CAPSULE ? s->capsule.half : 0;
  double radius = s->type == TB_SHAPE_CAPSULE ? s->capsule.radius : s->sphere.radius;
  p.z -= fmin(fmax(p.z, -half), half);
  double length = tb_norm3(p);
  if (gradient) *gradient = length > 0 ? tb_scale3(1 / length, p) : tb_vec3(1, 0, 0);
  return length - radius;
}

double tb_cylinder_distance(const tbShape* cylinder, tbVec3 p, tbVec3* gradient)
{
  double rho = sqrt(p.x * p.x + p.y * p.y), out = rho - cylinder->cylinder.radius,
         up = fabs(p.z) - cylinder->cylinder.half;
  tbVec3 radial = rho > 0 ? tb_vec3(p.x / rho, p.y / rho, 0) : tb_vec3(1, 0, 0);
  tbVec3 axial = tb_vec3(0, 0, copysign(1, p.z)), g = out > up ? radial : axial;
  double distance = out > up ? out : up;
  if (out > 0 && up > 0) {
    distance = sqrt(out * out + up * up);
    g = tb_madd3(tb_scale3(out / distance, radial), up / distance, axial);
  }
  if (gradient) *gradient = g;
  return distance;
}

// Corners are 2π/48 or 2π/64 of a turn apart, on spheres in both directions.
double tb_round_depth(const tbShape* s)
{
  switch (s->type) {
  case TB_SHAPE_SPHERE: return 0.0045 * s->sphere.radius;
  case TB_SHAPE_CAPSULE: return 0.0045 * s->capsule.radius;
  case TB_SHAPE_CYLINDER: return 0.00125 * s->cylinder.radius;
  default: return 0;
  }
}
