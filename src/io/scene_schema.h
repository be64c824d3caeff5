// The scene format for other programs and for people, from its table.
#ifndef TB_IO_SCENE_SCHEMA_H
#define TB_IO_SCENE_SCHEMA_H

#include "base/text.h"

tbStatus tb_scene_print_schema(tbContext* ctx, tbOut* out); // JSON Schema, draft 2020-12; finishes `out`
tbStatus tb_scene_print_keys(tbContext* ctx, tbOut* out);   // Markdown: a table for every object

#endif
