// SPDX-License-Identifier: Apache-2.0
// Meshes of the gallery: wheels with teeth, polygons turned about an axis, strips.
#include "gallery/gallery.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
  tbContext* ctx;
  tbStatus status;
  tbArray vertex, triangle;
} Mesh;

static void add_vertex(Mesh* m, double x, double y, double z)
{
  if (m->status == TB_OK) m->status = tb_array_push(m->ctx, &m->vertex, &(tbVec3){x, y, z}, 1);
}

static void add_triangle(Mesh* m, int a, int b, int c)
{
  if (m->status == TB_OK) m->status = tb_array_push(m->ctx, &m->triangle, (int[3]){a, b, c}, 3);
}

static void add_quad(Mesh* m, int a, int b, int c, int d)
{
  add_triangle(m, a, b, c);
  add_triangle(m, a, c, d);
}

static tbStatus make_folder(tbContext* ctx, const char* folder)
{
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return TB_OK;
  return tb_fail(ctx, TB_ERROR_IO, "%s: cannot be made: %s", folder, strerror(errno));
}

static tbStatus save(tbPen* pen, Mesh* m, const char* name)
{
  tbContext* ctx = pen->ctx;
  tbMesh* mesh = NULL;
  size_t size = strlen(pen->folder) + strlen(name) + 16;
  char* path = TB_NEW(ctx, char, size);
  if (!path) return TB_ERROR_MEMORY;
  snprintf(path, size, "%s/meshes", pen->folder);
  tbStatus status = make_folder(ctx, path);
  if (status == TB_OK)
    status = tb_mesh_create(ctx, m->vertex.data, (int)m->vertex.count, m->triangle.data,
                            (int)(m->triangle.count / 3), &mesh);
  snprintf(path, size, "%s/meshes/%s", pen->folder, name);
  if (status == TB_OK) status = tb_mesh_save_obj(ctx, path, mesh);
  tb_mesh_free(ctx, mesh);
  tb_free(ctx, path);
  return status;
}

// Writes the mesh if there is a folder for it. The name of its file lives in the pen.
static tbPenShape finish(tbPen* pen, Mesh* m, const char* name)
{
  tbStatus status = m->status;
  if (status == TB_OK && pen->folder) status = save(pen, m, name);
  if (pen->status == TB_OK) pen->status = status;
  tb_array_free(m->ctx, &m->vertex);
  tb_array_free(m->ctx, &m->triangle);
  int slot = pen->files < TB_PEN_FILES ? pen->files++ : TB_PEN_FILES - 1;
  snprintf(pen->file[slot], sizeof pen->file[slot], "meshes/%s", name);
  return (tbPenShape){.type = "mesh", .file = pen->file[slot]};
}

static Mesh begin(tbPen* pen) { return (Mesh){pen->ctx, TB_OK, TB_ARRAY(tbVec3), TB_ARRAY(int)}; }

// Corner k of a tooth, as a share of the pitch from the tooth's middle: foot, tip, tip, foot. Half way up a
// tooth takes 0.46 of the pitch, which leaves some play between two wheels.
static const double share[4] = {-0.31, -0.15, 0.15, 0.31};

tbPenShape tb_pen_gear(tbPen* pen, const char* name, int teeth, double inner, double outer, double width)
{
  Mesh m = begin(pen);
  int n = 4 * teeth;
  for (int face = 0; face < 2; face++) {
    double z = face ? width / 2 : -width / 2, s, c;
    for (int i = 0; i < n; i++) {
      double radius = i % 4 == 1 || i % 4 == 2 ? outer : inner;
      tb_sin_cos(2 * TB_PI / teeth * (i / 4 + share[i % 4]), &s, &c);
      add_vertex(&m, radius * c, radius * s, z);
    }
  }
  add_vertex(&m, 0, 0, -width / 2);
  add_vertex(&m, 0, 0, width / 2);
  for (int i = 0; i < n; i++) {
    int next = (i + 1) % n;
    add_quad(&m, i, next, n + next, n + i);
    add_triangle(&m, 2 * n, next, i);
    add_triangle(&m, 2 * n + 1, n + i, n + next);
  }
  return finish(pen, &m, name);
}

tbPenShape tb_pen_turned(tbPen* pen, const char* name, const double (*profile)[2], int corners, int sectors)
{
  Mesh m = begin(pen);
  for (int j = 0; j < sectors; j++) {
    double s, c;
    tb_sin_cos(2 * TB_PI * j / sectors, &s, &c);
    for (int i = 0; i < corners; i++) add_vertex(&m, profile[i][0] * c, profile[i][0] * s, profile[i][1]);
  }
  for (int j = 0; j < sectors; j++)
    for (int i = 0; i < corners; i++) {
      int here = j * corners, there = (j + 1) % sectors * corners, next = (i + 1) % corners;
      add_quad(&m, here + i, there + i, there + next, here + next);
    }
  return finish(pen, &m, name);
}

tbPenMesh tb_pen_strip(tbPen* pen, const char* name, const double (*line)[2], int points, double width,
                       int across)
{
  Mesh m = begin(pen);
  for (int i = 0; i < points; i++)
    for (int k = 0; k <= across; k++) add_vertex(&m, line[i][0], width * k / across - width / 2, line[i][1]);
  for (int i = 0; i + 1 < points; i++)
    for (int k = 0; k < across; k++) {
      int a = i * (across + 1) + k, b = a + across + 1;
      if ((i + k) % 2) add_quad(&m, a, b, b + 1, a + 1); // diagonals take turns
      else add_quad(&m, b, b + 1, a + 1, a);
    }
  return (tbPenMesh){.file = finish(pen, &m, name).file};
}
