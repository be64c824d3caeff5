// SPDX-License-Identifier: Apache-2.0
// The face of the other box that looks back, a parallelogram, and the reference face, a rectangle, are both
// seen along the normal of the reference. The polygon they share has corners of three kinds: corners of the
// other face that lie over the reference, places where sides of the two cross (Liang & Barsky 1984: of the
// lines that a side enters by, the last; of those that it leaves by, the first), and corners of the
// reference that lie under the other face. All sixteen that there could be are computed, four at a time, and
// a bit says which are there: each is found by itself, so that its name is known, and none depends on how
// another was rounded.
//
// Of more than four corners within the margin those stay that hold the box best: one of the deepest, the one
// farthest from it, and the farthest on either side of the line between these. Where several are equal but
// for rounding, the first of the list is taken.
#include "collide/box_face.h"

#include "base/simd.h"
#include "collide/pairs.h"

#include <string.h>

// What a corner of the polygon is, by its place in the list: each kind has four.
enum { CORNER = 0, ENTRY = 4, EXIT = 8, REFERENCE = 12, MOST = 16 };

typedef struct {
  double u[MOST], v[MOST], w[MOST]; // across the face, and the gap
  unsigned line[2][4];              // sides that enter by line j of the reference, and that leave by it
} Polygon;

// The number of a face, and its corners in order around it, as they are numbered on the box.
typedef struct {
  int index, vertex[4];
} Names;

// Bit k of a vertex: it is on the upper side along axis k.
static const Names* names_of(int axis, bool upper)
{
  static const Names names[6] = {{0, {0, 2, 6, 4}}, {1, {1, 3, 7, 5}}, {2, {0, 4, 5, 1}},
                                 {3, {2, 6, 7, 3}}, {4, {0, 1, 3, 2}}, {5, {4, 5, 7, 6}}};
  return &names[2 * axis + upper];
}

// The other face as seen along the reference's axes u, v and its normal: its centre and half of its sides.
typedef struct {
  double middle[3], e[3], f[3];
} Facing;

static inline const Names* facing(const tbBoxOver* o, Facing* out)
{
  double side = o->side;
  int k = o->axis, u = k < 2 ? k + 1 : 0, v = k > 0 ? k - 1 : 2;
  int m = fabs(o->R[k][1]) > fabs(o->R[k][0]) + 1e-6; // no branches: which it is cannot be foreseen
  m = fabs(o->R[k][2]) > fabs(o->R[k][m]) + 1e-6 ? 2 : m;
  bool upper = side * o->R[k][m] < 0;
  double up = upper ? o->other_half[m] : -o->other_half[m];
  int e = m < 2 ? m + 1 : 0, f = m > 0 ? m - 1 : 2;
  const int axes[3] = {u, v, k};
  for (int r = 0; r < 3; r++) {
    int a = axes[r];
    out->middle[r] = o->x[a] + up * o->R[a][m];
    out->e[r] = o->other_half[e] * o->R[a][e];
    out->f[r] = o->other_half[f] * o->R[a][f];
  }
  out->middle[2] = side * out->middle[2] - o->half[k];
  out->e[2] *= side;
  out->f[2] *= side;
  return names_of(m, upper);
}

// Corners of a rectangle, in order around it.
static const double MINUS_PLUS[5] = {-1, 1, 1, -1, -1}, MINUS_MINUS[5] = {-1, -1, 1, 1, -1};

// A coordinate of the four corners of the other face, from the first or from the second on.
static inline tb4d corners_of(const Facing* f, int r, int first)
{
  tb4d e = tb4_mul(tb4_load(MINUS_PLUS + first), tb4_set1(f->e[r]));
  return tb4_add(tb4_add(tb4_set1(f->middle[r]), e),
                 tb4_mul(tb4_load(MINUS_MINUS + first), tb4_set1(f->f[r])));
}

// The sides of the other face: from corner i to the next. Lines of the reference: u ≤ half, v ≤ half,
// u ≥ −half, v ≥ −half; how deep corners lie within them.
typedef struct {
  tb4d at[3], next[3];          // u, v, w
  tb4d depth[4], depth_next[4]; // by line
} Sides;

static inline void make_sides(const Facing* f, double half_u, double half_v, Sides* s)
{
  tb4d hu = tb4_set1(half_u), hv = tb4_set1(half_v);
  for (int r = 0; r < 3; r++) s->at[r] = corners_of(f, r, 0), s->next[r] = corners_of(f, r, 1);
  s->depth[0] = tb4_sub(hu, s->at[0]), s->depth_next[0] = tb4_sub(hu, s->next[0]);
  s->depth[1] = tb4_sub(hv, s->at[1]), s->depth_next[1] = tb4_sub(hv, s->next[1]);
  s->depth[2] = tb4_add(hu, s->at[0]), s->depth_next[2] = tb4_add(hu, s->next[0]);
  s->depth[3] = tb4_add(hv, s->at[1]), s->depth_next[3] = tb4_add(hv, s->next[1]);
}

static inline void put(Polygon* p, int first, tb4d u, tb4d v, tb4d w)
{
  tb4_store(p->u + first, u);
  tb4_store(p->v + first, v);
  tb4_store(p->w + first, w);
}

static inline void put_along(Polygon* p, int first, const Sides* s, const tb4d way[3], tb4d t)
{
  put(p, first, tb4_add(s->at[0], tb4_mul(t, way[0])), tb4_add(s->at[1], tb4_mul(t, way[1])),
      tb4_add(s->at[2], tb4_mul(t, way[2])));
}

// Where the sides of the other face cross those of the reference; over: corners that lie over it. Corners
// that stand out by no more than `near` count as inside, and where a side crosses a line within that of its
// end, the end is enough.
static inline unsigned cross(const Sides* s, unsigned over, double near, Polygon* p)
{
  tb4d out = tb4_set1(-near), close = tb4_set1(near), zero = tb4_set1(0), one = tb4_set1(1);
  tb4d from = zero, to = one, enter[4], leave[4];
  for (int j = 0; j < 4; j++) { // a side that lies beyond a line ends before it begins
    tb4d d = s->depth[j], next = s->depth_next[j], t = tb4_div(d, tb4_sub(d, next));
    enter[j] = tb4_choose(out, d, tb4_choose(out, next, tb4_set1(2), t), zero);
    leave[j] = tb4_choose(out, next, tb4_choose(out, d, tb4_set1(-1), t), one);
    from = tb4_max(from, enter[j]), to = tb4_min(to, leave[j]);
  }
  unsigned visible = ~(unsigned)tb4_at_most(to, from), enters = 0, leaves = 0, begins = over,
           ends = over >> 1 | (over & 1) << 3;
  for (int j = 0; j < 4; j++) {
    unsigned in = (unsigned)tb4_at_most(from, enter[j]) & ~(unsigned)tb4_at_most(enter[j], zero);
    unsigned by = (unsigned)tb4_at_most(leave[j], to) & ~(unsigned)tb4_at_most(one, leave[j]);
    enters |= in & ~(ends & (unsigned)tb4_at_most(s->depth_next[j], close));
    leaves |= by & ~(begins & (unsigned)tb4_at_most(s->depth[j], close));
    p->line[0][j] = in, p->line[1][j] = by;
  }
  tb4d way[3];
  for (int r = 0; r < 3; r++) way[r] = tb4_sub(s->next[r], s->at[r]);
  tb4d length = tb4_mul(tb4_sub(to, from), tb4_max(tb4_abs(way[0]), tb4_abs(way[1])));
  leaves &= ~(enters & (unsigned)tb4_at_most(length, close));
  put_along(p, ENTRY, s, way, from);
  put_along(p, EXIT, s, way, to);
  return (enters & visible & 15) << ENTRY | (leaves & visible & 15) << EXIT;
}

// Corners of the reference under the other face, from its second on, but where another corner of the polygon
// is close.
static inline unsigned reference(const Facing* f, double half_u, double half_v, double near, unsigned others,
                                 Polygon* p)
{
  tb4d u = tb4_mul(tb4_load(MINUS_PLUS + 1), tb4_set1(half_u)),
       v = tb4_mul(tb4_load(MINUS_MINUS + 1), tb4_set1(half_v));
  tb4d du = tb4_sub(u, tb4_set1(f->middle[0])), dv = tb4_sub(v, tb4_set1(f->middle[1]));
  tb4d x = tb4_sub(tb4_mul(du, tb4_set1(f->f[1])), tb4_mul(dv, tb4_set1(f->f[0])));
  tb4d y = tb4_sub(tb4_mul(dv, tb4_set1(f->e[0])), tb4_mul(du, tb4_set1(f->e[1])));
  double det = f->e[0] * f->f[1] - f->e[1] * f->f[0];
  tb4d most = tb4_set1(fabs(det) * (1 + 1e-9)); // what is missed by rounding here may be missed by all
  unsigned under = (unsigned)(tb4_at_most(tb4_abs(x), most) & tb4_at_most(tb4_abs(y), most));
  if (!under) return 0;
  tb4d rise = tb4_add(tb4_mul(x, tb4_set1(f->e[2])), tb4_mul(y, tb4_set1(f->f[2])));
  put(p, REFERENCE, u, v, tb4_add(tb4_set1(f->middle[2]), tb4_div(rise, tb4_set1(det))));
  tb4d close = tb4_set1(2 * near);
  for (; others; others &= others - 1) {
    int i = __builtin_ctz(others);
    tb4d away_u = tb4_abs(tb4_sub(u, tb4_set1(p->u[i]))), away_v = tb4_abs(tb4_sub(v, tb4_set1(p->v[i])));
    under &= ~(unsigned)(tb4_at_most(away_u, close) & tb4_at_most(away_v, close));
  }
  return under << REFERENCE;
}

// Corners of the polygon whose gap is at most the margin, a bit each.
static unsigned polygon_of(const Facing* f, double half_u, double half_v, double margin, double near,
                           Polygon* p)
{
  Sides s;
  unsigned in[4], listed, within = 0;
  make_sides(f, half_u, half_v, &s);
  for (int j = 0; j < 4; j++) in[j] = (unsigned)tb4_at_most(tb4_set1(-near), s.depth[j]);
  if (!in[0] || !in[1] || !in[2] || !in[3]) return 0; // all of it lies beside the face
  unsigned over = in[0] & in[1] & in[2] & in[3];
  put(p, CORNER, s.at[0], s.at[1], s.at[2]);
  tb4d most = tb4_set1(margin);
  if (over == 15) return (unsigned)tb4_at_most(s.at[2], most);
  listed = over | cross(&s, over, near, p);
  unsigned under = reference(f, half_u, half_v, near, listed, p);
  for (int i = 0; i < REFERENCE; i += 4) within |= (unsigned)tb4_at_most(tb4_load(p->w + i), most) << i;
  if (under) within |= (unsigned)tb4_at_most(tb4_load(p->w + REFERENCE), most) << REFERENCE;
  return (listed | under) & within;
}

// Four of the corners; later ones must be better by a thousandth to take the place of earlier ones.
static unsigned choose(const Polygon* p, unsigned all, double near)
{
  int list[MOST], n = 0;
  list[0] = 0;
  double deepest = INFINITY, farthest = 0, left = 0, right = 0, clear = 1.001;
  int first = 0, second = -1, third = -1, fourth = -1;
  for (; all; all &= all - 1) {
    int i = list[n++] = __builtin_ctz(all);
    deepest = p->w[i] < deepest ? p->w[i] : deepest;
  }
  while (!(p->w[list[first]] <= deepest + near) && first + 1 < n) first++;
  first = list[first];
  double u = p->u[first], v = p->v[first];
  for (int k = 0; k < n; k++) {
    double du = p->u[list[k]] - u, dv = p->v[list[k]] - v, d = du * du + dv * dv;
    if (d > clear * farthest) farthest = d, second = list[k];
  }
  if (second < 0) return 1u << first;
  double eu = p->u[second] - u, ev = p->v[second] - v;
  for (int k = 0; k < n; k++) {
    double area = eu * (p->v[list[k]] - v) - ev * (p->u[list[k]] - u);
    if (area > clear * left) left = area, third = list[k];
    if (area < clear * right) right = area, fourth = list[k];
  }
  return 1u << first | 1u << second | (third >= 0 ? 1u << third : 0) | (fourth >= 0 ? 1u << fourth : 0);
}

static inline void name(const Polygon* p, int i, const Names* own, const Names* other, tbBoxFacePoint* out)
{
  const int *w = other->vertex, *v = own->vertex, k = i & 3;
  const unsigned* lines = p->line[i >= EXIT];
  unsigned bits = (lines[0] >> k & 1) | (lines[1] >> k & 1) << 1 | (lines[2] >> k & 1) << 2 | 8;
  int line = __builtin_ctz(bits); // runs along the side of the reference that begins in its corner line + 1
  uint32_t mine = tb_feature_edge(v[(line + 1) & 3], v[(line + 2) & 3]),
           others = tb_feature_edge(w[k], w[(k + 1) & 3]);
  const uint32_t of_own[4] = {tb_feature_face(own->index), mine, mine, tb_feature_vertex(v[(k + 1) & 3])};
  const uint32_t of_other[4] = {tb_feature_vertex(w[k]), others, others, tb_feature_face(other->index)};
  out->own = of_own[i / 4], out->other = of_other[i / 4];
}

int tb_box_face_points(const tbBoxOver* o, double margin, double near, int most, tbBoxFacePoint* out)
{
  Facing f;
  Polygon p;
  memset(p.line, 0, sizeof p.line);
  int k = o->axis, u = k < 2 ? k + 1 : 0, v = k > 0 ? k - 1 : 2, count = 0;
  const Names *other = facing(o, &f), *own = names_of(k, o->side > 0);
  unsigned all = polygon_of(&f, o->half[u], o->half[v], margin, near, &p), next = all;
  if (__builtin_popcount(all) > TB_NARROW_POINTS) next = choose(&p, all, near);
  for (unsigned rest = all & ~next; next && count < most; count++) {
    int i = __builtin_ctz(next);
    out[count].p[u] = p.u[i];
    out[count].p[v] = p.v[i];
    out[count].p[k] = o->side * (o->half[k] + 0.5 * p.w[i]);
    out[count].gap = p.w[i];
    name(&p, i, own, other, &out[count]);
    next &= next - 1;
    if (!next) next = rest, rest = 0;
  }
  return count;
}
