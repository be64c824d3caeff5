// SPDX-License-Identifier: Apache-2.0
// Checkpoints: a scene in mid-flight in one file, from which the run goes on bit for bit.
//
//   offset  bytes
//   0       8       89 T R I B O CR LF: damaged by any program that changes line ends
//   8       8       version
//   16      8       length of the whole file
//   24      …       the world with its geometry, the options of a step, the run (codec.h, world.c)
//   −8      8       FNV-1a of everything before
//
// The file holds the world itself, not the scene it came from: scene and mesh files may change or go. It is
// written under another name and then renamed, so the last good checkpoint outlives a full disk.
#include "io/checkpoint/checkpoint.h"

#include "base/file.h"
#include "scene/world.h"
#include "step/scheme.h"

#include <inttypes.h>
#include <string.h>

enum { HEAD = 24, TAIL = 8 };
static const unsigned char magic[8] = {0x89, 'T', 'R', 'I', 'B', 'O', '\r', '\n'};

uint64_t tb_checkpoint_sum(const void* bytes, size_t length)
{
  const unsigned char* at = bytes;
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}

static uint64_t get_u64(const char* bytes)
{
  uint64_t value = 0;
  for (int i = 7; i >= 0; i--) value = value << 8 | (unsigned char)bytes[i];
  return value;
}

static void put_u64(char* bytes, uint64_t value)
{
  for (int i = 0; i < 8; i++) bytes[i] = (char)(value >> 8 * i);
}

// An option's value: a number, or a name of the option's table.
static void code_value(tbCodec* c, const tbOption* option, tbStepOptions* o)
{
  if (option->type == TB_OPTION_SEED) { // all of its bits
    tb_code_u64(c, (uint64_t*)(void*)((char*)o + option->at));
    return;
  }
  if (option->type == TB_OPTION_NUMBER) { // in the structure's unit: another would round
    tb_code_extended(c, (double*)(void*)((char*)o + option->at));
    tb_codec_require(c, tb_option_is_valid(o, option), "an option out of its range");
    return;
  }
  double number = tb_option_get_number(o, option);
  const char* name = tb_option_get_name(o, option);
  if (option->choice) tb_code_text(c, &name);
  else tb_code_extended(c, &number);
  if (!tb_codec_reads(c)) {
    tb_codec_require(c, tb_option_is_valid(o, option), "an option out of its range");
    return;
  }
  if (!option->choice) // −0 would come back as 0
    tb_codec_require(c,
                     tb_codec_good(c) && (number != 0 || !signbit(number)) &&
                         tb_option_set_number(c->ctx, o, option->key, number) == TB_OK,
                     "an option out of its range");
  else if (tb_codec_good(c) && tb_option_set(c->ctx, o, option->key, name) != TB_OK)
    c->status =
        tb_fail(c->ctx, TB_ERROR_UNSUPPORTED, "%s: made with %s \"%.60s\", which this build does not have",
                c->name, option->key, name);
  if (option->choice) tb_free(c->ctx, (char*)name);
}

// The place of an option in the table; the table's length: it is not there.
static int place_of(const char* key)
{
  int at = 0;
  while (at < tb_option_count() && strcmp(tb_option_at(at).key, key) != 0) at++;
  return at;
}

// Refuses a checkpoint of a build that did not have an option yet: it would be saved as another.
static void without(tbCodec* c, int place)
{
  c->status =
      tb_fail(c->ctx, TB_ERROR_UNSUPPORTED, "%s: made without the option \"%s\", which this build has",
              c->name, tb_option_at(place).key);
}

// Options by name, all of them in the order of their table: a checkpoint says what it was made with, and a
// build that has others says which.
void tb_code_step_options(tbCodec* c, tbStepOptions* o)
{
  int count = tb_option_count(), next = 0;
  tb_code_count(c, &count, 16);
  for (int i = 0; i < count && tb_codec_good(c); i++) {
    tbOption option = i < tb_option_count() ? tb_option_at(i) : (tbOption){.key = ""};
    const char* key = option.key;
    tb_code_text(c, &key);
    if (tb_codec_reads(c)) {
      int place = tb_codec_good(c) ? place_of(key) : 0;
      if (place == tb_option_count())
        c->status =
            tb_fail(c->ctx, TB_ERROR_UNSUPPORTED,
                    "%s: made with the option \"%.60s\", which this build does not have", c->name, key);
      tb_codec_require(c, place >= next, "options in disorder");
      if (tb_codec_good(c) && place > next) without(c, next);
      if (tb_codec_good(c)) option = tb_option_at(place), next = place + 1;
      tb_free(c->ctx, (char*)key);
    }
    if (tb_codec_good(c)) code_value(c, &option, o);
  }
  if (tb_codec_good(c) && tb_codec_reads(c) && next < tb_option_count()) without(c, next);
}

// What the scheme of the last step keeps: its name, empty where it keeps nothing, and its bytes.
static void code_state(tbCodec* c, tbWorld* w)
{
  const char* name = w->state_kind ? w->state_kind->scheme : "";
  tb_code_text(c, &name);
  const tbScheme* scheme = name && *name ? tb_scheme_find(name) : NULL;
  const tbStateKind* kind = scheme ? scheme->method->state : NULL;
  if (tb_codec_good(c)) tb_codec_require(c, !*name || kind, "the state of no scheme");
  if (tb_codec_reads(c)) tb_free(c->ctx, (char*)name), w->state_kind = kind;
  if (tb_codec_good(c) && kind) kind->code(c, w, &w->state);
}

void tb_code_world_and_state(tbCodec* c, tbWorld* w)
{
  tb_code_world(c, w);
  code_state(c, w);
}

static void code_scene(tbCodec* c, tbScene* scene)
{
  tb_code_world_and_state(c, scene->world);
  tb_code_step_options(c, &scene->step);
  tb_code_number(c, &scene->time);
  tb_code_int(c, &scene->threads, 1, 256);
  tb_code_text(c, (const char**)&scene->name);
}

tbStatus tb_checkpoint_print(tbContext* ctx, tbOut* out, const tbScene* scene)
{
  tbScene copy = *scene; // the codec only reads what it writes
  char none[] = "";
  if (!copy.name) copy.name = none; // of a scene that was made by hand
  char head[HEAD] = {0}, tail[TAIL];
  memcpy(head, magic, sizeof magic);
  put_u64(head + 8, TB_CHECKPOINT_VERSION);
  tb_out_bytes(out, head, HEAD);
  tbCodec c = tb_codec_writer(ctx, "a checkpoint", out);
  code_scene(&c, &copy);
  if (c.status != TB_OK) return c.status;
  TB_TRY(tb_out_finish(out));
  put_u64(out->bytes + 16, out->length + TAIL);
  put_u64(tail, tb_checkpoint_sum(out->bytes, out->length));
  tb_out_bytes(out, tail, TAIL);
  return tb_out_finish(out);
}

tbStatus tb_checkpoint_save(tbContext* ctx, const char* path, const tbScene* scene)
{
  tbOut out = tb_out_memory(ctx);
  tbStatus status = tb_checkpoint_print(ctx, &out, scene);
  if (status == TB_OK) status = tb_write_file(ctx, path, out.bytes, out.length);
  tb_out_free(&out);
  return status;
}

// What the first bytes of a file of so many bytes say. `bytes` holds HEAD of them, or all there are.
static tbStatus check_head(tbContext* ctx, const char* name, const char* bytes, uint64_t length)
{
  size_t shown = length < sizeof magic ? (size_t)length : sizeof magic;
  if (length == 0 || memcmp(bytes, magic, shown) != 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: not a checkpoint of Tribo", name);
  if (length < HEAD + TAIL)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: cut short: a checkpoint has more than %" PRIu64 " bytes", name,
                   length);
  uint64_t version = get_u64(bytes + 8), size = get_u64(bytes + 16);
  if (version != TB_CHECKPOINT_VERSION)
    return tb_fail(ctx, TB_ERROR_INPUT,
                   "%s: a checkpoint of version %" PRIu64 "; this build reads version %d", name, version,
                   TB_CHECKPOINT_VERSION);
  if (size > length)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: cut short: %" PRIu64 " of %" PRIu64 " bytes are there", name,
                   length, size);
  if (size < length)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: damaged: %" PRIu64 " bytes behind its end", name, length - size);
  return TB_OK;
}

static tbStatus check_frame(tbContext* ctx, const char* name, const char* bytes, size_t length)
{
  TB_TRY(check_head(ctx, name, bytes, length));
  if (get_u64(bytes + length - TAIL) != tb_checkpoint_sum(bytes, length - TAIL))
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: damaged: its checksum does not match", name);
  return TB_OK;
}

tbStatus tb_checkpoint_parse(tbContext* ctx, const char* name, const void* bytes, size_t length, tbScene* out)
{
  TB_TRY(check_frame(ctx, name, bytes, length));
  tbWorldDef def = tb_default_world_def();
  tbScene scene = {.step = tb_default_step_options()};
  TB_TRY(tb_world_create(ctx, &def, &scene.world));
  tbCodec c = tb_codec_reader(ctx, name, (const char*)bytes + HEAD, length - HEAD - TAIL);
  code_scene(&c, &scene);
  tb_codec_require(&c, c.at == c.end, "more than a checkpoint holds");
  if (c.status == TB_OK) *out = scene;
  else tb_scene_free(ctx, &scene);
  return c.status;
}

tbStatus tb_checkpoint_load(tbContext* ctx, const char* path, tbScene* out)
{
  char *bytes, head[HEAD];
  size_t length;
  uint64_t size;
  TB_TRY(tb_read_start(ctx, path, head, HEAD, &length, &size)); // another file may be of any size
  TB_TRY(check_head(ctx, path, head, length < HEAD ? length : size));
  TB_TRY(tb_read_file(ctx, path, SIZE_MAX / 4, &bytes, &length));
  tbStatus status = tb_checkpoint_parse(ctx, path, bytes, length, out);
  tb_free(ctx, bytes);
  return status;
}
