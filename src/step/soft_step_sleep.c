// SPDX-License-Identifier: Apache-2.0
// Sleep in soft-step (options sleep, sleep_speed): bodies that have been slow for long are left where they
// are, at no speed, and neither their pairs nor their contacts are looked at.
//
//   islands    bodies that move freely, linked by the contact records of the last step and by joints
//   asleep     an island of which every body has been slow for long, and on which no force acts
//   woken      whole islands: by a contact with what moves, by a force or a velocity given to a body, by a
//              change of a body, of a joint, or of the world (tb_world_changed)
//
// Contacts with what is awake wake before anything is solved, so that no body at rest ever stands in for one
// that would have given way. What is known of a body is one number (Sleep), the scheme's state: who sleeps
// follows from it, the records and the joints, all of which a checkpoint holds.
//
// Cost      linear in contact records and bodies.
#include "step/soft_step_work.h"

#include "base/codec.h"

#include <string.h>

// Of each body, the time for which it has been slow; ASLEEP: it was left alone in the last step. Bodies that
// are not free to move have ASLEEP, too, or 0 where they were changed.
typedef struct {
  int count;
  double* rest;
} Sleep;

static const double ASLEEP = -1;

static double rest_of(const Sleep* s, int body) { return s && body < s->count ? s->rest[body] : 0; }

// ---- who sleeps ----

static int root_of(int* island, int i)
{
  while (island[i] != i) i = island[i] = island[island[i]];
  return i;
}

static bool is_free(const tbBody* b) { return b->motion == TB_BODY_DYNAMIC; }

static bool is_zero(tbVec3 a, tbVec3 b) { return tb_dot3(a, a) == 0 && tb_dot3(b, b) == 0; }

// Whether the body itself is a reason for it, and for what it touches, to be awake.
static bool stays(const tbBody* b, const tbUnconstrained* f, double rest, double enough)
{
  if (!is_free(b))
    return rest == ASLEEP && (b->motion == TB_BODY_FIXED || (b->kind->framed && is_zero(f->v, f->w)));
  bool asleep = rest == ASLEEP;
  return (asleep ? is_zero(b->v, b->w) : rest >= enough) && is_zero(b->force, b->torque);
}

// Two bodies that touch or are joined: one island, if both are free; else one wakes the other.
static void link(const tbWorld* w, int a, int b, tbSoftStepWork* s)
{
  if (a < 0 || b < 0 || a == b) return;
  bool free_a = is_free(&tb_bodies(w)[a]), free_b = is_free(&tb_bodies(w)[b]);
  if (free_a && free_b) {
    int i = root_of(s->island, a), k = root_of(s->island, b);
    s->island[i > k ? i : k] = i > k ? k : i;
  } else {
    s->still[a] &= free_b || s->still[b];
    s->still[b] &= free_a || s->still[a];
  }
}

// What drives the joint changes with time.
static bool is_steered(const tbWorld* w, const tbJoint* j)
{
  for (int of = 0; of < TB_KEYS_COUNT; of++)
    if (j->nkey[of] > 0 && tb_joint_keys(w, j, of)[j->nkey[of] - 1].t >= w->time) return true;
  return false;
}

// An island sleeps if all of it may.
static void spread(const tbWorld* w, tbSoftStepWork* s)
{
  int n = (int)w->body.count;
  for (int i = 0; i < n; i++)
    if (is_free(&tb_bodies(w)[i]) && !s->still[i]) s->still[root_of(s->island, i)] = false;
  for (int i = 0; i < n; i++)
    if (is_free(&tb_bodies(w)[i])) s->still[i] = s->still[root_of(s->island, i)];
}

tbStatus tb_soft_step_sleep_begin(tbArena* arena, const tbWorld* w, const tbStepOptions* o,
                                  const tbStepWork* work, tbSoftStepWork* s)
{
  if (!(o->sleep > 0)) return TB_OK;
  int n = (int)w->body.count;
  s->still = TB_TAKE_UNSET(arena, bool, (size_t)n);
  s->island = TB_TAKE_UNSET(arena, int, (size_t)n);
  if (!s->still || !s->island) return TB_ERROR_MEMORY;
  for (int i = 0; i < n; i++) {
    s->island[i] = i;
    s->still[i] = stays(&tb_bodies(w)[i], &work->unconstrained[i], rest_of(work->state, i), o->sleep);
  }
  const tbContactRecord* record = w->contact.data;
  for (size_t i = 0; i < w->contact.count; i++)
    if (i == 0 || record[i].body_a != record[i - 1].body_a || record[i].body_b != record[i - 1].body_b)
      link(w, record[i].body_a, record[i].body_b, s);
  for (size_t i = 0; i < w->joint.count; i++) {
    const tbJoint* j = &tb_joints(w)[i];
    link(w, j->a, j->b, s);
    if (!is_steered(w, j)) continue;
    if (j->a >= 0 && is_free(&tb_bodies(w)[j->a])) s->still[j->a] = false;
    if (j->b >= 0 && is_free(&tb_bodies(w)[j->b])) s->still[j->b] = false;
  }
  spread(w, s);
  return TB_OK;
}

void tb_soft_step_wake(const tbWorld* w, tbSoftStepWork* s)
{
  spread(w, s);
  s->woke = true;
}

// ---- what is kept ----

static void free_sleep(tbContext* ctx, void* state)
{
  Sleep* s = state;
  if (!s) return;
  tb_free(ctx, s->rest);
  tb_free(ctx, s);
}

tbStatus tb_soft_step_sleep_next(tbContext* ctx, const tbWorld* w, const tbSoftStepWork* soft, void** next)
{
  if (!soft->still) return TB_OK;
  Sleep* s = *next = TB_NEW(ctx, Sleep, 1);
  if (!s) return TB_ERROR_MEMORY;
  s->rest = TB_NEW(ctx, double, w->body.count);
  s->count = (int)w->body.count;
  return s->rest ? TB_OK : TB_ERROR_MEMORY;
}

// The fastest that any of its points may be.
static double speed_of(const tbBody* b) { return tb_norm3(b->v) + b->radius * tb_norm3(b->w); }

int tb_soft_step_sleep_end(const tbWorld* w, const tbStepOptions* o, const tbStepWork* work,
                           const tbSoftStepWork* soft)
{
  Sleep* next = work->next;
  int asleep = 0;
  for (int i = 0; next && i < next->count; i++) {
    const tbBody* b = &tb_bodies(w)[i];
    bool left = soft->still[i] || !is_free(b);
    asleep += left && is_free(b);
    double before = fmax(rest_of(work->state, i), 0); // of one that woke: it has moved
    next->rest[i] = left ? ASLEEP : speed_of(b) < o->sleep_speed ? before + o->dt : 0;
  }
  return asleep;
}

static uint64_t hash_sleep(uint64_t hash, const void* state)
{
  const Sleep* s = state;
  return tb_hash_numbers(hash, s->rest, s->count);
}

static void change_body(void* state, int body)
{
  Sleep* s = state;
  if (body >= 0 && body < s->count) s->rest[body] = 0;
  for (int i = 0; body < 0 && i < s->count; i++) s->rest[i] = 0;
}

// What it touched has to look where it stands now.
static void remove_body(void* state, const tbWorld* w, int body)
{
  Sleep* s = state;
  const tbContactRecord* r = w->contact.data;
  for (size_t i = 0; i < w->contact.count; i++) {
    if (r[i].body_a == body) change_body(state, r[i].body_b);
    if (r[i].body_b == body) change_body(state, r[i].body_a);
  }
  if (body >= s->count) return;
  memmove(s->rest + body, s->rest + body + 1, (size_t)(--s->count - body) * sizeof *s->rest);
}

static void code_sleep(tbCodec* c, const tbWorld* w, void** state)
{
  if (tb_codec_reads(c) && tb_codec_good(c) && !(*state = TB_NEW(c->ctx, Sleep, 1)))
    c->status = TB_ERROR_MEMORY;
  Sleep* s = *state;
  if (!s) return;
  int count = s->count;
  tb_code_count(c, &count, sizeof *s->rest);
  tb_codec_require(c, count <= (int)w->body.count, "more bodies at rest than there are");
  if (!tb_codec_good(c)) return;
  if (tb_codec_reads(c) && !(s->rest = TB_NEW(c->ctx, double, (size_t)count))) c->status = TB_ERROR_MEMORY;
  if (!tb_codec_good(c)) return;
  s->count = count;
  tb_code_numbers(c, s->rest, (size_t)count);
}

static double* number_of(void* state, int i) // none that positions depend on smoothly
{
  (void)state, (void)i;
  return NULL;
}

static bool is_asleep(const void* state, int body) { return rest_of(state, body) == ASLEEP; }

const tbStateKind tb_soft_step_state = {.scheme = "soft-step",
                                        .free = free_sleep,
                                        .hash = hash_sleep,
                                        .remove = remove_body,
                                        .change = change_body,
                                        .code = code_sleep,
                                        .number = number_of,
                                        .asleep = is_asleep};
