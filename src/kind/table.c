// SPDX-License-Identifier: Apache-2.0
#include "kind/table.h"

#include "kind/animated.h"
#include "kind/deformable.h"
#include "kind/reduced.h"
#include "kind/rigid.h"

#include <string.h>

static const tbKind* const kinds[] = {&tb_kind_rigid, &tb_kind_soft, &tb_kind_cloth, &tb_kind_reduced,
                                      &tb_kind_animated};

int tb_kind_count(void) { return (int)(sizeof kinds / sizeof *kinds); }
const tbKind* tb_kind_at(int index) { return kinds[index]; }

const tbKind* tb_kind_find(const char* name)
{
  for (int i = 0; i < tb_kind_count(); i++)
    if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
  return NULL;
}

static const char* const motions[] = {
    [TB_BODY_DYNAMIC] = "dynamic", [TB_BODY_FIXED] = "fixed", [TB_BODY_KINEMATIC] = "kinematic"};

const char* tb_kind_word(const tbBody* b)
{
  return b->kind->named_by_motion ? motions[b->motion] : b->kind->name;
}

bool tb_kind_of_word(const char* word, const tbKind** kind, tbBodyMotion* motion)
{
  *kind = tb_kind_find(word);
  if (*kind && !(*kind)->named_by_motion) return *motion = (*kind)->motion, true;
  *kind = &tb_kind_rigid;
  for (size_t i = 0; i < sizeof motions / sizeof *motions; i++)
    if (strcmp(word, motions[i]) == 0) return *motion = (tbBodyMotion)i, true;
  return false;
}

int tb_kind_number(const tbBody* b)
{
  for (int i = 1; i < tb_kind_count(); i++)
    if (b->kind == kinds[i]) return TB_BODY_KINEMATIC + i;
  return (int)b->motion;
}

bool tb_kind_of_number(int number, const tbKind** kind, tbBodyMotion* motion)
{
  bool rigid = number <= TB_BODY_KINEMATIC;
  if (number < 0 || number >= TB_BODY_KINEMATIC + tb_kind_count()) return false;
  *kind = kinds[rigid ? 0 : number - TB_BODY_KINEMATIC];
  *motion = rigid ? (tbBodyMotion)number : (*kind)->motion;
  return true;
}

const char* tb_body_kind(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  return place < 0 ? "" : tb_kind_word(&tb_bodies(w)[place]);
}

int tb_body_dofs(const tbWorld* w, tbBodyId id)
{
  int place = tb_body_place(w, id);
  const tbBody* b = place < 0 ? NULL : &tb_bodies(w)[place];
  return b && b->motion == TB_BODY_DYNAMIC ? b->kind->dofs(b) : 0;
}
