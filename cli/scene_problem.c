#include "cli/scene_problem.h"
#include "base/json.h"
#include "cli/interrupt.h"

// Problems in JSON begin with "tribo_problem", scenes with "tribo".
static bool is_scene(tbContext* ctx, const char* path)
{
  tbArena arena;
  const tbJson* root = NULL;
  int first = EOF;
  FILE* file = fopen(path, "rb");
  if (file) {
    do first = getc(file);
    while (first == ' ' || first == '\t' || first == '\r' || first == '\n');
    fclose(file);
  }
  if (first != '{') return false;
  tb_arena_init(&arena, ctx);
  bool scene =
      tb_json_read_file(ctx, &arena, path, SIZE_MAX / 4, &root) == TB_OK && tb_json_find(root, "tribo");
  tb_arena_free(&arena);
  return scene;
}

static tbStatus scene_problem(tbContext* ctx, tbScene* scene, int steps, tbProblem** out, double** guess)
{
  for (int i = 0; i < steps && !interrupted(NULL); i++)
    TB_TRY(tb_world_step(ctx, scene->world, &scene->step, NULL));
  return tb_world_problem(ctx, scene->world, &scene->step, out, guess);
}

tbStatus load_problem_or_scene(tbContext* ctx, const char* path, int steps, tbProblem** out, double** guess)
{
  TB_TRY(check_readable(ctx, path));
  if (!is_scene(ctx, path)) return tb_problem_load(ctx, path, out, guess);
  tbScene scene;
  TB_TRY(tb_scene_load(ctx, path, &scene));
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
