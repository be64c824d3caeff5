// SPDX-License-Identifier: Apache-2.0
// Contacts of nodes in few words.
//
// Where a contact acts on nodes alone every column of its J is one frame times a weight of the node,
//
//   u = F Σ w_i v_i + bias,     v_i += (w_i/m_i) Fᵀ Δr,     ω = Σ w_i²/m_i
//
// so that a fifth of J's memory is read, and a third of its products made, in every sweep.
#ifndef TB_STEP_PD_NODES_H
#define TB_STEP_PD_NODES_H

#include "tribo/math.h"
#include "tribo/problem.h"

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
} tbPdNodeContact;

// Contact k, if it is one of nodes with three rows, a frame and no compliance. lump: m, by degrees of
// freedom.
bool tb_pd_node_contact(const tbProblem* p, int k, const double* lump, tbPdNodeContact* out);

static inline tbVec3 tb_pd_node_velocity(const tbPdNodeContact* c, const double* v)
{
  tbVec3 d = tb_zero3();
  for (int i = 0; i < c->count; i++) d = tb_madd3(d, c->weight[i], tb_load3(v + c->dof[i]));
  return tb_add3(c->bias, tb_vec3(tb_dot3(c->frame[0], d), tb_dot3(c->frame[1], d), tb_dot3(c->frame[2], d)));
}

// Fᵀr
static inline tbVec3 tb_pd_node_force(const tbPdNodeContact* c, const double* r)
{
  return tb_madd3(tb_madd3(tb_scale3(r[0], c->frame[0]), r[1], c->frame[1]), r[2], c->frame[2]);
}

// to_i += factor_i f
static inline void tb_pd_node_add(const tbPdNodeContact* c, const double* factor, tbVec3 f, double* to)
{
  for (int i = 0; i < c->count; i++)
    tb_store3(to + c->dof[i], tb_madd3(tb_load3(to + c->dof[i]), factor[i], f));
}

#endif
