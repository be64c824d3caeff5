// SPDX-License-Identifier: Apache-2.0
#include "cli/scene_problem.h"
#include "tribo/tools/file.h"
#include "tribo/tools/json.h"
#include "cli/interrupt.h"
#include "cli/named.h"

#include <string.h>

static const size_t MOST_BYTES = (size_t)2 << 30; // as tb_problem_load

// Problems in JSON begin with "tribo_problem", scenes with "tribo".
bool is_scene_file(tbContext* ctx, const char* path)
{
  tbArena arena;
  const tbJson* root = NULL;
  char start[4096];
  size_t read, at = 0;
  uint64_t size;
  if (tb_read_start(ctx, path, start, sizeof start, &read, &size) != TB_OK) return false;
  while (at < read && (start[at] == ' ' || start[at] == '\t' || start[at] == '\r' || start[at] == '\n')) at++;
  if (at < read && start[at] != '{') return false;
  tb_arena_init(&arena, ctx);
  bool scene =
      tb_json_read_file(ctx, &arena, path, MOST_BYTES, &root) == TB_OK && tb_json_find(root, "tribo");
  tb_arena_free(&arena);
  return scene;
}

static tbStatus scene_problem(tbContext* ctx, tbScene* scene, int steps, tbProblem** out, double** guess)
{
  for (int i = 0; i < steps && !interrupted(NULL); i++)
    TB_TRY(tb_world_step(ctx, scene->world, &scene->step, NULL));
  return tb_world_problem(ctx, scene->world, &scene->step, out, guess);
}

static tbStatus load_scene_problem(tbContext* ctx, const char* path, int steps, tbProblem** out,
                                   double** guess)
{
  tbScene scene;
  TB_TRY(load_scene(ctx, path, &scene));
  tbStatus status = scene_problem(ctx, &scene, steps, out, guess);
  if (status == TB_OK && (*out)->ncontact == 0) {
    status = tb_fail(ctx, TB_ERROR_INPUT, "%s: nothing touches after %d steps; --step N asks for another",
                     path, steps);
    tb_guess_free(ctx, *guess);
    tb_problem_free(*out);
    *guess = NULL, *out = NULL;
  }
  tb_scene_free(ctx, &scene);
  return status;
}

tbStatus load_problem_or_scene(tbContext* ctx, const char* path, int steps, tbProblem** out, double** guess,
                               bool* scene)
{
  *scene = false;
  if (strcmp(path, "-") == 0 || tb_is_stream(path)) return load_problem(ctx, path, out, guess);
  *scene = is_named_scene(path);
  if (!*scene) TB_TRY(check_scene_input(ctx, path));
  if (!*scene) *scene = is_scene_file(ctx, path);
  return *scene ? load_scene_problem(ctx, path, steps, out, guess) : tb_problem_load(ctx, path, out, guess);
}
