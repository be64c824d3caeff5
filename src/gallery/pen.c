// SPDX-License-Identifier: Apache-2.0
// The pen of the gallery: scene files by bodies, materials and joints.
#include "gallery/gallery.h"

#include <assert.h>
#include <string.h>

double tb_pen_value(const tbPen* pen, const char* parameter)
{
  const tbGalleryParameter* p = pen->scene->parameter;
  for (int i = 0; i < TB_GALLERY_PARAMETERS && p[i].name; i++)
    if (strcmp(p[i].name, parameter) == 0) return pen->value[i];
  assert(!"a scene asks for a parameter that its row has not");
  return 0;
}

int tb_pen_count(const tbPen* pen, const char* parameter) { return (int)tb_pen_value(pen, parameter); }

const char* tb_pen_name(tbPen* pen, const char* format, int index)
{
  const char* percent = strstr(format, "%d");
  int before = percent ? (int)(percent - format) : (int)strlen(format);
  snprintf(pen->name, sizeof pen->name, "%.*s%d%s", before, format, index, percent ? percent + 2 : "");
  return pen->name;
}

void tb_pen_put3(tbPen* pen, const char* key, tbVec3 v)
{
  tb_put_numbers(&pen->json, key, (double[3]){v.x + 0.0, v.y + 0.0, v.z + 0.0}, 3); // no −0
}

static bool is_zero(tbVec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }

void tb_pen_put_nonzero3(tbPen* pen, const char* key, tbVec3 v)
{
  if (!is_zero(v)) tb_pen_put3(pen, key, v);
}

void tb_pen_put_nonzero(tbPen* pen, const char* key, double value)
{
  if (value != 0) tb_put_number(&pen->json, key, value);
}

void tb_pen_put_pose(tbPen* pen, tbVec3 x, tbQuat q)
{
  tb_pen_put_nonzero3(pen, "position", x);
  if (q.x != 0 || q.y != 0 || q.z != 0)
    tb_put_numbers(&pen->json, "orientation", (double[4]){q.w + 0.0, q.x + 0.0, q.y + 0.0, q.z + 0.0}, 4);
}

// Materials are an object by name, the rest arrays.
void tb_pen_open(tbPen* pen, const char* section)
{
  if (pen->section && strcmp(pen->section, section) == 0) return;
  if (pen->section) tb_put_end(&pen->json);
  pen->section = section;
  if (strcmp(section, "materials") == 0) tb_put_object(&pen->json, section);
  else tb_put_array(&pen->json, section);
}

void tb_pen_start(tbPen* pen, double dt, double time)
{
  const tbGalleryParameter* p = pen->scene->parameter;
  tbJsonWriter* w = &pen->json;
  tb_put_int(w, "tribo", 1);
  tb_put_string(w, "name", pen->scene->summary);
  tb_put_object(w, "_gallery");
  tb_put_string(w, "scene", pen->scene->name);
  for (int i = 0; i < TB_GALLERY_PARAMETERS && p[i].name; i++) tb_put_number(w, p[i].name, pen->value[i]);
  tb_put_end(w);
  tb_put_number(w, "dt", dt);
  tb_put_number(w, "time", time);
}

void tb_pen_scheme(tbPen* pen, const char* name, const char* key, int value)
{
  tbJsonWriter* w = &pen->json;
  tb_put_object(w, "scheme");
  tb_put_string(w, "name", name);
  tb_put_int(w, key, value);
  tb_put_end(w);
}

void tb_pen_certified(tbPen* pen)
{
  tbJsonWriter* w = &pen->json;
  tb_put_object(w, "scheme");
  tb_put_string(w, "name", "pd");
  tb_put_int(w, "iterations", tb_pen_count(pen, "iterations"));
  tb_put_bool(w, "certified", true);
  tb_put_bool(w, "polish", true);
  tb_put_end(w);
}

void tb_pen_barriers(tbPen* pen)
{
  tbJsonWriter* w = &pen->json;
  tb_put_object(w, "scheme");
  tb_put_string(w, "name", "ipc");
  tb_put_int(w, "friction_iterations", 1);
  tb_put_bool(w, "exact_friction", true);
  tb_put_end(w);
}

static void put_friction(tbPen* pen, double mu, double rolling)
{
  tbJsonWriter* w = &pen->json;
  if (rolling == 0) {
    tb_put_number(w, "friction", mu);
    return;
  }
  tb_put_object(w, "friction");
  tb_put_number(w, "mu", mu);
  tb_put_number(w, "rolling", rolling);
  tb_put_end(w);
}

void tb_pen_material(tbPen* pen, const tbPenMaterial* m)
{
  tbJsonWriter* w = &pen->json;
  tb_pen_open(pen, "materials");
  tb_put_object(w, m->name);
  tb_put_number(w, "density", m->density);
  put_friction(pen, m->friction, m->rolling);
  tb_pen_put_nonzero(pen, "restitution", m->restitution);
  tb_put_end(w);
}

void tb_pen_grooves(tbPen* pen, const tbPenGrooves* m)
{
  tbJsonWriter* w = &pen->json;
  tb_pen_open(pen, "materials");
  tb_put_object(w, m->name);
  tb_put_number(w, "density", m->density);
  tb_put_object(w, "friction");
  tb_put_string(w, "model", "matchstick");
  tb_put_number(w, "mu", m->mu);
  tb_put_number(w, "mu_t", m->mu_t);
  tb_put_number(w, "mu_b", m->mu_b);
  tb_pen_put3(pen, "direction", m->structure);
  tb_put_end(w);
  tb_put_end(w);
}

void tb_pen_pair(tbPen* pen, const tbPenPair* p)
{
  tbJsonWriter* w = &pen->json;
  tb_pen_open(pen, "pairs");
  tb_put_object(w, NULL);
  tb_put_string(w, "a", p->a);
  tb_put_string(w, "b", p->b);
  put_friction(pen, p->friction, p->rolling);
  tb_pen_put_nonzero(pen, "restitution", p->restitution);
  tb_put_end(w);
}

static void put_shape(tbPen* pen, const char* key, const tbPenShape* s)
{
  tbJsonWriter* w = &pen->json;
  tb_put_object(w, key);
  tb_put_string(w, "type", s->type);
  tb_pen_put_nonzero3(pen, "size", s->size);
  tb_pen_put_nonzero(pen, "radius", s->radius);
  tb_pen_put_nonzero(pen, "length", s->length);
  tb_pen_put_nonzero3(pen, "normal", s->normal);
  if (s->file) tb_put_string(w, "file", s->file);
  if (s->vertices > 0) tb_put_array(w, "vertices");
  for (int i = 0; i < s->vertices; i++) tb_pen_put3(pen, NULL, s->vertex[i]);
  if (s->vertices > 0) tb_put_end(w);
  tb_pen_put_pose(pen, s->position, s->orientation);
  tb_put_end(w);
}

static void put_shapes(tbPen* pen, const tbPenBody* b)
{
  if (b->shape_count == 0) {
    put_shape(pen, "shape", &b->shape);
    return;
  }
  tb_put_array(&pen->json, "shapes");
  for (int i = 0; i < b->shape_count; i++) put_shape(pen, NULL, &b->shapes[i]);
  tb_put_end(&pen->json);
}

void tb_pen_put_repeat(tbPen* pen, const int count[3], tbVec3 spacing, double jitter)
{
  tbJsonWriter* w = &pen->json;
  if (count[0] == 0) return;
  tb_put_object(w, "repeat");
  tb_put_numbers(w, "count", (double[3]){count[0], count[1], count[2]}, 3);
  tb_pen_put3(pen, "spacing", spacing);
  tb_pen_put_nonzero(pen, "jitter", jitter);
  tb_put_end(w);
}

void tb_pen_body(tbPen* pen, const tbPenBody* b)
{
  tbJsonWriter* w = &pen->json;
  tb_pen_open(pen, "bodies");
  tb_put_object(w, NULL);
  tb_put_string(w, "name", b->name);
  if (b->fixed) tb_put_bool(w, "fixed", true);
  put_shapes(pen, b);
  if (b->material) tb_put_string(w, "material", b->material);
  tb_pen_put_nonzero(pen, "mass", b->mass);
  tb_pen_put_nonzero(pen, "density", b->density);
  tb_pen_put_pose(pen, b->position, b->orientation);
  if (b->kinematic) tb_put_object(w, "kinematic");
  tb_pen_put_nonzero3(pen, "velocity", b->velocity);
  tb_pen_put_nonzero3(pen, "angular_velocity", b->angular_velocity);
  if (b->kinematic) tb_put_end(w);
  tb_pen_put_repeat(pen, b->count, b->spacing, b->jitter);
  tb_put_end(w);
}

void tb_pen_ground(tbPen* pen, const char* material)
{
  tb_pen_body(
      pen, &(tbPenBody){.name = "ground", .shape = {.type = "plane"}, .material = material, .fixed = true});
}

static void put_servo(tbJsonWriter* w, const tbPenJoint* j)
{
  tb_put_object(w, "servo");
  if (j->key_count == 0) tb_put_number(w, "target", 0);
  tb_put_number(w, "stiffness", j->stiffness);
  tb_put_number(w, "damping", j->damping);
  if (j->most > 0) tb_put_number(w, "force", j->most);
  if (j->key_count > 0) tb_put_array(w, "keys");
  for (int i = 0; i < j->key_count; i++) {
    tb_put_object(w, NULL);
    tb_put_number(w, "t", j->keys[i][0]);
    tb_put_number(w, "target", j->keys[i][1]);
    tb_put_end(w);
  }
  if (j->key_count > 0) tb_put_end(w);
  tb_put_end(w);
}

void tb_pen_joint(tbPen* pen, const tbPenJoint* j)
{
  tbJsonWriter* w = &pen->json;
  tb_pen_open(pen, "joints");
  tb_put_object(w, NULL);
  if (j->name) tb_put_string(w, "name", j->name);
  tb_put_string(w, "type", j->type);
  tb_put_string(w, "a", j->a ? j->a : "world");
  tb_put_string(w, "b", j->b ? j->b : "world");
  tb_pen_put3(pen, "anchor", j->anchor);
  tb_pen_put_nonzero3(pen, "axis", j->axis);
  if (j->low < j->high)
    tb_put_numbers(w, strcmp(j->type, "hinge") == 0 ? "limits_deg" : "limits", (double[2]){j->low, j->high},
                   2);
  if (j->force > 0) {
    tb_put_object(w, "motor");
    tb_put_number(w, "speed", j->speed);
    tb_put_number(w, "force", j->force);
    tb_put_end(w);
  }
  if (j->stiffness > 0) put_servo(w, j);
  if (j->collide) tb_put_bool(w, "collide", true);
  tb_put_end(w);
}

tbPenShape tb_pen_sphere(double radius) { return (tbPenShape){.type = "sphere", .radius = radius}; }
tbPenShape tb_pen_box(double x, double y, double z)
{
  return (tbPenShape){.type = "box", .size = tb_vec3(x, y, z)};
}
tbPenShape tb_pen_capsule(double radius, double length)
{
  return (tbPenShape){.type = "capsule", .radius = radius, .length = length};
}
tbPenShape tb_pen_cylinder(double radius, double length)
{
  return (tbPenShape){.type = "cylinder", .radius = radius, .length = length};
}
tbPenShape tb_pen_convex(const tbVec3* vertex, int vertices)
{
  return (tbPenShape){.type = "convex", .vertex = vertex, .vertices = vertices};
}

tbQuat tb_pen_about_x(double angle) { return tb_quat_exp(tb_vec3(angle, 0, 0)); }
tbQuat tb_pen_about_y(double angle) { return tb_quat_exp(tb_vec3(0, angle, 0)); }
tbQuat tb_pen_about_z(double angle) { return tb_quat_exp(tb_vec3(0, 0, angle)); }

// The shortest turn: half way between 1 and the turn by twice the angle, (1 + z·d) + z × d.
tbQuat tb_pen_along(tbVec3 direction)
{
  tbVec3 d = tb_normalize3(direction);
  if (d.z < -1 + 1e-12) return tb_quat(0, 1, 0, 0);
  return tb_quat_normalize(tb_quat(1 + d.z, -d.y, d.x, 0));
}

tbPenShape tb_pen_rod(double radius, tbVec3 from, tbVec3 to)
{
  tbPenShape rod = tb_pen_capsule(radius, tb_distance3(from, to));
  rod.position = tb_scale3(0.5, tb_add3(from, to));
  rod.orientation = tb_pen_along(tb_sub3(to, from));
  return rod;
}

void tb_pen_bin(tbPen* pen, const char* material, double half, double height)
{
  double thick = half / 4, side = 2 * half + 2 * thick, centre = half + thick / 2;
  tbPenShape part[5] = {tb_pen_box(side, side, thick)};
  part[0].position.z = -thick / 2;
  for (int i = 0; i < 4; i++) {
    double at = i % 2 ? centre : -centre;
    part[1 + i] = i < 2 ? tb_pen_box(thick, side, height) : tb_pen_box(side, thick, height);
    part[1 + i].position = i < 2 ? tb_vec3(at, 0, height / 2) : tb_vec3(0, at, height / 2);
  }
  tb_pen_body(pen, &(tbPenBody){
                       .name = "bin", .shapes = part, .shape_count = 5, .material = material, .fixed = true});
}
