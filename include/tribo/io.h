// SPDX-License-Identifier: Apache-2.0
// Reading and writing: contact problems, meshes, scenes, checkpoints, recordings.
//
// tb_problem_load looks at the file itself, not at its name: FCLIB (HDF5), Tribo's own JSON, or Siconos' LCP
// text. Errors name the file and the place. Writers go through a temporary file, so a failure leaves nothing
// half-written behind.
#ifndef TRIBO_IO_H
#define TRIBO_IO_H

#include "tribo/step.h"
#include "tribo/tools/text.h"

TB_API_BEGIN

// guess: set to the file's first guess of λ (nrow doubles) if it has one, else null; may itself be null.
// Free it with tb_guess_free.
tbStatus tb_problem_load(tbContext* ctx, const char* path, tbProblem** out, double** guess);
// The same from bytes in memory; `name` stands for the path.
tbStatus tb_problem_parse(tbContext* ctx, const char* name, const char* bytes, size_t length, tbProblem** out,
                          double** guess);
void tb_guess_free(tbContext* ctx, double* guess);

// FCLIB. Problems with W given are written as /fclib_local, others as /fclib_global, always to the same
// bytes. What FCLIB has no place for is refused with TB_ERROR_UNSUPPORTED: laws other than coulomb (all
// contacts with 2 rows or all with 3) and rolling with 5 rows, and compliance beside a metric. Contacts with
// law free move behind the others, one row each, and so do their values in the guess
// (docs/problem-format.md).
tbStatus tb_problem_save_fclib(tbContext* ctx, const char* path, const tbProblem* problem,
                               const double* guess);
// Writing takes the HDF5 library, and so does reading files with chunked or compressed datasets; plain files
// are read without. Two threads may use it at once where it was built thread safe, as Debian's is.
bool tb_have_fclib(void); // false: built without HDF5

// Tribo's JSON problem format (docs/problem-format.md); holds every problem.
tbStatus tb_problem_save_json(tbContext* ctx, const char* path, const tbProblem* problem,
                              const double* guess);

// What tb_problem_save_json puts into its file.
tbStatus tb_problem_print_json(tbContext* ctx, tbOut* out, const tbProblem* problem, const double* guess);

// Meshes: OBJ, STL (text or binary) and PLY (text or binary, either byte order), told apart by what is in the
// file. Polygons are cut into fans. Coordinates are multiplied by `scale`; a mirroring one (of negative
// product) turns the triangles around, so that they face out still. Errors read `file:line: what is wrong`,
// with `byte N` for binary files.
tbStatus tb_mesh_load(tbContext* ctx, const char* path, tbVec3 scale, tbMesh** out);

// Tetrahedra from Gmsh .msh 2.2 and 4.1 and VTK legacy unstructured grids, text and binary each. Quadratic
// tetrahedra are read by their corners; points, lines and surface elements are passed over; other solid
// elements are an error. Nodes in no tetrahedron are left out, and a file whose tetrahedra are all of the
// other orientation is turned around.
tbStatus tb_tet_mesh_load(tbContext* ctx, const char* path, tbVec3 scale, tbTetMesh** out);

// The convex hull of all points of such a file, whether faces use them or not.
tbStatus tb_hull_load(tbContext* ctx, const char* path, tbVec3 scale, tbHull** out);

// The texture coordinates of an OBJ file (vt), for tbFriction.chart. Faces without are passed over.
tbStatus tb_chart_load(tbContext* ctx, const char* path, tbVec3 scale, tbWorld* world, int* out);

// A point cache (PC2, version 1): samples of the same points, one after the other, scaled. What Blender and
// others write of a mesh in motion, and `tribo run` of what deforms.
typedef struct tbPointCache {
  int point_count, sample_count;
  tbVec3* points; // of the first sample, of the second, …          (sample_count · point_count)
} tbPointCache;

tbStatus tb_point_cache_load(tbContext* ctx, const char* path, tbVec3 scale, tbPointCache* out);
void tb_point_cache_free(tbContext* ctx, tbPointCache* cache); // takes one that is all zero

// As OBJ; reads back to the same bits.
tbStatus tb_mesh_save_obj(tbContext* ctx, const char* path, const tbMesh* mesh);

// A scene file (docs/scene-format.md; docs/scene.schema.json): a world, and how to run it.
typedef struct tbScene {
  tbWorld* world;
  tbStepOptions step; // scheme, dt, solver, contact model; its names live as long as the library
  double time;        // s: how long to run
  int threads;
  char* name; // the file's own, or the file's name without folders and suffix
} tbScene;

// What is wrong with a file is said as `path:line:column: …` with TB_ERROR_INPUT, and *out is left alone.
tbStatus tb_scene_load(tbContext* ctx, const char* path, tbScene* out);
// The same from text in memory; `name` stands for the path. Mesh files are relative to `folder`; null: a
// scene that names one is refused.
tbStatus tb_scene_parse(tbContext* ctx, const char* name, const char* bytes, size_t length,
                        const char* folder, tbScene* out);
// Both with values in the place of the file's own, "KEY=VALUE" each, in order. KEY is a path with dots: keys
// of objects, names or numbers of elements, `*` for every one; the last key may be one that the file leaves
// out. VALUE is JSON, or a word.
//
//   bodies.top.mass=3    soft.*.young=1e6    cloth.0.mesh.grid.cells=[40,40]    materials.wood.friction=0.3
tbStatus tb_scene_load_with(tbContext* ctx, const char* path, const char* const* settings, int count,
                            tbScene* out);
tbStatus tb_scene_parse_with(tbContext* ctx, const char* name, const char* bytes, size_t length,
                             const char* folder, const char* const* settings, int count, tbScene* out);
void tb_scene_free(tbContext* ctx, tbScene* scene); // takes one that is all zero

// Control of joints over time from a CSV file: the first column is t, in seconds and increasing; each other
// one is a joint, by its name or, where it has none, its number. NAME.target is of its servo, NAME.speed of
// its motor, NAME alone of the one of the two that it has; NAME.effort is a torque or force. A cell is the
// value at that time (rad or m; rad/s or m/s; N·m or N); an empty one says nothing. Between times values go
// along straight lines. Joints without a column go on as they are. Errors leave the world as it was.
tbStatus tb_control_load(tbContext* ctx, const char* path, tbWorld* world);

// Checkpoints: a scene in mid-flight, in one file that needs no other. What is loaded goes on bit for bit as
// what was saved would have. Damaged files, whatever their bytes, are TB_ERROR_INPUT. A world that holds
// numbers that are not finite is not saved (TB_ERROR_NUMERIC). Free the scene with tb_scene_free.
tbStatus tb_checkpoint_save(tbContext* ctx, const char* path, const tbScene* scene);
tbStatus tb_checkpoint_load(tbContext* ctx, const char* path, tbScene* out);

// A world as it is now, in memory, and back to it: bodies, joints and ids of that moment hold again, later
// ones are refused for good, and the next steps have the bits they had. Costs what reading a checkpoint does:
// for worlds without meshes and distance grids, little enough for every frame. On failure the world is as it
// was.
typedef struct tbSnapshot tbSnapshot;
tbStatus tb_world_snapshot(tbContext* ctx, const tbWorld* world, tbSnapshot** out);
tbStatus tb_world_restore(tbContext* ctx, tbWorld* world, const tbSnapshot* snapshot);
size_t tb_snapshot_bytes(const tbSnapshot* snapshot);
void tb_snapshot_free(tbContext* ctx, tbSnapshot* snapshot); // takes null

// The whole file in memory: what tb_checkpoint_load does once it has read it, and what it reads.
tbStatus tb_checkpoint_parse(tbContext* ctx, const char* name, const void* bytes, size_t length,
                             tbScene* out);
tbStatus tb_checkpoint_print(tbContext* ctx, tbOut* out, const tbScene* scene);

// Recordings: a run while it goes on, as a replay (docs/trajectory-format.md) or for other programs
// (docs/exports.md). All are fed in the same way and hold the same frames.
//
//   tbRecording* recording;
//   tb_record_begin(&ctx, "gltf", "run.glb", &scene, tb_default_record_options(), &recording);
//   for (…) {
//     tb_world_step(&ctx, scene.world, &scene.step, &report);
//     tb_record_step(&ctx, recording, &scene, &report);
//   }
//   tb_record_end(&ctx, recording, &scene, TB_OK);
//
// The first frame is the world as it is at tb_record_begin, the last as it is at tb_record_end; between them
// a frame comes every whole number of steps. Nothing of a run stays in memory, however long it is. Files take
// their places when the recording ends well; a recording that ends with an error leaves nothing behind.
typedef struct tbRecording tbRecording;

typedef struct tbRecordOptions {
  double fps;        // frames per simulated second, about; 0: every step is one
  int contact_limit; // replays: of more contacts in a frame, only those with the largest normal impulse
} tbRecordOptions;

tbRecordOptions tb_default_record_options(void); // 60, 4096

typedef struct tbRecordKind {
  const char *name, *summary;
  const char* file; // what the command calls it in its folder
  bool folder;      // the path names a folder, made if it is missing
  const struct tbRecorder* recorder;
} tbRecordKind;

int tb_record_kind_count(void);
const tbRecordKind* tb_record_kind_at(int index);
const tbRecordKind* tb_record_kind_find(const char* name); // or null

tbStatus tb_record_begin(tbContext* ctx, const char* kind, const char* path, const tbScene* scene,
                         tbRecordOptions options, tbRecording** out);
// After every step. A world that holds numbers that are not finite, or beyond 1e30, is TB_ERROR_NUMERIC.
tbStatus tb_record_step(tbContext* ctx, tbRecording* recording, const tbScene* scene,
                        const tbStepReport* report);
// Frees the recording. A last frame that would not be finite is left out. Its files are kept when `status` is
// TB_OK; else they go, and the status comes back.
tbStatus tb_record_end(tbContext* ctx, tbRecording* recording, const tbScene* scene, tbStatus status);

// A replay, to be read in any order. Damaged files, whatever their bytes, are TB_ERROR_INPUT.
typedef struct tbReplay tbReplay;

typedef struct tbReplayContact {
  int a, b;
  tbVec3 position, normal;
  tbVec3 impulse; // on b, world axes   N·s
  double gap;
  double share; // of the frame's largest residual of one contact, 0 … 1; negative: not known
  tbContactState state;
} tbReplayContact;

typedef struct tbReplayFrame {
  double time;
  int64_t step;
  const double* scalar;    // by the names of the header
  const tbTransform* pose; // of the bodies with a pose, in the header's order
  const tbVec3* node;      // of the deformable bodies, one after the other
  const tbReplayContact* contact;
  int contact_count;
} tbReplayFrame;

tbStatus tb_replay_open(tbContext* ctx, const char* path, tbReplay** out);
void tb_replay_close(tbContext* ctx, tbReplay* replay); // takes null
int64_t tb_replay_frame_count(const tbReplay* replay);
const char* tb_replay_header(const tbReplay* replay);           // the JSON text
int tb_replay_scalar(const tbReplay* replay, const char* name); // its index; −1: none
int tb_replay_pose_count(const tbReplay* replay);
int tb_replay_node_count(const tbReplay* replay);
// The last frame at or before a time; the first frame for earlier ones.
tbStatus tb_replay_find(tbContext* ctx, tbReplay* replay, double time, int64_t* out);
// What *out points to lives until the next frame is read.
tbStatus tb_replay_read(tbContext* ctx, tbReplay* replay, int64_t frame, tbReplayFrame* out);

// Frames first … last (−1: the last there is) as another kind of recording, without running again, as far as
// a replay knows: not the inner nodes of solids; velocities from frame to frame; docs/exports.md. `cancelled`
// may be null; when it says so, the export ends there and keeps what it has.
tbStatus tb_replay_export(tbContext* ctx, tbReplay* replay, const char* kind, const char* path, int64_t first,
                          int64_t last, bool (*cancelled)(void* user), void* user);

TB_API_END
#endif
