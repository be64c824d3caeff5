// SPDX-License-Identifier: Apache-2.0
// Tribo's JSON problem format: nothing is lost, and what is wrong is said where it is wrong.
#include "io/io_test.h"

#include <stdlib.h>
#include <string.h>

static tbStatus parse(tbContext* ctx, const char* text, tbProblem** out, double** guess)
{
  return tb_problem_parse(ctx, "p.json", text, strlen(text), out, guess);
}

TEST(json_round_trip_keeps_every_bit_of_120_manufactured_problems)
{
  for (int seed = 0; seed < 120; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = io_spec(seed);
    tbProblem *p = NULL, *again = NULL;
    double *lambda = NULL, *guess = NULL;
    const char *path = io_temp("round.json"), *difference = "";
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    CHECK_OK(&ctx, tb_problem_save_json(&ctx, path, p, seed % 2 ? lambda : NULL));
    CHECK_OK(&ctx, tb_problem_load(&ctx, path, &again, &guess));
    REQUIRE(again);
    if (!io_same(p, again, &difference)) test_failed(__FILE__, __LINE__, "seed %d: %s", seed, difference);
    CHECK(!guess == !(seed % 2));
    if (guess) CHECK(memcmp(guess, lambda, (size_t)p->nrow * sizeof *guess) == 0);
    tb_guess_free(&ctx, guess);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p);
    tb_problem_free(again);
  }
}

TEST(json_example_of_the_documentation_loads)
{
  FILE* file = fopen(TB_SOURCE_FOLDER "/docs/problem-format.md", "rb");
  REQUIRE(file);
  static char text[40000];
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  int found = 0;
  for (char* at = text; (at = strstr(at, "```json\n"));) {
    char* end = strstr(at += 8, "```");
    REQUIRE(end);
    *end = 0;
    tbContext ctx = tb_default_context();
    tbProblem* p = NULL;
    double* guess = NULL;
    CHECK_OK(&ctx, parse(&ctx, at, &p, &guess));
    if (p) CHECK(p->ncontact > 0 && p->nrow > 0);
    tb_guess_free(&ctx, guess);
    tb_problem_free(p);
    at = end + 3;
    found++;
  }
  CHECK(found >= 2);
}

TEST(json_takes_W_in_three_forms)
{
  const char* forms[] = {
      "[[2, 0, 0.5], [0, 3, 0], [0.5, 0, 4]]",
      "{\"entries\": [[2, 2, 3], [0, 0, 2], [0, 2, 0.5], [2, 0, 0.5], [1, 1, 3], [2, 2, 1]]}",
      "{\"ptr\": [0, 2, 3, 5], \"col\": [0, 2, 1, 0, 2], \"val\": [2, 0.5, 3, 0.5, 4]}"};
  tbProblem* p[3] = {NULL};
  tbContext ctx = tb_default_context();
  for (int i = 0; i < 3; i++) {
    char text[400];
    double* guess = NULL;
    snprintf(text, sizeof text,
             "{\"tribo_problem\": 1, \"W\": %s, \"contacts\": [{\"law\": \"coulomb\", \"mu\": 0.3, \"bias\": "
             "[-1, 0, "
             "0.5]}]}",
             forms[i]);
    CHECK_OK(&ctx, parse(&ctx, text, &p[i], &guess));
    REQUIRE(p[i]);
    CHECK(guess == NULL);
    CHECK(strcmp(p[i]->name, "p") == 0);
    const char* difference;
    CHECK(io_same(p[0], p[i], &difference));
  }
  CHECK(p[0]->W_ptr[3] == 5 && p[0]->W_val[4] == 4 && p[0]->bias[2] == 0.5);
  for (int i = 0; i < 3; i++) tb_problem_free(p[i]);
}

#define METRIC \
  "{\"tribo_problem\": 1,\n \"metric\": [{\"particle\": 1, \"v_free\": [0, 0, 0]}],\n \"contacts\": ["
#define EXPLICIT "{\"tribo_problem\": 1,\n \"contacts\": [{\"law\": \"nonneg\", \"bias\": [1, 2]}],\n \"W\": "

TEST(json_errors_name_line_column_and_the_nearest_key)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"{\"tribo_problem\": 1, }", "p.json:1:22: "},
      {"{\"gravity\": [0, 0, -9.81]}",
       "p.json:1:1: not a Tribo problem: the key \"tribo_problem\" is missing"},
      {"{\"tribo_problem\": 2, \"metric\": [], \"contacts\": []}", "p.json:1:19: "},
      {"{\"tribo_problem\": 1, \"contacts\": []}", "p.json:1:1: a problem has either \"metric\" or \"W\""},
      {"{\"tribo_problem\": 1, \"metrics\": [], \"contacts\": []}",
       "p.json:1:22: unknown key \"metrics\"; did you mean \"metric\"?"},
      {"{\"tribo_problem\": 1, \"metric\": [{\"particle\": 0, \"v_free\": [0]}], \"contacts\": []}",
       "p.json:1:46: "},
      {"{\"tribo_problem\": 1, \"metric\": [{\"v_free\": [0]}], \"contacts\": []}",
       "p.json:1:33: a metric block has exactly one of"},
      {"{\"tribo_problem\": 1,\n \"metric\": [{\"dense\": [[1, 2], [2, 1]], \"v_free\": [0, 0]}],\n "
       "\"contacts\": []}",
       "p.json:2:12: metric block 0 is not positive definite"},
      {"{\"tribo_problem\": 1,\n \"metric\": [{\"dense\": [[1, 2], [2]], \"v_free\": [0, 0]}],\n "
       "\"contacts\": []}",
       "p.json:2:32: expected 2 numbers in the row, found 1"},
      {METRIC "{\"law\": \"colomb\", \"bias\": [0]}]}", "p.json:3:23: unknown name \"colomb\""},
      {METRIC "{\"law\": \"coulomb\", \"bias\": [0]}]}", "p.json:3:42: law coulomb does not take 1 rows"},
      {METRIC "{\"law\": \"coulomb\", \"bias\": [0, 0, 0]}]}", "p.json:3:15: missing key \"mu\""},
      {METRIC "{\"law\": \"coulomb\", \"mu\": -0.1, \"bias\": [0, 0, 0]}]}", "p.json:3:40: "},
      {METRIC "{\"law\": \"coulomb\", \"mu_t\": 1, \"bias\": [0, 0, 0]}]}",
       "p.json:3:34: unknown key \"mu_t\""},
      {METRIC "{\"law\": \"box\", \"bias\": [0], \"lo\": [1], \"hi\": [0]}]}",
       "p.json:3:61: \"hi\" is below \"lo\""},
      {METRIC "{\"law\": \"nonneg\", \"bias\": [0], \"compliance\": [-1]}]}", "p.json:3:61: "},
      {METRIC "{\"law\": \"nonneg\", \"bias\": [0], \"jacobian\": [{\"dof\": 1, \"J\": [[1, 0, 0]]}]}]}",
       "p.json:3:59: degrees of freedom 1 to 3 do not exist; there are 3"},
      {METRIC "], \"guess\": [1]}", "p.json:3:27: expected 0 values in \"guess\""},
      {EXPLICIT "[[1, 0]]}", "p.json:3:7: expected 2 rows, found 1"},
      {EXPLICIT "{\"entries\": [[0, 2, 1]]}}", "p.json:3:24: "},
      {EXPLICIT "{\"ptr\": [0, 2, 3], \"col\": [1, 0, 1], \"val\": [1, 2, 3]}}",
       "p.json:3:37: columns must increase within a row"},
      {EXPLICIT "{\"ptr\": [0, 1, 3], \"col\": [0, 1], \"val\": [1, 2, 3]}}",
       "p.json:3:7: \"ptr\" calls for 3 entries, \"col\" has 2 and \"val\" 3"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = (tbProblem*)&ctx;
    double* guess = NULL;
    tbStatus status = parse(&ctx, cases[i].text, &p, &guess);
    if (status != TB_ERROR_INPUT && status != TB_ERROR_NUMERIC)
      test_failed(__FILE__, __LINE__, "case %zu: %s", i, tb_status_name(status));
    if (strncmp(ctx.error.message, cases[i].message, strlen(cases[i].message)) != 0)
      test_failed(__FILE__, __LINE__, "case %zu: %s", i, ctx.error.message);
    CHECK(p == NULL && guess == NULL);
  }
}

TEST(json_ignores_keys_that_start_with_an_underscore)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = NULL;
  double* guess = NULL;
  CHECK_OK(&ctx, parse(&ctx,
                       "{\"_comment\": [1], \"tribo_problem\": 1, \"metric\": [{\"_\": 0, \"particle\": 2, "
                       "\"v_free\": [1]}], "
                       "\"contacts\": [{\"_\": {}, \"law\": \"box\", \"bias\": [0], \"lo\": [null], \"hi\": "
                       "[1]}], \"guess\": [0.5]}",
                       &p, &guess));
  REQUIRE(p && guess);
  CHECK(p->param[0] == -1 / 0.0 && p->param[1] == 1 && guess[0] == 0.5);
  tb_guess_free(&ctx, guess);
  tb_problem_free(p);
}

TEST(json_load_survives_every_failed_allocation)
{
  tbContext ctx = tb_default_context();
  tbManufacture spec = io_spec(17);
  tbProblem* p = NULL;
  double* lambda = NULL;
  REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
  CHECK_OK(&ctx, tb_problem_save_json(&ctx, io_temp("starved.json"), p, lambda));
  long k = 0;
  for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
    tbFailingAllocator memory = {.countdown = k};
    tbContext poor = test_failing_context(&memory);
    tbProblem* again = NULL;
    double* guess = NULL;
    status = tb_problem_load(&poor, io_temp("starved.json"), &again, &guess);
    CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !again && !guess));
    if (status == TB_OK) status = tb_problem_save_json(&poor, io_temp("again.json"), again, guess);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    tb_guess_free(&poor, guess);
    tb_problem_free(again);
    if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
    REQUIRE(k < 2000);
  }
  CHECK(k > 10);
  tb_manufacture_free(&ctx, lambda);
  tb_problem_free(p);
}
