// SPDX-License-Identifier: Apache-2.0
// A triangle mesh with its features: faces, edges with what lies on either side, vertices, and a tree.
#ifndef TB_GEOMETRY_MESH_H
#define TB_GEOMETRY_MESH_H

#include "geometry/bvh.h"

typedef struct tbMeshEdge {
  int vertex[2];   // vertex[0] → vertex[1] runs counter-clockwise around triangle[0]
  int triangle[2]; // on either side; [1] is −1 at a border; of three and more, the first two
  bool convex; // the surface bends away from the outside; flat edges (to 1e-9) are not convex, borders are
} tbMeshEdge;

// An edge can be touched from the side it is convex to, borders from both. Flat edges (to 1e-5, which is more
// than single precision leaves of a flat floor) from neither: they are not really there.
enum { TB_SHARP_FRONT = 1, TB_SHARP_BACK = 2 };

struct tbMesh {
  int nvertex, ntriangle, nedge;
  tbVec3* vertex;
  int (*triangle)[3];      // counter-clockwise seen from outside
  tbVec3* normal;          // unit, of a triangle                                  (ntriangle)
  int (*triangle_edge)[3]; // edge opposite to corner i                            (ntriangle)
  tbMeshEdge* edge;        // each once, in order of first appearance              (nedge)
  tbVec3* vertex_normal;   // angle-weighted pseudonormal (Bærentzen & Aanæs 2005), unit or zero (nvertex)
  tbVec3* edge_normal;     // sum of the two face normals, not normalised          (nedge)
  uint8_t* edge_sharp;     // TB_SHARP: from which sides it can be touched         (nedge)
  uint8_t* vertex_sharp;   // that of its edges together; 0 inside a straight edge (nvertex)
  int* vertex_edge_adr;    // first edge of a vertex in vertex_edge                (nvertex+1)
  int* vertex_edge;        // the edges that end at it, ascending                  (2 nedge)
  int* vertex_triangle;    // the first triangle that has it                       (nvertex)
  tbBox* triangle_box;     // (ntriangle)
  tbBvh bvh;               // over the triangles
  bool closed;             // every edge has exactly two triangles
  bool oriented;           // which run along it in opposite ways
  double volume;           // by the divergence theorem; meaningful when closed and oriented
  tbBox box;
  tbArena arena; // memory behind all of it
};

// edge_sharp, vertex_sharp and vertex_…, from vertices, triangles, normals and edges (mesh_index.c).
tbStatus tb_mesh_index(tbArena* arena, tbMesh* mesh);

// The corner of a triangle that does not lie on its edge.
static inline int tb_mesh_opposite(const tbMesh* mesh, int triangle, const tbMeshEdge* edge)
{
  const int* t = mesh->triangle[triangle];
  for (int i = 0; i < 2; i++)
    if (t[i] != edge->vertex[0] && t[i] != edge->vertex[1]) return t[i];
  return t[2];
}

// The closest point of the surface to p: its place, the triangle, and the feature of the triangle it lies on.
typedef struct tbMeshClosest {
  tbVec3 point;
  double distance;
  int triangle;
  int feature; // 0: face; 1…3: edge opposite to corner 0…2; 4…6: corner 0…2
} tbMeshClosest;

// Nearest within `reach`; false: nothing there.
bool tb_mesh_closest(const tbMesh* mesh, tbVec3 p, double reach, tbMeshClosest* out);
// Nearest anywhere, starting at a triangle believed to be near; the same distance as above, found sooner.
void tb_mesh_closest_from(const tbMesh* mesh, tbVec3 p, int triangle, tbMeshClosest* out);
// Negative inside, by the pseudonormal at the closest point; for solid meshes. NaN where p is NaN.
double tb_mesh_signed_distance(const tbMesh* mesh, tbVec3 p, tbMeshClosest* closest); // closest may be null
// Its sign, −1 or +1, when the closest point is known.
double tb_mesh_sign(const tbMesh* mesh, tbVec3 p, const tbMeshClosest* closest);

// Edges, normals, whether it is closed, and the volume, from vertices and triangles (mesh_features.c).
tbStatus tb_mesh_make_features(tbContext* ctx, tbMesh* mesh);

#endif
