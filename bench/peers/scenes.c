// SPDX-License-Identifier: Apache-2.0
// The scenes: bodies of a density of 1000 kg/m³, μ 0.5.
#include "peers/peer.h"
#include "tribo/math.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static double volume_of(PeerKind kind, tbVec3 half)
{
  double r = half.x, box = 8 * half.x * half.y * half.z, ball = 4.0 / 3 * TB_PI * r * r * r;
  switch (kind) {
  case PEER_SPHERE: return ball;
  case PEER_CAPSULE: return ball * (1 + 1.5 * (half.z - r) / r);
  case PEER_OCTAHEDRON: return box / 6;
  default: return box;
  }
}

static int add_kind(PeerScene* s, PeerKind kind, tbVec3 half, tbVec3 x, tbQuat q, double density)
{
  s->body = realloc(s->body, (size_t)(s->count + 1) * sizeof *s->body);
  if (!s->body) abort();
  s->body[s->count] = (PeerBody){
      kind, {half.x, half.y, half.z}, {x.x, x.y, x.z}, {q.w, q.x, q.y, q.z}, density * volume_of(kind, half)};
  return s->count++;
}

static int add(PeerScene* s, tbVec3 half, tbVec3 x, tbQuat q, double density)
{
  return add_kind(s, PEER_BOX, half, x, q, density);
}

static const tbVec3 unit = {0.5, 0.5, 0.5};

static void floor_of(PeerScene* s, double half)
{
  add(s, tb_vec3(half, half, 1), tb_vec3(0, 0, -1), tb_quat_identity(), 0);
}

static PeerScene stack(double ratio, const char* name)
{
  PeerScene s = {.name = name, .mu = 0.5, .steps = 600};
  floor_of(&s, 20);
  for (int i = 0; i < 10; i++)
    add(&s, unit, tb_vec3(0, 0, i + 0.5), tb_quat_identity(), i < 9 ? 1000 : 1000 * ratio);
  return s;
}

static PeerScene pyramid(void)
{
  PeerScene s = {.name = "pyramid of 20 rows", .mu = 0.5, .steps = 300};
  floor_of(&s, 40);
  for (int i = 0; i < 20; i++)
    for (int k = 0; k < 20 - i; k++)
      add(&s, unit, tb_vec3(1.05 * (k - 0.5 * (19 - i)), 0, i + 0.5), tb_quat_identity(), 1000);
  return s;
}

// Three numbers between −½ and ½.
static tbVec3 draw(uint64_t* r)
{
  double u[3];
  for (int k = 0; k < 3; k++) {
    *r = *r * 6364136223846793005u + 1442695040888963407u;
    u[k] = (double)(*r >> 40) / 16777216.0 - 0.5;
  }
  return tb_vec3(u[0], u[1], u[2]);
}

// As many as bodies of other kinds weigh about.
static const tbVec3 size_of[] = {[PEER_BOX] = {0.5, 0.5, 0.5},
                                 [PEER_SPHERE] = {0.6, 0.6, 0.6},
                                 [PEER_CAPSULE] = {0.4, 0.4, 0.85},
                                 [PEER_OCTAHEDRON] = {0.8, 0.8, 0.8}};

// mixed: boxes, balls and capsules in turn, else all of one kind.
static PeerScene pile(int side, int steps, bool mixed, PeerKind kind, const char* name)
{
  PeerScene s = {.name = name, .mu = 0.5, .steps = steps};
  double cell = 1.75, half = cell * side / 2, height = cell * side / 2 + 2;
  uint64_t r = 12345;
  floor_of(&s, half + 6);
  for (int k = 0; k < 4; k++) {
    double sign = k % 2 ? 1 : -1, at = sign * (half + 2.5);
    tbVec3 wall = k < 2 ? tb_vec3(2.5, half + 5, height) : tb_vec3(half + 5, 2.5, height);
    add(&s, wall, k < 2 ? tb_vec3(at, 0, height) : tb_vec3(0, at, height), tb_quat_identity(), 0);
  }
  for (int i = 0; i < side * side * side; i++) {
    tbVec3 x = tb_vec3(cell * (i % side - 0.5 * (side - 1)), cell * (i / side % side - 0.5 * (side - 1)),
                       1 + cell * (double)(i / (side * side)));
    PeerKind own = mixed ? (PeerKind)(i % 3) : kind;
    add_kind(&s, own, size_of[own], x, tb_quat_exp(tb_scale3(6, draw(&r))), 1000);
  }
  return s;
}

static void join(PeerScene* s, int a, int b, tbVec3 anchor, tbVec3 axis, double low, double high)
{
  s->joint = realloc(s->joint, (size_t)(s->joints + 1) * sizeof *s->joint);
  if (!s->joint) abort();
  s->joint[s->joints++] =
      (PeerJoint){a, b, {anchor.x, anchor.y, anchor.z}, {axis.x, axis.y, axis.z}, low, high};
}

// Ten chains of twenty links that swing down from the horizontal; weight: what hangs at the end of each, in
// links.
static PeerScene chains(double weight, const char* name)
{
  PeerScene s = {.name = name, .mu = 0.5, .steps = 300};
  tbVec3 half = tb_vec3(0.1, 0.1, 0.25);
  tbQuat along = tb_quat_exp(tb_vec3(0, 0.5 * TB_PI, 0)); // z to x
  for (int c = 0; c < 10; c++) {
    double y = 1.5 * c, link = 1000 * volume_of(PEER_CAPSULE, half);
    int last = add(&s, tb_vec3(0.2, 0.2, 0.2), tb_vec3(-0.2, y, 12), tb_quat_identity(), 0);
    for (int i = 0; i < 20; i++) {
      int next = add_kind(&s, PEER_CAPSULE, half, tb_vec3(0.5 * i + 0.25, y, 12), along, 1000);
      join(&s, last, next, tb_vec3(0.5 * i, y, 12), tb_zero3(), 0, 0);
      last = next;
    }
    tbVec3 ball = tb_vec3(0.5, 0.5, 0.5);
    int end = add_kind(&s, PEER_SPHERE, ball, tb_vec3(10.5, y, 12), tb_quat_identity(),
                       weight * link / volume_of(PEER_SPHERE, ball));
    join(&s, last, end, tb_vec3(10, y, 12), tb_zero3(), 0, 0);
  }
  return s;
}

// A figure of eleven bodies: ball joints at waist, neck, shoulders and hips, hinges at elbows and knees.
static void add_figure(PeerScene* s, tbVec3 at)
{
  tbQuat id = tb_quat_identity();
  tbVec3 limb = tb_vec3(0.06, 0.06, 0.2), none = tb_zero3(), across = tb_vec3(1, 0, 0);
  int pelvis = add(s, tb_vec3(0.16, 0.1, 0.1), tb_add3(at, tb_vec3(0, 0, 0)), id, 1000);
  int chest = add(s, tb_vec3(0.18, 0.1, 0.22), tb_add3(at, tb_vec3(0, 0, 0.34)), id, 1000);
  join(s, pelvis, chest, tb_add3(at, tb_vec3(0, 0, 0.11)), none, 0, 0);
  int head = add_kind(s, PEER_SPHERE, tb_vec3(0.12, 0.12, 0.12), tb_add3(at, tb_vec3(0, 0, 0.7)), id, 1000);
  join(s, chest, head, tb_add3(at, tb_vec3(0, 0, 0.57)), none, 0, 0);
  for (int side = -1; side <= 1; side += 2)
    for (int leg = 0; leg < 2; leg++) {
      double x = side * (leg ? 0.1 : 0.26), top = leg ? -0.12 : 0.5;
      int upper = add_kind(s, PEER_CAPSULE, limb, tb_add3(at, tb_vec3(x, 0, top - 0.2)), id, 1000);
      int lower = add_kind(s, PEER_CAPSULE, limb, tb_add3(at, tb_vec3(x, 0, top - 0.62)), id, 1000);
      join(s, leg ? pelvis : chest, upper, tb_add3(at, tb_vec3(x, 0, top)), none, 0, 0);
      join(s, upper, lower, tb_add3(at, tb_vec3(x, 0, top - 0.41)), across, leg ? -2.2 : 0, leg ? 0 : 2.2);
    }
}

// Figures that fall onto stairs.
static PeerScene figures(void)
{
  PeerScene s = {.name = "64 figures on stairs", .mu = 0.5, .steps = 300};
  floor_of(&s, 20);
  for (int i = 0; i < 6; i++)
    add(&s, tb_vec3(3, 0.5, 0.25 * (6 - i)), tb_vec3(0, i - 2.5, 0.25 * (6 - i)), tb_quat_identity(), 0);
  for (int i = 0; i < 64; i++)
    add_figure(&s, tb_vec3(1.1 * (i % 4 - 1.5), 0.9 * (i / 4 % 4 - 1.5), 4.5 + 2 * (double)(i / 16)));
  return s;
}

static double hill(double x, double y) { return 0.8 * sin(0.5 * x) * cos(0.4 * y) + 0.02 * (x * x + y * y); }

// Boxes, balls and capsules on hills.
static PeerScene hills(void)
{
  PeerScene s = {.name = "hills of 3200 triangles", .mu = 0.5, .steps = 300};
  PeerTerrain t = {40, 16, malloc(41 * 41 * sizeof(double))};
  if (!t.height) abort();
  double lowest = INFINITY, highest = -INFINITY;
  for (int i = 0; i < 41 * 41; i++) {
    double h = t.height[i] = hill(t.half * (i % 41 / 20.0 - 1), t.half * (double)(i / 41 - 20) / 20);
    lowest = fmin(lowest, h), highest = fmax(highest, h);
  }
  s.terrain = t;
  add_kind(&s, PEER_TERRAIN, tb_vec3(t.half, t.half, fmax(highest, -lowest)), tb_zero3(), tb_quat_identity(),
           0);
  uint64_t r = 777;
  for (int i = 0; i < 200; i++) {
    PeerKind own = (PeerKind)(i % 3);
    tbVec3 x = tb_vec3(2.2 * (i % 10 - 4.5), 2.2 * (i / 10 % 10 - 4.5), 5 + 2.5 * (double)(i / 100));
    add_kind(&s, own, size_of[own], x, tb_quat_exp(tb_scale3(6, draw(&r))), 1000);
  }
  return s;
}

PeerScene peer_scene(int index)
{
  switch (index) {
  case 0: return stack(1, "stack of ten");
  case 1: return stack(100, "stack of ten, its top 100 times as heavy");
  case 2: return pyramid();
  case 3: return pile(6, 200, false, PEER_BOX, "pile of 216");
  case 4: return pile(10, 200, false, PEER_BOX, "pile of 1000");
  case 5: return pile(10, 200, false, PEER_SPHERE, "pile of 1000 balls");
  case 6: return pile(10, 200, false, PEER_CAPSULE, "pile of 1000 capsules");
  case 7: return pile(10, 200, true, PEER_BOX, "pile of 1000 boxes, balls and capsules");
  case 8: return pile(8, 200, false, PEER_OCTAHEDRON, "pile of 512 octahedra");
  case 9: return chains(1, "ten chains of twenty links");
  case 10: return chains(100, "the same, 100 links heavy at their ends");
  case 11: return figures();
  default: return hills();
  }
}

void peer_scene_free(PeerScene* s)
{
  free(s->body);
  free(s->joint);
  free(s->terrain.height);
}

int peer_terrain_triangles(const PeerTerrain* t, double (**vertex)[3], int (**triangle)[3])
{
  int n = t->side + 1, count = 2 * t->side * t->side, k = 0;
  *vertex = malloc((size_t)(n * n) * sizeof **vertex);
  *triangle = malloc((size_t)count * sizeof **triangle);
  if (!*vertex || !*triangle) abort();
  for (int i = 0; i < n * n; i++) {
    (*vertex)[i][0] = t->half * (2.0 * (i % n) / t->side - 1);
    (*vertex)[i][1] = t->half * (2.0 * (double)(i / n) / t->side - 1);
    (*vertex)[i][2] = t->height[i];
  }
  for (int y = 0; y < t->side; y++)
    for (int x = 0; x < t->side; x++) {
      int a = y * n + x, corner[2][3] = {{a, a + 1, a + n + 1}, {a, a + n + 1, a + n}};
      for (int i = 0; i < 2; i++, k++)
        for (int c = 0; c < 3; c++) (*triangle)[k][c] = corner[i][c];
    }
  return count;
}
