// SPDX-License-Identifier: Apache-2.0
// STL, text and binary: loose triangles, each with three corners of its own. Normals are passed over; the
// order of the corners says which side is outside.
//
//   solid NAME                                   80 bytes of anything
//     facet normal x y z                         n                       uint32
//       outer loop                               n times:
//         vertex x y z        (three times)        normal                3 float32
//       endloop                                    corners               9 float32
//     endfacet                                     2 bytes of anything
//   endsolid NAME                                (all little endian)
//
// The text form is read in either case, with any number of solids.
#include "io/mesh/mesh_io.h"

#include <string.h>
#include <strings.h>

enum { HEADER = 84, TRIANGLE = 50 };

// ---- text ----

static bool is_word(const tbMeshReader* r, const char* word)
{
  int length = tb_mesh_word(r);
  return length == (int)strlen(word) && strncasecmp(r->at, word, (size_t)length) == 0;
}

static bool accept(tbMeshReader* r, const char* word)
{
  tb_mesh_skip_space(r);
  if (!is_word(r, word)) return false;
  r->at += strlen(word);
  return true;
}

static tbStatus expect(tbMeshReader* r, const char* word)
{
  if (accept(r, word)) return TB_OK;
  if (r->at == r->end) return TB_MESH_FAIL(r, r->at, "the file ends where \"%s\" should stand", word);
  return TB_MESH_FAIL(r, r->at, "expected \"%s\", found \"%.*s\"", word, tb_mesh_word(r), r->at);
}

static tbStatus add_corner(tbMeshReader* r, const char* where, const double x[3])
{
  int64_t index = (int64_t)r->soup->vertex.count;
  TB_TRY(tb_mesh_add_vertex(r, where, x));
  return tb_mesh_add_corner(r, where, index, -1);
}

static tbStatus read_facet(tbMeshReader* r)
{
  const char* facet = r->at;
  TB_TRY(expect(r, "normal"));
  for (int k = 0; k < 3; k++) { // three words of any kind: some programs write nan
    tb_mesh_skip_space(r);
    while (r->at < r->end && !tb_mesh_is_space(*r->at)) r->at++;
  }
  TB_TRY(expect(r, "outer"));
  TB_TRY(expect(r, "loop"));
  for (int k = 0; k < 3; k++) {
    double x[3];
    TB_TRY(expect(r, "vertex"));
    const char* where = r->at;
    for (int axis = 0; axis < 3; axis++) {
      tb_mesh_skip_space(r);
      TB_TRY(tb_mesh_number(r, "a coordinate", &x[axis]));
    }
    TB_TRY(add_corner(r, where, x));
  }
  TB_TRY(expect(r, "endloop"));
  TB_TRY(expect(r, "endfacet"));
  return tb_mesh_end_polygon(r, facet);
}

tbStatus tb_soup_parse_stl(tbMeshReader* r)
{
  do {
    TB_TRY(expect(r, "solid"));
    tb_mesh_skip_line(r);
    while (accept(r, "facet")) TB_TRY(read_facet(r));
    TB_TRY(expect(r, "endsolid"));
    tb_mesh_skip_line(r);
    tb_mesh_skip_space(r);
  } while (r->at < r->end);
  return TB_OK;
}

// ---- binary ----

static uint32_t read_uint32(const char* at)
{
  const unsigned char* b = (const unsigned char*)at;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double read_float(const char* at)
{
  uint32_t bits = read_uint32(at);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

tbStatus tb_soup_parse_stl_binary(tbMeshReader* r)
{
  r->binary = true;
  size_t length = (size_t)(r->end - r->begin);
  if (length < HEADER)
    return TB_MESH_FAIL(r, r->end, "neither text nor a binary STL, whose header alone has %d bytes", HEADER);
  uint32_t count = read_uint32(r->begin + 80);
  if ((uint64_t)count * TRIANGLE > length - HEADER)
    return TB_MESH_FAIL(r, r->begin + 80, "a binary STL of %lu triangles has %llu bytes; the file has %zu",
                        (unsigned long)count, (unsigned long long)count * TRIANGLE + HEADER, length);
  for (uint32_t t = 0; t < count; t++) {
    const char* at = r->begin + HEADER + (size_t)t * TRIANGLE;
    for (int k = 1; k <= 3; k++) {
      double x[3];
      for (int axis = 0; axis < 3; axis++) x[axis] = read_float(at + 12 * k + 4 * axis);
      TB_TRY(add_corner(r, at + 12 * k, x));
    }
    TB_TRY(tb_mesh_end_polygon(r, at));
  }
  return TB_OK;
}
