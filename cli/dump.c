// SPDX-License-Identifier: Apache-2.0
#include "cli/dump.h"
#include "tribo/tools/status.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

static tbStatus save(tbContext* ctx, const char* folder, int64_t step, const tbProblem* p,
                     const double* guess)
{
  char path[PATH_MAX];
  if (tb_have_fclib()) {
    snprintf(path, sizeof path, "%s/step-%06" PRId64 ".hdf5", folder, step);
    tbStatus status = tb_problem_save_fclib(ctx, path, p, guess);
    if (status != TB_ERROR_UNSUPPORTED) return status;
  }
  snprintf(path, sizeof path, "%s/step-%06" PRId64 ".json", folder, step);
  return tb_problem_save_json(ctx, path, p, guess);
}

tbStatus dump_problem(tbContext* ctx, const char* folder, const tbScene* scene)
{
  tbProblem* p = NULL;
  double* guess = NULL;
  TB_TRY(tb_world_problem(ctx, scene->world, &scene->step, &p, &guess));
  tbStatus status = TB_OK;
  if (p->ncontact > 0) status = save(ctx, folder, tb_world_step_count(scene->world), p, guess);
  tb_guess_free(ctx, guess);
  tb_problem_free(p);
  return status;
}
