// SPDX-License-Identifier: Apache-2.0
// Table 5 of the course as the library has it: what each model of friction does is measured, not stated. A
// block slides on a floor, both of the model, towards sixteen directions for one step each; and once more
// with twice the weight, and slowly.
#include "cli/args.h"

#include "tribo/step.h"

#include <math.h>
#include <stdio.h>

enum { WAYS = 16 };
static const double SPEED = 10, GRAVITY = 9.81; // m/s, m/s²

typedef struct {
  const char *name, *shape, *frame;
  int parameters;
  tbFriction floor, block;
} Model;

// How the block slides on the floor.
typedef struct {
  int way;
  double speed, gravity;
  bool block_first; // listed before the floor
} Slide;

// The friction on the block over the normal impulse.
static tbStatus push(tbContext* ctx, const Model* m, Slide s, double f[2])
{
  tbWorldDef def = tb_default_world_def();
  tbStepOptions o = tb_default_step_options();
  tbWorld* w = NULL;
  tbBodyId block = {0}, id;
  double angle = 2 * TB_PI * s.way / WAYS + 0.1, normal = 0;
  o.solver.velocity_tolerance = 1e-12, o.dt = 1e-5; // so short that friction does not turn the sliding
  def.gravity = tb_vec3(0, 0, -s.gravity);
  TB_TRY(tb_world_create(ctx, &def, &w));
  tbStatus status = TB_OK;
  int texture = 0; // facets that lean either way, one steeper than the other
  tbVec3 facets[2] = {{-0.2, 0, 1}, {1, 0, 1}};
  if (m->floor.texture) status = tb_world_add_texture(ctx, w, 2, 1, facets, &texture);
  for (int k = 0; k < 2 && status == TB_OK; k++) {
    bool is_block = (k == 0) == s.block_first;
    tbShape box = tb_shape_box(is_block ? tb_vec3(1, 1, 0.1) : tb_vec3(40, 40, 1));
    tbBodyDef b = tb_default_body_def();
    b.shapes = &box, b.shape_count = 1, b.friction = is_block ? &m->block : &m->floor;
    b.position = tb_vec3(0, 0, is_block ? 0.05 : -0.5), b.kind = is_block ? TB_BODY_DYNAMIC : TB_BODY_FIXED;
    if (is_block) b.velocity = tb_vec3(s.speed * cos(angle), s.speed * sin(angle), 0);
    status = tb_world_add_body(ctx, w, &b, &id);
    if (is_block) block = id;
  }
  tbVec3 before = tb_body_state(w, block).velocity;
  if (status == TB_OK) status = tb_world_step(ctx, w, &o, NULL);
  if (status == TB_OK) {
    tbVec3 gained = tb_sub3(tb_body_state(w, block).velocity, before);
    normal = s.gravity * o.dt;
    f[0] = gained.x / normal, f[1] = gained.y / normal;
  }
  tb_world_free(ctx, w);
  return status;
}

static const char* yes(bool is) { return is ? "yes" : "no"; }

// How friction grows with the normal force, from a weight to twice as much.
static const char* scaling_of(const double once[2], const double twice[2])
{
  double linear = hypot(twice[0] - once[0], twice[1] - once[1]);
  double constant = hypot(2 * twice[0] - once[0], 2 * twice[1] - once[1]);
  return linear < 1e-4 ? "linear" : constant < 1e-4 ? "constant" : "affine";
}

static tbStatus measure(tbContext* ctx, const Model* m)
{
  double f[WAYS][2], swapped[2], twice[2], slowly[2], least = INFINITY, most = 0, sides = 0, order = 0,
                                                      miss = 0;
  TB_TRY(push(ctx, m, (Slide){0, SPEED, 2 * GRAVITY, false}, twice));
  TB_TRY(push(ctx, m, (Slide){0, 0.05 * SPEED, GRAVITY, false}, slowly));
  for (int i = 0; i < WAYS; i++) {
    TB_TRY(push(ctx, m, (Slide){i, SPEED, GRAVITY, false}, f[i]));
    TB_TRY(push(ctx, m, (Slide){i, SPEED, GRAVITY, true}, swapped));
    order = fmax(order, hypot(f[i][0] - swapped[0], f[i][1] - swapped[1]));
    least = fmin(least, hypot(f[i][0], f[i][1])), most = fmax(most, hypot(f[i][0], f[i][1]));
  }
  for (int i = 0; i < WAYS; i++) {
    int back = (i + WAYS / 2) % WAYS;
    double v[2] = {cos(2 * TB_PI * i / WAYS + 0.1), sin(2 * TB_PI * i / WAYS + 0.1)};
    sides = fmax(sides, hypot(f[i][0] + f[back][0], f[i][1] + f[back][1]));
    for (int k = 0; k < WAYS; k++) // another way's force would take more power
      miss = fmax(miss, (f[i][0] - f[k][0]) * v[0] + (f[i][1] - f[k][1]) * v[1]);
  }
  bool by_speed = hypot(slowly[0] - f[0][0], slowly[1] - f[0][1]) > 1e-4;
  printf("%-11s %-9s %10d  %-34s %-8s %-5s %-5s %-9s %-4s %s\n", m->name, m->shape, m->parameters, m->frame,
         scaling_of(f[0], twice), yes(by_speed), yes(most - least > 1e-4), yes(sides > 1e-4),
         yes(miss < 1e-4), yes(order < 1e-6));
  return TB_OK;
}

void list_friction(void)
{
  tbFriction disc = tb_friction(0.4),
             ellipse = {.kind = TB_FRICTION_ELLIPTIC, .mu_t = 0.2, .mu_b = 0.5, .direction = {1, 0, 0}},
             stick = {.kind = TB_FRICTION_MATCHSTICK,
                      .mu = 0.4,
                      .mu_t = 0.2,
                      .mu_b = 0.5,
                      .direction = {1, 0, 0}},
             tensor = {.kind = TB_FRICTION_TENSOR,
                       .matrix = {0.1, 0.05, 0, 0.25},
                       .kappa = 1,
                       .direction = {1, 0, 0}},
             turned = stick, spinning = disc, sticky = disc, bounded = disc, slowing = disc,
             box = {.kind = TB_FRICTION_TEXTURE, .direction = {1, 0, 0}, .texture = 1, .directions = 4},
             polygon = box;
  polygon.directions = 8;
  spinning.kind = TB_FRICTION_CONTENSOU, spinning.torsion = 0.01;
  sticky.adhesion = 500, bounded.tresca = 500, slowing.static_ratio = 1.5, slowing.stribeck = 2;
  turned.direction = tb_vec3(1, 1, 0);
  const Model models[] = {
      {"coulomb", "circle", "none", 1, disc, disc},
      {"elliptic", "ellipse", "fixed in each surface", 2, ellipse, ellipse},
      {"matchstick", "ellipse", "mean of both structure directions", 3, stick, turned},
      {"tensor", "affine", "fixed in each surface", 9, tensor, tensor},
      {"texture", "box", "mean of both textures' directions", 4, box, disc},
      {"texture", "polygon", "mean of both textures' directions", 8, polygon, disc},
      {"contensou", "ellipsoid", "none", 2, spinning, spinning},
      {"stribeck", "circle", "none", 3, slowing, slowing},
      {"tresca", "box", "along the sliding", 1, bounded, bounded},
      {"adhesion", "circle", "none", 2, sticky, sticky},
  };
  tbContext ctx = tb_default_context();
  printf("%-11s %-9s %10s  %-34s %-8s %-5s %-5s %-9s %-4s %s\n", "model", "shape", "parameters", "frame",
         "scaling", "speed", "aniso", "one-sided", "pmd", "symmetric");
  for (size_t i = 0; i < sizeof models / sizeof *models; i++)
    if (measure(&ctx, &models[i]) != TB_OK) fprintf(stderr, "tribo list friction: %s\n", ctx.error.message);
  printf(
      "\nscaling: how friction grows with the normal force; speed: it depends on how fast the surfaces "
      "slide;\naniso: the force depends on the way; one-sided: it is another one back; pmd: no other of its "
      "forces\n"
      "dissipates more; symmetric: which body is listed first makes no difference. Measured by this "
      "build.\nWhich schemes and solvers take which law: `tribo list matrix`.\n");
}
