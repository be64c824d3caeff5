// Prescribed motion of kinematic bodies: pose as a function of time, exact at every key whatever the step.
#include "scene/world.h"

tbTransform tb_motion_at(const tbWorld* w, const tbBody* b, double t)
{
  if (b->nkey == 0) // constant velocities since t = 0
    return tb_transform(tb_quat_integrate(b->initial.q, b->w, t), tb_madd3(b->initial.x, t, b->v));
  const tbMotionKey* key = (const tbMotionKey*)w->key.data + b->key;
  if (t <= key[0].t) return tb_transform(key[0].orientation, key[0].position);
  for (int i = 1; i < b->nkey; i++) {
    if (t >= key[i].t) continue;
    double s = (t - key[i - 1].t) / (key[i].t - key[i - 1].t);
    tbQuat from = key[i - 1].orientation;
    tbVec3 turn = tb_quat_log(tb_quat_mul(key[i].orientation, tb_quat_conj(from))); // the short way round
    return tb_transform(tb_quat_normalize(tb_quat_mul(tb_quat_exp(tb_scale3(s, turn)), from)),
                        tb_lerp3(key[i - 1].position, key[i].position, s));
  }
  return tb_transform(key[b->nkey - 1].orientation, key[b->nkey - 1].position);
}
