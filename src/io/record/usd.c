// SPDX-License-Identifier: Apache-2.0
// USD as text (.usda): what is given by sizes stays that (Sphere, Cube, Cylinder, Capsule), the rest is Mesh;
// rigid bodies move by time samples of translate and orient, deformable ones by samples of their points.
//
// A time code is a frame: code 0 is the first, timeCodesPerSecond of them a second. Bodies are prims below
// /World, named after the bodies as far as USD's names allow; "tribo:name" holds the name itself. Pixar's
// OpenUSD documentation: "UsdGeom", and the grammar of the text format (AOUSD core specification).
//
// Memory   a few megabytes; frames wait in a file until the run ends (tracks.h).
#include "io/record/tracks.h"

#include "scene/world.h"

#include <string.h>

typedef struct {
  tbTracks tracks;
  double fps, start;
} Usd;

static tbStatus begin(tbContext* ctx, const tbRecordPlan* plan, void** state)
{
  Usd* u = TB_NEW(ctx, Usd, 1);
  if (!u) return TB_ERROR_MEMORY;
  u->fps = plan->fps;
  tbStatus status = tb_tracks_begin(ctx, plan->path, plan->scene->world, &u->tracks);
  if (status == TB_OK) *state = u;
  else tb_free(ctx, u);
  return status;
}

static tbStatus frame(tbContext* ctx, void* state, const tbFrame* f)
{
  (void)ctx;
  return tb_tracks_add(&((Usd*)state)->tracks, f);
}

// Text.

static void put_tuple(tbOut* out, const double* values, int count)
{
  for (int i = 0; i < count; i++) {
    tb_out_text(out, i ? ", " : "(");
    tb_out_float(out, (float)values[i]);
  }
  tb_out_text(out, ")");
}

static void put_vec3(tbOut* out, tbVec3 v) { put_tuple(out, (double[3]){v.x, v.y, v.z}, 3); }
static void put_quat(tbOut* out, tbQuat q) { put_tuple(out, (double[4]){q.w, q.x, q.y, q.z}, 4); }

static void put_quoted(tbOut* out, const char* text)
{
  tb_out_text(out, "\"");
  for (; *text; text++) {
    char code[8];
    if (*text == '"' || *text == '\\') tb_out_text(out, "\\");
    if ((unsigned char)*text >= 0x20) tb_out_bytes(out, text, 1);
    else tb_out_bytes(out, code, (size_t)snprintf(code, sizeof code, "\\x%02x", (unsigned char)*text));
  }
  tb_out_text(out, "\"");
}

// Letters, digits and '_', not a digit first; the body's number makes it its own where letters were lost.
static void put_prim_name(tbOut* out, const char* name, int number)
{
  bool lost = !*name || (*name >= '0' && *name <= '9');
  if (lost) tb_out_text(out, "_");
  for (; *name; name++) {
    char c = *name;
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    lost |= !plain;
    tb_out_bytes(out, plain ? &c : "_", 1);
  }
  if (lost) tb_out_text(out, "_"), tb_out_int(out, number);
}

static void put_indices(tbOut* out, const int (*triangle)[3], int ntriangle)
{
  tb_out_text(out, "int[] faceVertexCounts = [");
  for (int t = 0; t < ntriangle; t++) tb_out_text(out, t ? ", 3" : "3");
  tb_out_text(out, "]\nint[] faceVertexIndices = [");
  for (int t = 0; t < ntriangle; t++)
    for (int k = 0; k < 3; k++) {
      if (t || k) tb_out_text(out, ", ");
      tb_out_int(out, triangle[t][k]);
    }
  tb_out_text(out, "]\nuniform token subdivisionScheme = \"none\"\n");
}

static void put_extent(tbOut* out, const float low[3], const float high[3])
{
  tb_out_text(out, "[");
  put_tuple(out, (double[3]){low[0], low[1], low[2]}, 3);
  tb_out_text(out, ", ");
  put_tuple(out, (double[3]){high[0], high[1], high[2]}, 3);
  tb_out_text(out, "]");
}

static void put_color(tbOut* out, const tbWorld* w, int body)
{
  double rgb[3];
  tb_color_linear(tb_color(tb_body_color(w, tb_world_body_at(w, body))), rgb);
  tb_out_text(out, "color3f[] primvars:displayColor = [");
  put_tuple(out, rgb, 3);
  tb_out_text(out, "]\n");
}

static void put_pose(tbOut* out, tbTransform T, const tbVec3* scale)
{
  tb_out_text(out, "double3 xformOp:translate = ");
  put_vec3(out, T.x);
  tb_out_text(out, "\nquatf xformOp:orient = ");
  put_quat(out, T.q);
  if (scale) {
    tb_out_text(out, "\nfloat3 xformOp:scale = ");
    put_vec3(out, *scale);
  }
  tb_out_text(out, "\nuniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"");
  tb_out_text(out, scale ? ", \"xformOp:scale\"]\n" : "]\n");
}

// Shapes.

static void put_number(tbOut* out, const char* name, double value)
{
  tb_out_text(out, "double ");
  tb_out_text(out, name);
  tb_out_text(out, " = ");
  tb_out_double(out, value);
  tb_out_text(out, "\n");
}

static void put_round(tbOut* out, double radius, double height)
{
  put_number(out, "radius", radius);
  put_number(out, "height", height);
  tb_out_text(out, "uniform token axis = \"Z\"\n");
}

static void put_mesh(tbOut* out, const tbDrawMesh* m)
{
  float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  tb_out_text(out, "point3f[] points = [");
  for (int v = 0; v < m->nvertex; v++) {
    const float at[3] = {(float)m->vertex[v].x, (float)m->vertex[v].y, (float)m->vertex[v].z};
    for (int k = 0; k < 3; k++) low[k] = fminf(low[k], at[k]), high[k] = fmaxf(high[k], at[k]);
    if (v) tb_out_text(out, ", ");
    put_vec3(out, m->vertex[v]);
  }
  tb_out_text(out, "]\nfloat3[] extent = ");
  put_extent(out, low, high);
  tb_out_text(out, "\n");
  put_indices(out, m->triangle, m->ntriangle);
}

static void put_shape(tbOut* out, const tbWorld* w, const tbDrawing* d, int body, int number)
{
  static const char* const prims[TB_SHAPE_COUNT] = {[TB_SHAPE_SPHERE] = "Sphere",
                                                    [TB_SHAPE_BOX] = "Cube",
                                                    [TB_SHAPE_CAPSULE] = "Capsule",
                                                    [TB_SHAPE_CYLINDER] = "Cylinder"};
  const tbShape* s = &tb_shapes(w)[tb_bodies(w)[body].shape + number];
  const tbDrawShape* drawn = &tb_draw_shapes(d)[d->body_shape[body] + number];
  const tbVec3* scale = NULL;
  tb_out_text(out, "def ");
  tb_out_text(out, prims[s->type] ? prims[s->type] : "Mesh");
  tb_out_text(out, " \"shape_");
  tb_out_int(out, number);
  tb_out_text(out, "\"\n{\n");
  switch (s->type) {
  case TB_SHAPE_SPHERE: put_number(out, "radius", s->sphere.radius); break;
  case TB_SHAPE_CAPSULE: put_round(out, s->capsule.radius, 2 * s->capsule.half); break;
  case TB_SHAPE_CYLINDER: put_round(out, s->cylinder.radius, 2 * s->cylinder.half); break;
  case TB_SHAPE_BOX: scale = &s->box.half; break; // of a cube of size 2
  case TB_SHAPE_PLANE: scale = &drawn->scale;     // fall through
  default: put_mesh(out, &tb_draw_meshes(d)[drawn->mesh]);
  }
  put_pose(out, drawn->pose, scale);
  put_color(out, w, body);
  tb_out_text(out, "}\n");
}

// Bodies.

static void put_body_head(tbOut* out, const tbWorld* w, int body, const char* prim)
{
  const char* name = tb_body_name(w, tb_world_body_at(w, body));
  tb_out_text(out, "def ");
  tb_out_text(out, prim);
  tb_out_text(out, " \"");
  put_prim_name(out, name, body);
  tb_out_text(out, "\"\n{\ncustom string tribo:name = ");
  put_quoted(out, name);
  tb_out_text(out, "\n");
}

// The frame's time code: its number, unless the last comes sooner than a whole one.
static tbStatus put_code(tbContext* ctx, const Usd* u, int64_t frame, tbOut* out)
{
  double time;
  if (frame + 1 < u->tracks.frames || frame == 0) {
    tb_out_int(out, frame);
  } else {
    TB_TRY(tb_tracks_time(ctx, &u->tracks, frame, &time));
    double code = (time - u->start) * u->fps;
    tb_out_double(out, fabs(code - (double)frame) < 1e-6 * (double)frame ? (double)frame : code);
  }
  tb_out_text(out, ": ");
  return TB_OK;
}

static tbStatus put_samples(tbContext* ctx, const Usd* u, const float (*pose)[TB_TRACK], int stride,
                            bool turns, tbOut* out)
{
  tb_out_text(
      out, turns ? "quatf xformOp:orient.timeSamples = {\n" : "double3 xformOp:translate.timeSamples = {\n");
  for (int64_t f = 0; f < u->tracks.frames; f++) {
    const float* p = pose[f * stride];
    TB_TRY(put_code(ctx, u, f, out));
    if (turns) put_quat(out, tb_quat(p[3], p[4], p[5], p[6]));
    else put_vec3(out, tb_vec3(p[0], p[1], p[2]));
    tb_out_text(out, ",\n");
  }
  tb_out_text(out, "}\n");
  return TB_OK;
}

// Its pose in the first frame, and samples of what changes.
typedef struct {
  const Usd* usd;
  tbOut* out;
} Put;

static tbStatus put_moving(tbContext* ctx, void* user, int i, const float (*pose)[TB_TRACK], int stride)
{
  const Usd* u = ((const Put*)user)->usd;
  tbOut* out = ((const Put*)user)->out;
  const tbTracks* t = &u->tracks;
  int body = t->moving[i];
  const float* p = t->first[i];
  put_body_head(out, t->world, body, "Xform");
  put_pose(out, tb_transform(tb_quat(p[3], p[4], p[5], p[6]), tb_vec3(p[0], p[1], p[2])), NULL);
  if (t->shifts[i]) TB_TRY(put_samples(ctx, u, pose, stride, false, out));
  if (t->turns[i]) TB_TRY(put_samples(ctx, u, pose, stride, true, out));
  for (int s = 0; s < tb_bodies(t->world)[body].nshape; s++) put_shape(out, t->world, &t->drawing, body, s);
  tb_out_text(out, "}\n");
  return TB_OK;
}

static void put_fixed(const Usd* u, tbOut* out)
{
  const tbTracks* t = &u->tracks;
  for (int b = 0; b < t->drawing.nbody; b++) {
    const tbBody* body = &tb_bodies(t->world)[b];
    if (body->motion != TB_BODY_FIXED) continue;
    put_body_head(out, t->world, b, "Xform");
    put_pose(out, tb_body_pose(body), NULL);
    for (int s = 0; s < body->nshape; s++) put_shape(out, t->world, &t->drawing, b, s);
    tb_out_text(out, "}\n");
  }
}

static tbStatus put_points(tbContext* ctx, const Usd* u, int surface, float (*x)[3], bool extents, tbOut* out)
{
  int count = tb_draw_surfaces(&u->tracks.drawing)[surface].nvertex;
  tb_out_text(out, extents ? "float3[] extent.timeSamples = {\n" : "point3f[] points.timeSamples = {\n");
  for (int64_t f = 0; f < u->tracks.frames; f++) {
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    TB_TRY(tb_tracks_surface(ctx, &u->tracks, surface, f, x));
    TB_TRY(put_code(ctx, u, f, out));
    if (!extents) tb_out_text(out, "[");
    for (int v = 0; v < count; v++) {
      for (int k = 0; k < 3; k++) low[k] = fminf(low[k], x[v][k]), high[k] = fmaxf(high[k], x[v][k]);
      if (extents) continue;
      if (v) tb_out_text(out, ", ");
      put_tuple(out, (double[3]){x[v][0], x[v][1], x[v][2]}, 3);
    }
    if (extents) put_extent(out, low, high);
    tb_out_text(out, extents ? ",\n" : "],\n");
  }
  tb_out_text(out, "}\n");
  return TB_OK;
}

static tbStatus put_surface(tbContext* ctx, const Usd* u, int surface, tbOut* out)
{
  const tbDrawSurface* s = &tb_draw_surfaces(&u->tracks.drawing)[surface];
  float(*x)[3] = tb_alloc(ctx, (size_t)s->nvertex, sizeof *x);
  if (!x) return TB_ERROR_MEMORY;
  put_body_head(out, u->tracks.world, s->body, "Mesh");
  put_indices(out, s->triangle, s->ntriangle);
  tb_out_text(out, "uniform bool doubleSided = 1\n");
  put_color(out, u->tracks.world, s->body);
  tbStatus status = put_points(ctx, u, surface, x, true, out);
  if (status == TB_OK) status = put_points(ctx, u, surface, x, false, out);
  tb_out_text(out, "}\n");
  tb_free(ctx, x);
  return status;
}

static tbStatus put_stage(tbContext* ctx, Usd* u, tbOut* out)
{
  const tbTracks* t = &u->tracks;
  int up = tb_world_up(t->world);
  double last;
  TB_TRY(tb_tracks_time(ctx, t, 0, &u->start));
  TB_TRY(tb_tracks_time(ctx, t, t->frames - 1, &last));
  tb_out_text(out, "#usda 1.0\n(\n    defaultPrim = \"World\"\n    metersPerUnit = 1\n    upAxis = ");
  tb_out_text(out, up == 1 ? "\"Y\"" : "\"Z\"");
  tb_out_text(out, "\n    startTimeCode = 0\n    endTimeCode = ");
  tb_out_double(out, (last - u->start) * u->fps);
  tb_out_text(out, "\n    timeCodesPerSecond = ");
  tb_out_double(out, u->fps);
  tb_out_text(out, "\n    framesPerSecond = ");
  tb_out_double(out, u->fps);
  tb_out_text(out, "\n)\n\ndef Xform \"World\"\n{\n");
  if (up == 0) // USD knows no x up: turned about y
    put_pose(out, tb_transform(tb_quat(0.7071067811865476, 0, -0.7071067811865476, 0), tb_zero3()), NULL);
  put_fixed(u, out);
  TB_TRY(tb_tracks_each(ctx, &u->tracks, put_moving, &(Put){u, out}));
  for (int i = 0; i < (int)t->drawing.surface.count; i++) TB_TRY(put_surface(ctx, u, i, out));
  tb_out_text(out, "}\n");
  return TB_OK;
}

static tbStatus end(tbContext* ctx, void* state, tbStatus status)
{
  Usd* u = state;
  tbGrowing file;
  if (status == TB_OK) status = tb_tracks_complete(ctx, &u->tracks);
  if (status == TB_OK) status = tb_growing_open(ctx, u->tracks.spill.file.path, &file);
  if (status == TB_OK) status = tb_growing_end(ctx, &file, put_stage(ctx, u, &file.out));
  tb_tracks_free(ctx, &u->tracks);
  tb_free(ctx, u);
  return status;
}

const tbRecorder tb_recorder_usd = {begin, frame, end, false};
