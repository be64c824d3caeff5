// SPDX-License-Identifier: Apache-2.0
// Intersections of triangles by signs of determinants alone (Guigue & Devillers, "Fast and robust
// triangle–triangle overlap test using orientation predicates", 2003), computed exactly (geometry/exact.h).
//
// Two triangles that are not in one plane can only meet on the line of their planes. Each cuts an interval
// out of it, from one of its edges to another, and which end comes first is the orientation of the four ends
// of two edges. Interiors meet when both triangles have corners strictly on either side of the other's plane
// and the open intervals overlap. With that definition neighbours need no special care: what they share is on
// their rims, and a fold that lies flat on its neighbour still counts.
//
// Within one plane, orientation is that of a tetrahedron with a point off the plane, which again is exact;
// interiors are apart when an edge of one has all of the other on its far side or on its line.
//
// On smooth surfaces neighbours lie nearly in one plane, where signs need long arithmetic. Most of them are
// parted before by an edge, in the projection along an axis: interiors that meet would meet there, too.
//
// Cost   a few signs for each pair.
#include "collide/intersect.h"
#include "geometry/exact.h"

static bool same(tbVec3 a, tbVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Neighbours share corners all the time: those signs need no arithmetic.
static int side(tbVec3 a, tbVec3 b, tbVec3 c, tbVec3 p)
{
  if (same(a, p) || same(b, p) || same(c, p) || same(a, b) || same(b, c) || same(a, c)) return 0;
  return tb_side_of(a, b, c, p);
}

static void sides(const tbVec3 a[3], const tbVec3 b[3], int out[3]) // of b's corners, seen from a
{
  for (int k = 0; k < 3; k++) out[k] = side(a[0], a[1], a[2], b[k]);
}

static bool all_on(const int s[3], int sign) { return s[0] == sign && s[1] == sign && s[2] == sign; }
static bool any_on(const int s[3], int sign) { return s[0] == sign || s[1] == sign || s[2] == sign; }

// Of corners on either side of a plane one is alone, strictly, on its own: it becomes the first, by rotation.
static void lone_first(tbVec3 a[3], int s[3])
{
  int lone = 0;
  while (s[lone] == 0 || s[(lone + 1) % 3] == s[lone] || s[(lone + 2) % 3] == s[lone]) lone++;
  for (; lone > 0; lone--) {
    tbVec3 first = a[0];
    int first_sign = s[0];
    a[0] = a[1], a[1] = a[2], a[2] = first;
    s[0] = s[1], s[1] = s[2], s[2] = first_sign;
  }
}

static void turn_over(tbVec3 a[3])
{
  tbVec3 p = a[1];
  a[1] = a[2], a[2] = p;
}

// Both have corners strictly on either side of the other's plane: do the open intervals overlap?
static bool intervals_cross(const tbVec3 a_in[3], const tbVec3 b_in[3], const int sa_in[3],
                            const int sb_in[3])
{
  tbVec3 a[3] = {a_in[0], a_in[1], a_in[2]}, b[3] = {b_in[0], b_in[1], b_in[2]};
  int sa[3] = {sa_in[0], sa_in[1], sa_in[2]}, sb[3] = {sb_in[0], sb_in[1], sb_in[2]};
  lone_first(a, sa);
  lone_first(b, sb);
  if (sa[0] < 0) turn_over(b); // each lone corner on the positive side of the other triangle
  if (sb[0] < 0) turn_over(a);
  return side(a[0], a[1], b[0], b[1]) < 0 && side(a[0], a[2], b[2], b[0]) < 0;
}

// Does an edge of b, not in the plane of a, meet a, rim included? sb: the sides of b's corners.
static bool edges_touch(const tbVec3 a[3], const tbVec3 b[3], const int sb[3])
{
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3;
    if (sb[k] * sb[l] > 0 || (sb[k] == 0 && sb[l] == 0)) continue;
    int s[3];
    for (int i = 0; i < 3; i++) s[i] = side(b[k], b[l], a[i], a[(i + 1) % 3]);
    if (!any_on(s, 1) || !any_on(s, -1)) return true;
  }
  return false;
}

// A point off the plane of a; false: a has no area.
static bool point_off(const tbVec3 a[3], tbVec3* out)
{
  double reach = 0;
  for (int k = 0; k < 3; k++) reach = fmax(reach, tb_maxabs3(a[k]));
  for (int axis = 0; axis < 3; axis++) {
    tbVec3 p = a[0];
    *(axis == 0 ? &p.x : axis == 1 ? &p.y : &p.z) += reach;
    *out = p;
    if (side(a[0], a[1], a[2], p) != 0) return true;
  }
  return false;
}

// In one plane, seen from o: does an edge of a have all of b beyond it, strictly or at most on its line?
static bool edge_parts(const tbVec3 a[3], const tbVec3 b[3], tbVec3 o, bool strictly)
{
  int turn = side(a[0], a[1], a[2], o);
  for (int k = 0; k < 3; k++) {
    int s[3];
    for (int i = 0; i < 3; i++) s[i] = turn * side(a[k], a[(k + 1) % 3], b[i], o);
    if (strictly ? all_on(s, -1) : !any_on(s, 1)) return true;
  }
  return false;
}

static tbMeeting meet_in_plane(const tbVec3 a[3], const tbVec3 b[3])
{
  tbVec3 o;
  if (!point_off(a, &o) || side(b[0], b[1], b[2], o) == 0) return TB_APART;
  if (edge_parts(a, b, o, true) || edge_parts(b, a, o, true)) return TB_APART;
  return edge_parts(a, b, o, false) || edge_parts(b, a, o, false) ? TB_TOUCHING : TB_OVERLAPPING;
}

static bool has_area(const tbVec3 a[3])
{
  tbVec3 n = tb_triangle_normal(a[0], a[1], a[2]);
  return n.x != 0 || n.y != 0 || n.z != 0;
}

typedef struct {
  double x, y;
} Flat;

static Flat flat(tbVec3 p, int axis)
{
  return axis == 0 ? (Flat){p.y, p.z} : axis == 1 ? (Flat){p.z, p.x} : (Flat){p.x, p.y};
}

// How a, b, c turn: ±1, 0 where it is not known for sure (Shewchuk's bound on the rounding, with room).
static int turn_of(Flat a, Flat b, Flat c)
{
  double l = (b.x - a.x) * (c.y - a.y), r = (b.y - a.y) * (c.x - a.x), det = l - r;
  double bound = 4e-16 * (fabs(l) + fabs(r));
  return det > bound ? 1 : det < -bound ? -1 : 0;
}

// Does an edge of a have all of b beyond it for sure, seen along the axis? rims: a corner they share is no
// hindrance otherwise.
static bool edge_parts_flat(const tbVec3 a[3], const tbVec3 b[3], int axis, bool rims)
{
  Flat p[3] = {flat(a[0], axis), flat(a[1], axis), flat(a[2], axis)};
  int turn = turn_of(p[0], p[1], p[2]);
  for (int k = 0; turn != 0 && k < 3; k++) {
    int l = (k + 1) % 3, beyond = 0;
    for (int i = 0; i < 3; i++)
      if (!rims && (same(a[k], b[i]) || same(a[l], b[i]))) beyond++;
      else if (turn * turn_of(p[k], p[l], flat(b[i], axis)) < 0) beyond++;
      else break;
    if (beyond == 3) return true;
  }
  return false;
}

static bool parted_flat(const tbVec3 a[3], const tbVec3 b[3], bool rims)
{
  tbVec3 n = tb_cross3(tb_sub3(a[1], a[0]), tb_sub3(a[2], a[0]));
  double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
  int axis = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  return edge_parts_flat(a, b, axis, rims) || edge_parts_flat(b, a, axis, rims);
}

// Are b's corners on one side of a for sure? Those they share do not count, unless rims do.
static bool on_one_side(const tbVec3 a[3], const tbVec3 b[3], bool rims)
{
  bool plus = false, minus = false;
  for (int k = 0; k < 3; k++) {
    if (!rims && (same(a[0], b[k]) || same(a[1], b[k]) || same(a[2], b[k]))) continue;
    int side = tb_side_of_surely(a[0], a[1], a[2], b[k]);
    if (side == 0) return false;
    plus |= side > 0, minus |= side < 0;
  }
  return plus != minus;
}

tbMeeting tb_triangles_meeting(const tbVec3 a[3], const tbVec3 b[3], bool rims)
{
  int sa[3], sb[3];
  if (on_one_side(a, b, rims) || on_one_side(b, a, rims) || parted_flat(a, b, rims)) return TB_APART;
  sides(a, b, sb);
  if (all_on(sb, 1) || all_on(sb, -1)) return TB_APART;
  sides(b, a, sa);
  if (all_on(sa, 1) || all_on(sa, -1)) return TB_APART;
  bool through = any_on(sa, 1) && any_on(sa, -1) && any_on(sb, 1) && any_on(sb, -1);
  if (!through && !rims && !all_on(sb, 0)) return TB_APART;
  if (!has_area(a) || !has_area(b)) return TB_APART;
  if (all_on(sb, 0)) return meet_in_plane(a, b);
  if (through && intervals_cross(a, b, sa, sb)) return TB_CROSSING;
  return rims && (edges_touch(a, b, sb) || edges_touch(b, a, sa)) ? TB_TOUCHING : TB_APART;
}

tbMeeting tb_triangles_meet(const tbVec3 a[3], const tbVec3 b[3]) { return tb_triangles_meeting(a, b, true); }
