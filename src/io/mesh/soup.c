// SPDX-License-Identifier: Apache-2.0
// What all mesh readers share: numbers and words at a cursor, polygons cut into fans, failures with their
// place.
#include "base/decimal.h"
#include "geometry/mesh.h"
#include "io/mesh/mesh_io.h"
#include "io/problem/problem_io.h"

#include <limits.h>
#include <stdarg.h>

tbSoup tb_soup_empty(void)
{
  return (tbSoup){TB_ARRAY(tbVec3), TB_ARRAY(int), TB_ARRAY(double), TB_ARRAY(int)};
}

void tb_soup_free(tbContext* ctx, tbSoup* soup)
{
  tb_array_free(ctx, &soup->vertex);
  tb_array_free(ctx, &soup->triangle);
  tb_array_free(ctx, &soup->coordinate);
  tb_array_free(ctx, &soup->corner_coordinate);
}

tbStatus tb_mesh_fail_at(tbMeshReader* r, const char* where, const char* file, int line, const char* format,
                         ...)
{
  char what[320];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (r->binary)
    return tb_fail_at(r->ctx, TB_ERROR_INPUT, file, line, "%s: byte %zu: %s", r->name,
                      (size_t)(where - r->begin), what);
  size_t lines = 1;
  for (const char* c = r->begin; c < where; c++) lines += *c == '\n';
  return tb_fail_at(r->ctx, TB_ERROR_INPUT, file, line, "%s:%zu: %s", r->name, lines, what);
}

// ---- words ----

void tb_mesh_skip_space(tbMeshReader* r)
{
  while (r->at < r->end && tb_mesh_is_space(*r->at)) r->at++;
}

void tb_mesh_skip_line(tbMeshReader* r)
{
  while (r->at < r->end && *r->at++ != '\n') {}
}

int tb_mesh_word(const tbMeshReader* r)
{
  int length = 0;
  while (length < 40 && r->at + length < r->end && !tb_mesh_is_space(r->at[length])) length++;
  return length;
}

tbStatus tb_mesh_number(tbMeshReader* r, const char* what, double* out)
{
  const char* stop = tb_read_double(r->at, r->end, out);
  if (r->at == r->end) return TB_MESH_FAIL(r, r->at, "the file ends where %s should stand", what);
  if (stop == r->at || (stop < r->end && !tb_mesh_is_space(*stop)))
    return TB_MESH_FAIL(r, r->at, "expected %s, found \"%.*s\"", what, tb_mesh_word(r), r->at);
  if (!isfinite(*out)) return TB_MESH_FAIL(r, r->at, "%s is too large: %.*s", what, tb_mesh_word(r), r->at);
  r->at = stop;
  return TB_OK;
}

// ---- vertices and polygons ----

tbStatus tb_mesh_add_vertex(tbMeshReader* r, const char* where, const double x[3])
{
  if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
    return TB_MESH_FAIL(r, where, "a vertex at (%g, %g, %g); it must be finite", x[0], x[1], x[2]);
  if (r->soup->vertex.count >= INT_MAX) return TB_MESH_FAIL(r, where, "more than %d vertices", INT_MAX);
  tbVec3 v = tb_load3(x);
  return tb_array_push(r->ctx, &r->soup->vertex, &v, 1);
}

tbStatus tb_mesh_add_corner(tbMeshReader* r, const char* where, int64_t index, int64_t coordinate)
{
  if (index < 0 || index >= INT_MAX)
    return TB_MESH_FAIL(r, where, "a face with the vertex %lld", (long long)index);
  if (index > r->highest || !r->highest_at) {
    r->highest = index;
    r->highest_at = where;
  }
  int corner = (int)index, own = coordinate < INT_MAX ? (int)coordinate : -1;
  if (r->corners < INT_MAX) r->corners++;
  if (r->corners == 1) r->first = corner, r->first_coordinate = own;
  const int triangle[3] = {r->first, r->last, corner};
  const int places[3] = {r->first_coordinate, r->last_coordinate, own};
  bool charted = places[0] >= 0 && places[1] >= 0 && places[2] >= 0;
  if (r->corners > 2 && (charted || !r->charted)) {
    TB_TRY(tb_array_push(r->ctx, &r->soup->triangle, triangle, 3));
    if (r->charted) TB_TRY(tb_array_push(r->ctx, &r->soup->corner_coordinate, places, 3));
  }
  r->last = corner, r->last_coordinate = own;
  return TB_OK;
}

tbStatus tb_mesh_end_polygon(tbMeshReader* r, const char* where)
{
  int corners = r->corners;
  r->corners = 0;
  if (corners >= 3) return TB_OK;
  return TB_MESH_FAIL(r, where, "a face needs at least 3 corners, not %d", corners);
}

// ---- what becomes of a soup ----

static tbStatus scale_soup(tbContext* ctx, const char* name, tbSoup* soup, tbVec3 scale)
{
  double volume = scale.x * scale.y * scale.z;
  if (!isfinite(volume) || volume == 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: the scale is (%g, %g, %g); it must be finite and not zero",
                   name, scale.x, scale.y, scale.z);
  tbVec3* vertex = soup->vertex.data;
  int* triangle = soup->triangle.data;
  for (size_t i = 0; i < soup->vertex.count; i++) vertex[i] = tb_mul3(scale, vertex[i]);
  for (size_t t = 0; volume < 0 && t < soup->triangle.count; t += 3) {
    int swap = triangle[t + 1];
    triangle[t + 1] = triangle[t + 2];
    triangle[t + 2] = swap;
  }
  return TB_OK;
}

static tbStatus named(tbContext* ctx, const char* name, tbStatus status)
{
  return status == TB_ERROR_INPUT || status == TB_ERROR_NUMERIC ? tb_fail_in(ctx, name, status) : status;
}

tbStatus tb_soup_mesh(tbContext* ctx, const char* name, tbSoup* soup, tbVec3 scale, tbMesh** out)
{
  *out = NULL;
  TB_TRY(scale_soup(ctx, name, soup, scale));
  if (soup->triangle.count / 3 > INT_MAX) return tb_fail(ctx, TB_ERROR_INPUT, "%s: too many triangles", name);
  return named(ctx, name,
               tb_mesh_create(ctx, soup->vertex.data, (int)soup->vertex.count, soup->triangle.data,
                              (int)(soup->triangle.count / 3), out));
}

tbStatus tb_soup_hull(tbContext* ctx, const char* name, tbSoup* soup, tbVec3 scale, tbHull** out)
{
  *out = NULL;
  TB_TRY(scale_soup(ctx, name, soup, scale));
  return named(ctx, name, tb_hull_create(ctx, soup->vertex.data, (int)soup->vertex.count, out));
}
