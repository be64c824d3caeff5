// SPDX-License-Identifier: Apache-2.0
// Kaufman, Sueda, James and Pai, Staggered Projections for Frictional Contact in Multibody Systems (2008):
// structures that stand, hits, composites, jamming and chatter (the tables are in paper_kaufman_tables.c).
#include "cli/paper_kaufman.h"

#include <math.h>
#include <string.h>

// ---- structures that stand, and that are hit ----

// How far bodies are from where they were, at most.
static double moved(const tbWorld* w, const tbVec3* from, int count)
{
  double most = 0;
  for (int i = 0; i < count; i++)
    most = fmax(most, tb_distance3(tb_body_state(w, tb_world_body_at(w, i)).position, from[i]));
  return most;
}

static tbStatus stand(Paper* p, const char* name, const char* scene, double seconds)
{
  tbScene s;
  TB_TRY(paper_scene(p, scene, &s, "dt=0.01"));
  s.step.solver.velocity_tolerance = 1e-7;
  int count = tb_world_body_count(s.world);
  tbVec3* from = TB_NEW(p->ctx, tbVec3, (size_t)count);
  tbStatus status = from ? paper_run(p, s.world, &s.step, 1) : TB_ERROR_MEMORY;
  for (int i = 0; status == TB_OK && i < count; i++)
    from[i] = tb_body_state(s.world, tb_world_body_at(s.world, i)).position;
  if (status == TB_OK) status = paper_run(p, s.world, &s.step, seconds);
  double drift = status == TB_OK ? moved(s.world, from, count) : 0;
  tb_free(p->ctx, from);
  tb_scene_free(p->ctx, &s);
  if (status != TB_OK) return status;
  paper_claim(p, drift < 1e-3, "ten minutes without drift", "%s: %.2g mm after %g s", name, 1e3 * drift,
              seconds);
  return TB_OK;
}

// A ball that is thrown at a stone of an arch which stands.
static tbStatus throw_at(Paper* p, tbWorld* w, tbVec3 stone, bool leg)
{
  tbShape ball = tb_shape_sphere(0.15);
  tbBodyDef def = tb_default_body_def();
  def.shapes = &ball, def.shape_count = 1, def.mass = 100, def.material = tb_world_find_material(w, "plain");
  def.position = tb_add3(stone, leg ? tb_vec3(-0.6, 0, 0.1) : tb_vec3(0, 0, 0.6));
  def.velocity = leg ? tb_vec3(6, 0, 0) : tb_vec3(0, 0, -2);
  return tb_world_add_body(p->ctx, w, &def, NULL);
}

static tbStatus hit(Paper* p, bool leg)
{
  tbScene s;
  TB_TRY(paper_scene(p, "stones", &s, "dt=0.005"));
  int stones = tb_world_body_count(s.world) - 2;
  tbBodyId crown = tb_world_body_at(s.world, 1 + stones / 2),
           foot = tb_world_body_at(s.world, 1 + stones / 5);
  tbVec3 at = tb_body_state(s.world, leg ? foot : crown).position;
  tbStatus status = paper_run(p, s.world, &s.step, 0.5);
  if (status == TB_OK) status = throw_at(p, s.world, at, leg);
  double before = tb_body_state(s.world, crown).position.z;
  if (status == TB_OK) status = paper_run(p, s.world, &s.step, 2);
  double fell = before - tb_body_state(s.world, crown).position.z;
  tb_scene_free(p->ctx, &s);
  if (status != TB_OK) return status;
  paper_claim(p, leg ? fell > 0.3 : fell < 0.15,
              leg ? "a hit on a leg brings it down" : "a hit on the keystone is survived",
              "the crown is %.3f m lower two seconds later", fell);
  return TB_OK;
}

static tbStatus structures(Paper* p)
{
  paper_section(p, "Arch and card house",
                "Rigid structures that stand by friction alone, and the arch when it is hit.");
  double seconds = p->quick ? 1 : 600;
  TB_TRY(stand(p, "arch", "stones", seconds));
  TB_TRY(stand(p, "cards", "house", seconds));
  TB_TRY(hit(p, false));
  TB_TRY(hit(p, true));
  paper_section_end(p);
  return TB_OK;
}

// ---- figure 5: composites ----

// How far the lowest strand falls in a time.
static tbStatus hang(Paper* p, double mu, double young, double seconds, double* fell)
{
  enum { MOST = 16 };
  tbScene s;
  tbVec3 before[MOST];
  TB_TRY(paper_scene(p, "hanging", &s, "materials.plain.friction=%.17g reduced.*.young=%.17g", mu, young));
  s.step.rounds = 20;
  int count = tb_world_body_count(s.world) < MOST ? tb_world_body_count(s.world) : MOST;
  for (int i = 0; i < count; i++) before[i] = tb_body_state(s.world, tb_world_body_at(s.world, i)).position;
  tbStatus status = paper_run(p, s.world, &s.step, seconds);
  *fell = 0;
  for (int i = 0; i < count; i++)
    *fell = fmax(*fell, before[i].z - tb_body_state(s.world, tb_world_body_at(s.world, i)).position.z);
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus figure_5(Paper* p)
{
  paper_section(
      p, "Figure 5: hanging composites",
      "Eight woven strands hang on two pegs; the lowest strand's fall says whether they hold together.");
  static const double mu[] = {0.1, 0.3, 0.5}, young[] = {6e7, 1e8};
  double seconds = p->quick ? 0.03 : 0.45, fell[2][3] = {{0}};
  for (int k = p->quick ? 1 : 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      TB_TRY(hang(p, mu[i], young[k], seconds, &fell[k][i]));
      printf("    E %.0e, μ %g: the lowest strand %.3f m lower after %g s\n", young[k], mu[i], fell[k][i],
             seconds);
    }
  if (!p->quick) {
    paper_claim(p, fmax(fell[1][1], fell[1][2]) < 0.06 && fell[1][0] > 0.2,
                "stiffer strands hold at μ .3 and .5 and come apart at μ .1", "%.3f m, %.3f m and %.3f m",
                fell[1][1], fell[1][2], fell[1][0]);
    paper_claim(p, fmin(fell[0][0], fell[0][1]) > 0.2, "softer strands come apart quickly at μ .1 and .3",
                "%.3f m and %.3f m", fell[0][0], fell[0][1]);
    paper_claim(p, fell[0][2] > 1.1 * fell[1][2] && fell[0][2] < 0.5 * fell[0][1],
                "and creep apart slowly at μ .5", "%.3f m, stiffer %.3f m", fell[0][2], fell[1][2]);
  }
  paper_section_end(p);
  return TB_OK;
}

// ---- jamming ----

static tbStatus jam(Paper* p, double mu, double* fell)
{
  tbScene s;
  TB_TRY(paper_scene(p, "jam", &s, "materials.plain.friction=%.17g", mu));
  tbStatus status = paper_run(p, s.world, &s.step, p->quick ? 0.05 : s.time);
  *fell = 1 - tb_body_state(s.world, tb_world_find_body(s.world, "block")).position.z;
  tb_scene_free(p->ctx, &s);
  return status;
}

static tbStatus jamming(Paper* p)
{
  paper_section(p, "Jamming", "A soft block in a tube.");
  static const double mu[] = {0, 0.2, 1.0};
  double fell[3];
  for (int i = 0; i < 3; i++) TB_TRY(jam(p, mu[i], &fell[i]));
  paper_claim(
      p, p->quick || (fell[0] > fell[1] && fell[1] > fell[2]), "jamming changes plausibly as μ decreases",
      "in the same time it falls %.2f m at μ 0, %.2f m at μ 0.2, %.2f m at μ 1", fell[0], fell[1], fell[2]);
  paper_section_end(p);
  return TB_OK;
}

// ---- figure 5, right: chairs that chatter ----

// How often per second a signal goes from well below its mean to well above it: from the first time to the
// last. Half of its root mean square to each side, so that ripples on it do not count.
static double frequency_of(const double* x, int count, double dt)
{
  double mean = 0, square = 0;
  for (int i = 0; i < count; i++) mean += x[i] / count;
  for (int i = 0; i < count; i++) square += (x[i] - mean) * (x[i] - mean) / count;
  double band = 0.5 * sqrt(square);
  bool below = false;
  int rises = 0, first = 0, last = 0;
  for (int i = 0; i < count; i++) {
    if (x[i] < mean - band) below = true;
    if (!below || !(x[i] > mean + band)) continue;
    first = rises++ ? first : i;
    last = i, below = false;
  }
  return rises > 1 ? (rises - 1) / ((last - first) * dt) : 0;
}

// The velocity of a foot along the slope, over the last two seconds of a scene: its least value, and, less
// the chair's, its frequency and its size in the first second and in the last.
typedef struct {
  double least, frequency, size[2];
  double upright; // 1: the chair stands as it was put
} Chatter;

static double rms(const double* x, int count)
{
  double sum = 0;
  for (int i = 0; i < count; i++) sum += x[i] * x[i];
  return sqrt(sum / fmax(count, 1));
}

static tbStatus chatter(Paper* p, const char* scene, double slope, double dt, Chatter* out)
{
  const tbVec3 down = tb_vec3(cos(slope), 0, -sin(slope));
  tbScene s;
  TB_TRY(paper_scene(p, scene, &s, "dt=%.17g", dt));
  tbWorld* w = s.world;
  tbBodyId id = tb_world_find_body(w, "chair");
  int steps = (int)((p->quick ? 0.02 : 2) / dt);
  double* foot = TB_NEW(p->ctx, double, (size_t)steps + 1);
  tbStatus status = foot ? paper_run(p, w, &s.step, p->quick ? 0.01 : s.time - 2) : TB_ERROR_MEMORY;
  *out = (Chatter){.least = INFINITY};
  for (int i = 0; status == TB_OK && i < steps; i++) {
    status = tb_world_step(p->ctx, w, &s.step, NULL);
    double v = tb_dot3(down, tb_body_node_velocities(w, id)[0]);
    out->least = fmin(out->least, v);
    foot[i] = v - tb_dot3(down, tb_body_state(w, id).velocity);
  }
  tbVec3 up = tb_quat_rotate(tb_body_state(w, id).orientation, tb_vec3(0, 0, 1));
  out->upright = up.x * sin(slope) + up.z * cos(slope);
  if (status == TB_OK) {
    out->frequency = frequency_of(foot, steps, dt);
    for (int k = 0; k < 2; k++) out->size[k] = rms(foot + k * (steps / 2), steps / 2);
  }
  tb_free(p->ctx, foot);
  tb_scene_free(p->ctx, &s);
  return status;
}

// A chair that slides down a slope chatters until it has become too fast for its feet to stick. One that is
// drawn at one speed goes on in a cycle.
static tbStatus stick_slip(Paper* p)
{
  paper_section(p, "Figure 5, right: stick-slip",
                "A plastic chair slides down a slope, and one is drawn over a floor at 0.5 m/s; the velocity "
                "of a foot against the chair.");
  const double slope = 0.15; // of the scene
  Chatter slide[2], drawn[2];
  for (int k = 0; k < (p->quick ? 1 : 2); k++) {
    TB_TRY(chatter(p, "chatter", slope, k ? 5e-4 : 1e-3, &slide[k]));
    TB_TRY(chatter(p, "driven", 0, k ? 5e-4 : 1e-3, &drawn[k]));
  }
  if (!p->quick) {
    paper_claim(
        p, fmin(slide[0].size[0], slide[1].size[0]) > 0.02 && fmin(slide[0].upright, slide[1].upright) > 0.95,
        "legs chatter, of a chair that stands", "%.3f m/s and, with half the step, %.3f m/s",
        slide[0].size[0], slide[1].size[0]);
    paper_claim(p, slide[0].frequency > 0 && fabs(slide[1].frequency / slide[0].frequency - 1) < 0.03,
                "periodic: the frequency does not follow the step",
                "%.2f Hz and, with half the step, %.2f Hz", slide[0].frequency, slide[1].frequency);
    paper_claim(p,
                drawn[0].size[0] > 0.1 && fabs(drawn[0].size[1] / drawn[0].size[0] - 1) < 0.02 &&
                    fabs(drawn[0].least) < 5e-3,
                "drawn at one speed, a foot sticks and slips in a cycle that lasts",
                "%.4f m/s in a second, %.4f m/s in the next; slowest %.1e m/s", drawn[0].size[0],
                drawn[0].size[1], drawn[0].least);
    paper_claim(p, drawn[0].frequency > 0 && fabs(drawn[1].frequency / drawn[0].frequency - 1) < 0.01,
                "whose frequency does not follow the step either", "%.3f Hz and, with half the step, %.3f Hz",
                drawn[0].frequency, drawn[1].frequency);
  }
  paper_section_end(p);
  return TB_OK;
}

tbStatus paper_kaufman(Paper* p)
{
  static const struct {
    const char* name;
    tbStatus (*run)(Paper* p);
  } parts[] = {
      {"structures", structures}, {"figure-5", figure_5}, {"jamming", jamming}, {"chatter", stick_slip}};
  enum { PARTS = sizeof parts / sizeof *parts };
  const char* names[PARTS + KAUFMAN_ROWS + 1] = {NULL};
  for (int i = 0; i < KAUFMAN_ROWS; i++) names[i] = kaufman_row(i);
  for (int i = 0; i < PARTS; i++) names[KAUFMAN_ROWS + i] = parts[i].name;
  TB_TRY(paper_check_only(p, names));
  bool row = !p->only;
  for (int i = 0; i < KAUFMAN_ROWS; i++) row |= p->only && strcmp(p->only, kaufman_row(i)) == 0;
  if (row) TB_TRY(kaufman_tables(p));
  for (int i = 0; i < PARTS; i++)
    if (!p->only || strcmp(p->only, parts[i].name) == 0) TB_TRY(parts[i].run(p));
  return TB_OK;
}
