// SPDX-License-Identifier: Apache-2.0
// What `tribo gradient` and `tribo optimize` have in common.
#ifndef TB_CLI_GRADIENT_H
#define TB_CLI_GRADIENT_H

#include "cli/args.h"
#include "cli/named.h"
#include "tribo/gradient.h"
#include "tribo/tools/json_write.h"

typedef struct {
  const char* scheme;
  double time; // NaN: the scene's
  Texts set;
} ObjectiveArgs;

#define OBJECTIVE_ARGS(a)                                                                 \
  {"--scheme", ARG_TEXT, &(a).scheme, "NAME", "instead of the scene's"},                  \
      {"--time", ARG_NUMBER, &(a).time, "S", "simulated seconds (default: the scene's)"}, \
  {                                                                                       \
    "--set", ARG_TEXTS, &(a).set, "K=V", "any option by its key; `tribo list options`"    \
  }

bool method_named(const char* name, tbGradientMethod* out); // false after one line on standard error
// Makes the objective of a scene file, or of a name of the gallery, with these settings, and lets `work` do
// with it what it will. The exit code: work's, or that of what was wrong before.
typedef int ObjectiveWork(tbContext* ctx, tbObjective* objective, void* user);
int with_objective(const char* scene, const char* loss, const char* wrt, const ObjectiveArgs* settings,
                   ObjectiveWork* work, void* user);
void put_gradient(tbJsonWriter* w, const char* key, const tbObjective* objective, const double* values);

#endif
