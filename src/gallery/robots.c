// SPDX-License-Identifier: Apache-2.0
// Robots: joints with servos that follow keys.
#include "gallery/gallery.h"

#include <math.h>

enum { MOST_KEYS = 24 };

// A number in the making, key by key.
typedef struct {
  double key[MOST_KEYS][2];
  int count;
} Way;

static void go(Way* w, double t, double target)
{
  if (w->count == MOST_KEYS) return;
  w->key[w->count][0] = t, w->key[w->count++][1] = target;
}

static tbPenJoint servo(const char* name, const char* type, const char* a, const char* b, const Way* w)
{
  return (tbPenJoint){.name = name, .type = type, .a = a, .b = b, .keys = w->key, .key_count = w->count};
}

// Two fingers beside the middle of a hand, `room` apart, that close along y; `grip`: each one's force on a
// box of that width. They hang by `down` from the hand.
typedef struct {
  double room, width, grip, down;
} Fingers;

static const double FINGER = 0.02, SOFT = 4000; // m: thickness; N/m: stiffness

static void put_fingers(tbPen* pen, tbVec3 hand, const Fingers* f)
{
  for (int side = -1; side <= 1; side += 2)
    tb_pen_body(pen, &(tbPenBody){.name = side < 0 ? "left finger" : "right finger",
                                  .shape = tb_pen_box(0.04, FINGER, 0.1),
                                  .material = "rubber",
                                  .mass = 0.15,
                                  .position = tb_vec3(hand.x, hand.y + side * (f->room + FINGER) / 2,
                                                      hand.z - f->down)});
}

static void join_fingers(tbPen* pen, tbVec3 hand, const Fingers* f, double close, double open)
{
  double travel = (f->room - f->width) / 2 + f->grip / SOFT;
  for (int side = -1; side <= 1; side += 2) {
    Way w = {.count = 0};
    go(&w, close, 0), go(&w, close + 0.5, travel);
    if (open > close) go(&w, open, travel), go(&w, open + 0.5, 0);
    tbPenJoint j =
        servo(side < 0 ? "left" : "right", "slider", "hand", side < 0 ? "left finger" : "right finger", &w);
    j.anchor = tb_vec3(hand.x, hand.y, hand.z), j.axis = tb_vec3(0, -side, 0);
    j.stiffness = SOFT, j.damping = 120;
    tb_pen_joint(pen, &j);
  }
}

static void start(tbPen* pen, double time)
{
  tb_pen_start(pen, 0.005, time);
  tb_pen_material(pen, &(tbPenMaterial){"rubber", 1000, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_material(pen, &(tbPenMaterial){"steel", 7800, tb_pen_value(pen, "friction"), 0, 0});
  tb_pen_ground(pen, "rubber");
}

// A box of `material` between fingers of rubber, after the materials.
static void grip(tbPen* pen, const char* material)
{
  const double box = 0.1, high = 0.25;
  Fingers fingers = {.room = 0.16, .width = box, .grip = tb_pen_value(pen, "grip"), .down = 0.16};
  tbVec3 hand = tb_vec3(0, 0, high);
  tb_pen_body(pen, &(tbPenBody){.name = "box",
                                .shape = tb_pen_box(box, box, box),
                                .material = material,
                                .mass = tb_pen_value(pen, "mass"),
                                .position = tb_vec3(0, 0, box / 2)});
  tb_pen_body(pen, &(tbPenBody){.name = "hand",
                                .shape = tb_pen_box(0.1, 0.3, 0.06),
                                .material = "steel",
                                .mass = 2,
                                .position = hand});
  put_fingers(pen, hand, &fingers);
  Way lift = {.count = 0};
  for (int i = 0; i < MOST_KEYS; i++) { // gently, lest starting asks for more than the weight
    double s = i / (MOST_KEYS - 1.0);
    go(&lift, 1.2 + 2 * s, 0.4 * s * s * (3 - 2 * s));
  }
  tbPenJoint j = servo("lift", "slider", NULL, "hand", &lift);
  j.anchor = hand, j.axis = tb_vec3(0, 0, 1), j.stiffness = 1e5, j.damping = 3000;
  tb_pen_joint(pen, &j);
  join_fingers(pen, hand, &fingers, 0.5, 0);
}

void tb_gallery_gripper(tbPen* pen)
{
  start(pen, 6);
  grip(pen, "rubber");
}

// The box has upright grooves, and so have the fingers until they are turned.
void tb_gallery_grooved_gripper(tbPen* pen)
{
  double s, c;
  tb_sin_cos(tb_pen_value(pen, "angle_deg") * TB_PI / 180, &s, &c);
  tbPenGrooves grooved = {
      .name = "grooved", .density = 1000, .mu = 0.6, .mu_t = 0.2, .mu_b = 0.8, .structure = tb_vec3(0, 0, 1)};
  tbPenGrooves rubber = grooved;
  rubber.name = "rubber", rubber.structure = tb_vec3(s, 0, c);
  tb_pen_start(pen, 0.005, 6);
  tb_pen_grooves(pen, &rubber);
  tb_pen_grooves(pen, &grooved);
  tb_pen_material(pen, &(tbPenMaterial){"steel", 7800, 0.6, 0, 0});
  tb_pen_ground(pen, "steel");
  grip(pen, "grooved");
}

// The arm's plane: angles above the horizontal of its two links, for a wrist at distance r and height z.
static const double UPPER = 0.4, FORE = 0.4, SHOULDER = 0.4;

static tbVec3 along(double angle, double length)
{
  double sine, cosine;
  tb_sin_cos(angle, &sine, &cosine);
  return tb_vec3(length * cosine, 0, length * sine);
}

typedef struct {
  double upper, fore;
} Bend;

static Bend reach(double r, double z)
{
  double up = z - SHOULDER, d = sqrt(r * r + up * up);
  Bend b = {.upper = tb_atan2(up, r) + tb_acos((UPPER * UPPER + d * d - FORE * FORE) / (2 * UPPER * d))};
  tbVec3 elbow = along(b.upper, UPPER);
  b.fore = tb_atan2(up - elbow.z, r - elbow.x);
  return b;
}

static void put_link(tbPen* pen, const char* name, tbVec3 from, double angle, double length, double mass)
{
  tb_pen_body(pen, &(tbPenBody){.name = name,
                                .shape = tb_pen_box(length, 0.08, 0.08),
                                .material = "steel",
                                .mass = mass,
                                .position = tb_add3(from, along(angle, length / 2)),
                                .orientation = tb_pen_about_y(-angle)});
}

// Where the wrist is to be when: around the pedestal, outwards, and up.
typedef struct {
  double t, turn, r, z;
} Stop;

static void join_link(tbPen* pen, const char* name, const char* a, const char* b, tbVec3 anchor, const Way* w)
{
  tbPenJoint j = servo(name, "hinge", a, b, w);
  j.anchor = anchor, j.axis = tb_vec3(0, -1, 0), j.stiffness = 3e4, j.damping = 600;
  tb_pen_joint(pen, &j);
}

static void join_arm(tbPen* pen, const Stop* stop, int stops)
{
  Bend first = reach(stop[0].r, stop[0].z);
  Way turn = {.count = 0}, shoulder = turn, elbow = turn, wrist = turn;
  for (int i = 0; i < stops; i++) {
    Bend b = reach(stop[i].r, stop[i].z);
    go(&turn, stop[i].t, stop[i].turn);
    go(&shoulder, stop[i].t, b.upper - first.upper);
    go(&elbow, stop[i].t, b.fore - b.upper - (first.fore - first.upper));
    go(&wrist, stop[i].t, first.fore - b.fore); // the hand looks down
  }
  tbVec3 at = tb_vec3(0, 0, SHOULDER), bent = tb_add3(at, along(first.upper, UPPER));
  tbPenJoint j = servo("turn", "hinge", NULL, "turret", &turn);
  j.anchor = at, j.axis = tb_vec3(0, 0, 1), j.stiffness = 3e4, j.damping = 600;
  tb_pen_joint(pen, &j);
  join_link(pen, "shoulder", "turret", "upper arm", at, &shoulder);
  join_link(pen, "elbow", "upper arm", "forearm", bent, &elbow);
  join_link(pen, "wrist", "forearm", "hand", tb_add3(bent, along(first.fore, FORE)), &wrist);
}

void tb_gallery_arm(tbPen* pen)
{
  const double box = 0.06, out = 0.5, low = 0.17, safe = 0.35, quarter = TB_PI / 2;
  // From above the box down to it, up, around and back, and down on the other side.
  const Stop stop[] = {{0.5, 0, out, safe},       {1, 0, out, 0.26},          {1.5, 0, out, low},
                       {2.2, 0, out, low},        {3, 0, out, 0.26},          {3.7, 0, out, safe},
                       {6, quarter, out, safe},   {8, quarter, 0.6, 0.5},     {11, -quarter, 0.6, 0.5},
                       {13, -quarter, 0.4, safe}, {15.5, quarter, out, safe}, {16.2, quarter, out, 0.26},
                       {17, quarter, out, low},   {18, quarter, out, low},    {19, quarter, out, 0.26},
                       {19.7, quarter, out, safe}};
  Bend first = reach(stop[0].r, stop[0].z);
  tbVec3 at = tb_vec3(0, 0, SHOULDER), bent = tb_add3(at, along(first.upper, UPPER));
  tbVec3 wrist = tb_add3(bent, along(first.fore, FORE)), hand = tb_vec3(wrist.x, 0, wrist.z - 0.03);
  Fingers fingers = {.room = 0.1, .width = box, .grip = 30, .down = 0.08};
  start(pen, 21);
  tb_pen_body(pen, &(tbPenBody){.name = "box",
                                .shape = tb_pen_box(box, box, box),
                                .material = "rubber",
                                .mass = tb_pen_value(pen, "mass"),
                                .position = tb_vec3(out, 0, box / 2)});
  tb_pen_body(pen, &(tbPenBody){.name = "turret",
                                .shape = tb_pen_cylinder(0.08, SHOULDER - 0.05),
                                .material = "steel",
                                .mass = 5,
                                .position = tb_vec3(0, 0, SHOULDER / 2)});
  put_link(pen, "upper arm", at, first.upper, UPPER, 2);
  put_link(pen, "forearm", bent, first.fore, FORE, 1.5);
  tb_pen_body(pen, &(tbPenBody){.name = "hand",
                                .shape = tb_pen_box(0.06, 0.18, 0.04),
                                .material = "steel",
                                .mass = 0.5,
                                .position = hand});
  put_fingers(pen, hand, &fingers);
  join_arm(pen, stop, (int)(sizeof stop / sizeof *stop));
  join_fingers(pen, hand, &fingers, 1.6, 17.3);
}

void tb_gallery_quadruped(tbPen* pen)
{
  static const char* const thigh[] = {"thigh/0", "thigh/1", "thigh/2", "thigh/3"};
  static const char* const shank[] = {"shank/0", "shank/1", "shank/2", "shank/3"};
  static const char* const hip[] = {"hip/0", "hip/1", "hip/2", "hip/3"};
  static const char* const knee[] = {"knee/0", "knee/1", "knee/2", "knee/3"};
  const double leg = 0.2, radius = 0.02, stance = TB_PI / 3, crouch = TB_PI / 6;
  double high = radius + along(stance, 2 * leg).z;
  Way hips = {.count = 0}, knees = hips;
  for (int i = 0; i < 3; i++) { // down and up
    double t = 1 + 2 * i;
    go(&hips, t, 0), go(&hips, t + 0.7, stance - crouch), go(&hips, t + 1.2, stance - crouch),
        go(&hips, t + 1.9, 0);
    double more = 2 * (crouch - stance);
    go(&knees, t, 0), go(&knees, t + 0.7, more), go(&knees, t + 1.2, more), go(&knees, t + 1.9, 0);
  }
  start(pen, 8);
  tb_pen_body(pen, &(tbPenBody){.name = "trunk",
                                .shape = tb_pen_box(0.5, 0.24, 0.1),
                                .material = "steel",
                                .mass = 8,
                                .position = tb_vec3(0, 0, high)});
  tb_pen_body(pen, &(tbPenBody){.name = "load",
                                .shape = tb_pen_box(0.2, 0.2, 0.1),
                                .material = "rubber",
                                .mass = tb_pen_value(pen, "load"),
                                .position = tb_vec3(0, 0, high + 0.1)});
  for (int i = 0; i < 4; i++) {
    tbVec3 at = tb_vec3(i & 1 ? 0.2 : -0.2, i & 2 ? 0.15 : -0.15, high),
           bent = tb_add3(at, along(-TB_PI + stance, leg));
    tbVec3 foot = tb_add3(bent, along(-stance, leg));
    tbVec3 mid = tb_scale3(0.5, tb_add3(at, bent)), low = tb_scale3(0.5, tb_add3(bent, foot));
    tb_pen_body(pen, &(tbPenBody){.name = thigh[i],
                                  .shape = tb_pen_rod(radius, tb_sub3(at, mid), tb_sub3(bent, mid)),
                                  .material = "steel",
                                  .mass = 0.6,
                                  .position = mid});
    tb_pen_body(pen, &(tbPenBody){.name = shank[i],
                                  .shape = tb_pen_rod(radius, tb_sub3(bent, low), tb_sub3(foot, low)),
                                  .material = "rubber",
                                  .mass = 0.3,
                                  .position = low});
  }
  for (int i = 0; i < 4; i++) {
    tbVec3 at = tb_vec3(i & 1 ? 0.2 : -0.2, i & 2 ? 0.15 : -0.15, high),
           bent = tb_add3(at, along(-TB_PI + stance, leg));
    tbPenJoint upper = servo(hip[i], "hinge", "trunk", thigh[i], &hips);
    upper.anchor = at, upper.axis = tb_vec3(0, 1, 0), upper.stiffness = 800, upper.damping = 20;
    tb_pen_joint(pen, &upper);
    tbPenJoint lower = servo(knee[i], "hinge", thigh[i], shank[i], &knees);
    lower.anchor = bent, lower.axis = tb_vec3(0, 1, 0), lower.stiffness = 800, lower.damping = 20;
    tb_pen_joint(pen, &lower);
  }
}
