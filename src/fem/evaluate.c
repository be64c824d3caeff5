// Energy, forces and stiffness of a body, element by element in parallel, then summed in a fixed order.
#include "base/threads.h"
#include "fem/body.h"

enum { GRAIN = 256 };

typedef struct {
  tbFemBody* body;
  const tbVec3* x;
  tbTangent tangent;
  bool forces;
} Job;

static void load(const Job* job, int kind, int corners, int e, tbVec3* x)
{
  const int* node = job->body->corner[kind] + (size_t)e * (size_t)corners;
  for (int a = 0; a < corners; a++) x[a] = job->x[node[a]];
}

static void tets(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  tbFemBody* b = job->body;
  tbVec3 x[TB_ELASTIC_MANY][4];
  for (int e = begin, n; e < end; e += n) {
    n = end - e < TB_ELASTIC_MANY ? end - e : TB_ELASTIC_MANY;
    for (int k = 0; k < n; k++) load(job, 0, 4, e + k, x[k]);
    double* f = job->forces ? b->assembly.force[4 * (size_t)e] : NULL;
    tb_tets_evaluate(&b->material, n, &b->tet[e], (const tbVec3(*)[4])x, job->tangent, &b->energy[e], f,
                     b->assembly.block + TB_TET_BLOCKS * (size_t)e);
  }
}

static void membranes(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  tbFemBody* b = job->body;
  tbVec3 x[3];
  for (int e = begin; e < end; e++) {
    load(job, 0, 3, e, x);
    b->energy[e] = tb_membrane_evaluate(b->sheet.stretch, b->sheet.shear, &b->membrane[e], x, job->tangent,
                                        b->assembly.force[3 * (size_t)e],
                                        b->assembly.block + TB_MEMBRANE_BLOCKS * (size_t)e);
  }
}

static void hinges(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Job* job = user;
  tbFemBody* b = job->body;
  const tbFemAssembly* s = &b->assembly;
  tbVec3 x[4];
  for (int e = begin; e < end; e++) {
    load(job, 1, 4, e, x);
    b->energy[b->nelement[0] + e] =
        tb_hinge_evaluate(b->sheet.bend, &b->hinge[e], x, job->tangent, s->force[s->force_adr[1] + 4 * e],
                          s->block + s->block_adr[1] + TB_TET_BLOCKS * (size_t)e);
  }
}

static double total(const tbFemBody* b)
{
  double sum = 0;
  for (int e = 0; e < b->nelement[0] + b->nelement[1]; e++) sum += b->energy[e];
  return sum;
}

double tb_fem_evaluate(tbFemBody* b, tbThreads* threads, const tbVec3* x, tbTangent tangent, double* f)
{
  Job job = {b, x, tangent, true};
  tb_parallel_for(threads, b->nelement[0], GRAIN, b->cloth ? membranes : tets, &job);
  if (b->cloth) tb_parallel_for(threads, b->nelement[1], GRAIN, hinges, &job);
  if (f) tb_fem_assembly_forces(&b->assembly, threads, f);
  if (tangent != TB_TANGENT_NONE) tb_fem_assembly_matrix(&b->assembly, threads, b->K.val);
  return total(b);
}

double tb_fem_energy(tbFemBody* b, tbThreads* threads, const tbVec3* x)
{
  if (b->cloth) return tb_fem_evaluate(b, threads, x, TB_TANGENT_NONE, NULL);
  Job job = {b, x, TB_TANGENT_NONE, false};
  tb_parallel_for(threads, b->nelement[0], GRAIN, tets, &job);
  return total(b);
}
