// SPDX-License-Identifier: Apache-2.0
// What both formats need: notes, bodies, and the door to the outside.
#include "io/import/robot.h"

#include "base/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char* times(int count, char text[32])
{
  if (count == 1) return "once";
  snprintf(text, 32, "%d times", count);
  return text;
}

tbStatus tb_robot_note(tbRobot* r, const tbXml* at, const char* format, ...)
{
  tbImportNote note;
  va_list list;
  if (!r->notes) return TB_OK;
  int used = snprintf(note.text, sizeof note.text, "%.200s:%d: ", at->file, at->line);
  va_start(list, format);
  vsnprintf(note.text + used, sizeof note.text - (size_t)used, format, list);
  va_end(list);
  tbImportNote* other = r->notes->data; // what differs from another note by its line alone is counted there
  note.begin = used, note.length = (int)strlen(note.text + used), note.more = 0;
  for (size_t i = 0; i < r->notes->count; i++, other++) {
    char* end = other->text + other->begin + other->length;
    if (other->length != note.length ||
        strncmp(other->text + other->begin, note.text + used, (size_t)note.length) != 0)
      continue;
    snprintf(end, sizeof other->text - (size_t)(end - other->text), ", here and %s more",
             times(++other->more, (char[32]){0}));
    return TB_OK;
  }
  return tb_array_push(r->ctx, r->notes, &note, 1);
}

const char* tb_robot_text(tbRobot* r, const char* format, ...)
{
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  size_t size = strlen(text) + 1;
  char* copy = TB_TAKE(r->arena, char, size);
  return copy ? memcpy(copy, text, size) : NULL;
}

// What was not read: an element by its name, an attribute by that and its element's. Each kind is said once,
// at its first place, with how many there are.
typedef struct {
  const char *element, *attribute; // attribute null: the element itself
  const tbXml* at;
  int count;
} Unread;

static tbStatus count_unread(tbRobot* r, tbArray* list, const tbXml* at, const char* attribute)
{
  Unread* u = list->data;
  for (size_t i = 0; i < list->count; i++, u++) {
    bool same = strcmp(u->element, at->name) == 0 && !u->attribute == !attribute;
    if (!same || (attribute && strcmp(u->attribute, attribute) != 0)) continue;
    u->count++;
    return TB_OK;
  }
  return tb_array_push(r->ctx, list, &(Unread){at->name, attribute, at, 1}, 1);
}

static tbStatus find_unread(tbRobot* r, tbArray* list, const tbXml* at)
{
  if (!at->read) return count_unread(r, list, at, NULL);
  for (const tbXmlAttribute* a = at->attributes; a; a = a->next)
    if (!a->read && strncmp(a->name, "xmlns", 5) != 0) TB_TRY(count_unread(r, list, at, a->name));
  for (const tbXml* child = at->first; child; child = child->next) TB_TRY(find_unread(r, list, child));
  return TB_OK;
}

tbStatus tb_robot_note_unread(tbRobot* r, tbXml* root)
{
  tbArray list = TB_ARRAY(Unread);
  tbStatus status = find_unread(r, &list, root);
  const Unread* u = list.data;
  for (size_t i = 0; status == TB_OK && i < list.count; i++, u++) {
    char more[64] = "";
    if (u->count > 1) snprintf(more, sizeof more, ", here and %s more", times(u->count - 1, (char[32]){0}));
    status = u->attribute
                 ? tb_robot_note(r, u->at, "%s of <%s> is not in the scene%s", u->attribute, u->element, more)
                 : tb_robot_note(r, u->at, "<%s> is not in the scene%s", u->element, more);
  }
  tb_array_free(r->ctx, &list);
  return status;
}

tbRobotBody* tb_robot_body(tbRobot* r, const char* name)
{
  for (tbRobotBody* b = r->bodies; b; b = b->next)
    if (strcmp(b->name, name) == 0) return b;
  return NULL;
}

tbRobotJoint* tb_robot_joint(tbRobot* r, const char* name)
{
  for (tbRobotBody* b = r->bodies; b; b = b->next)
    for (tbRobotJoint* j = b->joints; j; j = j->next)
      if (j->name && strcmp(j->name, name) == 0) return j;
  return NULL;
}

tbRobotBody* tb_robot_add(tbRobot* r, const char* name, tbRobotBody* parent, tbXml* at)
{
  tbRobotBody* b = TB_TAKE(r->arena, tbRobotBody, 1);
  if (!b) return NULL;
  *b = (tbRobotBody){.name = name, .parent = parent, .pose = tb_transform_identity(), .at = at};
  if (r->last) r->last->next = b;
  else r->bodies = b;
  return r->last = b;
}

tbStatus tb_robot_shape(tbRobot* r, tbRobotBody* body, tbRobotShape shape)
{
  tbRobotShape* copy = TB_TAKE(r->arena, tbRobotShape, 1);
  tbRobotShape** link = &body->shapes;
  if (!copy) return TB_ERROR_MEMORY;
  while (*link) link = &(*link)->next;
  *copy = shape;
  *link = copy;
  return TB_OK;
}

tbQuat tb_robot_rpy(const double angle[3])
{
  tbQuat turn[3];
  for (int i = 0; i < 3; i++) {
    double s, c;
    tb_sin_cos(0.5 * angle[i], &s, &c);
    turn[i] = tb_quat(c, i == 0 ? s : 0, i == 1 ? s : 0, i == 2 ? s : 0);
  }
  return tb_quat_mul(turn[2], tb_quat_mul(turn[1], turn[0]));
}

bool tb_have_import(void)
{
#ifdef TB_HAVE_EXPAT
  return true;
#else
  return false;
#endif
}

static tbStatus import_file(tbRobot* r, const tbImportOptions* options, tbOut* out)
{
  tbXml* root = NULL;
  TB_TRY(tb_xml_load(r->ctx, r->arena, r->path, &root));
  root->read = true;
  if (strcmp(root->name, "robot") == 0) TB_TRY(tb_import_urdf(r, root, options));
  else if (strcmp(root->name, "mujoco") == 0) TB_TRY(tb_import_mjcf(r, root, options));
  else
    return tb_xml_fail(r->ctx, root, "neither URDF (<robot>) nor MJCF (<mujoco>), but <%.60s>", root->name);
  TB_TRY(tb_robot_note_unread(r, root));
  TB_TRY(tb_robot_start(r, options));
  TB_TRY(tb_robot_arrange(r));
  TB_TRY(tb_robot_part(r));
  return tb_robot_write(r, out);
}

tbStatus tb_import_robot(tbContext* ctx, const char* path, const char* folder, const tbImportOptions* options,
                         tbOut* out, tbArray* notes)
{
  tbImportOptions usual = {0};
  if (!path || !out) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a path and an output are needed");
  tbArena arena;
  tb_arena_init(&arena, ctx);
  tbRobot r = {.ctx = ctx,
               .arena = &arena,
               .notes = notes,
               .path = path,
               .folder = folder,
               .gravity = tb_vec3(0, 0, -9.81),
               .dt = 0.005};
  tbStatus status = import_file(&r, options ? options : &usual, out);
  tb_arena_free(&arena);
  return status;
}

tbStatus tb_import_save(tbContext* ctx, const char* path, const char* scene, const tbImportOptions* options,
                        tbArray* notes)
{
  char folder[1024];
  if (!path || !scene) return tb_fail(ctx, TB_ERROR_ARGUMENT, "two paths are needed");
  const char* slash = strrchr(scene, '/');
  if (slash && (size_t)(slash - scene) >= sizeof folder)
    return tb_fail(ctx, TB_ERROR_INPUT, "a path too long");
  snprintf(folder, sizeof folder, "%.*s",
           slash == scene ? 1
           : slash        ? (int)(slash - scene)
                          : 1,
           slash ? scene : ".");
  tbOut out = tb_out_memory(ctx);
  tbStatus status = tb_import_robot(ctx, path, folder, options, &out, notes);
  tbFile file;
  if (status == TB_OK) status = tb_file_begin(ctx, scene, &file);
  if (status == TB_OK) {
    tbOut to = tb_out_sink(ctx, tb_file_sink(&file), file.path);
    tb_out_bytes(&to, out.bytes, out.length);
    status = tb_out_finish(&to);
    tb_out_free(&to);
    status = tb_file_end(ctx, &file, status);
  }
  tb_out_free(&out);
  return status;
}
