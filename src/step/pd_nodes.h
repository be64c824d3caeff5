// SPDX-License-Identifier: Apache-2.0
// Contacts of nodes in few words.
//
// Where a contact acts on nodes alone every column of its J is one frame times a weight of the node,
//
//   u = F Σ w_i v_i + bias,     v_i += (w_i/m_i) Fᵀ Δr,     ω = Σ w_i²/m_i
//
// Bodies that are stiff for the time step (pd/softness.c) move as one instead, and their nodes beside that
// only by a share β of what their masses say: with V the velocity of the body, and w = Σ w_i over its nodes
//
//   u = F (Σ w_i v_i + w V) + bias,   v_i += β (w_i/m_i) Fᵀ Δr,   V += (1 − β) (w/m) Fᵀ Δr
//
// It is stored so that a fifth of J's memory is read, and a third of its products made, in every sweep.
#ifndef TB_STEP_PD_NODES_H
#define TB_STEP_PD_NODES_H

#include "tribo/math.h"
#include "tribo/problem.h"

// Bodies that move as one, beside their nodes.
typedef struct tbPdStiff {
  const int* of;         // of a degree of freedom: its body here, or −1                   (ndof)
  const double* share;   // β                                                              (count)
  const double* inverse; // (1 − β)/m                                                      (count)
  int count;
} tbPdStiff;

enum { TB_PD_NODES = 4 }; // of a contact at most: a face and a vertex, or two edges

typedef struct tbPdNodeContact {
  int contact, row;
  int count;            // of nodes; 0: not such a contact
  int dof[TB_PD_NODES]; // the first of a node
  double weight[TB_PD_NODES];
  double answer[TB_PD_NODES]; // w/m
  double response;            // ω
  tbVec3 frame[3];            // rows of F: the normal and two tangents
  tbVec3 bias;
  int stiff[2];           // bodies that move as one; −1: none
  double sum[2], lift[2]; // Σ w of their nodes, and (1 − β)/m times that
} tbPdNodeContact;

// Contact k, if it is one of nodes with three rows, a frame and no compliance. lump: m, by degrees of
// freedom; stiff: may be null.
bool tb_pd_node_contact(const tbProblem* p, int k, const double* lump, const tbPdStiff* stiff,
                        tbPdNodeContact* out);

// V: of stiff bodies.
static inline tbVec3 tb_pd_node_velocity(const tbPdNodeContact* c, const double* v, const tbVec3* V)
{
  tbVec3 d = tb_zero3();
  for (int i = 0; i < 2 && c->stiff[i] >= 0; i++) d = tb_madd3(d, c->sum[i], V[c->stiff[i]]);
  for (int i = 0; i < c->count; i++) d = tb_madd3(d, c->weight[i], tb_load3(v + c->dof[i]));
  return tb_add3(c->bias, tb_vec3(tb_dot3(c->frame[0], d), tb_dot3(c->frame[1], d), tb_dot3(c->frame[2], d)));
}

// Fᵀr
static inline tbVec3 tb_pd_node_force(const tbPdNodeContact* c, const double* r)
{
  return tb_madd3(tb_madd3(tb_scale3(r[0], c->frame[0]), r[1], c->frame[1]), r[2], c->frame[2]);
}

static inline void tb_pd_node_lift(const tbPdNodeContact* c, tbVec3 f, tbVec3* V)
{
  for (int i = 0; i < 2 && c->stiff[i] >= 0; i++) V[c->stiff[i]] = tb_madd3(V[c->stiff[i]], c->lift[i], f);
}

// to_i += factor_i f
static inline void tb_pd_node_add(const tbPdNodeContact* c, const double* factor, tbVec3 f, double* to)
{
  for (int i = 0; i < c->count; i++)
    tb_store3(to + c->dof[i], tb_madd3(tb_load3(to + c->dof[i]), factor[i], f));
}

#endif
