// SPDX-License-Identifier: Apache-2.0
// Cloth that falls, hangs and slides.
#include "gallery/gallery.h"

static void start(tbPen* pen, double dt, double time)
{
  tb_pen_start(pen, dt, time);
  tb_pen_scheme(pen, "pd", "iterations", tb_pen_count(pen, "iterations"));
  tb_pen_material(pen, &(tbPenMaterial){"cotton", 1000, tb_pen_value(pen, "friction"), 0, 0});
}

// The four corners of a sheet at a height.
static void pin_corners(double length, double width, double high, tbPenPin corner[4])
{
  const double hair = 1e-3;
  for (int i = 0; i < 4; i++) {
    tbVec3 at = {i % 2 ? length / 2 : -length / 2, i / 2 ? width / 2 : -width / 2, high};
    tbVec3 around = {hair, hair, hair};
    corner[i] = (tbPenPin){.low = tb_sub3(at, around), .high = tb_add3(at, around)};
  }
}

static void start_certified(tbPen* pen, double dt, double time)
{
  tb_pen_start(pen, dt, time);
  tb_pen_certified(pen);
  tb_pen_material(pen, &(tbPenMaterial){"cotton", 1000, tb_pen_value(pen, "friction"), 0, 0});
}

void tb_gallery_cloth_on_sphere(tbPen* pen)
{
  const double radius = 0.25, high = 0.3;
  int cells = tb_pen_count(pen, "cells");
  start_certified(pen, 0.005, 1);
  tb_pen_ground(pen, "cotton");
  tb_pen_body(pen, &(tbPenBody){.name = "ball",
                                .shape = tb_pen_sphere(radius),
                                .material = "cotton",
                                .position = tb_vec3(0, 0, high),
                                .fixed = true});
  tb_pen_cloth(pen, &(tbPenSoft){.name = "cloth",
                                 .mesh = tb_pen_grid(1, 1, cells, cells),
                                 .material = "cotton",
                                 .area_density = 0.2,
                                 .stretch = tb_pen_value(pen, "stretch"),
                                 .shear = tb_pen_value(pen, "stretch") / 4,
                                 .bend = tb_pen_value(pen, "bend"),
                                 .thickness = 0.002,
                                 .air_damping = 0.05,
                                 .damping = 0.002,
                                 .position = tb_vec3(0.02, 0.01, high + radius + 0.01)});
}

void tb_gallery_hammock(tbPen* pen)
{
  const double length = 1, width = 0.6, high = 1, radius = 0.1;
  int cells = tb_pen_count(pen, "cells");
  tbPenPin corner[4];
  start_certified(pen, 0.005, 1.5);
  tb_pen_body(pen, &(tbPenBody){.name = "ball",
                                .shape = tb_pen_sphere(radius),
                                .material = "cotton",
                                .mass = tb_pen_value(pen, "mass"),
                                .position = tb_vec3(0, 0, high + radius + 0.02)});
  pin_corners(length, width, high, corner);
  tb_pen_cloth(pen, &(tbPenSoft){.name = "hammock",
                                 .mesh = tb_pen_grid(length, width, 2 * cells, cells),
                                 .material = "cotton",
                                 .area_density = 0.3,
                                 .stretch = tb_pen_value(pen, "stretch"),
                                 .shear = tb_pen_value(pen, "stretch") / 4,
                                 .bend = 1e-4,
                                 .thickness = 0.002,
                                 .air_damping = 0.1,
                                 .damping = 0.005,
                                 .position = tb_vec3(0, 0, high),
                                 .pins = corner,
                                 .pin_count = 4});
}

void tb_gallery_trampoline(tbPen* pen)
{
  const double size = 1, high = 1, radius = 0.12;
  int cells = tb_pen_count(pen, "cells");
  tbPenPin corner[4];
  start_certified(pen, 0.005, 1.5);
  tb_pen_body(pen, &(tbPenBody){.name = "ball",
                                .shape = tb_pen_sphere(radius),
                                .material = "cotton",
                                .mass = tb_pen_value(pen, "mass"),
                                .position = tb_vec3(0.05, 0.02, high + radius + 0.25)});
  pin_corners(size, size, high, corner);
  tb_pen_cloth(pen, &(tbPenSoft){.name = "trampoline",
                                 .mesh = tb_pen_grid(size, size, cells, cells),
                                 .material = "cotton",
                                 .area_density = 0.5,
                                 .stretch = tb_pen_value(pen, "stretch"),
                                 .shear = tb_pen_value(pen, "stretch") / 4,
                                 .bend = 1e-4,
                                 .thickness = 0.006,
                                 .damping = 0.001,
                                 .position = tb_vec3(0, 0, high),
                                 .pins = corner,
                                 .pin_count = 4});
}

// The strip is made as it hangs, of pieces of one length: up one side, over the drum, down the other.
static int make_line(double radius, int arc, int up, int down, double (*line)[2])
{
  double piece = TB_PI * radius / arc, s, c;
  int points = 0;
  for (int i = -up; i < 0; i++, points++) line[points][0] = -radius, line[points][1] = i * piece;
  for (int i = 0; i <= arc; i++, points++) {
    tb_sin_cos(TB_PI * i / arc, &s, &c);
    line[points][0] = -radius * c, line[points][1] = radius * s;
  }
  for (int i = 1; i <= down; i++, points++) line[points][0] = radius, line[points][1] = -i * piece;
  return points;
}

void tb_gallery_cloth_capstan(tbPen* pen)
{
  enum { ARC = 12, UP = 10, DOWN = 5 * UP };
  const double radius = 0.1, room = 0.002, width = 0.1, high = 2;
  double line[UP + ARC + 1 + DOWN][2];
  int down = (int)floor(UP * tb_pen_value(pen, "ratio") + 0.5);
  int points = make_line(radius + room, ARC, UP, down, line);
  char name[64];
  snprintf(name, sizeof name, "strip-%d.obj", down);
  start_certified(pen, 0.005, 1);
  tb_pen_body(pen, &(tbPenBody){.name = "drum",
                                .shape = tb_pen_cylinder(radius, 2 * width),
                                .material = "cotton",
                                .position = tb_vec3(0, 0, high),
                                .orientation = tb_pen_about_x(TB_PI / 2),
                                .fixed = true});
  tb_pen_cloth(pen, &(tbPenSoft){.name = "strip",
                                 .mesh = tb_pen_strip(pen, name, (const double(*)[2])line, points, width, 4),
                                 .material = "cotton",
                                 .area_density = 0.3,
                                 .stretch = 1000,
                                 .shear = 250,
                                 .bend = 0,
                                 .thickness = 0.001,
                                 .damping = 0.002,
                                 .warp = tb_vec3(0, 1, 0),
                                 .position = tb_vec3(0, 0, high)});
}

// After Li et al. 2020, at a size that can be looked at live.
void tb_gallery_mat_twist(tbPen* pen)
{
  const double length = 0.6, width = 0.24, high = 0.3, hair = 1e-3;
  int cells = tb_pen_count(pen, "cells");
  double speed = tb_pen_value(pen, "speed");
  tb_pen_start(pen, 0.01, TB_PI * tb_pen_value(pen, "turns") / speed);
  tb_pen_barriers(pen);
  tb_pen_material(pen, &(tbPenMaterial){"cotton", 300, tb_pen_value(pen, "friction"), 0, 0});
  tbPenPin end[2];
  for (int k = 0; k < 2; k++) {
    double x = (k - 0.5) * length;
    end[k] = (tbPenPin){.low = tb_vec3(x - hair, -width, high - hair),
                        .high = tb_vec3(x + hair, width, high + hair),
                        .angular_velocity = tb_vec3(k ? -speed : speed, 0, 0)};
  }
  tb_pen_cloth(pen, &(tbPenSoft){.name = "mat",
                                 .mesh = tb_pen_grid(length, width, 5 * cells / 2, cells),
                                 .material = "cotton",
                                 .area_density = 0.3,
                                 .stretch = 300,
                                 .shear = 80,
                                 .bend = 1e-4,
                                 .thickness = 0.004,
                                 .damping = 0.002,
                                 .position = tb_vec3(0, 0, high),
                                 .pins = end,
                                 .pin_count = 2});
}

// Square1 and Square3 of Ly et al. 2020, as fine as can be looked at live.
void tb_gallery_turning_ball(tbPen* pen)
{
  const double radius = 0.25, high = 0.3, thick = 0.01;
  int cells = tb_pen_count(pen, "cells"), sheets = tb_pen_count(pen, "sheets");
  start(pen, 0.005, 4);
  tb_pen_ground(pen, "cotton");
  tb_pen_body(pen, &(tbPenBody){.name = "ball",
                                .shape = tb_pen_sphere(radius),
                                .material = "cotton",
                                .position = tb_vec3(0, 0, high),
                                .angular_velocity = tb_vec3(0, 0, 2),
                                .kinematic = true});
  for (int i = 0; i < sheets; i++)
    tb_pen_cloth(
        pen, &(tbPenSoft){.name = tb_pen_name(pen, "sheet %d", i),
                          .mesh = tb_pen_grid(1, 1, cells, cells),
                          .material = "cotton",
                          .area_density = sheets > 1 ? 1.5 : 3,
                          .stretch = 200,
                          .shear = 100,
                          .bend = 5e-4,
                          .thickness = thick,
                          .damping = 0.002,
                          .position = tb_vec3(0.01 + 0.01 * i, 0.02, high + radius + (1 + 2 * i) * thick)});
}

void tb_gallery_ribbon(tbPen* pen)
{
  const double length = 1.2, width = 0.1, thick = 0.006, slope = TB_PI / 18;
  int cells = tb_pen_count(pen, "cells");
  start(pen, 0.004, 3);
  tb_pen_material(pen, &(tbPenMaterial){"slope", 1000, tb_pen_value(pen, "slope_friction"), 0, 0});
  tb_pen_body(pen, &(tbPenBody){.name = "slope",
                                .shape = {.type = "plane"},
                                .material = "slope",
                                .orientation = tb_pen_about_y(slope),
                                .fixed = true});
  tb_pen_cloth(pen, &(tbPenSoft){.name = "ribbon",
                                 .mesh = tb_pen_grid(length, width, cells * 12, cells),
                                 .material = "cotton",
                                 .area_density = 0.25,
                                 .stretch = 20,
                                 .shear = 10,
                                 .bend = tb_pen_value(pen, "bend"),
                                 .thickness = thick,
                                 .damping = 0.002,
                                 .position = tb_vec3(0, 0, length / 2 + 0.05),
                                 .orientation = tb_pen_about_y(0.49 * TB_PI)});
}
