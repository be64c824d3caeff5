// SPDX-License-Identifier: Apache-2.0
// The face of the other box that looks back is cut by the four sides of the reference face (Sutherland &
// Hodgman 1974), which are lines across the axes of its frame. Each side of the polygon remembers where it
// comes from, so that every corner can be named. Of more than four corners within the margin those stay that
// hold the box best: one of the deepest, the one farthest from it, and the farthest on either side of the
// line between these. Where several are equal but for rounding, the first around the polygon is taken.
#include "collide/box_face.h"
#include "collide/pairs.h"

enum { MOST = 8, NONE = 255 };

typedef struct {
  double u, v, w;  // across the face, and the gap
  uint8_t subject; // corner of the other face, or first corner of the side it lies on; NONE: of the reference
  uint8_t line;    // side of the reference that it lies on; NONE: a corner of the other face
  uint8_t side;    // where the side that leaves it comes from: 0 … 3 the other face, 4 + j line j
} Corner;

// How deep corners lie within a line, of those in order around the face: u ≤ half, v ≤ half, u ≥ −half,
// v ≥ −half. Returns those that stand out by more than `near`, a bit each.
static unsigned look_over(const Corner* c, int n, int line, double half, double near, double* inside)
{
  unsigned out = 0;
  double sign = line & 2 ? 1 : -1;
  for (int i = 0; i < n; i++) {
    inside[i] = half + sign * (line & 1 ? c[i].v : c[i].u);
    out |= (unsigned)(inside[i] < -near) << i;
  }
  return out;
}

static Corner crossing(const Corner* p, const Corner* q, double dp, double dq, int line)
{
  double t = dp / (dp - dq);
  Corner c = {.u = p->u + t * (q->u - p->u), .v = p->v + t * (q->v - p->v), .w = p->w + t * (q->w - p->w)};
  c.subject = p->side;
  c.line = (uint8_t)line;
  if (p->side >= 4) { // two lines meet in a corner of the reference, named by the first of the two
    int other = p->side - 4;
    c.subject = NONE;
    c.line = (uint8_t)((other + 1) % 4 == line ? other : line);
  }
  return c;
}

static int cut(const Corner* in, int n, int line, const double* inside, unsigned outside, double near,
               Corner* out)
{
  int count = 0;
  for (int i = 0; i < n; i++) {
    int k = i + 1 < n ? i + 1 : 0;
    bool here = !(outside >> i & 1), there = !(outside >> k & 1);
    if (here && count < MOST) out[count++] = in[i];
    if (here && !there) {
      if (inside[i] <= near)
        out[count - 1].side = (uint8_t)(4 + line); // it lies on the line: no second corner
      else if (count < MOST) {
        out[count] = crossing(&in[i], &in[k], inside[i], inside[k], line);
        out[count++].side = (uint8_t)(4 + line);
      }
    } else if (!here && there && inside[k] > near && count < MOST) {
      out[count] = crossing(&in[i], &in[k], inside[i], inside[k], line);
      out[count++].side = in[i].side;
    }
  }
  return count;
}

// The number of a face, and its corners in order around it, as they are numbered on the box.
typedef struct {
  int index, vertex[4];
} Names;

static Names names_of(int axis, bool upper)
{
  static const int bit_u[4] = {0, 1, 1, 0}, bit_v[4] = {0, 0, 1, 1};
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  Names names = {.index = 2 * axis + upper};
  for (int i = 0; i < 4; i++) names.vertex[i] = upper << axis | bit_u[i] << u | bit_v[i] << v;
  return names;
}

// Corners of the other box's face that looks back, as seen along the reference's axes u, v and its normal.
static Names facing(const tbBoxOver* o, Corner c[4])
{
  double side = o->side;
  int k = o->axis, u = (k + 1) % 3, v = (k + 2) % 3, m = 0;
  for (int i = 1; i < 3; i++)
    if (fabs(o->R[k][i]) > fabs(o->R[k][m]) + 1e-6) m = i;
  bool upper = side * o->R[k][m] < 0;
  double up = upper ? o->other_half[m] : -o->other_half[m];
  int e = (m + 1) % 3, f = (m + 2) % 3;
  double base[3], ea[3], fa[3];
  const int axes[3] = {u, v, k};
  for (int r = 0; r < 3; r++) {
    int a = axes[r];
    base[r] = o->x[a] + up * o->R[a][m];
    ea[r] = o->other_half[e] * o->R[a][e];
    fa[r] = o->other_half[f] * o->R[a][f];
  }
  base[2] = side * base[2] - o->half[k];
  ea[2] *= side;
  fa[2] *= side;
  static const double sign_e[4] = {-1, 1, 1, -1}, sign_f[4] = {-1, -1, 1, 1};
  for (int i = 0; i < 4; i++)
    c[i] = (Corner){.u = base[0] + sign_e[i] * ea[0] + sign_f[i] * fa[0],
                    .v = base[1] + sign_e[i] * ea[1] + sign_f[i] * fa[1],
                    .w = base[2] + sign_e[i] * ea[2] + sign_f[i] * fa[2],
                    .subject = (uint8_t)i,
                    .line = NONE,
                    .side = (uint8_t)i};
  return names_of(m, upper);
}

static int cut_by_sides(const tbBoxOver* o, double near, Corner buffer[2][MOST], const Corner** result)
{
  const double half[2] = {o->half[(o->axis + 1) % 3], o->half[(o->axis + 2) % 3]};
  int n = 4, which = 0;
  for (int line = 0; line < 4 && n > 0; line++) {
    double inside[MOST];
    unsigned outside = look_over(buffer[which], n, line, half[line & 1], near, inside);
    if (outside == 0) continue;
    if (outside == (1u << n) - 1) { // nothing of it lies over the face
      n = 0;
      break;
    }
    n = cut(buffer[which], n, line, inside, outside, near, buffer[which ^ 1]);
    which ^= 1;
  }
  *result = buffer[which];
  return n;
}

static double across(const Corner* a, const Corner* b, const Corner* c)
{
  return (b->u - a->u) * (c->v - a->v) - (b->v - a->v) * (c->u - a->u);
}

// Four of the corners listed in `in`; later ones must be better by a thousandth to take the place of earlier
// ones.
static int choose(const Corner* c, const int* in, int n, double near, int* out)
{
  double deepest = INFINITY, farthest = 0, left = 0, right = 0, clear = 1.001;
  int first = -1, second = -1, third = -1, fourth = -1;
  for (int i = 0; i < n; i++) deepest = c[in[i]].w < deepest ? c[in[i]].w : deepest;
  for (int i = 0; i < n && first < 0; i++)
    if (c[in[i]].w <= deepest + near) first = in[i];
  for (int i = 0; i < n; i++) {
    double du = c[in[i]].u - c[first].u, dv = c[in[i]].v - c[first].v, d = du * du + dv * dv;
    if (d > clear * farthest) farthest = d, second = in[i];
  }
  for (int i = 0; second >= 0 && i < n; i++) {
    double area = across(&c[first], &c[second], &c[in[i]]);
    if (area > clear * left) left = area, third = in[i];
    if (area < clear * right) right = area, fourth = in[i];
  }
  int count = 0;
  for (int i = 0; i < n; i++)
    if (in[i] == first || in[i] == second || in[i] == third || in[i] == fourth) out[count++] = in[i];
  return count;
}

static void name(const Corner* c, const Names* own, const Names* other, tbBoxFacePoint* out)
{
  const int* w = other->vertex;
  // line j runs along a side of the reference: its corners there
  static const int begin[4] = {1, 2, 3, 0}, end[4] = {2, 3, 0, 1};
  if (c->line == NONE) {
    out->own = tb_feature_face(own->index);
    out->other = tb_feature_vertex(w[c->subject]);
  } else if (c->subject == NONE) {
    out->own = tb_feature_vertex(own->vertex[end[c->line]]);
    out->other = tb_feature_face(other->index);
  } else {
    out->own = tb_feature_edge(own->vertex[begin[c->line]], own->vertex[end[c->line]]);
    out->other = tb_feature_edge(w[c->subject], w[(c->subject + 1) % 4]);
  }
}

int tb_box_face_points(const tbBoxOver* o, double margin, double near, tbBoxFacePoint* out)
{
  Corner buffer[2][MOST];
  const Corner* c;
  int k = o->axis, chosen[MOST], in[MOST], count = 0;
  Names other = facing(o, buffer[0]), own = names_of(k, o->side > 0);
  int n = cut_by_sides(o, near, buffer, &c);
  for (int i = 0; i < n; i++)
    if (c[i].w <= margin) in[count++] = i;
  const int* list = in;
  if (count > TB_NARROW_POINTS) count = choose(c, in, count, near, chosen), list = chosen;
  for (int i = 0; i < count; i++) {
    const Corner* p = &c[list[i]];
    out[i].p[(k + 1) % 3] = p->u;
    out[i].p[(k + 2) % 3] = p->v;
    out[i].p[k] = o->side * (o->half[k] + 0.5 * p->w);
    out[i].gap = p->w;
    name(p, &own, &other, &out[i]);
  }
  return count;
}
