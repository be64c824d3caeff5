// SPDX-License-Identifier: Apache-2.0
// One checker for all engines: separating axes of two bodies with corners, the distance of a ball's or a
// capsule's core from whatever it meets, depths under hills, and how far anchors are apart.
#include "peers/peer.h"
#include "tribo/math.h"

#include <math.h>
#include <stdbool.h>

typedef struct {
  const PeerBody* body;
  tbMat3 R;
  tbVec3 x;
} Placed;

static Placed place(const PeerBody* b, const PeerPose* p)
{
  return (Placed){b, tb_quat_mat3(tb_quat(p->q[0], p->q[1], p->q[2], p->q[3])),
                  tb_vec3(p->x[0], p->x[1], p->x[2])};
}

// A body with corners: these, and the directions of its faces' normals and of its edges.
enum { CORNERS = 8, NORMALS = 4, EDGES = 6 };
typedef struct {
  int corners, normals, edges;
  tbVec3 corner[CORNERS], normal[NORMALS], edge[EDGES]; // world axes; corners from the centre
} Polytope;

static Polytope polytope_of(const Placed* b)
{
  const double* h = b->body->half;
  tbVec3 axis[3] = {tb_mat3_col(b->R, 0), tb_mat3_col(b->R, 1), tb_mat3_col(b->R, 2)};
  Polytope p = {.corners = 8, .normals = 3, .edges = 3};
  if (b->body->kind == PEER_BOX) {
    for (int i = 0; i < 8; i++)
      for (int k = 0; k < 3; k++) p.corner[i] = tb_madd3(p.corner[i], (i >> k & 1 ? 1 : -1) * h[k], axis[k]);
    for (int k = 0; k < 3; k++) p.normal[k] = p.edge[k] = axis[k];
    return p;
  }
  p = (Polytope){.corners = 6, .normals = 4, .edges = 6};
  for (int i = 0; i < 6; i++) p.corner[i] = tb_scale3((i % 2 ? 1 : -1) * h[i / 2], axis[i / 2]);
  for (int i = 0; i < 4; i++) {
    double y = i & 1 ? -1 : 1, z = i & 2 ? -1 : 1;
    p.normal[i] = tb_add3(tb_scale3(1 / h[0], axis[0]),
                          tb_add3(tb_scale3(y / h[1], axis[1]), tb_scale3(z / h[2], axis[2])));
  }
  for (int i = 0; i < 6; i++) {
    int a = i / 2, c = (a + 1) % 3;
    p.edge[i] = tb_madd3(tb_scale3(h[a], axis[a]), i % 2 ? 1 : -1, tb_scale3(h[c], axis[c]));
  }
  return p;
}

static double reach_of(const Polytope* p, tbVec3 n)
{
  double reach = -INFINITY;
  for (int i = 0; i < p->corners; i++) reach = fmax(reach, tb_dot3(n, p->corner[i]));
  return reach; // they are symmetric about their centres
}

// Along one axis; negative: apart.
static double along(const Polytope* p, const Polytope* q, tbVec3 d, tbVec3 n)
{
  double size = tb_norm3(n);
  if (size < 1e-6) return INFINITY;
  n = tb_scale3(1 / size, n);
  return reach_of(p, n) + reach_of(q, n) - fabs(tb_dot3(n, d));
}

// The least over the normals of both and the products of their edges.
static double of_polytopes(const Placed* a, const Placed* b)
{
  Polytope p = polytope_of(a), q = polytope_of(b);
  tbVec3 d = tb_sub3(b->x, a->x);
  double least = INFINITY;
  for (int i = 0; i < p.normals && least > 0; i++) least = fmin(least, along(&p, &q, d, p.normal[i]));
  for (int i = 0; i < q.normals && least > 0; i++) least = fmin(least, along(&p, &q, d, q.normal[i]));
  for (int i = 0; i < p.edges && least > 0; i++)
    for (int k = 0; k < q.edges; k++) least = fmin(least, along(&p, &q, d, tb_cross3(p.edge[i], q.edge[k])));
  return least;
}

// How deep a ball is in the ground.
static double in_ground(const PeerTerrain* t, tbVec3 x, double radius)
{
  double cell = 2 * t->half / t->side, u = (x.x + t->half) / cell, v = (x.y + t->half) / cell;
  if (!(u >= 0 && v >= 0 && u < t->side && v < t->side)) return -INFINITY;
  int i = (int)u, k = (int)v, n = t->side + 1;
  const double *low = t->height + k * n + i, *high = low + n;
  u -= i, v -= k;
  double dx = u > v ? low[1] - low[0] : high[1] - high[0], dy = u > v ? high[1] - low[1] : high[0] - low[0];
  double height = low[0] + u * dx + v * dy;
  return (height - x.z) / sqrt(1 + (dx * dx + dy * dy) / (cell * cell)) + radius;
}

static double of_terrain(const PeerTerrain* t, const Placed* b)
{
  const double* h = b->body->half;
  double deepest = -INFINITY, length = h[2] - h[0];
  tbVec3 axis = tb_mat3_col(b->R, 2);
  if (b->body->kind == PEER_BOX || b->body->kind == PEER_OCTAHEDRON) {
    Polytope p = polytope_of(b);
    for (int i = 0; i < p.corners; i++) deepest = fmax(deepest, in_ground(t, tb_add3(b->x, p.corner[i]), 0));
    return deepest;
  }
  for (int i = -4; i <= 4; i++)
    deepest = fmax(deepest, in_ground(t, tb_madd3(b->x, i * length / 4, axis), h[0]));
  return deepest;
}

// From a point to the surface of a body; negative: inside.
static double distance_to(const Placed* b, tbVec3 point)
{
  tbVec3 local = tb_mat3_tmulv(b->R, tb_sub3(point, b->x));
  const double *h = b->body->half, core = b->body->kind == PEER_BOX ? 0 : h[2] - h[0];
  if (b->body->kind != PEER_BOX) {
    double z = fmin(fmax(local.z, -core), core);
    return tb_norm3(tb_vec3(local.x, local.y, local.z - z)) - h[0];
  }
  double x = fabs(local.x) - h[0], y = fabs(local.y) - h[1], z = fabs(local.z) - h[2];
  double out = tb_norm3(tb_vec3(fmax(x, 0), fmax(y, 0), fmax(z, 0)));
  return out > 0 ? out : fmax(x, fmax(y, z));
}

// The distance along the axis of a round body has one valley.
static double of_round(const Placed* a, const Placed* b)
{
  double length = a->body->half[2] - a->body->half[0], lo = -length, hi = length;
  tbVec3 axis = tb_mat3_col(a->R, 2);
  for (int k = 0; k < 40 && length > 0; k++) {
    double s = lo + (hi - lo) / 3, t = hi - (hi - lo) / 3;
    if (distance_to(b, tb_madd3(a->x, s, axis)) < distance_to(b, tb_madd3(a->x, t, axis))) hi = t;
    else lo = s;
  }
  return a->body->half[0] - distance_to(b, tb_madd3(a->x, 0.5 * (lo + hi), axis));
}

static bool is_round(const Placed* b)
{
  return b->body->kind == PEER_SPHERE || b->body->kind == PEER_CAPSULE;
}

static double of_pair(const PeerScene* s, const Placed* a, const Placed* b)
{
  if (a->body->kind == PEER_TERRAIN) return of_terrain(&s->terrain, b);
  if (b->body->kind == PEER_TERRAIN) return of_terrain(&s->terrain, a);
  if (is_round(a)) return of_round(a, b);
  return is_round(b) ? of_round(b, a) : of_polytopes(a, b);
}

// Bodies that are joined are left out.
static bool are_joined(const PeerScene* s, int a, int b)
{
  for (int i = 0; i < s->joints; i++)
    if ((s->joint[i].a == a && s->joint[i].b == b) || (s->joint[i].a == b && s->joint[i].b == a)) return true;
  return false;
}

static double radius_of(const PeerBody* b)
{
  bool box = b->kind == PEER_BOX || b->kind == PEER_TERRAIN;
  return box ? tb_norm3(tb_vec3(b->half[0], b->half[1], b->half[2])) : b->half[2];
}

double peer_overlap(const PeerScene* s, const PeerPose* pose)
{
  double deepest = 0;
  for (int i = 0; i < s->count; i++)
    for (int k = 0; k < i; k++) {
      if (!(s->body[i].mass > 0 || s->body[k].mass > 0)) continue;
      double far = 0, size = radius_of(&s->body[i]) + radius_of(&s->body[k]);
      for (int c = 0; c < 3; c++) far += (pose[i].x[c] - pose[k].x[c]) * (pose[i].x[c] - pose[k].x[c]);
      if (far >= size * size) continue;
      if (are_joined(s, i, k)) continue;
      Placed a = place(&s->body[i], &pose[i]), b = place(&s->body[k], &pose[k]);
      deepest = fmax(deepest, of_pair(s, &a, &b));
    }
  return deepest;
}

// Where a point that was at `at` at the start has gone with its body.
static tbVec3 carried(const PeerScene* s, const PeerPose* pose, int body, const double* at)
{
  const double* from = s->body[body].x;
  PeerPose start = {.q = {s->body[body].q[0], s->body[body].q[1], s->body[body].q[2], s->body[body].q[3]}};
  for (int k = 0; k < 3; k++) start.x[k] = from[k];
  Placed then = place(&s->body[body], &start), now = place(&s->body[body], &pose[body]);
  tbVec3 local = tb_mat3_tmulv(then.R, tb_sub3(tb_load3(at), then.x));
  return tb_add3(now.x, tb_mat3_mulv(now.R, local));
}

double peer_apart(const PeerScene* s, const PeerPose* pose)
{
  double most = 0;
  for (int i = 0; i < s->joints; i++) {
    const PeerJoint* j = &s->joint[i];
    most = fmax(most, tb_distance3(carried(s, pose, j->a, j->anchor), carried(s, pose, j->b, j->anchor)));
  }
  return most;
}
