// SPDX-License-Identifier: Apache-2.0
// What touches what in MJCF: contype and conaffinity, <pair> and <exclude>.
//
// Two geoms touch where the contype of one has a bit of the other's conaffinity. Bodies of a scene have a
// category and a mask each, so every pair of numbers that occurs becomes a category of its own, and its mask
// the categories it touches. A body of several kinds of geoms has the categories and masks of all of them:
// two bodies then touch where two of their geoms do.
#include "io/import/mjcf.h"

#include <string.h>

enum { CATEGORIES = 32 };

typedef struct {
  uint32_t type, affinity;
} Kind;

static bool touch(Kind a, Kind b) { return (a.type & b.affinity) || (b.type & a.affinity); }

// The number of a kind among those that occur; the usual one is 0. More than there are bits: the usual one.
static int kind_of(const Kind* kinds, int count, const tbMjTouch* t)
{
  for (int i = 0; i < count; i++)
    if (kinds[i].type == t->type && kinds[i].affinity == t->affinity) return i;
  return 0;
}

static int find_kinds(tbMj* m, Kind kinds[CATEGORIES])
{
  int count = 1;
  kinds[0] = (Kind){1, 1};
  for (const tbMjTouch* t = m->touches; t && count < CATEGORIES / 2; t = t->next) {
    bool known = false;
    for (int i = 0; i < count; i++) known |= kinds[i].type == t->type && kinds[i].affinity == t->affinity;
    if (!known && (t->type || t->affinity)) kinds[count++] = (Kind){t->type, t->affinity};
  }
  return count;
}

static tbStatus set_filters(tbMj* m)
{
  Kind kinds[CATEGORIES];
  int count = find_kinds(m, kinds);
  if (count == 1) return TB_OK;
  for (const tbMjTouch* t = m->touches; t; t = t->next) {
    if (!t->type && !t->affinity) continue; // of a pair alone
    int own = kind_of(kinds, count, t);
    uint32_t bits = own == 0 ? ~((1u << count) - 1) : 0; // what is added to the scene touches the usual kind
    for (int i = 0; i < count; i++)
      if (touch(kinds[own], kinds[i])) bits |= 1u << i;
    bool other = t->body->category && (t->body->category != 1u << own || t->body->mask != bits);
    t->body->category |= 1u << own, t->body->mask |= bits;
    if (other)
      TB_TRY(tb_robot_note(m->r, t->at,
                           "the geoms of \"%.60s\" have several contypes or conaffinities: all of them touch "
                           "what one of them does",
                           t->body->name));
  }
  return TB_OK;
}

static tbMjTouch* touch_named(tbMj* m, const char* name)
{
  for (tbMjTouch* t = m->touches; t; t = t->next)
    if (name && t->name && strcmp(t->name, name) == 0) return t;
  return NULL;
}

// Two geoms that touch whatever they are: a category that only the two bodies have.
static tbStatus read_pair(tbMj* m, tbXml* xml, int* used)
{
  tbMjAt at;
  TB_TRY(tb_mj_at(m, xml, NULL, &at));
  tb_xml_get(xml, "name");
  const char *first = tb_xml_get(xml, "geom1"), *second = tb_xml_get(xml, "geom2");
  tbMjTouch *a = touch_named(m, first), *b = touch_named(m, second);
  if (!a || !b)
    return tb_xml_fail(m->r->ctx, xml, "there is no geom \"%.60s\"",
                       !a && first ? first
                       : second    ? second
                                   : "");
  if (a->body == b->body) return tb_robot_note(m->r, xml, "a <pair> of one body is not in the scene");
  for (int i = 0; i < 2; i++) { // geoms without a contype are in no category yet
    tbRobotBody* body = (i ? b : a)->body;
    if (!body->category && !(i ? b : a)->type && !(i ? b : a)->affinity) continue;
    if (!body->category) body->category = 1, body->mask = 0xffffffff;
  }
  bool already = a->body->category && b->body->category && (a->body->category & b->body->mask) &&
                 (b->body->category & a->body->mask);
  if (already) return TB_OK;
  if (*used == CATEGORIES / 2)
    return tb_robot_note(m->r, xml, "more than %d <pair>s are not in the scene", CATEGORIES / 2);
  uint32_t bit = 1u << (CATEGORIES - 1 - (*used)++);
  a->body->category |= bit, a->body->mask |= bit;
  b->body->category |= bit, b->body->mask |= bit;
  return TB_OK;
}

bool tb_mj_in_pair(tbMj* m, const char* geom)
{
  for (tbXml* list = tb_xml_child(m->root, "contact"); list && geom; list = tb_xml_next(list, "contact"))
    for (tbXml* xml = tb_xml_child(list, "pair"); xml; xml = tb_xml_next(xml, "pair")) {
      const char *a = tb_xml_get(xml, "geom1"), *b = tb_xml_get(xml, "geom2");
      if ((a && strcmp(a, geom) == 0) || (b && strcmp(b, geom) == 0)) return true;
    }
  return false;
}

tbStatus tb_mj_contacts(tbMj* m)
{
  int used = 0;
  TB_TRY(set_filters(m));
  for (tbXml* list = tb_xml_child(m->root, "contact"); list; list = tb_xml_next(list, "contact")) {
    for (tbXml* xml = tb_xml_child(list, "pair"); xml; xml = tb_xml_next(xml, "pair"))
      TB_TRY(read_pair(m, xml, &used));
    for (tbXml* xml = tb_xml_child(list, "exclude"); xml; xml = tb_xml_next(xml, "exclude")) {
      tbRobotPair pair = {
          .kind = TB_PAIR_IGNORE, .a = tb_xml_get(xml, "body1"), .b = tb_xml_get(xml, "body2"), .at = xml};
      tb_xml_get(xml, "name");
      if (!pair.a || !pair.b) return tb_xml_fail(m->r->ctx, xml, "<exclude> needs body1 and body2");
      if (strcmp(pair.a, "world") == 0) pair.a = "worldbody"; // the body that has its geoms
      if (strcmp(pair.b, "world") == 0) pair.b = "worldbody";
      TB_TRY(tb_mj_add_pair(m, pair));
    }
  }
  return TB_OK;
}
