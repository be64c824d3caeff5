// SPDX-License-Identifier: Apache-2.0
// A hash table of names (FNV-1a, linear probing, at most half full).
#include "scene/names.h"

#include <stddef.h>
#include <string.h>

typedef struct tbNameSlot {
  const char* name; // null: empty
  int kind, index;
} tbNameSlot;

typedef struct tbNameText {
  struct tbNameText *last, *next;
  char text[];
} tbNameText;

void tb_names_init(tbNames* names) { *names = (tbNames){0}; }

void tb_names_free(tbContext* ctx, tbNames* names)
{
  for (tbNameText *t = names->text, *next; t; t = next) {
    next = t->next;
    tb_free(ctx, t);
  }
  tb_free(ctx, names->slot);
}

const char* tb_names_keep(tbContext* ctx, tbNames* names, const char* text)
{
  size_t size = strlen(text) + 1;
  tbNameText* kept = tb_alloc(ctx, 1, sizeof *kept + size);
  if (!kept) return NULL;
  kept->next = names->text;
  if (names->text) names->text->last = kept;
  names->text = kept;
  return memcpy(kept->text, text, size);
}

void tb_names_drop(tbContext* ctx, tbNames* names, const char* text)
{
  tbNameText* kept = (tbNameText*)(text - offsetof(tbNameText, text));
  if (kept->last) kept->last->next = kept->next;
  else names->text = kept->next;
  if (kept->next) kept->next->last = kept->last;
  tb_free(ctx, kept);
}

static size_t hash(int kind, const char* name)
{
  uint64_t h = 0xcbf29ce484222325u ^ (uint64_t)kind;
  for (; *name; name++) h = (h ^ (unsigned char)*name) * 0x100000001b3u;
  return (size_t)(h ^ h >> 32);
}

static tbNameSlot* place(const tbNames* names, int kind, const char* name)
{
  size_t mask = names->capacity - 1, i = hash(kind, name) & mask;
  while (names->slot[i].name && (names->slot[i].kind != kind || strcmp(names->slot[i].name, name) != 0))
    i = (i + 1) & mask;
  return &names->slot[i];
}

int tb_names_find(const tbNames* names, int kind, const char* name)
{
  if (!names->count) return -1;
  tbNameSlot* slot = place(names, kind, name);
  return slot->name ? slot->index : -1;
}

tbStatus tb_names_reserve(tbContext* ctx, tbNames* names)
{
  if (2 * (names->count + 1) <= names->capacity) return TB_OK;
  tbNames grown = *names;
  grown.capacity = names->capacity ? 2 * names->capacity : 64;
  grown.slot = TB_NEW(ctx, tbNameSlot, grown.capacity);
  if (!grown.slot) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < names->capacity; i++)
    if (names->slot[i].name) *place(&grown, names->slot[i].kind, names->slot[i].name) = names->slot[i];
  tb_free(ctx, names->slot);
  *names = grown;
  return TB_OK;
}

void tb_names_add(tbNames* names, int kind, const char* kept, int index)
{
  *place(names, kind, kept) = (tbNameSlot){kept, kind, index};
  names->count++;
}

// Entries behind a hole that would be found before it move into it, so that no search ends there too early.
static void close_hole(tbNames* names, size_t hole)
{
  size_t mask = names->capacity - 1;
  for (size_t i = (hole + 1) & mask; names->slot[i].name; i = (i + 1) & mask) {
    size_t home = hash(names->slot[i].kind, names->slot[i].name) & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue; // its search begins behind the hole
    names->slot[hole] = names->slot[i];
    hole = i;
  }
  names->slot[hole] = (tbNameSlot){0};
}

void tb_names_remove(tbNames* names, int kind, const char* name)
{
  tbNameSlot* gone = place(names, kind, name);
  int index = gone->index;
  close_hole(names, (size_t)(gone - names->slot));
  names->count--;
  tb_names_move_up(names, kind, index);
}

void tb_names_move_up(tbNames* names, int kind, int index)
{
  for (size_t i = 0; i < names->capacity; i++)
    if (names->slot[i].name && names->slot[i].kind == kind && names->slot[i].index > index)
      names->slot[i].index--;
}
