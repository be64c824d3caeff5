// SPDX-License-Identifier: Apache-2.0
// VTK legacy unstructured grids, text and binary (most significant byte first).
//
//   # vtk DataFile Version x.y
//   a title, one line
//   ASCII | BINARY
//   DATASET UNSTRUCTURED_GRID
//   POINTS n float|double         3 n numbers
//   CELLS n size                  before 5.0: n lists  k i₁ … i_k, `size` integers in all
//   CELLS m size                  from 5.0:   OFFSETS type, m numbers; CONNECTIVITY type, `size` numbers
//   CELL_TYPES n                  n integers
//
// METADATA and FIELD between them are skipped, and whatever follows the three is not looked at.
#include "io/mesh/tets_io.h"

#include <string.h>
#include <strings.h>

typedef struct {
  tbTetReader* r;
  double version;
  tbArray offset, index, type; // int64_t: cell c has index[offset[c]] … index[offset[c+1]−1]
} Vtk;

// ---- arrays ----

typedef struct {
  const char* name;
  int bytes;
  bool real;
} NumberType;

static tbStatus read_type(Vtk* v, NumberType* out)
{
  static const NumberType types[] = {
      {"float", 4, true},         {"double", 8, true}, {"int", 4, false},       {"vtktypeint32", 4, false},
      {"vtktypeint64", 8, false}, {"long", 8, false},  {"vtkIdType", 8, false}, {"unsigned_int", 4, false}};
  tbTetReader* r = v->r;
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (tb_tets_accept(r, types[k].name)) return *out = types[k], TB_OK;
  return TB_MESH_FAIL(&r->at, r->at.at, "\"%.*s\" is no type of numbers that can be read here",
                      tb_mesh_word(&r->at), r->at.at);
}

// Binary data begin right after the line that names them.
static void begin_data(Vtk* v)
{
  if (v->r->packed) tb_mesh_skip_line(&v->r->at);
}

static tbStatus read_ints(Vtk* v, int64_t count, int bytes, const char* what, tbArray* out)
{
  begin_data(v);
  for (int64_t i = 0; i < count; i++) {
    int64_t value;
    TB_TRY(tb_tets_int(v->r, bytes, what, &value));
    TB_TRY(tb_array_push(v->r->at.ctx, out, &value, 1));
  }
  return TB_OK;
}

// ---- sections ----

static tbStatus read_points(Vtk* v)
{
  int64_t count;
  NumberType type = {0};
  TB_TRY(tb_tets_count(v->r, v->r->packed ? 12 : 6, "the number of points", &count));
  const char* where = v->r->at.at;
  TB_TRY(read_type(v, &type));
  if (!type.real)
    return TB_MESH_FAIL(&v->r->at, where, "points of type %s; float and double can be read", type.name);
  begin_data(v);
  for (int64_t i = 0; i < count; i++) {
    double x[3];
    for (int k = 0; k < 3; k++) TB_TRY(tb_tets_real(v->r, type.bytes, "a coordinate", &x[k]));
    TB_TRY(tb_tets_add_node(v->r, x));
  }
  return TB_OK;
}

// k i₁ … i_k, n times.
static tbStatus read_lists(Vtk* v, int64_t count)
{
  tbTetReader* r = v->r;
  begin_data(v);
  for (int64_t c = 0; c < count; c++) {
    int64_t start = (int64_t)v->index.count, n, value;
    const char* where = r->at.at;
    TB_TRY(tb_tets_int(r, 4, "the size of a cell", &n));
    if (n < 0 || n > r->at.end - r->at.at)
      return TB_MESH_FAIL(&r->at, where, "a cell of %lld points", (long long)n);
    TB_TRY(tb_array_push(r->at.ctx, &v->offset, &start, 1));
    for (int64_t k = 0; k < n; k++) {
      TB_TRY(tb_tets_int(r, 4, "a point of a cell", &value));
      TB_TRY(tb_array_push(r->at.ctx, &v->index, &value, 1));
    }
  }
  int64_t end = (int64_t)v->index.count;
  return tb_array_push(r->at.ctx, &v->offset, &end, 1);
}

static tbStatus read_offsets(Vtk* v, int64_t offsets, int64_t size)
{
  NumberType type = {0};
  tbMeshReader* at = &v->r->at;
  TB_TRY(tb_tets_expect(v->r, "OFFSETS"));
  TB_TRY(read_type(v, &type));
  TB_TRY(read_ints(v, offsets, type.bytes, "an offset", &v->offset));
  const int64_t* offset = v->offset.data;
  for (int64_t c = 0; c < offsets; c++)
    if (offset[c] < (c ? offset[c - 1] : 0) || offset[c] > size)
      return TB_MESH_FAIL(at, at->at, "the offset of cell %lld is %lld", (long long)c, (long long)offset[c]);
  TB_TRY(tb_tets_expect(v->r, "CONNECTIVITY"));
  TB_TRY(read_type(v, &type));
  return read_ints(v, size, type.bytes, "a point of a cell", &v->index);
}

static tbStatus read_cells(Vtk* v)
{
  int64_t count, size;
  TB_TRY(tb_tets_count(v->r, v->r->packed ? 4 : 2, "the number of cells", &count));
  TB_TRY(tb_tets_count(v->r, v->r->packed ? 4 : 2, "the size of the cells", &size));
  return v->version >= 5 ? read_offsets(v, count, size) : read_lists(v, count);
}

static tbStatus read_cell_types(Vtk* v)
{
  int64_t count;
  TB_TRY(tb_tets_count(v->r, v->r->packed ? 4 : 2, "the number of cell types", &count));
  return read_ints(v, count, 4, "the type of a cell", &v->type);
}

// FIELD name n, then n times: name components tuples type and the data.
static tbStatus skip_field(Vtk* v)
{
  tbTetReader* r = v->r;
  int64_t arrays, components, tuples, unused;
  double real;
  NumberType type = {0};
  tb_mesh_skip_space(&r->at);
  r->at.at += tb_mesh_word(&r->at);
  TB_TRY(tb_tets_count(v->r, 4, "the number of arrays", &arrays));
  for (int64_t a = 0; a < arrays; a++) {
    tb_mesh_skip_space(&r->at);
    r->at.at += tb_mesh_word(&r->at);
    TB_TRY(tb_tets_count(v->r, 1, "the number of components", &components));
    TB_TRY(tb_tets_count(v->r, 1, "the number of tuples", &tuples));
    TB_TRY(read_type(v, &type));
    begin_data(v);
    for (int64_t i = 0; components > 0 && i < tuples; i++)
      for (int64_t k = 0; k < components; k++)
        TB_TRY(type.real ? tb_tets_real(r, type.bytes, "a number of a field", &real)
                         : tb_tets_int(r, type.bytes, "a number of a field", &unused));
  }
  return TB_OK;
}

// Lines up to an empty one.
static void skip_metadata(Vtk* v)
{
  tbMeshReader* at = &v->r->at;
  tb_mesh_skip_line(at);
  for (bool empty = false; !empty && at->at < at->end;) {
    const char* line = at->at;
    tb_mesh_skip_line(at);
    empty = true;
    for (const char* c = line; c < at->at; c++) empty = empty && tb_mesh_is_space(*c);
  }
}

// ---- the file ----

static tbStatus read_header(Vtk* v)
{
  tbTetReader* r = v->r;
  TB_TRY(tb_tets_expect(r, "#"));
  TB_TRY(tb_tets_expect(r, "vtk"));
  TB_TRY(tb_tets_expect(r, "DataFile"));
  TB_TRY(tb_tets_expect(r, "Version"));
  tb_mesh_skip_space(&r->at);
  TB_TRY(tb_mesh_number(&r->at, "the version", &v->version));
  tb_mesh_skip_line(&r->at);
  tb_mesh_skip_line(&r->at); // the title
  bool binary = tb_tets_accept(r, "BINARY");
  if (!binary) TB_TRY(tb_tets_expect(r, "ASCII"));
  TB_TRY(tb_tets_expect(r, "DATASET"));
  TB_TRY(tb_tets_expect(r, "UNSTRUCTURED_GRID"));
  r->packed = r->big = r->at.binary = binary;
  return TB_OK;
}

static tbStatus read_sections(Vtk* v)
{
  tbTetReader* r = v->r;
  bool points = false, cells = false, types = false;
  while (!(points && cells && types)) {
    if (!points && tb_tets_accept(r, "POINTS")) {
      TB_TRY(read_points(v));
      points = true;
    } else if (!cells && tb_tets_accept(r, "CELLS")) {
      TB_TRY(read_cells(v));
      cells = true;
    } else if (!types && tb_tets_accept(r, "CELL_TYPES")) {
      TB_TRY(read_cell_types(v));
      types = true;
    } else if (tb_tets_accept(r, "METADATA")) {
      skip_metadata(v);
    } else if (tb_tets_accept(r, "FIELD")) {
      TB_TRY(skip_field(v));
    } else {
      return tb_tets_expect(r, !points ? "POINTS" : !cells ? "CELLS" : "CELL_TYPES");
    }
  }
  return TB_OK;
}

static tbStatus take_tets(Vtk* v)
{
  tbTetReader* r = v->r;
  const int64_t *offset = v->offset.data, *index = v->index.data, *type = v->type.data;
  size_t cells = v->offset.count > 0 ? v->offset.count - 1 : 0;
  if (v->type.count != cells)
    return TB_MESH_FAIL(&r->at, r->at.at, "%zu cells with %zu types", cells, v->type.count);
  for (size_t c = 0; c < cells; c++) {
    bool tet = type[c] == 10 || type[c] == 24;
    if (!tet && (type[c] < 0 || (type[c] > 9 && type[c] < 21) || type[c] > 23))
      return TB_MESH_FAIL(&r->at, r->at.at, "cell %zu is of type %lld; of solids, tetrahedra can be read", c,
                          (long long)type[c]);
    if (!tet) continue;
    if (offset[c + 1] - offset[c] != (type[c] == 10 ? 4 : 10))
      return TB_MESH_FAIL(&r->at, r->at.at, "cell %zu is a tetrahedron with %lld points", c,
                          (long long)(offset[c + 1] - offset[c]));
    TB_TRY(tb_array_push(r->at.ctx, &r->corner, index + offset[c], 4));
  }
  return TB_OK;
}

tbStatus tb_tets_parse_vtk(tbTetReader* r)
{
  Vtk v = {.r = r, .offset = TB_ARRAY(int64_t), .index = TB_ARRAY(int64_t), .type = TB_ARRAY(int64_t)};
  tbStatus status = read_header(&v);
  if (status == TB_OK) status = read_sections(&v);
  if (status == TB_OK) status = take_tets(&v);
  tb_array_free(r->at.ctx, &v.offset);
  tb_array_free(r->at.ctx, &v.index);
  tb_array_free(r->at.ctx, &v.type);
  return status;
}

// ---- writing ----

tbStatus tb_tet_mesh_print_vtk(tbOut* out, const tbTetMesh* mesh)
{
  tb_out_text(out, "# vtk DataFile Version 3.0\ntetrahedra\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS ");
  tb_out_int(out, mesh->nnode);
  tb_out_text(out, " double\n");
  for (int i = 0; i < mesh->nnode; i++) {
    const double x[3] = {mesh->node[i].x, mesh->node[i].y, mesh->node[i].z};
    for (int k = 0; k < 3; k++) tb_out_double(out, x[k]), tb_out_text(out, k < 2 ? " " : "\n");
  }
  tb_out_text(out, "CELLS ");
  tb_out_int(out, mesh->ntet);
  tb_out_text(out, " ");
  tb_out_int(out, 5 * (int64_t)mesh->ntet);
  for (int t = 0; t < mesh->ntet; t++) {
    tb_out_text(out, "\n4");
    for (int a = 0; a < 4; a++) tb_out_text(out, " "), tb_out_int(out, mesh->tet[t][a]);
  }
  tb_out_text(out, "\nCELL_TYPES ");
  tb_out_int(out, mesh->ntet);
  tb_out_text(out, "\n");
  for (int t = 0; t < mesh->ntet; t++) tb_out_text(out, "10\n");
  return tb_out_finish(out);
}
