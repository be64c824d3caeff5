// SPDX-License-Identifier: Apache-2.0
// XML as a tree that remembers where everything stands and what was read of it, so that what was not can be
// named.
#ifndef TB_IO_IMPORT_XML_H
#define TB_IO_IMPORT_XML_H

#include "base/array.h"
#include "base/memory.h"
#include "base/status.h"

enum { TB_XML_DEPTH = 200 };

typedef struct tbXmlAttribute tbXmlAttribute;
struct tbXmlAttribute {
  const char *name, *value;
  bool read;
  tbXmlAttribute* next;
};

typedef struct tbXml tbXml;
struct tbXml {
  const char *name, *file;
  const char* text; // what stands in it, up to its first child or after its last; null: nothing but space
  int line;
  bool read; // its element is understood; attributes for themselves
  tbXmlAttribute* attributes;
  tbXml *parent, *first, *last, *next;
};

// The root element, in the arena. Errors read `file:line: …`.
tbStatus tb_xml_load(tbContext* ctx, tbArena* arena, const char* path, tbXml** out);
tbStatus tb_xml_fail(tbContext* ctx, const tbXml* at, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

tbXml* tb_xml_child(tbXml* parent, const char* name); // the first of that name, marked as read; or null
tbXml* tb_xml_next(tbXml* at, const char* name);      // the next one beside it
const char* tb_xml_get(tbXml* at, const char* key);   // marked as read; null: absent
// `count` numbers of a text; fewer or more, or what is no number, is an error at the element.
tbStatus tb_xml_numbers(tbContext* ctx, const tbXml* at, const char* key, const char* text, int least,
                        int most, double* out, int* count);

#endif
