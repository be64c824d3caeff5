// SPDX-License-Identifier: Apache-2.0
// Joints as the page draws them: a ball is a dot, a hinge a pin along its axis, a slider a rail with its
// carriage, a weld a diamond, a distance joint a rod between its anchors. Anchors lie inside bodies: what is
// behind something is painted too, but faintly.
#include "render/marks.h"

typedef struct {
  const tbCanvas* canvas;
  const tbView* view;
  double unit; // m
  tbInk ink;
} Painter;

static bool see(Painter* p, tbVec3 place, tbPoint* at, double* pixel)
{
  double depth;
  if (!tb_view_project(p->view, place, &at->x, &at->y, &depth)) return false;
  *pixel = p->view->focal * depth * p->unit;
  p->ink.depth = depth;
  return true;
}

static void dot(Painter* p, tbVec3 place, double radius)
{
  tbPoint at;
  double pixel;
  if (see(p, place, &at, &pixel)) tb_paint_line(p->canvas, at, at, fmax(2 * radius * pixel, 2), &p->ink);
}

static void bar(Painter* p, tbVec3 from, tbVec3 to, double radius)
{
  tbPoint a, b;
  double pixel[2];
  if (see(p, to, &b, &pixel[1]) && see(p, from, &a, &pixel[0]))
    tb_paint_line(p->canvas, a, b, fmax(radius * (pixel[0] + pixel[1]), 1.2), &p->ink);
}

static void diamond(Painter* p, tbVec3 place, double radius)
{
  tbPoint at;
  double pixel;
  if (!see(p, place, &at, &pixel)) return;
  double r = fmax(radius * pixel, 2);
  tb_paint_polygon(p->canvas,
                   (tbPoint[4]){{at.x - r, at.y}, {at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}}, 4,
                   &p->ink);
}

// The rail goes from one limit to the other; without them, some way to both sides.
static void rail(Painter* p, const tbSubjectJoint* j, tbVec3 a, tbVec3 b, tbVec3 axis)
{
  double reach = 6 * p->unit + tb_distance3(a, b);
  tbVec3 from = tb_madd3(a, isfinite(j->lower) ? j->lower : -reach, axis);
  tbVec3 to = tb_madd3(a, isfinite(j->upper) ? j->upper : reach, axis);
  bar(p, from, to, 0.3);
  dot(p, from, 0.55);
  dot(p, to, 0.55);
  diamond(p, b, 1.5);
}

static void paint_joint(Painter* p, const tbSubject* s, const tbSubjectJoint* j)
{
  tbTransform A = j->a < 0 ? tb_transform_identity() : s->now[j->a],
              B = j->b < 0 ? tb_transform_identity() : s->now[j->b];
  tbVec3 a = tb_transform_point(A, j->anchor_a), b = tb_transform_point(B, j->anchor_b),
         axis = tb_quat_rotate(A.q, j->axis);
  switch (j->type) {
  case TB_JOINT_BALL: dot(p, b, 1.1); break;
  case TB_JOINT_HINGE:
    bar(p, tb_madd3(b, -4 * p->unit, axis), tb_madd3(b, 4 * p->unit, axis), 0.45);
    dot(p, b, 0.95);
    break;
  case TB_JOINT_SLIDER: rail(p, j, a, b, axis); break;
  case TB_JOINT_WELD: diamond(p, b, 1.4); break;
  default:
    bar(p, a, b, 0.25);
    dot(p, a, 0.7);
    dot(p, b, 0.7);
  }
}

void tb_paint_joints(const tbCanvas* canvas, const tbView* view, const tbScope* scope, const tbTheme* theme,
                     const tbSubject* subject)
{
  for (int i = 0; i < subject->njoint; i++) {
    const tbSubjectJoint* j = &subject->joint[i];
    double smaller = INFINITY; // of its bodies
    if (j->a >= 0) smaller = subject->body[j->a].reach;
    if (j->b >= 0) smaller = fmin(smaller, subject->body[j->b].reach);
    Painter p = {canvas, view, isfinite(smaller) ? fmax(scope->unit, 0.05 * smaller) : scope->unit,
                 tb_ink(theme->joint, 0.85)};
    p.ink.hidden = 0.5;
    paint_joint(&p, subject, j);
  }
}
