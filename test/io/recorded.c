// SPDX-License-Identifier: Apache-2.0
#include "io/recorded.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char recorded_scene[] =
    "{\"tribo\": 1, \"name\": \"all kinds\", \"dt\": 0.005, \"time\": 1,\n"
    " \"materials\": {\"wood\": {\"friction\": 0.4}},\n"
    " \"bodies\": [\n"
    "  {\"name\": \"ground\", \"shape\": {\"type\": \"plane\"}, \"fixed\": true},\n"
    "  {\"name\": \"box\", \"shape\": {\"type\": \"box\", \"size\": [1, 2, 3]}, \"position\": [0, 0, "
    "1.501],\n"
    "   \"velocity\": [1, 0, 0], \"material\": \"wood\"},\n"
    "  {\"name\": \"b\\\"all\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.5}, \"position\": [4, 0, "
    "1],\n"
    "   \"angular_velocity\": [3, 40, 5]},\n"
    "  {\"name\": \"arm\", \"shapes\": [{\"type\": \"capsule\", \"radius\": 0.2, \"length\": 1},\n"
    "   {\"type\": \"cylinder\", \"radius\": 0.3, \"length\": 0.4, \"position\": [0, 0, 1],\n"
    "    \"orientation_euler_deg\": [90, 0, 0]}], \"position\": [8, 0, 2], \"angular_velocity\": [0, 9, "
    "0]},\n"
    "  {\"name\": \"wedge\", \"shape\": {\"type\": \"convex\", \"vertices\": "
    "[[0,0,0],[1,0,0],[0,1,0],[0,0,1]]},\n"
    "   \"position\": [12, 0, 1]},\n"
    "  {\"name\": \"door\", \"shape\": {\"type\": \"box\", \"size\": [1, 0.1, 1]}, \"position\": [16, 0, "
    "2],\n"
    "   \"kinematic\": {\"angular_velocity\": [0, 0, 7]}},\n"
    "  {\"name\": \"marker\", \"shape\": {\"type\": \"sphere\", \"radius\": 0.1}, \"position\": [20, 0, 1],\n"
    "   \"kinematic\": {}}],\n"
    " \"joints\": [{\"type\": \"hinge\", \"a\": \"arm\", \"anchor\": [8, 0.1, 3], \"axis\": [0, 2, 0],\n"
    "   \"limits\": [-3, 2]}],\n"
    " \"soft\": [{\"name\": \"jelly\", \"mesh\": {\"box\": {\"size\": 0.4, \"cells\": 3}}, \"young\": 2e5,\n"
    "   \"position\": [0, 6, 1]}],\n"
    " \"cloth\": [{\"name\": \"a sheet\", \"mesh\": {\"grid\": {\"size\": 1, \"cells\": [3, 5]}},\n"
    "   \"position\": [0, 9, 1], \"velocity\": [0, 0, 2]}]}\n";

Recorded recorded_begin(void) { return recorded_begin_with(recorded_scene); }

Recorded recorded_begin_with(const char* scene)
{
  Recorded r = {.ctx = tb_default_context(), .folder = "/tmp/tribo-recorded-XXXXXX"};
  if (!mkdtemp(r.folder)) test_failed(__FILE__, __LINE__, "no temporary folder");
  CHECK_OK(&r.ctx, tb_scene_parse(&r.ctx, "recorded", scene, strlen(scene), NULL, &r.scene));
  return r;
}

static void empty(const char* folder)
{
  DIR* listing = opendir(folder);
  for (const struct dirent* e; listing && (e = readdir(listing));) {
    char path[512];
    struct stat info;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) empty(path), rmdir(path);
    else unlink(path);
  }
  if (listing) closedir(listing);
}

void recorded_end(Recorded* r)
{
  tb_scene_free(&r->ctx, &r->scene);
  empty(r->folder);
  CHECK(rmdir(r->folder) == 0);
}

const char* recorded_path(const Recorded* r, const char* name)
{
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", r->folder, name);
  return path;
}

tbStatus recorded_run(Recorded* r, const char* kind, const char* path, int steps, double fps,
                      RecordedSee* see, void* user)
{
  tbRecordOptions o = tb_default_record_options();
  tbRecording* recording;
  o.fps = fps;
  tbStatus status = tb_record_begin(&r->ctx, kind, path, &r->scene, o, &recording);
  if (status != TB_OK) return status;
  int stride = fps > 0 ? (int)(1 / (fps * r->scene.step.dt) + 0.5) : 1, frame = 0;
  if (see) see(user, r->scene.world, frame++);
  for (int i = 1; i <= steps && status == TB_OK; i++) {
    tbStepReport report;
    status = tb_world_step(&r->ctx, r->scene.world, &r->scene.step, &report);
    if (status == TB_OK) status = tb_record_step(&r->ctx, recording, &r->scene, &report);
    if (see && (i % stride == 0 || i == steps)) see(user, r->scene.world, frame++);
  }
  return tb_record_end(&r->ctx, recording, &r->scene, status);
}

char* recorded_read(const char* path, size_t* length)
{
  FILE* file = fopen(path, "rb");
  if (!file) {
    test_failed(__FILE__, __LINE__, "%s is not there", path);
    return NULL;
  }
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char* bytes = calloc(*length + 1, 1);
  if (fread(bytes, 1, *length, file) != *length) test_failed(__FILE__, __LINE__, "cannot read %s", path);
  fclose(file);
  return bytes;
}
