// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include "base/file.h"
#include "tribo/io.h"
#include "tribo/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static tbProblem* generate(tbContext* ctx, tbGenerateKind kind, int size, double mass_ratio)
{
  tbGenerate spec = tb_default_generate(kind);
  tbProblem* p = NULL;
  if (size) spec.size = size;
  spec.mass_ratio = mass_ratio;
  CHECK_OK(ctx, tb_problem_generate(ctx, &spec, &p));
  return p;
}

TEST(generated_structures_have_the_bodies_and_contacts_they_should)
{
  static const struct {
    tbGenerateKind kind;
    int size, bodies, contacts;
  } known[] = {
      {TB_GENERATE_STACK, 1, 1, 4},
      {TB_GENERATE_STACK, 7, 7, 28},
      {TB_GENERATE_WALL, 1, 1, 4},
      {TB_GENERATE_WALL, 3, 10, 60}, // 3 on the ground, then 6 shared faces under and 6 over the middle
                                     // course
      {TB_GENERATE_PYRAMID, 1, 1, 4},
      {TB_GENERATE_PYRAMID, 4, 10, 64},
      {TB_GENERATE_ARCH, 9, 9, 40},
      {TB_GENERATE_CARDS, 1, 2, 6},
      {TB_GENERATE_CARDS, 2, 7, 22},
      {TB_GENERATE_PILE, 1, 1, 4},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = generate(&ctx, known[i].kind, known[i].size, 1);
    REQUIRE(p);
    if (p->ndof != 6 * known[i].bodies || p->ncontact != known[i].contacts)
      test_failed(__FILE__, __LINE__, "%s of %d: %d dofs, %d contacts", p->name, known[i].size, p->ndof,
                  p->ncontact);
    tb_problem_free(p);
  }
}

// What stands at rest must be able to stand: the judge is satisfied by impulses that leave no body moving.
TEST(generated_structures_stand)
{
  static const struct {
    tbGenerateKind kind;
    int size;
  } standing[] = {{TB_GENERATE_STACK, 5},
                  {TB_GENERATE_WALL, 4},
                  {TB_GENERATE_PYRAMID, 4},
                  {TB_GENERATE_ARCH, 11},
                  {TB_GENERATE_CARDS, 3}};
  for (size_t i = 0; i < sizeof standing / sizeof *standing; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = generate(&ctx, standing[i].kind, standing[i].size, 1);
    REQUIRE(p);
    double *lambda = calloc((size_t)p->nrow, sizeof *lambda), *v = calloc((size_t)p->ndof, sizeof *v),
           worst = 0;
    tbSolveOptions o = tb_default_solve_options();
    tbSolveResult r = {0};
    tbJudge* judge = NULL;
    tbResidual residual;
    o.solver = "nncg";
    o.tolerance = 1e-9;
    CHECK_OK(&ctx, tb_solve(&ctx, p, &o, lambda, &r));
    CHECK_OK(&ctx, tb_judge_create(&ctx, p, &judge));
    tb_judge_measure(judge, lambda, TB_MODEL_CONE, 8, &residual, NULL, v);
    for (int j = 0; j < p->ndof; j++) worst = v[j] > worst ? v[j] : -v[j] > worst ? -v[j] : worst;
    if (r.outcome != TB_CONVERGED || worst > 1e-6)
      test_failed(__FILE__, __LINE__, "%s: %s, moves by %g", p->name, tb_outcome_name(r.outcome), worst);
    tb_judge_free(&ctx, judge);
    free(lambda), free(v);
    tb_problem_free(p);
  }
}

// Edges of the box that has a 6×6 metric block, and the angle about y that it is turned by: x′ = c x − s z is
// its first axis. Cards are upright or flat: the one of two choices of axes in which the long edge comes
// third.
static void box_of(const double* A, double edge[3], double* c, double* s)
{
  double m = A[0], xx = A[21], yy = A[28], zz = A[35], xz = A[23], angle = 0.5 * atan2(-2 * xz, xx - zz);
  *c = cos(angle), *s = sin(angle);
  double I[3] = {*c * *c * xx - 2 * *c * *s * xz + *s * *s * zz, yy,
                 *s * *s * xx + 2 * *c * *s * xz + *c * *c * zz};
  for (int i = 0; i < 3; i++) edge[i] = sqrt(fmax(0, 6 * (I[(i + 1) % 3] + I[(i + 2) % 3] - I[i]) / m));
}

// Where the rows of a contact say it is, from the body's centre: r = ½ Σ e × (r × e) over the frame.
static void lever_of(const double* J, double r[3])
{
  for (int i = 0; i < 3; i++) r[i] = 0;
  for (int k = 0; k < 3; k++) {
    const double *e = J + 6 * k, *w = e + 3;
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, l = (i + 2) % 3;
      r[i] += 0.5 * (e[j] * w[l] - e[l] * w[j]);
    }
  }
}

// Bodies touch with their surfaces: every contact lies on the box that the body's inertia says it is, and on
// one of its faces (cards: on their middle plane, at an edge).
TEST(generated_contacts_lie_on_the_bodies_they_hold_apart)
{
  static const tbGenerateKind kinds[] = {TB_GENERATE_STACK, TB_GENERATE_WALL, TB_GENERATE_PYRAMID,
                                         TB_GENERATE_CARDS, TB_GENERATE_PILE};
  for (int i = 0; i < 5; i++) {
    tbContext ctx = tb_default_context();
    tbProblem* p = generate(&ctx, kinds[i], kinds[i] == TB_GENERATE_PILE ? 12 : 4, 7);
    REQUIRE(p);
    for (int k = 0; k < p->jac_adr[p->ncontact]; k++) {
      double edge[3], c, s, r[3], beyond = -1;
      box_of(p->block[p->jac_dof[k] / 6].value, edge, &c, &s);
      lever_of(p->jac + p->jac_val_adr[k], r);
      double local[3] = {c * r[0] - s * r[2], r[1], s * r[0] + c * r[2]};
      for (int j = 0; j < 3; j++) beyond = fmax(beyond, fabs(local[j]) - edge[j] / 2);
      if (!(fabs(beyond) < 1e-9))
        test_failed(__FILE__, __LINE__, "%s: contact side %d is %g from the surface of body %d", p->name, k,
                    beyond, p->jac_dof[k] / 6);
    }
    tb_problem_free(p);
  }
}

TEST(generated_mass_ratio_is_that_of_the_top_box)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = generate(&ctx, TB_GENERATE_STACK, 3, 1e6);
  REQUIRE(p);
  CHECK_NEAR(p->block[2].value[0] / p->block[0].value[0], 1e6, 1e-6);
  CHECK_NEAR(p->block[1].value[0] / p->block[0].value[0], 1, 0);
  tb_problem_free(p);
}

// Each box of a pile bears on the ground or on a box that was there before it, at a positive height of faces.
TEST(generated_pile_repeats_for_its_seed_and_leaves_no_box_in_the_air)
{
  for (uint64_t seed = 1; seed <= 20; seed++) {
    tbContext ctx = tb_default_context();
    tbGenerate spec = tb_default_generate(TB_GENERATE_PILE);
    tbProblem *p = NULL, *again = NULL;
    spec.seed = seed;
    spec.mass_ratio = 100;
    CHECK_OK(&ctx, tb_problem_generate(&ctx, &spec, &p));
    CHECK_OK(&ctx, tb_problem_generate(&ctx, &spec, &again));
    REQUIRE(p && again && p->ncontact == again->ncontact);
    CHECK(memcmp(p->jac, again->jac, p->jac_val_adr[p->ncol] * sizeof *p->jac) == 0);
    bool* borne = calloc((size_t)spec.size, sizeof *borne);
    for (int k = 0; k < p->ncontact; k++) borne[p->jac_dof[p->jac_adr[k + 1] - 1] / 6] = true;
    for (int i = 0; i < spec.size; i++) CHECK(borne[i]);
    free(borne);
    tb_problem_free(p);
    tb_problem_free(again);
  }
}

TEST(generate_refuses_what_makes_no_structure)
{
  tbContext ctx = tb_default_context();
  tbProblem* p = NULL;
  tbGenerate bad[6];
  for (int i = 0; i < 6; i++) bad[i] = tb_default_generate(TB_GENERATE_ARCH);
  bad[0].size = 1;
  bad[1].size = 2000000000;
  bad[2].friction = -1;
  bad[3].mass_ratio = 0;
  bad[4].mass_ratio = 0.0 / 0.0;
  bad[5].kind = TB_GENERATE_COUNT;
  for (int i = 0; i < 6; i++) CHECK(tb_problem_generate(&ctx, &bad[i], &p) == TB_ERROR_ARGUMENT && !p);
}

TEST(generate_survives_every_failed_allocation)
{
  static const tbGenerateKind kinds[] = {TB_GENERATE_WALL, TB_GENERATE_PILE};
  for (int i = 0; i < 2; i++)
    for (long k = 0;; k++) {
      tbFailingAllocator state = {.countdown = k};
      tbContext ctx = test_failing_context(&state);
      tbGenerate spec = tb_default_generate(kinds[i]);
      tbProblem* p = NULL;
      spec.size = 3;
      tbStatus status = tb_problem_generate(&ctx, &spec, &p);
      tb_problem_free(p);
      CHECK(state.alive == 0);
      if (status == TB_OK) break;
      CHECK(status == TB_ERROR_MEMORY);
      REQUIRE(k < 1000);
    }
}

// The files in problems/ are what the generator says, byte for byte.
TEST(problems_that_come_along_are_as_generated)
{
  static const struct {
    tbGenerateKind kind;
    double mass_ratio;
  } files[] = {{TB_GENERATE_STACK, 100}, {TB_GENERATE_PYRAMID, 1}, {TB_GENERATE_ARCH, 1}};
  for (int i = 0; i < 3; i++) {
    tbContext ctx = tb_default_context();
    char path[600], temp[] = "/tmp/tribo-generate-XXXXXX", *kept = NULL, *made = NULL;
    size_t kept_length = 0, made_length = 1;
    int file = mkstemp(temp);
    REQUIRE(file >= 0);
    close(file);
    tbProblem* p = generate(&ctx, files[i].kind, 0, files[i].mass_ratio);
    REQUIRE(p);
    snprintf(path, sizeof path, "%s/problems/%s.json", TB_SOURCE_FOLDER, p->name);
    CHECK_OK(&ctx, tb_problem_save_json(&ctx, temp, p, NULL));
    CHECK_OK(&ctx, tb_read_file(&ctx, path, 1 << 20, &kept, &kept_length));
    CHECK_OK(&ctx, tb_read_file(&ctx, temp, 1 << 20, &made, &made_length));
    CHECK(kept_length == made_length && memcmp(kept, made, kept_length) == 0);
    tb_free(&ctx, kept);
    tb_free(&ctx, made);
    unlink(temp);
    tb_problem_free(p);
  }
}
