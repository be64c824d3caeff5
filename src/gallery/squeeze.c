// SPDX-License-Identifier: Apache-2.0
// Soft balls through openings that are narrower than they are, by barriers that nothing crosses.
#include "gallery/gallery.h"

static void start(tbPen* pen, double time)
{
  tb_pen_start(pen, 0.01, time);
  tb_pen_scheme(pen, "ipc", "friction_iterations", 2);
  tb_pen_material(pen, &(tbPenMaterial){"rubber", 1000, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "rubber");
}

static void add_ball(tbPen* pen, int index, double radius, tbVec3 at)
{
  tb_pen_soft(pen, &(tbPenSoft){.name = tb_pen_name(pen, "ball/%d", index),
                                .mesh = tb_pen_soft_sphere(radius, tb_pen_count(pen, "cells")),
                                .material = "rubber",
                                .model = "neo-hookean",
                                .young = tb_pen_value(pen, "young"),
                                .poisson = 0.4,
                                .position = at});
}

// Two rollers that turn against each other draw balls through the gap between them.
void tb_gallery_mangle(tbPen* pen)
{
  const double radius = 0.12, length = 0.4, high = 0.4, ball = 0.08;
  double gap = tb_pen_value(pen, "gap"), speed = tb_pen_value(pen, "speed");
  int balls = tb_pen_count(pen, "balls");
  start(pen, 0.8 + 0.2 * balls);
  for (int k = 0; k < 2; k++)
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "roller/%d", k),
                                  .shape = tb_pen_cylinder(radius, length),
                                  .material = "rubber",
                                  .position = tb_vec3((2 * k - 1) * (radius + gap / 2), 0, high),
                                  .orientation = tb_pen_about_x(TB_PI / 2),
                                  .angular_velocity = tb_vec3(0, k ? -speed : speed, 0),
                                  .kinematic = true});
  for (int i = 0; i < balls; i++) add_ball(pen, i, ball, tb_vec3(0.004 * (i % 2), 0, high + 0.16 + 0.2 * i));
}

// A plunger pushes a ball out of a funnel of eight sides.
void tb_gallery_squeeze_out(tbPen* pen)
{
  enum { SIDES = 8 };
  const double ball = 0.07, wide = 0.16, tall = 0.14, thick = 0.015, z = 0.3, speed = 0.4, reach = 0.1;
  double narrow = tb_pen_value(pen, "opening"), first = z + 0.12;
  double from = first + ball + reach / 2 + 0.005;
  start(pen, (from - reach / 2 - z) / speed); // until it is as far as the opening
  for (int k = 0; k < SIDES; k++) {
    tbVec3 corner[8];
    for (int i = 0; i < 8; i++) {
      double s, c, out = (i & 2 ? wide : narrow) + (i & 4 ? thick : 0);
      tb_sin_cos(2 * TB_PI * (k + (i & 1) - 0.5) / SIDES, &s, &c);
      corner[i] = tb_vec3(out * c, out * s, i & 2 ? z + tall : z);
    }
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "side/%d", k),
                                  .shape = tb_pen_convex(corner, 8),
                                  .material = "rubber",
                                  .fixed = true});
  }
  tb_pen_body(pen, &(tbPenBody){.name = "plunger",
                                .shape = tb_pen_cylinder(0.6 * narrow, reach),
                                .material = "rubber",
                                .position = tb_vec3(0, 0, from),
                                .velocity = tb_vec3(0, 0, -speed),
                                .kinematic = true});
  add_ball(pen, 0, ball, tb_vec3(0, 0, first));
}
