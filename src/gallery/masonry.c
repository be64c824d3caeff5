// SPDX-License-Identifier: Apache-2.0
// Structures that lean on each other: an arch, a house of cards, a row of dominoes.
#include "gallery/gallery.h"

static double radians(double degrees) { return degrees * (TB_PI / 180); }

// Rounded to a grid, so that differences of such numbers are exact.
static double on_grid(double x, int bits) { return ldexp(floor(ldexp(x, bits) + 0.5), -bits); }

// A prism over a quadrangle in the xz plane. Its corners in the world are multiples of 2⁻⁴⁰ m and the middle
// of its frame is one of 2⁻¹⁰ m: corners it shares with a neighbour are the same to the last bit.
static void add_prism(tbPen* pen, const char* name, bool fixed, const double (*corner)[2], double depth)
{
  double x = 0, z = 0;
  for (int i = 0; i < 4; i++) x += corner[i][0] / 4, z += corner[i][1] / 4;
  x = on_grid(x, 10), z = on_grid(z, 10);
  tbVec3 vertex[8];
  for (int i = 0; i < 8; i++) {
    const double* at = corner[i % 4];
    vertex[i] = tb_vec3(on_grid(at[0], 40) - x, i < 4 ? -depth / 2 : depth / 2, on_grid(at[1], 40) - z);
  }
  tb_pen_body(pen, &(tbPenBody){.name = name,
                                .shape = tb_pen_convex(vertex, 8),
                                .material = "stone",
                                .position = tb_vec3(x, 0, z),
                                .fixed = fixed});
}

// The inner and the outer end of joint i of n, counted from the right springing.
static void joint_ends(double embrace, int i, int n, double inner, double outer, double end[2][2])
{
  double s, c;
  tb_sin_cos(TB_PI / 2 - embrace / 2 + embrace * i / n, &s, &c);
  if (2 * i == n) c = 0; // the crown; left and right are mirror images
  end[0][0] = inner * c, end[0][1] = inner * s;
  end[1][0] = outer * c, end[1][1] = outer * s;
}

// Mean radius 2 m. A half-circle stands with a thickness of 0.1075 of it and more (Milankovitch 1907; Heyman
// 1969 has 0.106), when no stone can slide. The abutments reach down to the ground.
void tb_gallery_arch(tbPen* pen)
{
  const double radius = 2, depth = 0.5, rest = 0.25;
  int n = tb_pen_count(pen, "stones");
  double thick = radius * tb_pen_value(pen, "thickness"), embrace = radians(tb_pen_value(pen, "embrace_deg"));
  double inner = radius - thick / 2, outer = radius + thick / 2, a[2][2], b[2][2];
  tb_pen_start(pen, 0.01, 2);
  tb_pen_material(pen, &(tbPenMaterial){"stone", 2400, tb_pen_value(pen, "friction"), 0, 0});
  joint_ends(embrace, 0, n, inner, outer, a);
  double ground = on_grid(a[0][1] - rest, 10);
  tb_pen_body(pen, &(tbPenBody){.name = "ground",
                                .shape = {.type = "plane"},
                                .material = "stone",
                                .position = tb_vec3(0, 0, ground),
                                .fixed = true});
  for (int side = 0; side < 2; side++) {
    joint_ends(embrace, side ? n : 0, n, inner, outer, a);
    const double corner[4][2] = {
        {a[0][0], ground}, {a[1][0], ground}, {a[1][0], a[1][1]}, {a[0][0], a[0][1]}};
    add_prism(pen, side ? "abutment/1" : "abutment/0", true, corner, depth);
  }
  for (int i = 0; i < n; i++) {
    joint_ends(embrace, i, n, inner, outer, a);
    joint_ends(embrace, i + 1, n, inner, outer, b);
    const double corner[4][2] = {
        {a[0][0], a[0][1]}, {a[1][0], a[1][1]}, {b[1][0], b[1][1]}, {b[0][0], b[0][1]}};
    add_prism(pen, tb_pen_name(pen, "stone/%d", i), false, corner, depth);
  }
}

// A card leaning by `lean` towards +x (side −1) or −x (side 1) stands on its inner lower edge at `foot`, and
// meets its partner with its inner upper edge, a length · sin(lean) further in. What lies on top rests on its
// outer upper edge, higher by thickness · sin(lean).
void tb_gallery_cards(tbPen* pen)
{
  const double length = 0.09, width = 0.06;
  int levels = tb_pen_count(pen, "levels"), made = 0;
  double thick = tb_pen_value(pen, "thickness"), lean = radians(tb_pen_value(pen, "lean_deg")), s, c;
  tb_sin_cos(lean, &s, &c);
  double rise = length * c + thick * s, inset = 3 * thick, pitch = 2 * (length * s + inset);
  tb_pen_start(pen, 0.005, 2);
  tb_pen_material(pen, &(tbPenMaterial){"card", 800, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "card");
  for (int level = 0; level < levels; level++) {
    int pairs = levels - level;
    double z = level * (rise + thick);
    for (int i = 0; i < 2 * pairs; i++) {
      double outward = i % 2 ? 1 : -1, tip = pitch * (i / 2 + 0.5 * level);
      // The middle, from the foot: half the length up the card, half the thickness out of it.
      double foot = tip + outward * length * s, in = length / 2 * s - thick / 2 * c,
             up = length / 2 * c + thick / 2 * s;
      tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "card/%d", made++),
                                    .shape = tb_pen_box(thick, width, length),
                                    .material = "card",
                                    .position = tb_vec3(foot - outward * in, 0, z + up),
                                    .orientation = tb_pen_about_y(-outward * lean)});
    }
    for (int i = 0; i + 1 < pairs; i++)
      tb_pen_body(
          pen, &(tbPenBody){.name = tb_pen_name(pen, "card/%d", made++),
                            .shape = tb_pen_box(pitch - thick, width, thick),
                            .material = "card",
                            .position = tb_vec3(pitch * (i + 0.5 + 0.5 * level), 0, z + rise + thick / 2)});
  }
}

// The heading swings once to either side along the row. The first domino turns about its lower front edge.
void tb_gallery_dominoes(tbPen* pen)
{
  const double thick = 0.0075, width = 0.024, height = 0.048;
  int n = tb_pen_count(pen, "count");
  double spacing = height * tb_pen_value(pen, "spacing"), turn = radians(tb_pen_value(pen, "turn_deg"));
  double spin = 2 * tb_pen_value(pen, "push") / height, x = 0, y = 0, swing, unused, s, c;
  tb_pen_start(pen, 0.005, 3);
  tb_pen_material(pen, &(tbPenMaterial){"tile", 1200, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "tile");
  for (int i = 0; i < n; i++) {
    tb_sin_cos(2 * TB_PI * i / n, &swing, &unused);
    double heading = turn * swing;
    tb_sin_cos(heading, &s, &c);
    tbVec3 axis = i ? tb_zero3() : tb_vec3(-s * spin, c * spin, 0);
    tbVec3 arm = tb_vec3(-c * thick / 2, -s * thick / 2, height / 2); // from that edge to the middle
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "domino/%d", i),
                                  .shape = tb_pen_box(thick, width, height),
                                  .material = "tile",
                                  .position = tb_vec3(x, y, height / 2),
                                  .orientation = tb_pen_about_z(heading),
                                  .velocity = tb_cross3(axis, arm),
                                  .angular_velocity = axis});
    x += spacing * c, y += spacing * s;
  }
}
