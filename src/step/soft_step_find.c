// SPDX-License-Identifier: Apache-2.0
// Contacts of soft-step: those of the start of the step, by pairs of shapes.
//
// Boxes of the shapes grow by how far the body may go; pairs of them come from a list that is kept up to date
// (collide/pair_cache.h), points from soft_step_collide.c. Pairs that move far for their size are swept, and
// meshes and grids take their points, as in the other schemes (find.c).
#include "step/soft_step_find.h"

#include "base/memory.h"
#include "step/rows.h"

#include <string.h>

enum { SHAPES = 64 };

static inline double larger(double a, double b) { return a > b ? a : b; }

// As tb_shape_box_of, which would make the matrix of the box once more.
static tbBox box_about(const tbPlacedBox* b)
{
  double e[3];
  for (int i = 0; i < 3; i++)
    e[i] =
        fabs(b->R.m[i][0]) * b->half[0] + fabs(b->R.m[i][1]) * b->half[1] + fabs(b->R.m[i][2]) * b->half[2];
  return (tbBox){tb_sub3(b->x, tb_load3(e)), tb_add3(b->x, tb_load3(e))};
}

static void place_shapes(void* user, int begin, int end, int piece)
{
  (void)piece;
  const tbSoftStepSearch* s = user;
  const int* owner = s->world->owner.data;
  for (int i = begin; i < end; i++) {
    int at = owner[i];
    const tbSoftStepTraveller* b = &s->body[at];
    const tbShape* shape = &tb_shapes(s->world)[i];
    tb_narrow_shape(shape, s->pose[at], &s->shape[i]);
    tbBox box =
        shape->type == TB_SHAPE_BOX ? box_about(&s->shape[i].box) : tb_shape_box_of(shape, s->pose[at]);
    double g = larger(0.5 * s->options->margin, s->drop);
    if (!b->fixed) g += b->way + b->turn + 1e-3 * b->radius;
    if (!(g < INFINITY)) g = 0; // an infinite plane that turns: its box is infinite already
    tbVec3 grow = tb_vec3(g, g, g);
    s->item[i] = (tbBroadItem){{tb_sub3(box.lo, grow), tb_add3(box.hi, grow)}, at, !b->fixed};
  }
}

static tbStatus find_pairs(tbContext* ctx, tbArena* arena, tbSoftStepWork* soft, tbSoftStepSearch* s)
{
  const tbWorld* w = s->world;
  tbSoftStepCache* cache = soft->cache;
  size_t nshape = w->shape.count;
  s->body = soft->traveller;
  s->drop = tb_norm3(w->gravity) * s->options->dt * s->options->dt;
  s->joined = tb_joined_bodies(arena, w, &s->njoined);
  s->shape = tb_soft_step_room(ctx, &cache->shape, sizeof(tbNarrowShape), nshape);
  s->item = tb_soft_step_room(ctx, &cache->item, sizeof(tbBroadItem), nshape);
  if (!s->joined || !s->shape || !s->item) return TB_ERROR_MEMORY;
  tb_parallel_for(ctx->threads, (int)nshape, SHAPES, place_shapes, s);
  TB_TRY(tb_pair_cache_update(ctx, cache->pairs, s->item, (int)nshape, NULL));
  s->pair = tb_pair_cache_pairs(cache->pairs, &s->npair);
  tbArray old = cache->remembered[0];
  cache->remembered[0] = cache->remembered[1], cache->remembered[1] = old;
  tbArray touching = cache->touching[0];
  cache->touching[0] = cache->touching[1], cache->touching[1] = touching;
  s->before = old.data;
  s->now = tb_soft_step_room(ctx, &cache->remembered[0], sizeof(tbSoftStepPair), (size_t)s->npair);
  s->known = cache->steps == w->steps && cache->records == w->contact.count;
  cache->steps = -1;
  return s->now ? TB_OK : TB_ERROR_MEMORY;
}

// Constraints of a swept pair, or with a mesh, as contacts of up to four points along one normal.
static int add_special(const tbSoftStepSearch* s, const tbCachedPair* pair, const tbContactConstraint* t,
                       int count, tbSoftStepContact* out)
{
  int records, n = 0;
  const tbContactRecord* record = tb_soft_step_records_of(s, pair, &records);
  for (int i = 0; i < count; i++) {
    tbSoftStepContact* c = n > 0 ? &out[n - 1] : NULL;
    bool joins = c && c->count < TB_SOFT_STEP_POINTS && tb_dot3(c->normal, t[i].point.normal) > 1 - 1e-9;
    if (!joins) {
      c = &out[n++];
      *c = (tbSoftStepContact){
          .shape_a = pair->a, .shape_b = pair->b, .body_a = t[i].body_a, .body_b = t[i].body_b};
      c->normal = t[i].point.normal;
      tb_normal_turns(t[i].point.feature, c->with);
      c->round[0] = tb_soft_step_radius_of(&s->shape[pair->a], c->normal);
      c->round[1] = tb_soft_step_radius_of(&s->shape[pair->b], c->normal);
    }
    int k = c->count++;
    c->point[k].position = t[i].position, c->point[k].gap = t[i].point.gap;
    c->point[k].feature = t[i].point.feature;
  }
  for (int i = 0; i < n; i++) {
    tb_soft_step_friction(s->world, s->options, s->body, &(tbSoftStepMet){.a = -1}, &out[i]);
    if (s->options->warm_start && records > 0) tb_soft_step_warm_start(s->world, record, records, &out[i]);
  }
  return n;
}

// Whether a pair touches that was thought to be at rest on one side: the islands of these are awake then.
static bool wake_touched(const tbSoftStepSearch* s, tbSoftStepWork* soft)
{
  const int* owner = s->world->owner.data;
  bool any = false;
  for (int i = 0; s->still && i < s->npair; i++) {
    if (s->result[i].points == TB_SOFT_STEP_NOTHING || s->result[i].points == TB_SOFT_STEP_KEPT) continue;
    int a = owner[s->pair[i].a], b = owner[s->pair[i].b];
    for (int side = 0; side < 2; side++) {
      int body = side ? b : a;
      if (!soft->still[body] || !s->body[body].moves) continue;
      soft->still[body] = false, any = true;
    }
  }
  if (any) tb_soft_step_wake(s->world, soft);
  return any;
}

static int specials(const tbSoftStepSearch* s, tbPair* out)
{
  int count = 0;
  for (int i = 0; i < s->npair; i++)
    if (s->result[i].points == TB_SOFT_STEP_SPECIAL) out[count++] = (tbPair){s->pair[i].a, s->pair[i].b};
  return count;
}

// All contacts in the order of the pairs: those of the pieces stand where their pairs began, and special ones
// come in between, from `t`, which is in that order, too.
static tbStatus gather(tbContext* ctx, tbArena* arena, const tbSoftStepSearch* s, const tbArray* special,
                       tbSoftStepWork* soft)
{
  size_t most = special->count;
  for (int i = 0; i < s->npair; i++) most += (size_t)((s->result[i].points > 0) + (s->result[i].more > 0));
  const tbContactConstraint *t = special->data, *last = t + special->count;
  tbSoftStepContact* made =
      tb_soft_step_room(ctx, &soft->cache->special, sizeof(tbSoftStepContact), special->count);
  tbSoftStepEntry* e = soft->entry = TB_TAKE_UNSET(arena, tbSoftStepEntry, most);
  if (!made || !e) return TB_ERROR_MEMORY;
  const int* owner = s->world->owner.data;
  tbSoftStepContact* from = NULL;
  tbSoftStepExtremes all = {0};
  for (int i = 0; i < s->npair; i++) {
    const tbCachedPair* pair = &s->pair[i];
    if (i % TB_SOFT_STEP_PAIRS == 0) from = s->contact + 2 * i;
    const int8_t points[2] = {s->result[i].points, s->result[i].more};
    for (int k = 0; k < 2 && points[k] > 0; k++)
      *e++ = (tbSoftStepEntry){from++,
                               owner[pair->a],
                               owner[pair->b],
                               .pair = i,
                               .count = (uint8_t)points[k],
                               .fresh = s->result[i].fresh};
    if (s->result[i].points != TB_SOFT_STEP_SPECIAL) continue;
    int count = 0;
    while (t + count < last && t[count].shape_a == pair->a && t[count].shape_b == pair->b) count++;
    for (int n = add_special(s, pair, t, count, made); n > 0; n--, made++) {
      *e++ = (tbSoftStepEntry){
          made, made->body_a, made->body_b, .pair = i, .count = (uint8_t)made->count, .fresh = made->fresh};
      tb_soft_step_note(made, s->body[made->body_a].mass, s->body[made->body_b].mass, &all);
    }
    t += count;
  }
  for (int k = 0; k < tb_piece_count(s->npair, TB_SOFT_STEP_PAIRS); k++) {
    all.deepest = larger(all.deepest, s->extremes[k].deepest);
    all.uneven |= s->extremes[k].uneven, all.spins += s->extremes[k].spins;
  }
  soft->ncontact = (int)(e - soft->entry);
  soft->deepest = all.deepest, soft->uneven = all.uneven, soft->spins = all.spins;
  return TB_OK;
}

// Pairs at rest that have records.
static tbStatus keep(tbArena* arena, const tbSoftStepSearch* s, tbSoftStepWork* soft)
{
  int count = 0;
  const int* owner = s->world->owner.data;
  for (int i = 0; s->still && i < s->npair; i++) count += s->result[i].points == TB_SOFT_STEP_KEPT;
  if (count == 0) return TB_OK;
  soft->kept = TB_TAKE_UNSET(arena, tbSoftStepKept, (size_t)count);
  if (!soft->kept) return TB_ERROR_MEMORY;
  for (int i = 0; i < s->npair; i++) {
    int records = 0;
    if (s->result[i].points != TB_SOFT_STEP_KEPT) continue;
    const tbContactRecord* record = tb_soft_step_records_of(s, &s->pair[i], &records);
    if (records == 0) continue;
    int from = (int)(record - (const tbContactRecord*)s->world->contact.data);
    soft->kept[soft->nkept++] =
        (tbSoftStepKept){i, owner[s->pair[i].a], owner[s->pair[i].b], from, records, 0};
  }
  return TB_OK;
}

// Where the points of every contact, and the records of every pair, stand among all.
static void number_points(tbSoftStepWork* s)
{
  int kept = 0;
  for (int i = 0; i <= s->ncontact; i++) {
    tbSoftStepEntry* e = i < s->ncontact ? &s->entry[i] : NULL;
    for (; kept < s->nkept && (!e || s->kept[kept].pair < e->pair); kept++) {
      s->kept[kept].record = s->npoint + s->nkept_record;
      s->nkept_record += s->kept[kept].count;
    }
    if (!e) break;
    e->first = s->npoint, e->record = s->npoint + s->nkept_record;
    s->npoint += e->count;
  }
}

tbStatus tb_soft_step_find(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                           tbSoftStepWork* soft)
{
  tbSoftStepSearch s = {.world = w, .options = o, .unconstrained = work->unconstrained, .pose = work->pose};
  TB_TRY(find_pairs(ctx, work->arena, soft, &s));
  if (s.known)
    work->before = (tbTouching){soft->cache->touching[1].data, (int)soft->cache->touching[1].count};
  s.contact = tb_soft_step_room(ctx, &soft->cache->contact, sizeof(tbSoftStepContact), 2 * (size_t)s.npair);
  s.result = TB_TAKE_UNSET(work->arena, tbSoftStepResult, (size_t)s.npair);
  s.extremes = TB_TAKE(work->arena, tbSoftStepExtremes, (size_t)tb_piece_count(s.npair, TB_SOFT_STEP_PAIRS));
  tbPair* pairs = TB_TAKE_UNSET(work->arena, tbPair, (size_t)s.npair);
  if (!s.contact || !s.result || !s.extremes || !pairs) return TB_ERROR_MEMORY;
  s.still = soft->still;
  do { // until nothing more wakes
    memset(s.extremes, 0, (size_t)tb_piece_count(s.npair, TB_SOFT_STEP_PAIRS) * sizeof *s.extremes);
    tb_parallel_for(ctx->threads, s.npair, TB_SOFT_STEP_PAIRS, tb_soft_step_collide, &s);
  } while (wake_touched(&s, soft));
  int count = specials(&s, pairs);
  work->constraints.count = 0;
  if (count > 0)
    TB_TRY(tb_find_contacts_of(ctx, work->arena, w, o, work->unconstrained, work->pose, pairs, count,
                               &work->constraints));
  TB_TRY(gather(ctx, work->arena, &s, &work->constraints, soft));
  TB_TRY(keep(work->arena, &s, soft));
  number_points(soft);
  return TB_OK;
}

static void add_touching(int a, int b, tbBodyPair* touching, int* count)
{
  tbBodyPair pair = {a < b ? a : b, a < b ? b : a};
  const tbBodyPair* last = *count > 0 ? &touching[*count - 1] : NULL;
  if (!last || last->a != pair.a || last->b != pair.b) touching[(*count)++] = pair;
}

void tb_soft_step_remember(const tbWorld* w, tbStepWork* work, tbSoftStepWork* s)
{
  tbSoftStepPair* now = s->cache->remembered[0].data;
  tbBodyPair* touching = s->cache->touching[0].data;
  int pairs, count = 0;
  tb_pair_cache_pairs(s->cache->pairs, &pairs);
  for (int i = 0; i < pairs; i++) now[i].records = 0;
  for (int i = 0; i < s->ncontact; i++) {
    const tbSoftStepEntry* e = &s->entry[i];
    tbSoftStepPair* pair = &now[e->pair];
    if (pair->records == 0) pair->record = e->record;
    pair->records += e->count;
    if (e->touches) add_touching(e->body_a, e->body_b, touching, &count);
  }
  const tbContactRecord* record = w->contact.data;
  for (int i = 0; i < s->nkept; i++) {
    const tbSoftStepKept* k = &s->kept[i];
    now[k->pair].record = k->record, now[k->pair].records = k->count;
    bool touches = false;
    for (int p = 0; p < k->count; p++) touches |= record[k->record + p].impulse[0] > 0;
    if (touches) add_touching(k->body_a, k->body_b, touching, &count);
  }
  count = tb_events_sort(touching, count);
  s->cache->touching[0].count = (size_t)count;
  work->after = (tbTouching){touching, count};
  s->cache->steps = w->steps, s->cache->records = w->contact.count;
}
