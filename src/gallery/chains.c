// SPDX-License-Identifier: Apache-2.0
// What hangs: a cradle, chains, a rope over a drum.
#include "gallery/gallery.h"

// A capsule whose frame lies in its middle.
static void add_rod(tbPen* pen, const char* name, const char* material, double radius, tbVec3 from, tbVec3 to)
{
  tbPenShape rod = tb_pen_rod(radius, from, to);
  tb_pen_body(pen, &(tbPenBody){.name = name,
                                .shape = tb_pen_capsule(rod.radius, rod.length),
                                .material = material,
                                .position = rod.position,
                                .orientation = rod.orientation});
}

// Two strings to a ball keep it in the plane y = 0.
void tb_gallery_cradle(tbPen* pen)
{
  const double radius = 0.0625, drop = 0.75, aside = 0.25;
  int n = tb_pen_count(pen, "balls"), raised = tb_pen_count(pen, "raised");
  double s, c;
  tb_sin_cos(tb_pen_value(pen, "angle_deg") * (TB_PI / 180), &s, &c);
  tb_pen_start(pen, 0.005, 4);
  tb_pen_material(pen, &(tbPenMaterial){"steel", 7800, 0, tb_pen_value(pen, "restitution"), 0});
  for (int i = 0; i < n; i++) {
    double x = 2 * radius * i;
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "ball/%d", i),
                                  .shape = tb_pen_sphere(radius),
                                  .material = "steel",
                                  .position = i < raised ? tb_vec3(x - drop * s, 0, drop - drop * c)
                                                         : tb_vec3(x, 0, 0)});
  }
  for (int i = 0; i < 2 * n; i++)
    tb_pen_joint(pen, &(tbPenJoint){.type = "distance",
                                    .b = tb_pen_name(pen, "ball/%d", i / 2),
                                    .anchor = tb_vec3(2 * radius * (i / 2), i % 2 ? aside : -aside, drop)});
}

static const double link_density = 1000;

static void add_link_material(tbPen* pen)
{
  tb_pen_material(pen, &(tbPenMaterial){"link", link_density, 0.3, 0, 0});
}

// A chain of rods that leaves the hook along x, a ball so many times as heavy as a rod at its end.
static void add_chain(tbPen* pen, tbVec3 hook, double ball_radius)
{
  const double radius = 0.02, length = 0.1;
  int n = tb_pen_count(pen, "links");
  double rod = link_density * TB_PI * radius * radius * (length + radius * 4 / 3);
  char before[64] = "world";
  for (int i = 0; i < n; i++)
    add_rod(pen, tb_pen_name(pen, "link/%d", i), "link", radius, tb_madd3(hook, i * length, tb_vec3(1, 0, 0)),
            tb_madd3(hook, (i + 1) * length, tb_vec3(1, 0, 0)));
  tb_pen_body(pen, &(tbPenBody){.name = "ball",
                                .shape = tb_pen_sphere(ball_radius),
                                .material = "link",
                                .mass = rod * tb_pen_value(pen, "mass_ratio"),
                                .position = tb_madd3(hook, n * length + ball_radius, tb_vec3(1, 0, 0))});
  for (int i = 0; i <= n; i++) {
    const char* after = i < n ? tb_pen_name(pen, "link/%d", i) : "ball";
    tb_pen_joint(
        pen,
        &(tbPenJoint){
            .type = "ball", .a = before, .b = after, .anchor = tb_madd3(hook, i * length, tb_vec3(1, 0, 0))});
    snprintf(before, sizeof before, "%s", after);
  }
}

// The heavier the ball, the tighter the chain and the faster its links swing across it: dt must follow. With
// a pull T, links of mass m and length l swing at about √(12 T/(m l)), and h times that must stay below 2.
void tb_gallery_chain(tbPen* pen)
{
  tb_pen_start(pen, 0.002, 3);
  add_link_material(pen);
  add_chain(pen, tb_zero3(), 0.06);
}

// What small steps are for: ratios of masses that one step of as much work would stretch the chain by.
void tb_gallery_wrecking_ball(tbPen* pen)
{
  const double side = 0.2, radius = 0.1, gap = 0.02, length = 0.1, above = 0.5;
  double high = tb_pen_count(pen, "links") * length + radius + above;
  int made = 0;
  tb_pen_start(pen, 1.0 / 60, 3);
  tb_pen_scheme(pen, "xpbd", "substeps", tb_pen_count(pen, "substeps"));
  tb_pen_material(pen, &(tbPenMaterial){"brick", 300, tb_pen_value(pen, "friction"), 0, 0});
  add_link_material(pen);
  tb_pen_ground(pen, "brick");
  for (int course = 0; course < 5; course++)
    for (int i = 0; i < 5 - course % 2; i++)
      tb_pen_body(
          pen, &(tbPenBody){.name = tb_pen_name(pen, "box/%d", made++),
                            .shape = tb_pen_box(side, side, side),
                            .material = "brick",
                            .position = tb_vec3(-(radius + gap + side / 2),
                                                (i - 2 + 0.5 * (course % 2)) * side, (course + 0.5) * side)});
  add_chain(pen, tb_vec3(0, 0, high), radius);
}

// A link is a rectangle of four capsules, upright; every other one is turned by a quarter about the vertical.
// Its upper bar lies on the lower bar of the link above.
void tb_gallery_chain_links(tbPen* pen)
{
  const double wire = 0.01, tall = 0.06, wide = 0.026; // half sizes, between axes of the wire
  const tbVec3 corner[4] = {{-wide, 0, -tall}, {wide, 0, -tall}, {wide, 0, tall}, {-wide, 0, tall}};
  int n = tb_pen_count(pen, "links");
  tbPenShape part[4];
  for (int i = 0; i < 4; i++) part[i] = tb_pen_rod(wire, corner[i], corner[(i + 1) % 4]);
  tb_pen_start(pen, 0.005, 2);
  tb_pen_material(pen, &(tbPenMaterial){"steel", 7800, tb_pen_value(pen, "friction"), 0, 0});
  for (int i = 0; i <= n; i++)
    tb_pen_body(pen, &(tbPenBody){.name = tb_pen_name(pen, "link/%d", i),
                                  .shapes = part,
                                  .shape_count = 4,
                                  .material = "steel",
                                  .density = i == n ? 7800 * tb_pen_value(pen, "mass_ratio") : 0,
                                  .position = tb_vec3(0, 0, -2 * i * (tall - wire)),
                                  .orientation = tb_pen_about_z(i % 2 ? TB_PI / 2 : 0),
                                  .velocity = tb_vec3(i == n ? tb_pen_value(pen, "push") : 0, 0, 0),
                                  .fixed = i == 0});
}

// Joint k of the rope: 0 … n lie on the half-circle above the drum's middle, −1 and n + 1 hang straight down.
static tbVec3 rope_joint(int k, int n, double radius, double hanging)
{
  double s, c;
  if (k < 0) return tb_vec3(radius, 0, -hanging);
  if (k > n) return tb_vec3(-radius, 0, -hanging);
  tb_sin_cos(TB_PI * k / n, &s, &c);
  return tb_vec3(radius * c, 0, radius * s);
}

// Euler and Eytelwein: the rope holds while the weights are within a ratio of e^(μ·angle), here a half turn.
// The links of the rope are chords that touch the drum in their middle: a link can slide, but not roll. They
// swing across the rope the faster the shorter they are, like n² (see the chain above), and dt follows.
void tb_gallery_capstan(tbPen* pen)
{
  const double drum = 0.1, weight = 0.1, ball = 0.025, hanging = 0.1;
  int n = tb_pen_count(pen, "links");
  double s, c;
  tb_sin_cos(TB_PI / (2 * n), &s, &c);
  double wire = 0.4 * drum * s, radius = (drum + wire) / c;
  char before[64] = "light", after[64];
  tb_pen_start(pen, 0.001 * fmin(1, 24.0 / n * 24 / n), 1);
  tb_pen_material(pen, &(tbPenMaterial){"rope", 4000, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_body(pen, &(tbPenBody){.name = "drum",
                                .shape = tb_pen_cylinder(drum, drum),
                                .material = "rope",
                                .orientation = tb_pen_about_x(TB_PI / 2),
                                .fixed = true});
  for (int i = 0; i < n + 2; i++)
    add_rod(pen, tb_pen_name(pen, "link/%d", i), "rope", wire, rope_joint(i - 1, n, radius, hanging),
            rope_joint(i, n, radius, hanging));
  for (int i = 0; i < 2; i++)
    tb_pen_body(pen, &(tbPenBody){.name = i ? "heavy" : "light",
                                  .shape = tb_pen_sphere(ball),
                                  .material = "rope",
                                  .mass = i ? weight * tb_pen_value(pen, "ratio") : weight,
                                  .position = tb_vec3(i ? -radius : radius, 0, -hanging - ball)});
  for (int i = 0; i <= n + 2; i++) {
    snprintf(after, sizeof after, "%s", i < n + 2 ? tb_pen_name(pen, "link/%d", i) : "heavy");
    tb_pen_joint(
        pen, &(tbPenJoint){
                 .type = "ball", .a = before, .b = after, .anchor = rope_joint(i - 1, n, radius, hanging)});
    snprintf(before, sizeof before, "%s", after);
  }
}
