// SPDX-License-Identifier: Apache-2.0
// Contacts of soft-step: those of the start of the step, by pairs of shapes.
//
// Boxes of the shapes grow by how far the body may go; pairs of them come from a list that is kept up to date
// (collide/pair_cache.h), points from tb_narrow, which is spared most pairs that are merely near by what kept
// them apart the last time. Points are looked for as far ahead as the two may come together in the step, also
// after something else has stopped one of them. Pairs that move far for their size are swept, and meshes
// and grids take their points, as in the other schemes (find.c).
#include "step/soft_step_work.h"

#include "base/memory.h"
#include "base/prefetch.h"
#include "collide/gjk.h"
#include "step/rows.h"

enum { SHAPES = 64, PAIRS = 64, AHEAD = 6 };
static const double FAR = 0.1;     // of the smaller body: a turn in a step that brings other corners to it
static const double CLOSES = 0.25; // a gap that shrinks to less of itself may be closed by the end

static inline double larger(double a, double b) { return a > b ? a : b; }

// What a pair came to.
enum { NOTHING = 0, SPECIAL = -1 }; // or the number of points
typedef struct {
  int8_t points;
  int8_t more; // of a second contact
  bool fresh;
} Result;

// What is true of any contact of a piece.
typedef struct {
  double deepest;
  bool uneven;
  int spins;
} Extremes;

// What is asked of a body for each of its pairs: a tenth of all that is known of it.
typedef struct {
  tbVec3 v;         // after the step's forces
  double way, turn; // how far the centre may go, and a point turn
  double radius, mass;
  uint32_t category, mask; // which bodies it touches
  bool moves, bullet;
} Traveller;

typedef struct {
  const tbWorld* world;
  const tbStepOptions* options;
  const tbUnconstrained* unconstrained;
  const tbTransform* pose;
  const tbPair* joined;
  int njoined;
  tbNarrowShape* shape;
  tbBroadItem* item;
  Traveller* body;
  double drop; // that gravity makes in the step
  const tbCachedPair* pair;
  int npair;
  const tbSoftStepPair* before; // of the update before
  tbSoftStepPair* now;
  bool known;                 // records of the last step are where `before` says
  tbSoftStepContact* contact; // of a piece: from twice its first pair on
  Result* result;             // of a pair
  Extremes* extremes;         // of a piece
} Search;

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
  const Search* s = user;
  const int* owner = s->world->owner.data;
  for (int i = begin; i < end; i++) {
    int at = owner[i];
    const tbBody* b = &tb_bodies(s->world)[at];
    const tbShape* shape = &tb_shapes(s->world)[i];
    tb_narrow_shape(shape, s->pose[at], &s->shape[i]);
    tbBox box =
        shape->type == TB_SHAPE_BOX ? box_about(&s->shape[i].box) : tb_shape_box_of(shape, s->pose[at]);
    double g = larger(0.5 * s->options->margin, s->drop);
    if (b->motion != TB_BODY_FIXED) g += s->body[at].way + s->body[at].turn + 1e-3 * b->radius;
    if (!(g < INFINITY)) g = 0; // an infinite plane that turns: its box is infinite already
    tbVec3 grow = tb_vec3(g, g, g);
    s->item[i] =
        (tbBroadItem){{tb_sub3(box.lo, grow), tb_add3(box.hi, grow)}, at, b->motion != TB_BODY_FIXED};
  }
}

static void know_bodies(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Search* s = user;
  double h = s->options->dt;
  for (int i = begin; i < end; i++) {
    const tbBody* b = &tb_bodies(s->world)[i];
    const tbUnconstrained* f = &s->unconstrained[i];
    double v = larger(tb_norm3(b->v), tb_norm3(f->v)), w = larger(tb_norm3(b->w), tb_norm3(f->w));
    s->body[i] = (Traveller){.v = f->v,
                             .way = h * v,
                             .turn = w > 0 ? h * w * b->radius : 0,
                             .radius = b->radius,
                             .mass = b->mass,
                             .category = b->category,
                             .mask = b->mask,
                             .moves = b->motion == TB_BODY_DYNAMIC,
                             .bullet = b->bullet};
  }
}

// How far ahead to look at a pair; negative: it has to be swept.
static double look_ahead(const Search* s, const Traveller* a, const Traveller* b)
{
  double size = a->radius < b->radius ? a->radius : b->radius;
  double way = s->options->dt * tb_distance3(a->v, b->v) + a->turn + b->turn + s->drop + 1e-3 * size;
  if (!(way <= 0.5 * size) || a->bullet || b->bullet) return -1;
  double alone = 0, most = 0.25 * size; // once something else has stopped one of them
  if (a->moves) alone = a->way + a->turn;
  if (b->moves) alone = larger(alone, b->way + b->turn);
  return larger(larger(way, alone < most ? alone : most), s->options->margin);
}

static bool may_touch(const Search* s, int a, int b)
{
  const Traveller *A = &s->body[a], *B = &s->body[b];
  if ((!A->moves && !B->moves) || !(A->category & B->mask) || !(B->category & A->mask)) return false;
  if (s->world->ignored.count > 0 && !tb_world_may_touch(s->world, a, b)) return false;
  return !tb_is_joined(s->joined, s->njoined, a, b);
}

// The records of a pair in the last step.
static const tbContactRecord* records_of(const Search* s, const tbCachedPair* pair, int* count)
{
  const tbContactRecord* record = s->world->contact.data;
  if (s->known) { // what the update before did not list had none
    const tbSoftStepPair* was = pair->was >= 0 ? &s->before[pair->was] : NULL;
    *count = was ? was->records : 0;
    return was ? record + was->record : NULL;
  }
  int lo = 0, hi = (int)s->world->contact.count, end = hi;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    bool less =
        record[mid].shape_a < pair->a || (record[mid].shape_a == pair->a && record[mid].shape_b < pair->b);
    if (less) lo = mid + 1;
    else hi = mid;
  }
  for (hi = lo; hi < end && record[hi].shape_a == pair->a && record[hi].shape_b == pair->b;) hi++;
  *count = hi - lo;
  return record + lo;
}

// The radius about which a shape rolls where it is met along n; 0: it has corners there.
static float radius_of(const tbNarrowShape* s, tbVec3 n)
{
  if (s->type == TB_SHAPE_BOX) return 0;
  if (s->type != TB_SHAPE_CYLINDER) return (float)tb_core_radius(s->placed.shape);
  bool side = fabs(tb_dot3(tb_quat_rotate(s->placed.T.q, tb_vec3(0, 0, 1)), n)) < 0.1;
  return side ? (float)s->placed.shape->cylinder.radius : 0;
}

static void make_contact(const Search* s, const tbCachedPair* pair, const tbNarrowManifold* m, int first,
                         int count, tbSoftStepMet* last, tbSoftStepContact* c)
{
  const int* owner = s->world->owner.data;
  c->shape_a = pair->a, c->shape_b = pair->b, c->body_a = owner[pair->a], c->body_b = owner[pair->b];
  c->count = count, c->normal = m->normal, c->with[0] = m->with[0], c->with[1] = m->with[1];
  c->round[0] = radius_of(&s->shape[pair->a], m->normal);
  c->round[1] = radius_of(&s->shape[pair->b], m->normal);
  for (int k = 0; k < count; k++) {
    const tbNarrowPoint* p = &m->point[first + k];
    c->point[k].position = p->position, c->point[k].gap = p->gap, c->point[k].feature = p->feature;
    for (int r = 0; r < 3; r++) c->point[k].guess[r] = 0, c->point[k].spin[r] = 0;
  }
  tb_soft_step_friction(s->world, s->options->dt, last, c);
  int records;
  const tbContactRecord* record = records_of(s, pair, &records);
  c->fresh = records == 0;
  if (s->options->warm_start && records > 0) tb_soft_step_warm_start(s->world, record, records, c);
}

// Of the points beyond the fourth, those stay that may touch before the step ends: the four that hold best
// where the bodies are now need not be the ones that meet. Returns how many they are.
static int keep_closing(const Search* s, int a, int b, tbNarrowManifold* m)
{
  const tbUnconstrained *A = &s->unconstrained[a], *B = &s->unconstrained[b];
  double h = s->options->dt;
  int count = 0;
  for (int k = TB_NARROW_POINTS; k < m->n; k++) {
    tbVec3 at = m->point[k].position;
    tbVec3 ua = tb_add3(A->v, tb_cross3(A->w, tb_sub3(at, A->at.x)));
    tbVec3 ub = tb_add3(B->v, tb_cross3(B->w, tb_sub3(at, B->at.x)));
    double gap = m->point[k].gap, end = gap + h * tb_dot3(m->normal, tb_sub3(ub, ua));
    if (end < CLOSES * gap) m->point[TB_NARROW_POINTS + count++] = m->point[k];
  }
  return count;
}

// A pair's contact; boxes that turn far in a step, for their size, may have a second one.
static Result collide(const Search* s, int i, tbSoftStepMet* last, tbSoftStepContact* c)
{
  const tbCachedPair* pair = &s->pair[i];
  const int* owner = s->world->owner.data;
  int a = owner[pair->a], b = owner[pair->b];
  const Traveller *A = &s->body[a], *B = &s->body[b];
  s->now[i] = pair->was >= 0 ? s->before[pair->was] : (tbSoftStepPair){.record = 0};
  if (!may_touch(s, a, b)) return (Result){.points = NOTHING};
  double margin = look_ahead(s, A, B), least = A->radius < B->radius ? A->radius : B->radius;
  int most = A->turn + B->turn > FAR * least ? TB_NARROW_MOST : TB_NARROW_POINTS, more = 0;
  tbNarrowManifold m;
  if (margin < 0 || !tb_narrow(&s->shape[pair->a], &s->shape[pair->b], margin, most, &s->now[i].hint, &m))
    return (Result){.points = SPECIAL};
  if (m.n == 0) return (Result){.points = NOTHING};
  make_contact(s, pair, &m, 0, m.n < TB_NARROW_POINTS ? m.n : TB_NARROW_POINTS, last, c);
  if (m.n > TB_NARROW_POINTS) more = keep_closing(s, a, b, &m);
  if (more > 0) make_contact(s, pair, &m, TB_NARROW_POINTS, more, last, c + 1);
  return (Result){(int8_t)c->count, (int8_t)more, c->fresh};
}

static void note(const tbSoftStepContact* c, double mass_a, double mass_b, Extremes* x)
{
  for (int k = 0; k < c->count; k++) x->deepest = larger(x->deepest, -c->point[k].gap);
  x->uneven |= tb_soft_step_uneven(mass_a, mass_b);
  if (c->torsion > 0 || c->rolling > 0) x->spins += c->count;
}

// Asks for what a later pair will be read from: its second shape, and its contacts of the last step.
static inline void look_forward(const Search* s, const tbCachedPair* pair)
{
  tb_prefetch(&s->shape[pair->b], sizeof(tbNarrowShape));
  if (!s->known || pair->was < 0 || s->before[pair->was].records == 0) return;
  const tbContactRecord* record =
      (const tbContactRecord*)s->world->contact.data + s->before[pair->was].record;
  for (int k = 0; k < s->before[pair->was].records; k++)
    tb_prefetch(record + k, offsetof(tbContactRecord, local));
}

static void collide_pairs(void* user, int begin, int end, int piece)
{
  Search* s = user;
  tbSoftStepContact* out = s->contact + 2 * begin;
  tbSoftStepMet last = {.a = -1};
  for (int i = begin; i < end; i++) {
    if (i + AHEAD < end) look_forward(s, &s->pair[i + AHEAD]);
    Result r = s->result[i] = collide(s, i, &last, out);
    for (int n = (r.points > 0) + (r.more > 0); n > 0; n--, out++)
      note(out, s->body[out->body_a].mass, s->body[out->body_b].mass, &s->extremes[piece]);
  }
}

static tbStatus find_pairs(tbContext* ctx, tbArena* arena, tbSoftStepWork* soft, Search* s)
{
  const tbWorld* w = s->world;
  tbSoftStepCache* cache = soft->cache;
  size_t nshape = w->shape.count;
  s->body = TB_TAKE_UNSET(arena, Traveller, w->body.count);
  s->drop = tb_norm3(w->gravity) * s->options->dt * s->options->dt;
  s->joined = tb_joined_bodies(arena, w, &s->njoined);
  s->shape = tb_soft_step_room(ctx, &cache->shape, sizeof(tbNarrowShape), nshape);
  s->item = tb_soft_step_room(ctx, &cache->item, sizeof(tbBroadItem), nshape);
  if (!s->body || !s->joined || !s->shape || !s->item) return TB_ERROR_MEMORY;
  tb_parallel_for(ctx->threads, (int)w->body.count, SHAPES, know_bodies, s);
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
static int add_special(const Search* s, const tbCachedPair* pair, const tbContactConstraint* t, int count,
                       tbSoftStepContact* out)
{
  int records, n = 0;
  const tbContactRecord* record = records_of(s, pair, &records);
  for (int i = 0; i < count; i++) {
    tbSoftStepContact* c = n > 0 ? &out[n - 1] : NULL;
    bool joins = c && c->count < TB_SOFT_STEP_POINTS && tb_dot3(c->normal, t[i].point.normal) > 1 - 1e-9;
    if (!joins) {
      c = &out[n++];
      *c = (tbSoftStepContact){
          .shape_a = pair->a, .shape_b = pair->b, .body_a = t[i].body_a, .body_b = t[i].body_b};
      c->normal = t[i].point.normal;
      tb_normal_turns(t[i].point.feature, c->with);
      c->round[0] = radius_of(&s->shape[pair->a], c->normal);
      c->round[1] = radius_of(&s->shape[pair->b], c->normal);
      c->point[0].position = t[i].position;
      tb_soft_step_friction(s->world, s->options->dt, &(tbSoftStepMet){.a = -1}, c);
    }
    int k = c->count++;
    c->point[k].position = t[i].position, c->point[k].gap = t[i].point.gap;
    c->point[k].feature = t[i].point.feature;
  }
  for (int i = 0; s->options->warm_start && records > 0 && i < n; i++)
    tb_soft_step_warm_start(s->world, record, records, &out[i]);
  return n;
}

static int specials(const Search* s, tbPair* out)
{
  int count = 0;
  for (int i = 0; i < s->npair; i++)
    if (s->result[i].points == SPECIAL) out[count++] = (tbPair){s->pair[i].a, s->pair[i].b};
  return count;
}

// All contacts in the order of the pairs: those of the pieces stand where their pairs began, and special ones
// come in between, from `t`, which is in that order, too.
static tbStatus gather(tbContext* ctx, tbArena* arena, const Search* s, const tbArray* special,
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
  Extremes all = {0};
  for (int i = 0; i < s->npair; i++) {
    const tbCachedPair* pair = &s->pair[i];
    if (i % PAIRS == 0) from = s->contact + 2 * i;
    const int8_t points[2] = {s->result[i].points, s->result[i].more};
    for (int k = 0; k < 2 && points[k] > 0; k++)
      *e++ = (tbSoftStepEntry){from++,
                               owner[pair->a],
                               owner[pair->b],
                               .pair = i,
                               .count = (uint8_t)points[k],
                               .fresh = s->result[i].fresh};
    if (s->result[i].points != SPECIAL) continue;
    int count = 0;
    while (t + count < last && t[count].shape_a == pair->a && t[count].shape_b == pair->b) count++;
    for (int n = add_special(s, pair, t, count, made); n > 0; n--, made++) {
      *e++ = (tbSoftStepEntry){
          made, made->body_a, made->body_b, .pair = i, .count = (uint8_t)made->count, .fresh = made->fresh};
      note(made, s->body[made->body_a].mass, s->body[made->body_b].mass, &all);
    }
    t += count;
  }
  for (int k = 0; k < tb_piece_count(s->npair, PAIRS); k++) {
    all.deepest = larger(all.deepest, s->extremes[k].deepest);
    all.uneven |= s->extremes[k].uneven, all.spins += s->extremes[k].spins;
  }
  soft->ncontact = (int)(e - soft->entry);
  soft->deepest = all.deepest, soft->uneven = all.uneven, soft->spins = all.spins;
  for (int i = 0; i < soft->ncontact; i++) {
    soft->entry[i].first = soft->npoint;
    soft->npoint += soft->entry[i].count;
  }
  return TB_OK;
}

tbStatus tb_soft_step_find(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                           tbSoftStepWork* soft)
{
  Search s = {.world = w, .options = o, .unconstrained = work->unconstrained, .pose = work->pose};
  TB_TRY(find_pairs(ctx, work->arena, soft, &s));
  if (s.known)
    work->before = (tbTouching){soft->cache->touching[1].data, (int)soft->cache->touching[1].count};
  s.contact = tb_soft_step_room(ctx, &soft->cache->contact, sizeof(tbSoftStepContact), 2 * (size_t)s.npair);
  s.result = TB_TAKE_UNSET(work->arena, Result, (size_t)s.npair);
  s.extremes = TB_TAKE(work->arena, Extremes, (size_t)tb_piece_count(s.npair, PAIRS));
  tbPair* pairs = TB_TAKE_UNSET(work->arena, tbPair, (size_t)s.npair);
  if (!s.contact || !s.result || !s.extremes || !pairs) return TB_ERROR_MEMORY;
  tb_parallel_for(ctx->threads, s.npair, PAIRS, collide_pairs, &s);
  int count = specials(&s, pairs);
  work->constraints.count = 0;
  if (count > 0)
    TB_TRY(tb_find_contacts_of(ctx, work->arena, w, o, work->unconstrained, work->pose, pairs, count,
                               &work->constraints));
  return gather(ctx, work->arena, &s, &work->constraints, soft);
}

static bool same_pair(tbBodyPair a, tbBodyPair b) { return a.a == b.a && a.b == b.b; }

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
    if (pair->records == 0) pair->record = e->first;
    pair->records += e->count;
    if (!e->touches) continue;
    bool ordered = e->body_a < e->body_b;
    tbBodyPair bodies = {ordered ? e->body_a : e->body_b, ordered ? e->body_b : e->body_a};
    if (count == 0 || !same_pair(touching[count - 1], bodies)) touching[count++] = bodies;
  }
  count = tb_events_sort(touching, count);
  s->cache->touching[0].count = (size_t)count;
  work->after = (tbTouching){touching, count};
  s->cache->steps = w->steps, s->cache->records = w->contact.count;
}
