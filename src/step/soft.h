// What deformable bodies bring to a step: the matrix of its linear system, and where they would go alone.
#ifndef TB_STEP_SOFT_H
#define TB_STEP_SOFT_H

#include "math/packed.h"
#include "kind/deformable.h"
#include "tribo/step.h"

struct tbCholesky;

// Of one deformable body. The pattern of A is that of fem->K.
typedef struct tbSoftStep {
  double* A;                       // M + hB + h²K; held nodes stand still                     kg
  double* rhs;                     // A v_free                                                 (3 nnode)
  double* v_free;                  // velocities if nothing touched it                         (3 nnode)
  const double* v;                 // the best that is known of v⁺: at first, where it was         (3 nnode)
  tbVec3* pin;                     // velocities of the nodes that are held                    (nnode)
  const struct tbCholesky* factor; // of A; null: too large to factor
  tbPacked packed;                 // of A
  bool lent;                       // a problem borrows A and its factor; else it copies A and factors it
} tbSoftStep;

// One for every body, from the arena; of those that do not deform all zero. The factors are kept in the
// cache, from step to step.
tbStatus tb_soft_begin(tbContext* ctx, tbArena* arena, tbCache* cache, const tbWorld* world,
                       const tbStepOptions* options, tbSoftStep** out);

#endif
