// SPDX-License-Identifier: Apache-2.0
// FCLIB files against an independent reading of them.
#include "io/io_test.h"

#include <string.h>

#ifdef TB_HAVE_HDF5

#include <dirent.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>

// ---- a reader of its own, for files that are known to be good ----

static void* read_all(hid_t file, const char* root, const char* name, hid_t type, size_t item, int* count)
{
  char path[200];
  snprintf(path, sizeof path, "%s/%s", root, name);
  hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
  *count = (int)H5Sget_simple_extent_npoints(space);
  void* values = malloc((size_t)*count * item + 1);
  if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) *count = 0;
  H5Sclose(space);
  H5Dclose(set);
  return values;
}

static double* reals(hid_t file, const char* root, const char* name, int* count)
{
  return read_all(file, root, name, H5T_NATIVE_DOUBLE, sizeof(double), count);
}

static int whole(hid_t file, const char* root, const char* matrix, const char* name)
{
  char path[64];
  int count;
  snprintf(path, sizeof path, "%s%s%s", matrix, *matrix ? "/" : "", name);
  int *values = read_all(file, root, path, H5T_NATIVE_INT, sizeof(int), &count), value = values[0];
  free(values);
  return value;
}

// Dense and row-major, whatever the encoding.
static long double* dense(hid_t file, const char* root, const char* name, int* m, int* n)
{
  char path[64];
  int np, ni, nx, nz = whole(file, root, name, "nz");
  *m = whole(file, root, name, "m"), *n = whole(file, root, name, "n");
  snprintf(path, sizeof path, "%s/p", name);
  int* p = read_all(file, root, path, H5T_NATIVE_INT, sizeof(int), &np);
  snprintf(path, sizeof path, "%s/i", name);
  int* i = read_all(file, root, path, H5T_NATIVE_INT, sizeof(int), &ni);
  snprintf(path, sizeof path, "%s/x", name);
  double* x = reals(file, root, path, &nx);
  long double* A = calloc((size_t)*m * (size_t)*n, sizeof *A);
  for (int k = 0; k < nz; k++) A[i[k] * *n + p[k]] += x[k];
  for (int c = 0; nz == -1 && c < *n; c++)
    for (int k = p[c]; k < p[c + 1]; k++) A[i[k] * *n + c] += x[k];
  for (int r = 0; nz == -2 && r < *m; r++)
    for (int k = p[r]; k < p[r + 1]; k++) A[r * *n + i[k]] += x[k];
  free(p), free(i), free(x);
  return A;
}

// b ← A⁻¹ b by elimination in extended precision; rows of zeros are skipped.
static void eliminate(int n, long double* A, long double* b)
{
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      long double factor = A[i * n + k] / A[k * n + k];
      if (factor == 0) continue;
      for (int j = k; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
      b[i] -= factor * b[k];
    }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) b[i] -= A[i * n + j] * b[j];
    b[i] /= A[i * n + i];
  }
}

static long double* global_q(hid_t file, const char* root, int* rows)
{
  int n, m, count;
  long double *M = dense(file, root, "M", &n, &n), *H = dense(file, root, "H", &m, rows);
  long double *v = calloc((size_t)n, sizeof *v), *q = calloc((size_t)*rows, sizeof *q);
  double *f = reals(file, root, "vectors/f", &count), *w = reals(file, root, "vectors/w", &count);
  bool lower = false;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) lower |= M[i * n + j] != 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; !lower && j < i; j++) M[i * n + j] = M[j * n + i];
  for (int i = 0; i < n; i++) v[i] = f[i];
  eliminate(n, M, v);
  for (int r = 0; r < *rows; r++) {
    q[r] = w[r];
    for (int d = 0; d < n; d++) q[r] += H[d * *rows + r] * v[d];
  }
  free(M), free(H), free(v), free(f), free(w);
  return q;
}

// ‖P_K(−û)‖ over all contacts at λ = 0, û = q + μ‖q_T‖ n.
static long double error_at_rest(int contacts, int dim, const double* mu, const long double* q)
{
  long double squares = 0;
  for (int k = 0; k < contacts; k++, q += dim) {
    long double slide = fabsl(q[1]);
    if (dim == 3) slide = sqrtl(q[1] * q[1] + q[2] * q[2]);
    long double zn = -(q[0] + mu[k] * slide);
    if (slide <= mu[k] * zn) squares += zn * zn + slide * slide;
    else if (mu[k] * slide > -zn) {
      long double along = (zn + mu[k] * slide) / sqrtl(1 + (long double)mu[k] * mu[k]);
      squares += along * along;
    }
  }
  return sqrtl(squares);
}

static void check_file(const char* path)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = NULL;
  double* guess = NULL;
  CHECK_OK(&ctx, tb_problem_load(&ctx, path, &p, &guess));
  if (!p) return;
  tbResidual r = io_judge(&ctx, p, 0);

  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  bool global = H5Lexists(file, "/fclib_global", H5P_DEFAULT) > 0;
  const char* root = global ? "/fclib_global" : "/fclib_local";
  int rows, contacts;
  long double* q;
  if (global) {
    q = global_q(file, root, &rows);
  } else {
    double* given = reals(file, root, "vectors/q", &rows);
    q = calloc((size_t)(rows > 0 ? rows : 1), sizeof *q);
    for (int i = 0; i < rows; i++) q[i] = given[i];
    free(given);
  }
  double* mu = reals(file, root, "vectors/mu", &contacts);
  int dim = whole(file, root, "", "spacedim");
  CHECK(p->nrow == rows && p->ncontact == contacts && !p->W_ptr == global);
  double E = (double)error_at_rest(contacts, dim, mu, q);
  if (!(fabs(r.absolute - E) <= 1e-12 * E))
    test_failed(__FILE__, __LINE__, "%s: E = %.17g, expected %.17g", path, r.absolute, E);
  CHECK(!guess == !(H5Lexists(file, "/guesses", H5P_DEFAULT) > 0));
  H5Fclose(file);
  free(q), free(mu);

  // Written and read again, the judge finds the same bits.
  const char* copy = io_temp("copy.hdf5");
  tbProblem* again = NULL;
  double* guess_again = NULL;
  CHECK_OK(&ctx, tb_problem_save_fclib(&ctx, copy, p, guess));
  CHECK_OK(&ctx, tb_problem_load(&ctx, copy, &again, &guess_again));
  for (uint64_t seed = 0; again && seed < 3; seed++) {
    tbResidual a = io_judge(&ctx, p, seed), b = io_judge(&ctx, again, seed);
    if (memcmp(&a, &b, sizeof a) != 0)
      test_failed(__FILE__, __LINE__, "%s: %.17g becomes %.17g", path, a.fclib, b.fclib);
  }
  CHECK(!guess == !guess_again);
  if (guess && guess_again) CHECK(memcmp(guess, guess_again, (size_t)p->nrow * sizeof *guess) == 0);
  tb_guess_free(&ctx, guess), tb_guess_free(&ctx, guess_again);
  tb_problem_free(p), tb_problem_free(again);
}

LONG_TEST(fclib_every_shared_file_agrees_with_an_independent_reading)
{
  if (!test_shared_folder()) SKIP("no shared/fclib beside the checkout");
  char folder[400], path[800];
  int count = 0;
  snprintf(folder, sizeof folder, "%s/fclib", test_shared_folder());
  DIR* listing = opendir(folder);
  if (!listing) SKIP("no %s", folder);
  for (const struct dirent* e; (e = readdir(listing));) {
    if (!strstr(e->d_name, ".hdf5")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    check_file(path);
    count++;
  }
  closedir(listing);
  CHECK(count >= 42);
}

TEST(fclib_finds_the_bodies_of_a_diagonal_mass_matrix)
{
  if (!test_shared_folder()) SKIP("no shared/fclib beside the checkout");
  char path[600];
  tbContext ctx = tb_default_context();
  tbProblem* p = NULL;
  snprintf(path, sizeof path, "%s/fclib/Box_Stacks-i0122-82-5.hdf5", test_shared_folder());
  CHECK_OK(&ctx, tb_problem_load(&ctx, path, &p, NULL));
  REQUIRE(p);
  CHECK(p->nblock == 75 && p->ndof == 450); // six degrees of freedom each
  tb_problem_free(p);
}

// Texts are stored whole, with their end, whatever their length: other programs read them as C strings.
TEST(fclib_files_hold_their_texts_whole)
{
  static const char* const names[] = {"", "a", "seven-t", "a stack of ten bricks, each a little to the left"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = io_spec(1);
    spec.all_laws = spec.compliant = false;
    tbProblem *p = NULL, *again = NULL;
    double* lambda = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    tbProblem named = *p;
    named.name = (char*)names[i];
    const char* path = io_temp("named.hdf5");
    CHECK_OK(&ctx, tb_problem_save_fclib(&ctx, path, &named, NULL));
    const char* const texts[][2] = {
        {"title", names[i]}, {"description", "written by Tribo " TB_VERSION}, {"math_info", "unknown"}};
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const char* root = H5Lexists(file, "/fclib_global", H5P_DEFAULT) > 0 ? "/fclib_global" : "/fclib_local";
    for (int k = 0; k < 3; k++) {
      char at[64], text[200] = {0};
      snprintf(at, sizeof at, "%s/info/%s", root, texts[k][0]);
      hid_t set = H5Dopen2(file, at, H5P_DEFAULT), type = H5Dget_type(set);
      CHECK(H5Tget_class(type) == H5T_STRING && H5Tget_size(type) == strlen(texts[k][1]) + 1);
      CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
      if (strcmp(text, texts[k][1]) != 0)
        test_failed(__FILE__, __LINE__, "%s: \"%s\" instead of \"%s\"", at, text, texts[k][1]);
      H5Tclose(type), H5Dclose(set);
    }
    H5Fclose(file);
    CHECK_OK(&ctx, tb_problem_load(&ctx, path, &again, NULL));
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p), tb_problem_free(again);
  }
}

TEST(fclib_round_trip_of_manufactured_problems)
{
  for (int seed = 0; seed < 60; seed++) {
    tbContext ctx = tb_default_context();
    tbManufacture spec = io_spec(seed);
    spec.all_laws = spec.compliant = false;
    tbProblem *p = NULL, *again = NULL;
    double *lambda = NULL, *guess = NULL;
    REQUIRE(tb_problem_manufacture(&ctx, &spec, &p, &lambda) == TB_OK);
    const char* path = io_temp("manufactured.hdf5");
    CHECK_OK(&ctx, tb_problem_save_fclib(&ctx, path, p, lambda));
    CHECK_OK(&ctx, tb_problem_load(&ctx, path, &again, &guess));
    REQUIRE(again && guess);
    CHECK(again->nblock == p->nblock && again->ndof == p->ndof);
    CHECK(memcmp(again->v_free, p->v_free, (size_t)p->ndof * sizeof(double)) == 0);
    CHECK(memcmp(guess, lambda, (size_t)p->nrow * sizeof *guess) == 0);
    tbResidual a = io_judge(&ctx, p, 5), b = io_judge(&ctx, again, 5);
    CHECK_NEAR(b.absolute, a.absolute, 1e-12 * a.absolute); // column blocks come back sorted: sums may round
    tb_guess_free(&ctx, guess);
    tb_manufacture_free(&ctx, lambda);
    tb_problem_free(p), tb_problem_free(again);
  }
}

// Two contacts around two joint rows, on particles or with W.
static tbProblem* with_joints(tbContext* ctx, bool explicit_W, tbLaw law, int rows)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  if (tb_builder_create(ctx, "joints", &b) != TB_OK) return NULL;
  double v[3] = {0.1, 0.2, -1}, param[2] = {0.4, 0.2}, J[15], bias[5] = {-1, 0.5, 0.25, 0.1, -0.1};
  int n = 2 * rows + 2, ptr[20] = {0}, col[400];
  double val[400];
  for (int i = 0, e = 0; i < n; i++) {
    for (int j = 0; j < n; j++, e++) col[e] = j, val[e] = i == j ? 4 : 0.1 / (1 + i + j);
    ptr[i + 1] = e;
  }
  if (explicit_W) tb_builder_explicit(b, n, ptr, col, val);
  for (int i = 0; !explicit_W && i < 3; i++) tb_builder_particle(b, 3, 1 + i, v, NULL);
  for (int k = 0; k < 3; k++) {
    bool joint = k == 1;
    int size = joint ? 2 : rows;
    tb_builder_contact(b, joint ? TB_LAW_BILATERAL : law, size, joint ? NULL : param, bias, NULL);
    for (int i = 0; i < 3 * size; i++) J[i] = sin(1 + i + 7 * k);
    if (!explicit_W) tb_builder_jacobian(b, 3 * k, 3, J);
  }
  tb_builder_finish(b, &p);
  return p;
}

TEST(fclib_keeps_joints_behind_the_contacts)
{
  for (int variant = 0; variant < 6; variant++) {
    tbContext ctx = tb_default_context();
    bool rolling = variant / 2 == 2;
    int rows = rolling ? 5 : variant / 2 == 1 ? 2 : 3;
    tbProblem *p = with_joints(&ctx, variant % 2, rolling ? TB_LAW_ROLLING : TB_LAW_COULOMB, rows),
              *again = NULL;
    REQUIRE(p);
    double lambda[12], *moved = NULL;
    for (int i = 0; i < p->nrow; i++) lambda[i] = cos(1 + i);
    const char* path = io_temp("joints.hdf5");
    CHECK_OK(&ctx, tb_problem_save_fclib(&ctx, path, p, lambda));
    CHECK_OK(&ctx, tb_problem_load(&ctx, path, &again, &moved));
    REQUIRE(again && moved);
    CHECK(again->ncontact == 4 && again->nrow == p->nrow);
    CHECK(again->law[0] == p->law[0] && again->law[2] == TB_LAW_BILATERAL &&
          again->law[3] == TB_LAW_BILATERAL);
    CHECK(memcmp(again->param, p->param, (size_t)(rolling ? 4 : 2) * sizeof(double)) == 0);
    CHECK(moved[2 * rows] == lambda[rows] && moved[rows] == lambda[rows + 2]);
    tbJudge *before = NULL, *after = NULL;
    tbResidual a, b;
    REQUIRE(tb_judge_create(&ctx, p, &before) == TB_OK && tb_judge_create(&ctx, again, &after) == TB_OK);
    tb_judge_measure(before, lambda, TB_MODEL_CONE, 8, &a, NULL, NULL);
    tb_judge_measure(after, moved, TB_MODEL_CONE, 8, &b, NULL, NULL);
    CHECK_NEAR(b.absolute, a.absolute, 1e-14 * a.absolute);
    CHECK(a.absolute > 0.1);
    tb_judge_free(&ctx, before), tb_judge_free(&ctx, after);
    tb_guess_free(&ctx, moved);
    tb_problem_free(p), tb_problem_free(again);
  }
}

TEST(fclib_refuses_what_it_has_no_place_for)
{
  static const struct {
    tbLaw law;
    int rows;
  } others[] = {
      {TB_LAW_NONNEG, 3}, {TB_LAW_BOX, 1}, {TB_LAW_ELLIPTIC, 3}, {TB_LAW_ROLLING, 6}, {TB_LAW_COULOMB, 2}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    tbContext ctx = tb_default_context();
    tbBuilder* b = NULL;
    tbProblem* p = NULL;
    double param[12] = {0.5, 0.5, 3}, v[3] = {0};
    REQUIRE(tb_builder_create(&ctx, "other", &b) == TB_OK);
    tb_builder_particle(b, 3, 1, v, NULL);
    tb_builder_contact(b, TB_LAW_COULOMB, 3, param, NULL, NULL);
    tb_builder_contact(b, others[i].law, others[i].rows, param, NULL, NULL);
    CHECK_OK(&ctx, tb_builder_finish(b, &p));
    int files = io_count_files(io_temp_folder());
    CHECK(tb_problem_save_fclib(&ctx, io_temp("refused.hdf5"), p, NULL) == TB_ERROR_UNSUPPORTED);
    CHECK(strncmp(ctx.error.message, "contact 1: ", 11) == 0);
    CHECK(strstr(ctx.error.message, tb_law_name(others[i].law)));
    CHECK(io_count_files(io_temp_folder()) == files);
    tb_problem_free(p);
  }
}

static uint64_t hash_file(const char* path)
{
  FILE* file = fopen(path, "rb");
  if (!file) return 0;
  static char bytes[1 << 20];
  size_t length = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return test_hash(bytes, length);
}

TEST(fclib_writes_the_same_bytes_every_time)
{
  tbContext ctx = tb_default_context();
  for (int variant = 0; variant < 2; variant++) {
    tbProblem* p = with_joints(&ctx, variant, TB_LAW_COULOMB, 3);
    REQUIRE(p);
    CHECK_OK(&ctx, tb_problem_save_fclib(&ctx, io_temp("first.hdf5"), p, NULL));
    uint64_t first = hash_file(io_temp("first.hdf5"));
    CHECK_OK(&ctx, tb_problem_save_fclib(&ctx, io_temp("second.hdf5"), p, NULL));
    CHECK(first && first == hash_file(io_temp("second.hdf5")));
    tb_problem_free(p);
  }
}

TEST(fclib_survives_every_failed_allocation)
{
  for (int variant = 0; variant < 2; variant++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = with_joints(&ctx, variant, TB_LAW_COULOMB, 3);
    REQUIRE(p);
    double lambda[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    CHECK_OK(&ctx, tb_problem_save_fclib(&ctx, io_temp("starved.hdf5"), p, lambda));
    long k = 0;
    for (tbStatus status = TB_ERROR_MEMORY; status != TB_OK; k++) {
      tbFailingAllocator memory = {.countdown = k};
      tbContext poor = test_failing_context(&memory);
      tbProblem* again = NULL;
      double* guess = NULL;
      status = tb_problem_load(&poor, io_temp("starved.hdf5"), &again, &guess);
      CHECK(status == TB_OK || (status == TB_ERROR_MEMORY && !again && !guess));
      if (status == TB_OK) status = tb_problem_save_fclib(&poor, io_temp("starved2.hdf5"), again, guess);
      CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
      tb_guess_free(&poor, guess);
      tb_problem_free(again);
      if (memory.alive) test_failed(__FILE__, __LINE__, "allocation %ld: %ld blocks leak", k, memory.alive);
      REQUIRE(k < 2000);
    }
    CHECK(k > 20);
    tb_problem_free(p);
  }
}

#else

TEST(fclib_reads_plain_files_without_hdf5_and_writes_none)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = NULL;
  double* guess = NULL;
  CHECK(!tb_have_fclib());
  CHECK_OK(&ctx,
           tb_problem_load(&ctx, TB_SOURCE_FOLDER "/test/fuzz/corpus/problem_fclib/global", &p, &guess));
  REQUIRE(p && guess);
  CHECK(p->nblock == 2 && p->ncontact == 2 && guess[3] == 4);
  CHECK(tb_problem_save_fclib(&ctx, "/tmp/never.hdf5", p, NULL) == TB_ERROR_UNSUPPORTED);
  CHECK(strstr(ctx.error.message, "libhdf5-dev"));
  tb_guess_free(&ctx, guess);
  tb_problem_free(p);
}

#endif
