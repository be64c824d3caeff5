// SPDX-License-Identifier: Apache-2.0
// Bodies of nodes and elements: what solids of tetrahedra (soft.c) and sheets of triangles (cloth.c) share.
#ifndef TB_KIND_DEFORMABLE_H
#define TB_KIND_DEFORMABLE_H

#include "fem/body.h"
#include "geometry/surface_mesh.h"
#include "kind/table.h"

extern const tbKind tb_kind_soft, tb_kind_cloth;

// What holds nodes of a deformable body.
typedef struct tbHold {
  int body;        // to which they are attached; −1: the world
  tbMotion motion; // then: of the frame they are fixed in
} tbHold;

// Of a deformable body, tbBody.own. The body's x, v, radius and mass follow its nodes.
typedef struct tbDeformable {
  int body;
  tbFemBody* fem; // mesh, matter, masses; fem->pinned: held by the world, or by a body that is not dynamic
  tbVec3 *x, *v;  // of the nodes                                                       (fem->nnode)
  int nhold;
  tbHold* hold;  // (nhold)
  int* holder;   // of a node: its hold; −1: none                                      (fem->nnode)
  tbVec3* local; // of a node that is held: its place in the frame of the hold: the motion's, or the
                 // body's centre of mass                                              (fem->nnode)
  tbVec3*
      pull; // of a node that is held by a dynamic body: impulse of the last step, on the node  (fem->nnode)
  tbVec3* force; // applied to nodes for the next step                                 (fem->nnode)
  bool self_contact;
  double radius;          // half the thickness of cloth                                   m
  tbSurfaceMesh* surface; // its surface; surface->node: the nodes of its vertices
  int (*triangle)[3]; // the same triangles over the nodes                             (surface->ntriangle)
  tbSoftDef soft;     // what a solid is made of; cloth: fem->sheet
  tbArena arena;      // memory behind x … triangle
} tbDeformable;

// Null: the body is of another kind.
static inline tbDeformable* tb_deformable(const tbBody* body)
{
  return body->kind == &tb_kind_soft || body->kind == &tb_kind_cloth ? body->own : NULL;
}

typedef struct tbMatter { // a mesh at rest, in the world's frame, and what it is made of
  const tbVec3* rest;
  int nnode;
  const int* corner; // of tetrahedra, or of the triangles of cloth
  int nelement;
  bool cloth;
  tbSoftDef soft;
  tbClothDef sheet; // its warp in the world's frame, too
  tbFemSprings springs;
} tbMatter;

// Everything that follows from matter, at rest, with room for so many holds; no node is held. The same matter
// gives the same bits.
tbStatus tb_deformable_make(tbContext* ctx, const tbMatter* matter, int nhold, tbDeformable** out);
void tb_deformable_free(tbContext* ctx, tbDeformable* deformable); // takes null
// Brings the body's x, v and radius up to date with the nodes.
void tb_deformable_follow(tbBody* body);
// The pose and the velocities (zero for keys) of what holds nodes, now; `local` is in the frame of that pose.
tbBodyState tb_hold_state(const tbWorld* world, const tbHold* hold);

tbStatus tb_pin_check(tbContext* ctx, const tbWorld* world, const char* name, const tbPinDef* pin);

// The entries of their rows that both share (deformable_state.c).
int tb_deformable_dofs(const tbBody* body);
void tb_deformable_release(tbContext* ctx, tbBody* body);
void tb_deformable_place(tbWorld* world, int body, const tbBodyState* state);
tbEnergy tb_deformable_energy(const tbWorld* world, const tbBody* body);
tbVec3 tb_deformable_angular_momentum(const tbBody* body);
uint64_t tb_deformable_hash(uint64_t hash, const tbBody* body);
tbNodes tb_deformable_nodes(const tbBody* body);
void tb_deformable_pull(tbWorld* world, int body, const struct tbGrip* grip, double dt); // deformable_pull.c
void tb_deformable_code(struct tbCodec* codec, tbWorld* world, int body);                // deformable_code.c
void tb_deformable_set_nodes(tbWorld* world, int body, const tbVec3* x, const tbVec3* v);
tbVec3* tb_deformable_pulls(tbBody* body, int* count);
tbStatus tb_deformable_pin(tbContext* ctx, tbWorld* world, int body,
                           const tbPinDef* pin); // deformable_pins.c
void tb_deformable_unpin(tbContext* ctx, tbWorld* world, int body, const int* nodes, int count);
void tb_deformable_push(tbBody* body, const tbVec3* forces);
tbStatus tb_deformable_own_forces(tbArena* arena, tbBody* body);
tbMotion* tb_deformable_motion(tbBody* body, int k);
void tb_deformable_lose(tbContext* ctx, tbWorld* world, int body, int gone);

// What the rows of soft bodies and of cloth have in common: bodies of nodes whose elements differ.
// clang-format off
#define TB_DEFORMABLE_ROW \
  .dofs = tb_deformable_dofs, .release = tb_deformable_release, .place = tb_deformable_place, \
  .energy = tb_deformable_energy, .angular_momentum = tb_deformable_angular_momentum, \
  .hash = tb_deformable_hash, .code = tb_deformable_code, .pull = tb_deformable_pull, \
  .nodes = tb_deformable_nodes, .set_nodes = tb_deformable_set_nodes, .pulls = tb_deformable_pulls, .pin = tb_deformable_pin, \
  .unpin = tb_deformable_unpin, .push = tb_deformable_push, .own_forces = tb_deformable_own_forces, \
  .motion_of = tb_deformable_motion, .lose = tb_deformable_lose, .begin = tb_deformable_begin, .prepare = tb_deformable_prepare, \
  .project = tb_deformable_project, .potential = tb_deformable_potential, \
  .linearise = tb_deformable_linearise, .split = tb_deformable_split, .elements = tb_deformable_elements, .metric = tb_deformable_metric, \
  .contact = tb_deformable_contact, .attached = tb_deformable_attached, .attach = tb_deformable_attach, \
  .detach = tb_deformable_detach, .changes = tb_deformable_changes, .advance = tb_deformable_advance, .note = tb_deformable_note, \
  .surface = tb_deformable_surface, .expect = tb_deformable_expect, \
  .move_surface = tb_deformable_move_surface, .moves_at = tb_deformable_moves_at, \
  .direction = tb_deformable_direction, .at_rest = tb_deformable_at_rest, .speed_at = tb_deformable_speed_at
// clang-format on

#endif
