// SPDX-License-Identifier: Apache-2.0
#include "collide/intersect.h"
#include "geometry/box.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t x[3];
} Int3;

typedef struct {
  int64_t top, bottom; // bottom > 0
} Ratio;

static Int3 sub(Int3 a, Int3 b) { return (Int3){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}}; }
static int64_t dot(Int3 a, Int3 b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static Int3 cross(Int3 a, Int3 b)
{
  Int3 r;
  for (int k = 0; k < 3; k++)
    r.x[k] = a.x[(k + 1) % 3] * b.x[(k + 2) % 3] - a.x[(k + 2) % 3] * b.x[(k + 1) % 3];
  return r;
}
static bool is_zero(Int3 a) { return !a.x[0] && !a.x[1] && !a.x[2]; }
static bool less(Ratio a, Ratio b) { return a.top * b.bottom < b.top * a.bottom; }

// Where the plane n·(x − o) = 0 cuts the triangle, along D. False: nowhere. *both: corners on either side.
static bool cut_interval(const Int3 a[3], Int3 n, Int3 o, Int3 D, Ratio out[2], bool* both)
{
  int64_t d[3];
  bool any = false;
  for (int k = 0; k < 3; k++) d[k] = dot(n, sub(a[k], o));
  *both = (d[0] > 0 || d[1] > 0 || d[2] > 0) && (d[0] < 0 || d[1] < 0 || d[2] < 0);
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3;
    Ratio r;
    if (d[k] == 0) r = (Ratio){dot(D, a[k]), 1};
    else if ((d[k] > 0 && d[l] < 0) || (d[k] < 0 && d[l] > 0)) {
      int64_t s = d[l] > d[k] ? 1 : -1;
      r = (Ratio){s * (dot(D, a[k]) * d[l] - dot(D, a[l]) * d[k]), s * (d[l] - d[k])};
    } else continue;
    if (!any || less(r, out[0])) out[0] = r;
    if (!any || less(out[1], r)) out[1] = r;
    any = true;
  }
  return any;
}

// In one plane: the area of a ∩ b by clipping, in doubles; coordinates are small integers, so that it is
// either 0 or well above rounding. −1: nothing in common.
static double common_area(const Int3 a[3], const Int3 b[3], Int3 n)
{
  int drop = 0;
  for (int k = 1; k < 3; k++)
    if (llabs(n.x[k]) > llabs(n.x[drop])) drop = k;
  int i0 = (drop + 1) % 3, i1 = (drop + 2) % 3, count = 3;
  double P[16][2], Q[16][2];
  for (int k = 0; k < 3; k++) P[k][0] = (double)a[k].x[i0], P[k][1] = (double)a[k].x[i1];
  Int3 nb = cross(sub(b[1], b[0]), sub(b[2], b[0]));
  double turn = nb.x[drop] > 0 ? 1 : -1;
  for (int e = 0; e < 3; e++) {
    const Int3 *s = &b[e], *t = &b[(e + 1) % 3];
    double ex = (double)(t->x[i0] - s->x[i0]), ey = (double)(t->x[i1] - s->x[i1]);
    int kept = 0;
    for (int k = 0; k < count; k++) {
      const double *p = P[k], *q = P[(k + 1) % count];
      double dp = turn * (ex * (p[1] - (double)s->x[i1]) - ey * (p[0] - (double)s->x[i0]));
      double dq = turn * (ex * (q[1] - (double)s->x[i1]) - ey * (q[0] - (double)s->x[i0]));
      if (dp >= -1e-9) memcpy(Q[kept++], p, sizeof Q[0]);
      if ((dp > 1e-9 && dq < -1e-9) || (dp < -1e-9 && dq > 1e-9))
        for (int c = 0; c < 2; c++) Q[kept][c] = p[c] + dp / (dp - dq) * (q[c] - p[c]);
      kept += (dp > 1e-9 && dq < -1e-9) || (dp < -1e-9 && dq > 1e-9);
    }
    memcpy(P, Q, sizeof P);
    count = kept;
    if (count == 0) return -1;
  }
  double area = 0;
  for (int k = 0; k < count; k++) {
    const double *p = P[k], *q = P[(k + 1) % count];
    area += 0.5 * (p[0] * q[1] - p[1] * q[0]);
  }
  return fabs(area);
}

static tbMeeting truth(const Int3 a[3], const Int3 b[3])
{
  Int3 na = cross(sub(a[1], a[0]), sub(a[2], a[0])), nb = cross(sub(b[1], b[0]), sub(b[2], b[0]));
  if (is_zero(na) || is_zero(nb)) return TB_APART;
  Int3 D = cross(na, nb);
  if (is_zero(D)) {
    if (dot(na, sub(b[0], a[0])) != 0) return TB_APART;
    double area = common_area(a, b, na);
    return area < 0 ? TB_APART : area < 1e-7 ? TB_TOUCHING : TB_OVERLAPPING;
  }
  Ratio ia[2], ib[2];
  bool both_a, both_b;
  if (!cut_interval(a, nb, b[0], D, ia, &both_a) || !cut_interval(b, na, a[0], D, ib, &both_b))
    return TB_APART;
  if (less(ia[1], ib[0]) || less(ib[1], ia[0])) return TB_APART;
  return both_a && both_b && less(ia[0], ib[1]) && less(ib[0], ia[1]) ? TB_CROSSING : TB_TOUCHING;
}

TEST(triangles_meet_as_rational_arithmetic_says)
{
  tbRandom r = test_random(7);
  int count[4] = {0}, wrong = 0;
  for (int i = 0; i < (test_quick() ? 20000 : 100000); i++) {
    Int3 t[2][3];
    tbVec3 x[2][3];
    int size = 1 + test_below(&r, 4), flat = test_below(&r, 4);
    double offset = test_below(&r, 2) ? 0x1p40 : 0, scale = ldexp(1, test_below(&r, 81) - 40);
    for (int k = 0; k < 6; k++)
      for (int c = 0; c < 3; c++) {
        int64_t v = test_below(&r, 2 * size + 1) - size;
        if (flat == 0 && c == 2) v = t[k / 3][k % 3].x[0] - t[k / 3][k % 3].x[1];
        t[k / 3][k % 3].x[c] = v;
      }
    if (flat == 1) t[1][0] = t[0][test_below(&r, 3)];
    for (int k = 0; k < 6; k++) {
      const int64_t* v = t[k / 3][k % 3].x;
      x[k / 3][k % 3] = tb_scale3(scale, tb_vec3((double)v[0] + offset, (double)v[1], (double)v[2] - offset));
    }
    tbMeeting expected = truth(t[0], t[1]), found = tb_triangles_meet(x[0], x[1]);
    count[expected]++;
    wrong += found != expected || tb_triangles_meet(x[1], x[0]) != expected;
  }
  CHECK(wrong == 0);
  CHECK(count[TB_APART] > 1000 && count[TB_TOUCHING] > 1000 && count[TB_CROSSING] > 1000 &&
        count[TB_OVERLAPPING] > 100);
}

static tbTriangles triangles(const tbVec3* x, int nvertex, const int (*triangle)[3], int count)
{
  return (tbTriangles){.vertex = x, .nvertex = nvertex, .triangle = triangle, .ntriangle = count};
}

static tbIntersections count_of(tbContext* ctx, const tbTriangles* surfaces, int count)
{
  tbIntersections found = {-1, -1, -1};
  CHECK_OK(ctx, tb_count_intersections(ctx, surfaces, count, &found));
  return found;
}

TEST(neighbours_do_not_intersect_unless_they_fold_flat_or_pass_through)
{
  tbContext ctx = tb_default_context();
  tbVec3 x[6] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0.5}, {-1, -1, 0}, {0.5, 0.5, 1}};
  int hinge[2][3] = {{0, 1, 2}, {2, 1, 3}}, fan[2][3] = {{0, 1, 2}, {0, 4, 5}},
      twice[2][3] = {{0, 1, 2}, {2, 0, 1}};
  tbTriangles s = triangles(x, 6, (const int(*)[3])hinge, 2);
  tbIntersections f = count_of(&ctx, &s, 1);
  CHECK(f.crossing == 0 && f.touching == 0);
  x[3] = tb_vec3(0.2, 0.2, 0); // folded back onto its neighbour
  CHECK(count_of(&ctx, &s, 1).crossing == 1);
  x[3] = tb_vec3(2, 2, 0); // flat beside it
  CHECK(count_of(&ctx, &s, 1).crossing == 0);
  s.triangle = (const int(*)[3])fan;
  f = count_of(&ctx, &s, 1);
  CHECK(f.crossing == 0 && f.touching == 0);
  x[4] = tb_vec3(0.5, 0.5, -1); // the corner they share, and a line through the middle
  CHECK(count_of(&ctx, &s, 1).crossing == 1);
  s.triangle = (const int(*)[3])twice;
  CHECK(count_of(&ctx, &s, 1).crossing == 1);
}

TEST(resting_surfaces_touch_and_do_not_cross)
{
  tbContext ctx = tb_default_context();
  tbVec3 floor[4] = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}};
  tbVec3 roof[4] = {{-1, -1, 1}, {1, -1, 1}, {0, 1, 1}, {0, 0, 0}};
  int square[2][3] = {{0, 1, 2}, {0, 2, 3}}, tent[3][3] = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  tbTriangles s[2] = {triangles(floor, 4, (const int(*)[3])square, 2),
                      triangles(roof, 4, (const int(*)[3])tent, 3)};
  tbIntersections f = count_of(&ctx, s, 2);
  CHECK(f.crossing == 0 && f.touching == 6);
  roof[3].z = -0x1p-60;
  CHECK(count_of(&ctx, s, 2).crossing > 0);
  roof[3].z = 0x1p-60;
  f = count_of(&ctx, s, 2);
  CHECK(f.crossing == 0 && f.touching == 0);
}

// A closed octahedron about the origin whose corners lie in the coordinate planes, and a sheet of four cells
// in the plane z = height, or standing on edge in y = 0.
typedef struct {
  tbVec3 ball[6], sheet[9];
  int face[8][3], cell[8][3];
  tbTriangles surface[2];
} Pierced;

static void pierce(Pierced* p, double size, double height, tbVec3 shift, bool upright)
{
  *p = (Pierced){.ball = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}};
  for (int k = 0; k < 8; k++) {
    int x = k & 1, y = 2 + (k >> 1 & 1), z = 4 + (k >> 2);
    bool turn = ((k & 1) + (k >> 1 & 1) + (k >> 2)) % 2;
    p->face[k][0] = x, p->face[k][1] = turn ? z : y, p->face[k][2] = turn ? y : z;
  }
  for (int i = 0; i < 9; i++) {
    double u = size * (i % 3 - 1), v = size * (i / 3 - 1);
    p->sheet[i] = tb_add3(shift, upright ? tb_vec3(u, 0, v + height) : tb_vec3(u, v, height));
  }
  for (int k = 0; k < 4; k++) {
    int a = k % 2 + 3 * (k / 2), *t = p->cell[2 * k], *u = p->cell[2 * k + 1];
    t[0] = a, t[1] = a + 1, t[2] = a + 3;
    u[0] = a + 1, u[1] = a + 4, u[2] = a + 3;
  }
  p->surface[0] = triangles(p->ball, 6, (const int(*)[3])p->face, 8);
  p->surface[1] = triangles(p->sheet, 9, (const int(*)[3])p->cell, 8);
  p->surface[0].closed = true;
}

// Whatever passes through whatever at corners and edges, where no two triangles cross.
TEST(surfaces_that_pass_through_each_other_at_vertices_and_edges_cross)
{
  tbContext ctx = tb_default_context();
  static const double sizes[] = {2, 1, 0.5, 3};
  for (int k = 0; k < 4; k++)
    for (int open = 0; open < 2; open++)
      for (int far = 0; far < 2; far++) {
        Pierced p;
        pierce(&p, sizes[k], 0, far ? tb_vec3(1000, -70, 3) : tb_zero3(), false);
        for (int i = 0; far && i < 6; i++) p.ball[i] = tb_add3(p.ball[i], tb_vec3(1000, -70, 3));
        p.surface[0].closed = !open;
        tbIntersections f = count_of(&ctx, p.surface, 2), g;
        tbTriangles turned[2] = {p.surface[1], p.surface[0]};
        g = count_of(&ctx, turned, 2);
        bool within = sizes[k] == 0.5; // and its corners touch edges: that is in the solid, or on the sheet
        CHECK((f.crossing > 0) == (!within || !open) && f.crossing + f.touching > 0 && f.overlapping == 0);
        CHECK(f.crossing == g.crossing && f.touching == g.touching);
      }
}

// The same surfaces at rest on each other: a corner on a sheet, a sheet on edge on a corner, sheets on sheets
// and face on face.
TEST(surfaces_at_rest_on_each_other_touch)
{
  tbContext ctx = tb_default_context();
  Pierced p;
  for (int k = 0; k < 8; k++) {
    double height = k & 1 ? 1 : -1;
    bool upright = k & 2;
    pierce(&p, 1, upright ? 2 * height : height, tb_zero3(), upright);
    p.surface[0].closed = k & 4;
    tbIntersections f = count_of(&ctx, p.surface, 2);
    CHECK(f.crossing == 0 && f.touching > 0 && f.overlapping == 0);
  }
  // a sheet on one face of the solid, with an area in common; and the solid that lies within another
  pierce(&p, 1, 0, tb_zero3(), false);
  for (int i = 0; i < 9; i++) { // x + y + z = 1
    double u = p.sheet[i].x / 4, v = p.sheet[i].y / 4;
    p.sheet[i] = tb_vec3(0.25 + u, 0.25 + v, 0.5 - u - v);
  }
  tbIntersections f = count_of(&ctx, p.surface, 2);
  CHECK(f.crossing == 0 && f.overlapping > 0);
  tbTriangles twice[2] = {p.surface[0], p.surface[0]};
  CHECK(count_of(&ctx, twice, 2).crossing > 0);
  tbTriangles sheets[2] = {p.surface[1], p.surface[1]};
  f = count_of(&ctx, sheets, 2);
  CHECK(f.crossing == 0 && f.overlapping >= 8);
}

// A cube clamped exactly between two plates touches both, though no move leaves both.
TEST(what_is_touched_on_either_side_does_not_cross)
{
  tbContext ctx = tb_default_context();
  Pierced low, high;
  pierce(&low, 3, -1, tb_zero3(), false);
  pierce(&high, 3, 1, tb_zero3(), false);
  tbTriangles s[3] = {low.surface[1], low.surface[0], high.surface[1]};
  tbIntersections f = count_of(&ctx, s, 3);
  CHECK(f.crossing == 0 && f.touching > 0);
  s[1].closed = false;
  f = count_of(&ctx, s, 3);
  CHECK(f.crossing == 0 && f.touching > 0);
  tbArray list = TB_ARRAY(tbSurfacesMeet);
  CHECK_OK(&ctx, tb_list_intersections(&ctx, s, 3, &list));
  const tbSurfacesMeet* m = list.data;
  REQUIRE(list.count == 2);
  CHECK(m[0].a == 0 && m[0].b == 1 && m[1].a == 1 && m[1].b == 2);
  tb_array_free(&ctx, &list);
}

// One surface through itself, in the same way: a strip of two sheets that are joined elsewhere.
TEST(a_surface_passes_through_itself_at_edges)
{
  tbContext ctx = tb_default_context();
  Pierced flat, up;
  for (int through = 0; through < 2; through++) {
    tbVec3 x[18];
    int t[16][3];
    pierce(&flat, 2, 0, tb_zero3(), false);
    pierce(&up, 1, through ? 0 : 1, tb_zero3(), true);
    for (int i = 0; i < 9; i++) x[i] = flat.sheet[i], x[9 + i] = up.sheet[i];
    for (int k = 0; k < 8; k++)
      for (int c = 0; c < 3; c++) t[2 * k][c] = flat.cell[k][c], t[2 * k + 1][c] = 9 + up.cell[7 - k][c];
    tbTriangles s = triangles(x, 18, (const int(*)[3])t, 16);
    tbIntersections f = count_of(&ctx, &s, 1);
    CHECK((f.crossing > 0) == through && f.crossing + f.touching > 0);
  }
}

TEST(rigid_pairs_and_what_is_attached_to_the_other_body_do_not_count)
{
  tbContext ctx = tb_default_context();
  tbVec3 x[3] = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}}, y[3] = {{0, 0, -1}, {0.2, 0, 1}, {0, 0.2, 1}};
  int one[1][3] = {{0, 1, 2}}, held[3] = {-1, 7, -2};
  tbTriangles s[2] = {triangles(x, 3, (const int(*)[3])one, 1), triangles(y, 3, (const int(*)[3])one, 1)};
  s[0].body = 6, s[1].body = 7;
  CHECK(count_of(&ctx, s, 2).crossing == 1);
  s[0].rigid = true;
  CHECK(count_of(&ctx, s, 2).crossing == 1);
  s[1].rigid = true;
  CHECK(count_of(&ctx, s, 2).crossing == 0);
  s[1].rigid = false, s[1].holder = held; // to its own body, which is no other
  CHECK(count_of(&ctx, s, 2).crossing == 1);
  s[0].holder = held;
  CHECK(count_of(&ctx, s, 2).crossing == 0);
  s[0].holder = NULL, held[1] = 6;
  CHECK(count_of(&ctx, s, 2).crossing == 0);
  held[1] = 5;
  CHECK(count_of(&ctx, s, 2).crossing == 1);
}

enum { SIDE = 16 };

typedef struct {
  tbVec3 x[SIDE * SIDE];
  int triangle[2 * (SIDE - 1) * (SIDE - 1)][3];
  tbTriangles surface;
} Sheet;

static Sheet* wavy_sheet(double phase, double height)
{
  Sheet* s = calloc(1, sizeof *s);
  if (!s) abort();
  int n = 0;
  for (int i = 0; i < SIDE; i++)
    for (int j = 0; j < SIDE; j++) {
      double u = i / 4.0 + phase, v = j / 5.0;
      s->x[i * SIDE + j] = tb_vec3(i, j + phase, height + (u - floor(u)) * (1 - (v - floor(v))));
    }
  for (int i = 0; i + 1 < SIDE; i++)
    for (int j = 0; j + 1 < SIDE; j++) {
      int a = i * SIDE + j, *t = s->triangle[n], *u = s->triangle[n + 1];
      t[0] = a, t[1] = a + 1, t[2] = a + SIDE;
      u[0] = a + 1, u[1] = a + SIDE + 1, u[2] = a + SIDE;
      n += 2;
    }
  s->surface = triangles(s->x, SIDE * SIDE, (const int(*)[3])s->triangle, n);
  return s;
}

TEST(the_tree_counts_what_comparing_all_pairs_counts)
{
  tbContext ctx = tb_default_context(), wide = tb_default_context();
  REQUIRE(tb_threads_create(&wide, 3, &wide.threads) == TB_OK);
  Sheet *a = wavy_sheet(0, 0), *b = wavy_sheet(0.3, 0.2);
  tbTriangles s[2] = {a->surface, b->surface};
  int64_t crossing = 0, meeting = 0;
  for (int i = 0; i < s[0].ntriangle; i++)
    for (int j = 0; j < s[1].ntriangle; j++) {
      tbVec3 p[3], q[3];
      for (int k = 0; k < 3; k++) p[k] = a->x[a->triangle[i][k]], q[k] = b->x[b->triangle[j][k]];
      tbMeeting m = tb_triangles_meet(p, q);
      crossing += m == TB_CROSSING, meeting += m != TB_APART;
    }
  CHECK(crossing > 50);
  tbIntersections one = count_of(&ctx, s, 2), three = count_of(&wide, s, 2);
  CHECK(one.crossing >= crossing && one.crossing + one.touching == meeting);
  CHECK(one.crossing == three.crossing && one.touching == three.touching);
  CHECK(count_of(&ctx, s, 1).crossing == 0 && count_of(&ctx, s, 1).touching == 0);
  // a tree that is brought along: made when the sheet was elsewhere, and upside down
  tbArena arena;
  tb_arena_init(&arena, &ctx);
  tbBvh tree;
  tbBox box[sizeof a->triangle / sizeof a->triangle[0]];
  for (int t = 0; t < s[0].ntriangle; t++) {
    box[t] = tb_box_empty();
    for (int k = 0; k < 3; k++) box[t] = tb_box_add(box[t], tb_scale3(-2, a->x[a->triangle[t][k]]));
  }
  REQUIRE(tb_bvh_build(&ctx, &arena, box, s[0].ntriangle, &tree) == TB_OK);
  s[0].tree = &tree;
  tbIntersections lent = count_of(&wide, s, 2);
  CHECK(lent.crossing == one.crossing && lent.touching == one.touching);
  // trees that lost a triangle, or their way, hide nothing
  tbBvh wrong = tree;
  tbBvhNode node[sizeof box / sizeof *box * 2];
  int order[sizeof box / sizeof *box];
  wrong.node = node, wrong.order = order;
  s[0].tree = &wrong;
  for (int k = 0; k < 7; k++) {
    memcpy(node, tree.node, (size_t)tree.nnode * sizeof *node);
    memcpy(order, tree.order, (size_t)tree.nitem * sizeof *order);
    wrong.nnode = tree.nnode;
    int last = tree.nnode - 1;
    if (k == 0) order[7] = order[8];
    if (k == 1) node[last].count--;
    if (k == 2) node[0].right = last;
    if (k == 3) node[last].first = 1 << 30;
    if (k == 4) wrong.nnode = 1, node[0].right = 0, node[0].first = node[0].count = 0;
    if (k >= 5) { // all triangles in the left of two, the right one left out
      wrong.nnode = 2, node[0].right = k == 5 ? 2 : 1;
      node[1].right = 0, node[1].first = 0, node[1].count = tree.nitem;
    }
    CHECK(count_of(&wide, s, 2).crossing == one.crossing);
  }
  tb_arena_free(&arena);
  tb_threads_destroy(&wide, wide.threads);
  free(a);
  free(b);
}

// Each two of many surfaces once, in order, with as many pairs of triangles as the two have by themselves.
TEST(surfaces_that_meet_are_listed_two_by_two)
{
  tbContext ctx = tb_default_context();
  enum { SHEETS = 6 };
  Sheet* sheet[SHEETS];
  tbTriangles s[SHEETS];
  for (int i = 0; i < SHEETS; i++)
    sheet[i] = wavy_sheet(0.13 * i, i == 2 ? 40 : 0.05 * i), s[i] = sheet[i]->surface;
  tbArray list = TB_ARRAY(tbSurfacesMeet);
  CHECK_OK(&ctx, tb_list_intersections(&ctx, s, SHEETS, &list));
  const tbSurfacesMeet* m = list.data;
  size_t next = 0;
  for (int a = 0; a < SHEETS; a++)
    for (int b = a + 1; b < SHEETS; b++) {
      tbTriangles two[2] = {s[a], s[b]};
      tbIntersections n = count_of(&ctx, two, 2);
      CHECK((n.crossing == 0) == (a == 2 || b == 2));
      if (n.crossing + n.touching == 0) continue;
      CHECK(next < list.count && m[next].a == a && m[next].b == b && m[next].count.crossing == n.crossing &&
            m[next].count.touching == n.touching);
      next++;
    }
  CHECK(next == list.count && next == 10);
  tb_array_free(&ctx, &list);
  for (int i = 0; i < SHEETS; i++) free(sheet[i]);
}

TEST(counting_survives_bad_input_and_every_failed_allocation)
{
  tbContext ctx = tb_default_context();
  Sheet* a = wavy_sheet(0, 0);
  tbIntersections found;
  a->x[5].y = NAN;
  CHECK(tb_count_intersections(&ctx, &a->surface, 1, &found) == TB_ERROR_NUMERIC);
  a->x[5].y = 0x1p101;
  CHECK(tb_count_intersections(&ctx, &a->surface, 1, &found) == TB_ERROR_NUMERIC);
  a->x[5].y = 5;
  a->triangle[3][1] = SIDE * SIDE;
  CHECK(tb_count_intersections(&ctx, &a->surface, 1, &found) == TB_ERROR_ARGUMENT);
  a->triangle[3][1] = 2;
  CHECK(tb_count_intersections(&ctx, NULL, 0, &found) == TB_OK && found.crossing == 0);
  tbStatus status = TB_ERROR_MEMORY;
  for (long k = 0; k < 100 && status != TB_OK; k++) {
    tbFailingAllocator all = {.countdown = k};
    tbContext failing = test_failing_context(&all);
    status = tb_count_intersections(&failing, &a->surface, 1, &found);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    CHECK(all.alive == 0);
  }
  CHECK(status == TB_OK);
  free(a);
}
