// SPDX-License-Identifier: Apache-2.0
// Barriers between features that are close, and the friction that goes with them.
//
// Every pair of a vertex and a face, of two edges, and of a vertex and a plane that is closer than d̂ adds
// κ b(d) to the potential. Friction adds μN f₀(|slip|): its normal force N, its tangents and the weights of
// its corners stand still while Newton's method runs, and are then taken anew (lagged). It acts on how far
// the points that touch slide in the whole step.
#include "step/ipc.h"

#include "base/threads.h"
#include "collide/surfaces_pair.h"
#include "math/eig3.h"
#include "step/friction_pair.h"

#include <string.h>

enum { GRAIN = 32 };

static const double PARALLEL = 1e-3; // of |u|²|v|² at rest: edges whose |u × v|² is less are mollified
static const double STUCK = 10;      // μ where nothing is to slide
static const double APART = 0.5;     // of their distance at rest: the barrier of features of one surface

// ---- pairs ----

static void corners_of(const tbSurfaceContact* c, int* count, int surface[4], int vertex[4])
{
  int n = 0;
  for (int k = 0; k < c->count_b; k++) surface[n] = c->of.surface_b, vertex[n++] = c->vertex_b[k];
  for (int k = 0; k < c->count_a; k++) surface[n] = c->of.surface_a, vertex[n++] = c->vertex_a[k];
  *count = n;
}

// Closest points at the end of the way.
static bool near_end(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, const tbSurfaceWay* way,
                     double distance, tbSurfaceContact* out)
{
  (void)way;
  if (f->kind == TB_SURFACE_PLANE_VERTEX) {
    double height = tb_surface_height(scene, f, true);
    if (!(height < distance)) return false;
    *out = tb_surface_corners(scene, f);
    out->weight_b[0] = 1, out->gap = height, out->normal = scene->plane[f->surface_a].normal[1];
    return true;
  }
  tbVec3 x[4];
  tbSurfaceContact c = tb_surface_corners(scene, f);
  tb_surface_places(scene, &c, true, x);
  tbClosest closest = tb_closest_features(f->kind == TB_SURFACE_FACE_VERTEX, x);
  double square = tb_dot3(closest.way, closest.way);
  if (!(square < distance * distance)) return false;
  tb_surface_weigh(&c, closest.weight);
  c.gap = sqrt(square), c.normal = tb_normalize3(closest.way);
  *out = c;
  return true;
}

static double rest_length2(const tbSurfaceMesh* s, const int edge[2])
{
  tbVec3 u = tb_sub3(s->rest[edge[1]], s->rest[edge[0]]);
  return tb_dot3(u, u);
}

static double rest_distance(const tbSurfaceMesh* s, const tbSurfaceContact* c)
{
  tbVec3 x[4];
  int n = 0;
  for (int k = 0; k < c->count_b; k++) x[n++] = s->rest[c->vertex_b[k]];
  for (int k = 0; k < c->count_a; k++) x[n++] = s->rest[c->vertex_a[k]];
  return tb_norm3(tb_closest_features(c->of.kind == TB_SURFACE_FACE_VERTEX, x).way);
}

// How far its barrier reaches, how stiff it is, and when edges count as parallel.
static tbIpcContact pair_of(const tbIpc* ipc, const tbSurfaceContact* c)
{
  const tbSurfaces* s = &ipc->surfaces;
  const tbMovingSurface* b = &s->surface[c->of.surface_b];
  bool plane = c->of.kind == TB_SURFACE_PLANE_VERTEX;
  const tbMovingSurface* a = plane ? NULL : &s->surface[c->of.surface_a];
  tbIpcContact out = {.at = *c, .dhat = fmax(ipc->dhat, b->radius + (a ? a->radius : 0))};
  double scale_b = ipc->surface[c->of.surface_b].scale, scale_a = a ? ipc->surface[c->of.surface_a].scale : 0;
  if (a == b) out.dhat = fmin(out.dhat, APART * rest_distance(a->surface, c));
  out.kappa = scale_a > 0 && scale_b > 0 ? sqrt(scale_a * scale_b) : fmax(scale_a, scale_b);
  if (ipc->options->barrier_stiffness > 0) out.kappa = ipc->options->barrier_stiffness;
  out.kappa *= ipc->stiffer;
  if (c->of.kind == TB_SURFACE_EDGE_EDGE)
    out.mollify = PARALLEL * rest_length2(a->surface, a->surface->edge[c->of.feature_a]) *
                  rest_length2(b->surface, b->surface->edge[c->of.feature_b]);
  return out;
}

// ---- energies ----

typedef struct {
  tbIpc* ipc;
  tbIpcContact* contact;
  double (*hessian)[144]; // null: not wanted
} Job;

static void plane_energy(tbIpcContact* c, double H[144])
{
  tbJet b = c->at.gap > 0 ? tb_barrier(c->at.gap, c->dhat) : (tbJet){.value = INFINITY};
  tbVec3 n = c->at.normal;
  c->energy = (tbPairEnergy){.value = c->kappa * b.value, .push = -c->kappa * b.first};
  c->energy.gradient[0] = tb_scale3(c->kappa * b.first, n);
  if (!H) return;
  memset(H, 0, 144 * sizeof *H);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) H[12 * i + j] = c->kappa * b.second * (&n.x)[i] * (&n.x)[j];
}

static void evaluate(void* user, int begin, int end, int piece)
{
  (void)piece;
  Job* job = user;
  for (int i = begin; i < end; i++) {
    tbIpcContact* c = &job->contact[i];
    double* H = job->hessian ? job->hessian[i] : NULL;
    if (c->at.of.kind == TB_SURFACE_PLANE_VERTEX) {
      plane_energy(c, H);
      continue;
    }
    bool face = c->at.of.kind == TB_SURFACE_FACE_VERTEX;
    tbVec3 x[4];
    tb_surface_places(&job->ipc->surfaces.scene, &c->at, true, x);
    tbDistance d = tb_distance_of(face, x);
    c->energy = tb_pair_barrier(face, x, &d, c->dhat, c->mollify, H);
    if (!(d.square > 0)) c->energy.value = INFINITY;
    c->energy.value *= c->kappa, c->energy.push *= c->kappa;
    for (int k = 0; k < 4; k++) c->energy.gradient[k] = tb_scale3(c->kappa, c->energy.gradient[k]);
    for (int k = 0; H && k < 144; k++) H[k] *= c->kappa;
  }
}

tbStatus tb_ipc_find(tbContext* ctx, tbIpc* ipc, bool derivatives, double* sum)
{
  ipc->found.count = ipc->contact.count = ipc->hessian.count = 0;
  TB_TRY(
      tb_surface_gather(ctx, &ipc->surfaces.scene, &ipc->candidates, near_end, ipc->most_dhat, &ipc->found));
  for (size_t i = 0; i < ipc->found.count; i++) {
    const tbSurfaceContact* c = (const tbSurfaceContact*)ipc->found.data + i;
    if (!tb_world_may_touch(ipc->world, tb_surfaces_body(&ipc->surfaces, &c->of, 0),
                            tb_surfaces_body(&ipc->surfaces, &c->of, 1)))
      continue;
    tbIpcContact pair = pair_of(ipc, c);
    if (c->gap < pair.dhat) TB_TRY(tb_array_push(ctx, &ipc->contact, &pair, 1));
  }
  int count = (int)ipc->contact.count;
  if (derivatives) TB_TRY(tb_array_push(ctx, &ipc->hessian, NULL, ipc->contact.count));
  Job job = {ipc, ipc->contact.data, derivatives ? ipc->hessian.data : NULL};
  tb_parallel_for(ctx->threads, count, GRAIN, evaluate, &job);
  *sum = 0;
  for (int i = 0; i < count; i++) *sum += job.contact[i].energy.value;
  return TB_OK;
}

// ---- friction ----

// How far the point of a plane under a vertex goes in the step.
static tbVec3 plane_slide(const tbIpc* ipc, const tbIpcFriction* f, tbVec3 at)
{
  const tbBody* b = &tb_bodies(ipc->world)[ipc->plane[f->at.of.surface_a].body];
  if (b->motion != TB_BODY_KINEMATIC) return tb_zero3();
  double t = ipc->world->time;
  tbTransform now = tb_motion_at(ipc->world, b, t), then = tb_motion_at(ipc->world, b, t + ipc->h);
  return tb_scale3(ipc->progress, tb_sub3(tb_transform_point(then, tb_transform_unpoint(now, at)), at));
}

// The slip of b against a since the start of the step, along the two tangents, times their shares of μ.
static void slip_of(const tbIpc* ipc, const tbIpcFriction* f, double y[2])
{
  const tbSurfaces* s = &ipc->surfaces;
  tbVec3 slip = tb_zero3();
  for (int side = 0; side < 2; side++) {
    int surface = side ? f->at.of.surface_b : f->at.of.surface_a;
    const int* vertex = side ? f->at.vertex_b : f->at.vertex_a;
    const double* weight = side ? f->at.weight_b : f->at.weight_a;
    for (int k = 0; k < (side ? f->at.count_b : f->at.count_a); k++) {
      tbVec3 way = tb_sub3(s->end[surface][vertex[k]], ipc->surface[surface].begin[vertex[k]]);
      slip = tb_madd3(slip, side ? weight[k] : -weight[k], way);
    }
  }
  if (f->at.of.kind == TB_SURFACE_PLANE_VERTEX)
    slip = tb_sub3(slip, plane_slide(ipc, f, ipc->surface[f->at.of.surface_b].begin[f->at.vertex_b[0]]));
  for (int k = 0; k < 2; k++) y[k] = f->share[k] * tb_dot3(f->axis[k], slip);
}

// Laws that no potential gives, f(ŷ) against the slip y: the force is split into one of a disc of radius s,
// which Newton's method follows, and f(ŷ) less that of the disc where the slip last was. Repeated, the lagged
// part contracts while s is no less than the law's forces and what they do across the slip.
static double disc_beside(const tbContactConstraint* t)
{
  const double* p = t->param;
  if (t->law == TB_LAW_TENSOR) {
    double across = fabs(p[1] - p[2]) / 2, mean = (p[0] + p[3]) / 2, x = (p[0] - p[3]) / 2,
           y = (p[1] + p[2]) / 2;
    return sqrt(mean * mean + across * across) + sqrt(x * x + y * y) + across;
  }
  double most = 0;
  for (int i = 0; i < (t->law == TB_LAW_POLYGON ? 8 : 4); i++) most = fmax(most, p[i]);
  return t->law == TB_LAW_DIRECTIONAL ? sqrt(2) * most : most;
}

static void lag_direction(const tbIpc* ipc, const tbContactConstraint* t, double push, tbIpcFriction* f)
{
  double y[2], now[2];
  slip_of(ipc, f, y);
  double length = sqrt(y[0] * y[0] + y[1] * y[1]);
  if (!(length > 0)) return;
  tb_friction_against(t->law, t->param, push, y, now);
  double share = length * tb_smooth_friction(length, ipc->smooth).first;
  for (int k = 0; k < 2; k++) f->lag[k] = share * (now[k] + f->force * y[k] / length);
}

tbStatus tb_ipc_lag(tbContext* ctx, tbIpc* ipc)
{
  ipc->friction.count = 0;
  const tbIpcContact* c = ipc->contact.data;
  for (size_t i = 0; i < ipc->contact.count; i++) {
    if (!(c[i].energy.push > 0)) continue;
    const tbSurfaces* s = &ipc->surfaces;
    tbContactConstraint t = {.shape_a = tb_surfaces_shape(s, &c[i].at.of, 0),
                             .shape_b = tb_surfaces_shape(s, &c[i].at.of, 1),
                             .body_a = tb_surfaces_body(s, &c[i].at.of, 0),
                             .body_b = tb_surfaces_body(s, &c[i].at.of, 1),
                             .point.normal = c[i].at.normal,
                             .surface = &c[i].at};
    tb_constraint_law(ipc->world, &t);
    tb_constraint_drop_turning(&t);
    double mu[2] = {t.rows >= 3 ? t.param[0] : 0, t.rows >= 3 ? t.param[0] : 0};
    bool direct = t.law == TB_LAW_TENSOR || t.law == TB_LAW_DIRECTIONAL || t.law == TB_LAW_POLYGON;
    if (t.law == TB_LAW_ELLIPTIC) mu[1] = t.param[1];
    if (direct) mu[0] = mu[1] = disc_beside(&t);
    if (ipc->still) mu[0] = mu[1] = STUCK;
    double most = fmax(mu[0], mu[1]);
    if (!(most > 0)) continue;
    tbIpcFriction f = {.at = c[i].at,
                       .axis = {tb_mat3_row(t.frame, 1), tb_mat3_row(t.frame, 2)},
                       .share = {mu[0] / most, mu[1] / most},
                       .force = most * c[i].energy.push};
    if (direct && !ipc->still) lag_direction(ipc, &t, c[i].energy.push, &f);
    TB_TRY(tb_array_push(ctx, &ipc->friction, &f, 1));
  }
  return TB_OK;
}

double tb_ipc_friction_energy(const tbIpc* ipc)
{
  const tbIpcFriction* f = ipc->friction.data;
  double sum = 0, y[2];
  for (size_t i = 0; i < ipc->friction.count; i++) {
    slip_of(ipc, &f[i], y);
    sum += f[i].force * tb_smooth_friction(sqrt(y[0] * y[0] + y[1] * y[1]), ipc->smooth).value;
    sum -= f[i].lag[0] * y[0] + f[i].lag[1] * y[1];
  }
  return sum;
}

tbVec3 tb_ipc_friction_force(const tbIpc* ipc, const tbIpcFriction* f)
{
  double y[2];
  slip_of(ipc, f, y);
  double pull = -f->force * tb_smooth_friction(sqrt(y[0] * y[0] + y[1] * y[1]), ipc->smooth).first;
  return tb_madd3(tb_scale3(pull * f->share[0] * y[0] + f->lag[0], f->axis[0]),
                  pull * f->share[1] * y[1] + f->lag[1], f->axis[1]);
}

// By the slip: ∂²/∂y² = force [f₁/|y| 1 + (f₁' − f₁/|y|) ŷŷᵀ], of which neither eigenvalue is negative.
static void friction_stiffness(const tbIpc* ipc, const tbIpcFriction* f, tbMat3* G)
{
  double y[2];
  slip_of(ipc, f, y);
  double length = sqrt(y[0] * y[0] + y[1] * y[1]);
  tbJet jet = tb_smooth_friction(length, ipc->smooth);
  *G = tb_mat3_zero();
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double along = length > 0 ? y[i] * y[j] / (length * length) : 0;
      double k = f->force * ((i == j ? jet.first : 0) + (jet.second - jet.first) * along);
      *G = tb_mat3_add(*G,
                       tb_mat3_scale(k * f->share[i] * f->share[j], tb_mat3_outer(f->axis[i], f->axis[j])));
    }
}

// ---- into the Newton step ----

// A pair with what it needs to be added: corners, how these move, gradient and Hessian by corners.
typedef struct {
  int count, surface[4], vertex[4];
  tbIpcMove move[4];
  tbVec3 at[4], gradient[4];
} Local;

static Local local_of(const tbIpc* ipc, const tbSurfaceContact* c)
{
  Local l = {0};
  corners_of(c, &l.count, l.surface, l.vertex);
  for (int k = 0; k < l.count; k++) {
    l.at[k] = ipc->surfaces.end[l.surface[k]][l.vertex[k]];
    l.move[k] = tb_ipc_move(ipc, l.surface[k], l.vertex[k], l.at[k]);
  }
  return l;
}

static tbMat3 block_at(const double H[144], int i, int j)
{
  tbMat3 B;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) B.m[r][c] = H[12 * (3 * i + r) + 3 * j + c];
  return B;
}

// What a gradient at a vertex is to the velocities that move it.
static void add_moved(const tbIpcMove* move, tbVec3 gradient, tbVec3* to)
{
  for (int m = 0; m < move->count; m++)
    to[move->block[m]] = tb_add3(to[move->block[m]], tb_mat3_tmulv(move->by[m], gradient));
}

static void add_gradient(tbIpc* ipc, const Local* l)
{
  for (int k = 0; k < l->count; k++) add_moved(&l->move[k], l->gradient[k], ipc->gradient);
}

static void add_hessian(tbIpcMatrix* matrix, const Local* l, const double H[144])
{
  for (int i = 0; i < l->count; i++)
    for (int j = 0; j < l->count; j++) {
      tbMat3 B = block_at(H, i, j);
      for (int m = 0; m < l->move[i].count; m++)
        for (int n = 0; n < l->move[j].count; n++) {
          if (l->move[i].block[m] < l->move[j].block[n]) continue;
          tbMat3 C = tb_mat3_tmul(l->move[i].by[m], tb_mat3_mul(B, l->move[j].by[n]));
          tb_ipc_matrix_add(matrix, l->move[i].block[m], l->move[j].block[n], (const double*)&C);
        }
    }
}

// Corners whose motion is known have a way to go: what it does to the others.
static void add_left(tbIpc* ipc, const Local* l, const double H[144])
{
  if (!(ipc->progress < 1)) return;
  for (int j = 0; j < l->count; j++) {
    tbVec3 left = tb_ipc_left(ipc, l->surface[j], l->vertex[j]);
    if (tb_maxabs3(left) == 0) continue;
    ipc->lead_slope += tb_dot3(l->gradient[j], left);
    for (int i = 0; i < l->count; i++)
      add_moved(&l->move[i], tb_mat3_mulv(block_at(H, i, j), left), ipc->lead);
  }
}

// Planes have no corners: the way of the half-space at the vertex.
static void add_plane_left(tbIpc* ipc, const tbSurfaceContact* c, const Local* l, const double H[144])
{
  if (c->of.kind != TB_SURFACE_PLANE_VERTEX || !(ipc->progress < 1)) return;
  const tbMovingPlane *whole = &ipc->plane[c->of.surface_a], *now = &ipc->surfaces.plane[c->of.surface_a];
  double end = tb_dot3(whole->normal[1], l->at[0]) - whole->offset[1];
  double height = tb_dot3(now->normal[1], l->at[0]) - now->offset[1];
  tbVec3 left = tb_scale3(end - height, now->normal[1]); // as if the vertex went that way
  ipc->lead_slope += tb_dot3(l->gradient[0], left);
  add_moved(&l->move[0], tb_mat3_mulv(block_at(H, 0, 0), left), ipc->lead);
}

// A frame's vertices turn on circles: g·∂²x/∂φ² of each, summed by frame, made positive.
static void add_turning(const tbIpc* ipc, const Local* l, tbMat3* turning)
{
  for (int k = 0; turning && k < l->count; k++) {
    const tbIpcSurface* s = &ipc->surface[l->surface[k]];
    if (s->source != TB_IPC_FRAME) continue;
    tbVec3 r = tb_sub3(l->at[k], ipc->frame[s->index].now.x), g = l->gradient[k];
    double along = tb_dot3(r, g);
    tbMat3 S = tb_mat3_scale(0.5, tb_mat3_add(tb_mat3_outer(g, r), tb_mat3_outer(r, g)));
    S = tb_mat3_sub(S, tb_mat3_diag(along, along, along));
    turning[s->index] = tb_mat3_add(turning[s->index], S);
  }
}

static void finish_turning(tbIpc* ipc, const tbMat3* turning, tbIpcMatrix* matrix)
{
  for (int i = 0; i < ipc->nframe; i++) {
    tbEig3 e = tb_eig3(turning[i]);
    tbMat3 S = tb_mat3_zero();
    for (int k = 0; k < 3; k++) {
      tbVec3 axis = tb_mat3_col(e.V, k);
      if (e.s[k] > 0) S = tb_mat3_add(S, tb_mat3_scale(e.s[k], tb_mat3_outer(axis, axis)));
    }
    tbMat3 T = tb_mat3_scale(ipc->h, ipc->frame[i].turn), C = tb_mat3_tmul(T, tb_mat3_mul(S, T));
    tb_ipc_matrix_add(matrix, ipc->frame[i].block + 1, ipc->frame[i].block + 1, (const double*)&C);
  }
}

static void friction_local(const tbIpc* ipc, const tbIpcFriction* f, Local* l, double H[144])
{
  tbMat3 G;
  double c[4];
  tbVec3 force = tb_ipc_friction_force(ipc, f);
  friction_stiffness(ipc, f, &G);
  for (int k = 0; k < l->count; k++) {
    c[k] = k < f->at.count_b ? f->at.weight_b[k] : -f->at.weight_a[k - f->at.count_b];
    l->gradient[k] = tb_scale3(-c[k], force);
  }
  memset(H, 0, 144 * sizeof *H);
  for (int i = 0; i < 3 * l->count; i++)
    for (int j = 0; j < 3 * l->count; j++) H[12 * i + j] = c[i / 3] * c[j / 3] * G.m[i % 3][j % 3];
}

tbStatus tb_ipc_contacts_gradient(tbContext* ctx, tbIpc* ipc, tbIpcMatrix* matrix)
{
  const tbIpcContact* c = ipc->contact.data;
  const tbIpcFriction* f = ipc->friction.data;
  double own[144], (*hessian)[144] = ipc->hessian.data;
  tbMat3* turning = NULL;
  if (matrix && ipc->nframe) {
    turning = TB_NEW(ctx, tbMat3, (size_t)ipc->nframe);
    if (!turning) return TB_ERROR_MEMORY;
  }
  for (size_t i = 0; i < ipc->contact.count; i++) {
    Local l = local_of(ipc, &c[i].at);
    memcpy(l.gradient, c[i].energy.gradient, sizeof l.gradient);
    if (matrix) {
      add_turning(ipc, &l, turning);
      add_left(ipc, &l, hessian[i]);
      add_plane_left(ipc, &c[i].at, &l, hessian[i]);
      add_hessian(matrix, &l, hessian[i]);
    }
    add_gradient(ipc, &l);
  }
  for (size_t i = 0; i < ipc->friction.count; i++) {
    Local l = local_of(ipc, &f[i].at);
    friction_local(ipc, &f[i], &l, own);
    if (matrix) {
      add_turning(ipc, &l, turning);
      add_left(ipc, &l, own);
      add_hessian(matrix, &l, own);
    }
    add_gradient(ipc, &l);
  }
  if (turning) finish_turning(ipc, turning, matrix);
  tb_free(ctx, turning);
  return TB_OK;
}

static tbStatus couple(tbContext* ctx, const tbIpc* ipc, const tbSurfaceContact* c, tbArray* pairs)
{
  Local l = local_of(ipc, c);
  for (int i = 0; i < l.count; i++)
    for (int j = 0; j < l.count; j++)
      for (int m = 0; m < l.move[i].count; m++)
        for (int n = 0; n < l.move[j].count; n++) {
          int row = l.move[i].block[m], col = l.move[j].block[n];
          uint64_t key = (uint64_t)row << 32 | (uint64_t)col;
          if (row > col) TB_TRY(tb_array_push(ctx, pairs, &key, 1));
        }
  return TB_OK;
}

tbStatus tb_ipc_couplings(tbContext* ctx, tbIpc* ipc, tbArray* pairs)
{
  const tbIpcContact* c = ipc->contact.data;
  const tbIpcFriction* f = ipc->friction.data;
  for (size_t i = 0; i < ipc->contact.count; i++) TB_TRY(couple(ctx, ipc, &c[i].at, pairs));
  for (size_t i = 0; i < ipc->friction.count; i++) TB_TRY(couple(ctx, ipc, &f[i].at, pairs));
  return TB_OK;
}
