// SPDX-License-Identifier: Apache-2.0
// Gmsh's .msh, versions 2 and 4.1, text and binary.
//
//   $MeshFormat              version, 0 text or 1 binary, bytes of a size; in binary the number 1, which
//   tells the order $Nodes                   2: count, then  tag x y z
//                            4: blocks, count, least, most; each block: dim, entity, parametric, n; n tags; n
//                            × x y z …
//   $Elements                2: count, then  tag type ntags tags… nodes…   (binary: runs of type, n, ntags)
//                            4: blocks, count, least, most; each block: dim, entity, type, n; n × tag nodes…
//
// Counts are text in version 2 and binary in version 4. Other sections are skipped to their $End.
#include "io/mesh/tets_io.h"

#include <string.h>

typedef struct {
  tbTetReader* r;
  bool four;
  int word; // bytes of a tag in binary: 4, or the file's size in version 4
} Msh;

// Nodes of an element by its type, 0 for those unknown.
static int type_nodes(int64_t type)
{
  static const int nodes[] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                              8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
  return type >= 1 && type < (int64_t)(sizeof nodes / sizeof *nodes) ? nodes[type] : 0;
}

static bool is_tet(int64_t type) { return type == 4 || type == 11 || type == 29 || type == 30 || type == 31; }

static bool is_other_solid(int64_t type)
{
  return (type >= 5 && type <= 7) || (type >= 12 && type <= 14) || (type >= 17 && type <= 19) || type >= 32;
}

static tbStatus check_type(Msh* m, const char* where, int64_t type)
{
  if (is_other_solid(type))
    return TB_MESH_FAIL(&m->r->at, where, "elements of type %lld, solid but no tetrahedra", (long long)type);
  if (!type_nodes(type))
    return TB_MESH_FAIL(&m->r->at, where, "elements of the unknown type %lld", (long long)type);
  return TB_OK;
}

// The nodes that follow; the corners come first in every tetrahedron.
static tbStatus read_element(Msh* m, int64_t type)
{
  int nodes = type_nodes(type);
  for (int k = 0; k < nodes; k++) {
    int64_t tag;
    TB_TRY(tb_tets_int(m->r, m->word, "a node of an element", &tag));
    if (is_tet(type) && k < 4) TB_TRY(tb_array_push(m->r->at.ctx, &m->r->corner, &tag, 1));
  }
  return TB_OK;
}

static tbStatus read_point(Msh* m, int64_t extra)
{
  double x[3], unused;
  for (int k = 0; k < 3; k++) TB_TRY(tb_tets_real(m->r, 8, "a coordinate", &x[k]));
  for (int64_t k = 0; k < extra; k++) TB_TRY(tb_tets_real(m->r, 8, "a parameter", &unused));
  return tb_tets_add_node(m->r, x);
}

static tbStatus read_tag(Msh* m)
{
  int64_t tag;
  TB_TRY(tb_tets_int(m->r, m->word, "the tag of a node", &tag));
  return tb_array_push(m->r->at.ctx, &m->r->tag, &tag, 1);
}

// ---- version 2 ----

// A count, and in binary files the end of its line.
static tbStatus read_count(Msh* m, size_t bytes, const char* what, int64_t* count)
{
  TB_TRY(tb_tets_count(m->r, bytes, what, count));
  if (m->r->packed) tb_mesh_skip_line(&m->r->at);
  return TB_OK;
}

static tbStatus read_nodes_2(Msh* m)
{
  int64_t count;
  TB_TRY(read_count(m, m->r->packed ? 28 : 8, "the number of nodes", &count));
  for (int64_t i = 0; i < count; i++) {
    TB_TRY(read_tag(m));
    TB_TRY(read_point(m, 0));
  }
  return TB_OK;
}

static tbStatus read_elements_2(Msh* m)
{
  tbTetReader* r = m->r;
  int64_t count, type, run = 1, tags, unused;
  TB_TRY(read_count(m, r->packed ? 8 : 4, "the number of elements", &count));
  for (int64_t i = 0; i < count; i += run) {
    const char* where = r->at.at;
    if (!r->packed) TB_TRY(tb_tets_int(r, 4, "the tag of an element", &unused));
    TB_TRY(tb_tets_int(r, 4, "the type of an element", &type));
    TB_TRY(check_type(m, where, type));
    if (r->packed) TB_TRY(tb_tets_int(r, 4, "a number of elements", &run));
    if (run < 1 || run > count - i)
      return TB_MESH_FAIL(&r->at, where, "%lld elements of the type %lld, with %lld to come", (long long)run,
                          (long long)type, (long long)(count - i));
    TB_TRY(tb_tets_int(r, 4, "the number of tags", &tags));
    if (tags < 0 || tags > r->at.end - r->at.at)
      return TB_MESH_FAIL(&r->at, where, "an element with %lld tags", (long long)tags);
    for (int64_t e = 0; e < run; e++) {
      for (int64_t k = r->packed ? -1 : 0; k < tags; k++)
        TB_TRY(tb_tets_int(r, 4, "a tag of an element", &unused));
      TB_TRY(read_element(m, type));
    }
  }
  return TB_OK;
}

// ---- version 4.1 ----

static tbStatus read_counts(Msh* m, int64_t* blocks, int64_t* count)
{
  int64_t unused;
  TB_TRY(tb_tets_int(m->r, m->word, "the number of blocks", blocks));
  TB_TRY(tb_tets_int(m->r, m->word, "the number of entries", count));
  TB_TRY(tb_tets_int(m->r, m->word, "the least tag", &unused));
  return tb_tets_int(m->r, m->word, "the largest tag", &unused);
}

// dim, entity, a third number, and how many follow, of at least `bytes` each.
static tbStatus read_block(Msh* m, size_t bytes, int64_t head[3], int64_t* n)
{
  tbTetReader* r = m->r;
  const char* where = r->at.at;
  for (int k = 0; k < 3; k++) TB_TRY(tb_tets_int(r, 4, "the head of a block", &head[k]));
  TB_TRY(tb_tets_int(r, m->word, "the size of a block", n));
  uint64_t left = (uint64_t)(r->at.end - r->at.at);
  if (*n < 0 || (uint64_t)*n > left / bytes + 1)
    return TB_MESH_FAIL(&r->at, where, "a block of %lld entries, with %llu bytes to come", (long long)*n,
                        (unsigned long long)left);
  return TB_OK;
}

static tbStatus read_nodes_4(Msh* m)
{
  int64_t blocks, count, head[3], n;
  TB_TRY(read_counts(m, &blocks, &count));
  for (int64_t b = 0; b < blocks; b++) {
    TB_TRY(read_block(m, 2, head, &n));
    int64_t extra = head[2] != 0 && head[0] > 0 ? head[0] : 0;
    if (extra > 3)
      return TB_MESH_FAIL(&m->r->at, m->r->at.at, "an entity of %lld dimensions", (long long)head[0]);
    for (int64_t i = 0; i < n; i++) TB_TRY(read_tag(m));
    for (int64_t i = 0; i < n; i++) TB_TRY(read_point(m, extra));
  }
  return TB_OK;
}

static tbStatus read_elements_4(Msh* m)
{
  int64_t blocks, count, head[3], n, unused;
  TB_TRY(read_counts(m, &blocks, &count));
  for (int64_t b = 0; b < blocks; b++) {
    const char* where = m->r->at.at;
    TB_TRY(read_block(m, 2, head, &n));
    if (n > 0) TB_TRY(check_type(m, where, head[2]));
    for (int64_t e = 0; e < n; e++) {
      TB_TRY(tb_tets_int(m->r, m->word, "the tag of an element", &unused));
      TB_TRY(read_element(m, head[2]));
    }
  }
  return TB_OK;
}

// ---- sections ----

static tbStatus read_format(Msh* m)
{
  tbTetReader* r = m->r;
  double version;
  int64_t kind, size;
  tb_mesh_skip_space(&r->at);
  const char* where = r->at.at;
  TB_TRY(tb_mesh_number(&r->at, "the version", &version));
  TB_TRY(tb_tets_int(r, 4, "the kind of file", &kind));
  TB_TRY(tb_tets_int(r, 4, "the size of numbers", &size));
  m->four = version == 4.1;
  if (!m->four && !(version >= 2 && version < 3))
    return TB_MESH_FAIL(&r->at, where, "version %g of Gmsh's format; 2.2 and 4.1 can be read", version);
  if (kind != 0 && kind != 1) return TB_MESH_FAIL(&r->at, where, "a file of kind %lld", (long long)kind);
  if (size != 8 && !(m->four && size == 4))
    return TB_MESH_FAIL(&r->at, where, "numbers of %lld bytes", (long long)size);
  m->word = m->four ? (int)size : 4;
  r->packed = kind == 1;
  if (!r->packed) return TB_OK;
  r->at.binary = true;
  tb_mesh_skip_line(&r->at);
  int64_t one;
  where = r->at.at;
  TB_TRY(tb_tets_int(r, 4, "the number 1", &one));
  r->big = one == 0x01000000;
  if (one != 1 && !r->big)
    return TB_MESH_FAIL(&r->at, where, "expected the number 1, found %lld", (long long)one);
  return TB_OK;
}

// Past the end of a section that is not read.
static tbStatus skip_section(Msh* m, const char* name, int length)
{
  char mark[48];
  int n = snprintf(mark, sizeof mark, "$End%.*s", length - 1, name + 1);
  tbMeshReader* at = &m->r->at;
  const char* found = memmem(at->at, (size_t)(at->end - at->at), mark, (size_t)n);
  if (!found) return TB_MESH_FAIL(at, name, "the section %.*s has no end", length, name);
  at->at = found + n;
  return TB_OK;
}

static tbStatus read_section(Msh* m, bool nodes)
{
  tbTetReader* r = m->r;
  if (r->packed && m->four) tb_mesh_skip_line(&r->at); // data begin right after the line
  if (nodes) TB_TRY(m->four ? read_nodes_4(m) : read_nodes_2(m));
  else TB_TRY(m->four ? read_elements_4(m) : read_elements_2(m));
  return tb_tets_expect(r, nodes ? "$EndNodes" : "$EndElements");
}

tbStatus tb_tets_parse_msh(tbTetReader* r)
{
  Msh m = {.r = r};
  bool nodes = false, elements = false;
  TB_TRY(tb_tets_expect(r, "$MeshFormat"));
  TB_TRY(read_format(&m));
  TB_TRY(tb_tets_expect(r, "$EndMeshFormat"));
  while (tb_mesh_skip_space(&r->at), r->at.at < r->at.end) {
    const char* name = r->at.at;
    if (tb_tets_accept(r, "$Nodes") && !nodes) {
      TB_TRY(read_section(&m, true));
      nodes = true;
    } else if (tb_tets_accept(r, "$Elements") && !elements) {
      TB_TRY(read_section(&m, false));
      elements = true;
    } else if (*name == '$') {
      r->at.at = name;
      int length = tb_mesh_word(&r->at);
      r->at.at += length;
      TB_TRY(skip_section(&m, name, length));
    } else {
      return TB_MESH_FAIL(&r->at, name, "expected a section, found \"%.*s\"", tb_mesh_word(&r->at), name);
    }
  }
  if (!nodes || !elements)
    return TB_MESH_FAIL(&r->at, r->at.end, "the file has no section %s", nodes ? "$Elements" : "$Nodes");
  return TB_OK;
}
