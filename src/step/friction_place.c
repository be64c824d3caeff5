// SPDX-License-Identifier: Apache-2.0
// Where a contact is on its two surfaces, and how their structures lie there.
//
//   the frame of a body, or of a deformable's mesh   place of the contact; the friction's direction, or that
//   of a field the map                                          coordinates there: of a chart, planar, of a
//   box, or in the contact's plane the world                                        two axes that move with
//   the body, or with the material around the contact
#include "step/friction_place.h"

#include "scene/kind.h"

#include <math.h>

// A surface at a contact: the vertices of a deformable that the contact is at, and their weights.
typedef struct {
  const tbBody* body;
  const int* vertex;
  const double* weight;
  int count;    // 0: the body moves as a frame
  tbVec3 place; // in that frame
} Spot;

static Spot spot_of(const tbWorld* w, const tbContactConstraint* t, int side)
{
  Spot s = {.body = &tb_bodies(w)[side ? t->body_b : t->body_a]};
  const tbSurfaceContact* c = t->surface;
  if (c && s.body->kind->at_rest)
    s.count = side ? c->count_b : c->count_a, s.vertex = side ? c->vertex_b : c->vertex_a,
    s.weight = side ? c->weight_b : c->weight_a;
  s.place = s.count > 0 ? s.body->kind->at_rest(s.body, s.vertex, s.weight, s.count)
                        : tb_transform_unpoint(tb_body_pose(s.body), t->position);
  return s;
}

// A direction of the body's frame, or of its mesh's, where it is now.
static tbVec3 carried(const Spot* s, tbVec3 d)
{
  if (s->count > 0) return s->body->kind->direction(s->body, s->vertex, s->weight, s->count, d);
  return tb_quat_rotate(s->body->q, d);
}

static tbVec3 across_of(tbVec3 d)
{
  tbVec3 up = fabs(d.z) < 0.9 ? tb_vec3(0, 0, 1) : tb_vec3(1, 0, 0);
  return tb_normalize3(tb_cross3(up, d));
}

// ---- maps ----

// Coordinates in repeats, metres of a repeat, and the map's axes in the frame.
typedef struct {
  double at[2], metres[2];
  tbVec3 along, across;
} Map;

static bool map_by_chart(const tbWorld* w, const Spot* s, const tbFriction* f, Map* out)
{
  tbChartPlace p;
  if (f->chart < 1 || !tb_chart_find(w, f->chart, s->place, &p)) return false;
  out->at[0] = p.at[0], out->at[1] = 1 - p.at[1]; // rows of an image come from above
  out->metres[0] = tb_norm3(p.by_u), out->metres[1] = tb_norm3(p.by_v);
  out->along = tb_normalize3(p.by_u);
  out->across = tb_normalize3(tb_madd3(p.by_v, -tb_dot3(p.by_v, out->along), out->along));
  return true;
}

// The two axes of a box's side: of d, c and d × c the ones that the surface does not face.
static void side_of_box(const Spot* s, tbVec3 n, tbVec3* along, tbVec3* across)
{
  tbVec3 d = *along, c = *across, e = tb_cross3(d, c);
  double by_d = fabs(tb_dot3(carried(s, d), n)), by_c = fabs(tb_dot3(carried(s, c), n)),
         by_e = fabs(tb_dot3(carried(s, e), n));
  if (by_e >= by_d && by_e >= by_c) return;
  if (by_d >= by_c) *along = c;
  *across = e;
}

// The contact's plane, in the frame of a body that moves as one.
static void contact_plane(const Spot* s, tbVec3 n, tbVec3* along, tbVec3* across)
{
  tbSurfaceSide own = {.along = *along, .across = *across};
  tb_friction_axes(&own, tb_quat_unrotate(s->body->q, n), along, across);
}

static Map map_of(const tbWorld* w, const Spot* s, const tbFriction* f, tbVec3 n, tbVec3 along, tbVec3 across)
{
  Map out;
  if (map_by_chart(w, s, f, &out)) return out;
  out.along = along, out.across = across;
  if (f->mapping == TB_MAPPING_BOX) side_of_box(s, n, &out.along, &out.across);
  else if (f->mapping == TB_MAPPING_CONTACT && s->count == 0) contact_plane(s, n, &out.along, &out.across);
  double scale = f->scale > 0 ? f->scale : 1;
  out.at[0] = tb_dot3(s->place, out.along) / scale, out.at[1] = tb_dot3(s->place, out.across) / scale;
  out.metres[0] = out.metres[1] = scale;
  return out;
}

// The square about the contact; false: it is whole repeats.
static bool see_patch(const tbWorld* w, const Map* m, const tbFriction* f, const tbTexture* texture,
                      tbTexturePatch* out)
{
  if (!(f->patch > 0) || (f->patch >= m->metres[0] && f->patch >= m->metres[1])) return false;
  *out = (tbTexturePatch){.texture = texture, .facet = w->facet.data};
  for (int k = 0; k < 2; k++) out->at[k] = m->at[k], out->half[k] = 0.5 * fmin(f->patch / m->metres[k], 1);
  return true;
}

// ---- the whole ----

void tb_friction_place(const tbWorld* w, const tbContactConstraint* t, int side, const tbFriction* f,
                       tbSurfaceSide* out, tbTexturePatch* patch)
{
  Spot s = spot_of(w, t, side);
  tbVec3 along = tb_normalize3(tb_friction_direction(w, f, s.place)), across = across_of(along);
  const tbTexture *texture = out->friction ? tb_friction_texture(w, out->friction) : NULL,
                  *lines = tb_friction_direction_map(w, f);
  bool placed = f->chart > 0 || f->mapping != TB_MAPPING_CONTACT;
  if (placed || lines || (texture && f->patch > 0)) {
    Map m = map_of(w, &s, f, t->point.normal, along, across);
    if (placed || lines) along = m.along, across = m.across;
    if (lines) {
      double d[2];
      tb_texture_direction(lines, w->facet.data, m.at, d);
      along = tb_add3(tb_scale3(d[0], m.along), tb_scale3(d[1], m.across));
      across = tb_sub3(tb_scale3(d[0], m.across), tb_scale3(d[1], m.along));
    }
    if (texture && see_patch(w, &m, f, texture, patch)) out->patch = patch;
  }
  if (texture) out->plow = texture->plow;
  out->along = carried(&s, along), out->across = carried(&s, across);
}
