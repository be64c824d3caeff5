// SPDX-License-Identifier: Apache-2.0
// When frames come and what they say; the table of kinds.
#include "io/record/record.h"

#include "scene/world.h"

#include <string.h>

struct tbRecording {
  const tbRecorder* recorder;
  void* state;
  tbRecordPlan plan;
  int64_t frames, steps; // frames so far; steps since the last one
  int64_t last_step;     // of the last frame
  int64_t layout;        // of the world: which bodies there are
  int contacts;
  double penetration, intersections;          // of the last step
  double residual, velocity;                  // the largest since the last frame; velocity: in m/s
  bool told;                                  // in a frame: the next step that is judged begins anew
  double iterations, phase_s[TB_PHASE_COUNT]; // sums since then
};

static const tbRecordKind kinds[] = {
    {"replay", "all of it for the page and `tribo view`", "replay.trp", false, &tb_recorder_replay},
    {"gltf", "glTF 2.0: rigid bodies as moving nodes, deformable ones as morphs", "scene.glb", false,
     &tb_recorder_gltf},
    {"usd", "USD in text, with time samples", "scene.usda", false, &tb_recorder_usd},
    {"vtk", "VTU and PVD for ParaView: bodies with velocities, contacts with forces", "vtk", true,
     &tb_recorder_vtk},
    {"pc2", "what deforms, every step: OBJ, a point cache, a script that loads both into Blender", ".", true,
     &tb_recorder_pc2},
};

int tb_record_kind_count(void) { return (int)(sizeof kinds / sizeof *kinds); }

const tbRecordKind* tb_record_kind_at(int index)
{
  return index >= 0 && index < tb_record_kind_count() ? &kinds[index] : NULL;
}

const tbRecordKind* tb_record_kind_find(const char* name)
{
  for (int i = 0; i < tb_record_kind_count(); i++)
    if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
  return NULL;
}

tbRecordOptions tb_default_record_options(void)
{
  return (tbRecordOptions){.fps = 60, .contact_limit = 4096};
}

enum {
  KINETIC,
  POTENTIAL,
  ELASTIC,
  RESIDUAL,
  ITERATIONS,
  CONTACTS,
  PENETRATION,
  INTERSECTIONS,
  CONTACT_RESIDUAL,
  STEP_MS,
  PHASE_MS,
  RESIDUAL_VELOCITY = PHASE_MS + TB_PHASE_COUNT
};
_Static_assert(RESIDUAL_VELOCITY + 1 == TB_SCALARS, "a name for every scalar");

const char* tb_scalar_name(int index)
{
  static const char* const names[TB_SCALARS] = {
      "kinetic",     "potential",     "elastic",          "residual",         "iterations", "contacts",
      "penetration", "intersections", "contact_residual", "step_ms",          "collide_ms", "assemble_ms",
      "solve_ms",    "integrate_ms",  "judge_ms",         "residual_velocity"};
  return names[index];
}

static bool sane(tbVec3 p) { return tb_maxabs3(p) < 1e30 && p.x == p.x && p.y == p.y && p.z == p.z; }

static tbStatus check_world(tbContext* ctx, const tbWorld* w)
{
  for (int i = 0; i < tb_world_body_count(w); i++) {
    tbBodyId id = tb_world_body_at(w, i);
    tbBodyState s = tb_body_state(w, id);
    const tbVec3* x = tb_body_nodes(w, id);
    bool good = sane(s.position) && sane(s.velocity) && sane(s.angular_velocity) && isfinite(s.orientation.w);
    for (int n = 0; n < tb_body_node_count(w, id) && good; n++) good = sane(x[n]);
    if (!good)
      return tb_fail(ctx, TB_ERROR_NUMERIC,
                     "the position of %s is not finite, or beyond 1e30: it cannot be recorded",
                     tb_body_name(w, id));
  }
  return TB_OK;
}

static double worst_contact(const tbWorld* w)
{
  double worst = 0;
  for (int i = 0; i < tb_world_contact_count(w); i++) worst = fmax(worst, tb_world_contact(w, i).residual);
  return worst;
}

static tbStatus put_frame(tbContext* ctx, tbRecording* r, const tbScene* scene)
{
  const tbWorld* w = scene->world;
  if (w->layout != r->layout)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "bodies have come or gone since the recording began; begin another");
  TB_TRY(check_world(ctx, w));
  tbEnergy energy = tb_world_energy(w);
  double per_step = r->steps > 0 ? 1.0 / (double)r->steps : 0, step_s = 0;
  tbFrame f = {.world = w,
               .index = r->frames,
               .step = tb_world_step_count(w),
               .time = tb_world_time(w),
               .dt = scene->step.dt,
               .scalar = {[KINETIC] = energy.kinetic,
                          [POTENTIAL] = energy.potential,
                          [ELASTIC] = energy.elastic,
                          [RESIDUAL] = r->residual,
                          [ITERATIONS] = r->iterations * per_step,
                          [CONTACTS] = r->contacts,
                          [PENETRATION] = r->penetration,
                          [INTERSECTIONS] = r->intersections,
                          [CONTACT_RESIDUAL] = worst_contact(w),
                          [RESIDUAL_VELOCITY] = r->velocity}};
  for (int i = 0; i < TB_PHASE_COUNT; i++) {
    f.scalar[PHASE_MS + i] = 1e3 * r->phase_s[i] * per_step;
    step_s += r->phase_s[i] * per_step;
  }
  f.scalar[STEP_MS] = 1e3 * step_s;
  TB_TRY(r->recorder->frame(ctx, r->state, &f));
  r->frames++;
  r->last_step = f.step;
  r->steps = 0, r->iterations = 0, r->told = true;
  for (int i = 0; i < TB_PHASE_COUNT; i++) r->phase_s[i] = 0;
  return TB_OK;
}

// The whole number of steps between frames that comes closest to the rate asked for.
static int64_t stride_of(double fps, double dt)
{
  double steps = fps > 0 ? round(1 / (fps * dt)) : 1;
  return steps >= 1 ? steps < 1e15 ? (int64_t)steps : (int64_t)1e15 : 1;
}

tbStatus tb_record_begin(tbContext* ctx, const char* kind, const char* path, const tbScene* scene,
                         tbRecordOptions options, tbRecording** out)
{
  const tbRecordKind* k = tb_record_kind_find(kind);
  if (!k) return tb_fail(ctx, TB_ERROR_ARGUMENT, "no kind of recording is called %.60s", kind);
  if (!(options.fps >= 0) || options.contact_limit < 0)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "the rate of frames and the limit of contacts must not be negative");
  tbRecording* r = TB_NEW(ctx, tbRecording, 1);
  if (!r) return TB_ERROR_MEMORY;
  r->recorder = k->recorder;
  r->layout = scene->world->layout;
  int64_t stride = r->recorder->every_step ? 1 : stride_of(options.fps, scene->step.dt);
  r->plan = (tbRecordPlan){scene, path, stride, 1 / ((double)stride * scene->step.dt), options.contact_limit};
  tbStatus status = r->recorder->begin(ctx, &r->plan, &r->state);
  r->plan.scene = NULL, r->plan.path = NULL;
  if (status == TB_OK) {
    status = put_frame(ctx, r, scene);
    if (status != TB_OK) r->recorder->end(ctx, r->state, status);
  }
  if (status == TB_OK) *out = r;
  else tb_free(ctx, r);
  return status;
}

// What is not a number is worse than any.
static double larger(double most, double value)
{
  return value <= most ? most : value == value ? value : INFINITY;
}

tbStatus tb_record_step(tbContext* ctx, tbRecording* r, const tbScene* scene, const tbStepReport* report)
{
  const tbResidual* judged = &report->residual;
  bool cone = scene->step.solver.model == TB_MODEL_CONE;
  r->steps++;
  if (report->outcome != TB_UNJUDGED) { // else what was last known stays
    if (r->told) r->residual = r->velocity = 0, r->told = false;
    r->residual = larger(r->residual, cone ? judged->fclib : judged->model);
    r->velocity = larger(r->velocity, cone ? judged->velocity : judged->model_velocity);
  }
  r->iterations += report->iterations;
  r->contacts = report->contacts;
  r->penetration = report->penetration;
  r->intersections = (double)report->intersections;
  for (int i = 0; i < TB_PHASE_COUNT; i++) r->phase_s[i] += report->phase_s[i];
  return r->steps < r->plan.stride ? TB_OK : put_frame(ctx, r, scene);
}

tbStatus tb_record_end(tbContext* ctx, tbRecording* r, const tbScene* scene, tbStatus status)
{
  bool more = r->steps > 0 && tb_world_step_count(scene->world) > r->last_step;
  bool same = scene->world->layout == r->layout;
  if (status == TB_OK && more && same && check_world(ctx, scene->world) == TB_OK)
    status = put_frame(ctx, r, scene);
  status = r->recorder->end(ctx, r->state, status);
  tb_free(ctx, r);
  return status;
}
