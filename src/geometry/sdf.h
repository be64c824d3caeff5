// SPDX-License-Identifier: Apache-2.0
// Signed distances on a regular grid, trilinear between its nodes, and the surface points that sample it.
#ifndef TB_GEOMETRY_SDF_H
#define TB_GEOMETRY_SDF_H

#include "geometry/mesh.h"

struct tbSdf {
  int n[3];         // nodes along x, y, z
  tbVec3 origin;    // of node (0, 0, 0)
  double cell;      // edge length of a cell
  double* distance; // at node (i, j, k): distance[(k·n[1] + j)·n[0] + i]; negative inside
  tbMesh* mesh;     // what it was built from, a copy of its own: sample points and mass
  double thickness; // largest depth: −min distance
};

// Distance at p and its gradient (not normalised). Outside the grid: the distance at the closest grid point
// plus the way there.
double tb_sdf_distance(const tbSdf* sdf, tbVec3 p, tbVec3* gradient);

#endif
