// SPDX-License-Identifier: Apache-2.0
// The experiments of Kaufman et al. 2008: their scenes at the paper's degrees of freedom, and what was
// published of them.
#ifndef TB_CLI_PAPER_KAUFMAN_H
#define TB_CLI_PAPER_KAUFMAN_H

#include "cli/paper.h"
#include "tribo/step.h"

typedef struct {
  const char *name, *what;
  double solve, contacts, warm,
      cold; // tables 1 and 2: s, –, iterations with and without warm start (0: not said)
  int dofs;
  double dt, mu;
  double settle; // seconds until contacts are there
  int steps;     // that are measured
  tbStatus (*build)(tbContext* ctx, tbWorld* world, bool quick);
} KaufmanSetup;

extern const KaufmanSetup kaufman_setups[];
extern const int kaufman_setup_count;

// A world with friction μ everywhere, and the options of its steps: the scheme that moves what is in it.
tbStatus kaufman_world(tbContext* ctx, double mu, tbWorld** out);
tbStepOptions kaufman_options(const tbWorld* world, double dt);

// A solid cut into cells of which `fills` says whether they are there, where `at` puts their corners.
typedef struct {
  int cells[3];
  bool (*fills)(const int cell[3], const int cells[3]);         // null: all
  tbVec3 (*at)(const void* user, double x, double y, double z); // of 0 … 1 along each axis
  const void* user;
} KaufmanGrid;

tbStatus kaufman_solid(tbContext* ctx, const KaufmanGrid* grid, tbTetMesh** out);

// Parts of the scenes that experiments vary.
tbStatus kaufman_weave(tbContext* ctx, tbWorld* world, double young, bool hung);
tbStatus kaufman_chair(tbContext* ctx, tbWorld* world, int modes, double young, tbTransform pose,
                       tbVec3 velocity, tbBodyId* out);
tbStatus kaufman_rigid(tbContext* ctx, tbWorld* world, const tbShape* shapes, int count, tbTransform pose,
                       tbVec3 velocity, tbBodyId* out);
tbStatus kaufman_ground(tbContext* ctx, tbWorld* world);

// The rigid ones. (paper_kaufman_rigid.c) Stones and cards of `parts` side by side have as many times the
// contacts.
tbStatus kaufman_arch(tbContext* ctx, tbWorld* world, int stones, int parts);
tbStatus kaufman_cards(tbContext* ctx, tbWorld* world, int levels, int parts);
tbStatus kaufman_arch_setup(tbContext* ctx, tbWorld* world, bool quick);
tbStatus kaufman_cards_setup(tbContext* ctx, tbWorld* world, bool quick);
tbStatus kaufman_log_house(tbContext* ctx, tbWorld* world, bool quick);
tbStatus kaufman_bunnies(tbContext* ctx, tbWorld* world, bool quick);
tbStatus kaufman_fixed(tbContext* ctx, tbWorld* world, tbShape shape, tbTransform pose);

#endif
