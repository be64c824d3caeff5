// SPDX-License-Identifier: Apache-2.0
// The friction set of a contact, to be looked at.
#include "step/friction_pair.h"
#include "step/rows.h"
#include "tribo/step.h"

// Whether the friction there has a direction that only the contact's place in a surface mesh tells.
static bool is_woven(const tbWorld* w, const tbContactRecord* r)
{
  const tbBody *a = &tb_bodies(w)[r->body_a], *b = &tb_bodies(w)[r->body_b];
  tbFrictionPair pair = tb_world_friction_pair(w, a, b);
  const tbFriction *fa = pair.a ? pair.a : pair.b, *fb = pair.b ? pair.b : pair.a;
  return (tb_friction_is_directed(fa) && a->kind->direction) ||
         (tb_friction_is_directed(fb) && b->kind->direction);
}

int tb_world_contact_friction(const tbWorld* w, int index, int count, tbVec3* edge)
{
  if (index < 0 || (size_t)index >= w->contact.count || count < 3) return 0;
  const tbContactRecord* r = (const tbContactRecord*)w->contact.data + index;
  if (r->rows < 3 || is_woven(w, r)) return 0;
  tbContactConstraint t = {.shape_a = r->shape_a,
                           .shape_b = r->shape_b,
                           .body_a = r->body_a,
                           .body_b = r->body_b,
                           .position = r->position,
                           .point.normal = r->normal};
  tb_constraint_law(w, &t);
  if (t.rows < 3) return 0;
  for (int i = 0; i < count; i++) {
    double d[2];
    tb_sin_cos(2 * TB_PI * i / count, &d[1], &d[0]);
    double use = tb_friction_use(t.law, t.param, 1, d), reach = use > 0 ? 1 / use : 0;
    edge[i] = tb_add3(tb_scale3(reach * d[0], tb_mat3_row(t.frame, 1)),
                      tb_scale3(reach * d[1], tb_mat3_row(t.frame, 2)));
  }
  return count;
}
