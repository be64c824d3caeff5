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

#include "base/simd.h"
#include "collide/pairs.h"

#include <string.h>

static const double TIE = 2e-3;       // of the least half edge: gaps that differ by less are equal
static const double CLOSE = 0.1;      // of the least half edge: corners as close as that to edges are these
static const double FACING = 0.8;     // cosine between the normals of faces and of edges
static const double SLACK = 1e-12;    // of the coordinates: a hint decides nothing that rounding could
static const double PARALLEL = 1e-12; // edges are, whose sine has this square

// Three numbers of a box, and in the fourth lane the one that comes behind them.
static inline tb4d load3(const double* p) { return tb4_load(p); }

static int order(const double* a, const double* b, int n)
{
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

// The smaller box first; of equal ones, by where they are along the axis on which they are farthest apart.
static bool in_order(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d)
{
  int o = order(a->half, b->half, 3);
  if (o) return o < 0;
  double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z), most = x >= y && x >= z ? d.x : y >= z ? d.y : d.z;
  if (most != 0) return most > 0;
  return order(a->R.m[0], b->R.m[0], 9) <= 0;
}

static tbVec3 axis_of(const tbPlacedBox* a, int i) { return tb_mat3_col(a->R, i); }

// Half the width of a box along n (any length).
static double reach(const tbPlacedBox* a, tbVec3 n)
{
  return a->half[0] * fabs(tb_dot3(axis_of(a, 0), n)) + a->half[1] * fabs(tb_dot3(axis_of(a, 1), n)) +
         a->half[2] * fabs(tb_dot3(axis_of(a, 2), n));
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

// In the frame of A, lanes being its axes (t, a, column) or those of B (back, b, row); the fourth lane is
// unused.
typedef struct {
  tb4d t, a, column[3]; // centre of B; half edges of A; axes of B
  tb4d back, b, row[3]; // t along the axes of B; half edges of B; C by its rows
  double margin;
  int most; // points
} Pair;

typedef struct {
  double gap;
  int axis; // as in tbBoxHint
} Best;

// a x + b y + c z, from the left.
static tb4d combine(const double x[3], tb4d a, tb4d b, tb4d c)
{
  return tb4_add(tb4_add(tb4_mul(tb4_set1(x[0]), a), tb4_mul(tb4_set1(x[1]), b)), tb4_mul(tb4_set1(x[2]), c));
}

static inline void relate(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d, double margin, Pair* p)
{
  const double(*A)[3] = a->R.m, (*B)[3] = b->R.m, way[3] = {d.x, d.y, d.z};
  tb4d a0 = load3(A[0]), a1 = load3(A[1]), a2 = load3(A[2]), b0 = load3(B[0]), b1 = load3(B[1]),
       b2 = load3(B[2]);
  for (int i = 0; i < 3; i++) {
    p->row[i] = combine((const double[3]){A[0][i], A[1][i], A[2][i]}, b0, b1, b2);
    p->column[i] = combine((const double[3]){B[0][i], B[1][i], B[2][i]}, a0, a1, a2);
  }
  double t[4];
  p->t = combine(way, a0, a1, a2);
  tb4_store(t, p->t);
  p->back = combine(t, p->row[0], p->row[1], p->row[2]);
  p->a = load3(a->half), p->b = load3(b->half);
  p->margin = margin;
}

// The widest of a few gaps, the first where several are equal. No branches: which it is cannot be foreseen.
static inline Best widest(const double* gap, int count, int axis)
{
  double most = gap[0];
  unsigned at = 0;
  for (int i = 1; i < count; i++) most = gap[i] > most ? gap[i] : most;
  for (int i = 0; i < count; i++) at |= (unsigned)(gap[i] == most) << i;
  return (Best){most, axis + (at ? __builtin_ctz(at) : 0)};
}

// Along the faces of one box: |t| − own − Q other, with Q = |C|.
static inline Best best_face(tb4d t, tb4d own, const tb4d C[3], const double other[3], int axis)
{
  double gap[4];
  tb4d reach = combine(other, tb4_abs(C[0]), tb4_abs(C[1]), tb4_abs(C[2]));
  tb4_store(gap, tb4_sub(tb4_sub(tb4_abs(t), own), reach));
  return widest(gap, 3, axis);
}

static inline Best best_face_of_a(const Pair* p, const tbPlacedBox* b)
{
  return best_face(p->t, p->a, p->column, b->half, 1);
}

static inline Best best_face_of_b(const Pair* p, const tbPlacedBox* a)
{
  return best_face(p->back, p->b, p->row, a->half, 4);
}

// Over the roots: rarely needed.
static Best widest_edges(const tb4d room[3], const tb4d square[3])
{
  double gap[9], r[4], s[4];
  for (int j = 0; j < 3; j++) {
    tb4_store(r, room[j]);
    tb4_store(s, square[j]);
    for (int i = 0; i < 3; i++) gap[3 * i + j] = s[i] > PARALLEL ? r[i] / sqrt(s[i]) : -INFINITY;
  }
  return widest(gap, 9, 7);
}

// least: narrower gaps do not matter. A gap that is not above 0 only falls when it is divided by a length
// below 1, so that most pairs of boxes are spared the roots.
static inline Best best_edges(const Pair* p, const tbPlacedBox* b, double least)
{
  const double* half = b->half;
  const tb4d bound = tb4_set1(least < 0 ? least : 0), parallel = tb4_set1(PARALLEL), one = tb4_set1(1);
  tb4d t1 = tb4_turn(p->t), t2 = tb4_turn(t1), a1 = tb4_turn(p->a), a2 = tb4_turn(a1), Q[3], room[3],
       square[3];
  int narrow = 7;
  for (int j = 0; j < 3; j++) Q[j] = tb4_abs(p->column[j]);
  for (int j = 0; j < 3; j++) {
    int j1 = j < 2 ? j + 1 : 0, j2 = j > 0 ? j - 1 : 2;
    tb4d c1 = tb4_turn(p->column[j]), c2 = tb4_turn(c1), q1 = tb4_abs(c1), q2 = tb4_abs(c2);
    tb4d way = tb4_abs(tb4_sub(tb4_mul(t2, c1), tb4_mul(t1, c2)));
    tb4d reach_a = tb4_add(tb4_mul(a1, q2), tb4_mul(a2, q1));
    tb4d reach_b = tb4_add(tb4_mul(tb4_set1(half[j1]), Q[j2]), tb4_mul(tb4_set1(half[j2]), Q[j1]));
    room[j] = tb4_sub(tb4_sub(way, reach_a), reach_b);
    square[j] = tb4_sub(one, tb4_mul(p->column[j], p->column[j]));
    narrow &= tb4_at_most(room[j], bound) | tb4_at_most(square[j], parallel);
  }
  return narrow == 7 ? (Best){-INFINITY, 7} : widest_edges(room, square);
}

// The pair as seen from the box whose face it is.
static void look_from(const tbPlacedBox* own, const tbPlacedBox* other, const Pair* p, bool from_a, int axis,
                      tbBoxOver* o)
{
  double x[4], R[4];
  tb4_store(x, from_a ? p->t : p->back);
  for (int i = 0; i < 3; i++) {
    o->x[i] = from_a ? x[i] : -x[i];
    tb4_store(R, from_a ? p->row[i] : p->column[i]);
    for (int j = 0; j < 3; j++) o->R[i][j] = R[j];
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

static void take_edges(const tbPlacedBox* a, const tbPlacedBox* b, const Pair* p, const Best* best,
                       tbNarrowManifold* out)
{
  double C[3][4], t[4];
  const double *half_a = a->half, *half_b = b->half;
  for (int k = 0; k < 3; k++) tb4_store(C[k], p->row[k]);
  tb4_store(t, p->t);
  int i = (best->axis - 7) / 3, j = (best->axis - 7) % 3, i1 = (i + 1) % 3, i2 = (i + 2) % 3;
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
    if (distance < least && count < TB_NARROW_POINTS) least = distance, at = count;
    out->point[count++] = *point;
  }
  bool apart = least > CLOSE / TIE * near;
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

// In order. Returns the axis that separates them, 0: none does.
static int meet(const tbPlacedBox* a, const tbPlacedBox* b, tbVec3 d, double margin, int most,
                tbNarrowManifold* out)
{
  Pair p;
  relate(a, b, d, margin, &p);
  p.most = most;
  double least_a = least3(a->half), least_b = least3(b->half),
         tie = TIE * (least_a < least_b ? least_a : least_b);
  Best face = best_face_of_a(&p, b);
  if (face.gap > margin) return face.axis;
  Best other = best_face_of_b(&p, a);
  if (other.gap > margin) return other.axis;
  if (other.gap > face.gap + tie) face = other;
  Best edges = best_edges(&p, b, face.gap + tie < margin ? face.gap + tie : margin);
  if (edges.gap > margin) return edges.axis;
  if (edges.gap > face.gap + tie) {
    take_edges(a, b, &p, &edges, out);
    add_faces(a, b, &p, face.axis, tie, out);
  } else take_faces(a, b, &p, face.axis, tie, out);
  return 0;
}

static int swap_axis(int axis)
{
  if (axis <= 6) return axis <= 3 ? axis + 3 : axis - 3;
  return 7 + (axis - 7) % 3 * 3 + (axis - 7) / 3;
}

bool tb_box_box(const tbPlacedBox* a, const tbPlacedBox* b, double margin, int most, tbBoxHint* hint,
                tbNarrowManifold* out)
{
  tbVec3 d = tb_sub3(b->x, a->x);
  out->n = 0;
  if (*hint && *hint <= 15 && hint_separates(a, b, d, margin, *hint)) return true;
  bool swapped = !in_order(a, b, d);
  int axis = swapped ? meet(b, a, tb_neg3(d), margin, most, out) : meet(a, b, d, margin, most, out);
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
  Best best = best_face_of_a(&p, b);
  if (!(best.gap > margin)) best = best_face_of_b(&p, a);
  if (!(best.gap > margin)) best = best_edges(&p, b, margin);
  bool apart = best.gap > margin + SLACK * (tb_maxabs3(d) + tb_maxabs3(tb_load3(a->half)) +
                                            tb_maxabs3(tb_load3(b->half)));
  *hint = (tbBoxHint)(apart ? best.axis : 0);
  return apart;
}
