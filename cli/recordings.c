// SPDX-License-Identifier: Apache-2.0
#include "cli/recordings.h"
#include "tribo/tools/text.h"
#include "cli/metrics.h"
#include "cli/render.h"

#include <limits.h>
#include <math.h>
#include <string.h>

int next_kind(const char** at, const char** kind)
{
  if (!*at) return 0;
  int length = (int)strcspn(*at, ",");
  *kind = *at;
  *at = (*at)[length] ? *at + length + 1 : NULL;
  return length;
}

static bool is_kind(const char* kind, int length, const char* name)
{
  return (int)strlen(name) == length && strncmp(kind, name, (size_t)length) == 0;
}

static const char* const drawn[] = {"png", "mp4", "webm"};
enum { DRAWN = sizeof drawn / sizeof *drawn };

static bool is_drawn(const char* kind, int length)
{
  for (int i = 0; i < DRAWN; i++)
    if (is_kind(kind, length, drawn[i])) return true;
  return false;
}

const tbRecordKind* find_kind(const char* kind, int length)
{
  for (int i = 0; i < tb_record_kind_count(); i++)
    if (is_kind(kind, length, tb_record_kind_at(i)->name)) return tb_record_kind_at(i);
  return NULL;
}

static bool wanted(const OutputArgs* a, const char* name)
{
  const char *at = a->export_kinds, *kind;
  for (int length; (length = next_kind(&at, &kind)) > 0;)
    if (is_kind(kind, length, name)) return true;
  return false;
}

static void refuse_kind(const char* command, const char* kind, int length)
{
  char name[64], list[128] = "csv";
  snprintf(name, sizeof name, "%.*s", length, kind);
  tbNearest near = tb_nearest(name);
  tb_nearest_offer(&near, "csv");
  for (int i = 0; i < DRAWN; i++) {
    tb_nearest_offer(&near, drawn[i]);
    tb_list_append(list, sizeof list, drawn[i]);
  }
  for (int i = 0; i < tb_record_kind_count(); i++) {
    tb_nearest_offer(&near, tb_record_kind_at(i)->name);
    tb_list_append(list, sizeof list, tb_record_kind_at(i)->name);
  }
  if (near.name)
    fprintf(stderr, "tribo %s: --export knows no \"%s\"; did you mean %s?\n", command, name, near.name);
  else fprintf(stderr, "tribo %s: --export knows no \"%s\", but %s\n", command, name, list);
}

bool recordings_check(const char* command, const OutputArgs* a)
{
  if (!isnan(a->fps) && !(a->fps >= 0 && a->fps <= 1e9)) {
    fprintf(stderr, "tribo %s: --fps takes a number of frames per second, or 0 for every step\n", command);
    return false;
  }
  const char *at = a->export_kinds, *kind;
  while (at) {
    int length = next_kind(&at, &kind);
    bool csv = is_kind(kind, length, "csv");
    if (!csv && !is_drawn(kind, length) && !find_kind(kind, length)) {
      refuse_kind(command, kind, length);
      return false;
    }
    if (!a->out && !(csv && a->csv)) {
      fprintf(stderr, "tribo %s: --export %.*s needs the folder of --out\n", command, length, kind);
      return false;
    }
  }
  return true;
}

bool recordings_want_film(const OutputArgs* a) { return wanted(a, "mp4") || wanted(a, "webm"); }

// Pictures are drawn when everything else is in its place, so that nothing is lost should they fail.
tbStatus recordings_draw(tbContext* ctx, const OutputArgs* a, const char* folder)
{
  char path[PATH_MAX + 32];
  Shooting s = shooting_default();
  tbReplay* replay = NULL;
  tbStatus status = TB_OK;
  if (!isnan(a->fps) && a->fps >= 0.1 && a->fps <= 1000) s.fps = a->fps;
  s.quiet = a->quiet;
  for (int i = 0; i < DRAWN && status == TB_OK; i++) {
    if (!wanted(a, drawn[i])) continue;
    snprintf(path, sizeof path, "%s/replay.trp", folder);
    if (!replay) TB_TRY(tb_replay_open(ctx, a->trajectory ? a->trajectory : path, &replay));
    snprintf(path, sizeof path, "%s/scene.%s", folder, drawn[i]);
    s.options.samples = tb_film_path(path) ? 2 : 3;
    status = shoot(ctx, replay, path, false, &s);
  }
  tb_replay_close(ctx, replay);
  return status;
}

static tbStatus open_one(tbContext* ctx, Recordings* r, const char* kind, const char* path,
                         const OutputArgs* a, const tbScene* scene)
{
  tbRecordOptions o = tb_default_record_options();
  if (!isnan(a->fps)) o.fps = a->fps;
  TB_TRY(tb_record_begin(ctx, kind, path, scene, o, &r->recording[r->count]));
  r->count++;
  return TB_OK;
}

tbStatus recordings_open(tbContext* ctx, Recordings* r, const OutputArgs* a, const char* folder,
                         const tbScene* scene)
{
  if (a->trajectory) TB_TRY(open_one(ctx, r, "replay", a->trajectory, a, scene));
  for (int i = 0; folder && i < tb_record_kind_count(); i++) {
    const tbRecordKind* k = tb_record_kind_at(i);
    bool replay = strcmp(k->name, "replay") == 0, pc2 = strcmp(k->name, "pc2") == 0;
    bool always = (replay && !a->trajectory) || (pc2 && nodes_count(scene->world) > 0);
    if (!always && !wanted(a, k->name)) continue;
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder, k->file);
    TB_TRY(open_one(ctx, r, k->name, path, a, scene));
  }
  return TB_OK;
}

tbStatus recordings_step(tbContext* ctx, Recordings* r, const tbScene* scene, const tbStepReport* report)
{
  for (int i = 0; i < r->count; i++) TB_TRY(tb_record_step(ctx, r->recording[i], scene, report));
  return TB_OK;
}

tbStatus recordings_close(tbContext* ctx, Recordings* r, const tbScene* scene, tbStatus status)
{
  for (int i = 0; i < r->count; i++) {
    tbError first = ctx->error;
    tbStatus ended = tb_record_end(ctx, r->recording[i], scene, status);
    if (status != TB_OK) ctx->error = first;
    else status = ended;
  }
  r->count = 0;
  return status;
}
