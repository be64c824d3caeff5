// SPDX-License-Identifier: Apache-2.0
// Making bodies out of meshes.
#include "fem/body.h"

#include <string.h>

int tb_fem_element_count(const tbFemBody* b) { return b->nelement[0] + b->nelement[1] + b->nelement[2]; }

tbSoftDef tb_soft_def(void)
{
  return (tbSoftDef){.model = TB_ELASTIC_COROTATED, .young = 1e6, .poisson = 0.3, .density = 1000};
}

tbClothDef tb_cloth_def(void)
{
  return (tbClothDef){
      .area_density = 0.2, .stretch = 200, .shear = 50, .bend = 1e-5, .thickness = 1e-3, .warp = {1, 0, 0}};
}

static tbStatus check_number(tbContext* ctx, const char* what, double value, bool positive)
{
  if (isfinite(value) && (positive ? value > 0 : value >= 0)) return TB_OK;
  return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s is %g; it must be %s", what, value,
                 positive ? "positive" : "zero or more");
}

static tbStatus check_damping(tbContext* ctx, double mass, double stiffness)
{
  TB_TRY(check_number(ctx, "mass damping", mass, false));
  return check_number(ctx, "stiffness damping", stiffness, false);
}

static tbStatus check_cloth(tbContext* ctx, const tbClothDef* d)
{
  TB_TRY(check_number(ctx, "area density", d->area_density, true));
  TB_TRY(check_number(ctx, "stretch stiffness", d->stretch, true));
  TB_TRY(check_number(ctx, "shear stiffness", d->shear, false));
  TB_TRY(check_number(ctx, "bending stiffness", d->bend, false));
  if (!((int)d->bending >= 0 && d->bending < TB_BENDING_COUNT))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "there is no bending %d", (int)d->bending);
  TB_TRY(check_number(ctx, "strain limit", d->strain_limit, false));
  TB_TRY(check_number(ctx, "limit stiffness", d->limit_stiffness, false));
  if (!(d->strain_limit < 1))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the strain limit is %g; it must be less than 1", d->strain_limit);
  TB_TRY(check_number(ctx, "thickness", d->thickness, false));
  TB_TRY(check_number(ctx, "air damping", d->air_damping, false));
  TB_TRY(check_damping(ctx, d->mass_damping, d->stiffness_damping));
  double warp = tb_norm3(d->warp);
  if (!(warp > 0) || !isfinite(warp))
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "the warp runs along (%g, %g, %g), which is no direction",
                   d->warp.x, d->warp.y, d->warp.z);
  return TB_OK;
}

static void* copy(tbArena* arena, const void* from, size_t count, size_t size)
{
  void* to = tb_arena_take(arena, count, size);
  if (to && count > 0) memcpy(to, from, count * size);
  return to;
}

static tbStatus make_springs(tbContext* ctx, tbFemBody* body, const tbVec3* node, tbFemSprings springs)
{
  body->corner[2] = TB_TAKE(&body->arena, int, 2 * (size_t)springs.count);
  body->spring = TB_TAKE(&body->arena, tbSpring, (size_t)springs.count);
  if (!body->corner[2] || !body->spring) return TB_ERROR_MEMORY;
  body->nelement[2] = springs.count;
  for (int i = 0; i < springs.count; i++) {
    const tbSpringDef* s = &springs.of[i];
    int a = s->nodes[0], b = s->nodes[1];
    if (a < 0 || b < 0 || a >= body->nnode || b >= body->nnode || a == b)
      return tb_fail(ctx, TB_ERROR_ARGUMENT,
                     "spring %d is between nodes %d and %d; they must be two of the body's %d", i, a, b,
                     body->nnode);
    TB_TRY(check_number(ctx, "the stiffness of a spring", s->stiffness, true));
    double length = s->length < 0 ? tb_distance3(node[a], node[b]) : s->length;
    TB_TRY(check_number(ctx, "the length of a spring", length, false));
    body->corner[2][2 * i] = a, body->corner[2][2 * i + 1] = b;
    body->spring[i] = (tbSpring){s->stiffness, length};
  }
  return TB_OK;
}

// What both kinds share: nodes, pins, energies, pattern.
static tbStatus finish(tbFemBody* body, const tbVec3* node)
{
  tbArena* arena = &body->arena;
  size_t n = (size_t)body->nnode, elements = (size_t)tb_fem_element_count(body);
  body->rest = copy(arena, node, n, sizeof *node);
  body->pinned = TB_TAKE(arena, uint8_t, n);
  body->energy = TB_TAKE(arena, double, elements);
  if (!body->rest || !body->pinned || !body->energy) return TB_ERROR_MEMORY;
  tbStencil stencil[TB_ASSEMBLY_KINDS] = {{body->nelement[0], body->cloth ? 3 : 4, body->corner[0]},
                                          {body->nelement[1], 4, body->corner[1]},
                                          {body->nelement[2], 2, body->corner[2]}};
  TB_TRY(tb_fem_assembly_init(arena, body->nnode, TB_ASSEMBLY_KINDS, stencil, &body->assembly));
  TB_TRY(tb_fem_assembly_pattern(arena, &body->assembly, &body->K));
  body->upper = tb_arena_take(arena, (size_t)body->assembly.upper_adr[body->nnode], sizeof *body->upper);
  if (!body->upper) return TB_ERROR_MEMORY;
  return tb_packed_pattern(arena, body->K.rows, body->K.ptr, body->K.idx, &body->packed);
}

tbStatus tb_fem_apart(tbArena* arena, const tbFemBody* body, tbFemBody** out)
{
  tbFemBody* b = *out = copy(arena, body, 1, sizeof *body);
  if (!b) return TB_ERROR_MEMORY;
  tbFemAssembly* s = &b->assembly;
  size_t most = 0;
  for (int g = 0; g < s->ngroup; g++) {
    size_t blocks = (size_t)(s->group[g].end - s->group[g].begin) * (size_t)s->pairs[s->group[g].kind];
    if (blocks > most) most = blocks;
  }
  b->energy = TB_TAKE(arena, double, (size_t)tb_fem_element_count(b));
  b->upper = tb_arena_take(arena, (size_t)s->upper_adr[b->nnode], sizeof *b->upper);
  s->force = tb_arena_take(arena, (size_t)s->force_adr[TB_ASSEMBLY_KINDS], sizeof *s->force);
  s->block = tb_arena_take(arena, most, sizeof *s->block);
  return b->energy && b->upper && s->force && s->block ? TB_OK : TB_ERROR_MEMORY;
}

static tbFemBody* new_body(tbContext* ctx, int nnode)
{
  tbFemBody* body = TB_NEW(ctx, tbFemBody, 1);
  if (!body) return NULL;
  body->nnode = nnode;
  tb_arena_init(&body->arena, ctx);
  return body;
}

// ---- soft ----

// ρV/20 (1 + δ) of the tetrahedra, in the blocks of the pattern.
static tbStatus make_mass_blocks(tbFemBody* body, const tbTetMesh* mesh, double density)
{
  const tbFemAssembly* s = &body->assembly;
  body->mass_block = TB_TAKE(&body->arena, double, (size_t)s->ptr[s->nnode]);
  if (!body->mass_block) return TB_ERROR_MEMORY;
  for (int t = 0; t < mesh->ntet; t++)
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++) {
        int i = mesh->tet[t][a], low = s->ptr[i], high = s->ptr[i + 1] - 1;
        while (low < high) {
          int middle = low + (high - low) / 2;
          if (s->col[middle] < mesh->tet[t][b]) low = middle + 1;
          else high = middle;
        }
        body->mass_block[low] += density * mesh->volume[t] / (a == b ? 10 : 20);
      }
  return TB_OK;
}

static tbStatus fill_soft(tbContext* ctx, tbFemBody* body, const tbTetMesh* mesh, const tbSoftDef* def,
                          tbFemSprings springs)
{
  size_t ntet = (size_t)mesh->ntet;
  body->nelement[0] = mesh->ntet;
  body->mass_damping = def->mass_damping;
  body->stiffness_damping = def->stiffness_damping;
  body->corner[0] = copy(&body->arena, mesh->tet, ntet, sizeof *mesh->tet);
  body->tet = TB_TAKE(&body->arena, tbTetRest, ntet);
  body->mass = TB_TAKE(&body->arena, double, (size_t)mesh->nnode);
  if (!body->corner[0] || !body->tet || !body->mass) return TB_ERROR_MEMORY;
  for (size_t t = 0; t < ntet; t++) {
    tbVec3 X[4];
    for (int a = 0; a < 4; a++) X[a] = mesh->node[mesh->tet[t][a]];
    body->tet[t] = tb_tet_rest(X);
  }
  tb_tet_mesh_lump(mesh, def->density, body->mass);
  TB_TRY(make_springs(ctx, body, mesh->node, springs));
  TB_TRY(finish(body, mesh->node));
  return def->consistent_mass ? make_mass_blocks(body, mesh, def->density) : TB_OK;
}

tbStatus tb_fem_soft_create(tbContext* ctx, const tbTetMesh* mesh, const tbSoftDef* def, tbFemSprings springs,
                            tbFemBody** out)
{
  *out = NULL;
  tbElastic material;
  TB_TRY(tb_elastic_create(ctx, def->model, def->young, def->poisson, &material));
  TB_TRY(check_number(ctx, "density", def->density, true));
  TB_TRY(check_damping(ctx, def->mass_damping, def->stiffness_damping));
  tbFemBody* body = new_body(ctx, mesh->nnode);
  if (!body) return TB_ERROR_MEMORY;
  body->material = material;
  tbStatus status = fill_soft(ctx, body, mesh, def, springs);
  if (status == TB_OK) *out = body;
  else tb_fem_free(ctx, body);
  return status;
}

// ---- cloth ----

static tbStatus make_triangles(tbContext* ctx, tbFemBody* body, const tbMesh* mesh, const tbClothDef* def)
{
  size_t ntriangle = (size_t)mesh->ntriangle, nnode = (size_t)mesh->nvertex;
  body->nelement[0] = mesh->ntriangle;
  body->corner[0] = copy(&body->arena, mesh->triangle, ntriangle, sizeof *mesh->triangle);
  body->membrane = TB_TAKE(&body->arena, tbMembraneRest, ntriangle);
  body->mass = TB_TAKE(&body->arena, double, nnode);
  if (!body->corner[0] || !body->membrane || !body->mass) return TB_ERROR_MEMORY;
  for (size_t t = 0; t < ntriangle; t++) {
    tbVec3 X[3];
    for (int a = 0; a < 3; a++) X[a] = mesh->vertex[mesh->triangle[t][a]];
    body->membrane[t] = tb_membrane_rest(X, def->warp);
    for (int a = 0; a < 3; a++)
      body->mass[mesh->triangle[t][a]] += def->area_density * body->membrane[t].area / 3;
  }
  for (size_t i = 0; i < nnode; i++)
    if (!(body->mass[i] > 0)) return tb_fail(ctx, TB_ERROR_INPUT, "vertex %zu is in no triangle", i);
  if (def->air_damping == 0) return TB_OK;
  body->drag = TB_TAKE(&body->arena, double, nnode);
  if (!body->drag) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < nnode; i++) body->drag[i] = def->air_damping / def->area_density * body->mass[i];
  return TB_OK;
}

// One hinge for every edge with two triangles.
static tbStatus make_hinges(tbFemBody* body, const tbMesh* mesh)
{
  int(*corner)[4] = tb_arena_take(&body->arena, (size_t)mesh->nedge, sizeof *corner), n = 0;
  body->hinge = TB_TAKE(&body->arena, tbHingeRest, (size_t)mesh->nedge);
  if (!corner || !body->hinge) return TB_ERROR_MEMORY;
  for (int e = 0; e < mesh->nedge; e++) {
    const tbMeshEdge* edge = &mesh->edge[e];
    if (edge->triangle[1] < 0) continue;
    int* c = corner[n];
    c[0] = edge->vertex[0];
    c[1] = edge->vertex[1];
    c[2] = tb_mesh_opposite(mesh, edge->triangle[0], edge);
    c[3] = tb_mesh_opposite(mesh, edge->triangle[1], edge);
    if (c[2] == c[3]) continue; // two triangles back to back
    tbVec3 X[4];
    for (int a = 0; a < 4; a++) X[a] = mesh->vertex[c[a]];
    body->hinge[n++] = tb_hinge_rest(X);
  }
  body->nelement[1] = n;
  body->corner[1] = corner[0];
  return TB_OK;
}

tbStatus tb_fem_cloth_create(tbContext* ctx, const tbMesh* mesh, const tbClothDef* def, tbFemSprings springs,
                             tbFemBody** out)
{
  *out = NULL;
  TB_TRY(check_cloth(ctx, def));
  tbFemBody* body = new_body(ctx, mesh->nvertex);
  if (!body) return TB_ERROR_MEMORY;
  body->cloth = true;
  body->sheet = *def;
  body->mass_damping = def->mass_damping;
  body->stiffness_damping = def->stiffness_damping;
  tbStatus status = make_triangles(ctx, body, mesh, def);
  if (status == TB_OK) status = make_hinges(body, mesh);
  if (status == TB_OK) status = make_springs(ctx, body, mesh->vertex, springs);
  if (status == TB_OK) status = finish(body, mesh->vertex);
  if (status == TB_OK) *out = body;
  else tb_fem_free(ctx, body);
  return status;
}

void tb_fem_free(tbContext* ctx, tbFemBody* body)
{
  if (!body) return;
  body->arena.ctx = ctx; // the one it was made with may be gone
  tb_arena_free(&body->arena);
  tb_free(ctx, body);
}
