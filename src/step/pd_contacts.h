// SPDX-License-Identifier: Apache-2.0
// The local half of an iteration for contacts (Ly et al. 2020, sections 3.3 and 4).
//
// With the splitting P = D + C, D the diagonal of masses, the velocities of the next iteration are guessed
// node by node from those of the last:
//
//   D v = b − C v_last + Jᵀr,   u = J v + bias        so one contact by itself has   u = d + ω r
//
// with ω = 1/m of a node against an obstacle, 1/m_A + 1/m_B between two nodes (the reduced mass), Σ w²/m
// where a contact acts on means of nodes. Its law then has three cases: it takes off where d_N ≥ 0, sticks
// where r = −d/ω is in the cone, else slips. Rigid bodies in the problem answer with their whole inertia.
//
// A node may be in several contacts: they are treated one after the other, each knowing the impulses of those
// before it, in layers from obstacles outwards, and through stacks that touch none from one of their ends.
#ifndef TB_STEP_PD_CONTACTS_H
#define TB_STEP_PD_CONTACTS_H

#include "base/memory.h"
#include "solve/friction.h"
#include "step/pd_nodes.h"
#include "tribo/solver.h"

typedef struct tbPdContacts {
  const tbProblem* problem;
  int layers;
  // By layers:
  tbPdNodeContact* node; // contacts of nodes; others only name the contact          (ncontact)
  tbFrictionSet* set;    //                                                          (ncontact)
  tbVec3* stiff;         // velocities of bodies that move as one, in a sweep; null: none does
  int nstiff;
  // Of contacts that are not of nodes alone; null where there are none.
  double* answer;   // D⁻¹Jᵀ, as the problem's jac: what an impulse does to the velocities
  double* response; // ω of every row                                                (nrow)
} tbPdContacts;

// lump: D of the degrees of freedom of sparse blocks (ndof); the others are not read. stiff: bodies that may
// move as one; none does where a contact is not of nodes alone.
tbStatus tb_pd_contacts_begin(tbArena* arena, const tbProblem* problem, const tbSolveOptions* model,
                              const double* lump, const tbPdStiff* stiff, tbPdContacts* out);

// Goes over all contacts once. v: D⁻¹(b − C v_last + Jᵀr), of stiff bodies with β D⁻¹ in the place of D⁻¹,
// kept up to date; r: impulses of the last iteration, replaced by the next; push: Jᵀr of the latter (ndof).
void tb_pd_contacts_sweep(const tbPdContacts* contacts, double* v, double* r, double* push);

// v += D⁻¹Jᵀr
void tb_pd_contacts_move(const tbPdContacts* contacts, const double* r, double* v);

// push = Jᵀr, on sparse blocks and others alike.
void tb_pd_contacts_push(const tbPdContacts* contacts, const double* r, double* push);

#endif
