// SPDX-License-Identifier: Apache-2.0
// Contacts are linear, surfaces are not: rows taken anew where the step ends (Verschoor and Jalba 2019,
// §3.3).
//
// A row holds n·(p_b + h v_b − p_a − h v_a) at the distance kept, with the normal and the weights of the
// moment that features met. At the end of the step the closest points of the same features are others, and so
// is their distance: by what features turned and by how far they slid over each other. The paper takes rows
// anew
//
//   C' = w C(x⁺) + (1 − w) C(x),        w: so that the normal turns by no more than 15°
//
// until 0 ≤ C < ε₂ for every contact that pushes. Here it is the difference between the distance at the end
// and the one that the row says: less than the clearance, which is what rows keep.
#include "step/soft_contact_round.h"

static const double TURNED = 0.99;                 // cosine of an angle a normal may be wrong by: 8°
static const double COS_MOST = 0.9659258262890683; // of the angle that it turns by at once: 15°
static const double SIN_MOST = 0.25881904510252074;
static const double MOST = 0.2617993877991494; // rad

static bool inside(const tbSurfaceContact* c)
{
  for (int k = 0; k < c->count_a; k++)
    if (!(c->weight_a[k] > 1e-9)) return false;
  for (int k = 0; k < c->count_b; k++)
    if (!(c->weight_b[k] > 1e-9)) return false;
  return true;
}

// Of two points of surfaces at the start of the step, along the contact's normal.
static double gap_at_start(const tbSurfaces* s, const tbSurfaceContact* c)
{
  const tbVec3 *a = s->surface[c->of.surface_a].start, *b = s->surface[c->of.surface_b].start;
  tbVec3 way = tb_zero3();
  for (int k = 0; k < c->count_b; k++)
    way = tb_madd3(way, c->weight_b[k], tb_sub3(b[c->vertex_b[k]], b[c->vertex_b[0]]));
  for (int k = 0; k < c->count_a; k++)
    way = tb_madd3(way, c->weight_a[k], tb_sub3(b[c->vertex_b[0]], a[c->vertex_a[k]]));
  return tb_dot3(c->normal, way);
}

// The contact's row taken towards `to`, as far as its normal may turn.
static void approach(const tbSurfaces* s, const tbSurfaceContact* to, tbSurfaceContact* c)
{
  double cosine = tb_dot3(c->normal, to->normal);
  if (cosine >= COS_MOST) {
    *c = *to;
    return;
  }
  tbVec3 across = tb_madd3(to->normal, -cosine, c->normal);
  double sine = tb_norm3(across), share = MOST / tb_atan2(sine, cosine);
  if (!(sine > 0)) { // turned over: there is no way from one to the other
    *c = *to;
    return;
  }
  c->normal = tb_normalize3(tb_madd3(tb_scale3(COS_MOST, c->normal), SIN_MOST / sine, across));
  for (int k = 0; k < c->count_a; k++) c->weight_a[k] += share * (to->weight_a[k] - c->weight_a[k]);
  for (int k = 0; k < c->count_b; k++) c->weight_b[k] += share * (to->weight_b[k] - c->weight_b[k]);
  c->t = to->t, c->gap = gap_at_start(s, c);
}

// The distance at the end of the step less what the row says. False: the contact does not push, or its row is
// that of a plane or of a round shape, which are not of triangles.
static bool error_of(const tbWorld* w, const tbSurfaces* s, const tbSoftContact* p, tbSurfaceContact* at_end,
                     double* error)
{
  const tbSurfaceContact* c = &p->contact;
  if (!(p->push > 0) || c->of.kind == TB_SURFACE_PLANE_VERTEX) return false;
  if (tb_soft_contact_round_side(w, s, &c->of) >= 0) return false;
  if (!tb_surface_contact_at(&s->scene, &c->of, 1, at_end)) return false;
  double row = c->gap + tb_dot3(c->normal, tb_soft_contact_way(s, c));
  *error = at_end->gap + tb_dot3(at_end->normal, tb_soft_contact_way(s, at_end)) - row;
  return true;
}

double tb_soft_contact_linear_error(const tbWorld* w, const tbSurfaces* s, const tbArray* soft_contacts)
{
  double worst = 0, error;
  tbSurfaceContact at_end;
  for (size_t i = 0; i < soft_contacts->count; i++)
    if (error_of(w, s, (const tbSoftContact*)soft_contacts->data + i, &at_end, &error))
      worst = fmax(worst, fabs(error));
  return worst;
}

bool tb_soft_contact_turn(const tbWorld* w, const tbSurfaces* s, tbArray* soft_contacts)
{
  bool any = false;
  for (size_t i = 0; i < soft_contacts->count; i++) {
    tbSoftContact* p = (tbSoftContact*)soft_contacts->data + i;
    tbSurfaceContact at_end;
    double unused;
    if (!error_of(w, s, p, &at_end, &unused) || !inside(&at_end) || !(at_end.gap > 0)) continue;
    if (tb_dot3(at_end.normal, p->contact.normal) >= TURNED) continue;
    p->contact = at_end;
    any = true;
  }
  return any;
}

bool tb_soft_contact_relinearize(const tbWorld* w, const tbSurfaces* s, double tolerance,
                                 tbArray* soft_contacts)
{
  tbSoftContact* p = soft_contacts->data;
  size_t kept = 0;
  bool any = false;
  for (size_t i = 0; i < soft_contacts->count; i++) {
    tbSurfaceContact at_end;
    double error;
    bool gone = false;
    if (error_of(w, s, &p[i], &at_end, &error)) {
      bool turned = tb_dot3(at_end.normal, p[i].contact.normal) < TURNED, off = !inside(&at_end);
      gone = off && error >= tolerance;
      bool anew =
          !gone && ((turned && !off) || fabs(error) >= tolerance) && (at_end.gap > 0 || p[i].contact.gap > 0);
      if (anew) approach(s, &at_end, &p[i].contact), p[i].anew = true;
      any = any || anew || gone;
    }
    if (!gone) p[kept++] = p[i];
  }
  soft_contacts->count = kept;
  return any;
}
