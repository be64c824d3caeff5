// SPDX-License-Identifier: Apache-2.0
// Meshes of robots: where their files are, and whether a hull can be made of them.
#include "io/import/robot.h"

#include "geometry/hull.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool is_file(const char* path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

// "package://a/b/c.stl" and "model://…" are names in a workspace that is not here: b/c.stl and so on are
// looked for in the folder of the file and in those above it.
static const char* find_in_workspace(tbRobot* r, const char* base, const char* name)
{
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", base);
  for (int up = 0; up < 12; up++) {
    for (const char* part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
      const char* path = tb_robot_text(r, "%s/%s", *folder ? folder : ".", part);
      if (!path || is_file(path)) return path;
    }
    char* slash = strrchr(folder, '/');
    if (!slash || slash == folder) break;
    *slash = 0;
  }
  return NULL;
}

const char* tb_robot_find(tbRobot* r, const char* base, const char* name)
{
  char whole[PATH_MAX];
  if (strncmp(name, "file://", 7) == 0) name += 7;
  if (name[0] == '/') return is_file(name) ? name : NULL;
  const char* scheme = strstr(name, "://");
  if (scheme) return realpath(*base ? base : ".", whole) ? find_in_workspace(r, whole, scheme + 3) : NULL;
  const char* path = tb_robot_text(r, "%s%s%s", base, *base ? "/" : "", name);
  return path && is_file(path) ? path : NULL;
}

// The corners of the hull of points take their place.
static tbStatus take_hull(tbContext* ctx, tbVec3* point, int count, tbRobotShape* shape)
{
  tbHull* hull;
  TB_TRY(tb_hull_create(ctx, point, count, &hull));
  memcpy(point, hull->vertex, (size_t)hull->nvertex * sizeof *point); // no more than there were
  shape->point = point, shape->points = hull->nvertex;
  tb_hull_free(ctx, hull);
  return TB_OK;
}

tbStatus tb_robot_hull(tbRobot* r, const tbXml* at, tbVec3* point, int count, tbRobotShape* shape)
{
  tbContext quiet = *r->ctx;
  tbStatus status = take_hull(&quiet, point, count, shape);
  if (status == TB_OK) return TB_OK;
  if (status == TB_ERROR_MEMORY) return tb_fail(r->ctx, TB_ERROR_MEMORY, "no memory for a hull");
  return tb_xml_fail(r->ctx, at, "%.200s", quiet.error.message);
}

// The corners of the hull of a COLLADA file, which scenes do not read.
static tbStatus take_collada(tbRobot* r, tbContext* quiet, tbRobotShape* shape)
{
  tbVec3* point;
  int count;
  TB_TRY(tb_collada_points(quiet, r->arena, shape->file, &point, &count));
  for (int i = 0; i < count; i++)
    point[i] = tb_vec3(shape->scale.x * point[i].x, shape->scale.y * point[i].y, shape->scale.z * point[i].z);
  return take_hull(quiet, point, count, shape);
}

tbStatus tb_robot_check_mesh(tbRobot* r, const tbXml* at, tbRobotShape* shape, bool* good)
{
  const char* dot = strrchr(shape->file, '.');
  tbContext quiet = *r->ctx;
  tbHull* hull = NULL;
  bool collada = dot && strcasecmp(dot, ".dae") == 0;
  tbStatus status =
      collada ? take_collada(r, &quiet, shape) : tb_hull_load(&quiet, shape->file, shape->scale, &hull);
  *good = status == TB_OK;
  tb_hull_free(&quiet, hull);
  if (status == TB_ERROR_MEMORY) return tb_fail(r->ctx, TB_ERROR_MEMORY, "no memory for %.200s", shape->file);
  if (*good) return TB_OK;
  return tb_robot_note(r, at, "the shape is left out: %.280s", quiet.error.message);
}

tbStatus tb_robot_relative(tbRobot* r, const char* file, const char** out)
{
  char whole[PATH_MAX], folder[PATH_MAX];
  if (!realpath(file, whole)) return tb_fail(r->ctx, TB_ERROR_IO, "%.300s: %s", file, strerror(errno));
  *out = NULL;
  if (!r->folder || !realpath(*r->folder ? r->folder : ".", folder)) {
    *out = tb_robot_text(r, "%s", whole);
    return *out ? TB_OK : TB_ERROR_MEMORY;
  }
  size_t same = 0; // up to the last '/' that both have
  for (size_t i = 0;; i++) {
    bool ends = folder[i] == 0 || folder[i] == '/', fits = whole[i] == '/' && ends;
    if (fits) same = i;
    if (folder[i] == 0 || folder[i] != whole[i]) break;
  }
  char path[PATH_MAX] = "";
  size_t used = 0;
  for (const char* at = folder + same; *at; at++)
    if (*at == '/' && at[1] && used + 4 < sizeof path)
      used += (size_t)snprintf(path + used, sizeof path - used, "../");
  *out = tb_robot_text(r, "%s%s", path, whole + same + 1);
  return *out ? TB_OK : TB_ERROR_MEMORY;
}
