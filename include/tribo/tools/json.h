// SPDX-License-Identifier: Apache-2.0
// JSON, read strictly (RFC 8259) and written so that it reads back the same.
//
// The reader builds a tree in an arena and every node remembers where it stands, so that the reader of a
// format out of the tree can say `scene.json:7:13: …` about anything in it. Lines and columns count from 1; a
// line ends with "\n"; a column is a Unicode character, a tab being one.
//
// Stricter than the standard where a file could mean two things or nothing: duplicate keys, numbers beyond
// the range of a double, \u0000 and lone surrogate escapes, a byte-order mark, and nesting deeper than
// TB_JSON_DEPTH are errors.
#ifndef TRIBO_TOOLS_JSON_H
#define TRIBO_TOOLS_JSON_H

#include "tribo/tools/memory.h"
#include "tribo/tools/text.h"

#include <math.h>

TB_API_BEGIN

enum { TB_JSON_DEPTH = 128 };

typedef enum tbJsonType {
  TB_JSON_NULL,
  TB_JSON_BOOL,
  TB_JSON_NUMBER,
  TB_JSON_STRING,
  TB_JSON_ARRAY,
  TB_JSON_OBJECT
} tbJsonType;

typedef struct tbJsonKey {
  uint32_t line, column; // of its opening quote
  char text[];
} tbJsonKey;

// One value, 40 bytes. A member of an object is its value, with the key.
typedef struct tbJson tbJson;
struct tbJson {
  union {
    bool boolean;
    double number;       // where not is_integer
    int64_t integer;     // where is_integer
    const char* string;  // UTF-8, terminated, never holds a NUL
    const tbJson* items; // of an array, the members of an object, in the file's order
  };
  const char* file;     // as named to the reader
  const tbJsonKey* key; // a member's own; an array's elements share the array's; null at the root
  uint32_t line, column;
  uint32_t count;  // bytes of a string, items of an array or object
  uint8_t type;    // tbJsonType
  bool is_integer; // a number written without point or exponent that fits an int64_t; not -0
};

// Reads one JSON text of at most 4 GiB. The tree lives in the arena and needs neither `name` nor `bytes` any
// more. On failure the message is `name:line:column: what is wrong` and *root is left alone; what the arena
// holds by then goes with the arena.
tbStatus tb_json_parse(tbContext* ctx, tbArena* arena, const char* name, const char* bytes, size_t length,
                       const tbJson** root);
tbStatus tb_json_read_file(tbContext* ctx, tbArena* arena, const char* path, size_t max_bytes,
                           const tbJson** root);

// The member of that key, or null; null for what is not an object, too. Logarithmic in large objects.
const tbJson* tb_json_find(const tbJson* object, const char* key);

static inline double tb_json_double(const tbJson* node) // of a TB_JSON_NUMBER
{
  return node->is_integer ? (double)node->integer : node->number;
}

// Fails with TB_ERROR_INPUT and the node's place: `scene.json:7:13: …`.
#define tb_json_fail(ctx, node, ...) \
  tb_json_fail_at(ctx, (node)->file, (node)->line, (node)->column, __FILE__, __LINE__, __VA_ARGS__)
tbStatus tb_json_fail_at(tbContext* ctx, const char* file, uint32_t line, uint32_t column,
                         const char* source_file, int source_line, const char* format, ...)
    __attribute__((format(printf, 7, 8)));

// Values. Each checks type and bounds, and writes *out only when it succeeds. 1e6 and 3.0 are whole numbers.

typedef struct tbRange {
  double min, max;
  bool above; // min itself is outside
} tbRange;
#define TB_ANY         ((tbRange){-INFINITY, INFINITY, false})
#define TB_POSITIVE    ((tbRange){0, INFINITY, true})
#define TB_NONNEGATIVE ((tbRange){0, INFINITY, false})
#define TB_UNIT        ((tbRange){0, 1, false})

tbStatus tb_json_get_type(tbContext* ctx, const tbJson* node, tbJsonType type); // only checks
tbStatus tb_json_get_number(tbContext* ctx, const tbJson* node, tbRange range, double* out);
tbStatus tb_json_get_int(tbContext* ctx, const tbJson* node, int min, int max, int* out);
tbStatus tb_json_get_int64(tbContext* ctx, const tbJson* node, int64_t min, int64_t max, int64_t* out);
tbStatus tb_json_get_bool(tbContext* ctx, const tbJson* node, bool* out);
tbStatus tb_json_get_string(tbContext* ctx, const tbJson* node, const char** out); // lives with the tree
// The index of the string among null-terminated names; suggests the nearest.
tbStatus tb_json_get_choice(tbContext* ctx, const tbJson* node, const char* const* names, int* out);
// An array of min_count to max_count numbers, each in the range; *count may be null when both are the same.
tbStatus tb_json_get_numbers(tbContext* ctx, const tbJson* node, int min_count, int max_count, tbRange range,
                             double* out, int* count);

// Objects. A format's reader lists an object's keys once, with where each goes:
//
//   const tbJson* shape = NULL;
//   const tbJsonField fields[] = {
//       tb_required(tb_field_string("name", &body.name)),
//       tb_field_number("mass", &body.mass, TB_POSITIVE),
//       tb_field_numbers("position", body.position, 3, TB_ANY),
//       tb_field_choice("model", &body.model, model_names),
//       tb_field_object("shape", &shape),
//   };
//   TB_TRY(tb_json_read_object(ctx, node, fields, sizeof fields / sizeof fields[0]));
//
// Keys that are absent leave their variable alone, so it holds the default beforehand. A key that is not in
// the list is an error that names the nearest one that is, unless it starts with '_'.
typedef struct tbJsonField {
  const char* key;
  tbStatus (*get)(tbContext* ctx, const tbJson* node, const struct tbJsonField* field);
  void* out;
  bool required;
  tbRange range;
  int64_t min, max;
  const char* const* names;
  int* count;
  tbJsonType type;
} tbJsonField;

tbJsonField tb_field_number(const char* key, double* out, tbRange range);
tbJsonField tb_field_int(const char* key, int* out, int min, int max);
tbJsonField tb_field_int64(const char* key, int64_t* out, int64_t min, int64_t max);
tbJsonField tb_field_bool(const char* key, bool* out);
tbJsonField tb_field_string(const char* key, const char** out);
tbJsonField tb_field_choice(const char* key, int* out, const char* const* names);
tbJsonField tb_field_numbers(const char* key, double* out, int count, tbRange range);
tbJsonField tb_field_numbers_between(const char* key, double* out, int min_count, int max_count, int* count,
                                     tbRange range);
tbJsonField tb_field_object(const char* key, const tbJson** out);
tbJsonField tb_field_array(const char* key, const tbJson** out);
tbJsonField tb_field_any(const char* key, const tbJson** out); // for what may be a number or an object
tbJsonField tb_required(tbJsonField field);

tbStatus tb_json_read_object(tbContext* ctx, const tbJson* node, const tbJsonField* fields, size_t count);

// The same check of keys by themselves: null-terminated.
tbStatus tb_json_check_keys(tbContext* ctx, const tbJson* object, const char* const* keys);
// What that check says of a member whose key is not in the list.
tbStatus tb_json_unknown_key(tbContext* ctx, const tbJson* member, const char* const* keys);
// A member that must be there.
tbStatus tb_json_require(tbContext* ctx, const tbJson* object, const char* key, const tbJson** out);

TB_API_END
#endif
