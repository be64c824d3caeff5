// SPDX-License-Identifier: Apache-2.0
// Questions to a world: every shape and deformable surface is a subject (collide/query.h); boxes around them
// say which are worth asking.
#include "tribo/query.h"

#include "collide/query.h"
#include "scene/kind.h"

tbRay tb_ray(tbVec3 from, tbVec3 direction) { return (tbRay){from, direction, INFINITY, TB_ALL_CATEGORIES}; }

static bool finite3(tbVec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

// One thing of a body: one of its shapes, or its deformable surface (shape −1).
typedef struct {
  tbSubject subject;
  int place, shape;
  tbBox box;
} Item;

static int item_count(const tbBody* b) { return tb_nodes_of(b).count > 0 ? 1 : b->nshape; }

static tbBox sphere_box(tbVec3 x, double r)
{
  return (tbBox){tb_sub3(x, tb_vec3(r, r, r)), tb_add3(x, tb_vec3(r, r, r))};
}

static Item item_of(const tbWorld* w, int place, int i)
{
  const tbBody* b = &tb_bodies(w)[place];
  tbNodes nodes = tb_nodes_of(b);
  if (nodes.count > 0)
    return (Item){tb_subject_triangles(nodes.x, nodes.triangle, nodes.ntriangle, !b->kind->sheet), place, -1,
                  sphere_box(b->x, b->radius)};
  const tbShape* shape = &tb_shapes(w)[b->shape + i];
  tbTransform T = tb_body_pose(b);
  return (Item){tb_subject_shape(shape, T), place, i, tb_shape_box_of(shape, T)};
}

static tbHit hit_of(const tbWorld* w, const Item* item, const tbMeeting* m)
{
  return (tbHit){
      tb_world_body_at(w, item->place), item->shape, m->triangle, m->point, m->normal, m->distance};
}

// ---- rays ----

static bool slab(double lo, double hi, double o, double d, double* begin, double* end)
{
  if (d == 0) return lo <= o && o <= hi;
  double a = (lo - o) / d, b = (hi - o) / d;
  *begin = fmax(*begin, fmin(a, b)), *end = fmin(*end, fmax(a, b));
  return true;
}

// Whether a ray may meet a box; a little wider than it is, for rounding. NaN of infinite boxes: it may.
static bool may_meet(const tbBox* box, tbVec3 o, tbVec3 d, double length)
{
  double begin = 0, end = length;
  bool in = slab(box->lo.x, box->hi.x, o.x, d.x, &begin, &end) &&
            slab(box->lo.y, box->hi.y, o.y, d.y, &begin, &end) &&
            slab(box->lo.z, box->hi.z, o.z, d.z, &begin, &end);
  return in && !(begin > end + 1e-9 * (fabs(begin) + fabs(end)));
}

// Asks everything in the way. hits: sorted, `count` of them so far.
static int collect(const tbWorld* w, const tbRay* ray, bool first, tbHit* hits, int capacity)
{
  double size = tb_norm3(ray->direction), length = ray->length;
  if (!(size > 0) || !isfinite(size) || !finite3(ray->from) || !(length >= 0)) return 0;
  tbVec3 d = tb_normalize3(ray->direction);
  int found = 0;
  for (int p = 0; p < (int)w->body.count; p++) {
    const tbBody* b = &tb_bodies(w)[p];
    if (!(b->category & ray->categories)) continue;
    for (int i = 0; i < item_count(b); i++) {
      Item item = item_of(w, p, i);
      tbMeeting m;
      if (!may_meet(&item.box, ray->from, d, length) ||
          !tb_subject_ray(&item.subject, ray->from, d, length, &m))
        continue;
      if (first && found > 0 && !(m.distance < hits[0].distance)) continue;
      int kept = found < capacity ? found : capacity, at = first ? 0 : kept;
      while (!first && at > 0 && hits[at - 1].distance > m.distance) at--;
      for (int k = kept < capacity ? kept : capacity - 1; !first && k > at; k--) hits[k] = hits[k - 1];
      if (at < capacity) hits[at] = hit_of(w, &item, &m);
      if (first) length = m.distance;
      found = first ? 1 : found + 1;
    }
  }
  return found;
}

bool tb_world_ray(const tbWorld* w, const tbRay* ray, tbHit* hit)
{
  *hit = (tbHit){.body = {-1, 0}, .shape = -1, .triangle = -1};
  return collect(w, ray, true, hit, 1) > 0;
}

int tb_world_ray_all(const tbWorld* w, const tbRay* ray, tbHit* hits, int capacity)
{
  return collect(w, ray, false, hits, capacity < 0 ? 0 : capacity);
}

// ---- boxes ----

static bool boxes_meet(const tbBox* a, const tbBox* b)
{
  return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y &&
         a->lo.z <= b->hi.z && b->lo.z <= a->hi.z;
}

int tb_world_overlap(const tbWorld* w, tbBox box, uint32_t categories, tbBodyId* bodies, int capacity)
{
  if (!finite3(box.lo) || !finite3(box.hi) ||
      !(box.lo.x <= box.hi.x && box.lo.y <= box.hi.y && box.lo.z <= box.hi.z))
    return 0;
  tbShape shape = tb_shape_box(tb_sub3(box.hi, box.lo));
  shape.pose.x = tb_scale3(0.5, tb_add3(box.lo, box.hi));
  tbSubject asked = tb_subject_shape(&shape, tb_transform_identity());
  int found = 0;
  for (int p = 0; p < (int)w->body.count; p++) {
    const tbBody* b = &tb_bodies(w)[p];
    bool meets = false;
    for (int i = 0; b->category & categories && i < item_count(b) && !meets; i++) {
      Item item = item_of(w, p, i);
      tbVec3 on_a, on_b;
      meets = boxes_meet(&item.box, &box) && tb_subject_distance(&asked, &item.subject, 0, &on_a, &on_b) <= 0;
    }
    if (!meets) continue;
    if (found < capacity) bodies[found] = tb_world_body_at(w, p);
    found++;
  }
  return found;
}

// ---- nearest points and distances ----

static double box_distance(const tbBox* b, tbVec3 p)
{
  return tb_norm3(tb_max3(tb_zero3(), tb_max3(tb_sub3(b->lo, p), tb_sub3(p, b->hi))));
}

static bool nearest_of(const tbWorld* w, int place, tbVec3 p, double* reach, tbHit* hit)
{
  bool found = false;
  for (int i = 0; i < item_count(&tb_bodies(w)[place]); i++) {
    Item item = item_of(w, place, i);
    tbMeeting m;
    if (box_distance(&item.box, p) > *reach || !tb_subject_nearest(&item.subject, p, *reach, &m)) continue;
    if (found && !(m.distance < *reach)) continue;
    *reach = m.distance, *hit = hit_of(w, &item, &m), found = true;
  }
  return found;
}

bool tb_world_nearest(const tbWorld* w, tbVec3 point, double reach, uint32_t categories, tbHit* hit)
{
  bool found = false;
  *hit = (tbHit){.body = {-1, 0}, .shape = -1, .triangle = -1};
  if (!finite3(point) || !(reach >= 0)) return false;
  for (int p = 0; p < (int)w->body.count; p++)
    if (tb_bodies(w)[p].category & categories) found |= nearest_of(w, p, point, &reach, hit);
  return found;
}

bool tb_body_nearest(const tbWorld* w, tbBodyId body, tbVec3 point, double reach, tbHit* hit)
{
  int place = tb_body_place(w, body);
  *hit = (tbHit){.body = {-1, 0}, .shape = -1, .triangle = -1};
  return place >= 0 && finite3(point) && reach >= 0 && nearest_of(w, place, point, &reach, hit);
}

double tb_body_distance(const tbWorld* w, tbBodyId a, tbBodyId b, tbVec3* point_a, tbVec3* point_b)
{
  int pa = tb_body_place(w, a), pb = tb_body_place(w, b);
  double best = INFINITY;
  for (int i = 0; pa >= 0 && pb >= 0 && i < item_count(&tb_bodies(w)[pa]); i++)
    for (int k = 0; k < item_count(&tb_bodies(w)[pb]); k++) {
      Item x = item_of(w, pa, i), y = item_of(w, pb, k);
      tbVec3 on_a, on_b;
      double d = tb_subject_distance(&x.subject, &y.subject, best, &on_a, &on_b);
      if (!(d < best)) continue;
      best = d;
      if (point_a) *point_a = on_a;
      if (point_b) *point_b = on_b;
    }
  return best;
}
