// SPDX-License-Identifier: Apache-2.0
// Stopping: who says why, and that whatever takes long listens.
#include "base/stop.h"
#include "base/clock.h"
#include "base/threads.h"
#include "math/cholesky.h"
#include "math/gmres.h"
#include "math/lu_sparse.h"
#include "test.h"
#include "tribo/problem.h"

#include <math.h>
#include <stdlib.h>

TEST(a_stop_keeps_its_first_reason)
{
  tbContext ctx = tb_default_context();
  Countdown inner = {.after = 2}, outer = {.after = 3};
  tbStop stop;
  tb_stop_begin(&stop, &ctx, NULL, NULL, 0);
  CHECK(tb_stop_reason(&stop) == TB_STOP_NOT && isinf(stop.deadline));

  tb_stop_begin(&stop, &ctx, count_down, &inner, 1e-9);
  stop.deadline = tb_seconds() + 1000;
  CHECK(tb_stop_reason(&stop) == TB_STOP_NOT && tb_stop_reason(&stop) == TB_STOP_NOT);
  CHECK(tb_stop_reason(&stop) == TB_STOP_CANCELLED);
  stop.deadline = 0;
  CHECK(tb_stop_reason(&stop) == TB_STOP_CANCELLED && inner.calls == 3);

  tb_stop_begin(&stop, &ctx, NULL, NULL, 1e-9);
  while (tb_seconds() < stop.deadline) {}
  CHECK(tb_stop_reason(&stop) == TB_STOP_TIME);

  ctx.interrupt = (tbInterrupt){count_down, &outer};
  tb_stop_begin(&stop, &ctx, NULL, NULL, 0);
  for (int i = 0; i < 3; i++) CHECK(!tb_asked(tb_stop_interrupt(&stop)));
  CHECK(tb_asked(tb_stop_interrupt(&stop)) && tb_stop_reason(&stop) == TB_STOP_INTERRUPT);
  CHECK(tb_check_interrupt(&ctx) == TB_ERROR_CANCELLED && ctx.error.status == TB_ERROR_CANCELLED);
}

// Counts calls that overlap.
typedef struct {
  tbStop stop;
  int inside, overlaps;
} Crowd;

static bool alone(void* user)
{
  Crowd* c = user;
  if (c->inside++ > 0) c->overlaps++;
  for (volatile int i = 0; i < 1000; i++) {}
  c->inside--;
  return false;
}

static void ask(void* user, int begin, int end, int piece)
{
  (void)piece;
  for (int i = begin; i < end; i++) CHECK(tb_stop_reason(&((Crowd*)user)->stop) == TB_STOP_NOT);
}

TEST(a_callers_function_is_asked_by_one_thread_at_a_time)
{
  tbContext ctx = tb_default_context();
  CHECK_OK(&ctx, tb_threads_create(&ctx, 4, &ctx.threads));
  Crowd crowd = {.inside = 0};
  tb_stop_begin(&crowd.stop, &ctx, alone, &crowd, 0);
  tb_parallel_for(ctx.threads, 2000, 10, ask, &crowd);
  CHECK(crowd.overlaps == 0 && crowd.inside == 0);
  tb_threads_destroy(&ctx, ctx.threads);
}

// ---- what takes long ----

// A chain of nodes, every one joined to the next `reach`.
typedef struct {
  int n, *ptr, *idx;
  double* val;
} Band;

static Band band(int n, int reach)
{
  Band b = {.n = n, .ptr = calloc((size_t)n + 1, sizeof(int))};
  b.idx = malloc((size_t)n * (size_t)(2 * reach + 1) * sizeof *b.idx);
  b.val = malloc((size_t)n * (size_t)(2 * reach + 1) * sizeof *b.val);
  for (int i = 0, at = 0; i < n; b.ptr[++i] = at)
    for (int j = i - reach; j <= i + reach; j++)
      if (j >= 0 && j < n) b.idx[at] = j, b.val[at++] = i == j ? 2 * reach + 1 : -1;
  return b;
}

static void drop(Band* b) { free(b->ptr), free(b->idx), free(b->val); }

TEST(a_cholesky_factor_listens_and_can_be_made_again)
{
  Band A = band(3000, 40);
  tbContext ctx = tb_default_context();
  tbCholesky* f = NULL;
  CHECK_OK(&ctx, tb_cholesky_analyze(&ctx, A.n, A.ptr, A.idx, NULL, &f));
  REQUIRE(f);
  Countdown c = {.after = 3};
  ctx.interrupt = (tbInterrupt){count_down, &c};
  CHECK(tb_cholesky_factor(&ctx, f, A.val) == TB_ERROR_CANCELLED);
  ctx.interrupt = (tbInterrupt){0};
  CHECK_OK(&ctx, tb_cholesky_factor(&ctx, f, A.val));
  tb_cholesky_free(&ctx, f);
  tbCholeskyOptions own = {.ordering = TB_ORDERING_DEGREE};
  c = (Countdown){.after = 0};
  ctx.interrupt = (tbInterrupt){count_down, &c};
  CHECK(tb_cholesky_analyze(&ctx, A.n, A.ptr, A.idx, &own, &f) == TB_ERROR_CANCELLED && !f);
  drop(&A);
}

TEST(a_sparse_lu_listens_and_can_be_made_again)
{
  enum { WIDE = 700 }; // one dense front, large enough to be asked inside
  Band A = band(WIDE, WIDE);
  int row_adr[WIDE + 1];
  size_t* val_adr = malloc((size_t)A.ptr[WIDE] * sizeof *val_adr);
  for (int i = 0; i <= WIDE; i++) row_adr[i] = i;
  for (int e = 0; e < A.ptr[WIDE]; e++) val_adr[e] = (size_t)e;
  for (int after = 0; after < 4; after += test_quick() ? 3 : 1) {
    Countdown c = {.after = 1000000};
    tbContext ctx = tb_default_context();
    ctx.interrupt = (tbInterrupt){count_down, &c};
    tbLu* lu = NULL;
    CHECK_OK(&ctx, tb_lu_analyze(&ctx, WIDE, row_adr, A.ptr, A.idx, 0, &lu));
    REQUIRE(lu);
    c = (Countdown){.after = after};
    CHECK(tb_lu_factor(lu, NULL, val_adr, A.val, NULL, 0) == -1);
    c.after = 1000000;
    CHECK(tb_lu_factor(lu, NULL, val_adr, A.val, NULL, 0) == 0);
    tb_lu_free(&ctx, lu);
  }
  free(val_adr);
  drop(&A);
}

static void no_product(void* user, const double* x, double* y)
{
  ++*(int*)user;
  for (int i = 0; i < 50; i++) y[i] = (1 + i) * x[i] + x[(i + 1) % 50];
}

TEST(gmres_listens)
{
  double b[50], x[50] = {0}, *work = malloc(tb_gmres_workspace(50) * sizeof *work);
  int products = 0;
  Countdown c = {.after = 5};
  for (int i = 0; i < 50; i++) b[i] = 1;
  tbGmres g = {50, no_product, NULL, &products, 0, 100000, {count_down, &c}};
  tb_gmres(&g, b, x, work);
  CHECK(products <= 6);
  free(work);
}

TEST(assembling_W_listens_in_every_form)
{
  static const unsigned forms[] = {TB_FORM_BLOCKS, TB_FORM_DENSE, TB_FORM_FREE, TB_FORM_SWEEP};
  for (int metric = 0; metric < 3; metric++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = tb_default_manufacture();
    tbProblem* p = NULL;
    double* exact = NULL;
    spec.contacts = test_quick() ? 60 : 150, spec.bodies = 20;
    spec.metric = metric == 0 ? TB_MAKE_RIGID : metric == 1 ? TB_MAKE_SPARSE : TB_MAKE_EXPLICIT;
    CHECK_OK(&ctx, tb_problem_manufacture(&ctx, &spec, &p, &exact));
    REQUIRE(p);
    for (int f = 0; f < 4; f++)
      for (int after = 0;; after++) {
        Countdown c = {.after = after};
        tbContext own = tb_default_context();
        tbDelassus* W = NULL;
        own.interrupt = (tbInterrupt){count_down, &c};
        tbStatus status = tb_delassus_create(&own, p, forms[f], &W);
        CHECK(status == (c.calls > after ? TB_ERROR_CANCELLED : TB_OK));
        CHECK((W != NULL) == (status == TB_OK));
        if ((forms[f] & (TB_FORM_BLOCKS | TB_FORM_DENSE)) && after == 0) CHECK(status == TB_ERROR_CANCELLED);
        tb_delassus_free(&own, W);
        if (status == TB_OK) break;
      }
    tb_manufacture_free(&ctx, exact);
    tb_problem_free(p);
  }
}
