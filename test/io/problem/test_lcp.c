// SPDX-License-Identifier: Apache-2.0
// Siconos' LCP text files.
#include "io/io_test.h"

#include <dirent.h>
#include <string.h>

static double entry(const tbProblem* p, int i, int j)
{
  for (int e = p->W_ptr[i]; e < p->W_ptr[i + 1]; e++)
    if (p->W_col[e] == j) return p->W_val[e];
  return 0;
}

static tbProblem* load(tbContext* ctx, const char* name)
{
  char path[512];
  tbProblem* p = NULL;
  snprintf(path, sizeof path, "%s/fclib/lcp/%s", test_shared_folder(), name);
  CHECK_OK(ctx, tb_problem_load(ctx, path, &p, NULL));
  return p;
}

TEST(lcp_every_shared_file_loads)
{
  if (!test_shared_folder()) SKIP("no shared/fclib beside the checkout");
  char folder[400];
  int count = 0;
  snprintf(folder, sizeof folder, "%s/fclib/lcp", test_shared_folder());
  DIR* listing = opendir(folder);
  if (!listing) SKIP("no %s", folder);
  for (const struct dirent* e; (e = readdir(listing));) {
    if (e->d_name[0] == '.') continue;
    tbContext ctx = tb_default_context();
    tbProblem* p = load(&ctx, e->d_name);
    if (!p) continue;
    CHECK(p->W_ptr && p->nrow == p->ncontact && p->nrow >= 2);
    for (int k = 0; k < p->ncontact; k++) CHECK(p->law[k] == TB_LAW_NONNEG);
    tb_problem_free(p);
    count++;
  }
  closedir(listing);
  CHECK(count >= 20);
}

TEST(lcp_dense_values_are_column_major_and_blocks_agree)
{
  if (!test_shared_folder()) SKIP("no shared/fclib beside the checkout");
  tbContext ctx = tb_default_context();
  tbProblem *cps = load(&ctx, "lcp_CPS_2.dat"), *dense = load(&ctx, "lcp_ortiz.dat"),
            *block = load(&ctx, "lcp_ortiz_block.dat"), *murty = load(&ctx, "lcp_exp_murty2.dat"),
            *diagonal = load(&ctx, "lcp_trivial_block.dat");
  if (cps && dense && block && murty && diagonal) {
    CHECK(entry(cps, 1, 0) == 2 && entry(cps, 0, 1) == -1 && entry(cps, 0, 2) == 2 && entry(cps, 2, 0) == -1);
    CHECK(cps->bias[0] == -3 && cps->bias[1] == 6 && cps->bias[2] == -1);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) CHECK(entry(dense, i, j) == entry(block, i, j));
    CHECK(entry(block, 0, 3) == -1 && entry(block, 3, 0) == 0 && entry(block, 0, 1) == 1);
    CHECK(memcmp(dense->bias, block->bias, 4 * sizeof(double)) == 0);
    CHECK(entry(murty, 0, 5) == 2 && entry(murty, 5, 0) == 0 && murty->bias[5] == -64);
    for (int i = 0; i < 9; i++) CHECK(entry(diagonal, i, i) == i + 1 && diagonal->bias[i] == -1);
  }
  tb_problem_free(cps), tb_problem_free(dense), tb_problem_free(block), tb_problem_free(murty);
  tb_problem_free(diagonal);
}

static tbStatus parse(tbContext* ctx, const char* text, tbProblem** out)
{
  double* guess = NULL;
  return tb_problem_parse(ctx, "p.dat", text, strlen(text), out, &guess);
}

TEST(lcp_reads_the_print_out_of_csparse)
{
  const char* forms[] = {
      "2\n2\n2\n2\n1\nCSparse Version 3.1.9, Date.  Copyright\ntriplet: 2-by-2, nzmax: 5 nnz: 4\n    1 0 : "
      "3\n    0 0 : 1.5\n"
      "    0 1 : -2e-1\n    0 0 : 0.5\n-1 4\n",
      "2\n2\n2\n2\n2\nCSparse Version 3.1.9, Date.  Copyright\n2-by-2, nzmax: 3 nnz: 3, 1-norm: 5\n"
      "    col 0 : locations 0 to 1\n      0 : 2\n      1 : 3\n    col 1 : locations 2 to 2\n      0 : "
      "-0.2\n-1 4\n",
      "2\n2\n2\n2\n3\nCSparse Version 3.1.9, Date.  Copyright\n2-by-2, nzmax: 3 nnz: 3, 1-norm: 5\n"
      "    col 0 : locations 0 to 1\n      0 : 2\n      1 : -0.2\n    col 1 : locations 2 to 2\n      0 : "
      "3\n-1 4\n",
  };
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    CHECK_OK(&ctx, parse(&ctx, forms[i], &p));
    REQUIRE(p);
    CHECK(entry(p, 0, 0) == 2 && entry(p, 1, 0) == 3 && entry(p, 0, 1) == -0.2 && entry(p, 1, 1) == 0);
    CHECK(p->bias[0] == -1 && p->bias[1] == 4);
    tb_problem_free(p);
  }
}

TEST(lcp_errors_name_line_and_column)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "p.dat: not a contact problem"},
      {"hello", "p.dat: not a contact problem"},
      {"0\n", "p.dat:1:1: the size of the problem is 0"},
      {"2147483647\n0\n", "p.dat:1:1: the size of the problem is 2.14748e+09"},
      {"2\n7\n2\n2\n", "p.dat:2:1: the storage of M is 7"},
      {"2\n0\n2\n3\n", "p.dat:4:1: the number of columns of M is 3"},
      {"2\n0\n2\n2\n2 2\n1 2\n3 x", "p.dat:7:3: expected M, found \"x\""},
      {"2\n0\n2\n2\n2 2\n1 2\n3 nan\n1 1 1", "p.dat:7:3: expected M, found \"nan\""},
      {"2\n0\n2\n2\n2 2\n1 2\n3 4\n1", "p.dat:8:2: the file ends where q should stand"},
      {"2\n0\n2\n2\n2 2\n1 2\n3 4\n1 2.5.1", "p.dat:8:3: expected q, found \"2.5.1\""},
      {"2.5\n0\n", "p.dat:1:1: the size of the problem must be a whole number"},
      {"4\n1\n4\n4\n4\n2\n2\n4 2\n2 4\n3\n4\n0 2 4\n0 1 0 1\n",
       "p.dat:7:2: the ends of block rows do not increase"},
      {"2\n1\n2\n2\n1\n1\n1\n2\n2\n2\n1\n0 1\n5\n0\n1 1 1 1 1 1",
       "p.dat:13:1: the block column of a block is 5"},
      {"2\n1\n2\n2\n1\n1\n1\n2\n2\n2\n1\n0 1\n0\n0\n1 1 1 1 1",
       "p.dat:15:10: the file ends where q should stand"},
      {"2\n2\n2\n2\n1\nCSparse\ntriplet: 2-by-2, nzmax: 1 nnz: 1\n 0 2 : 1\n1 1", "p.dat:8:4: a column is 2"},
      {"2\n2\n2\n2\n1\nCSparse\ntriplet: 3-by-3, nzmax: 1 nnz: 1\n 0 2 : 1\n1 1",
       "p.dat:7:10: expected \"2-by-2,\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    CHECK(parse(&ctx, cases[i].text, &p) == TB_ERROR_INPUT && p == NULL);
    if (strncmp(ctx.error.message, cases[i].message, strlen(cases[i].message)) != 0)
      test_failed(__FILE__, __LINE__, "case %zu: %s", i, ctx.error.message);
  }
}

TEST(lcp_load_survives_every_failed_allocation)
{
  const char* text =
      "4\n1\n4\n4\n4\n2\n2\n2 4\n2 4\n3\n4\n0 2 4\n0 1 0 1\n0\n1 2 3 4\n1\n1 2 3 4\n2\n1 2 3 4\n3\n1 2 3 4\n"
      "-1 -2 -3 -4 remarks may follow\n";
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext ctx = test_failing_context(&memory);
    tbProblem* p = NULL;
    status = parse(&ctx, text, &p);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !p));
    tb_problem_free(p);
    CHECK(memory.alive == 0);
    REQUIRE(k < 1000);
  }
  CHECK(k > 5);
}
