// SPDX-License-Identifier: Apache-2.0
// Loading and saving as a whole: what the file is, what cannot be written, and what is left then.
#include "io/io_test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(load_says_what_is_wrong_with_a_path)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = (tbProblem*)&ctx;
  double* guess = (double*)&ctx;
  CHECK(tb_problem_load(&ctx, "/no/such/file", &p, &guess) == TB_ERROR_IO && !p && !guess);
  CHECK(strstr(ctx.error.message, "/no/such/file"));
  CHECK(tb_problem_load(&ctx, "/tmp", &p, NULL) == TB_ERROR_IO);
  CHECK(tb_problem_load(&ctx, "/dev/null", &p, NULL) == TB_ERROR_INPUT);
  CHECK(strstr(ctx.error.message, "a device"));
}

static tbProblem* small_problem(tbContext* ctx)
{
  tbManufacture spec = tb_default_manufacture();
  tbProblem* p = NULL;
  double* lambda = NULL;
  CHECK_OK(ctx, tb_problem_manufacture(ctx, &spec, &p, &lambda));
  tb_manufacture_free(ctx, lambda);
  return p;
}

typedef tbStatus Save(tbContext* ctx, const char* path, const tbProblem* p, const double* guess);

TEST(save_that_fails_leaves_nothing_behind)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = small_problem(&ctx);
  REQUIRE(p);
  Save* saves[] = {tb_problem_save_json, tb_problem_save_fclib};
  for (int i = 0; i < 1 + tb_have_fclib(); i++) {
    int files = io_count_files(io_temp_folder());
    CHECK(saves[i](&ctx, "/dev/full", p, NULL) == TB_ERROR_IO);
    CHECK(strstr(ctx.error.message, "/dev/full"));
    CHECK(saves[i](&ctx, io_temp("no/such/folder.x"), p, NULL) == TB_ERROR_IO);
    CHECK(io_count_files(io_temp_folder()) == files);

    // The old file survives when the folder takes no new one; root may write anywhere, so it is not asked.
    CHECK_OK(&ctx, saves[i](&ctx, io_temp("kept"), p, NULL));
    if (geteuid() != 0) {
      CHECK(chmod(io_temp_folder(), 0500) == 0);
      CHECK(saves[i](&ctx, io_temp("kept"), p, NULL) == TB_ERROR_IO);
      CHECK(chmod(io_temp_folder(), 0700) == 0);
    }
    double* guess = NULL;
    tbProblem* again = NULL;
    double bad[200] = {0};
    bad[1] = 0.0 / 0.0;
    CHECK(saves[i](&ctx, io_temp("kept"), p, bad) == TB_ERROR_ARGUMENT);
    CHECK_OK(&ctx, tb_problem_load(&ctx, io_temp("kept"), &again, &guess));
    CHECK(guess == NULL);
    CHECK(io_count_files(io_temp_folder()) == files + 1);
    unlink(io_temp("kept"));
    tb_problem_free(again);
  }
  tb_problem_free(p);
}

TEST(load_reads_from_a_pipe)
{
  tbContext ctx = tb_default_context();
  tbProblem *p = small_problem(&ctx), *again = NULL;
  REQUIRE(p);
  int ends[2];
  char path[40];
  REQUIRE(pipe(ends) == 0);
  const char text[] = "2\n0\n2\n2\n2 2\n1 2\n3 4\n-1 -2\n";
  CHECK(write(ends[1], text, sizeof text - 1) == sizeof text - 1);
  close(ends[1]);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  CHECK_OK(&ctx, tb_problem_load(&ctx, path, &again, NULL));
  if (again) CHECK(again->nrow == 2 && again->W_val[1] == 3);
  close(ends[0]);
  tb_problem_free(p);
  tb_problem_free(again);
}
