// SPDX-License-Identifier: Apache-2.0
// Balls in motion and triangles, eight at a time, in floats: what may come close to what.
//
// A ball has a centre c, a radius r, a mean motion m and a spread s about it: all that is in it stays within
// r of c at the start and moves by m, give or take s. Of two balls nothing comes closer than d as long as
//
//   |c_a − c_b| > d + r_a + r_b + |m_a − m_b| + s_a + s_b
//
// so that what moves together costs nothing, however fast.
#ifndef TB_COLLIDE_BALLS_H
#define TB_COLLIDE_BALLS_H

#include "base/simd_float.h"

enum { TB_EIGHT = 8 };

typedef struct tbBall {
  float c[3], r, m[3], s;
} tbBall;

// Eight of them, lane by lane. A lane without one is nowhere.
typedef struct tbBalls {
  float c[3][TB_EIGHT], r[TB_EIGHT], m[3][TB_EIGHT], s[TB_EIGHT];
} tbBalls;

static const tbBall TB_NOWHERE = {.c = {INFINITY, INFINITY, INFINITY}};

static inline void tb_ball_load(const tbBalls* of, int lane, tbBall* out)
{
  for (int k = 0; k < 3; k++) out->c[k] = of->c[k][lane], out->m[k] = of->m[k][lane];
  out->r = of->r[lane], out->s = of->s[lane];
}

static inline void tb_ball_store(const tbBall* b, tbBalls* of, int lane)
{
  for (int k = 0; k < 3; k++) of->c[k][lane] = b->c[k], of->m[k][lane] = b->m[k];
  of->r[lane] = b->r, of->s[lane] = b->s;
}

static inline float tb_ball_apart(const float a[3], const float b[3])
{
  float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return sqrtf(x * x + y * y + z * z);
}

// Around a few: in the middle of their box, with the middle of their motions.
static inline tbBall tb_ball_around(const tbBall* b, int count)
{
  tbBall out = {.r = 0};
  for (int k = 0; k < 3; k++) {
    float lo = b[0].c[k], hi = lo, slow = b[0].m[k], fast = slow;
    for (int i = 1; i < count; i++) {
      float c = b[i].c[k], m = b[i].m[k];
      lo = c < lo ? c : lo, hi = c > hi ? c : hi;
      slow = m < slow ? m : slow, fast = m > fast ? m : fast;
    }
    out.c[k] = 0.5f * lo + 0.5f * hi, out.m[k] = 0.5f * slow + 0.5f * fast;
  }
  for (int i = 0; i < count; i++) {
    float r = tb_ball_apart(out.c, b[i].c) + b[i].r, s = tb_ball_apart(out.m, b[i].m) + b[i].s;
    out.r = r > out.r ? r : out.r, out.s = s > out.s ? s : out.s;
  }
  return out;
}

static inline tb8f tb8_dot(const tb8f a[3], const tb8f b[3])
{
  return tb8_add(tb8_add(tb8_mul(a[0], b[0]), tb8_mul(a[1], b[1])), tb8_mul(a[2], b[2]));
}

// Which of eight balls something of b may come within d of: bit k for lane k.
static inline unsigned tb_balls_meet(const tbBall* b, const tbBalls* of, float d)
{
  tb8f way[3], m[3];
  for (int k = 0; k < 3; k++) {
    way[k] = tb8_sub(tb8_set1(b->c[k]), tb8_load(of->c[k]));
    m[k] = tb8_sub(tb8_set1(b->m[k]), tb8_load(of->m[k]));
  }
  tb8f reach = tb8_add(tb8_add(tb8_sqrt(tb8_dot(m, m)), tb8_load(of->s)), tb8_load(of->r));
  reach = tb8_add(reach, tb8_set1(b->r + b->s + d));
  return (unsigned)tb8_at_most(tb8_dot(way, way), tb8_mul(reach, reach));
}

// Eight triangles, from the first corner: p + u U + v V, and what distances from them take.
typedef struct tbTriangles8 {
  float p[3][TB_EIGHT], U[3][TB_EIGHT], V[3][TB_EIGHT];
  float uu[TB_EIGHT], uv[TB_EIGHT], vv[TB_EIGHT];
  float by_uu[TB_EIGHT], by_vv[TB_EIGHT], by_ww[TB_EIGHT]; // 1/|U|², 1/|V|², 1/|V − U|²; 0: no length
  float by_det[TB_EIGHT];
  float doubt[TB_EIGHT]; // INFINITY: too thin for floats to tell on which side of a side a point is; else 0
} tbTriangles8;

static const float TB_THIN = 1e-3f; // sin² of an angle of a triangle that is too thin

// The triangles whose corners are these, by lanes.
static inline void tb_triangles8_make(const float corner[3][3][TB_EIGHT], tbTriangles8* t)
{
  const tb8f one = tb8_set1(1), none = tb8_set1(0);
  tb8f U[3], V[3];
  for (int k = 0; k < 3; k++) {
    tb8f p = tb8_load(corner[0][k]);
    U[k] = tb8_sub(tb8_load(corner[1][k]), p), V[k] = tb8_sub(tb8_load(corner[2][k]), p);
    tb8_store(t->p[k], p), tb8_store(t->U[k], U[k]), tb8_store(t->V[k], V[k]);
  }
  tb8f uu = tb8_dot(U, U), vv = tb8_dot(V, V), uv = tb8_dot(U, V);
  tb8f det = tb8_sub(tb8_mul(uu, vv), tb8_mul(uv, uv)), ww = tb8_sub(tb8_add(uu, vv), tb8_add(uv, uv));
  tb8f least = tb8_mul(tb8_set1(TB_THIN), tb8_mul(uu, vv));
  tb8_store(t->uu, uu), tb8_store(t->uv, uv), tb8_store(t->vv, vv);
  tb8_store(t->by_uu, tb8_choose(uu, none, tb8_div(one, uu), none));
  tb8_store(t->by_vv, tb8_choose(vv, none, tb8_div(one, vv), none));
  tb8_store(t->by_ww, tb8_choose(ww, none, tb8_div(one, ww), none));
  tb8_store(t->by_det, tb8_choose(det, least, tb8_div(one, det), none));
  tb8_store(t->doubt, tb8_choose(det, least, none, tb8_set1(INFINITY)));
}

// The closest of what was looked at so far: the way from there, and its square.
typedef struct tbClosest8 {
  tb8f way[3], square;
} tbClosest8;

static inline void tb8_take_closer(tbClosest8* best, const tb8f way[3])
{
  tb8f square = tb8_dot(way, way);
  for (int k = 0; k < 3; k++) best->way[k] = tb8_choose(best->square, square, way[k], best->way[k]);
  best->square = tb8_min(square, best->square);
}

// The side from the origin along D: C − s D with s = along/|D|², kept between 0 and 1.
static inline void tb8_take_side(tbClosest8* best, const tb8f C[3], const tb8f D[3], tb8f along, tb8f by_dd)
{
  tb8f s = tb8_max(tb8_min(tb8_mul(along, by_dd), tb8_set1(1)), tb8_set1(0)), at[3];
  for (int k = 0; k < 3; k++) at[k] = tb8_sub(C[k], tb8_mul(s, D[k]));
  tb8_take_closer(best, at);
}

// The way from the closest point of each triangle to a point: that of a side, or of the plane where the
// foot is inside.
static inline tbClosest8 tb_triangles8_closest(const float point[3], const tbTriangles8* t)
{
  const tb8f far = tb8_set1(INFINITY), none = tb8_set1(0);
  tb8f C[3], U[3], V[3], W[3], at[3], past[3];
  for (int k = 0; k < 3; k++) {
    C[k] = tb8_sub(tb8_set1(point[k]), tb8_load(t->p[k]));
    U[k] = tb8_load(t->U[k]), V[k] = tb8_load(t->V[k]), W[k] = tb8_sub(V[k], U[k]);
    past[k] = tb8_sub(C[k], U[k]);
  }
  tb8f a = tb8_dot(C, U), c = tb8_dot(C, V), uv = tb8_load(t->uv), by_det = tb8_load(t->by_det);
  tb8f u = tb8_mul(by_det, tb8_sub(tb8_mul(tb8_load(t->vv), a), tb8_mul(uv, c)));
  tb8f v = tb8_mul(by_det, tb8_sub(tb8_mul(tb8_load(t->uu), c), tb8_mul(uv, a)));
  tb8f inside = tb8_min(tb8_min(u, v), tb8_sub(tb8_set1(1), tb8_add(u, v)));
  for (int k = 0; k < 3; k++) at[k] = tb8_sub(C[k], tb8_add(tb8_mul(u, U[k]), tb8_mul(v, V[k])));
  tbClosest8 best = {.way = {at[0], at[1], at[2]}, .square = tb8_choose(none, inside, far, tb8_dot(at, at))};
  tb8_take_side(&best, C, U, a, tb8_load(t->by_uu));
  tb8_take_side(&best, C, V, c, tb8_load(t->by_vv));
  tb8_take_side(&best, past, W, tb8_dot(past, W), tb8_load(t->by_ww));
  return best;
}

// Which of eight triangles a point may come within d of, moving along the way to it: bit k for lane k. of:
// balls around them; blur: what the ends of a way may be wrong by.
static inline unsigned tb_triangles8_meet(const tbBall* b, const tbTriangles8* t, const tbBalls* of, float d,
                                          float blur)
{
  const tb8f none = tb8_set1(0), tiny = tb8_set1(1e-30f);
  tbClosest8 c = tb_triangles8_closest(b->c, t);
  tb8f m[3], distance = tb8_sqrt(c.square), by = tb8_div(tb8_set1(1), tb8_max(distance, tiny));
  for (int k = 0; k < 3; k++) m[k] = tb8_sub(tb8_load(of->m[k]), tb8_set1(b->m[k]));
  tb8f comes = tb8_max(tb8_mul(by, tb8_dot(c.way, m)), none);
  tb8f turn = tb8_mul(tb8_sqrt(tb8_dot(m, m)), tb8_min(tb8_mul(tb8_set1(blur), by), tb8_set1(2)));
  tb8f reach = tb8_add(tb8_add(comes, turn), tb8_add(tb8_load(of->s), tb8_load(t->doubt)));
  return (unsigned)tb8_at_most(distance, tb8_add(reach, tb8_set1(b->r + b->s + d)));
}

#endif
