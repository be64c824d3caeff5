// SPDX-License-Identifier: Apache-2.0
// A soft block on the ground: what W costs, and what the methods that do without it make of the problem.
//
//   build-bench/bench_soft [cells [contacts]]      20 cells along an edge, 500 and 2000 contacts
//
// The block is a lattice of springs over (cells+1)³ nodes, M + h²K with three coupled components, pressed on
// the ground: contacts at random points of its lowest face (each on the four nodes around it), or of all six.
#include "bench.h"
#include "tribo/tools/memory.h"
#include "tribo/tools/random.h"
#include "math/sparse.h"
#include "tribo/solver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void check(tbContext* ctx, tbStatus status)
{
  if (status == TB_OK) return;
  fprintf(stderr, "bench_soft: %s\n", ctx->error.message);
  exit(1);
}

typedef struct {
  size_t count;
  int *row, *col;
  double* val;
} Triplets;

static void push(Triplets* t, int i, int j, double v)
{
  t->row[t->count] = i, t->col[t->count] = j, t->val[t->count++] = v;
}

static void spring(Triplets* t, int i, int j, const int step[3], double k)
{
  double length2 = step[0] * step[0] + step[1] * step[1] + step[2] * step[2];
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {
      double v = k * (step[a] * step[b] / length2 + 0.05 * (a == b));
      push(t, 3 * i + a, 3 * i + b, v), push(t, 3 * j + a, 3 * j + b, v);
      push(t, 3 * i + a, 3 * j + b, -v), push(t, 3 * j + a, 3 * i + b, -v);
    }
}

// Edges and face diagonals of every cell; unit masses.
static tbCsr lattice(tbContext* ctx, int cells, double stiffness)
{
  static const int steps[9][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                  {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}};
  int m = cells + 1, nodes = m * m * m;
  size_t room = (size_t)nodes * (9 * 36 + 3);
  Triplets t = {0, malloc(room * sizeof(int)), malloc(room * sizeof(int)), malloc(room * sizeof(double))};
  for (int i = 0; i < nodes; i++) {
    int at[3] = {i % m, i / m % m, i / m / m};
    for (int a = 0; a < 3; a++) push(&t, 3 * i + a, 3 * i + a, 1);
    for (int s = 0; s < 9; s++) {
      bool inside = true;
      for (int a = 0; a < 3; a++) inside = inside && at[a] + steps[s][a] >= 0 && at[a] + steps[s][a] < m;
      int j = i + steps[s][0] + m * (steps[s][1] + m * steps[s][2]);
      if (inside) spring(&t, i, j, steps[s], stiffness);
    }
  }
  tbCsr A;
  check(ctx, tb_csr_from_triplets(ctx, 3 * nodes, 3 * nodes, t.count, t.row, t.col, t.val, &A));
  free(t.row), free(t.col), free(t.val);
  return A;
}

// A point of face `face`, held from outside with μ = 0.5 along the inward normal.
static void add_contact(tbBuilder* b, int cells, int face, uint64_t* random)
{
  int m = cells + 1, axis = face / 2, fixed = face % 2 ? cells : 0, cell[2];
  double w[2], mu = 0.5, J[9] = {0}, bias[3] = {-0.05, 0, 0};
  for (int i = 0; i < 2; i++)
    cell[i] = tb_random_below(random, cells), w[i] = tb_random_uniform(random, 0, 1);
  tb_builder_contact(b, TB_LAW_COULOMB, 3, &mu, bias, NULL);
  for (int corner = 0; corner < 4; corner++) {
    int at[3], other[2] = {(axis + 1) % 3, (axis + 2) % 3};
    double weight = 1;
    at[axis] = fixed;
    for (int i = 0; i < 2; i++) {
      int up = corner >> i & 1;
      at[other[i]] = cell[i] + up;
      weight *= up ? w[i] : 1 - w[i];
    }
    for (int i = 0; i < 9; i++) J[i] = 0;
    J[axis] = fixed ? -weight : weight;
    J[3 + other[0]] = J[6 + other[1]] = weight;
    tb_builder_jacobian(b, 3 * (at[0] + m * (at[1] + m * at[2])), 3, J);
  }
}

static tbProblem* make(tbContext* ctx, const tbCsr* A, int cells, int contacts, int faces)
{
  tbBuilder* b = NULL;
  tbProblem* p = NULL;
  uint64_t random = 1;
  double* v = calloc((size_t)A->rows, sizeof *v);
  for (int i = 0; i < A->rows; i++)
    v[i] = (i % 3 == 2 ? -0.1 : 0.03) + 0.02 * tb_random_uniform(&random, -1, 1);
  check(ctx, tb_builder_create(ctx, "soft", &b));
  check(ctx, tb_builder_sparse(b, A->rows, A->ptr, A->idx, A->val, v, NULL));
  for (int k = 0; k < contacts; k++) add_contact(b, cells, faces == 1 ? 4 : k % 6, &random);
  double start = bench_now();
  check(ctx, tb_builder_finish(b, &p));
  printf("%d degrees of freedom, %d contacts on %d faces; built and factored in %.2f s\n", A->rows, contacts,
         faces, bench_now() - start);
  free(v);
  return p;
}

static void assemble(tbContext* ctx, const tbProblem* p)
{
  static const struct {
    const char* name;
    unsigned form;
    tbInverse inverse;
  } kinds[] = {{"W", TB_FORM_BLOCKS, TB_INVERSE_EXACT},
               {"its diagonal", 0, TB_INVERSE_EXACT},
               {"W_M", TB_FORM_BLOCKS, TB_INVERSE_LUMPED},
               {"W_D", TB_FORM_BLOCKS, TB_INVERSE_DIAGONAL}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    tbDelassus* W = NULL;
    double start = bench_now();
    check(ctx, tb_delassus_create_with(ctx, p, kinds[i].form, kinds[i].inverse, &W));
    double seconds = bench_now() - start;
    double mib = kinds[i].form ? (double)W->val_adr[W->ptr[p->ncontact]] * 8 / 0x1p20 : 0;
    printf("  %-14s %8.3f s  %7.1f MiB\n", kinds[i].name, seconds, mib);
    tb_delassus_free(ctx, W);
  }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("  peak so far %.0f MiB\n", (double)usage.ru_maxrss / 1024);
}

static void solve(tbContext* ctx, const tbProblem* p, const char* name, tbSolveOptions o)
{
  double* lambda = calloc((size_t)p->nrow, sizeof *lambda);
  tbSolveResult r;
  o.solver = name;
  o.tolerance = 1e-6;
  o.max_iterations = o.inverse == TB_INVERSE_EXACT ? 20000 : 100;
  o.time_budget_s = 20;
  check(ctx, tb_solve(ctx, p, &o, lambda, &r));
  printf("  %-8s %-10s %-8s %-15s %6d iterations %8.3f s + %7.3f s  residual %.1e\n", name,
         tb_inverse_name(o.inverse), tb_preconditioner_name(o.preconditioner), tb_outcome_name(r.outcome),
         r.iterations, r.time_s, r.setup_s, r.residual.fclib);
  free(lambda);
}

int main(int argc, char** argv)
{
  int cells = argc > 1 ? atoi(argv[1]) : 20, given = argc > 2 ? atoi(argv[2]) : 0;
  tbContext ctx = tb_default_context();
  tbCsr A = lattice(&ctx, cells, 10);
  for (int faces = 1; faces <= 6; faces += 5)
    for (int contacts = given ? given : 500; contacts <= (given ? given : 2000); contacts *= 4) {
      tbProblem* p = make(&ctx, &A, cells, contacts, faces);
      assemble(&ctx, p);
      tbSolveOptions o = tb_default_solve_options();
      solve(&ctx, p, "bgs", o);
      for (int i = 0; i < TB_PRECONDITIONER_COUNT; i++) {
        o.preconditioner = (tbPreconditioner)i;
        solve(&ctx, p, "cr", o);
      }
      o = tb_default_solve_options();
      solve(&ctx, p, "ica", o);
      o.inverse = TB_INVERSE_LUMPED;
      solve(&ctx, p, "bgs", o);
      o.inverse = TB_INVERSE_DIAGONAL;
      solve(&ctx, p, "bgs", o);
      tb_problem_free(p);
    }
  tb_csr_free(&ctx, &A);
  return 0;
}
