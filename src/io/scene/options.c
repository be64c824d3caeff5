// SPDX-License-Identifier: Apache-2.0
// Options of the library as keys of the format.
#include "io/scene/format.h"

#include <string.h>

static tbKeyKind kind_of(tbOptionType type)
{
  switch (type) {
  case TB_OPTION_NUMBER: return TB_KEY_NUMBER;
  case TB_OPTION_INT: return TB_KEY_INT;
  case TB_OPTION_SEED: return TB_KEY_INT64;
  case TB_OPTION_BOOL: return TB_KEY_BOOL;
  case TB_OPTION_CHOICE: return TB_KEY_CHOICE;
  case TB_OPTION_NAME: return TB_KEY_NAME;
  }
  return TB_KEY_NUMBER;
}

// What comes after the group and its dot; null: the option is of another group.
static const char* name_in(const char* group, const char* key)
{
  size_t length = strlen(group);
  if (strncmp(key, group, length) != 0 || key[length] != '.' || strchr(key + length + 1, '.')) return NULL;
  return key + length + 1;
}

int tb_record_key_count(const tbRecord* r)
{
  int count = r->key_count;
  for (int i = 0; r->group && i < tb_option_count(); i++)
    count += name_in(r->group, tb_option_at(i).key) != NULL;
  return count;
}

tbKey tb_record_key(const tbRecord* r, int index)
{
  int left = index;
  for (int i = 0; r->group && i < tb_option_count(); i++) {
    tbOption o = tb_option_at(i);
    const char* name = name_in(r->group, o.key);
    if (!name || left-- > 0) continue;
    return (tbKey){.name = name,
                   .kind = kind_of(o.type),
                   .at = r->options_at + o.at,
                   .range = {o.low, o.high, o.above},
                   .choice = o.choice,
                   .shown = !o.chosen,
                   .scale = o.scale,
                   .unit = o.unit,
                   .text = o.text};
  }
  return r->keys[left];
}
