// SPDX-License-Identifier: Apache-2.0
// Mesh files: which format is it? The bytes say, not the name.
//
// PLY says so in its first line. A binary STL is recognised by its length, 84 + 50 n bytes with n in place,
// or by zero bytes near its start, where text has none; many of them begin with the word `solid` that opens
// the text form. Everything else is taken as OBJ, which has no mark of its own.
#include "base/file.h"
#include "geometry/mesh.h"
#include "io/mesh/mesh_io.h"

#include <string.h>
#include <strings.h>

enum { LOOK = 1024 };

static bool begins_with(const char* bytes, size_t length, const char* word)
{
  size_t n = strlen(word);
  return length > n && strncasecmp(bytes, word, n) == 0 && tb_mesh_is_space(bytes[n]);
}

tbStatus tb_soup_parse_charted(tbContext* ctx, const char* name, const char* bytes, size_t length,
                               tbSoup* soup)
{
  tbMeshReader r = {.ctx = ctx,
                    .name = name,
                    .begin = bytes,
                    .at = bytes,
                    .end = bytes + length,
                    .soup = soup,
                    .charted = true};
  if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) r.at += 3; // a byte order mark
  TB_TRY(tb_soup_parse_obj(&r));
  if (soup->corner_coordinate.count == 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: no face has texture coordinates", name);
  if (r.highest_at && r.highest >= (int64_t)soup->vertex.count)
    return TB_MESH_FAIL(&r, r.highest_at, "a face with vertex %lld, counted from 0; there are %zu",
                        (long long)r.highest, soup->vertex.count);
  const int* place = soup->corner_coordinate.data;
  for (size_t i = 0; i < soup->corner_coordinate.count; i++)
    if ((size_t)place[i] >= soup->coordinate.count / 2)
      return tb_fail(ctx, TB_ERROR_INPUT,
                     "%s: a face with texture coordinates %d, counted from 0; there are %zu", name, place[i],
                     soup->coordinate.count / 2);
  return TB_OK;
}

tbStatus tb_soup_parse(tbContext* ctx, const char* name, const char* bytes, size_t length, tbSoup* soup)
{
  tbMeshReader r = {
      .ctx = ctx, .name = name, .begin = bytes, .at = bytes, .end = bytes + length, .soup = soup};
  if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) r.at += 3; // a byte order mark
  tbStatus status;
  if (begins_with(r.at, (size_t)(r.end - r.at), "ply")) status = tb_soup_parse_ply(&r);
  else if (memchr(bytes, 0, length < LOOK ? length : LOOK)) // the count of triangles alone has zeros
    status = tb_soup_parse_stl_binary(&r);
  else {
    const char* start = r.at;
    tb_mesh_skip_space(&r);
    bool stl = begins_with(r.at, (size_t)(r.end - r.at), "solid");
    r.at = start;
    status = stl ? tb_soup_parse_stl(&r) : tb_soup_parse_obj(&r);
  }
  TB_TRY(status);
  if (soup->vertex.count == 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: no vertices: not a mesh in the form of OBJ, STL or PLY", name);
  if (r.highest_at && r.highest >= (int64_t)soup->vertex.count)
    return TB_MESH_FAIL(&r, r.highest_at, "a face with vertex %lld, counted from 0; there are %zu",
                        (long long)r.highest, soup->vertex.count);
  return TB_OK;
}

tbStatus tb_soup_load(tbContext* ctx, const char* path, tbSoup* soup)
{
  char* bytes = NULL;
  size_t length = 0;
  TB_TRY(tb_read_file(ctx, path, (size_t)TB_MESH_FILE_GIB << 30, &bytes, &length));
  tbStatus status = tb_soup_parse(ctx, path, bytes, length, soup);
  tb_free(ctx, bytes);
  return status;
}

tbStatus tb_mesh_load(tbContext* ctx, const char* path, tbVec3 scale, tbMesh** out)
{
  tbSoup soup = tb_soup_empty();
  *out = NULL;
  tbStatus status = tb_soup_load(ctx, path, &soup);
  if (status == TB_OK) status = tb_soup_mesh(ctx, path, &soup, scale, out);
  tb_soup_free(ctx, &soup);
  return status;
}

tbStatus tb_hull_load(tbContext* ctx, const char* path, tbVec3 scale, tbHull** out)
{
  tbSoup soup = tb_soup_empty();
  *out = NULL;
  tbStatus status = tb_soup_load(ctx, path, &soup);
  if (status == TB_OK) status = tb_soup_hull(ctx, path, &soup, scale, out);
  tb_soup_free(ctx, &soup);
  return status;
}

tbStatus tb_mesh_print_obj(tbOut* out, const tbMesh* mesh)
{
  for (int i = 0; i < mesh->nvertex; i++) {
    const double x[3] = {mesh->vertex[i].x, mesh->vertex[i].y, mesh->vertex[i].z};
    tb_out_text(out, "v");
    for (int k = 0; k < 3; k++) tb_out_text(out, " "), tb_out_double(out, x[k]);
    tb_out_text(out, "\n");
  }
  for (int t = 0; t < mesh->ntriangle; t++) {
    tb_out_text(out, "f");
    for (int k = 0; k < 3; k++) tb_out_text(out, " "), tb_out_int(out, mesh->triangle[t][k] + 1);
    tb_out_text(out, "\n");
  }
  return tb_out_finish(out);
}

tbStatus tb_mesh_save_obj(tbContext* ctx, const char* path, const tbMesh* mesh)
{
  tbFile file;
  TB_TRY(tb_file_begin(ctx, path, &file));
  tbOut out = tb_out_sink(ctx, tb_file_sink(&file), file.path);
  tbStatus status = tb_mesh_print_obj(&out, mesh);
  tb_out_free(&out);
  return tb_file_end(ctx, &file, status);
}
