// SPDX-License-Identifier: Apache-2.0
// Fields of directions: the structure of a surface, which need not be the same all over it (course §6.2).
//
// A direction is known at some points of the body's frame. Between them it is the mean of the closest ones,
// by the weights ((R − d)/(R d))² of Franke and Little, R the distance to the first point that is left out:
// so it does not jump where another one becomes the closest. A structure is a line, not an arrow: the mean is
// the axis of largest Σ w a aᵀ, on the side of Σ w a.
//
// Cost      log of the number of points, by a k-d tree: the point in the middle of a range parts the rest
//           along x, y and z in turns.
#include "math/eig3.h"
#include "scene/world.h"
#include "base/sort.h"

#include <math.h>

enum { CLOSEST = 5 };

static double coordinate(const tbFieldPoint* p, int axis) { return (&p->at.x)[axis]; }

static int by_x(const void* a, const void* b)
{
  double x = coordinate(a, 0), y = coordinate(b, 0);
  return (x > y) - (x < y);
}

static int by_y(const void* a, const void* b)
{
  double x = coordinate(a, 1), y = coordinate(b, 1);
  return (x > y) - (x < y);
}

static int by_z(const void* a, const void* b)
{
  double x = coordinate(a, 2), y = coordinate(b, 2);
  return (x > y) - (x < y);
}

static void plant(tbFieldPoint* p, size_t count, int axis)
{
  static int (*const by[3])(const void*, const void*) = {by_x, by_y, by_z};
  if (count < 2) return;
  tb_sort(p, count, sizeof *p, by[axis]);
  plant(p, count / 2, (axis + 1) % 3);
  plant(p + count / 2 + 1, count - count / 2 - 1, (axis + 1) % 3);
}

typedef struct {
  tbVec3 at;
  int count; // of the closest so far, closest first
  const tbFieldPoint* point[CLOSEST];
  double square[CLOSEST];
} Search;

static void offer(Search* s, const tbFieldPoint* p)
{
  tbVec3 way = tb_sub3(p->at, s->at);
  double square = tb_dot3(way, way);
  if (s->count == CLOSEST && !(square < s->square[CLOSEST - 1])) return;
  int k = s->count < CLOSEST ? s->count++ : CLOSEST - 1;
  for (; k > 0 && square < s->square[k - 1]; k--)
    s->point[k] = s->point[k - 1], s->square[k] = s->square[k - 1];
  s->point[k] = p, s->square[k] = square;
}

static void search(Search* s, const tbFieldPoint* p, size_t count, int axis)
{
  if (count == 0) return;
  size_t middle = count / 2;
  double beyond = (&s->at.x)[axis] - coordinate(&p[middle], axis);
  const tbFieldPoint* half[2] = {p, p + middle + 1};
  size_t size[2] = {middle, count - middle - 1};
  int near = beyond > 0;
  search(s, half[near], size[near], (axis + 1) % 3);
  offer(s, &p[middle]);
  if (s->count < CLOSEST || beyond * beyond < s->square[CLOSEST - 1])
    search(s, half[!near], size[!near], (axis + 1) % 3);
}

tbVec3 tb_friction_direction(const tbWorld* w, const tbFriction* f, tbVec3 at)
{
  if (!tb_friction_has_field(w, f)) return f->direction;
  const tbField* field = (const tbField*)w->field.data + (f->field - 1);
  Search s = {.at = at};
  search(&s, (const tbFieldPoint*)w->field_point.data + field->first, field->count, 0);
  int used = s.count == CLOSEST ? CLOSEST - 1 : s.count;
  double reach = s.count == CLOSEST ? sqrt(s.square[CLOSEST - 1]) : INFINITY;
  if (!(s.square[0] > 0) || !(reach > sqrt(s.square[0]))) return s.point[0]->along;
  tbMat3 lines = tb_mat3_scale(0, tb_mat3_identity());
  tbVec3 sum = tb_zero3();
  for (int k = 0; k < used; k++) {
    double root = 1 / sqrt(s.square[k]) - 1 / reach, weight = s.square[0] * root * root;
    lines = tb_mat3_add(lines, tb_mat3_scale(weight, tb_mat3_outer(s.point[k]->along, s.point[k]->along)));
    sum = tb_madd3(sum, weight, s.point[k]->along);
  }
  tbVec3 axis = tb_mat3_row(tb_mat3_transpose(tb_eig3(lines).V), 0);
  double side = tb_dot3(axis, sum);
  if (side == 0) side = tb_dot3(axis, s.point[0]->along);
  return side < 0 ? tb_neg3(axis) : axis;
}

tbStatus tb_world_add_field(tbContext* ctx, tbWorld* w, int count, const tbVec3* points,
                            const tbVec3* directions, int* out)
{
  if (count < 1) return tb_fail(ctx, TB_ERROR_ARGUMENT, "a field of directions has one point or more");
  for (int i = 0; i < count; i++) {
    if (!(tb_maxabs3(points[i]) < INFINITY))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "point %d of a field of directions is not finite", i);
    if (!(tb_norm3(directions[i]) > 0) || !(tb_norm3(directions[i]) < INFINITY))
      return tb_fail(ctx, TB_ERROR_ARGUMENT, "direction %d of a field must not be zero", i);
  }
  tbField field = {w->field_point.count, (size_t)count};
  TB_TRY(tb_array_push(ctx, &w->field_point, NULL, (size_t)count));
  tbFieldPoint* p = (tbFieldPoint*)w->field_point.data + field.first;
  for (int i = 0; i < count; i++) p[i] = (tbFieldPoint){points[i], tb_normalize3(directions[i])};
  plant(p, (size_t)count, 0);
  tbStatus status = tb_array_push(ctx, &w->field, &field, 1);
  if (status != TB_OK) w->field_point.count = field.first;
  else *out = (int)w->field.count;
  return status;
}
