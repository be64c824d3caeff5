// SPDX-License-Identifier: Apache-2.0
// What the readers of tetrahedra share: numbers in text and in binary, and the way from tags to indices.
#include "base/decimal.h"
#include "base/file.h"
#include "base/sort.h"
#include "io/problem/problem_io.h"
#include "io/mesh/tets_io.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

// ---- words and numbers ----

bool tb_tets_accept(tbTetReader* r, const char* word)
{
  tb_mesh_skip_space(&r->at);
  size_t length = strlen(word);
  if ((size_t)tb_mesh_word(&r->at) != length || strncasecmp(r->at.at, word, length) != 0) return false;
  r->at.at += length;
  return true;
}

tbStatus tb_tets_expect(tbTetReader* r, const char* word)
{
  if (tb_tets_accept(r, word)) return TB_OK;
  if (r->at.at == r->at.end)
    return TB_MESH_FAIL(&r->at, r->at.at, "the file ends where \"%s\" should stand", word);
  return TB_MESH_FAIL(&r->at, r->at.at, "expected \"%s\", found \"%.*s\"", word, tb_mesh_word(&r->at),
                      r->at.at);
}

static tbStatus take_bytes(tbTetReader* r, int size, const char* what, uint64_t* bits)
{
  if (r->at.end - r->at.at < size)
    return TB_MESH_FAIL(&r->at, r->at.at, "the file ends where %s should stand", what);
  const unsigned char* b = (const unsigned char*)r->at.at;
  *bits = 0;
  for (int i = 0; i < size; i++) *bits = *bits << 8 | b[r->big ? i : size - 1 - i];
  r->at.at += size;
  return TB_OK;
}

static tbStatus text_int(tbTetReader* r, const char* what, int64_t* out)
{
  tb_mesh_skip_space(&r->at);
  const char *start = r->at.at, *c = start + (start < r->at.end && *start == '-'), *digits = c;
  int64_t value = 0;
  for (; c < r->at.end && *c >= '0' && *c <= '9'; c++)
    if (value < INT64_MAX / 100) value = 10 * value + (*c - '0');
  if (start == r->at.end) return TB_MESH_FAIL(&r->at, start, "the file ends where %s should stand", what);
  if (c == digits || (c < r->at.end && !tb_mesh_is_space(*c)))
    return TB_MESH_FAIL(&r->at, start, "expected %s, found \"%.*s\"", what, tb_mesh_word(&r->at), start);
  r->at.at = c;
  *out = *start == '-' ? -value : value;
  return TB_OK;
}

tbStatus tb_tets_int(tbTetReader* r, int size, const char* what, int64_t* out)
{
  if (!r->packed) return text_int(r, what, out);
  uint64_t bits = 0;
  TB_TRY(take_bytes(r, size, what, &bits));
  *out = size == 4 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
  return TB_OK;
}

tbStatus tb_tets_real(tbTetReader* r, int size, const char* what, double* out)
{
  if (!r->packed) {
    tb_mesh_skip_space(&r->at);
    return tb_mesh_number(&r->at, what, out);
  }
  uint64_t bits = 0;
  TB_TRY(take_bytes(r, size, what, &bits));
  if (size == 8) {
    memcpy(out, &bits, sizeof *out);
  } else {
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    *out = value;
  }
  return TB_OK;
}

tbStatus tb_tets_count(tbTetReader* r, size_t bytes, const char* what, int64_t* out)
{
  tb_mesh_skip_space(&r->at);
  const char* where = r->at.at;
  TB_TRY(text_int(r, what, out));
  uint64_t left = (uint64_t)(r->at.end - r->at.at);
  if (*out < 0 || (uint64_t)*out > left / bytes + 1)
    return TB_MESH_FAIL(&r->at, where, "%s is %lld, with %llu bytes to come", what, (long long)*out,
                        (unsigned long long)left);
  return TB_OK;
}

tbStatus tb_tets_add_node(tbTetReader* r, const double x[3])
{
  if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]))
    return TB_MESH_FAIL(&r->at, r->at.at, "a node at (%g, %g, %g); it must be finite", x[0], x[1], x[2]);
  if (r->node.count >= INT_MAX) return TB_MESH_FAIL(&r->at, r->at.at, "more than %d nodes", INT_MAX);
  tbVec3 p = tb_load3(x);
  return tb_array_push(r->at.ctx, &r->node, &p, 1);
}

// ---- from tags to indices ----

typedef struct {
  int64_t tag;
  int64_t index;
} Tag;

static int compare_tags(const void* a, const void* b)
{
  const Tag *s = a, *t = b;
  if (s->tag != t->tag) return s->tag < t->tag ? -1 : 1;
  return s->index < t->index ? -1 : s->index > t->index;
}

// Index of the node with a tag, or −1.
static int64_t find(const Tag* tags, size_t count, int64_t tag)
{
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (tags[middle].tag < tag) low = middle + 1;
    else high = middle;
  }
  return low < count && tags[low].tag == tag ? tags[low].index : -1;
}

static tbStatus resolve_tags(tbTetReader* r)
{
  tbContext* ctx = r->at.ctx;
  size_t count = r->tag.count;
  if (count == 0) return TB_OK;
  const int64_t* tag = r->tag.data;
  int64_t* corner = r->corner.data;
  Tag* tags = TB_NEW(ctx, Tag, count);
  if (!tags) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < count; i++) tags[i] = (Tag){tag[i], (int64_t)i};
  tb_sort(tags, count, sizeof *tags, compare_tags);
  tbStatus status = TB_OK;
  for (size_t i = 1; status == TB_OK && i < count; i++)
    if (tags[i].tag == tags[i - 1].tag)
      status =
          tb_fail(ctx, TB_ERROR_INPUT, "%s: two nodes have the tag %lld", r->at.name, (long long)tags[i].tag);
  for (size_t n = 0; status == TB_OK && n < r->corner.count; n++) {
    int64_t index = find(tags, count, corner[n]);
    if (index < 0)
      status = tb_fail(ctx, TB_ERROR_INPUT, "%s: tetrahedron %zu has node %lld, which is not there",
                       r->at.name, n / 4, (long long)corner[n]);
    corner[n] = index;
  }
  tb_free(ctx, tags);
  return status;
}

// ---- the mesh ----

// Nodes in use, scaled, and the tetrahedra over them. `kept` has room for all nodes, `tet` for all
// tetrahedra.
static tbStatus gather(tbTetReader* r, tbVec3 scale, int* number, tbVec3* kept, int (*tet)[4], int* nkept)
{
  const int64_t* corner = r->corner.data;
  const tbVec3* node = r->node.data;
  size_t nnode = r->node.count, ntet = r->corner.count / 4, inverted = 0;
  for (size_t n = 0; n < 4 * ntet; n++) {
    if (corner[n] < 0 || (uint64_t)corner[n] >= nnode)
      return tb_fail(r->at.ctx, TB_ERROR_INPUT,
                     "%s: tetrahedron %zu has node %lld, counted from 0; there are %zu", r->at.name, n / 4,
                     (long long)corner[n], nnode);
    number[corner[n]] = 1;
  }
  *nkept = 0;
  for (size_t i = 0; i < nnode; i++) {
    if (!number[i]) continue;
    kept[*nkept] = tb_mul3(scale, node[i]);
    number[i] = (*nkept)++;
  }
  for (size_t t = 0; t < ntet; t++) {
    tbVec3 x[4];
    for (int a = 0; a < 4; a++) tet[t][a] = number[corner[4 * t + (size_t)a]], x[a] = kept[tet[t][a]];
    inverted += tb_dot3(tb_cross3(tb_sub3(x[1], x[0]), tb_sub3(x[2], x[0])), tb_sub3(x[3], x[0])) < 0;
  }
  for (size_t t = 0; inverted == ntet && t < ntet; t++) {
    int swap = tet[t][2];
    tet[t][2] = tet[t][3];
    tet[t][3] = swap;
  }
  return TB_OK;
}

static tbStatus make_mesh(tbTetReader* r, tbVec3 scale, tbTetMesh** out)
{
  tbContext* ctx = r->at.ctx;
  size_t nnode = r->node.count, ntet = r->corner.count / 4;
  if (ntet == 0) return tb_fail(ctx, TB_ERROR_INPUT, "%s: no tetrahedra", r->at.name);
  if (ntet > INT_MAX)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: %zu tetrahedra are too many", r->at.name, ntet);
  double volume = scale.x * scale.y * scale.z;
  if (!isfinite(volume) || volume == 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: the scale is (%g, %g, %g); it must be finite and not zero",
                   r->at.name, scale.x, scale.y, scale.z);
  int* number = TB_NEW(ctx, int, nnode);
  tbVec3* kept = TB_NEW(ctx, tbVec3, nnode);
  int(*tet)[4] = tb_alloc(ctx, ntet, sizeof *tet), nkept = 0;
  tbStatus status = number && kept && tet ? TB_OK : TB_ERROR_MEMORY;
  if (status == TB_OK) status = gather(r, scale, number, kept, tet, &nkept);
  if (status == TB_OK) {
    status = tb_tet_mesh_create(ctx, kept, nkept, (const int(*)[4])tet, (int)ntet, out);
    if (status == TB_ERROR_INPUT) status = tb_fail_in(ctx, r->at.name, status);
  }
  tb_free(ctx, number);
  tb_free(ctx, kept);
  tb_free(ctx, tet);
  return status;
}

tbStatus tb_tet_mesh_parse(tbContext* ctx, const char* name, const char* bytes, size_t length, tbVec3 scale,
                           tbTetMesh** out)
{
  *out = NULL;
  tbTetReader r = {.at = {.ctx = ctx, .name = name, .begin = bytes, .at = bytes, .end = bytes + length},
                   .node = TB_ARRAY(tbVec3),
                   .tag = TB_ARRAY(int64_t),
                   .corner = TB_ARRAY(int64_t)};
  if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) r.at.at += 3; // a byte order mark
  tbStatus status;
  tb_mesh_skip_space(&r.at);
  if (r.at.at < r.at.end && *r.at.at == '$') status = tb_tets_parse_msh(&r);
  else if (r.at.at < r.at.end && *r.at.at == '#') status = tb_tets_parse_vtk(&r);
  else
    status = tb_fail(ctx, TB_ERROR_INPUT,
                     "%s: neither Gmsh, which begins with $MeshFormat, nor VTK, with # vtk", name);
  if (status == TB_OK) status = resolve_tags(&r);
  if (status == TB_OK) status = make_mesh(&r, scale, out);
  tb_array_free(ctx, &r.node);
  tb_array_free(ctx, &r.tag);
  tb_array_free(ctx, &r.corner);
  return status;
}

tbStatus tb_tet_mesh_load(tbContext* ctx, const char* path, tbVec3 scale, tbTetMesh** out)
{
  char* bytes = NULL;
  size_t length = 0;
  *out = NULL;
  TB_TRY(tb_read_file(ctx, path, (size_t)TB_TET_MESH_FILE_GIB << 30, &bytes, &length));
  tbStatus status = tb_tet_mesh_parse(ctx, path, bytes, length, scale, out);
  tb_free(ctx, bytes);
  return status;
}

tbStatus tb_tet_mesh_save_vtk(tbContext* ctx, const char* path, const tbTetMesh* mesh)
{
  tbFile file;
  TB_TRY(tb_file_begin(ctx, path, &file));
  tbOut out = tb_out_sink(ctx, tb_file_sink(&file), file.path);
  tbStatus status = tb_tet_mesh_print_vtk(&out, mesh);
  tb_out_free(&out);
  return tb_file_end(ctx, &file, status);
}
