// SPDX-License-Identifier: Apache-2.0
// Friction adds μN f₀(|slip|) to the potential: its normal force N, its tangents and the weights of its
// corners stand still while Newton's method runs, and are then taken anew (lagged). It acts on how far the
// points that touch slide in the whole step.
#include "step/ipc.h"

#include "step/friction_pair.h"
#include "step/friction_state.h"

#include <string.h>

static const double STUCK = 10; // μ where nothing is to slide

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

// A tensor's force, which no potential gives, L ŷ against the slip y: it is split into one of a disc of
// radius s, which Newton's method follows, and L ŷ less that of the disc where the slip last was. Repeated,
// the lagged part contracts while s is no less than the law's forces and what they do across the slip.
static double disc_beside(const double* p)
{
  double across = fabs(p[1] - p[2]) / 2, mean = (p[0] + p[3]) / 2, x = (p[0] - p[3]) / 2,
         y = (p[1] + p[2]) / 2;
  return sqrt(mean * mean + across * across) + sqrt(x * x + y * y) + across;
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

static double most_of(const tbContactConstraint* t)
{
  bool polygon = t->law == TB_LAW_POLYGON;
  double most = 0;
  for (int i = 0; i < (polygon ? (int)t->param[0] : 4); i++) most = fmax(most, t->param[i + polygon]);
  return most;
}

// Friction of a texture is the closest point of its set to −k y, the slope of a convex potential of the slip:
// k as stiff as the smooth friction of other laws, which has all of its force where y is `smooth`.
static void follow_texture(const tbIpc* ipc, const tbContactConstraint* t, double push, tbIpcFriction* f)
{
  tb_friction_texture_set(t->law, t->param, &f->set);
  f->push = push, f->stiffness = f->force / ipc->smooth;
}

static void force_of_texture(const tbIpcFriction* f, const double y[2], double x[2])
{
  const double z[2] = {-f->stiffness * y[0], -f->stiffness * y[1]};
  tb_friction_closest(&f->set, f->push, z, x);
}

// The derivative of the closest point: along edges, in corners none, inside everything.
static void texture_stiffness(const tbIpcFriction* f, const double y[2], double D[4])
{
  double x[2], apart[2], corner[TB_MAX_DIRECTIONS][2];
  force_of_texture(f, y, x);
  for (int k = 0; k < 2; k++) apart[k] = -f->stiffness * y[k] - x[k];
  double away = sqrt(apart[0] * apart[0] + apart[1] * apart[1]), rounding = 1e-12 * f->force;
  double along[2] = {1, 1}, edge[2] = {0, 0};
  if (f->set.kind == TB_SET_BOX) {
    for (int k = 0; k < 2; k++) along[k] = fabs(apart[k]) <= rounding;
  } else if (away > rounding) {
    bool slips = true; // along an edge
    for (int i = 0, n = tb_friction_corners(&f->set, corner); i < n; i++)
      slips &= fabs(x[0] - f->push * corner[i][0]) + fabs(x[1] - f->push * corner[i][1]) > rounding;
    along[0] = along[1] = 0;
    if (slips) edge[0] = -apart[1] / away, edge[1] = apart[0] / away;
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) D[2 * i + j] = f->stiffness * ((i == j ? along[i] : 0) + edge[i] * edge[j]);
}

// Where side b touches at the start of the step, which its structure is asked at.
static tbVec3 place_of(const tbIpc* ipc, const tbSurfaceContact* c)
{
  const tbVec3* begin = ipc->surface[c->of.surface_b].begin;
  tbVec3 at = tb_zero3();
  for (int k = 0; k < c->count_b; k++) at = tb_madd3(at, c->weight_b[k], begin[c->vertex_b[k]]);
  return at;
}

tbStatus tb_ipc_lag(tbContext* ctx, tbIpc* ipc)
{
  ipc->friction.count = 0;
  const tbIpcContact* c = ipc->contact.data;
  for (size_t i = 0; i < ipc->contact.count; i++) {
    if (!(c[i].energy.push > 0 && isfinite(c[i].energy.push))) continue;
    const tbSurfaces* s = &ipc->surfaces;
    tbContactConstraint t = {.shape_a = tb_surfaces_shape(s, &c[i].at.of, 0),
                             .shape_b = tb_surfaces_shape(s, &c[i].at.of, 1),
                             .body_a = tb_surfaces_body(s, &c[i].at.of, 0),
                             .body_b = tb_surfaces_body(s, &c[i].at.of, 1),
                             .point.normal = c[i].at.normal,
                             .position = place_of(ipc, &c[i].at),
                             .surface = &c[i].at,
                             .rest = ipc->options->velocity_threshold};
    tb_constraint_law(ipc->world, &t);
    tb_constraint_drop_turning(&t);
    tb_friction_rows(ipc->world, ipc->options, &t);
    double tresca = t.contact_material.friction.tresca;
    double mu[2] = {t.rows >= 3 ? t.param[0] : 0, t.rows >= 3 ? t.param[0] : 0};
    bool texture = t.law == TB_LAW_DIRECTIONAL || t.law == TB_LAW_POLYGON, direct = t.law == TB_LAW_TENSOR;
    if (t.law == TB_LAW_ELLIPTIC) mu[1] = t.param[1];
    if (direct) mu[0] = mu[1] = disc_beside(t.param);
    if (texture) mu[0] = mu[1] = most_of(&t);
    if (tresca > 0) mu[0] = mu[1] = 1;
    if (ipc->still) mu[0] = mu[1] = STUCK;
    double most = fmax(mu[0], mu[1]);
    if (!(most > 0)) continue;
    tbIpcFriction f = {.at = c[i].at,
                       .axis = {tb_mat3_row(t.frame, 1), tb_mat3_row(t.frame, 2)},
                       .share = {mu[0] / most, mu[1] / most},
                       .force = tresca > 0 && !ipc->still ? tresca : most * c[i].energy.push};
    if (direct && !ipc->still) lag_direction(ipc, &t, c[i].energy.push, &f);
    if (texture && !ipc->still) follow_texture(ipc, &t, c[i].energy.push, &f);
    TB_TRY(tb_array_push(ctx, &ipc->friction, &f, 1));
  }
  return TB_OK;
}

double tb_ipc_friction_energy(const tbIpc* ipc)
{
  const tbIpcFriction* f = ipc->friction.data;
  double sum = 0, y[2], x[2];
  for (size_t i = 0; i < ipc->friction.count; i++) {
    slip_of(ipc, &f[i], y);
    if (f[i].set.kind != TB_SET_NONE) {
      force_of_texture(&f[i], y, x);
      sum -= x[0] * y[0] + x[1] * y[1] + (x[0] * x[0] + x[1] * x[1]) / (2 * f[i].stiffness);
      continue;
    }
    sum += f[i].force * tb_smooth_friction(sqrt(y[0] * y[0] + y[1] * y[1]), ipc->smooth).value;
    sum -= f[i].lag[0] * y[0] + f[i].lag[1] * y[1];
  }
  return sum;
}

tbVec3 tb_ipc_friction_force(const tbIpc* ipc, const tbIpcFriction* f)
{
  double y[2];
  slip_of(ipc, f, y);
  if (f->set.kind != TB_SET_NONE) {
    double x[2];
    force_of_texture(f, y, x);
    return tb_madd3(tb_scale3(x[0], f->axis[0]), x[1], f->axis[1]);
  }
  double pull = -f->force * tb_smooth_friction(sqrt(y[0] * y[0] + y[1] * y[1]), ipc->smooth).first;
  return tb_madd3(tb_scale3(pull * f->share[0] * y[0] + f->lag[0], f->axis[0]),
                  pull * f->share[1] * y[1] + f->lag[1], f->axis[1]);
}

// By the slip: ∂²/∂y² = force [f₁/|y| 1 + (f₁' − f₁/|y|) ŷŷᵀ], of which neither eigenvalue is negative.
// Without the second part it is that of a paraboloid which touches f₀ at y and is nowhere below: a step that
// it bounds does not go past the kink at y = 0, which the true one says nothing of.
static void friction_stiffness(const tbIpc* ipc, const tbIpcFriction* f, tbMat3* G)
{
  double y[2];
  slip_of(ipc, f, y);
  double length = sqrt(y[0] * y[0] + y[1] * y[1]);
  tbJet jet = tb_smooth_friction(length, ipc->smooth);
  *G = tb_mat3_zero();
  if (f->set.kind != TB_SET_NONE) {
    double D[4];
    texture_stiffness(f, y, D);
    for (int i = 0; i < 4; i++)
      *G = tb_mat3_add(*G, tb_mat3_scale(D[i], tb_mat3_outer(f->axis[i / 2], f->axis[i % 2])));
    return;
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      double along = length > 0 ? y[i] * y[j] / (length * length) : 0;
      double bend = f->bounded ? 0 : jet.second - jet.first;
      double k = f->force * ((i == j ? jet.first : 0) + bend * along);
      *G = tb_mat3_add(*G,
                       tb_mat3_scale(k * f->share[i] * f->share[j], tb_mat3_outer(f->axis[i], f->axis[j])));
    }
}

void tb_ipc_bound_friction(tbIpc* ipc, double back, double ahead)
{
  tbIpcFriction* f = ipc->friction.data;
  double y[2];
  tb_ipc_go(ipc, -back);
  for (size_t i = 0; i < ipc->friction.count; i++) slip_of(ipc, &f[i], f[i].slip);
  tb_ipc_go(ipc, ahead);
  for (size_t i = 0; i < ipc->friction.count; i++) {
    slip_of(ipc, &f[i], y);
    if (y[0] * f[i].slip[0] + y[1] * f[i].slip[1] < 0) f[i].bounded = true;
  }
  tb_ipc_go(ipc, 0);
}

void tb_ipc_release_friction(tbIpc* ipc)
{
  tbIpcFriction* f = ipc->friction.data;
  for (size_t i = 0; i < ipc->friction.count; i++) f[i].bounded = false;
}

void tb_ipc_friction_derivatives(const tbIpc* ipc, const tbIpcFriction* f, tbVec3 gradient[4], double H[144])
{
  tbMat3 G;
  double c[4];
  int count = f->at.count_b + f->at.count_a;
  tbVec3 force = tb_ipc_friction_force(ipc, f);
  friction_stiffness(ipc, f, &G);
  for (int k = 0; k < count; k++) {
    c[k] = k < f->at.count_b ? f->at.weight_b[k] : -f->at.weight_a[k - f->at.count_b];
    gradient[k] = tb_scale3(-c[k], force);
  }
  memset(H, 0, 144 * sizeof *H);
  for (int i = 0; i < 3 * count; i++)
    for (int j = 0; j < 3 * count; j++) H[12 * i + j] = c[i / 3] * c[j / 3] * G.m[i % 3][j % 3];
}
