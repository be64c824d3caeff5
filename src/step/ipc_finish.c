// SPDX-License-Identifier: Apache-2.0
// The end of a step with the exact law of friction (option exact_friction): barriers for geometry, Coulomb's
// law for friction.
//
// At the minimum of the potential every contact has a distance below d̂ and a push by its barrier. The contact
// problem published there has both in its normal rows, with the barrier linearised as a compliance, and the
// friction law as it stands, neither smoothed nor lagged. (Rows without compliance have no solution where a
// body is wedged between two walls.) Without friction the minimum solves it already; with friction the solver
// takes away the creep that smoothing has left. Velocities and impulses are then the solver's, and the judge
// certifies them.
//
// Rows are straight, and bodies that turn far in a step may be pushed by what they bear along the whole way:
// where more energy comes out than went in, bodies start slower, and the minimum is found again
// (ipc_energy.c).
//
// The way from the minimum to the new end is looked at like every step of Newton's method. Pairs that would
// come too close on it become contacts; contacts that do, because bodies turn and rows are straight, are
// asked to stay apart by as much more; and the problem is solved again. Where that does not end, the minimum
// stands as it was, and the judge says what is missing.
#include "step/ipc.h"

#include "base/clock.h"
#include "collide/surfaces_pair.h"

#include <string.h>

static const double SMALL = 1e-3; // of d̂: not worth another round
static const double MORE = 0.5;   // of d̂: lifted by so much at once, where rows do not say by how much

static const double GAIN = 1e-6;  // of the energy in motion: more counts as gained
static const double MOVED = 1e-5; // m/s: by which contacts may miss their law, with what they bear

enum { ROUNDS = 8 };

// In the order of contacts. *known: the pair is one of them already.
static size_t place_of(const tbIpc* ipc, const tbSurfaceFeatures* of, bool* known)
{
  const tbIpcContact* c = ipc->contact.data;
  size_t at = 0;
  while (at < ipc->contact.count && tb_surface_features_order(&c[at].at.of, of) < 0) at++;
  *known = at < ipc->contact.count && tb_surface_features_order(&c[at].at.of, of) == 0;
  return at;
}

// A pair that is no contact yet becomes one, with no push.
static tbStatus add_contact(tbContext* ctx, tbIpc* ipc, const tbSurfaceFeatures* of, bool* added)
{
  bool known;
  size_t at = place_of(ipc, of, &known);
  if (known) return TB_OK;
  tbIpcContact pair;
  if (!tb_ipc_pair(ipc, of, &pair)) return TB_OK;
  TB_TRY(tb_array_push(ctx, &ipc->contact, &pair, 1));
  tbIpcContact* all = ipc->contact.data;
  memmove(all + at + 1, all + at, (ipc->contact.count - 1 - at) * sizeof *all);
  all[at] = pair;
  *added = true;
  return TB_OK;
}

// How far side b is from side a at `end` of all surfaces, along the normal they have at the minimum.
static double distance_of(const tbIpc* ipc, const tbSurfaceContact* c)
{
  if (c->of.kind == TB_SURFACE_PLANE_VERTEX) return tb_surface_height(&ipc->surfaces.scene, &c->of, true);
  tbVec3 way = tb_zero3();
  for (int k = 0; k < c->count_b; k++)
    way = tb_madd3(way, c->weight_b[k], ipc->surfaces.end[c->of.surface_b][c->vertex_b[k]]);
  for (int k = 0; k < c->count_a; k++)
    way = tb_madd3(way, -c->weight_a[k], ipc->surfaces.end[c->of.surface_a][c->vertex_a[k]]);
  return tb_dot3(c->normal, way);
}

// Contacts that are closer there than where they touch are lifted by what is missing. Whether any were.
static bool lift_contacts(tbIpc* ipc)
{
  tbIpcContact* c = ipc->contact.data;
  bool any = false;
  for (size_t i = 0; i < ipc->contact.count; i++) {
    double missing = tb_ipc_touching(&c[i]) - distance_of(ipc, &c[i].at);
    if (!(missing > SMALL * c[i].dhat)) continue;
    c[i].lift += missing, any = true;
  }
  return any;
}

// Contacts that are far enough from each other where they touched, but come too close where they do now.
static bool lift_met(tbIpc* ipc)
{
  bool any = false;
  for (size_t i = 0; i < ipc->met.count; i++) {
    bool known;
    size_t at = place_of(ipc, &((const tbSurfaceContact*)ipc->met.data + i)->of, &known);
    if (!known) continue;
    tbIpcContact* c = (tbIpcContact*)ipc->contact.data + at;
    c->lift = 2 * c->lift + MORE * c->dhat, any = true;
  }
  return any;
}

// Surfaces where the solver's velocities take them; the pairs that come too close on the way there become
// contacts. *clear: there are none. *changed: contacts have.
static tbStatus look_ahead(tbContext* ctx, tbIpc* ipc, const tbStepWork* work, bool* clear, bool* changed)
{
  double when;
  memcpy(ipc->trial, ipc->v, (size_t)ipc->nblock * sizeof *ipc->v);
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    tb_view_frame_velocity(&work->assembly.view, f->body, &ipc->trial[f->block], &ipc->trial[f->block + 1]);
  }
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    const double* v = tb_view_velocity(&work->assembly.view, n->body);
    for (int k = 0; v && k < n->of.fem->nnode; k++)
      if (!ipc->held[n->block + k]) ipc->trial[n->block + k] = tb_load3(v + 3 * (size_t)k);
  }
  tb_ipc_place(ipc, ipc->trial, 1);
  TB_TRY(tb_ipc_first_impact(ctx, ipc, &when));
  *clear = when == 1, *changed = !*clear && lift_contacts(ipc);
  tb_ipc_place(ipc, ipc->v, 1);
  for (size_t i = 0; i < ipc->met.count && !*clear; i++) {
    const tbSurfaceFeatures* of = &((const tbSurfaceContact*)ipc->met.data + i)->of;
    if (tb_surface_may_touch(&ipc->surfaces.scene, tb_surfaces_body(&ipc->surfaces, of, 0),
                             tb_surfaces_body(&ipc->surfaces, of, 1)))
      TB_TRY(add_contact(ctx, ipc, of, changed));
  }
  if (!*clear && !*changed) *changed = lift_met(ipc);
  return TB_OK;
}

tbStatus tb_ipc_finish_begin(tbContext* ctx, tbIpc* ipc)
{
  const tbIpcFriction* f = ipc->friction.data;
  bool added;
  for (size_t i = 0; i < ipc->friction.count; i++) TB_TRY(add_contact(ctx, ipc, &f[i].at.of, &added));
  ipc->finished = true;
  return TB_OK;
}

// The report as it was, but for the work that was done.
static void forget(const tbStepReport* before, tbStepReport* report)
{
  tbStepReport now = *report;
  *report = *before;
  report->iterations = now.iterations;
  memcpy(report->phase_s, now.phase_s, sizeof now.phase_s);
}

// What energy has grown by at the solver's velocities, which are those of the trial; 0 where that is nothing
// to speak of. Contacts, and what barriers hold, become those of that end.
static tbStatus gain_of(tbContext* ctx, tbIpc* ipc, const tbStepWork* work, double* gain)
{
  tbVec3* minimum = ipc->v;
  double barrier, size = 0;
  *gain = 0;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    tbVec3 w = ipc->trial[f->block + 1];
    size += tb_bodies(ipc->world)[f->body].mass * tb_dot3(ipc->trial[f->block], ipc->trial[f->block]) +
            tb_dot3(w, tb_mat3_mulv(f->inertia, w));
  }
  for (int i = 0; i < ipc->nnodes; i++)
    for (int k = 0; k < ipc->nodes[i].of.fem->nnode; k++) {
      tbVec3 v = ipc->trial[ipc->nodes[i].block + k];
      size += ipc->nodes[i].of.fem->mass[k] * tb_dot3(v, v);
    }
  const tbAssembly* a = &work->assembly;
  double missed = fmax(ipc->options->solver.velocity_tolerance, MOVED), borne = 0;
  for (int i = 0; i < a->nconstraint; i++) borne += fabs(a->lambda[a->problem->row_adr[i]]);
  ipc->v = ipc->trial;
  tb_ipc_joints_take(ipc, a);
  tb_ipc_place(ipc, ipc->v, 1);
  tbStatus status = tb_ipc_find(ctx, ipc, &barrier);
  if (status == TB_OK) {
    barrier += tb_ipc_volume_energy(ipc);
    double more = tb_ipc_energy_after(ctx, ipc) + barrier - ipc->begun_with;
    if (!ipc->driven && more > GAIN * (size + barrier) + missed * borne) *gain = more;
    ipc->stored = barrier;
  }
  ipc->v = minimum;
  tb_ipc_place(ipc, ipc->v, 1);
  return status;
}

// One try. *gain: it has ended well but for so much energy that it has gained.
static tbStatus finish(tbContext* ctx, tbIpc* ipc, tbStepWork* work, tbStepReport* report, double* gain)
{
  *gain = 0;
  tbStepReport before = *report;
  tbStepOptions warm = *ipc->options;
  warm.warm_start = true; // from what barriers and friction have given
  TB_TRY(tb_ipc_finish_begin(ctx, ipc));
  for (int round = 0, added = true; round < ROUNDS && added; round++) {
    bool clear, more;
    double clock = tb_seconds();
    TB_TRY(tb_ipc_publish(ctx, ipc, work));
    tb_ipc_guess(ipc, work);
    tb_step_clock(report, TB_PHASE_ASSEMBLE, &clock);
    tbSolveOptions solver = ipc->options->solver;
    tb_step_budget(ipc->options, work->begun, &solver);
    TB_TRY(tb_step_solve(ctx, &warm, &solver, true, work, report));
    TB_TRY(look_ahead(ctx, ipc, work, &clear, &more));
    if (clear) TB_TRY(gain_of(ctx, ipc, work, gain));
    if (clear && *gain == 0) return TB_OK;
    added = more && *gain == 0;
    work->records.count = 0;
    tb_step_forget(ctx, work);
    forget(&before, report);
  }
  ipc->finished = false;
  return TB_OK;
}

tbStatus tb_ipc_finish(tbContext* ctx, tbIpc* ipc, tbStepWork* work, tbStepReport* report)
{
  double gain;
  bool again = true;
  TB_TRY(finish(ctx, ipc, work, report, &gain));
  while (gain > 0 && again && ipc->converged) {
    TB_TRY(tb_ipc_minimise_slower(ctx, ipc, gain, &again));
    if (again && ipc->converged) TB_TRY(finish(ctx, ipc, work, report, &gain));
  }
  return TB_OK;
}
