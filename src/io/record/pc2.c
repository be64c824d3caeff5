// SPDX-License-Identifier: Apache-2.0
// What deforms, for Blender and others: nodes.obj, nodes.pc2, nodes.py.
//
// nodes.obj holds where all nodes are at the start, a group of surface triangles per body. nodes.pc2 is a
// point cache (PC2, version 1) of the same points, with a sample for the start and one for every step: 32
// bytes of header, then x, y, z in single precision, little-endian. nodes.py is a script for Blender that
// loads the one and plays the other on it.
//
// How many samples there are is known at the end, and is written into the header then: the file cannot be a
// pipe.
#include "io/record/record.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLES_AT = 28 }; // bytes into the header

typedef struct {
  tbGrowing cache, surface, script;
  bool any;   // something deforms
  char* made; // the folder, where it was missing; else null
  uint32_t samples;
} Pc2;

static int64_t count_nodes(const tbWorld* w)
{
  int64_t count = 0;
  for (int i = 0; i < tb_world_body_count(w); i++) count += tb_body_node_count(w, tb_world_body_at(w, i));
  return count;
}

// A group's name ends at a space.
static void put_name(tbOut* out, const char* name)
{
  for (; *name; name++) tb_out_bytes(out, *name > 0 && *name <= ' ' ? "_" : name, 1);
}

static void put_group(tbOut* out, const tbWorld* w, tbBodyId body, int64_t first)
{
  const tbVec3* x = tb_body_nodes(w, body);
  const int(*triangle)[3] = tb_body_triangles(w, body);
  tb_out_text(out, "g ");
  put_name(out, tb_body_name(w, body));
  for (int i = 0; i < tb_body_node_count(w, body); i++) {
    const double at[3] = {x[i].x, x[i].y, x[i].z};
    tb_out_text(out, "\nv");
    for (int k = 0; k < 3; k++) tb_out_text(out, " "), tb_out_double(out, at[k]);
  }
  for (int t = 0; t < tb_body_triangle_count(w, body); t++) {
    tb_out_text(out, "\nf");
    for (int k = 0; k < 3; k++) tb_out_text(out, " "), tb_out_int(out, first + 1 + triangle[t][k]);
  }
  tb_out_text(out, "\n");
}

static void put_surface(tbOut* out, const tbWorld* w)
{
  int64_t first = 0;
  for (int i = 0; i < tb_world_body_count(w); i++) {
    if (tb_body_node_count(w, tb_world_body_at(w, i)) > 0) put_group(out, w, tb_world_body_at(w, i), first);
    first += tb_body_node_count(w, tb_world_body_at(w, i));
  }
}

static void put_header(tbOut* out, const tbWorld* w)
{
  tb_out_bytes(out, "POINTCACHE2", 12);
  tb_out_u32(out, 1);
  tb_out_u32(out, (uint32_t)count_nodes(w));
  tb_out_f32(out, (double)tb_world_step_count(w)); // the first sample's frame
  tb_out_f32(out, 1);                              // samples a frame: a step is a frame
  tb_out_u32(out, 0);
}

static void put_script(tbOut* out, const tbWorld* w, double fps)
{
  tb_out_text(out, "# Loads nodes.obj into Blender and plays nodes.pc2 on it, a sample a frame:\n"
                   "#   blender --python nodes.py\n"
                   "import os\n"
                   "import bpy\n\n"
                   "FIRST_FRAME = ");
  tb_out_int(out, tb_world_step_count(w));
  tb_out_text(out, "\nFRAMES_PER_SECOND = ");
  tb_out_double(out, fps);
  tb_out_text(out,
              "\n\n"
              "folder = os.path.dirname(os.path.abspath(__file__))\n"
              "surface, cache = os.path.join(folder, \"nodes.obj\"), os.path.join(folder, \"nodes.pc2\")\n"
              "with open(cache, \"rb\") as file:\n"
              "    samples = int.from_bytes(file.read(32)[28:], \"little\")\n\n"
              "vertices, faces = [], []\n"
              "with open(surface, encoding=\"utf-8\") as file:\n"
              "    for line in file:\n"
              "        word, *rest = line.split() or [\"\"]\n"
              "        if word == \"v\":\n"
              "            vertices.append([float(x) for x in rest])\n"
              "        elif word == \"f\":\n"
              "            faces.append([int(x) - 1 for x in rest])\n"
              "mesh = bpy.data.meshes.new(\"nodes\")\n"
              "mesh.from_pydata(vertices, [], faces)\n"
              "thing = bpy.data.objects.new(\"nodes\", mesh)\n"
              "bpy.context.collection.objects.link(thing)\n\n"
              "modifier = thing.modifiers.new(\"nodes\", \"MESH_CACHE\")\n"
              "modifier.cache_format = \"PC2\"\n"
              "modifier.filepath = cache\n"
              "modifier.forward_axis, modifier.up_axis = \"POS_Y\", \"POS_Z\"\n"
              "modifier.frame_start = FIRST_FRAME\n\n"
              "scene = bpy.context.scene\n"
              "scene.frame_start, scene.frame_end = FIRST_FRAME, FIRST_FRAME + samples - 1\n"
              "scene.render.fps = max(1, round(FRAMES_PER_SECOND))\n"
              "scene.render.fps_base = scene.render.fps / FRAMES_PER_SECOND\n"
              "scene.frame_set(FIRST_FRAME)\n");
}

static tbStatus open_in(tbContext* ctx, const char* folder, const char* name, tbGrowing* out)
{
  char* path = TB_NEW(ctx, char, strlen(folder) + strlen(name) + 2);
  if (!path) return TB_ERROR_MEMORY;
  strcpy(path, folder);
  strcat(path, "/");
  tbStatus status = tb_growing_open(ctx, strcat(path, name), out);
  tb_free(ctx, path);
  return status;
}

// Frees the recorder; the folder goes with it, where it was made in vain.
static tbStatus pc2_free(tbContext* ctx, Pc2* p, tbStatus status)
{
  if (p->made && status != TB_OK) rmdir(p->made);
  tb_free(ctx, p->made);
  tb_free(ctx, p);
  return status;
}

static tbStatus make_folder(tbContext* ctx, Pc2* p, const char* path)
{
  char* copy = TB_NEW(ctx, char, strlen(path) + 1);
  if (!copy) return TB_ERROR_MEMORY;
  if (mkdir(path, 0777) == 0) {
    p->made = strcpy(copy, path);
    return TB_OK;
  }
  int error = errno;
  tb_free(ctx, copy);
  return error == EEXIST ? TB_OK
                         : tb_fail(ctx, TB_ERROR_IO, "cannot make the folder %s: %s", path, strerror(error));
}

static tbStatus begin(tbContext* ctx, const tbRecordPlan* plan, void** state)
{
  const tbWorld* w = plan->scene->world;
  int64_t nodes = count_nodes(w);
  if (nodes > INT32_MAX) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "too many nodes for a point cache");
  Pc2* p = TB_NEW(ctx, Pc2, 1);
  if (!p) return TB_ERROR_MEMORY;
  p->any = nodes > 0;
  *state = p;
  if (!p->any) return TB_OK;
  tbGrowing* const files[] = {&p->surface, &p->cache, &p->script};
  static const char* const names[] = {"nodes.obj", "nodes.pc2", "nodes.py"};
  tbStatus status = make_folder(ctx, p, plan->path);
  int opened = 0;
  while (status == TB_OK && opened < 3 &&
         (status = open_in(ctx, plan->path, names[opened], files[opened])) == TB_OK)
    opened++;
  if (status != TB_OK) {
    while (opened > 0) tb_growing_end(ctx, files[--opened], status);
    return pc2_free(ctx, p, status);
  }
  put_surface(&p->surface.out, w);
  put_header(&p->cache.out, w);
  put_script(&p->script.out, w, plan->fps);
  return TB_OK;
}

static tbStatus frame(tbContext* ctx, void* state, const tbFrame* f)
{
  Pc2* p = state;
  if (!p->any) return TB_OK;
  if (p->samples == INT32_MAX) return tb_fail(ctx, TB_ERROR_UNSUPPORTED, "too many steps for a point cache");
  tbOut* out = &p->cache.out;
  for (int i = 0; i < tb_world_body_count(f->world); i++) {
    const tbVec3* x = tb_body_nodes(f->world, tb_world_body_at(f->world, i));
    for (int n = 0; n < tb_body_node_count(f->world, tb_world_body_at(f->world, i)); n++)
      tb_out_f32x3(out, x[n]);
  }
  p->samples++;
  return out->status == TB_OK ? TB_OK : tb_out_finish(out);
}

static tbStatus put_samples(tbContext* ctx, Pc2* p)
{
  char bytes[4];
  TB_TRY(tb_out_finish(&p->cache.out));
  for (int i = 0; i < 4; i++) bytes[i] = (char)(p->samples >> 8 * i & 255);
  if (pwrite(p->cache.file.descriptor, bytes, sizeof bytes, SAMPLES_AT) == sizeof bytes) return TB_OK;
  return tb_fail(ctx, TB_ERROR_IO, "cannot write %s: %s", p->cache.file.path, strerror(errno));
}

static tbStatus end(tbContext* ctx, void* state, tbStatus status)
{
  Pc2* p = state;
  if (p->any) {
    if (status == TB_OK) status = put_samples(ctx, p);
    tbGrowing* const files[] = {&p->surface, &p->cache, &p->script};
    status = tb_growing_end_all(ctx, files, 3, status);
  }
  return pc2_free(ctx, p, status);
}

const tbRecorder tb_recorder_pc2 = {begin, frame, end, true};
