// SPDX-License-Identifier: Apache-2.0
// What a run cost and how well it went, gathered step by step.
#ifndef TB_CLI_METRICS_H
#define TB_CLI_METRICS_H

#include "tribo/tools/array.h"
#include "tribo/tools/json_write.h"
#include "tribo/io.h"

enum { METRICS_METHODS = 64 };

typedef struct {
  tbArray step;                 // MetricsStep
  int64_t first_step;           // steps the world had done before
  int64_t contacts, iterations; // sums
  int most_contacts, most_iterations;
  int asleep; // in the last step
  int64_t unconverged, unjudged, newton_missed;
  int most_parts;
  double penetration;              // m: the deepest
  int64_t intersections, touching; // of deformable surfaces, a sum
  // What steps did beyond the contact law (tbStepChanges, tbStepReport.trimmed): counts are sums, amounts the
  // largest
  int64_t damped, stopped;
  double damping, short_of, projected, turned, trimmed, slowed, linear_error;
  double wall_s;
  struct {
    const char* name;
    int64_t steps;
  } used[METRICS_METHODS]; // by order of first use; a null name ends it
} Metrics;

Metrics metrics_begin(const tbScene* scene);
tbStatus metrics_add(tbContext* ctx, Metrics* m, const tbStepOptions* o, const tbStepReport* r,
                     double step_s);
void metrics_free(tbContext* ctx, Metrics* m);

// The object of --metrics (docs: SCENE.md). status: "ok", "interrupted" or "failed".
tbStatus metrics_json(tbContext* ctx, tbOut* out, const Metrics* m, const tbScene* scene, const char* status);
// A few lines for a person.
tbStatus metrics_summary(tbContext* ctx, tbOut* out, const Metrics* m, const tbScene* scene,
                         const char* status);

int64_t nodes_count(const tbWorld* world); // of all deformable bodies

// The value below which a share of the sorted values lies, linear between neighbours; 0 of none.
double quantile(const double* sorted, size_t count, double share);

#endif
