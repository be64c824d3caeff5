// SPDX-License-Identifier: Apache-2.0
// Pairs become batches, group by group (soft_step_regions.c): those of one colour have no moving body in
// common, so that sixteen of them can be solved side by side.
//
// Colouring is greedy in the order of the pairs, which is that of their shapes: first those of two moving
// bodies, then those with one that does not move. Within a colour pairs are sorted, lest lanes wait for
// others. Pairs beyond the last colour, of a body with more neighbours than there are colours, get batches of
// their own.
//
// Cost      linear in pairs.
#include "step/soft_step_work.h"

#include "base/memory.h"
#include "base/prefetch.h"

#include <string.h>

// Pairs of a colour are sorted by how many points they have, most first, and by whether they are new.
enum { SORTS = 2 * TB_SOFT_STEP_POINTS, BATCHES = 4 };
static int sort_of(const tbSoftStepEntry* c) { return 2 * (TB_SOFT_STEP_POINTS - c->count) + c->fresh; }

// Pairs of a group by colour and sort; then where they begin, as batch · lanes + lane.
typedef struct {
  int count[TB_SOFT_STEP_COLOURS + 1][SORTS];
} Census;

typedef struct {
  uint8_t group, colour;
} Lot; // of a pair

static int lowest_free(uint64_t used) { return ~used ? __builtin_ctzll(~used) : TB_SOFT_STEP_COLOURS; }

// Of the lowest part of space that holds two bodies; level: how many times it was halved.
static int group_of(const tbSoftStepWork* s, int region_a, int region_b, int* level)
{
  unsigned differ = (unsigned)(region_a ^ region_b);
  *level = differ ? 32 - __builtin_clz(differ) : 0;
  return tb_soft_step_group(s, *level) + (region_a >> *level);
}

// used: colours of a body's pairs, for each level.
static void colour(const tbSoftStepWork* s, const uint8_t* region, uint64_t* used, Lot* lot, Census* census)
{
  int levels = s->levels + 1, level;
  for (int still = 0; still < 2; still++)
    for (int i = 0; i < s->ncontact; i++) {
      const tbSoftStepEntry* c = &s->entry[i];
      int a = s->index[c->body_a], b = s->index[c->body_b];
      if ((a < s->moving && b < s->moving) == (still == 1)) continue;
      if (a >= s->moving) a = b; // one of them moves
      if (b >= s->moving) b = a;
      int group = group_of(s, region[a], region[b], &level);
      uint64_t *of_a = &used[a * levels + level], *of_b = &used[b * levels + level];
      int k = lowest_free(*of_a | *of_b);
      if (k < TB_SOFT_STEP_COLOURS) *of_a |= (uint64_t)1 << k, *of_b |= (uint64_t)1 << k;
      lot[i] = (Lot){(uint8_t)group, (uint8_t)k};
      census[group].count[k][sort_of(c)]++;
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

// Lanes of a pair: beyond the last colour, all of a batch.
static int stride(int colour) { return colour == TB_SOFT_STEP_COLOURS ? TB_SOFT_STEP_LANES : 1; }

static int lay_out(int groups, Census* census, tbSoftStepWork* s)
{
  int batches = 0;
  for (int g = 0; g < groups; g++) {
    s->group[g] = batches;
    for (int k = 0; k <= TB_SOFT_STEP_COLOURS; k++) {
      int lanes = 0;
      for (int sort = 0; sort < SORTS; sort++) {
        int count = census[g].count[k][sort];
        census[g].count[k][sort] = batches * TB_SOFT_STEP_LANES + lanes;
        lanes += count * stride(k);
      }
      batches += tb_piece_count(lanes, TB_SOFT_STEP_LANES);
    }
  }
  s->group[groups] = batches;
  return batches;
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
  Census* census = TB_TAKE(arena, Census, (size_t)groups);
  uint8_t* region = TB_TAKE_UNSET(arena, uint8_t, (size_t)s->moving);
  uint64_t* used = TB_TAKE(arena, uint64_t, (size_t)s->moving * (size_t)(s->levels + 1));
  Lot* lot = TB_TAKE_UNSET(arena, Lot, (size_t)s->ncontact);
  if (!census || !region || !used || !lot) return TB_ERROR_MEMORY;
  for (int k = 0; k < 1 << s->levels; k++)
    memset(region + s->region[k], k, (size_t)(s->region[k + 1] - s->region[k]));
  colour(s, region, used, lot, census);
  int batches = lay_out(groups, census, s);
  s->batch = tb_soft_step_room(ctx, &s->cache->batch, sizeof(tbSoftStepBatch), (size_t)batches);
  s->order = TB_TAKE_UNSET(arena, int, (size_t)batches* TB_SOFT_STEP_LANES);
  if (!s->batch || !s->order) return TB_ERROR_MEMORY;
  for (int i = 0; i < batches * TB_SOFT_STEP_LANES; i++) s->order[i] = -1;
  for (int i = 0; i < s->ncontact; i++) {
    int* place = &census[lot[i].group].count[lot[i].colour][sort_of(&s->entry[i])];
    s->order[*place] = i;
    *place += stride(lot[i].colour);
  }
  tb_parallel_for(ctx->threads, batches, BATCHES, fill, s);
  return TB_OK;
}
