// SPDX-License-Identifier: Apache-2.0
// Where a command takes a contact problem, it may be given a scene instead: the problem of one of its steps.
#ifndef TB_CLI_SCENE_PROBLEM_H
#define TB_CLI_SCENE_PROBLEM_H

#include "cli/args.h"

// Whether a file that can be read holds a scene.
bool is_scene_file(tbContext* ctx, const char* path);

// A problem file as load_problem takes it, or a scene, also by its name in the gallery: simulated as it says
// for `steps` steps, and then the problem of the step to come, with its warm start as the guess. *scene:
// which of them it was.
tbStatus load_problem_or_scene(tbContext* ctx, const char* path, int steps, tbProblem** out, double** guess,
                               bool* scene);

#endif
