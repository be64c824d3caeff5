// SPDX-License-Identifier: Apache-2.0
// Regions of soft-step: as many bodies in each, on either side of the borders, whoever else is in the world.
#include "base/memory.h"
#include "step/soft_step_work.h"
#include "test.h"

#include <stdlib.h>

typedef struct {
  tbContext ctx;
  tbArena arena;
  tbTransform* centre;
  int* index;
  tbSoftStepWork soft;
} Case;

// Every eleventh of the bodies cannot be moved.
static void open_case(int bodies, Case* c)
{
  *c = (Case){.ctx = tb_default_context()};
  tb_arena_init(&c->arena, &c->ctx);
  c->centre = calloc((size_t)bodies, sizeof *c->centre), c->index = calloc((size_t)bodies, sizeof *c->index);
  tbRandom r = test_random(3);
  for (int i = 0; i < bodies; i++) {
    tbVec3 x = tb_vec3(test_uniform(&r, -8, 8), test_uniform(&r, -20, 20), test_uniform(&r, 0, 3));
    c->centre[i] = tb_transform(tb_quat_identity(), x);
    c->index[i] = i % 11 == 10 ? -1 : 0;
    c->soft.moving += i % 11 != 10;
  }
  c->soft.centre = c->centre;
}

static void close_case(Case* c)
{
  free(c->centre);
  free(c->index);
  tb_arena_free(&c->arena);
}

static int region_of(const tbSoftStepWork* s, int body)
{
  int k = 0;
  while (body >= s->region[k + 1]) k++;
  return k;
}

TEST(regions_have_as_many_bodies_and_lie_side_by_side)
{
  const int bodies[] = {50, 450, 3000, 10000, 40000}, levels[] = {0, 1, 1, 3, 4};
  for (int k = 0; k < 5; k++) {
    Case c;
    open_case(bodies[k], &c);
    REQUIRE(tb_soft_step_regions(&c.arena, bodies[k], c.index, &c.soft) == TB_OK);
    const tbSoftStepWork* s = &c.soft;
    CHECK(s->levels == levels[k]);
    int regions = 1 << s->levels, share = s->moving / regions,
        *times = calloc((size_t)s->moving, sizeof(int));
    CHECK(s->region[0] == 0 && s->region[regions] == s->moving);
    for (int i = 0; i < regions; i++) CHECK(abs(s->region[i + 1] - s->region[i] - share) <= share / 8);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}; // of either half, along y
    for (int i = 0; i < bodies[k]; i++) {
      if (i % 11 == 10) CHECK(c.index[i] == -1);
      if (c.index[i] < 0) continue;
      times[c.index[i]]++;
      int half = 2 * region_of(s, c.index[i]) / regions % 2;
      low[half] = fmin(low[half], c.centre[i].x.y), high[half] = fmax(high[half], c.centre[i].x.y);
    }
    for (int i = 0; i < s->moving; i++) REQUIRE(times[i] == 1);
    if (regions > 1) CHECK(high[0] <= low[1]);
    free(times);
    close_case(&c);
  }
}

// Where all bodies are in one place, or far beyond what squares can be of, there is nothing to halve.
TEST(regions_of_one_place_and_of_infinite_ones_hold_all_bodies)
{
  for (int k = 0; k < 2; k++) {
    Case c;
    open_case(1000, &c);
    for (int i = 0; i < 1000; i++) c.centre[i].x = k ? tb_vec3(i % 2 ? 1e200 : -1e200, 0, 0) : tb_zero3();
    REQUIRE(tb_soft_step_regions(&c.arena, 1000, c.index, &c.soft) == TB_OK);
    CHECK(c.soft.region[0] == 0 && c.soft.region[1 << c.soft.levels] == c.soft.moving);
    close_case(&c);
  }
}

// Groups of contacts: 2 · regions − 1, the borders drawn last right behind the regions.
TEST(groups_of_contacts_stand_level_by_level)
{
  tbSoftStepWork s = {.levels = 3};
  const int first[] = {0, 8, 12, 14};
  for (int level = 0; level <= 3; level++) CHECK(tb_soft_step_group(&s, level) == first[level]);
}
