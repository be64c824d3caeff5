// SPDX-License-Identifier: Apache-2.0
// Opening replays: the tail, the index and the header.
//
// Nothing in a file is believed: every offset and length is held against the file's, every count against the
// bytes it would need, so that no file asks for more memory than a small multiple of its size.
#include "base/file.h"
#include "io/replay/open.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

tbStatus tb_replay_damaged(tbContext* ctx, const tbReplay* r, const char* what)
{
  return tb_fail(ctx, TB_ERROR_INPUT, "%s: a damaged replay: %s", r->name, what);
}

tbStatus tb_replay_bytes(tbContext* ctx, const tbReplay* r, uint64_t at, void* to, size_t count)
{
  if (r->descriptor < 0) {
    memcpy(to, r->bytes + at, count);
    return TB_OK;
  }
  for (size_t done = 0; done < count;) {
    size_t left = count - done < INT_MAX ? count - done : INT_MAX;
    ssize_t got = pread(r->descriptor, (char*)to + done, left, (off_t)(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: %s", r->name, strerror(errno));
    if (got == 0) return tb_replay_damaged(ctx, r, "it is cut short");
    done += (size_t)got;
  }
  return TB_OK;
}

// The header.

typedef struct {
  int vertices;
} Mesh;

static tbStatus read_mesh(tbContext* ctx, const tbJson* node, int64_t geometry, Mesh* out)
{
  const tbJson *vertices, *vertices_at, *triangles, *triangles_at;
  int ntriangle;
  int64_t at[2];
  TB_TRY(tb_json_require(ctx, node, "vertices", &vertices));
  TB_TRY(tb_json_require(ctx, node, "vertices_at", &vertices_at));
  TB_TRY(tb_json_require(ctx, node, "triangles", &triangles));
  TB_TRY(tb_json_require(ctx, node, "triangles_at", &triangles_at));
  TB_TRY(tb_json_get_int(ctx, vertices, 0, INT_MAX, &out->vertices));
  TB_TRY(tb_json_get_int(ctx, triangles, 0, INT_MAX, &ntriangle));
  TB_TRY(tb_json_get_int64(ctx, vertices_at, 0, geometry, &at[0]));
  TB_TRY(tb_json_get_int64(ctx, triangles_at, 0, geometry, &at[1]));
  if (at[0] % 4 || at[1] % 4 || 12 * (int64_t)out->vertices > geometry - at[0] ||
      12 * (int64_t)ntriangle > geometry - at[1])
    return tb_json_fail(ctx, node, "a mesh beyond the geometry");
  return TB_OK;
}

static tbStatus read_body(tbContext* ctx, tbReplay* r, const tbJson* node, const Mesh* mesh, int nmesh)
{
  TB_TRY(tb_json_get_type(ctx, node, TB_JSON_OBJECT));
  const tbJson *pose = tb_json_find(node, "pose"), *nodes = tb_json_find(node, "nodes"), *surface;
  int index, count;
  if (pose) {
    TB_TRY(tb_json_get_int(ctx, pose, 0, INT_MAX - 1, &index));
    if (index != r->npose) return tb_json_fail(ctx, pose, "poses are numbered in the order of the bodies");
    r->npose++;
  }
  if (!nodes) return TB_OK;
  TB_TRY(tb_json_require(ctx, node, "skin", &surface));
  TB_TRY(tb_json_get_int(ctx, surface, 0, nmesh - 1, &index));
  TB_TRY(tb_json_get_int(ctx, nodes, 0, INT_MAX - 1, &count));
  if (count != mesh[index].vertices) return tb_json_fail(ctx, nodes, "not as many nodes as its mesh has");
  if (count > INT_MAX - r->nnode) return tb_json_fail(ctx, nodes, "too many nodes");
  r->surface_nodes[r->nsurface++] = count;
  r->nnode += count;
  r->fixed += TB_REPLAY_BOX + tb_replay_node_bytes((uint64_t)count);
  return TB_OK;
}

static tbStatus read_header(tbContext* ctx, tbReplay* r, uint64_t header_end)
{
  const tbJson *scalars, *meshes, *bodies, *bytes, *poses;
  int64_t geometry;
  int stated;
  TB_TRY(tb_json_parse(ctx, &r->arena, r->name, r->header, header_end - TB_REPLAY_HEAD, &r->root));
  TB_TRY(tb_json_require(ctx, r->root, "geometry_bytes", &bytes));
  TB_TRY(tb_json_get_int64(ctx, bytes, 0, (int64_t)(r->index_at - header_end), &geometry));
  if (geometry % 8) return tb_json_fail(ctx, bytes, "not a multiple of 8");
  TB_TRY(tb_json_require(ctx, r->root, "scalars", &scalars));
  TB_TRY(tb_json_get_type(ctx, scalars, TB_JSON_ARRAY));
  for (uint32_t i = 0; i < scalars->count; i++)
    TB_TRY(tb_json_get_type(ctx, &scalars->items[i], TB_JSON_STRING));
  TB_TRY(tb_json_require(ctx, r->root, "meshes", &meshes));
  TB_TRY(tb_json_get_type(ctx, meshes, TB_JSON_ARRAY));
  TB_TRY(tb_json_require(ctx, r->root, "bodies", &bodies));
  TB_TRY(tb_json_get_type(ctx, bodies, TB_JSON_ARRAY));
  Mesh* mesh = TB_TAKE(&r->arena, Mesh, meshes->count);
  r->surface_nodes = TB_TAKE(&r->arena, int, bodies->count);
  if (!mesh || !r->surface_nodes) return TB_ERROR_MEMORY;
  for (uint32_t i = 0; i < meshes->count; i++) TB_TRY(read_mesh(ctx, &meshes->items[i], geometry, &mesh[i]));
  for (uint32_t i = 0; i < bodies->count; i++)
    TB_TRY(read_body(ctx, r, &bodies->items[i], mesh, (int)meshes->count));
  TB_TRY(tb_json_require(ctx, r->root, "poses", &poses));
  TB_TRY(tb_json_get_int(ctx, poses, 0, INT_MAX, &stated));
  if (stated != r->npose) return tb_json_fail(ctx, poses, "not as many poses as the bodies have");
  r->nbody = (int)bodies->count;
  r->nscalar = (int)scalars->count;
  r->fixed += TB_REPLAY_FRAME + 4 * (uint64_t)r->nscalar + TB_REPLAY_POSE * (uint64_t)r->npose;
  r->frames_at = header_end + (uint64_t)geometry;
  return TB_OK;
}

// Opening.

static tbStatus read_tail(tbContext* ctx, tbReplay* r)
{
  unsigned char t[TB_REPLAY_TAIL];
  TB_TRY(tb_replay_bytes(ctx, r, r->length - TB_REPLAY_TAIL, t, sizeof t));
  if (memcmp(t + 32, TB_REPLAY_END, 8) != 0 || tb_get_u64(t + 24) != r->length)
    return tb_replay_damaged(ctx, r, "its end is not there");
  uint64_t frames = tb_get_u64(t + 8);
  r->index_at = tb_get_u64(t), r->entries = tb_get_u32(t + 16), r->stride = tb_get_u32(t + 20);
  uint64_t index = (uint64_t)r->entries * TB_REPLAY_ENTRY;
  if (frames == 0 || frames > INT64_MAX / 2 || r->stride == 0 || r->entries == 0 ||
      (frames - 1) / r->stride + 1 != r->entries || index > r->length - TB_REPLAY_TAIL ||
      r->index_at != r->length - TB_REPLAY_TAIL - index || r->index_at < TB_REPLAY_HEAD)
    return tb_replay_damaged(ctx, r, "its index is not there");
  r->frames = (int64_t)frames;
  r->index = TB_NEW(ctx, unsigned char, index);
  if (!r->index) return TB_ERROR_MEMORY;
  return tb_replay_bytes(ctx, r, r->index_at, r->index, index);
}

static tbStatus open_all(tbContext* ctx, tbReplay* r)
{
  unsigned char head[TB_REPLAY_HEAD];
  if (r->length < TB_REPLAY_HEAD + TB_REPLAY_TAIL)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: not a replay of Tribo", r->name);
  TB_TRY(tb_replay_bytes(ctx, r, 0, head, sizeof head));
  if (memcmp(head, TB_REPLAY_MAGIC, 8) != 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: not a replay of Tribo", r->name);
  if (tb_get_u32(head + 8) != TB_REPLAY_VERSION)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: a replay of version %u; this build reads version %d", r->name,
                   tb_get_u32(head + 8), TB_REPLAY_VERSION);
  TB_TRY(read_tail(ctx, r));
  uint64_t header_end = TB_REPLAY_HEAD + (uint64_t)tb_get_u32(head + 12);
  if (header_end > r->index_at || header_end % 8) return tb_replay_damaged(ctx, r, "its header is not there");
  r->header = TB_NEW(ctx, char, header_end - TB_REPLAY_HEAD + 1);
  if (!r->header) return TB_ERROR_MEMORY;
  TB_TRY(tb_replay_bytes(ctx, r, TB_REPLAY_HEAD, r->header, header_end - TB_REPLAY_HEAD));
  TB_TRY(read_header(ctx, r, header_end));
  if ((uint64_t)r->frames > (r->index_at - r->frames_at) / r->fixed)
    return tb_replay_damaged(ctx, r, "it is too short for its frames");
  r->scalar = TB_NEW(ctx, double, (size_t)r->nscalar);
  r->pose = TB_NEW(ctx, tbTransform, (size_t)r->npose);
  r->node = TB_NEW(ctx, tbVec3, (size_t)r->nnode);
  return r->scalar && r->pose && r->node ? TB_OK : TB_ERROR_MEMORY;
}

static tbStatus open_from(tbContext* ctx, const char* name, tbReplay from, tbReplay** out)
{
  tbReplay* r = TB_NEW(ctx, tbReplay, 1);
  char* copy = r ? TB_NEW(ctx, char, strlen(name) + 1) : NULL;
  if (!copy) {
    tb_free(ctx, r);
    if (from.descriptor >= 0) close(from.descriptor);
    return TB_ERROR_MEMORY;
  }
  *r = from;
  r->name = strcpy(copy, name);
  tb_arena_init(&r->arena, ctx);
  tbStatus status = open_all(ctx, r);
  if (status == TB_OK) *out = r;
  else tb_replay_close(ctx, r);
  return status;
}

tbStatus tb_replay_open_bytes(tbContext* ctx, const char* name, const void* bytes, size_t length,
                              tbReplay** out)
{
  return open_from(ctx, name, (tbReplay){.descriptor = -1, .bytes = bytes, .length = length}, out);
}

tbStatus tb_replay_open(tbContext* ctx, const char* path, tbReplay** out)
{
  int descriptor;
  uint64_t size;
  TB_TRY(tb_open_file(ctx, path, &descriptor, &size));
  return open_from(ctx, path, (tbReplay){.descriptor = descriptor, .length = size}, out);
}

void tb_replay_close(tbContext* ctx, tbReplay* r)
{
  if (!r) return;
  if (r->descriptor >= 0) close(r->descriptor);
  void* const blocks[] = {r->name, r->index, r->header, r->frame, r->scalar, r->pose, r->node, r->contact};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tb_free(ctx, blocks[i]);
  tb_arena_free(&r->arena);
  tb_free(ctx, r);
}

int64_t tb_replay_frame_count(const tbReplay* r) { return r->frames; }
const char* tb_replay_header(const tbReplay* r) { return r->header; }
int tb_replay_pose_count(const tbReplay* r) { return r->npose; }
int tb_replay_node_count(const tbReplay* r) { return r->nnode; }

int tb_replay_scalar(const tbReplay* r, const char* name)
{
  const tbJson* scalars = tb_json_find(r->root, "scalars");
  for (int i = 0; i < r->nscalar; i++)
    if (strcmp(scalars->items[i].string, name) == 0) return i;
  return -1;
}
