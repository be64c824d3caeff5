// SPDX-License-Identifier: Apache-2.0
// Finding the contacts of a step: boxes grown by what may move into them, pairs, points.
//
// Looking ahead. Two bodies are given contacts as soon as their surfaces may meet within the step: their gap
// φ then enters the problem as u_n ≥ −φ/h, which stops them at the surface and not behind it. How far to look
// is a bound on how fast any two of their points can approach.
//
// Fast bodies. A gap along the normal of now says little of a body that crosses several times its own size in
// a step: it may be stopped by the extended face of a box that it flies past, or get through a thin plate.
// When the way ahead is more than half the size of the smaller body, or one of them is a bullet, the pair is
// swept to its first moment of impact, and the contacts of that moment are taken, with the distance the
// bodies have to travel as their gap; if the sweep meets nothing, only contacts within the margin are. With a
// mesh or a grid, which a body may touch at one place while it flies at another, both are taken. A mesh, or a
// grid, and a plane are not swept: their contacts at the start are those of the whole way.
//
// First contacts. The normal of two spheres that fly at each other obliquely turns until they touch, and a
// bounce goes the way of the last moment. Solids that will meet within the step are therefore swept as well.
#include "step/find.h"

#include "base/shared.h"
#include "base/sort.h"
#include "base/threads.h"
#include "collide/advance.h"
#include "geometry/convex.h"
#include "geometry/mesh.h"
#include "geometry/sdf.h"
#include "step/find_cache.h"

enum { PAIRS = 32, BODIES = 256 };

// A contact in the making: what is known of it here, a small part of the whole.
typedef struct {
  tbPair shapes;
  tbVec3 position;
  double swept;
  tbContactPoint point;
} Found;

typedef struct {
  const tbWorld* world;
  const tbStepOptions* options;
  const tbUnconstrained* unconstrained;
  const tbTransform* pose;
  const tbPair* pairs; // of shapes
  int npair;
  tbBroadItem* items;
  tbNarrowShape* placed; // shapes at their poses; null: no hints
  tbPairHint* hint;      // by pair
  tbArray* found;        // Found, one array per piece
  tbStatus* status;
  tbError* error;
  tbShared shared;
} Search;

// The fastest any point of the body may move within the step.
static double fastest(const tbBody* b, const tbUnconstrained* f)
{
  double v = fmax(tb_norm3(b->v), tb_norm3(f->v)), w = fmax(tb_norm3(b->w), tb_norm3(f->w));
  return v + (w > 0 ? w * b->radius : 0);
}

static void grow_boxes(void* user, int begin, int end, int piece)
{
  (void)piece;
  Search* s = user;
  const int* owner = s->world->owner.data;
  for (int i = begin; i < end; i++) {
    const tbBody* b = &tb_bodies(s->world)[owner[i]];
    tbBox box = tb_shape_box_of(&tb_shapes(s->world)[i], s->pose[owner[i]]);
    double g = b->motion == TB_BODY_FIXED
                   ? 0
                   : fastest(b, &s->unconstrained[owner[i]]) * s->options->dt + 1e-3 * b->radius;
    g += fmax(0.5 * s->options->margin, tb_norm3(s->world->gravity) * s->options->dt * s->options->dt);
    if (!(g < INFINITY)) g = 0; // an infinite plane that turns: its box is infinite already
    tbVec3 grow = tb_vec3(g, g, g);
    s->items[i] =
        (tbBroadItem){{tb_sub3(box.lo, grow), tb_add3(box.hi, grow)}, owner[i], b->motion != TB_BODY_FIXED};
    if (s->placed) tb_narrow_shape(&tb_shapes(s->world)[i], s->pose[owner[i]], &s->placed[i]);
  }
}

// How far ahead to look: how fast surfaces of the two may approach, and a little more for what other contacts
// and gravity may yet do to them. Common translation cancels, which bodies at rest on a moving platform are
// glad of.
static double approach(const Search* s, int a, int b)
{
  const tbBody *A = &tb_bodies(s->world)[a], *B = &tb_bodies(s->world)[b];
  const tbUnconstrained *fa = &s->unconstrained[a], *fb = &s->unconstrained[b];
  double v = fmax(tb_distance3(A->v, B->v), tb_distance3(fa->v, fb->v));
  double wa = fmax(tb_norm3(A->w), tb_norm3(fa->w)), wb = fmax(tb_norm3(B->w), tb_norm3(fb->w));
  double spin_a = wa > 0 ? wa * A->radius : 0, spin_b = wb > 0 ? wb * B->radius : 0;
  if (!(spin_a < INFINITY)) spin_a = wa * (tb_distance3(A->x, B->x) + B->radius); // a plane that turns
  if (!(spin_b < INFINITY)) spin_b = wb * (tb_distance3(A->x, B->x) + A->radius);
  return v + spin_a + spin_b + tb_norm3(s->world->gravity) * s->options->dt;
}

// How fast they may approach once something else has stopped one of them: bodies that fall together.
static double alone(const Search* s, int a, int b)
{
  const tbBody *A = &tb_bodies(s->world)[a], *B = &tb_bodies(s->world)[b];
  double va = A->motion == TB_BODY_DYNAMIC ? fastest(A, &s->unconstrained[a]) : 0;
  double vb = B->motion == TB_BODY_DYNAMIC ? fastest(B, &s->unconstrained[b]) : 0;
  return fmax(va, vb);
}

static tbSweep sweep_of(const Search* s, int body)
{
  const tbBody* b = &tb_bodies(s->world)[body];
  const tbUnconstrained* f = &s->unconstrained[body];
  double h = s->options->dt;
  return (tbSweep){s->pose[body], b->x, tb_madd3(f->v, -0.5 * h, f->a), f->w};
}

// The velocity of a body's point p under its free motion, on average over the step.
static tbVec3 velocity_at(const Search* s, int body, tbVec3 p)
{
  tbSweep w = sweep_of(s, body);
  return tb_add3(w.v, tb_cross3(w.w, tb_sub3(p, w.centre)));
}

// Contacts found at a moment t within the step are brought back to its start: each body's point to where it
// is then, and the gap by the way the bodies still have to go. What turns on the way does so at the speed,
// and with the lever arms, of the moment of impact. What overlaps by then met before, elsewhere on a mesh
// that is touched already: that is no contact of this moment.
static tbStatus collide_at(const Search* s, tbContext* ctx, int i, int k, double t, double reach,
                           tbArray* points)
{
  const int* owner = s->world->owner.data;
  int A = owner[i], B = owner[k];
  tbSweep sa = sweep_of(s, A), sb = sweep_of(s, B);
  tbTransform Ta = tb_sweep_at(&sa, t), Tb = tb_sweep_at(&sb, t);
  size_t first = points->count;
  TB_TRY(tb_collide(ctx, &tb_shapes(s->world)[i], Ta, &tb_shapes(s->world)[k], Tb, reach, points));
  size_t kept = first;
  for (size_t c = first; c < points->count; c++) {
    tbContactPoint *all = points->data, *p = &all[kept];
    if (t > 0 && all[c].gap < -reach) continue;
    all[kept++] = all[c];
    tbVec3 u =
        tb_sub3(velocity_at(s, B, tb_madd3(p->b, -t, sb.v)), velocity_at(s, A, tb_madd3(p->a, -t, sa.v)));
    p->a = tb_transform_point(s->pose[A], tb_transform_unpoint(Ta, p->a));
    p->b = tb_transform_point(s->pose[B], tb_transform_unpoint(Tb, p->b));
    p->gap += fmax(-t * tb_dot3(p->normal, u), 0);
  }
  points->count = kept;
  return TB_OK;
}

// Which of a pair's points were found at a later moment than the start of the step.
typedef struct {
  size_t first; // from this one on
  double t;
  bool meet;
} Sweep;

// The contacts of the first moment of impact, to within `surface`: those at most `reach` apart then.
static tbStatus collide_swept(const Search* s, tbContext* ctx, int i, int k, double surface, double reach,
                              tbArray* points, Sweep* sweep)
{
  const int* owner = s->world->owner.data;
  const tbShape *a = &tb_shapes(s->world)[i], *b = &tb_shapes(s->world)[k];
  tbSweep sa = sweep_of(s, owner[i]), sb = sweep_of(s, owner[k]);
  double h = s->options->dt, t = tb_time_of_impact(a, &sa, b, &sb, h, surface);
  *sweep = (Sweep){0};
  if (!(t < h)) return TB_OK;
  *sweep = (Sweep){.t = t, .meet = true};
  points->count = 0;
  return collide_at(s, ctx, i, k, t, reach, points);
}

// A body stuck in a mesh too thin to have an inside for it gets one contact, on the line from its centre to
// the nearest point of the mesh: the side it came from is the one its centre is on.
static tbStatus collide_pierced(const Search* s, tbContext* ctx, int i, int k, tbArray* points)
{
  const int* owner = s->world->owner.data;
  bool first = tb_shapes(s->world)[k].type == TB_SHAPE_MESH; // the convex one is
  int body = owner[first ? i : k];
  const tbShape *convex = &tb_shapes(s->world)[first ? i : k], *mesh = &tb_shapes(s->world)[first ? k : i];
  tbTransform T = tb_transform_mul(s->pose[body], convex->pose),
              M = tb_transform_mul(s->pose[owner[first ? k : i]], mesh->pose);
  tbVec3 centre = tb_transform_point(T, tb_core_centre(convex)), p = tb_transform_unpoint(M, centre);
  tbMeshClosest closest;
  if (!tb_mesh_closest(mesh->mesh, p, tb_bodies(s->world)[body].radius, &closest)) return TB_OK;
  tbVec3 d = closest.distance > 0 ? tb_sub3(closest.point, p) : tb_neg3(mesh->mesh->normal[closest.triangle]);
  tbVec3 n = tb_normalize3(tb_quat_rotate(M.q, d)); // from the convex shape to the mesh
  tbVec3 far = tb_transform_point(T, tb_core_support(convex, tb_quat_unrotate(T.q, n), NULL, NULL));
  double depth = tb_dot3(n, tb_sub3(far, centre)) + tb_core_radius(convex);
  tbVec3 on_convex = tb_madd3(centre, depth, n), on_mesh = tb_madd3(centre, closest.distance, n);
  tbContactPoint point = {.a = first ? on_convex : on_mesh,
                          .b = first ? on_mesh : on_convex,
                          .normal = first ? n : tb_neg3(n),
                          .gap = closest.distance - depth,
                          .feature = UINT64_MAX};
  return point.gap < 0 ? tb_array_push(ctx, points, &point, 1) : TB_OK;
}

// A fast body and a mesh: the contacts of now, and those of the first impact with what is farther away.
static tbStatus sweep_mesh(const Search* s, tbContext* ctx, int i, int k, double surface, double reach,
                           tbArray* points, Sweep* sweep)
{
  const int* owner = s->world->owner.data;
  const tbShape *a = &tb_shapes(s->world)[i], *b = &tb_shapes(s->world)[k];
  tbSweep sa = sweep_of(s, owner[i]), sb = sweep_of(s, owner[k]);
  TB_TRY(tb_collide(ctx, a, s->pose[owner[i]], b, s->pose[owner[k]], reach, points));
  double h = s->options->dt;
  bool pierces = (a->type == TB_SHAPE_MESH) != (b->type == TB_SHAPE_MESH) && a->type != TB_SHAPE_SDF &&
                 b->type != TB_SHAPE_SDF;
  if (points->count == 0 && pierces && tb_time_of_impact(a, &sa, b, &sb, h, surface) == 0)
    TB_TRY(collide_pierced(s, ctx, i, k, points));
  double t = tb_time_of_impact_apart(a, &sa, b, &sb, h, surface, reach);
  *sweep = (Sweep){.first = points->count, .t = t, .meet = t < h};
  return sweep->meet ? collide_at(s, ctx, i, k, t, reach, points) : TB_OK;
}

// Whether bodies that are apart by more than `least` will meet within the step.
static bool first_contact(const Search* s, int a, int b, double least, const tbArray* points)
{
  const tbContactPoint* p = points->data;
  bool closing = false;
  for (size_t c = 0; c < points->count; c++) {
    if (!(p[c].gap > least)) return false;
    tbVec3 u = tb_sub3(velocity_at(s, b, p[c].b), velocity_at(s, a, p[c].a));
    closing |= p[c].gap + s->options->dt * tb_dot3(u, p[c].normal) < 0;
  }
  return closing;
}

static double cell_of(const tbShape* shape) { return shape->type == TB_SHAPE_SDF ? shape->sdf->cell : 0; }

// A pair too fast to look at its start alone. Where the sweep sees an impact but no contact (its steps are
// bounded), and for pairs that cannot be swept, whatever lies within the way ahead is taken.
static tbStatus collide_fast(const Search* s, tbContext* ctx, int i, int k, double way, double size,
                             tbArray* points, Sweep* sweep)
{
  const int* owner = s->world->owner.data;
  const tbShape *a = &tb_shapes(s->world)[i], *b = &tb_shapes(s->world)[k];
  tbTransform Ta = s->pose[owner[i]], Tb = s->pose[owner[k]];
  double surface = 1e-3 * fmin(way, size), margin = s->options->margin;
  if (tb_can_sweep(a, b)) {
    bool mesh = a->type >= TB_SHAPE_MESH || b->type >= TB_SHAPE_MESH;
    double blur = fmax(cell_of(a), cell_of(b)); // by which a grid's surface is off its mesh's
    if (mesh) TB_TRY(sweep_mesh(s, ctx, i, k, surface, 2 * surface + margin + blur, points, sweep));
    else
      TB_TRY(collide_swept(s, ctx, i, k, surface, fmax(2 * surface + margin, 0.25 * fmin(way, size)), points,
                           sweep));
    if (!mesh && !sweep->meet) return tb_collide(ctx, a, Ta, b, Tb, margin, points);
    if (!sweep->meet || points->count > 0) return TB_OK;
  }
  *sweep = (Sweep){0};
  points->count = 0;
  return tb_collide(ctx, a, Ta, b, Tb, fmax(way, margin), points);
}

// Whether nothing of a pair can meet within `look`: what kept it apart before does so still. The little more
// makes up for rounding in the search that this spares.
static bool is_apart(const Search* s, int pair, double look, double size)
{
  const tbPair* p = &s->pairs[pair];
  return s->hint &&
         tb_narrow_apart(&s->placed[p->a], &s->placed[p->b], look + 1e-8 * (look + size), &s->hint[pair]);
}

static tbStatus collide_pair(const Search* s, tbContext* ctx, int pair, tbArray* points, Sweep* sweep)
{
  int i = s->pairs[pair].a, k = s->pairs[pair].b;
  const int* owner = s->world->owner.data;
  const tbShape *a = &tb_shapes(s->world)[i], *b = &tb_shapes(s->world)[k];
  const tbBody *A = &tb_bodies(s->world)[owner[i]], *B = &tb_bodies(s->world)[owner[k]];
  tbTransform Ta = s->pose[owner[i]], Tb = s->pose[owner[k]];
  double size = fmin(A->radius, B->radius), margin = s->options->margin,
         way = approach(s, owner[i], owner[k]) * s->options->dt + 1e-3 * size;
  *sweep = (Sweep){0};
  bool fast = way > 0.5 * size || A->bullet || B->bullet;
  if (!fast) way = fmax(way, fmin(alone(s, owner[i], owner[k]) * s->options->dt, size));
  double look = fmax(way, margin);
  if (is_apart(s, pair, look, size)) return TB_OK;
  if (fast) return collide_fast(s, ctx, i, k, way, size, points, sweep);
  TB_TRY(tb_collide(ctx, a, Ta, b, Tb, look, points));
  if (s->hint && points->count == 0) tb_narrow_learn(&s->placed[i], &s->placed[k], look, &s->hint[pair]);
  if (a->type > TB_SHAPE_CONVEX || b->type > TB_SHAPE_CONVEX) return TB_OK;
  if (!first_contact(s, owner[i], owner[k], 1e-5 * size, points)) return TB_OK;
  return collide_swept(s, ctx, i, k, 1e-6 * size, look, points, sweep);
}

// Where a body's point will be at time t, less the way its centre has gone by then: the lever arm of an
// impact.
static tbVec3 armed(const Search* s, int body, tbVec3 p, double t)
{
  tbSweep w = sweep_of(s, body);
  return tb_add3(w.centre, tb_quat_rotate(tb_quat_exp(tb_scale3(t, w.w)), tb_sub3(p, w.centre)));
}

// Where the impulse acts: midway, or on the one body that it moves.
static tbVec3 position_of(const Search* s, int a, int b, const tbContactPoint* p, double t)
{
  tbVec3 on_a = t > 0 ? armed(s, a, p->a, t) : p->a, on_b = t > 0 ? armed(s, b, p->b, t) : p->b;
  if (tb_bodies(s->world)[a].motion != TB_BODY_DYNAMIC) return on_b;
  if (tb_bodies(s->world)[b].motion != TB_BODY_DYNAMIC) return on_a;
  return tb_scale3(0.5, tb_add3(on_a, on_b));
}

static void collide_pairs(void* user, int begin, int end, int piece)
{
  Search* s = user;
  tbContext own = tb_shared_context(&s->shared), *ctx = &own;
  const int* owner = s->world->owner.data;
  tbArray points = TB_ARRAY(tbContactPoint);
  tbStatus status = TB_OK;
  Sweep sweep;
  for (int i = begin; status == TB_OK && i < end; i++) {
    tbPair pair = s->pairs[i];
    points.count = 0;
    status = collide_pair(s, ctx, i, &points, &sweep);
    for (size_t c = 0; status == TB_OK && c < points.count; c++) {
      const tbContactPoint* p = (const tbContactPoint*)points.data + c;
      double t = c >= sweep.first ? sweep.t : 0;
      Found found = {pair, position_of(s, owner[pair.a], owner[pair.b], p, t), t, *p};
      status = tb_array_push(ctx, &s->found[piece], &found, 1);
    }
  }
  tb_array_free(ctx, &points);
  s->status[piece] = status;
  s->error[piece] = own.error;
}

// Bodies that a joint keeps from colliding, as sorted pairs.
static int by_pair(const void* x, const void* y)
{
  const tbPair *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return (a->b > b->b) - (a->b < b->b);
}

tbPair* tb_joined_bodies(tbArena* arena, const tbWorld* w, int* count)
{
  tbPair* joined = TB_TAKE(arena, tbPair, w->joint.count);
  *count = 0;
  for (size_t i = 0; joined && i < w->joint.count; i++) {
    int a = tb_joints(w)[i].a, b = tb_joints(w)[i].b;
    if (!tb_joints(w)[i].def.collide && a >= 0 && b >= 0)
      joined[(*count)++] = (tbPair){a < b ? a : b, a < b ? b : a};
  }
  if (joined) tb_sort(joined, (size_t)*count, sizeof *joined, by_pair);
  return joined;
}

bool tb_is_joined(const tbPair* joined, int count, int a, int b)
{
  tbPair bodies = {a < b ? a : b, a < b ? b : a};
  return count > 0 && bsearch(&bodies, joined, (size_t)count, sizeof *joined, by_pair);
}

// Drops pairs that cannot matter: neither body moves freely, or a joint says so.
static void sift(const tbWorld* w, const tbPair* joined, int njoined, tbArray* pairs)
{
  const int* owner = w->owner.data;
  tbPair* p = pairs->data;
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; i++) {
    int a = owner[p[i].a], b = owner[p[i].b];
    if (tb_bodies(w)[a].motion != TB_BODY_DYNAMIC && tb_bodies(w)[b].motion != TB_BODY_DYNAMIC) continue;
    if (!tb_world_may_touch(w, a, b) || tb_is_joined(joined, njoined, a, b)) continue;
    p[kept++] = p[i];
  }
  pairs->count = kept;
}

static void write_constraints(const Search* s, int pieces, tbContactConstraint* out)
{
  const int* owner = s->world->owner.data;
  for (int i = 0; i < pieces; i++)
    for (size_t c = 0; c < s->found[i].count; c++, out++) {
      const Found* f = (const Found*)s->found[i].data + c;
      out->shape_a = f->shapes.a, out->shape_b = f->shapes.b;
      out->body_a = owner[f->shapes.a], out->body_b = owner[f->shapes.b];
      out->point = f->point, out->position = f->position, out->swept = f->swept, out->impact = -1;
    }
}

static tbStatus narrow_phase(tbContext* ctx, tbArena* arena, Search* s, tbArray* constraints)
{
  int pieces = tb_piece_count(s->npair, PAIRS);
  s->found = TB_TAKE(arena, tbArray, (size_t)pieces);
  s->status = TB_TAKE(arena, tbStatus, (size_t)pieces);
  s->error = TB_TAKE(arena, tbError, (size_t)pieces);
  if (!s->found || !s->status || !s->error) return TB_ERROR_MEMORY;
  for (int i = 0; i < pieces; i++) s->found[i] = TB_ARRAY(Found);
  tb_shared_begin(&s->shared, ctx);
  tb_parallel_for(ctx->threads, s->npair, PAIRS, collide_pairs, s);
  tb_shared_end(&s->shared);
  tbStatus status = TB_OK;
  size_t count = 0;
  for (int i = 0; i < pieces; i++) {
    count += s->found[i].count;
    if (status == TB_OK && s->status[i] != TB_OK) {
      status = s->status[i];
      ctx->error = s->error[i];
    }
  }
  if (status == TB_OK) status = tb_array_push(ctx, constraints, NULL, count);
  if (status == TB_OK) write_constraints(s, pieces, constraints->data);
  for (int i = 0; i < pieces; i++) tb_array_free(ctx, &s->found[i]);
  return status;
}

tbStatus tb_find_contacts_of(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepOptions* options,
                             const tbUnconstrained* unconstrained, const tbTransform* pose,
                             const tbPair* pairs, int count, tbArray* constraints)
{
  Search s = {.world = w, .options = options, .unconstrained = unconstrained, .pose = pose};
  s.pairs = pairs, s.npair = count;
  constraints->count = 0;
  return narrow_phase(ctx, arena, &s, constraints);
}

tbStatus tb_find_contacts(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* w,
                          const tbStepOptions* options, const tbUnconstrained* unconstrained,
                          const tbTransform* pose, tbArray* constraints)
{
  int nshape = (int)w->shape.count, njoined;
  Search s = {.world = w, .options = options, .unconstrained = unconstrained, .pose = pose};
  s.items = TB_TAKE(arena, tbBroadItem, (size_t)nshape);
  tbPair* joined = tb_joined_bodies(arena, w, &njoined);
  if (cache) s.placed = TB_TAKE(arena, tbNarrowShape, (size_t)nshape);
  if (!s.items || !joined || (cache && !s.placed)) return TB_ERROR_MEMORY;
  tb_parallel_for(ctx->threads, nshape, BODIES, grow_boxes, &s);

  tbArray pairs = TB_ARRAY(tbPair);
  tbStatus status = tb_find_pairs(ctx, arena, cache, s.items, nshape, &pairs);
  if (status == TB_OK) {
    sift(w, joined, njoined, &pairs);
    s.pairs = pairs.data, s.npair = (int)pairs.count;
    status = tb_find_hints(ctx, cache, s.pairs, s.npair, &s.hint);
  }
  constraints->count = 0;
  if (status == TB_OK) status = narrow_phase(ctx, arena, &s, constraints);
  tb_array_free(ctx, &pairs);
  return status;
}
