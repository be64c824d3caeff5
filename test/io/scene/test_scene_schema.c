// SPDX-License-Identifier: Apache-2.0
// What is published of the scene format is what the table says, and the examples are scenes.
#include "base/file.h"
#include "base/json.h"
#include "io/scene/schema.h"
#include "io/io_test.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static char* read_text(tbContext* ctx, const char* path, size_t* length)
{
  char* text = NULL;
  CHECK_OK(ctx, tb_read_file(ctx, path, 1 << 24, &text, length));
  return text;
}

TEST(published_schema_is_current)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  size_t length = 0;
  char* published = read_text(&ctx, TB_SOURCE_FOLDER "/docs/scene.schema.json", &length);
  CHECK_OK(&ctx, tb_scene_print_schema(&ctx, &out));
  if (!published || length != out.length || memcmp(published, out.bytes, length) != 0)
    test_failed(__FILE__, __LINE__, "docs/scene.schema.json is stale: run `make docs`");
  tb_free(&ctx, published);
  tb_out_free(&out);
}

TEST(documented_keys_are_current)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  size_t length = 0;
  char* published = read_text(&ctx, TB_SOURCE_FOLDER "/docs/scene-format.md", &length);
  CHECK_OK(&ctx, tb_scene_print_keys(&ctx, &out));
  if (!published || length < out.length || strcmp(published + length - out.length, out.bytes) != 0)
    test_failed(__FILE__, __LINE__, "docs/scene-format.md is stale: run `make docs`");
  tb_free(&ctx, published);
  tb_out_free(&out);
}

TEST(documented_scenes_load)
{
  tbContext ctx = tb_default_context();
  size_t length = 0;
  int found = 0;
  char* text = read_text(&ctx, TB_SOURCE_FOLDER "/docs/scene-format.md", &length);
  for (char* at = text; at && (at = strstr(at, "```json\n")); found++) {
    char* end = strstr(at += 8, "```");
    REQUIRE(end);
    tbScene s = {0};
    CHECK_OK(&ctx, tb_scene_parse(&ctx, "docs", at, (size_t)(end - at), NULL, &s));
    CHECK(s.world && tb_world_body_count(s.world) > 1);
    tb_scene_free(&ctx, &s);
    at = end + 3;
  }
  CHECK(found >= 2);
  tb_free(&ctx, text);
}

TEST(every_scene_of_the_project_loads)
{
  tbContext ctx = tb_default_context();
  DIR* listing = opendir(TB_SOURCE_FOLDER "/scenes");
  int found = 0;
  for (const struct dirent* entry; listing && (entry = readdir(listing));) {
    const char* end = strrchr(entry->d_name, '.');
    if (!end || strcmp(end, ".json") != 0) continue;
    char path[1024];
    tbScene s = {0};
    snprintf(path, sizeof path, "%s/scenes/%s", TB_SOURCE_FOLDER, entry->d_name);
    CHECK_OK(&ctx, tb_scene_load(&ctx, path, &s));
    tb_scene_free(&ctx, &s);
    found++;
  }
  if (listing) closedir(listing);
  CHECK(found > 0);
}

// A definition that is named but missing, or a type that is not one, would make the schema useless.
static void check_refs(const tbJson* node, const tbJson* defs)
{
  const tbJson *ref = tb_json_find(node, "$ref"), *type = tb_json_find(node, "type");
  if (ref && ref->type == TB_JSON_STRING) {
    CHECK(strncmp(ref->string, "#/$defs/", 8) == 0 && tb_json_find(defs, ref->string + 8));
  }
  if (type && type->type == TB_JSON_STRING) {
    bool known = false;
    static const char* const types[] = {"object", "array", "number", "integer", "boolean", "string"};
    for (int i = 0; i < 6; i++) known |= strcmp(type->string, types[i]) == 0;
    CHECK(known);
  }
  if (node->type == TB_JSON_OBJECT || node->type == TB_JSON_ARRAY)
    for (uint32_t i = 0; i < node->count; i++) check_refs(&node->items[i], defs);
}

TEST(schema_is_json_whose_references_exist)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  tbArena arena;
  const tbJson* root = NULL;
  tb_arena_init(&arena, &ctx);
  CHECK_OK(&ctx, tb_scene_print_schema(&ctx, &out));
  CHECK_OK(&ctx, tb_json_parse(&ctx, &arena, "schema", out.bytes, out.length, &root));
  REQUIRE(root);
  check_refs(root, tb_json_find(root, "$defs"));
  tb_arena_free(&arena);
  tb_out_free(&out);
}

TEST(schema_survives_every_failed_allocation)
{
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    tbOut schema = tb_out_memory(&poor), keys = tb_out_memory(&poor);
    status = tb_scene_print_schema(&poor, &schema);
    if (status == TB_OK) status = tb_scene_print_keys(&poor, &keys);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    tb_out_free(&schema);
    tb_out_free(&keys);
    CHECK(memory.alive == 0);
    REQUIRE(k < 500);
  }
  CHECK(k > 10);
}
