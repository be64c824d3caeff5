// SPDX-License-Identifier: Apache-2.0
// What the tests of problem files share.
#ifndef TB_IO_TEST_H
#define TB_IO_TEST_H

#include "io/problem/problem_io.h"
#include "test.h"

// A path in a folder of this process's own, which is gone when the process ends. Good for the next three
// calls.
const char* io_temp(const char* name);
int io_count_files(const char* folder);
const char* io_temp_folder(void);

// Every array of the two problems holds the same bits; says the first that does not.
bool io_same(const tbProblem* a, const tbProblem* b, const char** difference);

// The judge's figures for impulses drawn from the seed.
tbResidual io_judge(tbContext* ctx, const tbProblem* p, uint64_t seed);

// Manufactured problems of every kind of metric, dimension and law.
tbManufacture io_spec(int seed);

// Scenes that are refused. The text of a case goes between the two others, without the @ that marks the place
// of the error.
typedef struct {
  const char *text, *message;
} IoSceneError;
void io_expect_errors(const char* before, const char* after, const IoSceneError* cases, size_t count);
#define IO_EXPECT_ERRORS(before, after, cases) \
  io_expect_errors(before, after, cases, sizeof cases / sizeof *cases)

// A scene with every key of soft bodies and cloth (test_scene_soft.c).
extern const char io_deformable_scene[];

#endif
