// SPDX-License-Identifier: Apache-2.0
// Time integrators of second order for nodes (scheme.integrator), where the scheme is implicit Euler
// otherwise.
//
// The unknown stays V, what a node goes in the step by its length: x⁺ = x + h V. What is new is how
// velocities follow from it, v⁺ = (1 + a) V + b, and how much of the elastic force f is of the end:
//
//              v⁺                        momentum
//   Euler      V                         M (v⁺ − v) = h (F + f⁺) + λ
//   Newmark    2 V − v                   M (v⁺ − v) = h (F + ½ f + ½ f⁺) + λ          (β = ¼, γ = ½)
//   BDF2       (3 V − V⁻)/2              M (v⁺ − v) = h F + ⅓ e + ⅔ h f⁺ + λ,   e = ⅓ e⁻ + ⅔ h f⁻ of the last
//   step
//
// with F weight and other forces, λ the impulses of contacts and joints, V⁻ the last step's V. So the
// potential has a M more in its quadratic part, other linear terms, and a share of Ψ. Elastic forces of every
// time add up to nothing, so that momentum changes by weight and impulses alone, to rounding.
//
// Contacts are implicit all the same (Kane et al. 1999): λ = h f_c(x⁺), and nodes that contacts or bodies
// hold in the step go by Euler's rule. With the rule of the others, 2 V − v, a node that is stopped would
// come back with the velocity it came with, and rattle ever after (Deuflhard et al. 2008). Which nodes touch
// is found by minimising: those that do at the end join, and the step is minimised again. For a convex
// potential Newmark's rule keeps energy, Euler's loses it, and contacts do no work that barriers do not hold:
// no step gains any. Elements that a step deforms strongly are not convex, and may gain some with Newmark's
// rule. BDF2 damps what is fast for the step.
//
// A consistent mass matrix has its row sums in a M, which keeps the sum of momenta and symmetry. Rigid bodies
// have no elasticity, and stay with Euler's rule. The first step of BDF2, and one of another length, is one
// of Newmark's.
#include "step/ipc.h"

#include <string.h>

static const double WEIGHT[TB_INTEGRATOR_COUNT] = {1, 0.5, 2.0 / 3}; // of f⁺
static const double EXTRA[TB_INTEGRATOR_COUNT] = {0, 1, 0.5};        // a

// b of a node that goes by the integrator's rule.
static tbVec3 offset_of(const tbIpcNodes* n, int k)
{
  tbVec3 v = tb_scale3(n->start_share, n->of.v[k]);
  if (n->integrator == TB_INTEGRATOR_NEWMARK) return tb_neg3(v);
  return tb_scale3(-0.5, tb_add3(v, n->before->lead[k]));
}

static double* diagonal(const tbIpcNodes* n, int k)
{
  const tbFemAssembly* s = &n->of.fem->assembly;
  return n->base[tb_fem_assembly_upper(s, k, s->diag[k])];
}

// A node changes from Euler's rule to the integrator's (+1), or back (−1).
static void change_rule(tbIpcNodes* n, int k, double sign)
{
  double mass = sign * n->of.fem->mass[k], more = mass * EXTRA[n->integrator], *D = diagonal(n, k);
  D[0] += more, D[4] += more, D[8] += more;
  n->rhs[k] = tb_madd3(n->rhs[k], -mass, offset_of(n, k));
  n->free[k] = sign > 0;
}

static tbStatus begin_body(tbContext* ctx, tbIpc* ipc, tbIpcNodes* n)
{
  int count = n->of.fem->nnode;
  n->integrator = ipc->options->integrator;
  if (n->integrator == TB_INTEGRATOR_BDF2 && !n->before) n->integrator = TB_INTEGRATOR_NEWMARK;
  n->elastic = WEIGHT[n->integrator];
  if (n->integrator == TB_INTEGRATOR_EULER) return TB_OK;
  n->free = TB_TAKE(ipc->arena, uint8_t, (size_t)count);
  n->given = TB_TAKE(ipc->arena, tbVec3, (size_t)count);
  n->speed = TB_TAKE(ipc->arena, tbVec3, (size_t)count);
  if (!n->free || !n->given || !n->speed) return TB_ERROR_MEMORY;
  if (n->integrator == TB_INTEGRATOR_NEWMARK)
    tb_fem_evaluate(n->of.fem, ctx->threads, n->start, TB_TANGENT_NONE, n->force);
  for (int k = 0; k < count; k++) {
    n->given[k] = n->integrator == TB_INTEGRATOR_NEWMARK
                      ? tb_scale3(0.5 * ipc->h, tb_load3(n->force + 3 * (size_t)k))
                      : tb_scale3(1.0 / 3, n->before->elastic[k]);
    n->rhs[k] = tb_add3(n->rhs[k], n->given[k]);
    if (!ipc->held[n->block + k]) change_rule(n, k, 1);
  }
  for (int i = 0; i < n->of.nattached; i++)
    if (n->free[n->of.attached[i].node]) change_rule(n, n->of.attached[i].node, -1);
  return TB_OK;
}

tbStatus tb_ipc_begin_integrator(tbContext* ctx, tbIpc* ipc)
{
  for (int i = 0; i < ipc->nnodes; i++) TB_TRY(begin_body(ctx, ipc, &ipc->nodes[i]));
  return TB_OK;
}

bool tb_ipc_touch(tbIpc* ipc)
{
  const tbIpcContact* c = ipc->contact.data;
  bool any = false;
  for (size_t i = 0; i < ipc->contact.count; i++)
    for (int side = 0; side < 2; side++) {
      int surface = side ? c[i].at.of.surface_b : c[i].at.of.surface_a;
      if (!side && c[i].at.of.kind == TB_SURFACE_PLANE_VERTEX) continue;
      if (ipc->surface[surface].source != TB_IPC_NODE) continue;
      tbIpcNodes* n = &ipc->nodes[ipc->surface[surface].index];
      const int* vertex = side ? c[i].at.vertex_b : c[i].at.vertex_a;
      for (int k = 0; n->free && k < (side ? c[i].at.count_b : c[i].at.count_a); k++)
        if (n->free[n->of.node[vertex[k]]]) change_rule(n, n->of.node[vertex[k]], -1), any = true;
    }
  return any;
}

const tbVec3* tb_ipc_speeds(const tbIpcNodes* n, const tbVec3* v)
{
  if (!n->free) return v;
  for (int k = 0; k < n->of.fem->nnode; k++)
    n->speed[k] = n->free[k] ? tb_madd3(offset_of(n, k), 1 + EXTRA[n->integrator], v[k]) : v[k];
  return n->speed;
}

double tb_ipc_share_of_mass(const tbIpcNodes* n, int node)
{
  return n->free && n->free[node] ? 1 + EXTRA[n->integrator] : 1;
}

tbVec3 tb_ipc_plain_rhs(const tbIpcNodes* n, int k)
{
  if (!n->free) return n->rhs[k];
  tbVec3 rhs = tb_sub3(n->rhs[k], n->given[k]);
  return n->free[k] ? tb_madd3(rhs, n->of.fem->mass[k], offset_of(n, k)) : rhs;
}

void tb_ipc_start_slower(tbIpcNodes* n, double share)
{
  double less = (share - 1) * n->start_share;
  for (int k = 0; k < n->of.fem->nnode; k++) {
    if (n->free && n->free[k]) // its offset has that share, too
      n->rhs[k] = tb_madd3(n->rhs[k], n->of.fem->mass[k] * EXTRA[n->integrator] * less, n->of.v[k]);
    n->rhs[k] = tb_madd3(n->rhs[k], less, tb_fem_momentum(n->of.fem, n->of.v, k));
  }
  n->start_share *= share;
}

void tb_ipc_remember(tbContext* ctx, const tbIpc* ipc, const tbIpcNodes* n, const tbVec3* v, tbIpcBefore* out)
{
  tb_fem_evaluate(n->of.fem, ctx->threads, n->x, TB_TANGENT_NONE, n->force);
  const tbVec3* speed = tb_ipc_speeds(n, v);
  for (int k = 0; k < n->of.fem->nnode; k++) {
    tbVec3 given = n->given ? n->given[k] : tb_zero3();
    out->lead[k] = tb_sub3(v[k], speed[k]);
    out->elastic[k] = tb_madd3(given, ipc->h * n->elastic, tb_load3(n->force + 3 * (size_t)k));
  }
}
