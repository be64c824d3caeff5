// SPDX-License-Identifier: Apache-2.0
// A step of the scheme `pd` in the making, shared by the files pd*.c.
#ifndef TB_STEP_PD_H
#define TB_STEP_PD_H

#include "pd/body.h"
#include "step/pd_contacts.h"
#include "step/scheme.h"
#include "step/soft_contact.h"

typedef struct {
  double most;  // of a velocity                                                       m/s
  double along; // with masses, the step made times the one from the last iterate      J
  double size;  // with masses, the step made squared                                  J
} tbPdChange;

typedef struct {
  tbSurfaces surfaces;
  tbSurfaceCandidates candidates;
  tbBodyStep* step;      // (bodies)
  tbPdStep* projected;   // (bodies)
  tbArray soft_contacts; // tbSoftContact
  tbArray met;           // tbSurfaceContact
  tbArray smooth;        // tbContactConstraint: with planes and round shapes
  double clearance;
  double deadline;  // on the clock; 0: none
  bool looks_again; // candidates are known, and what meets on the way becomes a contact
  // Of bodies that are projected, one after the other: where their nodes begin, and vectors over all.
  int* first; // (bodies)
  int nnode;
  tbVec3* v;    // velocities of the iteration
  tbVec3* rhs;  // b
  tbVec3* last; // b of the last iteration
  tbVec3* sum;  // b + Jᵀr
  // Over the problem's degrees of freedom.
  double* local; // velocities as masses predict them; of rigid bodies as they are        (ndof)
  double* lump;  // (ndof)
  double* push;  // Jᵀr                                                                    (ndof)
  double* free;  // v_free of the last iteration                                          (ndof)
  tbPdContacts contacts;
  tbPdChange* change; // per piece of the nodes of a body
  // What the last iteration came to, for momentum.
  double momentum;
  tbVec3 *v_before, *last_before;
  double *r_before, *local_before;
  uint8_t** touched; // nodes that impulses act on, of bodies that the air holds; else null  (bodies)
} tbPd;

static inline bool tb_pd_moves(const tbPd* r, int body) { return r->step[body].size > 0; }

// Bodies in projective form, with room for the vectors over their nodes. (pd_iterations.c)
tbStatus tb_pd_begin_bodies(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work,
                            tbPd* r);

// Contacts that nodes and surfaces have at the start, and will have if they go on as they go. (pd_find.c)
tbStatus tb_pd_find(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, tbStepWork* work, tbPd* r);

// Velocities and impulses of the assembled problem. (pd_iterations.c)
// An iteration after the first is not begun past the deadline.
tbStatus tb_pd_iterate(tbContext* ctx, const tbWorld* w, const tbStepOptions* o, int iterations,
                       tbStepWork* work, tbPd* r, tbStepReport* report);

#endif
