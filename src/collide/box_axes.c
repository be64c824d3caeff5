// SPDX-License-Identifier: Apache-2.0
// Separating axes of two boxes (Gottschalk, Lin, Manocha 1996), in the frame of the first: C = Aᵀ B holds the
// axes of B as columns, t its centre. Along a face of A the gap is |t_i| − a_i − Σ_j |C_ij| b_j; along a face
// of B it is the same with Cᵀ; along the common normal e_i × C_j of two edges only the other two half edges
// of either box count, and everything is divided by its length √(1 − C_ij²). The widest gap wins.
//
// Edges parallel to 1e-6 are passed over: what their common normal could gain over a face is below rounding.
//
// A lane is a pair; lanes never meet, so that a pair comes to the same beside any others.
#include "collide/box_axes.h"

#include "base/simd.h"

static const double PARALLEL = 1e-12; // edges are, whose sine has this square

typedef struct {
  tbwd t[3], back[3]; // centre of B in the frame of A; along the axes of B
  tbwd C[3][3], a[3], b[3], margin;
} Pairs;

typedef struct {
  tbwd gap, axis;
} Best;

static inline tbwd max(tbwd a, tbwd b) { return tbw_choose(a, b, a, b); }
static inline tbwd min(tbwd a, tbwd b) { return tbw_choose(b, a, a, b); }

// x u + y v + z w, from the left.
static inline tbwd combine(tbwd x, tbwd u, tbwd y, tbwd v, tbwd z, tbwd w)
{
  return tbw_add(tbw_add(tbw_mul(x, u), tbw_mul(y, v)), tbw_mul(z, w));
}

static inline void relate(const tbBoxPairs* p, int lane, Pairs* out)
{
  tbwd A[3][3], B[3][3], d[3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) A[i][j] = tbw_load(p->A[i][j] + lane), B[i][j] = tbw_load(p->B[i][j] + lane);
    d[i] = tbw_load(p->d[i] + lane);
    out->a[i] = tbw_load(p->half_a[i] + lane), out->b[i] = tbw_load(p->half_b[i] + lane);
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) out->C[i][j] = combine(A[0][i], B[0][j], A[1][i], B[1][j], A[2][i], B[2][j]);
    out->t[i] = combine(d[0], A[0][i], d[1], A[1][i], d[2], A[2][i]);
  }
  for (int j = 0; j < 3; j++)
    out->back[j] = combine(out->t[0], out->C[0][j], out->t[1], out->C[1][j], out->t[2], out->C[2][j]);
  out->margin = tbw_load(p->margin + lane);
}

// The first of the widest.
static inline void take(Best* best, tbwd gap, int axis)
{
  best->axis = tbw_choose(gap, best->gap, tbw_set1(axis), best->axis);
  best->gap = tbw_choose(gap, best->gap, gap, best->gap);
}

// |t| − own − |c| · other
static inline tbwd face_gap(tbwd t, tbwd own, const tbwd c[3], const tbwd other[3])
{
  tbwd reach = combine(other[0], tbw_abs(c[0]), other[1], tbw_abs(c[1]), other[2], tbw_abs(c[2]));
  return tbw_sub(tbw_sub(tbw_abs(t), own), reach);
}

static inline void best_faces(const Pairs* p, Best* of_a, Best* of_b)
{
  for (int i = 0; i < 3; i++) {
    const tbwd column[3] = {p->C[0][i], p->C[1][i], p->C[2][i]};
    tbwd a = face_gap(p->t[i], p->a[i], p->C[i], p->b), b = face_gap(p->back[i], p->b[i], column, p->a);
    if (i == 0) *of_a = (Best){a, tbw_set1(1)}, *of_b = (Best){b, tbw_set1(4)};
    else take(of_a, a, 1 + i), take(of_b, b, 4 + i);
  }
}

// A gap that is not above 0 only falls when it is divided by a length below 1: where none is above `bound`,
// which is at most 0, the roots are spared.
static inline Best best_edges(const Pairs* p, tbwd bound)
{
  const tbwd zero = tbw_set1(0), one = tbw_set1(1), parallel = tbw_set1(PARALLEL);
  tbwd Q[3][3], room[3][3], square[3][3], wide = zero;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) Q[i][j] = tbw_abs(p->C[i][j]);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      tbwd way = tbw_abs(tbw_sub(tbw_mul(p->t[i2], p->C[i1][j]), tbw_mul(p->t[i1], p->C[i2][j])));
      tbwd reach_a = tbw_add(tbw_mul(p->a[i1], Q[i2][j]), tbw_mul(p->a[i2], Q[i1][j]));
      tbwd reach_b = tbw_add(tbw_mul(p->b[j1], Q[i][j2]), tbw_mul(p->b[j2], Q[i][j1]));
      room[i][j] = tbw_sub(tbw_sub(way, reach_a), reach_b);
      square[i][j] = tbw_sub(one, tbw_mul(p->C[i][j], p->C[i][j]));
      wide = max(wide, tbw_choose(room[i][j], bound, tbw_choose(square[i][j], parallel, one, zero), zero));
    }
  Best best = {tbw_set1(-INFINITY), tbw_set1(7)};
  if (!tbw_any_above(wide, zero)) return best;
  for (int k = 0; k < 9; k++) {
    tbwd s = square[k / 3][k % 3], gap = tbw_div(room[k / 3][k % 3], tbw_sqrt(max(s, parallel)));
    take(&best, tbw_choose(s, parallel, gap, tbw_set1(-INFINITY)), 7 + k);
  }
  best.gap = tbw_choose(wide, zero, best.gap, tbw_set1(-INFINITY));
  return best;
}

static inline void tell(const Pairs* p, const Best* apart, tbwd face, tbwd edges, int count, tbBoxAxis* out)
{
  double gap[TB_WIDE], away[TB_WIDE], of_face[TB_WIDE], of_edges[TB_WIDE], C[9][TB_WIDE], t[3][TB_WIDE],
      back[3][TB_WIDE];
  tbw_store(gap, apart->gap), tbw_store(away, apart->axis);
  tbw_store(of_face, face), tbw_store(of_edges, edges);
  for (int k = 0; k < 9; k++) tbw_store(C[k], p->C[k / 3][k % 3]);
  for (int k = 0; k < 3; k++) tbw_store(t[k], p->t[k]), tbw_store(back[k], p->back[k]);
  for (int i = 0; i < count; i++) {
    tbBoxAxis* o = &out[i];
    o->gap = gap[i], o->apart = (uint8_t)away[i], o->face = (uint8_t)of_face[i];
    o->edges = o->apart ? 0 : (uint8_t)of_edges[i];
    for (int k = 0; k < 9; k++) o->C[k / 3][k % 3] = C[k][i];
    for (int k = 0; k < 3; k++) o->t[k] = t[k][i], o->back[k] = back[k][i];
  }
}

void tb_box_axes(const tbBoxPairs* pairs, int count, tbBoxAxis* out)
{
  for (int lane = 0; lane < count; lane += TB_WIDE) {
    Pairs p;
    Best face, other;
    relate(pairs, lane, &p);
    best_faces(&p, &face, &other);
    tbwd least = min(min(min(p.a[0], p.a[1]), p.a[2]), min(min(p.b[0], p.b[1]), p.b[2]));
    tbwd tie = tbw_mul(tbw_set1(TB_BOX_TIE), least), zero = tbw_set1(0), margin = p.margin;
    Best apart = {tbw_choose(face.gap, margin, face.gap, other.gap),
                  tbw_choose(face.gap, margin, face.axis, other.axis)};
    tbwd clear = tbw_add(face.gap, tie); // of a face of A, for one of B to take its place
    face.axis = tbw_choose(other.gap, clear, other.axis, face.axis);
    face.gap = tbw_choose(other.gap, clear, other.gap, face.gap);
    clear = tbw_add(face.gap, tie);
    Best edges = best_edges(&p, min(min(clear, margin), zero));
    tbwd by_face = apart.gap;
    apart.axis = tbw_choose(by_face, margin, apart.axis, edges.axis);
    apart.gap = tbw_choose(by_face, margin, by_face, edges.gap);
    apart.axis = tbw_choose(apart.gap, margin, apart.axis, zero);
    edges.axis = tbw_choose(edges.gap, clear, edges.axis, zero);
    tell(&p, &apart, face.axis, edges.axis, count - lane < TB_WIDE ? count - lane : TB_WIDE, out + lane);
  }
}
