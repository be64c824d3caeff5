// SPDX-License-Identifier: Apache-2.0
// Contacts of soft-step: what a pair of shapes comes to.
//
// Points are looked for as far ahead as the two may come together in the step, also after something else has
// stopped one of them. Most pairs that are merely near are told by what kept them apart the last time. Of
// other boxes, eight pairs are asked side by side for the axes between them (collide/box_axes.h); other
// shapes have their points from tb_narrow.
#include "step/soft_step_find.h"

#include "base/prefetch.h"
#include "collide/gjk.h"
#include "collide/pairs.h"

enum { AHEAD = 6 };
static const double FAR = 0.05;    // of the smaller body: a turn in a step that brings other corners to it
static const double FAST = 0.15;   // the same of a way: to a face that they are beside
static const double CLOSES = 0.25; // a gap that shrinks to less of itself may be closed by the end

static inline double larger(double a, double b) { return a > b ? a : b; }

// How far ahead to look at a pair; negative: it has to be swept. fast: they may move far, for their size.
static double look_ahead(const tbSoftStepSearch* s, const tbSoftStepTraveller* a,
                         const tbSoftStepTraveller* b, bool* fast)
{
  double size = a->radius < b->radius ? a->radius : b->radius;
  double way = s->options->dt * tb_distance3(a->v, b->v) + a->turn + b->turn + s->drop + 1e-3 * size;
  *fast = way > FAST * size;
  if (!(way <= 0.5 * size) || a->bullet || b->bullet) return -1;
  double alone = 0, most = 0.25 * size; // once something else has stopped one of them
  if (a->moves) alone = a->way + a->turn;
  if (b->moves) alone = larger(alone, b->way + b->turn);
  return larger(larger(way, alone < most ? alone : most), s->options->margin);
}

static bool may_touch(const tbSoftStepSearch* s, int a, int b)
{
  const tbSoftStepTraveller *A = &s->body[a], *B = &s->body[b];
  if ((!A->moves && !B->moves) || !(A->category & B->mask) || !(B->category & A->mask)) return false;
  if (s->world->ignored.count > 0 && !tb_world_may_touch(s->world, a, b)) return false;
  return !tb_is_joined(s->joined, s->njoined, a, b);
}

const tbContactRecord* tb_soft_step_records_of(const tbSoftStepSearch* s, const tbCachedPair* pair,
                                               int* count)
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

float tb_soft_step_radius_of(const tbNarrowShape* s, tbVec3 n)
{
  if (s->type == TB_SHAPE_BOX) return 0;
  if (s->type != TB_SHAPE_CYLINDER) return (float)tb_core_radius(s->placed.shape);
  bool side = fabs(tb_dot3(tb_quat_rotate(s->placed.T.q, tb_vec3(0, 0, 1)), n)) < 0.1;
  return side ? (float)s->placed.shape->cylinder.radius : 0;
}

static void make_contact(const tbSoftStepSearch* s, const tbCachedPair* pair, const tbNarrowManifold* m,
                         int first, int count, tbSoftStepMet* last, tbSoftStepContact* c)
{
  const int* owner = s->world->owner.data;
  c->shape_a = pair->a, c->shape_b = pair->b, c->body_a = owner[pair->a], c->body_b = owner[pair->b];
  c->count = count, c->normal = m->normal, c->with[0] = m->with[0], c->with[1] = m->with[1];
  c->round[0] = tb_soft_step_radius_of(&s->shape[pair->a], m->normal);
  c->round[1] = tb_soft_step_radius_of(&s->shape[pair->b], m->normal);
  for (int k = 0; k < count; k++) {
    const tbNarrowPoint* p = &m->point[first + k];
    c->point[k].position = p->position, c->point[k].gap = p->gap, c->point[k].feature = p->feature;
    for (int r = 0; r < 3; r++) c->point[k].impulse[r] = 0, c->point[k].spin[r] = 0;
  }
  tb_soft_step_friction(s->world, s->options, s->body, last, c);
  int records;
  const tbContactRecord* record = tb_soft_step_records_of(s, pair, &records);
  c->fresh = records == 0;
  if (s->options->warm_start && records > 0) tb_soft_step_warm_start(s->world, record, records, c);
}

// Of the points beyond the fourth, those stay that may touch before the step ends: the four that hold best
// where the bodies are now need not be the ones that meet. Returns how many they are.
static int keep_closing(const tbSoftStepSearch* s, int a, int b, tbNarrowManifold* m)
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

// Corners of one box that are beside a face of the other now, and will be below it by the end of the step if
// nothing stops them: no contact is for them otherwise, for what is found is what lies over the face now.
// own: the box whose face it is; side: 1 where the normal leads away from it.
static void add_corners(const tbSoftStepSearch* s, const tbUnconstrained* own_moves, const tbPlacedBox* own,
                        const tbUnconstrained* moves, const tbPlacedBox* other, double side, double margin,
                        tbNarrowManifold* m)
{
  const double square = 0.98; // cosine of face and normal
  tbVec3 n = tb_scale3(side, m->normal), across = tb_mat3_tmulv(own->R, n);
  const double along[3] = {across.x, across.y, across.z};
  int k = fabs(along[1]) > fabs(along[0]) ? 1 : 0;
  if (fabs(along[2]) > fabs(along[k])) k = 2;
  if (fabs(along[k]) < square) return;
  double up = along[k] > 0 ? 1 : -1, middle[3], edge[3][3];
  tb_store3(middle, tb_mat3_tmulv(own->R, tb_sub3(other->x, own->x)));
  for (int r = 0; r < 3; r++)
    tb_store3(edge[r], tb_mat3_tmulv(own->R, tb_scale3(other->half[r], tb_mat3_col(other->R, r))));
  for (int vertex = 0; vertex < 8 && m->n < TB_NARROW_MOST; vertex++) {
    double now[3], end[3];
    for (int r = 0; r < 3; r++) {
      now[r] = middle[r];
      for (int e = 0; e < 3; e++) now[r] += vertex >> e & 1 ? edge[e][r] : -edge[e][r];
    }
    double gap = up * now[k] - own->half[k];
    bool beside = false, over = true;
    for (int r = 0; r < 3; r++) beside |= r != k && fabs(now[r]) > own->half[r];
    if (!beside || gap < 0 || gap > margin) continue;
    tbVec3 at = tb_add3(own->x, tb_mat3_mulv(own->R, tb_load3(now)));
    tbVec3 u = tb_add3(moves->v, tb_cross3(moves->w, tb_sub3(at, moves->at.x)));
    u = tb_sub3(u, tb_add3(own_moves->v, tb_cross3(own_moves->w, tb_sub3(at, own_moves->at.x))));
    tb_store3(end, tb_madd3(tb_load3(now), s->options->dt, tb_mat3_tmulv(own->R, u)));
    for (int r = 0; r < 3; r++) over &= r == k || fabs(end[r]) <= own->half[r];
    if (!over || up * end[k] > own->half[k]) continue;
    uint32_t face = tb_feature_face(2 * k + (up > 0)), mine = tb_feature_vertex(vertex);
    m->point[m->n++] = (tbNarrowPoint){tb_madd3(at, -0.5 * gap, n), gap / fabs(along[k]),
                                       side > 0 ? tb_feature_pair(face, mine) : tb_feature_pair(mine, face)};
  }
}

void tb_soft_step_note(const tbSoftStepContact* c, double mass_a, double mass_b, tbSoftStepExtremes* x)
{
  for (int k = 0; k < c->count; k++) x->deepest = larger(x->deepest, -c->point[k].gap);
  x->uneven |= tb_soft_step_uneven(mass_a, mass_b);
  if (c->torsion > 0 || c->rolling > 0) x->spins += c->count;
}

// A pair that may touch, until its points are known.
enum { WAITS = 1 };
typedef struct {
  double margin;
  int most;                  // points
  bool boxes, swapped, fast; // fast: may move far in a step, for its size
  int axis;                  // of boxes: among those of the piece
} Look;

// Boxes of a piece, side by side.
typedef struct {
  tbBoxPairs pairs;
  int count, found, pair[TB_BOX_LANES];
  tbBoxAxis axis[TB_SOFT_STEP_PAIRS];
} Boxes;

static void find_axes(tbSoftStepSearch* s, Boxes* boxes, int begin, Look* look)
{
  const tbBoxAxis* axis = boxes->axis + boxes->found;
  tb_box_axes(&boxes->pairs, boxes->count, boxes->axis + boxes->found);
  for (int k = 0; k < boxes->count; k++) {
    int i = boxes->pair[k];
    look[i - begin].axis = boxes->found + k;
    s->now[i].hint.axis = tb_box_apart(&axis[k], look[i - begin].swapped);
    if (axis[k].apart) s->result[i].points = TB_SOFT_STEP_NOTHING;
  }
  boxes->found += boxes->count, boxes->count = 0;
}

// What can be said of a pair without its points.
static int look_at(const tbSoftStepSearch* s, int i, Boxes* boxes, Look* look)
{
  const tbCachedPair* pair = &s->pair[i];
  const int* owner = s->world->owner.data;
  int a = owner[pair->a], b = owner[pair->b];
  const tbSoftStepTraveller *A = &s->body[a], *B = &s->body[b];
  const tbNarrowShape *shape_a = &s->shape[pair->a], *shape_b = &s->shape[pair->b];
  s->now[i] = pair->was >= 0 ? s->before[pair->was] : (tbSoftStepPair){.record = 0};
  if (s->still && s->still[a] && s->still[b]) return TB_SOFT_STEP_KEPT;
  if (!may_touch(s, a, b)) return TB_SOFT_STEP_NOTHING;
  double margin = look->margin = look_ahead(s, A, B, &look->fast),
         least = A->radius < B->radius ? A->radius : B->radius;
  look->most = A->turn + B->turn > FAR * least ? TB_NARROW_MOST : TB_NARROW_POINTS;
  look->boxes = shape_a->type == TB_SHAPE_BOX && shape_b->type == TB_SHAPE_BOX;
  if (margin < 0) return TB_SOFT_STEP_SPECIAL;
  if (!look->boxes) return WAITS;
  if (tb_box_hint_holds(&shape_a->box, &shape_b->box, margin, s->now[i].hint.axis))
    return TB_SOFT_STEP_NOTHING;
  look->swapped = tb_box_pairs_put(&boxes->pairs, boxes->count, &shape_a->box, &shape_b->box, margin);
  boxes->pair[boxes->count++] = i;
  return WAITS;
}

// A pair's contact; boxes that turn far in a step, for their size, may have a second one.
static tbSoftStepResult take_points(const tbSoftStepSearch* s, int i, const Look* l, const tbBoxAxis* axis,
                                    tbSoftStepMet* last, tbSoftStepContact* c)
{
  const tbCachedPair* pair = &s->pair[i];
  const int* owner = s->world->owner.data;
  const tbNarrowShape *a = &s->shape[pair->a], *b = &s->shape[pair->b];
  int more = 0;
  tbNarrowManifold m;
  if (l->boxes) tb_narrow_boxes(a, b, l->margin, l->most, l->swapped, axis, &m);
  else if (!tb_narrow(a, b, l->margin, l->most, &s->now[i].hint, &m))
    return (tbSoftStepResult){.points = TB_SOFT_STEP_SPECIAL};
  if (m.n == 0) return (tbSoftStepResult){.points = TB_SOFT_STEP_NOTHING};
  if (l->boxes && l->fast) {
    const tbUnconstrained *A = &s->unconstrained[owner[pair->a]], *B = &s->unconstrained[owner[pair->b]];
    add_corners(s, A, &a->box, B, &b->box, 1, l->margin, &m);
    add_corners(s, B, &b->box, A, &a->box, -1, l->margin, &m);
  }
  make_contact(s, pair, &m, 0, m.n < TB_NARROW_POINTS ? m.n : TB_NARROW_POINTS, last, c);
  if (m.n > TB_NARROW_POINTS) more = keep_closing(s, owner[pair->a], owner[pair->b], &m);
  if (more > 0) make_contact(s, pair, &m, TB_NARROW_POINTS, more, last, c + 1);
  return (tbSoftStepResult){(int8_t)c->count, (int8_t)more, c->fresh};
}

// What a later pair will be read from.
static inline void prefetch_records(const tbSoftStepSearch* s, const tbCachedPair* pair)
{
  if (!s->known || pair->was < 0 || s->before[pair->was].records == 0) return;
  const tbContactRecord* record =
      (const tbContactRecord*)s->world->contact.data + s->before[pair->was].record;
  for (int k = 0; k < s->before[pair->was].records; k++)
    tb_prefetch(record + k, offsetof(tbContactRecord, local));
}

void tb_soft_step_collide(void* user, int begin, int end, int piece)
{
  tbSoftStepSearch* s = user;
  Boxes boxes;
  boxes.count = boxes.found = 0;
  tb_box_pairs_begin(&boxes.pairs);
  Look look[TB_SOFT_STEP_PAIRS];
  for (int i = begin; i < end; i++) {
    if (i + AHEAD < end) tb_prefetch(&s->shape[s->pair[i + AHEAD].b], sizeof(tbNarrowShape));
    s->result[i] = (tbSoftStepResult){.points = (int8_t)look_at(s, i, &boxes, &look[i - begin])};
    if (boxes.count == TB_BOX_LANES) find_axes(s, &boxes, begin, look);
  }
  if (boxes.count > 0) find_axes(s, &boxes, begin, look);
  tbSoftStepContact* out = s->contact + 2 * begin;
  tbSoftStepMet last = {.a = -1};
  for (int i = begin; i < end; i++) {
    if (i + AHEAD < end && s->result[i + AHEAD].points == WAITS) prefetch_records(s, &s->pair[i + AHEAD]);
    if (s->result[i].points != WAITS) continue;
    const Look* l = &look[i - begin];
    tbSoftStepResult r = s->result[i] =
        take_points(s, i, l, l->boxes ? &boxes.axis[l->axis] : NULL, &last, out);
    for (int n = (r.points > 0) + (r.more > 0); n > 0; n--, out++)
      tb_soft_step_note(out, s->body[out->body_a].mass, s->body[out->body_b].mass, &s->extremes[piece]);
  }
}
