// SPDX-License-Identifier: Apache-2.0
// A deformable body held by a node. The pull has the weight of the whole body. The nodes near the held one
// take as much of it as leaves their velocity its direction when the spring's damping acts on them; the rest
// acts on all of them alike.
#include "kind/deformable.h"

#include "tribo/grip.h"

// 1 at the held node, falling to 0 at a distance of 0.3 of the body's size.
static double share(const tbFemBody* fem, int held, int node, double size)
{
  double s = tb_distance3(fem->rest[node], fem->rest[held]) / (0.3 * size);
  return s < 1 && !fem->pinned[node] ? (1 - s * s) * (1 - s * s) : 0;
}

void tb_deformable_pull(tbWorld* w, int body, const tbGrip* grip, double h)
{
  tbDeformable* d = tb_bodies(w)[body].own;
  const tbFemBody* fem = d->fem;
  int held = grip->node >= 0 && grip->node < fem->nnode ? grip->node : 0;
  tbBox box = {fem->rest[0], fem->rest[0]};
  for (int i = 0; i < fem->nnode; i++)
    box.lo = tb_min3(box.lo, fem->rest[i]), box.hi = tb_max3(box.hi, fem->rest[i]);
  double size = tb_distance3(box.lo, box.hi), whole = 0, pulled = 0, damping = h * TB_GRIP_FREQUENCY;
  for (int i = 0; i < fem->nnode; i++)
    whole += fem->mass[i], pulled += fem->mass[i] * share(fem, held, i, size);
  if (!(pulled > 0)) return; // all of them are pinned
  double gain = fmin(whole / pulled, fmax(1, (1 + damping) * (1 + damping) / (4 * damping)));
  double rest = 1 - gain * pulled / whole;
  tbVec3 dv = tb_grip_kick(d->x[held], d->v[held], grip->target, h);
  for (int i = 0; i < fem->nnode; i++)
    if (!fem->pinned[i]) d->v[i] = tb_madd3(d->v[i], rest + gain * share(fem, held, i, size), dv);
}
