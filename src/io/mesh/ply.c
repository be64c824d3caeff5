// SPDX-License-Identifier: Apache-2.0
// PLY: a header in text, then elements in text or in binary of either byte order.
//
//   ply
//   format ascii 1.0                       or binary_little_endian, binary_big_endian
//   comment …  obj_info …                  passed over
//   element NAME COUNT
//   property TYPE NAME                     of the element above
//   property list TYPE TYPE NAME           the type of the count, then of the values
//   end_header
//
// Vertices are x, y, z of the elements `vertex`; faces the list `vertex_indices` or `vertex_index` of the
// elements `face`. Everything else is passed over. Counts are checked against what is left of the file
// before anything follows from them; memory grows with what has been read, not with what was announced.
#include "io/mesh/mesh_io.h"

#include <string.h>

typedef enum { NO_TYPE, INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64 } Type;
typedef enum { OTHER, X, Y, Z, CORNERS } Role;
typedef enum { TEXT, LITTLE, BIG } Format;

typedef struct {
  Type type, count_type; // count_type: NO_TYPE for a single value
  Role role;
} Property;

typedef struct {
  bool vertex, face;
  uint64_t count;
  size_t first, properties; // among all properties
} Element;

typedef struct {
  tbMeshReader* r;
  Format format;
  tbArray element, property;
} Ply;

// ---- header ----

typedef struct {
  const char* at;
  int length;
} Word;

static Word next_word(tbMeshReader* r) // of this line; empty at its end
{
  while (r->at < r->end && tb_mesh_is_blank(*r->at)) r->at++;
  Word w = {r->at, tb_mesh_word(r)};
  while (r->at < r->end && !tb_mesh_is_space(*r->at)) r->at++;
  return w;
}

static bool is(Word w, const char* text)
{
  return (size_t)w.length == strlen(text) && memcmp(w.at, text, (size_t)w.length) == 0;
}

static Type type_named(Word w)
{
  static const struct {
    const char* name;
    Type type;
  } types[] = {{"char", INT8},   {"uchar", UINT8},   {"short", INT16},     {"ushort", UINT16},
               {"int", INT32},   {"uint", UINT32},   {"float", FLOAT32},   {"double", FLOAT64},
               {"int8", INT8},   {"uint8", UINT8},   {"int16", INT16},     {"uint16", UINT16},
               {"int32", INT32}, {"uint32", UINT32}, {"float32", FLOAT32}, {"float64", FLOAT64}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is(w, types[i].name)) return types[i].type;
  return NO_TYPE;
}

static tbStatus read_type(tbMeshReader* r, Type* out)
{
  Word w = next_word(r);
  *out = type_named(w);
  return *out ? TB_OK : TB_MESH_FAIL(r, w.at, "expected a type, found \"%.*s\"", w.length, w.at);
}

static tbStatus read_format(Ply* ply)
{
  static const char* const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  Word w = next_word(ply->r);
  for (int i = 0; i < 3; i++)
    if (is(w, names[i])) {
      ply->format = (Format)i;
      return TB_OK;
    }
  return TB_MESH_FAIL(ply->r, w.at, "unknown format \"%.*s\"", w.length, w.at);
}

static tbStatus read_element(Ply* ply)
{
  tbMeshReader* r = ply->r;
  Word name = next_word(r), number = next_word(r);
  Element e = {.vertex = is(name, "vertex"), .face = is(name, "face"), .first = ply->property.count};
  for (int i = 0; i < number.length; i++) {
    if (number.at[i] < '0' || number.at[i] > '9' || i >= 18)
      return TB_MESH_FAIL(r, number.at, "expected a number of elements, found \"%.*s\"", number.length,
                          number.at);
    e.count = 10 * e.count + (uint64_t)(number.at[i] - '0');
  }
  if (number.length == 0) return TB_MESH_FAIL(r, name.at, "an element without its number");
  return tb_array_push(r->ctx, &ply->element, &e, 1);
}

static tbStatus read_property(Ply* ply)
{
  tbMeshReader* r = ply->r;
  Property p = {0};
  Element* element = ply->element.count ? (Element*)ply->element.data + ply->element.count - 1 : NULL;
  if (!element) return TB_MESH_FAIL(r, r->at, "a property before the first element");
  const char* line = r->at;
  if (!is(next_word(r), "list")) r->at = line;
  else {
    TB_TRY(read_type(r, &p.count_type));
    if (p.count_type >= FLOAT32) return TB_MESH_FAIL(r, line, "a list whose length is not a whole number");
  }
  TB_TRY(read_type(r, &p.type));
  Word name = next_word(r);
  if (element->vertex && !p.count_type)
    p.role = is(name, "x") ? X : is(name, "y") ? Y : is(name, "z") ? Z : OTHER;
  if (element->face && p.count_type && (is(name, "vertex_indices") || is(name, "vertex_index")))
    p.role = CORNERS;
  element->properties++;
  return tb_array_push(r->ctx, &ply->property, &p, 1);
}

static tbStatus read_header(Ply* ply)
{
  tbMeshReader* r = ply->r;
  bool format = false;
  tb_mesh_skip_line(r);
  for (;;) {
    const char* line = r->at;
    if (line == r->end) return TB_MESH_FAIL(r, line, "the file ends within the header");
    Word w = next_word(r);
    if (is(w, "end_header")) break;
    if (is(w, "format")) {
      TB_TRY(read_format(ply));
      format = true;
    } else if (is(w, "element")) TB_TRY(read_element(ply));
    else if (is(w, "property")) TB_TRY(read_property(ply));
    else if (w.length && !is(w, "comment") && !is(w, "obj_info"))
      return TB_MESH_FAIL(r, line, "\"%.*s\" is no keyword of PLY", w.length, w.at);
    tb_mesh_skip_line(r);
  }
  if (!format) return TB_MESH_FAIL(r, r->at, "the header names no format");
  tb_mesh_skip_line(r);
  r->binary = ply->format != TEXT;
  return TB_OK;
}

// ---- values ----

static size_t size_of(Type type)
{
  static const size_t sizes[] = {[INT8] = 1,  [UINT8] = 1,  [INT16] = 2,   [UINT16] = 2,
                                 [INT32] = 4, [UINT32] = 4, [FLOAT32] = 4, [FLOAT64] = 8};
  return sizes[type];
}

static double decode(Type type, Format format, const char* at)
{
  uint64_t bits = 0;
  size_t size = size_of(type);
  for (size_t i = 0; i < size; i++)
    bits |= (uint64_t)(unsigned char)at[format == LITTLE ? i : size - 1 - i] << (8 * i);
  float single;
  double value;
  switch (type) {
  case INT8: return (int8_t)(uint8_t)bits;
  case INT16: return (int16_t)(uint16_t)bits;
  case INT32: return (int32_t)(uint32_t)bits;
  case FLOAT32: {
    uint32_t low = (uint32_t)bits;
    memcpy(&single, &low, sizeof single);
    return single;
  }
  case FLOAT64: memcpy(&value, &bits, sizeof value); return value;
  default: return (double)bits;
  }
}

static tbStatus read_value(Ply* ply, Type type, const char* what, double* out)
{
  tbMeshReader* r = ply->r;
  if (ply->format == TEXT) {
    tb_mesh_skip_space(r);
    return tb_mesh_number(r, what, out);
  }
  if ((size_t)(r->end - r->at) < size_of(type))
    return TB_MESH_FAIL(r, r->at, "the file ends where %s should stand", what);
  *out = decode(type, ply->format, r->at);
  r->at += size_of(type);
  return TB_OK;
}

static tbStatus skip_values(Ply* ply, Type type, uint64_t count)
{
  tbMeshReader* r = ply->r;
  if (ply->format != TEXT) { // what is left is enough: the caller has looked
    r->at += count * size_of(type);
    return TB_OK;
  }
  for (uint64_t i = 0; i < count; i++) {
    tb_mesh_skip_space(r);
    if (r->at == r->end) return TB_MESH_FAIL(r, r->at, "the file ends within an element");
    while (r->at < r->end && !tb_mesh_is_space(*r->at)) r->at++;
  }
  return TB_OK;
}

// ---- elements ----

// Bytes that so many values take at least: in text, a digit and a space, the last of which may be missing.
static bool fits(const Ply* ply, Type type, double count)
{
  size_t left = (size_t)(ply->r->end - ply->r->at);
  return ply->format == TEXT ? 2 * count - 1 <= (double)left : count * (double)size_of(type) <= (double)left;
}

static tbStatus read_corners(Ply* ply, Type type, uint64_t count, const char* list)
{
  tbMeshReader* r = ply->r;
  for (uint64_t i = 0; i < count; i++) {
    double index;
    const char* where = r->at;
    TB_TRY(read_value(ply, type, "a vertex of a face", &index));
    if (!(index >= 0 && index < 2147483647.0) || index != floor(index))
      return TB_MESH_FAIL(r, where, "a face with the vertex %g", index);
    TB_TRY(tb_mesh_add_corner(r, where, (int64_t)index, -1));
  }
  return tb_mesh_end_polygon(r, list);
}

static tbStatus read_list(Ply* ply, const Property* p)
{
  double count;
  tbMeshReader* r = ply->r;
  if (ply->format == TEXT) tb_mesh_skip_space(r);
  const char* where = r->at;
  TB_TRY(read_value(ply, p->count_type, "the length of a list", &count));
  if (!(count >= 0) || count != floor(count) || !fits(ply, p->type, count))
    return TB_MESH_FAIL(r, where, "a list of %g values does not fit the rest of the file", count);
  if (p->role == CORNERS) return read_corners(ply, p->type, (uint64_t)count, where);
  return skip_values(ply, p->type, (uint64_t)count);
}

static tbStatus read_one(Ply* ply, const Element* e)
{
  const Property* property = (const Property*)ply->property.data + e->first;
  double x[3] = {0, 0, 0};
  if (ply->format == TEXT) tb_mesh_skip_space(ply->r);
  const char* where = ply->r->at;
  for (size_t i = 0; i < e->properties; i++) {
    const Property* p = &property[i];
    if (p->count_type) TB_TRY(read_list(ply, p));
    else if (p->role != OTHER) TB_TRY(read_value(ply, p->type, "a coordinate", &x[p->role - X]));
    else if (!fits(ply, p->type, 1)) return TB_MESH_FAIL(ply->r, where, "the file ends within an element");
    else TB_TRY(skip_values(ply, p->type, 1));
  }
  return e->vertex ? tb_mesh_add_vertex(ply->r, where, x) : TB_OK;
}

static tbStatus read_elements(Ply* ply, const Element* e)
{
  double least = 0; // bytes of one element
  int axes = 0;
  for (size_t i = e->first; i < e->first + e->properties; i++) {
    const Property* p = (const Property*)ply->property.data + i;
    least += ply->format == TEXT ? 2 : (double)size_of(p->count_type ? p->count_type : p->type);
    if (p->role >= X && p->role <= Z) axes |= 1 << (p->role - X);
  }
  if (e->vertex && axes != 7) return TB_MESH_FAIL(ply->r, ply->r->at, "the vertices have no x, y and z");
  if (e->properties == 0) return TB_OK; // nothing stands in the file, however many there are
  double left = (double)(ply->r->end - ply->r->at) + (ply->format == TEXT);
  if ((double)e->count * least > left)
    return TB_MESH_FAIL(ply->r, ply->r->at, "%llu elements do not fit the rest of the file",
                        (unsigned long long)e->count);
  for (uint64_t i = 0; i < e->count; i++) TB_TRY(read_one(ply, e));
  return TB_OK;
}

tbStatus tb_soup_parse_ply(tbMeshReader* r)
{
  Ply ply = {.r = r, .element = TB_ARRAY(Element), .property = TB_ARRAY(Property)};
  tbStatus status = read_header(&ply);
  const Element* element = ply.element.data;
  for (size_t i = 0; status == TB_OK && i < ply.element.count; i++) status = read_elements(&ply, &element[i]);
  tb_array_free(r->ctx, &ply.element);
  tb_array_free(r->ctx, &ply.property);
  return status;
}
