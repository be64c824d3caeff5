// SPDX-License-Identifier: Apache-2.0
#include "render/view.h"
#include "render/larger.h"

enum { LOOKS = 48, CORNERS_BELOW = 2000 }; // frames looked at to find out what has to be seen; bodies

static const double fov = 0.56; // rad, of the shorter side

typedef struct {
  tbArray still;   // tbBall of bodies that never move
  tbArray size;    // double, of bodies that do
  tbArray impulse; // double, the largest of each frame looked at
} Seen;

// The value that k of n are below or equal to, and the others above or equal (Hoare 1961); moves them about.
static double select_value(double* v, size_t n, size_t k)
{
  size_t low = 0, high = n - 1;
  while (low < high) {
    double pivot = v[low + (high - low) / 2];
    size_t i = low, j = high;
    for (;;) {
      while (v[i] < pivot) i++;
      while (pivot < v[j]) j--;
      if (i >= j) break;
      double other = v[i];
      v[i++] = v[j], v[j--] = other;
    }
    if (k <= j) high = j;
    else low = j + 1;
  }
  return v[k];
}

// The value below which a share of them lies; moves them about.
static double quantile(tbArray* values, double share)
{
  size_t n = values->count;
  return n ? select_value(values->data, n, (size_t)(share * (double)(n - 1))) : 0;
}

// A ball as such, other shapes by the corners of a box around them; in large worlds all as balls.
static tbStatus look_at_body(tbContext* ctx, const tbSubject* m, int body, tbArray* ball)
{
  const tbSubjectBody* b = &m->body[body];
  if (m->nbody > CORNERS_BELOW) return tb_array_push(ctx, ball, &(tbBall){m->now[body].x, b->reach}, 1);
  for (int i = b->first; i < b->first + b->count; i++) {
    const tbInstance* in = &m->instance[i];
    const tbSolidMesh* mesh = &m->mesh[in->mesh];
    tbTransform T = tb_transform_mul(m->now[body], in->pose);
    if (in->mesh == m->sphere) {
      TB_TRY(tb_array_push(ctx, ball, &(tbBall){T.x, in->scale.x}, 1));
      continue;
    }
    for (int k = 0; k < 8; k++) {
      tbVec3 c = tb_vec3(k & 1 ? mesh->hi.x : mesh->lo.x, k & 2 ? mesh->hi.y : mesh->lo.y,
                         k & 4 ? mesh->hi.z : mesh->lo.z);
      TB_TRY(tb_array_push(ctx, ball, &(tbBall){tb_transform_point(T, tb_mul3(in->scale, c)), 0}, 1));
    }
  }
  return TB_OK;
}

static tbStatus look(tbContext* ctx, const tbSubject* m, const tbReplayFrame* f, bool first, tbArray* ball,
                     Seen* seen)
{
  tb_subject_pose(m, f);
  for (int i = 0; i < m->nbody; i++) {
    const tbSubjectBody* b = &m->body[i];
    tbBall near = {m->now[i].x, b->reach};
    bool moves = b->motion != TB_BODY_FIXED;
    if (!(b->reach > 0)) continue;
    if (moves) TB_TRY(look_at_body(ctx, m, i, ball));
    if (!moves && first) TB_TRY(tb_array_push(ctx, &seen->still, &near, 1));
    if (moves && first) TB_TRY(tb_array_push(ctx, &seen->size, &b->reach, 1));
  }
  for (int i = 0; i < m->nsurface; i++) {
    const tbSubjectSurface* s = &m->surface[i];
    for (int v = 0; v < m->mesh[s->mesh].nvertex; v++) {
      tbBall node = {f->node[m->body[s->body].node + v], 0};
      TB_TRY(tb_array_push(ctx, ball, &node, 1));
    }
  }
  for (int i = 0; i < m->njoint; i++) {
    const tbSubjectJoint* j = &m->joint[i];
    tbBall a = {j->a < 0 ? j->anchor_a : tb_transform_point(m->now[j->a], j->anchor_a), 0},
           b = {j->b < 0 ? j->anchor_b : tb_transform_point(m->now[j->b], j->anchor_b), 0};
    TB_TRY(tb_array_push(ctx, ball, &a, 1));
    TB_TRY(tb_array_push(ctx, ball, &b, 1));
  }
  double most = 0;
  for (int i = 0; i < f->contact_count; i++)
    most = fmax(most, tb_dot3(f->contact[i].impulse, f->contact[i].normal));
  return most > 0 ? tb_array_push(ctx, &seen->impulse, &most, 1) : TB_OK;
}

// A few that fly off should not make everything else small: what is much farther than most is not looked at.
static tbStatus drop_far(tbContext* ctx, tbArray* ball)
{
  tbBall* b = ball->data;
  tbArray value = TB_ARRAY(double);
  double middle[3] = {0};
  tbStatus status = TB_OK;
  for (int axis = 0; axis < 3 && status == TB_OK; axis++) {
    value.count = 0;
    for (size_t i = 0; i < ball->count && status == TB_OK; i++)
      status = tb_array_push(ctx, &value, &(double[3]){b[i].centre.x, b[i].centre.y, b[i].centre.z}[axis], 1);
    middle[axis] = quantile(&value, 0.5);
  }
  value.count = 0;
  for (size_t i = 0; i < ball->count && status == TB_OK; i++) {
    double far = tb_distance3(b[i].centre, tb_load3(middle));
    status = tb_array_push(ctx, &value, &far, 1);
  }
  double limit = status == TB_OK ? 2.5 * quantile(&value, 0.9) : INFINITY;
  tb_array_free(ctx, &value);
  size_t kept = 0;
  for (size_t i = 0; i < ball->count && status == TB_OK; i++)
    if (tb_distance3(b[i].centre, tb_load3(middle)) <= limit + b[i].radius) b[kept++] = b[i];
  if (kept) ball->count = kept;
  return status;
}

static void bound(tbScope* s)
{
  const tbBall* b = s->ball.data;
  tbVec3 lo = tb_vec3(INFINITY, INFINITY, INFINITY), hi = tb_neg3(lo);
  for (size_t i = 0; i < s->ball.count; i++) {
    tbVec3 r = tb_vec3(0.7 * b[i].radius, 0.7 * b[i].radius, 0.7 * b[i].radius);
    lo = tb_min3(lo, tb_sub3(b[i].centre, r)), hi = tb_max3(hi, tb_add3(b[i].centre, r));
  }
  bool any = lo.x <= hi.x;
  s->centre = any ? tb_lerp3(lo, hi, 0.5) : tb_zero3();
  s->radius = any ? fmax(0.5 * tb_distance3(lo, hi), 1e-6) : 1;
}

// The horizontal axes: x and y where z is up.
static void level(tbVec3 up, tbVec3* a, tbVec3* b)
{
  *a = fabs(up.x) < 0.9 ? tb_vec3(1, 0, 0) : tb_vec3(0, 1, 0);
  *a = tb_normalize3(tb_madd3(*a, -tb_dot3(*a, up), up));
  *b = tb_cross3(up, *a);
}

// A little from the right and above; at a slope from its side, so that one sees it is one.
static tbVec3 side(const tbSubject* m)
{
  tbVec3 a, b;
  level(m->up, &a, &b);
  for (int i = 0; i < m->nplane; i++) {
    tbVec3 n = tb_quat_rotate(m->body[m->plane[i].body].pose.q, m->plane[i].normal);
    double rise = tb_dot3(n, m->up), x = tb_dot3(n, a), y = tb_dot3(n, b), slope = sqrt(x * x + y * y);
    if (rise < 0.2 || slope < 0.05) continue;
    double right = (y + 0.35 * x) / slope, back = (0.35 * y - x) / slope;
    return tb_normalize3(tb_madd3(tb_madd3(tb_scale3(0.28, m->up), right, a), back, b));
  }
  return tb_normalize3(tb_madd3(tb_madd3(tb_scale3(0.46, m->up), 0.55, a), -1, b));
}

static tbStatus look_around(tbContext* ctx, const tbSubject* m, tbReplay* replay, int64_t first, int64_t last,
                            tbScope* s, Seen* seen)
{
  int64_t looks = last - first < LOOKS ? last - first + 1 : LOOKS;
  for (int64_t i = 0; i < looks; i++) {
    tbReplayFrame f;
    TB_TRY(tb_replay_read(ctx, replay, looks > 1 ? first + i * (last - first) / (looks - 1) : first, &f));
    TB_TRY(look(ctx, m, &f, i == 0, &s->ball, seen));
  }
  TB_TRY(drop_far(ctx, &s->ball));
  bound(s);
  s->moving = (int)s->ball.count;
  const tbBall* still = seen->still.data;
  bool none = s->ball.count == 0;
  for (size_t i = 0; i < seen->still.count; i++) {
    bool near =
        still[i].radius <= 1.6 * s->radius && tb_distance3(still[i].centre, s->centre) < 2.5 * s->radius;
    if (near || none) TB_TRY(tb_array_push(ctx, &s->ball, &still[i], 1));
  }
  bound(s);
  TB_TRY(tb_outermost_balls(ctx, s->ball.data, s->ball.count, &s->outer));
  double typical = seen->size.count ? quantile(&seen->size, 0.5) : 0.3 * s->radius;
  s->unit = fmin(0.11 * typical, (m->nsurface ? 0.016 : 0.03) * s->radius);
  s->impulse = quantile(&seen->impulse, 0.5);
  s->from = side(m);
  s->room = 0.5 / fmax(1, (double)seen->size.count + 2 * m->nsurface);
  return TB_OK;
}

tbStatus tb_scope_create(tbContext* ctx, const tbSubject* m, tbReplay* replay, int64_t first, int64_t last,
                         tbScope* out)
{
  tbScope s = {.ball = TB_ARRAY(tbBall), .outer = TB_ARRAY(tbBall)};
  Seen seen = {TB_ARRAY(tbBall), TB_ARRAY(double), TB_ARRAY(double)};
  tbStatus status = look_around(ctx, m, replay, first, last, &s, &seen);
  tb_array_free(ctx, &seen.still);
  tb_array_free(ctx, &seen.size);
  tb_array_free(ctx, &seen.impulse);
  if (status == TB_OK) *out = s;
  else tb_scope_free(ctx, &s);
  return status;
}

void tb_scope_free(tbContext* ctx, tbScope* s)
{
  tb_array_free(ctx, &s->ball);
  tb_array_free(ctx, &s->outer);
}

// The views.

static tbView aim(tbVec3 forward, tbVec3 up, const tbRenderOptions* o)
{
  double s, c;
  tb_sin_cos(0.5 * fov, &s, &c);
  tbView v = {.forward = forward, .x = 0.5 * o->width, .y = 0.5 * o->height};
  tbVec3 right = tb_cross3(forward, up);
  if (tb_norm3(right) < 1e-6) right = tb_mat3_row(tb_mat3_frame(forward), 1); // straight down
  v.right = tb_normalize3(right);
  v.up = tb_cross3(v.right, forward);
  v.focal = 0.5 * (o->width < o->height ? o->width : o->height) * c / s;
  return v;
}

// How far a ball reaches beyond the two planes of the frustum through the origin on the sides of one axis.
typedef struct {
  double ahead, behind;
} Span;

static Span span_of(const tbScope* s, tbVec3 axis, tbVec3 forward, double tangent)
{
  const tbBall* b = s->outer.data;
  Span p = {-INFINITY, -INFINITY};
  for (size_t i = 0; i < s->outer.count; i++) {
    tbVec3 c = tb_sub3(b[i].centre, s->centre);
    double x = tb_dot3(c, axis), z = tb_dot3(c, forward), r = b[i].radius * sqrt(1 + tangent * tangent);
    p.ahead = tb_larger(p.ahead, x + r - tangent * z);
    p.behind = tb_larger(p.behind, -x + r - tangent * z);
  }
  return p;
}

// How far to move along an axis so that what is seen reaches equally far to both sides of the picture.
static double centre(const tbScope* s, const tbView* v, tbVec3 axis, double low, double high)
{
  const tbBall* b = s->outer.data;
  for (int step = 0; step < 24; step++) {
    double middle = 0.5 * (low + high), ahead = -INFINITY, behind = -INFINITY;
    for (size_t i = 0; i < s->outer.count; i++) {
      tbVec3 d = tb_sub3(b[i].centre, v->eye);
      double x = tb_dot3(d, axis) - middle, z = tb_dot3(d, v->forward);
      ahead = tb_larger(ahead, (x + b[i].radius) / z), behind = tb_larger(behind, (b[i].radius - x) / z);
    }
    if (ahead > behind) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}

// As near as lets all balls lie between the planes of the frustum, with a margin.
static void fit(tbView* v, const tbScope* s, const tbRenderOptions* o)
{
  double tx = 0.44 * o->width / v->focal / (1 + s->room), ty = 0.40 * o->height / v->focal / (1 + s->room);
  if (!s->outer.count) {
    v->eye = tb_madd3(s->centre, -4 * s->radius, v->forward);
    return;
  }
  Span x = span_of(s, v->right, v->forward, tx), y = span_of(s, v->up, v->forward, ty);
  double back = fmax((x.ahead + x.behind) / (2 * tx), (y.ahead + y.behind) / (2 * ty));
  back = fmax(back, 1.2 * s->radius);
  v->eye = tb_madd3(s->centre, -back, v->forward);
  // between the two sides' planes there is room left in one direction
  double dx = centre(s, v, v->right, x.ahead - tx * back, tx * back - x.behind);
  double dy = centre(s, v, v->up, y.ahead - ty * back, ty * back - y.behind);
  v->eye = tb_madd3(tb_madd3(v->eye, dx, v->right), dy, v->up);
}

tbView tb_view_make(const tbSubject* m, const tbScope* s, const tbRenderOptions* o, double turn)
{
  tbView v;
  if (o->camera == TB_CAMERA_FIXED) {
    v = aim(tb_normalize3(tb_sub3(o->target, o->eye)), m->up, o);
    v.eye = o->eye;
  } else {
    tbVec3 from = tb_quat_rotate(tb_quat_exp(tb_scale3(turn, m->up)), s->from);
    v = aim(tb_neg3(from), m->up, o);
    fit(&v, s, o);
  }
  v.near = 1e-3 * s->radius;
  return v;
}
