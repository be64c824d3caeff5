// SPDX-License-Identifier: Apache-2.0
// FCLIB files that lie: a status and a message that names the dataset, never a crash, never a leak.
#include "io/io_test.h"

#ifdef TB_HAVE_HDF5

#include "io/problem/h5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// HDF5 itself loses memory over some damaged object headers: neither its exit handler nor LeakSanitizer need
// tell. That nothing of ours stays open is tested below.
__attribute__((constructor)) static void end_quietly(void) { H5dont_atexit(); }
const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) { return "leak:libhdf5"; }

typedef enum {
  AS_IS,
  MISSING,
  REALS,    // floating point where integers belong
  TEXT,     // a string where numbers belong
  GROUP,    // a group where numbers belong
  SQUARE,   // rank 2
  SHORT,    // the last value missing
  LONG,     // one value more
  SET,      // value[at] = value
  BIG,      // a chunked dataset that claims 2⁴⁰ values
  SOFT,     // a soft link to itself
  EXTERNAL, // a link into another file
  ELSEWHERE // values kept in another file
} Change;

typedef struct {
  const char* path;
  Change change;
  int at;
  double value;
  const char* message;
} Case;

static hid_t space_for(const Case* c, size_t count)
{
  hsize_t size[2] = {count, 1};
  if (c->change == SHORT) size[0]--;
  if (c->change == LONG) size[0]++;
  return H5Screate_simple(c->change == SQUARE ? 2 : 1, size, NULL);
}

static void put_changed(tbH5Writer* h, const Case* c, size_t count, hid_t type, const void* values)
{
  hid_t plist = H5Pcreate(H5P_DATASET_CREATE), space = space_for(c, count), set;
  hsize_t huge = (hsize_t)1 << 40, chunk = 16;
  if (c->change == BIG) {
    H5Sclose(space);
    space = H5Screate_simple(1, &huge, NULL);
    H5Pset_chunk(plist, 1, &chunk);
  }
  if (c->change == ELSEWHERE) H5Pset_external(plist, "/etc/hostname", 0, H5F_UNLIMITED);
  set = H5Dcreate2(h->file, c->path, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  if (c->change != BIG && c->change != ELSEWHERE) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(plist);
}

// Puts numbers, changed as the case says if they are the ones it means.
static void put(tbH5Writer* h, const Case* c, const char* path, bool integers, int count, const double* given)
{
  double reals[64] = {0};
  int ints[64] = {0};
  memcpy(reals, given, (size_t)count * sizeof *reals);
  bool meant = strcmp(path, c->path) == 0;
  if (meant && c->change == SET) reals[c->at] = c->value;
  for (int i = 0; i < count; i++) ints[i] = (int)reals[i];
  if (meant && c->change == REALS) integers = false;
  if (!meant || c->change == SET || c->change == AS_IS || c->change == REALS) {
    if (integers) tb_h5_put_ints(h, path, (size_t)count, ints);
    else tb_h5_put_doubles(h, path, (size_t)count, reals);
    return;
  }
  switch (c->change) {
  case MISSING: break;
  case TEXT: tb_h5_put_text(h, path, "seven"); break;
  case GROUP: tb_h5_put_group(h, path); break;
  case SOFT: H5Lcreate_soft(path, h->file, path, H5P_DEFAULT, H5P_DEFAULT); break;
  case EXTERNAL: H5Lcreate_external("/tmp/other.h5", path, h->file, path, H5P_DEFAULT, H5P_DEFAULT); break;
  default:
    put_changed(h, c, (size_t)count, integers ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE,
                integers ? (void*)ints : (void*)reals);
  }
}

typedef struct {
  const char* path;
  bool integers;
  int count;
  double values[16];
} Item;

// Two contacts in 2-D: W in compressed columns, unsorted.
static const Item local_items[] = {
    {"/fclib_local", false, -1, {0}},
    {"/fclib_local/spacedim", true, 1, {2}},
    {"/fclib_local/W", false, -1, {0}},
    {"/fclib_local/W/nzmax", true, 1, {8}},
    {"/fclib_local/W/m", true, 1, {4}},
    {"/fclib_local/W/n", true, 1, {4}},
    {"/fclib_local/W/nz", true, 1, {-1}},
    {"/fclib_local/W/p", true, 5, {0, 2, 3, 5, 6}},
    {"/fclib_local/W/i", true, 8, {2, 0, 1, 0, 2, 3, 0, 0}},
    {"/fclib_local/W/x", false, 8, {0.5, 2, 2, 0.5, 2, 2, 99, 99}},
    {"/fclib_local/vectors", false, -1, {0}},
    {"/fclib_local/vectors/q", false, 4, {-1, 0.5, -1, 0.25}},
    {"/fclib_local/vectors/mu", false, 2, {0.3, 0.6}},
    {"/guesses", false, -1, {0}},
    {"/guesses/number_of_guesses", true, 1, {1}},
    {"/guesses/1", false, -1, {0}},
    {"/guesses/1/r", false, 4, {1, 0.1, 2, 0.2}},
};

// One contact in 3-D on a particle and a stray degree of freedom; triplets with a duplicate.
static const Item global_items[] = {
    {"/fclib_global", false, -1, {0}},
    {"/fclib_global/spacedim", true, 1, {3}},
    {"/fclib_global/M", false, -1, {0}},
    {"/fclib_global/M/nzmax", true, 1, {5}},
    {"/fclib_global/M/m", true, 1, {4}},
    {"/fclib_global/M/n", true, 1, {4}},
    {"/fclib_global/M/nz", true, 1, {5}},
    {"/fclib_global/M/p", true, 5, {0, 1, 2, 3, 3}},
    {"/fclib_global/M/i", true, 5, {0, 1, 2, 3, 3}},
    {"/fclib_global/M/x", false, 5, {2, 2, 2, 3, 4}},
    {"/fclib_global/H", false, -1, {0}},
    {"/fclib_global/H/nzmax", true, 1, {3}},
    {"/fclib_global/H/m", true, 1, {4}},
    {"/fclib_global/H/n", true, 1, {3}},
    {"/fclib_global/H/nz", true, 1, {-2}},
    {"/fclib_global/H/p", true, 5, {0, 1, 2, 3, 3}},
    {"/fclib_global/H/i", true, 3, {1, 2, 0}},
    {"/fclib_global/H/x", false, 3, {1, 1, 1}},
    {"/fclib_global/vectors", false, -1, {0}},
    {"/fclib_global/vectors/f", false, 4, {0.2, 0, -2, 7}},
    {"/fclib_global/vectors/w", false, 3, {0, 0, 0}},
    {"/fclib_global/vectors/mu", false, 1, {0.5}},
    {"/tribo", false, -1, {0}},
    {"/tribo/blocks", true, 4, {TB_METRIC_PARTICLE, TB_METRIC_DENSE, 3, 1}},
    {"/tribo/v_free", false, 4, {0.1, 0, -1, 1}},
};

static char* make_image(tbContext* ctx, bool global, const Case* c, size_t* length)
{
  const Item* items = global ? global_items : local_items;
  size_t count = global ? sizeof global_items / sizeof *items : sizeof local_items / sizeof *items;
  tbH5Writer h;
  char* bytes = NULL;
  if (tb_h5_create(ctx, &h) != TB_OK) return NULL;
  const char* skipped = NULL;
  for (size_t i = 0; i < count; i++) {
    if (skipped && strncmp(items[i].path, skipped, strlen(skipped)) == 0) continue;
    bool missing = strcmp(items[i].path, c->path) == 0 && c->change == MISSING;
    if (items[i].count >= 0) put(&h, c, items[i].path, items[i].integers, items[i].count, items[i].values);
    else if (missing) skipped = items[i].path;
    else tb_h5_put_group(&h, items[i].path);
  }
  h.failed = false;
  tb_h5_finish(&h, &bytes, length);
  return bytes;
}

static void check_case(bool global, const Case* c)
{
  tbFailingAllocator memory = {.countdown = -1};
  tbContext ctx = test_failing_context(&memory);
  size_t length = 0;
  char* bytes = make_image(&ctx, global, c, &length);
  REQUIRE(bytes);
  tbProblem* p = NULL;
  double* guess = NULL;
  tbStatus status = tb_problem_parse(&ctx, "f.hdf5", bytes, length, &p, &guess);
  if (!c->message) {
    if (status != TB_OK) test_failed(__FILE__, __LINE__, "%s: %s", c->path, ctx.error.message);
  } else {
    if (status != TB_ERROR_INPUT && status != TB_ERROR_NUMERIC)
      test_failed(__FILE__, __LINE__, "%s change %d: %s", c->path, c->change, tb_status_name(status));
    if (strncmp(ctx.error.message, "f.hdf5: ", 8) != 0 ||
        strncmp(ctx.error.message + 8, c->message, strlen(c->message)) != 0)
      test_failed(__FILE__, __LINE__, "%s change %d: %s", c->path, c->change, ctx.error.message);
    CHECK(p == NULL && guess == NULL);
  }
  tb_guess_free(&ctx, guess);
  tb_problem_free(p);
  tb_free(&ctx, bytes);
  CHECK(memory.alive == 0);
}

TEST(fclib_lies_are_named_in_local_files)
{
#define W "/fclib_local/W/"
#define V "/fclib_local/vectors/"
  static const Case cases[] = {
      {"", AS_IS, 0, 0, NULL},
      {"/fclib_local", MISSING, 0, 0, "an HDF5 file, but without /fclib_local or /fclib_global"},
      {"/fclib_local/spacedim", SET, 0, 4, "/fclib_local/spacedim = 4; it must be 2 or 3"},
      {"/fclib_local/spacedim", SET, 0, 3, V "q has 4 values, not a multiple of spacedim = 3"},
      {"/fclib_local/spacedim", MISSING, 0, 0, "/fclib_local/spacedim is missing"},
      {"/fclib_local/spacedim", LONG, 0, 0, "/fclib_local/spacedim holds 2 values; expected one integer"},
      {"/fclib_local/W", MISSING, 0, 0, W "m is missing"},
      {W "m", REALS, 0, 0, W "m does not hold integers"},
      {W "m", TEXT, 0, 0, W "m does not hold integers"},
      {W "m", GROUP, 0, 0, W "m is not a dataset"},
      {W "m", SET, 0, -1, "/fclib_local/W is -1 × 4, but the vectors call for 4 × 4"},
      {W "m", SET, 0, 2147483647, "/fclib_local/W is 2147483647 × 4, but"},
      {W "n", SET, 0, 5, "/fclib_local/W is 4 × 5, but the vectors call for 4 × 4"},
      {W "nz", SET, 0, -3, W "nz = -3; it is a number of triplets"},
      {W "nz", SET, 0, 2147483647, W "nz = 2147483647, but p, i or x have only 5 values"},
      {W "nz", SET, 0, 6, W "nz = 6, but p, i or x have only 5 values"},
      {W "nz", SET, 0, 5, W "p[3] = 5 is out of range (4 columns)"}, // read as triplets
      {W "nz", SET, 0, -2, NULL},                                    // W is symmetric: rows or columns
      {W "nzmax", SET, 0, -7, NULL},
      {W "p", SHORT, 0, 0, W "p has 4 values, expected 5"},
      {W "p", LONG, 0, 0, W "p has 6 values, expected 5"},
      {W "p", SET, 0, 1, W "p[0] = 1; starts must begin at 0"},
      {W "p", SET, 2, 1, W "p[2] = 1; starts must begin at 0 and not decrease"},
      {W "p", SET, 4, 9, W "i has 8 values, but p calls for 9"},
      {W "p", SET, 4, 2147483647, W "i has 8 values, but p calls for 2147483647"},
      {W "p", SET, 2, -5, W "p[2] = -5; starts"},
      {W "p", SQUARE, 0, 0, W "p has rank 2; expected a plain list of numbers"},
      {W "i", SET, 4, 900, W "i[4] = 900 is out of range (4 rows)"},
      {W "i", SET, 0, -1, W "i[0] = -1 is out of range (4 rows)"},
      {W "i", SET, 7, 900, NULL}, // behind the last entry
      {W "i", REALS, 0, 0, W "i does not hold integers"},
      {W "i", SOFT, 0, 0, W "i is a soft or external link"},
      {W "i", EXTERNAL, 0, 0, W "i is a soft or external link"},
      {W "i", ELSEWHERE, 0, 0, W "i keeps its values outside the file"},
      {W "i", BIG, 0, 0, W "i claims 1099511627776 values, more than the file can hold"},
      {W "x", BIG, 0, 0, W "x claims 1099511627776 values, more than the file can hold"},
      {W "x", TEXT, 0, 0, W "x has 1 values, but p calls for 6"},
      {W "x", SQUARE, 0, 0, W "x has rank 2"},
      {W "x", SET, 3, NAN, W "x[3] is nan; it must be finite"},
      {W "x", SET, 3, INFINITY, W "x[3] is inf; it must be finite"},
      {V "q", SHORT, 0, 0, V "q has 3 values, not a multiple of spacedim = 2"},
      {V "q", SET, 1, NAN, V "q[1] is nan; it must be finite"},
      {V "mu", SHORT, 0, 0, V "mu has 1 values, expected 2"},
      {V "mu", SET, 1, -0.5, "contact 1: parameter 0 of law coulomb is -0.5"},
      {V "mu", MISSING, 0, 0, V "mu is missing"},
      {"/fclib_local/vectors", MISSING, 0, 0, V "q is missing"},
      {"/guesses/number_of_guesses", SET, 0, 0, NULL},
      {"/guesses/number_of_guesses", SET, 0, -1, NULL},
      {"/guesses", MISSING, 0, 0, NULL},
      {"/guesses/1", MISSING, 0, 0, "/guesses/1/r is missing"},
      {"/guesses/1/r", LONG, 0, 0, "/guesses/1/r has 5 values, expected 4"},
      {"/guesses/1/r", SET, 2, NAN, "/guesses/1/r[2] is nan"},
  };
#undef W
#undef V
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(false, &cases[i]);
}

TEST(fclib_lies_are_named_in_global_files)
{
#define M "/fclib_global/M/"
#define H "/fclib_global/H/"
  static const Case cases[] = {
      {"", AS_IS, 0, 0, NULL},
      {M "m", SET, 0, 5, "/fclib_global/M is 5 × 4, but the vectors call for 4 × 4"},
      {M "x", SET, 0, -2, "/tribo/blocks: entry 0 is a particle, but M is no multiple of the identity there"},
      {M "x", SET, 3, -5, "metric block 1 is not positive definite (row 0)"},
      {M "i", SET, 0, 3, "/tribo/blocks: M has an entry at (0, 3), between two blocks"}, // mirrored
      {M "i", SET, 0, 4, M "i[0] = 4 is out of range (4 rows)"},
      {M "p", SET, 0, 4, M "p[0] = 4 is out of range (4 columns)"},
      {H "i", SET, 1, 3, H "i[1] = 3 is out of range (3 columns)"},
      {H "n", SET, 0, 4, "/fclib_global/H is 4 × 4, but the vectors call for 4 × 3"},
      {"/fclib_global/vectors/f", SHORT, 0, 0, "/fclib_global/M is 4 × 4, but the vectors call for 3 × 3"},
      {"/fclib_global/vectors/f", MISSING, 0, 0, "/fclib_global/vectors/f is missing"},
      {"/fclib_global/vectors/f", SET, 0, 1e300, NULL}, // v_free does not fit f, so it is solved for
      {"/tribo", MISSING, 0, 0, NULL},
      {"/tribo/v_free", MISSING, 0, 0, NULL},
      {"/tribo/v_free", SHORT, 0, 0, "/tribo/v_free has 3 values, expected 4"},
      {"/tribo/blocks", SHORT, 0, 0, "/tribo/blocks has 3 values for 4 degrees of freedom"},
      {"/tribo/blocks", SET, 0, 7, "/tribo/blocks: entry 0, kind 7 of size 3, does not fit"},
      {"/tribo/blocks", SET, 3, 2147483647,
       "/tribo/blocks: entry 1, kind 1 of size 2147483647, does not fit"},
      {"/tribo/blocks", SET, 2, 2, "/tribo/blocks: the sizes add up to 3, but M has 4 rows"},
  };
#undef M
#undef H
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(true, &cases[i]);
}

// Compressed rows without indices: a full matrix.
TEST(fclib_reads_dense_matrices_in_disguise)
{
  for (int variant = 0; variant < 4; variant++) {
    tbContext ctx = tb_default_context();
    tbH5Writer h;
    bool by_column = variant % 2, no_starts = variant / 2;
    int two = 2, nz = by_column ? -1 : -2, four = 4, p[3] = {0, no_starts ? 0 : 2, 0}, i[4] = {0, 0, 0, 0};
    double x[4] = {1, 2, 3, 4}, q[2] = {-1, 0}, mu = 0.5;
    REQUIRE(tb_h5_create(&ctx, &h) == TB_OK);
    tb_h5_put_group(&h, "/fclib_local");
    tb_h5_put_group(&h, "/fclib_local/W");
    tb_h5_put_group(&h, "/fclib_local/vectors");
    tb_h5_put_ints(&h, "/fclib_local/spacedim", 1, &two);
    tb_h5_put_ints(&h, "/fclib_local/W/m", 1, &two);
    tb_h5_put_ints(&h, "/fclib_local/W/n", 1, &two);
    tb_h5_put_ints(&h, "/fclib_local/W/nz", 1, &nz);
    tb_h5_put_ints(&h, "/fclib_local/W/nzmax", 1, &four);
    tb_h5_put_ints(&h, "/fclib_local/W/p", 3, p);
    tb_h5_put_ints(&h, "/fclib_local/W/i", 4, i);
    tb_h5_put_doubles(&h, "/fclib_local/W/x", 4, x);
    tb_h5_put_doubles(&h, "/fclib_local/vectors/q", 2, q);
    tb_h5_put_doubles(&h, "/fclib_local/vectors/mu", 1, &mu);
    char* bytes = NULL;
    size_t length;
    CHECK_OK(&ctx, tb_h5_finish(&h, &bytes, &length));
    REQUIRE(bytes);
    tbProblem* problem = NULL;
    double* guess = NULL;
    CHECK_OK(&ctx, tb_problem_parse(&ctx, "dense.hdf5", bytes, length, &problem, &guess));
    if (problem) CHECK(problem->W_ptr[2] == 4 && problem->W_val[1] == (by_column ? 3 : 2));
    tb_problem_free(problem);
    tb_free(&ctx, bytes);
  }
}

// Damage all over: the file cut short at many lengths, many bytes changed in turn.
TEST(fclib_survives_truncated_and_damaged_files)
{
  static const Case as_is = {"", AS_IS, 0, 0, NULL};
  for (int global = 0; global < 2; global++) {
    tbFailingAllocator memory = {.countdown = -1};
    tbContext ctx = test_failing_context(&memory);
    size_t length = 0;
    char* bytes = make_image(&ctx, global, &as_is, &length);
    REQUIRE(bytes);
    for (size_t at = 0; at < length; at += 151) {
      char* cut = malloc(at ? at : 1);
      memcpy(cut, bytes, at);
      tbProblem* p = NULL;
      double* guess = NULL;
      CHECK(tb_problem_parse(&ctx, "cut.hdf5", cut, at, &p, &guess) != TB_OK && !p && !guess);
      free(cut);
    }
    for (size_t at = 8 + (size_t)global; at < length; at += 47) {
      tbProblem* p = NULL;
      double* guess = NULL;
      bytes[at] ^= (char)(at % 2 ? 0xff : 1 << at % 8);
      tbStatus status = tb_problem_parse(&ctx, "damaged.hdf5", bytes, length, &p, &guess);
      CHECK((status == TB_OK) == (p != NULL));
      tb_guess_free(&ctx, guess);
      tb_problem_free(p);
      bytes[at] ^= (char)(at % 2 ? 0xff : 1 << at % 8);
    }
    tb_free(&ctx, bytes);
    CHECK(memory.alive == 0);
  }
}

static herr_t count_errors(hid_t stack, void* user)
{
  (void)stack;
  ++*(int*)user;
  return 0;
}

TEST(fclib_reading_leaves_the_callers_error_handler_alone)
{
  H5E_auto2_t before;
  void* before_user;
  int errors = 0;
  tbContext ctx = tb_default_context();
  tbProblem* p = NULL;
  double* guess = NULL;
  static const char bytes[64] = "\x89HDF\r\n\x1a\n";
  H5Eget_auto2(H5E_DEFAULT, &before, &before_user);
  H5Eset_auto2(H5E_DEFAULT, count_errors, &errors);
  CHECK(tb_problem_parse(&ctx, "p.hdf5", bytes, sizeof bytes, &p, &guess) == TB_ERROR_INPUT);
  CHECK(errors == 0);
  CHECK(H5Gopen2(-1, "/", H5P_DEFAULT) < 0);
  CHECK(errors == 1);
  H5Eset_auto2(H5E_DEFAULT, before, before_user);
  CHECK(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0); // nothing stays open
}

#endif
