// SPDX-License-Identifier: Apache-2.0
// What NAME.KEY means in a scene file: the place of a number or an array of numbers, or where one would
// stand.
#include "gradient/objective.h"

#include "scene/kind.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char* const sections[] = {"bodies", "soft", "cloth", "reduced", "animated", "joints", NULL};
// Keys with a default, by which a place may be absent.
static const char* const body_keys[] = {"position", "velocity", "angular_velocity", "orientation",
                                        "mass",     "friction", "restitution",      NULL};
static const char* const material_keys[] = {"density", "friction", "restitution", NULL};
static const char* const root_keys[] = {"gravity", NULL};
static const char* const own_keys[] = {"position", "velocity", "angular_velocity", "mass"};
// How a scene is run is no parameter.
static const char* const fixed_keys[] = {"tribo", "dt",     "time",   "threads", "seed",
                                         "name",  "scheme", "solver", "contact", NULL};

static bool is_among(const char* word, const char* const* list)
{
  for (; *list; list++)
    if (strcmp(word, *list) == 0) return true;
  return false;
}

static const tbJson* member(const tbJson* list, uint32_t i) { return &list->items[i]; }

// The object of that name: of a body, a deformable one, or a material.
static const tbJson* find_named(const tbJson* root, const char* name, size_t length, bool materials)
{
  for (int s = 0; !materials && sections[s]; s++) {
    const tbJson* list = tb_json_find(root, sections[s]);
    for (uint32_t i = 0; list && list->type == TB_JSON_ARRAY && i < list->count; i++) {
      const tbJson* own = tb_json_find(member(list, i), "name");
      if (own && own->type == TB_JSON_STRING && own->count == length &&
          memcmp(own->string, name, length) == 0)
        return member(list, i);
    }
  }
  const tbJson* list = materials ? tb_json_find(root, "materials") : NULL;
  for (uint32_t i = 0; list && list->type == TB_JSON_OBJECT && i < list->count; i++)
    if (strlen(member(list, i)->key->text) == length && memcmp(member(list, i)->key->text, name, length) == 0)
      return member(list, i);
  return NULL;
}

static bool is_body(const tbScene* scene, const char* name)
{
  return tb_world_find_body(scene->world, name).index >= 0;
}

static tbStatus unknown_name(tbContext* ctx, const tbObjective* o, const tbScene* scene, const char* name)
{
  char first[128];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "."), name);
  tbNearest near = tb_nearest(first);
  for (int i = 0; i < tb_world_body_count(scene->world); i++)
    tb_nearest_offer(&near, tb_body_name(scene->world, tb_world_body_at(scene->world, i)));
  const tbJson* list = tb_json_find(o->root, "materials");
  for (uint32_t i = 0; list && list->type == TB_JSON_OBJECT && i < list->count; i++)
    tb_nearest_offer(&near, member(list, i)->key->text);
  for (uint32_t i = 0; i < o->root->count; i++) tb_nearest_offer(&near, member(o->root, i)->key->text);
  if (near.name && strcmp(near.name, first) == 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: \"%s\" is no number; name one of its own, as in \"%s.%s\"",
                   o->name, name, first, is_body(scene, first) ? "velocity" : "friction");
  if (near.name)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: \"%s\": nothing is called \"%s\"; did you mean \"%s\"?",
                   o->name, name, first, near.name);
  return tb_fail(ctx, TB_ERROR_ARGUMENT,
                 "%s: \"%s\": no body and no material is called \"%s\", and the file has no such key",
                 o->name, name, first);
}

// What the format, or the world, has where a key is absent. False: nothing.
static bool default_of(const tbScene* scene, int body, bool material, const char* key, tbSlot* s)
{
  s->count = 3, s->scalar = false;
  if (strcmp(key, "gravity") == 0) return s->value[2] = -9.81, true;
  if (body >= 0 && strcmp(key, "orientation") == 0) return s->count = 4, s->value[0] = 1, true;
  if (body >= 0 && (strcmp(key, "position") == 0 || strcmp(key, "velocity") == 0)) return true;
  if (body >= 0 && strcmp(key, "angular_velocity") == 0) return true;
  s->count = 1, s->scalar = true;
  if (material && strcmp(key, "density") == 0) return s->value[0] = 1000, true;
  if (material && strcmp(key, "friction") == 0) return s->value[0] = 0.5, true;
  if (material && strcmp(key, "restitution") == 0) return true;
  if (body < 0) return false;
  const tbBody* b = &tb_bodies(scene->world)[body];
  const tbContactMaterial* m = &tb_materials(scene->world)[b->material].contact_material;
  if (strcmp(key, "mass") == 0) return s->value[0] = b->mass, b->mass > 0;
  if (strcmp(key, "friction") == 0)
    return s->value[0] = m->friction.mu, m->friction.kind == TB_FRICTION_ISOTROPIC;
  if (strcmp(key, "restitution") == 0) return s->value[0] = m->restitution, true;
  return false;
}

// Which element of an array a word names, by its number or, of vectors and quaternions, its letter; −1: none.
static int element_at(const char* word, int count)
{
  const char* letters = count == 4 ? "wxyz" : count == 3 ? "xyz" : "";
  const char* letter = word[0] && !word[1] ? strchr(letters, word[0]) : NULL;
  if (letter) return (int)(letter - letters);
  char* end = NULL;
  unsigned long index = word[0] >= '0' && word[0] <= '9' ? strtoul(word, &end, 10) : ULONG_MAX;
  return index < (unsigned long)count && !*end ? (int)index : -1;
}

// One word of the path: from a value to one inside of it. *element: of an array of numbers.
static const tbJson* enter(const tbJson* at, const char* word)
{
  if (at->type == TB_JSON_OBJECT) return tb_json_find(at, word);
  if (at->type != TB_JSON_ARRAY) return NULL;
  bool numbers = at->count > 0 && at->items[0].type == TB_JSON_NUMBER;
  int index = numbers || (word[0] >= '0' && word[0] <= '9') ? element_at(word, (int)at->count) : -1;
  return index < 0 ? NULL : &at->items[index];
}

static bool is_numbers(const tbJson* node)
{
  if (node->type == TB_JSON_NUMBER) return true;
  if (node->type != TB_JSON_ARRAY || node->count == 0 || node->count > TB_SLOT_NUMBERS) return false;
  for (uint32_t i = 0; i < node->count; i++)
    if (node->items[i].type != TB_JSON_NUMBER) return false;
  return true;
}

static tbStatus no_element(tbContext* ctx, const tbJson* at, const char* name, const char* word,
                           uint32_t count)
{
  if (count == 0) return tb_json_fail(ctx, at, "\"%s\": there is no \"%s\": the list is empty", name, word);
  return tb_json_fail(ctx, at, "\"%s\": there is no \"%s\": elements are counted from 0 to %u", name, word,
                      count - 1);
}

static tbStatus missing(tbContext* ctx, const tbJson* at, const char* name, const char* word,
                        const char* const* known)
{
  if (at->type == TB_JSON_ARRAY) return no_element(ctx, at, name, word, at->count);
  tbNearest near = tb_nearest(word);
  for (int i = 0; known && known[i]; i++) tb_nearest_offer(&near, known[i]);
  for (uint32_t i = 0; at->type == TB_JSON_OBJECT && i < at->count; i++)
    if (at->items[i].type >= TB_JSON_ARRAY || at->items[i].type == TB_JSON_NUMBER)
      tb_nearest_offer(&near, at->items[i].key->text);
  if (near.name)
    return tb_json_fail(ctx, at, "\"%s\": there is no number \"%s\" here; did you mean \"%s\"?", name, word,
                        near.name);
  return tb_json_fail(ctx, at, "\"%s\": there is no number \"%s\" here; write it into the file first", name,
                      word);
}

static tbStatus not_numbers(tbContext* ctx, const tbJson* node, const char* name)
{
  char list[120] = "";
  for (uint32_t i = 0; node->type == TB_JSON_OBJECT && i < node->count; i++)
    tb_list_append(list, sizeof list, node->items[i].key->text);
  return tb_json_fail(ctx, node, "\"%s\" is not a number nor an array of numbers%s%s", name,
                      *list ? "; it holds " : "", list);
}

// The slot of a value, made when it is the first parameter there.
static tbStatus push_slot(tbContext* ctx, tbObjective* o, const tbSlot* slot, int* out)
{
  const tbSlot* have = o->slot.data;
  for (size_t i = 0; i < o->slot.count; i++)
    if (have[i].parent == slot->parent && have[i].node == slot->node && strcmp(have[i].key, slot->key) == 0)
      return *out = (int)i, TB_OK;
  *out = (int)o->slot.count;
  return tb_array_push(ctx, &o->slot, slot, 1);
}

static tbStatus push_address(tbContext* ctx, tbObjective* o, const char* name, const tbSlot* slot,
                             tbAddress* a)
{
  int first = a->element < 0 ? 0 : a->element;
  a->face = (tbParameter){
      .first = o->size, .count = a->element < 0 ? slot->count : 1, .scalar = a->element >= 0 || slot->scalar};
  for (int k = 0; k < a->face.count; k++) a->at[k] = slot->value[first + k];
  char* copy = TB_TAKE(&o->arena, char, strlen(name) + 1);
  if (!copy) return TB_ERROR_MEMORY;
  a->face.name = strcpy(copy, name);
  o->size += a->face.count;
  return tb_array_push(ctx, &o->address, a, 1);
}

static tbStatus take_numbers(tbContext* ctx, tbObjective* o, const char* name, const tbJson* parent,
                             const tbJson* node, int element, tbAddress* a)
{
  tbSlot slot = {.parent = parent, .node = node, .key = node->key ? node->key->text : "", .scalar = true};
  slot.count = 1;
  if (node->type == TB_JSON_NUMBER) slot.value[0] = tb_json_double(node);
  else {
    slot.scalar = false, slot.count = (int)node->count;
    for (int i = 0; i < slot.count; i++) slot.value[i] = tb_json_double(&node->items[i]);
  }
  TB_TRY(push_slot(ctx, o, &slot, &a->slot));
  a->element = element;
  return push_address(ctx, o, name, &slot, a);
}

// Walks the words after `start` and takes what is there.
static tbStatus walk(tbContext* ctx, tbObjective* o, const tbScene* scene, const char* name,
                     const char* words, const tbJson* start, const char* const* known, tbAddress* a)
{
  const tbJson *at = start, *parent = start;
  char word[64];
  while (*words) {
    size_t length = strcspn(words, ".");
    snprintf(word, sizeof word, "%.*s", (int)length, words);
    words += length + (words[length] == '.');
    const tbJson* next = enter(at, word);
    bool is_element = next && at->type == TB_JSON_ARRAY && next->type == TB_JSON_NUMBER;
    if (is_element && !*words && is_numbers(at))
      return take_numbers(ctx, o, name, parent, at, (int)(next - at->items), a);
    if (next) {
      parent = at, at = next;
      continue;
    }
    tbSlot slot = {.parent = at};
    bool usual = at == start && at->type == TB_JSON_OBJECT && is_among(word, known);
    if (!usual || !default_of(scene, a->body, known == material_keys, word, &slot))
      return missing(ctx, at, name, word, at == start ? known : NULL);
    char* key = TB_TAKE(&o->arena, char, strlen(word) + 1);
    if (!key) return TB_ERROR_MEMORY;
    slot.key = strcpy(key, word);
    TB_TRY(push_slot(ctx, o, &slot, &a->slot));
    a->element = -1;
    if (*words && slot.scalar) return missing(ctx, at, name, words, NULL);
    if (*words) a->element = element_at(words, slot.count);
    if (*words && a->element < 0) return no_element(ctx, at, name, words, (uint32_t)slot.count);
    return push_address(ctx, o, name, &slot, a);
  }
  if (!is_numbers(at)) return not_numbers(ctx, at, name);
  return take_numbers(ctx, o, name, parent, at, -1, a);
}

// A body that stands nowhere in the file by its name: a copy, or one without a name.
static tbStatus take_own(tbContext* ctx, tbObjective* o, const tbScene* scene, const char* name,
                         const char* key, tbAddress* a)
{
  const tbBody* b = &tb_bodies(scene->world)[a->body];
  tbBodyState state = tb_body_state(scene->world, tb_world_body_at(scene->world, a->body));
  tbSlot slot = {.count = 3};
  tbVec3 values[] = {state.position, state.velocity, state.angular_velocity};
  tbNearest near = tb_nearest(key);
  a->slot = -1, a->element = -1, a->own = TB_OWN_KEYS;
  for (int i = 0; i < TB_OWN_KEYS; i++) {
    tb_nearest_offer(&near, own_keys[i]);
    if (strcmp(own_keys[i], key) == 0) a->own = (tbOwnKey)i;
  }
  bool dynamic = b->motion == TB_BODY_DYNAMIC && b->kind->framed;
  if (a->own == TB_OWN_KEYS || !dynamic)
    return tb_fail(
        ctx, TB_ERROR_ARGUMENT,
        "%s: \"%s\": of a body without a place of its own in the file the parameters are position, "
        "velocity, angular_velocity and mass%s%s%s",
        o->name, name, near.name ? "; did you mean \"" : "", near.name ? near.name : "",
        near.name ? "\"?" : "");
  if (a->own == TB_OWN_MASS) slot = (tbSlot){.count = 1, .scalar = true, .value = {b->mass}};
  else tb_store3(slot.value, values[a->own]);
  a->initial = a->own == TB_OWN_VELOCITY || a->own == TB_OWN_SPIN;
  return push_address(ctx, o, name, &slot, a);
}

// Whether a parameter of a body acts through the state at the start alone.
static bool is_initial(const tbScene* scene, int body, const char* key)
{
  if (body < 0 || tb_bodies(scene->world)[body].motion != TB_BODY_DYNAMIC) return false;
  return strncmp(key, "velocity", 8) == 0 || strncmp(key, "angular_velocity", 16) == 0;
}

static int body_named(const tbScene* scene, const char* name, size_t length)
{
  for (int i = 0; i < tb_world_body_count(scene->world); i++) {
    const char* own = tb_body_name(scene->world, tb_world_body_at(scene->world, i));
    if (strlen(own) == length && memcmp(own, name, length) == 0) return i;
  }
  return -1;
}

// A body of the file, or the first of its copies.
static int body_of(const tbScene* scene, const char* name, size_t length)
{
  char copy[256];
  int place = body_named(scene, name, length);
  if (place >= 0 || length > sizeof copy - 3) return place;
  snprintf(copy, sizeof copy, "%.*s/0", (int)length, name);
  return body_named(scene, copy, length + 2);
}

tbStatus tb_address_find(tbContext* ctx, tbObjective* o, const tbScene* scene, const char* name)
{
  // The longest name that something has; a dot may be part of it.
  for (size_t length = strlen(name); length-- > 1;) {
    if (name[length] != '.' || !name[length + 1]) continue;
    const char* key = name + length + 1;
    const tbJson* thing = find_named(o->root, name, length, false);
    const tbJson* material = find_named(o->root, name, length, true);
    tbAddress a = {.slot = -1, .element = -1, .body = -1};
    char first[64];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(key, "."), key);
    if (material && (!thing || (!tb_json_find(thing, first) && tb_json_find(material, first))))
      return walk(ctx, o, scene, name, key, material, material_keys, &a);
    if (thing) {
      a.body = body_of(scene, name, length);
      a.initial = is_initial(scene, a.body, key);
      static const char* const kept[] = {"position",    "velocity", "angular_velocity",
                                         "orientation", "friction", NULL};
      if (a.body >= 0 && tb_bodies(scene->world)[a.body].kind->modes && !is_among(first, kept))
        return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                       "%s: \"%s\": the modes of a body change with it, and coordinates by other modes "
                       "cannot be compared",
                       o->name, name);
      return walk(ctx, o, scene, name, key, thing, body_keys, &a);
    }
    a.body = body_named(scene, name, length);
    if (a.body >= 0) return take_own(ctx, o, scene, name, key, &a);
  }
  char first[64];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "."), name);
  if (is_among(first, fixed_keys))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s: \"%s\" says how the scene is run and is no parameter of it",
                   o->name, name);
  if (!tb_json_find(o->root, first) && !is_among(first, root_keys)) return unknown_name(ctx, o, scene, name);
  tbAddress a = {.slot = -1, .element = -1, .body = -1};
  return walk(ctx, o, scene, name, name, o->root, root_keys, &a);
}
