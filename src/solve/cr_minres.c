// SPDX-License-Identifier: Apache-2.0
// MINRES in the place of conjugate residuals (Paige and Saunders 1975; Verschoor and Jalba 2019, §7).
//
// Lanczos' vectors v, of C⁻¹B, and rotations that keep the projected system triangular:
//
//   v⁺ = Bz − (δ/γ) v − (γ/γ⁻) v⁻       z = C⁻¹v/γ,  δ = zᵀBz,  γ² = vᵀC⁻¹v
//   p  ← (z − a₃ p⁻⁻ − a₂ p⁻)/a₁         y ← y + c η p,   r ← r − c η Bp,   η ← −s η
//
// Where B does not change, the residual falls as with conjugate residuals, monotonically in rᵀC⁻¹r: C must be
// positive definite, so that it is the diagonal preconditioner whatever is asked for. B C⁻¹r, which says that
// r cannot be reduced, is not at hand as it is there, and costs a product now and then.
#include "solve/cr.h"

#include "math/dot.h"

#include <math.h>
#include <string.h>

enum { SLOPE_EVERY = 8 }; // iterations

void tb_minres_layout(tbMinres* m, tbScratch* scratch, size_t n)
{
  double** all[] = {&m->v, &m->v_before, &m->z, &m->p_before, &m->Bp_before};
  for (int i = 0; i < 5; i++) *all[i] = TB_SCRATCH(scratch, double, n);
}

void tb_minres_begin(tbCr* c)
{
  tbMinres* m = &c->minres;
  int n = c->run->p->ndof + c->run->p->nrow;
  size_t bytes = (size_t)n * sizeof *m->v;
  memcpy(m->v, c->r, bytes);
  memcpy(m->z, c->s, bytes); // C⁻¹r
  memset(m->v_before, 0, bytes);
  double* none[] = {c->p, c->Bp, m->p_before, m->Bp_before};
  for (int i = 0; i < 4; i++) memset(none[i], 0, bytes);
  m->gamma = m->eta = sqrt(fmax(tb_dot_in_order(n, m->z, m->v), 0)), m->gamma_before = 1;
  m->c[0] = m->c[1] = 1, m->s[0] = m->s[1] = 0;
  m->count = 0;
}

// x ← (z − a₃ x⁻⁻ − a₂ x⁻)/a₁; before and now change places.
static void recur(int n, const double* z, const double a[4], double** before, double** now)
{
  double *old = *before, *last = *now;
  for (int i = 0; i < n; i++) old[i] = (z[i] - a[3] * old[i] - a[2] * last[i]) / a[1];
  *before = last, *now = old;
}

// The next of Lanczos' vectors, from Bz in c->Bs; returns its γ.
static double lanczos(tbCr* c, int n, double delta)
{
  tbMinres* m = &c->minres;
  double here = delta / m->gamma, there = m->gamma / m->gamma_before;
  for (int i = 0; i < n; i++) m->v_before[i] = c->Bs[i] - here * m->v[i] - there * m->v_before[i];
  double* v = m->v;
  m->v = m->v_before, m->v_before = v;
  tb_cr_precondition(&c->system, m->v, m->z);
  return sqrt(fmax(tb_dot_in_order(n, m->z, m->v), 0));
}

bool tb_minres_step(tbCr* c)
{
  tbMinres* m = &c->minres;
  int dofs = c->run->p->ndof, n = dofs + c->run->p->nrow;
  c->alpha = 0;
  if (!(m->gamma > 0) || !(fabs(m->eta) > 0)) return false;
  for (int i = 0; i < n; i++) c->s[i] = m->z[i] / m->gamma;
  tb_cr_apply(&c->system, c->s, c->Bs);
  double delta = tb_dot_in_order(n, c->s, c->Bs), next = lanczos(c, n, delta), a[4];
  a[0] = m->c[1] * delta - m->c[0] * m->s[1] * m->gamma;
  a[1] = sqrt(a[0] * a[0] + next * next);
  a[2] = m->s[1] * delta + m->c[0] * m->c[1] * m->gamma;
  a[3] = m->s[0] * m->gamma;
  if (!(a[1] > 0)) return false;
  recur(n, c->s, a, &m->p_before, &c->p);
  recur(n, c->Bs, a, &m->Bp_before, &c->Bp);
  double cosine = a[0] / a[1], sine = next / a[1], step = cosine * m->eta;
  for (int i = 0; i < dofs; i++) c->w[i] += step * c->p[i];
  for (int i = dofs; i < n; i++) c->lambda[i - dofs] -= step * c->p[i];
  for (int i = 0; i < n; i++) c->r[i] -= step * c->Bp[i];
  m->eta *= -sine;
  m->c[0] = m->c[1], m->c[1] = cosine, m->s[0] = m->s[1], m->s[1] = sine;
  m->gamma_before = m->gamma, m->gamma = next;
  c->alpha = 1; // states may be looked at after every step
  return true;
}

bool tb_minres_slope_due(tbCr* c) { return ++c->minres.count % SLOPE_EVERY == 0; }
