// SPDX-License-Identifier: Apache-2.0
// One checker for all engines: separating axes of two boxes, and the distance of a ball's or a capsule's core
// from whatever it meets.
#include "peers/peer.h"
#include "tribo/math.h"

#include <math.h>

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

// The least over the fifteen axes; negative: apart.
static double of_boxes(const Placed* a, const Placed* b)
{
  tbVec3 d = tb_sub3(b->x, a->x);
  double least = INFINITY;
  for (int k = 0; k < 15; k++) {
    tbVec3 n = k < 3   ? tb_mat3_col(a->R, k)
               : k < 6 ? tb_mat3_col(b->R, k - 3)
                       : tb_cross3(tb_mat3_col(a->R, (k - 6) / 3), tb_mat3_col(b->R, (k - 6) % 3));
    double size = tb_norm3(n), reach = 0;
    if (size < 1e-6) continue;
    n = tb_scale3(1 / size, n);
    for (int i = 0; i < 3; i++)
      reach += a->body->half[i] * fabs(tb_dot3(n, tb_mat3_col(a->R, i))) +
               b->body->half[i] * fabs(tb_dot3(n, tb_mat3_col(b->R, i)));
    least = fmin(least, reach - fabs(tb_dot3(n, d)));
  }
  return least;
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

static double of_pair(const Placed* a, const Placed* b)
{
  if (a->body->kind != PEER_BOX) return of_round(a, b);
  return b->body->kind != PEER_BOX ? of_round(b, a) : of_boxes(a, b);
}

static double radius_of(const PeerBody* b)
{
  return b->kind == PEER_BOX ? tb_norm3(tb_vec3(b->half[0], b->half[1], b->half[2])) : b->half[2];
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
      Placed a = place(&s->body[i], &pose[i]), b = place(&s->body[k], &pose[k]);
      deepest = fmax(deepest, of_pair(&a, &b));
    }
  return deepest;
}
