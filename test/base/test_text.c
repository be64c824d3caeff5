// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "test.h"

#include <string.h>

TEST(distances_count_edits_and_swaps)
{
  static const struct {
    const char *a, *b;
    int distance;
  } cases[] = {{"", "", 0},      {"", "abc", 3},     {"abc", "abc", 0},          {"abc", "acb", 1},
               {"abc", "ab", 1}, {"abc", "xabc", 1}, {"frction", "friction", 1}, {"kitten", "sitting", 3},
               {"ca", "abc", 3}, {"teh", "the", 1},  {"abcdef", "badcfe", 3},    {"mass", "name", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int there = tb_name_distance(cases[i].a, cases[i].b), back = tb_name_distance(cases[i].b, cases[i].a);
    if (there != cases[i].distance || back != there)
      test_failed(__FILE__, __LINE__, "%s %s: %d, %d", cases[i].a, cases[i].b, there, back);
  }
  char name[80];
  memset(name, 'x', 79);
  name[79] = 0;
  CHECK(tb_name_distance(name, name) > 64);
}

static const char* nearest(const char* wanted)
{
  static const char* const names[] = {"mass", "dt", "friction", "restitution", "position", "velocity"};
  tbNearest near = tb_nearest(wanted);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) tb_nearest_offer(&near, names[i]);
  return near.name ? near.name : "";
}

TEST(nearest_names_are_near)
{
  CHECK(strcmp(nearest("frction"), "friction") == 0);
  CHECK(strcmp(nearest("mas"), "mass") == 0);
  CHECK(strcmp(nearest("td"), "dt") == 0);
  CHECK(strcmp(nearest("postion"), "position") == 0);
  CHECK(strcmp(nearest("Velocity"), "velocity") == 0);
  CHECK(strcmp(nearest("colour"), "") == 0);
  CHECK(strcmp(nearest("x"), "") == 0);
  CHECK(strcmp(nearest(""), "") == 0);
}

TEST(out_gathers_pieces_of_any_size)
{
  tbContext ctx = tb_default_context();
  tbOut out = tb_out_memory(&ctx);
  CHECK_OK(&ctx, tb_out_finish(&out));
  for (int i = 0; i < 1000; i++) {
    tb_out_int(&out, -i);
    tb_out_text(&out, ",");
    tb_out_double(&out, 0.5);
    tb_out_bytes(&out, "\n", 1);
  }
  CHECK_OK(&ctx, tb_out_finish(&out));
  CHECK(strncmp(out.bytes, "0,0.5\n-1,0.5\n", 13) == 0 && out.length == strlen(out.bytes));
  CHECK(strcmp(out.bytes + out.length - 9, "-999,0.5\n") == 0);
  tb_out_free(&out);
}

TEST(lists_of_names_end_in_an_ellipsis_when_full)
{
  char list[16] = "";
  tb_list_append(list, sizeof list, "one");
  tb_list_append(list, sizeof list, "two");
  CHECK(strcmp(list, "one, two") == 0);
  tb_list_append(list, sizeof list, "three");
  tb_list_append(list, sizeof list, "x");
  CHECK(strcmp(list, "one, two, …") == 0);
}
