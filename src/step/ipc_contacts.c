// SPDX-License-Identifier: Apache-2.0
// Barriers between features that are close: every pair of a vertex and a face, of two edges, and of a vertex
// and a plane that is closer than d̂ adds κ b(d) to the potential.
#include "step/ipc.h"

#include "base/threads.h"
#include "collide/surfaces_pair.h"

#include <string.h>

enum { GRAIN = 32 };

static const double PARALLEL = 1e-3; // of |u|²|v|² at rest: edges whose |u × v|² is less are mollified
static const double APART = 0.5;     // of their distance at rest: the barrier of features of one surface

// ---- pairs ----

// Whether one of two edges lies inside a flat face of a rigid body, and the other one deforms: what comes to
// the face comes with a vertex, or over its rim, and an edge of its triangles would throw it up. Between
// rigid bodies such barriers share the face's pressure.
static bool crosses_face(const tbMovingSurface* a, int edge_a, const tbMovingSurface* b, int edge_b)
{
  if (a->rigid == b->rigid) return false;
  const uint8_t* flat = a->rigid ? a->surface->flat : b->surface->flat;
  return flat && flat[a->rigid ? edge_a : edge_b];
}

// Whether an axis of the world parts the corners of b, the first nb, from those of a by more than a distance.
static bool is_apart(const tbVec3 x[4], int nb, double distance)
{
  for (int k = 0; k < 3; k++) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++) {
      double at = (&x[i].x)[k];
      low[i < nb] = fmin(low[i < nb], at), high[i < nb] = fmax(high[i < nb], at);
    }
    if (low[1] - high[0] > distance || low[0] - high[1] > distance) return true;
  }
  return false;
}

// Closest points at the end of the way.
static bool near_end(const tbSurfaceScene* scene, const tbSurfaceFeatures* f, const tbSurfaceWay* way,
                     double distance, tbSurfaceContact* out)
{
  (void)way;
  if (f->kind == TB_SURFACE_PLANE_VERTEX) {
    double height = tb_surface_height(scene, f, true);
    if (!(height < distance)) return false;
    *out = tb_surface_corners(scene, f);
    out->weight_b[0] = 1, out->gap = height, out->normal = scene->plane[f->surface_a].normal[1];
    return true;
  }
  tbVec3 x[4];
  tbSurfaceContact c = tb_surface_corners(scene, f);
  tb_surface_places(scene, &c, true, x);
  if (is_apart(x, c.count_b, distance)) return false;
  tbClosest closest = tb_closest_features(f->kind == TB_SURFACE_FACE_VERTEX, x);
  double square = tb_dot3(closest.way, closest.way);
  if (!(square < distance * distance)) return false;
  tb_surface_weigh(&c, closest.weight);
  if (f->kind == TB_SURFACE_EDGE_EDGE &&
      crosses_face(&scene->surface[f->surface_a], f->feature_a, &scene->surface[f->surface_b], f->feature_b))
    return false;
  c.gap = sqrt(square), c.normal = tb_normalize3(closest.way);
  *out = c;
  return true;
}

static double rest_length2(const tbSurfaceMesh* s, const int edge[2])
{
  tbVec3 u = tb_sub3(s->rest[edge[1]], s->rest[edge[0]]);
  return tb_dot3(u, u);
}

static double rest_distance(const tbSurfaceMesh* s, const tbSurfaceContact* c)
{
  tbVec3 x[4];
  int n = 0;
  for (int k = 0; k < c->count_b; k++) x[n++] = s->rest[c->vertex_b[k]];
  for (int k = 0; k < c->count_a; k++) x[n++] = s->rest[c->vertex_a[k]];
  return tb_norm3(tb_closest_features(c->of.kind == TB_SURFACE_FACE_VERTEX, x).way);
}

// How far its barrier reaches, how stiff it is, and when edges count as parallel.
static tbIpcContact pair_of(const tbIpc* ipc, const tbSurfaceContact* c)
{
  const tbSurfaces* s = &ipc->surfaces;
  const tbMovingSurface* b = &s->surface[c->of.surface_b];
  bool plane = c->of.kind == TB_SURFACE_PLANE_VERTEX;
  const tbMovingSurface* a = plane ? NULL : &s->surface[c->of.surface_a];
  tbIpcContact out = {.at = *c, .dhat = fmax(ipc->dhat, b->radius + (a ? a->radius : 0))};
  if (a == b) out.dhat = fmin(out.dhat, APART * rest_distance(a->surface, c));
  out.kappa = tb_ipc_stiffness(ipc, &c->of);
  if (c->of.kind == TB_SURFACE_EDGE_EDGE)
    out.mollify = PARALLEL * rest_length2(a->surface, a->surface->edge[c->of.feature_a]) *
                  rest_length2(b->surface, b->surface->edge[c->of.feature_b]);
  return out;
}

bool tb_ipc_pair(const tbIpc* ipc, const tbSurfaceFeatures* of, tbIpcContact* out)
{
  tbSurfaceContact c;
  if (!near_end(&ipc->surfaces.scene, of, NULL, INFINITY, &c) || !(c.gap > 0)) return false;
  *out = pair_of(ipc, &c);
  return true;
}

// ---- energies ----

typedef struct {
  tbIpc* ipc;
  tbIpcContact* contact;
  double (*hessian)[144]; // null: not wanted
} Job;

static void plane_energy(tbBarrierKind kind, tbIpcContact* c, double H[144])
{
  tbJet b = c->at.gap > 0 ? tb_barrier(kind, c->at.gap, c->dhat) : (tbJet){.value = INFINITY};
  tbVec3 n = c->at.normal;
  c->energy = (tbPairEnergy){.value = c->kappa * b.value, .push = -c->kappa * b.first};
  c->energy.gradient[0] = tb_scale3(c->kappa * b.first, n);
  if (!H) return;
  memset(H, 0, 144 * sizeof *H);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) H[12 * i + j] = c->kappa * b.second * (&n.x)[i] * (&n.x)[j];
}

static void evaluate(void* user, int begin, int end, int piece)
{
  (void)piece;
  Job* job = user;
  for (int i = begin; i < end; i++) {
    tbIpcContact* c = &job->contact[i];
    double* H = job->hessian ? job->hessian[i] : NULL;
    if (c->at.of.kind == TB_SURFACE_PLANE_VERTEX) {
      plane_energy(job->ipc->options->barrier, c, H);
      continue;
    }
    bool face = c->at.of.kind == TB_SURFACE_FACE_VERTEX;
    tbVec3 x[4];
    tb_surface_places(&job->ipc->surfaces.scene, &c->at, true, x);
    tbDistance d = tb_distance_of(face, x);
    c->energy =
        tb_pair_barrier(job->ipc->options->barrier, face, x, &d, c->dhat, c->mollify, !job->ipc->exact, H);
    if (!(d.square > 0)) c->energy.value = INFINITY;
    c->energy.value *= c->kappa, c->energy.push *= c->kappa;
    for (int k = 0; k < 4; k++) c->energy.gradient[k] = tb_scale3(c->kappa, c->energy.gradient[k]);
    for (int k = 0; H && k < 144; k++) H[k] *= c->kappa;
  }
}

tbStatus tb_ipc_find(tbContext* ctx, tbIpc* ipc, double* sum)
{
  ipc->found.count = ipc->contact.count = 0;
  TB_TRY(
      tb_surface_gather(ctx, &ipc->surfaces.scene, &ipc->candidates, near_end, ipc->most_dhat, &ipc->found));
  for (size_t i = 0; i < ipc->found.count; i++) {
    const tbSurfaceContact* c = (const tbSurfaceContact*)ipc->found.data + i;
    if (!tb_surface_may_touch(&ipc->surfaces.scene, tb_surfaces_body(&ipc->surfaces, &c->of, 0),
                              tb_surfaces_body(&ipc->surfaces, &c->of, 1)))
      continue;
    tbIpcContact pair = pair_of(ipc, c);
    if (c->gap < pair.dhat) TB_TRY(tb_array_push(ctx, &ipc->contact, &pair, 1));
  }
  int count = (int)ipc->contact.count;
  Job job = {ipc, ipc->contact.data, NULL};
  tb_parallel_for(ctx->threads, count, GRAIN, evaluate, &job);
  *sum = 0;
  for (int i = 0; i < count; i++) *sum += job.contact[i].energy.value;
  return TB_OK;
}

tbStatus tb_ipc_hessians(tbContext* ctx, tbIpc* ipc)
{
  ipc->hessian.count = 0;
  TB_TRY(tb_array_push(ctx, &ipc->hessian, NULL, ipc->contact.count));
  Job job = {ipc, ipc->contact.data, ipc->hessian.data};
  tb_parallel_for(ctx->threads, (int)ipc->contact.count, GRAIN, evaluate, &job);
  return TB_OK;
}
