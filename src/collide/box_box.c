// SPDX-License-Identifier: Apache-2.0
// Separating axes of two boxes (Gottschalk, Lin, Manocha 1996), in the frame of the first: C = Aᵀ B holds the
// axes of B as columns, t its centre. Along a face of A the gap is |t_i| − a_i − Σ_j |C_ij| b_j; along a face
// of B it is the same with Cᵀ; along the common normal e_i × C_j of two edges only the other two half edges
// of either box count, and everything is divided by its length √(1 − C_ij²). The widest gap wins: a face is
// then clipped (box_face.c), a pair of edges gives the point where they pass each other. Where faces look at
// each other across that point, their corners within the margin come along: they are what meets next when
// boxes that fall on each other turn.
//
// Edges parallel to 1e-6 are passed over: what their common normal could gain over a face is below rounding.
#include "collide/box_box.h"
#include "collide/box_face.h"
#include "collide/pairs.h"

static const double TIE = 2e-3;    // of the least half edge: gaps that differ by less are equal
static const double CLOSE = 0.1;   // of the least half edge: corners as close as that to edges are these
static const double FACING = 0.8;  // cosine between the normals of faces and of edges
static const double SLACK = 1e-12; // of the coordinates: a hint decides nothing that rounding could

static int order(const double* a, const double* b, int n)
{
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

// The smaller box first; of equal ones, by where they are along the axis on which they are farthest apart.
static bool in_order(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d)
{
  int o = order(&a->half.x, &b->half.x, 3);
  if (o) return o < 0;
  double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z), most = x >= y && x >= z ? d.x : y >= z ? d.y : d.z;
  if (most != 0) return most > 0;
  return order(a->R.m[0], b->R.m[0], 9) <= 0;
}

static tbVec3 axis_of(const tbPlacedBox* a, int i) { return tb_mat3_col(a->R, i); }

// Half the width of a box along n (any length).
static double reach(const tbPlacedBox* a, tbVec3 n)
{
  return a->half.x * fabs(tb_dot3(axis_of(a, 0), n)) + a->half.y * fabs(tb_dot3(axis_of(a, 1), n)) +
         a->half.z * fabs(tb_dot3(axis_of(a, 2), n));
}

// Whether they are clearly farther apart along the axis of the hint.
static bool hint_separates(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d, double margin, int hint)
{
  tbVec3 n = hint <= 3   ? axis_of(a, hint - 1)
             : hint <= 6 ? axis_of(b, hint - 4)
                         : tb_cross3(axis_of(a, (hint - 7) / 3), axis_of(b, (hint - 7) % 3));
  double way = fabs(tb_dot3(d, n)), room = way - reach(a, n) - reach(b, n) - SLACK * (way + tb_maxabs3(d));
  if (hint <= 6) return room > margin;
  return room > 0 && room * room > margin * margin * tb_dot3(n, n) * (1 + SLACK);
}

typedef struct {
  double t[3], C[3][3], Q[3][3]; // Q: |C|
  double a[3], b[3];             // half edges
  double margin;
} Pair;

typedef struct {
  double gap;
  int axis; // as in tbBoxHint
} Best;

static void relate(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d, double margin, Pair* p)
{
  for (int i = 0; i < 3; i++) {
    tbVec3 n = axis_of(a, i);
    p->t[i] = tb_dot3(d, n);
    for (int j = 0; j < 3; j++) {
      p->C[i][j] = n.x * b->R.m[0][j] + n.y * b->R.m[1][j] + n.z * b->R.m[2][j];
      p->Q[i][j] = fabs(p->C[i][j]);
    }
  }
  tb_store3(p->a, a->half);
  tb_store3(p->b, b->half);
  p->margin = margin;
}

// The widest of a few gaps, the first where several are equal. No branches: which it is cannot be foreseen.
static Best widest(const double* gap, int count, int axis)
{
  double most = gap[0];
  unsigned at = 0;
  for (int i = 1; i < count; i++) most = gap[i] > most ? gap[i] : most;
  for (int i = 0; i < count; i++) at |= (unsigned)(gap[i] == most) << i;
  return (Best){most, axis + (at ? __builtin_ctz(at) : 0)};
}

static Best best_face_of_a(const Pair* p)
{
  double gap[3];
  for (int i = 0; i < 3; i++) {
    const double* q = p->Q[i];
    gap[i] = fabs(p->t[i]) - p->a[i] - (q[0] * p->b[0] + q[1] * p->b[1] + q[2] * p->b[2]);
  }
  return widest(gap, 3, 1);
}

static Best best_face_of_b(const Pair* p)
{
  double gap[3];
  for (int j = 0; j < 3; j++) {
    double t = p->t[0] * p->C[0][j] + p->t[1] * p->C[1][j] + p->t[2] * p->C[2][j];
    gap[j] = fabs(t) - p->b[j] - (p->Q[0][j] * p->a[0] + p->Q[1][j] * p->a[1] + p->Q[2][j] * p->a[2]);
  }
  return widest(gap, 3, 4);
}

// least: narrower gaps do not matter. A gap that is not above 0 only falls when it is divided by a length
// below 1, so that most pairs of boxes are spared the roots.
static Best best_edges(const Pair* p, double least)
{
  double gap[9], square[9], most = -INFINITY;
  for (int i = 0; i < 3; i++) {
    int i1 = i < 2 ? i + 1 : 0, i2 = i > 0 ? i - 1 : 2;
    for (int j = 0; j < 3; j++) {
      int j1 = j < 2 ? j + 1 : 0, j2 = j > 0 ? j - 1 : 2;
      double s = 1 - p->C[i][j] * p->C[i][j];
      double room = fabs(p->t[i2] * p->C[i1][j] - p->t[i1] * p->C[i2][j]) -
                    (p->a[i1] * p->Q[i2][j] + p->a[i2] * p->Q[i1][j]) -
                    (p->b[j1] * p->Q[i][j2] + p->b[j2] * p->Q[i][j1]);
      square[3 * i + j] = s > 1e-12 ? s : 1;
      gap[3 * i + j] = s > 1e-12 ? room : -INFINITY;
    }
  }
  for (int k = 0; k < 9; k++) most = gap[k] > most ? gap[k] : most;
  if (most <= (least < 0 ? least : 0)) return (Best){-INFINITY, 7};
  for (int k = 0; k < 9; k++) gap[k] /= sqrt(square[k]);
  return widest(gap, 9, 7);
}

// The pair as seen from the box whose face it is.
static void look_from(const Pair* p, bool from_a, int axis, tbBoxOver* o)
{
  for (int i = 0; i < 3; i++) {
    o->half[i] = from_a ? p->a[i] : p->b[i];
    o->other_half[i] = from_a ? p->b[i] : p->a[i];
    o->x[i] = from_a ? p->t[i] : -(p->t[0] * p->C[0][i] + p->t[1] * p->C[1][i] + p->t[2] * p->C[2][i]);
    for (int j = 0; j < 3; j++) o->R[i][j] = from_a ? p->C[i][j] : p->C[j][i];
  }
  o->axis = axis;
  o->side = o->x[axis] >= 0 ? 1 : -1;
}

static void take_faces(const tbPlacedBox* a, const tbPlacedBox* b, const Pair* p, int axis, double near,
                       tbNarrowManifold* out)
{
  tbBoxOver over;
  tbBoxFacePoint point[TB_NARROW_POINTS];
  bool of_a = axis <= 3;
  const tbPlacedBox* own = of_a ? a : b;
  look_from(p, of_a, of_a ? axis - 1 : axis - 4, &over);
  out->n = tb_box_face_points(&over, p->margin, near, point);
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

static void take_edges(const tbPlacedBox* a, const Pair* p, const Best* best, tbNarrowManifold* out)
{
  int i = (best->axis - 7) / 3, j = (best->axis - 7) % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
  double c = p->C[i][j], s = 1 - c * c, n[3], back[3], on_a[3], local[3], on_b[3];
  n[i] = 0;
  n[i1] = -p->C[i2][j];
  n[i2] = p->C[i1][j];
  double side = n[i1] * p->t[i1] + n[i2] * p->t[i2] < 0 ? -1 : 1, scale = side / sqrt(s);
  for (int k = 0; k < 3; k++) n[k] *= scale;
  for (int k = 0; k < 3; k++) back[k] = -(n[0] * p->C[0][k] + n[1] * p->C[1][k] + n[2] * p->C[2][k]);
  uint32_t edge_a = edge_along(p->a, n, i, on_a), edge_b = edge_along(p->b, back, j, local);
  double re, rf = 0;
  for (int k = 0; k < 3; k++) {
    on_b[k] = p->t[k] + (p->C[k][0] * local[0] + p->C[k][1] * local[1] + p->C[k][2] * local[2]);
    rf += (on_b[k] - on_a[k]) * p->C[k][j];
  }
  re = on_b[i] - on_a[i];
  double ta = clamp((re - c * rf) / s, p->a[i]), tb = clamp((c * re - rf) / s, p->b[j]);
  tbVec3 on_edge_a =
      tb_vec3(on_a[0] + (i == 0 ? ta : 0), on_a[1] + (i == 1 ? ta : 0), on_a[2] + (i == 2 ? ta : 0));
  tbVec3 on_edge_b = tb_vec3(on_b[0] + tb * p->C[0][j], on_b[1] + tb * p->C[1][j], on_b[2] + tb * p->C[2][j]);
  out->n = 1;
  out->with[0] = out->with[1] = 0.5f; // of each the part that keeps it square to the edge of that box
  out->normal = tb_mat3_mulv(a->R, tb_load3(n));
  tbVec3 middle = tb_scale3(0.5, tb_add3(on_edge_a, on_edge_b));
  out->point[0] =
      (tbNarrowPoint){tb_add3(a->x, tb_mat3_mulv(a->R, middle)), best->gap, tb_feature_pair(edge_a, edge_b)};
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
    if (distance < least) least = distance, at = count;
    out->point[count++] = *point;
  }
  if (count < TB_NARROW_POINTS && least > CLOSE / TIE * near) at = count++;
  out->point[at] = edges;
  out->n = count;
}

static double least3(const double x[3])
{
  double least = x[0] < x[1] ? x[0] : x[1];
  return least < x[2] ? least : x[2];
}

// In order. Returns the axis that separates them, 0: none does.
static int meet(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d, double margin, tbNarrowManifold* out)
{
  Pair p;
  relate(a, b, d, margin, &p);
  double least_a = least3(p.a), least_b = least3(p.b), tie = TIE * (least_a < least_b ? least_a : least_b);
  Best face = best_face_of_a(&p);
  if (face.gap > margin) return face.axis;
  Best other = best_face_of_b(&p);
  if (other.gap > margin) return other.axis;
  if (other.gap > face.gap + tie) face = other;
  Best edges = best_edges(&p, face.gap + tie < margin ? face.gap + tie : margin);
  if (edges.gap > margin) return edges.axis;
  if (edges.gap > face.gap + tie) {
    take_edges(a, &p, &edges, out);
    add_faces(a, b, &p, face.axis, tie, out);
  } else take_faces(a, b, &p, face.axis, tie, out);
  return 0;
}

static int swap_axis(int axis)
{
  if (axis <= 6) return axis <= 3 ? axis + 3 : axis - 3;
  return 7 + (axis - 7) % 3 * 3 + (axis - 7) / 3;
}

bool tb_box_box(const tbPlacedBox* a, const tbPlacedBox* b, double margin, tbBoxHint* hint,
                tbNarrowManifold* out)
{
  tbVec3 d = tb_sub3(b->x, a->x);
  out->n = 0;
  if (*hint && *hint <= 15 && hint_separates(a, b, d, margin, *hint)) return true;
  bool swapped = !in_order(a, b, d);
  int axis = swapped ? meet(b, a, tb_neg3(d), margin, out) : meet(a, b, d, margin, out);
  *hint = (tbBoxHint)(axis && swapped ? swap_axis(axis) : axis);
  if (axis) return true;
  if (!swapped) return out->n > 0;
  out->normal = tb_neg3(out->normal);
  float with_a = out->with[1];
  out->with[1] = out->with[0], out->with[0] = with_a;
  for (int i = 0; i < out->n; i++) {
    uint64_t f = out->point[i].feature;
    out->point[i].feature = f << 32 | f >> 32;
  }
  return out->n > 0;
}

bool tb_boxes_apart(const tbPlacedBox* a, const tbPlacedBox* b, double margin, tbBoxHint* hint)
{
  tbVec3 d = tb_sub3(b->x, a->x);
  if (*hint && *hint <= 15 && hint_separates(a, b, d, margin, *hint)) return true;
  Pair p;
  relate(a, b, d, margin, &p);
  Best best = best_face_of_a(&p);
  if (!(best.gap > margin)) best = best_face_of_b(&p);
  if (!(best.gap > margin)) best = best_edges(&p, margin);
  bool apart = best.gap > margin + SLACK * (tb_maxabs3(d) + tb_maxabs3(a->half) + tb_maxabs3(b->half));
  *hint = (tbBoxHint)(apart ? best.axis : 0);
  return apart;
}
