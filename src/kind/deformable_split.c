// SPDX-License-Identifier: Apache-2.0
// A deformable body as point masses, with a block of the metric for each node, and its elements as rows with
// compliance (fem/rows.h). What damps masses stands in the metric: m (1 + hα) + h drag.
#include "kind/deformable_step.h"

#include "base/status.h"

static tbStatus take(tbArena* arena, const tbDeformable* d, tbBodyStep* out)
{
  size_t n = (size_t)d->fem->nnode;
  tbDeformableStep* s = out->own = TB_TAKE(arena, tbDeformableStep, 1);
  if (!s) return TB_ERROR_MEMORY;
  *s = (tbDeformableStep){.fem = d->fem, .pin = TB_TAKE(arena, tbVec3, n)};
  s->node_mass = TB_TAKE(arena, double, n), s->force = TB_TAKE(arena, double, 3 * n);
  s->row = TB_TAKE(arena, tbElementRows, (size_t)tb_fem_element_count(d->fem));
  out->v_free = TB_TAKE(arena, double, 3 * n);
  return s->pin && s->node_mass && s->force && s->row && out->v_free ? TB_OK : TB_ERROR_MEMORY;
}

// Rows of all elements; forces that no row carries are left for the nodes.
static void split_elements(const tbDeformable* d, double h, const tbVec3* x, const tbVec3* V,
                           tbDeformableStep* s)
{
  for (int e = 0; e < tb_fem_element_count(d->fem); e++) {
    tbElementRows* r = &s->row[e];
    tb_fem_element_rows(d->fem, e, h, x, V, r);
    for (int i = 0; i < r->width; i++) s->force[3 * r->node[i / 3] + i % 3] += r->rest[i];
  }
}

tbStatus tb_deformable_split(tbContext* ctx, tbArena* arena, const tbWorld* w, const tbBody* body, double h,
                             const tbVec3* V, tbBodyStep* out)
{
  const tbDeformable* d = body->own;
  const tbFemBody* fem = d->fem;
  if (fem->mass_block)
    return tb_fail(ctx, TB_ERROR_ARGUMENT,
                   "the masses of \"%s\" are consistent: as rows its elements want lumped ones", body->name);
  TB_TRY(take(arena, d, out));
  tbDeformableStep* s = out->own;
  out->size = 3 * fem->nnode, out->split = true, out->v = &d->v->x;
  tbVec3* x = TB_TAKE(arena, tbVec3, (size_t)fem->nnode);
  if (!x) return TB_ERROR_MEMORY;
  for (int i = 0; i < fem->nnode; i++) x[i] = V ? tb_madd3(d->x[i], h, V[i]) : d->x[i];
  tb_deformable_lead(w, d, h, s->pin);
  split_elements(d, h, x, V, s);
  tbVec3 pull = tb_madd3(w->gravity, 1 / body->mass, body->force);
  for (int i = 0; i < fem->nnode; i++) {
    double mass = fem->mass[i] * (1 + h * fem->mass_damping) + (fem->drag ? h * fem->drag[i] : 0);
    tbVec3 push = tb_add3(tb_load3(s->force + 3 * (size_t)i), d->force[i]);
    tbVec3 momentum = tb_madd3(tb_scale3(fem->mass[i], tb_madd3(d->v[i], h, pull)), h, push);
    tb_store3(out->v_free + 3 * (size_t)i, fem->pinned[i] ? s->pin[i] : tb_scale3(1 / mass, momentum));
    s->node_mass[i] = fem->pinned[i] ? TB_FEM_PIN * mass : mass;
  }
  return TB_OK;
}

void tb_deformable_masses(const tbBodyStep* step, tbBuilder* b, int* dof)
{
  const tbDeformableStep* s = step->own;
  for (int i = 0, at; 3 * i < step->size; i++) {
    tb_builder_particle(b, 3, s->node_mass[i], step->v_free + 3 * (size_t)i, &at);
    if (i == 0) *dof = at;
  }
}

// Rows first … first + count − 1 of an element, as one contact.
static void add_rows(const tbElementRows* r, int first, int count, int dof, tbBuilder* b)
{
  tb_builder_contact(b, TB_LAW_BILATERAL, count, NULL, r->bias + first, r->compliance + first);
  for (int a = 0; a < r->corners; a++) {
    double jac[TB_MAX_ROWS * 3];
    for (int i = 0; i < count; i++)
      for (int k = 0; k < 3; k++) jac[3 * i + k] = r->row[first + i][3 * a + k];
    tb_builder_jacobian(b, dof + 3 * r->node[a], 3, jac);
  }
}

tbStatus tb_deformable_elements(tbContext* ctx, const tbStepView* view, int body, tbBuilder* b,
                                tbArray* guess)
{
  const tbDeformableStep* s = view->step[body].own;
  for (int e = 0; e < tb_fem_element_count(s->fem); e++) {
    const tbElementRows* r = &s->row[e];
    for (int first = 0; first < r->count; first += TB_MAX_ROWS) {
      int count = r->count - first < TB_MAX_ROWS ? r->count - first : TB_MAX_ROWS;
      add_rows(r, first, count, view->place[body].dof, b);
      TB_TRY(tb_array_push(ctx, guess, NULL,
                           (size_t)count)); // zeros: forces of stiff elements would be too much
    }
  }
  return TB_OK;
}
