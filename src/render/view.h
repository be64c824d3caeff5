// SPDX-License-Identifier: Apache-2.0
// From where a picture is taken.
#ifndef TB_RENDER_VIEW_H
#define TB_RENDER_VIEW_H

#include "render/subject.h"
#include "tribo/render.h"

typedef struct tbView {
  tbVec3 eye, right, up, forward; // unit axes
  double focal;                   // pixels that 1 m takes at a distance of 1 m
  double x, y;                    // pixels: where the axis goes through the picture
  double near;                    // m: what is closer is cut off
} tbView;

// What has to be seen, found once for a film: where bodies are on the way.
typedef struct tbScope {
  tbVec3 centre; // of a ball around it
  double radius;
  tbVec3 from;    // unit, from there to the eye
  tbArray ball;   // tbBall, first of what moves
  int moving;     // how many those are
  tbArray outer;  // tbBall, those that a view has to be fitted to
  double room;    // around it, as a share of it: one body alone wants more than many
  double unit;    // m: radius of a contact's mark
  double impulse; // N·s: the arrow of this one has its full length
} tbScope;

typedef struct tbBall {
  tbVec3 centre;
  double radius;
} tbBall;

// Appends the balls that no others surround: the convex hull of these is that of all.
tbStatus tb_outermost_balls(tbContext* ctx, const tbBall* ball, size_t count, tbArray* out);

tbStatus tb_scope_create(tbContext* ctx, const tbSubject* subject, tbReplay* replay, int64_t first,
                         int64_t last, tbScope* out);
void tb_scope_free(tbContext* ctx, tbScope* scope);

// turn: of an orbit, rad.
tbView tb_view_make(const tbSubject* subject, const tbScope* scope, const tbRenderOptions* options,
                    double turn);

static inline tbVec3 tb_view_ray(const tbView* v, double x,
                                 double y) // to a place in the picture; forward part 1
{
  return tb_madd3(tb_madd3(v->forward, (x - v->x) / v->focal, v->right), (v->y - y) / v->focal, v->up);
}

// Where a place appears; false: behind the near plane. depth: 1/distance along the axis.
static inline bool tb_view_project(const tbView* v, tbVec3 place, double* x, double* y, double* depth)
{
  tbVec3 d = tb_sub3(place, v->eye);
  double z = tb_dot3(d, v->forward);
  if (!(z > v->near)) return false;
  *depth = 1 / z;
  *x = v->x + v->focal * tb_dot3(d, v->right) / z;
  *y = v->y - v->focal * tb_dot3(d, v->up) / z;
  return true;
}

#endif
