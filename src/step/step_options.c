// SPDX-License-Identifier: Apache-2.0
// The options of a step, row by row: those of the solver (solve/options.c) and the scheme's; and what is
// asked of them together.
#include "step/penalty.h"

#include "base/text.h"
#include "solve/options.h"

#include <limits.h>
#include <string.h>

static const char* scheme_at(int i) { return i < tb_scheme_count() ? tb_scheme_at(i)->name : NULL; }
static const char* stabilization_at(int i)
{
  return i < TB_STABILIZE_COUNT ? tb_stabilization_name((tbStabilization)i) : NULL;
}

static const char* ccd_at(int i)
{
  return i < TB_CCD_METHOD_COUNT ? tb_ccd_method_name((tbCcdMethod)i) : NULL;
}
static const char* preconditioner_at(int i)
{
  return tb_descent_preconditioner_name((tbDescentPreconditioner)i);
}
static const char* acceleration_at(int i) { return tb_acceleration_name((tbAcceleration)i); }
static const char* update_at(int i) { return tb_dual_update_name((tbDualUpdate)i); }
static const char* friction_model_at(int i) { return tb_relaxed_friction_name((tbRelaxedFriction)i); }

static const char* barrier_at(int i) { return tb_barrier_name((tbBarrierKind)i); }
static const char* spring_at(int i) { return tb_penalty_spring_name((tbPenaltySpring)i); }
static const char* integrator_at(int i) { return tb_integrator_name((tbIntegrator)i); }

static const char* formulation_at(int i) { return tb_formulation_name((tbFormulation)i); }

static const char* penalty_time_at(int i) { return tb_penalty_time_name((tbPenaltyTime)i); }
static const char* penalty_friction_at(int i) { return tb_penalty_friction_name((tbPenaltyFriction)i); }

#define ROW(path, kind, of) .key = path, .member = #of, .type = kind, .at = offsetof(tbStepOptions, of)

static const tbOption rows[] = {
    {ROW("dt", TB_OPTION_NUMBER, dt), .low = 1e-12, .high = INFINITY, .value = 0.01, .unit = "s",
     .text = "the time step"},
    {ROW("scheme.name", TB_OPTION_NAME, scheme), .choice = scheme_at, .name = "semi-implicit",
     .text = "the time-stepping scheme (`tribo list schemes`); absent: the first one that moves all bodies "
             "of the scene"},
    {ROW("scheme.stabilization.kind", TB_OPTION_CHOICE, stabilization), .choice = stabilization_at,
     .text = "how overlaps and joint errors are corrected"},
    {ROW("scheme.stabilization.fraction", TB_OPTION_NUMBER, fraction), .high = 1, .value = 0.2,
     .text = "baumgarte: fraction of the error removed per step"},
    {ROW("scheme.stabilization.compliance", TB_OPTION_NUMBER, compliance), .high = INFINITY, .unit = "m/N",
     .text = "baumgarte: compliance of every contact's normal row"},
    {ROW("scheme.stabilization.slop", TB_OPTION_NUMBER, slop), .high = INFINITY, .unit = "m",
     .text = "overlap that is tolerated without correction"},
    {ROW("scheme.stabilization.stiffness", TB_OPTION_NUMBER, stiffness), .high = INFINITY, .above = true,
     .value = 1e6, .unit = "N/m", .text = "compliance: k of force = −k φ − b φ̇"},
    {ROW("scheme.stabilization.damping", TB_OPTION_NUMBER, damping), .high = INFINITY, .value = 1e3,
     .unit = "N·s/m", .text = "compliance: b of force = −k φ − b φ̇"},
    {ROW("scheme.penalty_stiffness", TB_OPTION_NUMBER, penalty_stiffness), .high = INFINITY, .unit = "N/m",
     .text = "scheme penalty: stiffness of the contact springs; 0: chosen from the masses and dt"},
    {ROW("scheme.penalty_damping", TB_OPTION_NUMBER, penalty_damping), .high = INFINITY, .value = 0.5,
     .text = "scheme penalty: damping of the contact springs, as a fraction of critical damping"},
    {ROW("scheme.penalty_recede", TB_OPTION_NUMBER, penalty_recede), .high = 1, .value = 1,
     .text = "scheme penalty: normal stiffness while bodies separate, as a fraction of that while they "
             "approach; its square root is the restitution of an impact"},
    {ROW("scheme.penalty_spring", TB_OPTION_CHOICE, penalty_spring), .choice = spring_at,
     .text =
         "scheme penalty: spring force as a function of the depth d: k L (d/L)^penalty_exponent, or k L "
         "(exp(d/L) − 1), or nested layers, sum of k l³ (d − L (1 − l^(−1/4))) over l = 1, 2, …, which no "
         "depth below L exhausts"},
    {ROW("scheme.penalty_exponent", TB_OPTION_NUMBER, penalty_exponent), .low = 1, .high = 8, .value = 1,
     .text = "scheme penalty: exponent of power springs; 1: linear"},
    {ROW("scheme.penalty_length", TB_OPTION_NUMBER, penalty_length), .high = INFINITY, .unit = "m",
     .text = "scheme penalty: length L of nonlinear springs, of which penalty_stiffness is k; 0: the depth "
             "at which the linear spring carries the weight"},
    {ROW("scheme.penalty_friction", TB_OPTION_CHOICE, penalty_friction), .choice = penalty_friction_at,
     .text = "scheme penalty: friction by anchors, which hold; as damping, which stops sliding within a step "
             "and holds nothing; or relaxed, friction_stiffness times the sliding velocity; each is limited "
             "by the law"},
    {ROW("scheme.penalty_time", TB_OPTION_CHOICE, penalty_time), .choice = penalty_time_at,
     .text =
         "scheme penalty: spring forces evaluated at the start of a step (explicit) or at its end (implicit: "
         "any stiffness, by Newton's method, with relaxed friction and without damping); auto: implicit "
         "where bodies deform or the stiffness of linear springs is not given, else explicit"},
    {ROW("scheme.substeps", TB_OPTION_INT, substeps), .low = 1, .high = 1000, .value = -1, .chosen = true,
     .text = "substeps per step; absent: 8 for soft-step, doubled where a body touches another that is 30 "
             "times lighter; 1 for primal, xpbd, vbd and avbd, which detect contacts in every substep"},
    {ROW("scheme.hertz", TB_OPTION_NUMBER, hertz), .high = INFINITY, .unit = "Hz",
     .text = "scheme soft-step: frequency of the springs that push overlaps out; 0: 0.177 times the substep "
             "rate"},
    {ROW("scheme.damping_ratio", TB_OPTION_NUMBER, damping_ratio), .high = INFINITY, .value = 2,
     .text = "scheme soft-step: damping ratio of the springs that push overlaps out"},
    {ROW("scheme.push_speed", TB_OPTION_NUMBER, push_speed), .high = INFINITY, .value = 3, .unit = "m/s",
     .text = "scheme soft-step: largest speed at which overlaps are pushed out"},
    {ROW("scheme.polish", TB_OPTION_BOOL, polish),
     .text =
         "schemes soft-step, pd: at the end of a step a solver continues from the impulses of the substeps "
         "or iterations, for pd where these missed the tolerance; solver.budget_ms limits its time"},
    {ROW("scheme.sleep", TB_OPTION_NUMBER, sleep), .high = INFINITY, .unit = "s",
     .text = "scheme soft-step: touching or joined bodies that have all been slower than sleep_speed for "
             "this long are skipped until something touches, pushes or changes one of them; 0: off"},
    {ROW("scheme.sleep_speed", TB_OPTION_NUMBER, sleep_speed), .high = INFINITY, .value = 0.05, .unit = "m/s",
     .text = "scheme soft-step: speed limit for sleep, for every point of a body"},
    {ROW("scheme.certify", TB_OPTION_INT, certify), .high = 1000000000, .value = -1, .chosen = true,
     .text = "scheme soft-step: the judge evaluates every n-th step; 0: none; absent: every step in the "
             "command and the page, none elsewhere"},
    {ROW("scheme.clearance", TB_OPTION_NUMBER, clearance), .high = INFINITY, .unit = "m",
     .text = "scheme implicit: distance that surfaces keep from each other; penalty: thickness of the layer "
             "of springs around deformable surfaces; 0: chosen from the meshes"},
    {ROW("scheme.rounds", TB_OPTION_INT, rounds), .low = 1, .high = 1000000, .value = 30,
     .text = "schemes implicit, pd: largest number of times per step that contacts are detected and solved "
             "again"},
    {ROW("scheme.relinearizations", TB_OPTION_INT, relinearizations), .high = 1000000,
     .text = "scheme implicit: largest number of times per step that active contacts are linearised again, "
             "until gaps agree with their rows within the clearance; 0: only where normals turn by 8°"},
    {ROW("scheme.stick_from_impact", TB_OPTION_BOOL, stick_from_impact), .value = true,
     .text = "scheme implicit: friction of a contact that begins within the step counts the motion from its "
             "first impact; false: from the start of the step"},
    {ROW("scheme.newton_steps", TB_OPTION_INT, newton_steps), .low = 1, .high = 1000000, .value = 1,
     .text = "schemes implicit, primal, xpbd, vbd, avbd: largest number of Newton steps on elasticity, each "
             "with its contacts; 1: elasticity is linearised once per step"},
    {ROW("scheme.formulation", TB_OPTION_CHOICE, formulation), .choice = formulation_at,
     .text = "scheme implicit with newton_steps: minimise over velocities or positions, or find a root of "
             "the equations of motion with contacts (dual) or with a stiff potential in their place (primal, "
             "of contact_stiffness and friction_stiffness)"},
    {ROW("scheme.iterations", TB_OPTION_INT, iterations), .low = 1, .high = 1000000, .value = 20,
     .text = "schemes pd, primal, xpbd, vbd, avbd: largest number of iterations per step"},
    {ROW("scheme.certified", TB_OPTION_BOOL, certified),
     .text = "scheme pd: steps end without crossings: contacts are detected again until nothing intersects "
             "on the way, at most `rounds` times; false: contacts are detected once where the scene has only "
             "sheets with a thickness, planes, and round shapes much larger than their triangles"},
    {ROW("scheme.accelerated", TB_OPTION_BOOL, accelerated), .value = true,
     .text = "scheme pd: iterations use momentum; false: as published"},
    {ROW("scheme.preconditioner", TB_OPTION_CHOICE, descent.preconditioner), .choice = preconditioner_at,
     .value = TB_DESCENT_BLOCK,
     .text = "scheme primal: inverse by which gradients are multiplied: of the Hessian's diagonal, of its "
             "blocks, or of the whole Hessian"},
    {ROW("scheme.relaxation", TB_OPTION_NUMBER, descent.relaxation), .high = 2, .value = 0.5,
     .text = "schemes primal, vbd, avbd: step length of the descent; 0: by line search, for vbd and avbd 1. "
             "xpbd with jacobi: step length of the ascent"},
    {ROW("scheme.acceleration", TB_OPTION_CHOICE, descent.acceleration), .choice = acceleration_at,
     .text = "scheme primal: acceleration of the descent"},
    {ROW("scheme.contact_stiffness", TB_OPTION_NUMBER, descent.contact_stiffness), .high = INFINITY,
     .unit = "N/m",
     .text = "schemes primal, vbd, avbd, xpbd: k of the contact potential k/p |gap|ᵖ; 0: chosen from the "
             "masses and dt, for xpbd rigid"},
    {ROW("scheme.friction_stiffness", TB_OPTION_NUMBER, descent.friction_stiffness), .high = INFINITY,
     .unit = "N·s/m",
     .text = "schemes primal, vbd, avbd, xpbd: stiffness of sticking friction, which slips at force/k; 0: dt "
             "times contact_stiffness. penalty with relaxed friction: the same; 0: half of mass/dt"},
    {ROW("scheme.joint_stiffness", TB_OPTION_NUMBER, descent.joint_stiffness), .high = INFINITY,
     .unit = "N/m",
     .text = "schemes primal, vbd, avbd: stiffness of joints without compliance; 0: as contact_stiffness"},
    {ROW("scheme.contact_exponent", TB_OPTION_NUMBER, descent.contact_exponent), .low = 2, .high = 8,
     .value = 2,
     .text = "scheme primal: p of the contact potential; forces have p − 2 continuous derivatives"},
    {ROW("scheme.friction_model", TB_OPTION_CHOICE, descent.friction_model), .choice = friction_model_at,
     .text = "schemes primal, vbd: function that joins sticking and slipping friction"},
    {ROW("scheme.turning", TB_OPTION_BOOL, descent.turning),
     .text = "scheme primal: friction's Hessian includes the term of turning directions; false: a scalar"},
    {ROW("scheme.balanced", TB_OPTION_BOOL, descent.balanced), .value = true,
     .text = "schemes primal, vbd, avbd: the last iterate is corrected until impulses and momentum balance; "
             "false: as published"},
    {ROW("scheme.mass_splitting", TB_OPTION_BOOL, descent.mass_splitting),
     .text =
         "scheme xpbd: all constraints at once, with masses split among them; false: one after the other"},
    {ROW("scheme.jacobi", TB_OPTION_BOOL, descent.jacobi),
     .text = "scheme xpbd: all constraints at once, with step length `relaxation` and without mass "
             "splitting; diverges where many act on one body"},
    {ROW("scheme.update", TB_OPTION_CHOICE, descent.update), .choice = update_at,
     .text = "scheme xpbd: where contacts and joints of rigid bodies are evaluated: linear: once, at the "
             "start of the step; incremental: at every iterate, continuing from the last impulses (fast "
             "projection); restart: at every iterate, with all impulses from the start of the step"},
    {ROW("scheme.barrier", TB_OPTION_CHOICE, barrier), .choice = barrier_at,
     .text = "scheme ipc: potential that keeps surfaces apart: the logarithm; one spring of thickness dhat "
             "(an implicit penalty); or layers of springs, each half as thick and eight times as stiff as "
             "the one before"},
    {ROW("scheme.integrator", TB_OPTION_CHOICE, integrator), .choice = integrator_at,
     .text = "scheme ipc: integrator of nodes without contact: implicit Euler; newmark, the trapezoidal "
             "rule, which keeps energy unless a step deforms elements strongly; or bdf2, second-order "
             "backward differences, which damp much less than Euler"},
    {ROW("scheme.dhat", TB_OPTION_NUMBER, dhat), .high = INFINITY, .unit = "m",
     .text = "scheme ipc: distance at which barriers begin; 0: chosen from the meshes"},
    {ROW("scheme.velocity_threshold", TB_OPTION_NUMBER, velocity_threshold), .low = 1e-12, .high = INFINITY,
     .value = 1e-3, .unit = "m/s", .text = "scheme ipc: sliding slower than this has reduced friction"},
    {ROW("scheme.stiffness", TB_OPTION_NUMBER, barrier_stiffness), .high = INFINITY, .unit = "N",
     .text =
         "scheme ipc: force of a contact at about half of dhat; 0: chosen from masses, elasticity and dt"},
    {ROW("scheme.tolerance", TB_OPTION_NUMBER, newton_tolerance), .low = 1e-15, .high = INFINITY,
     .value = 1e-6, .unit = "m/s",
     .text = "scheme ipc, and schemes with newton_steps: Newton's method stops when it changes no velocity "
             "by more than this"},
    {ROW("scheme.newton_iterations", TB_OPTION_INT, newton_iterations), .low = 1, .high = 1000000,
     .value = 1000, .text = "scheme ipc: largest number of Newton iterations per step"},
    {ROW("scheme.friction_iterations", TB_OPTION_INT, friction_iterations), .high = 1000000, .value = 10,
     .text = "scheme ipc: largest number of times per step that friction is updated and the step minimised "
             "again"},
    {ROW("scheme.exact_friction", TB_OPTION_BOOL, exact_friction),
     .text = "scheme ipc: at the end of a step a solver applies the exact law of friction, at the distances "
             "that the barriers keep; false: friction is smoothed and lagged"},
    {ROW("solver.budget_ms", TB_OPTION_NUMBER, budget_s), .high = INFINITY, .scale = 1e-3, .unit = "ms",
     .text = "time limit for all solves of a step together; 0: none. When it is reached, the best impulses "
             "so far are used"},
    {ROW("solver.warm_start", TB_OPTION_BOOL, warm_start), .value = true,
     .text = "start from the impulses of the last step"},
    {ROW("contact.margin", TB_OPTION_NUMBER, margin), .high = INFINITY, .unit = "m",
     .text = "smallest distance within which contacts are detected"},
    {ROW("contact.sliding_tangents", TB_OPTION_BOOL, sliding_tangents),
     .text = "align the first tangent of a contact with its sliding velocity, so that the box model limits "
             "that direction"},
    {ROW("contact.ccd", TB_OPTION_CHOICE, ccd), .choice = ccd_at,
     .text = "method of continuous collision detection for deformable surfaces; all but inclusion can miss "
             "collisions"},
    {ROW("contact.restitution_speed", TB_OPTION_NUMBER, restitution_speed), .high = INFINITY, .value = -1,
     .chosen = true, .unit = "m/s",
     .text = "approach speed below which nothing bounces; absent: chosen from gravity and dt"},
};
enum { ROWS = sizeof rows / sizeof *rows };

int tb_option_count(void) { return ROWS + tb_solve_option_count(); }

tbOption tb_option_at(int index)
{
  int of_solver = tb_solve_option_count();
  if (index >= of_solver) return rows[index - of_solver];
  tbOption option = *tb_solve_option_at(index);
  option.at += offsetof(tbStepOptions, solver);
  return option;
}

static tbStatus unknown_option(tbContext* ctx, const char* key)
{
  tbNearest near = tb_nearest(key);
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption option = tb_option_at(i);
    tb_nearest_offer(&near, option.key);
    tb_nearest_offer(&near, option.member);
  }
  if (near.name)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no option \"%.60s\"; did you mean \"%s\"?", key,
                   near.name);
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no option \"%.60s\"", key);
}

tbStatus tb_option_find(tbContext* ctx, const char* key, tbOption* out)
{
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption option = tb_option_at(i);
    if (strcmp(option.key, key) != 0 && strcmp(option.member, key) != 0) continue;
    *out = option;
    return TB_OK;
  }
  return unknown_option(ctx, key);
}

// A solver that does not know the model in use brings its first.
static void fit_model(const tbOption* option, tbSolveOptions* o)
{
  if (strcmp(option->key, "solver.name") != 0) return;
  const tbSolver* solver = tb_solver_find(o->solver);
  for (int m = 0; m < TB_MODEL_COUNT && !(solver->models & 1u << o->model); m++)
    if (solver->models & 1u << m) o->model = (tbModel)m;
}

tbStatus tb_option_set(tbContext* ctx, tbStepOptions* o, const char* key, const char* text)
{
  tbOption option;
  TB_TRY(tb_option_find(ctx, key, &option));
  TB_TRY(tb_option_put_text(ctx, &option, o, text));
  fit_model(&option, &o->solver);
  return TB_OK;
}

tbStatus tb_option_set_number(tbContext* ctx, tbStepOptions* o, const char* key, double value)
{
  tbOption option;
  TB_TRY(tb_option_find(ctx, key, &option));
  return tb_option_put_number(ctx, &option, o, value);
}

bool tb_option_is_valid(const tbStepOptions* o, const tbOption* option)
{
  tbContext quiet = tb_default_context();
  return tb_option_check(&quiet, option, o) == TB_OK;
}

void tb_option_copy(const tbOption* option, const tbStepOptions* from, tbStepOptions* to)
{
  static const size_t sizes[] = {
      [TB_OPTION_NUMBER] = sizeof(double), [TB_OPTION_INT] = sizeof(int),
      [TB_OPTION_SEED] = sizeof(uint64_t), [TB_OPTION_BOOL] = sizeof(bool),
      [TB_OPTION_CHOICE] = sizeof(int),    [TB_OPTION_NAME] = sizeof(const char*),
  };
  memcpy((char*)to + option->at, (const char*)from + option->at, sizes[option->type]);
}

double tb_option_get_number(const tbStepOptions* o, const tbOption* option)
{
  return tb_option_number(option, o);
}
const char* tb_option_get_name(const tbStepOptions* o, const tbOption* option)
{
  return option->choice ? tb_option_name(option, o) : NULL;
}

tbStepOptions tb_default_step_options(void)
{
  tbStepOptions o = {.solver = tb_default_solve_options()};
  for (int i = 0; i < ROWS; i++) tb_option_put_default(&rows[i], &o);
  o.solver.tolerance = 0; // what steps aim at is in m/s
  o.solver.velocity_tolerance = TB_VELOCITY_TOLERANCE;
  return o;
}

const char* tb_barrier_name(tbBarrierKind kind)
{
  static const char* const names[TB_BARRIER_COUNT] = {"log", "quadratic", "layers"};
  return (unsigned)kind < TB_BARRIER_COUNT ? names[kind] : NULL;
}

const char* tb_integrator_name(tbIntegrator kind)
{
  static const char* const names[TB_INTEGRATOR_COUNT] = {"euler", "newmark", "bdf2"};
  return (unsigned)kind < TB_INTEGRATOR_COUNT ? names[kind] : NULL;
}

const char* tb_formulation_name(tbFormulation form)
{
  static const char* const names[TB_FORM_COUNT] = {"velocities", "positions", "dual", "primal"};
  return (unsigned)form < TB_FORM_COUNT ? names[form] : NULL;
}

const char* tb_penalty_spring_name(tbPenaltySpring kind)
{
  static const char* const names[TB_SPRING_COUNT] = {"power", "exponential", "layers"};
  return (unsigned)kind < TB_SPRING_COUNT ? names[kind] : NULL;
}

const char* tb_penalty_friction_name(tbPenaltyFriction kind)
{
  static const char* const names[TB_PENALTY_FRICTION_COUNT] = {"anchors", "damping", "relaxed"};
  return (unsigned)kind < TB_PENALTY_FRICTION_COUNT ? names[kind] : NULL;
}

const char* tb_penalty_time_name(tbPenaltyTime kind)
{
  static const char* const names[TB_PENALTY_TIME_COUNT] = {"auto", "explicit", "implicit"};
  return (unsigned)kind < TB_PENALTY_TIME_COUNT ? names[kind] : NULL;
}

const char* tb_stabilization_name(tbStabilization kind)
{
  static const char* const names[TB_STABILIZE_COUNT] = {"baumgarte", "compliance", "projection", "none"};
  return (unsigned)kind < TB_STABILIZE_COUNT ? names[kind] : "?";
}

// Every body is of a kind that the scheme moves.
static tbStatus check_bodies(tbContext* ctx, const tbWorld* w, const tbScheme* scheme)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    unsigned needed = b->kind->modes ? TB_MOVES_MODES : b->kind->surface ? TB_MOVES_NODES : TB_MOVES_FRAMES;
    if (scheme->moves & needed) continue;
    char others[160] = "";
    for (int k = 0; k < tb_scheme_count(); k++)
      if (tb_scheme_at(k)->moves & needed) tb_list_append(others, sizeof others, tb_scheme_at(k)->name);
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the scheme %s does not move %s bodies like \"%s\"; these do: %s",
                   scheme->name, b->kind->name, b->name, others);
  }
  return TB_OK;
}

static bool has_springs(const tbWorld* w)
{
  const tbMaterial* m = w->material.data;
  const tbPairRule* rule = w->pair.data;
  bool has = false;
  for (size_t i = 0; i < w->material.count; i++) has |= m[i].contact_material.spring.stiffness > 0;
  for (size_t i = 0; i < w->pair.count; i++) has |= rule[i].contact_material.spring.stiffness > 0;
  return has;
}

// What a scheme leaves out of a material would change the motion without a word.
static tbStatus check_springs(tbContext* ctx, const tbWorld* w, const tbScheme* scheme)
{
  if (scheme->springs || !has_springs(w)) return TB_OK;
  char others[160] = "";
  for (int i = 0; i < tb_scheme_count(); i++)
    if (tb_scheme_at(i)->springs) tb_list_append(others, sizeof others, tb_scheme_at(i)->name);
  return tb_fail(
      ctx, TB_ERROR_ARGUMENT,
      "the scheme %s does not apply springs of contacts, which a material of this world has; these "
      "do: %s",
      scheme->name, others);
}

// Explicit springs take the mass at a node from its own; a reduced body's nodes have none of their own.
static tbStatus check_explicit(tbContext* ctx, const tbWorld* w)
{
  for (size_t i = 0; i < w->body.count; i++)
    if (tb_bodies(w)[i].kind->modes)
      return tb_fail(
          ctx, TB_ERROR_ARGUMENT,
          "explicit springs of the scheme penalty do not move reduced bodies like \"%s\"; implicit ones do",
          tb_bodies(w)[i].name);
  return TB_OK;
}

tbStatus tb_step_check(tbContext* ctx, const tbWorld* w, const tbStepOptions* o)
{
  for (int i = 0; i < ROWS; i++) TB_TRY(tb_option_check(ctx, &rows[i], o));
  const tbScheme* scheme = tb_scheme_find(o->scheme);
  TB_TRY(check_bodies(ctx, w, scheme));
  TB_TRY(check_springs(ctx, w, scheme));
  if (scheme->method == &tb_penalty && tb_penalty_is_implicit(w, o) && o->penalty_spring != TB_SPRING_POWER)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "implicit springs of the scheme penalty are powers of their depth");
  if (scheme->method == &tb_penalty && !tb_penalty_is_implicit(w, o)) TB_TRY(check_explicit(ctx, w));
  int deforming = o->stabilization == TB_STABILIZE_PROJECTION ? tb_first_deforming(w) : -1;
  if (deforming >= 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "projection moves rigid bodies only, and would push them into \"%s\"",
                   tb_bodies(w)[deforming].name);
  return TB_OK;
}
