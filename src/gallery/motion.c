// SPDX-License-Identifier: Apache-2.0
// A few bodies that slide, spin and strike.
#include "gallery/gallery.h"

static double radians(double degrees) { return degrees * (TB_PI / 180); }

// A plane through the origin that falls towards +x.
static tbQuat add_slope(tbPen* pen, const char* material)
{
  tbQuat q = tb_pen_about_y(radians(tb_pen_value(pen, "slope_deg")));
  tb_pen_body(
      pen,
      &(tbPenBody){
          .name = "ramp", .shape = {.type = "plane"}, .material = material, .orientation = q, .fixed = true});
  return q;
}

void tb_gallery_incline(tbPen* pen)
{
  tb_pen_start(pen, 0.01, 2);
  tb_pen_material(pen, &(tbPenMaterial){"wood", 700, tb_pen_value(pen, "friction"), 0, 0});
  tbQuat q = add_slope(pen, "wood");
  tb_pen_body(pen, &(tbPenBody){.name = "block",
                                .shape = tb_pen_box(1, 1, 0.5),
                                .material = "wood",
                                .position = tb_quat_rotate(q, tb_vec3(0, 0, 0.25)),
                                .orientation = q});
}

void tb_gallery_incline_set(tbPen* pen)
{
  const double side = 0.2, high = 0.1;
  int n = tb_pen_count(pen, "blocks");
  tb_pen_start(pen, 0.01, 2);
  tb_pen_material(pen, &(tbPenMaterial){"ramp", 1000, 0.5, 0, 0});
  for (int i = 0; i < n; i++)
    tb_pen_material(pen, &(tbPenMaterial){tb_pen_name(pen, "block %d", i), 1000, 0.1 * (i + 1), 0, 0});
  for (int i = 0; i < n; i++)
    tb_pen_pair(pen, &(tbPenPair){"ramp", tb_pen_name(pen, "block %d", i), 0.1 * (i + 1), 0, 0});
  tbQuat q = add_slope(pen, "ramp");
  for (int i = 0; i < n; i++) {
    char name[64];
    snprintf(name, sizeof name, "block/%d", i);
    tb_pen_body(pen, &(tbPenBody){.name = name,
                                  .shape = tb_pen_box(side, side, high),
                                  .material = tb_pen_name(pen, "block %d", i),
                                  .position = tb_quat_rotate(q, tb_vec3(0, 1.5 * side * i, high / 2)),
                                  .orientation = q});
  }
}

// Painlevé 1895: a slender rod at angle θ whose tip runs ahead of it. Its tip accelerates by
// (1 + 3 cos²θ − 3 μ sinθ cosθ) N/m under a normal force N: where that factor is negative, pressing harder
// drives the tip into the ground, and only an impulse, which stops the tip, is left.
void tb_gallery_painleve(tbPen* pen)
{
  const double length = 1, radius = 0.01;
  double s, c;
  tb_sin_cos(radians(tb_pen_value(pen, "angle_deg")), &s, &c);
  tb_pen_start(pen, 0.001, 1);
  tb_pen_material(pen, &(tbPenMaterial){"chalk", 2000, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "chalk");
  tb_pen_body(pen, &(tbPenBody){.name = "rod",
                                .shape = tb_pen_capsule(radius, length),
                                .material = "chalk",
                                .position = tb_vec3(length / 2 * c, 0, radius + length / 2 * s),
                                .orientation = tb_pen_along(tb_vec3(c, 0, s)),
                                .velocity = tb_vec3(-tb_pen_value(pen, "speed"), 0, 0)});
}

// A cone on a small ball, with a stem. Its frame lies in the ball's middle. A fast top that leans precesses
// at m g l / (I₃ ω).
void tb_gallery_top(tbPen* pen)
{
  enum { SIDES = 32 };
  const double tip = 0.002, radius = 0.03, high = 0.035;
  tbVec3 cone[SIDES + 1] = {{0, 0, 0}};
  double s, c, spin = tb_pen_value(pen, "spin"), tilt = radians(tb_pen_value(pen, "tilt_deg"));
  for (int i = 0; i < SIDES; i++) {
    tb_sin_cos(2 * TB_PI * i / SIDES, &s, &c);
    cone[1 + i] = tb_vec3(radius * c, radius * s, high);
  }
  tbPenShape part[3] = {tb_pen_convex(cone, SIDES + 1), tb_pen_sphere(tip), tb_pen_cylinder(0.003, 0.02)};
  part[2].position.z = high + 0.01;
  tb_sin_cos(tilt, &s, &c);
  tb_pen_start(pen, 0.0005, 2);
  tb_pen_material(pen, &(tbPenMaterial){"wood", 700, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "wood");
  tb_pen_body(pen, &(tbPenBody){.name = "top",
                                .shapes = part,
                                .shape_count = 3,
                                .material = "wood",
                                .position = tb_vec3(0, 0, tip),
                                .orientation = tb_pen_about_y(tilt),
                                .angular_velocity = tb_vec3(spin * s, 0, spin * c)});
}

// A ball with its centre of mass below its middle: a disc inside, which nothing can touch, makes the lower
// part heavier. Spun fast it turns over, because friction at the bottom pushes against the spin. It can
// when 1 − a < A/C < 1 + a, with a the shift of the centre of mass over the radius, C the moment of inertia
// about the axis and A across it (Ebenfeld and Scheck 1995); here a = 0.05 and A/C = 0.97.
void tb_gallery_tippe_top(tbPen* pen)
{
  const double radius = 0.02;
  double spin = tb_pen_value(pen, "spin"), tilt = radians(tb_pen_value(pen, "tilt_deg"));
  tbPenShape part[3] = {tb_pen_sphere(radius), tb_pen_cylinder(0.825 * radius, 0.4 * radius),
                        tb_pen_cylinder(0.1 * radius, 0.4 * radius)};
  part[1].position.z = -0.3 * radius;
  part[2].position.z = 1.1 * radius;
  tb_pen_start(pen, 0.0005, 4);
  tb_pen_material(pen, &(tbPenMaterial){"wood", 700, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "wood");
  tb_pen_body(pen, &(tbPenBody){.name = "top",
                                .shapes = part,
                                .shape_count = 3,
                                .material = "wood",
                                .position = tb_vec3(0, 0, radius),
                                .orientation = tb_pen_about_y(tilt),
                                .angular_velocity = tb_vec3(0, 0, spin)});
}

static void add_cushions(tbPen* pen, double length, double width, double high)
{
  const double thick = 0.1;
  tbPenShape part[4];
  for (int i = 0; i < 4; i++) {
    double sign = i % 2 ? 0.5 : -0.5;
    part[i] = i < 2 ? tb_pen_box(thick, width + 2 * thick, high) : tb_pen_box(length, thick, high);
    part[i].position =
        i < 2 ? tb_vec3(sign * (length + thick), 0, high / 2) : tb_vec3(0, sign * (width + thick), high / 2);
  }
  tb_pen_body(
      pen, &(tbPenBody){
               .name = "cushions", .shapes = part, .shape_count = 4, .material = "cushion", .fixed = true});
}

void tb_gallery_billiards(tbPen* pen)
{
  const double radius = 0.028575, length = 2.54, width = 1.27;
  int made = 0;
  tb_pen_start(pen, 0.002, 3);
  tb_pen_material(pen, &(tbPenMaterial){"resin", 1740, 0.05, tb_pen_value(pen, "restitution"), 0});
  tb_pen_material(pen, &(tbPenMaterial){"cloth", 1000, 0.2, 0, 0});
  tb_pen_material(pen, &(tbPenMaterial){"cushion", 1000, 0.2, 0, 0});
  tb_pen_pair(pen, &(tbPenPair){"resin", "cloth", 0.2, 0, 3e-4});
  tb_pen_pair(pen, &(tbPenPair){"resin", "cushion", 0.2, 0.75, 0});
  tb_pen_ground(pen, "cloth");
  add_cushions(pen, length, width, 1.4 * radius);
  tb_pen_body(pen, &(tbPenBody){.name = "cue",
                                .shape = tb_pen_sphere(radius),
                                .material = "resin",
                                .position = tb_vec3(-length / 4, tb_pen_value(pen, "aside"), radius),
                                .velocity = tb_vec3(tb_pen_value(pen, "speed"), 0, 0)});
  for (int row = 0; row < 5; row++)
    for (int i = 0; i <= row; i++)
      tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "ball/%d", made++),
                                    .shape = tb_pen_sphere(radius),
                                    .material = "resin",
                                    .position = tb_vec3(length / 4 + row * radius * sqrt(3),
                                                        (2 * i - row) * radius, radius)});
}
