// Surfaces in motion to search among, and what a search by comparing everything finds.
#ifndef TB_TEST_SKIN_SCENES_H
#define TB_TEST_SKIN_SCENES_H

#include "collide/skins.h"
#include "test.h"

enum { SCENE_SKINS = 8 };

typedef struct {
  tbSkinScene scene;
  tbMovingSkin skin[SCENE_SKINS];
  tbMovingPlane plane[2];
  tbVec3 *start[SCENE_SKINS], *end[SCENE_SKINS];
  int* holder[SCENE_SKINS];
  tbSkinCandidates candidates;
} SkinScene;

SkinScene* scene_new(void);
void scene_free(SkinScene* s);

// Adds a skin of these points at rest: it starts and ends there. Returns its index.
int scene_add(SkinScene* s, const tbVec3* points, int npoint, const int (*triangles)[3], int ntriangle);
int scene_add_shape(SkinScene* s, const tbShape* shape); // not rigid, unless made so afterwards
int scene_add_cloth(SkinScene* s, double side, int cells);

void scene_place(SkinScene* s, int skin, tbTransform start, tbTransform end); // from rest
void scene_shake(SkinScene* s, int skin, tbRandom* r, double start, double end);

bool scene_allowed(const tbSkinScene* s, const tbSkinFeatures* f); // by the rules of skins.h
bool scene_lists(const tbArray* sorted, const tbSkinFeatures* f); // tbSkinFeatures, or contacts that begin so
tbVec3 scene_vertex(const tbSkinScene* s, int skin, int vertex, double t);

// |p_b − p_a|, the least over both features, by nested search; and the corners' weights, b before a.
double scene_distance(bool face, const tbVec3 x[4], double weight[4]);

// Every pair of features, allowed or not.
typedef void SceneVisit(void* user, const tbSkinFeatures* f);
void scene_all_pairs(const tbSkinScene* s, SceneVisit* visit, void* user);

#endif
