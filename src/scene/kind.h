// What a world asks of a kind of body. A kind is one row: its own files under src/kind/ and a line in the
// table there (src/kind/table.c). Nothing else asks what a body is made of; how it moves, freely or as
// prescribed, is tbBody.motion.
#ifndef TB_SCENE_KIND_H
#define TB_SCENE_KIND_H

#include "scene/world.h"

// A body that is made of nodes, to look at.
typedef struct tbNodes {
  int count;
  const tbVec3 *x, *v; // (count)
  int ntriangle;
  const int (*triangle)[3]; // its surface, counter-clockwise seen from outside      (ntriangle)
  int nelement, corners;    // of an element: 3, triangles, or 4, tetrahedra
  const int* element;       // (corners · nelement)
} tbNodes;

struct tbKind {
  const char* name;
  bool named_by_motion; // in files a body of this kind is called "dynamic", "fixed" or "kinematic"
  // It moves as a frame, tbBody.x and q: shapes, joints and nodes of other bodies are fixed in it, and one
  // pose draws it. If not, it has nodes.
  bool framed;
  bool sheet; // its surface has two sides and no inside

  // Of a body of this kind. What is null does nothing.
  void (*release)(tbContext* ctx, tbBody* body); // what tbBody.own points to
  void (*place)(tbWorld* world, int body, const tbBodyState* state);
  tbEnergy (*energy)(const tbWorld* world, const tbBody* body); // of one that is dynamic
  tbVec3 (*angular_momentum)(const tbBody* body);               // about the origin, of one that is dynamic
  uint64_t (*hash)(uint64_t hash, const tbBody* body);          // of its state beside x, q, v, w
  tbNodes (*nodes)(const tbBody* body);
  void (*set_nodes)(tbWorld* world, int body, const tbVec3* x, const tbVec3* v);
};

// The nodes of a body; none, of one that is framed.
static inline tbNodes tb_nodes_of(const tbBody* body)
{
  return body->kind->nodes ? body->kind->nodes(body) : (tbNodes){0};
}

// The first body that does not move as a frame; −1: there is none.
int tb_first_unframed(const tbWorld* world);

#endif
