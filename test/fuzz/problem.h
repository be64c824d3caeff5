// SPDX-License-Identifier: Apache-2.0
// What the harnesses of problem files share.
//
// Any bytes are refused with a message that names the file, or give a problem that, written as JSON and read
// again, is written the same, and that every solver which takes it solves within its budget, claiming
// nothing that the judge does not confirm. Running out of memory anywhere is reported as such and leaks
// nothing.
#ifndef TB_FUZZ_PROBLEM_H
#define TB_FUZZ_PROBLEM_H

#include "fuzz.h"
#include "io/problem/problem_io.h"
#include "problem_solve.h"

#include <string.h>

typedef tbStatus ParseFn(tbContext* ctx, const char* name, const char* bytes, size_t length, tbProblem** out,
                         double** guess);

static tbStatus print_again(tbContext* ctx, const tbProblem* p, const double* guess)
{
  tbOut first = tb_out_memory(ctx), second = tb_out_memory(ctx);
  tbProblem* again = NULL;
  double* guess_again = NULL;
  tbStatus status = tb_problem_print_json(ctx, &first, p, guess);
  if (status == TB_OK)
    status = tb_problem_parse_json(ctx, "again", first.bytes, first.length, &again, &guess_again);
  if (status == TB_OK) status = tb_problem_print_json(ctx, &second, again, guess_again);
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
  if (status == TB_OK)
    CHECK(first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0);
  tb_free(ctx, guess_again);
  tb_problem_free(again);
  tb_out_free(&first);
  tb_out_free(&second);
  return status;
}

static tbStatus parse_once(tbContext* ctx, void* user, const uint8_t* bytes, size_t size)
{
  ParseFn* parse = *(ParseFn**)user;
  tbProblem* p = NULL;
  double* guess = NULL;
  tbStatus status = parse(ctx, "fuzz", (const char*)bytes, size, &p, &guess);
  CHECK((status == TB_OK) == (p != NULL));
  if (status == TB_OK) {
    status = print_again(ctx, p, guess);
    if (status == TB_OK) status = fuzz_solve(ctx, p, guess);
  } else CHECK(guess == NULL && (status == TB_ERROR_MEMORY || strncmp(ctx->error.message, "fuzz:", 5) == 0));
  tb_free(ctx, guess);
  tb_problem_free(p);
  return status;
}

static void fuzz_parse(ParseFn* parse, const uint8_t* bytes, size_t size)
{
  tbStatus status = fuzz_starve(parse_once, &parse, bytes, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT || status == TB_ERROR_NUMERIC ||
        status == TB_ERROR_UNSUPPORTED);
}

#endif
