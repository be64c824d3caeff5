// Reading replays: the tail, the index and the header when one is opened, then a frame at a time.
//
// Nothing in a file is believed: every offset and length is held against the file's, every count against the
// bytes it would need, so that no file asks for more memory than a small multiple of its size.
#include "io/replay.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tbReplay {
  char* name;
  int descriptor;             // −1: in memory
  const unsigned char* bytes; // in memory
  uint64_t length, frames_at, index_at;
  int64_t frames;
  uint32_t entries, stride;
  unsigned char* index;
  char* header;
  const tbJson* root;
  int nbody, nscalar, npose, nnode, nskin;
  int* skin_nodes; // (nskin)
  uint64_t fixed;  // bytes of a frame without contacts
  tbArena arena;   // of the header
  // the frame read last
  unsigned char* frame;
  size_t room;
  double* scalar;
  tbTransform* pose;
  tbVec3* node;
  tbReplayContact* contact;
  int contact_room;
};

static tbStatus damaged(tbContext* ctx, const tbReplay* r, const char* what)
{
  return tb_fail(ctx, TB_ERROR_INPUT, "%s: a damaged replay: %s", r->name, what);
}

// Little-endian numbers.

static uint32_t get_u32(const unsigned char* p)
{
  return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static uint64_t get_u64(const unsigned char* p) { return get_u32(p) | (uint64_t)get_u32(p + 4) << 32; }
static unsigned get_u16(const unsigned char* p) { return p[0] | (unsigned)p[1] << 8; }

static double get_f32(const unsigned char* p)
{
  uint32_t bits = get_u32(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double get_f64(const unsigned char* p)
{
  uint64_t bits = get_u64(p);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static tbVec3 get_f32x3(const unsigned char* p)
{
  return tb_vec3(get_f32(p), get_f32(p + 4), get_f32(p + 8));
}

static bool finite3(tbVec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

// The caller has checked that at + count ≤ length; a file that shrinks meanwhile is found out here.
static tbStatus read_at(tbContext* ctx, const tbReplay* r, uint64_t at, void* to, size_t count)
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
    if (got == 0) return damaged(ctx, r, "it is cut short");
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
  const tbJson *pose = tb_json_find(node, "pose"), *nodes = tb_json_find(node, "nodes"), *skin;
  int index, count;
  if (pose) {
    TB_TRY(tb_json_get_int(ctx, pose, 0, INT_MAX - 1, &index));
    if (index != r->npose) return tb_json_fail(ctx, pose, "poses are numbered in the order of the bodies");
    r->npose++;
  }
  if (!nodes) return TB_OK;
  TB_TRY(tb_json_require(ctx, node, "skin", &skin));
  TB_TRY(tb_json_get_int(ctx, skin, 0, nmesh - 1, &index));
  TB_TRY(tb_json_get_int(ctx, nodes, 0, INT_MAX - 1, &count));
  if (count != mesh[index].vertices) return tb_json_fail(ctx, nodes, "not as many nodes as its mesh has");
  if (count > INT_MAX - r->nnode) return tb_json_fail(ctx, nodes, "too many nodes");
  r->skin_nodes[r->nskin++] = count;
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
  r->skin_nodes = TB_TAKE(&r->arena, int, bodies->count);
  if (!mesh || !r->skin_nodes) return TB_ERROR_MEMORY;
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
  TB_TRY(read_at(ctx, r, r->length - TB_REPLAY_TAIL, t, sizeof t));
  if (memcmp(t + 32, TB_REPLAY_END, 8) != 0 || get_u64(t + 24) != r->length)
    return damaged(ctx, r, "its end is not there");
  uint64_t frames = get_u64(t + 8);
  r->index_at = get_u64(t), r->entries = get_u32(t + 16), r->stride = get_u32(t + 20);
  uint64_t index = (uint64_t)r->entries * TB_REPLAY_ENTRY;
  if (frames == 0 || frames > INT64_MAX / 2 || r->stride == 0 || r->entries == 0 ||
      (frames - 1) / r->stride + 1 != r->entries || index > r->length - TB_REPLAY_TAIL ||
      r->index_at != r->length - TB_REPLAY_TAIL - index || r->index_at < TB_REPLAY_HEAD)
    return damaged(ctx, r, "its index is not there");
  r->frames = (int64_t)frames;
  r->index = TB_NEW(ctx, unsigned char, index);
  if (!r->index) return TB_ERROR_MEMORY;
  return read_at(ctx, r, r->index_at, r->index, index);
}

static tbStatus open_all(tbContext* ctx, tbReplay* r)
{
  unsigned char head[TB_REPLAY_HEAD];
  if (r->length < TB_REPLAY_HEAD + TB_REPLAY_TAIL)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: not a replay of Tribo", r->name);
  TB_TRY(read_at(ctx, r, 0, head, sizeof head));
  if (memcmp(head, TB_REPLAY_MAGIC, 8) != 0)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: not a replay of Tribo", r->name);
  if (get_u32(head + 8) != TB_REPLAY_VERSION)
    return tb_fail(ctx, TB_ERROR_INPUT, "%s: a replay of version %u; this build reads version %d", r->name,
                   get_u32(head + 8), TB_REPLAY_VERSION);
  TB_TRY(read_tail(ctx, r));
  uint64_t header_end = TB_REPLAY_HEAD + (uint64_t)get_u32(head + 12);
  if (header_end > r->index_at || header_end % 8) return damaged(ctx, r, "its header is not there");
  r->header = TB_NEW(ctx, char, header_end - TB_REPLAY_HEAD + 1);
  if (!r->header) return TB_ERROR_MEMORY;
  TB_TRY(read_at(ctx, r, TB_REPLAY_HEAD, r->header, header_end - TB_REPLAY_HEAD));
  TB_TRY(read_header(ctx, r, header_end));
  if ((uint64_t)r->frames > (r->index_at - r->frames_at) / r->fixed)
    return damaged(ctx, r, "it is too short for its frames");
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
  struct stat info;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: %s", path, strerror(errno));
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return tb_fail(ctx, TB_ERROR_IO, "cannot read %s: it is not a file", path);
  }
  return open_from(ctx, path, (tbReplay){.descriptor = descriptor, .length = (uint64_t)info.st_size}, out);
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

// Frames.

typedef struct {
  uint64_t at;
  uint32_t length, contacts;
  double time, step;
} FrameHead;

static tbStatus read_frame_head(tbContext* ctx, const tbReplay* r, uint64_t at, FrameHead* out)
{
  unsigned char head[TB_REPLAY_FRAME];
  if (at < r->frames_at || at % 8 || at > r->index_at || r->index_at - at < r->fixed)
    return damaged(ctx, r, "a frame is not there");
  TB_TRY(read_at(ctx, r, at, head, sizeof head));
  *out = (FrameHead){at, get_u32(head), get_u32(head + 4), get_f64(head + 8), get_f64(head + 16)};
  if (out->length > r->index_at - at || out->contacts > INT_MAX / TB_REPLAY_CONTACT ||
      tb_replay_pad8(r->fixed + (uint64_t)out->contacts * TB_REPLAY_CONTACT) != out->length)
    return damaged(ctx, r, "a frame of the wrong length");
  if (!isfinite(out->time) || !(out->step >= 0 && out->step <= 0x1p53) || out->step != floor(out->step))
    return damaged(ctx, r, "a frame at no time");
  return TB_OK;
}

static tbStatus locate(tbContext* ctx, const tbReplay* r, int64_t frame, FrameHead* out)
{
  uint64_t entry = (uint64_t)frame / r->stride;
  TB_TRY(read_frame_head(ctx, r, get_u64(r->index + TB_REPLAY_ENTRY * entry + 8), out));
  for (uint64_t left = (uint64_t)frame % r->stride; left > 0; left--)
    TB_TRY(read_frame_head(ctx, r, out->at + out->length, out));
  return TB_OK;
}

tbStatus tb_replay_find(tbContext* ctx, tbReplay* r, double time, int64_t* out)
{
  uint32_t low = 0, high = r->entries; // entry `low` is not after the time, entry `high` is
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (get_f64(r->index + (size_t)TB_REPLAY_ENTRY * middle) <= time) low = middle;
    else high = middle;
  }
  int64_t frame = (int64_t)low * r->stride, next = frame + r->stride;
  FrameHead head;
  TB_TRY(locate(ctx, r, frame, &head));
  for (; frame + 1 < next && frame + 1 < r->frames; frame++) {
    TB_TRY(read_frame_head(ctx, r, head.at + head.length, &head));
    if (head.time > time) break;
  }
  *out = frame;
  return TB_OK;
}

tbQuat tb_replay_unpack(uint64_t bits)
{
  double c[4], rest = 1;
  int largest = (int)(bits >> 60 & 3);
  for (int i = 0, k = 0; i < 4; i++) {
    if (i == largest) continue;
    c[i] = ((double)(bits >> 20 * k++ & 0xfffff) - 524288) / 524287 * 0.70710678118654752;
    rest -= c[i] * c[i];
  }
  c[largest] = sqrt(rest > 0 ? rest : 0);
  return tb_quat_normalize(tb_quat(c[0], c[1], c[2], c[3]));
}

static tbStatus read_poses(tbContext* ctx, tbReplay* r, const unsigned char* p)
{
  for (int i = 0; i < r->npose; i++, p += TB_REPLAY_POSE) {
    uint64_t bits = get_u64(p + 12);
    r->pose[i] = tb_transform(tb_replay_unpack(bits), get_f32x3(p));
    if (bits >> 62 || !finite3(r->pose[i].x)) return damaged(ctx, r, "a frame with a pose that is none");
  }
  return TB_OK;
}

static tbStatus read_nodes(tbContext* ctx, tbReplay* r, const unsigned char* p)
{
  tbVec3* x = r->node;
  for (int s = 0; s < r->nskin; s++) {
    tbVec3 lo = get_f32x3(p), hi = get_f32x3(p + 12), unit = tb_scale3(1.0 / 65535, tb_sub3(hi, lo));
    if (!finite3(lo) || !finite3(hi)) return damaged(ctx, r, "a frame with a box that is none");
    p += TB_REPLAY_BOX;
    for (int i = 0; i < r->skin_nodes[s]; i++, x++) {
      const unsigned char* q = p + (size_t)6 * (size_t)i;
      *x = tb_add3(lo, tb_mul3(unit, tb_vec3(get_u16(q), get_u16(q + 2), get_u16(q + 4))));
    }
    p += tb_replay_node_bytes((uint64_t)r->skin_nodes[s]);
  }
  return TB_OK;
}

static double get_i16(const unsigned char* p)
{
  int value = (int)get_u16(p);
  return value < 32768 ? value : value - 65536;
}

static tbStatus read_contacts(tbContext* ctx, tbReplay* r, const unsigned char* p, int count)
{
  for (int i = 0; i < count; i++, p += TB_REPLAY_CONTACT) {
    uint32_t a = get_u32(p), b = get_u32(p + 4);
    if (a >= (uint32_t)r->nbody || b >= (uint32_t)r->nbody || p[26] > TB_CONTACT_SLIP)
      return damaged(ctx, r, "a frame with a contact of no body, or in no state");
    tbVec3 n = tb_vec3(get_i16(p + 20), get_i16(p + 22), get_i16(p + 24));
    r->contact[i] = (tbReplayContact){.a = (int)a,
                                      .b = (int)b,
                                      .position = get_f32x3(p + 8),
                                      .normal = tb_normalize3(n),
                                      .state = (tbContactState)p[26],
                                      .share = p[27] == 255 ? -1 : p[27] / 254.0,
                                      .gap = get_f32(p + 28),
                                      .impulse = get_f32x3(p + 32)};
  }
  return TB_OK;
}

// Room for a frame of so many bytes and contacts.
static tbStatus make_room(tbContext* ctx, tbReplay* r, const FrameHead* head)
{
  if (head->length > r->room) {
    tb_free(ctx, r->frame);
    r->room = 0;
    r->frame = TB_NEW(ctx, unsigned char, head->length);
    if (!r->frame) return TB_ERROR_MEMORY;
    r->room = head->length;
  }
  if ((int)head->contacts > r->contact_room) {
    tb_free(ctx, r->contact);
    r->contact_room = 0;
    r->contact = TB_NEW(ctx, tbReplayContact, head->contacts);
    if (!r->contact) return TB_ERROR_MEMORY;
    r->contact_room = (int)head->contacts;
  }
  return TB_OK;
}

tbStatus tb_replay_read(tbContext* ctx, tbReplay* r, int64_t frame, tbReplayFrame* out)
{
  if (frame < 0 || frame >= r->frames)
    return tb_fail(ctx, TB_ERROR_ARGUMENT, "%s has no frame %lld", r->name, (long long)frame);
  FrameHead head;
  TB_TRY(locate(ctx, r, frame, &head));
  TB_TRY(make_room(ctx, r, &head));
  TB_TRY(read_at(ctx, r, head.at, r->frame, head.length));
  const unsigned char* p = r->frame + TB_REPLAY_FRAME;
  for (int i = 0; i < r->nscalar; i++, p += 4) r->scalar[i] = get_f32(p);
  TB_TRY(read_poses(ctx, r, p));
  p += (size_t)TB_REPLAY_POSE * (size_t)r->npose;
  TB_TRY(read_nodes(ctx, r, p));
  p = r->frame + r->fixed;
  TB_TRY(read_contacts(ctx, r, p, (int)head.contacts));
  *out = (tbReplayFrame){head.time, (int64_t)head.step, r->scalar,         r->pose,
                         r->node,   r->contact,         (int)head.contacts};
  return TB_OK;
}
