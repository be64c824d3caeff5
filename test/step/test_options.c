// SPDX-License-Identifier: Apache-2.0
// Options by name: every row of the table through every door.
#include "base/json_write.h"
#include "io/checkpoint/checkpoint.h"
#include "test.h"
#include "tribo/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// A value that is not the default, as text.
static void other_value(const tbOption* o, const tbStepOptions* now, char text[64])
{
  double value = tb_option_get_number(now, o);
  if (o->choice) {
    int k = 0;
    while (strcmp(o->choice(k), tb_option_get_name(now, o)) == 0) k++;
    // a scheme, solver or model that goes with everything else here
    const char* name = strcmp(o->key, "solver.name") == 0     ? "bgs"
                       : strcmp(o->key, "scheme.name") == 0   ? "moreau"
                       : strcmp(o->key, "contact.model") == 0 ? "cone"
                                                              : o->choice(k);
    snprintf(text, 64, "%s", name);
  } else if (o->type == TB_OPTION_BOOL) snprintf(text, 64, "%s", value != 0 ? "false" : "true");
  else if (o->type == TB_OPTION_NUMBER)
    snprintf(text, 64, "%.17g",
             fmin(o->high, !(value > 0)            ? 0.25
                           : 0.75 * value < o->low ? 1.25 * value
                                                   : 0.75 * value));
  else snprintf(text, 64, "%.0f", value + 7);
}

static tbStepOptions all_others(tbContext* ctx)
{
  tbStepOptions options = tb_default_step_options(), defaults = options;
  for (int i = 0; i < tb_option_count(); i++) {
    char text[64];
    tbOption o = tb_option_at(i);
    other_value(&o, &defaults, text);
    CHECK_OK(ctx, tb_option_set(ctx, &options, o.key, text));
  }
  return options;
}

static bool same(const tbStepOptions* a, const tbStepOptions* b, const tbOption* o)
{
  if (o->choice) return strcmp(tb_option_get_name(a, o), tb_option_get_name(b, o)) == 0;
  return tb_option_get_number(a, o) == tb_option_get_number(b, o);
}

static void check_same(const char* what, const tbStepOptions* a, const tbStepOptions* b)
{
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    if (!same(a, b, &o)) test_failed(__FILE__, __LINE__, "%s: %s is another", what, o.key);
  }
}

TEST(every_option_can_be_set_and_is_another_afterwards)
{
  tbContext ctx = tb_default_context();
  tbStepOptions defaults = tb_default_step_options(), options = all_others(&ctx);
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    bool keeps = strcmp(o.key, "contact.model") == 0;
    if (same(&defaults, &options, &o) != keeps) test_failed(__FILE__, __LINE__, "%s", o.key);
    CHECK(o.text && o.key && o.member);
    for (int k = 0; k < i; k++) {
      tbOption other = tb_option_at(k);
      CHECK(strcmp(other.key, o.key) != 0 && strcmp(other.member, o.member) != 0 && other.at != o.at);
    }
  }
}

TEST(what_no_step_can_be_taken_with_is_refused_and_changes_nothing)
{
  static const char* const bad[][2] = {{"dt", "0"},
                                       {"dt", "nan"},
                                       {"dt", "1e999"},
                                       {"solver.relaxation", "2.5"},
                                       {"scheme.rounds", "0"},
                                       {"scheme.rounds", "2.5"},
                                       {"solver.order", "lyers"},
                                       {"solver.warm_start", "1"},
                                       {"contact.directions", "65"},
                                       {"solver.iterations", "-1"},
                                       {"solver.seed", "1e300"},
                                       {"solver.name", ""},
                                       {"scheme.stabilization.stiffness", "0"},
                                       {"solver.tolerance", "x"},
                                       {"solver.budget_ms", "-0.1"}};
  tbContext ctx = tb_default_context();
  tbStepOptions options = tb_default_step_options(), before = options;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    if (tb_option_set(&ctx, &options, bad[i][0], bad[i][1]) != TB_ERROR_ARGUMENT ||
        !strstr(ctx.error.message, bad[i][0]))
      test_failed(__FILE__, __LINE__, "%s=%s: \"%s\"", bad[i][0], bad[i][1], ctx.error.message);
  }
  check_same("refused", &options, &before);
  CHECK(tb_option_set(&ctx, &options, "solver.ordr", "given") == TB_ERROR_ARGUMENT);
  CHECK(strstr(ctx.error.message, "did you mean \"solver.order\"?"));
}

// A value below zero leaves some options to be chosen. It is a whole number where they are.
TEST(what_is_set_by_a_number_is_valid_afterwards)
{
  static const double values[] = {-INFINITY, -1e300, -3e9, -2.5, -1,    -0.3,     -1e-300, 0,
                                  1e-300,    0.5,    1,    3e9,  1e300, INFINITY, NAN};
  tbContext ctx = tb_default_context();
  for (int i = 0; i < tb_option_count(); i++)
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
      tbOption o = tb_option_at(i);
      tbStepOptions options = tb_default_step_options();
      tbStatus status = tb_option_set_number(&ctx, &options, o.key, values[k]);
      if (!tb_option_is_valid(&options, &o))
        test_failed(__FILE__, __LINE__, "%s: %g is taken, as %g", o.key, values[k],
                    tb_option_get_number(&options, &o));
      double now = tb_option_get_number(&options, &o);
      if (status == TB_OK && !(fabs(now - values[k]) <= 1e-15 * fabs(values[k])))
        test_failed(__FILE__, __LINE__, "%s: %g becomes %g", o.key, values[k], now);
    }
}

TEST(a_step_asks_of_its_options_what_their_rows_say)
{
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbWorld* world = NULL;
  REQUIRE(tb_world_create(&ctx, &def, &world) == TB_OK);
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    if (o.type != TB_OPTION_NUMBER || o.chosen) continue;
    tbStepOptions options = tb_default_step_options();
    *(double*)(void*)((char*)&options + o.at) = -1;
    bool solver = strncmp(o.key, "solver.", 7) == 0 || strncmp(o.key, "contact.model", 13) == 0;
    tbStatus status = tb_world_step(&ctx, world, &options, NULL);
    // those of the solver are looked at by a solve, and here is nothing to solve
    if (status == TB_OK && !(solver && strcmp(o.member, "budget_s") != 0))
      test_failed(__FILE__, __LINE__, "%s = -1 was taken", o.key);
  }
  tb_world_free(&ctx, world);
}

// A name that is there costs no search for names like it: a checkpoint sets them all.
TEST(an_option_is_found_in_a_fraction_of_the_time_that_a_suggestion_takes)
{
  enum { TIMES = 300 };
  tbContext ctx = tb_default_context();
  tbOption last = tb_option_at(tb_option_count() - 1), found;
  clock_t start = clock();
  for (int i = 0; i < TIMES; i++) CHECK_OK(&ctx, tb_option_find(&ctx, last.key, &found));
  clock_t known = clock() - start;
  start = clock();
  for (int i = 0; i < TIMES; i++) CHECK(tb_option_find(&ctx, "contact.frictiom_law", &found) != TB_OK);
  clock_t unknown = clock() - start;
  if (known > unknown / 3)
    test_failed(__FILE__, __LINE__, "\"%s\": %.0f µs, an unknown name: %.0f µs", last.key,
                1e6 * (double)known / CLOCKS_PER_SEC / TIMES, 1e6 * (double)unknown / CLOCKS_PER_SEC / TIMES);
}

TEST(a_solver_brings_a_model_that_it_knows)
{
  tbContext ctx = tb_default_context();
  tbStepOptions options = tb_default_step_options();
  CHECK_OK(&ctx, tb_option_set(&ctx, &options, "solver.name", "lemke"));
  CHECK(tb_solver_find("lemke")->models & 1u << options.solver.model);
}

static void put_value(tbJsonWriter* w, const char* name, const tbOption* o, const tbStepOptions* options)
{
  double value = tb_option_get_number(options, o);
  if (o->choice) tb_put_string(w, name, tb_option_get_name(options, o));
  else if (o->type == TB_OPTION_BOOL) tb_put_bool(w, name, value != 0);
  else tb_put_number(w, name, value);
}

// The options of a group, and of the groups in it, as an object of a scene file.
static void put_group(tbJsonWriter* w, const char* group, const tbStepOptions* options)
{
  size_t length = strlen(group);
  for (int i = 0; i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    if (strncmp(o.key, group, length) == 0 && o.key[length] == '.' && !strchr(o.key + length + 1, '.'))
      put_value(w, o.key + length + 1, &o, options);
  }
}

TEST(scene_files_and_checkpoints_hold_every_option)
{
  tbContext ctx = tb_default_context();
  tbStepOptions options = all_others(&ctx);
  tbOut out = tb_out_memory(&ctx);
  tbJsonWriter w = tb_json_writer(&out, 0);
  tb_put_object(&w, NULL);
  tb_put_int(&w, "tribo", 1);
  tb_put_number(&w, "dt", options.dt);
  static const char* const groups[] = {"scheme", "solver", "contact"};
  for (int g = 0; g < 3; g++) {
    tb_put_object(&w, groups[g]);
    put_group(&w, groups[g], &options);
    if (g == 0) {
      tb_put_object(&w, "stabilization");
      put_group(&w, "scheme.stabilization", &options);
      tb_put_end(&w);
    }
    tb_put_end(&w);
  }
  tb_put_end(&w);
  REQUIRE(tb_json_writer_finish(&w) == TB_OK);
  tbScene scene = {0}, again = {0};
  CHECK_OK(&ctx, tb_scene_parse(&ctx, "options", out.bytes, out.length, NULL, &scene));
  REQUIRE(scene.world);
  check_same("scene file", &scene.step, &options);
  tbOut bytes = tb_out_memory(&ctx);
  CHECK_OK(&ctx, tb_checkpoint_print(&ctx, &bytes, &scene));
  CHECK_OK(&ctx, tb_checkpoint_parse(&ctx, "checkpoint", bytes.bytes, bytes.length, &again));
  check_same("checkpoint", &again.step, &options);
  tb_out_free(&out), tb_out_free(&bytes);
  tb_scene_free(&ctx, &scene), tb_scene_free(&ctx, &again);
}
