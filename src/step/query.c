// SPDX-License-Identifier: Apache-2.0
// Questions to a world: every shape and deformable surface is a subject (collide/query.h); boxes around them
// say which are worth asking. Bodies come in any order (query_tree.h): where two are equally near, the order
// of their places decides, not that of the asking.
#include "collide/query.h"
#include "geometry/box.h"
#include "scene/kind.h"
#include "step/query_tree.h"

tbRay tb_ray(tbVec3 from, tbVec3 direction) { return (tbRay){from, direction, INFINITY, TB_ALL_CATEGORIES}; }

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

tbBox tb_query_box(const tbWorld* w, int place)
{
  tbBox box = tb_box_empty();
  for (int i = 0; i < item_count(&tb_bodies(w)[place]); i++) box = tb_box_join(box, item_of(w, place, i).box);
  return box;
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

typedef struct {
  const tbWorld* world;
  const tbRay* ray;
  tbVec3 d;
  double length; // of what is left to look at
  bool first;    // only the nearest counts
  tbHit* hits;   // sorted: by distance, then place, then shape
  int capacity, found;
} RayQuestion;

static bool ray_may_meet(const void* user, const tbBox* box)
{
  const RayQuestion* q = user;
  return may_meet(box, q->ray->from, q->d, q->length);
}

static bool comes_before(const tbWorld* w, const tbHit* a, const tbHit* b)
{
  if (a->distance != b->distance) return a->distance < b->distance;
  int pa = tb_body_place(w, a->body), pb = tb_body_place(w, b->body);
  return pa != pb ? pa < pb : a->shape < b->shape;
}

static void insert_hit(RayQuestion* q, const tbHit* hit)
{
  int kept = q->found < q->capacity ? q->found : q->capacity, at = kept;
  while (at > 0 && comes_before(q->world, hit, &q->hits[at - 1])) at--;
  for (int k = kept < q->capacity ? kept : q->capacity - 1; k > at; k--) q->hits[k] = q->hits[k - 1];
  if (at < q->capacity) q->hits[at] = *hit;
  q->found++;
}

static void ask_ray(void* user, int place)
{
  RayQuestion* q = user;
  const tbBody* b = &tb_bodies(q->world)[place];
  if (!(b->category & q->ray->categories)) return;
  for (int i = 0; i < item_count(b); i++) {
    Item item = item_of(q->world, place, i);
    tbMeeting m;
    if (!may_meet(&item.box, q->ray->from, q->d, q->length) ||
        !tb_subject_ray(&item.subject, q->ray->from, q->d, q->length, &m))
      continue;
    tbHit hit = hit_of(q->world, &item, &m);
    insert_hit(q, &hit);
    if (q->first) q->length = q->hits[0].distance, q->found = 1;
  }
}

// Asks everything in the way; returns how much it meets.
static int collect(const tbWorld* w, const tbQueryTree* tree, const tbRay* ray, bool first, tbHit* hits,
                   int capacity)
{
  double size = tb_norm3(ray->direction);
  if (!(size > 0) || !isfinite(size) || !tb_finite3(ray->from) || !(ray->length >= 0)) return 0;
  RayQuestion q = {w, ray, tb_normalize3(ray->direction), ray->length, first, hits, capacity, 0};
  tb_put_question(w, tree, &(tbQuestion){ray_may_meet, ask_ray, &q});
  return q.found;
}

static const tbHit no_hit = {.body = {-1, 0}, .shape = -1, .triangle = -1};

bool tb_world_ray(const tbWorld* w, const tbRay* ray, tbHit* hit)
{
  *hit = no_hit;
  return collect(w, NULL, ray, true, hit, 1) > 0;
}

int tb_world_ray_all(const tbWorld* w, const tbRay* ray, tbHit* hits, int capacity)
{
  return collect(w, NULL, ray, false, hits, capacity < 0 ? 0 : capacity);
}

bool tb_query_tree_ray(const tbQueryTree* tree, const tbRay* ray, tbHit* hit)
{
  *hit = no_hit;
  return collect(tb_query_tree_world(tree), tree, ray, true, hit, 1) > 0;
}

int tb_query_tree_ray_all(const tbQueryTree* tree, const tbRay* ray, tbHit* hits, int capacity)
{
  return collect(tb_query_tree_world(tree), tree, ray, false, hits, capacity < 0 ? 0 : capacity);
}

// ---- boxes ----

static bool boxes_meet(const tbBox* a, const tbBox* b)
{
  return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y &&
         a->lo.z <= b->hi.z && b->lo.z <= a->hi.z;
}

typedef struct {
  const tbWorld* world;
  tbBox box;
  tbSubject subject; // the same
  uint32_t categories;
  tbBodyId* bodies; // in the order of their places
  int capacity, found;
} BoxQuestion;

static bool box_may_meet(const void* user, const tbBox* box)
{
  return boxes_meet(box, &((const BoxQuestion*)user)->box);
}

static void ask_box(void* user, int place)
{
  BoxQuestion* q = user;
  const tbBody* b = &tb_bodies(q->world)[place];
  bool meets = false;
  for (int i = 0; b->category & q->categories && i < item_count(b) && !meets; i++) {
    Item item = item_of(q->world, place, i);
    tbVec3 on_a, on_b;
    meets = boxes_meet(&item.box, &q->box) &&
            tb_subject_distance(&q->subject, &item.subject, 0, &on_a, &on_b) <= 0;
  }
  if (!meets) return;
  int kept = q->found < q->capacity ? q->found : q->capacity, at = kept;
  while (at > 0 && tb_body_place(q->world, q->bodies[at - 1]) > place) at--;
  for (int k = kept < q->capacity ? kept : q->capacity - 1; k > at; k--) q->bodies[k] = q->bodies[k - 1];
  if (at < q->capacity) q->bodies[at] = tb_world_body_at(q->world, place);
  q->found++;
}

static int overlap(const tbWorld* w, const tbQueryTree* tree, tbBox box, uint32_t categories,
                   tbBodyId* bodies, int capacity)
{
  if (!tb_finite3(box.lo) || !tb_finite3(box.hi) ||
      !(box.lo.x <= box.hi.x && box.lo.y <= box.hi.y && box.lo.z <= box.hi.z))
    return 0;
  tbShape shape = tb_shape_box(tb_sub3(box.hi, box.lo));
  shape.pose.x = tb_scale3(0.5, tb_add3(box.lo, box.hi));
  BoxQuestion q = {.world = w, .box = box, .categories = categories, .bodies = bodies};
  q.subject = tb_subject_shape(&shape, tb_transform_identity());
  q.capacity = capacity < 0 ? 0 : capacity;
  tb_put_question(w, tree, &(tbQuestion){box_may_meet, ask_box, &q});
  return q.found;
}

int tb_world_overlap(const tbWorld* w, tbBox box, uint32_t categories, tbBodyId* bodies, int capacity)
{
  return overlap(w, NULL, box, categories, bodies, capacity);
}

int tb_query_tree_overlap(const tbQueryTree* tree, tbBox box, uint32_t categories, tbBodyId* bodies,
                          int capacity)
{
  return overlap(tb_query_tree_world(tree), tree, box, categories, bodies, capacity);
}

// ---- nearest points and distances ----

static double box_distance(const tbBox* b, tbVec3 p)
{
  return tb_norm3(tb_max3(tb_zero3(), tb_max3(tb_sub3(b->lo, p), tb_sub3(p, b->hi))));
}

typedef struct {
  const tbWorld* world;
  tbVec3 point;
  double reach; // of what is left to look at: the nearest so far; negative: inside of it
  uint32_t categories;
  bool found;
  tbHit* hit;
} NearestQuestion;

// What holds the point is looked at however deep another holds it: it may do so more deeply.
static bool point_may_meet(const void* user, const tbBox* box)
{
  const NearestQuestion* q = user;
  return !(box_distance(box, q->point) > fmax(q->reach, 0));
}

static void look_at_body(NearestQuestion* q, int place)
{
  for (int i = 0; i < item_count(&tb_bodies(q->world)[place]); i++) {
    Item item = item_of(q->world, place, i);
    tbMeeting m;
    if (!point_may_meet(q, &item.box) ||
        !tb_subject_nearest(&item.subject, q->point, fmax(q->reach, 0), &m) || m.distance > q->reach)
      continue;
    tbHit hit = hit_of(q->world, &item, &m);
    if (q->found && !comes_before(q->world, &hit, q->hit)) continue;
    q->reach = m.distance, *q->hit = hit, q->found = true;
  }
}

static void ask_nearest(void* user, int place)
{
  NearestQuestion* q = user;
  if (tb_bodies(q->world)[place].category & q->categories) look_at_body(q, place);
}

static bool nearest(const tbWorld* w, const tbQueryTree* tree, tbVec3 point, double reach,
                    uint32_t categories, tbHit* hit)
{
  *hit = no_hit;
  if (!tb_finite3(point) || !(reach >= 0)) return false;
  NearestQuestion q = {w, point, reach, categories, false, hit};
  tb_put_question(w, tree, &(tbQuestion){point_may_meet, ask_nearest, &q});
  return q.found;
}

bool tb_world_nearest(const tbWorld* w, tbVec3 point, double reach, uint32_t categories, tbHit* hit)
{
  return nearest(w, NULL, point, reach, categories, hit);
}

bool tb_query_tree_nearest(const tbQueryTree* tree, tbVec3 point, double reach, uint32_t categories,
                           tbHit* hit)
{
  return nearest(tb_query_tree_world(tree), tree, point, reach, categories, hit);
}

bool tb_body_nearest(const tbWorld* w, tbBodyId body, tbVec3 point, double reach, tbHit* hit)
{
  int place = tb_body_place(w, body);
  *hit = no_hit;
  if (place < 0 || !tb_finite3(point) || !(reach >= 0)) return false;
  NearestQuestion q = {w, point, reach, 0, false, hit};
  look_at_body(&q, place);
  return q.found;
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
