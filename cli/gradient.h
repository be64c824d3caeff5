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
// A scene file or a name of the gallery; `named` is to be removed afterwards.
tbStatus load_objective(tbContext* ctx, const char* path, const char* loss, const char* wrt,
                        NamedScene* named, tbObjective** out);
bool objective_settings(const ObjectiveArgs* a, tbObjective* objective); // false after one line
void put_gradient(tbJsonWriter* w, const char* key, const tbObjective* objective, const double* values);

#endif
