// SPDX-License-Identifier: Apache-2.0
#include "gradient/scenes.h"

#include "test.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static void put(GradientScene* s, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void put(GradientScene* s, const char* format, ...)
{
  size_t at = strlen(s->text);
  va_list args;
  va_start(args, format);
  vsnprintf(s->text + at, sizeof s->text - at, format, args);
  va_end(args);
}

static double of(tbRandom* r, double lo, double hi) { return test_uniform(r, lo, hi); }

static void head(GradientScene* s, double time, double mu, double e)
{
  put(s,
      "{\"tribo\": 1, \"dt\": 0.01, \"time\": %.17g, \"materials\": {\"m\": {\"friction\": %.17g, "
      "\"restitution\": %.17g}}, "
      "\"bodies\": [",
      time, mu, e);
}

static void plane(GradientScene* s, const char* name, double nx, double nz, double offset)
{
  put(s,
      "{\"name\": \"%s\", \"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"plane\", \"normal\": "
      "[%.17g, 0, %.17g], "
      "\"offset\": %.17g}},\n",
      name, nx, nz, offset);
}

static void ball(GradientScene* s, tbRandom* r, const char* name, double radius, double x, double z,
                 double speed)
{
  put(s,
      "{\"name\": \"%s\", \"material\": \"m\", \"shape\": {\"type\": \"sphere\", \"radius\": %.17g}, "
      "\"mass\": %.17g, "
      "\"position\": [%.17g, 0, %.17g], ",
      name, radius, of(r, 0.3, 3), x, z);
  put(s, "\"velocity\": [%.17g, %.17g, %.17g], ", speed * of(r, 0.3, 1), of(r, -1, 1), speed * of(r, -1, 1));
  put(s, "\"angular_velocity\": [%.17g, %.17g, %.17g]}", of(r, -9, 9), of(r, -9, 9), of(r, -9, 9));
}

static void box(GradientScene* s, const char* name, double mass, double x, double z, double size, double tilt,
                double vx, double vy)
{
  put(s,
      "{\"name\": \"%s\", \"material\": \"m\", \"shape\": {\"type\": \"box\", \"size\": [%.17g, %.17g, "
      "0.2]}, \"mass\": %.17g, "
      "\"position\": [%.17g, 0, %.17g], \"orientation\": [%.17g, 0, %.17g, 0], \"velocity\": [%.17g, %.17g, "
      "%.17g]}",
      name, size, 0.8 * size, mass, x, z, cos(tilt / 2), sin(tilt / 2), vx * cos(tilt), vy, -vx * sin(tilt));
}

static void bounce(GradientScene* s, tbRandom* r)
{
  head(s, of(r, 0.4, 0.8), of(r, 0.1, 0.6), of(r, 0.3, 0.9));
  plane(s, "ground", 0, 1, 0);
  plane(s, "wall", -1, 0, -1.2);
  ball(s, r, "a", 0.1, 0, of(r, 0.3, 0.9), 3);
  put(s, "]}");
  strcpy(s->wrt, "a.velocity,a.position,a.angular_velocity,m.friction,m.restitution,a.mass");
}

static void clash(GradientScene* s, tbRandom* r)
{
  head(s, of(r, 0.3, 0.6), of(r, 0.1, 0.6), of(r, 0.3, 0.9));
  plane(s, "ground", 0, 1, 0);
  ball(s, r, "a", 0.1, 0, 0.4, 3);
  put(s, ", ");
  ball(s, r, "b", 0.15, 0.5, 0.42, 0.3);
  put(s, "]}");
  strcpy(s->wrt, "a.velocity,b.velocity,a.mass,b.mass,m.restitution");
}

static void slide(GradientScene* s, tbRandom* r)
{
  double tilt = of(r, 0, 0.3);
  head(s, of(r, 0.3, 0.7), of(r, 0.1, 0.6), 0);
  plane(s, "ground", sin(tilt), cos(tilt), 0);
  box(s, "a", of(r, 0.5, 3), 0.1 * sin(tilt), 0.1 * cos(tilt), 0.4, tilt, 2, of(r, -1, 1));
  put(s, "]}");
  strcpy(s->wrt, "a.velocity,m.friction,a.mass,gravity");
}

static void roll(GradientScene* s, tbRandom* r)
{
  double tilt = of(r, 0.05, 0.3);
  head(s, of(r, 0.3, 0.7), of(r, 0.1, 0.6), 0);
  plane(s, "ground", sin(tilt), cos(tilt), 0);
  ball(s, r, "a", 0.1, 0.1 * sin(tilt), 0.1 * cos(tilt), 0);
  put(s, "]}");
  strcpy(s->wrt, "a.velocity.x,a.velocity.y,a.angular_velocity,m.friction");
}

static void stack(GradientScene* s, tbRandom* r)
{
  head(s, of(r, 0.2, 0.4), of(r, 0.2, 0.6), 0);
  plane(s, "ground", 0, 1, 0);
  box(s, "x", of(r, 0.5, 2), of(r, -0.02, 0.02), 0.1, 0.4, 0, 0, 0);
  put(s, ", ");
  box(s, "a", of(r, 0.5, 2), of(r, -0.02, 0.02), 0.3, 0.3, 0, of(r, 0.3, 1), 0);
  put(s, "]}");
  strcpy(s->wrt, "a.velocity.x,a.mass,x.velocity.x,m.friction");
}

static void pendulum(GradientScene* s, tbRandom* r)
{
  head(s, of(r, 0.3, 0.6), 0.5, 0);
  box(s, "x", of(r, 0.5, 2), 0.15, 0, 0.28, 0, 0, 0);
  put(s, ", ");
  box(s, "a", of(r, 0.5, 2), 0.45, 0, 0.28, 0, 0, of(r, -1, 1));
  put(s, "], \"joints\": [{\"type\": \"ball\", \"b\": \"x\", \"anchor\": [0, 0, 0]}, {\"type\": \"ball\", "
         "\"a\": \"x\", "
         "\"b\": \"a\", \"anchor\": [0.3, 0, 0]}]}");
  strcpy(s->wrt, "a.velocity,a.mass,x.mass,gravity");
}

static void motor(GradientScene* s, tbRandom* r)
{
  head(s, of(r, 0.3, 0.6), 0.5, 0);
  box(s, "x", of(r, 0.5, 2), 0.15, 0, 0.28, 0, 0, 0);
  put(s, ", ");
  box(s, "a", of(r, 0.5, 2), 0.45, 0, 0.28, 0, 0, 0);
  put(s,
      "], \"joints\": [{\"type\": \"hinge\", \"b\": \"x\", \"anchor\": [0, 0, 0], \"axis\": [0, 1, 0], "
      "\"motor\": {\"speed\": "
      "%.17g, \"force\": 40}}, {\"type\": \"hinge\", \"a\": \"x\", \"b\": \"a\", \"anchor\": [0.3, 0, 0], "
      "\"axis\": [0, 1, 0]}]}",
      of(r, 1, 3));
  strcpy(s->wrt, "joints.0.motor.speed,a.mass,x.mass");
}

static void push_box(GradientScene* s, tbRandom* r)
{
  head(s, of(r, 0.3, 0.6), of(r, 0.1, 0.6), 0);
  plane(s, "ground", 0, 1, 0);
  put(s,
      "{\"name\": \"x\", \"material\": \"m\", \"kinematic\": {\"velocity\": [%.17g, 0, 0]}, \"shape\": "
      "{\"type\": \"box\", "
      "\"size\": [0.2, 0.6, 0.2]}, \"position\": [-0.41, 0, 0.12]}, ",
      of(r, 0.3, 1));
  box(s, "a", of(r, 0.5, 3), -0.15, 0.1, 0.2, 0, 0, 0);
  put(s, "]}");
  strcpy(s->wrt, "x.kinematic.velocity.x,a.velocity.x,m.friction");
}

static void tumble(GradientScene* s, tbRandom* r)
{
  head(s, of(r, 0.3, 0.6), of(r, 0.1, 0.6), of(r, 0.2, 0.6));
  plane(s, "ground", 0, 1, 0);
  put(s,
      "{\"name\": \"a\", \"material\": \"m\", \"shape\": {\"type\": \"box\", \"size\": [0.3, 0.2, 0.15]}, "
      "\"mass\": 1, "
      "\"centre_of_mass\": [0.02, 0, 0.01], \"position\": [0, 0, 0.5], \"orientation\": [%.17g, %.17g, "
      "%.17g, %.17g], ",
      of(r, 0.3, 1), of(r, -1, 1), of(r, -1, 1), of(r, -1, 1));
  put(s, "\"velocity\": [%.17g, %.17g, %.17g], ", of(r, -1, 1), of(r, -1, 1), of(r, -1, 1));
  put(s, "\"angular_velocity\": [%.17g, %.17g, %.17g]}]}", of(r, -3, 3), of(r, -3, 3), of(r, -3, 3));
  strcpy(s->wrt, "a.velocity,a.angular_velocity,a.orientation,m.restitution");
}

static void cloth(GradientScene* s, tbRandom* r)
{
  head(s, 0.12, of(r, 0.1, 0.5), 0);
  put(s, "{\"name\": \"ball\", \"fixed\": true, \"material\": \"m\", \"shape\": {\"type\": \"sphere\", "
         "\"radius\": 0.3}}], ");
  put(s, "\"cloth\": [{\"name\": \"a\", \"material\": \"m\", \"mesh\": {\"grid\": {\"size\": [0.5, 0.5], "
         "\"cells\": [3, 3]}}, "
         "\"area_density\": 0.2, \"stretch\": 200, \"shear\": 100, \"bend\": 0.001, \"thickness\": 0.01, ");
  put(s, "\"position\": [%.17g, %.17g, 0.34], \"velocity\": [%.17g, 0, -1]}]}", of(r, -0.05, 0.05),
      of(r, -0.05, 0.05), of(r, 0.2, 0.6));
  strcpy(s->wrt, "a.velocity,a.stretch,m.friction");
}

GradientScene gradient_scene(uint64_t seed)
{
  static const struct {
    const char* name;
    void (*make)(GradientScene* s, tbRandom* r);
  } kinds[GRADIENT_KINDS] = {{"bounce", bounce}, {"clash", clash},       {"slide", slide}, {"roll", roll},
                             {"stack", stack},   {"pendulum", pendulum}, {"motor", motor}, {"push", push_box},
                             {"tumble", tumble}, {"cloth", cloth}};
  GradientScene s = {.kind = kinds[seed % GRADIENT_KINDS].name};
  tbRandom r = test_random(seed + 1);
  strcpy(s.loss, "a:0.5,0.1,0.2");
  kinds[seed % GRADIENT_KINDS].make(&s, &r);
  return s;
}
