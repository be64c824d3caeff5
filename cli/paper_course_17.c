// SPDX-License-Identifier: Apache-2.0
// Figure 17: heuristics for the order inside the sweep (Poulsen et al. 2010), on a stack, a house of cards
// and a brick wall. The work of an iteration is one sweep; two in the symmetric order.
#include "cli/paper_course.h"

#include <math.h>
#include <stdlib.h>

enum { STRUCTURES = 3 };
static const Structure structures[STRUCTURES] = {{"stack", TB_GENERATE_STACK, 5, 3, 1},
                                                 {"cards", TB_GENERATE_CARDS, 4, 2, 1},
                                                 {"wall", TB_GENERATE_WALL, 6, 4, 1}};
static const char* const plots[STRUCTURES] = {"figure-17-stack.svg", "figure-17-cards.svg",
                                              "figure-17-wall.svg"};
static const double goal = 1e-6;

// How often a step makes the residual grow by more than a hundredth.
static int rises(const Trace* t)
{
  const CurvePoint* p = t->points.data;
  int count = 0;
  for (size_t i = 1; i < t->points.count; i++) count += p[i].residual > 1.01 * p[i - 1].residual;
  return count;
}

static void judge_orders(Paper* p, const char* structure, const Trace* trace, const double* work,
                         const char* const* names)
{
  int best = -1, worst = -1;
  double sweeps[TB_ORDER_COUNT];
  for (int i = 0; i < TB_ORDER_COUNT; i++) {
    int k = trace_reach(&trace[i], goal);
    sweeps[i] = k < 0 ? INFINITY : k * work[i];
    if (best < 0 || sweeps[i] < sweeps[best]) best = i;
    if (worst < 0 || sweeps[i] > sweeps[worst]) worst = i;
  }
  char claim[100];
  snprintf(claim, sizeof claim, "%s: the order changes how fast PGS converges", structure);
  paper_claim(p, sweeps[worst] >= 1.2 * sweeps[best], claim, "to %g: %.0f sweeps %s, %.0f %s", goal,
              sweeps[best], names[best], sweeps[worst], names[worst]);
}

static tbStatus try_orders(Paper* p, int which, tbOut* table, int grows[TB_ORDER_COUNT])
{
  tbProblem* problem = NULL;
  Trace trace[TB_ORDER_COUNT] = {0};
  const char* names[TB_ORDER_COUNT];
  double work[TB_ORDER_COUNT];
  tbStatus status = structure_make(p, structures[which], &problem);
  for (int i = 0; i < TB_ORDER_COUNT && status == TB_OK; i++) {
    names[i] = tb_order_name((tbOrder)i);
    work[i] = i == TB_ORDER_SYMMETRIC ? 2 : 1;
    status = trace_run(p, problem, (Trial){"pgs", TB_MODEL_BOX, (tbOrder)i, goal, 20000, 0}, &trace[i]);
    if (status != TB_OK) break;
    trace_table(table, structures[which].name, names[i], &trace[i]);
    grows[i] += rises(&trace[i]);
  }
  if (status == TB_OK) {
    judge_orders(p, structures[which].name, trace, work, names);
    status = trace_plot(p, plots[which], structures[which].name, TB_ORDER_COUNT, trace, names, work);
  }
  for (int i = 0; i < TB_ORDER_COUNT; i++) trace_free(p, &trace[i]);
  tb_problem_free(problem);
  return status;
}

tbStatus course_figure_17(Paper* p)
{
  int grows[TB_ORDER_COUNT] = {0};
  tbStatus status = TB_OK;
  paper_section(
      p, "Figure 17: heuristics for the order inside the sweep",
      "PGS on the boxed model (BLCP), in six orders: as given, random, colour by colour, largest residual "
      "first (greedy), forward and backward (symmetric: two sweeps an iteration), from the ground up "
      "(layers).");
  tbOut* table = paper_table(p, "figure-17.csv", "structure,order,iteration,residual");
  for (int i = 0; i < STRUCTURES && status == TB_OK; i++) status = try_orders(p, i, table, grows);
  if (status != TB_OK) return status;
  paper_claim(p, grows[TB_ORDER_GREEDY] > 0, "the greedy strategy is not monotone",
              "its residual grows in %d steps; in the given order, in %d", grows[TB_ORDER_GREEDY],
              grows[TB_ORDER_GIVEN]);
  paper_section_end(p);
  return TB_OK;
}
