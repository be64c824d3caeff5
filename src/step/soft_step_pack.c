// SPDX-License-Identifier: Apache-2.0
// Pairs become batches, group by group (soft_step_regions.c): those of a batch have no moving body in common,
// so that sixteen of them can be solved side by side.
//
// Pairs come sorted: those of two moving bodies first, then those with one that does not move; known ones
// before new ones, whose batches are solved many times over at first; and by how many points they have, most
// first, lest lanes wait for others. Each takes a lane of the first batch that has one and none of its
// bodies, and is not for fewer points. A body's 64 bits say which of the group's open batches have it. A pair
// that finds 64 of them open, and none for it, gets a batch of its own.
//
// Cost      linear in pairs.
#include "step/soft_step_work.h"

#include "base/memory.h"
#include "base/prefetch.h"

#include <string.h>

enum { BATCHES = 4 }; // in a piece of work
enum { SORTS = 4 * TB_SOFT_STEP_POINTS };
enum { OPEN = 64, FULL = TB_SOFT_STEP_LANES };

// Batches of a group: so many so far, and those that have room.
typedef struct {
  int count;
  uint64_t open, fresh;                 // places that are taken; by batches of new pairs
  uint64_t points[TB_SOFT_STEP_POINTS]; // by batches of so many points, and more: from one on
  int batch[OPEN], lanes[OPEN];         // at a place
  int body[OPEN][2 * FULL];
} Group;

typedef struct {
  int group, place; // batch of the group · lanes + lane
} Lot;              // of a pair

// Of the lowest part of space that holds two bodies; level: how many times it was halved.
static int group_of(const tbSoftStepWork* s, int region_a, int region_b, int* level)
{
  unsigned differ = (unsigned)(region_a ^ region_b);
  *level = differ ? 32 - __builtin_clz(differ) : 0;
  return tb_soft_step_group(s, *level) + (region_a >> *level);
}

// The pairs in the order in which they take their lanes.
static void sort_pairs(const tbSoftStepWork* s, int* out)
{
  int count[SORTS + 1] = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < s->ncontact; i++) {
      const tbSoftStepEntry* c = &s->entry[i];
      bool still = s->index[c->body_a] >= s->moving || s->index[c->body_b] >= s->moving;
      int sort = (2 * still + c->fresh) * TB_SOFT_STEP_POINTS + TB_SOFT_STEP_POINTS - c->count;
      if (pass == 0) count[sort + 1]++;
      else out[count[sort]++] = i;
    }
    for (int k = 0; pass == 0 && k < SORTS; k++) count[k + 1] += count[k];
  }
}

// Opens a batch at a place that is not taken.
static int open_batch(Group* g, bool fresh, int points)
{
  int at = __builtin_ctzll(~g->open);
  uint64_t bit = (uint64_t)1 << at;
  g->batch[at] = g->count++, g->lanes[at] = 0;
  g->open |= bit, g->fresh = fresh ? g->fresh | bit : g->fresh & ~bit;
  for (int k = 0; k < TB_SOFT_STEP_POINTS; k++)
    g->points[k] = k < points ? g->points[k] | bit : g->points[k] & ~bit;
  return at;
}

// A full batch leaves its place; used: of a body, at every `stride`th.
static void close_batch(Group* g, int at, uint64_t* used, int stride)
{
  uint64_t bit = (uint64_t)1 << at;
  for (int k = 0; k < 2 * FULL; k++) used[g->body[at][k] * stride] &= ~bit;
  g->open &= ~bit;
}

// a, b: its moving bodies, twice the same where it has one. Returns the pair's place in the group.
static int take_lane(Group* g, const tbSoftStepEntry* c, int a, int b, uint64_t* used, int stride)
{
  uint64_t *of_a = &used[a * stride], *of_b = &used[b * stride];
  uint64_t room = g->open & ~(*of_a | *of_b) & g->points[c->count - 1] & (c->fresh ? g->fresh : ~g->fresh);
  if (!room && !~g->open) return g->count++ * FULL;
  int at = room ? __builtin_ctzll(room) : open_batch(g, c->fresh, c->count);
  int lane = g->lanes[at]++, place = g->batch[at] * FULL + lane;
  *of_a |= (uint64_t)1 << at, *of_b |= (uint64_t)1 << at;
  g->body[at][2 * lane] = a, g->body[at][2 * lane + 1] = b;
  if (lane == FULL - 1) close_batch(g, at, used, stride);
  return place;
}

// used: places of the open batches that have a body, for each level.
static void assign(const tbSoftStepWork* s, const uint8_t* region, const int* sorted, uint64_t* used,
                   Group* group, Lot* lot)
{
  int levels = s->levels + 1, level;
  for (int k = 0; k < s->ncontact; k++) {
    const tbSoftStepEntry* c = &s->entry[sorted[k]];
    int a = s->index[c->body_a], b = s->index[c->body_b];
    if (a >= s->moving) a = b; // one of them moves
    if (b >= s->moving) b = a;
    int g = group_of(s, region[a], region[b], &level);
    lot[k] = (Lot){g, take_lane(&group[g], c, a, b, used + level, levels)};
  }
}

static void put3(tbSoftStepLane out[3], int lane, tbVec3 x)
{
  out[0][lane] = (float)x.x, out[1][lane] = (float)x.y, out[2][lane] = (float)x.z;
}

static void put_contact(const tbSoftStepWork* s, const tbSoftStepContact* c, tbSoftStepBatch* batch, int lane)
{
  int a = s->index[c->body_a], b = s->index[c->body_b];
  float share = 1 / (float)s->substeps;
  tbVec3 xa = s->centre[c->body_a].x, xb = s->centre[c->body_b].x;
  batch->a[lane] = a, batch->b[lane] = b;
  put3(batch->normal, lane, c->normal);
  put3(batch->tangent, lane, c->tangent);
  put3(batch->across, lane, tb_sub3(xa, xb));
  double most = c->mu_t > c->mu_b ? c->mu_t : c->mu_b,
         least = 1e-6 * most; // an ellipse may be thin, not flat
  batch->mu_t[lane] = (float)(c->mu_t > least ? c->mu_t : least);
  batch->mu_b[lane] = (float)(c->mu_b > least ? c->mu_b : least);
  batch->with_a[lane] = c->with[0], batch->with_b[lane] = c->with[1];
  batch->round_a[lane] = c->round[0], batch->round_b[lane] = c->round[1];
  batch->rolls |= c->round[0] > 0 || c->round[1] > 0;
  batch->restitution[lane] = (float)c->restitution;
  batch->bounces |= c->restitution > 0;
  tbSoftStepSpring spring = tb_soft_step_spring(&c->spring, s->h);
  batch->spring_rate[lane] = (float)spring.rate, batch->spring_give[lane] = (float)spring.give;
  batch->tresca[lane] = (float)(c->tresca * s->h);
  batch->springs |= spring.give > 0, batch->bounded |= c->tresca > 0;
  batch->fresh |= c->fresh;
  for (int k = 0; k < c->count; k++) {
    tbSoftStepPoint* p = &batch->point[k];
    put3(p->arm, lane, tb_sub3(c->point[k].position, xa));
    p->gap[lane] = (float)c->point[k].gap;
    p->mass[lane] = 1;
    for (int r = 0; r < 3; r++) p->lambda[r][lane] = share * c->point[k].impulse[r];
  }
}

// Lanes without a pair: two bodies that do not move, and nothing else. Where all lanes have all points, no
// more is cleared than is not written anyway.
static void clear(const tbSoftStepWork* s, tbSoftStepBatch* batch, int points, int lanes, bool full)
{
  size_t pair = offsetof(tbSoftStepBatch, normal), all = offsetof(tbSoftStepBatch, point);
  memset(batch, 0, full ? pair : all + (size_t)points * sizeof *batch->point);
  for (int k = 0; full && k < points; k++) memset(batch->point[k].total, 0, sizeof batch->point[k].total);
  batch->points = points, batch->lanes = lanes;
  if (full) return;
  for (int k = 0; k < TB_SOFT_STEP_LANES; k++) batch->a[k] = batch->b[k] = s->bodies;
}

static void fill(void* user, int begin, int end, int piece)
{
  (void)piece;
  tbSoftStepWork* s = user;
  for (int i = begin; i < end; i++) {
    tbSoftStepBatch* batch = &s->batch[i];
    const int* at = s->order + TB_SOFT_STEP_LANES * i;
    int points = 0, lanes = 0, all = 0;
    for (int lane = 0; lane < TB_SOFT_STEP_LANES; lane++) {
      if (at[lane] < 0) continue;
      int count = s->entry[at[lane]].count;
      points = count > points ? count : points, lanes = lane + 1, all += count;
    }
    for (int lane = 0; lane < TB_SOFT_STEP_LANES && i + 1 < end; lane++)
      if (at[TB_SOFT_STEP_LANES + lane] >= 0)
        tb_prefetch(s->entry[at[TB_SOFT_STEP_LANES + lane]].contact, sizeof(tbSoftStepContact));
    clear(s, batch, points, lanes, all == TB_SOFT_STEP_LANES * points);
    for (int lane = 0; lane < lanes; lane++)
      if (at[lane] >= 0) {
        tbSoftStepContact* c = s->entry[at[lane]].contact;
        c->place = i * TB_SOFT_STEP_LANES + lane;
        put_contact(s, c, batch, lane);
      }
  }
  tb_soft_step_begin(s->batch, begin, end, s->body, s->mass);
}

tbStatus tb_soft_step_pack(tbContext* ctx, tbArena* arena, tbSoftStepWork* s)
{
  int groups = (2 << s->levels) - 1;
  Group* group = TB_TAKE_UNSET(arena, Group, (size_t)groups);
  uint8_t* region = TB_TAKE_UNSET(arena, uint8_t, (size_t)s->moving);
  uint64_t* used = TB_TAKE(arena, uint64_t, (size_t)s->moving * (size_t)(s->levels + 1));
  int* sorted = TB_TAKE_UNSET(arena, int, (size_t)s->ncontact);
  Lot* lot = TB_TAKE_UNSET(arena, Lot, (size_t)s->ncontact);
  if (!group || !region || !used || !sorted || !lot) return TB_ERROR_MEMORY;
  for (int k = 0; k < groups; k++) group[k].count = 0, group[k].open = group[k].fresh = 0;
  for (int k = 0; k < 1 << s->levels; k++)
    memset(region + s->region[k], k, (size_t)(s->region[k + 1] - s->region[k]));
  sort_pairs(s, sorted);
  assign(s, region, sorted, used, group, lot);
  s->group[0] = 0;
  for (int k = 0; k < groups; k++) s->group[k + 1] = s->group[k] + group[k].count;
  int batches = s->group[groups];
  s->batch = tb_soft_step_room(ctx, &s->cache->batch, sizeof(tbSoftStepBatch), (size_t)batches);
  s->order = TB_TAKE_UNSET(arena, int, (size_t)batches* TB_SOFT_STEP_LANES);
  if (!s->batch || !s->order) return TB_ERROR_MEMORY;
  for (int i = 0; i < batches * TB_SOFT_STEP_LANES; i++) s->order[i] = -1;
  for (int k = 0; k < s->ncontact; k++)
    s->order[s->group[lot[k].group] * TB_SOFT_STEP_LANES + lot[k].place] = sorted[k];
  tb_parallel_for(ctx->threads, batches, BATCHES, fill, s);
  return TB_OK;
}
