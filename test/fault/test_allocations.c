// SPDX-License-Identifier: Apache-2.0
// Every allocation of load → solve → free made to fail, once and for good: a status, no crash, nothing left.
#include "solving.h"
#include "test.h"
#include "tribo/io.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Loads, solves with every solver and frees. λ is the caller's, so that only the library allocates.
static tbStatus load_and_solve(tbContext* ctx, const char* path, int threads, double* lambda)
{
  tbProblem* p = NULL;
  double* guess = NULL;
  tbStatus status = tb_threads_create(ctx, threads, &ctx->threads);
  if (status == TB_OK) status = tb_problem_load(ctx, path, &p, &guess);
  for (int i = 0; status == TB_OK && i < tb_solver_count(); i++) {
    tbSolveOptions o = tb_default_solve_options();
    o.solver = tb_solver_at(i)->name;
    o.max_iterations = 3;
    o.order = (tbOrder)(i % TB_ORDER_COUNT);
    tbSolveResult r;
    if (test_pick_model(tb_solver_at(i), p, &o.model)) status = tb_solve(ctx, p, &o, lambda, &r);
  }
  tb_guess_free(ctx, guess);
  tb_problem_free(p);
  tb_threads_destroy(ctx, ctx->threads);
  ctx->threads = NULL;
  return status;
}

static void fail_each(const char* path)
{
  double* lambda = calloc(4000, sizeof *lambda);
  tbFailingAllocator all = {.countdown = -1};
  tbContext ctx = test_failing_context(&all);
  CHECK_OK(&ctx, load_and_solve(&ctx, path, 2, lambda));
  CHECK(all.alive == 0 && all.total > 20);
  for (int for_good = 0; for_good < 2; for_good++)
    for (long k = 0; k < all.total; k += test_quick() ? 5 : 1) {
      tbFailingAllocator state = {.countdown = k, .for_good = for_good};
      ctx = test_failing_context(&state);
      memset(lambda, 0, 4000 * sizeof *lambda);
      tbStatus status = load_and_solve(&ctx, path, 2, lambda);
      if (status != TB_ERROR_MEMORY || state.alive != 0 || !ctx.error.message[0])
        test_failed(__FILE__, __LINE__, "%s, allocation %ld: status %s, %ld blocks left", path, k,
                    tb_status_name(status), state.alive);
    }
  free(lambda);
}

TEST(load_solve_free_survives_every_failed_allocation)
{
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_EXPLICIT; metric++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    spec.contacts = 12;
    spec.metric = metric;
    spec.all_laws = true;
    tbProblem* p = NULL;
    double* lambda = NULL;
    char path[] = "/tmp/tribo-fault-XXXXXX";
    int descriptor = mkstemp(path);
    REQUIRE(descriptor >= 0);
    close(descriptor);
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    CHECK_OK(&ctx, tb_problem_save_json(&ctx, path, p, lambda));
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
    fail_each(path);
    unlink(path);
  }
}

// So many bodies that every array has a block of memory to itself, and can be the only one that is missing.
TEST(manufacturing_survives_every_failed_allocation)
{
  for (int metric = TB_MAKE_RIGID; metric <= TB_MAKE_UNSYMMETRIC; metric++) {
    tbManufacture spec = tb_default_manufacture();
    spec.contacts = 24, spec.metric = metric;
    spec.bodies = metric == TB_MAKE_SPARSE || metric == TB_MAKE_PARTICLES ? 3000 : 12;
    long k = 0;
    for (tbStatus status = TB_ERROR_MEMORY; status == TB_ERROR_MEMORY; k++) {
      tbFailingAllocator state = {.countdown = k};
      tbContext ctx = test_failing_context(&state);
      tbProblem* p = NULL;
      double* lambda = NULL;
      status = tb_problem_manufacture(&ctx, &spec, &p, &lambda);
      CHECK(status == TB_ERROR_MEMORY || (status == TB_OK && p && lambda));
      tb_manufacture_free(&ctx, lambda);
      tb_problem_free(p);
      if (state.alive) test_failed(__FILE__, __LINE__, "metric %d, allocation %ld: a leak", metric, k);
      REQUIRE(k < 2000);
    }
    CHECK(k > 5);
  }
}

TEST(a_real_fclib_problem_survives_every_failed_allocation)
{
  const char* shared = test_shared_folder();
  if (!shared) SKIP("no shared folder beside the checkout");
  if (!tb_have_fclib()) SKIP("built without HDF5");
  static const char* const names[] = {"CubeH8", "Rover1040"};
  for (int i = 0; i < 2; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/fclib/%s.hdf5", shared, names[i]);
    fail_each(path);
  }
}
