// SPDX-License-Identifier: Apache-2.0
// One run's result as JSON: the keys other programs read, wherever a result appears.
#ifndef TB_CLI_VERDICT_H
#define TB_CLI_VERDICT_H

#include "tribo/tools/json_write.h"
#include "tribo/solver.h"

// "solver" … "residuals", into the object that is open. A number that is not finite is null.
void put_verdict(tbJsonWriter* w, const tbSolveOptions* o, const char* solver, const tbSolveResult* r);
tbStatus finish_json_line(tbJsonWriter* w); // tb_json_writer_finish, with a new line behind the value

// A number that is not finite is null, which JSON has a word for.
void put_finite(tbJsonWriter* w, const char* key, double value);
void put_finites(tbJsonWriter* w, const char* key, const double* values, int count);

// "cancelled" counts as failed in files: a run that did not end has no answer.
const char* verdict_name(tbOutcome outcome);

#endif
