// SPDX-License-Identifier: Apache-2.0
// Chapter 6: friction that depends on the direction. Blocks on an incline against closed forms, and the
// gallery's scenes of figure 35 with their grooves turned.
//
// A block that starts at rest slides along a straight line, s v̂ = g_T − g_n f(v̂), with f(v̂) = M² v̂/‖M v̂‖ of
// an ellipse with friction matrix M and L v̂ of a tensor: solved here by bisection of the part of s v̂ across
// v̂.
#include "cli/paper_course.h"

#include "tribo/change.h"
#include "tribo/gallery.h"
#include "tribo/step.h"

#include <math.h>
#include <string.h>

static const double GRAVITY = 9.81, SLOPE = 0.8, SECONDS = 0.25;

typedef struct {
  tbFriction floor, block;
  const tbVec3* facets; // of the floor's texture, two; null: none
} Surfaces;

// The velocity of a block after a while, in the incline's axes: x down, y across.
static tbStatus slide(const Paper* p, const Surfaces* s, double slope, tbVec3* v)
{
  tbScene scene;
  tbFriction rough = s->floor;
  TB_TRY(paper_scene(p, "incline", &scene, "gravity=[%.17g,0,%.17g]", GRAVITY * sin(slope),
                     -GRAVITY * cos(slope)));
  tbWorld* w = scene.world;
  tbBodyId block = tb_world_find_body(w, "block"), floor = tb_world_find_body(w, "floor");
  tbStatus status = s->facets ? tb_world_add_texture(p->ctx, w, 2, 1, s->facets, &rough.texture) : TB_OK;
  if (status == TB_OK) status = tb_body_set_friction(p->ctx, w, floor, &rough);
  if (status == TB_OK) status = tb_body_set_friction(p->ctx, w, block, &s->block);
  if (status == TB_OK) status = paper_run(p, w, &scene.step, SECONDS);
  if (status == TB_OK) *v = tb_body_state(w, block).velocity;
  tb_scene_free(p->ctx, &scene);
  return status;
}

// Acceleration across the direction of sliding; *along it.
static double across(const double m[4], bool tensor, double slope, double angle, double* along)
{
  double c = cos(angle), s = sin(angle), x = m[0] * c + m[1] * s, y = m[2] * c + m[3] * s;
  double size = tensor ? 1 : hypot(x, y), fx = tensor ? x : (m[0] * x + m[1] * y) / size,
         fy = tensor ? y : (m[2] * x + m[3] * y) / size;
  double ax = GRAVITY * (sin(slope) - cos(slope) * fx), ay = -GRAVITY * cos(slope) * fy;
  *along = ax * c + ay * s;
  return ay * c - ax * s;
}

static void expect(const double m[4], bool tensor, double slope, double* angle, double* s)
{
  *angle = 0, *s = 0;
  for (int i = 0; i < 360; i++) {
    double lo = -TB_PI / 2 + TB_PI * i / 360, hi = lo + TB_PI / 360, a, b,
           x = across(m, tensor, slope, lo, &a);
    if (!(x * across(m, tensor, slope, hi, &b) <= 0)) continue;
    for (int k = 0; k < 50; k++) {
      double mid = (lo + hi) / 2;
      if (x * across(m, tensor, slope, mid, &a) <= 0) hi = mid;
      else lo = mid;
    }
    if (a > *s) *s = a, *angle = lo;
  }
}

typedef struct {
  double degrees, share; // the worst so far: of directions, and of accelerations
} Miss;

static tbStatus compare(Paper* p, tbOut* table, const char* what, double parameter, const Surfaces* s,
                        const double m[4], bool tensor, Miss* miss)
{
  tbVec3 v = tb_zero3();
  double angle, size;
  expect(m, tensor, SLOPE, &angle, &size);
  TB_TRY(slide(p, s, SLOPE, &v));
  double found = atan2(v.y, v.x), rate = hypot(v.x, v.y) / SECONDS;
  out_format(table, "%s,%g,%.5f,%.5f,%.6f,%.6f\n", what, parameter, found * 180 / TB_PI, angle * 180 / TB_PI,
             rate, size);
  miss->degrees = fmax(miss->degrees, fabs(found - angle) * 180 / TB_PI);
  miss->share = fmax(miss->share, fabs(rate / size - 1));
  return TB_OK;
}

// Structures `degrees` apart, about a bisector that turns as well.
static tbStatus judge_matchsticks(Paper* p, tbOut* table)
{
  Miss miss = {0, 0};
  int pairs = 0;
  for (int i = 0; i <= 90; i += p->quick ? 30 : 10)
    for (int k = 0; k < (p->quick ? 2 : 6); k++, pairs++) {
      double theta = i * TB_PI / 180, middle = 0.1 + k * TB_PI / 6, d = 1 - i / 90.0;
      Surfaces s = {0};
      for (int side = 0; side < 2; side++) {
        double at = middle + (side ? 0.5 : -0.5) * theta;
        *(side ? &s.block : &s.floor) = (tbFriction){.kind = TB_FRICTION_MATCHSTICK,
                                                     .mu = 0.45,
                                                     .mu_t = 0.2,
                                                     .mu_b = 0.7,
                                                     .direction = tb_vec3(cos(at), sin(at), 0)};
      }
      double a = d * 0.2 + (1 - d) * 0.45, b = d * 0.7 + (1 - d) * 0.45, c = cos(middle), n = sin(middle);
      double m[4] = {a * c * c + b * n * n, (a - b) * c * n, (a - b) * c * n, a * n * n + b * c * c};
      TB_TRY(compare(p, table, "matchstick", i, &s, m, false, &miss));
    }
  paper_claim(p, miss.degrees < 0.1 && miss.share < 1e-3,
              "matchstick: a cone from the structure directions of both surfaces (algorithm 21)",
              "%d pairs of structures: blocks slide within %.1e° and %.1e %% of the ellipse's closed form",
              pairs, miss.degrees, 100 * miss.share);
  return TB_OK;
}

static tbStatus judge_tensors(Paper* p, tbOut* table)
{
  Miss miss = {0, 0};
  double least = 1;
  for (int i = 0; i < (p->quick ? 4 : 16); i++) {
    double x = 0.02 * i, L[4] = {0.5, 0.15 - x, x - 0.1, 0.25 + x};
    Surfaces s = {.floor = {.kind = TB_FRICTION_TENSOR, .kappa = 1, .direction = tb_vec3(1, 0, 0)}};
    for (int k = 0; k < 4; k++) s.floor.matrix[k] = L[k] / 2;
    s.block = s.floor;
    TB_TRY(compare(p, table, "tensor", i, &s, L, true, &miss));
    for (int k = 0; k < 64;
         k++) { // what the force dissipates, of the most that its set allows: σ(v̂) = ‖Lᵀ v̂‖
      double c = cos(k * TB_PI / 32), n = sin(k * TB_PI / 32);
      double gives = L[0] * c * c + (L[1] + L[2]) * c * n + L[3] * n * n,
             most = hypot(L[0] * c + L[2] * n, L[1] * c + L[3] * n);
      least = fmin(least, gives / most);
    }
  }
  paper_claim(p, miss.degrees < 0.1 && miss.share < 1e-3, "friction tensors: f = −λ_n L v̂ (eq. 320)",
              "blocks slide within %.1e° and %.1e %% of the closed form", miss.degrees, 100 * miss.share);
  paper_claim(p, least > 0 && least < 0.999,
              "always dissipating for a positive definite L, but not necessarily maximally dissipating",
              "between %.3f and 1 of the most that the set allows", least);
  return TB_OK;
}

// Facets of one width that lean by 0.2 against x and by 0.9 with it.
static tbStatus judge_sawtooth(Paper* p)
{
  const tbVec3 facets[2] = {{-sin(0.2), 0, cos(0.2)}, {sin(0.9), 0, cos(0.9)}};
  double mu[2], slope[2] = {0, 0}, rate[2] = {0, 0}; // moving towards x, and back
  for (int k = 0; k < 2; k++) mu[k] = sin(k ? 0.9 : 0.2) / 2 * 2 / TB_PI * (k ? 0.9 : 0.2);
  double between = atan(sqrt(mu[0] * mu[1]));
  for (int k = 0; k < 2; k++) {
    Surfaces s = {
        .floor = {.kind = TB_FRICTION_TEXTURE, .directions = 4, .direction = tb_vec3(k ? -1 : 1, 0, 0)},
        .block = tb_friction(0),
        .facets = facets};
    tbVec3 v = tb_zero3();
    TB_TRY(slide(p, &s, between, &v));
    slope[k] = v.x / SECONDS;
    TB_TRY(slide(p, &s, atan(mu[k] + 0.2), &v));
    rate[k] = v.x / SECONDS / (GRAVITY * 0.2 * cos(atan(mu[k] + 0.2))) - 1;
  }
  double held = fmin(fabs(slope[0]), fabs(slope[1])), slid = fmax(fabs(slope[0]), fabs(slope[1]));
  paper_claim(p, held < 1e-6 && slid > 0.1, "a sawtooth slides one way and holds the other (figure 40)",
              "on one slope, %.3f° steep: %.3f m/s² one way, %.1e the other", between * 180 / TB_PI, slid,
              held);
  paper_claim(p, fabs(rate[0]) < 1e-3 && fabs(rate[1]) < 1e-3,
              "one coefficient for each way, the plowing of the facets that face it (eq. 335)",
              "%.4f and %.4f; accelerations within %.1e %%", mu[0], mu[1],
              100 * fmax(fabs(rate[0]), fabs(rate[1])));
  return TB_OK;
}

// ---- figure 35 ----

// Where a body of a gallery scene is after some seconds with its grooves turned, and its velocity.
static tbStatus run_turned(Paper* p, const char* scene, double degrees, double seconds, const char* body,
                           tbBodyState* out, int* below)
{
  const tbGalleryScene* g = tb_gallery_find(scene);
  double value[TB_GALLERY_PARAMETERS];
  tbScene s = {0};
  tb_gallery_defaults(g, value);
  for (int i = 0; i < TB_GALLERY_PARAMETERS && g->parameter[i].name; i++)
    if (strcmp(g->parameter[i].name, "angle_deg") == 0) value[i] = degrees;
  TB_TRY(tb_gallery_load(p->ctx, g, value, NULL, &s));
  tbStatus status = TB_OK;
  for (int i = 0; i < seconds / s.step.dt && status == TB_OK; i++)
    status = tb_world_step(p->ctx, s.world, &s.step, NULL);
  if (status == TB_OK && body) *out = tb_body_state(s.world, tb_world_find_body(s.world, body));
  *below = 0;
  for (int i = 0; i < tb_world_body_count(s.world) && status == TB_OK; i++) {
    tbBodyId id = tb_world_body_at(s.world, i);
    *below += tb_body_mass(s.world, id) > 0 && tb_body_state(s.world, id).position.z < 0.55;
  }
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus judge_grooves(Paper* p)
{
  tbBodyState loose = {0}, firm = {0};
  int below, down, over;
  double slope = 25 * TB_PI / 180, want = GRAVITY * (sin(slope) - 0.3 * cos(slope));
  TB_TRY(run_turned(p, "tyres", 40, 0.5, "trolley", &firm, &below));
  TB_TRY(run_turned(p, "tyres", 90, 0.5, "trolley", &loose, &below));
  double kept = -(cos(slope) * firm.velocity.y + sin(slope) * firm.velocity.z) / 0.5,
         slips = -(cos(slope) * loose.velocity.y + sin(slope) * loose.velocity.z) / 0.5;
  paper_claim(
      p, fabs(kept) < 1e-3 && fabs(slips / want - 1) < 0.01, "tyres: control of frictional behaviour",
      "grooves 40° apart hold a trolley on a road that slopes sideways (%.1e m/s²), 90° apart they do not: "
      "%.4f m/s² of %.4f predicted",
      kept, slips, want);
  TB_TRY(run_turned(p, "hopper", 0, 1.2, NULL, NULL, &down));
  TB_TRY(run_turned(p, "hopper", 90, 1.2, NULL, NULL, &over));
  paper_claim(p, down == 32 && over == 0, "a hopper",
              "%d of 32 bricks leave it with grooves that run down, %d across", down, over);
  TB_TRY(run_turned(p, "grooved-gripper", 20, 4, "box", &loose, &below));
  TB_TRY(run_turned(p, "grooved-gripper", 40, 4, "box", &firm, &below));
  paper_claim(
      p, loose.position.z < 0.1 && firm.position.z > 0.35, "gripping",
      "the box is at %.3f m where the grooves are 40° apart, at %.3f m where they are 20°; 27° are predicted",
      firm.position.z, loose.position.z);
  return TB_OK;
}

tbStatus course_chapter_6(Paper* p)
{
  paper_section(
      p, "Chapter 6: friction that depends on the direction",
      "Blocks on an incline under matchsticks, friction tensors and a sawtooth, against closed forms; 0.1 % "
      "and "
      "0.1° are what the solver's tolerance leaves room for. Then the scenes of figure 35 with their grooves "
      "turned: what changes is counted, or follows from the ellipse of algorithm 21.");
  tbOut* table = paper_table(p, "chapter-6-inclines.csv",
                             "law,parameter,direction_deg,expected_deg,acceleration,expected_acceleration");
  TB_TRY(judge_matchsticks(p, table));
  TB_TRY(judge_tensors(p, table));
  TB_TRY(judge_sawtooth(p));
  TB_TRY(judge_grooves(p));
  paper_section_end(p);
  return TB_OK;
}
