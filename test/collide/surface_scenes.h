// SPDX-License-Identifier: Apache-2.0
// Surfaces in motion to search among, and what a search by comparing everything finds.
#ifndef TB_TEST_SKIN_SCENES_H
#define TB_TEST_SKIN_SCENES_H

#include "collide/surfaces.h"
#include "test.h"

enum { SCENE_SKINS = 8 };

typedef struct {
  tbSurfaceScene scene;
  tbMovingSurface surface[SCENE_SKINS];
  tbMovingPlane plane[2];
  tbVec3 *start[SCENE_SKINS], *end[SCENE_SKINS];
  int* holder[SCENE_SKINS];
  tbSurfaceCandidates candidates;
} SurfaceScene;

SurfaceScene* scene_new(void);
void scene_free(SurfaceScene* s);

// Adds a surface of these points at rest: it starts and ends there. Returns its index.
int scene_add(SurfaceScene* s, const tbVec3* points, int npoint, const int (*triangles)[3], int ntriangle);
int scene_add_shape(SurfaceScene* s, const tbShape* shape); // not rigid, unless made so afterwards
int scene_add_cloth(SurfaceScene* s, double side, int cells);

void scene_place(SurfaceScene* s, int surface, tbTransform start, tbTransform end); // from rest
void scene_shake(SurfaceScene* s, int surface, tbRandom* r, double start, double end);

bool scene_allowed(const tbSurfaceScene* s, const tbSurfaceFeatures* f); // by the rules of surfaces.h
bool scene_lists(const tbArray* sorted,
                 const tbSurfaceFeatures* f); // tbSurfaceFeatures, or contacts that begin so
tbVec3 scene_vertex(const tbSurfaceScene* s, int surface, int vertex, double t);

// |p_b − p_a|, the least over both features, by nested search; and the corners' weights, b before a.
double scene_distance(bool face, const tbVec3 x[4], double weight[4]);

// Every pair of features, allowed or not.
typedef void SceneVisit(void* user, const tbSurfaceFeatures* f);
void scene_all_pairs(const tbSurfaceScene* s, SceneVisit* visit, void* user);

#endif
