// Every method there is. Adding one is a file and a row.
#include "solve/friction.h"
#include "solve/methods.h"
#include "solve/run.h"

#include <string.h>

enum {
  CONE = 1 << TB_MODEL_CONE,
  BOX = 1 << TB_MODEL_BOX,
  POLYHEDRAL = 1 << TB_MODEL_POLYHEDRAL,
  CCP = 1 << TB_MODEL_CCP,
  FRICTIONLESS = 1 << TB_MODEL_FRICTIONLESS,
  ALL_LAWS = (1 << TB_LAW_COUNT) - 1,
};

// A row may end early: what it leaves out is 0, no limit.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const tbSolver solvers[] = {
    {"jacobi", "projected Jacobi, damped by row sums", "course §3.2.1",
     CONE | BOX | POLYHEDRAL | FRICTIONLESS, ALL_LAWS, TB_FORM_BLOCKS, tb_jacobi_scratch, tb_jacobi},
    {"pgs", "projected Gauss–Seidel, row by row", "course §3.2.1", CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     ALL_LAWS, TB_FORM_SWEEP, tb_pgs_scratch, tb_pgs},
    {"psor", "projected Gauss–Seidel with over-relaxation", "course §3.2.1",
     CONE | BOX | POLYHEDRAL | FRICTIONLESS, ALL_LAWS, TB_FORM_SWEEP, tb_pgs_scratch, tb_psor},
    {"spgs", "symmetric projected Gauss–Seidel: forward, then backward", "course §3.2.1",
     CONE | BOX | POLYHEDRAL | FRICTIONLESS, ALL_LAWS, TB_FORM_SWEEP, tb_pgs_scratch, tb_spgs},
    {"bgs", "blocked Gauss–Seidel (NSCD) with an exact contact solver", "course §3.2.4; Jean 1999",
     CONE | BOX | POLYHEDRAL | CCP | FRICTIONLESS, ALL_LAWS, TB_FORM_SWEEP, tb_bgs_scratch, tb_bgs},
    {"lemke", "Lemke's pivoting on the polyhedral LCP", "course §3.1.1; Lemke 1965",
     CONE | BOX | POLYHEDRAL | FRICTIONLESS, ALL_LAWS, TB_FORM_DENSE, tb_lemke_scratch, tb_lemke,
     TB_DENSE_ROWS, TB_SETS_POLYHEDRAL},
    {"dantzig", "Baraff's incremental pivoting", "course §3.1.1; Baraff 1994", CONE | BOX | FRICTIONLESS,
     ALL_LAWS, TB_FORM_DENSE, tb_dantzig_scratch, tb_dantzig, TB_DENSE_ROWS, TB_SETS_BOX},
    {"murty", "least-index principal pivoting", "course §3.1.2; Murty 1974", CONE | BOX | FRICTIONLESS,
     ALL_LAWS, TB_FORM_DENSE, tb_blcp_scratch, tb_murty, TB_DENSE_ROWS, TB_SETS_BOX},
    {"bpp", "block principal pivoting", "course §3.1.3; Júdice & Pires 1994", CONE | BOX | FRICTIONLESS,
     ALL_LAWS, TB_FORM_DENSE, tb_blcp_scratch, tb_bpp, TB_DENSE_ROWS, TB_SETS_BOX},
};

int tb_solver_count(void) { return (int)(sizeof solvers / sizeof *solvers); }

const tbSolver* tb_solver_at(int index)
{
  return index >= 0 && index < tb_solver_count() ? &solvers[index] : NULL;
}

const tbSolver* tb_solver_find(const char* name)
{
  for (int i = 0; i < tb_solver_count(); i++)
    if (strcmp(name, solvers[i].name) == 0) return &solvers[i];
  return NULL;
}

// Nothing, intervals and boxes are boxes; those and polygons are polyhedral; the rest is curved.
static bool takes_set(const tbSolver* solver, const tbFriction* f)
{
  bool box = f->kind == TB_SET_NONE || f->kind == TB_SET_BOX || (f->kind == TB_SET_BALL && f->dim == 1);
  return solver->sets == TB_SETS_ALL || box ||
         (solver->sets == TB_SETS_POLYHEDRAL && f->kind == TB_SET_POLYGON);
}

const char* tb_solver_refuses(const tbSolver* solver, const tbProblem* p, tbModel model)
{
  if (!(solver->models & 1u << model)) return "it does not solve this model of friction";
  if (solver->max_rows > 0 && p->nrow > solver->max_rows)
    return "it works on dense matrices, and W is too large";
  for (int k = 0; k < p->ncontact; k++) {
    if (!(solver->laws & 1u << p->law[k])) return "it does not take one of the laws";
    tbFriction f;
    tb_friction_make(p, k, model, TB_MAX_DIRECTIONS, &f);
    if (!takes_set(solver, &f))
      return "a friction cone is curved or has other corners; another model may suit it";
  }
  return NULL;
}
