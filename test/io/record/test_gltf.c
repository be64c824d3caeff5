// SPDX-License-Identifier: Apache-2.0
// glTF: the container, and that its numbers are those of the run. Khronos' validator looks at the same files
// in test/cli/exports.sh.
#include "base/json.h"
#include "io/recorded.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 12, FRAMES = 5, BODIES = 9 };

typedef struct {
  tbBodyState body[FRAMES][BODIES];
  tbVec3 corner[FRAMES]; // a node of the cloth
} Seen;

static void see(void* user, const tbWorld* w, int frame)
{
  Seen* s = user;
  for (int i = 0; i < BODIES && frame < FRAMES; i++)
    s->body[frame][i] = tb_body_state(w, tb_world_body_at(w, i));
  if (frame < FRAMES) s->corner[frame] = tb_body_nodes(w, tb_world_body_at(w, 8))[5];
}

typedef struct {
  char* bytes;
  size_t length;
  const unsigned char* binary;
  const tbJson* root;
} Glb;

static uint32_t u32(const void* at)
{
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static const tbJson* item(const tbJson* array, int64_t i)
{
  return array && i >= 0 && i < array->count ? &array->items[i] : NULL;
}

static int64_t number(const tbJson* object, const char* key, int64_t otherwise)
{
  const tbJson* n = tb_json_find(object, key);
  return n ? n->integer : otherwise;
}

static bool glb_open(tbContext* ctx, tbArena* arena, const char* path, Glb* out)
{
  out->bytes = recorded_read(path, &out->length);
  if (!out->bytes) return false;
  const char* b = out->bytes;
  uint32_t json = u32(b + 12);
  CHECK(memcmp(b, "glTF", 4) == 0 && u32(b + 4) == 2 && u32(b + 8) == out->length);
  CHECK(memcmp(b + 16, "JSON", 4) == 0 && json % 4 == 0);
  CHECK(memcmp(b + 20 + json + 4, "BIN", 4) == 0 && 28 + json + u32(b + 20 + json) == out->length);
  out->binary = (const unsigned char*)b + 28 + json;
  return tb_json_parse(ctx, arena, "glb", b + 20, json, &out->root) == TB_OK;
}

// The first byte of an accessor, after its numbers were held against its bounds and its buffer.
static const unsigned char* accessor(const Glb* g, int64_t index, int components, int64_t* count)
{
  const tbJson* a = item(tb_json_find(g->root, "accessors"), index);
  const tbJson* v = a ? item(tb_json_find(g->root, "bufferViews"), number(a, "bufferView", -1)) : NULL;
  static const char* const shapes[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
  if (!v || strcmp(tb_json_find(a, "type")->string, shapes[components - 1]) != 0) {
    test_failed(__FILE__, __LINE__, "accessor %lld is not there", (long long)index);
    return NULL;
  }
  int64_t at = number(a, "byteOffset", 0), size = number(a, "componentType", 0) == 5121 ? 1 : 4;
  *count = number(a, "count", 0);
  CHECK(at % size == 0 && at + *count * components * size <= number(v, "byteLength", 0));
  const unsigned char* p = g->binary + number(v, "byteOffset", 0) + at;
  const tbJson *min = tb_json_find(a, "min"), *max = tb_json_find(a, "max");
  for (int64_t i = 0; min && i < *count * components; i++) {
    float x;
    memcpy(&x, p + 4 * i, 4);
    CHECK(x >= tb_json_double(item(min, i % components)) && x <= tb_json_double(item(max, i % components)));
  }
  return p;
}

static float f32(const unsigned char* p, int64_t i)
{
  float x;
  memcpy(&x, p + 4 * i, 4);
  return x;
}

static void check_rigid(const Glb* g, const Seen* s, const tbJson* sampler, int body, const char* path)
{
  int64_t times, count;
  const unsigned char* t = accessor(g, number(sampler, "input", -1), 1, &times);
  bool turns = strcmp(path, "rotation") == 0;
  const unsigned char* p = accessor(g, number(sampler, "output", -1), turns ? 4 : 3, &count);
  CHECK(times == FRAMES && count == FRAMES);
  for (int f = 0; p && f < FRAMES; f++) {
    CHECK_NEAR(f32(t, f), 0.015 * f, 1e-8);
    const tbBodyState* b = &s->body[f][body];
    if (!turns) {
      CHECK(f32(p, 3 * f) == (float)b->position.x && f32(p, 3 * f + 2) == (float)b->position.z);
    } else {
      tbQuat q = tb_quat(f32(p, 4 * f + 3), f32(p, 4 * f), f32(p, 4 * f + 1), f32(p, 4 * f + 2));
      tbQuat d = tb_quat_mul(tb_quat_conj(q), b->orientation);
      CHECK_NEAR(tb_norm3(tb_vec3(d.x, d.y, d.z)), 0, 2e-7);
      if (f > 0) { // the short way
        double dot = 0;
        for (int k = 0; k < 4; k++) dot += f32(p, 4 * f + k) * f32(p, 4 * f - 4 + k);
        CHECK(dot > 0);
      }
    }
  }
}

// At its time a frame's morph has full weight and no other has any; base and displacement make its nodes.
static void check_morph(const Glb* g, const Seen* s, const tbJson* sampler, const tbJson* node, int vertex)
{
  int64_t count, keys;
  const tbJson* mesh = item(tb_json_find(g->root, "meshes"), number(node, "mesh", -1));
  const tbJson* primitive = item(tb_json_find(mesh, "primitives"), 0);
  const tbJson* targets = tb_json_find(primitive, "targets");
  CHECK(targets && targets->count == FRAMES - 1 &&
        !tb_json_find(tb_json_find(primitive, "attributes"), "NORMAL"));
  accessor(g, number(sampler, "input", -1), 1, &keys);
  const unsigned char* w = accessor(g, number(sampler, "output", -1), 1, &count);
  CHECK(keys == FRAMES && count == FRAMES * (FRAMES - 1));
  const unsigned char* base =
      accessor(g, number(tb_json_find(primitive, "attributes"), "POSITION", -1), 3, &count);
  for (int f = 0; w && base && f < FRAMES; f++) {
    tbVec3 p = tb_vec3(f32(base, 3 * vertex), f32(base, 3 * vertex + 1), f32(base, 3 * vertex + 2));
    for (int k = 0; k < FRAMES - 1; k++) {
      CHECK(w[f * (FRAMES - 1) + k] == (k == f - 1 ? 255 : 0));
      const unsigned char* d = accessor(g, number(item(targets, k), "POSITION", -1), 3, &count);
      if (d && k == f - 1)
        p = tb_add3(p, tb_vec3(f32(d, 3 * vertex), f32(d, 3 * vertex + 1), f32(d, 3 * vertex + 2)));
    }
    CHECK_NEAR(tb_distance3(p, s->corner[f]), 0, 2e-6);
  }
}

static void check_indices(const Glb* g)
{
  const tbJson* meshes = tb_json_find(g->root, "meshes");
  for (uint32_t m = 0; meshes && m < meshes->count; m++) {
    const tbJson* primitive = item(tb_json_find(item(meshes, m), "primitives"), 0);
    int64_t vertices, indices;
    accessor(g, number(tb_json_find(primitive, "attributes"), "POSITION", -1), 3, &vertices);
    const unsigned char* p = accessor(g, number(primitive, "indices", -1), 1, &indices);
    CHECK(indices % 3 == 0 && indices > 0);
    for (int64_t i = 0; p && i < indices; i++) CHECK(u32(p + 4 * i) < vertices);
  }
}

TEST(gltf_moves_as_the_run_did)
{
  Recorded r = recorded_begin();
  Seen s;
  Glb g = {0};
  tbArena arena;
  tb_arena_init(&arena, &r.ctx);
  CHECK_OK(&r.ctx, recorded_run(&r, "gltf", recorded_path(&r, "run.glb"), STEPS, 66.7, see, &s));
  if (glb_open(&r.ctx, &arena, recorded_path(&r, "run.glb"), &g)) {
    const tbJson* animation = item(tb_json_find(g.root, "animations"), 0);
    const tbJson *channels = tb_json_find(animation, "channels"),
                 *samplers = tb_json_find(animation, "samplers");
    int rigid = 0, morphs = 0;
    for (uint32_t i = 0; channels && i < channels->count; i++) {
      const tbJson* target = tb_json_find(item(channels, i), "target");
      const tbJson* sampler = item(samplers, number(item(channels, i), "sampler", -1));
      int64_t node = number(target, "node", -1);
      const char* path = tb_json_find(target, "path")->string;
      CHECK(node >= 2 && node <= BODIES && node != 7); // neither the ground nor the marker, which rests
      if (strcmp(path, "weights") != 0) check_rigid(&g, &s, sampler, (int)node - 1, path), rigid++;
      else if (node == 9) check_morph(&g, &s, sampler, item(tb_json_find(g.root, "nodes"), node), 5);
      morphs += strcmp(path, "weights") == 0;
    }
    CHECK(rigid >= 6 && rigid <= 10 && morphs == 2);
    check_indices(&g);
  }
  tb_arena_free(&arena);
  free(g.bytes);
  recorded_end(&r);
}

// More frames than targets: every second one is kept, and their times with them.
TEST(gltf_thins_out_long_morphs)
{
  Recorded r = recorded_begin();
  tb_scene_free(&r.ctx, &r.scene);
  const char text[] = "{\"tribo\": 1, \"dt\": 0.01, \"cloth\": [{\"name\": \"c\", \"mesh\": {\"grid\": "
                      "{\"size\": 1, \"cells\": [1, 1]}}}]}";
  CHECK_OK(&r.ctx, tb_scene_parse(&r.ctx, "long", text, strlen(text), NULL, &r.scene));
  Glb g = {0};
  tbArena arena;
  tb_arena_init(&arena, &r.ctx);
  CHECK_OK(&r.ctx, recorded_run(&r, "gltf", recorded_path(&r, "run.glb"), 601, 0, NULL, NULL));
  if (glb_open(&r.ctx, &arena, recorded_path(&r, "run.glb"), &g)) {
    const tbJson* sampler = item(tb_json_find(item(tb_json_find(g.root, "animations"), 0), "samplers"), 0);
    int64_t keys, weights;
    const unsigned char* t = accessor(&g, number(sampler, "input", -1), 1, &keys);
    accessor(&g, number(sampler, "output", -1), 1, &weights);
    CHECK(keys == 301 && weights == 301 * 300);
    for (int64_t i = 0; t && i < keys; i++) CHECK_NEAR(f32(t, i), 0.02 * (double)i, 1e-6);
  }
  tb_arena_free(&arena);
  free(g.bytes);
  recorded_end(&r);
}
