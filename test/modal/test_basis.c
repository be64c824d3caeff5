// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "math/eigen.h"
#include "modal/basis.h"

#include <math.h>

static tbFemBody* box(tbContext* ctx, tbVec3 size, int nx, int ny, int nz, double poisson, bool consistent)
{
  tbTetMesh* mesh;
  tbFemBody* fem;
  tbSoftDef def = tb_soft_def();
  def.model = TB_ELASTIC_STVK, def.poisson = poisson, def.consistent_mass = consistent;
  CHECK_OK(ctx, tb_tet_box(ctx, size, (int[3]){nx, ny, nz}, 5, &mesh));
  CHECK_OK(ctx, tb_fem_soft_create(ctx, mesh, &def, (tbFemSprings){0}, &fem));
  tb_tet_mesh_free(ctx, mesh);
  return fem;
}

static double along(const tbModalBasis* b, int mode,
                    int axis) // of the field's square, the part along an axis
{
  double sum = 0, whole = 0;
  for (int i = 0; i < 3 * b->nnode; i++) {
    double u = b->field[(size_t)i * (size_t)b->nmode + (size_t)mode];
    whole += u * u, sum += i % 3 == axis ? u * u : 0;
  }
  return sum / whole;
}

// Euler and Bernoulli's free beam: cos βL cosh βL = 1, ω = β² √(EI/ρA).
LONG_TEST(a_beam_vibrates_as_theory_says)
{
  tbContext ctx = tb_default_context();
  double length = 1, thick = 0.05, speed = sqrt(1e6 / 1000);
  tbFemBody* fem = box(&ctx, tb_vec3(length, 0.005, thick), 160, 1, 8, 0, false);
  tbModalBasis* b;
  CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, 24, false, false, &b));
  double theory[3] = {4.7300407, 7.8532046, 0};
  int found = 0;
  for (int k = 0; k < b->nmode && found < 2; k++) {
    if (along(b, k, 2) < 0.9) continue;
    double beta = theory[found++] / length;
    CHECK_NEAR(sqrt(b->omega2[k]) / (beta * beta * speed * thick / sqrt(12)), 1, 0.02);
  }
  CHECK(found == 2);
  tb_modal_basis_free(&ctx, b);
  tb_fem_free(&ctx, fem);
  fem = box(&ctx, tb_vec3(1, 0.05, 0.05), 40, 1, 1, 0, true); // and its waves along itself
  CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, 30, false, false, &b));
  found = 0;
  for (int k = 0; k < b->nmode; k++)
    if (along(b, k, 0) > 0.99) {
      found++;
      CHECK_NEAR(sqrt(b->omega2[k]) / (M_PI * found * speed), 1, 0.02);
    }
  CHECK(found >= 2);
  tb_modal_basis_free(&ctx, b);
  tb_fem_free(&ctx, fem);
}

// All eigenvalues of the mesh, by a dense decomposition of L⁻¹KL⁻ᵀ, M = LLᵀ.
static void dense_modes(tbContext* ctx, tbFemBody* fem, int* count, double* value)
{
  int n = 3 * fem->nnode, m = 0;
  size_t N = (size_t)n;
  double *K = TB_NEW(ctx, double, (size_t)fem->K.ptr[n]), *A = TB_NEW(ctx, double, N*N);
  double *M = TB_NEW(ctx, double, N*N), *work = TB_NEW(ctx, double, N), *all = TB_NEW(ctx, double, N);
  int* place = TB_NEW(ctx, int, N);
  for (int i = 0; i < n; i++) place[i] = fem->pinned[i / 3] ? -1 : m++;
  tb_fem_evaluate(fem, NULL, fem->rest, TB_TANGENT_POSITIVE, NULL);
  tb_fem_stiffness(fem, NULL, K);
  tbVec3* unit = TB_NEW(ctx, tbVec3, (size_t)fem->nnode);
  for (int i = 0; i < n; i++) {
    if (place[i] < 0) continue;
    for (int k = fem->K.ptr[i]; k < fem->K.ptr[i + 1]; k++)
      if (place[fem->K.idx[k]] >= 0) A[place[i] * m + place[fem->K.idx[k]]] = K[k];
    (&unit[i / 3].x)[i % 3] = 1;
    for (int j = 0; j < n; j++) {
      tbVec3 column = tb_fem_momentum(fem, unit, j / 3);
      if (place[j] >= 0) M[place[j] * m + place[i]] = (&column.x)[j % 3];
    }
    (&unit[i / 3].x)[i % 3] = 0;
  }
  for (int i = 0; i < m; i++) // M = L Lᵀ, and L⁻¹ from both sides
    for (int j = 0; j <= i; j++) {
      for (int k = 0; k < j; k++) M[i * m + j] -= M[i * m + k] * M[j * m + k];
      M[i * m + j] = i == j ? sqrt(M[i * m + i]) : M[i * m + j] / M[j * m + j];
    }
  for (int side = 0; side < 2; side++)
    for (int c = 0; c < m; c++)
      for (int i = 0; i < m; i++) {
        double* at = side ? &A[c * m + i] : &A[i * m + c];
        for (int k = 0; k < i; k++) *at -= M[i * m + k] * (side ? A[c * m + k] : A[k * m + c]);
        *at /= M[i * m + i];
      }
  CHECK(tb_dense_eigen(m, A, all, work));
  for (int i = 0; i < m; i++) value[i] = all[i];
  *count = m;
  tb_free(ctx, K), tb_free(ctx, A), tb_free(ctx, M), tb_free(ctx, work), tb_free(ctx, all);
  tb_free(ctx, place), tb_free(ctx, unit);
}

// A cube has triple eigenvalues; held at a face, double ones. M at the nodes, and consistent.
TEST(modes_are_those_of_the_full_mesh)
{
  tbContext ctx = tb_default_context();
  for (int held = 0; held < 2; held++)
    for (int consistent = 0; consistent < 2; consistent++) {
      tbFemBody* fem = box(&ctx, tb_vec3(1, 1, 1), 2, 2, 2, 0.3, consistent);
      for (int i = 0; held && i < fem->nnode; i++) fem->pinned[i] = fem->rest[i].z < -0.49;
      double value[81];
      int count, rigid = held ? 0 : 6;
      dense_modes(&ctx, fem, &count, value);
      tbModalBasis* b;
      CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, 25, false, false, &b));
      for (int k = 0; k < 25; k++) CHECK_NEAR(b->omega2[k] / value[rigid + k], 1, 1e-9);
      tb_modal_basis_free(&ctx, b);
      CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, count - rigid, false, false, &b)); // all there are
      for (int k = 0; k < b->nmode; k++) CHECK_NEAR(b->omega2[k] / value[rigid + k], 1, 1e-9);
      tb_modal_basis_free(&ctx, b);
      CHECK(tb_modal_basis_create(&ctx, fem, count - rigid + 1, false, false, &b) == TB_ERROR_ARGUMENT);
      tb_fem_free(&ctx, fem);
    }
}

TEST(fields_are_orthonormal_and_hold_no_rigid_motion)
{
  tbContext ctx = tb_default_context();
  tbFemBody* fem = box(&ctx, tb_vec3(1, 0.4, 0.2), 6, 3, 2, 0.3, false);
  for (int derivatives = 0; derivatives < 2; derivatives++) {
    tbModalBasis* b;
    CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, 12, derivatives, false, &b));
    int r = b->nmode;
    CHECK(r == 12);
    for (int k = 0; k < r; k++) {
      tbVec3 shift = tb_zero3(), turn = tb_zero3();
      for (int i = 0; i < b->nnode; i++) {
        const double* row = b->field + 3 * i * r;
        tbVec3 u = tb_scale3(fem->mass[i], tb_vec3(row[k], row[r + k], row[2 * r + k]));
        shift = tb_add3(shift, u), turn = tb_add3(turn, tb_cross3(fem->rest[i], u));
      }
      CHECK(tb_maxabs3(shift) < 1e-12 && tb_maxabs3(turn) < 1e-12);
      for (int l = 0; l < r; l++) CHECK_NEAR(tb_mat3_trace(b->moments.quadratic[k * r + l]), k == l, 1e-12);
    }
    tb_modal_basis_free(&ctx, b);
  }
  tb_fem_free(&ctx, fem);
}

// A body of a millimetre and one of a kilometre have the modes of one of a metre: ω ∝ 1/L, and as many.
TEST(bases_know_no_scale)
{
  tbContext ctx = tb_default_context();
  static const double scales[] = {1, 1e-3, 1e3};
  double first[12];
  for (int k = 0; k < 3; k++)
    for (int derivatives = 0; derivatives < 2; derivatives++) {
      double L = scales[k];
      tbFemBody* fem = box(&ctx, tb_vec3(L, 0.4 * L, 0.2 * L), 4, 2, 2, 0.3, false);
      tbModalBasis* b = NULL;
      CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, 12, derivatives, false, &b));
      REQUIRE(b && b->nmode == 12);
      for (int i = 0; i < 12; i++) {
        if (k == 0 && derivatives == 0) first[i] = b->omega2[i];
        if (derivatives == 0 || i == 0) CHECK_NEAR(b->omega2[i] * L * L / first[i], 1, 1e-6);
      }
      tb_modal_basis_free(&ctx, b);
      tb_fem_free(&ctx, fem);
    }
}

// Energy, forces and stiffness of the polynomial against those of all elements, at strains of some percent.
TEST(reduced_stvk_forces_are_those_of_the_mesh)
{
  tbContext ctx = tb_default_context();
  tbFemBody* fem = box(&ctx, tb_vec3(1, 0.2, 0.2), 8, 2, 2, 0.3, false);
  for (int i = 0; i < fem->nnode; i++) fem->pinned[i] = fem->rest[i].x < -0.49;
  enum { R = 9 };
  tbModalBasis* b;
  CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, R, true, true, &b));
  REQUIRE(b->nmode == R);
  tbRandom random = test_random(3);
  double q[R], f[R], K[R * R], ahead[R], work[3 * R * (R + 1) / 2];
  tbVec3* x = TB_NEW(&ctx, tbVec3, (size_t)fem->nnode);
  double* full = TB_NEW(&ctx, double, 3 * (size_t)fem->nnode);
  for (int k = 0; k < R; k++) q[k] = test_uniform(&random, -0.3, 0.3) * sqrt(b->omega2[0] / b->omega2[k]);
  for (int i = 0; i < fem->nnode; i++) x[i] = tb_add3(fem->rest[i], tb_modal_at(b, i, q));
  double energy = tb_fem_evaluate(fem, NULL, x, TB_TANGENT_NONE, full);
  CHECK_NEAR(tb_polynomial_evaluate(b->polynomial, q, f, K, work) / energy, 1, 1e-10);
  for (int k = 0; k < R; k++) {
    double expected = 0, step = 1e-5;
    for (int i = 0; i < 3 * fem->nnode; i++) expected += b->field[i * R + k] * full[i];
    CHECK_NEAR(f[k], expected, 1e-9 * fabs(energy) * sqrt(b->omega2[R - 1] / b->omega2[0]));
    q[k] += step;
    tb_polynomial_evaluate(b->polynomial, q, ahead, NULL, work);
    q[k] -= step;
    for (int l = 0; l < R; l++) CHECK_NEAR((f[l] - ahead[l]) / step, K[l * R + k], 1e-3 * b->omega2[R - 1]);
  }
  tb_free(&ctx, x), tb_free(&ctx, full);
  tb_modal_basis_free(&ctx, b);
  tb_fem_free(&ctx, fem);
}

LONG_TEST(bases_are_the_same_for_any_number_of_threads)
{
  tbContext ctx = tb_default_context(), four = tb_default_context();
  CHECK_OK(&four, tb_threads_create(&four, 4, &four.threads));
  tbFemBody* fem = box(&ctx, tb_vec3(1, 0.5, 0.5), 8, 4, 4, 0.3, false);
  tbModalBasis *a, *b;
  for (int modes = 12; modes <= 60; modes += 48) { // with the polynomial, and with cubature
    CHECK_OK(&ctx, tb_modal_basis_create(&ctx, fem, modes, true, true, &a));
    CHECK_OK(&four, tb_modal_basis_create(&four, fem, modes, true, true, &b));
    CHECK(!a->cubature == (modes == 12) && tb_modal_basis_same(a, b));
    tb_modal_basis_free(&ctx, a);
    tb_modal_basis_free(&four, b);
  }
  tb_fem_free(&ctx, fem);
  tb_threads_destroy(&four, four.threads);
}
