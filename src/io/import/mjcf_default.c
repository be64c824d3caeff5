// SPDX-License-Identifier: Apache-2.0
// Default classes of MJCF: an attribute is the element's own, or that of its class, or of the class above.
#include "io/import/mjcf.h"

#include <math.h>
#include <string.h>

static tbStatus read_class(tbMj* m, tbXml* at, tbMjClass* parent)
{
  tbMjClass* class = TB_TAKE(m->r->arena, tbMjClass, 1);
  const char* name = tb_xml_get(at, "class");
  if (!class) return TB_ERROR_MEMORY;
  if (!name && parent) return tb_xml_fail(m->r->ctx, at, "a <default> inside another needs a class");
  *class = (tbMjClass){.name = name ? name : "main", .at = at, .parent = parent, .next = m->classes};
  m->classes = class;
  if (!parent && !m->main) m->main = class;
  for (tbXml* child = tb_xml_child(at, "default"); child; child = tb_xml_next(child, "default"))
    TB_TRY(read_class(m, child, class));
  return TB_OK;
}

tbStatus tb_mj_read_defaults(tbMj* m)
{
  for (tbXml* at = tb_xml_child(m->root, "default"); at; at = tb_xml_next(at, "default")) {
    // Files that are included bring tops of their own: classes in them are looked for by name.
    TB_TRY(read_class(m, at, m->main && tb_xml_get(at, "class") ? m->main : NULL));
  }
  return TB_OK;
}

tbStatus tb_mj_class(tbMj* m, tbXml* xml, const char* key, tbMjClass** out)
{
  const char* name = tb_xml_get(xml, key);
  if (!name) return TB_OK;
  for (tbMjClass* c = m->classes; c; c = c->next)
    if (strcmp(c->name, name) == 0) return *out = c, TB_OK;
  return tb_xml_fail(m->r->ctx, xml, "there is no default class \"%.60s\"", name);
}

tbStatus tb_mj_at(tbMj* m, tbXml* xml, tbMjClass* inherited, tbMjAt* out)
{
  *out = (tbMjAt){xml, inherited ? inherited : m->main};
  return tb_mj_class(m, xml, "class", &out->class);
}

// Actuators of all kinds share their defaults.
bool tb_mj_is_actuator(const char* name)
{
  static const char* const kinds[] = {"general", "motor",    "position", "velocity", "intvelocity",
                                      "damper",  "cylinder", "muscle",   "adhesion"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(name, kinds[i]) == 0) return true;
  return false;
}

// What a class says of an element; of several elements the last one.
static const char* get_of_class(const tbMjClass* class, const char* element, const char* key)
{
  const char* value = NULL;
  for (tbXml* d = class->at->first; d; d = d->next)
    if (strcmp(d->name, element) == 0 || (tb_mj_is_actuator(element) && tb_mj_is_actuator(d->name))) {
      const char* own = tb_xml_get(d, key);
      d->read = true;
      if (own) value = own;
    }
  return value;
}

const char* tb_mj_get(tbMjAt at, const char* key)
{
  const char* value = tb_xml_get(at.xml, key);
  for (const tbMjClass* c = at.class; c; c = c->parent) { // to the end: what is overridden is read, too
    const char* own = get_of_class(c, at.xml->name, key);
    if (!value) value = own;
  }
  return value;
}

void tb_mj_forgive_defaults(tbMj* m)
{
  for (const tbMjClass* c = m->classes; c; c = c->next)
    for (tbXml* d = c->at->first; d; d = d->next) {
      for (tbXmlAttribute* a = d->attributes; a && !d->read; a = a->next) a->read = true;
      d->read = true;
    }
}

tbStatus tb_mj_numbers(tbMj* m, tbMjAt at, const char* key, int least, int most, double* out, int* count)
{
  const char* text = tb_mj_get(at, key);
  if (count) *count = 0;
  return text ? tb_xml_numbers(m->r->ctx, at.xml, key, text, least, most, out, count) : TB_OK;
}

tbStatus tb_mj_bool(tbMj* m, tbMjAt at, const char* key, bool usual, bool* out)
{
  const char* text = tb_mj_get(at, key);
  *out = usual;
  if (!text || strcmp(text, "auto") == 0) return TB_OK;
  *out = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
  if (*out || strcmp(text, "false") == 0 || strcmp(text, "0") == 0) return TB_OK;
  return tb_xml_fail(m->r->ctx, at.xml, "%s of <%s>: true or false, not \"%.40s\"", key, at.xml->name, text);
}

// Orientations.

static tbQuat about(int axis, double angle)
{
  double s, c;
  tb_sin_cos(0.5 * angle, &s, &c);
  return tb_quat(c, axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0);
}

// Lower case turns with the frame, upper case about the fixed one.
tbStatus tb_mj_euler(tbMj* m, tbMjAt at, const double angle[3], tbQuat* out)
{
  *out = tb_quat_identity();
  for (int i = 0; i < 3; i++) {
    char c = m->sequence[i];
    int axis = (c | 32) - 'x';
    if (axis < 0 || axis > 2)
      return tb_xml_fail(m->r->ctx, at.xml, "eulerseq is not of xyz: \"%.10s\"", m->sequence);
    tbQuat turn = about(axis, angle[i] * m->degree);
    *out = c >= 'a' ? tb_quat_mul(*out, turn) : tb_quat_mul(turn, *out);
  }
  return TB_OK;
}

static tbStatus from_axes(tbMj* m, tbMjAt at, const double v[6], tbQuat* out)
{
  tbVec3 x = tb_load3(v), y = tb_load3(v + 3);
  if (!(tb_norm3(x) > 0)) return tb_xml_fail(m->r->ctx, at.xml, "an axis must not be zero");
  x = tb_scale3(1 / tb_norm3(x), x);
  y = tb_sub3(y, tb_scale3(tb_dot3(x, y), x));
  if (!(tb_norm3(y) > 0)) return tb_xml_fail(m->r->ctx, at.xml, "the two axes are parallel");
  y = tb_scale3(1 / tb_norm3(y), y);
  tbVec3 z = tb_cross3(x, y);
  *out =
      tb_quat_from_mat3(tb_mat3_rows(tb_vec3(x.x, y.x, z.x), tb_vec3(x.y, y.y, z.y), tb_vec3(x.z, y.z, z.z)));
  return TB_OK;
}

// The shortest turn that brings z there.
static tbStatus from_z(tbMj* m, tbMjAt at, tbVec3 z, tbQuat* out)
{
  double length = tb_norm3(z);
  if (!(length > 0)) return tb_xml_fail(m->r->ctx, at.xml, "an axis must not be zero");
  z = tb_scale3(1 / length, z);
  *out = z.z < -1 + 1e-14 ? tb_quat(0, 1, 0, 0) : tb_quat_normalize(tb_quat(1 + z.z, -z.y, z.x, 0));
  return TB_OK;
}

static tbStatus from_angle(tbMj* m, tbMjAt at, const double v[4], tbQuat* out)
{
  double length = tb_norm3(tb_load3(v)), s, c;
  if (!(length > 0)) return tb_xml_fail(m->r->ctx, at.xml, "an axis must not be zero");
  tb_sin_cos(0.5 * v[3] * m->degree, &s, &c);
  *out = tb_quat(c, s * v[0] / length, s * v[1] / length, s * v[2] / length);
  return TB_OK;
}

static tbStatus from_quat(tbMj* m, tbMjAt at, const double v[4], tbQuat* out)
{
  if (v[0] == 0 && v[1] == 0 && v[2] == 0 && v[3] == 0)
    return tb_xml_fail(m->r->ctx, at.xml, "a quaternion of zeros");
  *out = tb_quat_normalize(tb_quat(v[0], v[1], v[2], v[3]));
  return TB_OK;
}

// An orientation other than a quaternion, of the element itself or of the nearest class that has one; null:
// none. Such a one goes before a quaternion, even one of the element's own, as MuJoCo has it.
static const char* other_turn(tbMjAt at, const char** key)
{
  static const char* const keys[] = {"axisangle", "euler", "xyaxes", "zaxis"};
  const char* text = NULL;
  for (int k = 0; k < 4 && !text; k++) text = tb_xml_get(at.xml, *key = keys[k]);
  for (const tbMjClass* c = at.class; c && !text; c = c->parent)
    for (int k = 0; k < 4 && !text; k++) text = get_of_class(c, at.xml->name, *key = keys[k]);
  return text;
}

tbStatus tb_mj_turn(tbMj* m, tbMjAt at, tbQuat* out)
{
  double v[6];
  int count;
  const char *key, *text = other_turn(at, &key);
  *out = tb_quat_identity();
  TB_TRY(tb_mj_numbers(m, at, "quat", 4, 4, v, &count));
  if (!text) return count ? from_quat(m, at, v, out) : TB_OK;
  int needed = key[0] == 'a' ? 4 : key[0] == 'x' ? 6 : 3;
  TB_TRY(tb_xml_numbers(m->r->ctx, at.xml, key, text, needed, needed, v, NULL));
  switch (key[0]) {
  case 'a': return from_angle(m, at, v, out);
  case 'e': return tb_mj_euler(m, at, v, out);
  case 'x': return from_axes(m, at, v, out);
  default: return from_z(m, at, tb_load3(v), out);
  }
}

tbStatus tb_mj_pose(tbMj* m, tbMjAt at, tbTransform* out)
{
  double x[3] = {0};
  TB_TRY(tb_mj_numbers(m, at, "pos", 3, 3, x, NULL));
  out->x = tb_load3(x);
  return tb_mj_turn(m, at, &out->q);
}
