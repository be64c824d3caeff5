// SPDX-License-Identifier: Apache-2.0
// Ids: what is gone is not found again under its old id, whatever takes its entry.
#include "scene/ids.h"
#include "scene/names.h"
#include "test.h"

#include <string.h>

static int add(tbContext* ctx, tbIds* ids, int place)
{
  CHECK_OK(ctx, tb_ids_reserve(ctx, ids));
  return tb_ids_add(ids, place);
}

TEST(an_entry_serves_again_under_a_generation_of_its_own)
{
  tbContext ctx = tb_default_context();
  tbIds ids;
  tb_ids_init(&ids);
  for (int i = 0; i < 4; i++) CHECK(add(&ctx, &ids, i) == i);
  tb_ids_remove(&ids, 1);
  CHECK(tb_ids_find(&ids, 1, 0) == -1 && tb_ids_find(&ids, 2, 0) == 1 && tb_ids_find(&ids, 3, 0) == 2);
  CHECK(add(&ctx, &ids, 3) == 1); // the lowest that is free
  CHECK(tb_ids_find(&ids, 1, 0) == -1 && tb_ids_find(&ids, 1, 1) == 3);
  CHECK(add(&ctx, &ids, 4) == 4);
  CHECK(tb_ids_find(&ids, 5, 0) == -1 && tb_ids_find(&ids, -1, 0) == -1);

  tbIdEntry* last = (tbIdEntry*)ids.entry.data + 1; // one that has had all its generations
  last->generation = last->last = UINT32_MAX;
  tb_ids_remove(&ids, 1);
  CHECK(add(&ctx, &ids, 4) == 5);
  tb_ids_free(&ctx, &ids);
}

// A world goes back to an earlier state: ids handed out since then must not come again for something else.
TEST(generations_outlive_a_return_to_an_earlier_state)
{
  tbContext ctx = tb_default_context();
  tbIds now, then;
  tb_ids_init(&now);
  tb_ids_init(&then);
  add(&ctx, &now, 0);
  add(&ctx, &then, 0);
  add(&ctx, &now, 1); // after `then` was kept: entry 1, generation 0
  tb_ids_remove(&now, 0);
  add(&ctx, &now, 1); // entry 0, generation 1
  CHECK_OK(&ctx, tb_ids_room(&ctx, &then, &now));
  tb_ids_outlive(&then, &now);
  CHECK(tb_ids_find(&then, 0, 0) == 0 && tb_ids_find(&then, 0, 1) == -1 && tb_ids_find(&then, 1, 0) == -1);
  CHECK(add(&ctx, &then, 1) == 1 && tb_ids_generation(&then, 1) == 1);
  tb_ids_remove(&then, 0);
  CHECK(add(&ctx, &then, 1) == 0 && tb_ids_generation(&then, 0) == 2);
  tb_ids_free(&ctx, &now);
  tb_ids_free(&ctx, &then);
}

// Names in one chain of the hash table are found after any of them has gone.
TEST(names_are_found_after_others_have_gone)
{
  enum { COUNT = 200 };
  tbContext ctx = tb_default_context();
  tbNames names;
  tb_names_init(&names);
  const char* text[COUNT];
  for (int i = 0; i < COUNT; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    text[i] = tb_names_keep(&ctx, &names, name);
    CHECK_OK(&ctx, tb_names_reserve(&ctx, &names));
    tb_names_add(&names, TB_NAME_BODY, text[i], i);
  }
  for (int gone = 0; gone < COUNT; gone++) {
    int which = gone * 67 % COUNT;
    char name[16];
    snprintf(name, sizeof name, "%s", text[which]);
    tb_names_remove(&names, TB_NAME_BODY, text[which]);
    tb_names_drop(&ctx, &names, text[which]);
    text[which] = NULL;
    CHECK(tb_names_find(&names, TB_NAME_BODY, name) == -1);
    for (int i = 0, place = 0; i < COUNT; i++)
      if (text[i]) CHECK(tb_names_find(&names, TB_NAME_BODY, text[i]) == place++);
  }
  tb_names_free(&ctx, &names);
}
