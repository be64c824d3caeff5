// SPDX-License-Identifier: Apache-2.0
// What steps keep to save time: derived from the world, in no checkpoint and no hash.
//
// A world whose cache is empty steps to the same bits, so that a resumed run needs none of it. A world's own
// cache is used by tb_world_step alone; whatever takes a `const tbWorld*` brings one of its own.
#ifndef TB_SCENE_CACHE_H
#define TB_SCENE_CACHE_H

#include "base/array.h"
#include "base/pool.h"
#include "geometry/surface_mesh.h"
#include "tribo/ccd.h"

struct tbCholesky;
struct tbPdBody;
struct tbProblem;
struct tbSolveOptions;
struct tbSolveResult;

// The factor of a deformable body's matrix in the scheme `implicit`: its pattern is that of the mesh; and its
// projective form, with its factor, in the scheme `pd`.
typedef struct tbBodyFactor {
  struct tbCholesky* factor; // null: not yet analysed, or too large to factor
  bool analysed;
  struct tbPdBody* pd; // null: not yet made
  bool apart;          // the cache is not the world's own: what elements compute must not go into the body
} tbBodyFactor;

// What a scheme keeps for itself: made by it, freed with the cache.
typedef struct tbKept {
  void* data; // null: nothing
  void (*free)(tbContext* ctx, void* data);
} tbKept;

// Answers the contact problems of steps in the place of the solver that the options name: for derivatives,
// which want more digits than a tolerance (src/gradient/answer.c). λ is the warm start in, the impulses out.
typedef struct tbAnswers {
  tbStatus (*answer)(tbContext* ctx, void* user, const struct tbProblem* problem,
                     const struct tbSolveOptions* options, double* lambda, struct tbSolveResult* result);
  void* user;
} tbAnswers;

typedef struct tbCache {
  tbArray surface;            // tbSurfaceMesh* of a shape (null: a plane's); as many as have been needed
  tbArray factor;             // tbBodyFactor of a body; as many as have been needed
  tbArray records;            // of contacts: memory for the next step's
  tbKept contacts;            // pairs of shapes and what kept them apart (step/find_cache.c)
  tbKept soft_step;           // what the scheme soft-step keeps (step/soft_step_cache.c)
  tbKept ipc;                 // analyses of its matrices (step/ipc_symbolic.c)
  const tbAnswers* answers;   // null: the solver answers
  struct tbRelaxedHeld* held; // null, or a relaxed step taken apart for adjoints (step/relaxed_held.h)
  tbCcdMethod ccd;            // of the step under way: tbStepOptions.ccd
  bool apart;                 // not the world's own: of a call on a const world
  bool state_lent;            // the world's state is of a step that the next one is a part of, which frees it
  tbArena scratch;            // of one step: emptied at its start
  tbPool pool;                // what a step allocates and frees: taken again by the next
} tbCache;

void tb_cache_init(tbCache* cache, tbContext* ctx);
void tb_cache_clear(tbContext* ctx, tbCache* cache); // empty again: after shapes or deformable bodies changed
void tb_cache_free(tbContext* ctx, tbCache* cache);
tbStatus tb_cache_factors(tbContext* ctx, tbCache* cache, size_t count); // room for those of so many bodies

#endif
