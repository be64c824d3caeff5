// SPDX-License-Identifier: Apache-2.0
// The unknowns of a step, what they move, and the potential of each body by itself:
//
//   rigid    ½ m |v − v_free|² + ½ (ω − ω_free)ᵀ I (ω − ω_free)
//   nodes    ½ Vᵀ[(1 + hα) M + h drag + hβ K₀] V − Vᵀ[M (v + h g) + h force] + Ψ(x + h V)
//
// whose gradients are what momentum misses, in N·s.
#include "step/ipc.h"

#include "base/threads.h"
#include "kind/unconstrained.h"

#include <string.h>

static const double SHARE = 0.25; // of a rigid body's mass, that one vertex carries
static const double HEAVY = 10;   // times its weight: what a vertex withstands at least
static const double TWIST = 1e-6; // rad: of a difference

// ---- what there is ----

static tbStatus begin_frame(const tbWorld* w, const tbStepWork* work, int body, tbIpc* ipc)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbTransform at = work->centre[body];
  tbMat3 R = tb_quat_mat3(at.q);
  work->unconstrained[body].held = true; // x + h v: no parabola
  ipc->frame[ipc->nframe++] = (tbIpcFrame){.body = body,
                                           .block = ipc->nblock,
                                           .start = at,
                                           .inertia = tb_mat3_mul(R, tb_mat3_mult(b->inertia, R)),
                                           .v_free = work->unconstrained[body].v,
                                           .w_free = work->unconstrained[body].w,
                                           .now = at,
                                           .turn = tb_mat3_identity()};
  ipc->nblock += 2;
  return TB_OK;
}

static void add_diagonal(double block[9], double value)
{
  block[0] += value, block[4] += value, block[8] += value;
}

// Masses and damping, and what they leave of the start.
static void begin_base(tbContext* ctx, double h, tbIpcNodes* n)
{
  tbFemBody* fem = n->of.fem;
  const tbFemAssembly* s = &fem->assembly;
  double heavy = 1 + h * fem->mass_damping, viscous = h * fem->stiffness_damping;
  if (viscous > 0) tb_fem_evaluate(fem, ctx->threads, n->of.x, TB_TANGENT_POSITIVE, n->force);
  for (int i = 0; i < fem->nnode; i++) {
    for (int b = s->diag[i]; b < s->ptr[i + 1]; b++) {
      double* block = n->base[tb_fem_assembly_upper(s, i, b)];
      const double* K = fem->upper[tb_fem_assembly_upper(s, i, b)];
      for (int k = 0; k < 9; k++) block[k] = viscous > 0 ? viscous * K[k] : 0;
      if (fem->mass_block) add_diagonal(block, heavy * fem->mass_block[b]);
      if (b != s->diag[i]) continue;
      if (!fem->mass_block) add_diagonal(block, heavy * fem->mass[i]);
      if (fem->drag) add_diagonal(block, h * fem->drag[i]);
    }
  }
  for (int i = 0; i < fem->nnode; i++) {
    tbVec3 fall = tb_zero3();
    for (int b = s->ptr[i]; fem->mass_block && b < s->ptr[i + 1]; b++)
      fall = tb_madd3(fall, fem->mass_block[b] * h, n->of.gravity);
    if (!fem->mass_block) fall = tb_scale3(fem->mass[i] * h, n->of.gravity);
    n->rhs[i] = tb_madd3(tb_add3(tb_fem_momentum(fem, n->of.v, i), fall), h, n->of.force[i]);
  }
}

static tbStatus begin_nodes(tbContext* ctx, const tbWorld* w, tbStepWork* work, int body, tbIpc* ipc)
{
  const tbBody* b = &tb_bodies(w)[body];
  tbIpcNodes* n = &ipc->nodes[ipc->nnodes++];
  *n = (tbIpcNodes){.body = body, .block = ipc->nblock};
  TB_TRY(b->kind->potential(ipc->arena, w, b, ipc->h, &n->of));
  TB_TRY(
      b->kind->begin(ctx, ipc->arena, (tbBodyFactor*)work->cache->factor.data + body, b, &ipc->step[body]));
  ipc->step[body].lent = true;
  size_t count = (size_t)n->of.fem->nnode, upper = (size_t)n->of.fem->assembly.upper_adr[count];
  n->start = TB_TAKE(ipc->arena, tbVec3, count), n->x = TB_TAKE(ipc->arena, tbVec3, count);
  n->rhs = TB_TAKE(ipc->arena, tbVec3, count), n->force = TB_TAKE(ipc->arena, double, 3 * count);
  n->base = (double(*)[9])TB_TAKE(ipc->arena, double, 9 * upper);
  n->slot = TB_TAKE(ipc->arena, int, upper);
  if (!n->start || !n->x || !n->rhs || !n->force || !n->base || !n->slot) return TB_ERROR_MEMORY;
  memcpy(n->start, n->of.x, count * sizeof *n->start);
  memcpy(n->x, n->of.x, count * sizeof *n->x);
  begin_base(ctx, ipc->h, n);
  ipc->nblock += (int)count;
  return TB_OK;
}

static tbStatus refuse(tbContext* ctx, const tbWorld* w)
{

  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->kind->surface && !b->kind->potential)
      return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "the scheme ipc does not move \"%s\", a body of the kind %s",
                     b->name, b->kind->name);
    for (int k = 0, other; b->kind->attached && b->kind->attached(b, k, &other); k++)
      if (other >= 0 && tb_bodies(w)[other].motion == TB_BODY_DYNAMIC)
        return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                       "the scheme ipc does not attach nodes of \"%s\" to \"%s\", which moves freely",
                       b->name, tb_bodies(w)[other].name);
  }
  return TB_OK;
}

// Forces that a vertex's barrier is made for: what would move its mass, and stretch what holds it, by d̂ in a
// step.
static double scale_of(const tbIpc* ipc, const tbIpcSurface* s, double dhat)
{
  double h = ipc->h, gravity = tb_norm3(ipc->world->gravity);
  if (s->source == TB_IPC_FRAME) {
    double mass = SHARE * tb_bodies(ipc->world)[ipc->frame[s->index].body].mass;
    return mass * fmax(HEAVY * gravity, dhat / (h * h));
  }
  if (s->source == TB_IPC_KNOWN) return 0;
  const tbIpcNodes* n = &ipc->nodes[s->index];
  const tbFemBody* fem = n->of.fem;
  double mass = 0, stiff = 0;
  for (int i = 0; i < fem->nnode; i++) {
    const double* K = fem->upper[fem->assembly.upper_adr[i]];
    mass += fem->mass[i] / fem->nnode, stiff += (K[0] + K[4] + K[8]) / (3 * fem->nnode);
  }
  return mass * HEAVY * gravity + (mass / (h * h) + stiff) * dhat;
}

static tbStatus begin_surface(const tbWorld* w, const int* of_body, int i, tbIpc* ipc)
{
  tbMovingSurface* m = &ipc->surfaces.surface[i];
  tbIpcSurface* s = &ipc->surface[i];
  size_t n = (size_t)m->surface->nvertex;
  const tbBody* b = &tb_bodies(w)[m->body];
  s->index = of_body[m->body];
  s->source = b->motion != TB_BODY_DYNAMIC ? TB_IPC_KNOWN
              : ipc->surfaces.shape[i] < 0 ? TB_IPC_NODE
                                           : TB_IPC_FRAME;
  s->begin = TB_TAKE(ipc->arena, tbVec3, n), s->now = TB_TAKE(ipc->arena, tbVec3, n);
  s->last = TB_TAKE(ipc->arena, tbVec3, n);
  if (!s->begin || !s->now || !s->last) return TB_ERROR_MEMORY;
  if (n) {
    memcpy(s->begin, m->start, n * sizeof *s->begin);
    memcpy(s->now, m->start, n * sizeof *s->now);
    memcpy(s->last, m->end, n * sizeof *s->last);
  }
  if (s->source == TB_IPC_FRAME) {
    m->radius = 0; // its triangles are its surface
    tbIpcFrame* f = &ipc->frame[s->index];
    for (size_t k = 0; k < n; k++) f->reach = fmax(f->reach, tb_distance3(s->begin[k], f->start.x));
  } else if (s->source == TB_IPC_KNOWN) m->radius = 0;
  m->start = s->now;
  return TB_OK;
}

// A hundredth of the finest mesh's mean edge, a thousandth of the smallest rigid body.
static double choose_dhat(const tbIpc* ipc)
{
  double least = INFINITY;
  for (int i = 0; i < ipc->surfaces.scene.nsurface; i++) {
    const tbIpcSurface* s = &ipc->surface[i];
    if (s->source == TB_IPC_NODE) least = fmin(least, 1e-2 * ipc->surfaces.surface[i].surface->edge_length);
    if (s->source == TB_IPC_FRAME) least = fmin(least, 1e-3 * ipc->frame[s->index].reach);
  }
  return least < INFINITY ? least : 1e-3;
}

static tbStatus begin_vectors(tbIpc* ipc)
{
  size_t n = (size_t)ipc->nblock;
  ipc->held = TB_TAKE(ipc->arena, uint8_t, n);
  ipc->v = TB_TAKE(ipc->arena, tbVec3, n), ipc->trial = TB_TAKE(ipc->arena, tbVec3, n);
  ipc->gradient = TB_TAKE(ipc->arena, tbVec3, n), ipc->direction = TB_TAKE(ipc->arena, tbVec3, n);
  ipc->lead = TB_TAKE(ipc->arena, tbVec3, n);
  if (!ipc->held || !ipc->v || !ipc->trial || !ipc->gradient || !ipc->direction || !ipc->lead)
    return TB_ERROR_MEMORY;
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* b = &ipc->nodes[i];
    for (int k = 0; k < b->of.fem->nnode; k++) ipc->held[b->block + k] = b->of.fem->pinned[k];
  }
  return TB_OK;
}

tbStatus tb_ipc_begin_bodies(tbContext* ctx, tbStepWork* work, tbIpc* ipc)
{
  const tbWorld* w = ipc->world;
  size_t n = w->body.count;
  TB_TRY(refuse(ctx, w));
  int more = (int)n - (int)work->cache->factor.count;
  if (more > 0) TB_TRY(tb_array_push(ctx, &work->cache->factor, NULL, (size_t)more));
  ipc->frame = TB_TAKE(ipc->arena, tbIpcFrame, n), ipc->nodes = TB_TAKE(ipc->arena, tbIpcNodes, n);
  ipc->step = TB_TAKE(ipc->arena, tbBodyStep, n);
  int* of_body = TB_TAKE(ipc->arena, int, n);
  if (!ipc->frame || !ipc->nodes || !ipc->step || !of_body) return TB_ERROR_MEMORY;
  for (int i = 0; i < (int)n; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    of_body[i] = b->kind->surface ? ipc->nnodes : ipc->nframe;
    if (b->motion != TB_BODY_DYNAMIC) continue;
    if (b->kind->surface) TB_TRY(begin_nodes(ctx, w, work, i, ipc));
    else TB_TRY(begin_frame(w, work, i, ipc));
  }
  TB_TRY(begin_vectors(ipc));
  TB_TRY(tb_surfaces_begin(ctx, ipc->arena, work->cache, w, work->pose, &ipc->surfaces));
  ipc->surfaces.scene.rigid_pairs = true;
  tbStepView view = {.world = w, .h = ipc->h, .unconstrained = work->unconstrained, .step = ipc->step};
  tb_surfaces_lead(&view, &ipc->surfaces);
  int nsurface = ipc->surfaces.scene.nsurface, nplane = ipc->surfaces.scene.nplane;
  ipc->surface = TB_TAKE(ipc->arena, tbIpcSurface, (size_t)nsurface);
  ipc->plane = TB_TAKE(ipc->arena, tbMovingPlane, (size_t)nplane);
  if (!ipc->surface || !ipc->plane) return TB_ERROR_MEMORY;
  for (int i = 0; i < nsurface; i++) TB_TRY(begin_surface(w, of_body, i, ipc));
  if (nplane) memcpy(ipc->plane, ipc->surfaces.plane, (size_t)nplane * sizeof *ipc->plane);
  ipc->dhat = ipc->most_dhat = ipc->options->dhat > 0 ? ipc->options->dhat : choose_dhat(ipc);
  for (int i = 0; i < ipc->nnodes; i++) // for the scale of forces
    tb_fem_evaluate(ipc->nodes[i].of.fem, ctx->threads, ipc->nodes[i].of.x, TB_TANGENT_POSITIVE,
                    ipc->nodes[i].force);
  for (int i = 0; i < nsurface; i++) {
    double own = ipc->surface[i].source == TB_IPC_NODE ? ipc->surfaces.surface[i].radius : 0;
    ipc->most_dhat = fmax(ipc->most_dhat, 2 * own);
    ipc->surface[i].scale = scale_of(ipc, &ipc->surface[i], fmax(ipc->dhat, own));
  }
  ipc->smooth = ipc->h * ipc->options->velocity_threshold;
  return TB_OK;
}

// ---- motion ----

static tbQuat turned(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 w)
{
  tbQuat q = f->start.q;
  tb_turn_freely(&tb_bodies(ipc->world)[f->body], ipc->h, &q, &w);
  return q;
}

static void place_frame(const tbIpc* ipc, tbIpcFrame* f, tbVec3 v, tbVec3 w)
{
  double h = ipc->h;
  f->now.x = tb_madd3(f->start.x, h, v);
  f->now.q = turned(ipc, f, w);
  tbVec3 column[3];
  for (int k = 0; k < 3; k++) {
    tbVec3 more = w, less = w;
    (&more.x)[k] += TWIST / h, (&less.x)[k] -= TWIST / h;
    tbQuat between = tb_quat_mul(turned(ipc, f, more), tb_quat_conj(turned(ipc, f, less)));
    column[k] = tb_scale3(0.5 / TWIST, tb_quat_log(between));
  }
  f->turn = tb_mat3_cols(column[0], column[1], column[2]);
}

static tbVec3 frame_point(const tbIpc* ipc, const tbIpcFrame* f, tbVec3 rest)
{
  tbVec3 arm = tb_sub3(rest, tb_bodies(ipc->world)[f->body].centre);
  return tb_add3(f->now.x, tb_quat_rotate(f->now.q, arm));
}

void tb_ipc_place(tbIpc* ipc, const tbVec3* v, double progress)
{
  tbSurfaces* s = &ipc->surfaces;
  if (ipc->still) progress = 0;
  for (int i = 0; i < ipc->nframe; i++)
    place_frame(ipc, &ipc->frame[i], v[ipc->frame[i].block], v[ipc->frame[i].block + 1]);
  for (int i = 0; i < ipc->nnodes; i++) {
    tbIpcNodes* n = &ipc->nodes[i];
    for (int k = 0; k < n->of.fem->nnode; k++) {
      tbVec3 velocity = ipc->held[n->block + k] ? tb_scale3(progress, n->of.pin[k]) : v[n->block + k];
      n->x[k] = tb_madd3(n->start[k], ipc->h, velocity);
    }
  }
  for (int i = 0; i < s->scene.nsurface; i++) {
    const tbIpcSurface* m = &ipc->surface[i];
    const tbSurfaceMesh* mesh = s->surface[i].surface;
    for (int k = 0; k < mesh->nvertex; k++)
      s->end[i][k] = m->source == TB_IPC_KNOWN  ? tb_lerp3(m->begin[k], m->last[k], progress)
                     : m->source == TB_IPC_NODE ? ipc->nodes[m->index].x[ipc->nodes[m->index].of.node[k]]
                                                : frame_point(ipc, &ipc->frame[m->index], mesh->rest[k]);
  }
  for (int i = 0; i < s->scene.nplane; i++) {
    const tbMovingPlane* p = &ipc->plane[i];
    tbVec3 normal = tb_lerp3(p->normal[0], p->normal[1], progress);
    s->plane[i].normal[1] = tb_normalize3(normal);
    s->plane[i].offset[1] = ((1 - progress) * p->offset[0] + progress * p->offset[1]) / tb_norm3(normal);
  }
}

void tb_ipc_settle(tbIpc* ipc)
{
  tbSurfaces* s = &ipc->surfaces;
  for (int i = 0; i < s->scene.nsurface; i++) {
    size_t n = (size_t)s->surface[i].surface->nvertex;
    if (n) memcpy(ipc->surface[i].now, s->end[i], n * sizeof(tbVec3));
  }
  for (int i = 0; i < s->scene.nplane; i++)
    s->plane[i].normal[0] = s->plane[i].normal[1], s->plane[i].offset[0] = s->plane[i].offset[1];
}

tbIpcMove tb_ipc_move(const tbIpc* ipc, int surface, int vertex, tbVec3 at)
{
  const tbIpcSurface* s = &ipc->surface[surface];
  double h = ipc->h;
  if (s->source == TB_IPC_FRAME) {
    const tbIpcFrame* f = &ipc->frame[s->index];
    tbMat3 lever = tb_mat3_scale(-h, tb_mat3_skew(tb_sub3(at, f->now.x)));
    return (tbIpcMove){2, {f->block, f->block + 1}, {tb_mat3_diag(h, h, h), tb_mat3_mul(lever, f->turn)}};
  }
  if (s->source == TB_IPC_KNOWN) return (tbIpcMove){0};
  int block = ipc->nodes[s->index].block + ipc->nodes[s->index].of.node[vertex];
  if (ipc->held[block]) return (tbIpcMove){0};
  return (tbIpcMove){1, {block}, {tb_mat3_diag(h, h, h)}};
}

tbVec3 tb_ipc_left(const tbIpc* ipc, int surface, int vertex)
{
  const tbIpcSurface* s = &ipc->surface[surface];
  double left = 1 - ipc->progress;
  if (left <= 0 || s->source == TB_IPC_FRAME) return tb_zero3();
  if (s->source == TB_IPC_KNOWN) return tb_scale3(left, tb_sub3(s->last[vertex], s->begin[vertex]));
  const tbIpcNodes* n = &ipc->nodes[s->index];
  int node = n->of.node[vertex];
  return ipc->held[n->block + node] ? tb_scale3(left * ipc->h, n->of.pin[node]) : tb_zero3();
}

// ---- potentials ----

static tbVec3 velocity_of(const tbIpc* ipc, const tbIpcNodes* n, const tbVec3* v, int k)
{
  return ipc->held[n->block + k] ? tb_scale3(ipc->still ? 0 : ipc->progress, n->of.pin[k]) : v[n->block + k];
}

static tbVec3 block_mul(const double* B, tbVec3 v, bool transposed)
{
  if (transposed)
    return tb_vec3(B[0] * v.x + B[3] * v.y + B[6] * v.z, B[1] * v.x + B[4] * v.y + B[7] * v.z,
                   B[2] * v.x + B[5] * v.y + B[8] * v.z);
  return tb_vec3(B[0] * v.x + B[1] * v.y + B[2] * v.z, B[3] * v.x + B[4] * v.y + B[5] * v.z,
                 B[6] * v.x + B[7] * v.y + B[8] * v.z);
}

// (base V)_i
static tbVec3 base_row(const tbIpc* ipc, const tbIpcNodes* n, const tbVec3* v, int i)
{
  const tbFemAssembly* s = &n->of.fem->assembly;
  tbVec3 sum = tb_zero3();
  for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++) {
    const double* B = n->base[tb_fem_assembly_upper(s, i, b)];
    sum = tb_add3(sum, block_mul(B, velocity_of(ipc, n, v, s->col[b]), b < s->diag[i]));
  }
  return sum;
}

// Kinetic terms are differences from the velocities that masses would have by themselves.
double tb_ipc_bodies_energy(tbContext* ctx, tbIpc* ipc, const tbVec3* v, double* size)
{
  double sum = 0;
  *size = 0;
  for (int i = 0; i < ipc->nframe; i++) {
    const tbIpcFrame* f = &ipc->frame[i];
    tbVec3 dv = tb_sub3(v[f->block], f->v_free), dw = tb_sub3(v[f->block + 1], f->w_free);
    double mass = tb_bodies(ipc->world)[f->body].mass;
    sum += 0.5 * (mass * tb_dot3(dv, dv) + tb_dot3(dw, tb_mat3_mulv(f->inertia, dw)));
  }
  *size += sum;
  for (int i = 0; i < ipc->nnodes; i++) {
    const tbIpcNodes* n = &ipc->nodes[i];
    double inertia = 0;
    for (int k = 0; k < n->of.fem->nnode; k++) {
      tbVec3 V = velocity_of(ipc, n, v, k);
      double quadratic = 0.5 * tb_dot3(V, base_row(ipc, n, v, k)), linear = tb_dot3(V, n->rhs[k]);
      inertia += quadratic - linear;
      *size += fabs(quadratic) + fabs(linear);
    }
    double elastic = tb_fem_evaluate(n->of.fem, ctx->threads, n->x, TB_TANGENT_NONE, NULL);
    sum += inertia + elastic;
    *size += fabs(elastic);
  }
  return sum;
}

static void frame_gradient(tbIpc* ipc, const tbIpcFrame* f, const tbVec3* v, tbIpcMatrix* matrix)
{
  double mass = tb_bodies(ipc->world)[f->body].mass;
  int b = f->block;
  ipc->gradient[b] = tb_scale3(mass, tb_sub3(v[b], f->v_free));
  ipc->gradient[b + 1] = tb_mat3_mulv(f->inertia, tb_sub3(v[b + 1], f->w_free));
  if (!matrix) return;
  double M[9] = {mass, 0, 0, 0, mass, 0, 0, 0, mass};
  tb_ipc_matrix_add(matrix, b, b, M);
  tb_ipc_matrix_add(matrix, b + 1, b + 1, (const double*)&f->inertia);
}

// Rows and columns of held nodes stay out of the matrix; what is left of their way goes to the others.
static void nodes_gradient(tbContext* ctx, tbIpc* ipc, tbIpcNodes* n, const tbVec3* v, tbIpcMatrix* matrix)
{
  tbFemBody* fem = n->of.fem;
  const tbFemAssembly* s = &fem->assembly;
  double h2 = ipc->h * ipc->h, left = 1 - ipc->progress;
  tb_fem_evaluate(fem, ctx->threads, n->x, matrix ? TB_TANGENT_POSITIVE : TB_TANGENT_NONE, n->force);
  for (int i = 0; i < fem->nnode; i++) {
    tbVec3 g = tb_sub3(base_row(ipc, n, v, i), n->rhs[i]);
    ipc->gradient[n->block + i] = g = tb_madd3(g, -ipc->h, tb_load3(n->force + 3 * (size_t)i));
    if (ipc->held[n->block + i]) ipc->lead_slope += left * tb_dot3(g, n->of.pin[i]);
  }
  for (int i = 0; matrix && i < fem->nnode; i++)
    for (int b = s->diag[i]; b < s->ptr[i + 1]; b++) {
      int j = s->col[b], u = tb_fem_assembly_upper(s, i, b);
      bool held_i = ipc->held[n->block + i], held_j = ipc->held[n->block + j];
      double H[9];
      for (int k = 0; k < 9; k++) H[k] = n->base[u][k] + h2 * fem->upper[u][k];
      if (!held_i && !held_j) tb_ipc_matrix_add_at(matrix, n->block + j, n->slot[u], H, true);
      else if (left > 0 && i != j) {
        if (held_j && !held_i)
          ipc->lead[n->block + i] =
              tb_madd3(ipc->lead[n->block + i], left, block_mul(H, n->of.pin[j], false));
        if (held_i && !held_j)
          ipc->lead[n->block + j] = tb_madd3(ipc->lead[n->block + j], left, block_mul(H, n->of.pin[i], true));
      }
    }
}

void tb_ipc_bodies_gradient(tbContext* ctx, tbIpc* ipc, const tbVec3* v, tbIpcMatrix* matrix)
{
  memset(ipc->lead, 0, (size_t)ipc->nblock * sizeof *ipc->lead);
  ipc->lead_slope = 0;
  for (int i = 0; i < ipc->nframe; i++) frame_gradient(ipc, &ipc->frame[i], v, matrix);
  for (int i = 0; i < ipc->nnodes; i++) nodes_gradient(ctx, ipc, &ipc->nodes[i], v, matrix);
}
