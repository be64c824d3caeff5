// SPDX-License-Identifier: Apache-2.0
// Contacts as discs by their state, forces as arrows. Where two bodies touch is hidden by the bodies: what is
// behind something is painted too, but faintly.
#include "render/marks.h"
#include "base/sort.h"

enum { SIDES = 20 };
static const double full_length = 9, longest = 16; // of an arrow, in radii of a disc

typedef struct {
  const tbCanvas* canvas;
  const tbView* view;
  const tbScope* scope;
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
    double s, c, depth;
    tb_sin_cos(6.283185307179586 * i / SIDES, &s, &c);
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

static void paint_contact(const Painter* p, const tbTheme* theme, const tbReplayContact* c, double depth)
{
  double unit = p->scope->unit, scale = p->scope->impulse > 0 ? full_length * unit / p->scope->impulse : 0;
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

void tb_paint_contacts(const tbCanvas* canvas, const tbView* view, const tbScope* scope, const tbTheme* theme,
                       const tbReplayFrame* frame, tbMarkPlace* order)
{
  Painter p = {canvas, view, scope};
  int count = 0;
  for (int i = 0; i < frame->contact_count; i++) {
    double x, y;
    order[count].contact = i;
    if (tb_view_project(view, frame->contact[i].position, &x, &y, &order[count].depth)) count++;
  }
  tb_sort(order, (size_t)count, sizeof *order, by_depth);
  for (int i = 0; i < count; i++) paint_contact(&p, theme, &frame->contact[order[i].contact], order[i].depth);
}
