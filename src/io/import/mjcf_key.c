// SPDX-License-Identifier: Apache-2.0
// A <key> of MJCF: coordinates of all joints in the order of bodies, and controls in that of actuators.
#include "io/import/mjcf.h"

#include <string.h>

// Every number of a text, in the arena.
static tbStatus read_all(tbMj* m, tbXml* at, const char* name, double** out, int* count)
{
  const char* text = tb_xml_get(at, name);
  *out = NULL, *count = 0;
  if (!text) return TB_OK;
  int most = (int)strlen(text) / 2 + 1;
  *out = TB_TAKE(m->r->arena, double, (size_t)most);
  if (!*out) return TB_ERROR_MEMORY;
  return tb_xml_numbers(m->r->ctx, at, name, text, 0, most, *out, count);
}

static int coordinates_of(const tbRobotBody* b)
{
  int count = b->free ? 7 : 0;
  for (const tbRobotJoint* j = b->joints; j; j = j->next) count += j->type == TB_JOINT_BALL ? 4 : 1;
  return count;
}

static bool is_quaternion(const double q[4]) { return q[0] != 0 || q[1] != 0 || q[2] != 0 || q[3] != 0; }

static void set_body(const double* q, tbRobotBody* b)
{
  if (b->free && is_quaternion(q + 3)) {
    b->pose = tb_transform(tb_quat_normalize(tb_quat(q[3], q[4], q[5], q[6])), tb_load3(q));
    q += 7;
  }
  for (tbRobotJoint* j = b->joints; j; j = j->next) {
    if (j->type != TB_JOINT_BALL) {
      j->start = *q++ - j->reference;
      continue;
    }
    if (is_quaternion(q)) j->turn = tb_quat_normalize(tb_quat(q[0], q[1], q[2], q[3]));
    q += 4;
  }
}

static tbStatus set_pose(tbMj* m, tbXml* key, const double* q, int count)
{
  int needed = 0;
  for (const tbRobotBody* b = m->r->bodies; b; b = b->next) needed += coordinates_of(b);
  if (count != needed)
    return tb_xml_fail(m->r->ctx, key, "qpos has %d numbers, but the model %d coordinates", count, needed);
  for (tbRobotBody* b = m->r->bodies; b; q += coordinates_of(b), b = b->next) set_body(q, b);
  return TB_OK;
}

tbStatus tb_mj_key(tbMj* m, const char* name)
{
  if (!name) return TB_OK;
  for (tbXml* list = tb_xml_child(m->root, "keyframe"); list; list = tb_xml_next(list, "keyframe"))
    for (tbXml* key = tb_xml_child(list, "key"); key; key = tb_xml_next(key, "key")) {
      const char* own = tb_xml_get(key, "name");
      double* q;
      int count;
      if (!own || strcmp(own, name) != 0) {
        key->read = false; // not this one: it is named as left out
        continue;
      }
      TB_TRY(read_all(m, key, "qpos", &q, &count));
      if (q) TB_TRY(set_pose(m, key, q, count));
      return read_all(m, key, "ctrl", &m->control, &m->controls);
    }
  return tb_fail(m->r->ctx, TB_ERROR_ARGUMENT, "%.200s: there is no <key> \"%.60s\"", m->r->path, name);
}
