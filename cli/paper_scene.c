// SPDX-License-Identifier: Apache-2.0
// The scenes of papers: files in papers/NAME, with values set in them.
#include "cli/beside.h"
#include "cli/paper.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SETTINGS = 16, TEXT = 1000, PLACE = 200 };

static bool find(const Paper* p, const char* scene, const char* variant, char path[PATH_MAX])
{
  static const char* const folders[] = {"../papers", "../share/tribo/papers"};
  char place[2][PLACE];
  const char* const places[] = {place[0], place[1]};
  for (int i = 0; i < 2; i++)
    snprintf(place[i], PLACE, "%s/%s/%s%s.json", folders[i], p->name, scene, variant);
  return find_beside(places, 2, path);
}

tbStatus paper_scene_path(const Paper* p, const char* scene, char path[PATH_MAX])
{
  if (p->quick && find(p, scene, "-quick", path)) return TB_OK;
  if (find(p, scene, "", path)) return TB_OK;
  return tb_fail(p->ctx, TB_ERROR_IO, "papers/%s/%s.json is neither beside the command nor installed with it",
                 p->name, scene);
}

tbStatus paper_scene(const Paper* p, const char* scene, tbScene* out, const char* settings, ...)
{
  char path[PATH_MAX], text[TEXT], *rest = text;
  const char* setting[SETTINGS];
  int count = 0;
  va_list args;
  va_start(args, settings);
  int length = vsnprintf(text, sizeof text, settings, args);
  va_end(args);
  *out = (tbScene){0};
  TB_TRY(paper_scene_path(p, scene, path));
  for (char* word; (word = strtok_r(rest, " ", &rest)) && count < SETTINGS;) setting[count++] = word;
  if (length >= TEXT || *rest) return tb_fail(p->ctx, TB_ERROR_ARGUMENT, "too many settings of %s", scene);
  return tb_scene_load_with(p->ctx, path, setting, count, out);
}

double paper_cpu_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tbStatus paper_run(const Paper* p, tbWorld* world, const tbStepOptions* options, double seconds)
{
  for (int i = 0, n = (int)ceil(seconds / options->dt - 1e-9); i < n; i++)
    TB_TRY(tb_world_step(p->ctx, world, options, NULL));
  return TB_OK;
}
