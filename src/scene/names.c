// A hash table of names (FNV-1a, linear probing, at most half full).
#include "scene/names.h"

#include <string.h>

typedef struct tbNameSlot {
  const char* name; // null: empty
  int kind, index;
} tbNameSlot;

void tb_names_init(tbNames* names, tbContext* ctx)
{
  *names = (tbNames){0};
  tb_arena_init(&names->text, ctx);
}

void tb_names_free(tbContext* ctx, tbNames* names)
{
  names->text.ctx = ctx;
  tb_arena_free(&names->text);
  tb_free(ctx, names->slot);
}

const char* tb_names_keep(tbContext* ctx, tbNames* names, const char* text)
{
  size_t size = strlen(text) + 1;
  names->text.ctx = ctx;
  char* copy = TB_TAKE(&names->text, char, size);
  return copy ? memcpy(copy, text, size) : NULL;
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
