// SPDX-License-Identifier: Apache-2.0
// The readers behind tb_mesh_load, each from bytes in memory, and the cursor they share.
#ifndef TB_IO_MESH_MESH_IO_H
#define TB_IO_MESH_MESH_IO_H

#include "base/array.h"
#include "base/text.h"
#include "tribo/io.h"

// Points, and triangles over them that may still hold anything a file can say with valid indices.
typedef struct tbSoup {
  tbArray vertex;   // tbVec3
  tbArray triangle; // int, three for each

  // texture coordinates, where the file has some
  tbArray coordinate;        // double, two for each
  tbArray corner_coordinate; // int, three for each triangle: which, −1 none. Empty: none anywhere
} tbSoup;

tbSoup tb_soup_empty(void);
void tb_soup_free(tbContext* ctx, tbSoup* soup);

typedef struct tbMeshReader {
  tbContext* ctx;
  const char *name, *begin, *at, *end;
  bool binary;  // failures name the byte, not the line
  bool charted; // texture coordinates are wanted
  tbSoup* soup;

  // the polygon in the making: a fan around its first corner
  int corners, first, last;
  int first_coordinate, last_coordinate;
  // the largest index so far, checked when all vertices are known
  int64_t highest;
  const char* highest_at;
} tbMeshReader;

// Whichever format it is; on failure the soup holds what had been read and is still to be freed.
tbStatus tb_soup_parse(tbContext* ctx, const char* name, const char* bytes, size_t length, tbSoup* soup);
// The same of OBJ alone, with texture coordinates. Triangles with a corner that has none are left out of
// corner_coordinate, and of triangle with them.
tbStatus tb_soup_parse_charted(tbContext* ctx, const char* name, const char* bytes, size_t length,
                               tbSoup* soup);
tbStatus tb_soup_parse_obj(tbMeshReader* reader);
tbStatus tb_soup_parse_stl(tbMeshReader* reader);
tbStatus tb_soup_parse_stl_binary(tbMeshReader* reader);
tbStatus tb_soup_parse_ply(tbMeshReader* reader);

// Of a file, likewise.
tbStatus tb_soup_load(tbContext* ctx, const char* path, tbSoup* soup);

// The mesh and the hull of a soup, scaled; `name` goes before messages.
tbStatus tb_soup_mesh(tbContext* ctx, const char* name, tbSoup* soup, tbVec3 scale, tbMesh** out);
tbStatus tb_soup_hull(tbContext* ctx, const char* name, tbSoup* soup, tbVec3 scale, tbHull** out);

// What tb_mesh_save_obj puts into its file.
tbStatus tb_mesh_print_obj(tbOut* out, const tbMesh* mesh);

// ---- for the readers ----

#define TB_MESH_FAIL(reader, where, ...) tb_mesh_fail_at(reader, where, __FILE__, __LINE__, __VA_ARGS__)
tbStatus tb_mesh_fail_at(tbMeshReader* reader, const char* where, const char* file, int line,
                         const char* format, ...) __attribute__((format(printf, 5, 6)));

static inline bool tb_mesh_is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
static inline bool tb_mesh_is_space(char c) { return c == '\n' || tb_mesh_is_blank(c); }
void tb_mesh_skip_space(tbMeshReader* reader); // line ends too
void tb_mesh_skip_line(tbMeshReader* reader);  // to the start of the next
int tb_mesh_word(const tbMeshReader* reader);  // length of the word at the cursor, at most 40
tbStatus tb_mesh_number(tbMeshReader* reader, const char* what, double* out); // finite, ends at a space

tbStatus tb_mesh_add_vertex(tbMeshReader* reader, const char* where, const double x[3]);
// Corners of a polygon one by one, then its end. Indices count from 0; coordinate −1: it has none.
tbStatus tb_mesh_add_corner(tbMeshReader* reader, const char* where, int64_t index, int64_t coordinate);
tbStatus tb_mesh_end_polygon(tbMeshReader* reader, const char* where);

#endif
