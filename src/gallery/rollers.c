// SPDX-License-Identifier: Apache-2.0
// Soft bodies and rigid ones that turn.
#include "gallery/gallery.h"

static void start(tbPen* pen, double dt, double time)
{
  tb_pen_start(pen, dt, time);
  tb_pen_material(pen, &(tbPenMaterial){"rubber", 1000, tb_pen_value(pen, "friction"), 0, 0});
}

// Balls as wide as the channel, a little room apart from its walls, which end below their tops.
void tb_gallery_bearing(tbPen* pen)
{
  const double radius = 0.05, track = 0.2, room = 0.003, wall = 0.06, thick = 0.04, disc = 0.03;
  double inner = track - radius - room, outer = track + radius + room;
  double profile[4][2] = {{outer, 0}, {outer + thick, 0}, {outer + thick, wall}, {outer, wall}};
  int balls = tb_pen_count(pen, "balls");
  start(pen, 0.005, 1);
  tb_pen_ground(pen, "rubber");
  tb_pen_body(pen, &(tbPenBody){.name = "hub",
                                .shape = tb_pen_cylinder(inner, wall),
                                .material = "rubber",
                                .position = tb_vec3(0, 0, wall / 2),
                                .fixed = true});
  tb_pen_body(pen, &(tbPenBody){.name = "race",
                                .shape = tb_pen_turned(pen, "race.obj", (const double(*)[2])profile, 4, 64),
                                .material = "rubber",
                                .fixed = true});
  tb_pen_body(pen, &(tbPenBody){.name = "disc",
                                .shape = tb_pen_cylinder(outer, disc),
                                .material = "rubber",
                                .mass = tb_pen_value(pen, "mass"),
                                .position = tb_vec3(0, 0, 2 * radius + 2 * room + disc / 2),
                                .angular_velocity = tb_vec3(0, 0, tb_pen_value(pen, "spin"))});
  for (int i = 0; i < balls; i++) {
    double s, c;
    tb_sin_cos(2 * TB_PI * i / balls, &s, &c);
    tb_pen_soft(pen, &(tbPenSoft){.name = tb_pen_name(pen, "ball/%d", i),
                                  .mesh = tb_pen_soft_sphere(radius, 4),
                                  .material = "rubber",
                                  .young = tb_pen_value(pen, "young"),
                                  .poisson = 0.4,
                                  .damping = 0.005,
                                  .position = tb_vec3(track * c, track * s, radius + room)});
  }
}

// A roller along y whose surface moves towards +x on top, and so towards −z at its right.
static void add_roller(tbPen* pen, const char* name, tbVec3 at, double radius, double speed)
{
  tb_pen_body(pen, &(tbPenBody){.name = name,
                                .shape = tb_pen_cylinder(radius, 0.5),
                                .material = "rubber",
                                .position = at,
                                .orientation = tb_pen_about_x(TB_PI / 2),
                                .angular_velocity = tb_vec3(0, speed / radius, 0),
                                .kinematic = true});
}

// The ring stands upright above the gap. A few nodes of its middle, at the bottom, are pulled down.
void tb_gallery_armadillo(tbPen* pen)
{
  const double ring = 0.1, tube = 0.035, radius = 0.1, room = 0.005, hair = 1e-3;
  double gap = tb_pen_value(pen, "gap"), speed = tb_pen_value(pen, "speed"), high = 1;
  double beside = radius + gap / 2,
         over = radius + tube + room; // of the rollers; of the ring's lowest circle
  start(pen, 0.005, 1);
  add_roller(pen, "left roller", tb_vec3(-beside, 0, high), radius, speed);
  add_roller(pen, "right roller", tb_vec3(beside, 0, high), radius, -speed);
  double bottom = high + over - tube;
  tb_pen_soft(pen, &(tbPenSoft){.name = "armadillo",
                                .mesh = tb_pen_soft_torus(ring, tube, 4, 20),
                                .material = "rubber",
                                .young = tb_pen_value(pen, "young"),
                                .poisson = 0.4,
                                .damping = 0.005,
                                .position = tb_vec3(0, 0, bottom + tube + ring),
                                .orientation = tb_pen_about_y(TB_PI / 2),
                                .pins = &(tbPenPin){.low = tb_vec3(-hair, -0.02, bottom - hair),
                                                    .high = tb_vec3(hair, 0.02, bottom + tube),
                                                    .velocity = tb_vec3(0, 0, -speed)},
                                .pin_count = 1});
}

// The block slides from a smooth guide between the first pair of rollers. They bite where the tangent of the
// angle at which it meets them is less than the friction.
void tb_gallery_rollers(tbPen* pen)
{
  const tbVec3 size = {0.3, 0.2, 0.1};
  const double radius = 0.08, pitch = 0.2, high = 0.5, room = 0.004;
  int pairs = tb_pen_count(pen, "pairs");
  double gap = tb_pen_value(pen, "gap"), speed = tb_pen_value(pen, "speed");
  start(pen, 0.005, 1.2);
  tb_pen_material(pen, &(tbPenMaterial){"ice", 900, 0, 0, 0});
  tb_pen_ground(pen, "rubber");
  tb_pen_body(pen, &(tbPenBody){
                       .name = "guide",
                       .shape = tb_pen_box(1.2 * size.x, 2 * size.y, 0.02),
                       .material = "ice",
                       .position = tb_vec3(-0.6 * size.x - radius - room, 0, high - size.z / 2 - room - 0.01),
                       .fixed = true});
  for (int i = 0; i < pairs; i++) {
    double off = radius + gap / 2;
    add_roller(pen, tb_pen_name(pen, "lower/%d", i), tb_vec3(i * pitch, 0, high - off), radius, speed);
    add_roller(pen, tb_pen_name(pen, "upper/%d", i), tb_vec3(i * pitch, 0, high + off), radius, -speed);
  }
  tb_pen_soft(pen, &(tbPenSoft){.name = "block",
                                .mesh = tb_pen_soft_box(size, 12, 6, 4),
                                .material = "rubber",
                                .young = tb_pen_value(pen, "young"),
                                .poisson = 0.4,
                                .damping = 0.005,
                                .position = tb_vec3(-size.x / 2 - radius - room, 0, high),
                                .velocity = tb_vec3(speed, 0, 0)});
}
