// SPDX-License-Identifier: Apache-2.0
// MJCF's core: a tree of bodies with geoms and joints, default classes, actuators, exclusions. Files that are
// included take the place of their <include>.
#include "io/import/mjcf.h"

#include "math/eig3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Includes.

static void replace(tbXml* at, tbXml* root) // by the children of the root
{
  tbXml** link = &at->parent->first;
  while (*link != at) link = &(*link)->next;
  for (tbXml* child = root->first; child; child = child->next) child->parent = at->parent;
  if (root->first) *link = root->first, root->last->next = at->next;
  else *link = at->next;
  tbXml* last = at->parent->first;
  while (last && last->next) last = last->next;
  at->parent->last = last;
}

static tbStatus include(tbMj* m, tbXml* at, int depth);

static tbStatus include_one(tbMj* m, tbXml* at, int depth)
{
  const char* name = tb_xml_get(at, "file");
  const char* homes[2] = {at->file, m->root->file}; // beside the file that includes, or beside the main one
  tbXml* root = NULL;
  if (!name) return tb_xml_fail(m->r->ctx, at, "<include> has no file");
  if (depth > 20) return tb_xml_fail(m->r->ctx, at, "files include each other too deeply");
  tbContext quiet = *m->r->ctx;
  for (int i = 0; i < 2 && !root; i++) {
    const char* slash = strrchr(homes[i], '/');
    int home = name[0] == '/' || !slash ? 0 : (int)(slash - homes[i]) + 1;
    const char* path = tb_robot_text(m->r, "%.*s%s", home, homes[i], name);
    if (!path) return TB_ERROR_MEMORY;
    tbStatus status = tb_xml_load(&quiet, m->r->arena, path, &root);
    if (status == TB_OK) break;
    root = NULL;
    if (status == TB_ERROR_IO && (i == 1 || home == 0))
      return tb_xml_fail(m->r->ctx, at, "cannot read the included file \"%.200s\"", name);
    if (status != TB_ERROR_IO) return m->r->ctx->error = quiet.error, status;
  }
  TB_TRY(include(m, root, depth + 1));
  replace(at, root);
  return TB_OK;
}

static tbStatus include(tbMj* m, tbXml* at, int depth)
{
  for (tbXml *child = at->first, *next; child; child = next) {
    next = child->next;
    if (strcmp(child->name, "include") == 0) TB_TRY(include_one(m, child, depth));
    else TB_TRY(include(m, child, depth));
  }
  return TB_OK;
}

// Settings.

static tbStatus read_compiler(tbMj* m, tbXml* xml)
{
  tbMjAt at = {.xml = xml};
  const char* text;
  if ((text = tb_xml_get(xml, "angle"))) m->degree = strcmp(text, "radian") == 0 ? 1 : TB_PI / 180;
  if ((text = tb_xml_get(xml, "eulerseq"))) m->sequence = text;
  if (strlen(m->sequence) != 3) return tb_xml_fail(m->r->ctx, xml, "eulerseq has three letters");
  if ((text = tb_xml_get(xml, "assetdir"))) m->mesh_folder = text;
  if ((text = tb_xml_get(xml, "meshdir"))) m->mesh_folder = text;
  if ((text = tb_xml_get(xml, "inertiafromgeom")))
    m->inertia = strcmp(text, "true") == 0    ? TB_MJ_GEOMS
                 : strcmp(text, "false") == 0 ? TB_MJ_GIVEN
                                              : TB_MJ_AUTO;
  if ((text = tb_xml_get(xml, "coordinate")) && strcmp(text, "local") != 0)
    return tb_xml_fail(m->r->ctx, xml, "coordinates other than local are not supported");
  double groups[2] = {m->groups[0], m->groups[1]};
  TB_TRY(tb_mj_numbers(m, at, "inertiagrouprange", 2, 2, groups, NULL));
  m->groups[0] = (int)fmin(fmax(groups[0], -1e6), 1e6), m->groups[1] = (int)fmin(fmax(groups[1], -1e6), 1e6);
  TB_TRY(tb_mj_numbers(m, at, "boundmass", 1, 1, &m->least_mass, NULL));
  TB_TRY(tb_mj_numbers(m, at, "boundinertia", 1, 1, &m->least_inertia, NULL));
  TB_TRY(tb_mj_numbers(m, at, "settotalmass", 1, 1, &m->total_mass, NULL));
  TB_TRY(tb_mj_bool(m, at, "exactmeshinertia", m->exact_meshes, &m->exact_meshes));
  TB_TRY(tb_mj_bool(m, at, "balanceinertia", m->balanced, &m->balanced));
  TB_TRY(tb_mj_bool(m, at, "strippath", m->strip_path, &m->strip_path));
  return tb_mj_bool(m, at, "autolimits", m->auto_limits, &m->auto_limits);
}

tbStatus tb_mj_name(tbMj* m, tbXml* xml, const char** out)
{
  *out = tb_xml_get(xml, "name");
  if (!*out || !*m->suffix) return TB_OK;
  *out = tb_robot_text(m->r, "%s%s", *out, m->suffix);
  return *out ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus read_option(tbMj* m, tbXml* xml)
{
  tbMjAt at = {.xml = xml};
  double gravity[3] = {m->r->gravity.x, m->r->gravity.y, m->r->gravity.z};
  TB_TRY(tb_mj_numbers(m, at, "gravity", 3, 3, gravity, NULL));
  TB_TRY(tb_mj_numbers(m, at, "timestep", 1, 1, &m->r->dt, NULL));
  m->r->gravity = tb_load3(gravity);
  for (tbXml* flag = tb_xml_child(xml, "flag"); flag; flag = tb_xml_next(flag, "flag")) {
    const char* text = tb_xml_get(flag, "gravity");
    if (text && strcmp(text, "disable") == 0) m->r->gravity = tb_zero3();
  }
  if (!(m->r->dt > 0)) return tb_xml_fail(m->r->ctx, xml, "the timestep must be positive");
  return TB_OK;
}

// Bodies.

static tbStatus read_inertial(tbMj* m, tbXml* xml, tbTransform frame, tbRobotBody* body)
{
  tbMjAt at = {.xml = xml};
  tbTransform T;
  double v[6] = {0};
  int diagonal, full;
  TB_TRY(tb_mj_pose(m, at, &T));
  T = tb_transform_mul(frame, T);
  TB_TRY(tb_mj_numbers(m, at, "mass", 1, 1, &body->mass, NULL));
  TB_TRY(tb_mj_numbers(m, at, "diaginertia", 3, 3, v, &diagonal));
  TB_TRY(tb_mj_numbers(m, at, "fullinertia", 6, 6, v, &full));
  if (!diagonal && !full) return tb_xml_fail(m->r->ctx, xml, "<inertial> needs diaginertia or fullinertia");
  tbMat3 R = tb_quat_mat3(T.q),
         I = tb_mat3_rows(tb_vec3(v[0], v[3], v[4]), tb_vec3(v[3], v[1], v[5]), tb_vec3(v[4], v[5], v[2]));
  body->inertia = tb_mat3_mul(R, tb_mat3_mult(I, R));
  body->centre = T.x;
  body->at = xml;
  return TB_OK;
}

static tbStatus read_content(tbMj* m, tbXml* xml, tbMjClass* class, tbTransform frame, tbRobotBody* body,
                             tbMass* sum);

static tbStatus read_body(tbMj* m, tbXml* xml, tbMjClass* class, tbTransform frame, tbRobotBody* parent)
{
  tbTransform T;
  tbMass sum = {0};
  const char* name;
  TB_TRY(tb_mj_name(m, xml, &name));
  if (!name) name = tb_robot_text(m->r, "body%d", ++m->unnamed);
  if (!name) return TB_ERROR_MEMORY;
  if (strcmp(name, "world") == 0) return tb_xml_fail(m->r->ctx, xml, "\"world\" is the world's own name");
  if (tb_robot_body(m->r, name)) return tb_xml_fail(m->r->ctx, xml, "there are two bodies \"%.60s\"", name);
  TB_TRY(tb_mj_class(m, xml, "childclass", &class));
  TB_TRY(tb_mj_pose(m, (tbMjAt){.xml = xml}, &T));
  tbRobotBody* body = tb_robot_add(m->r, name, parent, xml);
  if (!body) return TB_ERROR_MEMORY;
  body->pose = tb_transform_mul(frame, T);
  tbXml* inertial = tb_xml_child(xml, "inertial");
  bool weighed = m->inertia == TB_MJ_GEOMS || (m->inertia == TB_MJ_AUTO && !inertial);
  if (inertial) TB_TRY(read_inertial(m, inertial, tb_transform_identity(), body));
  TB_TRY(read_content(m, xml, class, tb_transform_identity(), body, weighed ? &sum : NULL));
  if (weighed && (sum.mass > 0 || !inertial)) // geoms that have none leave what is given
    body->mass = sum.mass, body->centre = sum.centre, body->inertia = sum.inertia;
  return TB_OK;
}

// Copies of what stands in it, each further by one offset and turn, with numbers behind their names.
static tbStatus read_replicate(tbMj* m, tbXml* xml, tbMjClass* class, tbTransform frame, tbRobotBody* body,
                               tbMass* sum)
{
  double count = 0, offset[3] = {0}, euler[3] = {0};
  tbMjAt at = {.xml = xml};
  tbTransform copy = tb_transform_identity(); // of the one that is next
  const char *outer = m->suffix, *sep = tb_xml_get(xml, "sep");
  TB_TRY(tb_mj_numbers(m, at, "count", 1, 1, &count, NULL));
  TB_TRY(tb_mj_numbers(m, at, "offset", 3, 3, offset, NULL));
  TB_TRY(tb_mj_numbers(m, at, "euler", 3, 3, euler, NULL));
  if (!(count >= 1) || count > 100000 || count != floor(count))
    return tb_xml_fail(m->r->ctx, xml, "<replicate> needs a count, from 1 to 100000");
  int digits = 1;
  for (double most = count; most >= 10; most /= 10) digits++;
  for (int i = 0; i < (int)count; i++) { // angles are multiplied, offsets are turned by what came before
    TB_TRY(tb_mj_euler(m, at, (double[]){i * euler[0], i * euler[1], i * euler[2]}, &copy.q));
    m->suffix = tb_robot_text(m->r, "%s%.20s%0*d", outer, sep ? sep : "", digits, i);
    if (!m->suffix) return TB_ERROR_MEMORY;
    TB_TRY(read_content(m, xml, class, tb_transform_mul(frame, copy), body, sum));
    copy.x = tb_transform_point(copy, tb_load3(offset));
  }
  m->suffix = outer;
  return TB_OK;
}

// What a body, a frame or the world holds, in that order: children after what they hang on.
static tbStatus read_content(tbMj* m, tbXml* xml, tbMjClass* class, tbTransform frame, tbRobotBody* body,
                             tbMass* sum)
{
  for (tbXml* child = xml->first; child; child = child->next) {
    tbMjAt at;
    if (strcmp(child->name, "geom") == 0 && body) {
      child->read = true;
      TB_TRY(tb_mj_at(m, child, class, &at));
      TB_TRY(tb_mj_geom(m, at, frame, body, sum));
    } else if ((strcmp(child->name, "joint") == 0 || strcmp(child->name, "freejoint") == 0) && body) {
      child->read = true;
      TB_TRY(tb_mj_at(m, child, class, &at));
      TB_TRY(tb_mj_joint(m, at, frame, body));
    } else if (strcmp(child->name, "attach") == 0 || strcmp(child->name, "composite") == 0 ||
               strcmp(child->name, "flexcomp") == 0) {
      return tb_xml_fail(m->r->ctx, child, "<%s> is not supported", child->name);
    }
  }
  for (tbXml* child = xml->first; child; child = child->next) {
    tbTransform T;
    tbMjClass* inner = class;
    bool is_frame = strcmp(child->name, "frame") == 0, copies = strcmp(child->name, "replicate") == 0;
    if (!is_frame && !copies && strcmp(child->name, "body") != 0) continue;
    child->read = true;
    if (copies) {
      TB_TRY(read_replicate(m, child, class, frame, body, sum));
      continue;
    }
    if (!is_frame) {
      bool in_world = strcmp(body->at->name, "worldbody") == 0;
      TB_TRY(read_body(m, child, class, frame, in_world ? NULL : body));
      continue;
    }
    tb_xml_get(child, "name");
    TB_TRY(tb_mj_class(m, child, "childclass", &inner));
    TB_TRY(tb_mj_pose(m, (tbMjAt){.xml = child}, &T));
    TB_TRY(read_content(m, child, inner, tb_transform_mul(frame, T), body, sum));
  }
  return TB_OK;
}

// Moments that are raised, and made equal where two are less than the third.
static void bound_inertia(const tbMj* m, tbMat3* inertia)
{
  tbEig3 e = tb_eig3(*inertia);
  for (int i = 0; i < 3; i++) e.s[i] = fmax(e.s[i], m->least_inertia);
  double sum = e.s[0] + e.s[1] + e.s[2], most = fmax(e.s[0], fmax(e.s[1], e.s[2]));
  for (int i = 0; i < 3 && m->balanced && sum < 2 * most; i++) e.s[i] = sum / 3;
  *inertia = tb_mat3_mul(e.V, tb_mat3_mult(tb_mat3_diag(e.s[0], e.s[1], e.s[2]), e.V));
}

// Masses and moments that are raised, or scaled to a sum.
static void bound_masses(tbMj* m)
{
  double sum = 0;
  for (tbRobotBody* b = m->r->bodies; b; b = b->next) {
    if (strcmp(b->at->name, "worldbody") == 0) continue;
    b->mass = fmax(b->mass, m->least_mass);
    if (m->least_inertia > 0 || m->balanced) bound_inertia(m, &b->inertia);
    sum += b->mass;
  }
  double scale = m->total_mass > 0 && sum > 0 ? m->total_mass / sum : 1;
  for (tbRobotBody* b = m->r->bodies; b && scale != 1; b = b->next)
    b->mass *= scale, b->inertia = tb_mat3_scale(scale, b->inertia);
}

// Geoms of the world are those of a body that stands.
static tbStatus read_world(tbMj* m, tbXml* world, tbRobotBody** ground)
{
  if (!*ground) *ground = tb_robot_add(m->r, "worldbody", NULL, world);
  if (!*ground) return TB_ERROR_MEMORY;
  return read_content(m, world, m->main, tb_transform_identity(), *ground, NULL);
}

tbStatus tb_import_mjcf(tbRobot* r, tbXml* root, const tbImportOptions* options)
{
  tbMj m = {.r = r,
            .root = root,
            .degree = TB_PI / 180,
            .sequence = "xyz",
            .mesh_folder = "",
            .suffix = "",
            .groups = {0, 5},
            .auto_limits = true};
  tbRobotBody* ground = NULL;
  r->dt = 0.002;
  TB_TRY(include(&m, root, 0));
  r->name = tb_xml_get(root, "model");
  for (tbXml* at = tb_xml_child(root, "compiler"); at; at = tb_xml_next(at, "compiler"))
    TB_TRY(read_compiler(&m, at));
  for (tbXml* at = tb_xml_child(root, "option"); at; at = tb_xml_next(at, "option"))
    TB_TRY(read_option(&m, at));
  TB_TRY(tb_mj_read_defaults(&m));
  for (tbXml* at = tb_xml_child(root, "worldbody"); at; at = tb_xml_next(at, "worldbody"))
    TB_TRY(read_world(&m, at, &ground));
  if (!ground) return tb_xml_fail(r->ctx, root, "there is no <worldbody>");
  if (!ground->shapes) r->bodies = ground->next; // it came first
  if (!r->bodies) r->last = NULL;
  bound_masses(&m);
  TB_TRY(tb_mj_key(&m, options->key));
  TB_TRY(tb_mj_actuators(&m));
  TB_TRY(tb_mj_equalities(&m));
  TB_TRY(tb_mj_contacts(&m));
  tb_mj_forgive_defaults(&m);
  return TB_OK;
}
