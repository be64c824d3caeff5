// SPDX-License-Identifier: Apache-2.0
// Mesh files: every form of the same box, and files that lie.
#include "geometry/hull.h"
#include "geometry/mesh.h"
#include "io/mesh/mesh_io.h"
#include "io/io_test.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const tbVec3 plain = {1, 1, 1};

static tbStatus parse(tbContext* ctx, const char* name, const void* bytes, size_t length, tbMesh** out)
{
  tbSoup soup = tb_soup_empty();
  *out = NULL;
  char* exact = malloc(length ? length : 1); // no byte more, so that the sanitizers see a read beyond
  memcpy(exact, bytes, length);
  tbStatus status = tb_soup_parse(ctx, name, exact, length, &soup);
  free(exact);
  if (status == TB_OK) status = tb_soup_mesh(ctx, name, &soup, plain, out);
  tb_soup_free(ctx, &soup);
  return status;
}

// ---- a box in every form ----

static const double corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {1, 2, 0},
                                     {0, 0, 3}, {1, 0, 3}, {0, 2, 3}, {1, 2, 3}};
static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};

typedef struct {
  char bytes[16384];
  size_t length;
} File;

static void put(File* f, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void put(File* f, const char* format, ...)
{
  va_list args;
  va_start(args, format);
  f->length += (size_t)vsnprintf(f->bytes + f->length, sizeof f->bytes - f->length, format, args);
  va_end(args);
}

static void put_number(File* f, double value, char type, bool big)
{
  unsigned char b[8];
  float single = (float)value;
  int32_t whole = isnan(value) ? 0 : (int32_t)value;
  int16_t half = (int16_t)whole;
  size_t n = type == 'd' ? 8 : type == 'h' ? 2 : type == 'b' ? 1 : 4;
  const void* from = type == 'd'   ? (void*)&value
                     : type == 'f' ? (void*)&single
                     : type == 'h' ? (void*)&half
                                   : (void*)&whole;
  memcpy(b, from, n); // the tests run on little endian machines
  for (size_t i = 0; i < n; i++) f->bytes[f->length++] = (char)b[big ? n - 1 - i : i];
}

static void make_obj(File* f, const char* end, bool backwards, bool slashes)
{
  put(f, "# a box%smtllib box.mtl%so box%s", end, end, end);
  for (int i = 0; i < 8; i++) put(f, "v  %g\t%g %g%s", corners[i][0], corners[i][1], corners[i][2], end);
  put(f, "vt 0 0%svn 0 0 1%ss off%s", end, end, end);
  for (int q = 0; q < 6; q++) {
    put(f, "f");
    for (int k = 0; k < 4; k++)
      put(f, slashes ? " %d/1/-1" : " %d", backwards ? quads[q][k] - 8 : quads[q][k] + 1);
    put(f, "%s", q < 5 ? end : " # and no end of line");
  }
}

static void make_stl(File* f, bool binary, bool capitals)
{
  if (binary) {
    put(f, "%-80s", "solid but binary all the same");
    put_number(f, 12, 'i', false);
  } else put(f, capitals ? "SOLID a box\n" : "solid\n");
  for (int t = 0; t < 12; t++) {
    if (binary)
      for (int k = 0; k < 3; k++) put_number(f, 0, 'f', false);
    else
      put(f, capitals ? " FACET NORMAL nan nan nan\r\n  OUTER LOOP\r\n" : "facet normal 0 0 1 outer loop\n");
    for (int k = 0; k < 3; k++) {
      const double* x = corners[quads[t / 2][k == 0 ? 0 : t % 2 + k]];
      if (binary)
        for (int a = 0; a < 3; a++) put_number(f, x[a], 'f', false);
      else put(f, capitals ? "   VERTEX %.3e %g %g\r\n" : "vertex %.3e %g %g\n", x[0], x[1], x[2]);
    }
    if (binary) put_number(f, 0, 'h', false);
    else put(f, capitals ? "  ENDLOOP\r\n ENDFACET\r\n" : "endloop endfacet\n");
  }
  if (!binary) put(f, capitals ? "ENDSOLID a box" : "endsolid");
}

static void make_ply(File* f, int format)
{
  static const char* const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  const char* end = format == 1 ? "\r\n" : "\n";
  bool big = format == 2;
  put(f, "ply%sformat %s 1.0%scomment made by hand%sobj_info none%s", end, names[format], end, end, end);
  put(f, "element extra 1%sproperty list uchar double odd%sproperty short s%s", end, end, end);
  put(f, "element vertex 8%sproperty float nx%sproperty double x%sproperty float y%sproperty short z%s", end,
      end, end, end, end);
  put(f, "element face 6%sproperty uchar red%sproperty list uchar int vertex_indices%send_header%s", end, end,
      end, end);
  if (format == 0) {
    put(f, "2 0.5 nan 7\n");
    for (int i = 0; i < 8; i++) put(f, "nan %g %g %g\n", corners[i][0], corners[i][1], corners[i][2]);
    for (int q = 0; q < 6; q++)
      put(f, "255 4 %d %d %d %d%s", quads[q][0], quads[q][1], quads[q][2], quads[q][3], q < 5 ? "\n" : "");
    return;
  }
  put_number(f, 2, 'b', big), put_number(f, 0.5, 'd', big), put_number(f, NAN, 'd', big),
      put_number(f, 7, 'h', big);
  for (int i = 0; i < 8; i++) {
    put_number(f, NAN, 'f', big), put_number(f, corners[i][0], 'd', big);
    put_number(f, corners[i][1], 'f', big), put_number(f, corners[i][2], 'h', big);
  }
  for (int q = 0; q < 6; q++) {
    put_number(f, 100, 'b', big), put_number(f, 4, 'b', big);
    for (int k = 0; k < 4; k++) put_number(f, quads[q][k], 'i', big);
  }
}

enum { FORMS = 9 };

static File* make_form(int form)
{
  File* f = calloc(1, sizeof *f);
  if (form == 0) make_obj(f, "\n", false, false);
  if (form == 1) make_obj(f, "\r\n", true, true);
  if (form == 2) make_obj(f, "\n", true, false);
  if (form == 3) make_stl(f, false, false);
  if (form == 4) make_stl(f, false, true);
  if (form == 5) make_stl(f, true, false);
  if (form >= 6) make_ply(f, form - 6);
  return f;
}

TEST(mesh_files_of_every_form_give_the_same_box)
{
  for (int form = 0; form < FORMS; form++) {
    tbContext ctx = tb_default_context();
    tbMesh* m = NULL;
    File* f = make_form(form);
    CHECK_OK(&ctx, parse(&ctx, "box", f->bytes, f->length, &m));
    free(f);
    if (!m) continue;
    CHECK(m->nvertex == 8 && m->ntriangle == 12 && tb_mesh_is_solid(m));
    CHECK_NEAR(m->volume, 6, 1e-14);
    tb_mesh_free(&ctx, m);
  }
}

TEST(mesh_files_cut_short_are_errors_not_crashes)
{
  for (int form = 0; form < FORMS; form++) {
    File* f = make_form(form);
    for (size_t length = 0; length < f->length; length++) {
      tbContext ctx = tb_default_context();
      tbMesh* m = NULL;
      tbStatus status = parse(&ctx, "box", f->bytes, length, &m);
      CHECK(status == TB_OK || status == TB_ERROR_INPUT);
      if (status != TB_OK && strncmp(ctx.error.message, "box:", 4) != 0)
        test_failed(__FILE__, __LINE__, "form %d cut at %zu: %s", form, length, ctx.error.message);
      if (form >= 3 && length + 20 < f->length) CHECK(status != TB_OK);
      tb_mesh_free(&ctx, m);
    }
    free(f);
  }
}

TEST(mesh_files_survive_changed_bytes)
{
  tbRandom r = test_random(51);
  for (int k = 0; k < (test_quick() ? 2000 : 10000); k++) {
    File* f = make_form(k % FORMS);
    for (int n = 1 + test_below(&r, 4); n > 0; n--)
      f->bytes[test_below(&r, (int)f->length)] = (char)test_below(&r, 256);
    tbContext ctx = tb_default_context();
    tbMesh* m = NULL;
    tbStatus status = parse(&ctx, "box", f->bytes, f->length, &m);
    CHECK(status == TB_OK || (status == TB_ERROR_INPUT && strncmp(ctx.error.message, "box:", 4) == 0));
    tb_mesh_free(&ctx, m);
    free(f);
  }
}

#define PLY "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"

TEST(mesh_files_that_lie_are_told_so)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "m: no vertices: not a mesh"},
      {"hello world\n", "m: no vertices: not a mesh"},
      {"{\"a\": 1}", "m:1: \"{\"a\":\" is no keyword of OBJ"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "m: the mesh has no triangles"},
      {"v 0 0 0\nv 1 0\n", "m:2: a vertex needs 3 coordinates, not 2"},
      {"v 0 0 0\n\nv 1 0 x\n", "m:3: expected a coordinate, found \"x\""},
      {"v 0 0 nan\n", "m:1: expected a coordinate, found \"nan\""},
      {"v 0 0 1e999\n", "m:1: a coordinate is too large: 1e999"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "m:4: a face with vertex 3, counted from 0; there are 3"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "m:4: a face with vertex 0; they count from 1"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4\n", "m:4: a face with vertex -4; 3 came before"},
      {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "m:4: a face needs at least 3 corners, not 2"},
      {"v 0 0 0\nf 1 99999999999999999999999 1\n", "m:2: a face with the vertex"},
      {"v 0 0 0\nf 1 2.5 1\n", "m:2: expected a vertex of a face, found \"2.5\""},
      {"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "m: none of the mesh's 1 triangles has an area"},
      {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
       "m:6: expected \"vertex\", found \"endloop\""},
      {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 oops\n",
       "m:6: expected a coordinate, found \"oops\""},
      {"solid a\n", "m:2: the file ends where \"endsolid\" should stand"},
      {"solid a\nendsolid a\n", "m: no vertices"},
      {"ply\n", "m:2: the file ends within the header"},
      {"ply\nformat ascii 1.0\nend_header\n", "m: no vertices"},
      {"ply\nelement vertex 1\nend_header\n", "m:3: the header names no format"},
      {"ply\nformat morse 1.0\n", "m:2: unknown format \"morse\""},
      {PLY "property float x\n", "m:3: a property before the first element"},
      {PLY "element vertex -1\n", "m:3: expected a number of elements, found \"-1\""},
      {PLY "element vertex 999999999999999999999\n", "m:3: expected a number of elements"},
      {PLY "element vertex 999999999999999999\n" XYZ "end_header\n0 0 0\n",
       "m:8: 999999999999999999 elements do not fit"},
      {PLY "element vertex 1\nproperty float x\nend_header\n0\n", "m:6: the vertices have no x, y and z"},
      {PLY "element vertex 1\nproperty quad x\n", "m:4: expected a type, found \"quad\""},
      {PLY "element face 1\nproperty list float int vertex_indices\n",
       "m:4: a list whose length is not a whole number"},
      {PLY "element vertex 1\n" XYZ
           "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n900 0 0\n",
       "m:11: a list of 900 values does not fit"},
      {PLY "element vertex 1\n" XYZ
           "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n3 0 -1 0\n",
       "m:11: a face with the vertex -1"},
      {PLY "element vertex 1\n" XYZ
           "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 7\n",
       "m:11: a face with vertex 7, counted from 0; there are 1"},
      {PLY "element vertex 2\n" XYZ "end_header\n0.00 0 0\n1 1\n",
       "m:10: the file ends where a coordinate should stand"},
      {PLY "nonsense\n", "m:3: \"nonsense\" is no keyword of PLY"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tbContext ctx = tb_default_context();
    tbMesh* m = NULL;
    CHECK(parse(&ctx, "m", cases[i].text, strlen(cases[i].text), &m) == TB_ERROR_INPUT && !m);
    if (strncmp(ctx.error.message, cases[i].message, strlen(cases[i].message)) != 0)
      test_failed(__FILE__, __LINE__, "case %zu: %s", i, ctx.error.message);
  }
}

TEST(mesh_files_in_binary_that_lie_are_told_the_byte)
{
  tbContext ctx = tb_default_context();
  tbMesh* m = NULL;
  File* f = make_form(5);
  f->bytes[83] = 0x7f; // two thousand million triangles
  CHECK(parse(&ctx, "m", f->bytes, f->length, &m) == TB_ERROR_INPUT && !m);
  CHECK(strncmp(ctx.error.message, "m: byte 80: a binary STL of 2130706444 triangles", 48) == 0);
  free(f);
  f = make_form(5);
  memset(f->bytes + 84 + 50 + 12, 0xff, 4); // not a number
  CHECK(parse(&ctx, "m", f->bytes, f->length, &m) == TB_ERROR_INPUT && !m);
  CHECK(strncmp(ctx.error.message, "m: byte 146: a vertex at (", 26) == 0);
  free(f);
  f = make_form(7);
  f->bytes[f->length - 17] = (char)200; // a list of 200 with 16 bytes left
  CHECK(parse(&ctx, "m", f->bytes, f->length, &m) == TB_ERROR_INPUT && !m);
  CHECK(strstr(ctx.error.message, "a list of 200 values does not fit") != NULL);
  free(f);
  CHECK(parse(&ctx, "m", "\0\0\0", 3, &m) == TB_ERROR_INPUT && !m);
}

TEST(mesh_files_are_scaled_and_mirrored)
{
  tbContext ctx = tb_default_context();
  File* f = make_form(0);
  const char* path = io_temp("box.anything");
  FILE* stream = fopen(path, "wb");
  REQUIRE(stream);
  fwrite(f->bytes, 1, f->length, stream);
  fclose(stream);
  free(f);
  tbMesh* m = NULL;
  tbHull* h = NULL;
  CHECK_OK(&ctx, tb_mesh_load(&ctx, path, tb_vec3(2, -1, 0.5), &m));
  CHECK_OK(&ctx, tb_hull_load(&ctx, path, tb_vec3(2, -1, 0.5), &h));
  REQUIRE(m && h);
  CHECK(tb_mesh_is_solid(m) && m->box.lo.y == -2 && m->box.hi.x == 2 && m->box.hi.z == 1.5);
  CHECK_NEAR(m->volume, 6, 1e-14);
  CHECK(h->nvertex == 8 && h->nface == 6);
  tb_hull_free(&ctx, h);

  const char* again = io_temp("again.obj");
  tbMesh* same = NULL;
  CHECK_OK(&ctx, tb_mesh_save_obj(&ctx, again, m));
  CHECK_OK(&ctx, tb_mesh_load(&ctx, again, plain, &same));
  REQUIRE(same);
  CHECK(same->nvertex == m->nvertex && same->ntriangle == m->ntriangle);
  CHECK(memcmp(same->vertex, m->vertex, 8 * sizeof *m->vertex) == 0);
  CHECK(memcmp(same->triangle, m->triangle, 12 * sizeof *m->triangle) == 0);
  tb_mesh_free(&ctx, same);
  tb_mesh_free(&ctx, m);

  CHECK(tb_mesh_load(&ctx, path, tb_vec3(1, 0, 1), &m) == TB_ERROR_ARGUMENT && !m);
  CHECK(tb_mesh_load(&ctx, path, tb_vec3(1, NAN, 1), &m) == TB_ERROR_ARGUMENT && !m);
  CHECK(tb_mesh_load(&ctx, io_temp("none.obj"), plain, &m) == TB_ERROR_IO && !m);
}

TEST(mesh_files_of_obj_join_lines_and_allow_faces_first)
{
  tbContext ctx = tb_default_context();
  tbMesh* m = NULL;
  const char* text =
      "# remark \\\nf 1 2 \\\n 3\ng a \\\n f 7 7 7\nv 0 0 0 1 0.5 0.5 0.5\nv 1 0 \\\r\n0\nv 0 1 0";
  CHECK_OK(&ctx, parse(&ctx, "m", text, strlen(text), &m));
  REQUIRE(m);
  CHECK(m->nvertex == 3 && m->ntriangle == 1);
  tb_mesh_free(&ctx, m);
}

TEST(mesh_files_survive_every_failed_allocation)
{
  for (int form = 0; form < FORMS; form++) {
    File* f = make_form(form);
    const char* path = io_temp("fail");
    FILE* stream = fopen(path, "wb");
    REQUIRE(stream);
    fwrite(f->bytes, 1, f->length, stream);
    fclose(stream);
    free(f);
    long k = 0;
    for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
      tbFailingAllocator memory = {.countdown = k};
      tbContext ctx = test_failing_context(&memory);
      tbMesh* m = NULL;
      tbHull* h = NULL;
      status = tb_mesh_load(&ctx, path, plain, &m);
      if (status == TB_OK) status = tb_hull_load(&ctx, path, plain, &h);
      if (status == TB_OK) status = tb_mesh_save_obj(&ctx, io_temp("out.obj"), m);
      CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
      tb_mesh_free(&ctx, m);
      tb_hull_free(&ctx, h);
      CHECK(memory.alive == 0);
      REQUIRE(k < 1000);
    }
    CHECK(k > 10);
  }
}

TEST(mesh_files_from_other_programs_load)
{
  static const struct {
    const char* name;
    int triangles;
    bool solid;
  } files[] = {{"bowl.obj", 2560, false},          {"funnel.obj", 552, false},
               {"mat40x40.obj", 6396, true},       {"sphere1K.obj", 2474, true},
               {"verschoor/roller0.obj", 0, true}, {"verschoor/roller3.obj", 0, true},
               {"verschoor/roller5.obj", 0, true}};
  if (!test_shared_folder()) SKIP("no shared/meshes beside the checkout");
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[600];
    snprintf(path, sizeof path, "%s/meshes/%s", test_shared_folder(), files[i].name);
    tbContext ctx = tb_default_context();
    tbMesh* m = NULL;
    tbHull* h = NULL;
    tbStatus status = tb_mesh_load(&ctx, path, plain, &m);
    if (status == TB_ERROR_IO) SKIP("no %s", path);
    CHECK_OK(&ctx, status);
    CHECK_OK(&ctx, tb_hull_load(&ctx, path, plain, &h));
    REQUIRE(m && h);
    if (files[i].triangles) CHECK(m->ntriangle == files[i].triangles);
    if (tb_mesh_is_solid(m) != files[i].solid)
      test_failed(__FILE__, __LINE__, "%s: closed %d, oriented %d, volume %g", files[i].name, m->closed,
                  m->oriented, m->volume);
    tbShape mesh = tb_shape_mesh(m), hull = tb_shape_convex(h);
    CHECK(tb_shape_mass(&mesh, 1).mass <= tb_shape_mass(&hull, 1).mass * (1 + 1e-12));
    tb_mesh_free(&ctx, m);
    tb_hull_free(&ctx, h);
  }
}
