// SPDX-License-Identifier: Apache-2.0
// Many bodies dropped into a bin.
#include "gallery/gallery.h"

#include "base/random.h"

static void start(tbPen* pen, const char* material, double density, double dt, double time)
{
  tb_pen_start(pen, dt, time);
  tb_put_number(&pen->json, "seed", tb_pen_value(pen, "seed"));
  tb_pen_material(pen, &(tbPenMaterial){material, density, tb_pen_value(pen, "friction"), 0, 0});
}

// Layers of five kinds take turns; each kind is one body with a grid of copies.
void tb_gallery_pile(tbPen* pen)
{
  enum { KINDS = 5 };
  const double cell = 0.125, jitter = 0.01;
  const tbPenShape kind[KINDS] = {tb_pen_sphere(0.05), tb_pen_box(0.08, 0.08, 0.08), tb_pen_sphere(0.035),
                                  tb_pen_box(0.1, 0.06, 0.05), tb_pen_sphere(0.045)};
  int side = tb_pen_count(pen, "side");
  double half = cell * side / 2;
  start(pen, "stone", 2000, 0.01, side > 12 ? 0.5 : 1);
  tb_pen_bin(pen, "stone", half, 2 * half);
  for (int k = 0; k < KINDS && k < side; k++)
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "kind %d", k),
                                  .shape = kind[k],
                                  .material = "stone",
                                  .position = tb_vec3(cell / 2 - half, cell / 2 - half, cell * (k + 0.5)),
                                  .count = {side, side, (side - k + KINDS - 1) / KINDS},
                                  .spacing = tb_vec3(cell, cell, KINDS * cell),
                                  .jitter = jitter});
}

static tbQuat random_turn(uint64_t* random)
{
  tbQuat q;
  double square;
  do { // uniform on the sphere: from inside the ball
    double v[4];
    for (int i = 0; i < 4; i++) v[i] = tb_random_uniform(random, -1, 1);
    q = tb_quat(v[0], v[1], v[2], v[3]);
    square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  } while (square > 1 || square < 0.01);
  return tb_quat_normalize(q);
}

// Body i of a heap, across × across to a layer, in cells of an edge `cell`, at random poses.
static void add_at_random(tbPen* pen, tbPenBody body, const char* name, int i, int across, double cell,
                          double jitter, uint64_t* random)
{
  double at[3] = {i % across - 0.5 * (across - 1), i / across % across - 0.5 * (across - 1),
                  i / (across * across) + 0.5};
  for (int k = 0; k < 3; k++) at[k] = at[k] * cell + tb_random_uniform(random, -jitter, jitter);
  body.name = tb_pen_name(pen, name, i);
  body.position = tb_load3(at);
  body.orientation = random_turn(random);
  tb_pen_body(pen, &body);
}

// Boxes at random poses, moved by soft-step: real time for a thousand, the judge looking in once a second.
void tb_gallery_heap(tbPen* pen)
{
  const double edge = 0.1, cell = 1.75 * edge;
  int side = tb_pen_count(pen, "side");
  double half = cell * side / 2;
  uint64_t random = (uint64_t)tb_pen_value(pen, "seed");
  tb_pen_start(pen, 1.0 / 60, 4);
  tb_pen_scheme(pen, "soft-step", "certify", 60);
  tb_put_number(&pen->json, "seed", tb_pen_value(pen, "seed"));
  tb_pen_material(pen, &(tbPenMaterial){"wood", 700, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_bin(pen, "wood", half, 2 * half + 4 * edge);
  for (int i = 0; i < side * side * side; i++)
    add_at_random(pen, (tbPenBody){.shape = tb_pen_box(edge, edge, edge), .material = "wood"}, "box %d", i,
                  side, cell, 0, &random);
}

enum { POINTS = 12 };

// Points on a ball: a hull without two parallel faces.
static void random_points(tbVec3 point[POINTS], double radius, uint64_t* random)
{
  for (int i = 0; i < POINTS; i++)
    point[i] = tb_scale3(radius, tb_quat_rotate(random_turn(random), tb_vec3(0, 0, 1)));
}

void tb_gallery_junkyard(tbPen* pen)
{
  enum { ACROSS = 4 };
  const double cell = 0.3, jitter = 0.01;
  const tbPenShape cross[3] = {tb_pen_box(0.22, 0.05, 0.05), tb_pen_box(0.05, 0.22, 0.05),
                               tb_pen_box(0.05, 0.05, 0.22)};
  int count = ACROSS * ACROSS * tb_pen_count(pen, "layers");
  uint64_t random = (uint64_t)tb_pen_value(pen, "seed");
  tbVec3 point[POINTS];
  start(pen, "scrap", 1500, 0.005, 1.5);
  tb_pen_bin(pen, "scrap", ACROSS * cell / 2, count * cell / (ACROSS * ACROSS) + cell);
  for (int i = 0; i < count; i++) {
    tbPenBody body = {.material = "scrap"};
    int kind = tb_random_below(&random, 6);
    switch (kind) {
    case 0: body.shape = tb_pen_sphere(0.09); break;
    case 1: body.shape = tb_pen_box(0.18, 0.12, 0.08); break;
    case 2: body.shape = tb_pen_capsule(0.05, 0.14); break;
    case 3: body.shape = tb_pen_cylinder(0.08, 0.14); break;
    case 4:
      random_points(point, 0.11, &random);
      body.shape = tb_pen_convex(point, POINTS);
      break;
    default: body.shapes = cross, body.shape_count = 3; break;
    }
    add_at_random(pen, body, "junk/%d", i, ACROSS, cell, jitter, &random);
  }
}

static tbPenShape ring(tbPen* pen, double radius, double wire)
{
  enum { CORNERS = 8, SECTORS = 16 };
  double profile[CORNERS][2], s, c;
  for (int i = 0; i < CORNERS; i++) {
    tb_sin_cos(2 * TB_PI * i / CORNERS, &s, &c);
    profile[i][0] = radius + wire * c, profile[i][1] = wire * s;
  }
  return tb_pen_turned(pen, "ring.obj", (const double(*)[2])profile, CORNERS, SECTORS);
}

void tb_gallery_jam(tbPen* pen)
{
  enum { ACROSS = 2 };
  const double cell = 0.25, jitter = 0.01;
  int count = ACROSS * ACROSS * tb_pen_count(pen, "layers"), teeth = tb_pen_count(pen, "teeth");
  uint64_t random = (uint64_t)tb_pen_value(pen, "seed");
  char name[64];
  snprintf(name, sizeof name, "gear-%d.obj", teeth);
  start(pen, "iron", 7000, 0.005, 1);
  tbPenShape gear = tb_pen_gear(pen, name, teeth, 0.07, 0.11, 0.05), torus = ring(pen, 0.08, 0.025);
  tb_pen_bin(pen, "iron", ACROSS * cell / 2, count * cell / (ACROSS * ACROSS) + cell);
  for (int i = 0; i < count; i++)
    add_at_random(pen,
                  (tbPenBody){.shape = (i + i / (ACROSS * ACROSS)) % 2 ? torus : gear, .material = "iron"},
                  "part/%d", i, ACROSS, cell, jitter, &random);
}

void tb_gallery_funnel(tbPen* pen)
{
  const double profile[6][2] = {{0.15, 0.5}, {0.2, 0.5}, {0.2, 0.63}, {0.65, 1.1}, {0.6, 1.1}, {0.15, 0.65}};
  const double radius = 0.03, cell = 0.07;
  char name[64];
  int sectors = tb_pen_count(pen, "sectors");
  snprintf(name, sizeof name, "funnel-%d.obj", sectors);
  tb_pen_start(pen, 0.005, 2.5);
  tb_pen_material(pen, &(tbPenMaterial){"glass", 2500, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_bin(pen, "glass", 0.8, 0.4);
  tb_pen_body(pen, &(tbPenBody){.name = "funnel",
                                .shape = tb_pen_turned(pen, name, profile, 6, sectors),
                                .material = "glass",
                                .fixed = true});
  tb_pen_body(pen, &(tbPenBody){.name = "ball",
                                .shape = tb_pen_sphere(radius),
                                .material = "glass",
                                .position = tb_vec3(-2 * cell, -2 * cell, 1.1),
                                .count = {5, 5, tb_pen_count(pen, "layers")},
                                .spacing = tb_vec3(cell, cell, cell),
                                .jitter = 0.004});
}
