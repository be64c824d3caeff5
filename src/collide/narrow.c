// SPDX-License-Identifier: Apache-2.0
#include "collide/narrow.h"
#include "collide/gjk.h"

static const double SLACK = 1e-12; // of the coordinates: a hint decides nothing that rounding could

void tb_narrow_shape(const tbShape* shape, tbTransform body, tbNarrowShape* out)
{
  tbPlaced placed = tb_place(shape, body);
  out->type = shape->type, out->placed = placed;
  if (shape->type != TB_SHAPE_BOX) return;
  out->box.x = placed.T.x, out->box.half[3] = 0;
  tb_store3(out->box.half, shape->box.half);
  out->box.R = tb_quat_mat3(placed.T.q);
}

// Of more than four points those stay that hold the bodies best: one of the deepest, the one farthest from
// it, and the farthest on either side of the line between these. Later points must be better by a thousandth.
static int choose(const tbManifold* m, int out[TB_NARROW_POINTS])
{
  const tbContactPoint* p = m->point;
  double deepest = INFINITY, size = 0, farthest = 0, left = 0, right = 0, clear = 1.001;
  int first = -1, second = -1, third = -1, fourth = -1, count = 0;
  for (int i = 0; i < m->n; i++) {
    deepest = fmin(deepest, p[i].gap);
    size = fmax(size, tb_distance3(p[i].a, p[0].a));
  }
  for (int i = 0; i < m->n && first < 0; i++)
    if (p[i].gap <= deepest + 1e-3 * size) first = i;
  for (int i = 0; i < m->n; i++) {
    double d = tb_distance3(p[i].a, p[first].a);
    if (d > clear * farthest) farthest = d, second = i;
  }
  for (int i = 0; second >= 0 && i < m->n; i++) {
    tbVec3 along = tb_sub3(p[second].a, p[first].a), to = tb_sub3(p[i].a, p[first].a);
    double area = tb_dot3(p[0].normal, tb_cross3(along, to));
    if (area > clear * left) left = area, third = i;
    if (area < clear * right) right = area, fourth = i;
  }
  for (int i = 0; i < m->n; i++)
    if (i == first || i == second || i == third || i == fourth) out[count++] = i;
  return count;
}

static void take(const tbManifold* m, tbNarrowManifold* out)
{
  int chosen[TB_NARROW_POINTS] = {0, 1, 2, 3};
  out->n = m->n > TB_NARROW_POINTS ? choose(m, chosen) : m->n;
  if (m->n > 0) out->normal = m->point[0].normal;
  tb_normal_turns(m->n > 0 ? m->point[0].feature : 0, out->with);
  for (int i = 0; i < out->n; i++) {
    const tbContactPoint* p = &m->point[chosen[i]];
    out->point[i] = (tbNarrowPoint){tb_scale3(0.5, tb_add3(p->a, p->b)), p->gap, p->feature};
  }
}

// The end of a capsule's segment that lies at ±half along its axis, and the place on another's that is
// closest to it.
static tbVec3 end_of(const tbPlaced* s, double half) { return tb_transform_point(s->T, tb_vec3(0, 0, half)); }

static tbVec3 place_on(const tbPlaced* s, tbVec3 p)
{
  double z = tb_quat_unrotate(s->T.q, tb_sub3(p, s->T.x)).z, half = s->shape->capsule.half;
  return end_of(s, fmin(fmax(z, -half), half));
}

// To the point where two capsules are closest, their ends within the margin of each other along its normal:
// they are what meets next when capsules that fall on each other turn.
static void add_ends(const tbPlaced* a, const tbPlaced* b, double margin, tbNarrowManifold* out)
{
  double ra = a->shape->capsule.radius, rb = b->shape->capsule.radius, closest = out->point[0].gap;
  double apart = 0.25 * (ra < rb ? ra : rb);
  for (int k = 0; k < 4 && out->n < TB_NARROW_POINTS; k++) {
    bool of_a = k < 2;
    const tbPlaced* own = of_a ? a : b;
    tbVec3 end = end_of(own, k % 2 ? own->shape->capsule.half : -own->shape->capsule.half);
    tbVec3 other = place_on(of_a ? b : a, end), pa = of_a ? end : other, pb = of_a ? other : end;
    double gap = tb_dot3(out->normal, tb_sub3(pb, pa)) - ra - rb;
    tbVec3 at = tb_scale3(0.5, tb_add3(tb_madd3(pa, ra, out->normal), tb_madd3(pb, -rb, out->normal)));
    bool fits = gap >= closest && gap <= margin;
    for (int i = 0; i < out->n; i++) fits &= tb_distance3(out->point[i].position, at) > apart;
    uint32_t vertex = tb_feature_vertex(k % 2), edge = tb_feature_edge(0, 1);
    uint64_t feature = of_a ? tb_feature_pair(vertex, edge) : tb_feature_pair(edge, vertex);
    for (int i = 0; i < out->n; i++) fits &= out->point[i].feature != feature;
    if (fits) out->point[out->n++] = (tbNarrowPoint){at, gap, feature};
  }
}

static tbVec3 farthest(const tbPlaced* s, tbVec3 n) // from the shape's place, in the world's axes
{
  return tb_quat_rotate(s->T.q, tb_core_support(s->shape, tb_quat_unrotate(s->T.q, n), NULL, NULL));
}

// Whether the shapes are clearly farther apart than the margin along the direction of the hint.
static bool hint_separates(const tbPlaced* a, const tbPlaced* b, double margin, const tbPairHint* hint)
{
  tbVec3 n = tb_normalize3(tb_quat_rotate(a->T.q, tb_vec3(hint->n[0], hint->n[1], hint->n[2])));
  tbVec3 d = tb_sub3(b->T.x, a->T.x), pa = farthest(a, n), pb = farthest(b, tb_neg3(n));
  double gap = tb_dot3(n, tb_add3(d, tb_sub3(pb, pa))) - tb_core_radius(a->shape) - tb_core_radius(b->shape);
  return gap > margin + SLACK * (tb_maxabs3(d) + tb_maxabs3(pa) + tb_maxabs3(pb));
}

// The direction of the distance of two shapes with no points between them.
static void learn(const tbPlaced* a, const tbPlaced* b, double margin, tbPairHint* hint)
{
  tbCore ca = tb_core_at_origin(a->shape), cb = tb_core_moved(b->shape, tb_place_relative(a->T, b->T));
  tbGjk g;
  tb_gjk(&ca, &cb, margin + tb_core_radius(a->shape) + tb_core_radius(b->shape), &g);
  hint->known = !g.overlap;
  hint->n[0] = (float)g.normal.x;
  hint->n[1] = (float)g.normal.y;
  hint->n[2] = (float)g.normal.z;
}

// Whether points of the pair come from tb_collide_cores, whose search is long.
static bool is_expensive(tbShapeType a, tbShapeType b)
{
  if (a >= TB_SHAPE_PLANE || b >= TB_SHAPE_PLANE) return false;
  bool solid =
      a != TB_SHAPE_SPHERE && b != TB_SHAPE_SPHERE && !(a == TB_SHAPE_CAPSULE && b == TB_SHAPE_CAPSULE);
  return solid || a == TB_SHAPE_CONVEX || b == TB_SHAPE_CONVEX;
}

void tb_narrow_boxes(const tbNarrowShape* a, const tbNarrowShape* b, double margin, int most, bool swapped,
                     const tbBoxAxis* axis, tbNarrowManifold* out)
{
  tbManifold m;
  if (tb_box_points(&a->box, &b->box, margin, most, swapped, axis, out)) return;
  tb_collide_convex(&a->placed, &b->placed, margin, &m);
  take(&m, out);
}

bool tb_narrow(const tbNarrowShape* a, const tbNarrowShape* b, double margin, int most, tbPairHint* hint,
               tbNarrowManifold* out)
{
  bool boxes = a->type == TB_SHAPE_BOX && b->type == TB_SHAPE_BOX;
  bool expensive = !boxes && is_expensive(a->type, b->type);
  if (boxes && tb_box_box(&a->box, &b->box, margin, most, &hint->axis, out)) return true;
  out->n = 0;
  if (expensive && hint->known && hint_separates(&a->placed, &b->placed, margin, hint)) return true;
  tbManifold m;
  if (!tb_collide_convex(&a->placed, &b->placed, margin, &m)) return false;
  take(&m, out);
  bool capsules = a->type == TB_SHAPE_CAPSULE && b->type == TB_SHAPE_CAPSULE;
  if (capsules && m.n == 1) add_ends(&a->placed, &b->placed, margin, out);
  if (expensive && m.n == 0) learn(&a->placed, &b->placed, margin, hint);
  return true;
}

bool tb_narrow_apart(const tbNarrowShape* a, const tbNarrowShape* b, double margin, tbPairHint* hint)
{
  if (a->type == TB_SHAPE_BOX && b->type == TB_SHAPE_BOX)
    return tb_boxes_apart(&a->box, &b->box, margin, &hint->axis);
  return hint->known && is_expensive(a->type, b->type) &&
         hint_separates(&a->placed, &b->placed, margin, hint);
}

void tb_narrow_learn(const tbNarrowShape* a, const tbNarrowShape* b, double margin, tbPairHint* hint)
{
  bool boxes = a->type == TB_SHAPE_BOX && b->type == TB_SHAPE_BOX;
  if (!boxes && is_expensive(a->type, b->type)) learn(&a->placed, &b->placed, margin, hint);
}
