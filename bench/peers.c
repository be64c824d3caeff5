// SPDX-License-Identifier: Apache-2.0
// The same bodies in Tribo's two lanes and in other engines: processor time of a step, overlaps by one
// checker, drift. Engines take turns step by step, so that a noisy machine is as noisy for all of them.
//
//   bench_peers [FILE.csv [WORD]]        WORD: only scenes whose names contain it
#include "bench.h"
#include "peers/peer.h"
#include "tribo/step.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double processor_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

// Tribo.

typedef struct {
  tbContext ctx;
  tbWorld* world;
  tbBodyId* id;
  tbStepOptions options;
  tbStepReport report;
} Lane;

static tbShape shape_of(const PeerBody* b)
{
  if (b->kind == PEER_SPHERE) return tb_shape_sphere(b->half[0]);
  if (b->kind == PEER_CAPSULE) return tb_shape_capsule(b->half[0], 2 * (b->half[2] - b->half[0]));
  return tb_shape_box(tb_vec3(2 * b->half[0], 2 * b->half[1], 2 * b->half[2]));
}

static Lane* open_lane(const PeerScene* scene, const char* scheme)
{
  Lane* l = calloc(1, sizeof *l);
  l->ctx = tb_default_context(), l->options = tb_default_step_options();
  l->options.scheme = scheme;
  l->id = calloc((size_t)scene->count, sizeof *l->id);
  tbWorldDef def = tb_default_world_def();
  tbMaterialDef material = tb_default_material_def();
  material.name = "box", material.friction = tb_friction(scene->mu);
  tbMaterialId m;
  if (tb_world_create(&l->ctx, &def, &l->world) != TB_OK) abort();
  if (tb_world_add_material(&l->ctx, l->world, &material, &m) != TB_OK) abort();
  for (int i = 0; i < scene->count; i++) {
    const PeerBody* b = &scene->body[i];
    tbShape shape = shape_of(b);
    tbBodyDef body = tb_default_body_def();
    body.kind = b->mass > 0 ? TB_BODY_DYNAMIC : TB_BODY_FIXED, body.material = m;
    body.shapes = &shape, body.shape_count = 1, body.mass = b->mass;
    body.position = tb_vec3(b->x[0], b->x[1], b->x[2]);
    body.orientation = tb_quat(b->q[0], b->q[1], b->q[2], b->q[3]);
    if (tb_world_add_body(&l->ctx, l->world, &body, &l->id[i]) != TB_OK) abort();
  }
  return l;
}

static void* open_real_time(const PeerScene* scene) { return open_lane(scene, "soft-step"); }
static void* open_exact(const PeerScene* scene) { return open_lane(scene, "semi-implicit"); }

static void step_lane(void* world, double dt)
{
  Lane* l = world;
  l->options.dt = dt;
  if (tb_world_step(&l->ctx, l->world, &l->options, &l->report) != TB_OK) puts(l->ctx.error.message), abort();
}

static void pose_lane(void* world, int i, PeerPose* out)
{
  const Lane* l = world;
  tbBodyState s = tb_body_state(l->world, l->id[i]);
  *out = (PeerPose){{s.position.x, s.position.y, s.position.z},
                    {s.orientation.w, s.orientation.x, s.orientation.y, s.orientation.z},
                    {s.velocity.x, s.velocity.y, s.velocity.z}};
}

// The judge is asked once more for what the step left, outside of the time that is measured.
static double residual_lane(void* world)
{
  Lane* l = world;
  tbStepOptions asked = l->options;
  asked.certify = 1;
  if (tb_world_step(&l->ctx, l->world, &asked, &l->report) != TB_OK) return -1;
  return l->report.residual.velocity;
}

static void close_lane(void* world)
{
  Lane* l = world;
  tb_world_free(&l->ctx, l->world);
  free(l->id);
  free(l);
}

static const Peer peers[] = {
    {"Tribo soft-step", open_real_time, step_lane, pose_lane, residual_lane, close_lane},
    {"Tribo semi-implicit", open_exact, step_lane, pose_lane, residual_lane, close_lane},
};

// Scenes: boxes, balls and capsules of a density of 1000 kg/m³, μ 0.5.

static void add_kind(PeerScene* s, PeerKind kind, tbVec3 half, tbVec3 x, tbQuat q, double density)
{
  double r = half.x, volume = 8 * half.x * half.y * half.z, ball = 4.0 / 3 * TB_PI * r * r * r;
  if (kind != PEER_BOX) volume = ball * (1 + 1.5 * (half.z - r) / r);
  s->body = realloc(s->body, (size_t)(s->count + 1) * sizeof *s->body);
  s->body[s->count++] =
      (PeerBody){kind, {half.x, half.y, half.z}, {x.x, x.y, x.z}, {q.w, q.x, q.y, q.z}, density * volume};
}

static void add(PeerScene* s, tbVec3 half, tbVec3 x, tbQuat q, double density)
{
  add_kind(s, PEER_BOX, half, x, q, density);
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

// mixed: boxes, balls and capsules in turn, else all of one kind.
static PeerScene pile(int side, int steps, bool mixed, PeerKind kind, const char* name)
{
  static const tbVec3 size[] = {
      [PEER_BOX] = {0.5, 0.5, 0.5}, [PEER_SPHERE] = {0.6, 0.6, 0.6}, [PEER_CAPSULE] = {0.4, 0.4, 0.85}};
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
    double u[3];
    for (int k = 0; k < 3; k++) {
      r = r * 6364136223846793005u + 1442695040888963407u;
      u[k] = (double)(r >> 40) / 16777216.0 - 0.5;
    }
    tbVec3 x = tb_vec3(cell * (i % side - 0.5 * (side - 1)), cell * (i / side % side - 0.5 * (side - 1)),
                       1 + cell * (double)(i / (side * side)));
    PeerKind own = mixed ? (PeerKind)(i % 3) : kind;
    add_kind(&s, own, size[own], x, tb_quat_exp(tb_scale3(6, tb_vec3(u[0], u[1], u[2]))), 1000);
  }
  return s;
}

typedef struct {
  const Peer* peer;
  void* world;
  double* ms;
  double deepest; // overlap of any step that was looked at
} Runner;

static double overlap_now(const PeerScene* s, const Runner* r, PeerPose* pose)
{
  for (int i = 0; i < s->count; i++) r->peer->pose(r->world, i, &pose[i]);
  return peer_overlap(s, pose);
}

static int ascending(const void* a, const void* b)
{
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void report(const PeerScene* s, Runner* r, double reference, FILE* csv)
{
  PeerPose* pose = calloc((size_t)s->count, sizeof *pose);
  double mean = 0, top = 0;
  for (int i = 0; i < s->steps; i++) mean += r->ms[i] / s->steps;
  qsort(r->ms, (size_t)s->steps, sizeof *r->ms, ascending);
  double deep = overlap_now(s, r, pose);
  const PeerBody* last = &s->body[s->count - 1];
  for (int c = 0; c < 3; c++) top += pow(pose[s->count - 1].x[c] - last->x[c], 2);
  double left = r->peer->residual ? r->peer->residual(r->world) : -1;
  printf("  %-20s %9.3f ms mean %9.3f median %9.3f worst  %6.2f ×  overlap %.4f m, at most %.4f  last body "
         "moved %.4f m",
         r->peer->name, mean, r->ms[s->steps / 2], r->ms[s->steps - 1], reference > 0 ? mean / reference : 1,
         deep, r->deepest, sqrt(top));
  if (left >= 0) printf("  %.1e m/s", left);
  putchar('\n');
  if (csv)
    fprintf(csv, "%s,%s,%g,%g,%g,%g,%g,%g,%g\n", s->name, r->peer->name, mean, r->ms[s->steps / 2],
            r->ms[s->steps - 1], deep, r->deepest, sqrt(top), left);
  free(pose);
}

enum { LOOK = 10 }; // steps between two looks at the overlaps

static void race(const PeerScene* s, bool exact, FILE* csv)
{
  Runner r[8];
  int count = 0;
  r[count++].peer = &peers[0];
  if (exact) r[count++].peer = &peers[1];
#ifdef TB_HAVE_BULLET
  r[count++].peer = &peer_bullet;
#endif
#ifdef TB_HAVE_ODE
  r[count++].peer = &peer_ode;
#endif
  PeerPose* pose = calloc((size_t)s->count, sizeof *pose);
  printf("%s: %d bodies, %d steps of 1/60 s, one thread\n", s->name, s->count, s->steps);
  for (int k = 0; k < count; k++)
    r[k].world = r[k].peer->open(s), r[k].ms = calloc((size_t)s->steps, sizeof(double)), r[k].deepest = 0;
  for (int i = 0; i < s->steps; i++)
    for (int k = 0; k < count; k++) {
      double begun = processor_ms();
      r[k].peer->step(r[k].world, 1.0 / 60);
      r[k].ms[i] = processor_ms() - begun;
      if (i % LOOK == LOOK - 1) r[k].deepest = fmax(r[k].deepest, overlap_now(s, &r[k], pose));
    }
  free(pose);
  double reference = 0;
  for (int i = 0; i < s->steps; i++) reference += r[0].ms[i] / s->steps;
  for (int k = 0; k < count; k++) {
    report(s, &r[k], reference, csv);
    r[k].peer->close(r[k].world);
    free(r[k].ms);
  }
  free(s->body);
}

int main(int count, char** argument)
{
  FILE* csv = count > 1 ? fopen(argument[1], "w") : NULL;
  if (csv)
    fputs("scene,engine,mean_ms,median_ms,worst_ms,overlap_m,largest_overlap_m,moved_m,residual_m_s\n", csv);
  PeerScene all[] = {stack(1, "stack of ten"),
                     stack(100, "stack of ten, its top 100 times as heavy"),
                     pyramid(),
                     pile(6, 200, false, PEER_BOX, "pile of 216"),
                     pile(10, 200, false, PEER_BOX, "pile of 1000"),
                     pile(10, 200, false, PEER_SPHERE, "pile of 1000 balls"),
                     pile(10, 200, false, PEER_CAPSULE, "pile of 1000 capsules"),
                     pile(10, 200, true, PEER_BOX, "pile of 1000 boxes, balls and capsules")};
  for (int i = 0; i < 8; i++)
    if (count < 3 || strstr(all[i].name, argument[2])) race(&all[i], i < 3, csv);
    else free(all[i].body);
  if (csv) fclose(csv);
  return 0;
}
