#include "cli/nodes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES_AT = 28 }; // bytes into the header

int64_t nodes_count(const tbWorld* world)
{
  int64_t count = 0;
  for (int i = 0; i < tb_world_body_count(world); i++) count += tb_body_node_count(world, (tbBodyId){i});
  return count;
}

// A group's name ends at a space.
static void put_name(tbOut* out, const char* name)
{
  for (; *name; name++) tb_out_bytes(out, *name > 0 && *name <= ' ' ? "_" : name, 1);
}

static void put_group(tbOut* out, const tbWorld* world, tbBodyId body, int64_t first)
{
  const tbVec3* x = tb_body_nodes(world, body);
  const int(*triangle)[3] = tb_body_triangles(world, body);
  tb_out_text(out, "g ");
  put_name(out, tb_body_name(world, body));
  for (int i = 0; i < tb_body_node_count(world, body); i++) {
    const double at[3] = {x[i].x, x[i].y, x[i].z};
    tb_out_text(out, "\nv");
    for (int k = 0; k < 3; k++) tb_out_text(out, " "), tb_out_double(out, at[k]);
  }
  for (int t = 0; t < tb_body_triangle_count(world, body); t++) {
    tb_out_text(out, "\nf");
    for (int k = 0; k < 3; k++) tb_out_text(out, " "), tb_out_int(out, first + 1 + triangle[t][k]);
  }
  tb_out_text(out, "\n");
}

void nodes_surface(tbOut* out, const tbWorld* world)
{
  int64_t first = 0;
  for (int i = 0; i < tb_world_body_count(world); i++) {
    tbBodyId body = {i};
    if (tb_body_node_count(world, body) == 0) continue;
    put_group(out, world, body, first);
    first += tb_body_node_count(world, body);
  }
}

static void to_bytes(uint32_t value, char bytes[4])
{
  for (int i = 0; i < 4; i++) bytes[i] = (char)(value >> 8 * i & 255);
}

static void put_int(tbOut* out, int64_t value)
{
  char bytes[4];
  to_bytes((uint32_t)value, bytes);
  tb_out_bytes(out, bytes, 4);
}

static void put_float(tbOut* out, double value)
{
  float number = (float)value;
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  put_int(out, bits);
}

void nodes_header(tbOut* out, const tbWorld* world)
{
  tb_out_bytes(out, "POINTCACHE2", 12);
  put_int(out, 1);
  put_int(out, nodes_count(world));
  put_float(out, (double)tb_world_step_count(world)); // the first frame's number
  put_float(out, 1);                                  // frames a step
  put_int(out, 0);
}

void nodes_frame(tbOut* out, const tbWorld* world)
{
  for (int i = 0; i < tb_world_body_count(world); i++) {
    const tbVec3* x = tb_body_nodes(world, (tbBodyId){i});
    for (int n = 0; n < tb_body_node_count(world, (tbBodyId){i}); n++)
      put_float(out, x[n].x), put_float(out, x[n].y), put_float(out, x[n].z);
  }
}

tbStatus nodes_finish(tbContext* ctx, Stream* stream, int64_t frames)
{
  char bytes[4];
  if (!stream->open) return TB_OK;
  TB_TRY(tb_out_finish(&stream->out));
  to_bytes((uint32_t)frames, bytes);
  if (pwrite(stream->file.descriptor, bytes, sizeof bytes, FRAMES_AT) == sizeof bytes) return TB_OK;
  return tb_fail(ctx, TB_ERROR_IO, "cannot write %s: %s", stream->file.path, strerror(errno));
}
