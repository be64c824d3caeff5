// SPDX-License-Identifier: Apache-2.0
// Derivatives of what a run ends with, and searching for the numbers of a scene that make it end well.
//
//   tbObjective* objective;
//   tb_objective_load(&ctx, "throw.json", "ball:1,0,0.2", "ball.velocity,floor.friction", &objective);
//   double x[4], gradient[4], loss;
//   tb_objective_values(objective, x);                              // as the scene has them
//   tb_objective_gradient(&ctx, objective, TB_GRADIENT_AUTO, x, &loss, gradient, &report);
//   tb_objective_minimize(&ctx, objective, &options, x, &result);   // L-BFGS within bounds
//   tb_objective_print(&ctx, objective, x, &out);                   // the scene with those numbers
//
// The loss is the squared distance of a body's position (of a deformable one: its centre of mass) from a
// point at the end of the run. Parameters are numbers of the scene file, by NAME.KEY[.KEY…]: a body's,
// deformable body's or material's own (ball.velocity, ball.mass, wood.friction, sheet.stretch), by
// element (ball.velocity.x), of bodies that repeat makes (brick/3.velocity), or from the file's root
// (gravity, joints.0.motor.speed, bodies.2.kinematic.keys.1.position). They may be absent where the format
// has a default.
#ifndef TRIBO_GRADIENT_H
#define TRIBO_GRADIENT_H

#include "tribo/io.h"

TB_API_BEGIN

typedef struct tbObjective tbObjective;

// What is wrong with `loss` or `wrt` is said with TB_ERROR_ARGUMENT or, where the file holds what they mean,
// at its place with TB_ERROR_INPUT; names that are nearly right are suggested. wrt: separated by commas.
tbStatus tb_objective_load(tbContext* ctx, const char* path, const char* loss, const char* wrt,
                           tbObjective** out);
// The same from text in memory (tb_scene_parse).
tbStatus tb_objective_parse(tbContext* ctx, const char* name, const char* bytes, size_t length,
                            const char* folder, const char* loss, const char* wrt, tbObjective** out);
void tb_objective_free(tbContext* ctx, tbObjective* objective); // takes null

// How the scene is run: its own options and time, which may be changed.
tbStepOptions* tb_objective_options(tbObjective* objective);
double* tb_objective_time(tbObjective* objective);
int64_t tb_objective_steps(const tbObjective* objective);

// Parameters, in the order of `wrt`, and their numbers, one after the other.
typedef struct tbParameter {
  const char* name; // as in `wrt`
  int first, count; // among the numbers
  bool scalar;      // a number, not an array of one
} tbParameter;
int tb_objective_parameter_count(const tbObjective* objective);
tbParameter tb_objective_parameter(const tbObjective* objective, int index);
int tb_objective_size(const tbObjective* objective);                    // how many numbers
void tb_objective_values(const tbObjective* objective, double* values); // the scene's              (size)
const char* tb_objective_body(const tbObjective* objective);            // whose position is looked at
tbVec3 tb_objective_target(const tbObjective* objective);

// The scene with these numbers: as a scene of its own; as the text of a file.
tbStatus tb_objective_scene(tbContext* ctx, const tbObjective* objective, const double* values, tbScene* out);
tbStatus tb_objective_print(tbContext* ctx, const tbObjective* objective, const double* values, tbOut* out);

// The loss at the end of the run, as `tribo run` would end.
tbStatus tb_objective_loss(tbContext* ctx, const tbObjective* objective, const double* values, double* loss);

typedef enum tbGradientMethod {
  TB_GRADIENT_AUTO, // tangent
  // Forward: the derivative of the state by every number is carried through the steps. The contact law is
  // differentiated implicitly, on its states; what a step does around it (contact geometry, assembly,
  // moments of impact, integration) by central differences along the tangent. Where the law has several
  // solutions, and under schemes that relax it, steps are differentiated as the run takes them.
  TB_GRADIENT_TANGENT,
  // Reverse: the derivative of the loss by the state is carried back from the end, over steps that are run
  // again from O(√N) states kept on the way. Tangent where steps remember more than that, or where sides
  // differ and it costs no more: the report says which it was.
  TB_GRADIENT_ADJOINT,
  TB_GRADIENT_DIFFERENCES, // of whole runs, central: to check the others by
  TB_GRADIENT_METHODS
} tbGradientMethod;

const char* tb_gradient_method_name(tbGradientMethod method); // "auto", "tangent", …
bool tb_gradient_method_from_name(const char* name, tbGradientMethod* out);

enum { TB_GRADIENT_UNSTABLE = 64 };
typedef struct tbGradientReport {
  tbGradientMethod method; // that was used
  int64_t steps;
  int64_t runs;      // steps taken in all, the perturbed ones too
  int64_t problems;  // contact problems answered
  int64_t rough;     // among them those that could not be solved to rounding
  int64_t ambiguous; // among those of the run itself: whose velocities the contact law leaves open
  int64_t unstable;  // steps whose derivative is not the same from both sides: a contact appears, vanishes
                     // or changes between sticking and slipping there
  int64_t unstable_step[TB_GRADIENT_UNSTABLE]; // the first of them, from 0
  int64_t nearby;  // tangent: steps whose derivative is one, but another a hundred-thousandth of the bodies'
                   // sizes away: differences of whole runs that reach so far do not agree with it
  int checkpoints; // adjoint: states kept at a time, at most
} tbGradientReport;

// loss and report may be null. gradient: as tb_objective_values.
tbStatus tb_objective_gradient(tbContext* ctx, const tbObjective* objective, tbGradientMethod method,
                               const double* values, double* loss, double* gradient,
                               tbGradientReport* report);

// Compares a gradient with runs beside: the loss's slope along a direction without a pattern, in which
// numbers count equally, from central differences of four to twelve whole runs. apart: the difference over Σ
// |g_i d_i|; TB_GRADIENT_AGREES or less where runs are as smooth as the gradient says; NaN: no run beside is
// allowed.
#define TB_GRADIENT_AGREES 2e-7
tbStatus tb_objective_verify(tbContext* ctx, const tbObjective* objective, const double* values,
                             const double* gradient, double* apart);

// L-BFGS with bounds: projected, with a backtracking line search.
typedef struct tbMinimize {
  int iterations; // at most
  double loss;    // good enough
  double change; // stop where the projected gradient's largest entry, times the scale, is below this share of
                 // the loss
  int memory;    // pairs kept
  const double *lower, *upper; // (size); null: none
  tbGradientMethod method;
  // null, or called with every iterate that is accepted, the start first; true ends the search there
  bool (*watch)(void* user, int iteration, const double* values, double loss, const double* gradient);
  void* user;
} tbMinimize;

tbMinimize tb_default_minimize(void); // 50 iterations, loss 1e-10, 8 pairs

typedef struct tbMinimum {
  double loss, first_loss;
  int iterations, gradients, losses; // how often each was computed
  bool converged;                    // the loss is good enough, or nothing more can be gained
} tbMinimum;

// values: where to start; the best found.
tbStatus tb_objective_minimize(tbContext* ctx, const tbObjective* objective, const tbMinimize* options,
                               double* values, tbMinimum* result);

TB_API_END
#endif
