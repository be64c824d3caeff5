// SPDX-License-Identifier: Apache-2.0
// Points of two boxes along the axis with the widest gap (box_axes.c): a face is clipped (box_face.c), a pair
// of edges gives the point where they pass each other. Where faces look at each other across that point,
// their corners within the margin come along: they are what meets next when boxes that fall on each other
// turn.
#include "collide/box_box.h"
#include "collide/box_face.h"

#include "collide/pairs.h"

#include <string.h>

static const double CLOSE = 0.1;  // of the least half edge: corners as close as that to edges are these
static const double FACING = 0.8; // cosine between the normals of faces and of edges

static tbVec3 axis_of(const tbPlacedBox* a, int i) { return tb_mat3_col(a->R, i); }

typedef struct {
  const tbBoxAxis* axis;
  double margin;
  int most; // points
} Pair;

// The pair as seen from the box whose face it is.
static void look_from(const tbPlacedBox* own, const tbPlacedBox* other, const Pair* p, bool from_a, int axis,
                      tbBoxOver* o)
{
  const tbBoxAxis* x = p->axis;
  for (int i = 0; i < 3; i++) {
    o->x[i] = from_a ? x->t[i] : -x->back[i];
    for (int j = 0; j < 3; j++) o->R[i][j] = from_a ? x->C[i][j] : x->C[j][i];
  }
  memcpy(o->half, own->half, sizeof o->half);
  memcpy(o->other_half, other->half, sizeof o->other_half);
  o->axis = axis;
  o->side = o->x[axis] >= 0 ? 1 : -1;
}

static void take_faces(const tbPlacedBox* a, const tbPlacedBox* b, const Pair* p, int axis, double near,
                       tbNarrowManifold* out)
{
  tbBoxOver over;
  tbBoxFacePoint point[TB_NARROW_MOST];
  bool of_a = axis <= 3;
  const tbPlacedBox* own = of_a ? a : b;
  look_from(own, of_a ? b : a, p, of_a, of_a ? axis - 1 : axis - 4, &over);
  out->n = tb_box_face_points(&over, p->margin, near, p->most, point);
  out->with[0] = of_a, out->with[1] = !of_a;
  out->normal = tb_scale3(of_a ? over.side : -over.side, axis_of(own, over.axis));
  for (int k = 0; k < out->n; k++) {
    uint32_t mine = point[k].own, others = point[k].other;
    tbVec3 position = tb_add3(own->x, tb_mat3_mulv(own->R, tb_load3(point[k].p)));
    out->point[k] = (tbNarrowPoint){position, point[k].gap,
                                    of_a ? tb_feature_pair(mine, others) : tb_feature_pair(others, mine)};
  }
}

// The edge along axis i that lies farthest along n, a vector of the box's frame: its middle, and its corners.
static uint32_t edge_along(const double half[3], const double n[3], int i, double middle[3])
{
  int vertex = 0;
  for (int k = 0; k < 3; k++) {
    middle[k] = k == i ? 0 : n[k] >= 0 ? half[k] : -half[k];
    if (k != i && n[k] >= 0) vertex |= 1 << k;
  }
  return tb_feature_edge(vertex, vertex | 1 << i);
}

static double clamp(double x, double most) { return x < -most ? -most : x > most ? most : x; }

static void take_edges(const tbPlacedBox* a, const tbPlacedBox* b, const Pair* p, int axis, double gap,
                       tbNarrowManifold* out)
{
  const double(*C)[3] = p->axis->C, *t = p->axis->t, *half_a = a->half, *half_b = b->half;
  int i = (axis - 7) / 3, j = (axis - 7) % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
  double c = C[i][j], s = 1 - c * c, n[3], back[3], on_a[3], local[3], on_b[3];
  n[i] = 0;
  n[i1] = -C[i2][j];
  n[i2] = C[i1][j];
  double side = n[i1] * t[i1] + n[i2] * t[i2] < 0 ? -1 : 1, scale = side / sqrt(s);
  for (int k = 0; k < 3; k++) n[k] *= scale;
  for (int k = 0; k < 3; k++) back[k] = -(n[0] * C[0][k] + n[1] * C[1][k] + n[2] * C[2][k]);
  uint32_t edge_a = edge_along(half_a, n, i, on_a), edge_b = edge_along(half_b, back, j, local);
  double re, rf = 0;
  for (int k = 0; k < 3; k++) {
    on_b[k] = t[k] + (C[k][0] * local[0] + C[k][1] * local[1] + C[k][2] * local[2]);
    rf += (on_b[k] - on_a[k]) * C[k][j];
  }
  re = on_b[i] - on_a[i];
  double ta = clamp((re - c * rf) / s, half_a[i]), tb = clamp((c * re - rf) / s, half_b[j]);
  tbVec3 on_edge_a =
      tb_vec3(on_a[0] + (i == 0 ? ta : 0), on_a[1] + (i == 1 ? ta : 0), on_a[2] + (i == 2 ? ta : 0));
  tbVec3 on_edge_b = tb_vec3(on_b[0] + tb * C[0][j], on_b[1] + tb * C[1][j], on_b[2] + tb * C[2][j]);
  out->n = 1;
  out->with[0] = out->with[1] = 0.5f; // of each the part that keeps it square to the edge of that box
  out->normal = tb_mat3_mulv(a->R, tb_load3(n));
  tbVec3 middle = tb_scale3(0.5, tb_add3(on_edge_a, on_edge_b));
  out->point[0] =
      (tbNarrowPoint){tb_add3(a->x, tb_mat3_mulv(a->R, middle)), gap, tb_feature_pair(edge_a, edge_b)};
}

// To the point of two edges, the corners of the faces that look at each other across it, with their gaps
// along the normal of the edges; none that is deeper than the edges are, for these are the way out.
static void add_faces(const tbPlacedBox* a, const tbPlacedBox* b, const Pair* p, int axis, double near,
                      tbNarrowManifold* out)
{
  tbNarrowPoint edges = out->point[0];
  tbNarrowManifold faces;
  double along = tb_dot3(out->normal, axis <= 3 ? axis_of(a, axis - 1) : axis_of(b, axis - 4));
  if (fabs(along) < FACING) return;
  take_faces(a, b, p, axis, near, &faces);
  int count = 0, at = 0;
  double least = INFINITY;
  for (int i = 0; i < faces.n; i++) {
    tbNarrowPoint* point = &faces.point[i];
    point->gap /= fabs(along);
    bool same = point->feature == edges.feature;
    if (!same && (point->gap < edges.gap || point->gap > p->margin)) continue;
    double distance = same ? 0 : tb_distance3(point->position, edges.position);
    if (distance < least && count < TB_NARROW_POINTS) least = distance, at = count;
    out->point[count++] = *point;
  }
  bool apart = least > CLOSE / TB_BOX_TIE * near;
  if (count < TB_NARROW_POINTS && apart) at = count++;
  else if (count < p->most && apart) out->point[count++] = out->point[at];
  out->point[at] = edges;
  out->n = count;
}

static double least3(const double* x)
{
  double least = x[0] < x[1] ? x[0] : x[1];
  return least < x[2] ? least : x[2];
}

bool tb_box_points(const tbPlacedBox* first, const tbPlacedBox* second, double margin, int most, bool swapped,
                   const tbBoxAxis* axis, tbNarrowManifold* out)
{
  const tbPlacedBox *a = swapped ? second : first, *b = swapped ? first : second;
  double least_a = least3(a->half), least_b = least3(b->half),
         tie = TB_BOX_TIE * (least_a < least_b ? least_a : least_b);
  Pair p = {axis, margin, most};
  if (axis->edges) {
    take_edges(a, b, &p, axis->edges, axis->gap, out);
    add_faces(a, b, &p, axis->face, tie, out);
  } else take_faces(a, b, &p, axis->face, tie, out);
  int shift = swapped ? 32 : 0; // no branches: whether it is cannot be foreseen
  out->normal = tb_scale3(swapped ? -1 : 1, out->normal);
  float with_a = out->with[swapped], with_b = out->with[!swapped];
  out->with[0] = with_a, out->with[1] = with_b;
  for (int i = 0; i < out->n; i++) {
    uint64_t f = out->point[i].feature;
    out->point[i].feature = f << shift | f >> (shift & 63);
  }
  return out->n > 0;
}
