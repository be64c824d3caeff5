// SPDX-License-Identifier: Apache-2.0
// One step back through the minimum that a step of primal, vbd or avbd ends at, by implicit differentiation
// (step/relaxed_held.h):
//
//   a = H_sᵀ a⁺ + Φ_sᵀ A K⁻ᵀ H_vᵀ a⁺
//
// with one transposed solve. What is left to difference, H and Φ, is local: the state of a body acts on
// itself and on those that it touches. Bodies that neither touch each other nor a third one share a
// difference.
//
// Cost    twelve held steps for H_v and 24 for each colour of the bodies: independent of how many there are.
// A
//         held step finds contacts and assembles, and solves nothing.
#include "gradient/adjoint.h"

#include "scene/kind.h"

#include <math.h>
#include <string.h>

static const double REACH = 1e-5; // of velocities
static const double CLOSE = 1e-7; // of states: resting contacts overlap by little, and act otherwise apart
static const double KINK = 1e-5;
enum { FRAME = 12, TWIST = 6, LEVELS = 3 };

bool tb_reverse_is_local(const tbReverse* r)
{
  const tbWorld* w = r->base.world;
  const tbStepOptions* o = &r->o->step;
  if (!tb_objective_is_relaxed(r->o) || strcmp(o->scheme, "xpbd") == 0 || !o->descent.balanced) return false;
  if (w->joint.count > 0) return false;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion == TB_BODY_DYNAMIC && !(b->kind->framed && b->kind->dofs(b) == TWIST)) return false;
  }
  return true;
}

typedef struct {
  tbReverse* r;
  const tbStateAt* s;
  int bodies; // that move freely
  int* body;  // where each of them is in the world            (bodies)
  int* place; // of a body of the world among them; −1: none   (bodies of the world)
  int* colour;
  int colours;
  uint8_t* near; // whether two touch, or are one              (bodies²)
  double *w, *offset, *side[2], *phi[2];
  double most; // of the shares
  bool stable;
} Local;

static bool touch(const Local* l, int i, int k) { return l->near[i * l->bodies + k]; }

static void find_neighbours(Local* l)
{
  const tbWorld* w = l->r->base.world;
  const tbContactRecord* c = w->contact.data;
  for (int i = 0; i < l->bodies; i++) l->near[i * l->bodies + i] = 1;
  for (size_t i = 0; i < w->contact.count; i++) {
    int a = l->place[c[i].body_a], b = l->place[c[i].body_b];
    if (a >= 0 && b >= 0) l->near[a * l->bodies + b] = l->near[b * l->bodies + a] = 1;
  }
}

static bool share_a_neighbour(const Local* l, int i, int k)
{
  for (int m = 0; m < l->bodies; m++)
    if (touch(l, i, m) && touch(l, k, m)) return true;
  return false;
}

// The first colour that no body has with which one is next to.
static void paint(Local* l)
{
  for (int i = 0; i < l->bodies; i++) {
    bool taken = true;
    for (l->colour[i] = -1; taken;) {
      l->colour[i]++, taken = false;
      for (int k = 0; k < i && !taken; k++)
        taken = l->colour[k] == l->colour[i] && share_a_neighbour(l, i, k);
    }
    if (l->colour[i] >= l->colours) l->colours = l->colour[i] + 1;
  }
}

static tbStatus begin(tbContext* ctx, tbArena* arena, Local* l)
{
  const tbWorld* w = l->r->base.world;
  size_t count = w->body.count;
  l->body = TB_TAKE(arena, int, count), l->place = TB_TAKE(arena, int, count);
  if (!l->body || !l->place) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < count; i++) {
    bool moves = tb_bodies(w)[i].motion == TB_BODY_DYNAMIC;
    l->place[i] = moves ? l->bodies : -1;
    if (moves) l->body[l->bodies++] = (int)i;
  }
  size_t n = (size_t)l->bodies, ndof = (size_t)l->r->held.ndof;
  l->colour = TB_TAKE(arena, int, n), l->near = TB_TAKE(arena, uint8_t, n * n);
  l->w = TB_TAKE(arena, double, ndof), l->offset = TB_TAKE(arena, double, ndof);
  for (int k = 0; k < 2; k++) {
    l->side[k] = TB_TAKE(arena, double, (size_t)l->r->n), l->phi[k] = TB_TAKE(arena, double, ndof);
    if (!l->side[k] || !l->phi[k]) return TB_ERROR_MEMORY;
  }
  if (!l->colour || !l->near || !l->w || !l->offset) return TB_ERROR_MEMORY;
  find_neighbours(l);
  paint(l);
  (void)ctx;
  return TB_OK;
}

// A held step from s + e d: what is left of it next to the run's, over e, and so of Φ.
static tbStatus hold(tbContext* ctx, Local* l, double e, int side)
{
  tbReverse* r = l->r;
  tbWorld* w = r->near.world;
  TB_TRY(tb_state_put(ctx, l->s, e, r->direction, true, w));
  w->cache->held = &r->held;
  tbStatus status = tb_reverse_step(ctx, r, true, w);
  w->cache->held = NULL;
  TB_TRY(status);
  memset(l->side[side], 0, (size_t)r->n * sizeof(double));
  tb_state_difference(w, r->base.world, 1 / e, l->side[side]);
  const double *phi = r->held.phi.data, *v = r->held.v.data;
  for (int i = 0; i < r->held.ndof && !r->held.strayed; i++) l->phi[side][i] = (phi[i] - v[i]) / e;
  return TB_OK;
}

static int dof_of(const Local* l, int i) { return ((const int*)l->r->held.dof.data)[l->body[i]]; }

// a⁺ᵀ of what a body's state changed by on a side.
static double weigh(const Local* l, int i, int side)
{
  double sum = 0;
  for (int k = FRAME * i; k < FRAME * (i + 1); k++) sum += l->side[side][k] * l->r->adjoint[k];
  return sum;
}

// w = H_vᵀ a⁺: every body's own, all at once.
static tbStatus pull_velocities(tbContext* ctx, Local* l)
{
  tbReverse* r = l->r;
  memset(r->direction, 0, (size_t)r->n * sizeof(double));
  r->held.offset = l->offset;
  for (int c = 0; c < TWIST; c++) {
    for (int side = 0; side < 2; side++) {
      double e = side ? -REACH : REACH;
      for (int i = 0; i < l->bodies; i++)
        if (dof_of(l, i) >= 0) l->offset[dof_of(l, i) + c] = e * r->unit[FRAME * i + TWIST + c];
      TB_TRY(hold(ctx, l, e, side));
      if (r->held.strayed) return TB_OK;
    }
    for (int i = 0; i < l->bodies; i++) {
      if (dof_of(l, i) < 0) continue;
      l->w[dof_of(l, i) + c] = 0.5 * (weigh(l, i, 0) + weigh(l, i, 1)) / r->unit[FRAME * i + TWIST + c];
      l->offset[dof_of(l, i) + c] = 0;
    }
  }
  r->held.offset = NULL;
  return TB_OK;
}

// The share of a body's own number on a side: H_s of itself, Φ_s of all that it touches.
static double share(const Local* l, int i, int side)
{
  const double* pulled = l->r->held.pulled.data;
  double sum = weigh(l, i, side);
  for (int k = 0; k < l->bodies; k++) {
    int dof = dof_of(l, k);
    if (dof < 0 || !touch(l, i, k)) continue;
    for (int c = dof; c < dof + TWIST; c++) sum += pulled[c] * l->phi[side][c];
  }
  return sum;
}

// Number c of the bodies of a colour, by the ε at which the two sides differ least. bend: by how much they
// do.
static tbStatus pull_number(tbContext* ctx, Local* l, int colour, int c, double* bend)
{
  tbReverse* r = l->r;
  double e = CLOSE, least = INFINITY;
  memset(r->direction, 0, (size_t)r->n * sizeof(double));
  for (int i = 0; i < l->bodies; i++)
    if (l->colour[i] == colour) r->direction[FRAME * i + c] = r->unit[FRAME * i + c];
  for (int k = 0; k < LEVELS && !(least <= KINK * l->most); k++, e *= 0.1) {
    double differ = 0;
    TB_TRY(hold(ctx, l, e, 0));
    if (!r->held.strayed) TB_TRY(hold(ctx, l, -e, 1));
    if (r->held.strayed) return TB_OK;
    for (int i = 0; i < l->bodies; i++)
      if (l->colour[i] == colour) differ = fmax(differ, fabs(share(l, i, 0) - share(l, i, 1)));
    if (!(differ < least)) continue;
    least = differ;
    for (int i = 0; i < l->bodies; i++) {
      if (l->colour[i] != colour) continue;
      double mean = 0.5 * (share(l, i, 0) + share(l, i, 1));
      l->most = fmax(l->most, fabs(mean));
      r->before[FRAME * i + c] = mean / r->unit[FRAME * i + c];
    }
  }
  *bend = fmax(*bend, least);
  return TB_OK;
}

static tbStatus pull_states(tbContext* ctx, Local* l)
{
  double bend = 0;
  memset(l->r->before, 0, (size_t)l->r->n * sizeof(double));
  for (int colour = 0; colour < l->colours; colour++)
    for (int c = 0; c < FRAME && !l->r->held.strayed; c++) TB_TRY(pull_number(ctx, l, colour, c, &bend));
  l->stable = bend <= KINK * l->most;
  return TB_OK;
}

static tbStatus work(tbContext* ctx, tbArena* arena, Local* l)
{
  tbReverse* r = l->r;
  TB_TRY(begin(ctx, arena, l));
  tb_state_units(r->base.world, r->o->step.dt, r->unit);
  TB_TRY(pull_velocities(ctx, l));
  if (r->held.strayed) return TB_OK;
  if (r->held.ndof > 0) {
    r->held.w = l->w;
    memset(r->direction, 0, (size_t)r->n * sizeof(double));
    tbStatus status = hold(ctx, l, REACH, 0);
    r->held.w = NULL;
    TB_TRY(status);
  }
  return r->held.strayed ? TB_OK : pull_states(ctx, l);
}

tbStatus tb_reverse_transpose(tbContext* ctx, tbReverse* r, const tbStateAt* s, bool* done, bool* stable)
{
  *done = false;
  if (!r->local || r->held.impacts || r->held.solves != 1) return TB_OK;
  tbArena arena;
  Local l = {.r = r, .s = s};
  tb_arena_init(&arena, ctx);
  r->held.hold = true, r->held.strayed = false;
  tbStatus status = work(ctx, &arena, &l);
  r->held.hold = false, r->held.offset = NULL;
  *done = !r->held.strayed, *stable = l.stable;
  tb_arena_free(&arena);
  return status;
}
