// Every method there is. Adding one is a file and a row.
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

// A row may end early: what it leaves out is null.
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
    {"nncg", "nonsmooth nonlinear conjugate gradients on Gauss–Seidel sweeps",
     "course §3.2.7; Silcowitz, Niebe and Erleben 2010", CONE | BOX | POLYHEDRAL | CCP | FRICTIONLESS, ALL_LAWS,
     TB_FORM_SWEEP, tb_nncg_scratch, tb_nncg},
    {"admm", "alternating directions with one sparse factor, Anderson mixing and a penalty that adapts",
     "Acary, Brémond and Huber 2018; Boyd et al. 2011", CONE | BOX | POLYHEDRAL | CCP | FRICTIONLESS, ALL_LAWS,
     TB_FORM_BLOCKS, tb_admm_scratch, tb_admm, tb_admm_prepare, tb_admm_release},
    {"newton-ac", "nonsmooth Newton on the Alart–Curnier equations", "course §3.3; Alart and Curnier 1991",
     CONE | BOX | POLYHEDRAL | CCP | FRICTIONLESS, ALL_LAWS, TB_FORM_BLOCKS, tb_newton_scratch, tb_newton_ac,
     tb_newton_prepare, tb_newton_release},
    {"newton-fb", "nonsmooth Newton on Fischer–Burmeister over the friction cone",
     "course §3.3.2; Fukushima, Luo and Tseng 2002", CONE | BOX | POLYHEDRAL | CCP | FRICTIONLESS, ALL_LAWS,
     TB_FORM_BLOCKS, tb_newton_scratch, tb_newton_fb, tb_newton_prepare, tb_newton_release},
    {"newton-min", "nonsmooth Newton on the minimum map with a slack for sliding", "course §3.3.1, §3.3.3",
     CONE | BOX | POLYHEDRAL | CCP | FRICTIONLESS, ALL_LAWS, TB_FORM_BLOCKS, tb_newton_scratch, tb_newton_min,
     tb_newton_prepare, tb_newton_release},
    {"prox-newton", "proximal-point iterations, each solved by Newton", "Acary, Brémond and Huber 2018",
     CONE | BOX | POLYHEDRAL | CCP | FRICTIONLESS, ALL_LAWS, TB_FORM_BLOCKS, tb_prox_newton_scratch,
     tb_prox_newton, tb_newton_prepare, tb_newton_release},
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

const char* tb_solver_refuses(const tbSolver* solver, const tbProblem* p, tbModel model)
{
  if (!(solver->models & 1u << model)) return "it does not solve this model of friction";
  for (int k = 0; k < p->ncontact; k++)
    if (!(solver->laws & 1u << p->law[k])) return "it does not take one of the laws";
  return NULL;
}
