// SPDX-License-Identifier: Apache-2.0
// Asking a world where things are: rays, boxes, nearest points, distances of bodies.
//
// Everything is exact to rounding, for every shape: convex shapes and half-spaces as they are, meshes and
// distance grids by their triangles, deformable bodies by those of their surface (cloth: its middle, without
// its thickness). Nothing is kept from call to call and nothing is allocated; a question costs a test per
// shape, and what the shapes it comes near cost (less with a tbQueryTree, below). Bodies of categories that
// `categories` leaves out are passed over. Calls on a world that does not change meanwhile may be made by
// several threads at a time.
#ifndef TRIBO_QUERY_H
#define TRIBO_QUERY_H

#include "tribo/scene.h"

TB_API_BEGIN

#define TB_ALL_CATEGORIES 0xffffffffu

typedef struct tbRay {
  tbVec3 from;
  tbVec3 direction;    // of any length but 0
  double length;       // m; ∞: without end
  uint32_t categories; // of bodies that it meets (tbBodyDef.category)
} tbRay;

tbRay tb_ray(tbVec3 from, tbVec3 direction); // without end, meets everything

typedef struct tbHit {
  tbBodyId body;   // index −1: nothing
  int shape;       // which of its shapes, from 0; −1: a deformable body's surface
  int triangle;    // of a mesh, of the mesh of a distance grid, of tb_body_triangles; −1: none
  tbVec3 point;    // on the surface
  tbVec3 normal;   // unit; rays: against the ray; nearest points: out of the body
  double distance; // m: along the ray; from the point, negative where it is inside
} tbHit;

// The first thing that the ray meets; false: nothing. In a convex shape or half-space that it starts in: at
// distance 0, with the normal against the ray. Triangles are met from either side.
bool tb_world_ray(const tbWorld* world, const tbRay* ray, tbHit* hit);
// Where it first meets each shape and surface, nearest first: up to `capacity` of them, the nearest. Returns
// how many there are.
int tb_world_ray_all(const tbWorld* world, const tbRay* ray, tbHit* hits, int capacity);

// The bodies that the closed box meets, in the order of their places: up to `capacity`. Returns how many
// there are.
int tb_world_overlap(const tbWorld* world, tbBox box, uint32_t categories, tbBodyId* bodies, int capacity);

// The surface point nearest to `point`, within `reach` (∞: anywhere); false: nothing there. Inside a body the
// deepest counts as nearest.
bool tb_world_nearest(const tbWorld* world, tbVec3 point, double reach, uint32_t categories, tbHit* hit);
// The same of one body.
bool tb_body_nearest(const tbWorld* world, tbBodyId body, tbVec3 point, double reach, tbHit* hit);

// How far two bodies are apart (m) and where: 0 where they meet or one is inside the other, ∞ where one of
// them has no shape or is gone. Points may be null.
double tb_body_distance(const tbWorld* world, tbBodyId a, tbBodyId b, tbVec3* point_a, tbVec3* point_b);

// The same questions by a tree of the bodies' boxes, for many of them between changes of the world: a
// question then costs about the logarithm of the number of bodies. The answers are those of the functions
// above. The tree knows the world as it was when it was made or last updated, and must be updated after
// anything has moved, come or gone; it is freed before the world is. An update that fails leaves a tree that
// finds nothing.
typedef struct tbQueryTree tbQueryTree;

tbStatus tb_query_tree_create(tbContext* ctx, const tbWorld* world, tbQueryTree** out);
tbStatus tb_query_tree_update(tbContext* ctx, tbQueryTree* tree);
void tb_query_tree_free(tbContext* ctx, tbQueryTree* tree); // takes null

bool tb_query_tree_ray(const tbQueryTree* tree, const tbRay* ray, tbHit* hit);
int tb_query_tree_ray_all(const tbQueryTree* tree, const tbRay* ray, tbHit* hits, int capacity);
int tb_query_tree_overlap(const tbQueryTree* tree, tbBox box, uint32_t categories, tbBodyId* bodies,
                          int capacity);
bool tb_query_tree_nearest(const tbQueryTree* tree, tbVec3 point, double reach, uint32_t categories,
                           tbHit* hit);

TB_API_END
#endif
