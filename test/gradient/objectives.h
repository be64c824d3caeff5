// SPDX-License-Identifier: Apache-2.0
// What tests of gradients ask of an objective: to be read, refused, and compared with differences.
#ifndef TB_TEST_GRADIENT_OBJECTIVES_H
#define TB_TEST_GRADIENT_OBJECTIVES_H

#include "test.h"
#include "tribo/gradient.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 32 };

static inline tbObjective* open_objective(tbContext* ctx, const char* text, const char* loss, const char* wrt)
{
  tbObjective* o = NULL;
  CHECK_OK(ctx, tb_objective_parse(ctx, "scene.json", text, strlen(text), NULL, loss, wrt, &o));
  return o;
}

// The gradient and the differences, and by how much they are apart, as a share of the larger.
static inline double apart(tbContext* ctx, const tbObjective* o, double* gradient, tbGradientReport* report)
{
  double x[MOST], d[MOST], differ = 0, size = 0, loss = 0, same = 0;
  tb_objective_values(o, x);
  CHECK_OK(ctx, tb_objective_gradient(ctx, o, TB_GRADIENT_AUTO, x, &loss, gradient, report));
  CHECK_OK(ctx, tb_objective_gradient(ctx, o, TB_GRADIENT_DIFFERENCES, x, &same, d, NULL));
  CHECK_NEAR(loss, same, 1e-12 * (1 + same));
  for (int i = 0; i < tb_objective_size(o); i++) {
    differ = fmax(differ, fabs(gradient[i] - d[i]));
    size = fmax(size, fmax(fabs(gradient[i]), fabs(d[i])));
  }
  return size > 0 ? differ / size : 0;
}

static inline void check_refused(const char* text, const char* loss, const char* wrt, tbStatus status,
                                 const char* said)
{
  tbContext ctx = tb_default_context();
  tbObjective* o = NULL;
  tbStatus is = tb_objective_parse(&ctx, "scene.json", text, strlen(text), NULL, loss, wrt, &o);
  if (is != status || !strstr(ctx.error.message, said))
    test_failed(__FILE__, __LINE__, "%s, %s: %s, \"%s\" without \"%s\"", loss, wrt, tb_status_name(is),
                ctx.error.message, said);
  tb_objective_free(&ctx, o);
}

static inline void put_text(const char* head, const char* body, char* out, size_t room)
{
  snprintf(out, room, "{\"tribo\": 1, \"dt\": 0.01, %s, \"bodies\": [%s]}", head, body);
}

#endif
