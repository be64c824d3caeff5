// SPDX-License-Identifier: Apache-2.0
// Every method there is. Adding one is a file and a row.
#include "solve/contact_map.h"
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
  ALL_MODELS = (1 << TB_MODEL_COUNT) - 1,
  ALL_LAWS = (1 << TB_LAW_COUNT) - 1,
  MAXIMAL_LAWS = ALL_LAWS & ~(1 << TB_LAW_TENSOR), // where friction dissipates the most it may
  SMOOTH_OR_BOX = MAXIMAL_LAWS & ~(1 << TB_LAW_POLYHEDRAL |
                                   1 << TB_LAW_POLYGON), // where it slides row by row, or along a curve
  ROUND_LAWS = 1 << TB_LAW_BILATERAL | 1 << TB_LAW_NONNEG | 1 << TB_LAW_COULOMB | 1 << TB_LAW_ELLIPTIC |
               1 << TB_LAW_CONTENSOU, // those whose cones are second-order cones, once scaled
};

static const tbSolver solvers[] = {
    {.name = "jacobi",
     .summary = "projected Jacobi, damped by row sums",
     .reference = "course §3.2.1",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .scratch_bytes = tb_jacobi_scratch,
     .solve = tb_jacobi},
    {.name = "pgs",
     .summary = "projected Gauss–Seidel, row by row",
     .reference = "course §3.2.1",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .counts = true,
     .scratch_bytes = tb_pgs_scratch,
     .solve = tb_pgs},
    {.name = "psor",
     .summary = "projected Gauss–Seidel with over-relaxation",
     .reference = "course §3.2.1",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .counts = true,
     .scratch_bytes = tb_pgs_scratch,
     .solve = tb_psor},
    {.name = "spgs",
     .summary = "symmetric projected Gauss–Seidel: forward, then backward",
     .reference = "course §3.2.1",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .counts = true,
     .scratch_bytes = tb_pgs_scratch,
     .solve = tb_spgs},
    {.name = "bgs",
     .summary = "blocked Gauss–Seidel (NSCD) with an exact contact solver",
     .reference = "course §3.2.4; Jean 1999",
     .models = ALL_MODELS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .counts = true,
     .scratch_bytes = tb_bgs_scratch,
     .solve = tb_bgs},
    {.name = "nncg",
     .summary = "nonsmooth nonlinear conjugate gradients on Gauss–Seidel sweeps",
     .reference = "course §3.2.7; Silcowitz, Niebe and Erleben 2010",
     .models = ALL_MODELS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .counts = true,
     .scratch_bytes = tb_nncg_scratch,
     .solve = tb_nncg},
    {.name = "lemke",
     .summary = "Lemke’s pivoting on the polyhedral LCP",
     .reference = "course §3.1.1; Lemke 1965",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_DENSE,
     .max_rows = TB_DENSE_ROWS,
     .sets = TB_SETS_POLYHEDRAL,
     .scratch_bytes = tb_lemke_scratch,
     .solve = tb_lemke},
    {.name = "dantzig",
     .summary = "Baraff’s incremental pivoting",
     .reference = "course §3.1.1; Baraff 1994",
     .models = CONE | BOX | FRICTIONLESS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_DENSE,
     .max_rows = TB_DENSE_ROWS,
     .sets = TB_SETS_BOX,
     .scratch_bytes = tb_dantzig_scratch,
     .solve = tb_dantzig},
    {.name = "murty",
     .summary = "least-index principal pivoting",
     .reference = "course §3.1.2; Murty 1974",
     .models = CONE | BOX | FRICTIONLESS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_DENSE,
     .max_rows = TB_DENSE_ROWS,
     .sets = TB_SETS_BOX,
     .scratch_bytes = tb_blcp_scratch,
     .solve = tb_murty},
    {.name = "bpp",
     .summary = "block principal pivoting, with Murty’s rule against cycles",
     .reference = "course §3.1.3; Júdice and Pires 1994",
     .models = CONE | BOX | FRICTIONLESS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_DENSE,
     .max_rows = TB_DENSE_ROWS,
     .sets = TB_SETS_BOX,
     .scratch_bytes = tb_blcp_scratch,
     .solve = tb_bpp},
    {.name = "newton-min",
     .summary = "nonsmooth Newton on the minimum map with a slack for sliding",
     .reference = "course §3.3.1, §3.3.3",
     .models = ALL_MODELS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .form = tb_newton_form,
     .prepare = tb_newton_prepare,
     .release = tb_newton_release,
     .renew = tb_newton_renew,
     .costly = true,
     .borrows_from = "newton-ac",
     .scratch_bytes = tb_newton_scratch,
     .solve = tb_newton_min},
    {.name = "newton-fb",
     .summary = "nonsmooth Newton on Fischer–Burmeister over the friction cone",
     .reference = "course §3.3.2; Fukushima, Luo and Tseng 2002",
     .models = ALL_MODELS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .form = tb_newton_form,
     .prepare = tb_newton_prepare,
     .release = tb_newton_release,
     .renew = tb_newton_renew,
     .costly = true,
     .borrows_from = "newton-ac",
     .scratch_bytes = tb_newton_scratch,
     .solve = tb_newton_fb},
    {.name = "newton-surface",
     .summary = "nonsmooth Newton on the gradient of the limit surface, with Fischer–Burmeister",
     .reference = "course §6.1.5",
     .models = ALL_MODELS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .form = tb_newton_form,
     .prepare = tb_newton_prepare,
     .release = tb_newton_release,
     .renew = tb_newton_renew,
     .costly = true,
     .borrows_from = "newton-ac",
     .scratch_bytes = tb_newton_scratch,
     .solve = tb_newton_surface},
    {.name = "newton-ac",
     .summary = "nonsmooth Newton on the Alart–Curnier equations",
     .reference = "course §3.3; Alart and Curnier 1991",
     .models = ALL_MODELS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .form = tb_newton_form,
     .prepare = tb_newton_prepare,
     .release = tb_newton_release,
     .renew = tb_newton_renew,
     .costly = true,
     .scratch_bytes = tb_newton_scratch,
     .solve = tb_newton_ac},
    {.name = "prox-newton",
     .summary = "proximal-point iterations, each solved by Newton",
     .reference = "Acary, Brémond and Huber 2018",
     .models = ALL_MODELS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .form = tb_prox_newton_form,
     .prepare = tb_prox_newton_prepare,
     .release = tb_newton_release,
     .renew = tb_newton_renew,
     .costly = true,
     .scratch_bytes = tb_prox_newton_scratch,
     .solve = tb_prox_newton},
    {.name = "pgs-sm",
     .summary = "projected Gauss–Seidel with subspace minimisation",
     .reference = "course §3.2.6; Silcowitz, Niebe and Erleben 2010",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .prepare = tb_pgs_sm_prepare,
     .release = tb_pgs_sm_release,
     .renew = tb_pgs_sm_renew,
     .costly = true,
     .counts = true,
     .scratch_bytes = tb_pgs_sm_scratch,
     .solve = tb_pgs_sm},
    {.name = "prox-gs",
     .summary = "proximal fixed point, Gauss–Seidel, with r-factors that adapt",
     .reference = "course §3.4; Erleben 2017",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .scratch_bytes = tb_prox_scratch,
     .solve = tb_prox_gs},
    {.name = "prox-jacobi",
     .summary = "proximal fixed point, all contacts at once, with r-factors that adapt",
     .reference = "course §3.4; Erleben 2017",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .scratch_bytes = tb_prox_scratch,
     .solve = tb_prox_jacobi},
    {.name = "admm",
     .summary = "alternating directions with one sparse factor, Anderson mixing and a penalty that adapts",
     .reference = "Acary, Brémond and Huber 2018; Boyd et al. 2011",
     .models = ALL_MODELS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .prepare = tb_admm_prepare,
     .release = tb_admm_release,
     .renew = tb_admm_renew,
     .scratch_bytes = tb_admm_scratch,
     .solve = tb_admm},
    {.name = "ipm",
     .summary = "interior point on the second-order cones, the De Saxcé term inside Newton’s equations",
     .reference = "Acary, Armand and Nguyen 2023; Nesterov and Todd 1997",
     .models = CONE | CCP | FRICTIONLESS,
     .laws = ROUND_LAWS,
     .needs = TB_FORM_BLOCKS,
     .prepare = tb_ipm_prepare,
     .release = tb_ipm_release,
     .renew = tb_ipm_renew,
     .costly = true,
     .scratch_bytes = tb_ipm_scratch,
     .solve = tb_ipm},
    {.name = "staggered",
     .summary = "alternating contact and friction projections",
     .reference = "course §3.2.5; Kaufman, Sueda, James and Pai 2008",
     .models = CONE | BOX | POLYHEDRAL | FRICTIONLESS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_BLOCKS,
     .form = tb_staggered_form,
     .prepare = tb_staggered_prepare,
     .release = tb_staggered_release,
     .costly = true,
     .scratch_bytes = tb_staggered_scratch,
     .solve = tb_staggered},
    {.name = "staggered-cr",
     .summary = "the same projections by conjugate residuals on A and J",
     .reference = "Verschoor and Jalba 2019, §6.2.3",
     .models = CONE | BOX | FRICTIONLESS,
     .laws = SMOOTH_OR_BOX,
     .inverse = TB_INVERSE_DIAGONAL,
     .metric = true,
     .asks = true,
     .form = tb_cr_form,
     .prepare = tb_cr_prepare,
     .release = tb_cr_release,
     .renew = tb_cr_renew,
     .scratch_bytes = tb_staggered_cr_scratch,
     .solve = tb_staggered_cr},
    {.name = "apgd",
     .summary = "accelerated projected gradient, with a fixed point on the Coulomb term",
     .reference = "Mazhar, Heyn, Negrut and Tasora 2015",
     .models = ALL_MODELS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_SWEEP,
     .scratch_bytes = tb_apgd_scratch,
     .solve = tb_apgd},
    {.name = "cr",
     .summary = "conjugate residuals on A and J, contacts changing state inside the iteration",
     .reference = "Verschoor and Jalba 2019",
     .models = CONE | BOX | FRICTIONLESS,
     .laws = SMOOTH_OR_BOX,
     .inverse = TB_INVERSE_DIAGONAL,
     .metric = true,
     .asks = true,
     .form = tb_cr_form,
     .prepare = tb_cr_prepare,
     .release = tb_cr_release,
     .renew = tb_cr_renew,
     .scratch_bytes = tb_cr_scratch,
     .solve = tb_cr},
    {.name = "ica",
     .summary = "Jacobi splitting of A around a contact problem on its diagonal",
     .reference = "course §4.3.6; Otaduy, Tamstorf, Steinemann and Gross 2009",
     .models = ALL_MODELS,
     .laws = MAXIMAL_LAWS,
     .needs = TB_FORM_SWEEP,
     .inverse = TB_INVERSE_JACOBI,
     .metric = true,
     .scratch_bytes = tb_ica_scratch,
     .solve = tb_ica},
    {.name = "auto",
     .summary = "starts cheap, watches the judge's curve, changes method until the judge is satisfied",
     .reference = "src/solve/auto.c",
     .models = ALL_MODELS,
     .laws = ALL_LAWS,
     .needs = TB_FORM_SWEEP,
     .drive = tb_auto},
};

int tb_solver_count(void) { return (int)(sizeof solvers / sizeof *solvers); }

const tbSolver* tb_solver_at(int index)
{
  return index >= 0 && index < tb_solver_count() ? &solvers[index] : NULL;
}

const tbSolver* tb_solver_named(const tbContext* ctx, const char* name)
{
  for (int i = 0; i < ctx->solver_count; i++)
    if (strcmp(name, ctx->solvers[i]->name) == 0) return ctx->solvers[i];
  return tb_solver_find(name);
}

const tbSolver* tb_solver_find(const char* name)
{
  for (int i = 0; i < tb_solver_count(); i++)
    if (strcmp(name, solvers[i].name) == 0) return &solvers[i];
  return NULL;
}

// Nothing, intervals and boxes are boxes; those and polygons are polyhedral; the rest is curved.
static bool takes_set(const tbSolver* solver, const tbFrictionSet* f)
{
  bool box = f->kind == TB_SET_NONE || f->kind == TB_SET_BOX || (f->kind == TB_SET_BALL && f->dim == 1);
  return solver->sets == TB_SETS_ALL || box ||
         (solver->sets == TB_SETS_POLYHEDRAL && f->kind == TB_SET_POLYGON);
}

const char* tb_solver_refuses(const tbSolver* solver, const tbProblem* p, tbModel model)
{
  if (!(solver->models & 1u << model)) return "it does not solve this model of friction";
  if (solver->metric && p->W_ptr) return "it works on A and J, and the problem gives W instead";
  if (solver->max_rows > 0 && p->nrow > solver->max_rows)
    return "it works on dense matrices, and W is too large";
  bool own = model == TB_MODEL_CONE || model == TB_MODEL_FRICTIONLESS; // models that tensors have
  bool takes_all = solver->laws == ALL_LAWS && solver->sets == TB_SETS_ALL && own;
  for (int k = 0; k < p->ncontact && !takes_all; k++) {
    if (!(solver->laws & 1u << p->law[k])) return "it does not take one of the laws";
    if (p->law[k] == TB_LAW_TENSOR && !own) return "friction tensors have no such model";
    tbFrictionSet f;
    tb_friction_make(p, k, model, TB_MAX_DIRECTIONS, &f);
    if (!takes_set(solver, &f))
      return "a friction cone is curved or has other corners; another model may suit it";
  }
  return NULL;
}

int tb_solver_borrowed(const tbSolver* solver, const tbProblem* p, tbModel model)
{
  int borrowed = 0;
  for (int k = 0; k < p->ncontact && solver->borrows_from; k++) {
    tbFrictionSet f;
    tb_friction_make(p, k, model, TB_MAX_DIRECTIONS, &f);
    borrowed += !tb_contact_map_owns(solver->solve == tb_newton_fb ? TB_MAP_FB : TB_MAP_MIN, &f);
  }
  return borrowed;
}

// A problem of one contact, with as many rows as the law takes, to ask about laws with; what its numbers are
// does not matter.
typedef struct {
  int row_adr[2], param_adr[2];
  double param[1 + TB_MAX_SIDES];
  uint8_t law[1];
} OneContact;

static tbProblem one_contact(tbLaw law, OneContact* c)
{
  int rows = TB_MAX_ROWS;
  while (tb_law_params(law, rows) < 0) rows--;
  *c = (OneContact){.row_adr = {0, rows}, .param_adr = {0, tb_law_params(law, rows)}, .law = {(uint8_t)law}};
  for (int i = 0; i < 1 + TB_MAX_SIDES; i++)
    c->param[i] = law == TB_LAW_TENSOR && i % 3 ? 0 : 4; // not singular
  return (tbProblem){.name = "",
                     .ncontact = 1,
                     .nrow = rows,
                     .row_adr = c->row_adr,
                     .law = c->law,
                     .param_adr = c->param_adr,
                     .param = c->param};
}

bool tb_solver_borrows(const tbSolver* solver, tbLaw law, tbModel model)
{
  OneContact c;
  tbProblem p = one_contact(law, &c);
  return tb_solver_borrowed(solver, &p, model) > 0;
}

unsigned tb_solver_models(const tbSolver* solver, tbLaw law)
{
  OneContact c;
  tbProblem p = one_contact(law, &c);
  unsigned models = 0;
  for (int m = 0; m < TB_MODEL_COUNT; m++)
    if (!tb_solver_refuses(solver, &p, (tbModel)m)) models |= 1u << m;
  return models;
}
