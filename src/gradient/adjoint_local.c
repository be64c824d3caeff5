// SPDX-License-Identifier: Apache-2.0
// One step back through the minimum that a step of primal, vbd or avbd ends at, by implicit differentiation
// (step/relaxed_held.h):
//
//   a = H_sᵀ a⁺ − r_sᵀ x,      x = K⁻ᵀ H_vᵀ a⁺
//
// with one transposed solve. What is left to difference, H and r, is local: the state of a rigid body, of a
// node or of a joint acts on itself and on those that it shares a contact, a joint or an element with. Sites
// that neither act on each other nor on a third one share a difference. Whether that was all is looked at in
// the end, by a difference along all numbers at once.
//
// Cost    twelve held steps for H_v and two for every number of a site and colour: some 24 colours in cloth,
// some 70 in a solid, however many nodes and bodies there are. A held step finds contacts and assembles, and
// solves nothing.
#include "gradient/adjoint.h"

#include "base/random.h"
#include "base/sort.h"
#include "scene/kind.h"

#include <math.h>
#include <string.h>

static const double REACH =
    1e-6; // ε of the first differences: held contacts are stiff, and so is their curvature
static const double ALL = 1e-4; // of what they do: more says that some act farther away
enum { FRAME = 12, TWIST = 6 };

bool tb_reverse_is_local(const tbReverse* r)
{
  static const char* const minimal[] = {"primal", "vbd", "avbd"};
  const tbWorld* w = r->base.world;
  const tbStepOptions* o = &r->o->step;
  bool ends = false;
  for (int i = 0; i < 3; i++) ends = ends || strcmp(o->scheme, minimal[i]) == 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    bool frame = b->kind->framed && b->kind->dofs(b) == TWIST;
    ends = ends && (frame || (!b->kind->framed && b->kind->nodes && !b->kind->modes));
  }
  return ends && o->descent.balanced;
}

// What has numbers of its own: a rigid body, a node, or a joint.
typedef struct {
  int number, apart; // its first of the state; nodes: how far behind positions their velocities stand
  int count;         // numbers
  int dof, dofs;     // of the problem; −1: nothing touches it
} Site;

typedef struct {
  tbReverse* r;
  const tbStateAt* s;
  Site* site;
  int sites, joints; // joints are the last of them
  int* at;           // the site of a degree of freedom        (ndof)
  int *adr, *near;   // sites that one acts on, itself too     (sites + 1)
  int* colour;
  int colours;
  double *w, *push, *offset, *side[2], *work[2];
  bool stable, whole;
} Local;

static int number_of(const Site* s, int c)
{
  return s->apart && c >= 3 ? s->number + s->apart + c - 3 : s->number + c;
}

// The number of the state that is velocity c of a site.
static int speed_of(const Site* s, int c)
{
  return s->apart ? s->number + s->apart + c : s->number + TWIST + c;
}

static const double* residual_of(const Local* l) { return l->r->held.residual.data; }

static int count_sites(const tbWorld* w)
{
  int n = (int)w->joint.count;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion == TB_BODY_DYNAMIC) n += b->kind->framed ? 1 : b->kind->nodes(b).count;
  }
  return n;
}

static void list_sites(Local* l)
{
  const tbWorld* w = l->r->base.world;
  const int* dof = l->r->held.dof.data;
  int number = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    if (b->kind->framed) {
      l->site[l->sites++] = (Site){number, 0, FRAME, dof[i], TWIST};
      number += FRAME;
      continue;
    }
    int n = b->kind->nodes(b).count;
    for (int k = 0; k < n; k++)
      l->site[l->sites++] = (Site){number + 3 * k, 3 * n, TWIST, dof[i] < 0 ? -1 : dof[i] + 3 * k, 3};
    number += TWIST * n;
  }
  l->joints = (int)w->joint.count;
  for (int i = 0; i < l->joints; i++, number += TB_JOINT_IMPULSES)
    l->site[l->sites++] = (Site){number, 0, TB_JOINT_IMPULSES, -1, 0};
  for (int i = 0; i < l->sites; i++)
    for (int c = 0; l->site[i].dof >= 0 && c < l->site[i].dofs; c++) l->at[l->site[i].dof + c] = i;
}

static int site_at(const Local* l, int end) { return end < 0 ? l->sites - l->joints - 1 - end : l->at[end]; }

static int compare_links(const void* a, const void* b)
{
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

// Both ways, without repetitions.
static tbStatus find_neighbours(tbArena* arena, Local* l)
{
  const int* link = l->r->held.link.data;
  size_t count = l->r->held.link.count / 2, total = 2 * count + (size_t)l->sites, kept = 0;
  uint64_t* pair = TB_TAKE(arena, uint64_t, total);
  l->adr = TB_TAKE(arena, int, (size_t)l->sites + 1), l->near = TB_TAKE(arena, int, total);
  if (!pair || !l->adr || !l->near) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < count; i++) {
    uint64_t a = (uint64_t)site_at(l, link[2 * i]), b = (uint64_t)site_at(l, link[2 * i + 1]);
    pair[2 * i] = a << 32 | b, pair[2 * i + 1] = b << 32 | a;
  }
  for (int i = 0; i < l->sites; i++) pair[2 * count + (size_t)i] = (uint64_t)i << 32 | (uint64_t)i;
  tb_sort(pair, total, sizeof *pair, compare_links);
  for (size_t i = 0; i < total; i++)
    if (i == 0 || pair[i] != pair[i - 1]) {
      l->near[kept++] = (int)(pair[i] & 0xffffffff);
      l->adr[(pair[i] >> 32) + 1] = (int)kept;
    }
  return TB_OK;
}

// The first colour that no site has whose neighbours are also this one's.
static tbStatus paint(tbArena* arena, Local* l)
{
  int* taken = TB_TAKE(arena, int, (size_t)l->sites + 1); // by colour: 1 + the last site that may not have it
  l->colour = TB_TAKE(arena, int, (size_t)l->sites);
  if (!taken || !l->colour) return TB_ERROR_MEMORY;
  for (int i = 0; i < l->sites; i++) l->colour[i] = -1;
  for (int i = 0; i < l->sites; i++) {
    for (int a = l->adr[i]; a < l->adr[i + 1]; a++)
      for (int k = l->near[a], b = l->adr[k]; b < l->adr[k + 1]; b++)
        if (l->colour[l->near[b]] >= 0) taken[l->colour[l->near[b]]] = 1 + i;
    int c = 0;
    while (taken[c] == 1 + i) c++;
    l->colour[i] = c;
    if (c >= l->colours) l->colours = c + 1;
  }
  return TB_OK;
}

static tbStatus begin(tbArena* arena, Local* l)
{
  tbReverse* r = l->r;
  size_t n = (size_t)r->n, ndof = (size_t)r->held.ndof;
  l->site = TB_TAKE(arena, Site, (size_t)count_sites(r->base.world)), l->at = TB_TAKE(arena, int, ndof);
  l->w = TB_TAKE(arena, double, ndof), l->offset = TB_TAKE(arena, double, ndof);
  l->push = TB_TAKE(arena, double, (size_t)r->held.rows);
  for (int k = 0; k < 2; k++) {
    l->side[k] = TB_TAKE(arena, double, n), l->work[k] = TB_TAKE(arena, double, ndof);
    if (!l->side[k] || !l->work[k]) return TB_ERROR_MEMORY;
  }
  if (!l->site || !l->at || !l->w || !l->offset || !l->push) return TB_ERROR_MEMORY;
  list_sites(l);
  TB_TRY(find_neighbours(arena, l));
  return paint(arena, l);
}

// A held step from s + e d: by how much its end differs from the run's, over e, and so of r.
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
  const double *now = residual_of(l), *still = r->held.still.data;
  for (int i = 0; i < r->held.ndof && !r->held.strayed; i++) l->work[side][i] = (now[i] - still[i]) / e;
  return TB_OK;
}

// a⁺ᵀ of what a site's numbers changed by on a side.
static double weigh(const Local* l, const Site* s, int side)
{
  double sum = 0;
  for (int c = 0; c < s->count; c++) {
    int i = number_of(s, c);
    sum += l->side[side][i] * l->r->adjoint[i];
  }
  return sum;
}

// w = H_vᵀ a⁺ but for impulses: every site's own, all at once. And what impulses of joints are asked for.
static tbStatus pull_velocities(tbContext* ctx, Local* l)
{
  tbReverse* r = l->r;
  memset(r->direction, 0, (size_t)r->n * sizeof(double));
  r->held.offset = l->offset;
  for (int c = 0; c < TWIST; c++) {
    bool any = false;
    for (int i = 0; i < l->sites; i++) any = any || (l->site[i].dof >= 0 && c < l->site[i].dofs);
    for (int side = 0; side < 2 && any; side++) {
      double e = side ? -TB_REVERSE_REACH : TB_REVERSE_REACH;
      for (int i = 0; i < l->sites; i++) {
        const Site* s = &l->site[i];
        if (s->dof >= 0 && c < s->dofs) l->offset[s->dof + c] = e * r->unit[speed_of(s, c)];
      }
      TB_TRY(hold(ctx, l, e, side));
      if (r->held.strayed) return TB_OK;
    }
    for (int i = 0; i < l->sites; i++) {
      const Site* s = &l->site[i];
      if (s->dof < 0 || c >= s->dofs) continue;
      l->w[s->dof + c] = 0.5 * (weigh(l, s, 0) + weigh(l, s, 1)) / r->unit[speed_of(s, c)];
      l->offset[s->dof + c] = 0;
    }
  }
  r->held.offset = NULL;
  const int* row = r->held.joint_row.data;
  for (int i = 0; i < l->joints; i++)
    for (int k = 0; k < TB_JOINT_IMPULSES; k++)
      if (row[TB_JOINT_IMPULSES * i + k] >= 0)
        l->push[row[TB_JOINT_IMPULSES * i + k]] = r->adjoint[l->site[l->sites - l->joints + i].number + k];
  return TB_OK;
}

static double of_site(const Local* l, const Site* s, int side)
{
  const double* x = l->r->held.pulled.data;
  double sum = weigh(l, s, side);
  for (int c = s->dof; s->dof >= 0 && c < s->dof + s->dofs; c++) sum -= x[c] * l->work[side][c];
  return sum;
}

// The share of a site's own number on a side: of all that it acts on.
static double share(const Local* l, int i, int side)
{
  double sum = 0;
  for (int a = l->adr[i]; a < l->adr[i + 1]; a++) sum += of_site(l, &l->site[l->near[a]], side);
  return sum;
}

static bool is_asked(const Local* l, int i, int colour, int c)
{
  const Site* s = &l->site[i];
  return l->colour[i] == colour && c < s->count && l->r->unit[number_of(s, c)] > 0;
}

// Number c of the sites of a colour. *bent: by how much sides differ where no ε was small enough.
static tbStatus pull_number(tbContext* ctx, Local* l, int colour, int c, double* bent)
{
  tbReverse* r = l->r;
  bool left = false;
  memset(r->direction, 0, (size_t)r->n * sizeof(double));
  for (int i = 0; i < l->sites; i++) {
    if (!is_asked(l, i, colour, c)) continue;
    int number = number_of(&l->site[i], c);
    r->direction[number] = r->unit[number], left = true;
    tb_reverse_seek(r, number);
  }
  double e = REACH;
  for (int k = 0; k < TB_REVERSE_LEVELS && left; k++, e *= 0.1) {
    r->held.strayed = false; // contacts that are others so far away may be the same at the next ε
    TB_TRY(hold(ctx, l, e, 0));
    if (!r->held.strayed) TB_TRY(hold(ctx, l, -e, 1));
    if (r->held.strayed) continue;
    left = false;
    for (int i = 0; i < l->sites; i++) {
      int number = number_of(&l->site[i], c);
      if (!is_asked(l, i, colour, c) || tb_reverse_is_settled(r, number)) continue;
      left |= !tb_reverse_settle(r, number, share(l, i, 0), share(l, i, 1));
    }
  }
  for (int i = 0; i < l->sites; i++)
    if (is_asked(l, i, colour, c)) *bent = fmax(*bent, tb_reverse_bent(r, number_of(&l->site[i], c)));
  return TB_OK;
}

static tbStatus pull_states(tbContext* ctx, Local* l)
{
  double bent = 0;
  for (int colour = 0; colour < l->colours; colour++)
    for (int c = 0; c < FRAME && !l->r->held.strayed; c++) TB_TRY(pull_number(ctx, l, colour, c, &bent));
  l->stable = tb_reverse_end_step(l->r, bent);
  return TB_OK;
}

// Along a direction without a pattern: whether numbers have acted on nothing but what they are linked with.
static tbStatus check_all(tbContext* ctx, Local* l)
{
  tbReverse* r = l->r;
  int n = tb_state_fixed(r->base.world);
  uint64_t bits = 1;
  double sum = 0, squares = 0;
  memset(r->direction, 0, (size_t)r->n * sizeof(double));
  for (int i = 0; i < n; i++) {
    double part = tb_random_uniform(&bits, -1, 1) * r->unit[i];
    r->direction[i] = part, sum += part * r->before[i], squares += part * part * r->before[i] * r->before[i];
  }
  double e = REACH;
  for (int k = 0; k < TB_REVERSE_LEVELS && !l->whole; k++, e *= 0.1) {
    double all = 0;
    r->held.strayed = false;
    for (int side = 0; side < 2 && !r->held.strayed; side++) {
      TB_TRY(hold(ctx, l, side ? -e : e, side));
      for (int i = 0; i < l->sites; i++) all += 0.5 * of_site(l, &l->site[i], side);
    }
    l->whole = !r->held.strayed && fabs(all - sum) <= ALL * sqrt(squares);
  }
  return TB_OK;
}

static tbStatus work(tbContext* ctx, tbArena* arena, Local* l)
{
  tbReverse* r = l->r;
  TB_TRY(begin(arena, l));
  tb_reverse_begin_step(r);
  TB_TRY(pull_velocities(ctx, l));
  if (r->held.strayed) return TB_OK;
  if (r->held.ndof > 0) {
    r->held.w = l->w, r->held.push = l->push;
    memset(r->direction, 0, (size_t)r->n * sizeof(double));
    tbStatus status = hold(ctx, l, TB_REVERSE_REACH, 0);
    r->held.w = r->held.push = NULL;
    TB_TRY(status);
  }
  if (!r->held.strayed) TB_TRY(pull_states(ctx, l));
  return r->held.strayed ? TB_OK : check_all(ctx, l);
}

tbStatus tb_reverse_transpose(tbContext* ctx, tbReverse* r, const tbStateAt* s, bool* done, bool* stable)
{
  *done = false;
  if (!r->local || r->held.more || r->held.solves != 1) return TB_OK;
  tbArena arena;
  Local l = {.r = r, .s = s};
  tb_arena_init(&arena, ctx);
  r->held.hold = true, r->held.strayed = false;
  tbStatus status = work(ctx, &arena, &l);
  r->held.hold = false, r->held.offset = NULL;
  *done = !r->held.strayed && l.whole, *stable = l.stable;
  tb_arena_free(&arena);
  return status;
}
