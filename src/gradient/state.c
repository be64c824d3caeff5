// SPDX-License-Identifier: Apache-2.0
#include "gradient/state.h"

#include "base/codec.h"
#include "scene/kind.h"

#include <math.h>
#include <string.h>

struct tbStateAt {
  tbArray body;            // tbBody
  tbArray node;            // tbVec3: x, then v, of every body of nodes
  tbArray mode;            // double: coordinates, then their velocities, of every reduced body
  tbArray joint;           // tbJoint
  tbArray contact;         // tbContactRecord
  tbArray pull;            // tbVec3: on attached nodes
  const tbStateKind* kept; // of the scheme's own state; null: it has none
  tbOut own;               // its bytes
  double time, clock_start, clock_dt;
  int64_t steps, clock_steps;
};

enum { FRAME = 12, IMPULSES = 6, TILT = 6, RECORD = 7 }; // TILT: how far friction leaves the record's plane

static bool is_frame(const tbBody* b) { return b->motion == TB_BODY_DYNAMIC && b->kind->framed; }
static bool is_nodes(const tbBody* b)
{
  return b->motion == TB_BODY_DYNAMIC && !b->kind->framed && b->kind->nodes && !b->kind->modes;
}

static bool is_modal(const tbBody* b) { return b->motion == TB_BODY_DYNAMIC && b->kind->modes; }

static int modes_of(const tbBody* b)
{
  int count;
  b->kind->modes(b, &count);
  return count;
}

// A frame that pins do not hold.
static bool floats(const tbBody* b) { return !b->kind->motion_of || !b->kind->motion_of((tbBody*)b, 0); }

// Numbers of a body.
static int numbers_of(const tbBody* b)
{
  if (is_frame(b)) return FRAME;
  if (is_modal(b)) return (floats(b) ? FRAME : 0) + 2 * modes_of(b);
  return is_nodes(b) ? 6 * b->kind->nodes(b).count : 0;
}

static double size_of(const tbBody* b) { return b->radius > 0 && b->radius < INFINITY ? b->radius : 1; }

tbStatus tb_state_check_kinds(tbContext* ctx, const tbWorld* w)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    if (b->motion != TB_BODY_DYNAMIC) continue;
    bool leads = is_modal(b) && !floats(b) && b->kind->dofs(b) > modes_of(b); // a frame that pins lead
    bool known =
        is_nodes(b) || (is_modal(b) && !leads) || (is_frame(b) && b->kind->dofs && b->kind->dofs(b) == 6);
    if (!known)
      return tb_fail(ctx, TB_ERROR_UNSUPPORTED,
                     "no derivatives: \"%s\" is of the kind %s, whose state is not known", b->name,
                     b->kind->name);
  }
  return TB_OK;
}

// Numbers that the scheme keeps.
static int numbers_kept(const tbWorld* w)
{
  int n = 0;
  while (w->state_kind && w->state_kind->number(w->state, n)) n++;
  return n;
}

static tbVec3* pulls_of(const tbBody* b, int* count)
{
  *count = 0;
  return b->motion == TB_BODY_DYNAMIC && b->kind->pulls ? b->kind->pulls((tbBody*)b, count) : NULL;
}

int tb_state_size(const tbWorld* w)
{
  int n = tb_state_fixed(w) + RECORD * (int)w->contact.count + numbers_kept(w);
  for (size_t i = 0; i < w->body.count; i++) {
    int count;
    pulls_of(&tb_bodies(w)[i], &count);
    n += 3 * count;
  }
  return n;
}

int tb_state_fixed(const tbWorld* w)
{
  int n = TB_JOINT_IMPULSES * (int)w->joint.count;
  for (size_t i = 0; i < w->body.count; i++) n += numbers_of(&tb_bodies(w)[i]);
  return n;
}

void tb_state_free(tbContext* ctx, tbStateAt* s)
{
  if (!s) return;
  tb_array_free(ctx, &s->body);
  tb_array_free(ctx, &s->node);
  tb_array_free(ctx, &s->mode);
  tb_array_free(ctx, &s->joint);
  tb_array_free(ctx, &s->contact);
  tb_array_free(ctx, &s->pull);
  tb_out_free(&s->own);
  tb_free(ctx, s);
}

static tbStatus copy(tbContext* ctx, const tbArray* from, tbArray* to)
{
  to->count = 0;
  return tb_array_push(ctx, to, from->data, from->count);
}

// What the scheme keeps, as bytes.
static tbStatus save_kept(tbContext* ctx, const tbWorld* w, tbStateAt* s)
{
  tb_out_free(&s->own);
  s->own = tb_out_memory(ctx), s->kept = w->state_kind;
  tbCodec c = tb_codec_writer(ctx, w->name, &s->own);
  void* state = w->state;
  if (s->kept) s->kept->code(&c, w, &state);
  return c.status;
}

static tbStatus put_kept(tbContext* ctx, const tbStateAt* s, double step, const double* d, tbWorld* w)
{
  if (w->state_kind) w->state_kind->free(ctx, w->state);
  w->state_kind = NULL, w->state = NULL;
  if (!s->kept) return TB_OK;
  void* state = NULL;
  tbCodec c = tb_codec_reader(ctx, w->name, s->own.bytes, s->own.length);
  s->kept->code(&c, w, &state);
  if (c.status != TB_OK) return s->kept->free(ctx, state), c.status;
  w->state_kind = s->kept, w->state = state;
  double* x;
  for (int i = 0; d && (x = s->kept->number(state, i)); i++) *x += step * d[i];
  return TB_OK;
}

tbStatus tb_state_save(tbContext* ctx, const tbWorld* w, tbStateAt** state)
{
  if (!*state) {
    if (!(*state = TB_NEW(ctx, tbStateAt, 1))) return TB_ERROR_MEMORY;
    **state = (tbStateAt){.body = TB_ARRAY(tbBody),
                          .node = TB_ARRAY(tbVec3),
                          .mode = TB_ARRAY(double),
                          .joint = TB_ARRAY(tbJoint),
                          .contact = TB_ARRAY(tbContactRecord),
                          .pull = TB_ARRAY(tbVec3)};
    (*state)->own = tb_out_memory(ctx);
  }
  tbStateAt* s = *state;
  TB_TRY(save_kept(ctx, w, s));
  TB_TRY(copy(ctx, &w->body, &s->body));
  TB_TRY(copy(ctx, &w->joint, &s->joint));
  TB_TRY(copy(ctx, &w->contact, &s->contact));
  s->node.count = s->mode.count = s->pull.count = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    int pulls;
    const tbVec3* pull = pulls_of(b, &pulls);
    TB_TRY(tb_array_push(ctx, &s->pull, pull, (size_t)pulls));
    if (is_modal(b)) {
      int count;
      TB_TRY(tb_array_push(ctx, &s->mode, b->kind->modes(b, &count), (size_t)modes_of(b)));
      TB_TRY(tb_array_push(ctx, &s->mode, b->kind->mode_rates(b), (size_t)count));
    }
    if (!is_nodes(b)) continue;
    tbNodes nodes = b->kind->nodes(b);
    TB_TRY(tb_array_push(ctx, &s->node, nodes.x, (size_t)nodes.count));
    TB_TRY(tb_array_push(ctx, &s->node, nodes.v, (size_t)nodes.count));
  }
  s->time = w->time, s->steps = w->steps;
  s->clock_start = w->clock_start, s->clock_dt = w->clock_dt, s->clock_steps = w->clock_steps;
  return TB_OK;
}

static tbVec3 moved(tbVec3 x, double step, const double* d) { return tb_madd3(x, step, tb_load3(d)); }

static void put_frame(const tbBody* from, double step, const double* d, tbBody* b)
{
  b->x = from->x, b->q = from->q, b->v = from->v, b->w = from->w;
  if (!d) return;
  b->x = moved(b->x, step, d), b->v = moved(b->v, step, d + 6), b->w = moved(b->w, step, d + 9);
  b->q = tb_quat_normalize(tb_quat_mul(tb_quat_exp(tb_scale3(step, tb_load3(d + 3))), b->q));
}

static tbStatus put_nodes(tbContext* ctx, const tbVec3* from, int count, double step, const double* d,
                          tbWorld* w, int body)
{
  tbVec3* to = TB_NEW(ctx, tbVec3, 2 * (size_t)count);
  if (!to) return TB_ERROR_MEMORY;
  for (int i = 0; i < 2 * count; i++) to[i] = d ? moved(from[i], step, d + 3 * i) : from[i];
  tb_bodies(w)[body].kind->set_nodes(w, body, to, to + count);
  tb_free(ctx, to);
  return TB_OK;
}

// The frame first: placing it stops what moves within it.
static tbStatus put_modes(tbContext* ctx, const tbBody* from, const double* mode, double step,
                          const double* d, tbWorld* w, int body)
{
  tbBody* b = &tb_bodies(w)[body];
  int count = modes_of(b);
  double* q = TB_NEW(ctx, double, 2 * (size_t)count);
  if (!q) return TB_ERROR_MEMORY;
  if (floats(b)) {
    tbBody at = *b;
    put_frame(from, step, d, &at);
    tbBodyState state = {at.x, at.q, at.v, at.w};
    b->kind->place(w, body, &state);
    if (d) d += FRAME;
  }
  for (int i = 0; i < 2 * count; i++) q[i] = mode[i] + (d ? step * d[i] : 0);
  b->kind->set_modes(w, body, q, q + count);
  tb_free(ctx, q);
  return TB_OK;
}

// Tilts the plane of a record so that its friction, a vector that steps start from, has a part `out` of the
// plane before.
static void tilt(tbContactRecord* r, double out)
{
  tbVec3 n = r->normal, t = r->tangent, b = tb_cross3(n, t);
  double square = r->impulse[1] * r->impulse[1] + r->impulse[2] * r->impulse[2];
  if (out == 0 || !(square > 0)) return;
  double at = out / square * r->impulse[1], ab = out / square * r->impulse[2];
  r->normal = tb_normalize3(tb_sub3(n, tb_add3(tb_scale3(at, t), tb_scale3(ab, b))));
  r->tangent = tb_normalize3(tb_madd3(t, at, n));
}

// A contact that carried an impulse still does: whether a body flies is told by that.
static void put_impulses(tbContactRecord* r, double step, const double* d)
{
  double normal = r->impulse[0];
  for (int k = 0; k < r->rows && k < IMPULSES; k++) r->impulse[k] += step * d[k];
  if ((normal > 0) != (r->impulse[0] > 0)) r->impulse[0] = normal;
  if (r->rows >= 3) tilt(r, step * d[TILT]);
}

// Returns what stands behind them in d.
static const double* put_pulls(const tbStateAt* s, double step, const double* d, tbWorld* w)
{
  const tbVec3* from = s->pull.data;
  for (size_t i = 0; i < w->body.count; i++) {
    int count;
    tbVec3* to = pulls_of(&tb_bodies(w)[i], &count);
    for (int k = 0; k < count; k++, d = d ? d + 3 : NULL) *to++ = d ? moved(*from, step, d) : *from, from++;
  }
  return d;
}

// A body that is not moved by forces: where it is in the state, or where the world's own motion has it by
// then; and its vertices, of one that has some.
static void put_led(const tbBody* from, bool whole, tbWorld* w, int body)
{
  tbBody* b = &tb_bodies(w)[body];
  tbTransform T = b->motion == TB_BODY_KINEMATIC ? tb_motion_at(w, b, w->time) : tb_transform(b->q, b->x);
  if (whole) put_frame(from, 0, NULL, b);
  else b->x = T.x, b->q = T.q;
  tbBodyState at = {b->x, b->q, b->v, b->w};
  if (!b->kind->framed) b->kind->place(w, body, &at);
}

tbStatus tb_state_put(tbContext* ctx, const tbStateAt* s, double step, const double* d, bool whole,
                      tbWorld* w)
{
  const tbVec3* node = s->node.data;
  const double* mode = s->mode.data;
  w->time = s->time, w->steps = s->steps;
  w->clock_start = s->clock_start, w->clock_dt = s->clock_dt, w->clock_steps = s->clock_steps;
  TB_TRY(copy(ctx, &s->contact, &w->contact));
  for (size_t i = 0; i < w->body.count; i++) {
    tbBody* b = &tb_bodies(w)[i];
    const tbBody* from = (const tbBody*)s->body.data + i;
    b->force = b->torque = tb_zero3();
    if (is_frame(b)) {
      put_frame(from, step, d, b);
    } else if (is_modal(b)) {
      TB_TRY(put_modes(ctx, from, mode, step, d, w, (int)i));
      mode += 2 * modes_of(b);
    } else if (is_nodes(b)) {
      int count = b->kind->nodes(b).count;
      TB_TRY(put_nodes(ctx, node, count, step, d, w, (int)i));
      node += 2 * count;
    } else {
      put_led(from, whole, w, (int)i);
    }
    if (d) d += numbers_of(b);
  }
  for (size_t i = 0; i < w->joint.count; i++) {
    tbJoint* j = &tb_joints(w)[i];
    const tbJoint* from = (const tbJoint*)s->joint.data + i;
    for (int k = 0; k < TB_JOINT_IMPULSES; k++) j->impulse[k] = from->impulse[k] + (d ? step * d[k] : 0);
    if (d) d += TB_JOINT_IMPULSES;
  }
  for (size_t i = 0; d && i < w->contact.count; i++, d += RECORD)
    put_impulses((tbContactRecord*)w->contact.data + i, step, d);
  d = put_pulls(s, step, d, w);
  return put_kept(ctx, s, step, d, w);
}

static double* add3(double* out, double factor, tbVec3 d)
{
  out[0] += factor * d.x, out[1] += factor * d.y, out[2] += factor * d.z;
  return out + 3;
}

static double* add_frame(double* out, double f, const tbBody* b, const tbBody* a)
{
  out = add3(out, f, tb_sub3(b->x, a->x));
  out = add3(out, f, tb_quat_log(tb_quat_mul(b->q, tb_quat_conj(a->q))));
  out = add3(out, f, tb_sub3(b->v, a->v));
  return add3(out, f, tb_sub3(b->w, a->w));
}

static double* add_modes(double* out, double f, const tbBody* b, const tbBody* a)
{
  int count;
  const double *x = a->kind->modes(a, &count), *y = b->kind->modes(b, &count);
  const double *v = a->kind->mode_rates(a), *w = b->kind->mode_rates(b);
  if (floats(a)) out = add_frame(out, f, b, a);
  for (int k = 0; k < count; k++) out[k] += f * (y[k] - x[k]), out[count + k] += f * (w[k] - v[k]);
  return out + 2 * count;
}

static bool is_same_contact(const tbContactRecord* a, const tbContactRecord* b)
{
  return a->shape_a == b->shape_a && a->shape_b == b->shape_b && a->body_a == b->body_a &&
         a->body_b == b->body_b && a->feature == b->feature && a->rows == b->rows;
}

// What b's impulse is in a's axes: steps start from the vector of friction, and axes turn with the bodies.
static void turn_impulse(const tbContactRecord* a, const tbContactRecord* b, double out[RECORD])
{
  tbVec3 across = tb_cross3(a->normal, a->tangent), over = tb_cross3(b->normal, b->tangent);
  double c[2][2] = {{tb_dot3(a->tangent, b->tangent), tb_dot3(a->tangent, over)},
                    {tb_dot3(across, b->tangent), tb_dot3(across, over)}};
  memcpy(out, b->impulse, IMPULSES * sizeof(double));
  out[TILT] = a->rows < 3
                  ? 0
                  : b->impulse[1] * tb_dot3(a->normal, b->tangent) + b->impulse[2] * tb_dot3(a->normal, over);
  for (int i = 0; a->rows >= 3 && i < 2; i++) out[1 + i] = c[i][0] * b->impulse[1] + c[i][1] * b->impulse[2];
}

// Of contacts that both have, which stand in one order in both; what one alone has is no derivative. Looks
// only so far ahead for one.
static void difference_of_impulses(const tbWorld* w, const tbWorld* base, double f, double* out)
{
  const size_t far = 256;
  const tbContactRecord *a = base->contact.data, *b = w->contact.data;
  size_t next = 0, count = w->contact.count;
  for (size_t i = 0; i < base->contact.count; i++, out += RECORD) {
    size_t j = next, end = count - next < far ? count : next + far;
    while (j < end && !is_same_contact(&a[i], &b[j])) j++;
    if (j == end) continue;
    double turned[RECORD];
    turn_impulse(&a[i], &b[j], turned);
    out[TILT] += f * turned[TILT];
    for (int k = 0; k < a[i].rows && k < IMPULSES; k++) out[k] += f * (turned[k] - a[i].impulse[k]);
    next = j + 1;
  }
}

void tb_state_difference(const tbWorld* w, const tbWorld* base, double f, double* out)
{
  for (size_t i = 0; i < base->body.count; i++) {
    const tbBody *a = &tb_bodies(base)[i], *b = &tb_bodies(w)[i];
    if (is_frame(a)) out = add_frame(out, f, b, a);
    else if (is_modal(a)) out = add_modes(out, f, b, a);
    else if (is_nodes(a)) {
      tbNodes x = a->kind->nodes(a), y = b->kind->nodes(b);
      for (int k = 0; k < x.count; k++) out = add3(out, f, tb_sub3(y.x[k], x.x[k]));
      for (int k = 0; k < x.count; k++) out = add3(out, f, tb_sub3(y.v[k], x.v[k]));
    }
  }
  for (size_t i = 0; i < base->joint.count; i++)
    for (int k = 0; k < TB_JOINT_IMPULSES; k++)
      *out++ += f * (tb_joints(w)[i].impulse[k] - tb_joints(base)[i].impulse[k]);
  difference_of_impulses(w, base, f, out);
  out += RECORD * base->contact.count;
  for (size_t i = 0; i < base->body.count; i++) {
    int count;
    const tbVec3 *a = pulls_of(&tb_bodies(base)[i], &count), *b = pulls_of(&tb_bodies(w)[i], &count);
    for (int k = 0; k < count; k++) out = add3(out, f, tb_sub3(b[k], a[k]));
  }
  for (int i = 0, n = numbers_kept(base), of_w = numbers_kept(w); n == of_w && i < n; i++) {
    double x = *base->state_kind->number(base->state, i), y = *w->state_kind->number(w->state, i);
    if (isfinite(x) && isfinite(y)) out[i] += f * (y - x);
  }
}

// Units of one body's numbers: sizes, radians, and what goes so far in dt.
static void units_of(const tbBody* b, double dt, double* unit)
{
  double size = size_of(b);
  bool frame = is_frame(b) || (is_modal(b) && floats(b));
  for (int k = 0; frame && k < 3; k++)
    unit[k] = size, unit[3 + k] = 1, unit[6 + k] = size / dt, unit[9 + k] = 1 / dt;
  if (frame) unit += FRAME;
  int n = is_frame(b)   ? 0
          : is_modal(b) ? modes_of(b)
                        : numbers_of(b) / 2; // modal coordinates count as lengths
  for (int k = 0; k < n; k++) unit[k] = size, unit[n + k] = size / dt;
}

void tb_state_units(const tbWorld* w, double dt, double* unit)
{
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    units_of(b, dt, unit);
    unit += numbers_of(b);
  }
  for (size_t i = 0; i < w->joint.count; i++)
    for (int k = 0; k < TB_JOINT_IMPULSES; k++) *unit++ = fabs(tb_joints(w)[i].impulse[k]);
}

static double largest(double now, double unit, const double* d, int count)
{
  for (int i = 0; i < count; i++) now = fmax(now, unit * fabs(d[i]));
  return now;
}

double tb_state_norm(const tbWorld* w, double dt, const double* d)
{
  double norm = 0;
  for (size_t i = 0; i < w->body.count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    double size = size_of(b);
    int n = numbers_of(b);
    if (n && (is_frame(b) || (is_modal(b) && floats(b)))) {
      norm = largest(norm, 1 / size, d, 3), norm = largest(norm, 1, d + 3, 3);
      norm = largest(norm, dt / size, d + 6, 3), norm = largest(norm, dt, d + 9, 3);
      d += FRAME, n -= FRAME;
    }
    norm = largest(norm, 1 / size, d, n / 2), norm = largest(norm, dt / size, d + n / 2, n / 2);
    d += n;
  }
  return norm;
}

static int root_of(int* parent, int i)
{
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static void connect(const tbWorld* w, int* parent, int a, int b)
{
  if (a < 0 || b < 0 || tb_bodies(w)[a].motion != TB_BODY_DYNAMIC ||
      tb_bodies(w)[b].motion != TB_BODY_DYNAMIC)
    return;
  a = root_of(parent, a), b = root_of(parent, b);
  if (a < b) parent[b] = a;
  else parent[a] = b;
}

tbStatus tb_state_islands(tbContext* ctx, const tbWorld* w, int* island, int* count)
{
  int *parent = TB_NEW(ctx, int, w->body.count), n = (int)w->body.count;
  if (!parent) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) parent[i] = i;
  const tbContactRecord* record = w->contact.data;
  for (size_t i = 0; i < w->contact.count; i++) connect(w, parent, record[i].body_a, record[i].body_b);
  for (size_t i = 0; i < w->joint.count; i++) connect(w, parent, tb_joints(w)[i].a, tb_joints(w)[i].b);
  for (int i = 0; i < n; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    for (int k = 0, other; b->kind->attached && b->kind->attached(b, k, &other); k++)
      connect(w, parent, i, other);
  }
  *count = n;
  for (int i = 0; i < n; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    for (int k = 0, size = numbers_of(b); k < size; k++) *island++ = root_of(parent, i);
  }
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    bool a = j->a >= 0 && tb_bodies(w)[j->a].motion == TB_BODY_DYNAMIC;
    bool b = j->b >= 0 && tb_bodies(w)[j->b].motion == TB_BODY_DYNAMIC;
    int root = a ? root_of(parent, j->a) : b ? root_of(parent, j->b) : -1;
    for (int k = 0; k < TB_JOINT_IMPULSES; k++) *island++ = root;
  }
  tb_free(ctx, parent);
  return TB_OK;
}
