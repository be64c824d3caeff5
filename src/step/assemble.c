// SPDX-License-Identifier: Apache-2.0
// Every body that takes part brings its block of the metric and its free velocities (tbKind.metric), and its
// columns at the place where a contact acts on it (tbKind.contact): rows d = n, t, b of the relative
// velocity, then of turning, torsion (d = n) and rolling (d = t, b). What fixed and kinematic bodies
// contribute to the relative velocity is known: it goes into the bias.
#include "step/assemble.h"

#include "base/stop.h"
#include "step/friction_pair.h"
#include "step/geometric.h"

#include <string.h>

// Directions of a contact's rows beyond the three of sliding, as the law orders them.
static tbVec3 spin_direction(const tbContactConstraint* t, int row)
{
  bool torsion = t->rows != 5;
  int axis = torsion ? row - 3 : row - 2;
  return tb_mat3_row(t->frame, axis);
}

static tbContactSide side_of(const tbContactConstraint* t, int side)
{
  tbContactSide out = {.rows = t->rows, .sign = side ? 1 : -1, .at = t->position};
  for (int i = 0; i < t->rows; i++)
    out.direction[i] = i < 3 ? tb_mat3_row(t->frame, i) : spin_direction(t, i);
  for (int i = 1; i < 3 && t->rows > 3; i++)
    out.direction[i] = tb_scale3(tb_constraint_stretch(t, i), out.direction[i]);
  const tbSurfaceContact* c = t->surface;
  if (!c) return out;
  out.at = side ? t->point.b : t->point.a;
  out.count = side ? c->count_b : c->count_a;
  out.vertex = side ? c->vertex_b : c->vertex_a;
  out.weight = side ? c->weight_b : c->weight_a;
  return out;
}

// What a block of rows says of a frame in prescribed motion: its velocity, in the bias.
static void known_velocity(const double* jac, int rows, const tbUnconstrained* f, double* bias)
{
  double v[6];
  tb_store3(v, f->v);
  tb_store3(v + 3, f->w);
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < 6; k++) bias[i] += jac[6 * i + k] * v[k];
}

static bool is_driven(const tbStepView* view, int body)
{
  return view->place[body].dof < 0 && tb_bodies(view->world)[body].motion == TB_BODY_KINEMATIC;
}

static void add_contact(tbBuilder* b, const tbStepView* view, const tbContactConstraint* t)
{
  int body[2] = {t->body_a, t->body_b};
  tbContactSide side[2] = {side_of(t, 0), side_of(t, 1)};
  double bias[TB_MAX_ROWS], jac[TB_MAX_ROWS * 6];
  memcpy(bias, t->bias, sizeof bias);
  for (int i = 0; t->surface && i < t->rows && i < 3; i++)
    bias[i] += tb_constraint_stretch(t, i) * tb_dot3(tb_mat3_row(t->frame, i), t->drift);
  for (int k = 0; k < 2; k++) {
    if (!is_driven(view, body[k])) continue;
    tb_frame_jacobian(&side[k], view->centre[body[k]].x, jac);
    if (t->surface) memset(jac, 0, 3 * 6 * sizeof *jac); // that is in its drift
    known_velocity(jac, t->rows, &view->unconstrained[body[k]], bias);
  }
  tb_builder_contact(b, (tbLaw)t->law, t->rows, t->param, bias, t->compliance);
  for (int k = 0; k < 2; k++) {
    int dof = view->place[body[k]].dof;
    if (dof >= 0) tb_bodies(view->world)[body[k]].kind->contact(view, body[k], &side[k], dof, b);
  }
}

static void add_joint(tbBuilder* b, const tbStepView* view, const tbJoint* j, tbJointBlock* block)
{
  int body[2] = {j->a, j->b};
  const double* jac[2] = {&block->a[0][0], &block->b[0][0]};
  for (int k = 0; k < 2; k++)
    if (body[k] >= 0 && is_driven(view, body[k]))
      known_velocity(jac[k], block->rows, &view->unconstrained[body[k]], block->bias);
  tb_builder_contact(b, (tbLaw)block->law, block->rows, block->param, block->bias, block->compliance);
  for (int k = 0; k < 2; k++) {
    int dof = body[k] < 0 ? -1 : view->place[body[k]].dof;
    if (dof < 0) continue;
    const tbBody* at = &tb_bodies(view->world)[body[k]];
    if (at->kind->material_rows)
      at->kind->material_rows(at, k ? &j->point_b : &j->point_a, block->rows, jac[k], dof, b);
    else at->kind->frame_rows(block->rows, jac[k], dof, b);
  }
}

// Blocks of the metric: of frames first, then of bodies that solve for their free motion.
static void add_blocks(tbBuilder* b, const tbStepView* view, tbPlace* place)
{
  int block = 0;
  for (int solved = 0; solved < 2; solved++)
    for (size_t i = 0; i < view->world->body.count; i++) {
      const tbKind* kind = tb_bodies(view->world)[i].kind;
      if (place[i].dof < 0 || (kind->begin != NULL) != solved) continue;
      kind->metric(view, (int)i, b, &place[i].dof);
      place[i].block = block, place[i].offset = 0;
      block += solved && view->step[i].split ? view->step[i].size / 3 : 1;
    }
}

static bool is_free(const tbWorld* w, int body)
{
  return body >= 0 && tb_bodies(w)[body].motion == TB_BODY_DYNAMIC;
}

static void mark(const tbWorld* w, int body, tbPlace* place)
{
  if (is_free(w, body)) place[body].dof = 0;
}

// Where bodies that solve for their free motion are left out, so are joints on them, and those of which
// neither body moves freely.
static bool takes_part(const tbWorld* w, const tbJoint* j, const tbBodyStep* step)
{
  if (!is_free(w, j->a) && !is_free(w, j->b)) return false;
  bool solved =
      (j->a >= 0 && tb_bodies(w)[j->a].kind->begin) || (j->b >= 0 && tb_bodies(w)[j->b].kind->begin);
  return step || !solved;
}

// Bodies that something touches get a place: dof 0 until they have their own.
static void mark_bodies(const tbWorld* w, const tbContactConstraint* constraints, int count,
                        const tbBodyStep* step, tbPlace* place)
{
  for (size_t i = 0; i < w->body.count; i++) place[i].dof = -1;
  for (int i = 0; i < count; i++) {
    mark(w, constraints[i].body_a, place);
    mark(w, constraints[i].body_b, place);
  }
  for (size_t i = 0; step && i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (step[i].split || step[i].present) mark(w, (int)i, place);
    for (int k = 0, other; b->kind->attached && b->kind->attached(b, k, &other); k++) {
      if (other < 0 || tb_bodies(w)[other].motion != TB_BODY_DYNAMIC) continue;
      mark(w, (int)i, place);
      mark(w, other, place);
    }
  }
  for (size_t i = 0; i < w->joint.count; i++) {
    if (!takes_part(w, &tb_joints(w)[i], step)) continue;
    mark(w, tb_joints(w)[i].a, place);
    mark(w, tb_joints(w)[i].b, place);
  }
}

// Joints' blocks go through `block` one joint at a time; their warm start follows the contacts'.
static tbStatus add_joints(tbContext* ctx, tbBuilder* b, const tbStepOptions* o, tbJointWay way,
                           tbAssembly* out, tbArray* guess)
{
  const tbStepView* view = &out->view;
  for (size_t i = 0; i < view->world->joint.count; i++) {
    const tbJoint* j = &tb_joints(view->world)[i];
    tbJointBlock block[TB_JOINT_BLOCKS];
    int count = 0;
    if (takes_part(view->world, j, view->step))
      count = tb_joint_blocks(view->world, o, way, view->unconstrained, view->centre, j, block);
    out->nblock[i] = (uint8_t)count;
    for (int k = 0; k < count; k++) {
      out->slot[TB_JOINT_BLOCKS * i + (size_t)k] = (uint8_t)block[k].slot;
      add_joint(b, view, j, &block[k]);
      TB_TRY(tb_array_push(ctx, guess, j->impulse + block[k].slot, (size_t)block[k].rows));
    }
  }
  return TB_OK;
}

static tbStatus fill(tbContext* ctx, tbBuilder* b, const tbStepOptions* o, tbJointWay way, tbAssembly* out,
                     tbArray* guess)
{
  const tbStepView* view = &out->view;
  add_blocks(b, view, out->place);
  for (int i = 0; i < out->nconstraint; i++) {
    add_contact(b, view, &out->constraint[i]);
    TB_TRY(tb_array_push(ctx, guess, out->constraint[i].guess, (size_t)out->constraint[i].rows));
  }
  TB_TRY(add_joints(ctx, b, o, way, out, guess));
  for (size_t i = 0; view->step && i < view->world->body.count; i++) {
    const tbKind* kind = tb_bodies(view->world)[i].kind;
    if (kind->attach) TB_TRY(kind->attach(ctx, view, (int)i, b, guess));
  }
  for (size_t i = 0; view->step && i < view->world->body.count; i++)
    if (view->step[i].split) TB_TRY(tb_bodies(view->world)[i].kind->elements(ctx, view, (int)i, b, guess));
  return TB_OK;
}

// An initial guess of v − v_free, of bodies that are expensive to solve with: from the velocities known so
// far.
static tbStatus guess_velocities(tbArena* arena, tbAssembly* out)
{
  const tbStepView* view = &out->view;
  for (size_t i = 0; view->step && i < view->world->body.count; i++) {
    const tbBodyStep* s = &view->step[i];
    int dof = out->place[i].dof;
    if (dof < 0 || !s->expensive) continue;
    if (!out->w) out->w = TB_TAKE(arena, double, (size_t)out->problem->ndof);
    if (!out->w) return TB_ERROR_MEMORY;
    for (int k = 0; k < s->size; k++) out->w[dof + k] = s->v[k] - s->v_free[k];
  }
  return TB_OK;
}

tbStatus tb_assemble(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                     tbAssembleWay way, const tbUnconstrained* unconstrained, const tbTransform* centre,
                     const tbBodyStep* step, const tbContactConstraint* constraints, int count,
                     tbAssembly* out)
{
  *out = (tbAssembly){.constraint = constraints,
                      .nconstraint = count,
                      .place = TB_TAKE(arena, tbPlace, w->body.count),
                      .pushed = TB_TAKE(arena, bool, w->body.count),
                      .nblock = TB_TAKE(arena, uint8_t, w->joint.count),
                      .slot = TB_TAKE(arena, uint8_t, TB_JOINT_BLOCKS * w->joint.count)};
  if (!out->place || !out->pushed || !out->nblock || !out->slot) return TB_ERROR_MEMORY;
  mark_bodies(w, constraints, count, step, out->place);
  tbGeometric* stiff = NULL;
  if (w->joint.count > 0 && way == TB_ASSEMBLE_VELOCITIES) {
    stiff = TB_TAKE(arena, tbGeometric, w->body.count);
    if (!stiff) return TB_ERROR_MEMORY;
    tb_geometric_stiffness(w, o->dt, centre, stiff);
  }
  out->view = (tbStepView){.world = w,
                           .h = o->dt,
                           .unconstrained = unconstrained,
                           .centre = centre,
                           .stiff = stiff,
                           .step = step,
                           .place = out->place,
                           .pushed = out->pushed};
  tbBuilder* b;
  TB_TRY(tb_builder_create(ctx, w->name, &b));
  tbArray guess = TB_ARRAY(double);
  tbJointWay joints = way == TB_ASSEMBLE_POSITIONS ? TB_JOINT_POSITIONS
                      : way == TB_ASSEMBLE_IMPACT  ? TB_JOINT_IMPACT
                                                   : TB_JOINT_VELOCITIES;
  tbStatus status = fill(ctx, b, o, joints, out, &guess);
  if (status == TB_OK) status = tb_builder_finish(b, &out->problem);
  else tb_builder_abandon(b);
  if (status == TB_ERROR_INPUT) { // no file is to blame: a world's numbers have outgrown what can be computed
    tbError below = ctx->error;
    status = tb_fail(ctx, TB_ERROR_NUMERIC, "the step has no contact problem: %s", below.message);
  }
  if (status == TB_OK) {
    out->lambda = TB_TAKE(arena, double, guess.count);
    out->u = TB_TAKE(arena, double, guess.count);
    out->v = TB_TAKE(arena, double, (size_t)out->problem->ndof);
    out->view.v = out->v;
    out->part = TB_TAKE(arena, double, (size_t)out->problem->ncontact);
    if (!out->lambda || !out->u || !out->v || !out->part) status = TB_ERROR_MEMORY;
    else if (o->warm_start && guess.count) memcpy(out->lambda, guess.data, guess.count * sizeof(double));
    if (status == TB_OK && o->warm_start) status = guess_velocities(arena, out);
  }
  tb_array_free(ctx, &guess);
  if (status != TB_OK) tb_assembly_free(out);
  return status;
}

void tb_assembly_free(tbAssembly* a)
{
  tb_problem_free(a->problem);
  a->problem = NULL;
}

tbStatus tb_assembly_judge(tbContext* ctx, const tbStepOptions* o, tbJudge* asked, tbAssembly* a)
{
  tbJudge* judge = asked;
  if (!asked) TB_TRY(tb_judge_create(ctx, a->problem, &judge));
  tb_judge_measure(judge, a->lambda, o->solver.model, o->solver.directions, &a->residual, a->u, a->v);
  tb_judge_contacts(judge, a->part);
  if (!asked) tb_judge_free(ctx, judge);
  if (isinf(a->residual.natural_map)) TB_TRY(tb_check_interrupt(ctx)); // the judge was interrupted
  for (int i = 0; i < a->problem->ndof; i++)
    if (!isfinite(a->v[i]))
      return tb_fail(ctx, TB_ERROR_NUMERIC,
                     "the contact problem is too ill conditioned: velocities are lost to rounding");
  for (int k = 0; k < a->nconstraint; k++)
    a->pushed[a->constraint[k].body_a] = a->pushed[a->constraint[k].body_b] = false;
  for (int k = 0; k < a->nconstraint; k++) {
    double any = 0;
    for (int i = a->problem->row_adr[k]; i < a->problem->row_adr[k + 1]; i++) any += fabs(a->lambda[i]);
    if (any > 0) a->pushed[a->constraint[k].body_a] = a->pushed[a->constraint[k].body_b] = true;
  }
  return TB_OK;
}

// Open: no impulse. Slip: on the edge of the friction set, and moving.
static tbContactState state_of(const tbContactConstraint* t, const double* lambda, const double* u)
{
  if (!(lambda[0] > 0)) return TB_CONTACT_OPEN;
  if (t->rows < 3) return TB_CONTACT_SLIP; // nothing holds it
  double sliding = sqrt(u[1] * u[1] + u[2] * u[2]),
         use = tb_friction_use(t->law, t->param, lambda[0], lambda + 1);
  return use >= 1 - 1e-6 && sliding > 1e-9 ? TB_CONTACT_SLIP : TB_CONTACT_STICK;
}

void tb_assembly_record(const tbAssembly* a, tbWorld* w, tbContactRecord* record)
{
  const tbProblem* p = a->problem;
  for (int i = 0; i < a->nconstraint; i++) {
    const tbContactConstraint* t = &a->constraint[i];
    const double *lambda = a->lambda + p->row_adr[i], *u = a->u + p->row_adr[i];
    record[i] =
        (tbContactRecord){.shape_a = t->shape_a,
                          .shape_b = t->shape_b,
                          .body_a = t->body_a,
                          .body_b = t->body_b,
                          .feature = t->point.feature,
                          .position = t->position,
                          .normal = tb_mat3_row(t->frame, 0),
                          .tangent = tb_mat3_row(t->frame, 1),
                          .local = tb_quat_unrotate(a->view.centre[t->body_a].q,
                                                    tb_sub3(t->position, a->view.centre[t->body_a].x)),
                          .gap = t->point.gap,
                          .residual = a->part[i],
                          .rows = t->rows,
                          .state = state_of(t, lambda, u)};
    for (int k = 0; k < t->rows; k++) {
      double stretch = tb_constraint_stretch(t, k);
      record[i].impulse[k] = stretch * lambda[k] + t->struck[k];
      record[i].velocity[k] =
          u[k] - t->bias[k] - t->compliance[k] * lambda[k]; // the true one, without the bias
      if (stretch > 0) record[i].velocity[k] /= stretch;
    }
  }
  // The joints' impulses stand behind the contacts', in the order the blocks were added.
  int block_at = a->nconstraint;
  for (size_t i = 0; i < w->joint.count; i++) {
    tbJoint* j = &tb_joints(w)[i];
    memset(j->impulse, 0, sizeof j->impulse);
    for (int k = 0; k < a->nblock[i]; k++, block_at++)
      memcpy(j->impulse + a->slot[TB_JOINT_BLOCKS * i + (size_t)k], a->lambda + p->row_adr[block_at],
             (size_t)(p->row_adr[block_at + 1] - p->row_adr[block_at]) * sizeof(double));
  }
  // and behind these those that bodies are attached by, where they took part
  for (size_t i = 0; block_at < p->ncontact && i < w->body.count; i++) {
    tbBody* b = &tb_bodies(w)[i];
    if (b->kind->detach) block_at += b->kind->detach(w, b, p, a->lambda, block_at);
  }
}
