// SPDX-License-Identifier: Apache-2.0
// Impulses for a contact of soft-step to start from: those of the last step at the same features, or else at
// the nearest place.
#include "step/soft_step_work.h"

// The tangents of the last step's contact in those of this one's: the same for all points of a pair that
// share their normal.
typedef struct {
  const tbContactRecord* of; // null: nothing yet
  double tt, tb, bt, bb;
} Turned;

static bool same3(tbVec3 a, tbVec3 b) { return (a.x == b.x) & (a.y == b.y) & (a.z == b.z); }

// Whether the normal still looks about the same way.
static bool turn_tangents(const tbContactRecord* r, const tbSoftStepContact* c, Turned* out)
{
  if (out->of && same3(out->of->normal, r->normal) && same3(out->of->tangent, r->tangent)) return true;
  if (tb_dot3(r->normal, c->normal) < 0.9) return false;
  tbVec3 b = tb_cross3(r->normal, r->tangent), across = tb_cross3(c->normal, c->tangent);
  *out = (Turned){r, tb_dot3(r->tangent, c->tangent), tb_dot3(r->tangent, across), tb_dot3(b, c->tangent),
                  tb_dot3(b, across)};
  return true;
}

static inline void take_impulse(const tbContactRecord* r, tbSoftStepContact* c, int point,
                                const Turned* turned)
{
  float* start = c->point[point].impulse;
  start[0] = (float)r->impulse[0];
  if (r->rows < 3) return;
  start[1] = (float)(r->impulse[1] * turned->tt + r->impulse[2] * turned->bt);
  start[2] = (float)(r->impulse[1] * turned->tb + r->impulse[2] * turned->bb);
  if (r->rows == 3 || r->rows != tb_soft_step_rows(c)) return;
  int row = 3;
  if (c->torsion > 0) c->point[point].spin[0] = r->impulse[row++];
  for (int k = 1; c->rolling > 0 && k < 3; k++) c->point[point].spin[k] = r->impulse[row++];
}

enum { MATCHED = 32 }; // records of a pair that are looked at

void tb_soft_step_warm_start(const tbWorld* w, const tbContactRecord* record, int count, tbSoftStepContact* c)
{
  bool used[MATCHED] = {0}, done[TB_SOFT_STEP_POINTS] = {0};
  if (count > MATCHED) count = MATCHED;
  int left = c->count;
  Turned turned = {.of = NULL};
  for (int i = 0; i < c->count; i++)
    for (int n = 0, k = i < count ? i : 0; n < count && !done[i]; n++, k = k + 1 < count ? k + 1 : 0) {
      if (used[k] || record[k].feature != c->point[i].feature) continue;
      if (!turn_tangents(&record[k], c, &turned)) continue;
      take_impulse(&record[k], c, i, &turned);
      used[k] = done[i] = true, left--;
    }
  if (left == 0) return;
  const tbBody *a = &tb_bodies(w)[c->body_a], *b = &tb_bodies(w)[c->body_b];
  double near = 0.1 * fmin(a->radius, b->radius);
  for (int i = 0; i < c->count; i++) {
    if (done[i]) continue;
    tbVec3 local = tb_quat_unrotate(a->q, tb_sub3(c->point[i].position, a->x));
    int best = -1;
    double least = near;
    for (int k = 0; k < count; k++) {
      double distance = used[k] ? INFINITY : tb_distance3(local, record[k].local);
      if (distance < least && tb_dot3(record[k].normal, c->normal) >= 0.9) least = distance, best = k;
    }
    if (best < 0 || !turn_tangents(&record[best], c, &turned)) continue;
    take_impulse(&record[best], c, i, &turned);
    used[best] = true;
  }
}
