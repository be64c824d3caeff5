// SPDX-License-Identifier: Apache-2.0
#include "io/io_test.h"
#include "io/scene/errors.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  char folder[64];
  unsigned turn;
} temp;
static char paths[4][256];

static void remove_temp(void)
{
  DIR* listing = opendir(temp.folder);
  char path[512];
  for (const struct dirent* entry; listing && (entry = readdir(listing));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", temp.folder, entry->d_name);
    unlink(path);
  }
  if (listing) closedir(listing);
  rmdir(temp.folder);
}

const char* io_temp_folder(void)
{
  if (!temp.folder[0]) {
    strcpy(temp.folder, "/tmp/tribo-test-XXXXXX");
    if (!mkdtemp(temp.folder)) test_failed(__FILE__, __LINE__, "no temporary folder");
    atexit(remove_temp);
  }
  return temp.folder;
}

const char* io_temp(const char* name)
{
  char* path = paths[temp.turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", io_temp_folder(), name);
  return path;
}

int io_count_files(const char* folder)
{
  int count = 0;
  DIR* listing = opendir(folder);
  for (const struct dirent* entry; listing && (entry = readdir(listing));) count += entry->d_name[0] != '.';
  if (listing) closedir(listing);
  return count;
}

#define SAME(array, count) \
  if (memcmp(a->array, b->array, (size_t)(count) * sizeof *a->array) != 0) return *difference = #array, false

bool io_same(const tbProblem* a, const tbProblem* b, const char** difference)
{
  *difference = "sizes";
  if (a->ncontact != b->ncontact || a->nrow != b->nrow || a->ndof != b->ndof || a->nblock != b->nblock ||
      a->ncol != b->ncol || !a->W_ptr != !b->W_ptr)
    return false;
  if (strcmp(a->name, b->name) != 0) return *difference = "name", false;
  SAME(row_adr, a->ncontact + 1);
  SAME(law, a->ncontact);
  SAME(param_adr, a->ncontact + 1);
  SAME(param, a->param_adr[a->ncontact]);
  SAME(bias, a->nrow);
  SAME(compliance, a->nrow);
  SAME(dof_block, a->ndof);
  SAME(v_free, a->ndof);
  SAME(jac_adr, a->ncontact + 1);
  SAME(jac_dof, a->ncol);
  SAME(jac_width, a->ncol);
  SAME(jac_val_adr, a->ncol + 1);
  SAME(jac, a->jac_val_adr[a->ncol]);
  if (a->W_ptr) {
    SAME(W_ptr, a->nrow + 1);
    SAME(W_col, a->W_ptr[a->nrow]);
    SAME(W_val, a->W_ptr[a->nrow]);
  }
  for (int i = 0; i < a->nblock; i++) {
    const tbMetricBlock *x = &a->block[i], *y = &b->block[i];
    *difference = "block";
    if (x->kind != y->kind || x->dof != y->dof || x->size != y->size) return false;
    size_t n = (size_t)x->size, values = x->kind == TB_METRIC_PARTICLE ? 1 : n * n;
    if (x->kind == TB_METRIC_SPARSE) {
      if (memcmp(x->ptr, y->ptr, (n + 1) * sizeof *x->ptr) != 0) return false;
      values = (size_t)x->ptr[n];
      if (memcmp(x->col, y->col, values * sizeof *x->col) != 0) return false;
    }
    if (memcmp(x->value, y->value, values * sizeof *x->value) != 0) return false;
  }
  return true;
}

tbResidual io_judge(tbContext* ctx, const tbProblem* p, uint64_t seed)
{
  tbRandom random = test_random(seed);
  tbResidual r = {.absolute = -1};
  tbJudge* judge = NULL;
  double* lambda = calloc((size_t)p->nrow + 1, sizeof *lambda);
  for (int i = 0; i < p->nrow; i++) lambda[i] = seed ? test_uniform(&random, -1, 1) : 0;
  CHECK_OK(ctx, tb_judge_create(ctx, p, &judge));
  if (judge) tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &r, NULL, NULL);
  tb_judge_free(ctx, judge);
  free(lambda);
  return r;
}

tbManufacture io_spec(int seed)
{
  tbManufacture s = tb_default_manufacture();
  s.seed = (uint64_t)seed;
  s.contacts = 1 + seed % 31;
  s.dimension = seed % 7 == 0 ? 2 : 3;
  s.mass_ratio = seed % 3 ? 1 : 1e6;
  s.metric = seed % 5;
  s.all_laws = seed % 2;
  s.redundant = seed % 4 == 1;
  s.compliant = seed % 3 == 1;
  return s;
}

void io_expect_errors(const char* before, const char* after, const IoSceneError* cases, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    static char text[4000], message[600];
    tbContext ctx = tb_default_context();
    tbScene s = {.threads = 99};
    snprintf(text, sizeof text, "%s%s%s", before, cases[i].text, after);
    char* mark = strchr(text, '@');
    REQUIRE(mark);
    memmove(mark, mark + 1, strlen(mark));
    int line = 1, column = 1;
    for (const char* c = text; c < mark; c++) column = *c == '\n' ? line++, 1 : column + 1;
    snprintf(message, sizeof message, "s.json:%d:%d: %s", line, column, cases[i].message);
    tbStatus status = tb_scene_parse(&ctx, "s.json", text, strlen(text), NULL, &s);
    if (status != TB_ERROR_INPUT)
      test_failed(__FILE__, __LINE__, "%s: status %s", cases[i].text, tb_status_name(status));
    else if (strcmp(ctx.error.message, message) != 0)
      test_failed(__FILE__, __LINE__, "%s\n    says %s", cases[i].text, ctx.error.message);
    CHECK(!s.world && !s.name && s.threads == 99); // left alone
    tbSceneErrors errors = tb_scene_errors();
    status = tb_scene_examine_text(&ctx, "s.json", text, strlen(text), NULL, &errors, &s);
    CHECK(status == TB_ERROR_INPUT && !s.world);
    const tbError* e = errors.list.data;
    size_t told = 0;
    for (size_t k = 0; k < errors.list.count; k++) told += strcmp(e[k].message, message) == 0;
    if (told != 1 || errors.list.count > 2) // a key in another's place is unknown, and the other missing
      test_failed(__FILE__, __LINE__, "%s: %zu errors, %zu as expected", cases[i].text, errors.list.count,
                  told);
    tb_scene_errors_free(&ctx, &errors);
    tb_scene_free(&ctx, &s);
  }
}
