// SPDX-License-Identifier: Apache-2.0
// Soft bodies: one that bends, one that is pressed, one that slides, and heaps of them.
#include "gallery/gallery.h"

#include "base/random.h"

// Everything is of one rubber.
static void start(tbPen* pen, double dt, double time) { tb_pen_start(pen, dt, time); }

static void add_rubber(tbPen* pen, double friction)
{
  tb_pen_material(pen, &(tbPenMaterial){"rubber", 1000, friction, 0, 0});
}

void tb_gallery_cantilever(tbPen* pen)
{
  const double thick = 0.1, hair = 1e-3;
  double length = tb_pen_value(pen, "length");
  int cells = tb_pen_count(pen, "cells");
  start(pen, 0.01, 2);
  add_rubber(pen, 0.5);
  tb_pen_soft(pen,
              &(tbPenSoft){.name = "bar",
                           .mesh = tb_pen_soft_box(tb_vec3(length, thick, thick), 4 * cells, cells, cells),
                           .material = "rubber",
                           .young = tb_pen_value(pen, "young"),
                           .damping = 0.01,
                           .position = tb_vec3(length / 2, 0, 1),
                           .pins = &(tbPenPin){.low = tb_vec3(-hair, -thick, 1 - thick),
                                               .high = tb_vec3(hair, thick, 1 + thick)},
                           .pin_count = 1});
}

void tb_gallery_springboard(tbPen* pen)
{
  const double length = 1.2, wide = 0.3, thick = 0.04, hair = 1e-3, radius = 0.08, high = 0.6;
  start(pen, 0.004, 3);
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_ground(pen, "rubber");
  for (int i = 0; i < tb_pen_count(pen, "balls"); i++)
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "ball/%d", i),
                                  .shape = tb_pen_sphere(radius),
                                  .material = "rubber",
                                  .mass = tb_pen_value(pen, "mass"),
                                  .position = tb_vec3(0.9 - 0.2 * (i % 3), 0, high + 0.3 + 0.25 * i)});
  tb_pen_reduced(pen, &(tbPenSoft){.name = "board",
                                   .mesh = tb_pen_soft_box(tb_vec3(length, wide, thick), 24, 6, 2),
                                   .material = "rubber",
                                   .modes = tb_pen_count(pen, "modes"),
                                   .basis = "modal-derivatives",
                                   .young = tb_pen_value(pen, "young"),
                                   .damping = 0.002,
                                   .position = tb_vec3(length / 2, 0, high),
                                   .pins = &(tbPenPin){.low = tb_vec3(-hair, -wide, high - thick),
                                                       .high = tb_vec3(hair, wide, high + thick)},
                                   .pin_count = 1});
}

void tb_gallery_press(tbPen* pen)
{
  const double radius = 0.1, plate = 0.02, gap = 0.002, speed = 0.2;
  int cells = tb_pen_count(pen, "cells");
  tbPenShape shape = tb_pen_box(2.2 * radius, 2.2 * radius, plate); // it comes out at the sides
  double deep = 2 * radius * (1 - tb_pen_value(pen, "share"));
  start(pen, 0.01, (deep + 2 * gap) / speed);
  tb_pen_scheme(pen, "ipc", "friction_iterations", 1);
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_body(pen, &(tbPenBody){.name = "lower plate",
                                .shape = shape,
                                .material = "rubber",
                                .position = tb_vec3(0, 0, -plate / 2 - gap),
                                .fixed = true});
  tb_pen_body(pen, &(tbPenBody){.name = "upper plate",
                                .shape = shape,
                                .material = "rubber",
                                .position = tb_vec3(0, 0, 2 * radius + gap + plate / 2),
                                .velocity = tb_vec3(0, 0, -speed),
                                .kinematic = true});
  tb_pen_soft(pen, &(tbPenSoft){.name = "ball",
                                .mesh = tb_pen_soft_sphere(radius, cells),
                                .material = "rubber",
                                .model = "neo-hookean",
                                .young = tb_pen_value(pen, "young"),
                                .poisson = 0.4,
                                .position = tb_vec3(0, 0, radius)});
}

void tb_gallery_jelly(tbPen* pen)
{
  const double edge = 0.2, plate = 0.02, gap = 0.003;
  int cells = tb_pen_count(pen, "cells");
  tbPenShape shape = tb_pen_box(2 * edge, 2 * edge, plate);
  start(pen, 0.005, 0.8);
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_body(pen, &(tbPenBody){.name = "lower plate",
                                .shape = shape,
                                .material = "rubber",
                                .position = tb_vec3(0, 0, -plate / 2),
                                .fixed = true});
  tb_pen_body(pen, &(tbPenBody){.name = "upper plate",
                                .shape = shape,
                                .material = "rubber",
                                .position = tb_vec3(0, 0, edge + 2 * gap + plate / 2),
                                .velocity = tb_vec3(0, 0, -tb_pen_value(pen, "speed")),
                                .kinematic = true});
  tb_pen_soft(pen, &(tbPenSoft){.name = "jelly",
                                .mesh = tb_pen_soft_box(tb_vec3(edge, edge, edge), cells, cells, cells),
                                .material = "rubber",
                                .model = "neo-hookean",
                                .young = tb_pen_value(pen, "young"),
                                .poisson = tb_pen_value(pen, "poisson"),
                                .damping = 0.005,
                                .position = tb_vec3(0, 0, gap + edge / 2)});
}

void tb_gallery_soft_incline(tbPen* pen)
{
  const tbVec3 size = {0.3, 0.3, 0.15};
  tbQuat q = tb_pen_about_y(tb_pen_value(pen, "slope_deg") * (TB_PI / 180));
  start(pen, 0.005, 1);
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_body(
      pen,
      &(tbPenBody){
          .name = "ramp", .shape = {.type = "plane"}, .material = "rubber", .orientation = q, .fixed = true});
  tb_pen_soft(pen, &(tbPenSoft){.name = "block",
                                .mesh = tb_pen_soft_box(size, 6, 6, 3),
                                .material = "rubber",
                                .young = tb_pen_value(pen, "young"),
                                .damping = 0.01,
                                .position = tb_quat_rotate(q, tb_vec3(0, 0, size.z / 2 + 0.002)),
                                .orientation = q});
}

// Bricks stand in the plane y = 0 with a little room around each.
void tb_gallery_soft_pyramid(tbPen* pen)
{
  const tbVec3 size = {0.2, 0.12, 0.08};
  const double room = 0.004, plate = 0.02;
  int rows = tb_pen_count(pen, "rows");
  start(pen, 0.005, 1);
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_ground(pen, "rubber");
  tb_pen_body(pen, &(tbPenBody){.name = "plate",
                                .shape = tb_pen_box(0.4, 0.4, plate),
                                .material = "rubber",
                                .position = tb_vec3(0, 0, rows * (size.z + room) + room + plate / 2),
                                .velocity = tb_vec3(0, 0, -tb_pen_value(pen, "speed")),
                                .angular_velocity = tb_vec3(0, 0, tb_pen_value(pen, "spin")),
                                .kinematic = true});
  for (int row = 0, brick = 0; row < rows; row++)
    for (int i = 0; i < rows - row; i++)
      tb_pen_soft(pen, &(tbPenSoft){.name = tb_pen_name(pen, "brick/%d", brick++),
                                    .mesh = tb_pen_soft_box(size, 4, 2, 2),
                                    .material = "rubber",
                                    .young = tb_pen_value(pen, "young"),
                                    .damping = 0.005,
                                    .position = tb_vec3((i - 0.5 * (rows - row - 1)) * (size.x + room), 0,
                                                        room + size.z / 2 + row * (size.z + room))});
}

void tb_gallery_soft_pile(tbPen* pen)
{
  enum { ACROSS = 3 };
  const double edge = 0.1, cell = 0.14, jitter = 0.01;
  int layers = tb_pen_count(pen, "layers"), cells = tb_pen_count(pen, "cells");
  double half = ACROSS * cell / 2;
  start(pen, 0.01, 1);
  tb_put_number(&pen->json, "seed", tb_pen_value(pen, "seed"));
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_bin(pen, "rubber", half, 2 * half);
  tb_pen_soft(pen, &(tbPenSoft){.name = "cube",
                                .mesh = tb_pen_soft_box(tb_vec3(edge, edge, edge), cells, cells, cells),
                                .material = "rubber",
                                .young = tb_pen_value(pen, "young"),
                                .damping = 0.005,
                                .position = tb_vec3(cell / 2 - half, cell / 2 - half, cell / 2),
                                .count = {ACROSS, ACROSS, layers},
                                .spacing = tb_vec3(cell, cell, cell),
                                .jitter = jitter});
}

// Four to a layer, balls and rings in turn, each turned about an axis of its own.
void tb_gallery_bunnies(tbPen* pen)
{
  const double cell = 0.24, jitter = 0.01;
  const tbPenMesh ball = tb_pen_soft_sphere(0.08, 4), ring = tb_pen_soft_torus(0.07, 0.03, 2, 14);
  int count = 4 * tb_pen_count(pen, "layers");
  uint64_t random = (uint64_t)tb_pen_value(pen, "seed");
  start(pen, 0.005, 1);
  tb_put_number(&pen->json, "seed", tb_pen_value(pen, "seed"));
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_bin(pen, "rubber", cell, 2 * cell);
  for (int i = 0; i < count; i++) {
    double at[3] = {i % 2 - 0.5, i / 2 % 2 - 0.5, i / 4 + 0.5}, turn[3];
    for (int k = 0; k < 3; k++) {
      at[k] = at[k] * cell + tb_random_uniform(&random, -jitter, jitter);
      turn[k] = tb_random_uniform(&random, -1, 1);
    }
    tb_pen_soft(pen, &(tbPenSoft){.name = tb_pen_name(pen, "lump/%d", i),
                                  .mesh = (i + i / 2 + i / 4) % 2 ? ring : ball,
                                  .material = "rubber",
                                  .young = tb_pen_value(pen, "young"),
                                  .poisson = 0.4,
                                  .damping = 0.005,
                                  .position = tb_load3(at),
                                  .orientation = tb_quat_exp(tb_load3(turn))});
  }
}

// Every other ring is let go aside, and meets the peg's rim before it drops over it.
void tb_gallery_rings(tbPen* pen)
{
  const double ring = 0.12, tube = 0.03, peg = 0.04, high = 0.4, step = 0.1;
  int rings = tb_pen_count(pen, "rings");
  start(pen, 0.005, 1);
  add_rubber(pen, tb_pen_value(pen, "friction"));
  tb_pen_ground(pen, "rubber");
  tb_pen_body(pen, &(tbPenBody){.name = "peg",
                                .shape = tb_pen_cylinder(peg, high),
                                .material = "rubber",
                                .position = tb_vec3(0, 0, high / 2),
                                .fixed = true});
  for (int i = 0; i < rings; i++)
    tb_pen_soft(pen, &(tbPenSoft){.name = tb_pen_name(pen, "ring/%d", i),
                                  .mesh = tb_pen_soft_torus(ring, tube, 2, 16),
                                  .material = "rubber",
                                  .young = tb_pen_value(pen, "young"),
                                  .damping = 0.005,
                                  .position = tb_vec3(i % 2 ? tb_pen_value(pen, "aside") : 0, 0,
                                                      high + 2 * tube + i * step)});
}
