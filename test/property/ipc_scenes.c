// SPDX-License-Identifier: Apache-2.0
#include "ipc_scenes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The lists of a scene file in the making.
typedef struct {
  char bodies[IPC_SCENE_TEXT / 4], soft[IPC_SCENE_TEXT / 4], cloth[IPC_SCENE_TEXT / 8];
  char joints[IPC_SCENE_TEXT / 8];
  double mu, dt;
  tbRandom r;
  int steps;
  bool driven;
} Draft;

__attribute__((format(printf, 3, 4))) static void add(char* list, size_t room, const char* format, ...)
{
  size_t used = strlen(list);
  va_list args;
  va_start(args, format);
  if (used) used += (size_t)snprintf(list + used, room - used, ", ");
  int more = used < room ? vsnprintf(list + used, room - used, format, args) : -1;
  va_end(args);
  if (more < 0 || used + (size_t)more >= room) test_failed(__FILE__, __LINE__, "no room for the scene");
}
#define BODY(d, ...)  add((d)->bodies, sizeof(d)->bodies, __VA_ARGS__)
#define SOFT(d, ...)  add((d)->soft, sizeof(d)->soft, __VA_ARGS__)
#define CLOTH(d, ...) add((d)->cloth, sizeof(d)->cloth, __VA_ARGS__)
#define JOINT(d, ...) add((d)->joints, sizeof(d)->joints, __VA_ARGS__)

static double any(Draft* d, double low, double high) { return test_uniform(&d->r, low, high); }

static void ground(Draft* d) { BODY(d, "{\"fixed\": true, \"shape\": {\"type\": \"plane\"}}"); }

static void slab(Draft* d, double x, double y, double z, double sx, double sy, double sz)
{
  BODY(d,
       "{\"fixed\": true, \"position\": [%.17g, %.17g, %.17g], \"shape\": {\"type\": \"box\", \"size\": "
       "[%.17g, %.17g, %.17g]}}",
       x, y, z, sx, sy, sz);
}

// A pyramid with its tip down, or up, and a roof with its edge along x or y. `more`: other keys of the body.
static void spike(Draft* d, double size, bool down, double x, double y, double tip, const char* more)
{
  double s = size / 2, z = down ? size : -size;
  BODY(d,
       "{\"position\": [%.17g, %.17g, %.17g], \"shape\": {\"type\": \"convex\", \"vertices\": [[0, 0, 0], "
       "[%g, %g, %g], [%g, %g, %g], [%g, %g, %g], [%g, %g, %g]]}%s}",
       x, y, tip, s, s, z, -s, s, z, -s, -s, z, s, -s, z, more);
}

static void wedge(Draft* d, double size, bool down, bool along_x, double x, double y, double tip,
                  const char* more)
{
  double s = size / 2, z = down ? size : -size, a = along_x ? s : 0, b = along_x ? 0 : s;
  BODY(d,
       "{\"position\": [%.17g, %.17g, %.17g], \"shape\": {\"type\": \"convex\", \"vertices\": [[%g, %g, 0], "
       "[%g, %g, 0], [%g, %g, %g], [%g, %g, %g], [%g, %g, %g], [%g, %g, %g]]}%s}",
       x, y, tip, -a, -b, a, b, s, s, z, -s, s, z, -s, -s, z, s, -s, z, more);
}

static const char FIXED[] = ", \"fixed\": true";

// A body that falls at some speed, with none across.
static const char* falling(Draft* d, char text[96])
{
  snprintf(text, 96, ", \"density\": %g, \"velocity\": [0, 0, %.17g]", any(d, 200, 5000), any(d, -3, 0));
  return text;
}

// ---- degenerate ----

static void tip_on_tip(Draft* d)
{
  char how[96];
  spike(d, 0.3, false, 0, 0, 0, FIXED);
  spike(d, any(d, 0.1, 0.4), true, 0, 0, any(d, 0.005, 0.1), falling(d, how));
  ground(d);
}

static void tip_on_edge(Draft* d)
{
  char how[96];
  wedge(d, 0.3, false, true, 0, 0, 0, FIXED);
  spike(d, any(d, 0.1, 0.4), true, 0, 0, any(d, 0.005, 0.1), falling(d, how));
}

static void edge_on_edge(Draft* d)
{
  char how[96];
  wedge(d, 0.3, false, true, 0, 0, 0, FIXED);
  wedge(d, any(d, 0.1, 0.4), true, false, 0, 0, any(d, 0.005, 0.1), falling(d, how));
}

static void parallel_edges(Draft* d)
{
  char how[96];
  wedge(d, 0.3, false, true, 0, 0, 0, FIXED);
  wedge(d, any(d, 0.1, 0.4), true, true, 0, 0, any(d, 0.005, 0.1), falling(d, how));
}

static void tip_in_a_hole(Draft* d)
{
  char how[96];
  double w = any(d, 0.05, 0.15);
  for (int k = 0; k < 4; k++) {
    double c = k % 2 ? 0 : k ? -1 : 1, s = k % 2 ? k - 2 : 0;
    slab(d, c * (0.25 + w), s * (0.25 + w), -0.1, 0.5, 0.5, 0.2);
  }
  spike(d, any(d, 0.2, 0.5), true, 0, 0, any(d, 0.005, 0.1), falling(d, how));
}

static void in_a_crack(Draft* d, bool point)
{
  char how[96];
  double w = any(d, 0.02, 0.1);
  slab(d, 0.25 + w, 0, -0.1, 0.5, 1, 0.2), slab(d, -0.25 - w, 0, -0.1, 0.5, 1, 0.2);
  if (point) spike(d, any(d, 0.2, 0.5), true, 0, 0, any(d, 0.005, 0.1), falling(d, how));
  else wedge(d, any(d, 0.2, 0.5), true, false, 0, 0, any(d, 0.005, 0.1), falling(d, how));
}
static void tip_in_a_crack(Draft* d) { in_a_crack(d, true); }
static void edge_in_a_crack(Draft* d) { in_a_crack(d, false); }

// Over slabs whose tops are one plane.
static void over_inner_edges(Draft* d)
{
  for (int k = 0; k < 4; k++) slab(d, 0.3 * k, 0, -0.05, 0.3, 0.6, 0.1);
  BODY(d,
       "{\"position\": [0, 0, 0.0505], \"velocity\": [%.17g, 0, 0], \"shape\": {\"type\": \"box\", \"size\": "
       "[0.1, 0.1, 0.1]}}",
       any(d, 1, 5));
}

static void on_a_cliff(Draft* d)
{
  slab(d, 0, 0, -0.1, 0.4, 0.4, 0.2);
  BODY(d,
       "{\"position\": [0.2, %.17g, %.17g], \"shape\": {\"type\": \"box\", \"size\": [0.4, 0.4, 0.2]}, "
       "\"velocity\": [0, 0, %.17g]}",
       test_below(&d->r, 2) ? 0 : 0.4, any(d, 0.11, 0.15), any(d, -4, 0));
  ground(d);
}

static void sliding_points(Draft* d)
{
  char how[96];
  for (int k = 0; k < 4; k++) slab(d, 0.3 * k, 0, -0.05, 0.3, 0.6, 0.1);
  snprintf(how, sizeof how, ", \"velocity\": [%.17g, %.17g, -1]", any(d, 1, 4), any(d, -0.2, 0.2));
  spike(d, 0.2, true, 0, -0.1, 0.01, how);
  wedge(d, 0.2, true, true, 0, 0.15, 0.01, how);
}

// ---- drops ----

static const char* const MODEL[] = {"neo-hookean", "corotated", "stvk", "linear"};

static void soft_box(Draft* d, double size, int cells, double x, double y, double z, const char* more)
{
  SOFT(d,
       "{\"mesh\": {\"box\": {\"size\": %g, \"cells\": %d}}, \"model\": \"%s\", \"young\": %.17g, "
       "\"poisson\": %.17g, \"density\": 1000, \"position\": [%.17g, %.17g, %.17g]%s}",
       size, cells, MODEL[test_below(&d->r, 2)], 2e4 * (test_below(&d->r, 2) ? 1 : 50), any(d, 0.1, 0.45), x,
       y, z, more);
}

static void soft_fall(Draft* d, double fast)
{
  char how[96];
  ground(d);
  snprintf(how, sizeof how, ", \"velocity\": [%.17g, %.17g, %.17g]", any(d, -3, 3), any(d, -3, 3), -fast);
  soft_box(d, 0.3, 2, 0, 0, 0.2 + any(d, 0, 0.5), how);
}
static void soft_at_4(Draft* d) { soft_fall(d, 4); }
static void soft_at_40(Draft* d) { soft_fall(d, 40); }
static void soft_at_100(Draft* d) { soft_fall(d, 100); }

static void soft_on_tip(Draft* d)
{
  spike(d, 0.3, false, 0, 0, 0, FIXED);
  soft_box(d, 0.3, 2, any(d, -0.05, 0.05), any(d, -0.05, 0.05), 0.2, ", \"velocity\": [0, 0, -3]");
  ground(d);
}

static void soft_on_soft(Draft* d)
{
  ground(d);
  soft_box(d, 0.3, 2, 0, 0, 0.16, "");
  soft_box(d, 0.3, 2, any(d, -0.1, 0.1), any(d, -0.1, 0.1), 0.48, ", \"velocity\": [0, 0, -8]");
}

static void rigid_box(Draft* d, double size, double x, double y, double z, double speed, double spin)
{
  BODY(d,
       "{\"density\": %.17g, \"position\": [%.17g, %.17g, %.17g], \"orientation\": [%.17g, %.17g, %.17g, "
       "%.17g], \"velocity\": [%.17g, %.17g, %.17g], \"angular_velocity\": [%.17g, %.17g, %.17g], \"shape\": "
       "{\"type\": \"box\", \"size\": [%g, %g, %g]}}",
       any(d, 200, 5000), x, y, z, any(d, 0.5, 1), any(d, -1, 1), any(d, -1, 1), any(d, -1, 1),
       any(d, -1, 1) * speed / 3, any(d, -1, 1) * speed / 3, -speed, any(d, -1, 1) * spin,
       any(d, -1, 1) * spin, any(d, -1, 1) * spin, size, any(d, 0.4, 1) * size, any(d, 0.4, 1) * size);
}

static void boxes_at(Draft* d, double speed, double spin)
{
  ground(d);
  rigid_box(d, 0.3, 0, 0, 0.6, speed, spin);
  rigid_box(d, 0.2, 0.1, 0.1, 1.2, speed, spin);
}
static void boxes_at_5(Draft* d) { boxes_at(d, 5, 10); }
static void boxes_at_40(Draft* d) { boxes_at(d, 40, 100); }
static void boxes_at_120(Draft* d) { boxes_at(d, 120, 300); }

static void bullet(Draft* d)
{
  slab(d, 1, 0, 0, 0.002, 1, 1);
  BODY(d,
       "{\"shape\": {\"type\": \"box\", \"size\": [0.02, 0.02, 0.02]}, \"position\": [0, %.17g, 0], "
       "\"velocity\": [%.17g, 0, 0], \"angular_velocity\": [%.17g, 30, 0]}",
       any(d, -0.1, 0.1), any(d, 80, 400), any(d, -300, 300));
}

static void ball_and_capsule(Draft* d)
{
  ground(d);
  BODY(d,
       "{\"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, \"position\": [0, 0, 0.15], \"velocity\": "
       "[%.17g, "
       "0, -2], \"angular_velocity\": [0, %.17g, 0]}",
       any(d, -2, 2), any(d, -20, 20));
  BODY(d,
       "{\"shape\": {\"type\": \"capsule\", \"radius\": 0.05, \"length\": 0.2}, \"position\": [%.17g, 0, "
       "0.5], "
       "\"orientation\": [1, %.17g, 0.2, 0]}",
       any(d, -0.1, 0.1), any(d, -1, 1));
}

static void sheet(Draft* d, double size, int cells, double z, const char* more)
{
  CLOTH(d,
        "{\"mesh\": {\"grid\": {\"size\": [%g, %g], \"cells\": [%d, %d]}}, \"area_density\": 0.2, "
        "\"stretch\": %.17g, \"shear\": 30, \"bend\": 1e-4, \"thickness\": 0.002, \"position\": [0, 0, "
        "%.17g]%s}",
        size, size, cells, cells, any(d, 100, 1000), z, more);
}

static void sheet_on_ball(Draft* d)
{
  BODY(d, "{\"fixed\": true, \"shape\": {\"type\": \"sphere\", \"radius\": 0.2}}");
  sheet(d, 0.8, 6, any(d, 0.25, 0.3), ", \"velocity\": [0, 0, -2]");
}

static void sheet_on_tip(Draft* d)
{
  spike(d, 0.3, false, 0, 0, 0, FIXED);
  sheet(d, 0.6, 6, any(d, 0.02, 0.05), ", \"velocity\": [0, 0, -5]");
}

static void sheets(Draft* d)
{
  ground(d);
  for (int k = 0; k < 3; k++) sheet(d, 0.5, 4, 0.02 + 0.02 * k, k == 2 ? ", \"velocity\": [0, 0, -3]" : "");
}

static void box_on_sheet(Draft* d)
{
  sheet(d, 0.6, 5, 0,
        ", \"pins\": [{\"box\": [[-0.3, -0.3, -0.1], [-0.3, 0.3, 0.1]]}, {\"box\": [[0.3, -0.3, -0.1], [0.3, "
        "0.3, 0.1]]}]");
  rigid_box(d, 0.15, 0, 0, 0.2, 3, 3);
}

// ---- twists and squeezes ----

static void twist_bar(Draft* d)
{
  double turn = any(d, 4, 12);
  SOFT(d,
       "{\"mesh\": {\"box\": {\"size\": [0.8, 0.15, 0.15], \"cells\": [6, 2, 2]}}, \"model\": "
       "\"neo-hookean\", \"young\": 1e5, \"poisson\": 0.4, \"density\": 1000, \"pins\": [{\"box\": [[-0.4, "
       "-1, "
       "-1], [-0.4, 1, 1]], \"angular_velocity\": [%.17g, 0, 0]}, {\"box\": [[0.4, -1, -1], [0.4, 1, 1]], "
       "\"angular_velocity\": [%.17g, 0, 0]}]}",
       turn, -turn);
  d->driven = true;
}

static void twist_mat(Draft* d)
{
  double turn = any(d, 4, 12);
  CLOTH(
      d,
      "{\"mesh\": {\"grid\": {\"size\": [0.6, 0.2], \"cells\": [9, 3]}}, \"area_density\": 0.3, "
      "\"stretch\": 200, \"shear\": 60, \"bend\": 1e-4, \"thickness\": 0.002, \"pins\": [{\"box\": [[-0.3, "
      "-1, -1], [-0.3, 1, 1]], \"angular_velocity\": [%.17g, 0, 0]}, {\"box\": [[0.3, -1, -1], [0.3, 1, 1]], "
      "\"angular_velocity\": [%.17g, 0, 0]}]}",
      turn, -turn);
  d->driven = true;
}

static void plates(Draft* d, double share)
{
  double speed = 0.3 * (1 - share) / (d->dt * (d->steps - 3));
  ground(d);
  soft_box(d, 0.3, 2, 0, 0, 0.1505, "");
  BODY(d,
       "{\"kinematic\": {\"velocity\": [0, 0, %.17g]}, \"position\": [0, 0, 0.3515], \"shape\": {\"type\": "
       "\"box\", \"size\": [0.8, 0.8, 0.1]}}",
       -speed);
  d->driven = true;
}
static void press_to_40(Draft* d) { plates(d, 0.4); }
static void press_to_15(Draft* d) { plates(d, 0.15); }

static void rollers(Draft* d)
{
  double gap = any(d, 0.1, 0.2), turn = any(d, 5, 15);
  for (int k = 0; k < 2; k++)
    BODY(d,
         "{\"kinematic\": {\"angular_velocity\": [0, %.17g, 0]}, \"position\": [0, 0, %.17g], "
         "\"orientation_euler_deg\": [90, 0, 0], \"shape\": {\"type\": \"cylinder\", \"radius\": 0.2, "
         "\"length\": 0.5}}",
         k ? turn : -turn, (k ? 1 : -1) * (0.2 + gap / 2));
  soft_box(d, 0.25, 2, -0.28, 0, 0, ", \"velocity\": [3, 0, 0]");
  d->driven = true;
}

static void closing_walls(Draft* d)
{
  ground(d);
  for (int k = 0; k < 2; k++)
    BODY(d,
         "{\"kinematic\": {\"velocity\": [%.17g, 0, 0]}, \"position\": [%g, 0, 0.3], \"shape\": {\"type\": "
         "\"box\", \"size\": [0.1, 0.6, 0.6]}}",
         (k ? -1 : 1) * any(d, 0.3, 1), (k ? 1 : -1) * 0.4);
  soft_box(d, 0.2, 2, 0, 0, 0.12, "");
  rigid_box(d, 0.1, 0, 0, 0.4, 1, 3);
  d->driven = true;
}

static void out_through_a_gap(Draft* d)
{
  double w = any(d, 0.06, 0.12);
  slab(d, 0.2 + w, 0, -0.05, 0.4, 0.6, 0.1), slab(d, -0.2 - w, 0, -0.05, 0.4, 0.6, 0.1);
  soft_box(d, 0.3, 2, 0, 0, 0.16, "");
  BODY(d, "{\"kinematic\": {\"velocity\": [0, 0, -0.7]}, \"position\": [0, 0, 0.37], \"shape\": {\"type\": "
          "\"box\", \"size\": [0.6, 0.6, 0.1]}}");
  d->driven = true;
}

// ---- piles ----

static void rigid_pile(Draft* d)
{
  ground(d);
  for (int k = 0; k < 6; k++)
    rigid_box(d, 0.2, any(d, -0.05, 0.05), any(d, -0.05, 0.05), 0.2 + 0.3 * k, 2, 3);
}

static void stack(Draft* d)
{
  ground(d);
  for (int k = 0; k < 5; k++)
    BODY(d,
         "{\"position\": [%.17g, 0, %.17g], \"shape\": {\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}, "
         "\"density\": %.17g}",
         any(d, -0.02, 0.02), 0.1 + 0.2 * k, any(d, 200, 3000));
}

static void cards(Draft* d)
{
  double lean = any(d, 70, 75);
  ground(d);
  for (int k = 0; k < 2; k++)
    BODY(d,
         "{\"position\": [%.17g, 0, 0.2], \"orientation_euler_deg\": [0, %.17g, 0], \"shape\": {\"type\": "
         "\"box\", \"size\": [0.4, 0.3, 0.01]}, \"friction\": 0.8}",
         k ? 0.07 : -0.07, k ? lean : -lean);
}

static void mixed_pile(Draft* d)
{
  ground(d);
  soft_box(d, 0.25, 2, 0, 0, 0.14, "");
  rigid_box(d, 0.15, any(d, -0.05, 0.05), 0, 0.45, 2, 3);
  sheet(d, 0.6, 5, 0.62, "");
  rigid_box(d, 0.1, 0, any(d, -0.05, 0.05), 0.8, 2, 3);
}

static void funnel(Draft* d)
{
  for (int k = 0; k < 2; k++)
    BODY(d,
         "{\"fixed\": true, \"position\": [%g, 0, 0], \"orientation_euler_deg\": [0, %.17g, 0], \"shape\": "
         "{\"type\": \"box\", \"size\": [0.6, 0.8, 0.02]}}",
         k ? 0.3 : -0.3, (k ? -1 : 1) * any(d, 35, 55));
  for (int k = 0; k < 3; k++) rigid_box(d, 0.12, any(d, -0.05, 0.05), any(d, -0.1, 0.1), 0.3 + 0.2 * k, 2, 3);
  soft_box(d, 0.2, 2, 0, 0, 0.95, ", \"velocity\": [0, 0, -3]");
}

static void swept_pile(Draft* d)
{
  ground(d);
  for (int k = 0; k < 4; k++) rigid_box(d, 0.15, 0.05 * k, any(d, -0.3, 0.3), 0.2 + 0.25 * k, 1, 2);
  BODY(d,
       "{\"kinematic\": {\"velocity\": [%.17g, 0, 0]}, \"position\": [-0.6, 0, 0.31], \"shape\": {\"type\": "
       "\"box\", \"size\": [0.1, 1.5, 0.6]}}",
       any(d, 0.5, 3));
  d->driven = true;
}

static void soft_pile(Draft* d)
{
  ground(d);
  for (int k = 0; k < 3; k++)
    soft_box(d, 0.2, 1 + k % 2, any(d, -0.05, 0.05), any(d, -0.05, 0.05), 0.12 + 0.25 * k, "");
}

// ---- joints ----

static void chain(Draft* d)
{
  ground(d);
  slab(d, 0.5, 0, 0.6, 0.2, 0.4, 0.2);
  for (int k = 0; k < 4; k++) {
    BODY(d,
         "{\"name\": \"link %d\", \"position\": [%.17g, 0, 1], \"density\": %.17g, \"shape\": {\"type\": "
         "\"box\", \"size\": [0.16, 0.05, 0.05]}}",
         k, 0.1 + 0.2 * k, any(d, 500, 3000));
    char other[32] = "world";
    if (k) snprintf(other, sizeof other, "link %d", k - 1);
    JOINT(d, "{\"type\": \"ball\", \"a\": \"%s\", \"b\": \"link %d\", \"anchor\": [%.17g, 0, 1]}", other, k,
          0.2 * k);
  }
  d->driven = true; // rows of joints, which are linear in a step, may bring a little
}

static void door(Draft* d)
{
  ground(d);
  BODY(d, "{\"name\": \"door\", \"position\": [0.5, 0, 0.5], \"shape\": {\"type\": \"box\", \"size\": "
          "[0.9, 0.05, 0.9]}}");
  JOINT(d,
        "{\"type\": \"hinge\", \"b\": \"door\", \"anchor\": [0, 0, 0.5], \"axis\": [0, 0, 1], \"motor\": "
        "{\"speed\": %.17g, \"force\": 1000}}",
        any(d, 1, 4));
  rigid_box(d, 0.2, 0.6, 0.3, 0.2, 1, 1);
  soft_box(d, 0.2, 1, 0.3, 0.4, 0.12, "");
  d->driven = true;
}

static const struct {
  const char* name;
  void (*build)(Draft*);
  int steps;
} scenes[IPC_SCENES] = {
    {"tip on tip", tip_on_tip, 30},
    {"tip on edge", tip_on_edge, 30},
    {"edge on edge", edge_on_edge, 30},
    {"parallel edges", parallel_edges, 30},
    {"tip in a hole", tip_in_a_hole, 30},
    {"tip in a crack", tip_in_a_crack, 30},
    {"edge in a crack", edge_in_a_crack, 30},
    {"over inner edges", over_inner_edges, 30},
    {"on a cliff", on_a_cliff, 30},
    {"sliding points", sliding_points, 30},
    {"soft at 4 m/s", soft_at_4, 30},
    {"soft at 40 m/s", soft_at_40, 20},
    {"soft at 100 m/s", soft_at_100, 15},
    {"soft on a tip", soft_on_tip, 25},
    {"soft on soft", soft_on_soft, 25},
    {"boxes at 5 m/s", boxes_at_5, 40},
    {"boxes at 40 m/s", boxes_at_40, 20},
    {"boxes at 120 m/s", boxes_at_120, 15},
    {"bullet", bullet, 15},
    {"ball and capsule", ball_and_capsule, 30},
    {"sheet on a ball", sheet_on_ball, 25},
    {"sheet on a tip", sheet_on_tip, 20},
    {"sheets", sheets, 15},
    {"box on a sheet", box_on_sheet, 20},
    {"twisted bar", twist_bar, 30},
    {"twisted mat", twist_mat, 40},
    {"pressed to 40 %", press_to_40, 20},
    {"pressed to 15 %", press_to_15, 25},
    {"rollers", rollers, 20},
    {"closing walls", closing_walls, 20},
    {"out through a gap", out_through_a_gap, 20},
    {"rigid pile", rigid_pile, 40},
    {"stack", stack, 20},
    {"cards", cards, 20},
    {"mixed pile", mixed_pile, 30},
    {"funnel", funnel, 30},
    {"swept pile", swept_pile, 30},
    {"soft pile", soft_pile, 25},
    {"chain", chain, 40},
    {"door", door, 25},
};

void ipc_scene(int index, uint64_t seed, IpcScene* out)
{
  static const double mu[] = {0, 0.3, 0.5, 1};
  Draft* d = &(Draft){.r = test_random(1000 * (uint64_t)index + seed), .steps = scenes[index].steps};
  d->mu = mu[test_below(&d->r, 4)], d->dt = test_below(&d->r, 3) ? 0.01 : 0.004;
  scenes[index].build(d);
  int used = snprintf(out->text, sizeof out->text,
                      "{\"tribo\": 1, \"dt\": %g, \"scheme\": \"ipc\", \"bodies\": [%s], \"soft\": [%s], "
                      "\"cloth\": [%s], \"joints\": [%s]}",
                      d->dt, d->bodies, d->soft, d->cloth, d->joints);
  if (used < 0 || (size_t)used >= sizeof out->text) test_failed(__FILE__, __LINE__, "no room for the scene");
  out->name = scenes[index].name, out->mu = d->mu;
  out->steps = d->steps, out->driven = d->driven;
}
