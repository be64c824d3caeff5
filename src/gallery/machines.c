// SPDX-License-Identifier: Apache-2.0
// Things on hinges, and things that turn.
#include "gallery/gallery.h"

void tb_gallery_seesaw(tbPen* pen)
{
  const double length = 2, thick = 0.05, high = 0.45, box = 0.2, out = 0.85;
  double top = high + thick / 2 + box / 2;
  tb_pen_start(pen, 0.005, 2);
  tb_pen_material(pen, &(tbPenMaterial){"wood", 700, 0.5, 0, 0});
  tb_pen_ground(pen, "wood");
  tb_pen_body(pen, &(tbPenBody){.name = "plank",
                                .shape = tb_pen_box(length, 0.3, thick),
                                .material = "wood",
                                .mass = 10,
                                .position = tb_vec3(0, 0, high)});
  tb_pen_body(pen, &(tbPenBody){.name = "light",
                                .shape = tb_pen_box(box, box, box),
                                .material = "wood",
                                .mass = 2,
                                .position = tb_vec3(-out, 0, top)});
  tb_pen_body(pen, &(tbPenBody){.name = "heavy",
                                .shape = tb_pen_box(box, box, box),
                                .material = "wood",
                                .mass = tb_pen_value(pen, "mass"),
                                .position = tb_vec3(out, 0, top + tb_pen_value(pen, "drop"))});
  tb_pen_joint(pen, &(tbPenJoint){.type = "hinge",
                                  .b = "plank",
                                  .anchor = tb_vec3(0, 0, high),
                                  .axis = tb_vec3(0, 1, 0),
                                  .low = -20,
                                  .high = 20});
}

void tb_gallery_door(tbPen* pen)
{
  tb_pen_start(pen, 0.005, 3);
  tb_pen_material(pen, &(tbPenMaterial){"rubber", 1000, 0.4, 0, 0.002});
  tb_pen_material(pen, &(tbPenMaterial){"wood", 700, 0.4, 0, 0});
  tb_pen_ground(pen, "wood");
  tb_pen_body(pen, &(tbPenBody){.name = "ball",
                                .shape = tb_pen_sphere(0.1),
                                .material = "rubber",
                                .position = tb_vec3(0, 0, 0.2),
                                .count = {3, 4, tb_pen_count(pen, "layers")},
                                .spacing = tb_vec3(0.22, 0.22, 0.22),
                                .jitter = 0.01});
  tb_pen_body(pen, &(tbPenBody){.name = "door",
                                .shape = tb_pen_box(1, 0.05, 0.8),
                                .material = "wood",
                                .position = tb_vec3(-0.8, 0, 0.45)});
  tb_pen_joint(pen, &(tbPenJoint){.type = "hinge",
                                  .b = "door",
                                  .anchor = tb_vec3(-1.3, 0, 0.45),
                                  .axis = tb_vec3(0, 0, 1),
                                  .low = -90,
                                  .high = 90,
                                  .speed = tb_pen_value(pen, "speed"),
                                  .force = 40});
}

void tb_gallery_conveyor(tbPen* pen)
{
  const double radius = 0.05, pitch = 0.125, high = 0.5, box = 0.25;
  int rollers = tb_pen_count(pen, "rollers"), boxes = tb_pen_count(pen, "boxes");
  double spin = tb_pen_value(pen, "speed") / radius;
  tb_pen_start(pen, 0.005, 3);
  tb_pen_material(pen, &(tbPenMaterial){"rubber", 1000, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "rubber");
  for (int i = 0; i < rollers; i++)
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "roller/%d", i),
                                  .shape = tb_pen_cylinder(radius, 0.6),
                                  .material = "rubber",
                                  .position = tb_vec3(i * pitch, 0, high),
                                  .orientation = tb_pen_about_x(TB_PI / 2),
                                  .angular_velocity = tb_vec3(0, spin, 0),
                                  .kinematic = true});
  for (int i = 0; i < boxes; i++)
    tb_pen_body(pen,
                &(tbPenBody){.name = tb_pen_name(pen, "box/%d", i),
                             .shape = tb_pen_box(box, box, box),
                             .material = "rubber",
                             .density = 200,
                             .position = tb_vec3(1.5 * pitch + 1.5 * box * i, 0, high + radius + box / 2)});
}

// Wheels of one size in a row: where one has a tooth, the next must have a gap.
void tb_gallery_gears(tbPen* pen)
{
  const double inner = 0.16, outer = 0.2, width = 0.04, play = 0.002;
  int teeth = tb_pen_count(pen, "teeth");
  char name[64];
  snprintf(name, sizeof name, "wheel-%d.obj", teeth);
  tb_pen_start(pen, 0.005, 2);
  tb_pen_material(pen, &(tbPenMaterial){"brass", 8500, tb_pen_value(pen, "friction"), 0, 0});
  tbPenShape wheel = tb_pen_gear(pen, name, teeth, inner, outer, width);
  for (int i = 0; i < 3; i++)
    tb_pen_body(pen,
                &(tbPenBody){.name = tb_pen_name(pen, "wheel/%d", i),
                             .shape = wheel,
                             .material = "brass",
                             .position = tb_vec3(i * (inner + outer + play), 0, 0),
                             .orientation = tb_pen_about_z(i == 1 && teeth % 2 == 0 ? TB_PI / teeth : 0)});
  for (int i = 0; i < 3; i++)
    tb_pen_joint(pen, &(tbPenJoint){.type = "hinge",
                                    .b = tb_pen_name(pen, "wheel/%d", i),
                                    .anchor = tb_vec3(i * (inner + outer + play), 0, 0),
                                    .axis = tb_vec3(0, 0, 1),
                                    .speed = tb_pen_value(pen, "speed"),
                                    .force = i == 0 ? 20 : 0});
}
