// SPDX-License-Identifier: Apache-2.0
#include "problem/part.h"

#include <string.h>

tbStatus tb_part_maps_make(tbArena* arena, const tbProblem* p, tbPartMaps* out)
{
  out->block = TB_TAKE(arena, int, (size_t)p->nblock);
  out->row = TB_TAKE(arena, int, p->W_ptr ? (size_t)p->nrow : 0);
  return out->block && out->row ? TB_OK : TB_ERROR_MEMORY;
}

typedef struct {
  const tbProblem* p;
  const int* contact;
  const tbPartMaps* maps;
  int params, entries; // parameters; nonzeros of W
  size_t values;       // of J
} Part;

// Sizes of the part, and numbers for the metric blocks it touches.
static void measure(Part* s, tbProblem* out)
{
  const tbProblem* p = s->p;
  for (int i = 0; i < out->ncontact; i++) {
    int k = s->contact[i];
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) s->maps->block[p->dof_block[p->jac_dof[c]]] = -1;
  }
  for (int i = 0; i < out->ncontact; i++) {
    int k = s->contact[i];
    s->params += p->param_adr[k + 1] - p->param_adr[k];
    s->values += p->jac_val_adr[p->jac_adr[k + 1]] - p->jac_val_adr[p->jac_adr[k]];
    out->ncol += p->jac_adr[k + 1] - p->jac_adr[k];
    for (int c = p->jac_adr[k]; c < p->jac_adr[k + 1]; c++) {
      int b = p->dof_block[p->jac_dof[c]];
      if (s->maps->block[b] >= 0) continue;
      s->maps->block[b] = out->nblock++;
      out->ndof += p->block[b].size;
    }
    for (int r = p->row_adr[k]; r < p->row_adr[k + 1]; r++, out->nrow++) {
      if (!p->W_ptr) continue;
      s->maps->row[r] = out->nrow;
      for (int e = p->W_ptr[r]; e < p->W_ptr[r + 1]; e++) s->entries += p->W_val[e] != 0;
    }
  }
}

// Biases, compliances and parameters of the contacts.
static void fill_contacts(const Part* s, tbProblem* out)
{
  const tbProblem* p = s->p;
  double *bias = (double*)out->bias, *compliance = (double*)out->compliance, *param = (double*)out->param;
  for (int i = 0; i < out->ncontact; i++) {
    int k = s->contact[i], first = p->row_adr[k], given = p->param_adr[k];
    size_t count = (size_t)(p->row_adr[k + 1] - first);
    for (int j = out->param_adr[i]; j < out->param_adr[i + 1]; j++) param[j] = p->param[given++];
    memcpy(bias + out->row_adr[i], p->bias + first, count * sizeof *bias);
    memcpy(compliance + out->row_adr[i], p->compliance + first, count * sizeof *compliance);
  }
}

static tbStatus copy_contacts(tbArena* arena, const Part* s, tbProblem* out)
{
  const tbProblem* p = s->p;
  size_t n = (size_t)out->ncontact, rows = (size_t)out->nrow;
  int *row_adr = TB_TAKE(arena, int, n + 1), *param_adr = TB_TAKE(arena, int, n + 1);
  uint8_t* law = TB_TAKE(arena, uint8_t, n);
  double *param = TB_TAKE(arena, double, (size_t)s->params), *bias = TB_TAKE(arena, double, rows),
         *compliance = TB_TAKE(arena, double, rows);
  if (!row_adr || !param_adr || !law || !param || !bias || !compliance) return TB_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++) {
    int k = s->contact[i];
    law[i] = p->law[k];
    row_adr[i + 1] = row_adr[i] + p->row_adr[k + 1] - p->row_adr[k];
    param_adr[i + 1] = param_adr[i] + p->param_adr[k + 1] - p->param_adr[k];
  }
  out->row_adr = row_adr, out->param_adr = param_adr, out->law = law;
  out->param = param, out->bias = bias, out->compliance = compliance;
  fill_contacts(s, out);
  return TB_OK;
}

// The blocks, which keep pointing to the values and factors of the whole, and the free motion.
static void fill_metric(const Part* s, tbProblem* out)
{
  const tbProblem* p = s->p;
  tbMetricBlock* block = (tbMetricBlock*)out->block;
  int *dof_block = (int*)out->dof_block, made = 0, dof = 0;
  double* v_free = (double*)out->v_free;
  for (int i = 0; i < out->ncontact; i++) // blocks were numbered in this order
    for (int c = p->jac_adr[s->contact[i]]; c < p->jac_adr[s->contact[i] + 1]; c++) {
      int b = p->dof_block[p->jac_dof[c]];
      if (s->maps->block[b] != made) continue;
      block[made] = p->block[b];
      block[made].dof = dof;
      memcpy(v_free + dof, p->v_free + p->block[b].dof, (size_t)block[made].size * sizeof *v_free);
      for (int end = dof + block[made].size; dof < end; dof++) dof_block[dof] = made;
      made++;
    }
}

static tbStatus copy_metric(tbArena* arena, const Part* s, tbProblem* out)
{
  tbMetricBlock* block = TB_TAKE(arena, tbMetricBlock, (size_t)out->nblock);
  int* dof_block = TB_TAKE(arena, int, (size_t)out->ndof);
  double* v_free = TB_TAKE(arena, double, (size_t)out->ndof);
  if (!block || !dof_block || !v_free) return TB_ERROR_MEMORY;
  out->block = block, out->dof_block = dof_block, out->v_free = v_free;
  fill_metric(s, out);
  return TB_OK;
}

static void fill_jacobian(const Part* s, tbProblem* out)
{
  const tbProblem* p = s->p;
  double* to = (double*)out->jac;
  for (int i = 0; i < out->ncontact; i++) {
    int k = s->contact[i];
    size_t first = p->jac_val_adr[p->jac_adr[k]], count = p->jac_val_adr[p->jac_adr[k + 1]] - first;
    memcpy(to, p->jac + first, count * sizeof *to);
    to += count;
  }
}

static tbStatus copy_jacobian(tbArena* arena, const Part* s, tbProblem* out)
{
  const tbProblem* p = s->p;
  size_t cols = (size_t)out->ncol;
  int *adr = TB_TAKE(arena, int, (size_t)out->ncontact + 1), *dof = TB_TAKE(arena, int, cols),
      *width = TB_TAKE(arena, int, cols), at = 0;
  size_t* val_adr = TB_TAKE(arena, size_t, cols + 1);
  double* jac = TB_TAKE(arena, double, s->values);
  if (!adr || !dof || !width || !val_adr || !jac) return TB_ERROR_MEMORY;
  for (int i = 0; i < out->ncontact; i++) {
    int k = s->contact[i], first = p->jac_adr[k], end = p->jac_adr[k + 1];
    for (int c = first; c < end; c++, at++) {
      int b = p->dof_block[p->jac_dof[c]];
      dof[at] = p->jac_dof[c] - p->block[b].dof + out->block[s->maps->block[b]].dof;
      width[at] = p->jac_width[c];
      val_adr[at + 1] = val_adr[at] + p->jac_val_adr[c + 1] - p->jac_val_adr[c];
    }
    adr[i + 1] = at;
  }
  out->jac_adr = adr, out->jac_dof = dof, out->jac_width = width, out->jac_val_adr = val_adr, out->jac = jac;
  fill_jacobian(s, out);
  return TB_OK;
}

// Entries that are 0 may lead out of the island and are left behind.
static tbStatus copy_W(tbArena* arena, const Part* s, tbProblem* out)
{
  const tbProblem* p = s->p;
  int *ptr = TB_TAKE(arena, int, (size_t)out->nrow + 1), *col = TB_TAKE(arena, int, (size_t)s->entries);
  double* val = TB_TAKE(arena, double, (size_t)s->entries);
  if (!ptr || !col || !val) return TB_ERROR_MEMORY;
  int row = 0, at = 0;
  for (int i = 0; i < out->ncontact; i++)
    for (int r = p->row_adr[s->contact[i]]; r < p->row_adr[s->contact[i] + 1]; r++) {
      for (int e = p->W_ptr[r]; e < p->W_ptr[r + 1]; e++)
        if (p->W_val[e] != 0) col[at] = s->maps->row[p->W_col[e]], val[at++] = p->W_val[e];
      ptr[++row] = at;
    }
  out->W_ptr = ptr, out->W_col = col, out->W_val = val;
  return TB_OK;
}

tbStatus tb_problem_part(tbArena* arena, const tbProblem* p, const int* contact, int count,
                         const tbPartMaps* maps, tbProblem* out)
{
  Part s = {.p = p, .contact = contact, .maps = maps};
  *out = (tbProblem){.name = p->name, .ncontact = count};
  measure(&s, out);
  TB_TRY(copy_contacts(arena, &s, out));
  TB_TRY(copy_metric(arena, &s, out));
  TB_TRY(copy_jacobian(arena, &s, out));
  return p->W_ptr ? copy_W(arena, &s, out) : TB_OK;
}

void tb_problem_part_renew(const tbProblem* p, const int* contact, const tbPartMaps* maps, tbProblem* part)
{
  Part s = {.p = p, .contact = contact, .maps = maps};
  tbProblem sizes = {.ncontact = part->ncontact};
  measure(&s, &sizes); // for the numbers of the blocks
  fill_contacts(&s, part);
  fill_metric(&s, part);
  fill_jacobian(&s, part);
}
