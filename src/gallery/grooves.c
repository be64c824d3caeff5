// SPDX-License-Identifier: Apache-2.0
// Surfaces with a structure: matchsticks (course, algorithm 21 and figure 35). Each scene has one angle to
// turn, and what it does can be counted or follows from the ellipse that the two structures make.
#include "gallery/gallery.h"

static tbVec3 at_angle(tbVec3 along, tbVec3 across, double degrees)
{
  double s, c;
  tb_sin_cos(degrees * TB_PI / 180, &s, &c);
  return tb_add3(tb_scale3(c, along), tb_scale3(s, across));
}

// A trolley on free wheels rolls along a road that slopes sideways. Treads run along the axle, where they
// hold best; the road has grooves of its own.
void tb_gallery_tyres(tbPen* pen)
{
  const double slope = 25 * TB_PI / 180, radius = 0.15, speed = 3;
  const tbVec3 x = tb_vec3(1, 0, 0), y = tb_vec3(0, 1, 0), z = tb_vec3(0, 0, 1);
  tbQuat lean = tb_pen_about_x(slope), wheel = tb_pen_about_x(slope - TB_PI / 2);
  tbPenGrooves tread = {.name = "tyre", .density = 1100, .mu = 0.3, .mu_t = 0.8, .mu_b = 0.3, .structure = z};
  tbPenGrooves road = tread;
  road.name = "road", road.density = 2000,
  road.structure = tb_quat_rotate(lean, at_angle(y, x, tb_pen_value(pen, "angle_deg")));
  tb_pen_start(pen, 0.005, 2);
  tb_pen_grooves(pen, &road);
  tb_pen_grooves(pen, &tread);
  tb_pen_material(pen, &(tbPenMaterial){"steel", 7800, 0.3, 0, 0});
  tb_pen_body(pen, &(tbPenBody){.name = "road",
                                .shape = {.type = "plane", .normal = tb_quat_rotate(lean, z)},
                                .material = "road",
                                .fixed = true});
  tb_pen_body(pen, &(tbPenBody){.name = "trolley",
                                .shape = tb_pen_box(0.8, 0.4, 0.1),
                                .material = "steel",
                                .mass = 20,
                                .position = tb_quat_rotate(lean, tb_vec3(0, 0, radius)),
                                .orientation = lean,
                                .velocity = tb_vec3(speed, 0, 0)});
  for (int pass = 0; pass < 2; pass++) // wheels, then what holds them
    for (int i = 0; i < 4; i++) {
      const char* name = tb_pen_name(pen, "wheel/%d", i);
      tbVec3 at = tb_quat_rotate(lean, tb_vec3(i / 2 ? 0.3 : -0.3, i % 2 ? 0.35 : -0.35, radius));
      tbVec3 axle = tb_quat_rotate(lean, y);
      if (pass == 0)
        tb_pen_body(pen, &(tbPenBody){.name = name,
                                      .shape = tb_pen_cylinder(radius, 0.1),
                                      .material = "tyre",
                                      .mass = 2,
                                      .position = at,
                                      .orientation = wheel,
                                      .velocity = tb_vec3(speed, 0, 0),
                                      .angular_velocity = tb_scale3(speed / radius, axle)});
      else
        tb_pen_joint(pen,
                     &(tbPenJoint){.type = "hinge", .a = "trolley", .b = name, .anchor = at, .axis = axle});
    }
}

// Bricks on two boards that lean towards the gap between them. Grooves run down the boards, or across them.
void tb_gallery_hopper(tbPen* pen)
{
  enum { ACROSS = 4 };
  const double lean = 32 * TB_PI / 180, wide = 1.2, thick = 0.04, gap = 0.3, brick = 0.08, high = 0.6;
  int rows = tb_pen_count(pen, "rows");
  tbVec3 groove = at_angle(tb_vec3(1, 0, 0), tb_vec3(0, 1, 0), tb_pen_value(pen, "angle_deg"));
  double s, c;
  tb_sin_cos(lean, &s, &c);
  tb_pen_start(pen, 0.005, 3);
  tb_pen_grooves(
      pen, &(tbPenGrooves){
               .name = "board", .density = 700, .mu = 0.4, .mu_t = 0.1, .mu_b = 1, .structure = groove});
  tb_pen_material(pen, &(tbPenMaterial){"brick", 1500, 0.5, 0, 0});
  tb_pen_ground(pen, "brick");
  for (int side = -1; side <= 1; side += 2) {
    tbQuat turn = tb_pen_about_y(-side * lean);
    tbVec3 middle = tb_vec3(side * (gap / 2 + wide / 2 * c), 0, high + wide / 2 * s);
    tb_pen_body(pen, &(tbPenBody){.name = side < 0 ? "left board" : "right board",
                                  .shape = tb_pen_box(wide, 0.6, thick),
                                  .material = "board",
                                  .position = middle,
                                  .orientation = turn,
                                  .fixed = true});
    for (int i = 0; i < rows * ACROSS; i++) {
      tbVec3 at = tb_vec3(side * (1.5 * brick * (i / ACROSS) - 0.3), (i % ACROSS - 1.5) * 1.5 * brick,
                          (thick + brick) / 2);
      tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, side < 0 ? "left/%d" : "right/%d", i),
                                    .shape = tb_pen_box(brick, brick, brick),
                                    .material = "brick",
                                    .position = tb_add3(middle, tb_quat_rotate(turn, at)),
                                    .orientation = turn});
    }
  }
}
