// SPDX-License-Identifier: Apache-2.0
// Walls in the way of the view. Rays go from the eye to where things move; a fixed shape that stops more than
// a few of them is cut away: a box altogether, but for its edges, of other shapes what lies before those
// things.
#include "render/marks.h"
#include "render/scene.h"

enum { RAYS = 128 };
static const double tolerated_box = 0.04, tolerated_other = 0.5; // shares of the rays

// Möller and Trumbore 1997, for a segment: from p over d.
static bool stops(tbVec3 p, tbVec3 d, tbVec3 a, tbVec3 b, tbVec3 c)
{
  tbVec3 e = tb_sub3(b, a), f = tb_sub3(c, a), s = tb_sub3(p, a), h = tb_cross3(d, f), q = tb_cross3(s, e);
  double det = tb_dot3(e, h);
  if (det == 0) return false;
  double u = tb_dot3(s, h) / det, v = tb_dot3(d, q) / det, t = tb_dot3(f, q) / det;
  return u >= 0 && v >= 0 && u + v <= 1 && t > 0 && t < 0.98;
}

static bool in_the_way(const tbSubject* m, const tbInstance* in, const tbView* view, const tbScope* scope)
{
  const tbBall* ball = scope->ball.data;
  const tbSolidMesh* mesh = &m->mesh[in->mesh];
  tbTransform T = tb_transform_mul(m->now[in->body], in->pose);
  tbVec3 eye = tb_transform_unpoint(T, view->eye);
  int rays = scope->moving < RAYS ? scope->moving : RAYS, stopped = 0;
  for (int i = 0; i < rays; i++) {
    tbVec3 goal = tb_transform_unpoint(T, ball[(int64_t)i * scope->moving / rays].centre);
    bool hit = false;
    for (int t = 0; t < mesh->ntriangle && !hit; t++) {
      const int* v = mesh->triangle[t];
      hit = stops(eye, tb_sub3(goal, eye), tb_mul3(in->scale, mesh->vertex[v[0]]),
                  tb_mul3(in->scale, mesh->vertex[v[1]]), tb_mul3(in->scale, mesh->vertex[v[2]]));
    }
    stopped += hit;
  }
  return stopped > (in->mesh == m->box ? tolerated_box : tolerated_other) * rays;
}

void tb_cut_away(const tbSubject* m, const tbView* view, const tbScope* scope)
{
  for (int i = 0; i < m->ninstance; i++) {
    const tbInstance* in = &m->instance[i];
    m->cut[i] = TB_CUT_NOTHING;
    if (m->body[in->body].motion != TB_BODY_FIXED || !in_the_way(m, in, view, scope)) continue;
    m->cut[i] = in->mesh == m->box ? TB_CUT_ALL : TB_CUT_NEAR;
  }
}

bool tb_cut_hides(const tbCut* cut, tbVec3 a, tbVec3 b, tbVec3 c)
{
  return tb_dot3(cut->forward, tb_add3(tb_add3(a, b), c)) < 3 * cut->distance;
}

void tb_paint_cut(const tbCanvas* canvas, const tbView* view, const tbTheme* theme, const tbSubject* m)
{
  for (int i = 0; i < m->ninstance; i++) {
    const tbInstance* in = &m->instance[i];
    if (m->cut[i] != TB_CUT_ALL) continue;
    tbTransform T = tb_transform_mul(m->now[in->body], in->pose);
    for (int edge = 0; edge < 12; edge++) {
      int axis = edge / 4, first = edge % 4, bit = 1 << axis;
      int low = (first >> axis << (axis + 1)) | (first & (bit - 1)),
          high = low | bit; // corners as in a unit box
      tbPoint p[2];
      double depth[2] = {0, 0};
      bool shown = true;
      for (int k = 0; k < 2; k++) {
        int corner = k ? high : low;
        tbVec3 v = tb_vec3(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
        shown &=
            tb_view_project(view, tb_transform_point(T, tb_mul3(in->scale, v)), &p[k].x, &p[k].y, &depth[k]);
      }
      tbInk ink = tb_ink(theme->faint, 0.4);
      ink.hidden = 0.12, ink.depth = 1.002 * fmax(depth[0], depth[1]);
      if (shown) tb_paint_line(canvas, p[0], p[1], 1.1 * canvas->height / 720, &ink);
    }
  }
}
