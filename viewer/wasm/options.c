// SPDX-License-Identifier: Apache-2.0
// How a step is taken, by name and value, while the world runs. Options go by their members' names
// (tribo/options.h).
#include "web.h"

#include "tribo/tools/json_write.h"

#include <string.h>

// The key, which web_in holds, and its number. What no step can be taken with is refused here.
WEB(tbStatus, web_set_number, double value)
{
  TB_TRY(web_need_world());
  tbOption option;
  TB_TRY(tb_option_find(&web.ctx, web.in, &option));
  // the page counts in the structure's units
  return tb_option_set_number(&web.ctx, &web.scene.step, web.in,
                              option.scale > 0 ? value / option.scale : value);
}

// The key, a zero, and its name.
WEB(tbStatus, web_set_name, void)
{
  TB_TRY(web_need_world());
  const char *key = web.in, *name = key + strlen(key) + 1;
  if (strcmp(key, "model") == 0) {
    const tbSolver* solver = tb_solver_find(web.scene.step.solver.solver);
    tbModel model;
    if (tb_model_from_name(name, &model) && !(solver->models & 1u << model))
      return tb_fail(&web.ctx, TB_ERROR_ARGUMENT, "%s does not solve the model %s", solver->name, name);
  }
  return tb_option_set(&web.ctx, &web.scene.step, key, name);
}

WEB(tbStatus, web_options, void)
{
  TB_TRY(web_need_world());
  const tbStepOptions* o = &web.scene.step;
  tbJsonWriter w = tb_json_writer(web_out_begin(), 0);
  tb_put_object(&w, NULL);
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption option = tb_option_at(i);
    double value = tb_option_get_number(o, &option) * (option.scale > 0 ? option.scale : 1);
    if (option.choice) tb_put_string(&w, option.member, tb_option_get_name(o, &option));
    else if (option.type == TB_OPTION_BOOL) tb_put_bool(&w, option.member, value != 0);
    else tb_put_number(&w, option.member, value);
  }
  tb_put_end(&w);
  return tb_json_writer_finish(&w);
}
