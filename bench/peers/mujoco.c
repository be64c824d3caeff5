// SPDX-License-Identifier: Apache-2.0
// MuJoCo, as Debian has it, at its defaults: the scene as a model in its own format. Bodies that are joined
// become children of each other, hills a field of heights.
#include "peers/peer.h"

#include <mujoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mjModel* model;
  mjData* data;
  int* body; // of the scene, in the model
} World;

typedef struct {
  const PeerScene* scene;
  FILE* out;
} Writer;

static const PeerJoint* joint_of(const PeerScene* s, int b)
{
  for (int i = 0; i < s->joints; i++)
    if (s->joint[i].b == b) return &s->joint[i];
  return NULL;
}

// q⁻¹ (x − from)
static void into_frame(const double* q, const double* from, const double* x, double* out)
{
  double back[4], d[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
  mju_negQuat(back, q);
  mju_rotVecQuat(out, d, back);
}

static void write_geometry(const Writer* w, const PeerBody* b)
{
  const double* h = b->half;
  fprintf(w->out, "<geom friction='%g' ", w->scene->mu);
  if (b->mass > 0) fprintf(w->out, "mass='%.17g' ", b->mass);
  switch (b->kind) {
  case PEER_SPHERE: fprintf(w->out, "type='sphere' size='%.17g'/>", h[0]); break;
  case PEER_CAPSULE: fprintf(w->out, "type='capsule' size='%.17g %.17g'/>", h[0], h[2] - h[0]); break;
  case PEER_OCTAHEDRON: fputs("type='mesh' mesh='octahedron'/>", w->out); break;
  case PEER_TERRAIN: fputs("type='hfield' hfield='hills'/>", w->out); break;
  default: fprintf(w->out, "type='box' size='%.17g %.17g %.17g'/>", h[0], h[1], h[2]);
  }
}

static void write_joint(const Writer* w, const PeerBody* b, const PeerJoint* j)
{
  double anchor[3], axis[3], none[3] = {0};
  into_frame(b->q, b->x, j->anchor, anchor);
  into_frame(b->q, none, j->axis, axis);
  if (mju_norm3(axis) == 0)
    fprintf(w->out, "<joint type='ball' pos='%.17g %.17g %.17g'/>", anchor[0], anchor[1], anchor[2]);
  else
    fprintf(
        w->out,
        "<joint type='hinge' pos='%.17g %.17g %.17g' axis='%.17g %.17g %.17g' limited='true' range='%.17g "
        "%.17g'/>",
        anchor[0], anchor[1], anchor[2], axis[0], axis[1], axis[2], j->low, j->high);
}

static void write_body(const Writer* w, int i)
{
  const PeerScene* s = w->scene;
  const PeerBody* b = &s->body[i];
  const PeerJoint* j = joint_of(s, i);
  double x[3], q[4], back[4];
  memcpy(x, b->x, sizeof x);
  memcpy(q, b->q, sizeof q);
  if (j) {
    into_frame(s->body[j->a].q, s->body[j->a].x, b->x, x);
    mju_negQuat(back, s->body[j->a].q);
    mju_mulQuat(q, back, b->q);
  }
  fprintf(w->out, "<body name='b%d' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>", i, x[0], x[1],
          x[2], q[0], q[1], q[2], q[3]);
  if (j) write_joint(w, b, j);
  else if (b->mass > 0) fputs("<freejoint/>", w->out);
  write_geometry(w, b);
  for (int k = 0; k < s->joints; k++)
    if (s->joint[k].a == i) write_body(w, s->joint[k].b);
  fputs("</body>\n", w->out);
}

static void write_assets(const Writer* w)
{
  const PeerScene* s = w->scene;
  fputs("<asset>", w->out);
  if (s->terrain.side > 0)
    fprintf(w->out, "<hfield name='hills' nrow='%d' ncol='%d' size='%.17g %.17g 1 1'/>", s->terrain.side + 1,
            s->terrain.side + 1, s->terrain.half, s->terrain.half);
  for (int i = 0; i < s->count; i++)
    if (s->body[i].kind == PEER_OCTAHEDRON) {
      const double* h = s->body[i].half;
      fprintf(w->out, "<mesh name='octahedron' vertex='%g 0 0 -%g 0 0 0 %g 0 0 -%g 0 0 0 %g 0 0 -%g'/>", h[0],
              h[0], h[1], h[1], h[2], h[2]);
      break;
    }
  fputs("</asset>", w->out);
}

// Heights are shares of a range of one above the geometry's origin: the model is lowered and stretched to
// ours.
static void set_hills(const PeerScene* s, mjModel* m)
{
  double low = s->terrain.height[0], high = low;
  int count = (s->terrain.side + 1) * (s->terrain.side + 1);
  for (int i = 0; i < count; i++)
    low = mju_min(low, s->terrain.height[i]), high = mju_max(high, s->terrain.height[i]);
  for (int i = 0; i < count; i++) m->hfield_data[i] = (float)((s->terrain.height[i] - low) / (high - low));
  m->hfield_size[2] = high - low;
  for (int i = 0; i < m->ngeom; i++)
    if (m->geom_type[i] == mjGEOM_HFIELD) m->geom_pos[3 * i + 2] = low;
}

// Into a file of the folder otherwise.
static void warn(const char* text) { fprintf(stderr, "MuJoCo: %s\n", text); }

static void* open_world(const PeerScene* scene)
{
  mju_user_warning = warn;
  char *text = NULL, error[1000] = "", name[32];
  size_t size = 0;
  Writer w = {scene, open_memstream(&text, &size)};
  World* world = calloc(1, sizeof *world);
  mjVFS* files = calloc(1, sizeof *files);
  if (!w.out || !world || !files) abort();
  fputs("<mujoco><compiler angle='radian'/><option gravity='0 0 -9.81'/>", w.out);
  fputs("<size njmax='6000' nconmax='1500'/>", w.out);
  write_assets(&w);
  fputs("<worldbody>\n", w.out);
  for (int i = 0; i < scene->count; i++)
    if (!joint_of(scene, i)) write_body(&w, i);
  fputs("</worldbody><contact>", w.out);
  for (int i = 0; i < scene->joints; i++)
    fprintf(w.out, "<exclude body1='b%d' body2='b%d'/>", scene->joint[i].a, scene->joint[i].b);
  fputs("</contact></mujoco>\n", w.out);
  fclose(w.out);
  mj_defaultVFS(files);
  mj_makeEmptyFileVFS(files, "scene.xml", (int)size);
  memcpy(files->filedata[mj_findFileVFS(files, "scene.xml")], text, size);
  world->model = mj_loadXML("scene.xml", files, error, sizeof error);
  mj_deleteVFS(files);
  free(files);
  free(text);
  if (!world->model) fprintf(stderr, "MuJoCo: %s\n", error), abort();
  if (scene->terrain.side > 0) set_hills(scene, world->model);
  world->data = mj_makeData(world->model);
  world->body = calloc((size_t)scene->count, sizeof *world->body);
  for (int i = 0; i < scene->count; i++) {
    snprintf(name, sizeof name, "b%d", i);
    world->body[i] = mj_name2id(world->model, mjOBJ_BODY, name);
  }
  mj_forward(world->model, world->data);
  return world;
}

static void step(void* world, double dt)
{
  World* w = world;
  w->model->opt.timestep = dt;
  mj_step(w->model, w->data);
}

static void pose(void* world, int i, PeerPose* out)
{
  const World* w = world;
  double v[6];
  mj_objectVelocity(w->model, w->data, mjOBJ_XBODY, w->body[i], v, 0);
  memcpy(out->x, w->data->xpos + 3 * w->body[i], sizeof out->x);
  memcpy(out->q, w->data->xquat + 4 * w->body[i], sizeof out->q);
  memcpy(out->v, v + 3, sizeof out->v);
}

static void close_world(void* world)
{
  World* w = world;
  mj_deleteData(w->data);
  mj_deleteModel(w->model);
  free(w->body);
  free(w);
}

const Peer peer_mujoco = {"MuJoCo", PEER_ALL, 300, 1, open_world, step, pose, 0, close_world};
