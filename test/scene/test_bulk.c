// SPDX-License-Identifier: Apache-2.0
#include "known/worlds.h"
#include "test.h"
#include "tribo/bulk.h"

#include <math.h>

enum { MOST = 8 };

typedef struct {
  double impulse[3 * MOST], moment[3 * MOST];
  int contacts[MOST];
} Sums;

static Sums sums_of(const Stage* s)
{
  Sums sums;
  for (int i = 0; i < MOST; i++) sums.impulse[3 * i] = sums.moment[3 * i] = 7, sums.contacts[i] = 7;
  tb_world_get_contact_sums(s->world, sums.impulse, sums.moment, sums.contacts);
  return sums;
}

// Balls with sliding, torsional and rolling friction, thrown onto a slope and against each other: what the
// contacts did is what momentum and spin changed by, less gravity's part.
TEST(sums_of_contacts_are_what_changed_the_bodies)
{
  tbFriction friction = tb_friction(0.4);
  friction.kind = TB_FRICTION_CONTENSOU, friction.torsion = 0.02, friction.rolling = 0.01;
  Stage s = stage_open_with(tb_vec3(0, 0, -9.81), friction, 0);
  s.step.dt = 0.005, s.step.solver.tolerance = 1e-12;
  tbBodyId floor = stage_floor(&s, 0.2, 0.5), ball[3];
  const double r = 0.1, mass = 2, inertia = 0.4 * mass * r * r;
  for (int i = 0; i < 3; i++) {
    ball[i] = stage_throw(&s, tb_shape_sphere(r), mass, tb_vec3(0.19 * i - 0.2, 0.01 * i, 0.17 + 0.05 * i),
                          tb_vec3(0.3 * (1 - i), 0.1, -1));
    stage_push(&s, ball[i], tb_vec3(0.3 * (1 - i), 0.1, -1), tb_vec3(3, -2 * i, 9));
  }
  int touched = 0, turned = 0;
  for (int step = 0; step < 60; step++) {
    tbBodyState before[3];
    for (int i = 0; i < 3; i++) before[i] = stage_state(&s, ball[i]);
    stage_run(&s, 1);
    Sums sums = sums_of(&s);
    tbVec3 all = tb_load3(sums.impulse + 3 * tb_body_place(s.world, floor));
    int pushes = sums.contacts[tb_body_place(s.world, floor)];
    for (int i = 0; i < 3; i++) {
      int at = tb_body_place(s.world, ball[i]);
      tbBodyState now = stage_state(&s, ball[i]);
      tbVec3 p = tb_scale3(mass, tb_sub3(now.velocity, before[i].velocity));
      tbVec3 spin = tb_scale3(inertia, tb_sub3(now.angular_velocity, before[i].angular_velocity));
      p.z += mass * 9.81 * s.step.dt;
      CHECK_NEAR(tb_distance3(p, tb_load3(sums.impulse + 3 * at)), 0, 1e-9);
      // moments are about where the ball is now, and it was pushed where it was before
      spin = tb_add3(spin, tb_cross3(tb_sub3(before[i].position, now.position), p));
      CHECK_NEAR(tb_distance3(spin, tb_load3(sums.moment + 3 * at)), 0, 1e-9);
      all = tb_add3(all, tb_load3(sums.impulse + 3 * at));
      pushes += sums.contacts[at];
      touched += sums.contacts[at] > 0, turned += tb_norm3(spin) > 1e-4;
    }
    CHECK_NEAR(tb_norm3(all), 0, 1e-12); // each pushes back
    CHECK(pushes % 2 == 0);
  }
  CHECK(touched > 60 && turned > 10);
  tb_world_get_contact_sums(s.world, NULL, NULL, NULL); // any may be left out
  Sums sums = sums_of(&s);
  double impulse[3 * MOST], moment[3 * MOST];
  tb_world_get_contact_sums(s.world, impulse, NULL, NULL);
  tb_world_get_contact_sums(s.world, NULL, moment, NULL);
  for (int i = 0; i < 12; i++) CHECK(impulse[i] == sums.impulse[i] && moment[i] == sums.moment[i]);
  stage_close(&s);
}
