// The linear system of one implicit step, and the mass matrix.
#include "fem/body.h"

void tb_fem_mass_multiply(const tbFemBody* body, const double* x, double* y)
{
  const tbAssembly* s = &body->assembly;
  for (int i = 0; i < body->nnode; i++) {
    double sum[3] = {0};
    if (!body->mass_block)
      for (int k = 0; k < 3; k++) sum[k] = body->mass[i] * x[3 * (size_t)i + k];
    else
      for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
        for (int k = 0; k < 3; k++) sum[k] += body->mass_block[b] * x[3 * (size_t)s->col[b] + k];
    for (int k = 0; k < 3; k++) y[3 * (size_t)i + k] = sum[k];
  }
}

// A = (1 + hα) M + h drag + (h² + hβ) K.
static double fill(const tbFemBody* body, double h, double* A)
{
  const tbAssembly* s = &body->assembly;
  double stiff = h * h + h * body->stiffness_damping, heavy = 1 + h * body->mass_damping, largest = 0;
  for (int n = 0; n < 9 * s->ptr[s->nnode]; n++) A[n] = stiff * body->K.val[n];
  for (int i = 0; i < body->nnode; i++)
    for (int axis = 0; axis < 3; axis++) {
      double* row = A + tb_assembly_row(s, i, axis);
      double* diag = row + 3 * (s->diag[i] - s->ptr[i]) + axis;
      if (!body->mass_block) *diag += heavy * body->mass[i];
      else
        for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
          row[3 * (b - s->ptr[i]) + axis] += heavy * body->mass_block[b];
      if (body->drag) *diag += h * body->drag[i];
      if (*diag > largest) largest = *diag;
    }
  return largest;
}

// What pinned columns contribute is known: it moves to the right-hand side.
static void eliminate(const tbFemBody* body, double diagonal, const tbVec3* pin, double* A, double* rhs)
{
  const tbAssembly* s = &body->assembly;
  for (int i = 0; i < body->nnode; i++)
    for (int axis = 0; axis < 3; axis++) {
      double *row = A + tb_assembly_row(s, i, axis), *r = rhs + 3 * (size_t)i + axis;
      for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++) {
        int j = s->col[b];
        if (!body->pinned[i] && !body->pinned[j]) continue;
        double* entry = row + 3 * (b - s->ptr[i]);
        if (pin && !body->pinned[i]) *r -= entry[0] * pin[j].x + entry[1] * pin[j].y + entry[2] * pin[j].z;
        entry[0] = entry[1] = entry[2] = 0;
      }
      if (!body->pinned[i]) continue;
      row[3 * (s->diag[i] - s->ptr[i]) + axis] = diagonal;
      *r = pin ? diagonal * (&pin[i].x)[axis] : 0;
    }
}

void tb_fem_step(const tbFemBody* body, double h, tbVec3 gravity, const double* f, const tbVec3* v,
                 const tbVec3* pin, double* A, double* rhs)
{
  double largest = fill(body, h, A);
  const tbAssembly* s = &body->assembly;
  // M (v + h g) + h f
  for (int i = 0; i < body->nnode; i++) {
    tbVec3 sum = tb_scale3(h, tb_load3(f + 3 * (size_t)i));
    if (!body->mass_block) sum = tb_madd3(sum, body->mass[i], tb_madd3(v[i], h, gravity));
    else
      for (int b = s->ptr[i]; b < s->ptr[i + 1]; b++)
        sum = tb_madd3(sum, body->mass_block[b], tb_madd3(v[s->col[b]], h, gravity));
    tb_store3(rhs + 3 * (size_t)i, sum);
  }
  eliminate(body, TB_FEM_PIN * largest, pin, A, rhs);
}
