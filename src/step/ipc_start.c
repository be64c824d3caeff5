// SPDX-License-Identifier: Apache-2.0
// A barrier needs a distance. Bodies that touch where a step starts, or overlap a little, are first moved
// apart, as little as it takes: contacts between shapes and planes along their normals, those of deformable
// surfaces where features are close, swept one after the other (Gauss and Seidel) with rigid bodies
// translated and nodes moved by their masses. Rigid bodies then settle to the distance at which barriers
// carry them, so that no step starts with a push: minima of the potential from rest, with nodes and obstacles
// standing still and nothing sliding, from which positions are taken and velocities are not. They tilt, too,
// as far as barriers let a body that stands: one that would move a vertex by more than d̂ falls over, and
// keeps the orientation it has.
// A body of nodes that starts within reach of barriers and lies on what does not move goes, in the first
// step, along its normal to where they carry its weight. One that passes through something, of which close
// features do not say how deep, is moved out of it as a whole beforehand (ipc_free.c). The report says how
// far anything was moved.
#include "step/ipc_moves.h"

#include "base/clock.h"
#include "collide/surfaces_pair.h"

#include <string.h>

static const double ASKED = TB_IPC_ASKED;
static const double CONTENT = 0.02; // of d̂: closer ones are moved in the first step; later, those that touch

static const double SETTLED = 1e-5;  // of d̂: the last move
static const double PARALLEL = 0.99; // cosine between normals that count as one

static const double OPEN = 1e-3; // of d̂: what may be missing of them

enum { ROUNDS = 30, REST = 40, HALVES = 8, FREE = 4 };
enum { WORK = 4000000 }; // openings swept over, at most

// A contact to be opened: how a side moves is a frame's, or its nodes'.
typedef struct {
  tbVec3 normal; // from a to b
  double depth;  // how much is missing
  int frame[2];  // −1: not a frame
  const tbSurfaceContact* surface;
} Opening;

static double weight_of(const tbIpc* ipc, int surface, int vertex)
{
  const tbIpcSurface* s = &ipc->surface[surface];
  if (s->source != TB_IPC_NODE) return 0;
  const tbIpcNodes* n = &ipc->nodes[s->index];
  int node = n->of.node[vertex];
  return ipc->held[n->block + node] ? 0 : 1 / n->of.fem->mass[node];
}

// Σ ± n·motion over a side, and the inverse mass along n; apply: moves it by `push` instead.
static double side_motion(const tbIpc* ipc, const Opening* o, int side, tbIpcMoves* m, double push,
                          bool apply, double* inverse)
{
  double sign = side ? 1 : -1, sum = 0;
  if (o->frame[side] >= 0) {
    double own = 1 / tb_bodies(ipc->world)[ipc->frame[o->frame[side]].body].mass;
    tbVec3* at = &m->frame[o->frame[side]];
    *inverse += own;
    sum = sign * tb_dot3(o->normal, *at);
    if (apply) *at = tb_madd3(*at, sign * push * own, o->normal);
    return sum;
  }
  const tbSurfaceContact* c = o->surface;
  int count = !c ? 0 : side ? c->count_b : c->count_a;
  for (int k = 0; k < count; k++) {
    int surface = side ? c->of.surface_b : c->of.surface_a, vertex = side ? c->vertex_b[k] : c->vertex_a[k];
    double weight = side ? c->weight_b[k] : c->weight_a[k], own = weight_of(ipc, surface, vertex);
    if (own == 0) continue;
    const tbIpcNodes* n = &ipc->nodes[ipc->surface[surface].index];
    tbVec3* at = &m->node[n->block + n->of.node[vertex]];
    *inverse += weight * weight * own;
    sum += sign * weight * tb_dot3(o->normal, *at);
    if (apply) *at = tb_madd3(*at, sign * push * weight * own, o->normal);
  }
  return sum;
}

static void open_all(const tbIpc* ipc, const tbArray* openings, tbIpcMoves* m)
{
  const Opening* o = openings->data;
  double left = INFINITY;
  for (size_t work = 0; left > OPEN * ipc->dhat && work < WORK; work += openings->count) {
    left = 0;
    for (size_t i = 0; i < openings->count; i++) {
      double inverse = 0, unused = 0, moved = 0;
      for (int side = 0; side < 2; side++) moved += side_motion(ipc, &o[i], side, m, 0, false, &inverse);
      double missing = o[i].depth - moved;
      left = fmax(left, missing);
      if (!(missing > 0) || !(inverse > 0)) continue;
      for (int side = 0; side < 2; side++) side_motion(ipc, &o[i], side, m, missing / inverse, true, &unused);
    }
  }
}

static tbStatus add_opening(tbContext* ctx, const tbIpc* ipc, const tbIpcMoves* m, int body_a, int body_b,
                            tbVec3 normal, double gap, const tbSurfaceContact* surface, tbArray* out)
{
  Opening o = {.normal = normal,
               .depth = ASKED * ipc->dhat - gap,
               .frame = {m->of_body[body_a], m->of_body[body_b]},
               .surface = surface};
  if (!tb_surface_may_touch(&ipc->surfaces.scene, body_a, body_b)) return TB_OK;
  return tb_array_push(ctx, out, &o, 1);
}

static uint64_t pair_key(int a, int b) { return a <= b ? (uint64_t)a << 32 | (uint64_t)b : pair_key(b, a); }

static bool is_listed(const tbArray* pairs, int a, int b)
{
  for (size_t i = 0; i < pairs->count; i++)
    if (((const uint64_t*)pairs->data)[i] == pair_key(a, b)) return true;
  return false;
}

static tbStatus list_pair(tbContext* ctx, const tbIpc* ipc, int a, int b, tbArray* pairs)
{
  uint64_t key = pair_key(a, b);
  if (is_listed(pairs, a, b) || !tb_surface_may_touch(&ipc->surfaces.scene, a, b)) return TB_OK;
  return tb_array_push(ctx, pairs, &key, 1);
}

// Bodies whose surfaces are too close, or cross, where they are now; ipc->found: the features of the former.
static tbStatus list_pairs(tbContext* ctx, tbIpc* ipc, bool first, tbArray* pairs)
{
  const tbSurfaces* s = &ipc->surfaces;
  double unused, close = first ? CONTENT * ipc->dhat : 0;
  pairs->count = 0;
  TB_TRY(tb_ipc_find(ctx, ipc, &unused)); // all features; those below leave some of equal distance out
  const tbIpcContact* pair = ipc->contact.data;
  for (size_t i = 0; i < ipc->contact.count; i++)
    if (pair[i].at.gap <= close)
      TB_TRY(list_pair(ctx, ipc, tb_surfaces_body(s, &pair[i].at.of, 0),
                       tb_surfaces_body(s, &pair[i].at.of, 1), pairs));
  ipc->found.count = 0;
  TB_TRY(tb_surface_near(ctx, &s->scene, &ipc->candidates, ASKED * ipc->dhat, &ipc->found));
  const tbSurfaceContact* c = ipc->found.data;
  for (size_t i = 0; i < ipc->found.count; i++)
    if (c[i].gap <= close)
      TB_TRY(list_pair(ctx, ipc, tb_surfaces_body(s, &c[i].of, 0), tb_surfaces_body(s, &c[i].of, 1), pairs));
  if (!first && pairs->count == 0) return TB_OK;
  tbArray met = TB_ARRAY(tbSurfacesMeet);
  tbStatus status = tb_surfaces_list(ctx, s, &met);
  for (size_t i = 0; i < met.count && status == TB_OK; i++) {
    const tbSurfacesMeet* m = (const tbSurfacesMeet*)met.data + i;
    if (m->a != m->b) status = list_pair(ctx, ipc, m->a, m->b, pairs);
  }
  tb_array_free(ctx, &met);
  return status;
}

// Contacts of these bodies: of shapes as these say, which know what is inside; else of features.
static tbStatus find_openings(tbContext* ctx, tbStepWork* work, tbIpc* ipc, const tbIpcMoves* m,
                              const tbArray* pairs, tbArray* out)
{
  const tbSurfaces* s = &ipc->surfaces;
  out->count = work->constraints.count = 0;
  tbStepOptions close = *ipc->options;
  close.margin = ASKED * ipc->dhat;
  TB_TRY(tb_find_contacts(ctx, ipc->arena, NULL, ipc->world, &close, work->unconstrained, work->pose,
                          &work->constraints));
  const tbContactConstraint* t = work->constraints.data;
  for (size_t i = 0; i < work->constraints.count; i++)
    if (t[i].point.gap < close.margin && t[i].swept == 0 && is_listed(pairs, t[i].body_a, t[i].body_b))
      TB_TRY(
          add_opening(ctx, ipc, m, t[i].body_a, t[i].body_b, t[i].point.normal, t[i].point.gap, NULL, out));
  const tbSurfaceContact* c = ipc->found.data;
  for (size_t i = 0; i < ipc->found.count; i++) {
    int a = tb_surfaces_body(s, &c[i].of, 0), b = tb_surfaces_body(s, &c[i].of, 1);
    bool shapes = tb_surfaces_shape(s, &c[i].of, 0) >= 0 && tb_surfaces_shape(s, &c[i].of, 1) >= 0;
    if (!shapes && is_listed(pairs, a, b))
      TB_TRY(add_opening(ctx, ipc, m, a, b, c[i].normal, c[i].gap, &c[i], out));
  }
  return TB_OK;
}

// The same, unless surfaces that did not pass through each other would then: *back: they stay where they are.
static tbStatus apply_if_free(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, bool* back)
{
  tbIntersections before, after;
  TB_TRY(tb_surfaces_count(ctx, &ipc->surfaces, &before));
  tb_ipc_apply(work, ipc, m);
  TB_TRY(tb_surfaces_count(ctx, &ipc->surfaces, &after));
  *back = after.crossing + after.overlapping > before.crossing + before.overlapping;
  if (*back) tb_ipc_take_back(work, ipc, m);
  return TB_OK;
}

// What would pass through each other after a move that has been taken back.
static tbStatus list_blocked(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, tbArray* blocked)
{
  tbArray met = TB_ARRAY(tbSurfacesMeet);
  tb_ipc_apply(work, ipc, m);
  tbStatus status = tb_surfaces_list(ctx, &ipc->surfaces, &met);
  tb_ipc_take_back(work, ipc, m);
  for (size_t i = 0; i < met.count && status == TB_OK; i++) {
    const tbSurfacesMeet* with = (const tbSurfacesMeet*)met.data + i;
    if (with->a != with->b) status = list_pair(ctx, ipc, with->a, with->b, blocked);
  }
  tb_array_free(ctx, &met);
  return status;
}

// The same with bodies that are in the way opened, too, from the next round on; or with half of the moves,
// and a quarter …
static tbStatus apply_shorter(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, tbArray* blocked)
{
  bool back;
  size_t before = blocked->count;
  TB_TRY(apply_if_free(ctx, work, ipc, m, &back));
  if (back) TB_TRY(list_blocked(ctx, work, ipc, m, blocked));
  if (blocked->count > before) return TB_OK;
  for (int cut = 0; back && cut < HALVES; cut++) {
    for (int i = 0; i < ipc->nframe; i++) m->frame[i] = tb_scale3(0.5, m->frame[i]);
    for (int i = 0; i < ipc->nblock; i++) m->node[i] = tb_scale3(0.5, m->node[i]);
    TB_TRY(apply_if_free(ctx, work, ipc, m, &back));
  }
  return TB_OK;
}

// How a frame turns to where the minimum has taken it; back again, once that is too far.
static tbVec3 tilt_of(const tbIpc* ipc, tbIpcMoves* m, int i)
{
  const tbIpcFrame* f = &ipc->frame[i];
  if (m->falls[i]) return tb_zero3();
  m->falls[i] =
      f->reach * tb_norm3(tb_quat_log(tb_quat_mul(f->now.q, tb_quat_conj(m->upright[i])))) > ipc->dhat;
  return tb_quat_log(tb_quat_mul(m->falls[i] ? m->upright[i] : f->now.q, tb_quat_conj(f->start.q)));
}

// Frames that something carries go to where the minimum has taken them, along the normal of their contacts
// where they have but one; all others stay. *most: the largest move; 0: none is possible.
static tbStatus take_positions(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m, double* most)
{
  const tbIpcContact* c = ipc->contact.data;
  bool back;
  *most = 0;
  for (int i = 0; i < ipc->nframe; i++)
    m->frame[i] = m->turn[i] = m->normal[i] = tb_zero3(), m->several[i] = false;
  for (size_t i = 0; i < ipc->contact.count; i++)
    for (int side = 0; side < 2; side++) {
      int f = m->of_body[tb_surfaces_body(&ipc->surfaces, &c[i].at.of, side)];
      if (f < 0) continue;
      bool first = tb_maxabs3(m->normal[f]) == 0;
      m->several[f] = m->several[f] || (!first && fabs(tb_dot3(m->normal[f], c[i].at.normal)) < PARALLEL);
      m->normal[f] = c[i].at.normal;
      m->frame[f] = tb_scale3(ipc->h, ipc->v[ipc->frame[f].block]);
    }
  for (int i = 0; i < ipc->nframe; i++) {
    if (!m->several[i]) m->frame[i] = tb_scale3(tb_dot3(m->normal[i], m->frame[i]), m->normal[i]);
    if (tb_maxabs3(m->normal[i]) > 0) m->turn[i] = tilt_of(ipc, m, i);
    *most = fmax(*most, tb_norm3(m->frame[i]) + ipc->frame[i].reach * tb_norm3(m->turn[i]));
  }
  memset(ipc->v, 0, (size_t)ipc->nblock * sizeof *ipc->v);
  memset(m->node, 0, (size_t)ipc->nblock * sizeof *m->node);
  tb_ipc_place(ipc, ipc->v, 0);
  TB_TRY(apply_if_free(ctx, work, ipc, m, &back));
  if (back) *most = 0;
  return TB_OK;
}

static tbStatus settle(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m)
{
  double most = 0;
  uint8_t* held = TB_TAKE(ipc->arena, uint8_t, (size_t)ipc->nblock);
  if (!held) return TB_ERROR_MEMORY;
  memcpy(held, ipc->held, (size_t)ipc->nblock);
  for (int i = 0; i < ipc->nnodes; i++)
    memset(ipc->held + ipc->nodes[i].block, 1, (size_t)ipc->nodes[i].of.fem->nnode);
  for (int i = 0; i < ipc->nframe; i++) {
    tbIpcFrame* f = &ipc->frame[i];
    f->v_free = tb_scale3(ipc->h, work->unconstrained[f->body].a), f->w_free = tb_zero3();
    m->upright[i] = f->start.q;
  }
  ipc->still = true;
  tbStatus status = TB_OK;
  for (int round = 0; round < REST && status == TB_OK; round++) {
    ipc->iterations = 0;
    status = tb_ipc_begin_joints(ctx, ipc, work);
    if (status == TB_OK) status = tb_ipc_minimise(ctx, ipc);
    if (status == TB_OK) status = take_positions(ctx, work, ipc, m, &most);
    if (!(most > SETTLED * ipc->dhat)) break;
  }
  ipc->still = false, ipc->iterations = 0;
  memcpy(ipc->held, held, (size_t)ipc->nblock);
  for (int i = 0; i < ipc->nframe; i++) {
    tbIpcFrame* f = &ipc->frame[i];
    f->v_free = work->unconstrained[f->body].v, f->w_free = work->unconstrained[f->body].w;
  }
  return status;
}

// ---- bodies of nodes that lie on something ----

// What a body of nodes lies on: contacts of one normal, with what does not move.
typedef struct {
  tbVec3 normal; // towards the body; zero: there is none, or several
  int count;
  bool other; // contacts that are not like that
} Rest;

// Whether a vertex is closer to a face beyond the side where a face is closest to it: that one tells what the
// vertex lies on.
static bool leans(const tbIpc* ipc, const tbSurfaceContact* c)
{
  if (c->of.kind != TB_SURFACE_FACE_VERTEX) return false;
  tbVec3 x[4];
  tb_surface_places(&ipc->surfaces.scene, c, true, x);
  tbClosest closest = tb_closest_features(true, x);
  return tb_surface_closer_beyond(&ipc->surfaces.surface[c->of.surface_a], c->of.feature_a,
                                  closest.weight + 1, x[0], 1, &closest.way) >= 0;
}

static Rest rest_of(const tbIpc* ipc, int nodes)
{
  const tbIpcContact* c = ipc->contact.data;
  Rest rest = {0};
  for (size_t i = 0; i < ipc->contact.count; i++) {
    bool plane = c[i].at.of.kind == TB_SURFACE_PLANE_VERTEX;
    const tbIpcSurface *b = &ipc->surface[c[i].at.of.surface_b],
                       *a = plane ? NULL : &ipc->surface[c[i].at.of.surface_a];
    bool is_b = b->source == TB_IPC_NODE && b->index == nodes,
         is_a = a && a->source == TB_IPC_NODE && a->index == nodes;
    if ((!is_a && !is_b) || leans(ipc, &c[i].at)) continue;
    tbVec3 normal = is_b ? c[i].at.normal : tb_neg3(c[i].at.normal);
    const tbIpcSurface* other = is_b ? a : b;
    bool known = !(is_a && is_b) && (!other || other->source == TB_IPC_KNOWN);
    if (!known || (rest.count > 0 && tb_dot3(normal, rest.normal) < PARALLEL)) rest.other = true;
    rest.normal = normal, rest.count++;
  }
  return rest;
}

// The force of a body's barriers along the normal, were it farther along it by `lift`.
static double carried(const tbIpc* ipc, int nodes, double lift)
{
  const tbIpcContact* c = ipc->contact.data;
  double sum = 0;
  for (size_t i = 0; i < ipc->contact.count; i++) {
    bool plane = c[i].at.of.kind == TB_SURFACE_PLANE_VERTEX;
    const tbIpcSurface *b = &ipc->surface[c[i].at.of.surface_b],
                       *a = plane ? NULL : &ipc->surface[c[i].at.of.surface_a];
    bool own = (b->source == TB_IPC_NODE && b->index == nodes) ||
               (a && a->source == TB_IPC_NODE && a->index == nodes);
    double gap = c[i].at.gap + lift;
    if (own && gap < c[i].dhat)
      sum -= c[i].kappa * tb_barrier(ipc->options->barrier, fmax(gap, 1e-6 * c[i].dhat), c[i].dhat).first;
  }
  return sum;
}

// How far along its normal a body goes to where its barriers carry what presses it there: 0 where nothing
// does.
static double lift_of(const tbIpc* ipc, int nodes, tbVec3 normal)
{
  const tbIpcNodes* n = &ipc->nodes[nodes];
  double low = -ipc->most_dhat, high = ipc->most_dhat, weight = 0;
  for (int k = 0; k < n->of.fem->nnode; k++) weight -= n->of.fem->mass[k] * tb_dot3(normal, n->of.gravity);
  if (!(weight > 0)) return 0;
  for (int i = 0; i < 100; i++) {
    double middle = 0.5 * (low + high);
    if (carried(ipc, nodes, middle) > weight) low = middle;
    else high = middle;
  }
  return low;
}

// Twice: a body that is moved may come to lie on more.
static tbStatus rest_nodes(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m)
{
  double unused;
  bool back = false;
  for (int round = 0; round < 2 && !back; round++) {
    TB_TRY(tb_ipc_find(ctx, ipc, &unused));
    memset(m->frame, 0, (size_t)ipc->nframe * sizeof *m->frame);
    memset(m->turn, 0, (size_t)ipc->nframe * sizeof *m->turn);
    memset(m->node, 0, (size_t)ipc->nblock * sizeof *m->node);
    for (int i = 0; i < ipc->nnodes; i++) {
      const tbIpcNodes* n = &ipc->nodes[i];
      Rest rest = rest_of(ipc, i);
      if (rest.count == 0 || rest.other || tb_ipc_is_held(ipc, n)) continue;
      tbVec3 move = tb_scale3(lift_of(ipc, i, rest.normal), rest.normal);
      for (int k = 0; k < n->of.fem->nnode; k++) m->node[n->block + k] = move;
    }
    TB_TRY(apply_if_free(ctx, work, ipc, m, &back));
  }
  return TB_OK;
}

// Opens what is too close, round by round.
static tbStatus open_rounds(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbIpcMoves* m)
{
  tbArray openings = TB_ARRAY(Opening), pairs = TB_ARRAY(uint64_t), blocked = TB_ARRAY(uint64_t);
  tbStatus status = TB_OK;
  for (int round = 0; round < ROUNDS && !(tb_seconds() > ipc->deadline); round++) {
    tb_ipc_place(ipc, ipc->v, 0);
    tb_ipc_settle(ipc);
    status = tb_surface_find(ctx, &ipc->surfaces.scene, 1.01 * ipc->most_dhat, 1, &ipc->candidates);
    if (status == TB_OK) status = list_pairs(ctx, ipc, ipc->world->steps == 0, &pairs);
    if (status != TB_OK || pairs.count == 0) break;
    status = tb_array_push(ctx, &pairs, blocked.data, blocked.count);
    if (status != TB_OK) break;
    status = find_openings(ctx, work, ipc, m, &pairs, &openings);
    if (status != TB_OK || openings.count == 0) break;
    memset(m->frame, 0, (size_t)ipc->nframe * sizeof *m->frame);
    memset(m->node, 0, (size_t)ipc->nblock * sizeof *m->node);
    memset(m->turn, 0, (size_t)ipc->nframe * sizeof *m->turn);
    open_all(ipc, &openings, m);
    status = apply_shorter(ctx, work, ipc, m, &blocked);
    if (status != TB_OK) break;
  }
  tb_array_free(ctx, &openings);
  tb_array_free(ctx, &pairs);
  tb_array_free(ctx, &blocked);
  return status;
}

tbStatus tb_ipc_part(tbContext* ctx, tbStepWork* work, tbIpc* ipc, tbStepReport* report)
{
  size_t bodies = ipc->world->body.count;
  tbIpcMoves m = {.frame = TB_TAKE(ipc->arena, tbVec3, (size_t)ipc->nframe),
                  .node = TB_TAKE(ipc->arena, tbVec3, (size_t)ipc->nblock),
                  .of_body = TB_TAKE(ipc->arena, int, bodies),
                  .normal = TB_TAKE(ipc->arena, tbVec3, (size_t)ipc->nframe),
                  .several = TB_TAKE(ipc->arena, bool, (size_t)ipc->nframe),
                  .turn = TB_TAKE(ipc->arena, tbVec3, (size_t)ipc->nframe),
                  .upright = TB_TAKE(ipc->arena, tbQuat, (size_t)ipc->nframe),
                  .falls = TB_TAKE(ipc->arena, bool, (size_t)ipc->nframe),
                  .from = TB_TAKE(ipc->arena, tbTransform, (size_t)ipc->nframe),
                  .node_from = TB_TAKE(ipc->arena, tbVec3, (size_t)ipc->nblock)};
  if (!m.frame || !m.node || !m.of_body || !m.normal || !m.several || !m.turn || !m.upright || !m.falls ||
      !m.from || !m.node_from)
    return TB_ERROR_MEMORY;
  for (size_t i = 0; i < bodies; i++) m.of_body[i] = -1;
  for (int i = 0; i < ipc->nframe; i++) m.of_body[ipc->frame[i].body] = i;
  bool first = ipc->world->steps == 0, again = false;
  tbStatus status = TB_OK;
  if (first) status = tb_ipc_free(ctx, work, ipc, &m, false, &again);
  if (status == TB_OK) status = open_rounds(ctx, work, ipc, &m);
  again = first;
  for (int round = 0; round < FREE && again && status == TB_OK; round++) {
    status = tb_ipc_free(ctx, work, ipc, &m, true, &again);
    if (status == TB_OK && again) status = open_rounds(ctx, work, ipc, &m);
  }
  work->constraints.count = 0;
  if (status == TB_OK && first && ipc->nnodes > 0) status = rest_nodes(ctx, work, ipc, &m);
  if (status == TB_OK && ipc->moved > 0 && ipc->nframe > 0) status = settle(ctx, work, ipc, &m);
  report->changes.projected = fmax(report->changes.projected, ipc->moved);
  return status;
}
