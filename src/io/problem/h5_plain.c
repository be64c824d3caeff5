// SPDX-License-Identifier: Apache-2.0
#include "io/problem/h5_plain.h"

#include <string.h>

#define UNDEFINED UINT64_MAX // an address that points nowhere

// ---- bytes ----

// `size` bytes at an address, or null when the file does not have them.
static const uint8_t* at(const tbH5Plain* f, uint64_t address, uint64_t size)
{
  if (address > f->length || f->base > f->length - address) return NULL;
  uint64_t start = f->base + address;
  return size <= f->length - start ? f->bytes + start : NULL;
}

static uint64_t little(const uint8_t* p, int size)
{
  uint64_t value = 0;
  for (int i = size - 1; i >= 0; i--) value = value << 8 | p[i];
  return value;
}

// A walk through bytes that never leaves them.
typedef struct {
  const uint8_t *p, *end;
  bool bad;
} Walk;

static uint64_t take(Walk* w, int size)
{
  if (w->end - w->p < size) {
    w->bad = true;
    return 0;
  }
  uint64_t value = little(w->p, size);
  w->p += size;
  return value;
}

static void skip(Walk* w, uint64_t size)
{
  if ((uint64_t)(w->end - w->p) < size) w->bad = true;
  else w->p += size;
}

// ---- the superblock ----

static tbH5Found read_superblock(tbH5Plain* f, uint64_t start)
{
  f->base = 0;
  const uint8_t* p = at(f, start, 48);
  if (!p) return TB_H5_DAMAGED;
  Walk w = {p + 8, f->bytes + f->length, false};
  unsigned version = (unsigned)take(&w, 1);
  if (version > 3) return TB_H5_UNKNOWN;
  if (version < 2) skip(&w, 4); // versions of its parts
  unsigned offsets = (unsigned)take(&w, 1), lengths = (unsigned)take(&w, 1);
  if (offsets != 8 || lengths != 8) return TB_H5_UNKNOWN;
  skip(&w, version == 0 ? 9 : version == 1 ? 13 : 1); // tree ranks and flags
  f->base = take(&w, 8);
  skip(&w, 8); // free space or extension
  uint64_t end = take(&w, 8);
  if (version < 2) skip(&w, 16); // driver, name of the root
  f->root = take(&w, 8);
  return w.bad || f->base > f->length || end > f->length ? TB_H5_DAMAGED : TB_H5_FOUND;
}

tbH5Found tb_h5_plain_open(const uint8_t* bytes, size_t length, tbH5Plain* out)
{
  static const char signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  *out = (tbH5Plain){.bytes = bytes, .length = length};
  for (size_t start = 0; start + sizeof signature <= length; start = start ? 2 * start : 512)
    if (memcmp(bytes + start, signature, sizeof signature) == 0) return read_superblock(out, start);
  return TB_H5_DAMAGED;
}

// ---- object headers: a list of messages, continued in other places ----

typedef enum {
  MESSAGE_SPACE = 1,
  MESSAGE_LINKS = 2,
  MESSAGE_TYPE = 3,
  MESSAGE_LINK = 6,
  MESSAGE_EXTERNAL = 7,
  MESSAGE_LAYOUT = 8,
  MESSAGE_CONTINUED = 16,
  MESSAGE_SYMBOLS = 17
} MessageKind;

typedef struct {
  unsigned kind, flags;
  Walk data;
} Message;

// Calls `see` for every message until it returns something else than TB_H5_ABSENT.
typedef tbH5Found SeeFn(const tbH5Plain* f, Message* m, void* user);

enum { MOST_BLOCKS = 64, MOST_MESSAGES = 4096 };

typedef struct {
  Walk block[MOST_BLOCKS];
  int count;
  bool second;   // version 2
  bool numbered; // messages carry their order of creation
} Blocks;

static bool add_block(const tbH5Plain* f, Blocks* b, uint64_t address, uint64_t size)
{
  unsigned around = b->second && b->count ? 8 : 0; // "OCHK" and a checksum
  const uint8_t* p = at(f, address, size);
  if (!p || b->count == MOST_BLOCKS || size < around) return false;
  if (around && memcmp(p, "OCHK", 4) != 0) return false;
  b->block[b->count++] = (Walk){p + around / 2, p + size - around / 2, false};
  return true;
}

static bool open_header(const tbH5Plain* f, uint64_t address, Blocks* b)
{
  const uint8_t* p = at(f, address, 16);
  if (!p) return false;
  b->second = memcmp(p, "OHDR", 4) == 0;
  if (!b->second) return p[0] == 1 && add_block(f, b, address + 16, little(p + 8, 4));
  Walk w = {p + 4, f->bytes + f->length, false};
  unsigned version = (unsigned)take(&w, 1), flags = (unsigned)take(&w, 1);
  b->numbered = flags & 4;
  skip(&w, (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0));
  uint64_t size = take(&w, 1 << (flags & 3));
  return version == 2 && !w.bad && add_block(f, b, address + (uint64_t)(w.p - p), size);
}

static bool next_message(Blocks* b, Walk* w, Message* m)
{
  if (w->end - w->p < (b->second ? 4 : 8)) return false; // a gap
  m->kind = (unsigned)take(w, b->second ? 1 : 2);
  uint64_t size = take(w, 2);
  m->flags = (unsigned)take(w, 1);
  skip(w, b->second ? (b->numbered ? 2 : 0) : 3);
  const uint8_t* data = w->p;
  skip(w, size);
  m->data = (Walk){data, w->bad ? data : data + size, false};
  return true;
}

static tbH5Found each_message(const tbH5Plain* f, uint64_t header, SeeFn* see, void* user)
{
  Blocks b = {0};
  if (!open_header(f, header, &b)) return TB_H5_DAMAGED;
  int seen = 0;
  for (int i = 0; i < b.count; i++) {
    Message m;
    Walk* w = &b.block[i];
    while (next_message(&b, w, &m)) {
      if (w->bad || ++seen > MOST_MESSAGES) return TB_H5_DAMAGED;
      if (m.kind == MESSAGE_CONTINUED) {
        uint64_t address = take(&m.data, 8), size = take(&m.data, 8);
        if (m.data.bad || !add_block(f, &b, address, size)) return TB_H5_DAMAGED;
        continue;
      }
      tbH5Found found = see(f, &m, user);
      if (found != TB_H5_ABSENT) return found;
    }
  }
  return TB_H5_ABSENT;
}

// ---- groups ----

typedef struct {
  const char* name;
  size_t length;
  uint64_t header; // out
} Wanted;

// How a name in the local heap compares with the wanted one; false: it is not in the heap.
static bool compare_name(const uint8_t* heap, uint64_t size, uint64_t offset, const Wanted* want, int* order)
{
  if (offset >= size) return false;
  const uint8_t *name = heap + offset, *end = memchr(name, 0, (size_t)(size - offset));
  if (!end) return false;
  size_t length = (size_t)(end - name), common = length < want->length ? length : want->length;
  *order = memcmp(name, want->name, common);
  if (*order == 0) *order = (length > want->length) - (length < want->length);
  return true;
}

static tbH5Found search_symbols(const tbH5Plain* f, uint64_t node, const uint8_t* heap, uint64_t heap_size,
                                Wanted* want)
{
  enum { SYMBOLIC_LINK = 2, ENTRY = 40 };
  const uint8_t* p = at(f, node, 8);
  if (!p || memcmp(p, "SNOD", 4) != 0 || p[4] != 1) return TB_H5_DAMAGED;
  unsigned count = (unsigned)little(p + 6, 2);
  const uint8_t* entry = at(f, node + 8, (uint64_t)count * ENTRY);
  if (!entry) return TB_H5_DAMAGED;
  for (unsigned i = 0; i < count; i++, entry += ENTRY) {
    int order;
    if (!compare_name(heap, heap_size, little(entry, 8), want, &order)) return TB_H5_DAMAGED;
    if (order != 0) continue;
    want->header = little(entry + 8, 8);
    return little(entry + 16, 4) == SYMBOLIC_LINK ? TB_H5_LINK : TB_H5_FOUND;
  }
  return TB_H5_ABSENT;
}

// A group's B-tree: child i holds the names above key i, up to key i+1. One way down, so no loop can trap us.
static tbH5Found search_tree(const tbH5Plain* f, uint64_t tree, uint64_t heap_header, Wanted* want)
{
  enum { DEEPEST = 16, HEADER = 24 };
  const uint8_t* p = at(f, heap_header, 32);
  if (!p || memcmp(p, "HEAP", 4) != 0 || p[4] != 0) return TB_H5_DAMAGED;
  uint64_t heap_size = little(p + 8, 8);
  const uint8_t* heap = at(f, little(p + 24, 8), heap_size);
  if (!heap) return TB_H5_DAMAGED;
  for (int depth = 0; depth < DEEPEST; depth++) {
    const uint8_t* node = at(f, tree, HEADER);
    if (!node || memcmp(node, "TREE", 4) != 0 || node[4] != 0) return TB_H5_DAMAGED;
    unsigned level = node[5], count = (unsigned)little(node + 6, 2), i = 0;
    const uint8_t* key = at(f, tree + HEADER, (uint64_t)count * 16 + 8);
    if (!key) return TB_H5_DAMAGED;
    for (int order = -1; i < count; i++) {
      if (!compare_name(heap, heap_size, little(key + 16 * (i + 1), 8), want, &order)) return TB_H5_DAMAGED;
      if (order >= 0) break;
    }
    if (i == count) return TB_H5_ABSENT;
    tree = little(key + 16 * i + 8, 8);
    if (level == 0) return search_symbols(f, tree, heap, heap_size, want);
  }
  return TB_H5_DAMAGED;
}

static tbH5Found see_link(Message* m, Wanted* want)
{
  Walk* w = &m->data;
  unsigned version = (unsigned)take(w, 1), flags = (unsigned)take(w, 1), kind = 0;
  if (flags & 8) kind = (unsigned)take(w, 1);
  skip(w, (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
  uint64_t length = take(w, 1 << (flags & 3));
  const uint8_t* name = w->p;
  skip(w, length);
  if (w->bad || version != 1) return TB_H5_DAMAGED;
  if (length != want->length || memcmp(name, want->name, want->length) != 0) return TB_H5_ABSENT;
  if (kind != 0) return TB_H5_LINK;
  want->header = take(w, 8);
  return w->bad ? TB_H5_DAMAGED : TB_H5_FOUND;
}

static tbH5Found see_group(const tbH5Plain* f, Message* m, void* user)
{
  Wanted* want = user;
  Walk* w = &m->data;
  if (m->kind == MESSAGE_SYMBOLS) {
    uint64_t tree = take(w, 8), heap = take(w, 8);
    return w->bad ? TB_H5_DAMAGED : search_tree(f, tree, heap, want);
  }
  if (m->kind == MESSAGE_LINKS) {
    skip(w, 1);
    unsigned flags = (unsigned)take(w, 1);
    if (flags & 1) skip(w, 8);
    return take(w, 8) == UNDEFINED ? TB_H5_ABSENT : TB_H5_UNKNOWN; // links kept in a heap
  }
  return m->kind == MESSAGE_LINK ? see_link(m, want) : TB_H5_ABSENT;
}

tbH5Found tb_h5_plain_find(const tbH5Plain* f, const char* path, uint64_t* header)
{
  Wanted want = {.header = f->root};
  for (const char* name = path; *name == '/'; name = want.name + want.length) {
    want.name = name + 1;
    want.length = strcspn(want.name, "/");
    tbH5Found found = each_message(f, want.header, see_group, &want);
    if (found != TB_H5_FOUND) return found;
  }
  *header = want.header;
  return TB_H5_FOUND;
}

// ---- datasets ----

typedef struct {
  tbH5Set* set;
  bool has_space, has_type, has_layout;
  const uint8_t* values;
  uint64_t size; // of what is stored
} Seen;

static tbH5Found see_space(Walk* w, Seen* s)
{
  unsigned version = (unsigned)take(w, 1), rank = (unsigned)take(w, 1), null = 0;
  skip(w, 1);
  if (version == 1) skip(w, 5);
  else null = take(w, 1) == 2;
  if (version != 1 && version != 2) return TB_H5_UNKNOWN;
  uint64_t count = null ? 0 : rank >= 1 ? take(w, 8) : 1;
  if (count > SIZE_MAX) return TB_H5_DAMAGED;
  s->set->rank = (int)rank;
  s->set->count = (size_t)count;
  s->has_space = true;
  return w->bad ? TB_H5_DAMAGED : TB_H5_ABSENT;
}

static tbH5Found see_type(Walk* w, Seen* s)
{
  unsigned class = (unsigned)take(w, 1) & 15, bits = (unsigned)take(w, 3);
  uint64_t size = take(w, 4);
  tbH5Set* set = s->set;
  s->has_type = true;
  set->class = class == 0 ? TB_H5_INTEGER : class == 1 ? TB_H5_FLOAT : TB_H5_OTHER;
  if (set->class == TB_H5_OTHER) return w->bad ? TB_H5_DAMAGED : TB_H5_ABSENT;
  unsigned offset = (unsigned)take(w, 2), precision = (unsigned)take(w, 2);
  if (w->bad) return TB_H5_DAMAGED;
  set->big_endian = bits & 1;
  set->is_signed = bits & 8;
  set->item = (size_t)size;
  if (offset != 0 || precision != 8 * size) return TB_H5_UNKNOWN;
  if (class == 0) return size == 1 || size == 2 || size == 4 || size == 8 ? TB_H5_ABSENT : TB_H5_UNKNOWN;
  // IEEE 754: where the exponent and the mantissa stand, and the bias
  static const uint8_t single[8] = {23, 8, 0, 23, 127, 0, 0, 0}, twice[8] = {52, 11, 0, 52, 255, 3, 0, 0};
  if (w->end - w->p < 8) return TB_H5_DAMAGED;
  bool ieee = (size == 4 && memcmp(w->p, single, 8) == 0) || (size == 8 && memcmp(w->p, twice, 8) == 0);
  return ieee && !(bits & 64) ? TB_H5_ABSENT : TB_H5_UNKNOWN;
}

static tbH5Found see_layout(const tbH5Plain* f, Walk* w, Seen* s)
{
  enum { COMPACT, CONTIGUOUS, CHUNKED, VIRTUAL };
  unsigned version = (unsigned)take(w, 1), class = (unsigned)take(w, 1);
  if (version < 3 || version > 4 || class == CHUNKED) return TB_H5_UNKNOWN;
  if (class == VIRTUAL) return TB_H5_OUTSIDE;
  if (class > VIRTUAL) return TB_H5_DAMAGED;
  s->has_layout = true;
  uint64_t address = class == CONTIGUOUS ? take(w, 8) : 0;
  s->size = take(w, class == COMPACT ? 2 : 8);
  if (class == COMPACT) {
    s->values = w->p;
    skip(w, s->size);
  } else {
    s->values = address == UNDEFINED ? NULL : at(f, address, s->size);
    if (address == UNDEFINED) s->size = 0; // nothing was ever written
  }
  return w->bad || (s->size && !s->values) ? TB_H5_DAMAGED : TB_H5_ABSENT;
}

static tbH5Found see_dataset(const tbH5Plain* f, Message* m, void* user)
{
  Seen* s = user;
  bool shared = m->flags & 2;
  switch (m->kind) {
  case MESSAGE_SPACE: return shared ? TB_H5_UNKNOWN : see_space(&m->data, s);
  case MESSAGE_TYPE: return shared ? TB_H5_UNKNOWN : see_type(&m->data, s);
  case MESSAGE_LAYOUT: return shared ? TB_H5_UNKNOWN : see_layout(f, &m->data, s);
  case MESSAGE_EXTERNAL: return TB_H5_OUTSIDE;
  default: return TB_H5_ABSENT;
  }
}

tbH5Found tb_h5_plain_set(const tbH5Plain* f, uint64_t header, tbH5Set* out)
{
  *out = (tbH5Set){0};
  Seen s = {.set = out};
  tbH5Found found = each_message(f, header, see_dataset, &s);
  if (found != TB_H5_ABSENT) return found;
  if (!s.has_space || !s.has_type || !s.has_layout) return TB_H5_ABSENT; // a group, perhaps
  out->values = s.values;
  if (out->class == TB_H5_OTHER || out->rank > 1) return TB_H5_FOUND;
  if (out->count && !s.values) return TB_H5_UNKNOWN; // never written: fill values
  return out->count <= s.size / out->item ? TB_H5_FOUND : TB_H5_DAMAGED;
}

// ---- values ----

static uint64_t bits_of(const tbH5Set* set, size_t i)
{
  const uint8_t* p = set->values + i * set->item;
  if (!set->big_endian) return little(p, (int)set->item);
  uint64_t value = 0;
  for (size_t k = 0; k < set->item; k++) value = value << 8 | p[k];
  return value;
}

int64_t tb_h5_plain_int(const tbH5Set* set, size_t i)
{
  uint64_t bits = bits_of(set, i);
  unsigned unused = 64 - 8 * (unsigned)set->item;
  if (set->is_signed && bits >> (63 - unused))
    return (int64_t)(bits | (unused ? ~UINT64_C(0) << (64 - unused) : 0));
  return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
}

double tb_h5_plain_double(const tbH5Set* set, size_t i)
{
  if (set->class == TB_H5_INTEGER) return (double)tb_h5_plain_int(set, i);
  uint64_t bits = bits_of(set, i);
  double number;
  if (set->item == 4) {
    uint32_t word = (uint32_t)bits;
    float single;
    memcpy(&single, &word, sizeof single);
    return single;
  }
  memcpy(&number, &bits, sizeof number);
  return number;
}
