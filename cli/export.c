// SPDX-License-Identifier: Apache-2.0
// tribo export: a replay for other programs, without running again.
#include "tribo/tools/text.h"
#include "cli/stream.h"
#include "cli/out.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/recordings.h"
#include "cli/render.h"

#include <math.h>
#include <string.h>

static const char usage[] = "usage: tribo export REPLAY --to KINDS|FILE [options]";

typedef struct {
  const char *to, *out, *frames;
  long long first, last; // last −1: the end
} ExportArgs;

static bool ends_in(const char* path, const char* ending)
{
  size_t length = strlen(path), tail = strlen(ending);
  return length > tail && strcmp(path + length - tail, ending) == 0;
}

// The kind that a file's ending asks for; null: it is no file's name.
static const char* kind_of_file(const char* path)
{
  return ends_in(path, ".glb") ? "gltf" : ends_in(path, ".usda") ? "usd" : NULL;
}

static bool is_export(const tbRecordKind* k) { return k && strcmp(k->name, "replay") != 0; }

static bool refuse_kind(const char* kind, int length)
{
  char name[64], list[128] = "";
  snprintf(name, sizeof name, "%.*s", length, kind);
  tbNearest near = tb_nearest(name);
  for (int i = 0; i < tb_record_kind_count(); i++) {
    const tbRecordKind* k = tb_record_kind_at(i);
    if (!is_export(k)) continue;
    tb_nearest_offer(&near, k->name);
    if (*list) tb_list_append(list, sizeof list, k->name);
    else snprintf(list, sizeof list, "%s", k->name);
  }
  if (tb_film_path(name) || ends_in(name, ".png") || strcmp(name, "png") == 0 || strcmp(name, "mp4") == 0 ||
      strcmp(name, "webm") == 0)
    fprintf(stderr, "tribo export: pictures and videos are drawn by `tribo render REPLAY --out FILE`\n");
  else if (near.name)
    fprintf(stderr, "tribo export: --to knows no \"%s\"; did you mean %s?\n", name, near.name);
  else fprintf(stderr, "tribo export: --to takes FILE.glb, FILE.usda, or some of %s\n", list);
  return false;
}

static bool read_args(ExportArgs* a)
{
  if (a->frames &&
      (!two_numbers(a->frames, ':', &a->first, &a->last) || a->first < 0 || a->last < a->first)) {
    fprintf(stderr, "tribo export: --frames takes the first and the last frame, as in 0:59\n");
    return false;
  }
  if (kind_of_file(a->to)) {
    if (a->out) fprintf(stderr, "tribo export: --to %s names the file; --out is for kinds\n", a->to);
    return !a->out;
  }
  const char *at = a->to, *kind;
  while (at) {
    int length = next_kind(&at, &kind);
    if (!is_export(find_kind(kind, length))) return refuse_kind(kind, length);
  }
  return true;
}

static tbStatus export_one(tbContext* ctx, tbReplay* replay, const char* kind, const char* path,
                           const ExportArgs* a)
{
  TB_TRY(tb_replay_export(ctx, replay, kind, path, a->first, a->last, interrupted, NULL));
  out_wrote(is_standard(path), path);
  return TB_OK;
}

// Every kind into the folder, by the names it has there after `tribo run --export`.
static tbStatus export_kinds(tbContext* ctx, tbReplay* replay, const char* folder, const ExportArgs* a)
{
  const char *at = a->to, *kind;
  for (int length; (length = next_kind(&at, &kind)) > 0 && !interrupted(NULL);) {
    const tbRecordKind* k = find_kind(kind, length);
    char path[PATH_MAX + 32];
    if (strcmp(k->name, "pc2") == 0 && tb_replay_node_count(replay) == 0)
      return tb_fail(ctx, TB_ERROR_INPUT, "nothing deforms in that replay: a point cache would be empty");
    snprintf(path, sizeof path, "%s/%s", folder, k->file);
    TB_TRY(export_one(ctx, replay, k->name, path, a));
  }
  return TB_OK;
}

// Beside the replay, unless another folder is named.
static tbStatus find_folder(tbContext* ctx, const char* replay, const char* out, Folder* folder)
{
  char beside[PATH_MAX];
  const char* slash = strrchr(replay, '/');
  int length = slash == replay ? 1 : slash ? (int)(slash - replay) : 0;
  snprintf(beside, sizeof beside, "%.*s", length ? length : 1, length ? replay : ".");
  return folder_make(ctx, out ? out : beside, folder);
}

static int export_replay(tbContext* ctx, const char* path, const ExportArgs* a)
{
  tbReplay* replay;
  Folder folder;
  const char* kind = kind_of_file(a->to);
  if (check_readable(ctx, path) != TB_OK || tb_replay_open(ctx, path, &replay) != TB_OK)
    return fail_with(ctx);
  if (a->last >= tb_replay_frame_count(replay)) {
    fprintf(stderr, "tribo export: --frames %s: there are frames 0 to %lld\n", a->frames,
            (long long)(tb_replay_frame_count(replay) - 1));
    tb_replay_close(ctx, replay);
    return EXIT_USAGE;
  }
  interrupt_watch();
  tbStatus status;
  if (kind) status = export_one(ctx, replay, kind, a->to, a);
  else if ((status = find_folder(ctx, path, a->out, &folder)) == TB_OK) {
    status = export_kinds(ctx, replay, folder.path, a);
    if (status != TB_OK) folder_unmake(&folder);
  }
  tb_replay_close(ctx, replay);
  if (status != TB_OK) return fail_with(ctx);
  return interrupted(NULL) ? EXIT_INTERRUPTED : EXIT_DONE;
}

static void print_help(const Arg* args)
{
  printf("%s\n\nConverts a replay (`tribo run --out`) for other programs, as `tribo run --export` does, "
         "without running again.\n\n",
         usage);
  args_help(args);
  printf("\n  tribo export out/replay.trp --to arch.glb\n"
         "  tribo export out/replay.trp --to usd,vtk,pc2 --frames 0:99\n");
}

int command_export(int argc, char** argv)
{
  ExportArgs a = {.last = -1};
  bool help = false;
  const Arg args[] = {
      {"--to", ARG_TEXT, &a.to, "X", "FILE.glb, FILE.usda, or some of gltf,usd,vtk,pc2: docs/exports.md"},
      {"--out", ARG_TEXT, &a.out, "DIR", "where those kinds go (default: beside the replay)"},
      {"--frames", ARG_TEXT, &a.frames, "A:B", "from frame A to frame B alone"},
      {"--help", ARG_FLAG, &help, NULL, "this text"},
      {0},
  };
  int count = args_parse("export", args, argc, argv);
  if (count < 0) return EXIT_USAGE;
  if (help) {
    print_help(args);
    return EXIT_DONE;
  }
  if (count != 1 || !a.to) {
    fprintf(stderr, "%s; `tribo export --help` says more\n", usage);
    return EXIT_USAGE;
  }
  if (!read_args(&a)) return EXIT_USAGE;
  tbContext ctx = tb_default_context();
  return export_replay(&ctx, argv[0], &a);
}
