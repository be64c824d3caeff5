// SPDX-License-Identifier: Apache-2.0
// Boxes at rest on boxes. Sizes are multiples of 1/128 m, so that faces meet without a gap to the last bit.
#include "gallery/gallery.h"

static const double side = 0.5, height = 0.25;

static void start(tbPen* pen, const char* material, double density, double dt, double time)
{
  tb_pen_start(pen, dt, time);
  tb_pen_material(pen, &(tbPenMaterial){material, density, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, material);
}

static void stack(tbPen* pen, double dt)
{
  int n = tb_pen_count(pen, "count");
  const double density = 1000;
  start(pen, "concrete", density, dt, 2);
  for (int i = 0; i < n; i++)
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "box/%d", i),
                                  .shape = tb_pen_box(side, side, height),
                                  .material = "concrete",
                                  .density = i == n - 1 ? density * tb_pen_value(pen, "mass_ratio") : 0,
                                  .position = tb_vec3(0, 0, (i + 0.5) * height)});
}

void tb_gallery_stack(tbPen* pen) { stack(pen, 0.01); }
void tb_gallery_heavy_top(tbPen* pen) { stack(pen, 1.0 / 60); }

// Primal descent does not mind ratios of masses, ascent on impulses does (Macklin et al. 2020, fig. 8).
void tb_gallery_growing_stack(tbPen* pen)
{
  const double radius = 0.1, length = 0.08;
  double mass = 1, growth = tb_pen_value(pen, "growth");
  tb_pen_start(pen, 1.0 / 60, 2);
  tb_pen_scheme(pen, "primal", "iterations", tb_pen_count(pen, "iterations"));
  tb_pen_material(pen, &(tbPenMaterial){"steel", 7800, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "steel");
  for (int i = 0; i < tb_pen_count(pen, "count"); i++, mass *= growth)
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "cylinder/%d", i),
                                  .shape = tb_pen_cylinder(radius, length),
                                  .material = "steel",
                                  .mass = mass,
                                  .position = tb_vec3(0, 0, (i + 0.5) * length)});
}

void tb_gallery_pyramid(tbPen* pen)
{
  const double pitch = 1.125 * side;
  int rows = tb_pen_count(pen, "rows"), made = 0;
  start(pen, "concrete", 1000, 0.01, 2);
  for (int row = 0; row < rows; row++)
    for (int i = 0; i < rows - row; i++)
      tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "box/%d", made++),
                                    .shape = tb_pen_box(side, side, height),
                                    .material = "concrete",
                                    .position = tb_vec3(pitch * (i - 0.5 * (rows - row - 1)), 0,
                                                        (row + 0.5) * height)});
}

// Whole bricks in even courses; odd ones have a half at either end.
void tb_gallery_wall(tbPen* pen)
{
  int courses = tb_pen_count(pen, "courses"), bricks = tb_pen_count(pen, "bricks"), made = 0;
  start(pen, "brick", 1800, 0.01, 2);
  for (int course = 0; course < courses; course++) {
    int odd = course % 2;
    for (int i = 0; i < bricks + odd; i++) {
      double from = fmax(i - 0.5 * odd, 0) * side, to = fmin(i + 1 - 0.5 * odd, bricks) * side;
      tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "brick/%d", made++),
                                    .shape = tb_pen_box(to - from, height, height),
                                    .material = "brick",
                                    .position = tb_vec3((from + to) / 2, 0, (course + 0.5) * height)});
    }
  }
}

// Planks of 15 : 3 : 1, lying flat.
void tb_gallery_kaplas(tbPen* pen)
{
  const double thick = 1.0 / 128, width = 3 * thick, length = 15 * thick, aside = (length - width) / 2;
  int levels = tb_pen_count(pen, "levels");
  start(pen, "pine", 600, 0.01, 2);
  for (int i = 0; i < 2 * levels; i++) {
    int level = i / 2;
    double at = i % 2 ? aside : -aside;
    bool across = level % 2;
    tb_pen_body(
        pen,
        &(tbPenBody){.name = tb_pen_name(pen, "plank/%d", i),
                     .shape = across ? tb_pen_box(width, length, thick) : tb_pen_box(length, width, thick),
                     .material = "pine",
                     .position = tb_vec3(across ? at : 0, across ? 0 : at, (level + 0.5) * thick)});
  }
}
