// SPDX-License-Identifier: Apache-2.0
// The rigid scenes of Kaufman et al. 2008: arch, card house, log house, bunny drop.
//
// The paper samples surfaces, here flat faces that meet have four contacts. To have as many as the paper,
// stones and cards are made of parts side by side, each of which meets the part across.
#include "cli/paper_kaufman.h"

#include <math.h>

tbStatus kaufman_rigid(tbContext* ctx, tbWorld* w, const tbShape* shapes, int count, tbTransform pose,
                       tbVec3 velocity, tbBodyId* out)
{
  tbBodyDef def = tb_default_body_def();
  def.shapes = shapes, def.shape_count = count, def.position = pose.x, def.orientation = pose.q,
  def.velocity = velocity;
  return tb_world_add_body(ctx, w, &def, out);
}

tbStatus kaufman_ground(tbContext* ctx, tbWorld* w)
{
  return kaufman_fixed(ctx, w, tb_shape_plane(tb_vec3(0, 0, 1), 0), tb_transform_identity());
}

// ---- an arch along a catenary ----

enum { MOST_PARTS = 32 };
static const double GAP = 0.02; // between parts, of their width

static tbVec3 catenary(double s) // by its length from the crown, of 1 m half a span at 45°
{
  double x = log(s + sqrt(s * s + 1));
  return tb_vec3(x, 0, 1 - sqrt(1 + s * s));
}

// The hull of a part's corners: of the stone between two sections of the catenary, a strip of its depth.
static tbStatus add_part(tbContext* ctx, tbWorld* w, const double section[2], double low, double high,
                         tbVec3 centre, tbShape* out)
{
  tbVec3 corner[8];
  double thick = 0.3;
  for (int k = 0; k < 8; k++) {
    double s = section[k & 1], slope = atan2(s, 1);
    tbVec3 x = tb_madd3(catenary(s), (k & 2 ? 0.5 : -0.5) * thick, tb_vec3(sin(slope), 0, cos(slope)));
    corner[k] = tb_sub3(tb_add3(x, tb_vec3(0, k & 4 ? high : low, 0)), centre);
  }
  tbHull* hull;
  TB_TRY(tb_hull_create(ctx, corner, 8, &hull));
  TB_TRY(tb_world_keep_hull(ctx, w, hull));
  *out = tb_shape_convex(hull);
  return TB_OK;
}

// Stones between two feet that stand.
tbStatus kaufman_arch(tbContext* ctx, tbWorld* w, int stones, int parts)
{
  double half = 2, step = 2 * half / stones, deep = 0.4, up = sqrt(1 + half * half) - 1, wide = deep / parts;
  for (int i = -1; i <= stones; i++) {
    double section[2] = {-half + step * i, -half + step * (i + 1)};
    tbVec3 centre = tb_scale3(0.5, tb_add3(catenary(section[0]), catenary(section[1])));
    tbShape shape[MOST_PARTS];
    for (int k = 0; k < parts; k++) {
      double low = -0.5 * deep + wide * k, gap = parts > 1 ? 0.5 * GAP * wide : 0;
      TB_TRY(add_part(ctx, w, section, low + gap, low + wide - gap, centre, &shape[k]));
    }
    tbBodyDef def = tb_default_body_def();
    def.shapes = shape, def.shape_count = parts, def.position = tb_add3(centre, tb_vec3(0, 0, up));
    if (i < 0 || i == stones) def.kind = TB_BODY_FIXED;
    TB_TRY(tb_world_add_body(ctx, w, &def, NULL));
  }
  return TB_OK;
}

tbStatus kaufman_arch_setup(tbContext* ctx, tbWorld* w, bool quick)
{
  return kaufman_arch(ctx, w, quick ? 7 : 27, quick ? 2 : 10);
}

// ---- a house of cards ----

// A card of strips side by side, along y.
static tbStatus add_card(tbContext* ctx, tbWorld* w, tbVec3 size, int strips, tbTransform pose)
{
  tbShape shape[MOST_PARTS];
  double wide = size.y / strips;
  for (int k = 0; k < strips; k++) {
    shape[k] = tb_shape_box(tb_vec3(size.x, strips > 1 ? wide * (1 - GAP) : wide, size.z));
    shape[k].pose.x.y = wide * (k + 0.5) - 0.5 * size.y;
  }
  return kaufman_rigid(ctx, w, shape, strips, pose, tb_zero3(), NULL);
}

tbStatus kaufman_cards(tbContext* ctx, tbWorld* w, int levels, int strips)
{
  double tall = 0.09, wide = 0.06, thick = 0.002, lean = 0.35, foot = tall * sin(lean),
         step = 2 * foot + 2.2 * thick;
  double rise = tall * cos(lean) + thick * sin(lean), top = 0;
  TB_TRY(kaufman_ground(ctx, w));
  for (int l = 0; l < levels; l++) {
    double z = l * (rise + thick), left = -0.5 * step * (levels - l - 1);
    for (int i = 0; i < levels - l; i++)
      for (int side = -1; side <= 1; side += 2) {
        tbQuat q = tb_quat(cos(0.5 * lean), 0, -side * sin(0.5 * lean), 0);
        tbVec3 up = tb_quat_rotate(q, tb_vec3(0, 0, 1)), out = tb_quat_rotate(q, tb_vec3(side, 0, 0));
        tbVec3 inner = tb_vec3(left + i * step + side * foot, 0, z); // the lower inner edge stands here
        tbVec3 centre = tb_madd3(tb_madd3(inner, 0.5 * tall, up), 0.5 * thick, out);
        centre.z += thick * sin(lean);
        TB_TRY(add_card(ctx, w, tb_vec3(thick, wide, tall), strips, tb_transform(q, centre)));
      }
    top = z + rise + thick * sin(lean);
    for (int i = 0; i < levels - l && (i + 1 < levels - l || l == levels - 1); i++) // on the last pair, too
      TB_TRY(add_card(
          ctx, w, tb_vec3(step * 1.02, wide, thick), strips,
          tb_transform(tb_quat_identity(),
                       tb_vec3(left + (l == levels - 1 ? 0 : (i + 0.5) * step), 0, top + 0.5 * thick))));
  }
  return TB_OK;
}

tbStatus kaufman_cards_setup(tbContext* ctx, tbWorld* w, bool quick)
{
  return kaufman_cards(ctx, w, quick ? 2 : 6, quick ? 1 : 2);
}

// ---- a log house that slides down a ramp ----

// Logs lie across each other in their notches: two walls' logs, then those of the other two, half a log
// higher.
tbStatus kaufman_log_house(tbContext* ctx, tbWorld* w, bool quick)
{
  int courses = quick ? 3 : 14, floor_logs = quick ? 2 : 13; // 4 · 14 + 13 logs
  double side = 2, thick = 0.15, notch = 0.075, slope = 0.25;
  tbQuat tilt = tb_quat(cos(0.5 * slope), 0, sin(0.5 * slope), 0);
  TB_TRY(
      kaufman_fixed(ctx, w, tb_shape_plane(tb_vec3(sin(slope), 0, cos(slope)), 0), tb_transform_identity()));
  tbVec3 down = tb_scale3(1.5, tb_vec3(cos(slope), 0, -sin(slope)));
  for (int i = 0; i < 4 * courses; i++) {
    bool across = i / 2 % 2; // along y
    double at = (i % 2 ? 0.5 : -0.5) * (side - 2 * thick), z = (i / 2) * notch + 0.5 * thick;
    double body = thick - notch; // between the notches above and below, and at their places
    tbShape part[4];
    int count = 0;
    part[count++] = tb_shape_box(across ? tb_vec3(thick, side, body) : tb_vec3(side, thick, body));
    for (int k = -1; k <= 1; k++) { // whole between the notches
      double length = k == 0 ? side - 4 * thick : 0.5 * thick * 0.9, x = k * (0.5 * side - 0.25 * thick);
      tbVec3 size = across ? tb_vec3(thick, length, thick * 0.98) : tb_vec3(length, thick, thick * 0.98);
      part[count] = tb_shape_box(size);
      part[count++].pose.x = across ? tb_vec3(0, x, 0) : tb_vec3(x, 0, 0);
    }
    tbVec3 x = across ? tb_vec3(at, 0, z) : tb_vec3(0, at, z);
    TB_TRY(kaufman_rigid(ctx, w, part, count, tb_transform(tilt, tb_quat_rotate(tilt, x)), down, NULL));
  }
  for (int i = 0; i < floor_logs; i++) { // the roof: logs side by side on the upper walls
    double pitch = (side - 2.2 * thick) / floor_logs, x = (i + 0.5) * pitch - 0.5 * (side - 2.2 * thick),
           z = (2 * courses - 1) * notch + 0.5 * thick + 0.5 * (thick - notch) + 0.5 * 0.1;
    tbShape log = tb_shape_box(tb_vec3(0.9 * pitch, side, 0.1));
    TB_TRY(kaufman_rigid(ctx, w, &log, 1, tb_transform(tilt, tb_quat_rotate(tilt, tb_vec3(x, 0, z))), down,
                         NULL));
  }
  return TB_OK;
}

// ---- a drop of rigid bunnies ----

// A body, a head and two ears.
tbStatus kaufman_bunnies(tbContext* ctx, tbWorld* w, bool quick)
{
  int count = quick ? 20 : 2046, side = quick ? 3 : 11;
  double pitch = 0.13;
  TB_TRY(kaufman_ground(ctx, w));
  for (int k = 0; k < 4; k++) {
    tbVec3 n = tb_vec3(k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0, 0);
    TB_TRY(kaufman_fixed(ctx, w, tb_shape_plane(n, -0.5 * pitch * side - 0.02), tb_transform_identity()));
  }
  for (int i = 0; i < count; i++) {
    tbShape part[4] = {tb_shape_sphere(0.04), tb_shape_sphere(0.025), tb_shape_capsule(0.008, 0.03),
                       tb_shape_capsule(0.008, 0.03)};
    part[1].pose.x = tb_vec3(0.04, 0, 0.03);
    part[2].pose.x = tb_vec3(0.035, 0.012, 0.06), part[3].pose.x = tb_vec3(0.035, -0.012, 0.06);
    double turn = 0.7 * i;
    tbVec3 x = tb_vec3((i % side - 0.5 * (side - 1)) * pitch, (i / side % side - 0.5 * (side - 1)) * pitch,
                       0.08 + pitch * (i / (side * side)));
    TB_TRY(kaufman_rigid(ctx, w, part, 4,
                         tb_transform(tb_quat_normalize(tb_quat(cos(turn), sin(turn), 0.4, 0.2)), x),
                         tb_zero3(), NULL));
  }
  return TB_OK;
}
