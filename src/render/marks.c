// SPDX-License-Identifier: Apache-2.0
// Contacts as discs by their state, forces as arrows. Where two bodies touch is hidden by the bodies: what is
// behind something is painted too, but faintly.
#include "render/marks.h"
#include "base/sort.h"

enum { SIDES = 20, BAND = 48 };
static const double full_length = 9, longest = 16; // of an arrow, in radii of a disc

typedef struct {
  const tbCanvas* canvas;
  const tbView* view;
  const tbScope* scope;
  const tbTheme* theme;
  const tbReplayFrame* frame;
  const tbMarkPlace* order;
  int count;
  tbPoint round[SIDES]; // a circle of radius 1
} Painter;

static int by_depth(const void* a, const void* b)
{
  const tbMarkPlace *x = a, *y = b;
  if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
  return x->contact - y->contact;
}

static void paint_disc(const Painter* p, tbVec3 centre, tbVec3 normal, double radius, const tbInk* ink)
{
  tbMat3 F = tb_mat3_frame(normal);
  tbPoint corner[SIDES];
  for (int i = 0; i < SIDES; i++) {
    double s = p->round[i].y, c = p->round[i].x, depth;
    tbVec3 q = tb_madd3(tb_madd3(centre, radius * c, tb_mat3_row(F, 1)), radius * s, tb_mat3_row(F, 2));
    if (!tb_view_project(p->view, q, &corner[i].x, &corner[i].y, &depth)) return;
  }
  tb_paint_polygon(p->canvas, corner, SIDES, ink);
}

static void paint_arrow(const Painter* p, tbVec3 from, tbVec3 along, double length, const tbInk* ink)
{
  double unit = p->scope->unit, depth, depth_tip;
  tbPoint a, b;
  if (!(length > 0.5 * unit)) return;
  if (!tb_view_project(p->view, from, &a.x, &a.y, &depth) ||
      !tb_view_project(p->view, tb_madd3(from, length, along), &b.x, &b.y, &depth_tip))
    return;
  double dx = b.x - a.x, dy = b.y - a.y, on_screen = sqrt(dx * dx + dy * dy);
  double pixel = p->view->focal * depth * unit, head = fmin(1.2 * pixel, 0.6 * on_screen), half = 0.46 * head;
  if (!(on_screen > 1)) return;
  dx /= on_screen, dy /= on_screen;
  tbPoint neck = {b.x - head * dx, b.y - head * dy};
  tb_paint_line(p->canvas, a, (tbPoint){neck.x + 0.2 * head * dx, neck.y + 0.2 * head * dy},
                fmax(0.3 * pixel, 1.1), ink);
  tb_paint_polygon(
      p->canvas,
      (tbPoint[3]){b, {neck.x - half * dy, neck.y + half * dx}, {neck.x + half * dy, neck.y - half * dx}}, 3,
      ink);
}

// Newtons · seconds to metres of an arrow.
static double arrow_scale(const tbScope* scope)
{
  return scope->impulse > 0 ? full_length * scope->unit / scope->impulse : 0;
}

static void paint_contact(const Painter* p, const tbReplayContact* c, double depth)
{
  const tbTheme* theme = p->theme;
  double unit = p->scope->unit, scale = arrow_scale(p->scope);
  double front = 1 / (1 / depth - 1.5 * unit); // a disc lies in the surface: it is in front of it
  if (!(front > 0)) return;
  tbInk halo = tb_ink(theme->background, 0.55), ink = tb_ink(theme->state[c->state], 0.92);
  halo.hidden = 0, ink.hidden = 0.20;
  halo.depth = ink.depth = front;
  double radius = c->state == TB_CONTACT_OPEN ? 0.7 * unit : unit;
  paint_disc(p, c->position, c->normal, 1.2 * radius, &halo);
  paint_disc(p, c->position, c->normal, radius, &ink);
  if (c->state == TB_CONTACT_OPEN) return;
  double normal = tb_dot3(c->impulse, c->normal);
  tbVec3 friction = tb_madd3(c->impulse, -normal, c->normal);
  double size = tb_norm3(friction);
  tbInk push = tb_ink(theme->state[TB_CONTACT_STICK], 0.9),
        pull = tb_ink(theme->state[TB_CONTACT_SLIP], 0.95);
  for (int k = 0; k < 3; k++) push.rgb[k] += 0.25f * (1 - push.rgb[k]);
  push.hidden = 0.28, pull.hidden = 0.34;
  push.depth = pull.depth = front;
  paint_arrow(p, c->position, c->normal, fmin(scale * normal, longest * unit), &push);
  if (size > 0)
    paint_arrow(p, c->position, tb_scale3(1 / size, friction), fmin(scale * size, longest * unit), &pull);
}

// Between which rows a mark lies: it is within a ball of radius R, and what is at most R from a place at the
// depth z moves by at most f R/(z − R) (1 + |y|/f) on the screen. Lines and heads of arrows add their widths.
static void set_rows(const Painter* p, const tbReplayContact* c, double y, tbMarkPlace* out)
{
  const tbView* v = p->view;
  double unit = p->scope->unit, length = arrow_scale(p->scope) * tb_norm3(c->impulse), z = 1 / out->depth;
  double radius = fmax(1.2 * unit, fmin(length, longest * unit)), pixel = v->focal * out->depth * unit;
  bool near = !(z > 1.001 * radius);
  double reach = near ? INFINITY : v->focal * radius / (z - radius) * (1 + fabs(y - v->y) / v->focal);
  out->top = y - reach - pixel - 3, out->bottom = y + reach + pixel + 3;
}

static void paint_band(void* user, int begin, int end, int piece)
{
  (void)piece;
  const Painter* all = user;
  tbCanvas band = *all->canvas;
  Painter p = *all;
  p.canvas = &band;
  band.top = begin * BAND, band.bottom = end * BAND < band.height ? end * BAND : band.height;
  for (int i = 0; i < p.count; i++) {
    const tbMarkPlace* at = &p.order[i];
    if (at->bottom < band.top || at->top > band.bottom) continue;
    paint_contact(&p, &p.frame->contact[at->contact], at->depth);
  }
}

void tb_paint_contacts(tbThreads* threads, const tbCanvas* canvas, const tbView* view, const tbScope* scope,
                       const tbTheme* theme, const tbReplayFrame* frame, tbMarkPlace* order)
{
  Painter p = {canvas, view, scope, theme, frame, order, 0, {{0, 0}}};
  for (int i = 0; i < SIDES; i++) tb_sin_cos(6.283185307179586 * i / SIDES, &p.round[i].y, &p.round[i].x);
  for (int i = 0; i < frame->contact_count; i++) {
    double x, y;
    tbMarkPlace* at = &order[p.count];
    at->contact = i;
    if (!tb_view_project(view, frame->contact[i].position, &x, &y, &at->depth)) continue;
    set_rows(&p, &frame->contact[i], y, at);
    p.count++;
  }
  tb_sort(order, (size_t)p.count, sizeof *order, by_depth);
  tb_parallel_for(threads, tb_piece_count(canvas->height, BAND), 1, paint_band, &p);
}
