// One search for candidates: what its parts, skins_boxes.c and skins_find.c, share.
#ifndef TB_COLLIDE_SKINS_FIND_H
#define TB_COLLIDE_SKINS_FIND_H

#include "base/shared.h"
#include "collide/skins_trees.h"

typedef struct tbSkinSearch {
  const tbSkinScene* scene;
  double reach, ahead;
  const tbSkinCandidates* old;
  bool* fresh;        // skins whose old boxes still hold; null: none     (nskin)
  tbSkinLayer* layer; // of every skin, then of every skin as it sees itself              (2 nskin)
  int nvertex, nedge, ntriangle;
  int *vertex_skin, *edge_skin; // whose they are                        (nvertex, nedge)
  tbBox *box, *own;             // of vertices; and beside the drift of their skin   (nvertex)
  tbVec3* drift;                // of skins                              (nskin)
  tbArray task;                 // tbSkinNodes
  tbArray close;                // of close pairs, to be looked at together
  tbShared shared;
  tbSkinKeys* found; // by piece of tasks, then by those of close pairs
  int npiece;        // of tasks
} tbSkinSearch;

// Layers with their boxes; TB_ERROR_NUMERIC where vertices are not finite.
tbStatus tb_skin_search_layers(tbContext* ctx, tbArena* arena, tbSkinSearch* search);

// Trees for the layers that are wanted.
tbStatus tb_skin_search_trees(tbContext* ctx, tbArena* arena, tbSkinSearch* search);

#endif
