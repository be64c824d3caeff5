// SPDX-License-Identifier: Apache-2.0
// The table of kinds: rows that are whole, and the words that files use for them.
#include "kind/table.h"
#include "test.h"

#include <string.h>

#define HAS(kind, entry) \
  if (!(kind)->entry) test_failed(__FILE__, __LINE__, "%s has no " #entry, (kind)->name)

TEST(every_kind_has_what_it_is_asked_for)
{
  for (int i = 0; i < tb_kind_count(); i++) {
    const tbKind* k = tb_kind_at(i);
    REQUIRE(k->name && k->name[0]);
    HAS(k, dofs);
    HAS(k, place);
    HAS(k, advance);
    bool free = k->named_by_motion || k->motion == TB_BODY_DYNAMIC; // some bodies of it move freely
    if (free) {
      HAS(k, energy);
      HAS(k, angular_momentum);
      HAS(k, metric);
      HAS(k, contact);
    }
    if (!free) {
      HAS(k, unconstrained);
      HAS(k, surface);
      CHECK(!k->begin && !k->set_nodes);
    } else if (k->framed) {
      HAS(k, unconstrained);
      HAS(k, frame_rows);
      HAS(k, frame_velocity);
    } else {
      HAS(k, begin);
      HAS(k, surface);
    }
    if (k->surface) {
      HAS(k, nodes);
      HAS(k, release);
      HAS(k, hash);
      HAS(k, code);
    }
    CHECK(!k->begin == !k->prepare);
    CHECK(!k->surface == !k->expect && !k->surface == !k->move_surface && !k->surface == !k->moves_at);
    CHECK(!k->attached == !k->attach && !k->attached == !k->detach);
    CHECK(!free || !k->nodes == !k->set_nodes);
  }
}

TEST(names_of_kinds_are_their_own)
{
  for (int i = 0; i < tb_kind_count(); i++) CHECK(tb_kind_find(tb_kind_at(i)->name) == tb_kind_at(i));
  CHECK(!tb_kind_find("granite") && !tb_kind_find(""));
}

// A rigid body is called after its motion, others after their kind; what a file says comes back.
TEST(words_for_bodies_go_both_ways)
{
  for (int i = 0; i < tb_kind_count(); i++)
    for (int motion = TB_BODY_DYNAMIC; motion <= TB_BODY_KINEMATIC; motion++) {
      tbBody b = {.kind = tb_kind_at(i), .motion = (tbBodyMotion)motion};
      if (!b.kind->named_by_motion) b.motion = b.kind->motion;
      const tbKind* kind;
      tbBodyMotion back;
      REQUIRE(tb_kind_of_word(tb_kind_word(&b), &kind, &back));
      CHECK(kind == b.kind && back == b.motion);
      REQUIRE(tb_kind_of_number(tb_kind_number(&b), &kind, &back));
      CHECK(kind == b.kind && back == b.motion);
    }
  const tbKind* kind;
  tbBodyMotion motion;
  CHECK(!tb_kind_of_word("rigid", &kind, &motion)); // which of the three?
  CHECK(!tb_kind_of_number(-1, &kind, &motion) &&
        !tb_kind_of_number(TB_BODY_KINEMATIC + tb_kind_count(), &kind, &motion));
  CHECK(!tb_kind_of_word("Fixed", &kind, &motion) && !tb_kind_of_word("", &kind, &motion));
}
