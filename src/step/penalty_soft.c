// SPDX-License-Identifier: Apache-2.0
// Springs between deformable surfaces, and between these and shapes.
//
// Surfaces have no inside that a depth could be measured in: springs act in a layer around them, and what is
// closer than the layer is thick presses them by the difference. Planes, which have one, push by the depth in
// it.
// Features that have passed through each other in spite of the springs are counted as crossings. The bodies'
// own elasticity is implicit, linear in a step: A v⁺ = A v_free + h Jᵀf with f of its start, so that masses
// are those of W, with what elasticity adds to them.
//
// The stretch of an anchor is that of the last step's friction, which is recorded by features: there is
// nothing else to keep. Where a surface slides from one feature to the next it begins anew.
#include "step/penalty.h"

#include "step/foresee.h"
#include "step/trim.h"

static const double LAYER = 0.1; // of an edge: how thick the layer is, unless it is given
static const double GIVE = 20;   // g h²: but no thinner, as springs give way to the weight by half of it
static const double NEAR = 3;    // layers: where features are looked for

// Share of its depth that a contact comes out by per step, at most; and the shortest time a step counts as
// here: bodies that start closer than the layer is thick are not thrown out of it.
static const double BACK = 0.2, UNHURRIED = 0.01; // s

static double layer_of(const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s)
{
  double fall = tb_norm3(w->gravity) * o->dt * o->dt;
  return o->clearance > 0 ? o->clearance : fmax(LAYER * tb_surfaces_edge(s), GIVE * fall);
}

double tb_penalty_touching(const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s, bool shapes)
{
  return shapes ? 0 : layer_of(w, o, s);
}

tbStatus tb_penalty_soft_begin(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                               tbRelaxedSoft* r)
{
  double fall = tb_norm3(w->gravity) * o->dt * o->dt;
  r->candidates.scratch = work->arena;
  TB_TRY(tb_free_motion_solved(ctx, work->arena, work->cache, w, o, &r->step));
  TB_TRY(tb_surfaces_ahead(ctx, w, o, work, r->step, &r->surfaces, &r->clearance));
  r->surfaces.spread = r->spread;
  r->clearance = layer_of(w, o, &r->surfaces);
  double reach = fmax(NEAR * r->clearance + fall, o->margin) + tb_soft_contact_coat(w, &r->surfaces);
  TB_TRY(tb_surface_find(ctx, &r->surfaces.scene, reach, TB_SURFACES_AHEAD, &r->candidates));
  TB_TRY(tb_soft_contact_begin(ctx, w, o, &r->surfaces, work->pose, &r->candidates, r->clearance,
                               &r->soft_contacts));
  return tb_soft_contact_constraints(ctx, w, o, &r->surfaces, r->clearance, &r->soft_contacts,
                                     &work->constraints);
}

// Velocities at the start of the step, in the order of the problem's.
static void velocities_of(const tbWorld* w, const tbAssembly* a, const tbBodyStep* step, double* v)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    int dof = a->place[i].dof;
    if (dof < 0) continue;
    for (int k = 0; k < step[i].size; k++) v[dof + k] = step[i].v[k];
    if (step[i].size > 0) continue;
    tb_store3(v + dof, b->v);
    tb_store3(v + dof + 3, b->w);
  }
}

// J v of a contact, with what is known of its velocity.
static tbVec3 velocity_at(const tbProblem* p, int k, const tbContactConstraint* t, const double* v)
{
  double u[3] = {0};
  for (int i = 0; i < 3 && i < t->rows; i++) {
    u[i] = tb_dot3(tb_mat3_row(t->frame, i), t->drift);
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++)
      for (int j = 0; j < p->jac_width[c]; j++)
        u[i] += p->jac[p->jac_val_adr[c] + (size_t)(i * p->jac_width[c] + j)] * v[p->jac_dof[c] + j];
  }
  return tb_load3(u);
}

// What is known of a contact before anything pushes.
typedef struct {
  double gap;   // of the surfaces, which are as thick as they are                 m
  double depth; // in the layer                                                   m
  double stop;  // m/s: that has to be taken from its approach, lest it passes through; less than 0: nothing
  tbVec3 u;     // velocity                                                       m/s
} Point;

static bool pushes(const Point* p) { return p->depth > 0 || p->stop > 0; }

// 1/Σ_l |W_kl| along one row, over the contacts that push: as if all of them pushed as hard, each against the
// others. So many springs on one body are as soft together as one would be.
static double mass_at(const tbDelassus* W, int k, int row, int first, int count, const Point* point)
{
  const tbProblem* p = W->problem;
  double sum = 0;
  for (int i = W->ptr[k]; i < W->ptr[k + 1]; i++) {
    int l = W->col[i], rows = p->row_adr[l + 1] - p->row_adr[l];
    if (l != k && (l < first || l >= first + count || !pushes(&point[l - first]))) continue;
    if (row < rows) sum += fabs(W->val[W->val_adr[i] + (size_t)(row * rows + row)]);
  }
  return sum > 0 ? 1 / sum : 0;
}

// A feature that would pass through another within the step keeps half of its distance: springs that are too
// soft for an impact would let it, and nothing would bring it back.
static Point point_of(const tbWorld* w, const tbStepOptions* o, const tbRelaxedSoft* soft,
                      const tbAssembly* a, int k, const double* v)
{
  const tbContactConstraint* t = &a->constraint[k];
  tbSoftContactDistance keep = tb_soft_contact_distance(&soft->surfaces, t->surface, soft->clearance);
  Point p = {.gap = t->point.gap - keep.radius, .u = velocity_at(a->problem, k, t, v)};
  tbContactSpring spring = tb_soft_contact_spring(w, &soft->surfaces, t->surface);
  bool plane = t->surface->of.kind == TB_SURFACE_PLANE_VERTEX;
  p.depth = (spring.stiffness > 0 ? spring.coat : plane ? 0 : keep.clearance) - p.gap;
  bool passes = !plane && p.gap > 0 && p.gap + o->dt * p.u.x < 0;
  p.stop = passes ? -p.u.x - 0.5 * p.gap / o->dt : -1;
  return p;
}

static void push(const tbWorld* w, const tbStepOptions* o, const tbDelassus* W, int first, const Point* point,
                 tbVec3* stretch, tbAssembly* a)
{
  int count = a->nconstraint - first;
  const tbContactConstraint* t = a->constraint + first;
  for (int i = 0; i < count; i++) {
    int k = first + i, rows = t[i].rows;
    double force[6], mass = pushes(&point[i]) ? mass_at(W, k, 0, first, count, point) : 0;
    if (!(mass > 0)) {
      stretch[i] = tb_zero3();
      continue;
    }
    tbPenaltyPoint own = {.at = &t[i],
                          .depth = point[i].depth,
                          .u = point[i].u,
                          .mass = mass,
                          .sliding = rows < 3 ? mass
                                              : fmin(mass_at(W, k, 1, first, count, point),
                                                     mass_at(W, k, 2, first, count, point)),
                          .points = 1,
                          .stretch = stretch[i]};
    tb_penalty_force(w, o, &own, force, &stretch[i]);
    double out = BACK * point[i].depth / fmax(o->dt, UNHURRIED),
           most = fmax(mass * (out - own.u.x) / o->dt, 0);
    double share = force[0] > most ? most / force[0] : 1;
    for (int r = 0; r < rows; r++) force[r] *= share;
    force[0] = fmax(force[0], mass * point[i].stop / o->dt);
    for (int r = 0; r < rows; r++) a->lambda[a->problem->row_adr[k] + r] = o->dt * force[r];
  }
}

tbStatus tb_penalty_soft_push(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int first,
                              tbVec3* stretch, tbStepWork* work)
{
  const tbRelaxedSoft* soft = work->own;
  tbAssembly* a = &work->assembly;
  int count = a->nconstraint - first;
  for (int i = a->problem->row_adr[first]; i < a->problem->row_adr[a->nconstraint]; i++) a->lambda[i] = 0;
  if (count == 0) return TB_OK;
  double* v = TB_TAKE(work->arena, double, (size_t)a->problem->ndof);
  Point* point = TB_TAKE(work->arena, Point, (size_t)count);
  tbDelassus* W;
  if (!v || !point) return TB_ERROR_MEMORY;
  TB_TRY(tb_delassus_create(ctx, a->problem, TB_FORM_BLOCKS, &W));
  velocities_of(w, a, soft->step, v);
  for (int i = 0; i < count; i++) point[i] = point_of(w, o, soft, a, first + i, v);
  push(w, o, W, first, point, stretch, a);
  tb_delassus_free(ctx, W);
  return TB_OK;
}
