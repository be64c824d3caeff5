// SPDX-License-Identifier: Apache-2.0
// Replays: what is read is what was recorded, to the precision promised, in any order; what is damaged is
// refused; a recording that fails leaves nothing.
#include "io/recorded.h"
#include "io/replay/open.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 31, FRAMES = 12, BODIES = 9, NODES = 56 + 24 }; // a frame every third step, and the last

// The run as it was, in double precision.
typedef struct {
  int frames;
  double time[FRAMES], kinetic[FRAMES];
  tbBodyState body[FRAMES][BODIES];
  tbVec3 node[FRAMES][NODES];
  int contacts[FRAMES];
  tbContactView contact[FRAMES][64];
} Seen;

static bool on_surface(const tbWorld* w, int body, int node)
{
  for (int t = 0; t < tb_body_triangle_count(w, tb_world_body_at(w, body)); t++)
    for (int k = 0; k < 3; k++)
      if (tb_body_triangles(w, tb_world_body_at(w, body))[t][k] == node) return true;
  return false;
}

static void see(void* user, const tbWorld* w, int frame)
{
  Seen* s = user;
  int nodes = 0;
  if (frame >= FRAMES) return;
  s->frames = frame + 1;
  s->time[frame] = tb_world_time(w);
  s->kinetic[frame] = tb_world_energy(w).kinetic;
  for (int i = 0; i < BODIES; i++) {
    s->body[frame][i] = tb_body_state(w, tb_world_body_at(w, i));
    for (int n = 0; n < tb_body_node_count(w, tb_world_body_at(w, i)); n++)
      if (on_surface(w, i, n) && nodes < NODES)
        s->node[frame][nodes++] = tb_body_nodes(w, tb_world_body_at(w, i))[n];
  }
  CHECK(nodes == NODES);
  s->contacts[frame] = tb_world_contact_count(w);
  for (int i = 0; i < s->contacts[frame] && i < 64; i++) s->contact[frame][i] = tb_world_contact(w, i);
}

static double angle_between(tbQuat a, tbQuat b)
{
  tbQuat d = tb_quat_mul(tb_quat_conj(a), b);
  return 2 * tb_norm3(tb_vec3(d.x, d.y, d.z));
}

static void compare(const Seen* s, int f, const tbReplay* replay, const tbReplayFrame* frame)
{
  CHECK(frame->time == s->time[f]);
  double kinetic = frame->scalar[tb_replay_scalar(replay, "kinetic")];
  CHECK_NEAR(kinetic, s->kinetic[f], 1e-6 * s->kinetic[f]);
  CHECK(tb_replay_pose_count(replay) == 6);
  for (int i = 0; i < 6; i++) {
    CHECK_NEAR(tb_distance3(frame->pose[i].x, s->body[f][i + 1].position), 0, 2e-6);
    CHECK_NEAR(angle_between(frame->pose[i].q, s->body[f][i + 1].orientation), 0, 5e-6);
  }
  for (int i = 0; i < NODES; i++) CHECK_NEAR(tb_distance3(frame->node[i], s->node[f][i]), 0, 4e-5);
  CHECK(frame->contact_count == s->contacts[f]);
  double worst = frame->scalar[tb_replay_scalar(replay, "contact_residual")], top = 0;
  for (int i = 0; i < frame->contact_count && i < 64; i++) {
    const tbReplayContact* c = &frame->contact[i];
    const tbContactView* v = &s->contact[f][i];
    CHECK(c->a == v->a.index && c->b == v->b.index && c->state == v->state);
    CHECK_NEAR(c->share * worst, v->residual, worst / 500);
    top = fmax(top, c->share);
    CHECK_NEAR(tb_distance3(c->position, v->position), 0, 2e-6);
    CHECK_NEAR(tb_distance3(c->normal, v->normal), 0, 4e-5);
    CHECK_NEAR(tb_dot3(c->impulse, c->normal), v->impulse[0], 1e-4 * (1 + fabs(v->impulse[0])));
    CHECK_NEAR(c->gap, v->gap, 1e-7 * fabs(v->gap));
  }
  CHECK(top == (worst > 0 ? 1 : 0)); // one of them is the largest
}

TEST(replay_gives_back_what_was_recorded)
{
  Recorded r = recorded_begin();
  Seen* s = calloc(1, sizeof *s);
  const char* path = recorded_path(&r, "run.trp");
  CHECK_OK(&r.ctx, recorded_run(&r, "replay", path, STEPS, 66.7, see, s));
  tbReplay* replay = NULL;
  CHECK_OK(&r.ctx, tb_replay_open(&r.ctx, path, &replay));
  if (replay) {
    CHECK(s->frames == FRAMES && tb_replay_frame_count(replay) == FRAMES);
    CHECK(tb_replay_node_count(replay) == NODES);
    int touching = 0;
    for (int k = 0; k < 2 * FRAMES; k++) { // in no order
      int f = 7 * k % FRAMES;
      tbReplayFrame frame;
      CHECK_OK(&r.ctx, tb_replay_read(&r.ctx, replay, f, &frame));
      CHECK(frame.step == (f < FRAMES - 1 ? 3 * f : STEPS));
      compare(s, f, replay, &frame);
      touching += frame.contact_count;
    }
    CHECK(touching > 0);
    int64_t found;
    const double times[] = {-1, 0, 0.0149, 0.015, 0.06, 99};
    const int frames[] = {0, 0, 0, 1, 4, FRAMES - 1};
    for (int i = 0; i < 6; i++) {
      CHECK_OK(&r.ctx, tb_replay_find(&r.ctx, replay, times[i], &found));
      CHECK(found == frames[i]);
    }
    tbReplayFrame frame;
    CHECK(tb_replay_read(&r.ctx, replay, FRAMES, &frame) == TB_ERROR_ARGUMENT);
    CHECK(tb_replay_read(&r.ctx, replay, -1, &frame) == TB_ERROR_ARGUMENT);
    CHECK(tb_replay_scalar(replay, "nothing") == -1);
  }
  tb_replay_close(&r.ctx, replay);
  free(s);
  recorded_end(&r);
}

static tbVec3 numbers(const tbJson* joint, const char* key)
{
  const tbJson* n = tb_json_find(joint, key);
  if (!n || n->count != 3) return tb_vec3(NAN, NAN, NAN);
  return tb_vec3(tb_json_double(&n->items[0]), tb_json_double(&n->items[1]), tb_json_double(&n->items[2]));
}

// A joint's anchors, each on its body as a frame has it, are at the same place.
TEST(replays_say_where_joints_are)
{
  Recorded r = recorded_begin();
  const char* path = recorded_path(&r, "joints.trp");
  CHECK_OK(&r.ctx, recorded_run(&r, "replay", path, 20, 66.7, NULL, NULL));
  tbReplay* replay = NULL;
  CHECK_OK(&r.ctx, tb_replay_open(&r.ctx, path, &replay));
  const tbJson* joints = replay ? tb_json_find(replay->root, "joints") : NULL;
  REQUIRE(joints && joints->count == 1);
  const tbJson *j = &joints->items[0], *limits = tb_json_find(j, "limits");
  CHECK(strcmp(tb_json_find(j, "type")->string, "hinge") == 0);
  CHECK(tb_json_find(j, "a")->integer == 3 && tb_json_find(j, "b")->integer == -1);
  CHECK(limits && limits->items[0].integer == -3 && limits->items[1].integer == 2);
  tbVec3 world = numbers(j, "anchor_b"), axis = numbers(j, "axis");
  CHECK_NEAR(tb_distance3(world, tb_vec3(8, 0.1, 3)), 0, 1e-15);
  CHECK_NEAR(tb_norm3(axis), 1, 1e-15);
  tbReplayFrame frame;
  for (int64_t f = 0; f < tb_replay_frame_count(replay); f++) {
    CHECK_OK(&r.ctx, tb_replay_read(&r.ctx, replay, f, &frame));
    tbTransform arm = frame.pose[2]; // the third body that moves
    CHECK_NEAR(tb_distance3(tb_transform_point(arm, numbers(j, "anchor_a")), world), 0, 1e-3);
    CHECK_NEAR(tb_quat_rotate(arm.q, axis).y, 1, 1e-4);
  }
  CHECK(fabs(frame.pose[2].x.x - 8) > 0.1); // it has swung
  tb_replay_close(&r.ctx, replay);
  recorded_end(&r);
}

TEST(orientations_keep_five_microradians_in_64_bits)
{
  tbRandom random = test_random(3);
  double worst = 0;
  for (int i = 0; i < 20000; i++) {
    tbQuat q = tb_quat(test_uniform(&random, -1, 1), test_uniform(&random, -1, 1),
                       test_uniform(&random, -1, 1), test_uniform(&random, -1, 1));
    if (i % 5 == 0) q.x = q.y = 0; // ties and zeros
    if (i % 7 == 0) q.w = q.z;
    q = tb_quat_normalize(q);
    worst = fmax(worst, angle_between(q, tb_replay_unpack(tb_replay_pack(q))));
  }
  CHECK(worst < 5e-6 && worst > 1e-6);
  CHECK(angle_between(tb_quat_identity(), tb_replay_unpack(tb_replay_pack(tb_quat_identity()))) == 0);
}

// 140 001 frames: the index has been halved twice, and every frame is found all the same.
// A step that the judge was not asked about says nothing: frames keep what was last known.
TEST(frames_of_unjudged_steps_keep_the_last_residual)
{
  Recorded r = recorded_begin_with(
      "{\"tribo\": 1, \"dt\": 0.02, \"scheme\": {\"name\": \"soft-step\", \"certify\": 4}, \"bodies\": ["
      "{\"name\": \"ground\", \"fixed\": true, \"shape\": {\"type\": \"plane\", \"normal\": [0, 0, 1]}},"
      "{\"name\": \"box\", \"shape\": {\"type\": \"box\", \"size\": [1, 1, 1]}, \"position\": [0, 0, "
      "0.52]}]}");
  const char* path = recorded_path(&r, "unjudged.trp");
  CHECK_OK(&r.ctx, recorded_run(&r, "replay", path, 12, 50, NULL, NULL));
  tbReplay* replay = NULL;
  CHECK_OK(&r.ctx, tb_replay_open(&r.ctx, path, &replay));
  REQUIRE(replay && tb_replay_frame_count(replay) == 13);
  double last = 0;
  int changes = 0, scalar = tb_replay_scalar(replay, "residual_velocity");
  for (int f = 0; f < 13; f++) {
    tbReplayFrame frame;
    CHECK_OK(&r.ctx, tb_replay_read(&r.ctx, replay, f, &frame));
    double now = frame.scalar[scalar];
    CHECK(isfinite(now) && (now == last || f % 4 == 0));
    changes += now != last, last = now;
  }
  CHECK(changes >= 2);
  tb_replay_close(&r.ctx, replay);
  recorded_end(&r);
}

TEST(long_replays_need_no_more_index)
{
  Recorded r = recorded_begin();
  tb_scene_free(&r.ctx, &r.scene);
  const char text[] =
      "{\"tribo\": 1, \"bodies\": [{\"name\": \"a\", \"shape\": {\"type\": \"sphere\", \"radius\": 1}}]}";
  CHECK_OK(&r.ctx, tb_scene_parse(&r.ctx, "long", text, strlen(text), NULL, &r.scene));
  const char* path = recorded_path(&r, "long.trp");
  const int64_t last = 140000;
  void* writer;
  tbRecordPlan plan = {&r.scene, path, 1, 100, 10};
  CHECK_OK(&r.ctx, tb_recorder_replay.begin(&r.ctx, &plan, &writer));
  for (int64_t i = 0; i <= last; i++) {
    tbFrame frame = {.world = r.scene.world, .index = i, .step = i, .time = 0.25 * (double)i};
    if (tb_recorder_replay.frame(&r.ctx, writer, &frame) != TB_OK) CHECK(false);
  }
  CHECK_OK(&r.ctx, tb_recorder_replay.end(&r.ctx, writer, TB_OK));
  tbReplay* replay = NULL;
  CHECK_OK(&r.ctx, tb_replay_open(&r.ctx, path, &replay));
  for (int64_t i = 0; replay && i <= last; i += i < 70 || i > last - 70 ? 1 : 911) {
    tbReplayFrame frame;
    int64_t found;
    CHECK_OK(&r.ctx, tb_replay_read(&r.ctx, replay, i, &frame));
    CHECK(frame.step == i && frame.time == 0.25 * (double)i);
    CHECK_OK(&r.ctx, tb_replay_find(&r.ctx, replay, 0.25 * (double)i + 0.1, &found));
    CHECK(found == i);
  }
  tb_replay_close(&r.ctx, replay);
  recorded_end(&r);
}

// The strongest contacts stay, in their order; the scalar says how many there were.
TEST(replays_keep_the_strongest_contacts)
{
  Recorded r = recorded_begin();
  const char* path = recorded_path(&r, "few.trp");
  tbRecordOptions o = {.fps = 0, .contact_limit = 2};
  tbRecording* recording;
  CHECK_OK(&r.ctx, tb_record_begin(&r.ctx, "replay", path, &r.scene, o, &recording));
  tbStepReport report;
  for (int i = 0; i < 5; i++) {
    CHECK_OK(&r.ctx, tb_world_step(&r.ctx, r.scene.world, &r.scene.step, &report));
    CHECK_OK(&r.ctx, tb_record_step(&r.ctx, recording, &r.scene, &report));
  }
  CHECK_OK(&r.ctx, tb_record_end(&r.ctx, recording, &r.scene, TB_OK));
  tbReplay* replay = NULL;
  tbReplayFrame frame;
  CHECK_OK(&r.ctx, tb_replay_open(&r.ctx, path, &replay));
  CHECK_OK(&r.ctx, tb_replay_read(&r.ctx, replay, 5, &frame));
  CHECK(frame.contact_count == 2 && frame.scalar[tb_replay_scalar(replay, "contacts")] == report.contacts);
  CHECK(report.contacts > 2);
  double least = INFINITY;
  for (int i = 0; i < 2; i++) least = fmin(least, tb_dot3(frame.contact[i].impulse, frame.contact[i].normal));
  int stronger = 0;
  for (int i = 0; i < report.contacts; i++)
    stronger += tb_world_contact(r.scene.world, i).impulse[0] > least * (1 + 1e-4);
  CHECK(stronger < 2);
  tb_replay_close(&r.ctx, replay);
  recorded_end(&r);
}

// Every prefix of a replay is refused, and so is every file with one byte of its frame wrong where it shows.
TEST(damaged_replays_are_refused)
{
  Recorded r = recorded_begin();
  const char* path = recorded_path(&r, "run.trp");
  size_t length;
  CHECK_OK(&r.ctx, recorded_run(&r, "replay", path, 3, 0, NULL, NULL));
  char* bytes = recorded_read(path, &length);
  tbReplay* replay;
  for (size_t cut = 0; bytes && cut < length; cut += cut < 64 || cut + 64 > length ? 1 : 37)
    if (tb_replay_open_bytes(&r.ctx, "cut", bytes, cut, &replay) != TB_ERROR_INPUT) CHECK(false);
  for (size_t at = 0; bytes && at < 16; at++) {
    bytes[at] ^= 0x40;
    if (tb_replay_open_bytes(&r.ctx, "head", bytes, length, &replay) != TB_ERROR_INPUT) CHECK(false);
    bytes[at] ^= 0x40;
  }
  for (size_t at = length - 40; bytes && at < length; at++) {
    bytes[at] ^= 0x40;
    if (tb_replay_open_bytes(&r.ctx, "tail", bytes, length, &replay) != TB_ERROR_INPUT) CHECK(false);
    bytes[at] ^= 0x40;
  }
  CHECK(tb_replay_open(&r.ctx, r.folder, &replay) == TB_ERROR_IO);
  CHECK(tb_replay_open(&r.ctx, "/tmp/there is no such replay", &replay) == TB_ERROR_IO);
  free(bytes);
  recorded_end(&r);
}

static int count_files(const char* folder)
{
  int count = 0;
  DIR* listing = opendir(folder);
  for (const struct dirent* e; listing && (e = readdir(listing));) count += e->d_name[0] != '.';
  if (listing) closedir(listing);
  return count;
}

TEST(recordings_that_fail_leave_nothing)
{
  for (int k = 0; k < tb_record_kind_count(); k++) {
    const tbRecordKind* kind = tb_record_kind_at(k);
    Recorded r = recorded_begin();
    const char* path = recorded_path(&r, kind->file);
    tbRecording* recording;
    tbStepReport report;
    CHECK_OK(&r.ctx,
             tb_record_begin(&r.ctx, kind->name, path, &r.scene, tb_default_record_options(), &recording));
    for (int i = 0; i < 4; i++) {
      CHECK_OK(&r.ctx, tb_world_step(&r.ctx, r.scene.world, &r.scene.step, &report));
      CHECK_OK(&r.ctx, tb_record_step(&r.ctx, recording, &r.scene, &report));
    }
    CHECK(count_files(r.folder) > 0);
    tb_fail(&r.ctx, TB_ERROR_NUMERIC, "on purpose");
    CHECK(tb_record_end(&r.ctx, recording, &r.scene, TB_ERROR_NUMERIC) == TB_ERROR_NUMERIC);
    CHECK(count_files(r.folder) == 0);
    CHECK(tb_record_begin(&r.ctx, kind->name, "/no/such/folder/x", &r.scene, tb_default_record_options(),
                          &recording) == TB_ERROR_IO);
    recorded_end(&r);
  }
}

// One run of a recording, and for replays of reading it, with an allocation that fails.
static tbStatus record_starved(Recorded* r, tbContext* ctx, const tbRecordKind* kind)
{
  tbRecording* recording;
  tbStepReport report = {0};
  char path[256];
  snprintf(path, sizeof path, "%s", recorded_path(r, kind->file));
  TB_TRY(tb_record_begin(ctx, kind->name, path, &r->scene, tb_default_record_options(), &recording));
  tbStatus status = TB_OK;
  for (int i = 0; i < 4 && status == TB_OK; i++) status = tb_record_step(ctx, recording, &r->scene, &report);
  TB_TRY(tb_record_end(ctx, recording, &r->scene, status));
  if (strcmp(kind->name, "replay") != 0) return TB_OK;
  tbReplay* replay;
  tbReplayFrame frame;
  TB_TRY(tb_replay_open(ctx, path, &replay));
  status = tb_replay_read(ctx, replay, 1, &frame);
  tb_replay_close(ctx, replay);
  return status;
}

TEST(recordings_survive_every_failed_allocation)
{
  for (int k = 0; k < tb_record_kind_count(); k++) {
    Recorded r = recorded_begin();
    tbStepReport report;
    for (int i = 0; i < 3; i++)
      CHECK_OK(&r.ctx, tb_world_step(&r.ctx, r.scene.world, &r.scene.step, &report));
    tbStatus status = TB_ERROR_MEMORY;
    long fail = 0;
    for (; status != TB_OK && fail < 1000; fail++) {
      tbFailingAllocator state = {.countdown = fail};
      tbContext ctx = test_failing_context(&state);
      status = record_starved(&r, &ctx, tb_record_kind_at(k));
      CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
      CHECK(state.alive == 0);
      if (status != TB_OK && strcmp(tb_record_kind_at(k)->name, "replay") != 0)
        CHECK(count_files(r.folder) == 0);
    }
    CHECK(status == TB_OK && fail > 5);
    recorded_end(&r);
  }
}

// A world that flies to infinity is refused; what was recorded before stays.
TEST(worlds_that_are_not_finite_are_not_recorded)
{
  Recorded r = recorded_begin();
  const char* path = recorded_path(&r, "run.trp");
  tbRecordOptions o = {.fps = 0, .contact_limit = 0};
  tbRecording* recording;
  tbStepReport report;
  tbBodyState far = tb_body_state(r.scene.world, tb_world_body_at(r.scene.world, 2));
  far.position.x = 1e31;
  CHECK_OK(&r.ctx, tb_record_begin(&r.ctx, "replay", path, &r.scene, o, &recording));
  CHECK_OK(&r.ctx, tb_world_step(&r.ctx, r.scene.world, &r.scene.step, &report));
  CHECK_OK(&r.ctx, tb_body_set_state(&r.ctx, r.scene.world, tb_world_body_at(r.scene.world, 2), &far));
  CHECK(tb_record_step(&r.ctx, recording, &r.scene, &report) == TB_ERROR_NUMERIC);
  CHECK_OK(&r.ctx, tb_record_end(&r.ctx, recording, &r.scene, TB_OK));
  tbReplay* replay = NULL;
  CHECK_OK(&r.ctx, tb_replay_open(&r.ctx, path, &replay));
  if (replay) CHECK(tb_replay_frame_count(replay) == 1);
  tb_replay_close(&r.ctx, replay);
  recorded_end(&r);
}
