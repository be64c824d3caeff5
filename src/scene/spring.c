// SPDX-License-Identifier: Apache-2.0
// Springs of contacts, by material and by pair of materials.
//
// Two surfaces are in series: a force f shortens both, φ = φ_a + φ_b. Of a spring and damper side by side,
// φ_i = −f/k_i + τ_i ḟ/k_i + …, τ_i = b_i/k_i, so to first order in the rate of the force the two are one
// spring with 1/k = Σ 1/k_i and the relaxation time τ = k Σ τ_i/k_i.
#include "scene/world.h"

static bool number(double x) { return x >= 0 && x < INFINITY; } // false for NaN

tbStatus tb_contact_spring_check(tbContext* ctx, const tbContactSpring* s)
{
  if (!number(s->stiffness) || !number(s->damping) || !number(s->coat))
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "stiffness, damping and coat of contacts must be finite and not negative");
  if (s->stiffness > 0 || (s->damping == 0 && s->coat == 0)) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "damping and coat of contacts need a stiffness");
}

tbContactSpring tb_contact_spring_meet(tbContactSpring a, tbContactSpring b)
{
  if (!(a.stiffness > 0)) return b;
  if (!(b.stiffness > 0)) return a;
  double stiffness = 1 / (1 / a.stiffness + 1 / b.stiffness), share = stiffness / a.stiffness;
  double relaxation = share * (a.damping / a.stiffness) + (1 - share) * (b.damping / b.stiffness);
  return (tbContactSpring){stiffness, stiffness * relaxation, a.coat + b.coat};
}

tbContactSpring tb_contact_spring(double dt, double erp, double cfm)
{
  return (tbContactSpring){.stiffness = erp / (dt * dt * cfm), .damping = (1 - erp) / (dt * cfm)};
}

double tb_contact_spring_erp(tbContactSpring s, double dt)
{
  return dt * s.stiffness / (dt * s.stiffness + s.damping);
}

double tb_contact_spring_cfm(tbContactSpring s, double dt)
{
  return 1 / (dt * dt * s.stiffness + dt * s.damping);
}

tbStatus tb_world_set_pair_spring(tbContext* ctx, tbWorld* w, tbMaterialId a, tbMaterialId b,
                                  tbContactSpring spring)
{
  return tb_world_set_pair_rule(ctx, w, a, b, NULL, NULL, &spring);
}
