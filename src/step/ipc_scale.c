// SPDX-License-Identifier: Apache-2.0
// How far barriers reach, and how stiff they are.
#include "step/ipc.h"

static const double SHARE = 0.25; // of a rigid body's mass, that one vertex carries
static const double HEAVY = 10;   // times its weight: what a vertex withstands at least

// Forces that a vertex's barrier is made for: what would move its mass, and stretch what holds it, by d̂ in a
// step.
static void measure_surface(const tbIpc* ipc, double dhat, tbIpcSurface* s)
{
  double h = ipc->h, gravity = tb_norm3(ipc->world->gravity);
  s->mass = s->scale = 0;
  if (s->source == TB_IPC_FRAME) {
    s->mass = SHARE * tb_bodies(ipc->world)[ipc->frame[s->index].body].mass;
    s->scale = s->mass * fmax(HEAVY * gravity, dhat / (h * h));
  }
  if (s->source != TB_IPC_NODE) return;
  const tbIpcNodes* n = &ipc->nodes[s->index];
  const tbFemBody* fem = n->of.fem;
  double stiff = 0;
  for (int i = 0; i < fem->nnode; i++) {
    const double* K = fem->upper[fem->assembly.upper_adr[i]];
    s->mass += fem->mass[i] / fem->nnode, stiff += (K[0] + K[4] + K[8]) / (3 * fem->nnode);
  }
  s->scale = s->mass * HEAVY * gravity + (s->mass / (h * h) + stiff) * dhat;
}

static tbVec3 vertex_velocity(const tbIpc* ipc, const tbIpcSurface* s, int vertex)
{
  if (s->source == TB_IPC_KNOWN) return tb_scale3(1 / ipc->h, tb_sub3(s->last[vertex], s->begin[vertex]));
  const tbIpcNodes* n = &ipc->nodes[s->index];
  int node = n->of.node[vertex];
  return tb_madd3(n->of.v[node], ipc->h, n->of.gravity);
}

// How fast a surface goes where the step starts: all of it, and its vertices against that.
static void measure_speed(const tbIpc* ipc, int surface)
{
  tbIpcSurface* s = &ipc->surface[surface];
  int count = ipc->surfaces.surface[surface].surface->nvertex;
  s->drift = tb_zero3(), s->spread = 0;
  if (s->source == TB_IPC_FRAME) {
    const tbIpcFrame* f = &ipc->frame[s->index];
    s->drift = f->v_free, s->spread = f->reach * tb_norm3(f->w_free);
    return;
  }
  for (int k = 0; k < count; k++) s->drift = tb_madd3(s->drift, 1.0 / count, vertex_velocity(ipc, s, k));
  for (int k = 0; k < count; k++)
    s->spread = fmax(s->spread, tb_distance3(vertex_velocity(ipc, s, k), s->drift));
}

// Of two surfaces that both move, the geometric mean.
static double mean_of(double a, double b) { return a > 0 && b > 0 ? sqrt(a * b) : fmax(a, b); }

static double scale_of(const tbIpc* ipc, const tbIpcSurface* s)
{
  return ipc->slowly ? s->scale : fmax(s->scale, s->load);
}

// κ: forces as above, and those that stop in one step what comes as fast as the two can. A barrier that is
// much softer gives way to a ten-thousandth of d̂ under an impact, where Newton's method creeps.
double tb_ipc_stiffness(const tbIpc* ipc, const tbSurfaceFeatures* of)
{
  const tbIpcSurface *b = &ipc->surface[of->surface_b], *a = NULL;
  tbVec3 other = tb_zero3();
  if (of->kind == TB_SURFACE_PLANE_VERTEX) {
    const tbMovingPlane* p = &ipc->plane[of->surface_a];
    other = tb_scale3((p->offset[1] - p->offset[0]) / ipc->h, p->normal[1]);
  } else {
    a = &ipc->surface[of->surface_a];
    other = a->drift;
  }
  if (ipc->options->barrier_stiffness > 0) return ipc->options->barrier_stiffness * ipc->stiffer;
  double speed = tb_distance3(b->drift, other) + b->spread + (a && a != b ? a->spread : 0);
  double kappa = mean_of(a ? scale_of(ipc, a) : 0, scale_of(ipc, b));
  double mass = mean_of(a ? a->mass : 0, b->mass);
  return ipc->stiffer * fmax(kappa, ipc->slowly ? 0 : mass * speed / ipc->h);
}

static const double FINE = 1e-2,
                    SMALL = 1e-3; // d̂: of the finest mesh's mean edge, of the smallest rigid body

static double choose_dhat(const tbIpc* ipc)
{
  double least = INFINITY;
  for (int i = 0; i < ipc->surfaces.scene.nsurface; i++) {
    const tbIpcSurface* s = &ipc->surface[i];
    if (s->source == TB_IPC_NODE) least = fmin(least, FINE * ipc->surfaces.surface[i].surface->edge_length);
    if (s->source == TB_IPC_FRAME) least = fmin(least, SMALL * ipc->frame[s->index].reach);
  }
  return least < INFINITY ? least : 1e-3;
}

// d̂ before a step has begun: shapes by their bodies' radii, which are no less than how far they reach.
double tb_ipc_touching_at(const tbWorld* w, const tbStepOptions* o, const tbSurfaces* s, bool shapes)
{
  (void)shapes;
  double least = INFINITY;
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbBody* b = &tb_bodies(w)[s->surface[i].body];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    least = fmin(least, s->shape[i] < 0 ? FINE * s->surface[i].surface->edge_length : SMALL * b->radius);
  }
  return o->dhat > 0 ? o->dhat : least < INFINITY ? least : 1e-3;
}

void tb_ipc_begin_scale(tbContext* ctx, tbIpc* ipc)
{
  int nsurface = ipc->surfaces.scene.nsurface;
  ipc->edge = INFINITY;
  for (int i = 0; i < nsurface; i++)
    if (ipc->surface[i].source != TB_IPC_KNOWN)
      ipc->edge = fmin(ipc->edge, ipc->surfaces.surface[i].surface->edge_length);
  ipc->dhat = ipc->most_dhat = ipc->options->dhat > 0 ? ipc->options->dhat : choose_dhat(ipc);
  for (int i = 0; i < ipc->nnodes; i++) // for the scale of forces, which is the same in every step
    tb_fem_evaluate(ipc->nodes[i].of.fem, ctx->threads, ipc->nodes[i].of.fem->rest, TB_TANGENT_POSITIVE,
                    ipc->nodes[i].force);
  for (int i = 0; i < nsurface; i++) {
    tbIpcSurface* of = &ipc->surface[i];
    double own = of->source == TB_IPC_NODE ? ipc->surfaces.surface[i].radius : 0;
    ipc->most_dhat = fmax(ipc->most_dhat, 2 * own);
    measure_surface(ipc, fmax(ipc->dhat, own), of);
    measure_speed(ipc, i);
  }
}
