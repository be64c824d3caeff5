// SPDX-License-Identifier: Apache-2.0
// Energy, forces and stiffness of a body, element by element in parallel, then summed in a fixed order.
#include "base/threads.h"
#include "fem/body.h"

#include <string.h>

enum { GRAIN = 256 };

typedef struct {
  const tbFemBody* body; // its arrays of results are written
  const tbVec3* x;
  tbTangent tangent;
  const tbFemGroup* group; // at work
} Job;

static void load(const Job* job, int kind, int corners, int e, tbVec3* x)
{
  const int* node = job->body->corner[kind] + (size_t)e * (size_t)corners;
  for (int a = 0; a < corners; a++) x[a] = job->x[node[a]];
}

// Elements of a group, counted from its first.
static double (*blocks(const Job* job, int i))[9]
{
  const tbFemAssembly* s = &job->body->assembly;
  return s->block + (size_t)i * (size_t)s->pairs[job->group->kind];
}

static void tets(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemBody* b = job->body;
  tbVec3 x[TB_ELASTIC_MANY][4];
  for (int i = begin, n; i < end; i += n) {
    int e = job->group->begin + i;
    n = end - i < TB_ELASTIC_MANY ? end - i : TB_ELASTIC_MANY;
    for (int k = 0; k < n; k++) load(job, 0, 4, e + k, x[k]);
    double* f = b->assembly.force[4 * (size_t)e];
    tb_tets_evaluate(&b->material, n, &b->tet[e], (const tbVec3(*)[4])x, job->tangent, &b->energy[e], f,
                     blocks(job, i));
  }
}

static void membranes(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemBody* b = job->body;
  tbMembraneStiffness stiffness = tb_membrane_stiffness(&b->sheet);
  tbVec3 x[3];
  for (int i = begin; i < end; i++) {
    int e = job->group->begin + i;
    load(job, 0, 3, e, x);
    b->energy[e] = tb_membrane_evaluate(&stiffness, &b->membrane[e], x, job->tangent,
                                        b->assembly.force[3 * (size_t)e], blocks(job, i));
  }
}

static void hinges(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemBody* b = job->body;
  const tbFemAssembly* s = &b->assembly;
  tbVec3 x[4];
  for (int i = begin; i < end; i++) {
    int e = job->group->begin + i;
    load(job, 1, 4, e, x);
    b->energy[b->nelement[0] + e] = tb_hinge_evaluate(b->sheet.bend, &b->hinge[e], x, job->tangent,
                                                      s->force[s->force_adr[1] + 4 * e], blocks(job, i));
  }
}

static void springs(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  const tbFemBody* b = job->body;
  const tbFemAssembly* s = &b->assembly;
  tbVec3 x[2];
  for (int i = begin; i < end; i++) {
    int e = job->group->begin + i;
    load(job, 2, 2, e, x);
    b->energy[b->nelement[0] + b->nelement[1] + e] =
        tb_spring_evaluate(&b->spring[e], x, job->tangent, s->force[s->force_adr[2] + 2 * e], blocks(job, i));
  }
}

static tbRangeFn* loop_of(const tbFemBody* b, int kind)
{
  if (kind > 0) return kind == 1 ? hinges : springs;
  return b->cloth ? membranes : tets;
}

static double evaluate(Job* job, tbThreads* threads)
{
  const tbFemBody* b = job->body;
  const tbFemAssembly* s = &b->assembly;
  bool tangent = job->tangent != TB_TANGENT_NONE;
  if (tangent) memset(b->upper, 0, (size_t)s->upper_adr[b->nnode] * sizeof *b->upper);
  for (int g = 0; g < s->ngroup; g++) {
    job->group = &s->group[g];
    tb_parallel_for(threads, job->group->end - job->group->begin, GRAIN, loop_of(b, job->group->kind), job);
    if (tangent) tb_fem_assembly_add(s, threads, g, b->upper);
  }
  double sum = 0;
  for (int e = 0; e < tb_fem_element_count(b); e++) sum += b->energy[e];
  return sum;
}

double tb_fem_evaluate(tbFemBody* b, tbThreads* threads, const tbVec3* x, tbTangent tangent, double* f)
{
  double energy = evaluate(&(Job){.body = b, .x = x, .tangent = tangent}, threads);
  if (f) tb_fem_assembly_forces(&b->assembly, threads, f);
  return energy;
}

static double spring_energy(const tbFemBody* b, const Job* job)
{
  double sum = 0, f[6];
  tbVec3 x[2];
  for (int e = 0; e < b->nelement[2]; e++) {
    load(job, 2, 2, e, x);
    sum += tb_spring_evaluate(&b->spring[e], x, TB_TANGENT_NONE, f, NULL);
  }
  return sum;
}

static double cloth_energy(const tbFemBody* b, const Job* job)
{
  tbMembraneStiffness stiffness = tb_membrane_stiffness(&b->sheet);
  double sum = 0, f[12];
  tbVec3 x[4];
  for (int e = 0; e < b->nelement[0]; e++) {
    load(job, 0, 3, e, x);
    sum += tb_membrane_evaluate(&stiffness, &b->membrane[e], x, TB_TANGENT_NONE, f, NULL);
  }
  for (int e = 0; e < b->nelement[1]; e++) {
    load(job, 1, 4, e, x);
    sum += tb_hinge_evaluate(b->sheet.bend, &b->hinge[e], x, TB_TANGENT_NONE, f, NULL);
  }
  return sum;
}

double tb_fem_energy(const tbFemBody* b, const tbVec3* at)
{
  Job job = {.body = b, .x = at};
  if (b->cloth) return cloth_energy(b, &job) + spring_energy(b, &job);
  double sum = spring_energy(b, &job), energy[TB_ELASTIC_MANY];
  tbVec3 x[TB_ELASTIC_MANY][4];
  for (int e = 0, n; e < b->nelement[0]; e += n) {
    n = b->nelement[0] - e < TB_ELASTIC_MANY ? b->nelement[0] - e : TB_ELASTIC_MANY;
    for (int k = 0; k < n; k++) load(&job, 0, 4, e + k, x[k]);
    tb_tets_evaluate(&b->material, n, &b->tet[e], (const tbVec3(*)[4])x, TB_TANGENT_NONE, energy, NULL, NULL);
    for (int k = 0; k < n; k++) sum += energy[k];
  }
  return sum;
}
