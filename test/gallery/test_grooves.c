// SPDX-License-Identifier: Apache-2.0
// Grooved surfaces (course, figure 35): what turning the grooves of one surface changes, counted or against
// the ellipse of algorithm 21.
#include "gallery/gallery.h"
#include "test.h"
#include "tribo/io.h"
#include "tribo/step.h"

#include <math.h>
#include <string.h>

static const double g = 9.81;

typedef struct {
  tbContext ctx;
  tbScene scene;
} Run;

static Run open_turned(const char* name, double degrees)
{
  Run r = {.ctx = tb_default_context()};
  const tbGalleryScene* scene = tb_gallery_find(name);
  double value[TB_GALLERY_PARAMETERS];
  tb_gallery_defaults(scene, value);
  for (int i = 0; i < TB_GALLERY_PARAMETERS && scene->parameter[i].name; i++)
    if (strcmp(scene->parameter[i].name, "angle_deg") == 0) value[i] = degrees;
  CHECK_OK(&r.ctx, tb_gallery_load(&r.ctx, scene, value, NULL, &r.scene));
  return r;
}

static void go(Run* r, double seconds)
{
  tbStepReport report;
  int steps = (int)floor(seconds / r->scene.step.dt + 0.5);
  for (int i = 0; i < steps; i++)
    CHECK_OK(&r->ctx, tb_world_step(&r->ctx, r->scene.world, &r->scene.step, &report));
}

static tbBodyState state_of(const Run* r, const char* name)
{
  return tb_body_state(r->scene.world, tb_world_find_body(r->scene.world, name));
}

static void close_run(Run* r) { tb_scene_free(&r->ctx, &r->scene); }

// Friction along the first of two structures that are `degrees` apart: the ellipse about their bisector.
static double along(double mu_t, double mu_b, double mu, double degrees)
{
  double theta = degrees * TB_PI / 180, d = 1 - 2 * theta / TB_PI, a = d * mu_t + (1 - d) * mu,
         b = d * mu_b + (1 - d) * mu;
  return 1 / hypot(cos(theta / 2) / a, sin(theta / 2) / b);
}

// Wheels that turn freely push sideways alone.
LONG_TEST(trolleys_hold_their_line_by_how_the_roads_grooves_run)
{
  static const double degrees[] = {20, 45, 52, 60, 90};
  const double slope = 25 * TB_PI / 180;
  for (int i = 0; i < 5; i++) {
    Run r = open_turned("tyres", degrees[i]);
    go(&r, 0.5);
    tbVec3 v = state_of(&r, "trolley").velocity;
    double down = -(cos(slope) * v.y + sin(slope) * v.z) / 0.5,
           want = fmax(0, g * (sin(slope) - along(0.8, 0.3, 0.3, degrees[i]) * cos(slope)));
    // Wheels that are slow to spin up push along the road meanwhile, and less across it.
    if (!(fabs(down - want) < 0.02 + 0.05 * want))
      test_failed(__FILE__, __LINE__, "grooves at %g°: %g m/s² down the road, expected %g", degrees[i], down,
                  want);
    close_run(&r);
  }
}

LONG_TEST(grooved_fingers_hold_what_their_ellipse_can_bear)
{
  static const double degrees[] = {0, 20, 40, 90};
  for (int i = 0; i < 4; i++) {
    bool bears = 2 * along(0.2, 0.8, 0.6, degrees[i]) * 30 > 2 * g;
    Run r = open_turned("grooved-gripper", degrees[i]);
    go(&r, 4);
    double height = state_of(&r, "box").position.z;
    if (bears != (height > 0.35))
      test_failed(__FILE__, __LINE__, "grooves at %g°: the box is at %g m", degrees[i], height);
    close_run(&r);
  }
}

// Boards of 32° against bricks with μ 0.5, whose friction is the geometric mean with the boards' ellipse.
LONG_TEST(bricks_leave_a_hopper_by_how_its_grooves_run)
{
  static const double degrees[] = {0, 90};
  static const int leave[] = {32, 0};
  for (int k = 0; k < 2; k++) {
    Run r = open_turned("hopper", degrees[k]);
    int left = 0;
    go(&r, 1.2);
    for (int i = 0; i < tb_world_body_count(r.scene.world); i++) {
      tbBodyId id = tb_world_body_at(r.scene.world, i);
      left += tb_body_mass(r.scene.world, id) > 0 && tb_body_state(r.scene.world, id).position.z < 0.55;
    }
    if (left != leave[k])
      test_failed(__FILE__, __LINE__, "grooves at %g°: %d bricks of 32 have left", degrees[k], left);
    close_run(&r);
  }
}
