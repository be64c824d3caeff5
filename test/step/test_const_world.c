// SPDX-License-Identifier: Apache-2.0
// A const world may be asked by several threads at once: what they compute does not go into its bodies.
#include "kind/deformable.h"
#include "scene/world.h"
#include "step/soft_worlds.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

typedef struct {
  const tbWorld* world;
  const char* scheme;
  uint64_t hash; // of the problem's numbers
  tbStatus status;
} Question;

static void* ask(void* user)
{
  Question* q = user;
  tbContext ctx = tb_default_context();
  tbStepOptions o = tb_default_step_options();
  tbProblem* p = NULL;
  o.scheme = q->scheme;
  q->status = tb_world_problem(&ctx, q->world, &o, &p, NULL);
  if (q->status == TB_OK) {
    q->hash = test_hash(p->bias, (size_t)p->nrow * sizeof *p->bias);
    for (int b = 0; b < p->nblock; b++)
      if (p->block[b].kind == TB_METRIC_SPARSE)
        q->hash ^= test_hash(p->block[b].value, (size_t)p->block[b].ptr[p->block[b].size] * sizeof(double));
  }
  tb_problem_free(p);
  return NULL;
}

// Marks the results of the elements; then whether the marks are still there.
static bool energies(const tbWorld* w, bool mark)
{
  bool marked = true;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (!b->kind->nodes || strcmp(b->kind->name, "reduced") == 0) continue;
    tbFemBody* fem = ((const tbDeformable*)b->own)->fem;
    for (int e = 0; e < fem->nelement[0]; e++) {
      if (mark) fem->energy[e] = -1;
      marked = marked && fem->energy[e] == -1;
    }
  }
  return marked;
}

TEST(a_const_world_answers_two_threads_at_once)
{
  static const char* const schemes[] = {"implicit", "ipc", "pd"};
  tbContext ctx = tb_default_context();
  tbWorldDef def = tb_default_world_def();
  tbWorld* w = NULL;
  CHECK_OK(&ctx, tb_world_create(&ctx, &def, &w));
  CHECK_OK(&ctx, soft_heap(&ctx, w));
  for (int i = 0; i < 3; i++) {
    Question alone = {.world = w, .scheme = schemes[i]}, both[2] = {alone, alone};
    pthread_t thread[2];
    energies(w, true);
    ask(&alone);
    for (int t = 0; t < 2; t++) REQUIRE(pthread_create(&thread[t], NULL, ask, &both[t]) == 0);
    for (int t = 0; t < 2; t++) pthread_join(thread[t], NULL);
    if (!energies(w, false)) test_failed(__FILE__, __LINE__, "%s wrote into the bodies", schemes[i]);
    for (int t = 0; t < 2; t++) CHECK(both[t].status == alone.status && both[t].hash == alone.hash);
  }
  tb_world_free(&ctx, w);
}
