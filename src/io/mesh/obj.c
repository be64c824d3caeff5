// SPDX-License-Identifier: Apache-2.0
// Wavefront OBJ: lines of a keyword and its arguments. Of these, vertices and faces count:
//
//   v x y z …           a vertex; what follows (a weight, a colour) is left out
//   f a/b/c a/b/c …     a face over vertices a, counted from 1, or backwards from the last one: −1, −2, …
//   vt u v …            texture coordinates, b of faces, where they are asked for
//
// A backslash at the end of a line joins the next to it; # opens a comment. Other keywords are passed over,
// as long as they are words at all. A face may come before its vertices.
#include "io/mesh/mesh_io.h"

// Blanks within the line, joined lines included.
static void skip_blanks(tbMeshReader* r)
{
  while (r->at < r->end) {
    const char* c = r->at;
    if (*c == '\\') {
      do c++;
      while (c < r->end && *c == '\r');
      if (c == r->end || *c != '\n') return;
      r->at = c + 1;
    } else if (tb_mesh_is_blank(*c)) {
      r->at++;
    } else {
      return;
    }
  }
}

static bool at_line_end(const tbMeshReader* r) { return r->at == r->end || *r->at == '\n' || *r->at == '#'; }

static tbStatus read_vertex(tbMeshReader* r, const char* line)
{
  double x[3];
  for (int k = 0; k < 3; k++) {
    skip_blanks(r);
    if (at_line_end(r)) return TB_MESH_FAIL(r, line, "a vertex needs 3 coordinates, not %d", k);
    TB_TRY(tb_mesh_number(r, "a coordinate", &x[k]));
  }
  return tb_mesh_add_vertex(r, line, x);
}

// A place in a list with `count` members so far, counted from 1 or, with a minus, backwards from the last;
// −1: no digits, −2: 0, which is none, −3: before the first.
static int64_t read_index(tbMeshReader* r, size_t count)
{
  bool backwards = *r->at == '-';
  int64_t index = 0;
  const char* digits = r->at += backwards;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
    if (index < INT64_MAX / 100) index = 10 * index + (*r->at - '0');
  if (r->at == digits) return -1;
  if (index == 0) return -2;
  if (backwards && index > (int64_t)count) return -3;
  return backwards ? (int64_t)count - index : index - 1;
}

// The vertex of a/b/c, and with texture coordinates b; what else follows is for normals.
static tbStatus read_corner(tbMeshReader* r)
{
  const char* word = r->at;
  int64_t vertex = read_index(r, r->soup->vertex.count), coordinate = -1;
  if (vertex != -1 && r->charted && r->at + 1 < r->end && *r->at == '/' && r->at[1] != '/') {
    r->at++;
    coordinate = read_index(r, r->soup->coordinate.count / 2);
    if (coordinate < -1) return TB_MESH_FAIL(r, word, "a face with texture coordinates that are not there");
  }
  while (r->at < r->end && (*r->at == '/' || *r->at == '-' || (*r->at >= '0' && *r->at <= '9'))) r->at++;
  bool ends = r->at == r->end || tb_mesh_is_space(*r->at);
  if (vertex < 0 || !ends) r->at = word; // for the messages
  if (vertex == -1 || !ends)
    return TB_MESH_FAIL(r, word, "expected a vertex of a face, found \"%.*s\"", tb_mesh_word(r), word);
  if (vertex == -2) return TB_MESH_FAIL(r, word, "a face with vertex 0; they count from 1");
  if (vertex == -3)
    return TB_MESH_FAIL(r, word, "a face with vertex %.*s; %lld came before", tb_mesh_word(r), word,
                        (long long)r->soup->vertex.count);
  return tb_mesh_add_corner(r, word, vertex, coordinate);
}

// vt u [v [w]]
static tbStatus read_coordinate(tbMeshReader* r, const char* line)
{
  double uv[2] = {0};
  for (int k = 0; k < 2; k++) {
    skip_blanks(r);
    if (at_line_end(r) && k == 0) return TB_MESH_FAIL(r, line, "texture coordinates need a number");
    if (!at_line_end(r)) TB_TRY(tb_mesh_number(r, "a texture coordinate", &uv[k]));
  }
  return tb_array_push(r->ctx, &r->soup->coordinate, uv, 2);
}

static tbStatus read_face(tbMeshReader* r, const char* line)
{
  for (skip_blanks(r); !at_line_end(r); skip_blanks(r)) TB_TRY(read_corner(r));
  return tb_mesh_end_polygon(r, line);
}

static bool is_keyword(const char* word, int length)
{
  for (int i = 0; i < length; i++) {
    char c = word[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && (i == 0 || (c != '_' && !(c >= '0' && c <= '9')))) return false;
  }
  return true;
}

tbStatus tb_soup_parse_obj(tbMeshReader* r)
{
  while (tb_mesh_skip_space(r), r->at < r->end) {
    const char* line = r->at;
    int length = tb_mesh_word(r);
    if (length == 1 && *line == 'v') {
      r->at++;
      TB_TRY(read_vertex(r, line));
    } else if (r->charted && length == 2 && *line == 'v' && line[1] == 't') {
      r->at += 2;
      TB_TRY(read_coordinate(r, line));
    } else if (length == 1 && *line == 'f') {
      r->at++;
      TB_TRY(read_face(r, line));
    } else if (*line != '#' && !is_keyword(line, length)) {
      return TB_MESH_FAIL(r, line, "\"%.*s\" is no keyword of OBJ, and the file is neither STL nor PLY",
                          length, line);
    }
    // The rest of the line, and of those joined to it unless they are remarks.
    for (bool joined = true; joined;) {
      const char* from = r->at;
      tb_mesh_skip_line(r);
      const char* c = r->at;
      if (c > from && c[-1] == '\n') c--;
      while (c > from && c[-1] == '\r') c--;
      joined = *line != '#' && c > from && c[-1] == '\\' && r->at < r->end;
    }
  }
  return TB_OK;
}
