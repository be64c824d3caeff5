// SPDX-License-Identifier: Apache-2.0
// Any bytes are refused with a message that names the file, or give a mesh that, written as OBJ and read
// again, is written the same; and a hull, or a reason why there is none. Running out of memory anywhere is
// reported as such and leaks nothing.
#include "fuzz.h"
#include "io/mesh/mesh_io.h"

#include <string.h>

static const tbVec3 plain = {1, 1, 1};

static tbStatus read_mesh(tbContext* ctx, const char* bytes, size_t size, tbMesh** mesh, tbHull** hull)
{
  tbSoup soup = tb_soup_empty();
  tbStatus status = tb_soup_parse(ctx, "fuzz", bytes, size, &soup);
  if (status == TB_OK) status = tb_soup_mesh(ctx, "fuzz", &soup, plain, mesh);
  if (status == TB_OK && hull) {
    tbStatus solid = tb_soup_hull(ctx, "fuzz", &soup, plain, hull);
    CHECK(solid == TB_OK || solid == TB_ERROR_INPUT ||
          solid == TB_ERROR_MEMORY); // flat, perhaps; never inconsistent
    if (solid == TB_ERROR_MEMORY) status = solid;
  }
  tb_soup_free(ctx, &soup);
  CHECK(status == TB_OK || status == TB_ERROR_MEMORY || strncmp(ctx->error.message, "fuzz:", 5) == 0);
  return status;
}

static tbStatus read_and_print(tbContext* ctx, void* user, const uint8_t* bytes, size_t size)
{
  (void)user;
  tbMesh *mesh = NULL, *again = NULL;
  tbHull* hull = NULL;
  tbOut first = tb_out_memory(ctx), second = tb_out_memory(ctx);
  tbStatus status = read_mesh(ctx, (const char*)bytes, size, &mesh, &hull);
  if (status == TB_OK) {
    status = tb_mesh_print_obj(&first, mesh);
    if (status == TB_OK) status = read_mesh(ctx, first.bytes, first.length, &again, NULL);
    if (status == TB_OK) status = tb_mesh_print_obj(&second, again);
    CHECK(status == TB_OK || status == TB_ERROR_MEMORY);
    if (status == TB_OK)
      CHECK(first.length == second.length && memcmp(first.bytes, second.bytes, first.length) == 0);
  }
  tb_hull_free(ctx, hull);
  tb_mesh_free(ctx, mesh);
  tb_mesh_free(ctx, again);
  tb_out_free(&first);
  tb_out_free(&second);
  return status;
}

FUZZ(mesh)
{
  tbStatus status = fuzz_starve(read_and_print, NULL, bytes, size);
  CHECK(status == TB_OK || status == TB_ERROR_INPUT);
}
