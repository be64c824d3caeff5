// SPDX-License-Identifier: Apache-2.0
// Torsional and rolling friction in soft-step: rows on the bodies' turning alone, point by point after every
// sweep over the contacts, in doubles. Few scenes have any.
//
//   torsion   (λ_T/μ)² + (λ_τ/μ_τ)² ≤ λ_n²; beside rolling friction |λ_τ| ≤ μ_τ λ_n
//   rolling   |λ_r| ≤ μ_r λ_n, a disc
//
// On the ellipsoid's edge sliding and torsion share it as Contensou's law says: a proximal step on both, in
// the coordinates in which it is a ball, finds λ_τ; the next sweep slides on the disc that this leaves.
#include "step/soft_step_work.h"

typedef struct tbSoftStepSpin {
  int contact, point;
  int a, b;
  tbVec3 axis[3];   // normal, tangent, normal × tangent
  double torsion;   // 1/W along the normal
  double rolling;   // 1/(largest eigenvalue of W across it, at most)
  double lambda[3]; // along the axes
  double total[3];
} tbSoftStepSpin;

static tbVec3 turn(const tbSoftStepMass* m, tbVec3 x)
{
  const float* I = m->inertia;
  return tb_vec3(I[0] * x.x + I[1] * x.y + I[2] * x.z, I[1] * x.x + I[3] * x.y + I[4] * x.z,
                 I[2] * x.x + I[4] * x.y + I[5] * x.z);
}

static double inverse(double w) { return w > 0 ? 1 / w : 0; }

static void begin_spin(const tbSoftStepWork* s, int contact, int point, tbSoftStepSpin* out)
{
  const tbSoftStepContact* c = s->entry[contact].contact;
  *out = (tbSoftStepSpin){.contact = contact, .point = point};
  out->a = s->index[c->body_a], out->b = s->index[c->body_b];
  out->axis[0] = c->normal, out->axis[1] = c->tangent, out->axis[2] = tb_cross3(c->normal, c->tangent);
  double w[3];
  for (int k = 0; k < 3; k++) {
    tbVec3 d = out->axis[k];
    w[k] = tb_dot3(d, tb_add3(turn(&s->mass[out->a], d), turn(&s->mass[out->b], d)));
    out->lambda[k] = c->point[point].spin[k] / s->substeps;
  }
  out->torsion = inverse(w[0]), out->rolling = inverse(w[1] + w[2]);
}

tbStatus tb_soft_step_spins_begin(tbArena* arena, tbSoftStepWork* s)
{
  int count = s->spins;
  if (count == 0) return TB_OK;
  s->spin = TB_TAKE(arena, tbSoftStepSpin, (size_t)count);
  if (!s->spin) return TB_ERROR_MEMORY;
  for (int i = 0; i < s->ncontact; i++) {
    tbSoftStepContact* c = s->entry[i].contact;
    c->spin = s->nspin;
    for (int k = 0; (c->torsion > 0 || c->rolling > 0) && k < c->count; k++)
      begin_spin(s, i, k, &s->spin[s->nspin++]);
  }
  return TB_OK;
}

static void add_turn(tbSoftStepWork* s, int body, double sign, tbVec3 impulse)
{
  if (body >= s->moving) return;
  tbVec3 w = turn(&s->mass[body], impulse);
  float* v = s->body[body].v + 3;
  v[0] += (float)(sign * w.x), v[1] += (float)(sign * w.y), v[2] += (float)(sign * w.z);
}

static void apply(tbSoftStepWork* s, const tbSoftStepSpin* spin, const double change[3])
{
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < 3; k++) sum = tb_madd3(sum, change[k], spin->axis[k]);
  add_turn(s, spin->a, -1, sum);
  add_turn(s, spin->b, 1, sum);
}

// Where a contact is packed.
typedef struct {
  tbSoftStepBatch* batch;
  int lane;
} Place;

static Place place_of(const tbSoftStepWork* s, const tbSoftStepContact* c)
{
  return (Place){&s->batch[c->place / TB_SOFT_STEP_LANES], c->place % TB_SOFT_STEP_LANES};
}

// The velocity of b against a at the point, along the tangents.
static void sliding(const tbSoftStepWork* s, const tbSoftStepSpin* spin, Place at, double u[2])
{
  const float *va = s->body[spin->a].v, *vb = s->body[spin->b].v;
  const tbSoftStepPoint* p = &at.batch->point[spin->point];
  tbVec3 ra = tb_zero3(), across = tb_vec3(at.batch->across[0][at.lane], at.batch->across[1][at.lane],
                                           at.batch->across[2][at.lane]);
  for (int k = 0; k < 3; k++) ra = tb_madd3(ra, p->arm[k][at.lane], spin->axis[k]);
  tbVec3 v = tb_sub3(tb_vec3(vb[0], vb[1], vb[2]), tb_vec3(va[0], va[1], va[2]));
  v = tb_add3(v, tb_cross3(tb_vec3(vb[3], vb[4], vb[5]), tb_add3(ra, across)));
  v = tb_sub3(v, tb_cross3(tb_vec3(va[3], va[4], va[5]), ra));
  u[0] = tb_dot3(v, spin->axis[1]), u[1] = tb_dot3(v, spin->axis[2]);
}

// Torsion that stops the turning, where the ellipsoid has room for it beside the sliding; else its part of
// the ellipsoid's edge.
static double torsion_of(const tbSoftStepWork* s, const tbSoftStepSpin* spin, const tbSoftStepContact* c,
                         const double slide[3], double turning)
{
  double n = slide[0], stops = spin->lambda[0] - spin->torsion * turning, most = c->torsion * n;
  if (!(c->torsion > 0 && n > 0)) return 0;
  if (c->rolling > 0) return fmin(fmax(stops, -most), most);
  const double mu[3] = {c->torsion, c->mu_t, c->mu_b};
  double y[3] = {spin->lambda[0] / mu[0]}, speed[3] = {turning}, used = 0, size = 0;
  for (int k = 1; k < 3; k++) y[k] = mu[k] > 0 ? slide[k] / mu[k] : 0, used += y[k] * y[k];
  double left = c->torsion * sqrt(fmax(n * n - used, 0));
  if (fabs(stops) <= left) return stops;
  Place at = place_of(s, c);
  sliding(s, spin, at, speed + 1);
  double slip = at.batch->point[spin->point].slip[at.lane], widest = fmax(c->mu_t, c->mu_b),
         rho = spin->torsion / (mu[0] * mu[0]);
  if (widest > 0 && slip > 0) rho = fmin(rho, slip / (widest * widest));
  for (int k = 0; k < 3; k++) y[k] -= rho * mu[k] * speed[k], size += y[k] * y[k];
  return size > n * n ? y[0] * mu[0] * n / sqrt(size) : y[0] * mu[0];
}

// Sliding gets what torsion leaves: of several points in their mean.
static void share_out(const tbSoftStepWork* s, const tbSoftStepContact* c)
{
  if (!(c->torsion > 0) || c->rolling > 0) return;
  Place at = place_of(s, c);
  double all = 0, taken = 0;
  for (int k = 0; k < c->count; k++) {
    double n = at.batch->point[k].lambda[0][at.lane], t = s->spin[c->spin + k].lambda[0] / c->torsion;
    all += n * n, taken += t * t;
  }
  double left = all > 0 ? sqrt(fmax(1 - taken / all, 0)) : 1, least = 1e-6 * fmax(c->mu_t, c->mu_b);
  at.batch->mu_t[at.lane] = (float)fmax(left * c->mu_t, least);
  at.batch->mu_b[at.lane] = (float)fmax(left * c->mu_b, least);
}

void tb_soft_step_spins_warm(tbSoftStepWork* s)
{
  for (int i = 0; i < s->nspin; i++) apply(s, &s->spin[i], s->spin[i].lambda);
  for (int i = 0; i < s->nspin; i++)
    if (s->spin[i].point == 0) share_out(s, s->entry[s->spin[i].contact].contact);
}

void tb_soft_step_spins_solve(tbSoftStepWork* s, const tbSoftStepPass* pass)
{
  for (int i = 0; i < s->nspin; i++) {
    tbSoftStepSpin* spin = &s->spin[i];
    const tbSoftStepContact* c = s->entry[spin->contact].contact;
    Place at = place_of(s, c);
    const tbSoftStepPoint* p = &at.batch->point[spin->point];
    const float *va = s->body[spin->a].v, *vb = s->body[spin->b].v;
    tbVec3 w = tb_vec3(vb[3] - va[3], vb[4] - va[4], vb[5] - va[5]);
    double slide[3] = {p->lambda[0][at.lane], p->lambda[1][at.lane], p->lambda[2][at.lane]}, next[3],
           change[3];
    next[0] = torsion_of(s, spin, c, slide, tb_dot3(spin->axis[0], w));
    for (int k = 1; k < 3; k++) next[k] = spin->lambda[k] - spin->rolling * tb_dot3(spin->axis[k], w);
    double size = sqrt(next[1] * next[1] + next[2] * next[2]), limit = c->rolling * slide[0];
    for (int k = 1; k < 3 && size > limit; k++) next[k] *= limit / size;
    for (int k = 0; k < 3; k++) change[k] = next[k] - spin->lambda[k], spin->lambda[k] = next[k];
    apply(s, spin, change);
    for (int k = 0; !pass->push && k < 3; k++) spin->total[k] += spin->lambda[k];
    if (spin->point == c->count - 1) share_out(s, c);
  }
}

void tb_soft_step_spins_add(const tbSoftStepWork* s, double (*push)[6])
{
  for (int i = 0; i < s->nspin; i++) {
    const tbSoftStepSpin* spin = &s->spin[i];
    tbVec3 sum = tb_zero3();
    for (int k = 0; k < 3; k++) sum = tb_madd3(sum, spin->total[k], spin->axis[k]);
    const double x[3] = {sum.x, sum.y, sum.z};
    for (int k = 0; k < 3; k++) {
      if (spin->a < s->moving) push[spin->a][3 + k] -= x[k];
      if (spin->b < s->moving) push[spin->b][3 + k] += x[k];
    }
  }
}

int tb_soft_step_rows(const tbSoftStepContact* c)
{
  if (!(c->mu_t > 0 || c->mu_b > 0 || c->torsion > 0 || c->rolling > 0)) return 1;
  return 3 + (c->torsion > 0) + (c->rolling > 0 ? 2 : 0);
}

void tb_soft_step_spin_impulses(const tbSoftStepWork* s, const tbSoftStepContact* c, int point, double* out)
{
  int row = 3;
  if (c->torsion > 0) out[row++] = s->spin[c->spin + point].total[0];
  for (int k = 1; c->rolling > 0 && k < 3; k++) out[row++] = s->spin[c->spin + point].total[k];
}

void tb_soft_step_spin_take(tbSoftStepWork* s, const tbSoftStepContact* c, int point, const double* impulse)
{
  int row = 3;
  if (c->torsion > 0) s->spin[c->spin + point].total[0] = impulse[row++];
  for (int k = 1; c->rolling > 0 && k < 3; k++) s->spin[c->spin + point].total[k] = impulse[row++];
}
